"""Problems of steps of a pile of logs, by every method: the experiments of chapters 16 and 17 of Lacoursiere 2007 on contacts.

    python benchmarks/step_problems.py [--quick] [--out results.json]

Forty logs fall between four posts (`dal.scenes.contact_piles.logs`), every twelfth step is archived (`archive_every`), and solved again:

1. boxes    limits of friction from the normal impulses of the run, in a box: one symmetric boxed complementarity problem (figures 16.4,
            16.7, 16.11), by every method of `dal.lcp`, without fallback, at most 10 n pivots, 10,000 sweeps; with compliances that give
            condition numbers of 1e5 and more, and with a diagonal added that brings them down to 1e3, as figure 16.7 needed
2. sweeps   residual of projected Gauss-Seidel after 100, 1,000, 10,000 sweeps (figure 16.4)
3. cones    Coulomb's law, by every solver of steps (17.2), cold and warm; the residual of splitting per round

Residuals are natural ones in m/s, by one judge. Times are CPU times of one thread.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

import dalembert as dal
from dalembert.complementarity import methods
from dalembert.contact.problem import CONE
from dalembert.contact.step_samples import heap
from dalembert.scenes.contact_piles import logs

EPS = (1e-8, 1e-11)
MOST = 24  # problems of a pile
GOOD = 1e-6  # m/s: what counts as solved
CONDITION = 1e3
SWEEPS = (100, 1_000, 10_000)


def archived(eps: float, t_end: float, every: int) -> list[Any]:
    """Problems of a pile with more than 150 rows, some MOST of them."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "problems.h5"
        dal.simulate(logs(40), "spook", h=1 / 60, t_end=t_end, eps=eps, archive_failures=path, archive_every=every, archive_most=1000)
        found = [p for p in dal.contact.load_problems(path) if len(p.problem.J) > 150]
        print(f"\n{len(found)} problems, {sum(not p.facts['solved'] for p in found)} of them not solved in the run")
        return found[:: max(1, round(len(found) / MOST))]


def boxed(p: Any) -> Any:
    """The problem with box friction, limits from what the run found."""
    cones = p.problem.kind == CONE
    return dal.contact.with_boxes(p.problem, p.lam[p.problem.first[:-1][cones]])


def perturbed(W: np.ndarray) -> np.ndarray:
    """W with a diagonal that brings its condition number down to CONDITION."""
    low, high = np.linalg.eigvalsh(W)[[0, -1]]
    return W + max((high - CONDITION * low) / (CONDITION - 1.0), 0.0) * np.eye(len(W))


def by_lcp(problems: list[Any], name: str, soften: bool) -> dict[str, Any]:
    """How a method of `dal.lcp` fares on boxed problems."""
    rows = []
    for p in problems:
        B = boxed(p)
        W, q = B.dense()
        n, W = len(q), perturbed(W) if soften else W
        most = SWEEPS[-1] if name == "psor" else 10 * n
        began = process_time()
        found = dal.lcp(W, q, *B.bounds(), method=name, max_pivots=most, fallback=None)
        seconds = process_time() - began
        D, u = B.diagonal(), W @ found.z + q
        miss = np.abs(D * (found.z - np.clip(found.z - u / D, *B.bounds()))).max()
        rows.append((found.solved or miss < GOOD, found.pivots / n, miss, seconds))
    solved, pivots, miss, seconds = (np.array(x) for x in zip(*rows, strict=True))
    return {
        "method": name, "solved": f"{int(solved.sum())}/{len(rows)}", "pivots/n": float(np.median(pivots)), "most": float(pivots.max()),
        "residual": float(miss.max()), "ms": 1e3 * float(np.median(seconds)),
    }  # fmt: skip


def by_sweeps(problems: list[Any]) -> dict[str, Any]:
    """Median residual of projected Gauss-Seidel on boxed problems, after sweeps without a warm start."""
    out: dict[str, Any] = {}
    for sweeps in SWEEPS:
        found = [dal.contact.resolve(boxed(p), "gauss-seidel", cold=True, sweeps=sweeps, tol=1e-12).residual for p in problems]
        out[f"{sweeps}"] = {"median": float(np.median(found)), "largest": float(max(found))}
    return out


