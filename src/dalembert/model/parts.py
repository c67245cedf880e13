"""Bodies and joints as frozen, validated data."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import ModelError, UnknownNameError
from dalembert.model import drives, validate
from dalembert.model import shapes as shape_module
from dalembert.model.joints import KINDS, JointKind
from dalembert.model.shapes import Shape

WORLD = "world"
DRIVEN = ("drive", "velocity")
#: what bounds motion and force of a joint
BOUNDS = ("max_velocity", "velocity", "force_limits", "drive_limits", "torque_strength", "max_force", "max_torque")
#: left out of data where they are 0 or None
NEVER = ("max_velocity", "force_limits", "drive_limits", "torque_strength", "max_force", "max_torque")


def check_name(what: str, name: Any) -> str:
    """A non-empty string without '/' (names become groups of files)."""
    if not isinstance(name, str) or not name or "/" in name:
        raise ModelError(f"{what}: name is {name!r}; expected a non-empty string without '/'.")
    return name


@dataclass(frozen=True)
class Body:
    """A rigid body: mass (kg), inertia about the centre of mass in body axes (kg m^2), centre of mass in the body frame, reference pose.

    physical: False for data that no distribution of mass has by itself, such as a massless frame between two joints, a point mass, or
    the inertia of an imported file that violates the triangle inequality; what such a body is joined to decides whether it can move.
    particle: a point mass in the origin of the body frame, which no joint to the world turns unless it is given one that does.
    """

    name: str
    mass: float
    inertia: Array
    com: Array
    position: Array
    quaternion: Array
    shapes: tuple[Shape, ...]
    physical: bool = True
    particle: bool = False

    @classmethod
    def build(
        cls, name: str, mass: Any, inertia: Any, com: Any = (0, 0, 0), pose: Any = None, shapes: Any = (), physical: bool = True
    ) -> Body:
        """Check everything that can be checked."""
        check_name("body", name)
        owner = f"body {name!r}"
        if name == WORLD:
            raise ModelError("body 'world': that name belongs to the fixed frame.")
        m = validate.number(owner, "mass", mass, 0.0, strict=physical)
        I = validate.inertia(owner, inertia) if physical else validate.symmetric(owner, "inertia", inertia)
        if not isinstance(shapes, (list, tuple)):
            raise ModelError(f"{owner}: shapes is {shapes!r}; expected a list of shapes, such as [dal.Sphere(0.1)].")
        for s in shapes:
            if not isinstance(s, Shape):
                raise ModelError(f"{owner}: shape {s!r} is not a shape; expected one of {', '.join(shape_module.SHAPES)}.")
        position, quaternion = validate.pose(owner, pose)
        return cls(name, m, I, validate.vector(owner, "com", com, 3), position, quaternion, tuple(shapes), bool(physical))

    @classmethod
    def point(cls, name: str, mass: Any, position: Any = (0, 0, 0), shapes: Any = ()) -> Body:
        """A particle."""
        check_name("particle", name)
        m = validate.number(f"particle {name!r}", "mass", mass, 0.0, strict=True)
        place = validate.vector(f"particle {name!r}", "position", position, 3)
        return replace(cls.build(name, m, (0.0, 0.0, 0.0), (0, 0, 0), (place, (1, 0, 0, 0)), shapes, physical=False), particle=True)

    @property
    def massless(self) -> bool:
        """True for a frame: neither mass nor inertia."""
        return self.mass == 0.0 and not self.inertia.any()

    def to_dict(self) -> dict[str, Any]:
        """Plain data: arguments of `Model.add_body`; of a particle those of `Model.add_particle`, and what tells it."""
        if self.particle:
            shapes = [s.to_dict() for s in self.shapes]
            return {"name": self.name, "mass": self.mass, "position": self.position.tolist(), "shapes": shapes, "particle": True}
        return {
            "name": self.name,
            "mass": self.mass,
            "inertia": self.inertia.tolist(),
            "com": self.com.tolist(),
            "pose": [self.position.tolist(), self.quaternion.tolist()],
            "shapes": [s.to_dict() for s in self.shapes],
            **({} if self.physical else {"physical": False}),
        }


@dataclass(frozen=True)
class Joint:
    """A joint: kind, parent, child; anchor and axes in world coordinates at the reference configuration.

    damping, friction, stiffness and armature act on every degree of freedom alike: joint force -damping v, -stiffness (q - rest) (for a
    spherical joint -stiffness times the rotation vector), friction at most that large, armature added to the diagonal of the mass matrix.
    limits: bounds on q of a joint of one degree of freedom; on the angle of a spherical joint.
    compliance (m/N, rad/(N m)) and damping_time (s): how far the joint gives way under the forces that hold it, and how fast it returns.
    strength (N), torque_strength (N m): the joint breaks where the force or the torque that it hands on is larger; 0: it never does.
    drive: {coordinate: function of time} of coordinates whose motion is prescribed (model/drives.py).
    velocity: {coordinate: function of time} of coordinates whose rate is prescribed; of a ball joint: its spins, child axes.
    max_velocity (m/s, rad/s): no coordinate goes faster; of a ball joint: the length of its spin; of a free joint: the speed of the
    centre of mass. 0: no limit.
    force_limits: (least, greatest) force (N, N m) of every row by which the joint holds; beyond, it gives way.
    drive_limits: the same of what drives its coordinates.
    max_force (N), max_torque (N m): greatest length of the force and of the torque by which it holds, in any direction; 0: no limit.
    """

    name: str
    kind: str
    parent: str
    child: str
    anchor: Array
    axis: Array
    damping: float = 0.0
    friction: float = 0.0
    stiffness: float = 0.0
    armature: float = 0.0
    limits: tuple[float, float] | None = None
    axis2: Array | None = None
    rest: float = 0.0
    compliance: float = 0.0
    damping_time: float = 0.0
    strength: float = 0.0
    drive: dict[int, drives.Drive | drives.TableDrive] | None = None
    torque_strength: float = 0.0
    max_force: float = 0.0
    max_torque: float = 0.0
    max_velocity: float = 0.0
    velocity: dict[int, drives.Drive | drives.TableDrive] | None = None
    force_limits: tuple[float, float] | None = None
    drive_limits: tuple[float, float] | None = None

    @property
    def coordinates(self) -> JointKind:
        """What the kind knows: coordinates, transform, twist."""
        return KINDS[self.kind]

    @property
    def gives_way(self) -> bool:
        """Whether a fixed joint is more than a weld: it bends, yields or breaks."""
        bounded = self.strength > 0.0 or self.torque_strength > 0.0 or self.force_limits is not None
        bounded = bounded or self.max_force > 0.0 or self.max_torque > 0.0
        return bounded or self.compliance > 0.0 or self.damping_time > 0.0

    @classmethod
    def build(
        cls,
        name: str,
        kind: str,
        parent: str,
        child: str,
        anchor: Any,
        axis: Any,
        limits: Any = None,
        axis2: Any = None,
        rest: Any = 0.0,
        drive: Any = None,
        velocity: Any = None,
        force_limits: Any = None,
        drive_limits: Any = None,
        **numbers: Any,
    ) -> Joint:
        """Check everything that can be checked without the model."""
        check_name("joint", name)
        owner = f"joint {name!r}"
        if kind not in KINDS:
            raise UnknownNameError(f"kind of {owner}", kind, KINDS)
        if parent == child:
            raise ModelError(f"{owner}: parent and child are both {parent!r}.")
        first = validate.direction(owner, "axis", axis)
        joint = cls(
            name,
            kind,
            parent,
            child,
            validate.vector(owner, "anchor", anchor, 3),
            first,
            limits=None if limits is None else validate.interval(owner, "limits", limits),
            axis2=second_axis(owner, KINDS[kind], first, axis2),
            rest=validate.number(owner, "rest", rest),
            drive=drives.build(owner, KINDS[kind], drive),
            velocity=drives.build(owner, KINDS[kind], velocity, rates=True),
            force_limits=force_range(owner, "force_limits", force_limits),
            drive_limits=force_range(owner, "drive_limits", drive_limits),
            **{what: validate.number(owner, what, value, 0.0) for what, value in numbers.items()},
        )
        check_kind(owner, joint.coordinates, joint.limits, joint.stiffness, joint.rest)
        check_bounds(owner, joint.kind, joint)
        return joint

    def to_dict(self) -> dict[str, Any]:
        """Plain data: arguments of `Model.add_joint`."""
        vectors = {what: a.tolist() for what in ("anchor", "axis", "axis2") if (a := getattr(self, what)) is not None}
        driven = {w: {str(k): x.to_data() for k, x in d.items()} for w in DRIVEN if (d := getattr(self, w)) is not None}
        plain = {k: x for k, x in self.__dict__.items() if k not in DRIVEN and not (k in NEVER and not x)}
        return {**plain, **vectors, **driven}


def force_range(owner: str, what: str, value: Any) -> tuple[float, float] | None:
    """(least, greatest) force that contains 0, or one number for plus and minus."""
    if value is None:
        return None
    if np.ndim(value) == 0:
        bound = validate.number(owner, what, value, 0.0)
        return -bound, bound
    pair = tuple(float(x) for x in value) if np.ndim(value) == 1 else ()
    if len(pair) != 2 or not pair[0] <= 0.0 <= pair[1]:
        raise ModelError(f"{owner}: {what} are {value!r}; expected (least, greatest), a range that contains 0, or one number >= 0.")
    return pair


def check_bounds(owner: str, kind: str, joint: Any) -> None:
    """Refuse what a joint without rows has no meaning for, bounds of drives where there is none, and two drives of one coordinate."""
    if kind in KINDS and KINDS[kind].absolute:
        for what in BOUNDS[1:]:
            if getattr(joint, what):
                raise ModelError(f"{owner}: {what} is {getattr(joint, what)!r}, but a {kind} joint holds nothing; expected none.")
    if joint.drive_limits is not None and joint.drive is None and joint.velocity is None:
        raise ModelError(f"{owner}: drive_limits are {joint.drive_limits}, but nothing drives it; expected drive or velocity.")
    if joint.force_limits is not None and (joint.max_force > 0.0 or joint.max_torque > 0.0):
        raise ModelError(f"{owner}: force_limits bound every row, max_force and max_torque their length; expected one of them.")
    both = sorted({*(joint.drive or {})} & {*(joint.velocity or {})})
    if both:
        raise ModelError(f"{owner}: drive and velocity both prescribe coordinate {both[0]}; expected one of them.")


def check_kind(owner: str, kind: JointKind, limits: tuple[float, float] | None, stiffness: float, rest: float) -> None:
    """Refuse what the kind has no meaning for."""
    if limits is not None and not kind.limitable:
        able = ", ".join(k.name for k in KINDS.values() if k.limitable)
        raise ModelError(f"{owner}: limits are {limits}, but a {kind.name} joint takes none; kinds that do: {able}.")
    if stiffness > 0 and not kind.elastic:
        raise ModelError(f"{owner}: stiffness is {stiffness}, but a {kind.name} joint takes none; expected 0.")
    if rest != 0 and not kind.has_rest:
        raise ModelError(f"{owner}: rest is {rest}, but a {kind.name} joint rests at its reference configuration; expected 0.")


def second_axis(owner: str, kind: JointKind, axis: Array, value: Any) -> Array | None:
    """The second axis of a joint of that kind, or None where it has none."""
    if value is None:
        if kind.second_axis == "required":
            raise ModelError(f"{owner}: axis2 is missing; a {kind.name} joint has two axes.")
        return None
    if kind.second_axis == "none":
        raise ModelError(f"{owner}: axis2 is {value!r}, but a {kind.name} joint has no second axis.")
    second = validate.direction(owner, "axis2", value)
    if np.linalg.norm(np.cross(axis, second)) < 1e-6:
        raise ModelError(f"{owner}: axis2 {second.tolist()} is parallel to axis {axis.tolist()}; expected another direction.")
    return second


def implicit_joint(name: str, body: Body) -> Joint:
    """The joint of a body that none joins to a parent: free, or of a particle a translation."""
    return Joint.build(name, "translation" if body.particle else "free", WORLD, body.name, body.position, (0, 0, 1))


@dataclass(frozen=True)
class Keyframe:
    """A named state: q, and v (zero unless given)."""

    name: str
    q: Array
    v: Array

    def to_dict(self) -> dict[str, Any]:
        """Plain data: arguments of `Model.add_keyframe`."""
        return {"name": self.name, "q": self.q.tolist(), "v": self.v.tolist()}
