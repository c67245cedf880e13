"""Accuracy against cost on the chain of 3: contestants at series of settings, judged by this library's energy and by mk8 at 1e-13."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from typing import Any

import numpy as np
from _contestants import VARIATIONAL, Array, Run, drake_run, mujoco_run, ours, pinocchio_rk4, registered, scipy_run, start
from _timing import cpu_seconds
from trees import chain

from dalembert.registry import find

COMPOSITIONS: dict[str | None, tuple[int, ...]] = {  # steps per second of the series
    None: (20, 50, 100, 200, 500, 1000, 2000, 5000, 10000),
    "suzuki4": (20, 32, 50, 80, 100, 160, 200, 400, 800),
    "yoshida6": (32, 50, 80, 100, 160, 200, 320, 500),
    "kahan-li6": (20, 32, 50, 80, 100, 125, 160, 200, 250, 320),
    "kahan-li8": (10, 16, 20, 32, 50, 80, 100, 125, 160),
}
ENERGY_TARGETS = [10.0**-k for k in range(2, 9)]
STATE_TARGETS = [10.0**-k for k in range(2, 11)]
PEERS = ("mujoco", "pinocchio", "drake", "dart", "scipy")
LONG = 1.0  # CPU seconds from which a run is not repeated
DEAR = 3.0  # CPU seconds from which finer settings of a contestant are not run: they cost more, and the most accurate winner takes 0.5 s
Log = Callable[[str], None]


def series(quick: bool) -> dict[str, list[tuple[str, Run]]]:
    """Contestants, each with its settings from coarse to fine."""
    state = start(3)
    thin = slice(2, 4) if quick else slice(None)
    out: dict[str, list[tuple[str, Run]]] = {}
    for stepper in registered(VARIATIONAL):
        for compose, rates in COMPOSITIONS.items():
            if compose is None or stepper.self_adjoint:
                name = stepper.name + (f" + {compose}" if compose else "")
                out[name] = [(f"h = 1/{k}", ours(3, state, stepper, 1 / k, compose)) for k in rates[thin]]
    out["mk4"] = [(f"h = 1/{k}", ours(3, state, find("tree", "mk4"), 1 / k)) for k in (50, 100, 200, 400, 800, 1600, 3200)[thin]]
    out["mk8"] = [
        (f"rtol = {r:g}", ours(3, state, find("tree", "mk8"), 0.1, rtol=r, atol=r)) for r in (1e-4, 1e-6, 1e-8, 1e-10, 1e-12)[thin]
    ]
    fixed = (100, 200, 500, 1000)[thin]
    for integrator in ("Euler", "implicitfast", "implicit", "RK4"):
        out[f"mujoco {integrator}"] = [
            (f"h = 1/{k}", mujoco_run(3, state, integrator, 1 / k)) for k in (50, *fixed, *([] if quick else [2000]))
        ]
    out["pinocchio RK4"] = [(f"h = 1/{k}", pinocchio_rk4(3, state, 1 / k)) for k in fixed]
    for scheme in ("discrete", "runge_kutta3", "runge_kutta5"):
        out[f"drake {scheme}"] = [(f"h = 1/{k}", drake_run(3, state, scheme, 1 / k)) for k in (50, *fixed)]
    accuracies = (1e-4, 1e-6, 1e-8, 1e-10, 1e-12)[thin]
    out["drake runge_kutta5 adaptive"] = [(f"accuracy = {a:g}", drake_run(3, state, "runge_kutta5", 0.1, a)) for a in accuracies]
    for solver in ("dop853", "DOP853"):
        out[f"scipy {solver}"] = [(f"rtol = {r:g}", scipy_run(3, state, solver, r)) for r in accuracies]
    return out


def measure(
    contestants: dict[str, list[tuple[str, Run]]],
    t_end: float,
    spacing: float,
    rounds: int,
    judge: Callable[[Array, Array], dict[str, float]],
) -> dict[str, list[dict[str, Any]]]:
    """Error and median CPU seconds of every contestant and setting. Runs that fail have error nan, runs above LONG are made once, and
    after one above DEAR the series ends: "cut" says so in its last point."""
    points: dict[str, list[dict[str, Any]]] = {name: [] for name in contestants}
    again: list[tuple[dict[str, Any], Run, list[float]]] = []
    for name, settings in contestants.items():
        for setting, run in settings:
            point, seconds = _first(run, t_end, spacing, judge)
            points[name].append({"setting": setting} | point)
            if "why" not in point:
                points[name][-1]["seconds"] = seconds
                again += [(points[name][-1], run, [])] if seconds < LONG else []
                if seconds > DEAR and setting != settings[-1][0]:
                    points[name][-1]["cut"] = True
                    break
    for _ in range(rounds):
        for _, run, times in again:
            times.append(cpu_seconds(lambda run=run: run(t_end, spacing)))
    for point, _, times in again:
        point["seconds"] = statistics.median(times)
    return points


def _first(run: Run, t_end: float, spacing: float, judge: Callable[[Array, Array], dict[str, float]]) -> tuple[dict[str, Any], float]:
    """What the judge says of a run, and its CPU seconds."""
    found: list[tuple[Array, Array]] = []
    try:
        seconds = cpu_seconds(lambda: found.append(run(t_end, spacing)))
    except RuntimeError as problem:  # Drake ends a run that it cannot continue
        return {"error": float("nan"), "why": str(problem).splitlines()[0][:60]}, float("nan")
    q, v = found[0]
    if len(q) != round(t_end / spacing) or not (np.isfinite(q).all() and np.isfinite(v).all()):
        return {"error": float("nan"), "why": "did not survive"}, float("nan")
    return judge(q, v), seconds


def time_to(points: list[dict[str, Any]], target: float) -> float:
    """CPU seconds to an error: the cheapest setting that reaches it, drawn towards the next cheaper one by log-log interpolation."""
    good = [p for p in points if p["error"] <= target]
    if not good:
        return float("inf")
    best = min(good, key=lambda p: p["seconds"])
    coarser = [p for p in points if target < p["error"] < np.inf and p["seconds"] < best["seconds"]]
    if not coarser or best["error"] <= 0.0:
        return float(best["seconds"])
    near = min(coarser, key=lambda p: p["error"])
    share = np.log(target / best["error"]) / np.log(near["error"] / best["error"])
    return float(np.exp((1 - share) * np.log(best["seconds"]) + share * np.log(near["seconds"])))


def tables(points: dict[str, list[dict[str, Any]]], targets: list[float], log: Log) -> dict[str, dict[str, float]]:
    """All measurements, then the CPU milliseconds to each target."""
    for name, rows in points.items():
        for p in rows:
            rest = "".join(f", {key} {p[key]:.1e}" for key in ("drift",) if key in p)
            cost = f"{1e3 * p['seconds']:10.2f} ms" if "seconds" in p else f"  {p['why']}"
            log(f"  {name:30s} {p['setting']:18s} error {p['error']:8.1e}{rest} {cost}")
    log("  CPU ms to an error of")
    log(f"  {'':30s}" + "".join(f"{t:10.0e}" for t in targets))
    found = {name: {f"{t:g}": time_to(rows, t) for t in targets} for name, rows in points.items()}
    for name, row in found.items():
        more = f">{1e3 * least_beyond(points[name]):.0f}" if np.isfinite(least_beyond(points[name])) else "-"
        log(f"  {name:30s}" + "".join(f"{1e3 * s:10.2f}" if np.isfinite(s) else f"{more:>10s}" for s in row.values()))
    return found


def least_beyond(points: list[dict[str, Any]]) -> float:
    """What a series that was cut short would cost at least where it did not come; infinite for a whole one."""
    return float(points[-1]["seconds"]) if points[-1].get("cut") else float("inf")


def judge_winner(section: dict[str, Any], what: str) -> list[tuple[str, bool]]:
    """At each target a method of this library is the cheapest; the best variational one is named beside it.

    A peer whose series was cut short is taken to reach what it did not with the next setting, at the cost of the last.
    """
    met, found = [], section["seconds_to"]
    beyond = {name: least_beyond(rows) for name, rows in section["points"].items() if name.startswith(PEERS)}
    for target in next(iter(found.values())):
        costs = {name: min(row[target], beyond.get(name, np.inf)) for name, row in found.items()}
        peer = min((name for name in costs if name.startswith(PEERS)), key=costs.__getitem__)
        best = min((name for name in costs if not name.startswith(PEERS)), key=costs.__getitem__)
        variational = min((name for name in costs if name.startswith(VARIATIONAL)), key=costs.__getitem__, default=None)
        if np.isfinite(min(costs.values())):
            names = dict.fromkeys(name for name in (best, variational, peer) if name is not None)
            text = ", ".join(f"{name} {1e3 * costs[name]:.3g} ms" for name in names)
            met.append((f"{what} {target}: {text}", costs[best] <= costs[peer]))
    return met


def state_section(t_end: float, rounds: int, quick: bool, log: Log) -> dict[str, Any]:
    """CPU time to an error of the end state."""
    state, mk8 = start(3), find("tree", "mk8")
    ends = [np.hstack(ours(3, state, mk8, t_end / 100, rtol=r, atol=r)(t_end, t_end))[-1] for r in (1e-13, 1e-12)]
    doubt = float(np.abs(ends[0] - ends[1]).max())
    log(f"\nState: chain of 3, {t_end:g} s; the reference (mk8, 1e-13) is {doubt:.0e} from mk8 at 1e-12: smaller errors are not judged")
    points = measure(series(quick), t_end, t_end, rounds, lambda q, v: {"error": float(np.abs(np.hstack([q, v])[-1] - ends[0]).max())})
    return {"t_end": t_end, "points": points, "seconds_to": tables(points, [x for x in STATE_TARGETS if float(x) > doubt], log)}


def energy_section(t_end: float, rounds: int, quick: bool, log: Log) -> dict[str, Any]:
    """CPU time to a bound of the energy error, and drift."""
    model, state = chain(3).frozen(), start(3)
    before = float(model.energy(*state))
    t = np.arange(1.0, round(t_end) + 1)

    def judge(q: Array, v: Array) -> dict[str, float]:
        error = (model.energy(q, v) - before) / model.kinetic_energy(q, v).max()
        return {"error": float(np.abs(error).max()), "drift": float(np.polyfit(t / t_end, error, 1)[0])}

    log(f"\nEnergy: chain of 3, {t_end:g} s, errors at whole seconds over the largest kinetic energy; drift over the run")
    points = measure(series(quick), t_end, 1.0, rounds, judge)
    return {"t_end": t_end, "points": points, "seconds_to": tables(points, ENERGY_TARGETS, log)}
