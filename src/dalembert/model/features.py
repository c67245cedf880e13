"""Features: what acts in a model beside its masses and joints, by name, and the model without some of them.

A method says which features it handles; the others are refused until a run is told to ignore them, and are then taken out of the model
that it sees: out of its motion, its energy and its report.

    gravity, armature, damping (of joints, dampers, springs), stiffness (of joints), joint friction, limits (all), spherical limits,
    drive (of joints), spring, wrench, function and those of further forces (model/forces), motors, loops, couplings (those of loops that
    join coordinates: gears, mimicking joints), nonholonomic (rolling, blades),
    contact (model/touching.py)
    loop damping, loop friction, loop stiffness, loop armature, loop limits, loop motors, loop drive, loop couplings (of joints that close
    loops)
    compliance, strength, velocity drive, velocity limits, force limits (of all joints)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.errors import ModelError, UnknownNameError
from dalembert.model import forces, validate
from dalembert.model.parts import WORLD
from dalembert.model.shapes import Shape
from dalembert.model.touching import remove_contacts, touching

if TYPE_CHECKING:
    from dalembert.model.model import Model

OTHER_NAMES = {"friction": "joint friction"}


def acting(model: Model) -> set[str]:
    """Names of the features that a model has. Motors act by a control alone, so no method need know of them."""
    found = {feature for f in model.forces for feature in f.features}
    if np.any(model.gravity != 0.0):
        found.add("gravity")
    if model.loops:
        found.add("loops")
    if model.nonholonomic:
        found.add("nonholonomic")
    for joint in model.joints:
        found |= {OTHER_NAMES.get(w, w) for w in ("damping", "friction", "stiffness", "armature") if getattr(joint, w) > 0.0}
        if joint.drive is not None:
            found.add("drive")
        if joint.limits is not None:
            found.add("spherical limits" if joint.kind == "spherical" else "limits")
    for loop in model.loops:
        if loop.kind == "coupling" and any(end not in (*model._joints, WORLD) for end in (loop.parent, loop.child)):
            found.add("loop couplings")
        found |= {f"loop {w}" for w in ("damping", "friction", "stiffness", "armature") if getattr(loop, w) > 0.0}
        if loop.limits is not None:
            found.add("loop limits")
        if loop.drive is not None:
            found.add("loop drive")
    if model._loops and any(motor.joint in model._loops for motor in model.motors):
        found.add("loop motors")
    joints: list[Any] = [*model.joints, *model.loops]
    if any(x.compliance > 0.0 or x.damping_time > 0.0 for x in joints):
        found.add("compliance")
    if any(x.strength > 0.0 or x.torque_strength > 0.0 for x in joints):
        found.add("strength")
    if any(x.velocity is not None for x in joints):
        found.add("velocity drive")
    if any(x.max_velocity > 0.0 for x in joints):
        found.add("velocity limits")
    if any(x.force_limits is not None or x.drive_limits is not None or x.max_force > 0.0 or x.max_torque > 0.0 for x in joints):
        found.add("force limits")
    if can_touch(model):
        found.add("contact")
    return found


def can_touch(model: Model) -> bool:
    """True if bodies of the model can touch; a frozen model remembers."""
    known = model.kept("touching") if model._frozen else {}
    if "any" not in known:
        known["any"] = next(touching(model), None) is not None
    return bool(known["any"])


# removal: each changes a copy of the model -------------------------------------------------------------------------------------------


def _of_joints(kinds: tuple[str, ...] = (), **values: Any) -> Callable[[Model], None]:
    def remove(m: Model) -> None:
        m._joints = {name: replace(j, **values) if not kinds or j.kind in kinds else j for name, j in m._joints.items()}

    return remove


def _of_loops(**values: Any) -> Callable[[Model], None]:
    def remove(m: Model) -> None:
        m._loops = {name: replace(x, **values) for name, x in m._loops.items()}

    return remove


def _of_forces(m: Model, feature: str) -> None:
    left = ((name, f.without(feature)) for name, f in m._forces.items())
    m._forces = {name: f for name, f in left if f is not None}


def _of_both(**values: Any) -> Callable[[Model], None]:
    def remove(m: Model) -> None:
        _of_joints(**values)(m)
        _of_loops(**values)(m)

    return remove


def _loop_motors(m: Model) -> None:
    m._motors = {name: motor for name, motor in m._motors.items() if motor.joint not in m._loops}


def _loops(m: Model) -> None:
    _loop_motors(m)
    m._loops.clear()


def _couplings(m: Model) -> None:
    m._loops = {name: x for name, x in m._loops.items() if x.kind != "coupling"}


def _loop_couplings(m: Model) -> None:
    kept = (*m._joints, WORLD)
    m._loops = {name: x for name, x in m._loops.items() if x.kind != "coupling" or (x.parent in kept and x.child in kept)}


def _gravity(m: Model) -> None:
    m.gravity = validate.frozen(np.zeros(3))


REMOVALS: dict[str, Callable[[Model], None]] = {
    "contact": remove_contacts,
    "gravity": _gravity,
    "damping": _of_joints(damping=0.0),
    "stiffness": _of_joints(stiffness=0.0, rest=0.0),
    "joint friction": _of_joints(friction=0.0),
    "armature": _of_joints(armature=0.0),
    "drive": _of_joints(drive=None),
    "limits": _of_joints(limits=None),
    "spherical limits": _of_joints(("spherical",), limits=None),
    "motors": lambda m: m._motors.clear(),
    "loops": _loops,
    "couplings": _couplings,
    "loop couplings": _loop_couplings,
    "loop damping": _of_loops(damping=0.0),
    "loop friction": _of_loops(friction=0.0),
    "loop stiffness": _of_loops(stiffness=0.0, rest=0.0),
    "loop armature": _of_loops(armature=0.0),
    "loop limits": _of_loops(limits=None),
    "loop motors": _loop_motors,
    "loop drive": _of_loops(drive=None),
    "compliance": _of_both(compliance=0.0, damping_time=0.0),
    "strength": _of_both(strength=0.0, torque_strength=0.0),
    "velocity drive": _of_both(velocity=None),
    "velocity limits": _of_both(max_velocity=0.0),
    "force limits": _of_both(force_limits=None, drive_limits=None, max_force=0.0, max_torque=0.0),
    "nonholonomic": lambda m: m._nonholonomic.clear(),
}


def check(names: Any) -> tuple[str, ...]:
    """Names of features that can be taken out, one name or several; UnknownNameError for others."""
    return validate.names("feature to ignore", names, REMOVALS.keys() | forces.features(), OTHER_NAMES)


def without(model: Model, names: Any) -> Model:
    """The model without the named features; the same object if it has none of them."""
    there = acting(model) | ({"motors"} if model.motors else set())
    there |= {"limits"} if "spherical limits" in there else set()
    there |= {"couplings"} if any(x.kind == "coupling" for x in model.loops) else set()
    wanted = [name for name in check(names) if name in there]
    if not wanted:
        return model
    left = model.copy()
    for name in wanted:
        if name in REMOVALS:
            REMOVALS[name](left)
        _of_forces(left, name)
    left._frozen = True
    return left


class Featured:
    """The part of `Model` that has to do with features."""

    @staticmethod
    def check_features(names: Any) -> tuple[str, ...]:
        """Names of features that a run may ignore, one or several, as a tuple; UnknownNameError for others. List: model/features.py."""
        return check(names)

    def without(self: Any, names: Any) -> Model:
        """The model without the named features, such as "gravity", "limits", "loops"; the same object if it has none of them."""
        if not self._frozen:
            return without(self, names)
        known, wanted = self.kept("without"), check(names)
        if wanted not in known:
            found, origin = without(self, wanted), self.kept("origin").get("tree")
            if found is not self and origin is not None:
                found.kept("origin").update(tree=origin.without(wanted))
            known[wanted] = found
        left: Model = known[wanted]
        return left

    def add_shape(self: Any, where: str, shape: Any) -> None:
        """Give a shape to a body, or to the "world": the ground, a wall. Its pose is in the frame of the body."""
        self._change()
        if not isinstance(shape, Shape):
            raise ModelError(f"add_shape: {shape!r} is not a shape; expected dal.Plane(), dal.Box(...), ...")
        if where == WORLD:
            self.world_shapes = (*self.world_shapes, shape)
        elif where in self._bodies:
            self._bodies[where] = replace(self._bodies[where], shapes=(*self._bodies[where].shapes, shape))
        else:
            raise UnknownNameError("body to give a shape", where, [*self._bodies, WORLD])

    def exclude(self: Any, a: str, b: str) -> None:
        """Let two bodies, or a body and the "world", pass through each other. Which bodies can touch: model/touching.py."""
        self._change()
        for name in (a, b):
            if name != WORLD and name not in self._bodies:
                raise UnknownNameError("body to exclude", name, [*self._bodies, WORLD])
        if a == b:
            raise ModelError(f"exclude: both names are {a!r}; expected two bodies, or a body and 'world'.")
        self._excluded.add(frozenset((a, b)))
