"""Joints on velocities: rolling and blades. They own no coordinates and constrain a child that has its own joint (or is free).

    rolling     a wheel (disk of `radius` about `axis`, its axle, fixed in the child) or a ball (axis=None) with its centre at `point` of
                the child rolls on the plane through `anchor` with `normal`, fixed in the parent. The material point of the child at the
                contact has no velocity, relative to the parent, in the two tangential directions. contact=True (the default) also holds
                it on the plane: a constraint on positions, height = 0. contact=False is for a child that other joints keep at this
                height already; with both, the height row would be redundant.
    knife-edge  the point `anchor` of the child does not move, relative to the parent, along `axis`, fixed in the child: the direction
                across the blade. What keeps the child on its plane is another joint.

With n the normal, a the axle, c the centre: contact point x = c - radius e, e = (n - (n.a) a) normalised (ball: n), height n.(x - anchor).
Rows of a rolling joint: `height` (if contact) along n; `heading` along a x n normalised, the way an upright wheel goes when it turns about
+a; `sideways` along n x heading, which is a where the wheel stands upright. A ball has no axle: its heading is fixed in the parent, what is
left across n of the first of the world's x, y, z at the reference that is more than 53 degrees from n. A positive multiplier is a force
along the direction on the child, at the contact.
All places and directions are in world coordinates at the reference configuration.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from dalembert.arrays import Array
from dalembert.errors import ModelError, UnknownNameError
from dalembert.model import kinematics, validate
from dalembert.model.loop_building import Loops
from dalembert.model.loops import Loop, point_in_world, turned_since
from dalembert.model.parts import DRIVEN, WORLD, check_name
from dalembert.model.rotation import rotate

if TYPE_CHECKING:
    from dalembert.model.model import Model

#: kinds of `add_joint` that own no coordinates, and what each takes beside parent, child, anchor and axis
CONSTRAINTS: dict[str, tuple[str, ...]] = {
    "rolling": ("radius", "normal", "point", "contact"),
    "knife-edge": (),
    "distance": ("point", "length"),
    "gear": ("ratio",),
    "homokinetic": (),
    "slot": ("point",),
    "path": ("point",),
    "orientation": (),
}
ON_VELOCITIES = ("rolling", "knife-edge")


@dataclass(frozen=True)
class Nonholonomic:
    """A rolling or knife-edge joint; world coordinates at the reference configuration. Meaning of the fields: model/nonholonomic.py."""

    name: str
    kind: str
    parent: str
    child: str
    anchor: Array
    axis: Array | None
    normal: Array | None = None
    point: Array | None = None
    radius: float | None = None
    contact: bool = False

    @classmethod
    def knife_edge(cls, name: str, parent: str, child: str, anchor: Any, axis: Any) -> Nonholonomic:
        """A blade; what can be checked without the model is checked."""
        owner = f"joint {name!r}"
        if axis is None:
            raise ModelError(f"{owner}: axis is missing; expected the direction across the blade.")
        return cls(name, "knife-edge", parent, child, validate.vector(owner, "anchor", anchor, 3), validate.direction(owner, "axis", axis))

    @classmethod
    def rolling(
        cls, name: str, parent: str, child: str, anchor: Any, axis: Any, radius: Any, normal: Any, point: Any, contact: bool
    ) -> Nonholonomic:
        """A wheel or a ball; what can be checked without the model is checked."""
        owner = f"joint {name!r}"
        if radius is None:
            raise ModelError(f"{owner}: radius is missing; expected that of the wheel or ball.")
        found = cls(
            name,
            "rolling",
            parent,
            child,
            validate.vector(owner, "anchor", anchor, 3),
            None if axis is None else validate.direction(owner, "axis", axis),
            validate.direction(owner, "normal", normal),
            validate.vector(owner, "point", point, 3),
            validate.number(owner, "radius", radius, 0.0, strict=True),
            bool(contact),
        )
        if found.axis is not None and found.normal is not None and np.linalg.norm(np.cross(found.axis, found.normal)) < 1e-6:
            raise ModelError(
                f"{owner}: the axle {found.axis.tolist()} is along the normal of the plane, so the wheel lies flat; expected another "
                f"direction (a ball has axis=None)."
            )
        return found

    def to_dict(self) -> dict[str, Any]:
        """Plain data: arguments of `Model.add_joint`."""
        found = {k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in self.__dict__.items() if v is not None}
        if self.kind != "rolling":
            del found["contact"]
        return found


def height(model: Model, joint: Nonholonomic, found: dict[str, kinematics.Frame]) -> Array:
    """Height of the lowest point of the wheel or ball over the plane, (...)."""
    assert joint.normal is not None and joint.point is not None and joint.radius is not None  # Nonholonomic.rolling
    arm = point_in_world(model, found, joint.child, joint.point) - point_in_world(model, found, joint.parent, joint.anchor)
    normal = joint.normal if joint.parent == WORLD else rotate(turned_since(model, found, joint.parent), joint.normal)
    centre = np.sum(normal * arm, axis=-1)
    if joint.axis is None:
        return np.asarray(centre - joint.radius)
    axle = rotate(turned_since(model, found, joint.child), joint.axis)
    return np.asarray(centre - joint.radius * np.linalg.norm(np.cross(axle, normal), axis=-1))


class Nonholonomics(Loops):
    """The part of `Model` that has to do with joints without coordinates."""

    _nonholonomic: dict[str, Nonholonomic]

    @property
    def nonholonomic(self) -> tuple[Nonholonomic, ...]:
        """Rolling and knife-edge joints in the order in which they were added; they own no coordinates."""
        return tuple(self._nonholonomic.values())

    def loop_errors(self: Any, q: ArrayLike) -> dict[str, Array]:
        """How far each loop is from being closed, {name: (..., rows)}; rows: model/loops.py. Metres, radians, cosines, coordinates.

        A rolling joint that holds its child on the plane has one row: its height.
        """
        q = np.asarray(q, dtype=float)
        out = Loops.loop_errors(self, q)
        rolling = [j for j in self.nonholonomic if j.contact]
        if rolling:
            found = kinematics.frames(self, q)
            out |= {j.name: height(self, j, found)[..., None] for j in rolling}
        return out

    def _constrain(
        self, name: str, kind: str, parent: str, child: str, anchor: Any, axis: Any, acting: dict[str, Any], more: dict[str, Any]
    ) -> Loop | Nonholonomic:
        """The joint of a kind that owns no coordinates."""
        check_name("joint", name)
        given = [what for what, value in acting.items() if value is not None and (what in DRIVEN or np.any(np.asarray(value) != 0))]
        if given:
            raise ModelError(f"joint {name!r}: a {kind} joint has no coordinates of its own, so it takes no {', '.join(given)}.")
        if kind == "gear":
            words = ("compliance", "damping_time", "strength", "torque_strength", "max_force", "max_torque", "force_limits")
            soft = {what: more[what] for what in words if what in more}
            return self.add_loop(name, "coupling", parent, child, polynomial=(0.0, _ratio(name, more)), **soft)
        if kind not in ON_VELOCITIES:
            if kind != "distance":
                more = {"axis": (0, 0, 1) if axis is None else axis, **more}
            return self.add_loop(name, kind, parent, child, anchor, **more)
        return self._add_nonholonomic(name, kind, parent, child, anchor, axis, more)

    def _add_nonholonomic(
        self, name: str, kind: str, parent: str, child: str, anchor: Any, axis: Any, more: dict[str, Any]
    ) -> Nonholonomic:
        for role, body in (("parent", parent), ("child", child)):
            if body not in self._bodies and not (role == "parent" and body == WORLD):
                raise UnknownNameError(f"{role} of joint {name!r}", body, [*self._bodies, *([WORLD] if role == "parent" else [])])
        if parent == child:
            raise ModelError(f"joint {name!r}: parent and child are both {parent!r}.")
        if kind == "knife-edge":
            joint = Nonholonomic.knife_edge(name, parent, child, anchor, axis)
        else:
            centre = more.get("point")
            joint = Nonholonomic.rolling(
                name,
                parent,
                child,
                anchor,
                axis,
                more.get("radius"),
                more.get("normal", (0, 0, 1)),
                self._bodies[child].position if centre is None else centre,
                more.get("contact", True),
            )
        self._give_name(name)
        self._nonholonomic[name] = joint
        return joint


def _ratio(name: str, more: dict[str, Any]) -> float:
    return validate.number(f"joint {name!r}", "ratio", more.get("ratio", 1.0))


def check_more(name: str, kind: str, more: dict[str, Any]) -> None:
    """Refuse arguments that the kind does not take."""
    takes = CONSTRAINTS.get(kind, ())
    for what, value in more.items():
        if what not in takes:
            users = [k for k, words in CONSTRAINTS.items() if what in words]
            if not users:
                raise UnknownNameError(f"argument of {kind} joint {name!r}", what, takes)
            raise ModelError(f"joint {name!r}: {what} is {value!r}, but a {kind} joint takes none; kinds that do: {', '.join(users)}.")
