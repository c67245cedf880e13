"""A spring and damper along the line between a point of a body and a point of another body or of the world.

    d = |x_b - x_a|,  n = (x_b - x_a)/d,  tension T = stiffness (d - rest_length) + damping d_dot,  force T n on a and -T n on b
    energy stiffness (d - rest_length)^2/2,   power of the damper -damping d_dot^2

At d = 0 the line has no direction and there is no force: for rest_length = 0 that is the limit of the elastic force, for rest_length > 0
the unstable equilibrium of a compressed spring. Newton's method knows the derivative of T by way of the row dd/dq, not that of n.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import ModelError
from dalembert.kernels._fields import Part
from dalembert.kernels._jit import inline, slotted
from dalembert.kernels.smallmat import dot, load3, scale, sub
from dalembert.kernels.tree.layout import NV
from dalembert.kernels.tree.load_layout import (
    APPLY_SIGNATURE,
    ENERGY_SIGNATURE,
    LINK,
    LINK_B,
    POWER_SIGNATURE,
    ROW_DAMPING,
    ROW_SIGNATURE,
    ROW_STIFFNESS,
    load_record,
)
from dalembert.kernels.tree.loads import add_wrench, point_in_world, point_velocity, push, to_link
from dalembert.model.forces._base import Force, Kernels, Load, Push, Slide, Where, acts_on, at_point, number, register
from dalembert.model.parts import WORLD
from dalembert.model.rotation import quat_conj, rotate
from dalembert.model.twists import turns

RECORD, (POINT, POINT_B, LENGTH, SIZE) = load_record(
    Part("point", 3, "of the link"), Part("point_b", 3, "of the other link, or of the world"), Part("length", 1, "of rest")
)
NOTHING = (0.0, 0.0, 0.0)


@inline
def line(system, work, at):
    """(links, world positions of the ends, distance, vector from the first to the second)."""
    i, j = int(system[at + LINK]), int(system[at + LINK_B])
    a, b = point_in_world(work, i, load3(system, at + POINT)), point_in_world(work, j, load3(system, at + POINT_B))
    d = sub(b, a)
    return i, j, a, b, math.sqrt(dot(d, d)), d


@inline
def rate_of(system, work, at, i, j, e):
    """Rate of the length along the unit vector e; twists are known."""
    return dot(e, sub(point_velocity(work, j, load3(system, at + POINT_B)), point_velocity(work, i, load3(system, at + POINT))))


@slotted(APPLY_SIGNATURE)
def apply(system, work, first, last):
    """The tension on both ends."""
    for at in range(first, last, SIZE):
        i, j, _, _, length, d = line(system, work, at)
        if length > 0.0:
            e = scale(1.0 / length, d)
            rate = rate_of(system, work, at, i, j, e)
            tension = system[at + ROW_STIFFNESS] * (length - system[at + LENGTH]) + system[at + ROW_DAMPING] * rate
            push(work, i, load3(system, at + POINT), to_link(work, i, scale(tension, e)), NOTHING)
            if j >= 0:
                push(work, j, load3(system, at + POINT_B), to_link(work, j, scale(-tension, e)), NOTHING)


@slotted(ENERGY_SIGNATURE)
def energy(system, work, first, last):
    """k (d - l)^2 / 2"""
    total = 0.0
    for at in range(first, last, SIZE):
        _, _, _, _, length, _ = line(system, work, at)
        total += 0.5 * system[at + ROW_STIFFNESS] * (length - system[at + LENGTH]) ** 2
    return total


@slotted(POWER_SIGNATURE)
def power(system, work, first, last):
    """-c d_dot^2"""
    total = 0.0
    for at in range(first, last, SIZE):
        if system[at + ROW_DAMPING] != 0.0:
            i, j, _, _, length, d = line(system, work, at)
            if length > 0.0:
                total -= system[at + ROW_DAMPING] * rate_of(system, work, at, i, j, scale(1.0 / length, d)) ** 2
    return total


@slotted(ROW_SIGNATURE)
def row(system, work, first, last, out):
    """The derivative of the length; 0 where it has none."""
    for at in range(first, last, SIZE):
        i, j, a, b, length, d = line(system, work, at)
        if length > 0.0:
            e = scale(1.0 / length, d)
            add_wrench(system, work, j, 1.0, e, NOTHING, b, out)
            add_wrench(system, work, i, -1.0, e, NOTHING, a, out)
        out += int(system[NV])


@register
@dataclass(frozen=True)
class Spring(Force):
    """A spring and damper along the line between a point of a body and a point of another body or of the world.

    d = |x_b - x_a|,  n = (x_b - x_a)/d,  tension T = stiffness (d - rest_length) + damping d_dot,  force T n on a and -T n on b
    energy stiffness (d - rest_length)^2/2
    At d = 0 the line has no direction and there is no force: for rest_length = 0 that is the limit of the elastic force, for
    rest_length > 0 the unstable equilibrium of a compressed spring.
    Points are in the frames of their bodies (those of the world in world coordinates). N/m, m, N s/m.
    """

    body_a: str = acts_on()
    body_b: str = acts_on(world=True)
    point_a: Any = at_point()
    point_b: Any = at_point()
    stiffness: float = number(units="N/m", least=0.0)
    rest_length: float = number(units="m", least=0.0)
    damping: float = number(units="N s/m", least=0.0)
    kind: ClassVar[str] = "spring"
    kernels: ClassVar[Kernels] = Kernels(apply, energy, power, row=row)
    record: ClassVar[Any] = RECORD
    account: ClassVar[str] = "damping"
    drives: ClassVar[bool] = False
    proved: ClassVar[bool] = True

    def check(self) -> None:
        """Ends on two bodies, or a body and the world, and something between them."""
        if not (isinstance(self.body_a, str) and isinstance(self.body_b, str)):
            raise ModelError(f"{self.owner}: its ends are {self.body_a!r} and {self.body_b!r}; expected names of bodies.")
        if self.body_a == WORLD:
            raise ModelError(f"{self.owner}: body_a is the world; expected a body (the world may be body_b).")
        if self.body_a == self.body_b:
            raise ModelError(f"{self.owner}: both ends are on one body; expected two bodies, or a body and 'world'.")
        if self.stiffness == 0.0 and self.damping == 0.0:
            raise ModelError(f"{self.owner}: stiffness and damping are both 0; expected at least one > 0.")

    @property
    def features(self) -> set[str]:
        """The spring, and its damping."""
        return {self.feature, "damping"} if self.damping > 0.0 else {self.feature}

    def without(self, feature: str) -> Force | None:
        """Without its damping it is a spring still, if it was one."""
        if feature != "damping" or self.damping == 0.0:
            return super().without(feature)
        return replace(self, damping=0.0) if self.stiffness > 0.0 else None

    def loads(self, places: Mapping[str, Any], model: Any) -> list[Load]:
        """One record, the first end on a link."""
        ends = [(places[self.body_a], self.point_a), (places[self.body_b], self.point_b)]
        if ends[0][0].link < 0:
            ends.reverse()
        (first, x), (second, y) = ends
        if first.link < 0:
            return []
        own = {"point": first.at(x), "point_b": second.at(y), "length": self.rest_length}
        return [self.load((first.link, second.link), row=(self.stiffness, self.damping), **own)]

    def potential(self, x_a: Array, x_b: Array) -> Array:
        """stiffness (d - rest_length)^2/2 from the world positions of the ends, (..., 3)."""
        return 0.5 * self.stiffness * (np.linalg.norm(x_b - x_a, axis=-1) - self.rest_length) ** 2

    def force(self, x_a: Array, x_b: Array, v_a: Array, v_b: Array) -> Array:
        """Force on end a in world axes from the world positions and velocities of the ends; on end b it is the opposite."""
        line = x_b - x_a
        d = np.linalg.norm(line, axis=-1, keepdims=True)
        n = line / np.where(d > 0.0, d, 1.0)
        rate = np.sum(n * (v_b - v_a), axis=-1, keepdims=True)
        return (self.stiffness * (d - self.rest_length) + self.damping * rate) * n

    def stored(self, where: Where) -> Array:
        """The potential of its ends."""
        return self.potential(where(self.body_a, self.point_a), where(self.body_b, self.point_b))

    def kept(self, fixed: set[str], where: Where) -> Array | None:
        """Of a spring to the world the rotations about its end there; of one between bodies all motions."""
        if (self.body_a in fixed) == (self.body_b in fixed):
            return None
        return turns(where(self.body_a, self.point_a) if self.body_a in fixed else where(self.body_b, self.point_b))

    def _ends(self, found: Mapping[str, Any]) -> list[tuple[str, Array, Array]]:
        """(name, point, world position) of both ends."""
        ends = [(name, np.asarray(x, dtype=float)) for name, x in ((self.body_a, self.point_a), (self.body_b, self.point_b))]
        return [(name, x, x if name == WORLD else found[name].position + rotate(found[name].quaternion, x)) for name, x in ends]

    def pushes(self, model: Any, found: Mapping[str, Any]) -> list[Push]:
        """The elastic force on both ends."""
        ends = self._ends(found)
        pull = self.force(ends[0][2], ends[1][2], np.zeros(3), np.zeros(3))
        back = [(name, x, F) for (name, x, _), F in zip(ends, (pull, -pull), strict=True) if name != WORLD]
        return [Push(name, x, rotate(quat_conj(found[name].quaternion), F), np.zeros(3)) for name, x, F in back]

    def slides(self, model: Any, found: Mapping[str, Any]) -> list[tuple[float, list[Slide]]]:
        """The rate of the length."""
        ends = self._ends(found)
        along = ends[1][2] - ends[0][2]
        d = np.linalg.norm(along, axis=-1, keepdims=True)
        n, out = along / np.where(d > 0.0, d, 1.0), []
        for (name, x, _), sign in zip(ends, (-1.0, 1.0), strict=True):
            if name != WORLD:
                move = sign * rotate(quat_conj(found[name].quaternion), n)[..., None, :]
                out.append(Slide(name, x, np.zeros((1, 3)), move))
        return [(self.damping, out)] if self.damping > 0.0 else []
