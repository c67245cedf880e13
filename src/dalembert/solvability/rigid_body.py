"""Step advice for one rigid body: which h keeps the equation of a step regular, and Newton's method convergent.

euler, stabilized-euler, moser-veselov-explicit and bobenko-suris solve no nonlinear equation and have no limit here; that says nothing of
their accuracy. The formulas and their proofs are in the heads of body_jacobian.py, body_newton.py and body_existence.py.

`h_jacobian` covers, for tln and cayley, every direction of a velocity as long as the given one (it turns along the motion), for the others
the given state. `h_newton` covers both usual starts: J^-1 p of the node and, reading the given velocity as that of the interval before,
that velocity.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from dalembert.errors import OptionError, UnknownNameError
from dalembert.solvability import body_existence as existence
from dalembert.solvability import body_jacobian as jacobian
from dalembert.solvability import body_newton as newton
from dalembert.solvability.advice import Limit, StepAdvice
from dalembert.solvability.body_jacobian import Array

_K, _HERE = "kobilarov2014", "derived here"
_Facts = tuple[float, float, tuple[Limit, ...], bool]  # h_jacobian, h_newton, limits, is h_newton proved


def advise_rigid_body(J: Any, omega: Any, stepper: str) -> StepAdvice:
    """Limits of the step for principal inertias J about the pivot (or centre of mass) and body angular velocity omega."""
    J, omega = _checked(J, omega)
    if stepper not in _ADVISORS:
        raise UnknownNameError("rigid-body stepper", stepper, _ADVISORS)
    size = float(np.max(np.abs(omega)))
    speed = size * float(np.linalg.norm(omega / size)) if size > 0.0 else 0.0
    unit = omega / speed if speed > 0.0 else omega  # every limit is a bound on h |omega|: no overflow at any speed
    h_jacobian, h_newton, limits, proved = _ADVISORS[stepper](J, unit)
    limits = tuple(replace(limit, h=_per(limit.h, speed)) for limit in limits)
    h_jacobian, h_newton = _per(h_jacobian, speed), _per(h_newton, speed)
    low, high = float(np.min(J)), float(np.max(J))
    constants = {"sigma_min": low, "sigma_max": high, "kappa": high / low, "speed": speed}
    rigorous = {"h_jacobian": True, "h_newton": proved, **{limit.name: limit.rigorous for limit in limits}}
    return StepAdvice(stepper, h_jacobian, h_newton, limits, constants, rigorous)


def _tln(J: Array, omega: Array) -> _Facts:
    kappa, speed = _kappa(J), float(np.linalg.norm(omega))
    middle = float(abs(omega[np.argsort(J, kind="stable")[1]]))
    limits = [
        Limit("(19)", _per(jacobian.x_tln_19(kappa), speed), True, "Jacobian positive definite", f"{_K} (19)"),
        Limit("sharp", _per(jacobian.x_tln_sharp(kappa), speed), True, "Jacobian regular for every inertia with this kappa", _HERE),
    ]
    if _physical(J):
        meaning = "Jacobian regular for every physical inertia (J3 <= J1 + J2) with this kappa"
        limits.append(Limit("physical", _per(jacobian.x_tln_physical(kappa), speed), True, meaning, _HERE))
    worst = _per(jacobian.x_tln_inertia(J), speed)
    limits += [
        Limit("inertia", worst, True, "Jacobian regular for this inertia and every direction; attained on the middle axis", _HERE),
        Limit("direction", _per(jacobian.x_tln_inertia(J), middle), True, "Jacobian regular at this velocity (middle component)", _HERE),
    ]
    c = newton.constants(J, omega)
    starts = _newton_limits(newton.newton_tln(c, True), newton.newton_tln(c, False))
    return worst, min(limit.h for limit in starts), (*limits, *starts), True


def _cayley(J: Array, omega: Array) -> _Facts:
    kappa, speed = _kappa(J), float(np.linalg.norm(omega))
    definite = _per(jacobian.x_cayley_definite(kappa), speed)
    singular = float(jacobian.smallest_positive_root(jacobian.determinant_cayley(J, omega))) if speed > 0.0 else math.inf
    limits = [
        Limit("(20)", _per(jacobian.x_cayley_20(kappa), speed), True, "Jacobian positive definite", f"{_K} (20)"),
        Limit("definite", definite, True, "Jacobian positive definite, sharper than (20)", f"{_K} (18) corrected, bound {_HERE}"),
        Limit("direction", singular, False, "Jacobian regular at this velocity: first root of its determinant, computed in float64", _HERE),
    ]
    searched = jacobian.x_cayley_searched(kappa)
    if not math.isnan(searched):
        meaning = "no singular Jacobian found by global search over direction and middle inertia (none below kappa = 135.87)"
        limits.append(Limit("searched", _per(searched, speed), False, meaning, "numerical search"))
    c = newton.constants(J, omega)
    starts = _newton_limits(newton.newton_cayley(c, True), newton.newton_cayley(c, False))
    return definite, min(limit.h for limit in starts), (*limits, *starts), True


def _moser_veselov(J: Array, omega: Array, newton_in_cayley: bool = False) -> _Facts:
    c = newton.constants(J, omega)
    from_node, from_before = newton.newton_moser_veselov(c, True), newton.newton_moser_veselov(c, False)
    riccati = existence.moser_veselov_sufficient(J, omega)
    starts = _newton_limits(
        from_node, from_before, "" if newton_in_cayley else " in Cayley's vector, which proves a solution; other unknowns: not proved"
    )
    limits = (
        Limit("Riccati", riccati, True, "a solution with a regular Jacobian exists (0: triangle inequality not strict)", _HERE),
        Limit("principal axis", _per(1.0, c.speed), True, "spin about a principal axis at this speed: solvable exactly below it", _HERE),
        Limit("no solution", existence.moser_veselov_necessary(J, omega), True, "beyond it no solution exists", _HERE),
        *starts,
    )
    return max(riccati, from_node), min(from_node, from_before), limits, newton_in_cayley


def _moser_veselov_cayley(J: Array, omega: Array) -> _Facts:
    return _moser_veselov(J, omega, newton_in_cayley=True)


def _quaternion_linear(J: Array, omega: Array) -> _Facts:
    definite, solvable = existence.quaternion_linear_definite(J, omega), existence.quaternion_linear_solvable(J, omega)
    start = max(existence.moser_veselov_sufficient(J, omega), newton.newton_moser_veselov(newton.constants(J, omega), True))
    limits = (
        Limit("(15.62)", definite, True, "mass matrix positive definite, less than half a turn per step", "lacoursiere2007 (15.62)"),
        Limit("solvable", solvable, True, "mass matrix positive definite and the step's quaternion real", _HERE),
        Limit("start", start, True, "the interval before the first node exists (a Moser-Veselov step backwards)", _HERE),
    )
    return min(solvable, start), math.inf, limits, True


def _unlimited(J: Array, omega: Array) -> _Facts:
    return math.inf, math.inf, (), True


_ADVISORS: dict[str, Callable[[Array, Array], _Facts]] = {
    "tln": _tln,
    "cayley": _cayley,
    "moser-veselov": _moser_veselov,
    "moser-veselov-cayley": _moser_veselov_cayley,
    "quaternion": _moser_veselov,
    "quaternion-linear": _quaternion_linear,
    "euler": _unlimited,
    "stabilized-euler": _unlimited,
    "moser-veselov-explicit": _unlimited,
    "bobenko-suris": _unlimited,
}


def _newton_limits(from_node: float, from_before: float, remark: str = "") -> tuple[Limit, Limit]:
    return (
        Limit("Newton from J^-1 p", from_node, True, f"Newton-Kantorovich{remark}", _HERE),
        Limit("Newton from the interval before", from_before, True, f"Newton-Kantorovich{remark}", _HERE),
    )


def _per(x: float, speed: float) -> float:
    """h from x = h * speed."""
    return x / speed if speed > 0.0 else math.inf


def _kappa(J: Array) -> float:
    return float(np.max(J) / np.min(J))


def _physical(J: Array) -> bool:
    """Triangle inequality, up to round-off of a flat body's inertias."""
    return bool(2.0 * np.max(J) <= np.sum(J) * (1.0 + 1e-14))


def _checked(J: Any, omega: Any) -> tuple[Array, Array]:
    J, omega = np.asarray(J, dtype=float), np.asarray(omega, dtype=float)
    if J.shape != (3,) or not np.all(np.isfinite(J)) or np.any(J <= 0.0):
        raise OptionError(f"principal inertias J = {J.tolist()}; expected three positive numbers (kg m^2).")
    if omega.shape != (3,) or not np.all(np.isfinite(omega)):
        raise OptionError(f"angular velocity omega = {omega.tolist()}; expected three finite numbers (rad/s).")
    return J, omega
