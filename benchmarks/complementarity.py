"""Complementarity problems: time per solve beside QuantEcon's Lemke, and beside OSQP and Clarabel on the box quadratic program.

    python benchmarks/complementarity.py [--quick] [--out results.json]

Every contestant gets the problem as NumPy arrays and gives z back; set-up that a peer needs for each problem (sparse matrices) is counted.
OSQP and Clarabel solve to their tolerances 1e-9; the judge's largest residual is printed beside the mean time. Answers above 1e-6 are
shown, but take no part in the targets. Eight problems of each kind for n <= 100, one for n = 1000. CPU times, interleaved, medians.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import clarabel
import numpy as np
import osqp
from _timing import interleaved
from quantecon.optimize import lcp_lemke
from scipy import sparse

from dalembert.complementarity import generators, judge, lcp, methods

SIZES = (10, 100, 1000)
CONDITIONS = (1e2, 1e3, 1e4)
PROBLEMS = {10: 8, 100: 8, 1000: 1}
SLOW = ("murty", "cottle-dantzig")  # exponential or n^4: not at n = 1000
GOOD = 1e-6
QUANTECON = "quantecon lemke"
Problem = tuple[np.ndarray, ...]


def osqp_box(M: np.ndarray, q: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """min 1/2 z M z + q z in the box by OSQP."""
    n = len(q)
    solver = osqp.OSQP()
    solver.setup(
        sparse.csc_matrix(np.triu(M)),
        q,
        sparse.eye(n, format="csc"),
        lower,
        upper,
        verbose=False,
        eps_abs=1e-9,
        eps_rel=1e-9,
        max_iter=20000,
    )
    return np.asarray(solver.solve(raise_error=False).x)


def clarabel_box(M: np.ndarray, q: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """The same by Clarabel's interior points."""
    n = len(q)
    one = sparse.eye(n, format="csc")
    settings = clarabel.DefaultSettings()
    settings.verbose, settings.tol_gap_abs, settings.tol_gap_rel, settings.tol_feas = False, 1e-9, 1e-9, 1e-9
    low, high = np.isfinite(lower), np.isfinite(upper)
    A = sparse.vstack([one[high], -one[low]], format="csc")
    b = np.concatenate([upper[high], -lower[low]])
    solver = clarabel.DefaultSolver(sparse.csc_matrix(np.triu(M)), q, A, b, [clarabel.NonnegativeConeT(len(b))], settings)
    return np.asarray(solver.solve().x)


def measure(problems: list[Problem], solvers: dict[str, Callable[..., np.ndarray]], rounds: int) -> dict[str, dict[str, float]]:
    """Mean seconds and largest residual per contestant; short ones are repeated within a round."""
    found = {name: max(judge(p[0], p[1], solve(*p), *p[2:]).relative for p in problems) for name, solve in solvers.items()}
    times = 10 if len(problems[0][1]) <= 10 else 1
    runs = {name: (lambda solve=solve: [solve(*p) for p in problems for _ in range(times)]) for name, solve in solvers.items()}
    seconds = interleaved(runs, rounds)
    return {name: {"seconds": seconds[name] / (times * len(problems)), "residual": float(found[name])} for name in solvers}


def ours(n: int, boxes: bool) -> dict[str, Callable[..., np.ndarray]]:
    """All methods of the library, but the slow ones where n is large. An LCP is given without bounds, as its users would."""
    names = [m.name for m in methods() if n < 1000 or m.name not in SLOW]
    if boxes:
        return {k: (lambda M, q, lower, upper, k=k: lcp(M, q, lower, upper, method=k).z) for k in names}
    return {k: (lambda M, q, lower, upper, k=k: lcp(M, q, method=k).z) for k in names}


def plain(n: int, condition: float, rounds: int) -> dict[str, dict[str, float]]:
    """0 <= z _|_ M z + q >= 0: all methods and QuantEcon's Lemke."""
    problems = [generators.random_lcp(n, condition, np.random.default_rng(n + k)) for k in range(PROBLEMS[n])]
    peers = {QUANTECON: lambda M, q, lower, upper: lcp_lemke(M, q, max_iter=10**6).z}
    return measure(problems, ours(n, False) | peers, rounds)


def boxed(n: int, condition: float, rounds: int) -> dict[str, dict[str, float]]:
    """Symmetric boxed problems: all methods, OSQP and Clarabel."""
    problems = [generators.random_boxed(n, condition, np.random.default_rng(n + k)) for k in range(PROBLEMS[n])]
    return measure(problems, ours(n, True) | {"osqp": osqp_box, "clarabel": clarabel_box}, rounds)


