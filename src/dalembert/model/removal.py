"""Taking parts out of a model: the opposite of `add_body`, `add_joint`, `add_force`, `add_motor`, `add_loop`.

Order of q and v: what stays keeps its order. The child of a joint that is removed becomes free, and its free joint stands where the joint
stood; a body that is removed takes its coordinates with it. A part that is added again comes last, as every new part does.

What refers to a part depends on it: joints, loops, rolling joints, blades and forces on their bodies; motors and couplings on their joints.
A part on which others depend is refused, unless cascade=True: then they go with it, and bodies that lose their joint become free.
Keyframes keep the coordinates and rates of all joints that stay; a body that becomes free keeps its pose and twist there.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import ModelError, UnknownNameError
from dalembert.model import kinematics, validate
from dalembert.model.parts import Joint, Keyframe, implicit_joint
from dalembert.model.rotation import rotate


@dataclass
class Going:
    """Names of what depends on a part, by kind."""

    joints: list[str] = field(default_factory=list)
    loops: list[str] = field(default_factory=list)
    nonholonomic: list[str] = field(default_factory=list)
    forces: list[str] = field(default_factory=list)
    motors: list[str] = field(default_factory=list)

    def words(self) -> str:
        """'joint 'knee', motor 'm''."""
        kinds = {"joint": self.joints + self.loops + self.nonholonomic, "force": self.forces, "motor": self.motors}
        return ", ".join(f"{kind} {name!r}" for kind, names in kinds.items() for name in names)


class Removals:
    """The part of `Model` that removes."""

    def remove_body(self: Any, name: str, cascade: bool = False) -> None:
        """Remove a body. Joints, loops, forces and motors that depend on it go too if cascade=True; else they are named and it stays."""
        self._change()
        self.body(name)
        going = _of_body(self, name)
        _refuse(f"body {name!r}", going, cascade)
        states = _Keyframes(self)
        _remove(self, going)
        del self._joints[self._implicit.pop(name)]
        del self._bodies[name]
        self._excluded = {pair for pair in self._excluded if name not in pair}
        self._contacts = {pair: law for pair, law in self._contacts.items() if name not in pair}
        states.carry_over(self)

    def remove_joint(self: Any, name: str, cascade: bool = False) -> None:
        """Remove a joint of any kind. The child of a joint of the tree becomes free, at the joint's place in q and v."""
        self._change()
        closing = [*self._loops, *self._nonholonomic]
        if not validate.known(name, (*self._joints, *closing)):
            raise UnknownNameError("joint", name, [*self._joints, *closing])
        if name in self._implicit.values():
            raise ModelError(f"joint {name!r}: body {self._joints[name].child!r} has no joint that could be removed: it is free.")
        going = _of_joint(self, name)
        _refuse(f"joint {name!r}", going, cascade)
        store = next(s for s in ("joints", "loops", "nonholonomic") if name in getattr(self, f"_{s}"))
        states = _Keyframes(self)
        getattr(going, store).append(name)
        _remove(self, going)
        states.carry_over(self)

    def remove_loop(self: Any, name: str, cascade: bool = False) -> None:
        """Remove a loop joint; motors on it go too if cascade=True."""
        self._change()
        self.loop(name)
        self.remove_joint(name, cascade)

    def remove_force(self: Any, name: str) -> None:
        """Remove a force; names: `force_names`."""
        self._change()
        self.force(name)
        del self._forces[name]

    def remove_motor(self: Any, name: str) -> None:
        """Remove a motor."""
        self._change()
        self.motor(name)
        del self._motors[name]


def _of_joint(model: Any, name: str) -> Going:
    """What depends on a joint."""
    going = Going(loops=[x.name for x in model.loops if x.kind == "coupling" and name in (x.parent, x.child)])
    going.motors = [x.name for x in model.motors if x.joint in (name, *going.loops)]
    return going


def _of_body(model: Any, body: str) -> Going:
    """What depends on a body."""
    implicit = set(model._implicit.values())
    going = Going()
    going.joints = [j.name for j in model.joints if body in (j.parent, j.child) and j.name not in implicit]
    going.loops = [x.name for x in model.loops if x.kind != "coupling" and body in (x.parent, x.child)]
    going.nonholonomic = [x.name for x in model.nonholonomic if body in (x.parent, x.child)]
    going.forces = [name for name, f in model._forces.items() if body in f.bodies]
    for name in [*going.joints, *going.loops]:
        more = _of_joint(model, name)
        going.loops += [x for x in more.loops if x not in going.loops]
        going.motors += [x for x in more.motors if x not in going.motors]
    return going


def _refuse(what: str, going: Going, cascade: bool) -> None:
    words = going.words()
    if words and not cascade:
        raise ModelError(f"{what} is needed by {words}; remove these first, or cascade=True removes them too.")


def _remove(model: Any, going: Going) -> None:
    for store in ("loops", "nonholonomic", "forces", "motors"):
        for name in getattr(going, store):
            del getattr(model, f"_{store}")[name]
    for name in going.joints:
        _free(model, name)
    _give_back_names(model)


def _give_back_names(model: Any) -> None:
    """Free bodies whose name no other joint has any longer: their implicit joints are called like them again."""
    for body, implicit in list(model._implicit.items()):
        if implicit != body and not model._is_taken(body):
            model._implicit[body] = body
            model._joints = {
                (body if k == implicit else k): (replace(j, name=body) if k == implicit else j) for k, j in model._joints.items()
            }


def _free(model: Any, name: str) -> None:
    """An implicit free joint in place of a joint."""
    child = model._joints[name].child
    taken = [k for k in (*model._joints, *model._loops, *model._nonholonomic) if k != name]
    implicit = child if child not in taken else f"{child} (free)"
    free = implicit_joint(implicit, model.body(child))
    model._joints = {(implicit if k == name else k): (free if k == name else j) for k, j in model._joints.items()}
    model._implicit[child] = implicit
    model._placements.clear()


class _Keyframes:
    """Keyframes of a model before it changes, joint by joint."""

    def __init__(self, model: Any):
        whole = [k for k in model.keyframes if (len(k.q), len(k.v)) == (model.nq, model.nv)]
        sq, sv = model.q_slices(), model.v_slices()
        joints = {j.child: j.name for j in model.joints}
        self.found = {}
        for k in whole:
            frames = kinematics.frames(model, k.q, k.v)
            own = {body: (k.q[sq[joint]], k.v[sv[joint]]) for body, joint in joints.items()}
            self.found[k.name] = (own, frames)

    def carry_over(self, model: Any) -> None:
        """Write them anew, in the order of the changed model."""
        for name, (own, frames) in self.found.items():
            parts = [_part(j, *own[j.child], frames[j.child]) for j in model.joints]
            q, v = (np.concatenate([x[i] for x in parts]) if parts else np.zeros(0) for i in (0, 1))
            model._keyframes[name] = Keyframe(name, validate.frozen(q), validate.frozen(v))


def _part(joint: Joint, q: Array, v: Array, frame: kinematics.Frame) -> tuple[Array, Array]:
    """Coordinates and rates of a joint that stayed, or of the free joint that came in its place."""
    if joint.kind == "free":
        return np.concatenate(frame[:2]), np.concatenate(frame[2:])
    if joint.coordinates.absolute:
        return frame.position, rotate(frame.quaternion, frame.velocity)
    return q, v
