"""`cut(model)`: the same machine in body coordinates. Every body is free, and the joints of the tree are loop joints.

    joint of the tree                   in the cut model
    free                                stays: it is a body's own coordinates
    fixed                               stays, so that bodies welded together move as one (massless frames could not move alone);
                                        fixed=False, or a compliance or strength: a loop joint like the others
    all others                          loop joint of the same name, with its damping, friction, stiffness, rest, limits, compliance,
                                        strength, armature, drive, and bounds of velocity and force

Loops, rolling joints, blades, forces, shapes, motors and exclusions stay; couplings of joints then couple loop joints. q and v list the
free bodies in the order of `bodies`. Refused: forces that are functions of q and v of the tree; free bodies without inertia, unless
lend=True gives them some (model/light.py).

The state of the cut model is that of the bodies: `body_state` gives it from joint coordinates, `joint_state` gives joint coordinates back,
with angles in (-pi, pi], or continued along a trajectory. Velocities are those of the bodies, so energy and momentum are the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import UnsupportedError
from dalembert.model import kinematics
from dalembert.model.light import is_light, lend_inertia
from dalembert.model.loop_coordinates import continued, state_of
from dalembert.model.loops import ACTING, Loop
from dalembert.model.lumps import lump
from dalembert.model.parts import WORLD, Joint

if TYPE_CHECKING:
    from dalembert.model.model import Model


def cut(model: Model, fixed: bool = True, lend: bool = False) -> Model:
    """A copy of the model in body coordinates, which can be changed. fixed: fixed joints stay, see the head of model/cut.py.

    lend: bodies without inertia get some, see model/light.py.
    """
    loops = {j.name: _loop(j) for j in _cut_joints(model, fixed)}
    _refuse(model, loops)
    implicit = set(model._implicit.values())
    taken = {*model._joints, *model._loops, *model._nonholonomic} - implicit
    free = model.copy()
    free._joints, free._implicit, free._keyframes, free._loops = {}, {}, {}, {**loops, **model._loops}
    above = {j.child: j for j in model.joints}
    for b in model.bodies:
        joint = above[b.name]
        if joint.name in loops or joint.name in implicit:
            name = f"{b.name} (free)" if b.name in taken else b.name
            free._implicit[b.name] = name
            joint = Joint.build(name, "free", WORLD, b.name, b.position, (0, 0, 1))  # particles too: they have axes now
        free._joints[joint.name] = joint
    free._placements.clear()
    if lend:
        lend_inertia(free)
    _need_inertia(free)
    for k in model.keyframes:
        if (len(k.q), len(k.v)) == (model.nq, model.nv):
            free.add_keyframe(k.name, *body_state(model, k.q, k.v, fixed))
    return free


def _cut_joints(model: Model, fixed: bool) -> list[Joint]:
    """Joints that become loop joints."""
    soft = [j.name for j in model.joints if j.gives_way]
    return [j for j in model.joints if not j.coordinates.absolute and not (j.kind == "fixed" and fixed and j.name not in soft)]


def _loop(joint: Joint) -> Loop:
    acting = {what: getattr(joint, what) for what in ACTING}
    places = (joint.name, joint.kind, joint.parent, joint.child, joint.anchor, joint.axis, joint.axis2)
    return Loop.build(*places, drive=joint.drive, velocity=joint.velocity, **acting)


def _refuse(model: Model, loops: dict[str, Loop]) -> None:
    """UnsupportedError that names what has no meaning in body coordinates."""
    who = f"cut of model {model.name!r}"
    functions = [name for name, f in model._forces.items() if f.kind == "function"]
    held = [j.name for j in model.joints if j.kind == "translation" and not model.body(j.child).particle]
    if held:
        raise UnsupportedError(
            f"{who}: joints {', '.join(map(repr, held))} are translations of bodies that are no particles: no loop joint is."
        )
    if functions:
        raise UnsupportedError(f"{who}: forces {', '.join(map(repr, functions))} are functions of the tree's q and v; without('function').")


def light_bodies(free: Model) -> list[str]:
    """Bodies of a machine cut free that have no inertia, counted with all bodies that are fixed to them."""
    return [name for name, whole in lump(free)[1].items() if is_light(whole)]


def _need_inertia(free: Model) -> None:
    light = light_bodies(free)
    if light:
        raise UnsupportedError(
            f"cut of model {free.name!r}: bodies {', '.join(map(repr, light))} (with what is fixed to them) have no mass or no inertia "
            "about some axis, so they cannot be free; give them some, join them by fixed joints, or let what they carry lend it: lend=True."
        )


# states ------------------------------------------------------------------------------------------------------------------------------


def _free_bodies(model: Model, fixed: bool) -> list[str]:
    """Bodies with coordinates in the cut model, in their order there."""
    free = {j.child for j in (*_cut_joints(model, fixed), *(j for j in model.joints if j.coordinates.absolute))}
    return [b.name for b in model.bodies if b.name in free]


def body_state(model: Model, q: Any, v: Any, fixed: bool = True) -> tuple[Array, Array]:
    """(q, v) of cut(model, fixed) from those of the model, over any leading dimensions."""
    found = kinematics.frames(model, np.asarray(q, dtype=float), np.asarray(v, dtype=float))
    frames = [found[name] for name in _free_bodies(model, fixed)]
    q_parts, v_parts = [x for f in frames for x in f[:2]], [x for f in frames for x in f[2:]]
    return np.concatenate(q_parts, axis=-1), np.concatenate(v_parts, axis=-1)


def joint_state(model: Model, q: Any, v: Any, fixed: bool = True) -> tuple[Array, Array]:
    """(q, v) of the model from those of cut(model, fixed): one state, or nodes (N, nq) along which angles are continued."""
    q, v = np.asarray(q, dtype=float), np.asarray(v, dtype=float)
    found = kinematics.frames(cut(model.without("function"), fixed, lend=True), q, v)
    parts = []
    for j in model.joints:
        state = state_of(j.kind, model.placement(j.name), None if j.parent == WORLD else found[j.parent], found[j.child])
        parts.append((continued(j.kind, state.q) if q.ndim == 2 else state.q, state.v))
    return np.concatenate([p[0] for p in parts], axis=-1), np.concatenate([p[1] for p in parts], axis=-1)
