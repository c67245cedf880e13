"""Systems given by a Lagrangian: time per step beside CasADi's root finder and SciPy's Radau, work for a given energy error beside DOP853.

    python benchmarks/lagrangians.py [--quick] [--out results.json]

Double pendulum, midpoint rule, h = 0.01: whole runs by `dal.simulate`, recording and velocities of the nodes included; beside it the same
equations solved by CasADi's Newton method, one Python call per step and as one `mapaccum`, and SciPy's Radau held at the same step size.
Kepler, e = 0.6, 100 periods: largest energy error over CPU time. DOP853 gets the plain Python right-hand side that a user would write,
and, as a second contestant, our compiled accelerations.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
from _timing import interleaved
from scipy.integrate import solve_ivp

import dalembert as dal

H, G = 0.01, 9.81
E = 0.6
PERIODS = 100
Q0, V0 = np.array([1.0, 0.5]), np.zeros(2)


def lagrangian(q: Any, v: Any) -> Any:
    """Two rods without mass, two points of mass 1, lengths 1; angles from the vertical."""
    return v[0] ** 2 + 0.5 * v[1] ** 2 + v[0] * v[1] * np.cos(q[0] - q[1]) + G * (2 * np.cos(q[0]) + np.cos(q[1]))


def midpoint_equations() -> tuple[Any, Any]:
    """(root-finding problem, momentum after the step) of the midpoint rule, in CasADi: unknown w, given (q, p)."""
    q, p, w = ca.SX.sym("q", 2), ca.SX.sym("p", 2), ca.SX.sym("w", 2)
    x, v = ca.SX.sym("x", 2), ca.SX.sym("v", 2)
    L = v[0] ** 2 + 0.5 * v[1] ** 2 + v[0] * v[1] * ca.cos(x[0] - x[1]) + G * (2 * ca.cos(x[0]) + ca.cos(x[1]))
    slopes = ca.Function("slopes", [x, v], [ca.gradient(L, x), ca.gradient(L, v)])
    L_q, L_v = slopes(q + 0.5 * H * w, w)
    problem = {"x": w, "p": ca.vertcat(q, p), "g": L_v - 0.5 * H * L_q - p}
    return problem, ca.Function("after", [w, ca.vertcat(q, p)], [ca.vertcat(q + H * w, L_v + 0.5 * H * L_q), w])


def casadi_runs(n: int) -> dict[str, Callable[[], Any]]:
    """The same steps by CasADi."""
    problem, after = midpoint_equations()
    M = np.array([[2.0, np.cos(Q0[0] - Q0[1])], [np.cos(Q0[0] - Q0[1]), 1.0]])
    start = np.concatenate([Q0, M @ V0])
    found = {}
    for kind in ("newton", "fast_newton"):
        finder = ca.rootfinder("finder", kind, problem, {"abstol": 1e-12})

        def loop(finder: Any = finder) -> Any:
            state, w = ca.DM(start), ca.DM(2, 1)
            for _ in range(n):
                w = finder(w, state)
                state, w = after(w, state)
            return np.array(state).ravel()

        found[f"casadi {kind}, Python loop"] = loop
    x, w = ca.MX.sym("x", 4), ca.MX.sym("w", 2)
    step = ca.Function("step", [ca.vertcat(x, w)], [ca.vertcat(*after(finder(w, x), x))])
    whole = step.mapaccum(n)
    found["casadi fast_newton, mapaccum"] = lambda: np.array(whole(np.concatenate([start, V0])))[:4, -1]
    return found


def accelerations(t: float, y: np.ndarray) -> np.ndarray:
    """The double pendulum as a user writes it for SciPy."""
    a, b, u, v = y
    s, c = np.sin(a - b), np.cos(a - b)
    f, g = -(v**2) * s - 2 * G * np.sin(a), u**2 * s - G * np.sin(b)
    det = 2.0 - c * c
    return np.array([u, v, (f - c * g) / det, (2 * g - c * f) / det])


def steps(quick: bool, rounds: int) -> dict[str, float]:
    """Seconds per step of the double pendulum."""
    n = 500 if quick else 2000
    s = dal.Lagrangian(2, lagrangian)
    runs: dict[str, Callable[[], Any]] = {
        f"dalembert {name}": (lambda name=name: dal.simulate(s, stepper=name, h=H, t_end=n * H, q0=Q0, v0=V0).q[-1])
        for name in ("midpoint", "trapezoidal", "galerkin4", "galerkin6")
    }
    many = dict(runs)
    runs |= casadi_runs(n)
    radau = {"max_step": H, "first_step": H, "rtol": 1e-1, "atol": 1e-1}  # loose: the step size decides
    runs["scipy Radau, equal h"] = lambda: solve_ivp(accelerations, (0, n * H), np.concatenate([Q0, V0]), method="Radau", **radau).y[:2, -1]
    seconds = {name: x / n for name, x in interleaved(runs, rounds).items()}
    long = 50 * n
    many = {f"{k}, {long} steps": (lambda k=k: dal.simulate(s, stepper=k.split()[1], h=H, t_end=long * H, q0=Q0)) for k in many}
    seconds |= {name: x / long for name, x in interleaved(many, rounds).items()}
    same = np.abs(runs["dalembert midpoint"]() - runs["casadi newton, Python loop"]()[:2]).max()
    print(f"largest difference of the end state of the two midpoint rules after {n} steps: {same:.1e}")
    return seconds


def kepler(quick: bool, rounds: int) -> dict[str, tuple[float, float]]:
    """(largest energy error, seconds) of 100 periods."""
    s = dal.Lagrangian(2, lambda q, v: 0.5 * (v @ v) + 1.0 / np.sqrt(q @ q), symmetries={"angular momentum": [[0, -1], [1, 0]]})
    q0, v0 = np.array([1 - E, 0.0]), np.array([0.0, np.sqrt((1 + E) / (1 - E))])
    T = 2 * np.pi * PERIODS

    def plain(t: float, y: np.ndarray) -> np.ndarray:
        r3 = (y[0] * y[0] + y[1] * y[1]) ** 1.5
        return np.array([y[2], y[3], -y[0] / r3, -y[1] / r3])

    def energy(y: np.ndarray) -> np.ndarray:
        return 0.5 * (y[2] ** 2 + y[3] ** 2) - 1.0 / np.sqrt(y[0] ** 2 + y[1] ** 2)

    results: dict[str, float] = {}
    runs: dict[str, Callable[[], Any]] = {}
    for points in ("gauss", "lobatto"):
        for n in (100, 150, 200, 300, 400):
            name = f"galerkin6 {points}, {n} steps per period"

            def ours(name: str = name, n: int = n, points: str = points) -> None:
                traj = dal.simulate(s, stepper="galerkin6", h=T / (n * PERIODS), t_end=T, q0=q0, v0=v0, points=points)
                results[name] = float(np.abs(traj.energy - traj.energy[0]).max())

            runs[name] = ours
    for tol in (1e-9, 1e-10, 1e-11, 1e-12, 1e-13):
        name = f"DOP853, rtol {tol:.0e}"

        def peer(name: str = name, tol: float = tol) -> None:
            found = solve_ivp(plain, (0.0, T), np.concatenate([q0, v0]), method="DOP853", rtol=tol, atol=tol)
            e = energy(found.y)
            results[name] = float(np.abs(e - e[0]).max())

        runs[name] = peer
    seconds = interleaved(runs, rounds)
    return {name: (results[name], seconds[name]) for name in runs}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    rounds = 3 if args.quick else 7
    per_step = steps(args.quick, rounds)
    print("\ndouble pendulum, us per step")
    for name, x in per_step.items():
        print(f"  {name:45s} {1e6 * x:10.3f}   {x / per_step['dalembert midpoint']:8.2f} x midpoint")
    orbits = kepler(args.quick, 1 if args.quick else 3)
    print(f"\nKepler, e = {E}, {PERIODS} periods: largest energy error, CPU s")
    for name, (error, x) in orbits.items():
        print(f"  {name:45s} {error:10.2e} {x:10.4f}")
    if args.out is not None:
        args.out.write_text(json.dumps({"seconds per step": per_step, "kepler": orbits}, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
