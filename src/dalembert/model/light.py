"""Bodies that cannot be free because they have no inertia, lent some by what they carry.

A file of a robot has frames without mass between the hinges of a hip or a wrist, slender rods and point masses: well defined in a tree,
where they move with what they carry, but not as free bodies. In body coordinates

    a body without mass         takes a part of what its joints carry, as it lies in space at the reference configuration: a part that the
                                motion of the joint does not change, so that machine and motion stay the same but for a small rest
    a body with mass, but no    gets at least 1/100 of its largest principal inertia about every axis; a point mass that of a ball
    inertia about some axis     whose radius of gyration is 1/100 of the distance to its joint (1 cm where that is 0)

What joints leave as it is, with the giver's mass m, centre of mass at d from the anchor, least principal inertia l, hinge axis a:

    revolute               mass dm at the anchor, inertia l/5 about all axes across a;     rest: l/20 about a
    spherical, universal   mass dm at the anchor;                                          rest: l/20
    prismatic              inertia l/5;                                                    rest: mass m/1000
    others                                                                                 rest: mass m/1000, inertia l/20

dm is the smaller of m/5 and l/(5 d^2), so that the giver keeps an inertia that is positive.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dalembert.arrays import Array
from dalembert.model import validate
from dalembert.model.lumps import Rigid, lump
from dalembert.model.parts import Body
from dalembert.model.rotation import matrix

if TYPE_CHECKING:
    from dalembert.model.loops import Loop
    from dalembert.model.model import Model

PART = 0.2  # of what a joint leaves as it is
REST_INERTIA, REST_MASS = 5e-2, 1e-3  # of what it does not
THIN = 1e-2  # least principal inertia, of the largest; radius of gyration, of the arm
SINGULAR = 1e-14  # principal inertias below this share of their sum are none
ROUND_OFF = 1e-10  # of m d^2: a smaller inertia is that of a point
ONE = np.eye(3)


class Matter(NamedTuple):
    """Mass, centre of mass and inertia about it, in world axes at the reference configuration."""

    mass: float
    place: Array
    inertia: Array


def is_light(whole: Rigid) -> bool:
    """Whether a body, with what is fixed to it, cannot be free."""
    return whole.mass <= 0.0 or bool(np.linalg.eigvalsh(whole.inertia)[0] <= SINGULAR * np.trace(whole.inertia))


def lend_inertia(free: Model) -> None:
    """Give inertia to the bodies of a machine cut free that have none. What carries nothing with mass is left as it is."""
    lead, wholes = lump(free)
    for name, whole in wholes.items():
        if whole.mass > 0.0 and is_light(whole):
            free._bodies[name] = _thickened(free, whole)
    empty = {name for name, whole in wholes.items() if whole.mass <= 0.0}
    for name in list(empty):
        _fill(free, lead, empty, name)


def _fill(free: Model, lead: dict[str, str], empty: set[str], name: str) -> None:
    """Lend to a body without mass, and before that to those that it carries."""
    if name not in empty:
        return
    empty.discard(name)
    taken = []
    for x in free.loops:
        if x.kind != "coupling" and lead.get(x.parent) == name and lead[x.child] != name:
            _fill(free, lead, empty, lead[x.child])
            giver = max((b for b in free.bodies if lead[b.name] == lead[x.child]), key=lambda b: b.mass)
            if giver.mass > 0.0:
                part = _part(x, _matter(giver))
                free._bodies[giver.name] = _with(giver, _less(_matter(giver), part))
                taken.append(part)
    if taken:
        free._bodies[name] = _with(free.body(name), _sum(taken))


def _part(joint: Loop, of: Matter) -> Matter:
    """What a body lends through a joint."""
    least, d = float(np.linalg.eigvalsh(of.inertia)[0]), of.place - joint.anchor
    dm = min(PART * of.mass, PART * least / max(float(d @ d), 1e-300))
    across = ONE - np.outer(joint.axis, joint.axis)
    if joint.kind == "revolute":
        return Matter(dm, joint.anchor, least * (PART * across + REST_INERTIA * (ONE - across)))
    if joint.kind in ("spherical", "universal"):
        return Matter(dm, joint.anchor, REST_INERTIA * least * ONE)
    share = PART if joint.kind == "prismatic" else REST_INERTIA
    return Matter(REST_MASS * of.mass, of.place, share * least * ONE)


def _steiner(mass: float, d: Array) -> Array:
    return mass * (d @ d * ONE - np.outer(d, d))


def _less(whole: Matter, part: Matter) -> Matter:
    """The rest of a body: its mass, centre of mass and inertia about that."""
    left = whole.mass - part.mass
    place = (whole.mass * whole.place - part.mass * part.place) / left
    moment = whole.inertia + _steiner(whole.mass, whole.place - place)
    return Matter(left, place, moment - part.inertia - _steiner(part.mass, part.place - place))


def _sum(parts: list[Matter]) -> Matter:
    mass = sum(p.mass for p in parts)
    place = sum((p.mass * p.place for p in parts), np.zeros(3)) / mass
    return Matter(mass, place, sum((p.inertia + _steiner(p.mass, p.place - place) for p in parts), np.zeros((3, 3))))


def _matter(body: Body) -> Matter:
    R = matrix(body.quaternion)
    return Matter(body.mass, body.position + R @ body.com, R @ body.inertia @ R.T)


def _with(body: Body, matter: Matter) -> Body:
    R = matrix(body.quaternion)
    inertia = R.T @ matter.inertia @ R
    com, inertia = validate.frozen(R.T @ (matter.place - body.position)), validate.frozen(0.5 * (inertia + inertia.T))
    return replace(body, mass=matter.mass, com=com, inertia=inertia, physical=False)


def _thickened(free: Model, whole: Rigid) -> Body:
    """A body with inertia about every axis. What is fixed to it keeps its own: the difference is given to the body."""
    values, axes = np.linalg.eigh(whole.inertia)
    point = whole.mass * _arm(free, whole) ** 2
    least = THIN * values[-1] if values[-1] > ROUND_OFF * point else THIN**2 * point
    more = (axes * (np.maximum(values, least) - values)) @ axes.T
    return replace(whole.body, inertia=validate.frozen(whole.body.inertia + more), physical=False)


def _arm(free: Model, whole: Rigid) -> float:
    """From the joint of a body to its centre of mass."""
    place = whole.body.position + matrix(whole.body.quaternion) @ whole.com
    arms = [float(np.linalg.norm(place - x.anchor)) for x in free.loops if x.kind != "coupling" and x.child == whole.body.name]
    return max(arms, default=0.0) or 1.0
