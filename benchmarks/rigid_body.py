"""One free rigid body: nanoseconds per step, and error against CPU time, beside MuJoCo, Pinocchio and SciPy in the same run.

    python benchmarks/rigid_body.py [--quick] [--out DIR]

All contestants integrate the same body (inertia 1, 2, 2.5; angular velocity 0.3, 1, 0.4; no forces). MuJoCo makes all steps of a run in
one call of
mj_step; Pinocchio's derivatives are called from a Python loop, as its users do; SciPy integrates Euler's equations and the quaternion.
The error is the angle between the computed and the exact attitude (Jacobi elliptic functions) at t = 100 s.
Targets are printed with their verdict; the exit code is 1 if one is missed.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Callable
from pathlib import Path

import mujoco
import numpy as np
import pinocchio
from _timing import cpu_seconds, interleaved
from scipy.integrate import solve_ivp

import dalembert as dal
from dalembert.model.rotation import quat_conj, quat_log, quat_mul
from dalembert.peers.mujoco import load
from dalembert.registry import find
from dalembert.runs.plan import Plan
from dalembert.steppers.compose import find_composition
from dalembert.verification import free_body

J = np.array([1.0, 2.0, 2.5])
OMEGA0 = np.array([0.3, 1.0, 0.4])
T_END = 100.0
Runner = Callable[[], np.ndarray]  # runs to the end, returns the attitude quaternion


def machine(inertia: np.ndarray = J) -> dal.Model:
    """The body of all contestants."""
    m = dal.Model("body", gravity=(0, 0, 0))
    m.add_body("body", 1.0, inertia)
    return m.frozen()


MODEL = machine()
V0 = np.concatenate([OMEGA0, np.zeros(3)])


def ours(name: str, h: float, n: int, compose: str | None = None, model: dal.Model = MODEL) -> Runner:
    """A stepper of this library, all steps in one call of its loop."""
    weights = find_composition(compose).weights if compose else (1.0,)
    n = int(n)
    stepper = find("rigid-body", name)
    engine = Plan.bare(model, stepper, h, weights).engine()

    def run() -> np.ndarray:
        engine.start(model.neutral(), V0)
        status = engine.advance(n, n).status
        return engine.observe()[0][3:].copy() if status == 0 else np.full(4, np.nan)

    return run


def mujoco_run(integrator: str, h: float, n: int) -> Runner:
    """MuJoCo, all steps in one call."""
    model, data = load(MODEL, MODEL.neutral(), V0, h, integrator)

    def run() -> np.ndarray:
        mujoco.mj_resetData(model, data)
        data.qvel[3:] = OMEGA0
        mujoco.mj_step(model, data, n)
        return data.qpos[3:].copy()

    return run


def pinocchio_rk4(h: float, n: int) -> Runner:
    """Runge-Kutta 4 on aba, with the quaternion as a vector that is normalised after each step.

    (Tangent vectors averaged by pinocchio.integrate would be of second order only: they live at different attitudes.)
    """
    model = pinocchio.Model()
    joint = model.addJoint(0, pinocchio.JointModelFreeFlyer(), pinocchio.SE3.Identity(), "free")
    model.appendBodyToJoint(joint, pinocchio.Inertia(1.0, np.zeros(3), np.diag(J)), pinocchio.SE3.Identity())
    model.gravity.linear = np.zeros(3)
    data, tau = model.createData(), np.zeros(6)

    def rate(q: np.ndarray, v: np.ndarray) -> np.ndarray:
        _, _, _, x, y, z, s = q.tolist()
        a, b, c = v[3:].tolist()
        turn = (0.5 * (s * a + y * c - z * b), 0.5 * (s * b + z * a - x * c), 0.5 * (s * c + x * b - y * a), -0.5 * (x * a + y * b + z * c))
        return np.array((0.0, 0.0, 0.0, *turn))  # the centre of mass rests

    def run() -> np.ndarray:
        q, v = pinocchio.neutral(model), np.concatenate([np.zeros(3), OMEGA0])
        for _ in range(n):
            k1, a1 = rate(q, v), pinocchio.aba(model, data, q, v, tau).copy()
            q2, v2 = q + 0.5 * h * k1, v + 0.5 * h * a1
            k2, a2 = rate(q2, v2), pinocchio.aba(model, data, q2, v2, tau).copy()
            q3, v3 = q + 0.5 * h * k2, v + 0.5 * h * a2
            k3, a3 = rate(q3, v3), pinocchio.aba(model, data, q3, v3, tau).copy()
            q4, v4 = q + h * k3, v + h * a3
            k4, a4 = rate(q4, v4), pinocchio.aba(model, data, q4, v4, tau)
            q = q + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
            v = v + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
            q[3:] /= np.linalg.norm(q[3:])
        return q[[6, 3, 4, 5]]

    return run


def scipy_dop853(rtol: float) -> Runner:
    """SciPy's DOP853 on Euler's equations and the quaternion, with scalar arithmetic (faster there than arrays)."""
    a, b, c = J

    def rate(t: float, y: np.ndarray) -> tuple[float, ...]:
        s, i, j, k, p, q, r = y.tolist()
        return (
            0.5 * (-i * p - j * q - k * r), 0.5 * (s * p + j * r - k * q), 0.5 * (s * q + k * p - i * r), 0.5 * (s * r + i * q - j * p),
            (b - c) * q * r / a, (c - a) * r * p / b, (a - b) * p * q / c,
        )  # fmt: skip

    def run() -> np.ndarray:
        y = solve_ivp(rate, (0, T_END), [1, 0, 0, 0, *OMEGA0], method="DOP853", rtol=rtol, atol=rtol).y[:4, -1]
        return y / np.linalg.norm(y)

    return run


def per_step(rounds: int) -> dict[str, float]:
    """Nanoseconds per step of every stepper and peer at h = 0.01."""
    n, h = 100_000, 0.01
    names = [s.name for s in dal.steppers(system="rigid-body")]
    symmetric = machine(np.array([1.0, 1.0, 1.8]))
    runs: dict[str, tuple[Runner, int]] = {}
    for name in names:
        steps = 10_000 if name == "euler" else n  # it overflows later
        runs[name] = (ours(name, h, steps, model=symmetric if name == "bobenko-suris" else MODEL), steps)
    runs["cayley + suzuki4 (5 substeps)"] = (ours("cayley", h, n, "suzuki4"), n)
    for integrator in ("Euler", "implicitfast", "RK4"):
        runs[f"mujoco {integrator}"] = (mujoco_run(integrator, h, n), n)
    runs["pinocchio RK4 (Python loop)"] = (pinocchio_rk4(h, 2000), 2000)
    times = interleaved({name: run for name, (run, _) in runs.items()}, rounds)
    return {name: 1e9 * times[name] / runs[name][1] for name in runs}


def error_of(q: np.ndarray, exact: np.ndarray) -> float:
    """Angle between two attitudes."""
    if not np.isfinite(q).all():
        return np.inf
    return float(np.linalg.norm(quat_log(quat_mul(quat_conj(exact), q))))


def work_precision(rounds: int) -> dict[str, list[tuple[float, float]]]:
    """Curves (CPU seconds, error) of every contestant, from coarse to fine."""
    exact = free_body(J, OMEGA0, np.array([T_END]))[1][0]
    runs: dict[str, list[Runner]] = {}
    for s in dal.steppers(system="rigid-body", self_adjoint=True):
        if s.name != "bobenko-suris":
            runs[f"{s.name} + suzuki4"] = [ours(s.name, T_END / n, n, "suzuki4") for n in 100 * 2 ** np.arange(9)]
    runs["tln + kahan-li6"] = [ours("tln", T_END / n, n, "kahan-li6") for n in (100, 200, 400, 800, 1600, 3200)]
    coarse, fine = 10 ** np.arange(3, 7), 250 * 2 ** np.arange(8)
    for integrator, ns in (("Euler", coarse), ("implicitfast", coarse), ("RK4", fine)):
        runs[f"mujoco {integrator}"] = [mujoco_run(integrator, T_END / n, int(n)) for n in ns]
    runs["pinocchio RK4 (Python loop)"] = [pinocchio_rk4(T_END / n, n) for n in (250, 500, 1000, 2000, 4000, 8000)]
    runs["scipy DOP853"] = [scipy_dop853(rtol) for rtol in (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12)]
    flat = {f"{name}|{i}": run for name, each in runs.items() for i, run in enumerate(each)}
    errors = {key: error_of(run(), exact) for key, run in flat.items()}
    slow = {key for key, run in flat.items() if cpu_seconds(run) > 0.5}  # once is enough for what takes long
    times = interleaved({k: run for k, run in flat.items() if k not in slow}, rounds)
    times.update(interleaved({k: run for k, run in flat.items() if k in slow}, 1))
    return {name: [(times[f"{name}|{i}"], errors[f"{name}|{i}"]) for i in range(len(each))] for name, each in runs.items()}


def seconds_for(curve: list[tuple[float, float]], error: float) -> float:
    """CPU time at which a curve reaches an error: log-log interpolation between its points, inf where it never does."""
    points = sorted((e, t) for t, e in curve if np.isfinite(e))
    reach = [t for e, t in points if e <= error]
    if not reach:
        return np.inf
    best = min(reach)
    for (e0, t0), (e1, t1) in itertools.pairwise(points):
        if e0 <= error <= e1 and e1 > e0:
            s = np.log(error / e0) / np.log(e1 / e0)
            best = min(best, float(np.exp((1 - s) * np.log(t0) + s * np.log(t1))))
    return best


def is_peer(name: str) -> bool:
    """True for another program."""
    return name.startswith(("mujoco", "pinocchio", "scipy"))


def verdicts(steps: dict[str, float], curves: dict[str, list[tuple[float, float]]]) -> list[tuple[str, bool]]:
    """The targets."""
    implicit = [s.name for s in dal.steppers(system="rigid-body") if any(o.name == "max_iterations" for o in s.options)]
    out = []
    for name, peer in [("cayley", "Euler"), ("quaternion-linear", "Euler"), *((name, "RK4") for name in implicit)]:
        ours_ns, theirs = steps[name], steps[f"mujoco {peer}"]
        out.append((f"{name} is faster per step than MuJoCo {peer} ({ours_ns:.0f} ns, {theirs:.0f} ns)", ours_ns < theirs))
    grid = np.logspace(-2, -8, 13)
    peers = {name: c for name, c in curves.items() if is_peer(name)}
    for name, curve in curves.items():
        if not is_peer(name) and "suzuki4" in name:
            ratios = [min(seconds_for(c, e) for c in peers.values()) / seconds_for(curve, e) for e in grid]
            text = f"the fastest peer needs {min(ratios):.1f} to {max(ratios):.1f} times its CPU time for errors 1e-2 ... 1e-8"
            out.append((f"{name}: {text}", min(ratios) > 1))
    return out


def draw(curves: dict[str, list[tuple[float, float]]], path: Path) -> None:
    """Error over CPU time, peers dashed."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.subplots()
    for name, curve in curves.items():
        points = np.array([(1e3 * t, e) for t, e in curve if e < 1.0])
        if len(points):
            axes.loglog(*points.T, "x--" if is_peer(name) else "o-", label=name, markersize=4, linewidth=1.2)
    axes.set(xlabel="CPU time (ms)", ylabel="attitude error at t = 100 s (rad)", title="One free rigid body", ylim=(1e-11, 1.0))
    axes.grid(True, alpha=0.3)
    axes.legend(fontsize=8)
    figure.savefig(path, dpi=120)


