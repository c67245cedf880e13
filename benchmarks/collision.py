"""`null-space` beside Exudyn's Lie group trapezoidal rule; what a collision costs beside SciPy's events and bisection; billiards.

    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python benchmarks/collision.py [--quick] [--sections top growth impacts search billiards]

CPU time, interleaved, medians; one thread; wants an idle machine.

    top        heavy top on a spherical joint, h = 1 ms: us per step of a long run, error at 1 s (reference: mk8), beside Exudyn
               (skipped where it is not installed: pip install exudyn), with the quickest of its settings
    growth     chains of 10, 100, 1000 revolute joints: us per step, exponent
    impacts    elastic impacts with a wall of a ball and of a double pendulum: CPU time of whole calls against the largest error of the
               instants, over h for `collision` and over rtol for SciPy's DOP853 with a terminal event and a new start after each impact.
               "Equal accuracy" is one error of instants, reached by log-log interpolation on both curves. The reference is DOP853 at
               3e-14. `collision` is taken as it is and composed to order 4 and 6: order 2 alone loses to order 8 where errors are small
    search     trial steps that find an instant, beside bisection on the same base step down to the same gap
    billiards  100 spheres in a box: collisions per second, energy, overlap at nodes, over 100 000 collisions or 60 s

Targets are printed with their verdict; the exit code is 1 if one is missed.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from _contestants import start
from _exudyn import Top, load
from _impacts import Striker, ball, by_collision, by_scipy, pendulum
from _precision import time_to
from _timing import cpu_seconds, interleaved
from trees import chain

import dalembert as dal
from dalembert.kernels.collision import tables
from dalembert.model.rotation import quat_exp, rotate
from dalembert.registry import find
from dalembert.runs.engines.collision import TOLERANCE, smallest_gaps
from dalembert.runs.plan import Plan

Array = np.ndarray
Judged = list[tuple[str, bool]]
SECTIONS = ("top", "growth", "impacts", "search", "billiards")
H = 1e-3
TOP = (15.0, np.array([0.234375, 0.46875, 0.234375]), np.array([0.0, 1.0, 0.0]), np.array([0.0, 150.0, -4.61538]), 9.81)
EXUDYN, EXPONENT = 0.4, 1.1  # most time of a step over Exudyn's, growth
COMPOSED, COARSE = ("suzuki4", "kahan-li6"), 3e-3  # compositions that are tried too, with steps of at least so much
ERRORS = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)  # of instants, s: where CPU times are compared
ENERGY, OVERLAP = 1e-11, 3.0  # of billiards: most change over the energy; overlap in tolerances of the search


# heavy top --------------------------------------------------------------------------------------------------------------------------


def heavy_top() -> dal.Model:
    """A fast top, horizontal at the start."""
    mass, inertia, com, _, g = TOP
    m = dal.Model("heavy top", gravity=(0, 0, -g))
    m.add_body("top", mass, inertia, com=com)
    m.add_joint("tip", "spherical", "world", "top")
    return m


def our_top(name: str, h: float) -> Callable[[int], Array]:
    """All steps in one call of the loop; returns the centre of mass at the end."""
    model = heavy_top().frozen()
    engine = Plan.bare(model, find("tree", name), h).engine()

    def run(n: int) -> Array:
        engine.start(model.neutral(), TOP[3])
        assert engine.advance(n, n).status == 0
        return np.asarray(rotate(engine.observe()[0], TOP[2]))

    return run


def top_section(rounds: int) -> Judged:
    """Time per step and accuracy."""
    n = 20_000
    exact = our_top("mk8", H / 10)(round(10 / H))
    ours = {name: our_top(name, H) for name in ("null-space", "midpoint")}
    clocks: dict[str, Callable[[], float]] = {name: lambda run=run: 1e6 * cpu_seconds(lambda: run(n)) / n for name, run in ours.items()}
    ends = {name: run(round(1 / H)) for name, run in ours.items()}
    try:
        theirs = Top(load(), H, *TOP)
        clocks["Exudyn"], ends["Exudyn"] = lambda: theirs.run(n)[0], theirs.run(round(1 / H))[1]
    except ImportError as problem:
        print(f"Exudyn is not measured: {problem}")
    found = taken(clocks, rounds)
    print(f"Heavy top, h = {H} s, {n} steps: us per step; error of the centre of mass at 1 s, m")
    for name, us in found.items():
        print(f"  {name:12s} {us:8.3f} {np.linalg.norm(ends[name] - exact):10.2e}")
    if "Exudyn" not in found:
        return []
    modified, tangent, solver = theirs.best
    print(f"  (Exudyn's quickest: {'modified' if modified else 'full'} Newton, {solver}, tangent operator {'on' if tangent else 'off'})")
    ratio = found["null-space"] / found["Exudyn"]
    return [(f"null-space takes {ratio:.3f} of the time of Exudyn's step, at most {EXUDYN}", ratio <= EXUDYN)]


def taken(clocks: dict[str, Callable[[], float]], rounds: int) -> dict[str, float]:
    """Medians of what clocks return, in turn; one round warms up."""
    found = [{name: clock() for name, clock in clocks.items()} for _ in range(rounds + 1)][1:]
    return {name: float(np.median([each[name] for each in found])) for name in clocks}


def growth_section(rounds: int) -> Judged:
    """Exponent of the cost in n."""
    sizes, names, steps = (10, 100, 1000), ("null-space", "midpoint"), 500  # as many for all: the first ones take more corrections
    print(f"\nChains, h = {H} s: us per step\n  {'links':12s}" + "".join(f"{n:>10d}" for n in sizes))
    rows: dict[str, list[float]] = {name: [] for name in names}
    for n in sizes:
        model, state = chain(n).frozen(), start(n)
        engines = {name: Plan.bare(model, find("tree", name), H).engine() for name in names}

        def per_step(engine: Any, state: Any = state) -> float:
            engine.start(*state)
            return 1e6 * cpu_seconds(lambda: engine.advance(steps, steps)) / steps

        for name, us in taken({name: lambda e=e: per_step(e) for name, e in engines.items()}, rounds).items():
            rows[name].append(us)
    judged = []
    for name, us in rows.items():
        exponent = float(np.polyfit(np.log(sizes), np.log(us), 1)[0])
        print(f"  {name:12s}" + "".join(f"{x:10.2f}" for x in us) + f"   exponent {exponent:.3f}")
        if name == "null-space":
            judged.append((f"null-space grows by the power {exponent:.3f} of the links, at most {EXPONENT}", exponent <= EXPONENT))
    return judged


# impacts ----------------------------------------------------------------------------------------------------------------------------


def worst(found: Array, exact: Array) -> float:
    """Largest error of the instants; inf where impacts are missing."""
    return float(np.abs(found[: len(exact)] - exact).max()) if len(found) >= len(exact) else np.inf


def curves(m: Striker, steps: Array, tolerances: Array, rounds: int) -> dict[str, list[dict[str, float]]]:
    """Error of the instants and CPU seconds of each setting."""
    exact = by_scipy(m, 3e-14)
    runs: dict[str, Callable[[], Array]] = {f"collision|{h:g}": lambda h=h: by_collision(m, h) for h in steps}
    coarse = [h for h in steps if h >= COARSE] if len(steps) > 3 else []
    runs |= {f"{name}|{h:g}": lambda h=h, name=name: by_collision(m, h, name) for name in COMPOSED for h in coarse}
    runs |= {f"scipy|{tol:g}": lambda tol=tol: by_scipy(m, tol) for tol in tolerances}
    errors = {key: worst(run(), exact) for key, run in runs.items()}
    seconds = interleaved(runs, rounds)
    out: dict[str, list[dict[str, float]]] = {name: [] for name in dict.fromkeys(key.split("|")[0] for key in runs)}
    for key in runs:
        name, setting = key.split("|")
        out[name].append({"setting": float(setting), "error": errors[key], "seconds": seconds[key]})
    return out


def impacts_section(rounds: int) -> Judged:
    """CPU time at equal errors of instants."""
    judged = []
    found = curves(ball(), np.array([0.1, 0.05, 0.02]), np.array([1e-3, 1e-6, 1e-9]), rounds)
    print("\nBall on a floor, 10 s, 11 impacts: both are exact but for round-off. Setting, largest error of instants (s), ms of CPU time")
    for name, points in found.items():
        print(f"  {name:10s}" + "".join(f"   {p['setting']:g}: {p['error']:.1e}, {1e3 * p['seconds']:.2f}" for p in points))
    ours, theirs = (min(p["seconds"] for p in found[name]) for name in ("collision", "scipy"))
    judged.append((f"ball: collision takes {ours / theirs:.2f} of SciPy's CPU time", ours < theirs))
    steps, tolerances = np.array([0.06, 0.03, 0.015, 0.0075, 3e-3, 1.5e-3, 7.5e-4, 3e-4, 1e-4]), 10.0 ** -np.arange(1, 11)
    found = curves(pendulum(), steps, tolerances, rounds)
    print("\nDouble pendulum beside a wall, 3 s, 4 impacts: setting, largest error of instants (s), ms of CPU time")
    for name, points in found.items():
        for p in points:
            print(f"  {name:10s} {p['setting']:8.1e} {p['error']:10.1e} {1e3 * p['seconds']:9.2f}")
    print("  ms for an error of" + "".join(f"{e:>10.0e}" for e in ERRORS))
    table = {name: [time_to(points, e) for e in ERRORS] for name, points in found.items()}
    for name, each in table.items():
        print(f"  {name:18s}" + "".join(f"{1e3 * x:10.2f}" for x in each))
    for k, error in enumerate(ERRORS):
        best = min((name for name in table if name != "scipy"), key=lambda name: table[name][k])
        ratio = table[best][k] / table["scipy"][k]
        ours = best if best == "collision" else f"collision + {best}"
        judged.append((f"pendulum, instants within {error:.0e} s: {ours} takes {ratio:.2f} of SciPy's CPU time", ratio < 1))
    return judged


# search -----------------------------------------------------------------------------------------------------------------------------


def bisected(m: Striker, h: float, tol: float) -> tuple[int, int]:
    """(steps of the base method inside searches, impacts) of a run that finds instants by bisection, down to |gap| <= tol."""
    model = m.model.without(("contact",)).frozen()
    engine: Any = Plan.bare(model, find("tree", "null-space"), h).engine()

    def go(y: Array, s: float) -> Array:
        engine.start(*m.of_y(y))
        engine.h = s
        engine.advance(1, 1)
        return m.to_y(*engine.observe()[:2])

    searched, hits, y = 0, 0, np.array(m.y0)
    for _ in range(round(m.t_end / h)):
        left = h
        while left > 1e-13 * h:
            s, trial = left, go(y, left)
            struck = m.gap(0.0, trial) < -tol
            low, high = 0.0, left
            while struck and abs(m.gap(0.0, trial)) > tol and high - low > 4e-16 * high:
                s = 0.5 * (low + high)
                trial = go(y, s)
                low, high, searched = (s, high, searched + 1) if m.gap(0.0, trial) > 0.0 else (low, s, searched + 1)
            left -= s
            y = np.array(m.bounce(trial)) if struck else trial
            hits += struck
    return searched, hits


def search_section() -> Judged:
    """Trial steps of searches per collision."""
    print("\nSearch: trial steps to find the instant of a collision, and bisection on the same base step to the same gap")
    judged = []
    for m, h in ((ball(), 0.05), (pendulum(), 0.01)):
        n = round(m.t_end / h)
        engine: Any = Plan.bare(m.model.frozen(), find("tree", "collision"), h).engine()
        engine.start(np.array(m.q0), np.zeros(m.model.nv))
        events = engine.advance(n, n).tables["events"].rows
        ours, extra = engine.counts[tables.SEARCHED] / len(events), (engine.counts[tables.TRIALS] - n) / len(events)
        searched, hits = bisected(m, h, 0.1 * TOLERANCE * engine.solids.size)
        theirs = searched / hits
        print(f"  {m.model.name:16s} h = {h:g}: {len(events)} collisions, {ours:5.1f}; bisection {hits} collisions, {theirs:5.1f}")
        print(f"  {'':16s} with the rest of the step, and looks whether bodies touch inside steps: {extra:.1f} beyond one per step")
        judged.append((f"{m.model.name}: {ours:.1f} trial steps find an instant, bisection {theirs:.1f}", ours < theirs))
    return judged


# billiards --------------------------------------------------------------------------------------------------------------------------


def billiards(n: int = 100, side: float = 4.0) -> dal.Model:
    """Spheres of radius 0.1 in a cube, elastic, without weight."""
    m = dal.Model("billiards", gravity=(0, 0, 0))
    for axis, sign in itertools.product(range(3), (1.0, -1.0)):
        place = np.zeros(3)
        place[axis] = sign * side / 2
        normal = -sign * np.eye(3)[axis]
        turn = np.cross((0, 0, 1), normal)
        angle = np.pi / 2 if turn.any() else (0.0 if normal[2] > 0 else np.pi)
        quaternion = quat_exp(angle * (turn if turn.any() else np.array([1.0, 0, 0])))
        m.add_shape("world", dal.Plane(position=tuple(place), quaternion=tuple(quaternion), friction=0, restitution=1))
    grid = itertools.product(np.linspace(-1.6, 1.6, 5), repeat=3)
    for k, x in enumerate(itertools.islice(grid, n)):
        m.add_particle(f"ball{k}", 1.0, position=x, shapes=[dal.Sphere(0.1, friction=0, restitution=1)])
    return m


def billiards_section(most: int, limit: float) -> Judged:
    """A long run."""
    model, h, part = billiards().frozen(), 0.1, 100
    engine: Any = Plan.bare(model, find("tree", "collision"), h).engine()
    v0 = np.random.default_rng(0).normal(size=model.nv)
    engine.start(model.neutral(), v0)
    engine.advance(1, 1)
    engine.start(model.neutral(), v0)
    energy, began = 0.5 * v0 @ v0, time.monotonic()
    hits, seconds, change, gap = 0, 0.0, 0.0, np.inf
    while hits < most and time.monotonic() - began < limit:
        clock = time.process_time()
        chunk = engine.advance(part, 1)
        seconds += time.process_time() - clock
        assert chunk.status == 0
        hits += len(chunk.tables["events"].rows)
        nodes = engine.unpack(chunk.states)
        change = max(change, float(np.abs(0.5 * (nodes["v"] ** 2).sum(axis=1) / energy - 1).max()))
        gap = min(gap, float(smallest_gaps(model, engine.solids, nodes["q"]).min()))
    trials, tol = int(engine.counts[tables.TRIALS]), TOLERANCE * engine.solids.size
    print(f"\nBilliards of 100 spheres, h = {h} s: {hits} collisions in {engine.steps * h:.0f} s of motion")
    searched = int(engine.counts[tables.SEARCHED]) / hits
    print(f"  {hits / seconds:.0f} collisions per second of CPU time, {1e6 * seconds / hits:.0f} us each")
    print(f"  {trials / hits:.2f} trial steps for each, {searched:.2f} of them to find its instant")
    print(f"  largest change of energy {change:.1e} of it; smallest gap at {engine.steps} nodes {gap:.1e} m (search: to {tol:.1e})")
    return [
        (f"energy changes by at most {change:.1e} of itself over {hits} collisions, at most {ENERGY:g}", change <= ENERGY),
        (f"spheres overlap at nodes by at most {max(-gap, 0.0):.1e} m, at most {OVERLAP * tol:.1e}", -gap <= OVERLAP * tol),
    ]


def main() -> int:
    """Measure, print, judge."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="one round, 2000 collisions")
    parser.add_argument("--sections", nargs="+", choices=SECTIONS, default=SECTIONS)
    arguments = parser.parse_args()
    rounds = 1 if arguments.quick else 7
    known: dict[str, Callable[[], Judged]] = {
        "top": lambda: top_section(rounds),
        "growth": lambda: growth_section(rounds),
        "impacts": lambda: impacts_section(rounds),
        "search": search_section,
        "billiards": lambda: billiards_section(2000 if arguments.quick else 100_000, 60.0),
    }
    judged = [each for name in SECTIONS if name in arguments.sections for each in known[name]()]
    print("\nTargets")
    for text, ok in judged:
        print(f"  {'met   ' if ok else 'MISSED'} {text}")
    return 0 if all(ok for _, ok in judged) else 1


if __name__ == "__main__":
    sys.exit(main())
