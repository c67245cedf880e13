"""Constraints of a model as the records of `kernels/tree/constraint_layout.py`.

Order of the rows: loops as they were added, each with the rows of model/loops.py; heights of rolling joints; drives in the order of q; then
the rows on velocities: heading and sideways of rolling joints, knife edges.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dalembert.arrays import Array
from dalembert.kernels.tree import constraint_layout as at
from dalembert.kernels.tree import layout
from dalembert.model import loops
from dalembert.model.drive_tables import TableDrive
from dalembert.model.drives import Drive
from dalembert.model.joints._base import perpendicular
from dalembert.model.loops import Loop
from dalembert.model.nonholonomic import Nonholonomic
from dalembert.model.parts import WORLD, Joint
from dalembert.model.rotation import matrix

if TYPE_CHECKING:
    from dalembert.model.compile_tree import Tree
    from dalembert.model.model import Model


class Row(NamedTuple):
    """A record, the joint it belongs to, what it holds to zero, the coefficients of a coupling or a table, and the drive."""

    record: Array
    joint: str
    what: str
    coefficients: tuple[float, ...] = ()
    drive: Drive | TableDrive | None = None


class Side(NamedTuple):
    """One side of a joint: link, and how world coordinates at the reference configuration turn into those of the link."""

    link: int
    T: Array
    p: Array

    def point(self, where: Array) -> Array:
        """A point of the reference configuration in link coordinates."""
        return self.T @ where + self.p


def _side(model: Model, tree: Tree, body: str) -> Side:
    place = tree.places[body]
    if body == WORLD:
        return Side(place.link, np.eye(3), np.zeros(3))
    b = model.body(body)
    T = place.R @ matrix(b.quaternion).T
    return Side(place.link, T, place.p - T @ b.position)


def _record(kind: int, A: Side, B: Side, anchor: Array, point: Array, a: Any = 0.0, b: Any = 0.0, value: float = 0.0) -> Array:
    """a and b in link axes."""
    r = np.zeros(at.ROW_SIZE)
    r[at.ROW_KIND], r[at.ROW_LINK_A], r[at.ROW_LINK_B], r[at.ROW_VALUE] = kind, A.link, B.link, value
    r[at.ROW_POINT_A : at.ROW_POINT_A + 3], r[at.ROW_POINT_B : at.ROW_POINT_B + 3] = A.point(anchor), B.point(point)
    r[at.ROW_A : at.ROW_A + 3], r[at.ROW_B : at.ROW_B + 3] = a, b
    return r


# rows of the residuals of model/loops.py: the same functions, so the same order ------------------------------------------------------


class Ends(NamedTuple):
    """The two sides of a loop, and the child's axes when it stands as wanted."""

    loop: Loop
    A: Side
    B: Side
    T_wanted: Array

    def row(self, what: str, kind: int, a: Any = 0.0, b: Any = 0.0, value: float = 0.0) -> Row:
        """One record between anchor and point."""
        return Row(_record(kind, self.A, self.B, self.loop.anchor, self.loop.point, a, b, value), self.loop.name, what)


def _shift(e: Ends) -> list[Row]:
    return [e.row(f"{x} shift", at.SHIFT_WORLD, a) for x, a in zip("xyz", np.eye(3), strict=True)]


def _shift_across(e: Ends) -> list[Row]:
    return [e.row(f"shift {w}", at.SHIFT, e.A.T @ b) for w, b in zip(("across", "across (2)"), loops.across(e.loop.axis), strict=True)]


def _shift_along(e: Ends) -> list[Row]:
    return [e.row("shift along the axis", at.SHIFT, e.A.T @ e.loop.axis)]


def _tilted(e: Ends) -> list[Row]:
    a, c = e.A.T @ e.loop.axis, e.T_wanted @ e.loop.axis
    rows = [e.row(w, at.TILT, a, e.T_wanted @ b) for w, b in zip(("tilt", "tilt (2)"), loops.across(e.loop.axis), strict=True)]
    for row in rows:
        row.record[at.ROW_TURN_B : at.ROW_TURN_B + 3] = c
    return rows


def _universal(e: Ends) -> list[Row]:
    axis, axis2 = e.loop.axis, e.loop.axis2
    assert axis2 is not None  # Loop.build
    return [e.row("angle of the axes", at.ANGLE, e.A.T @ axis, e.T_wanted @ axis2, float(axis @ axis2))]


def _turn_row(e: Ends, what: str, a: Array) -> Row:
    row = e.row(what, at.TURN, a)
    row.record[at.ROW_TURN_A : at.ROW_TURN_A + 9] = e.A.T.ravel()
    row.record[at.ROW_TURN_B : at.ROW_TURN_B + 9] = e.T_wanted.ravel()
    return row


def _turned(e: Ends) -> list[Row]:
    return [_turn_row(e, f"{x} turn", a) for x, a in zip("xyz", np.eye(3), strict=True)]


def _twist(e: Ends) -> list[Row]:
    return [_turn_row(e, "twist", e.loop.axis)]


def _stretched(e: Ends) -> list[Row]:
    assert e.loop.length is not None  # Loop.build
    return [e.row("length", at.DISTANCE, value=e.loop.length)]


RECORDS: dict[loops.Rows, Callable[[Ends], list[Row]]] = {
    loops.shift: _shift,
    loops.shift_across: _shift_across,
    loops.shift_along: _shift_along,
    loops.tilted: _tilted,
    loops.angle_of_axes: _universal,
    loops.turned: _turned,
    loops.twist: _twist,
    loops.stretched: _stretched,
}


