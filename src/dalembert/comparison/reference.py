"""What end states are measured against: an exact solution where there is one, else a run that is much finer than all others.

A fine reference is run twice, with h and 2h. Their distance bounds its error; where it is large the motion is too sensitive
(chaotic) for an error of the end state to mean anything, and invariants are judged instead.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.comparison.looks import look_of, trusted
from dalembert.comparison.measures import angle_between, attitude, forced, is_tree
from dalembert.comparison.methods import Method, split_name
from dalembert.errors import OptionError, UnknownNameError
from dalembert.families import fitting
from dalembert.kernels.rigid_body import layout as at
from dalembert.model import Model, joint_state
from dalembert.model.compile_rigid_body import initial_state, system_array
from dalembert.model.rotation import quat_conj, quat_mul, rotate
from dalembert.peers import PEERS
from dalembert.registry import steppers
from dalembert.runs import checks

FINER = 8  # the reference takes so many steps per step of the finest run
SENSITIVE = 1e-3  # rad, m
MAX_STEPS = 4_000_000


@dataclass(frozen=True)
class Reference:
    """End of the motion (attitude of one body, q of a tree, None if there is no reference), what it comes from, and how far it may be off
    (rad; of a tree rad or m)."""

    end: Array | None
    text: str
    uncertainty: float = 0.0

    def error(self, model: Model, q_end: Array) -> float:
        """Angle between the end of a run and the reference, of a tree the largest difference of a coordinate; nan without a reference."""
        return float("nan") if self.end is None else distance(model, self.end, end_of(model, q_end))


def last_of(model: Any, traj: Any) -> Array:
    """q at the end of a run in the coordinates of the model, also where it ran in those of its bodies."""
    if traj.q.shape[1] == model.nq:
        return np.asarray(traj.q[-1])
    return joint_state(model, traj.q, traj.v)[0][-1]


def end_of(model: Model, q: Array) -> Array:
    """What is compared at the end: the attitude of one body, all coordinates of a tree."""
    if is_tree(model):
        return q
    given = attitude(model, q)
    return given / np.linalg.norm(given)


def distance(model: Model, a: Array, b: Array) -> float:
    """Between two ends: an angle in rad, of a tree the largest coordinate of the difference, rad or m."""
    return float(np.abs(model.difference(a, b)).max()) if is_tree(model) else angle_between(a, b)


def make_reference(
    model: Any,
    wanted: Any,
    q: Array,
    v: Array,
    t_end: float,
    h: float,
    ignore: tuple[str, ...] = (),
    progress: bool | None = False,
) -> Reference:
    """wanted: None (exact, else fine), "exact", "none", the name of a method, or a function t -> q. h: the smallest step compared."""
    if callable(wanted):
        found = np.atleast_2d(np.asarray(wanted(np.array([t_end])), dtype=float))[-1]
        return Reference(end_of(model, found) if found.shape == (model.nq,) else found, "the given function")
    if wanted is not None and not isinstance(wanted, str):
        raise OptionError(f"reference is {wanted!r}; expected None, 'exact', 'none', the name of a method, or a function t -> q.")
    if wanted == "none":
        return Reference(None, "none")
    exact = exact_attitude(model, q, v, t_end) if wanted in (None, "exact") and not is_tree(model) else None
    if exact is not None:
        return exact
    if wanted == "exact":
        raise OptionError(f"reference 'exact': no exact solution of model {model.name!r} is known from this start; None takes a fine run.")
    if wanted is None:
        wanted = trusted(model)
    return fine(model, wanted, q, v, t_end, h, ignore, progress)


def fine(
    model: Any,
    name: str,
    q: Array,
    v: Array,
    t_end: float,
    h: float,
    ignore: tuple[str, ...] = (),
    progress: bool | None = False,
) -> Reference:
    """A run of the named method, FINER times finer than h, and one half as fine."""
    own = {s.name: s for f in fitting(model) for s in steppers(system=f.name)}
    known = [*own, *PEERS, "exact", "none"]
    stepper, compose = split_name(name)
    if stepper not in known:
        raise UnknownNameError("reference", name, known)
    if (stepper in PEERS and PEERS[stepper].adaptive) or (stepper in own and own[stepper].adaptive):
        step = t_end / np.ceil(t_end) if is_tree(model) else t_end
        pair, text = [Method(stepper, step, rtol=r) for r in (1e-12, 1e-10)], f"{name} at rtol 1e-12"
    else:
        _, n = checks.step_count(h, t_end)
        finer = max(2, min(FINER, MAX_STEPS // n) // 2 * 2)
        pair = [Method(stepper, t_end / (finer * n), compose), Method(stepper, t_end / (finer * n // 2), compose)]
        text = f"{name} at h = {pair[0].h:g} s"
    ends = []
    for method in pair:
        method.check(model, ignore)
        traj = method.run(model, q, v, t_end, repeats=0, ignore=ignore, progress=progress).traj
        if traj.status != "ok":
            raise OptionError(f"reference {name!r}: {traj.status}")
        ends.append(end_of(model, traj.q[-1]))
    apart, unit = distance(model, *ends), look_of(model).unit
    if apart > SENSITIVE:
        return Reference(None, f"none, the motion is too sensitive (chaotic): two fine runs ({text}) end {apart:.1e}{unit} apart", apart)
    return Reference(ends[0], f"{text}, certain to {max(apart, 1e-15):.0e}{unit}", max(apart, 1e-15))


def exact_attitude(model: Model, q: Array, v: Array, t_end: float) -> Reference | None:
    """Closed form of the end attitude: torque-free body, or Lagrange's top; None otherwise."""
    if forced(model):
        return None
    system = system_array(model, {})
    state = initial_state(system, q, v)
    J, q_WP = system[at.INERTIA : at.INERTIA + 3], state[at.Q : at.Q + 4]
    omega = state[at.ANGULAR : at.ANGULAR + 3] / J
    arm, weight = system[at.ARM : at.ARM + 3], system[at.MASS] * model.gravity
    solution: Callable[..., Array | None] = _free if not system[at.PIVOTED] or not arm.any() or not weight.any() else _top
    end = solution(J, omega, q_WP, arm, weight, t_end)
    if end is None:
        return None
    end = quat_mul(end, quat_conj(system[at.Q_BP : at.Q_BP + 4]))
    if system[at.PIVOTED]:
        end = quat_mul(quat_conj(system[at.Q_W0 : at.Q_W0 + 4]), end)
    turned = 1.0 + float(np.linalg.norm(omega)) * t_end
    return Reference(end, "exact solution", 1e-15 * turned)


