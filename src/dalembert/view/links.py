"""What a machine looks like: the shapes of its bodies, and tapered rods between joints for bodies that have none.

A body without shapes is drawn from the joint that carries it

    to each joint (or loop) that it carries, unless only massless frames hang there;
    if it carries none, through its centre of mass to the end of a rod with the same second moment along that line, where it is slender;
    else to its centre of mass, where the ball, cylinder or box with its mass and inertia sits.

A link of a URDF file without shapes, fixed to one that has some, is not drawn: a sole, the frame of a sensor.
A drum marks a hinge, a ball a ball joint. A massless frame at the end of a chain is not drawn. Free bodies are drawn by their inertia.
"""

from __future__ import annotations

from itertools import repeat
from typing import NamedTuple

import numpy as np

from dalembert.arrays import Array
from dalembert.model import Body, Model
from dalembert.model.parts import WORLD, Joint
from dalembert.model.rotation import matrix, quat_conj, rotate
from dalembert.view.seen import Colour, colour_given, seen
from dalembert.view.solids import DRAW, Solid, ball, equivalent_solid, hinge, second_moments, solids_of_body, tapered

THICK, THIN = 0.04, 0.024  # radii of a rod at its two ends, of the extent of the machine
SLENDER = 0.35  # a body is drawn as a rod if it is not wider than this part of its length
BULK = 0.4  # most of the machine's extent that the inertia of one of several bodies may fill in the picture
HINGES = ("revolute", "cylindrical", "universal")
BASE, DARK, LIGHT = 0, 1, 2  # shades of the colour of a body


class Piece(NamedTuple):
    """A solid of a body (by its number), which shade of the body's colour it has, and the colour that a file gives it instead."""

    body: int
    solid: Solid
    shade: int
    given: Colour | None = None


def pieces_of(model: Model, detail: int = 1) -> list[Piece]:
    """Everything that is drawn, in the frames of the bodies; detail: how many times finer round pieces are."""
    sketch = _Sketch(model, detail)
    given = [[colour_given(s) for s in seen(body.shapes) if s.kind in DRAW] or repeat(None) for body in model.bodies]
    return [
        Piece(i, solid, shade, own)
        for i, body in enumerate(model.bodies)
        for (solid, shade), own in zip(sketch.draw(body), given[i], strict=False)
    ]


def still_bodies(model: Model) -> set[str]:
    """Bodies that cannot move: fixed to the world, or to such a body."""
    out = {WORLD}
    while more := {j.child for j in model.joints if j.kind == "fixed" and j.parent in out} - out:
        out |= more
    return out - {WORLD}


def groups_of(model: Model) -> list[int]:
    """For each body a number that bodies which are fixed to each other share, counted over bodies with mass or shape."""
    above = {j.child: j for j in model.joints}
    number: dict[str, int] = {}
    roots = []
    for body in model.bodies:
        root = body.name
        while above[root].kind == "fixed" and above[root].parent != WORLD:
            root = above[root].parent
        roots.append(root)
        if not body.massless or body.shapes:
            number.setdefault(root, len(number))
    return [number.get(root, 0) for root in roots]


