"""Complementarity problems: time per solve beside QuantEcon's Lemke, and beside OSQP and Clarabel on the box quadratic program.

    python benchmarks/complementarity.py [--quick] [--out results.json]

Every contestant gets the problem as NumPy arrays and gives z back; set-up that a peer needs for each problem (sparse matrices) is counted.
OSQP and Clarabel solve to their tolerances 1e-9; the judge's residual of every answer is printed beside its time. An answer above 1e-6 is
shown, but takes no part in the targets.
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
CONDITION = 1e3
SLOW = ("murty", "cottle-dantzig")  # exponential or n^4: not at n = 1000
GOOD = 1e-6


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


def measure(problem: tuple[np.ndarray, ...], runs: dict[str, Callable[[], np.ndarray]], rounds: int) -> dict[str, dict[str, float]]:
    """Seconds and residual per contestant; short ones are repeated within a round."""
    M, q, lower, upper = problem
    found = {name: judge(M, q, run(), lower, upper).relative for name, run in runs.items()}
    times = 50 if len(q) <= 10 else 5 if len(q) <= 100 else 1
    seconds = interleaved({name: (lambda run=run: [run() for _ in range(times)]) for name, run in runs.items()}, rounds)
    return {name: {"seconds": seconds[name] / times, "residual": float(found[name])} for name in runs}


def plain(n: int, rounds: int) -> dict[str, dict[str, float]]:
    """0 <= z _|_ M z + q >= 0: all methods and QuantEcon's Lemke."""
    p = generators.random_lcp(n, CONDITION, np.random.default_rng(n))
    names = [m.name for m in methods() if n < 1000 or m.name not in SLOW]
    runs: dict[str, Callable[[], np.ndarray]] = {k: (lambda k=k: lcp(p[0], p[1], method=k).z) for k in names}
    runs["quantecon lemke"] = lambda: lcp_lemke(p[0], p[1], max_iter=10**6).z
    return measure(p, runs, rounds)


def boxed(n: int, rounds: int) -> dict[str, dict[str, float]]:
    """Symmetric boxed problems: all methods, OSQP and Clarabel."""
    p = generators.random_boxed(n, CONDITION, np.random.default_rng(n))
    names = [m.name for m in methods() if n < 1000 or m.name not in SLOW]
    runs: dict[str, Callable[[], np.ndarray]] = {k: (lambda k=k: lcp(*p, method=k).z) for k in names}
    runs["osqp"], runs["clarabel"] = (lambda: osqp_box(*p)), (lambda: clarabel_box(*p))
    return measure(p, runs, rounds)


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


def targets(plains: dict[int, Any], boxes: dict[int, Any]) -> list[tuple[str, bool]]:
    """What was aimed at, and whether it was met."""
    met = []
    for n, row in plains.items():
        peer = row["quantecon lemke"]["seconds"]
        met.append(
            (f"lemke not slower than QuantEcon's at n = {n}: {peer / row['lemke']['seconds']:.2f}x", row["lemke"]["seconds"] <= peer)
        )
        if n == 100:
            best = min(x["seconds"] for name, x in row.items() if name != "quantecon lemke" and x["residual"] < GOOD)
            met.append((f"best method at least 3x faster than QuantEcon's Lemke at n = {n}: {peer / best:.1f}x", peer >= 3.0 * best))
    for n, row in boxes.items():
        if n <= 100:
            peers = [row[name]["seconds"] for name in ("osqp", "clarabel") if row[name]["residual"] < GOOD]
            best = min(x["seconds"] for name, x in row.items() if name not in ("osqp", "clarabel") and x["residual"] < GOOD)
            peer = min(peers, default=float("inf"))
            met.append((f"best method at least 10x faster than OSQP and Clarabel at n = {n}: {peer / best:.1f}x", peer >= 10.0 * best))
    return met


def main() -> int:
    """Measure, print, judge."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="one round instead of five, n up to 100, 1,000 contacts")
    parser.add_argument("--out", type=Path, help="also write the figures to this file as JSON")
    arguments = parser.parse_args()
    rounds, sizes, piles = (1, SIZES[:2], (1000,)) if arguments.quick else (5, SIZES, (1000, 10_000, 100_000))
    warnings.simplefilter("ignore")  # OSQP converts types
    plains = {n: plain(n, rounds) for n in sizes}
    boxes = {n: boxed(n, rounds) for n in sizes}
    for title, table in (("linear complementarity problem", plains), ("boxed, symmetric", boxes)):
        for n, row in table.items():
            print(f"{title}, n = {n}: us per solve (relative residual)")
            for name, x in sorted(row.items(), key=lambda item: item[1]["seconds"]):
                print(f"  {name:18s} {1e6 * x['seconds']:12.1f}   ({x['residual']:.0e})")
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