def by_steps(problems: list[Any], method: str, cold: bool, **options: Any) -> dict[str, Any]:
    """How a solver of steps fares on the problems as they are."""
    found = [dal.contact.resolve_by_all(p, [method], cold=cold, **options)[0] for p in problems]
    return {
        "method": method + "".join(f" {k}={v}" for k, v in options.items()) + (", cold" if cold else ""),
        "solved": f"{sum(r.solved for r in found)}/{len(found)}",
        "iterations": float(np.median([r.iterations for r in found])), "most": max(r.iterations for r in found),
        "counts": found[0].counts, "median": float(np.median([r.residual for r in found])), "residual": max(r.residual for r in found),
        "ms": 1e3 * float(np.median([r.seconds for r in found])),
    }  # fmt: skip


def per_round(problem: Any, rounds: int = 40) -> list[float]:
    """Residual of splitting after each round, from no friction."""
    return [dal.contact.resolve(problem, "split", cold=True, rounds=k, tol=1e-11).residual for k in range(1, rounds + 1, 3)]


def show(title: str, rows: list[dict[str, Any]]) -> None:
    """A table in Markdown."""
    print(f"\n{title}\n\n| " + " | ".join(rows[0]) + " |\n|" + "---|" * len(rows[0]))
    for row in rows:
        print("| " + " | ".join(f"{x:.2g}" if isinstance(x, float) else str(x) for x in row.values()) + " |")


def main() -> None:
    """All tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few problems")
    parser.add_argument("--out", type=Path, help="numbers as JSON")
    given = parser.parse_args()
    results: dict[str, Any] = {}
    for eps in EPS[:1] if given.quick else EPS:
        problems = archived(eps, 1.0 if given.quick else 3.0, 20 if given.quick else 12)
        sizes, conditions = zip(*((len(p.problem.J), np.linalg.cond(boxed(p).dense()[0])) for p in problems), strict=True)
        about = f"{len(problems)} problems, {min(sizes)} to {max(sizes)} rows, condition {min(conditions):.1g} to {max(conditions):.1g}"
        for soften in (False, True):
            rows = [by_lcp(problems, m.name, soften) for m in methods()]
            title = f"boxes, eps = {eps:g}" + (f", perturbed to condition {CONDITION:g}" if soften else f": {about}")
            results[title] = rows
            show(title, rows)
        results[f"sweeps, eps = {eps:g}"] = by_sweeps(problems)
        print(f"\nresidual of Gauss-Seidel, cold: {results[f'sweeps, eps = {eps:g}']}")
        chosen: list[tuple[str, bool, dict[str, Any]]] = [("direct", False, {}), ("direct", True, {}), ("split", False, {})]
        chosen += [
            ("split", True, {}),
            ("direct+split", False, {}),
            ("gauss-seidel", False, {"sweeps": 50}),
            ("gauss-seidel", True, {"sweeps": 1000}),
        ]
        rows = [by_steps(problems, name, cold, **options) for name, cold, options in chosen]
        rows.append(by_steps(problems[:2], "lemke", True, corners=8))
        results[f"cones, eps = {eps:g}"] = rows
        show(f"cones, eps = {eps:g}", rows)
        results[f"split per round, eps = {eps:g}"] = per_round(problems[len(problems) // 2])
        print("\nsplit, every third round: " + " ".join(f"{x:.0e}" for x in results[f"split per round, eps = {eps:g}"]))
    rows = [by_steps([heap(seed) for seed in range(8)], m, False) for m in ("direct", "split", "direct+split")]
    results["heaps in violent motion"] = rows
    show("64 boxes that meet at 5 m/s, 8 problems", rows)
    if given.out:
        given.out.write_text(json.dumps(results, indent=2))


if __name__ == "__main__":
    main()
