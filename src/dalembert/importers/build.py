"""A compiled MuJoCo model as our Model.

Kinematics of MuJoCo: the frame of a body moves by its joints in their order, each about the anchor and axis that the ones before it have
moved. So n joints on one body are a chain of n joints, with massless frames between them that coincide with the body at the reference
configuration qpos0: every joint keeps its name, limits, damping and motor. Our angles and shifts count from there: q = qpos - qpos0.
A body without a joint is fixed to its parent.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import ModelError
from dalembert.importers.compiling import library
from dalembert.importers.geometry import Looks, shapes_of
from dalembert.importers.naming import Names
from dalembert.importers.notes import Notes
from dalembert.model import Model
from dalembert.model.parts import WORLD
from dalembert.model.rotation import matrix, quat_mul, rotate
from dalembert.model.shapes import Shape

LARGEST = 1e15  # beyond this a number is a slip of the pen, and products of a few of them overflow
SWITCHES = ("constraint", "equality", "frictionloss", "limit", "contact", "spring", "damper", "actuation")  # <option><flag .../>
KINDS = {"FREE": "free", "BALL": "spherical", "SLIDE": "prismatic", "HINGE": "revolute"}


@dataclass(frozen=True)
class Inertial:
    """Mass, centre of mass and inertia about it, in body axes."""

    mass: float
    com: Array
    inertia: Array


@dataclass(frozen=True)
class Linkage:
    """One joint of ours and the joints of MuJoCo that it stands for; none for a fixed joint."""

    name: str
    kind: str
    ids: tuple[int, ...] = ()


@dataclass
class Part:
    """What a format knows better than the compiled model: names, inertial data, joints. Bodies and geoms by their number in MuJoCo."""

    body_names: dict[int, str] = field(default_factory=dict)
    inertials: dict[int, Inertial] = field(default_factory=dict)
    linkages: dict[int, list[Linkage]] = field(default_factory=dict)
    geom_names: dict[int, str] = field(default_factory=dict)
    world: int = 0  # the last body that is the world itself


class Builder:
    """Builds the Model body by body, parents first."""

    def __init__(self, compiled: Any, model: Model, notes: Notes, part: Part):
        self.mj, self.model, self.notes, self.part = compiled, model, notes, part
        self.names = Names(notes)
        self.body_names: dict[int, str] = dict.fromkeys(range(part.world + 1), WORLD)
        self.joint_names: dict[int, str] = {}  # by number in MuJoCo
        self.poses: dict[int, tuple[Array, Array]] = {0: (np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0]))}
        self.still = {WORLD}  # bodies that are fixed in the world
        self.world_shapes: list[Shape] = []
        bits = library().mjtDisableBit
        self.off = {n for n in SWITCHES if int(compiled.opt.disableflags) & int(getattr(bits, f"mjDSBL_{n.upper()}"))}
        if "constraint" in self.off:
            self.off |= {"limit", "frictionloss", "equality", "contact"}

    def build(self) -> Model:
        """All bodies and joints."""
        check_finite(self.mj, self.model.name)
        for i in range(self.part.world + 1, self.mj.nbody):
            wanted = self.part.body_names.get(i, self.mj.body(i).name)
            self.body_names[i] = self.names.give("body", wanted, f"body{i}")
        looks = Looks(self.mj)
        for i in range(self.mj.nbody):
            shapes = shapes_of(self.mj, i, self.part.geom_names, self.notes, "contact" not in self.off, looks)
            self.poses[i] = self._reference(i)
            if i <= self.part.world:
                self.world_shapes += shapes
            else:
                self._body(i, shapes)
        return self.model

    def _reference(self, i: int) -> tuple[Array, Array]:
        """World pose at qpos0: poses of the parents, one after the other."""
        if i == 0:
            return self.poses[0]
        p, q = self.poses[int(self.mj.body_parentid[i])]
        turned = quat_mul(q, self.mj.body_quat[i])
        return p + rotate(q, self.mj.body_pos[i]), turned / np.linalg.norm(turned)

    def _body(self, i: int, shapes: list[Shape]) -> None:
        name, pose = self.body_names[i], self.poses[i]
        carrier = self.body_names[int(self.mj.body_parentid[i])]
        chain = self.part.linkages.get(i) or self._linkages(i)
        for n, linkage in enumerate(chain):
            last = n == len(chain) - 1
            fallback = f"{name}_{linkage.kind}" + (str(n + 1) if len(chain) > 1 else "")
            joint = self.names.give("joint", linkage.name, fallback)
            child = name if last else self.names.give("body", "", f"{name}.{joint}")
            if last:
                self._add_body(i, child, pose, shapes)
            else:
                self.model.add_frame(child, pose)
            self._add_joint(joint, linkage, carrier, child, pose)
            carrier = child

    def _linkages(self, i: int) -> list[Linkage]:
        first, count = int(self.mj.body_jntadr[i]), int(self.mj.body_jntnum[i])
        if not count:
            return [Linkage("", "fixed")]
        T = library().mjtJoint
        ids = range(first, first + count)
        return [Linkage(self.mj.joint(j).name, KINDS[T(int(self.mj.jnt_type[j])).name.removeprefix("mjJNT_")], (j,)) for j in ids]

    def _add_body(self, i: int, name: str, pose: tuple[Array, Array], shapes: list[Shape]) -> None:
        data = self.part.inertials.get(i) or inertial_of(self.mj, i)
        _check_size(f"body {name!r}", "inertial data", [data.mass, *data.com, *data.inertia.ravel()])
        if data.mass == 0.0 and not data.inertia.any():
            self.model.add_frame(name, pose, shapes)
            return
        try:
            self.model.add_body(name, data.mass, data.inertia, data.com, pose, shapes)
        except ModelError:
            self.model.add_body(name, data.mass, data.inertia, data.com, pose, shapes, physical=False)
            self.notes.add("physical meaning of inertial data (kept as they are, although no rigid body has them)", name)

    def _add_joint(self, name: str, linkage: Linkage, parent: str, child: str, pose: tuple[Array, Array]) -> None:
        self.joint_names.update(dict.fromkeys(linkage.ids, name))
        if linkage.kind == "fixed":
            self.model.add_joint(name, "fixed", parent, child, anchor=pose[0])
            if parent in self.still:
                self.still.add(child)
            return
        if linkage.kind == "free":
            if parent not in self.still:
                raise ModelError(f"joint {name!r}: it floats on {parent!r}, which can move; expected a parent that is fixed in the world.")
            more = self._constants(name, linkage) if linkage.ids else {}
            self.model.add_joint(name, "free", WORLD, child, anchor=pose[0], **more)
            return
        j, mj = linkage.ids[-1], self.mj
        p, q = pose
        more = {"anchor": p + rotate(q, mj.jnt_pos[j])}
        if linkage.kind != "spherical":
            more["axis"] = rotate(q, mj.jnt_axis[j])
        if linkage.kind == "planar":
            more["axis2"] = rotate(q, mj.jnt_axis[linkage.ids[0]])
        more.update(self._constants(name, linkage))
        self.model.add_joint(name, linkage.kind, parent, child, **more)

    def _constants(self, name: str, linkage: Linkage) -> dict[str, Any]:
        mj, j = self.mj, linkage.ids[-1]
        dof = int(mj.jnt_dofadr[linkage.ids[0]])
        scalar = linkage.kind in ("revolute", "prismatic")
        found: dict[str, Any] = {
            "damping": self._one(name, "damping", mj.dof_damping, dof, linkage) + self._of_motor(name, "damping", j, scalar),
            "friction": self._one(name, "friction", mj.dof_frictionloss, dof, linkage),
            "armature": self._one(name, "armature", mj.dof_armature, dof, linkage) + self._of_motor(name, "armature", j, scalar),
        }
        if mj.jnt_limited[j] and "limit" not in self.off:
            low, high = (float(x) - (float(mj.qpos0[mj.jnt_qposadr[j]]) if scalar else 0.0) for x in mj.jnt_range[j])
            if low < high and self.model_takes_limits(linkage.kind):
                found["limits"] = (low, high) if max(abs(low), abs(high)) < LARGEST else None  # beyond: no limits in other words
            else:
                self.notes.add("joint limits", f"{name} ({low:g} to {high:g})")
        stiffness = float(mj.jnt_stiffness[j])
        if stiffness > 0 and "spring" not in self.off:
            found.update(self._spring(name, linkage.kind, stiffness, int(mj.jnt_qposadr[j])))
        for switch, what in (("damper", "damping"), ("frictionloss", "friction")):
            if switch in self.off:
                found[what] = 0.0
        return found

    @staticmethod
    def model_takes_limits(kind: str) -> bool:
        """Free joints have no limits."""
        return kind in ("revolute", "prismatic", "spherical")

    def _spring(self, name: str, kind: str, stiffness: float, at: int) -> dict[str, Any]:
        """k (q - rest): the spring of a free or ball joint rests at qpos_spring, ours at the reference configuration."""
        offset = self.mj.qpos_spring[at : at + 7] - self.mj.qpos0[at : at + 7]
        if kind in ("revolute", "prismatic"):
            return {"stiffness": stiffness, "rest": float(offset[0])}
        if kind == "spherical" and not offset[:4].any():
            return {"stiffness": stiffness}
        self.notes.add("springs of free joints, and of ball joints that rest elsewhere", f"{name} ({stiffness:g})")
        return {}

    def _of_motor(self, name: str, what: str, j: int, scalar: bool) -> float:
        """Damping and armature of the motor, seen through its gear: gear^2 times the motor's."""
        motor = int(self.mj.jnt_actuatorid[j])
        value = float(getattr(self.mj, f"actuator_{what}")[motor]) if motor >= 0 else 0.0
        if value and not scalar:
            self.notes.add(f"{what} of motors on joints of several degrees of freedom", name)
            return 0.0
        return value * float(self.mj.actuator_gear[self.mj.actuator_outadr[motor]][0]) ** 2 if value else 0.0

    def _one(self, name: str, what: str, values: Any, dof: int, linkage: Linkage) -> float:
        """One number for all degrees of freedom of a joint; MuJoCo may hold several."""
        n = {"free": 6, "spherical": 3, "planar": 3}.get(linkage.kind, 1)
        here = np.asarray(values[dof : dof + n], dtype=float)
        if np.any(here != here[0]):
            self.notes.add(f"{what} that differs between the degrees of freedom of one joint", f"{name} {here.tolist()}")
            return 0.0
        return float(here[0])


