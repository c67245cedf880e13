"""`avoid=` of a plan: what must stay apart, read, checked, and put into the problem.

    avoid = True                        everything of the model that can touch (model/touching.py: neighbours and m.exclude(a, b) left out)
    avoid = [("hand", "table"),         two bodies, or a body and the "world"
             ("hand", dal.Sphere(0.1), (x, y, z)),      a body and a shape in the world, at a place or pose
             ("hand", dal.control.Obstacle([...], pose, "shelf")),
             dal.Box((1, 1, 1), position=(...)),        the same, and all bodies with shapes that move
             dal.control.Obstacle(...)]
    avoid = dal.control.Avoid([...], margin=1e-4, planes="arcs", form="planes")

Where start or goal are contacts (distance within the margin), the first or last interval of the pair is left out: its equations would
depend on those of the goal. Start, goal or waypoints that overlap are refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from dalembert.control.distance_rows import balls_apart, keep_apart
from dalembert.control.distances import AT_HOME, TOUCHING, Pose, Ruler
from dalembert.control.ends import Node
from dalembert.control.obstacles import Obstacle, Solid, coarser, of_obstacle, of_owner
from dalembert.control.separation import separate
from dalembert.control.sides import Pair
from dalembert.errors import OptionError, UnknownNameError, UnsupportedError
from dalembert.model.parts import WORLD
from dalembert.model.shapes import Shape
from dalembert.model.touching import touching

PLANES = ("arcs", "chords", "nodes")
FORMS = ("planes", "distance", "lp")
MARGIN = 1e-4  # m


@dataclass(frozen=True, eq=False)
class Avoid:
    """What a plan avoids, and how.

    what    True, or a list of pairs, shapes and obstacles (control/avoidance.py)
    margin  least distance, m
    planes  "arcs": one plane for the whole motion in each step, so that nothing tunnels; "chords": for both ends of each step, as if all
            moved straight between them; "nodes": one at each node
    form    "planes": separating planes are variables; "distance": balls by their distance, all else by planes; "lp": the signed distance
            of `dal.contact.sshlp` is a row (control/distance_rows.py)
    """

    what: Any = True
    margin: float = MARGIN
    planes: str = "arcs"
    form: str = "planes"

    def __post_init__(self) -> None:
        if self.planes not in PLANES:
            raise UnknownNameError("planes of Avoid", self.planes, PLANES)
        if self.form not in FORMS:
            raise UnknownNameError("form of Avoid", self.form, FORMS)
        try:
            good = 0.0 <= float(self.margin) < np.inf
        except (TypeError, ValueError):
            good = False
        if not good:
            raise OptionError(f"Avoid: margin is {self.margin!r}; expected a length of 0 m or more.")


def add(made: Any, given: Any, first: Node, last: Node, waypoints: Sequence[tuple[int, Node]]) -> None:
    """Put what is to be avoided into a draft."""
    if given is None or given is False or (isinstance(given, (tuple, list)) and len(given) == 0):
        return
    wanted = given if isinstance(given, Avoid) else Avoid(given)
    made.margin = float(wanted.margin)
    swept, arcs, N = wanted.planes != "nodes", wanted.planes == "arcs", made.chain.N
    put = {"planes": separate, "distance": balls_apart, "lp": keep_apart}[wanted.form]
    for pair in pairs(made.machine, wanted.what):
        if not _moves(made.machine, pair):
            continue
        for k, node in waypoints:
            _apart(made, pair, node, f"waypoint at node {k}", 0.0)
        begins, ends = (_apart(made, pair, node, what, made.margin) for node, what in ((first, "start"), (last, "goal")))
        rough = (coarser(pair[0]), coarser(pair[1]))
        room = made.margin + sum(c.radius - s.radius for c, s in zip(rough, pair, strict=True))
        if all(d is None or d >= room for d in (begins, ends)):
            pair = rough  # where start and goal leave room for it
            _say_coarse(made, rough)
        skip = begins is not None and (begins < made.margin or not swept), ends is not None and (ends < made.margin or not swept)
        put(made, [pair], made.margin, swept, np.arange(int(skip[0]), N + (not swept) - int(skip[1])), arcs)


def _moves(machine: Any, pair: Pair) -> bool:
    """Whether one of the owners moves against the other."""
    places = machine.formulas.tree.places
    first, second = (-1 if s.owner == WORLD else places[s.owner].link for s in pair)
    return bool(first != second)


def _say_coarse(made: Any, pair: Pair) -> None:
    for s in pair:
        note = f"avoid: {len(s.points)} of the {len(s.exact.points)} vertices of {s.name}, grown by {1e3 * s.radius:.2g} mm, stand for it"
        if s.fine is not None and note not in made.notes:
            made.notes.append(note)


def _apart(made: Any, pair: Pair, node: Node, what: str, margin: float) -> float | None:
    """Distance of a pair at a node; None where the node leaves it open. Overlap is refused."""
    found = distance_at(made.machine, pair, node)
    name = f"{pair[0].name} and {pair[1].name}"
    if found is not None and found < -TOUCHING:
        raise OptionError(
            f"dmoc: {what}: {name} overlap by {-found:.3g} m, and avoid= asks for them to be apart; move them, or leave the pair out "
            "(m.exclude(a, b), where avoid=True)."
        )
    if found is not None and found < margin:
        end, owners = "first" if what == "start" else "last", " and ".join(s.name if s.owner == WORLD else s.owner for s in pair)
        note = f"avoid: {owners} touch at the {what}: what touches is not kept apart in the {end} step"
        made.notes += [] if note in made.notes else [note]
    return found


def unhindered(problem: Any) -> Any:
    """The solution of a problem of `dmoc` without what it avoids, found once: a better guess than a line. None where there is none."""
    if problem.recipe is None or not problem.recipe[1].get("avoid"):
        return None
    call, given = problem.recipe
    known = problem.__dict__
    if "_unhindered" not in known:
        found = call(**{**given, "avoid": (), "guess": None, "starts": 1}).solve()
        known["_unhindered"] = found if found.ok else None
        what = f"cost {found.cost:.6g}" if found.ok else "not solved"
        problem.notes.append(f"first the plan that avoids nothing: {what}, {found.stats['seconds']:.2g} s")
    return known["_unhindered"]


# what is told ----------------------------------------------------------------------------------------------------------------------------


def pairs(machine: Any, what: Any) -> list[Pair]:
    """The pairs of solids of what is told."""
    if not hasattr(machine.formulas, "tree"):
        raise UnsupportedError(f"avoid: {machine.whole!r} has no bodies; give path= a function of q instead.")
    if what is True:
        found = [(a, b) for a, b in touching(machine.whole)]
        if not found:
            raise OptionError(f"avoid=True: nothing of {machine.whole!r} can touch; give its bodies shapes, or name obstacles.")
        return _products(((_solids(machine, a), _solids(machine, b)) for a, b in found))
    entries = [what] if _single(what) else what
    if not isinstance(entries, Iterable) or isinstance(entries, str):
        raise OptionError(f"avoid is {what!r}; expected True, or a list of pairs ('a', 'b'), ('a', shape, place), shapes and obstacles.")
    return _products(side for entry in entries for side in _entry(machine, entry))


def _single(what: Any) -> bool:
    """One entry instead of a list of them: a shape, an obstacle, or a tuple that begins with a name."""
    return isinstance(what, (Shape, Obstacle)) or (isinstance(what, tuple) and len(what) > 1 and isinstance(what[0], str))


def _products(sides: Iterable[tuple[list[Solid], list[Solid]]]) -> list[Pair]:
    return [pair for a, b in sides for pair in product(a, b)]


def _entry(machine: Any, entry: Any) -> list[tuple[list[Solid], list[Solid]]]:
    if isinstance(entry, (Shape, Obstacle)):
        thing = of_obstacle(entry if isinstance(entry, Obstacle) else Obstacle(entry))
        places = machine.formulas.tree.places
        moving = [b.name for b in machine.whole.bodies if places[b.name].link >= 0 and any(s.collide for s in b.shapes)]
        if not moving:
            raise OptionError(f"avoid: no body of {machine.whole!r} that moves has a shape; nothing could meet {thing[0].name}.")
        return [(_solids(machine, name), thing) for name in moving]
    if not isinstance(entry, (tuple, list)) or not 2 <= len(entry) <= 3 or not isinstance(entry[0], str):
        raise OptionError(f"avoid: {entry!r}; expected ('a', 'b'), ('a', shape, place), a shape or an obstacle.")
    own, other = _solids(machine, entry[0]), entry[1]
    if isinstance(other, str):
        if len(entry) == 3:
            raise OptionError(f"avoid: {entry!r}; a place belongs to a shape, and {other!r} is a body.")
        if other == entry[0]:
            raise OptionError(f"avoid: {entry!r}; expected two bodies.")
        return [(own, _solids(machine, other))]
    if isinstance(other, Shape):
        other = Obstacle(other, *entry[2:])
    elif not isinstance(other, Obstacle) or len(entry) == 3:
        raise OptionError(f"avoid: {entry!r}; expected the name of a body, a shape with its place, or an obstacle after {entry[0]!r}.")
    return [(own, of_obstacle(other))]


def _solids(machine: Any, name: str) -> list[Solid]:
    """Of a body, or of the world."""
    whole = machine.whole
    known = {b.name: b.shapes for b in whole.bodies} | {WORLD: whole.world_shapes}
    if name not in known:
        raise UnknownNameError("avoid: body", name, known)
    found = of_owner(name, known[name])
    if not found:
        having = [n for n, shapes in known.items() if any(s.collide for s in shapes)]
        raise OptionError(f"avoid: {name!r} has no shape that collides; those that have: {', '.join(having) or 'none'}.")
    return found


# where things are at a node --------------------------------------------------------------------------------------------------------------


def distance_at(machine: Any, pair: Pair, node: Node) -> float | None:
    """Distance of a pair where a node says where both are, or where one is seen from the other, by way of others if need be."""
    a, b = (s.owner for s in pair)
    for found in (known_poses(machine, node), _seen_from(node, a)):
        if a in found and b in found:
            return Ruler(*pair)(found[a], found[b])
    return None


def _seen_from(node: Node, home: str) -> dict[str, Pose]:
    """Poses of bodies in the frame of one of them, as far as `relative` tells."""
    found: dict[str, Pose] = {home: AT_HOME}
    told = {pair: (R, x) for pair, (x, R) in node.relative.items() if x is not None and R is not None}
    for _ in told:
        for (child, parent), (R, x) in told.items():
            if parent in found and child not in found:
                R_p, x_p = found[parent]
                found[child] = R_p @ R, x_p + R_p @ x
            elif child in found and parent not in found:
                R_c, x_c = found[child]
                found[parent] = R_c @ R.T, x_c - R_c @ R.T @ x
    return found


def known_poses(machine: Any, node: Node) -> dict[str, Pose]:
    """Poses (R, x) in the world of the bodies that a node leaves no freedom."""
    tree, found = machine.formulas.tree, {WORLD: AT_HOME}
    sizes = [part.chart.nq for part in machine.formulas.chart.parts]
    starts = {part.q_at: n for part, n in zip(machine.formulas.chart.parts, sizes, strict=True)}
    fixed = list[bool]()
    for link in tree.links:
        own = bool(np.isfinite(node.q[link.q_at : link.q_at + starts[link.q_at]]).all())
        fixed.append(own and (link.parent < 0 or fixed[link.parent]))
    T = np.asarray(machine.whole.poses(np.where(np.isfinite(node.q), node.q, machine.system.neutral())))
    for i, body in enumerate(machine.whole.bodies):
        k = tree.places[body.name].link
        if k < 0 or fixed[k]:
            found[body.name] = T[i, :3, :3], T[i, :3, 3]
    for name, (x, R) in node.poses.items():
        if x is not None and R is not None:
            found[name] = R, x
    return found


__all__ = ["Avoid", "Obstacle", "add", "distance_at", "known_poses", "pairs"]