def sweeps(contacts: int, rounds: int) -> float:
    """Nanoseconds per contact and sweep of block Gauss-Seidel with Coulomb's cone."""
    from dalembert.linalg import samples
    from dalembert.linalg.block_gs import CONTACT, BlockGaussSeidel, Laws

    saddle = samples.contacts(contacts)
    rng = np.random.default_rng(0)
    b, c = rng.standard_normal(6 * saddle.jacobian.n_bodies), rng.standard_normal(saddle.jacobian.n_rows)
    gs = BlockGaussSeidel(saddle, Laws.of(saddle, CONTACT, mu=0.5))
    count = 20

    def run() -> None:
        gs.start(b, c)
        gs.run(0.0, count)

    return 1e9 * interleaved({"gs": run}, rounds)["gs"] / (count * contacts)


def best(row: dict[str, Any], peers: tuple[str, ...]) -> tuple[str, float]:
    """Our fastest method with good answers."""
    return min(((name, x["seconds"]) for name, x in row.items() if name not in peers and x["residual"] < GOOD), key=lambda item: item[1])


def targets(plains: dict[str, Any], boxes: dict[str, Any]) -> list[tuple[str, bool]]:
    """What was aimed at, and whether it was met."""
    met = []
    for key, row in plains.items():
        peer, lemke = row[QUANTECON]["seconds"], row["lemke"]["seconds"]
        met.append((f"lemke not slower than QuantEcon's at {key}: {peer / lemke:.2f}x", lemke <= peer))
        if key.startswith("n = 100,"):
            name, seconds = best(row, (QUANTECON,))
            met.append((f"{name} at least 3x faster than QuantEcon's Lemke at {key}: {peer / seconds:.1f}x", peer >= 3.0 * seconds))
    for key, row in boxes.items():
        if not key.startswith("n = 1000,"):
            name, seconds = best(row, ("osqp", "clarabel"))
            peer = min((row[p]["seconds"] for p in ("osqp", "clarabel") if row[p]["residual"] < GOOD), default=float("inf"))
            met.append((f"{name} at least 10x faster than OSQP and Clarabel at {key}: {peer / seconds:.1f}x", peer >= 10.0 * seconds))
    return met


def show(title: str, row: dict[str, Any]) -> None:
    """One table."""
    print(f"{title}: us per solve (relative residual)")
    for name, x in sorted(row.items(), key=lambda item: item[1]["seconds"]):
        print(f"  {name:18s} {1e6 * x['seconds']:12.1f}   ({x['residual']:.0e})", flush=True)


def main() -> int:
    """Measure, print, judge."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="one round instead of five, n up to 100, 1,000 contacts")
    parser.add_argument("--out", type=Path, help="also write the figures to this file as JSON")
    arguments = parser.parse_args()
    rounds, sizes, piles = (1, SIZES[:2], (1000,)) if arguments.quick else (5, SIZES, (1000, 10_000, 100_000))
    warnings.simplefilter("ignore")  # OSQP converts types
    plains: dict[str, Any] = {}
    boxes: dict[str, Any] = {}
    for title, table, run in (("linear complementarity problem", plains, plain), ("boxed, symmetric", boxes, boxed)):
        for n in sizes:
            for condition in CONDITIONS if n < 1000 else CONDITIONS[1:2]:
                key = f"n = {n}, condition {condition:.0e}"
                table[key] = run(n, condition, rounds if n < 1000 else min(rounds, 3))
                show(f"{title}, {key}", table[key])
    print("block Gauss-Seidel, ns per contact and sweep")
    per_contact = {m: sweeps(m, rounds) for m in piles}
    for m, ns in per_contact.items():
        print(f"  {m:7d} contacts {ns:8.1f}")
    met = targets(plains, boxes)
    print("Targets")
    for text, ok in met:
        print(f"  {'met   ' if ok else 'MISSED'} {text}")
    if arguments.out:
        data = {"lcp": plains, "boxed": boxes, "gauss_seidel_ns": per_contact, "targets": [{"text": t, "met": ok} for t, ok in met]}
        arguments.out.write_text(json.dumps(data, indent=2) + "\n", encoding="utf-8")
    return 0 if all(ok for _, ok in met) else 1


if __name__ == "__main__":
    sys.exit(main())
