"""Contacts of a plan: what touches what, as gaps g(q) >= 0 that are expressions of q.

a point of a body, or a ball, against     a plane of the world             g = n . x - d - r
                                          a face of a box, of any body     g = n . R^T (x - x_b) - d - r, within the edges of the face
                                          a ball of a body                 g = |c_a - c_b| - r_a - r_b
any function of q                         g = f(q)

row     gamma = dg/de along q tau(e): the rate of g is gamma . v, an impulse Lambda adds gamma Lambda to the momentum
slip    places of the point along two tangents of a plane of the world, with rows of their own: where the point sticks
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from dalembert.arrays import Array
from dalembert.collision.solids import points_of
from dalembert.errors import OptionError, UnknownNameError, UnsupportedError
from dalembert.model.parts import WORLD
from dalembert.model.rotation import matrix

FACES = tuple(sign + axis for axis in "xyz" for sign in "+-")
STILL = 1e-9  # rows below this move nothing


@dataclass(frozen=True)
class Touch:
    """A contact that is planned.

    body, on       what touches what: bodies, or "world"
    node           when, as a node of the plan
    point          of `body`, in its frame; None: its ball. radius: of a ball around the point
    plane          of the world: which of its planes, or (normal, offset)
    face           of a box of `on`: "+x" ... "-z"
    gap            instead of all these: a function of q
    restitution    0 to 1; None: that of `dmocc`
    hold           for so many steps from its node on the contact stays: a stance
    friction       the point sticks, with a force (in an impact: an impulse) within the cone of that coefficient; None: it slides freely
    """

    body: str = ""
    node: int | None = None
    on: str = WORLD
    point: Any = None
    radius: float = 0.0
    plane: Any = 0
    face: str | None = None
    gap: Callable[[Any], Any] | None = None
    restitution: float | None = None
    hold: int = 0
    friction: float | None = None

    def __str__(self) -> str:
        return self.body + " on " + self.on if self.gap is None else getattr(self.gap, "__name__", "gap")


class Face(NamedTuple):
    """The half space n . x <= d of a body's frame; sides: (direction, centre, half length) of the edges of a face, none of a plane."""

    owner: str
    normal: Array
    offset: float
    sides: tuple[tuple[Array, float, float], ...] = ()


class Ball(NamedTuple):
    """A ball of a body."""

    owner: str
    centre: Array
    radius: float


def read(given: Any) -> list[Touch]:
    """Contacts from a list of Touch, mappings, or names of bodies."""
    if given is None or isinstance(given, (Touch, str)) or hasattr(given, "keys"):
        given = [] if given is None else [given]
    return [_one(x) for x in given]


def _one(given: Any) -> Touch:
    if isinstance(given, str):
        return Touch(given)
    if isinstance(given, Touch):
        touch = given
    elif hasattr(given, "keys"):
        known = list(Touch.__dataclass_fields__)
        for key in given:
            if key not in known:
                raise UnknownNameError("contact: entry", key, known)
        touch = Touch(**given)
    else:
        raise OptionError(f"contacts: {given!r} is no contact; expected dal.control.Touch(body, node, ...).")
    for name, low, high in (("restitution", 0.0, 1.0), ("friction", 0.0, 1e9), ("radius", 0.0, 1e9)):
        x = getattr(touch, name)
        if x is not None and not (np.ndim(x) == 0 and low <= x <= high):
            raise OptionError(f"contact {touch}: {name} is {x!r}; expected a number from {low:g} to {high:g}.")
    if isinstance(touch.hold, bool) or not isinstance(touch.hold, (int, np.integer)) or touch.hold < 0:
        raise OptionError(f"contact {touch}: hold is {touch.hold!r}; expected a whole number of steps.")
    if touch.gap is None and touch.body == touch.on:
        raise OptionError(f"contact {touch}: expected two bodies, or a body and the world.")
    if touch.hold and touch.restitution:
        raise OptionError(f"contact {touch}: restitution is {touch.restitution}, and it is held; what is held does not bounce.")
    return touch


# what is meant ------------------------------------------------------------------------------------------------------------------------


def _shapes(model: Any, owner: str, kind: str | None = None) -> list[Any]:
    if owner != WORLD and owner not in [b.name for b in model.bodies]:
        raise UnknownNameError("contact: body", owner, [WORLD, *(b.name for b in model.bodies)])
    own = model.world_shapes if owner == WORLD else model.body(owner).shapes
    return [s for s in own if s.collide and (kind is None or s.kind == kind)]


