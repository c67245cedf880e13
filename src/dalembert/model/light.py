"""Bodies that cannot be free because they have no inertia, lent some by what they carry.

A file of a robot has frames without mass between the hinges of a hip or a wrist, slender rods and point masses: well defined in a tree, where
they move with what they carry, but not as free bodies. In body coordinates

    a body without mass                    takes the share mu = 1/1000 of the next bodies with mass that its joints carry: of their mass and
                                           inertia, as it lies in space at the reference configuration. They keep the rest
    a body with mass, but no inertia       gets at least 1/100 of its largest principal inertia about every axis; a point mass that of a ball
    about some axis                        whose radius of gyration is 1/100 of the distance to its joint (1 cm where that is 0)

so mass, centre of mass and inertia of the machine at the reference configuration are the same, or larger by 1e-4 of a point's arm.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from dalembert.arrays import Array
from dalembert.model import validate
from dalembert.model.lumps import Rigid, lump
from dalembert.model.parts import Body
from dalembert.model.rotation import matrix

if TYPE_CHECKING:
    from dalembert.model.model import Model

SHARE = 1e-3  # of the bodies that are carried
THIN = 1e-2  # least principal inertia, of the largest; radius of gyration, of the arm
SINGULAR = 1e-14  # principal inertias below this share of their sum are none


def is_light(whole: Rigid) -> bool:
    """Whether a body, with what is fixed to it, cannot be free."""
    return whole.mass <= 0.0 or bool(np.linalg.eigvalsh(whole.inertia)[0] <= SINGULAR * np.trace(whole.inertia))


def lend_inertia(free: Model) -> list[str]:
    """Give inertia to the bodies of a machine cut free that have none; their names. What carries nothing with mass is left as it is."""
    lead, wholes = lump(free)
    light = [name for name, whole in wholes.items() if is_light(whole)]
    for name in light:
        if wholes[name].mass > 0.0:
            free._bodies[name] = _thickened(free, wholes[name])
    lent = {name: _heavy(free, lead, wholes, name) for name in light if wholes[name].mass <= 0.0}
    takers: dict[str, int] = {}
    for givers in lent.values():
        for giver in givers:
            takers[giver] = takers.get(giver, 0) + 1
    for name, givers in lent.items():
        if givers:
            free._bodies[name] = _with_shares(free.body(name), [_in_space(wholes[giver]) for giver in givers])
    for b in list(free.bodies):
        if lead[b.name] in takers:
            left = 1.0 - SHARE * takers[lead[b.name]]
            free._bodies[b.name] = replace(b, mass=left * b.mass, inertia=validate.frozen(left * b.inertia))
    return light


def _heavy(free: Model, lead: dict[str, str], wholes: dict[str, Rigid], name: str) -> list[str]:
    """The next bodies with mass and inertia that the joints of a body carry."""
    found: list[str] = []
    for x in free.loops:
        if x.kind == "coupling" or lead.get(x.parent) != name or lead[x.child] == name:
            continue
        child = lead[x.child]
        found += [child] if child in wholes and not is_light(wholes[child]) else _heavy(free, lead, wholes, child)
    return list(dict.fromkeys(found))


def _in_space(whole: Rigid) -> tuple[float, Array, Array]:
    """(mass, centre of mass, inertia about it) in world axes at the reference configuration."""
    R = matrix(whole.body.quaternion)
    return whole.mass, whole.body.position + R @ whole.com, R @ whole.inertia @ R.T


def _with_shares(body: Body, givers: list[tuple[float, Array, Array]]) -> Body:
    """A body without mass with its share of others."""
    mass = sum(m for m, _, _ in givers)
    com = sum((m * x for m, x, _ in givers), np.zeros(3)) / mass
    inertia = np.zeros((3, 3))
    for m, x, I in givers:
        d = x - com
        inertia += I + m * (d @ d * np.eye(3) - np.outer(d, d))
    R = matrix(body.quaternion)
    numbers = {"com": R.T @ (com - body.position), "inertia": SHARE * R.T @ inertia @ R}
    return replace(body, mass=SHARE * mass, physical=False, **{what: validate.frozen(x) for what, x in numbers.items()})


def _thickened(free: Model, whole: Rigid) -> Body:
    """A body with inertia about every axis. What is fixed to it keeps its own: the difference is given to the body."""
    values, axes = np.linalg.eigh(whole.inertia)
    least = THIN * values[-1] if values[-1] > 0.0 else whole.mass * (THIN * _arm(free, whole)) ** 2
    more = (axes * (np.maximum(values, least) - values)) @ axes.T
    return replace(whole.body, inertia=validate.frozen(whole.body.inertia + more), physical=False)


def _arm(free: Model, whole: Rigid) -> float:
    """From the joint of a body to its centre of mass."""
    place = _in_space(whole)[1]
    arms = [float(np.linalg.norm(place - x.anchor)) for x in free.loops if x.kind != "coupling" and x.child == whole.body.name]
    return max(arms, default=0.0) or 1.0
