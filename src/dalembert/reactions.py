"""Forces in the joints, from the states of the nodes.

Joints without coordinates (loops, rolling, blades) are held by multipliers. With G the Jacobian of `Model.constraint_rows`,

    M a = f + G^T lambda,     G a = -(dG/dt) v                                                        (index 1)

and lambda > 0 pushes the child towards a larger residual, the parent the other way. Where rows are redundant only G^T lambda is determined;
then lambda is the shortest one (N and N m count alike). (dG/dt) v is a central difference along the motion, extrapolated to order four.

A joint of the tree transmits what the bodies behind it need beside all other forces on them. With every body cut free, twist V, inertia I,
and the forces of the model and of the joints without coordinates on body b,

    W_b = I_b dV_b/dt - ad^T(V_b) I_b V_b - (forces on b),      W = sum of W_b over all bodies behind the joint

as a wrench at the anchor. Along the free directions of the joint W is what the joint itself exerts there: its spring, damper, coupling, and
the inertia of its armature, with the opposite sign; 0 for a plain joint.

Both take the nodal q and v as they are, so they are as accurate as the run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dalembert.errors import UnknownNameError, UnsupportedError
from dalembert.model import Model, kinematics
from dalembert.model.rotation import Array, quat_conj, rotate

if TYPE_CHECKING:
    from dalembert.trajectory import Trajectory

STEP = 3e-4  # of the differences along the motion, rad or m
RANK = 1e-8  # singular values of rows of unit length below this part of the largest belong to redundant rows


class Loads(NamedTuple):
    """Accelerations (N, nv) and multipliers (N, rows)."""

    a: Array
    multipliers: Array


def row_units(model: Model) -> list[str]:
    """'m' or 'rad' for the residual of each row of `constraint_rows` (m/s for rows on velocities): multipliers are in N or N m."""
    linear = {"length", "height", "heading", "sideways", "across the blade"}
    out = []
    for joint, what in model.constraint_labels:
        if what == "coupling":
            out.append(str(model.joint(model.loop(joint).child).coordinates.q_units[0]))
        else:
            out.append("m" if what in linear or "shift" in what else "rad")
    return out


def without_coordinates(model: Model) -> list[str]:
    """Names of the loops and of the joints on velocities."""
    return [*(x.name for x in model.loops), *(x.name for x in model.nonholonomic)]


def joint_force(traj: Trajectory, model: Model, joint: str) -> Array:
    """`Trajectory.reaction`; model: the one that the run saw, without what it ignored."""
    owners = without_coordinates(model)
    if not isinstance(joint, str) or (joint not in owners and joint not in model.q_slices()):
        if joint in without_coordinates(traj.model):
            raise UnsupportedError(f"joint {joint!r} exerts no force: the run left it out, ignore={tuple(traj.meta['ignore'])!r}.")
        raise UnknownNameError("joint", joint, [*model.q_slices(), *without_coordinates(traj.model)])
    if traj.meta.get("control") is not None:
        raise UnsupportedError(
            f"reaction of joint {joint!r}: the run had a control (or a force given as a function), whose values are not stored, so the "
            f"accelerations are not known."
        )
    found = traj._loads
    if joint in owners:
        return found.multipliers[:, [r for r, (name, _) in enumerate(model.constraint_labels) if name == joint]]
    return transmitted(model, traj.q, traj.v, found, joint)


# joints without coordinates ----------------------------------------------------------------------------------------------------------


def loads(model: Model, q: Array, v: Array) -> Loads:
    """Accelerations and multipliers at states (N, nq), (N, nv)."""
    if not (model.loops or model.nonholonomic):
        return Loads(np.array([model.forward_dynamics(*state) for state in zip(q, v, strict=True)]), np.zeros((len(q), 0)))
    found = [_loads_at(model, *state) for state in zip(q, v, strict=True)]
    return Loads(np.array([f.a for f in found]), np.array([f.multipliers for f in found]))


def _loads_at(model: Model, q: Array, v: Array) -> Loads:
    G = model.constraint_rows(q)[1]
    bias = _along_motion(lambda s: model.constraint_rows(model.integrate(q, s * v))[1] @ v, v)
    try:
        L = np.linalg.cholesky(model.mass_matrix(q))
    except np.linalg.LinAlgError:
        raise UnsupportedError(f"reactions of model {model.name!r}: its mass matrix is singular; add mass or armature.") from None
    start = np.linalg.solve(L, -model.inverse_dynamics(q, v, np.zeros(model.nv)))  # L^T times the acceleration without multipliers
    W = np.linalg.solve(L, G.T).T
    multipliers = shortest(W, -bias - W @ start)
    return Loads(np.linalg.solve(L.T, start + W.T @ multipliers), multipliers)


def shortest(W: Array, b: Array) -> Array:
    """The shortest solution of W W^T x = b, for b in the range of W. Its rank is judged on rows of unit length."""
    length = np.linalg.norm(W, axis=1)
    length = np.where(length > RANK * length.max(initial=0.0), length, 1.0 + length.max(initial=0.0))
    U, s, _ = np.linalg.svd(W / length[:, None], full_matrices=True)
    r = int(np.sum(s > RANK * s.max(initial=0.0)))
    x = (U[:, :r] @ ((U[:, :r].T @ (b / length)) / s[:r] ** 2)) / length
    if r < len(b):
        null = np.linalg.qr(U[:, r:] / length[:, None])[0]
        x -= null @ (null.T @ x)
    return x


def _along_motion(f: Any, v: Array) -> Array:
    """d f(s)/ds at 0 by central differences, extrapolated; v: velocities (..., nv) of the motion, which fix how far to look."""
    s = STEP / np.maximum(1.0, np.abs(v).max(axis=-1, initial=0.0, keepdims=True))
    near, far = ((f(k * s) - f(-k * s)) / (2.0 * k * s) for k in (1.0, 2.0))
    return np.asarray((4.0 * near - far) / 3.0)


# joints of the tree ------------------------------------------------------------------------------------------------------------------


def transmitted(model: Model, q: Array, v: Array, found: Loads, joint: str) -> Array:
    """(N, 6): torque about the anchor and force that the joint exerts on its child, axes of the child body."""
    wrenches = _body_wrenches(model, q, v, found)
    frames = kinematics.frames(model, q)
    child = frames[model.joint(joint).child]
    at = np.zeros(3) if model.joint(joint).kind == "free" else model.placement(joint).anchor_C
    anchor = child.position + rotate(child.quaternion, at)
    torque, force = np.zeros((len(q), 3)), np.zeros((len(q), 3))
    for body in _behind(model, joint):
        frame, W = frames[body], wrenches[body]
        F = rotate(frame.quaternion, W[:, 3:])
        force += F
        torque += rotate(frame.quaternion, W[:, :3]) + np.cross(frame.position - anchor, F)
    back = quat_conj(child.quaternion)
    return np.concatenate([rotate(back, torque), rotate(back, force)], axis=1)


def _behind(model: Model, joint: str) -> list[str]:
    """The child and all bodies that it carries."""
    out = [model.joint(joint).child]
    for body in out:
        out += [j.child for j in model.joints if j.parent == body]
    return out


def _body_wrenches(model: Model, q: Array, v: Array, found: Loads) -> dict[str, Array]:
    """W_b (N, 6) at the body-frame origins, body axes."""
    free = cut_free(model)
    twist = _twists(model, q, v)
    rate = _twists(model, q, found.a) + _along_motion(lambda s: _twists(model, kinematics.integrate(model, q, s * v), v), v)
    now = kinematics.frames(model, q)
    poses = np.concatenate([np.concatenate([now[b.name].position, now[b.name].quaternion], axis=1) for b in model.bodies], axis=1)
    W = np.array([free.inverse_dynamics(*state) for state in zip(poses, twist, rate, strict=True)])
    if free.loops or free.nonholonomic:
        acting = found.multipliers[:, [what != "coupling" for _, what in model.constraint_labels]]
        W -= np.array([free.constraint_rows(x)[1].T @ multipliers for x, multipliers in zip(poses, acting, strict=True)])
    return {b.name: W[:, 6 * i : 6 * i + 6] for i, b in enumerate(model.bodies)}


def _twists(model: Model, q: Array, v: Array) -> Array:
    """(N, 6 bodies): twists of the body frames."""
    found = kinematics.frames(model, q, v)
    return np.concatenate([np.concatenate([found[b.name].omega, found[b.name].velocity], axis=1) for b in model.bodies], axis=1)


def cut_free(model: Model) -> Model:
    """All bodies, forces and joints without coordinates (but couplings, which act inside joints), and no joint of the tree."""
    free = Model(model.name, model.gravity)
    for b in model.bodies:
        free.add_body(b.name, b.mass, b.inertia, b.com, (b.position, b.quaternion), physical=False)
    for force in model.forces:
        free.add_force(force)
    for loop in model.loops:
        if loop.kind != "coupling":
            free.add_loop(**loop.to_dict())
    for constraint in model.nonholonomic:
        free.add_joint(**constraint.to_dict())
    return free
