"""Nothing penetrates at nodes: gaps >= 0 of all points of bodies that have a planned contact, at all nodes where it is not closed.

Points of a body against a plane of the world, balls against balls. Two bodies of which one has a face that is touched: a plane between them
(control/separation.py) at each node where they do not touch, with a margin; where they do, the points of the first are above the face.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np

from dalembert.control.avoidance import pairs
from dalembert.control.blocks import Block
from dalembert.control.contacts import Ball, Gap, gap_expressions, points
from dalembert.control.separation import separate
from dalembert.errors import OptionError
from dalembert.model.parts import WORLD

MARGIN = 1e-4  # m, between bodies that do not touch yet
INSIDE = 1e-7  # m


def keep_clear(made: Any, contacts: list[Any]) -> None:
    """Rows of all points against all that is touched. contacts: entries with `gap` and `closed`, the nodes where it is 0."""
    seen: dict[Any, list[Any]] = {}
    for contact in contacts:
        touch = contact.gap.touch
        if touch.gap is not None:
            made.add(_own(made, [contact]))
            continue
        what = contact.gap.what
        key = (touch.body, what.owner, touch.face, isinstance(what, Ball), tuple(np.ravel(what[1])), what[2])
        seen.setdefault(key, []).append(contact)
    for same in seen.values():
        touch = same[0].gap.touch
        faces = touch.face is not None and touch.on != WORLD
        made.add(_bodies(made, same, faces))
        if faces:
            _apart(made, same)


def _apart(made: Any, contacts: list[Any]) -> None:
    """Planes between two bodies at nodes where none of their contacts is closed."""
    touch, N = contacts[0].gap.touch, made.chain.N
    closed = set().union(*(c.closed for c in contacts))
    if not all(any(s.collide for s in made.machine.whole.body(name).shapes) for name in (touch.body, touch.on)):
        return
    nodes = [k for k in range(1, N + 1) if k not in closed]
    separate(made, pairs(made.machine, [(touch.body, touch.on)]), MARGIN, False, nodes)


def _own(made: Any, contacts: list[Any]) -> Block:
    """The gap of a contact itself."""
    gap: Gap = contacts[0].gap
    q, chain = ca.SX.sym("q", made.machine.nq), made.chain
    lower = np.zeros((chain.N + 1, 1))
    for contact in contacts:
        lower[sorted(contact.closed)] = -np.inf
    places = [f"node {k}" for k in range(chain.N + 1)]
    index = chain.q[chain.nodes]
    return Block(f"clearance: {gap.name}", q, index, rows=gap.value(q), lower=lower, upper=np.inf, names=[gap.name], places=places)


def _bodies(made: Any, contacts: list[Any], faces: bool) -> Block:
    """All points of a body against a plane, a face or a ball; the points that touch are left out where they do.

    faces: rows hold at nodes of contacts alone.
    """
    machine, chain, gap = made.machine, made.chain, contacts[0].gap
    touch, what = gap.touch, gap.what
    found = [*({tuple(np.round(x.gap.point, 12)): (x.gap.point, x.gap.radius) for x in contacts}).values()]
    shapes = _shape_points(machine, touch)
    found += [(x, r) for x, r in shapes if all(np.linalg.norm(x - y) > 1e-9 for y, _ in found)]
    q = ca.SX.sym("q", machine.nq)
    rows = [g for g, _ in gap_expressions(machine, q, [(touch.body, x, r) for x, r in found], what)]
    lower = np.zeros((chain.N + 1, len(found)))
    for contact in contacts:
        i = next(i for i, (x, _) in enumerate(found) if np.linalg.norm(x - contact.gap.point) <= 1e-9)
        lower[sorted(contact.closed), i] = -np.inf
    if faces:
        lower[sorted(set(range(chain.N + 1)) - set().union(*(c.closed for c in contacts)))] = -np.inf
    _check_ends(made, ca.Function("gaps", [q], [ca.vertcat(*rows)]), lower, gap.name)
    names = [f"gap of {touch.body} at {np.round(x, 4).tolist()}" for x, _ in found]
    places = [f"node {k}" for k in range(chain.N + 1)]
    index = chain.q[chain.nodes]
    return Block(f"clearance: {gap.name}", q, index, rows=ca.vertcat(*rows), lower=lower, upper=np.inf, names=names, places=places)


def _shape_points(machine: Any, touch: Any) -> list[Any]:
    """Points of the shapes of a body; none where it has no shapes: the contact has a point of its own then."""
    model = machine.whole
    if not any(s.collide for s in model.body(touch.body).shapes):
        return []
    return points(model, replace(touch, point=None))


def _check_ends(made: Any, gaps: Any, lower: Any, name: str) -> None:
    """The start is where nothing penetrates."""
    at = made.chain.q[0]
    first = made.least[at]
    if np.array_equal(first, made.most[at]) and np.isfinite(first).all():
        worst = float(np.min(np.where(np.isfinite(lower[0]), np.array(gaps(first)).ravel(), 0.0), initial=0.0))
        if worst < -INSIDE:
            raise OptionError(f"dmocc: start: {name}: they overlap by {-worst:.3g} m; expected bodies that are apart or touch.")
