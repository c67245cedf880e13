"""Start, goal and places on the way: what a plan is told of a node.

A node is told as an array (all of q, at rest), a pair (q, v), or a mapping

    q       all of q, or {joint: numbers}: of a start the others are those of m.neutral(), of other nodes they are free; None: all free
    v       all of v, or {joint: numbers}: the others are free; 0 where it is not given; None: all free
    poses   {body: pose}: a 4 x 4 matrix, (place, quaternion), or (place, None), (None, quaternion) where one of them is free
    turns   {joint: whole turns on the way}, beside the q that it has after them: of a ball or free joint three numbers, an axis of the body
            as long as there are turns
    relative  {(body, other): pose of the body in the frame of the other}: as poses, wherever both are
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import OptionError, UnknownNameError
from dalembert.kernels.tree import layout as at
from dalembert.model.rotation import matrix, quat_exp, quat_mul

KEYS = ("q", "v", "poses", "turns", "relative")
#: by how much axes of a rotation may be off, as those of poses of a model; a number of turns
ROTATION, WHOLE = 1e-6, 1e-9

Pose = tuple[Array | None, Array | None]  # place (3,) and rotation (3, 3), None where free


@dataclass
class Node:
    """What is wanted of a node: q (nq) and v (nv) with NaN where free; places and headings of bodies; turns."""

    q: Array
    v: Array
    poses: dict[str, Pose] = field(default_factory=dict)
    turns: dict[str, Array] = field(default_factory=dict)
    relative: dict[tuple[str, str], Pose] = field(default_factory=dict)

    @property
    def at_rest(self) -> bool:
        """v is all 0."""
        return bool(np.all(self.v == 0.0))


def read(machine: Any, given: Any, what: str, start: bool = False) -> Node:
    """The node that is told."""
    if isinstance(given, Node):
        return given
    if given is None:
        return Node(np.full(machine.nq, np.nan), np.full(machine.nv, np.nan))
    if isinstance(given, tuple) and len(given) == 2 and not np.isscalar(given[0]):
        given = {"q": given[0], "v": given[1]}
    elif not isinstance(given, Mapping):
        given = {"q": given}
    for key in given:
        if key not in KEYS:
            raise UnknownNameError(f"{what}: entry", key, KEYS)
    node = Node(
        _q(machine, given.get("q"), what, start),
        _v(machine, given.get("v", 0.0), what),
        _poses(machine, given.get("poses"), what),
        _turns(given.get("turns"), what),
        _relative(machine, given.get("relative"), what),
    )
    _turn(machine, node, what)
    return node


def _q(machine: Any, given: Any, what: str, start: bool) -> Array:
    if given is None:
        return np.full(machine.nq, np.nan)
    if isinstance(given, str) or (isinstance(given, Mapping) and start):
        return np.array(machine.system.check_q(given), dtype=float)
    if isinstance(given, Mapping):
        full = np.array(machine.system.check_q(given), dtype=float)
        slices = machine.parts("q")
        out = np.full(machine.nq, np.nan)
        for name in given:
            out[slices[name]] = full[slices[name]]
        return out
    return np.array(machine.system.check_q(given), dtype=float)


def _v(machine: Any, given: Any, what: str) -> Array:
    if given is None:
        return np.full(machine.nv, np.nan)
    if isinstance(given, Mapping):
        full, slices = np.array(machine.system.check_v(given), dtype=float), machine.parts("v")
        out = np.full(machine.nv, np.nan)
        for name in given:
            out[slices[name]] = full[slices[name]]
        return out
    if np.ndim(given) == 0:
        if given != 0.0:
            raise OptionError(f"{what}: v is {given!r}; expected 0, {machine.nv} numbers, {{joint: numbers}} or None for free.")
        return np.zeros(machine.nv)
    return np.array(machine.system.check_v(given), dtype=float)


def _poses(machine: Any, given: Any, what: str) -> dict[str, Pose]:
    """Poses of bodies in the world."""
    given = {} if given is None else given
    if not isinstance(given, Mapping):
        raise OptionError(f"{what}: poses is {given!r}; expected {{body: pose}}.")
    for body in given:
        _check_body(machine, body, what)
    return {body: _pose(f"{what}: pose of {body!r}", pose) for body, pose in given.items()}


def _check_body(machine: Any, body: Any, what: str) -> None:
    """A body that moves."""
    if not hasattr(machine.formulas, "tree") or body not in machine.formulas.tree.places:
        known = [b.name for b in machine.whole.bodies] if hasattr(machine.whole, "bodies") else []
        raise UnknownNameError(f"{what}: body in poses", body, known)
    if machine.formulas.tree.places[body].link < 0:
        raise OptionError(f"{what}: body {body!r} in poses is fixed to the world: no motion takes it elsewhere.")


def _pose(what: str, given: Any) -> Pose:
    """(place, rotation) of a 4 x 4 matrix or a pair, one of them None where it is free."""
    if isinstance(given, np.ndarray) and given.shape == (4, 4):
        if not np.allclose(given[3].astype(float), [0, 0, 0, 1]):
            raise OptionError(f"{what}: the last row of its matrix is {given[3].tolist()}; expected 0, 0, 0, 1.")
        given = given[:3, 3], given[:3, :3]
    try:
        place, turn = given
        x = None if place is None else np.asarray(place, dtype=float).reshape(3)
        R = None if turn is None else np.asarray(turn, dtype=float)
        R = R if R is None or R.shape == (3, 3) else R.reshape(4)
    except (TypeError, ValueError):
        raise OptionError(f"{what} is {given!r}; expected a 4 x 4 matrix or (place, quaternion), either of them None.") from None
    if x is None and R is None:
        raise OptionError(f"{what} is {given!r}: neither place nor quaternion is wanted; expected one of them, or no entry.")
    if any(a is not None and not np.isfinite(a).all() for a in (x, R)):
        raise OptionError(f"{what} is {given!r}; expected finite numbers.")
    return x, None if R is None else _rotation(what, R)


def _rotation(what: str, R: Array) -> Array:
    """A rotation (3, 3) of a quaternion or a matrix; what is none is refused, with what is wrong with it."""
    if R.shape == (4,):
        size = float(np.linalg.norm(R))
        if not size > 0.0:
            raise OptionError(f"{what}: its quaternion is 0; expected a quaternion (w, x, y, z).")
        return matrix(R / size)
    lengths = np.linalg.norm(R, axis=0)
    if np.abs(lengths - 1.0).max() > ROTATION:
        raise OptionError(
            f"{what}: its axes have the lengths {lengths.round(6).tolist()}; expected a rotation, whose axes have the length 1."
        )
    if (skew := float(np.abs(R.T @ R - np.diag(lengths**2)).max())) > ROTATION:
        raise OptionError(f"{what}: its axes are not at right angles (cosine {skew:.3g}); expected a rotation.")
    if np.linalg.det(R) < 0.0:
        raise OptionError(f"{what}: its axes are left-handed (determinant -1), a mirror image; expected a rotation.")
    return R


def _relative(machine: Any, given: Any, what: str) -> dict[tuple[str, str], Pose]:
    """Poses of bodies seen from others."""
    found = {}
    for pair, pose in (given or {}).items():
        if not isinstance(pair, tuple) or len(pair) != 2 or pair[0] == pair[1]:
            raise OptionError(f"{what}: relative has the key {pair!r}; expected a pair (body, other body).")
        for body in pair:
            _check_body(machine, body, what)
        found[pair] = _pose(f"{what}: pose of {pair[0]!r} seen from {pair[1]!r}", pose)
    return found


def _turns(given: Any, what: str) -> dict[str, Array]:
    """Numbers of turns of joints."""
    try:
        return {name: np.atleast_1d(np.asarray(n, dtype=float)) for name, n in dict(given or {}).items()}
    except (TypeError, ValueError):
        raise OptionError(f"{what}: turns is {given!r}; expected {{joint: whole turns}}.") from None


def _turn(machine: Any, node: Node, what: str) -> None:
    """Angles of joints that turn on the way are whole turns further; quaternions after an odd number of turns are the opposite ones."""
    slices = machine.parts("q")
    for name, turns in node.turns.items():
        if name not in slices:
            raise UnknownNameError(f"{what}: joint in turns", name, slices)
        part = slices[name]
        angle, size = _is_angle(machine, name), part.stop - part.start
        if (size, len(turns)) not in ((1, 1), (4, 3), (7, 3)) or (size == 1 and not angle):
            raise OptionError(
                f"{what}: turns of {name!r} are {turns.tolist()}; expected a number of a hinge, three of a ball or free joint."
            )
        number = float(np.linalg.norm(turns))
        if not abs(number - np.round(number)) <= WHOLE:
            raise OptionError(f"{what}: turns of {name!r} are {turns.tolist()}, {number:.6g} turns; expected a whole number of them.")
        at_joint = node.q[part] if size == 1 else node.q[part.stop - 4 : part.stop]
        if not np.isfinite(at_joint).all():
            raise OptionError(f"{what}: {name!r} has turns, and no q; expected where it is after them, q={{{name!r}: ...}}.")
        at_joint *= -1.0 if size > 1 and round(number) % 2 else 1.0
        at_joint += 2.0 * np.pi * turns if size == 1 else 0.0


def _is_angle(machine: Any, name: str) -> bool:
    """A joint turns; of a formula every coordinate may."""
    return not hasattr(machine.formulas, "tree") or bool(machine.turning[machine.parts("v")[name]].all())


def one_sheet(turned: list[tuple[str, int]], nodes: list[Node]) -> None:
    """r and -r are one attitude: each quaternion gets the sign that is nearer to the one before, the other after an odd number of turns.

    turned: joints with a quaternion, and its place in q.
    """
    for name, start in turned:
        before, part = None, slice(start, start + 4)
        for node in nodes:
            if not np.isfinite(node.q[part]).all():
                continue
            odd = round(float(np.linalg.norm(node.turns.get(name, 0.0)))) % 2 == 1
            if before is not None and (node.q[part] @ before < 0.0) != odd:
                node.q[part] = -node.q[part]
            before = np.array(node.q[part])


def path_between(machine: Any, a: Node, b: Node, q_a: Array, q_b: Array, s: Array) -> Array:
    """q at the parts s (n,) of the way from q_a to q_b on the group, with the turns of b."""
    q_near = np.array(q_b)
    system = machine.system
    steps = np.asarray(system.difference(q_a, q_near), dtype=float)
    if hasattr(machine.formulas, "tree"):
        v_slices = system.v_slices()
        for name, turns in b.turns.items():
            part = v_slices[name]
            if part.stop - part.start >= 3:
                return _with_turn(machine, q_a, steps, s, name, 2.0 * np.pi * turns)
        for link in machine.formulas.tree.links:  # angles are not taken modulo a turn
            if link.kind <= at.PRISMATIC:
                steps[link.v_at] = q_near[link.q_at] - q_a[link.q_at]
    return np.asarray(system.integrate(np.tile(q_a, (len(s), 1)), s[:, None] * steps))


def _with_turn(machine: Any, q_a: Array, steps: Array, s: Array, name: str, turn: Array) -> Array:
    """The straight way, with a joint that turns on top of it."""
    system = machine.system
    rows, part = [], system.q_slices()[name]
    for x in s:
        q = system.integrate(q_a, x * steps)
        q[part.stop - 4 : part.stop] = quat_mul(q[part.stop - 4 : part.stop], quat_exp(x * turn))
        rows.append(q)
    return np.array(rows)


__all__ = ["Node", "path_between", "read"]
