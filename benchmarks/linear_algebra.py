"""Linear algebra of bodies and constraints: L D L^T of trees beside QDLDL and SciPy's SuperLU, and block Gauss-Seidel on contacts.

    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python benchmarks/linear_algebra.py [--quick] [--rounds 5] [--out benchmarks/results]

    trees      chains of 10 ... 100,000 bodies, joints of five rows, E = 1e-6 (QDLDL needs E > 0): new numbers factored and one right-hand
               side solved, all from Python. QDLDL keeps its ordering (update), as the tree does; SuperLU cannot.
    contacts   1,000 ... 100,000 contacts with friction 0.5 (three rows, two bodies, 6 x 6 masses): ns per contact and sweep, for contacts
               half of which separate, and for contacts most of which press

CPU times, interleaved, medians. Targets are printed with their verdict; the exit code is 1 if one is missed. Writes a text and a JSON file.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import qdldl
import scipy.sparse as sp
import scipy.sparse.linalg as spl
from _timing import interleaved

from dalembert.linalg.block_gs import CONTACT, BlockGaussSeidel, Laws
from dalembert.linalg.samples import chain, contacts
from dalembert.linalg.tree_ldl import TreeLDL

BODIES = (10, 100, 1000, 10_000, 100_000)
CONTACTS = (1000, 10_000, 100_000)
SUPERLU_LIMIT = 10_000  # seconds for each solution beyond
GUIDE = 30.0  # ns per contact and sweep
Log = Callable[[str], None]


def tree_times(n: int, rounds: int) -> dict[str, float]:
    """Microseconds for factor and solution, and for the solution alone."""
    s = chain(n, 5, compliance=1e-6)
    rng = np.random.default_rng(n)
    b, c = rng.normal(size=6 * n), rng.normal(size=5 * n)
    rhs = np.concatenate([b, c])
    tree, upper, K = TreeLDL(s.jacobian), sp.csc_matrix(sp.triu(s.H(), format="csc")), s.K()
    peer = qdldl.Solver(upper, upper=True)
    tree.factor(s)
    x, y = tree.solve(b, c)
    z = peer.solve(rhs)
    assert s.residual(x, y, b, c) < 1e-12
    assert s.residual(z[: 6 * n], -z[6 * n :], b, c) < 1e-8
    times = max(1, 20_000 // n)

    def ours() -> None:
        for _ in range(times):
            tree.factor(s)
            tree.solve(b, c)

    def theirs() -> None:
        for _ in range(times):
            peer.update(upper, upper=True)
            peer.solve(rhs)

    runs: dict[str, Callable[[], object]] = {
        "tree": ours,
        "qdldl": theirs,
        "tree, solution": lambda: [tree.solve(b, c) for _ in range(times)],
        "qdldl, solution": lambda: [peer.solve(rhs) for _ in range(times)],
    }
    found = {name: 1e6 * t / times for name, t in interleaved(runs, rounds).items()}
    if n <= SUPERLU_LIMIT:
        few = max(1, 1000 // n)
        found["superlu"] = 1e6 / few * interleaved({"": lambda: [spl.splu(K).solve(rhs) for _ in range(few)]}, min(rounds, 3))[""]
    return found


def trees_section(sizes: list[int], rounds: int, log: Log) -> dict[str, Any]:
    """Microseconds by number of bodies."""
    log("Trees: us for factor and solution, chain of n bodies, five rows per joint")
    out = {str(n): tree_times(n, rounds) for n in sizes}
    names = list(out[str(sizes[0])])
    log("  " + f"{'n':18s}" + "".join(f"{n:>12d}" for n in sizes))
    for name in names:
        log(f"  {name:18s}" + "".join(f"{out[str(n)].get(name, np.nan):12.1f}" for n in sizes))
    return out


def judge_trees(found: dict[str, Any]) -> list[tuple[str, bool]]:
    """At 1,000 bodies half of QDLDL and a tenth of SuperLU; growth linear."""
    met = []
    row = found.get("1000")
    if row is not None:
        for peer, target in (("qdldl", 2.0), ("superlu", 10.0)):
            ratio = row[peer] / row["tree"]
            met.append((f"chain of 1000: {peer} takes {ratio:.1f} times as long, at least {target:g} wanted", ratio >= target))
    sizes = [int(n) for n in found if int(n) >= 100]
    if len(sizes) > 2:
        exponent = float(np.polyfit(np.log(sizes), np.log([found[str(n)]["tree"] for n in sizes]), 1)[0])
        met.append((f"growth exponent {exponent:.3f} <= 1.1 (n = {sizes[0]} ... {sizes[-1]})", exponent <= 1.1))
    return met


def contact_run(m: int, pressed: bool, sweeps: int) -> tuple[Callable[[], object], BlockGaussSeidel]:
    """Sweeps from a settled start."""
    s = contacts(m)
    rng = np.random.default_rng(m)
    gs = BlockGaussSeidel(s, Laws.of(s, CONTACT, mu=0.5))
    c = np.tile([1.0 if pressed else 0.0, 0.0, 0.0], m)
    gs.start((0.1 if pressed else 1.0) * rng.normal(size=6 * s.n_bodies), c)
    gs.run(0.0, 20)
    return lambda: gs.run(0.0, sweeps), gs


def contacts_section(sizes: list[int], rounds: int, log: Log) -> dict[str, Any]:
    """Nanoseconds per contact and sweep."""
    log("\nContacts: ns per contact and sweep")
    out: dict[str, Any] = {}
    for m in sizes:
        sweeps = max(5, 1_000_000 // m)
        cases = {name: contact_run(m, name == "pressed", sweeps) for name in ("mixed", "pressed")}
        times = interleaved({name: case[0] for name, case in cases.items()}, rounds)
        out[str(m)] = {name: 1e9 * t / (m * sweeps) for name, t in times.items()}
        share = {name: float((case[1].y[::3] > 0).mean()) for name, case in cases.items()}
        log(f"  {m:7d}" + "".join(f"   {name} ({share[name]:.0%} press) {out[str(m)][name]:6.1f}" for name in cases))
    return out


def judge_contacts(found: dict[str, Any]) -> list[tuple[str, bool]]:
    """Against the guide number, and growth."""
    met = [(f"{m} contacts, mixed: {row['mixed']:.0f} ns <= {GUIDE:g}", row["mixed"] <= GUIDE) for m, row in found.items()]
    sizes = [int(m) for m in found]
    if len(sizes) > 2:
        for name in ("mixed", "pressed"):
            exponent = 1 + float(np.polyfit(np.log(sizes), np.log([found[str(m)][name] for m in sizes]), 1)[0])
            met.append((f"{name}: growth exponent {exponent:.3f} <= 1.1 (memory included)", exponent <= 1.1))
    return met


def main() -> int:
    """Measure, print, judge, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="one round, chains up to 1,000 bodies, up to 10,000 contacts")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results")
    given = parser.parse_args()
    rounds = 1 if given.quick else given.rounds
    lines: list[str] = []

    def log(text: str) -> None:
        print(text, flush=True)
        lines.append(text)

    names = ("dalembert", "numpy", "numba", "scipy", "qdldl")
    result: dict[str, Any] = {"versions": {name: importlib.metadata.version(name) for name in names}, "quick": given.quick}
    result["trees"] = trees_section(list(BODIES[:3] if given.quick else BODIES), rounds, log)
    result["contacts"] = contacts_section(list(CONTACTS[:2] if given.quick else CONTACTS), rounds, log)
    met = judge_trees(result["trees"]) + judge_contacts(result["contacts"])
    log("\nTargets")
    for text, ok in met:
        log(f"  {'met   ' if ok else 'MISSED'} {text}")
    result["targets"] = [{"target": text, "met": ok} for text, ok in met]
    given.out.mkdir(parents=True, exist_ok=True)
    (given.out / "linear_algebra.txt").write_text("\n".join(lines) + "\n")
    (given.out / "linear_algebra.json").write_text(json.dumps(result, indent=1) + "\n")
    return 0 if all(ok for _, ok in met) else 1


if __name__ == "__main__":
    sys.exit(main())
