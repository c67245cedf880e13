"""Which bodies can touch: the feature `contact`.

A shape collides unless it is for pictures alone (collide=False). Two bodies can touch if a shape of one and a shape of the other collide,
but for

    bodies that are fixed to each other, or both in the world
    neighbours: bodies that a joint or a loop joint joins, also several of them with frames without mass between them (a body may touch the
    world that carries it)
    pairs that `exclude(a, b)` names

An imported file may say more: bits `contype` and `conaffinity` of a shape (two shapes collide if one's type meets the other's affinity),
pairs that touch whatever else holds (source["contact pairs"], the names of their shapes in source["contact pair shapes"]), and that
neighbours touch as well (source["neighbours touch"]). Where bodies can ever get is not looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

from dalembert.model.parts import WORLD
from dalembert.model.shapes import Shape

if TYPE_CHECKING:
    from dalembert.model.model import Model

APART = ("distance", "coupling")  # loops whose bodies need not meet


def touching(model: Model) -> Iterator[tuple[str, str]]:
    """Pairs of bodies that can touch; the world comes last in a pair."""
    shapes = {**{b.name: b.shapes for b in model.bodies}, WORLD: model.world_shapes}
    bits = {name: _bits(own) for name, own in shapes.items() if any(s.collide for s in own)}
    if len(bits) > 1:
        named = {frozenset(pair) for pair in model.source.get("contact pairs", ())}
        apart = model._excluded | (set() if model.source.get("neighbours touch") else neighbours(model))
        lead = leads(model)
        for a, b in combinations(bits, 2):
            if frozenset((a, b)) in named:
                yield a, b
            elif lead[a] == lead[b] or {frozenset((a, b)), frozenset((lead[a], lead[b]))} & apart:
                continue
            elif bits[a][0] & bits[b][1] or bits[b][0] & bits[a][1]:
                yield a, b


def _bits(shapes: Sequence[Shape]) -> tuple[int, int]:
    """(types, affinities) of all shapes together: one of them meets another's bits if and only if the union does."""
    kind = affinity = 0
    for s in shapes:
        if s.collide:
            kind |= int(s.extra.get("contype", 1))
            affinity |= int(s.extra.get("conaffinity", 1))
    return kind, affinity


def leads(model: Model) -> dict[str, str]:
    """For every body the one that carries it by fixed joints, or the world."""
    above = {j.child: j.parent for j in model.joints if j.kind == "fixed"}
    found = {WORLD: WORLD}
    for b in model.bodies:
        name = b.name
        while name in above:
            name = above[name]
        found[b.name] = name
    return found


def neighbours(model: Model) -> set[frozenset[str]]:
    """Pairs of bodies that a joint joins, and of the bodies that carry them."""
    lead = leads(model)
    joined = [(j.parent, j.child) for j in model.joints] + [(x.parent, x.child) for x in model.loops if x.kind not in APART]
    found = {frozenset(pair) for pair in joined if WORLD not in pair}
    through = _frames(model, joined)
    found |= {frozenset((through[a], b)) for a, b in joined if a in through and WORLD not in (through[a], b)}
    return found | {frozenset((lead[a], lead[b])) for a, b in joined if WORLD not in (lead[a], lead[b])}


def _frames(model: Model, joined: list[tuple[str, str]]) -> dict[str, str]:
    """For frames between the joints of one body, which have no mass and no shape that collides: the body that carries them."""
    above = {child: parent for parent, child in reversed(joined)}
    frames = {b.name for b in model.bodies if not any(s.collide for s in b.shapes) and not b.physical and b.name in above}
    found = {}
    for name in frames:
        carrier = name
        while carrier in frames:
            carrier = above[carrier]
        found[name] = carrier
    return found


def remove_contacts(m: Model) -> None:
    """Leave all shapes for pictures alone."""
    m._bodies = {name: replace(b, shapes=tuple(s.for_pictures() for s in b.shapes)) for name, b in m._bodies.items()}
    m.world_shapes = tuple(s.for_pictures() for s in m.world_shapes)
    m._contacts = {}
    m.source.pop("contact pairs", None)
    m.source.pop("contact pair shapes", None)