def _loop_rows(model: Model, tree: Tree, loop: Loop) -> list[Row]:
    if loop.kind == "coupling":
        return [_coupling(tree, loop)] if loop.child in model._joints else []  # of loop joints: rows of body coordinates alone
    A, B = _side(model, tree, loop.parent), _side(model, tree, loop.child)
    ends = Ends(loop, A, B, B.T @ matrix(loop.turn).T)
    return [row for rows in loops.RESIDUALS[loop.kind] for row in RECORDS[rows](ends)]


def _coupling(tree: Tree, loop: Loop) -> Row:
    assert loop.polynomial is not None  # Loop.build
    links = {link.joint.name: i for i, link in enumerate(tree.links)}
    r = np.zeros(at.ROW_SIZE)
    r[at.ROW_KIND], r[at.ROW_LINK_A], r[at.ROW_LINK_B] = at.COUPLING, links.get(loop.parent, -1), links[loop.child]
    r[at.ROW_DEGREE] = len(loop.polynomial)
    return Row(r, loop.name, "coupling", loop.polynomial)


def _drive_rows(tree: Tree, joint: Joint) -> list[Row]:
    """q - f(t) of the coordinates of a joint that are driven; the coordinates are those of its chain of links."""
    rows = []
    for k, drive in (joint.drive or {}).items():
        r = np.zeros(at.ROW_SIZE)
        r[at.ROW_KIND], r[at.ROW_LINK_A], r[at.ROW_LINK_B] = at.DRIVE, -1, tree.spans[joint.name][0] + k
        r[at.ROW_FUNCTION], r[at.ROW_DEGREE] = drive.address, drive.pieces
        of = "" if joint.coordinates.nv == 1 else f" of {joint.coordinates.q_names[k]}"
        rows.append(Row(r, joint.name, f"drive{of}", drive.coefficients, drive))
    return rows


# joints on velocities ----------------------------------------------------------------------------------------------------------------


def _contact(model: Model, tree: Tree, joint: Nonholonomic, which: int, what: str) -> Row:
    A, B = _side(model, tree, joint.parent), _side(model, tree, joint.child)
    assert joint.normal is not None and joint.point is not None and joint.radius is not None  # Nonholonomic.rolling
    axle = 0.0 if joint.axis is None else B.T @ joint.axis
    r = _record(at.CONTACT, A, B, joint.anchor, joint.point, A.T @ joint.normal, axle, joint.radius)
    r[at.ROW_WHICH] = which
    if joint.axis is None:
        r[at.ROW_TURN_A : at.ROW_TURN_A + 3] = A.T @ perpendicular(joint.normal)
    return Row(r, joint.name, what)


def _velocity_rows(model: Model, tree: Tree, joint: Nonholonomic) -> list[Row]:
    if joint.kind == "rolling":
        return [_contact(model, tree, joint, which, what) for which, what in ((at.HEADING, "heading"), (at.SIDEWAYS, "sideways"))]
    A, B = _side(model, tree, joint.parent), _side(model, tree, joint.child)
    assert joint.axis is not None  # Nonholonomic.knife_edge
    return [Row(_record(at.BLADE, A, B, joint.anchor, joint.anchor, b=B.T @ joint.axis), joint.name, "across the blade")]


def constraint_rows(model: Model, tree: Tree) -> tuple[list[Row], int]:
    """(all rows, how many of them are on positions)."""
    positions = [row for loop in model.loops for row in _loop_rows(model, tree, loop)]
    positions += [_contact(model, tree, j, at.HEIGHT, "height") for j in model.nonholonomic if j.contact]
    positions += [row for joint in model.joints for row in _drive_rows(tree, joint)]
    velocities = [row for j in model.nonholonomic for row in _velocity_rows(model, tree, j)]
    return positions + velocities, len(positions)


def append(system: Array, model: Model, tree: Tree) -> Array:
    """The system array with the constraints of the model behind it."""
    rows, holonomic = constraint_rows(model, tree)
    start = len(system)
    s = np.concatenate([system, *(row.record for row in rows), *(row.coefficients for row in rows)])
    s[layout.CONSTRAINTS], s[layout.HOLONOMIC], s[layout.AT_CONSTRAINTS] = len(rows), holonomic, start
    free = start + len(rows) * at.ROW_SIZE
    for k, row in enumerate(rows):
        s[start + k * at.ROW_SIZE + at.ROW_POLYNOMIAL] = free
        free += len(row.coefficients)
    return s


def is_driven(system: Array) -> bool:
    """True where the system array has rows of drives: they are the last ones on positions."""
    last = int(system[layout.AT_CONSTRAINTS] + (system[layout.HOLONOMIC] - 1) * at.ROW_SIZE)
    return bool(system[layout.HOLONOMIC] > 0 and system[last + at.ROW_KIND] == at.DRIVE)


def keep_rows(system: Array, rows: Sequence[int]) -> None:
    """Drop all constraint rows but these from a system array, in place: for a method that cannot bear redundant rows."""
    start, kept = int(system[layout.AT_CONSTRAINTS]), sorted(rows)
    for k, r in enumerate(kept):
        system[start + k * at.ROW_SIZE : start + (k + 1) * at.ROW_SIZE] = system[start + r * at.ROW_SIZE : start + (r + 1) * at.ROW_SIZE]
    system[layout.HOLONOMIC] = sum(r < int(system[layout.HOLONOMIC]) for r in kept)
    system[layout.CONSTRAINTS] = len(kept)
