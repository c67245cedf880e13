"""One rigid body, free or on a ball joint to the world, as the flat arrays of `kernels/rigid_body/layout.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import UnsupportedError
from dalembert.kernels.rigid_body import layout as at
from dalembert.model.features import acting
from dalembert.model.parts import WORLD, Body, Joint
from dalembert.model.rotation import cross, from_matrix, matrix, quat_conj, quat_mul, rotate

if TYPE_CHECKING:
    from dalembert.model.model import Model


def fits(model: Model) -> bool:
    """True for one body that is free or turns about a fixed point."""
    return len(model.bodies) == 1 and model.joints[0].kind in ("free", "spherical") and model.joints[0].parent == WORLD


def features(model: Model) -> set[str]:
    """What a stepper must handle to run this model."""
    return {"pivot" if model.joints[0].kind == "spherical" else "free"} | acting(model)


def dissipative(model: Model) -> bool:
    """True if a damper is at work."""
    return "damping" in features(model)


def principal_axes(inertia: Array) -> tuple[Array, Array]:
    """(principal moments, rotation matrix of the principal axes); a diagonal matrix keeps its axes."""
    if np.count_nonzero(inertia - np.diag(np.diag(inertia))) == 0:
        return np.diag(inertia).copy(), np.eye(3)
    moments, axes = np.linalg.eigh(inertia)
    if np.linalg.det(axes) < 0:
        axes[:, 0] *= -1.0
    return moments, axes


def system_array(model: Model, options: dict[str, Any]) -> Array:
    """The constants of a run."""
    if not fits(model):
        raise UnsupportedError(f"{model!r} is not one body that is free or on a spherical joint to the world.")
    body, joint = model.bodies[0], model.joints[0]
    pivoted = joint.kind == "spherical"
    anchor = rotate(quat_conj(body.quaternion), joint.anchor - body.position) if pivoted else body.com
    arm = body.com - anchor  # from the reference point, body axes
    steiner = body.mass * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    moments, R_BP = principal_axes(body.inertia + (steiner if pivoted else 0.0))
    if moments.min() <= 1e-14 * moments.max():
        raise UnsupportedError(
            f"body {body.name!r} of model {model.name!r}: its principal inertias about the reference point, {moments.tolist()} kg m^2, "
            "differ by more than float64 resolves; expected a body that is not a needle turning about a far pivot."
        )
    s = np.zeros(at.LOADS + 1 + at.LOAD_SIZE * len(model.forces))
    s[at.MASS] = body.mass
    s[at.INERTIA : at.INERTIA + 3] = moments
    s[at.GRAVITY : at.GRAVITY + 3] = model.gravity
    s[at.ARM : at.ARM + 3] = R_BP.T @ arm
    s[at.PIVOTED] = pivoted
    s[at.FORCED] = bool(features(model) & {"gravity", "wrench"})
    s[at.TOL] = options.get("tol", 0.0)
    s[at.MAX_ITERATIONS] = options.get("max_iterations", 0)
    s[at.Q_BP : at.Q_BP + 4] = from_matrix(R_BP)
    s[at.COM : at.COM + 3] = body.com
    s[at.Q_W0 : at.Q_W0 + 4] = body.quaternion
    _add_damping(s, model, joint, body, anchor, R_BP)
    _add_wrenches(s, model, anchor, R_BP)
    return s


def _add_damping(s: Array, model: Model, joint: Joint, body: Body, reference: Array, R_BP: Array) -> None:
    """D = sum of T^T C T with T the map from (omega, v of the reference point) to the velocities that are damped."""
    D = np.zeros((6, 6))

    def add(angular: float, linear: float, point: Array) -> None:
        T = np.eye(6)
        T[3:, :3] = -_hat(point - reference)  # v_point = v + omega x r
        D[:] += T.T @ np.diag([angular] * 3 + [linear] * 3) @ T

    if joint.damping > 0:
        if joint.kind == "spherical":
            add(joint.damping, 0.0, reference)
        else:
            add(joint.damping, joint.damping, np.zeros(3))
    for f in model.forces:
        if f.kind == "damper":
            add(f.angular, f.linear, body.com)
    to_P = np.kron(np.eye(2), R_BP)
    s[at.DAMPED] = bool(D.any())
    s[at.DAMPING : at.DAMPING + 36] = (to_P.T @ D @ to_P).ravel()


def _add_wrenches(s: Array, model: Model, reference: Array, R_BP: Array) -> None:
    loads = 0
    for f in model.forces:
        if f.kind != "wrench":
            continue
        lever, force, torque = np.array(f.point) - reference, np.array(f.force), np.array(f.torque)
        if f.frame == "body":
            s[at.BODY_TORQUE : at.BODY_TORQUE + 3] += R_BP.T @ (torque + cross(lever, force))
            s[at.BODY_FORCE : at.BODY_FORCE + 3] += R_BP.T @ force
        else:
            where = at.LOADS + 1 + at.LOAD_SIZE * loads
            s[where : where + 9] = np.concatenate([R_BP.T @ lever, force, torque])
            loads += 1
    s[at.LOADS] = loads


def _hat(a: Array) -> Array:
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def initial_state(system: Array, q: Array, v: Array) -> Array:
    """The flat state of a node from q and v of the joint: p = M v."""
    state = np.zeros(at.STATE_SIZE)
    q_BP, com = system[at.Q_BP : at.Q_BP + 4], system[at.COM : at.COM + 3]
    pivoted = system[at.PIVOTED] != 0
    q_WB = quat_mul(system[at.Q_W0 : at.Q_W0 + 4], q) if pivoted else q[3:]
    q_WP = quat_mul(q_WB, q_BP)
    state[at.Q : at.Q + 4] = q_WP / np.linalg.norm(q_WP)
    omega_P = matrix(q_BP).T @ v[:3]
    state[at.ANGULAR : at.ANGULAR + 3] = system[at.INERTIA : at.INERTIA + 3] * omega_P
    state[at.RATE : at.RATE + 3] = omega_P
    if not pivoted:
        v_com = rotate(q_WB, v[3:] + cross(v[:3], com))
        state[at.X : at.X + 3] = q[:3] + rotate(q_WB, com)
        state[at.LINEAR : at.LINEAR + 3] = system[at.MASS] * v_com
        state[at.DRIFT : at.DRIFT + 3] = v_com
    return state


def initial_states(systems: Array, q: Array, v: Array) -> Array:
    """`initial_state` of many starts, bit for bit, on systems of their own (n, ...) or one that all share (1, ...)."""
    states = np.zeros((len(q), at.STATE_SIZE))
    q_BP, com = systems[:, at.Q_BP : at.Q_BP + 4], systems[:, at.COM : at.COM + 3]
    pivoted = systems[0, at.PIVOTED] != 0
    q_WB = quat_mul(systems[:, at.Q_W0 : at.Q_W0 + 4], q) if pivoted else q[:, 3:]
    q_WP = quat_mul(q_WB, np.broadcast_to(q_BP, (len(q), 4)))
    states[:, at.Q : at.Q + 4] = q_WP / np.array([np.linalg.norm(x) for x in q_WP])[:, None]
    turns = [matrix(x).T for x in (q_BP[:1] if (q_BP == q_BP[0]).all() else q_BP)]
    omega_P = np.array([turns[min(k, len(turns) - 1)] @ w[:3] for k, w in enumerate(v)])
    states[:, at.ANGULAR : at.ANGULAR + 3] = systems[:, at.INERTIA : at.INERTIA + 3] * omega_P
    states[:, at.RATE : at.RATE + 3] = omega_P
    if not pivoted:
        v_com = rotate(q_WB, v[:, 3:] + cross(v[:, :3], com))
        states[:, at.X : at.X + 3] = q[:, :3] + rotate(q_WB, np.broadcast_to(com, (len(q), 3)))
        states[:, at.LINEAR : at.LINEAR + 3] = systems[:, at.MASS : at.MASS + 1] * v_com
        states[:, at.DRIFT : at.DRIFT + 3] = v_com
    return states
