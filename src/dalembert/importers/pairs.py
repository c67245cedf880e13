"""Friction of contact pairs of an MJCF file, as laws of contact of two bodies.

MuJoCo gives a pair five coefficients, along its first and second tangent, about the normal, and against rolling about the two tangents, of
which `condim` says how many count. Its tangents are functions of the normal: the first one is the part of y across it, or of z where the
normal is within 60 degrees of y. With the world that is a friction_axis (0, 1, 0); between two bodies it would turn with neither of them,
and is noted, as are pairs of bodies that touch with other shapes too, or pairs of shapes of the same bodies that differ.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.importers.build import Builder
from dalembert.model.parts import WORLD

USUAL = {"solref": (0.02, 1.0), "solreffriction": (0.0, 0.0), "solimp": (0.9, 0.95, 0.001, 0.5, 2.0), "margin": (0.0,), "gap": (0.0,)}


def add_pair_laws(builder: Builder) -> None:
    """`Model.add_contact` for the bodies of pairs."""
    mj = builder.mj
    found: dict[frozenset[str], list[int]] = {}
    for k in range(mj.npair):
        ends = frozenset(builder.body_names[int(mj.geom_bodyid[g])] for g in _geoms(mj, k))
        if len(ends) == 2:
            found.setdefault(ends, []).append(k)
        if any(tuple(np.atleast_1d(getattr(mj, f"pair_{what}")[k])) != usual for what, usual in USUAL.items()):
            builder.notes.add("softness and margin of contact pairs", _name(mj, k))
    for bodies, pairs in found.items():
        law = _law(builder, bodies, pairs)
        if law is None:
            builder.notes.add("friction of contact pairs", [_name(mj, k) for k in pairs])
        else:
            a, b = sorted(bodies, key=lambda name: name != WORLD)
            builder.model.add_contact(a, b, **law)


def _law(builder: Builder, bodies: frozenset[str], pairs: list[int]) -> dict[str, Any] | None:
    """Arguments of `add_contact`; None where two bodies cannot say it."""
    mj = builder.mj
    if any(_numbers(mj, k) != _numbers(mj, pairs[0]) for k in pairs) or not _all_named(builder, bodies, pairs):
        return None
    one, two, spin, roll, other = _numbers(mj, pairs[0])
    if roll != other or (one != two and WORLD not in bodies):
        return None
    friction = {"friction": one} if one == two else {"friction": (one, two), "friction_axis": (0.0, 1.0, 0.0)}
    return {**friction, "torsion": spin, "rolling": roll}  # 0 too: not those of the shapes


def _numbers(mj: Any, k: int) -> tuple[float, ...]:
    """The five coefficients, 0 for those that condim leaves out."""
    count = {1: 0, 3: 2, 4: 3, 6: 5}[int(mj.pair_dim[k])]
    return tuple(float(x) if i < count else 0.0 for i, x in enumerate(mj.pair_friction[k]))


def _all_named(builder: Builder, bodies: frozenset[str], pairs: list[int]) -> bool:
    """Whether no shapes of the two bodies touch but those of the pairs."""
    mj, named = builder.mj, {frozenset(_geoms(builder.mj, k)) for k in pairs}
    a, b = ([g for g in range(mj.ngeom) if builder.body_names[int(mj.geom_bodyid[g])] == name] for name in bodies)
    types, others = mj.geom_contype, mj.geom_conaffinity
    return all(frozenset((g, h)) in named or not ((types[g] & others[h]) or (types[h] & others[g])) for g in a for h in b)


def _geoms(mj: Any, k: int) -> tuple[int, int]:
    return int(mj.pair_geom1[k]), int(mj.pair_geom2[k])


def _name(mj: Any, k: int) -> str:
    return mj.pair(k).name or f"pair {k}"
