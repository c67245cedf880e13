"""Signed distances of convex polytopes: time per pair beside HiGHS and coal.

    python benchmarks/separation.py [--quick] [--out results.json]

Every contestant answers the same queries, 200 random pairs of 8 + 8, 20 + 20 and 60 + 60 vertices: apart, near, and deep in each other.

    kernel, compiled     `many` of kernels/separation/run.py: one call for all pairs, as compiled code calls it
    kernel, Python       `dal.contact.sshlp(A, B)`, one call per pair: vertices in the world in, a result out
    HiGHS                the same linear program by `scipy.optimize.linprog`, one call per pair; 20 pairs, beta given
    coal, Python         `coal.distance`, one call per pair: shapes are built and placed beforehand, which is not counted; GJK and EPA

The kernel always computes both: the exact distance with its normal, witnesses and patch, and a linear program. coal has no entry for many
pairs, so that its time contains a call from Python, as that of "kernel, Python" does; "coal, inside" takes off what its call costs for two
balls, which are answered at once. coal knows which vertices are neighbours; the kernel gets vertices only and looks at all of them. coal
has its default tolerances, 1e-6. CPU times, interleaved, medians.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import coal
import numpy as np
from _timing import interleaved
from scipy.optimize import linprog
from scipy.spatial import ConvexHull

import dalembert as dal
from dalembert.kernels.separation import layout as at
from dalembert.kernels.separation.run import many

SIZES = (8, 20, 60)
SHIFTS = {"apart": 2.5, "near": 1.3, "deep": 0.3}
PAIRS, SLOW_PAIRS = 200, 20
Pair = tuple[np.ndarray, np.ndarray]


def body(rng: np.random.Generator, n: int) -> np.ndarray:
    """n points on an ellipsoid."""
    p = rng.standard_normal((n, 3))
    return np.asarray(p / np.linalg.norm(p, axis=1)[:, None] * rng.uniform(0.3, 1.0, 3))


def pairs_of(n: int, shift: float) -> list[Pair]:
    """Pairs whose middles are that far from each other."""
    rng = np.random.default_rng(n)
    found = []
    for _ in range(PAIRS):
        d = rng.standard_normal(3)
        found.append((body(rng, n) + shift * d / np.linalg.norm(d), body(rng, n)))
    return found


def compiled(pairs: list[Pair]) -> Any:
    """All pairs in one call of compiled code."""
    points = np.vstack([p for pair in pairs for p in pair])
    first = np.concatenate([[0], np.cumsum([len(p) for pair in pairs for p in pair])])
    places = np.arange(2 * len(pairs)).reshape(-1, 2)
    n = max(len(p) for pair in pairs for p in pair)
    options, starts = np.array(at.OPTIONS), np.empty((0, 3))
    work, out = np.empty((at.rows(n, n, 256), at.WIDTH)), np.empty((len(pairs), at.SIZE))

    def run() -> np.ndarray:
        if many(points, first, places, options, starts, work, out) != at.SOLVED:
            raise RuntimeError("a pair was not solved")
        return out[:, at.H]

    return run


def convex(points: np.ndarray) -> coal.Convex:
    """A shape of coal."""
    triangles, vertices = coal.StdVec_Triangle(), coal.StdVec_Vec3s()
    for corners in ConvexHull(points).simplices:
        triangles.append(coal.Triangle(*map(int, corners)))
    for p in points:
        vertices.append(p)
    return coal.Convex(vertices, triangles)


def by_coal(shapes: list[tuple[Any, Any]]) -> Any:
    """One call per pair."""
    request, result, still = coal.DistanceRequest(), coal.DistanceResult(), coal.Transform3s()
    request.enable_signed_distance = True

    def run() -> list[float]:
        found = []
        for a, b in shapes:
            result.clear()
            found.append(coal.distance(a, still, b, still, request, result))
        return found

    return run


def by_highs(pairs: list[Pair]) -> Any:
    """The linear program with beta along the means, assembled and solved."""

    def one(X: np.ndarray, Y: np.ndarray) -> float:
        beta = X.mean(axis=0) - Y.mean(axis=0)
        rows = np.zeros((len(X) + len(Y), 5))
        rows[: len(X), :3], rows[: len(X), 3], rows[len(X) :, :3], rows[len(X) :, 4] = -X, 1.0, Y, -1.0
        free = [(None, None)] * 5
        found = linprog([0, 0, 0, -1, 1], rows, np.zeros(len(rows)), [[*beta / np.linalg.norm(beta), 0, 0]], [1], bounds=free)
        return float(-found.fun)

    return lambda: [one(X, Y) for X, Y in pairs]


def measure(n: int, shift: float, rounds: int) -> dict[str, float]:
    """Seconds per pair, and the largest difference of distances from coal's."""
    pairs = pairs_of(n, shift)
    kernel, peer = compiled(pairs), by_coal([(convex(X), convex(Y)) for X, Y in pairs])
    balls = by_coal([(coal.Sphere(0.1), coal.Sphere(0.2))] * PAIRS)
    sshlp = dal.contact.sshlp
    runs = {
        "kernel, compiled": lambda: [kernel() for _ in range(20)],
        "kernel, Python": lambda: [sshlp(X, Y) for X, Y in pairs],
        "HiGHS": by_highs(pairs[:SLOW_PAIRS]),
        "coal, Python": peer,
        "call of coal": balls,
    }
    seconds = interleaved(runs, rounds)
    counts = {"kernel, compiled": 20 * PAIRS, "HiGHS": SLOW_PAIRS}
    row = {name: seconds[name] / counts.get(name, PAIRS) for name in runs}
    row["coal, inside"] = row["coal, Python"] - row.pop("call of coal")
    row["difference"] = float(np.abs(kernel() - np.array(peer())).max())
    return row


