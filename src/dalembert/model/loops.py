"""Loop joints: constraints between bodies that hang on a tree already. They own no coordinates.

A loop says where a point of the child has to be on its parent, and how the child has to be turned. With d the world vector from the anchor
(on the parent) to the point (on the child), a the axis as it is fixed in the parent, t the tilt of the child's axis from it, and w the
rotation vector from the wanted to the actual orientation, the residuals are

    spherical    d                        3       planar      a.d, t                      3
    fixed        d, w                     6       universal   d, a.axis2 - its value      4
    revolute     d, t                     5       distance    |d| - length                1
    prismatic    d across the axis, w     5       coupling    q_child - p(q_parent)       1
    cylindrical  d across, t              4       homokinetic d, a.w                      4
    slot         d across the axis        2       path, orientation   none: where their drives say

with p a polynomial: a coupling joins two joints of one degree of freedom. A whole d is given in world axes. The tilt has two rows, k a.b
for the two directions b across the child's axis c, k = sqrt(2/(1 + a.c)): together 2 sin(angle/2), which is 0 where the axes agree and
nowhere else, least of all where they are opposite (kernels/tree/constraints.py). The one row of a universal joint needs no such care: all
turns that meet it are turns of a universal joint. A
homokinetic joint bends about every direction across its axis and does not twist: both shafts turn at one rate. A slot holds a point on a
line of the parent; in a plane mechanism it is the pin, without the rows that the plane makes redundant.

What moves by itself (lacoursiere2007, 14.11): the point of the child follows a path in the parent, d = (x, y, z)(t) in axes of the parent,
a ball joint whose anchor moves; the child is turned against the parent as a quaternion (w, x, y, z)(t) says, of any length, from where it
stands at the reference configuration (with `turn`: from there). Both are drives, three and four functions, which are known to body
coordinates alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import ModelError, UnknownNameError
from dalembert.kernels.tree.constraint_layout import OPPOSITE
from dalembert.model import drives, kinematics, validate
from dalembert.model import parts as part_module
from dalembert.model.parts import WORLD, Body, check_name
from dalembert.model.rotation import quat_conj, quat_log, quat_mul, rotate

if TYPE_CHECKING:
    from dalembert.model.model import Model

ONE = np.array([1.0, 0.0, 0.0, 0.0])
#: what acts along the free directions of a loop joint and how it gives way, as of a joint of the tree (model/parts.py)
ACTING = (
    "damping", "friction", "stiffness", "limits", "rest", "armature", "max_velocity", "compliance", "damping_time", "strength",
    "torque_strength", "max_force", "max_torque", "force_limits", "drive_limits",
)  # fmt: skip
ON_COORDINATES = ACTING[:7]  # those that a kind without coordinates does not take
RANGES = ("force_limits", "drive_limits")
#: kinds that are drives alone, and the names of their functions
LED = {"path": ("x", "y", "z"), "orientation": ("w", "x", "y", "z")}


@dataclass(frozen=True)
class Loop:
    """A loop joint; all places and directions in world coordinates at the reference configuration.

    anchor: a point of the parent; point: the point of the child that is to meet it (for a distance: to keep its length from it).
    turn: quaternion that takes the child from its reference orientation to the one it is to have there (1: it stands right already).
    A coupling has joints as parent and child: q_child = polynomial[0] + polynomial[1] q_parent + ...; a constant if parent is "world".
    Where these close loops (of a machine cut free: all), it is known to body coordinates alone, and `errors` leaves it out.
    damping, friction, stiffness, limits, rest, armature: as of a joint of the same kind, on the coordinates of model/loop_coordinates.py,
    with angles in (-pi, pi]; kinds that are loops alone have no coordinates and take none. compliance, damping_time, strength: of all kinds
    but couplings, which no force can break. drive, velocity, max_velocity, force_limits, drive_limits, torque_strength,
    max_force, max_torque: as of a joint.
    """

    name: str
    kind: str
    parent: str
    child: str
    anchor: Array
    axis: Array
    axis2: Array | None
    point: Array
    turn: Array
    length: float | None = None
    polynomial: tuple[float, ...] | None = None
    damping: float = 0.0
    friction: float = 0.0
    stiffness: float = 0.0
    limits: tuple[float, float] | None = None
    rest: float = 0.0
    armature: float = 0.0
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

    @classmethod
    def build(
        cls,
        name: str,
        kind: str,
        parent: str,
        child: str,
        anchor: Any = (0, 0, 0),
        axis: Any = (0, 0, 1),
        axis2: Any = None,
        point: Any = None,
        turn: Any = None,
        length: Any = None,
        polynomial: Any = None,
        drive: Any = None,
        velocity: Any = None,
        **acting: Any,
    ) -> Loop:
        """Check everything that can be checked without the model."""
        check_name("loop", name)
        owner = f"loop {name!r}"
        if kind not in RESIDUALS:
            raise UnknownNameError(f"kind of {owner}", kind, RESIDUALS)
        if parent == child:
            raise ModelError(f"{owner}: parent and child are both {parent!r}.")
        for what, value, of in (("length", length, "distance"), ("polynomial", polynomial, "coupling")):
            if value is not None and kind != of:
                raise ModelError(f"{owner}: {what} is {value!r}, but a {kind} loop takes none; kind that does: {of}.")
        first = validate.direction(owner, "axis", axis)
        here = validate.vector(owner, "anchor", anchor, 3)
        there = here if point is None else validate.vector(owner, "point", point, 3)
        loop = cls(
            name,
            kind,
            parent,
            child,
            here,
            first,
            _second_axis(owner, kind, first, axis2),
            there,
            validate.frozen(ONE.copy()) if turn is None else validate.unit_quaternion(owner, "turn", turn),
            drive=_drive(owner, kind, drive),
            velocity=_drive(owner, kind, velocity, rates=True),
            **_acting(owner, kind, acting),
        )
        part_module.check_bounds(owner, kind, loop)
        if kind in LED and loop.force_limits is not None:
            raise ModelError(f"{owner}: force_limits are {loop.force_limits}, but a {kind} is driven; expected drive_limits.")
        if kind == "distance":
            value = np.linalg.norm(there - here) if length is None else length
            object.__setattr__(loop, "length", validate.number(owner, "length", value, 0.0, strict=True))
        if kind == "coupling":
            object.__setattr__(loop, "polynomial", _polynomial(owner, polynomial))
        return loop

    def to_dict(self) -> dict[str, Any]:
        """Plain data: arguments of `Model.add_loop`."""
        given = {k: v for k, v in self.__dict__.items() if v is not None and not (k in ACTING and k not in RANGES and v == 0.0)}
        found = {k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in given.items()}
        for what in part_module.DRIVEN:
            if getattr(self, what) is not None:
                found[what] = {str(k): f.to_data() for k, f in getattr(self, what).items()}
        return {k: list(v) if isinstance(v, tuple) else v for k, v in found.items()}


def _second_axis(owner: str, kind: str, axis: Array, value: Any) -> Array | None:
    if kind in part_module.KINDS:
        return part_module.second_axis(owner, part_module.KINDS[kind], axis, value)
    if value is not None:
        raise ModelError(f"{owner}: axis2 is {value!r}, but a {kind} loop has no second axis.")
    return None


def _acting(owner: str, kind: str, given: dict[str, Any]) -> dict[str, Any]:
    """What acts on a loop, checked as that of a joint of the same kind."""
    for what in given:
        if what not in ACTING:
            raise UnknownNameError(f"argument of {owner}", what, ACTING)
    plain = {w: x for w, x in given.items() if w not in ("limits", *RANGES)}
    found: dict[str, Any] = {w: validate.number(owner, w, x, -np.inf if w == "rest" else 0.0) for w, x in plain.items()}
    found |= {w: part_module.force_range(owner, w, given.get(w)) for w in RANGES}
    limits = None if given.get("limits") is None else validate.interval(owner, "limits", given["limits"])
    wanted = [w for w in ON_COORDINATES if (limits is not None if w == "limits" else found.get(w, 0.0) != 0.0)]
    coordinates = part_module.KINDS.get(kind)
    if wanted and (coordinates is None or coordinates.nv == 0):
        able = ", ".join(k.name for k in part_module.KINDS.values() if k.nv and k.name in RESIDUALS)
        named = ", ".join(wanted)
        raise ModelError(f"{owner}: a {kind} loop has no coordinates of its own, so it takes no {named}; kinds that do: {able}.")
    if coordinates is not None:
        part_module.check_kind(owner, coordinates, limits, found.get("stiffness", 0.0), found.get("rest", 0.0))
    for what in ("strength", "torque_strength", "max_force", "max_torque"):
        if kind == "coupling" and found.get(what, 0.0) > 0.0:
            raise ModelError(f"{owner}: {what} is {found[what]}, but a coupling hands on no force that could break it; expected 0.")
    return {**found, "limits": limits}


def _drive(owner: str, kind: str, given: Any, rates: bool = False) -> dict[int, drives.Drive | drives.TableDrive] | None:
    """What drives the coordinates of a loop joint."""
    if kind in LED and not rates:
        return drives.build_all(owner, kind, LED[kind], given)
    if given is not None and kind not in part_module.KINDS:
        raise ModelError(f"{owner}: a {kind} loop has no coordinates of its own, so it takes no drive.")
    return None if given is None else drives.build(owner, part_module.KINDS[kind], given, rates)


def _polynomial(owner: str, value: Any) -> tuple[float, ...]:
    given = np.atleast_1d((0.0, 1.0) if value is None else value)
    return tuple(validate.vector(owner, "polynomial", given, max(1, given.size)).tolist())


# residuals --------------------------------------------------------------------------------------------------------------------------


class Gap(NamedTuple):
    """State of a loop: d, and the turns of parent and child (world axes) since they stood at the reference, the child as wanted."""

    d: Array
    parent: Array
    child: Array


def _along(d: Array, *directions: Array) -> Array:
    return np.stack([np.sum(d * a, axis=-1) for a in directions], axis=-1)


def across(axis: Array) -> tuple[Array, Array]:
    """Two unit vectors perpendicular to the axis and to each other."""
    b = np.cross(np.eye(3)[np.argmin(np.abs(axis))], axis)
    b /= np.linalg.norm(b)
    return b, np.cross(axis, b)


def shift(loop: Loop, gap: Gap) -> Array:
    return gap.d


def shift_across(loop: Loop, gap: Gap) -> Array:
    return _along(gap.d, *(rotate(gap.parent, b) for b in across(loop.axis)))


def shift_along(loop: Loop, gap: Gap) -> Array:
    return _along(gap.d, rotate(gap.parent, loop.axis))


def turned(loop: Loop, gap: Gap) -> Array:
    return quat_log(quat_mul(quat_conj(gap.parent), gap.child))


def tilted(loop: Loop, gap: Gap) -> Array:
    a = rotate(gap.parent, loop.axis)
    s = 1.0 + _along(a, rotate(gap.child, loop.axis))
    opposite = s < OPPOSITE
    cosines = _along(a, *(rotate(gap.child, b) for b in across(loop.axis)))
    return np.where(opposite, np.sqrt(2.0), np.sqrt(2.0 / np.where(opposite, 1.0, s)) * cosines)


def twist(loop: Loop, gap: Gap) -> Array:
    return _along(turned(loop, gap), loop.axis)


def angle_of_axes(loop: Loop, gap: Gap) -> Array:
    assert loop.axis2 is not None  # a universal loop has one: Loop.build
    return _along(rotate(gap.parent, loop.axis), rotate(gap.child, loop.axis2)) - loop.axis @ loop.axis2


def stretched(loop: Loop, gap: Gap) -> Array:
    return np.linalg.norm(gap.d, axis=-1, keepdims=True) - loop.length


Rows = Callable[[Loop, Gap], Array]
RESIDUALS: dict[str, tuple[Rows, ...]] = {  # a coupling is a matter of q alone
    "spherical": (shift,),
    "fixed": (shift, turned),
    "revolute": (shift, tilted),
    "prismatic": (shift_across, turned),
    "cylindrical": (shift_across, tilted),
    "universal": (shift, angle_of_axes),
    "planar": (shift_along, tilted),
    "homokinetic": (shift, twist),
    "slot": (shift_across,),
    "distance": (stretched,),
    "coupling": (),
    "path": (),
    "orientation": (),
}


def _since(found: dict[str, kinematics.Frame], body: Body, wanted: Array) -> Array:
    """Turn of a body since its reference orientation, turned by `wanted` there."""
    start = quat_conj(quat_mul(wanted, body.quaternion))
    now = found[body.name].quaternion
    return quat_mul(now, np.broadcast_to(start, now.shape))


def point_in_world(model: Model, found: dict[str, kinematics.Frame], body: str, where: Array) -> Array:
    """World position of a point that is given in world coordinates at the reference configuration."""
    if body == WORLD:
        return where
    b = model.body(body)
    return kinematics.point(found, body, rotate(quat_conj(b.quaternion), where - b.position))


def turned_since(model: Model, found: dict[str, kinematics.Frame], body: str) -> Array:
    """Turn of a body since its reference orientation, world axes."""
    return _since(found, model.body(body), ONE)


def errors(model: Model, q: Array) -> dict[str, Array]:
    """Residuals (..., rows) of every loop."""
    found, at = kinematics.frames(model, q), model.q_slices()
    out = {}
    for loop in model.loops:
        if loop.kind == "coupling":
            if loop.child in at:
                out[loop.name] = _uncoupled(loop, q, at)
            continue
        if not RESIDUALS[loop.kind]:
            continue
        d = point_in_world(model, found, loop.child, loop.point) - point_in_world(model, found, loop.parent, loop.anchor)
        child = _since(found, model.body(loop.child), loop.turn)
        parent = np.broadcast_to(ONE, child.shape) if loop.parent == WORLD else _since(found, model.body(loop.parent), ONE)
        gap = Gap(d, parent, child)
        out[loop.name] = np.concatenate([rows(loop, gap) for rows in RESIDUALS[loop.kind]], axis=-1)
    return out


def _uncoupled(loop: Loop, q: Array, at: dict[str, slice]) -> Array:
    follower = q[..., at[loop.child]]
    leader = np.zeros_like(follower) if loop.parent == WORLD else q[..., at[loop.parent]]
    return follower - np.polynomial.polynomial.polyval(leader, np.array(loop.polynomial))
