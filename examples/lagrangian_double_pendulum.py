"""Give the Lagrangian, get the integrator: a double pendulum from its formula to a sweep over its masses.

    python examples/lagrangian_double_pendulum.py [folder for the picture]

Kinetic and potential energy are all that is written down. The steps of `midpoint`, `galerkin4` and `galerkin6` are derived from them,
differentiated and compiled; the sweep over the mass of the lower bob changes numbers, not code.
Check: the energy error falls by 2^order when h is halved; without gravity the angular momentum is kept to round-off; second differences of
the angles in the sweep equal the accelerations of Lagrange's equations.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

import dalembert as dal

START = [1.4, 2.0]
PARAMS = {"m1": 1.0, "m2": 1.0, "l1": 1.0, "l2": 1.0, "g": 9.81}


def L(q: Any, v: Any, p: Any) -> Any:
    """Point masses on massless rods; both angles from the downward vertical."""
    across = p.l1 * np.cos(q[0]) * v[0] + p.l2 * np.cos(q[1]) * v[1]
    up = p.l1 * np.sin(q[0]) * v[0] + p.l2 * np.sin(q[1]) * v[1]
    kinetic = 0.5 * p.m1 * (p.l1 * v[0]) ** 2 + 0.5 * p.m2 * (across**2 + up**2)
    potential = -p.g * (p.m1 + p.m2) * p.l1 * np.cos(q[0]) - p.g * p.m2 * p.l2 * np.cos(q[1])
    return kinetic - potential


def energy_error(s: dal.Lagrangian, stepper: str, h: float) -> float:
    """Largest departure in 2 s, J."""
    energy = dal.simulate(s, stepper, h=h, t_end=2.0, q0=START).energy
    return float(np.abs(energy - energy[0]).max())


def check_orders(s: dal.Lagrangian) -> None:
    """Energy errors at two steps. The terms of the next order change the ratio by less than a tenth."""
    for stepper, order, h in (("midpoint", 2, 0.002), ("galerkin4", 4, 0.02), ("galerkin6", 6, 0.02)):
        ratio = energy_error(s, stepper, h) / energy_error(s, stepper, h / 2)
        print(f"{stepper}: energy error falls by {ratio:.1f} when h is halved (order {order}: {2**order})")
        assert 0.9 < ratio / 2**order < 1.1


def check_symmetry(t_end: float) -> None:
    """Without gravity both rods may be turned together: a symmetry, and by Noether's theorem a momentum."""
    free = dal.Lagrangian(2, L, params={**PARAMS, "g": 0.0}, symmetries={"angular momentum": [1, 1]}, name="weightless")
    traj = dal.simulate(free, "midpoint", h=0.01, t_end=t_end, q0=START, v0=[1.0, -3.0])
    drift = np.abs(traj.momentum - traj.momentum[0]).max()
    print(f"without gravity the angular momentum {traj.momentum[0, 0]:.3f} kg m^2/s is kept to {drift:.0e}")
    assert drift < 1e-12


def sweep(s: dal.Lagrangian, masses: np.ndarray, t_end: float) -> None:
    """One run per mass of the lower bob; second differences have the error h^2/12 of the fourth derivative."""
    began = time.perf_counter()
    runs = [dal.simulate(s.with_params(m2=m), "midpoint", h=0.002, t_end=t_end, q0=START, progress=False) for m in masses]
    spent, steps = time.perf_counter() - began, sum(len(r) - 1 for r in runs)
    print(f"{len(masses)} masses, {steps} steps in {spent:.2f} s; nothing is compiled anew")
    for run in runs:
        exact = run.model.accelerations(run.q[100], run.v[100])
        seen = (run.q[101] - 2 * run.q[100] + run.q[99]) / run.h**2
        assert np.abs(seen - exact).max() < 1e-3 * np.abs(exact).max()
    turns = [np.abs(r.q[:, 1]).max() > np.pi for r in runs]
    print("lower bob over the top:", ", ".join(f"{m:.1f} kg {'yes' if over else 'no'}" for m, over in zip(masses, turns, strict=True)))


def main(t_end: float = 20.0, out: Path | None = None) -> None:
    """Formula, run, report, order, symmetry, sweep."""
    s = dal.Lagrangian(2, L, params=PARAMS, names=["upper", "lower"], name="double pendulum")
    traj = dal.simulate(s, h=0.005, t_end=t_end, q0=START)
    print(traj.report())
    assert traj.report().verdict == "pass"
    check_orders(s)
    check_symmetry(t_end)
    sweep(s, np.linspace(0.2, 3.0, 8), min(t_end, 5.0))
    if out is not None:
        traj.plot(out / "double_pendulum.png")
        print("picture in", out / "double_pendulum.png")


if __name__ == "__main__":
    main(out=Path(sys.argv[1]) if len(sys.argv) > 1 else None)