def targets(table: dict[str, dict[str, float]]) -> list[tuple[str, bool]]:
    """What was aimed at, and whether it was met."""
    met = []
    for key, row in table.items():
        ratio = row["HiGHS"] / row["kernel, Python"]
        met.append((f"kernel from Python at least 50x faster than HiGHS, {key}: {ratio:.0f}x", ratio >= 50.0))
        if key.startswith("8 + 8"):
            ratio = row["kernel, Python"] / row["coal, Python"]
            met.append((f"both called from Python: within 4x of coal, {key}: {ratio:.2f}x", ratio <= 4.0))
            ratio = row["kernel, compiled"] / row["coal, inside"]
            met.append((f"both without the call: within 4x of coal, {key}: {ratio:.2f}x", ratio <= 4.0))
        met.append((f"distances within 1e-6 of coal's, {key}: {row['difference']:.0e}", row["difference"] <= 1e-6))
    return met


def main() -> int:
    """Measure, print, judge."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="three rounds instead of fifteen, 8 + 8 vertices only")
    parser.add_argument("--out", type=Path, help="also write the figures to this file as JSON")
    arguments = parser.parse_args()
    table: dict[str, dict[str, float]] = {}
    for n in SIZES[:1] if arguments.quick else SIZES:
        for name, shift in SHIFTS.items():
            key = f"{n} + {n} vertices, {name}"
            row = table[key] = measure(n, shift, 3 if arguments.quick else 15)
            times = ", ".join(f"{who} {1e6 * row[who]:.2f}" for who in row if who != "difference")
            print(f"{key}: us per pair: {times}", flush=True)
    met = targets(table)
    print("Targets")
    for text, ok in met:
        print(f"  {'met   ' if ok else 'MISSED'} {text}")
    if arguments.out:
        data = {"seconds": table, "targets": [{"text": t, "met": ok} for t, ok in met]}
        arguments.out.write_text(json.dumps(data, indent=2) + "\n", encoding="utf-8")
    return 0 if all(ok for _, ok in met) else 1


if __name__ == "__main__":
    sys.exit(main())