def main() -> int:
    """Measure, print, judge."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="one round instead of seven")
    parser.add_argument("--out", type=Path, default=None, help="directory for the picture")
    arguments = parser.parse_args()
    rounds = 1 if arguments.quick else 7
    steps = per_step(rounds)
    print("CPU nanoseconds per step (h = 0.01)")
    for name, ns in sorted(steps.items(), key=lambda item: item[1]):
        print(f"  {name:32s} {ns:10.0f}   {ns / steps['mujoco Euler']:7.3f} of MuJoCo Euler")
    curves = work_precision(rounds)
    print("\nAttitude error at t = 100 s against CPU time: milliseconds needed for an error of")
    grid = [1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8]
    print("  " + " " * 32 + "".join(f"{e:9.0e}" for e in grid))
    for name, curve in curves.items():
        print(f"  {name:32s}" + "".join(f"{1e3 * seconds_for(curve, e):9.2f}" for e in grid))
    judged = verdicts(steps, curves)
    print("\nTargets")
    for text, ok in judged:
        print(f"  {'met   ' if ok else 'MISSED'} {text}")
    if arguments.out is not None:
        draw(curves, arguments.out / "rigid_body_work_precision.png")
    return 0 if all(ok for _, ok in judged) else 1


if __name__ == "__main__":
    sys.exit(main())
