"""Forces in the joints, from the states of the nodes.

Joints without coordinates (loops, rolling, blades) are held by the multipliers of `Model.forward_dynamics`: see model/multipliers.py. So
are driven coordinates: the multiplier is the force or torque of the drive.

A joint of the tree transmits what the bodies behind it need beside all other forces on them. With every body cut free, twist V, inertia I,
and the forces of the model and of the joints without coordinates on body b,

    W_b = I_b dV_b/dt - ad^T(V_b) I_b V_b - (forces on b),      W = sum of W_b over all bodies behind the joint

as a wrench at the anchor. Along the free directions of the joint W is what the joint itself exerts there: its spring, damper, coupling,
drive, and the inertia of its armature, with the opposite sign, and the control of the run (`Trajectory.reaction`); 0 for a plain joint.

Both take the nodal q and v as they are, so they are as accurate as the run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import UnknownNameError, UnsupportedError
from dalembert.model import kinematics
from dalembert.model.multipliers import along_motion
from dalembert.model.rotation import quat_conj, rotate

if TYPE_CHECKING:
    from dalembert.model.model import Model


DRIVE_OF = "drive of "


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
        elif is_drive(what):
            names = model.joint(joint).coordinates.q_names
            out.append(model.joint(joint).coordinates.q_units[names.index(what[len(DRIVE_OF) :]) if what.startswith(DRIVE_OF) else 0])
        else:
            out.append("m" if what in linear or "shift" in what else "rad")
    return out


def is_drive(what: str) -> bool:
    """Is this the label of a row of a drive?"""
    return what == "drive" or what.startswith(DRIVE_OF)


def without_coordinates(model: Model) -> list[str]:
    """Names of the loops and of the joints on velocities."""
    return [*(x.name for x in model.loops), *(x.name for x in model.nonholonomic)]


def joint_force(traj: Any, model: Model, joint: str, drive: bool = False) -> Array:
    """`Trajectory.reaction`; model: the one that the run saw, without what it ignored. drive: of the drive alone."""
    owners = without_coordinates(model)
    if not isinstance(joint, str) or (joint not in owners and joint not in model.q_slices()):
        if joint in without_coordinates(traj.model):
            raise UnsupportedError(f"joint {joint!r} exerts no force: the run left it out, ignore={tuple(traj.meta['ignore'])!r}.")
        raise UnknownNameError("joint", joint, [*model.q_slices(), *without_coordinates(traj.model)])
    if drive and joint not in model.drives:
        raise UnsupportedError(f"joint {joint!r} has no drive in this run; driven are {', '.join(map(repr, model.drives)) or 'none'}.")
    if traj.meta.get("functions") and not traj.meta.get("held_functions"):
        raise UnsupportedError(
            f"reaction of joint {joint!r}: the run had a force given as a function, whose values are not stored, so the accelerations are "
            "not known. As control= it is held over each step and stored."
        )
    if len(traj) > 1 and np.isnan(traj.control).any():
        raise UnsupportedError(
            f"reaction of joint {joint!r}: the run had a control, whose values its file, of an earlier version, does not hold, so the "
            "accelerations are not known. Run it anew."
        )
    found = traj._loads
    if joint in owners or drive:
        return found.multipliers[:, [r for r, (name, _) in enumerate(model.constraint_labels) if name == joint]]
    return transmitted(model, traj.q, traj.v, found, joint)


# joints without coordinates ----------------------------------------------------------------------------------------------------------


def loads(model: Model, q: Array, v: Array, tau: Array, t: Any = 0.0) -> Loads:
    """Accelerations and multipliers at states (N, nq), (N, nv) under joint forces (N, nv) at times (N,); NaN where those forces are.

    Joint forces hold those that were given as functions.
    """
    model = model.without("function")
    known = np.asarray(np.isfinite(tau).all(axis=1))
    given = np.where(known[:, None], tau, 0.0)
    found = [
        model.forward_dynamics(*state, multipliers=True, t=when)
        for *state, when in zip(q, v, given, np.broadcast_to(t, len(q)), strict=True)
    ]
    a, multipliers = (np.array(x) for x in zip(*found, strict=True))
    a[~known], multipliers[~known] = np.nan, np.nan
    return Loads(a, multipliers)


# joints of the tree ------------------------------------------------------------------------------------------------------------------


def transmitted(model: Model, q: Array, v: Array, found: Loads, joint: str) -> Array:
    """(N, 6): torque about the anchor and force that the joint exerts on its child, axes of the child body."""
    wrenches = _body_wrenches(model, q, v, found)
    frames = kinematics.frames(model, q)
    child = frames[model.joint(joint).child]
    at = model.placement(joint).anchor_C
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
    rate = _twists(model, q, found.a) + along_motion(lambda s: _twists(model, kinematics.integrate(model, q, s * v), v), v)
    now = kinematics.frames(model, q)
    poses = np.concatenate([np.concatenate([now[b.name].position, now[b.name].quaternion], axis=1) for b in model.bodies], axis=1)
    W = np.array([free.inverse_dynamics(*state) for state in zip(poses, twist, rate, strict=True)])
    if free.loops or free.nonholonomic:
        acting = found.multipliers[:, [not (what == "coupling" or is_drive(what)) for _, what in model.constraint_labels]]
        W -= np.array([free.constraint_rows(x)[1].T @ multipliers for x, multipliers in zip(poses, acting, strict=True)])
    return {b.name: W[:, 6 * i : 6 * i + 6] for i, b in enumerate(model.bodies)}


def _twists(model: Model, q: Array, v: Array) -> Array:
    """(N, 6 bodies): twists of the body frames."""
    found = kinematics.frames(model, q, v)
    return np.concatenate([np.concatenate([found[b.name].omega, found[b.name].velocity], axis=1) for b in model.bodies], axis=1)


def cut_free(model: Model) -> Model:
    """All bodies, forces on them and joints without coordinates (but couplings, which act inside joints), and no joint of the tree."""
    from dalembert.model.model import Model

    free = Model(model.name, model.gravity)
    for b in model.bodies:
        free.add_body(b.name, b.mass, b.inertia, b.com, (b.position, b.quaternion), physical=False)
    for force in model.without("function").forces:
        free.add_force(force)
    for loop in model.loops:
        if loop.kind != "coupling":
            free.add_loop(**loop.to_dict())
    for constraint in model.nonholonomic:
        free.add_joint(**constraint.to_dict())
    return free