def _free(J: Array, omega: Array, q_WP: Array, arm: Array, weight: Array, t: float) -> Array:
    from dalembert.verification import free_body

    return free_body(J, omega, [t], q_WP)[1][0]


def _top(J: Array, omega: Array, q_WP: Array, arm: Array, weight: Array, t: float) -> Array | None:
    """Lagrange's top: two equal inertias, the centre of mass on the third axis.

    R = U R3(phi0) [R3(phi) R1(theta) R3(psi)] R3(psi0), where U takes e_z to the upward vertical.
    """
    from dalembert.verification import LagrangeTop

    order = next((o for o in ((0, 1, 2), (1, 2, 0), (2, 0, 1)) if _symmetric(J[list(o)], arm[list(o)])), None)
    if order is None:
        return None
    along = 1.0 if arm[order[2]] > 0 else -1.0
    S = np.zeros((3, 3))  # rows: axes of the top (the third towards the centre of mass) in axes P
    S[0, order[0]], S[1, order[1]], S[2, order[2]] = 1.0, along, along
    q_PT = _from_rotation(S.T)
    up = -weight / np.linalg.norm(weight)
    U = _shortest(up)
    q_UT = quat_mul(quat_mul(quat_conj(U), q_WP), q_PT)
    w, x, y, z = q_UT
    theta = 2.0 * float(np.arctan2(np.hypot(x, y), np.hypot(w, z)))
    if np.sin(theta) < 1e-6:
        return None
    half_sum, half_difference = np.arctan2(z, w), np.arctan2(y, x)
    phi, psi = half_sum + half_difference, half_sum - half_difference
    rate = rotate(_turn(psi), S @ omega)
    top = LagrangeTop(
        I1=float(J[order[0]]), I3=float(J[order[2]]), mgl=float(np.linalg.norm(weight) * np.linalg.norm(arm)), theta0=theta,
        omega3=float(rate[2]), theta_dot0=float(rate[0]), phi_dot0=float(rate[1] / np.sin(theta)),
    )  # fmt: skip
    inner = quat_mul(quat_mul(_turn(phi), top.attitude(t)[0]), _turn(psi))
    return quat_mul(quat_mul(U, inner), quat_conj(q_PT))


def _symmetric(J: Array, arm: Array) -> bool:
    return bool(abs(J[0] - J[1]) <= 1e-14 * J[0] and np.hypot(arm[0], arm[1]) <= 1e-14 * abs(arm[2]))


def _turn(angle: float) -> Array:
    return np.array([np.cos(0.5 * angle), 0.0, 0.0, np.sin(0.5 * angle)])


def _shortest(up: Array) -> Array:
    """A quaternion that takes e_z to a unit vector."""
    if up[2] < -0.999999:
        return np.array([0.0, 1.0, 0.0, 0.0]) if up[2] <= -1.0 else quat_mul(_shortest(-up), np.array([0.0, 1.0, 0.0, 0.0]))
    q = np.array([1.0 + up[2], -up[1], up[0], 0.0])
    return q / np.linalg.norm(q)


def _from_rotation(R: Array) -> Array:
    from dalembert.model.rotation import from_matrix

    return from_matrix(R)
