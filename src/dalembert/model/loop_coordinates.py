"""Coordinates and rates of any joint from the poses and twists of its bodies: angles of loop joints, joint angles of a machine cut free.

With X_PJ and X_CJ the joint frames on parent and child (model/kinematics.py; of a loop joint at `anchor` and `point`, the child turned by
`turn` at the reference configuration),

    g = X_PJ^-1 g_P^-1 g_C X_CJ,      xi = g^-1 g_dot = Ad(X_CJ^-1) V_C - Ad((X_PJ g)^-1) V_P
    q = coordinates(g),  v = rates(q, xi)

which is exact where the joint holds. Angles are those in (-pi, pi]; along a trajectory they are continued from node to node. What acts on a
loop joint is a force  f = -damping v - stiffness strain(q)  on its coordinates; generalised, P^T f with v = P(q) v_machine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import UnknownNameError, UnsupportedError
from dalembert.model import kinematics
from dalembert.model.joints import KINDS, Axes
from dalembert.model.kinematics import Frame, Placement
from dalembert.model.loops import Loop
from dalembert.model.parts import WORLD
from dalembert.model.rotation import quat_conj, quat_mul, rotate, unit

if TYPE_CHECKING:
    from dalembert.model.model import Model


class JointState(NamedTuple):
    """Coordinates and rates of one joint, one row per node."""

    q: Array
    v: Array


def loop_placement(model: Model, loop: Loop) -> Placement:
    """Where a loop joint sits in its parent and its child, as of a joint of the tree."""
    child = model.body(loop.child)
    q_C = quat_mul(loop.turn, child.quaternion)
    p_P, q_P = np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])
    if loop.parent != WORLD:
        p_P, q_P = model.body(loop.parent).position, model.body(loop.parent).quaternion
    axes = KINDS[loop.kind].axes(loop.axis, loop.axis2)
    return Placement(
        rotate(quat_conj(q_P), loop.anchor - p_P),
        quat_mul(quat_conj(q_P), q_C),
        rotate(quat_conj(child.quaternion), loop.point - child.position),
        Axes(*(rotate(quat_conj(q_C), a) for a in axes)),
    )


def state_of(kind: str, place: Placement, parent: Frame | None, child: Frame) -> JointState:
    """q and v of a joint from the frames of its bodies; parent None: the world."""
    if kind == "free":
        return JointState(np.concatenate(child[:2], axis=-1), np.concatenate(child[2:], axis=-1))
    zero = np.zeros_like(child.position)
    one = np.broadcast_to([1.0, 0.0, 0.0, 0.0], child.quaternion.shape)
    frame = Frame(zero, one, zero, zero) if parent is None else parent
    to_P = quat_conj(frame.quaternion)
    q_PC = unit(quat_mul(to_P, child.quaternion))
    p_PJ = rotate(to_P, child.position - frame.position) + rotate(q_PC, place.anchor_C)  # joint frame of the child, seen from the parent
    to_J = np.broadcast_to(quat_conj(place.q_PJ), q_PC.shape)
    q = KINDS[kind].coordinates(rotate(to_J, p_PJ - place.anchor_P), quat_mul(to_J, q_PC), place.axes)
    to_C = quat_conj(q_PC)
    omega = child.omega - rotate(to_C, frame.omega)
    velocity = child.velocity + np.cross(child.omega, place.anchor_C) - rotate(to_C, frame.velocity + np.cross(frame.omega, p_PJ))
    return JointState(q, KINDS[kind].rates(q, np.concatenate([omega, velocity], axis=-1), place.axes))


def loop_state(model: Model, loop: Loop, found: dict[str, Frame]) -> JointState:
    """q and v of a loop joint; found: frames with twists."""
    return state_of(loop.kind, loop_placement(model, loop), None if loop.parent == WORLD else found[loop.parent], found[loop.child])


def continued(kind: str, q: Array) -> Array:
    """Angles over nodes (N, nq) without jumps by whole turns, quaternions without changes of sign."""
    if len(q) < 2:
        return q
    out, coordinates = q.copy(), KINDS[kind]
    for i, units in enumerate(coordinates.q_units):
        if units == "rad":
            out[:, i] = np.unwrap(q[:, i])
    for at in coordinates.quaternion_slots():
        turns = np.sum(q[1:, at : at + 4] * q[:-1, at : at + 4], axis=-1)
        out[1:, at : at + 4] *= np.cumprod(np.where(turns < 0.0, -1.0, 1.0))[:, None]
    return out


def joint_states(model: Model, q: Array, v: Array, name: str) -> JointState:
    """q and v of a joint over states (N, nq), (N, nv): of the tree by slices, of a loop from the poses."""
    if isinstance(name, str) and name in model._joints:
        joint = model._joints[name]
        if joint.kind == "free" and model.body(joint.child).particle:  # of a machine cut free
            frame = kinematics.frames(model, q, v)[joint.child]
            return JointState(frame.position, rotate(frame.quaternion, frame.velocity))
        return JointState(q[:, model.q_slices()[name]], v[:, model.v_slices()[name]])
    if not isinstance(name, str) or name not in model._loops:
        known = [*model._joints, *(x.name for x in model.loops if x.kind in KINDS)]
        raise UnknownNameError("joint", name, known)
    loop = model._loops[name]
    if loop.kind not in KINDS:
        raise UnsupportedError(
            f"joint {name!r}: a {loop.kind} loop has no coordinates; traj.constraint has its residuals, and its ends are "
            f"{loop.parent!r} and {loop.child!r}."
        )
    found = loop_state(model, loop, kinematics.frames(model, q, v))
    return JointState(continued(loop.kind, found.q), found.v)


# what acts on loop joints ------------------------------------------------------------------------------------------------------------


def acting_loops(model: Model) -> list[Loop]:
    """Loops with springs or dampers of their own."""
    return [x for x in model.loops if x.stiffness > 0.0 or x.damping > 0.0]


def loop_energy(model: Model, q: Array) -> Any:
    """stiffness |strain|^2/2 of all loops, over any leading dimensions."""
    elastic = [x for x in model.loops if x.stiffness > 0.0]
    if not elastic:
        return 0.0
    found = kinematics.frames(model, q)
    states = [(x, loop_state(model, x, found).q) for x in elastic]
    states = [(x, continued(x.kind, s) if s.ndim == 2 else s) for x, s in states]  # nodes of a run: a spring may be wound up
    strains = [(x.stiffness, KINDS[x.kind].strain(s, x.rest)) for x, s in states]
    return sum(0.5 * k * np.sum(strain**2, axis=-1) for k, strain in strains)


def rotor_energy(model: Model, q: Array, v: Array) -> Any:
    """armature |rates|^2/2 of all loops, over any leading dimensions."""
    heavy = [x for x in model.loops if x.armature > 0.0]
    if not heavy:
        return 0.0
    found = kinematics.frames(model, q, v)
    return sum(0.5 * x.armature * np.sum(loop_state(model, x, found).v ** 2, axis=-1) for x in heavy)


def loop_forces(model: Model, q: Array, v: Array) -> Array:
    """P^T f of all loops at one state, (nv,)."""
    total = np.zeros(model.nv)
    loops = acting_loops(model)
    if not loops:
        return total
    basis = kinematics.frames(model, np.broadcast_to(q, (model.nv, model.nq)), np.eye(model.nv))
    here = kinematics.frames(model, q)
    for x in loops:
        P = loop_state(model, x, basis).v  # row i: rates of the joint when the machine moves along its i-th coordinate
        strain = KINDS[x.kind].strain(loop_state(model, x, here).q, x.rest)
        total -= P @ (x.damping * (v @ P) + x.stiffness * strain)
    return total