def inertial_of(mj: Any, i: int) -> Inertial:
    """I = R diag(body_inertia) R^T with R = R(body_iquat)."""
    R = matrix(np.asarray(mj.body_iquat[i], dtype=float))
    I = R @ np.diag(mj.body_inertia[i]) @ R.T
    return Inertial(float(mj.body_mass[i]), np.array(mj.body_ipos[i]), 0.5 * (I + I.T))


def check_finite(mj: Any, owner: str) -> None:
    """Refuse NaN, infinity and numbers beyond all machines: they would only surface later."""
    for what in (
        *("body_pos", "body_quat", "body_mass", "body_inertia", "body_ipos", "body_iquat", "jnt_pos", "jnt_axis", "qpos0", "qpos_spring"),
        *("dof_damping", "dof_armature", "dof_frictionloss", "jnt_stiffness", "key_qpos", "key_qvel", "actuator_gear", "eq_data"),
        *("geom_pos", "geom_size", "mesh_vert"),
    ):
        _check_size(owner or "model", what, getattr(mj, what))
    _check_size(owner or "model", "gravity", mj.opt.gravity)


def _check_size(owner: str, what: str, values: Any) -> None:
    if not np.all(np.abs(np.asarray(values, dtype=float)) <= LARGEST):
        raise ModelError(f"{owner}: {what}: NaN, infinity or a number beyond {LARGEST:g}.")