def points(model: Any, touch: Touch) -> list[tuple[Array, float]]:
    """(point in the frame of the body, radius) of all points of a body that can touch; that of the contact alone where it has one."""
    if touch.point is not None:
        return [own_point(model, touch)]
    found = []
    for shape in _shapes(model, touch.body):
        R, p = matrix(np.array(shape.quaternion)), np.array(shape.position)
        local, radius = points_of(shape, f"body {touch.body!r}")
        found += [(R @ x + p, radius) for x in local]
    if not found:
        raise OptionError(f"contact {touch}: {touch.body!r} has no shape that collides; expected point=, in the frame of the body.")
    return found


def own_point(model: Any, touch: Touch) -> tuple[Array, float]:
    """(point, radius) of a contact."""
    if touch.point is not None:
        _shapes(model, touch.body)
        point = np.asarray(touch.point, dtype=float)
        if point.shape != (3,) or not np.isfinite(point).all():
            raise OptionError(f"contact {touch}: point is {touch.point!r}; expected three finite numbers in the frame of {touch.body!r}.")
        return point, float(touch.radius)
    balls = _shapes(model, touch.body, "sphere")
    if len(balls) != 1:
        raise OptionError(f"contact {touch}: {touch.body!r} has {len(balls)} balls; expected point=, three numbers in its frame.")
    return np.array(balls[0].position), balls[0].radius


def target(model: Any, touch: Touch) -> Face | Ball:
    """What is touched."""
    if not isinstance(touch.plane, (int, np.integer)):
        return _plane(touch)
    if touch.face is not None:
        return _face(model, touch)
    planes = _shapes(model, touch.on, "plane")
    if touch.on == WORLD and planes:
        if not 0 <= touch.plane < len(planes):
            raise OptionError(f"contact {touch}: plane is {touch.plane}; the world has planes 0 to {len(planes) - 1}.")
        shape = planes[touch.plane]
        n = matrix(np.array(shape.quaternion))[:, 2]
        return Face(WORLD, n, float(n @ np.array(shape.position)))
    balls = _shapes(model, touch.on, "sphere")
    if len(balls) == 1:
        return Ball(touch.on, np.array(balls[0].position), balls[0].radius)
    raise OptionError(
        f"contact {touch}: {touch.on!r} has no plane and not one ball; expected face= (of a box), or plane=(normal, offset) in its frame."
    )


def _plane(touch: Touch) -> Face:
    try:
        normal, offset = touch.plane
        n, d = np.asarray(normal, dtype=float), float(offset)
    except (TypeError, ValueError):
        n, d = np.zeros(0), np.nan
    size = float(np.linalg.norm(n))
    if n.shape != (3,) or not 0.0 < size < np.inf or not np.isfinite(d):
        raise OptionError(f"contact {touch}: plane is {touch.plane!r}; expected a number, or (normal, offset): n . x = offset on it.")
    return Face(touch.on, n / size, d / size)


def _face(model: Any, touch: Touch) -> Face:
    boxes = _shapes(model, touch.on, "box")
    if touch.face not in FACES:
        raise UnknownNameError(f"contact {touch}: face", str(touch.face), FACES)
    if len(boxes) != 1:
        raise OptionError(f"contact {touch}: {touch.on!r} has {len(boxes)} boxes; expected one whose face is touched.")
    R, p, half = matrix(np.array(boxes[0].quaternion)), np.array(boxes[0].position), 0.5 * np.array(boxes[0].size)
    axis = "xyz".index(touch.face[1])
    n = R[:, axis] * (1.0 if touch.face[0] == "+" else -1.0)
    sides = tuple((R[:, i], float(R[:, i] @ p), float(half[i])) for i in range(3) if i != axis)
    return Face(touch.on, n, float(n @ p + half[axis]), sides)


# expressions --------------------------------------------------------------------------------------------------------------------------


def along(machine: Any, q: Any) -> Any:
    """d(q tau(e))/de at e = 0"""
    return machine.formulas._along(q) if hasattr(machine.formulas, "tree") else ca.SX.eye(machine.nv)


def gap_expressions(machine: Any, q: Any, found: list[tuple[str, Array, float]], what: Face | Ball) -> list[tuple[Any, Any]]:
    """(gap, place in the frame of what is touched) of points (body, point, radius)."""
    f = machine.formulas
    other = (what.owner, what.centre if isinstance(what, Ball) else np.zeros(3))
    *places, x_b = f.points(q, [*((body, x) for body, x, _ in found), other])
    if isinstance(what, Ball):
        away = [x - x_b for x in places]
        return [(ca.sqrt(ca.dot(d, d)) - r - what.radius, d) for d, (_, _, r) in zip(away, found, strict=True)]
    R = ca.SX.eye(3) if what.owner == WORLD else f.pose(q, what.owner)[0]
    seen = [x if what.owner == WORLD else R.T @ (x - x_b) for x in places]
    return [(ca.dot(ca.DM(what.normal), s) - what.offset - r, s) for s, (_, _, r) in zip(seen, found, strict=True)]


