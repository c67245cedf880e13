"""Shapes: frozen data for pictures, collision detection and inertia. Lengths in m; each is centred at its pose in the body frame."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import ModelError
from dalembert.model import validate
from dalembert.model.packing import packed, unpacked


@dataclass(frozen=True, kw_only=True)
class Shape:
    """What all shapes share: where they sit in the body frame, and what they are made of.

    friction: Coulomb coefficient; restitution: 0 (no bounce) to 1; torsion, rolling (m): torques about the normal and against rolling, per
    normal force; collide: False for a shape that is there for pictures alone; extra:
    contact parameters of an imported file, as plain data.
    """

    position: Any = (0.0, 0.0, 0.0)
    quaternion: Any = (1.0, 0.0, 0.0, 0.0)
    friction: float = 1.0
    restitution: float = 0.0
    torsion: float = 0.0
    rolling: float = 0.0
    collide: bool = True
    extra: dict[str, Any] = field(default_factory=dict, hash=False, repr=False)
    kind: ClassVar[str] = "shape"

    def __post_init__(self) -> None:
        set_ = object.__setattr__
        set_(self, "position", tuple(validate.vector(self.kind, "position", self.position, 3).tolist()))
        set_(self, "quaternion", tuple(validate.unit_quaternion(self.kind, "quaternion", self.quaternion).tolist()))
        for what in ("friction", "restitution", "torsion", "rolling"):
            set_(self, what, validate.number(self.kind, what, getattr(self, what), 0.0))
        if self.restitution > 1.0:
            raise ModelError(f"{self.kind}: restitution is {self.restitution}; expected a number from 0 to 1.")
        if not isinstance(self.collide, (bool, np.bool_)):
            raise ModelError(f"{self.kind}: collide is {self.collide!r}; expected True, or False for a shape for pictures alone.")
        set_(self, "collide", bool(self.collide))
        if not isinstance(self.extra, dict):
            raise ModelError(f"{self.kind}: extra is {self.extra!r}; expected a dict.")
        set_(self, "extra", validate.plain(self.kind, "extra", self.extra))

    def _length(self, name: str) -> None:
        object.__setattr__(self, name, validate.number(self.kind, name, getattr(self, name), 0.0, strict=True))

    def for_pictures(self) -> Shape:
        """The same shape, which collides with nothing."""
        other = copy.copy(self)  # replace() would check all points of a mesh again
        object.__setattr__(other, "collide", False)
        return other

    def fields(self) -> dict[str, Any]:
        """What it was made of, by name."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        own = {k: x for k, x in self.fields().items() if k not in ("torsion", "rolling") or x != 0.0}
        return {"kind": self.kind, **own, "extra": validate.plain(self.kind, "extra", self.extra)}


@dataclass(frozen=True)
class Sphere(Shape):
    """Ball of a radius."""

    radius: float
    kind: ClassVar[str] = "sphere"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._length("radius")

    def inertia(self, mass: float) -> Array:
        """Principal moments of the solid body about its centre: 2/5 m r^2."""
        return np.full(3, 0.4 * mass * self.radius**2)


@dataclass(frozen=True)
class Box(Shape):
    """Cuboid of full edge lengths."""

    size: Any
    kind: ClassVar[str] = "box"

    def __post_init__(self) -> None:
        super().__post_init__()
        size = validate.vector("box", "size", self.size, 3)
        if size.min() <= 0:
            raise ModelError(f"box: size is {size.tolist()}; expected three positive edge lengths.")
        object.__setattr__(self, "size", tuple(size.tolist()))

    def inertia(self, mass: float) -> Array:
        """m/12 (b^2 + c^2, a^2 + c^2, a^2 + b^2)."""
        s = np.square(self.size)
        return mass / 12.0 * (s.sum() - s)


@dataclass(frozen=True)
class Cylinder(Shape):
    """Cylinder of a radius and a full length along z."""

    radius: float
    length: float
    kind: ClassVar[str] = "cylinder"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._length("radius")
        self._length("length")

    def inertia(self, mass: float) -> Array:
        """m (r^2/4 + l^2/12) across, m r^2/2 along."""
        across = mass * (self.radius**2 / 4 + self.length**2 / 12)
        return np.array([across, across, mass * self.radius**2 / 2])


@dataclass(frozen=True)
class Capsule(Cylinder):
    """Cylinder along z with two half balls; `length` is that of the cylinder alone."""

    kind: ClassVar[str] = "capsule"

    def inertia(self, mass: float) -> Array:
        """Solid cylinder and two half balls, by the parallel-axis theorem."""
        r, l = self.radius, self.length
        density = mass / (np.pi * r**2 * l + 4 / 3 * np.pi * r**3)
        m_c, m_s = density * np.pi * r**2 * l, density * 4 / 3 * np.pi * r**3
        across = m_c * (r**2 / 4 + l**2 / 12) + m_s * (2 / 5 * r**2 + l**2 / 4 + 3 / 8 * l * r)
        return np.array([across, across, m_c * r**2 / 2 + 2 / 5 * m_s * r**2])


