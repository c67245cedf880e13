"""Variational integrators on chains beside MuJoCo, Pinocchio, Drake, DART and SciPy, in one run: CPU time, interleaved, medians.

    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python benchmarks/variational_trees.py [--quick] [--sections steps growth state energy whip]
        [--rounds 5] [--dart PYTHON] [--out benchmarks/results]

    steps    microseconds per step at h = 0.01, chains of 3 ... 100 revolute joints in 3D (those of benchmarks/trees.py)
    growth   the same at h = 0.001 for 30 ... 1000 joints, this library only: exponent of the cost in n
    state    chain of 3, 10 s: CPU time against the error of the end state (reference: mk8 at 1e-13)
    energy   chain of 3, 1000 s: CPU time against the largest energy error at whole seconds, over the largest kinetic energy; drift
    whip     chain of 100 at h = 0.01 over 10 s, released at rest: does the run survive

--dart names the Python interpreter of an environment with dartpy, where this one has none. Writes a text, a JSON and a PNG file.
Targets are printed with their verdict; the exit code is 1 if one is missed.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import statistics
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from _contestants import VARIATIONAL, Array, Run, drake_run, mujoco_run, ours, pinocchio_rk4, registered, start
from _dart import Dart
from _plots import draw
from _precision import energy_section, judge_winner, state_section
from _timing import cpu_seconds
from trees import chain

from dalembert.model.dynamics import TreeDynamics

SECTIONS = ("steps", "growth", "state", "energy", "whip")
TARGETS = {3: 0.4, 10: 0.6, 30: 0.9, 100: 0.5}  # trapezoidal or midpoint over MuJoCo's RK4
Log = Callable[[str], None]


def medians(contestants: dict[str, Callable[[], float]], rounds: int) -> dict[str, float]:
    """Median of what each call returns; one unmeasured round warms up, then all take turns."""
    for run in contestants.values():
        run()
    found: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(rounds):
        for name, run in contestants.items():
            found[name].append(run())
    return {name: statistics.median(values) for name, values in found.items()}


def per_step(run: Run, h: float, steps: int, repeats: int) -> Callable[[], float]:
    """CPU microseconds per step: short runs (in long ones the Euler methods diverge), minus the cost of a start."""

    def times(n: int) -> float:
        return cpu_seconds(lambda: [run(n * h, n * h) for _ in range(repeats)])

    return lambda: 1e6 * (times(steps) - times(1)) / (repeats * (steps - 1))


def open_dart(python: str, log: Log) -> Dart | None:
    """DART, or a line that says why not."""
    try:
        return Dart(python)
    except (RuntimeError, OSError) as problem:
        log(f"DART is not measured: {problem}")
        return None


# time per step ----------------------------------------------------------------------------------------------------------------------


def our_runs(n: int, h: float, steps: int, log: Log) -> tuple[dict[str, Run], int]:
    """Those of our steppers that make so many steps, and how many these are; the others are named."""
    state = start(n)
    runs = {s.name: ours(n, state, s, h) for s in registered((*VARIATIONAL, "mk4"))}
    done = {name: len(run(steps * h, h)[0]) for name, run in runs.items()}
    for name in [name for name, k in done.items() if k < steps]:
        log(f"  n = {n}, h = {h}: {name} fails at step {done[name] + 1}")
    return {name: run for name, run in runs.items() if done[name] == steps}, steps


def dart_per_step(dart: Dart, n: int, h: float, steps: int, repeats: int) -> Callable[[], float]:
    """DART's own CPU time, after its accelerations have been compared with ours."""
    q, v = start(n)
    expected = TreeDynamics(chain(n)).forward_dynamics(q, v)
    np.testing.assert_allclose(dart.open(n, h, q, v), expected, rtol=0, atol=1e-7 * np.abs(expected).max())
    return lambda: 1e6 * (dart.run(steps, repeats) - dart.run(1, repeats)) / (repeats * (steps - 1))


