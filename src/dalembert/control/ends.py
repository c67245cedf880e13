"""Start, goal and places on the way: what a plan is told of a node.

A node is told as an array (all of q, at rest), a pair (q, v), or a mapping

    q       all of q, or {joint: numbers}: of a start the others are those of m.neutral(), of other nodes they are free; None: all free
    v       all of v, or {joint: numbers}: the others are free; 0 where it is not given; None: all free
    poses   {body: pose}: a 4 x 4 matrix, (place, quaternion), or (place, None), (None, quaternion) where one of them is free
    turns   {joint: whole turns on the way}: of a ball or free joint three numbers, turns about axes of the body
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


@dataclass
class Node:
    """What is wanted of a node: q (nq) and v (nv) with NaN where free; places and headings of bodies; turns."""

    q: Array
    v: Array
    poses: dict[str, tuple[Array | None, Array | None]] = field(default_factory=dict)
    turns: dict[str, Array] = field(default_factory=dict)
    relative: dict[tuple[str, str], tuple[Array | None, Array | None]] = field(default_factory=dict)

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
    turns = {name: np.atleast_1d(np.asarray(n, dtype=float)) for name, n in (given.get("turns") or {}).items()}
    node = Node(
        _q(machine, given.get("q"), what, start), _v(machine, given.get("v", 0.0), what), _poses(machine, given.get("poses"), what), turns
    )
    node.relative = _relative(machine, given.get("relative"), what)
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


def _poses(machine: Any, given: Any, what: str) -> dict[str, tuple[Array | None, Array | None]]:
    found: dict[str, tuple[Array | None, Array | None]] = {}
    for body, pose in (given or {}).items():
        if not hasattr(machine.formulas, "tree") or body not in machine.formulas.tree.places:
            known = [b.name for b in machine.whole.bodies] if hasattr(machine.whole, "bodies") else []
            raise UnknownNameError(f"{what}: body in poses", body, known)
        if machine.formulas.tree.places[body].link < 0:
            raise OptionError(f"{what}: body {body!r} in poses is fixed to the world: no motion takes it elsewhere.")
        if isinstance(pose, np.ndarray) and pose.shape == (4, 4):
            T = np.asarray(pose, dtype=float)
            found[body] = T[:3, 3], T[:3, :3]
            continue
        try:
            place, turn = pose
            x = None if place is None else np.asarray(place, dtype=float).reshape(3)
            R = None if turn is None else np.asarray(turn, dtype=float)
            R = R if R is None or R.shape == (3, 3) else matrix(R.reshape(4) / np.linalg.norm(R))
        except (TypeError, ValueError):
            raise OptionError(
                f"{what}: pose of {body!r} is {pose!r}; expected a 4 x 4 matrix or (place, quaternion), either of them None."
            ) from None
        if any(a is not None and not np.isfinite(a).all() for a in (x, R)):
            raise OptionError(f"{what}: pose of {body!r} is {pose!r}; expected finite numbers.")
        found[body] = x, R
    return found


def _relative(machine: Any, given: Any, what: str) -> dict[tuple[str, str], tuple[Array | None, Array | None]]:
    """Poses of bodies seen from others."""
    found = {}
    for pair, pose in (given or {}).items():
        if not isinstance(pair, tuple) or len(pair) != 2 or pair[0] == pair[1]:
            raise OptionError(f"{what}: relative has the key {pair!r}; expected a pair (body, other body).")
        for body in pair:
            _poses(machine, {body: (None, None)}, what)
        found[pair] = _poses(machine, {pair[0]: pose}, what)[pair[0]]
    return found


def _turn(machine: Any, node: Node, what: str) -> None:
    """Angles of joints that turn on the way are whole turns further; quaternions after an odd number of turns are the opposite ones."""
    if not node.turns:
        return
    slices = machine.parts("q")
    for name, turns in node.turns.items():
        if name not in slices:
            raise UnknownNameError(f"{what}: joint in turns", name, slices)
        part = slices[name]
        size = part.stop - part.start
        if size == 1 and len(turns) == 1:
            node.q[part] += 2.0 * np.pi * turns
        elif size in (4, 7) and len(turns) == 3:
            sign = -1.0 if round(float(np.linalg.norm(turns))) % 2 else 1.0
            node.q[part.stop - 4 : part.stop] *= sign
        else:
            raise OptionError(
                f"{what}: turns of {name!r} are {turns.tolist()}; expected a number of a hinge, three of a ball or free joint."
            )


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