@dataclass(frozen=True)
class Ellipsoid(Shape):
    """Ellipsoid of three radii."""

    radii: Any
    kind: ClassVar[str] = "ellipsoid"

    def __post_init__(self) -> None:
        super().__post_init__()
        radii = validate.vector("ellipsoid", "radii", self.radii, 3)
        if radii.min() <= 0:
            raise ModelError(f"ellipsoid: radii are {radii.tolist()}; expected three positive lengths.")
        object.__setattr__(self, "radii", tuple(radii.tolist()))

    def inertia(self, mass: float) -> Array:
        """m/5 (b^2 + c^2, a^2 + c^2, a^2 + b^2)."""
        s = np.square(self.radii)
        return mass / 5.0 * (s.sum() - s)


@dataclass(frozen=True)
class Plane(Shape):
    """Half space below the x-y plane of its pose; of the world only."""

    kind: ClassVar[str] = "plane"


@dataclass(frozen=True)
class Convex(Shape):
    """Convex hull of points (n, 3)."""

    points: Any = field(repr=False)
    kind: ClassVar[str] = "convex"

    def __post_init__(self) -> None:
        super().__post_init__()
        try:
            points = np.array(self.points, dtype=float)
        except (TypeError, ValueError):
            raise ModelError(f"{self.kind}: points are {self.points!r}; expected at least four finite points (n, 3).") from None
        if points.ndim != 2 or points.shape[1] != 3 or len(points) < 4 or not np.isfinite(points).all():
            raise ModelError(f"{self.kind}: points have shape {points.shape}; expected at least four finite points (n, 3).")
        object.__setattr__(self, "points", tuple(map(tuple, points.tolist())))


@dataclass(frozen=True)
class Mesh(Convex):
    """Triangles between points; `triangles` are rows of three indices."""

    triangles: Any = field(repr=False)
    kind: ClassVar[str] = "mesh"

    def __post_init__(self) -> None:
        super().__post_init__()
        try:
            t = np.array(self.triangles)
        except ValueError:  # rows that differ in length
            t = np.zeros(0)
        if t.ndim != 2 or t.shape[1] != 3 or t.dtype.kind not in "iu" or t.min() < 0 or t.max() >= len(self.points):
            raise ModelError(f"mesh: triangles have shape {t.shape}; expected rows of three indices of the {len(self.points)} points.")
        object.__setattr__(self, "triangles", tuple(map(tuple, t.tolist())))

    @cached_property
    def _short(self) -> dict[str, Any] | None:
        """Points and triangles for files (model/packing.py), made once; None where they stay as they are."""
        return packed(self.points, self.triangles)

    def to_dict(self) -> dict[str, Any]:
        """Plain data; large meshes in short."""
        data, short = super().to_dict(), self._short
        return data if short is None else {**{k: x for k, x in data.items() if k not in ("points", "triangles")}, "packed": short}


@dataclass(frozen=True)
class HeightField(Shape):
    """Ground of given heights (rows along y, columns along x, two or more) over a rectangle of full lengths (x, y); of the world only.

    heights[0][0] is at (-x/2, -y/2), heights[-1][-1] at (x/2, y/2), linear between. depth: solid ground so far below z = 0, or below the
    lowest height where that is deeper.
    """

    heights: Any = field(repr=False)
    size: Any
    depth: float = 1.0
    kind: ClassVar[str] = "height-field"

    def __post_init__(self) -> None:
        super().__post_init__()
        try:
            heights, size = np.array(self.heights, dtype=float), validate.vector(self.kind, "size", self.size, 2)
        except (TypeError, ValueError) as error:
            raise ModelError(f"{self.kind}: heights are no rows of numbers ({error}).") from None
        if heights.ndim != 2 or min(heights.shape) < 2 or not np.isfinite(heights).all():
            raise ModelError(f"{self.kind}: heights have shape {heights.shape}; expected at least two finite rows and columns.")
        if size.min() <= 0:
            raise ModelError(f"{self.kind}: size is {size.tolist()}; expected two positive lengths (x, y).")
        object.__setattr__(self, "heights", tuple(map(tuple, heights.tolist())))
        object.__setattr__(self, "size", tuple(size.tolist()))
        self._length("depth")

    def surface(self) -> tuple[Array, Array]:
        """(points (n, 3), triangles (m, 3)) of the ground, seen from above counter-clockwise."""
        z = np.array(self.heights)
        rows, columns = z.shape
        x, y = (np.linspace(-0.5 * length, 0.5 * length, n) for length, n in zip(self.size, (columns, rows), strict=True))
        points = np.stack([*np.meshgrid(x, y), z], axis=-1).reshape(-1, 3)
        corner = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)).ravel()
        first = np.stack([corner, corner + 1, corner + columns + 1], axis=-1)
        second = np.stack([corner, corner + columns + 1, corner + columns], axis=-1)
        return points, np.concatenate([first, second])


SHAPES: dict[str, type[Shape]] = {s.kind: s for s in (Sphere, Box, Cylinder, Capsule, Ellipsoid, Plane, Convex, Mesh, HeightField)}


def from_dict(data: dict[str, Any]) -> Shape:
    """The shape that `to_dict` wrote."""
    rest = dict(data)
    if "packed" in rest:
        rest["points"], rest["triangles"] = unpacked(rest.pop("packed"))
    return SHAPES[rest.pop("kind")](**rest)