def steps_section(sizes: list[int], rounds: int, dart: Dart | None, log: Log) -> dict[str, Any]:
    """Microseconds per step at h = 0.01 over the first second."""
    log("\nSteps: us per step, h = 0.01")
    out: dict[str, Any] = {}
    h = 0.01
    for n in sizes:
        state, repeats = start(n), max(5, 600 // n)
        runs, steps = our_runs(n, h, 100, log)
        for integrator in ("Euler", "implicitfast", "implicit", "RK4"):
            runs[f"mujoco {integrator}"] = mujoco_run(n, state, integrator, h)
        runs["pinocchio RK4"] = pinocchio_rk4(n, state, h)
        for scheme in ("discrete", "runge_kutta3", "runge_kutta5"):
            runs[f"drake {scheme}"] = drake_run(n, state, scheme, h)
        clocks = {name: per_step(run, h, steps, repeats) for name, run in runs.items()}
        if dart is not None:
            clocks["dart"] = dart_per_step(dart, n, h, steps, repeats)
        out[str(n)] = medians(clocks, rounds) | {"steps": steps}
    names = [name for name in dict.fromkeys(name for row in out.values() for name in row) if name != "steps"]
    log(f"  {'n':22s}" + "".join(f"{n:>10d}" for n in sizes))
    log(f"  {'steps of a run':22s}" + "".join(f"{out[str(n)]['steps']:10d}" for n in sizes))
    for name in names:
        log(f"  {name:22s}" + "".join(f"{out[str(n)].get(name, np.nan):10.2f}" for n in sizes))
    return out


def judge_steps(found: dict[str, Any]) -> list[tuple[str, bool]]:
    """Ratios to MuJoCo's RK4."""
    met = []
    for n, target in TARGETS.items():
        for name in ("trapezoidal", "midpoint"):
            row = found.get(str(n))
            if row is None:
                continue
            if name not in row:
                met.append((f"{name} at n = {n}: not registered, or it fails", False))
                continue
            ratio = row[name] / row["mujoco RK4"]
            met.append((f"{name} over MuJoCo RK4 at n = {n}: {ratio:.2f} <= {target}", ratio <= target))
    return met


def growth_section(sizes: list[int], rounds: int, log: Log) -> dict[str, Any]:
    """Exponent of the cost in n."""
    log("\nGrowth: us per step, h = 0.001")
    out: dict[str, Any] = {}
    for n in sizes:
        found, steps = our_runs(n, 0.001, 100, log)
        clocks = {name: per_step(run, 0.001, steps, max(1, 1000 // n)) for name, run in found.items()}
        out[str(n)] = medians(clocks, rounds) | {"steps": steps}
        log(f"  n = {n:5d}, {steps} steps" + "".join(f"   {name} {us:9.2f}" for name, us in out[str(n)].items() if name != "steps"))
    exponents = {}
    for name in [name for name in out[str(sizes[0])] if name != "steps"]:
        have = [n for n in sizes if name in out[str(n)]]
        if len(have) > 1:
            exponents[name] = float(np.polyfit(np.log(have), np.log([out[str(n)][name] for n in have]), 1)[0])
            log(f"  {name}: exponent {exponents[name]:.3f} over n = {have[0]} ... {have[-1]}")
    out["exponent"] = exponents
    return out


# the whip ---------------------------------------------------------------------------------------------------------------------------


def whip_section(n: int, t_end: float, log: Log) -> dict[str, Any]:
    """A long chain released at rest, in a plane and in space."""
    log(f"\nWhip: chain of {n}, h = 0.01, {t_end:g} s, released at rest")
    model, out = chain(n).frozen(), {}
    for where, q0 in (("plane", np.zeros(n)), ("space", start(n)[0])):
        state = (q0, np.zeros(n))
        runs = {s.name: ours(n, state, s, 0.01) for s in registered((*VARIATIONAL, "mk4"))}
        runs |= {f"mujoco {i}": mujoco_run(n, state, i, 0.01) for i in ("Euler", "implicitfast", "implicit", "RK4")}
        runs |= {"drake runge_kutta3": drake_run(n, state, "runge_kutta3", 0.01)}
        for name, run in runs.items():
            seconds, survived, error = _one_whip(model, state, run, t_end)
            done = "survives" if survived >= t_end - 0.005 else f"breaks at {survived:.2f} s"
            log(f"  {where:6s} {name:22s} {done:18s} energy error {error:8.1e}   {1e3 * seconds:9.1f} ms")
            out[f"{where} {name}"] = {"survived": survived, "energy_error": error, "seconds": seconds}
    return out


def _one_whip(model: Any, state: tuple[Array, Array], run: Run, t_end: float) -> tuple[float, float, float]:
    """CPU seconds, time to which all numbers are finite, largest energy error until then over the largest kinetic energy."""
    found: list[tuple[Array, Array]] = []
    try:
        seconds = cpu_seconds(lambda: found.append(run(t_end, 0.01)))
    except RuntimeError:
        return float("nan"), 0.0, float("nan")
    q, v = found[0]
    sane = np.isfinite(q).all(1) & np.isfinite(v).all(1) & (np.abs(v).max(1, initial=0.0) < 1e6)
    last = len(q) if sane.all() else int(np.argmin(sane))
    if last == 0:
        return seconds, 0.0, float("nan")
    kinetic = model.kinetic_energy(q[:last], v[:last]).max()
    return seconds, 0.01 * last, float(np.abs(model.energy(q[:last], v[:last]) - model.energy(*state)).max() / kinetic)


def judge_whip(found: dict[str, Any], t_end: float) -> list[tuple[str, bool]]:
    """Ours survive."""
    of_ours = {name: row for name, row in found.items() if name.split(" ")[1] in VARIATIONAL}
    return [(f"whip in the {name} survives {t_end:g} s", row["survived"] >= t_end - 0.005) for name, row in of_ours.items()]


# all ----------------------------------------------------------------------------------------------------------------------------------


def versions() -> dict[str, str]:
    """Of what is compared."""
    return {name: importlib.metadata.version(name) for name in ("dalembert", "numpy", "numba", "scipy", "mujoco", "pin", "drake")}


def main() -> int:
    """Measure, print, judge, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small chains, short runs, one round: about a minute")
    parser.add_argument("--sections", nargs="+", choices=SECTIONS, default=list(SECTIONS))
    parser.add_argument("--rounds", type=int, default=5, help="measured rounds of the steps; the long runs take at most 3")
    parser.add_argument("--dart", default=sys.executable, help="Python interpreter that has dartpy")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results")
    given = parser.parse_args()
    quick, rounds = given.quick, 1 if given.quick else given.rounds
    lines: list[str] = []

    def log(text: str) -> None:
        print(text, flush=True)
        lines.append(text)

    missing = set(VARIATIONAL) - {s.name for s in registered(VARIATIONAL)}
    log("not registered for trees: " + ", ".join(sorted(missing)) if missing else "all variational steppers are registered")
    result: dict[str, Any] = {"versions": versions(), "quick": quick}
    met: list[tuple[str, bool]] = []
    if "steps" in given.sections:
        dart = open_dart(given.dart, log)
        result["steps"] = steps_section([3, 10] if quick else [3, 10, 30, 100], rounds, dart, log)
        met += judge_steps(result["steps"])
        if dart is not None:
            result["versions"]["dartpy"] = dart.version
            dart.close()
    if "growth" in given.sections:
        result["growth"] = growth_section([30, 100] if quick else [30, 100, 300, 1000], rounds, log)
        exponents = result["growth"]["exponent"]
        met += [(f"{name}: exponent {exponents[name]:.3f} <= 1.1", exponents[name] <= 1.1) for name in ("trapezoidal", "midpoint")]
    if "state" in given.sections:
        result["state"] = state_section(1.0 if quick else 10.0, rounds, quick, log)
        met += judge_winner(result["state"], "end state to")
    if "energy" in given.sections:
        result["energy"] = energy_section(5.0 if quick else 1000.0, min(rounds, 3), quick, log)
        met += judge_winner(result["energy"], "energy to")
    if "whip" in given.sections:
        t_end = 1.0 if quick else 10.0
        result["whip"] = whip_section(20 if quick else 100, t_end, log)
        met += judge_whip(result["whip"], t_end)
    log("\nTargets")
    for text, ok in met:
        log(f"  {'met   ' if ok else 'MISSED'} {text}")
    result["targets"] = [{"target": text, "met": ok} for text, ok in met]
    given.out.mkdir(parents=True, exist_ok=True)
    (given.out / "variational_trees.txt").write_text("\n".join(lines) + "\n")
    (given.out / "variational_trees.json").write_text(json.dumps(_plain(result), indent=1) + "\n")
    draw(result, given.out / "variational_trees.png")
    return 0 if all(ok for _, ok in met) else 1


def _plain(value: Any) -> Any:
    """JSON has no infinite numbers and no nan."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value


if __name__ == "__main__":
    sys.exit(main())