class _Sketch:
    """Joints above and below each body, and the size of the machine."""

    def __init__(self, model: Model, detail: int = 1):
        self.detail = detail
        self.above = {j.child: j for j in model.joints}
        self.below: dict[str, list[Joint]] = {b.name: [] for b in model.bodies}
        holding = [j for j in model.joints if _is_solid(model, j.child)]
        for j in holding:
            if j.parent != WORLD:
                self.below[j.parent].append(j)
        self.ties: dict[str, list[Array]] = {b.name: [] for b in model.bodies}
        for loop in model.loops:
            for body, place in ((loop.parent, loop.anchor), (loop.child, loop.point)):
                if loop.kind != "coupling" and body in self.ties:
                    self.ties[body].append(place)
        self.single = len(model.bodies) == 1
        self.shaped = {b.name for b in model.bodies if b.shapes} if model.source.get("format") == "urdf" else set()
        points = [b.position + rotate(b.quaternion, b.com) for b in model.bodies if not b.massless]
        points += [j.anchor for j in holding if not j.coordinates.absolute] + [x for places in self.ties.values() for x in places]
        self.extent = float(np.ptp(points, axis=0).max()) if points else 0.0

    def draw(self, body: Body) -> list[tuple[Solid, int]]:
        """Solids of one body with their shades."""
        found = solids_of_body(body, self.detail)
        if found:
            return list(zip(found, _shades(body), strict=True))
        joint = self.above[body.name]
        if self._is_part(joint):
            return []
        ends = [_in(body, x) for x in [*(j.anchor for j in self.below[body.name]), *self.ties[body.name]]]
        if joint.coordinates.absolute:
            return self._free(body, ends)
        here = _in(body, joint.anchor)
        ends = [end for end in ends if np.linalg.norm(end - here) > 1e-3 * self.extent]
        rods = [(self._rod(here, end), BASE) for end in ends] or self._last(body, here)
        length = max(float(np.linalg.norm(end - here)) for end in [*ends, body.com])
        return rods + self._mark(body, joint, here, length) if rods else []

    def _is_part(self, joint: Joint) -> bool:
        """Whether fixed joints lead to a body with shapes."""
        while joint.kind == "fixed" and joint.parent != WORLD:
            if joint.parent in self.shaped:
                return True
            joint = self.above[joint.parent]
        return False

    def _free(self, body: Body, ends: list[Array]) -> list[tuple[Solid, int]]:
        """A floating body by its inertia, with rods to what it carries."""
        rods = [(self._rod(body.com, end), DARK) for end in ends if np.linalg.norm(end - body.com) > 1e-3 * self.extent]
        return rods if body.massless else [(self._bulk(body), BASE), *rods]

    def _last(self, body: Body, here: Array) -> list[tuple[Solid, int]]:
        """A body that carries nothing: a rod through its centre of mass, or its inertia at the end of an arm."""
        if body.massless:
            return []
        arm = body.com - here
        length = float(np.linalg.norm(arm))
        s, axes = second_moments(body)
        if length < 1e-3 * max(self.extent, np.sqrt(s[2])) or length == 0.0:
            return [(self._bulk(body), BASE)]
        along = float(np.sqrt(3.0 * (arm / length @ axes) ** 2 @ s))
        wide = float(np.sqrt(3.0 * max(s.sum() - along**2 / 3.0, 0.0) / 2.0))
        if wide < SLENDER * (length + along):
            end = here + arm * (1.0 + along / length)
            bob = [(ball(body.com, 2.2 * self._radius(length), self.detail), BASE)] if along < 0.2 * length else []
            return [(self._rod(here, end), BASE), *bob]
        return [(self._rod(here, body.com), DARK), (self._bulk(body), BASE)]

    def _bulk(self, body: Body) -> Solid:
        solid = equivalent_solid(body, self.detail)
        size = float(np.ptp(solid.faces.reshape(-1, 3), axis=0).max())
        if self.single or not self.extent > 0.0 or size <= BULK * self.extent:
            return solid
        return solid.moved(BULK * self.extent / size * np.eye(3), (1.0 - BULK * self.extent / size) * body.com)

    def _rod(self, start: Array, end: Array) -> Solid:
        r = self._radius(float(np.linalg.norm(end - start)))
        return tapered(start, end, r, r * THIN / THICK, self.detail)

    def _radius(self, length: float) -> float:
        """That of the thick end; short links are thinner."""
        return min(THICK * max(self.extent, length), 0.3 * length)

    def _mark(self, body: Body, joint: Joint, here: Array, length: float) -> list[tuple[Solid, int]]:
        """The joint that carries a body, a third thicker than its rods."""
        size = max(self.extent, length) or float(np.sqrt(second_moments(body)[0][2]))  # a wheel about its centre
        r = 1.35 * THICK * size
        if not r > 0.0:
            return []
        if joint.kind in HINGES:
            return [(hinge(here, matrix(body.quaternion).T @ joint.axis, r, 2.4 * r, self.detail), DARK)]
        return [(ball(here, r, self.detail), DARK)] if joint.kind == "spherical" else []


def _is_solid(model: Model, name: str) -> bool:
    """Whether a body, or anything that it carries, has mass or a shape."""
    body = model.body(name)
    return not body.massless or bool(body.shapes) or any(_is_solid(model, j.child) for j in model.joints if j.parent == name)


def _in(body: Body, place: Array) -> Array:
    return rotate(quat_conj(body.quaternion), place - body.position)


def _shades(body: Body) -> list[int]:
    """The body's colour, then a darker and a lighter one for its further shapes; equal shapes have equal colours."""
    drawn = [s for s in seen(body.shapes) if s.kind != "plane"]
    looks = [(s.kind, {k: v for k, v in s.fields().items() if k not in ("position", "quaternion")}) for s in drawn]
    different = [look for i, look in enumerate(looks) if look not in looks[:i]]
    return [different.index(look) % 3 for look in looks]