class Gap:
    """One contact: `value(q)`, `rows(q)` (1 + tangents, nv), `slip(q)` (tangents,), `sides(q)` with `reach` (n, 2)."""

    def __init__(self, machine: Any, touch: Touch):
        self.machine, self.touch, self.name = machine, touch, str(touch)
        self.what: Face | Ball | None = None
        q = ca.SX.sym("q", machine.nq)
        slip, sides, self.reach = ca.SX(0, 1), ca.SX(0, 1), np.zeros((0, 2))
        if touch.gap is not None:
            g = ca.SX(touch.gap(q))
            if g.numel() != 1:
                raise OptionError(f"contact {self.name}: its gap is of size {g.shape}; expected one number.")
        elif not hasattr(machine.formulas, "tree"):
            raise UnsupportedError(f"contact {touch}: {machine.whole!r} has no bodies; expected gap=, a function of q.")
        else:
            g, slip, sides = self._of_bodies(q)
        if touch.friction is not None and not slip.numel():
            raise UnsupportedError(f"contact {self.name}: friction is for a point on a plane of the world, without a radius.")
        G = ca.jacobian(ca.vertcat(g, slip), q) @ along(machine, q)
        keep = self._independent(ca.Function("G", [q], [ca.densify(G)]))
        slip = ca.vertcat(*(ca.dot(ca.DM(d), slip) for d in keep)) if len(keep) else ca.SX(0, 1)
        self.tangents, self._directions = len(keep), keep
        G = ca.jacobian(ca.vertcat(g, slip), q) @ along(machine, q)
        self._all = ca.Function("contact", [q], [g, ca.densify(G), ca.densify(slip), ca.densify(sides)])

    def _of_bodies(self, q: Any) -> tuple[Any, Any, Any]:
        model, touch = self.machine.whole, self.touch
        self.point, self.radius = own_point(model, touch)
        self.what = what = target(model, touch)
        g, seen = gap_expressions(self.machine, q, [(touch.body, self.point, self.radius)], what)[0]
        slip = ca.SX(0, 1)
        if touch.friction is not None and isinstance(what, Face) and what.owner == WORLD and not self.radius:
            self.tangent = np.linalg.svd(what.normal[None, :])[2][1:]
            slip = ca.DM(self.tangent) @ seen
        if isinstance(what, Ball) or not what.sides:
            return g, slip, ca.SX(0, 1)
        self.reach = np.array([(c - half, c + half) for _, c, half in what.sides])
        return g, slip, ca.vertcat(*(ca.dot(ca.DM(d), seen) for d, _, _ in what.sides))

    def _independent(self, rows: Any) -> Array:
        """Directions in the plane, (n, 2), along which the machine can move the point at all: one of two where it is planar."""
        size = rows.size1_out(0)
        if size == 1:
            return np.zeros((0, 2))
        rng = np.random.default_rng(0)
        system = self.machine.system
        samples = [system.integrate(system.neutral(), 0.3 * rng.normal(size=self.machine.nv)) for _ in range(3)]
        G = np.concatenate([np.array(rows(q))[1:].T for q in samples])
        _, s, V = np.linalg.svd(G, full_matrices=False)
        found = V[s > STILL * max(1.0, s.max(initial=0.0))]
        return np.asarray(found * np.sign(found[np.arange(len(found)), np.abs(found).argmax(axis=1)])[:, None])

    def value(self, q: Any) -> Any:
        """g"""
        return self._all(q)[0]

    def rows(self, q: Any) -> Any:
        """(1 + tangents, nv): of the gap, then of the tangents."""
        return self._all(q)[1]

    def slip(self, q: Any) -> Any:
        """Place along the tangents."""
        return self._all(q)[2]

    def sides(self, q: Any) -> Any:
        """Place within the face."""
        return self._all(q)[3]

    def number(self, q: Array) -> float:
        """g as a number."""
        return float(self._all(q)[0])

    def matrix(self, q: Array) -> Array:
        """`rows` as numbers."""
        return np.array(self._all(q)[1]).reshape(1 + self.tangents, self.machine.nv)
