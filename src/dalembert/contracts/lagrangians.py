"""Systems given by a Lagrangian on which the contract of a stepper is checked, each with a state to start from.

Their motion comes from SciPy's DOP853 on the accelerations of the formulas, with constraints differentiated twice, of which no variational
stepper makes use.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.families import find_family
from dalembert.lagrangian import Lagrangian
from dalembert.registry import Stepper
from dalembert.runs.choice import unhandled

System = tuple[Any, Array, Array]

LADDER = [round(2 ** (k / 3)) for k in range(6, 34)]  # numbers of steps with which orders of six and more are observed
CHAOTIC = {"contract: double pendulum"}


@cache
def kepler() -> System:
    """A planet in the plane, eccentricity 0.21, with its rotation."""
    s = Lagrangian(
        2,
        lambda q, v: 0.5 * (v[0] ** 2 + v[1] ** 2) + 1.0 / np.sqrt(q[0] ** 2 + q[1] ** 2),
        symmetries={"rotation": ((0, -1), (1, 0))},
        name="contract: kepler",
    )
    return s, np.array([1.0, 0.0]), np.array([0.1, 1.1])


@cache
def double_pendulum() -> System:
    """Two unit masses on unit rods, by their angles from the vertical, under gravity 2."""

    def L(q: Any, v: Any) -> Any:
        kinetic = v[0] ** 2 + 0.5 * v[1] ** 2 + v[0] * v[1] * np.cos(q[0] - q[1])
        return kinetic + 4.0 * np.cos(q[0]) + 2.0 * np.cos(q[1])

    return Lagrangian(2, L, name="contract: double pendulum"), np.array([0.5, 1.0]), np.array([0.3, -0.4])


@cache
def spherical_pendulum() -> System:
    """A unit mass on a unit rod in Cartesian coordinates, under gravity 2, turning about the vertical."""
    s = Lagrangian(
        3,
        lambda q, v: 0.5 * (v[0] ** 2 + v[1] ** 2 + v[2] ** 2) - 2.0 * q[2],
        holonomic=lambda q: [0.5 * (q[0] ** 2 + q[1] ** 2 + q[2] ** 2 - 1.0)],
        symmetries={"vertical": ((0, -1, 0), (1, 0, 0), (0, 0, 0))},
        name="contract: spherical pendulum",
    )
    return s, np.array([0.6, 0.0, -0.8]), np.array([0.4, 1.0, 0.3])


@cache
def rolling_disk() -> System:
    """An upright disk that rolls on a plane along a spring: (x, y, angle of rolling, heading); turning is a horizontal symmetry."""
    s = Lagrangian(
        4,
        lambda q, v: 0.5 * (v[0] ** 2 + v[1] ** 2) + 0.25 * v[2] ** 2 + 0.125 * v[3] ** 2 - 0.5 * q[0] ** 2,
        pfaffian=lambda q: [[1.0, 0.0, -np.cos(q[3]), 0.0], [0.0, 1.0, -np.sin(q[3]), 0.0]],
        symmetries={"turning": (0, 0, 0, 1)},
        name="contract: rolling disk",
    )
    return s, np.array([0.3, 0.1, 0.0, 0.2]), np.array([np.cos(0.2), np.sin(0.2), 1.0, 0.7])


def systems(stepper: Stepper, constrained: bool = True, simple: bool = False) -> list[System]:
    """The systems of the contract that a stepper handles. simple: Kepler's problem alone."""
    made = [kepler(), double_pendulum(), *((spherical_pendulum(), rolling_disk()) if constrained else ())][: 1 if simple else None]
    return [x for x in made if not unhandled(x[0], find_family(x[0]), stepper)]


def relaxes(stepper: Stepper) -> bool:
    """True for methods that pull constraints in by springs: their motion is that of a softer system, and the order that without any."""
    return "inconsistent start" in stepper.handles and stepper.promise("constraint") is None


def reference(system: System, t_end: float) -> tuple[Array, Array]:
    """q and v at t_end by DOP853 at rtol 1e-13."""
    s, q, v = system
    return _reference(s, tuple(q), tuple(v), t_end)


@cache
def _reference(s: Lagrangian, q0: tuple[float, ...], v0: tuple[float, ...], t_end: float) -> tuple[Array, Array]:
    from scipy.integrate import solve_ivp

    def rate(t: float, y: Array) -> Array:
        return np.concatenate([y[s.n :], s.accelerations(y[: s.n], y[s.n :], t)])

    y = solve_ivp(rate, (0, t_end), np.array([*q0, *v0]), method="DOP853", rtol=1e-13, atol=1e-14).y[:, -1]
    return y[: s.n], y[s.n :]


def momentum_error(s: Lagrangian, q: Array, v: Array) -> float:
    """Largest departure of the momenta of the symmetries from the start, of the largest sum of |p_i xi_i|."""
    if not s.symmetry_names:
        return 0.0
    J = s.momentum(q, v)
    terms = np.abs(s.canonical_momentum(q, v)[:, :, None] * s.generators(q)).sum(axis=1).max(axis=0)
    return float((np.abs(J - J[0]) / terms).max())


def keeps_energy(s: Lagrangian, t: Array, q: Array, v: Array, exactly: bool) -> tuple[bool, str]:
    """(ok, words). Exactly: 1e-11. Bounded: the drift by regression is below a twentieth of the band.

    The double pendulum is chaotic, and judged as trees are: drift below half of the band, band at most three times that of the first tenth.
    """
    energy = s.energy(q, v) / s.kinetic_energy(q, v).max()
    band = float(np.ptp(energy))
    drift = abs(float(np.polyfit(t / t[-1], energy, 1)[0]))
    if exactly:
        ok = band < 1e-11
    elif s.name in CHAOTIC:
        ok = drift < 0.5 * band + 1e-13 and band < 3.0 * float(np.ptp(energy[: len(energy) // 10])) + 1e-12
    else:
        ok = drift < 0.05 * band + 1e-12
    return ok, f"{s.name.split(': ')[1]}: band {band:.1e}, drift {drift:.1e}"


def keeps_constraints(s: Lagrangian, t: Array, q: Array, v: Array) -> float:
    """Largest residual of the constraints on positions and velocities; 0 without any."""
    return float(max(np.abs(s.constraint_errors(q, t)).max(initial=0.0), np.abs(s.velocity_errors(q, v, t)).max(initial=0.0)))
