"""Bodies and joints as frozen, validated data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dalembert.errors import ModelError, UnknownNameError
from dalembert.model import shapes as shape_module
from dalembert.model import validate
from dalembert.model.joints import KINDS, JointKind
from dalembert.model.rotation import Array
from dalembert.model.shapes import Shape

WORLD = "world"


def check_name(what: str, name: Any) -> str:
    """A non-empty string without '/' (names become groups of files)."""
    if not isinstance(name, str) or not name or "/" in name:
        raise ModelError(f"{what}: name is {name!r}; expected a non-empty string without '/'.")
    return name


@dataclass(frozen=True)
class Body:
    """A rigid body: mass (kg), inertia about the centre of mass in body axes (kg m^2), centre of mass in the body frame, reference pose."""

    name: str
    mass: float
    inertia: Array
    com: Array
    position: Array
    quaternion: Array
    shapes: tuple[Shape, ...]

    @classmethod
    def build(cls, name: str, mass: Any, inertia: Any, com: Any = (0, 0, 0), pose: Any = None, shapes: Any = ()) -> Body:
        """Check everything that can be checked."""
        check_name("body", name)
        owner = f"body {name!r}"
        if name == WORLD:
            raise ModelError("body 'world': that name belongs to the fixed frame.")
        m = validate.number(owner, "mass", mass, 0.0, strict=True)
        for s in shapes:
            if not isinstance(s, Shape):
                raise ModelError(f"{owner}: shape {s!r} is not a shape; expected one of {', '.join(shape_module.SHAPES)}.")
        position, quaternion = validate.pose(owner, pose)
        return cls(name, m, validate.inertia(owner, inertia), validate.vector(owner, "com", com, 3), position, quaternion, tuple(shapes))

    def to_dict(self) -> dict[str, Any]:
        """Plain data: arguments of `Model.add_body`."""
        return {
            "name": self.name,
            "mass": self.mass,
            "inertia": self.inertia.tolist(),
            "com": self.com.tolist(),
            "pose": [self.position.tolist(), self.quaternion.tolist()],
            "shapes": [s.to_dict() for s in self.shapes],
        }


@dataclass(frozen=True)
class Joint:
    """A joint: kind, parent, child; anchor and axis in world coordinates at the reference configuration."""

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

    @property
    def coordinates(self) -> JointKind:
        """What the kind knows: coordinates, transform, twist."""
        return KINDS[self.kind]

    @classmethod
    def build(cls, name: str, kind: str, parent: str, child: str, anchor: Any, axis: Any, limits: Any, **numbers: Any) -> Joint:
        """Check everything that can be checked without the model."""
        check_name("joint", name)
        owner = f"joint {name!r}"
        if kind not in KINDS:
            raise UnknownNameError(f"kind of {owner}", kind, KINDS)
        if parent == child:
            raise ModelError(f"{owner}: parent and child are both {parent!r}.")
        a = validate.vector(owner, "axis", axis, 3)
        length = float(np.linalg.norm(a))
        if length < 1e-12:
            raise ModelError(f"{owner}: axis is {a.tolist()}; expected a direction.")
        checked = {what: validate.number(owner, what, value, 0.0) for what, value in numbers.items()}
        if limits is not None:
            low, high = validate.vector(owner, "limits", limits, 2)
            if not low < high:
                raise ModelError(f"{owner}: limits are ({low}, {high}); expected lower < upper.")
            limits = (float(low), float(high))
        return cls(
            name, kind, parent, child, validate.vector(owner, "anchor", anchor, 3), validate.frozen(a / length), limits=limits, **checked
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain data: arguments of `Model.add_joint`."""
        return {**self.__dict__, "anchor": self.anchor.tolist(), "axis": self.axis.tolist()}
