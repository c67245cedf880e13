"""Shapes of one machine that overlap where they should not: parts of a robot whose shapes are coarser than the robot.

Convex hulls of a hip and of the second link behind it often overlap however the robot stands; joints then press against contacts with all
their stiffness. Such pairs are left out, as robotics does, by asking at configurations where nothing is to touch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.contact.detector import Detector
from dalembert.contact.scene import Scene
from dalembert.kernels.bodies import layout as at
from dalembert.model.compile_bodies import compile_bodies
from dalembert.model.cut import body_state, cut
from dalembert.model.features import can_touch
from dalembert.model.lumps import lump

if TYPE_CHECKING:
    from dalembert.contact.machine import Machine
    from dalembert.model.model import Model

DEPTH = 1e-3  # m


def overlapping(m: Machine, depth: float = DEPTH) -> dict[tuple[str, str], float]:
    """{pair of bodies: depth, m} of contacts at the state of a machine between bodies that joints connect. Its memory is forgotten."""
    if m.detector is None or not m.joints:
        return {}
    return _deep(m.detector, m.states, m.bodies.names, _machines(m.bodies), depth)


def _deep(detector: Detector, states: Any, names: tuple[str, ...], part: list[int], depth: float) -> dict[tuple[str, str], float]:
    found: dict[tuple[str, str], float] = {}
    count = detector.detect(states[:, :3].copy(), states[:, 3:7].copy())
    for k in range(max(count, 0)):
        a, b = (int(i) for i in detector.contacts.bodies[k])
        if min(a, b) >= 0 and part[a] == part[b] and detector.contacts.gap[k] < -depth:
            pair = (names[a], names[b])
            found[pair] = max(found.get(pair, 0.0), -float(detector.contacts.gap[k]))
    detector.forget()
    return found


def _machines(bodies: Any) -> list[int]:
    """For every body the number of the machine that it belongs to: bodies that joints connect."""
    part = list(range(len(bodies.names)))

    def root(i: int) -> int:
        while part[i] != i:
            i = part[i]
        return i

    for j in range(bodies.count(at.JOINTS)):
        record = int(bodies.system[at.AT_JOINTS]) + j * at.JOINT_SIZE
        a, b = int(bodies.system[record + at.BODY_A]), int(bodies.system[record + at.BODY_B])
        if min(a, b) >= 0 and max(a, b) < len(part):  # behind them: companions of couplings
            part[root(a)] = root(b)
    return [root(i) for i in range(len(part))]


def exclude_overlaps(model: Model, q: Any = None, depth: float = DEPTH) -> list[tuple[str, str]]:
    """Exclude all pairs of bodies of one machine whose shapes overlap by more than depth (m) at q; they are returned.

    q: as q0 of `simulate`, a configuration in which nothing of the machine touches itself; default: the reference configuration.
    """
    smooth = model.without("function")
    free = cut(smooth, lend=True)
    if not can_touch(free):
        return []
    bodies = compile_bodies(free)
    start = body_state(smooth, smooth.check_q(q), np.zeros(smooth.nv))
    found = _deep(Detector(Scene.of(free, bodies.names)), bodies.states(*start), bodies.names, _machines(bodies), depth)
    lead = lump(free)[0]
    members = {name: [b.name for b in free.bodies if lead[b.name] == name] for name in bodies.names}
    for a, b in found:
        for x in members[a]:
            for y in members[b]:
                if all(any(s.collide for s in model.body(name).shapes) for name in (x, y)):
                    model.exclude(x, y)
    return list(found)
