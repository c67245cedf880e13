"""Charts: how each primitive joint moves, as CasADi expressions.

The kernels of `kernels/tree/variational/retraction.py` once more, as formulas: with them the discrete Lagrangian of a tree is an
expression, and its derivatives are the discrete equations.

    retract(q, x)       q tau(x)                                          x = h v
    middle(q, x)        q E(x), half of the motion: E E = tau
    lift(a, b)          x with a tau(x) = b
    left(x, l)          dtau_x^-T l                                       from dL/dv to the momentum at the first node
    right(x, p)         Ad_tau(x)^T p                                     from there to the second node
    share(x, f)         (1 + Ad_E)^-T f                                   part of a force at the middle that acts on the first node

tau is the Cayley map, w of a rotation by 2 atan(|w|/2); quaternions are raw: q times a unit quaternion keeps its norm.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca

from dalembert.kernels.tree import layout as at


def product(p: Any, q: Any) -> Any:
    """Of quaternions."""
    s, x = p[0], p[1:4]
    return ca.vertcat(s * q[0] - ca.dot(x, q[1:4]), s * q[1:4] + q[0] * x + ca.cross(x, q[1:4]))


def conjugate(q: Any) -> Any:
    """Of a quaternion."""
    return ca.vertcat(q[0], -q[1:4])


def matrix(q: Any) -> Any:
    """R of a unit quaternion."""
    s, x, y, z = (q[i] for i in range(4))
    rows = (
        (1 - 2 * (y * y + z * z), 2 * (x * y - s * z), 2 * (x * z + s * y)),
        (2 * (x * y + s * z), 1 - 2 * (x * x + z * z), 2 * (y * z - s * x)),
        (2 * (x * z - s * y), 2 * (y * z + s * x), 1 - 2 * (x * x + y * y)),
    )
    return ca.vertcat(*(ca.horzcat(*row) for row in rows))


def rotate(q: Any, a: Any) -> Any:
    """R(q) a, without the matrix."""
    t = 2 * ca.cross(q[1:4], a)
    return a + q[0] * t + ca.cross(q[1:4], t)


def cayley(w: Any) -> Any:
    """Unit quaternion of the Cayley map."""
    s = 1 / ca.sqrt(1 + 0.25 * ca.dot(w, w))
    return ca.vertcat(s, 0.5 * s * w)


def half(w: Any) -> Any:
    """(unit quaternion, e) of half the rotation of cayley(w); e = tan of a quarter of the angle along its axis."""
    s = 1 / ca.sqrt(1 + 0.25 * ca.dot(w, w))
    c = ca.sqrt(0.5 * (1 + s))
    e = 0.5 * s * w / (1 + s)
    return c * ca.vertcat(1, e), e


class Flat:
    """Joints of one degree of freedom, and coordinates of a Lagrangian."""

    def __init__(self, n: int = 1):
        self.nq = self.nv = n

    def retract(self, q: Any, x: Any) -> Any:
        return q + x

    def middle(self, q: Any, x: Any) -> Any:
        return q + 0.5 * x

    def lift(self, a: Any, b: Any) -> Any:
        return b - a

    def left(self, x: Any, l: Any) -> Any:
        return l

    def right(self, x: Any, p: Any) -> Any:
        return p

    def share(self, x: Any, f: Any) -> Any:
        return 0.5 * f


class Turn:
    """Ball joints: q a quaternion, v of the body in its own axes."""

    nq, nv = 4, 3

    def retract(self, q: Any, x: Any) -> Any:
        return product(q, cayley(x))

    def middle(self, q: Any, x: Any) -> Any:
        return product(q, half(x)[0])

    def lift(self, a: Any, b: Any) -> Any:
        r = product(conjugate(a), b)
        return 2 * r[1:4] / r[0]

    def left(self, x: Any, l: Any) -> Any:
        return l + 0.5 * ca.cross(x, l) + 0.25 * ca.dot(x, l) * x

    def right(self, x: Any, p: Any) -> Any:
        return rotate(conjugate(cayley(x)), p)

    def share(self, x: Any, f: Any) -> Any:
        return 0.5 * (f + ca.cross(half(x)[1], f))


class Rigid:
    """Free joints: q = (place, quaternion), v = (omega, v), all in body axes but the place."""

    nq, nv = 7, 6

    def _shift(self, x: Any) -> Any:
        w, u = x[:3], x[3:]
        return (u + 0.5 * ca.cross(w, u) + 0.25 * ca.dot(w, u) * w) / (1 + 0.25 * ca.dot(w, w))

    def retract(self, q: Any, x: Any) -> Any:
        return ca.vertcat(q[:3] + rotate(q[3:], self._shift(x)), product(q[3:], cayley(x[:3])))

    def _half(self, x: Any) -> tuple[Any, Any, Any]:
        turn, e = half(x[:3])
        shift = self._shift(x)
        return turn, e, 0.5 * (shift - ca.cross(e, shift))

    def middle(self, q: Any, x: Any) -> Any:
        turn, _, shift = self._half(x)
        return ca.vertcat(q[:3] + rotate(q[3:], shift), product(q[3:], turn))

    def lift(self, a: Any, b: Any) -> Any:
        r = product(conjugate(a[3:]), b[3:])
        w, t = 2 * r[1:4] / r[0], rotate(conjugate(a[3:]), b[:3] - a[:3])
        return ca.vertcat(w, t - 0.5 * ca.cross(w, t))

    def left(self, x: Any, l: Any) -> Any:
        w, u, p, n = x[:3], x[3:], l[:3], l[3:]
        n1 = n + 0.5 * ca.cross(w, n)
        return ca.vertcat(p + 0.5 * ca.cross(w, p) + 0.25 * ca.dot(w, p) * w + 0.5 * ca.cross(u, n1), n1)

    def right(self, x: Any, p: Any) -> Any:
        back, shift = conjugate(cayley(x[:3])), self._shift(x)
        return ca.vertcat(rotate(back, p[:3] - ca.cross(shift, p[3:])), rotate(back, p[3:]))

    def share(self, x: Any, f: Any) -> Any:
        turn, e, shift = self._half(x)
        b1 = 0.5 * (f[3:] + ca.cross(e, f[3:]))
        a = f[:3] + rotate(conjugate(turn), ca.cross(shift, b1))
        return ca.vertcat(0.5 * (a + ca.cross(e, a)), b1)


#: by kinds of the kernels
PRIMITIVE: dict[int, Any] = {at.REVOLUTE: Flat(), at.PRISMATIC: Flat(), at.SPHERICAL: Turn(), at.FREE: Rigid()}


@dataclass(frozen=True)
class Part:
    """A chart, and where its coordinates are."""

    chart: Any
    q_at: int
    v_at: int


class Chart:
    """The product of the charts of all joints: neighbours that are flat are taken together."""

    def __init__(self, parts: list[Part]):
        self.parts = sorted(parts, key=lambda part: part.v_at)
        self.nq, self.nv = sum(p.chart.nq for p in parts), sum(p.chart.nv for p in parts)
        self.flat = self.nq == self.nv and all(isinstance(p.chart, Flat) for p in parts)

    @classmethod
    def flat_of(cls, n: int) -> Chart:
        """Of n coordinates."""
        return cls([Part(Flat(n), 0, 0)])

    def _each(self, what: str, *given: tuple[str, Any]) -> Any:
        out = []
        for part in self.parts:
            size = {"q": (part.q_at, part.chart.nq), "v": (part.v_at, part.chart.nv)}
            cut = [x[size[kind][0] : size[kind][0] + size[kind][1]] for kind, x in given]
            out.append(getattr(part.chart, what)(*cut))
        return ca.vertcat(*out)

    def retract(self, q: Any, x: Any) -> Any:
        """q tau(x)"""
        return self._each("retract", ("q", q), ("v", x))

    def middle(self, q: Any, x: Any) -> Any:
        """q E(x)"""
        return self._each("middle", ("q", q), ("v", x))

    def lift(self, a: Any, b: Any) -> Any:
        """x with a tau(x) = b"""
        return self._each("lift", ("q", a), ("q", b))

    def left(self, x: Any, l: Any) -> Any:
        """dtau_x^-T l"""
        return self._each("left", ("v", x), ("v", l))

    def right(self, x: Any, p: Any) -> Any:
        """Ad_tau(x)^T p"""
        return self._each("right", ("v", x), ("v", p))

    def share(self, x: Any, f: Any) -> Any:
        """(1 + Ad_E)^-T f"""
        return self._each("share", ("v", x), ("v", f))
