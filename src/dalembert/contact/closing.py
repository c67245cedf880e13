"""Whether the joints of a machine can be closed at all: two locks that disagree, a loop that is too short.

A step has a solution whatever joints ask, so contradictions would be steps that are "solved" while joints pull against each other with all
their stiffness. Where joints are open at the start, they are closed by least squares on the poses of the bodies (Gauss and Newton, damped):

    minimise |g|^2,   g the rows that hold without giving way: position rows of joints without a compliance or force limits, and drives

Small turns by chance lead out of half-turn errors, which no derivative sees. What remains open at the best poses found contradicts.
Joints that are open and can be closed are no error: steps draw them together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import AssemblyError
from dalembert.kernels.bodies import layout as at
from dalembert.kernels.bodies import motion
from dalembert.kernels.bodies.measures import measure
from dalembert.kernels.bodies.targets import prescribe
from dalembert.kernels.contact.codes import BILATERAL

if TYPE_CHECKING:
    from dalembert.contact.machine import Machine

OPEN = 1e-4  # m, rad: joints that are less open are not looked at
CLOSED = 1e-6  # of the size of the machine, or rad
STALLED = 1e-4  # what a round must gain at least, relative
ROUNDS, STARTS, CHANCE = 60, 3, 0.05  # of the search; starts; rad, m by which the later ones are moved


class Held:
    """Rows of a machine that hold without giving way, as functions of the states of its bodies."""

    def __init__(self, m: Machine):
        self.m, system = m, m.bodies.system
        self.names: list[str] = []
        found: list[tuple[int, ...]] = []
        self.rest: list[tuple[float, float, float]] = []
        room = m.room
        prescribe(system, 0.0, m.inputs, room.targets, room.rates, room.call)
        for c in range(m.constraints):
            head = int(system[at.AT_CONSTRAINTS]) + c * at.CONSTRAINT_SIZE
            joint = int(system[head + at.OF_JOINT])
            place = int(system[at.AT_JOINTS]) + joint * at.JOINT_SIZE
            ends = int(system[place + at.BODY_A]), int(system[place + at.BODY_B])
            for r in range(int(system[head + at.FIRST_ROW]), int(system[head + at.LAST_ROW])):
                row = int(system[at.AT_ROWS]) + r * at.ROW_SIZE
                if self._holds(system, head, row):
                    which = int(system[row + at.TARGET])
                    target = 0.0 if which < 0 else float(system[row + at.GAIN] * room.targets[which])
                    found.append((int(system[row + at.OF_MEASURE]), *ends))
                    self.rest.append((float(system[row + at.SIGN]), float(system[row + at.REST]), target))
                    self.names.append(m.bodies.joints[joint])
        self.rows = np.array(found, dtype=np.int64).reshape(-1, 3)

    def _holds(self, system: Array, head: int, row: int) -> bool:
        m = self.m
        if int(system[head + at.LAW]) != BILATERAL or int(system[row + at.MODE]) != at.POSITION:
            return False
        driven = m.motors <= system[row + at.TARGET] < m.motors + m.bodies.count(at.DRIVES)
        return bool((system[head + at.HOLDS] > 0.0 or driven) and system[row + at.COMPLIANCE] <= m.settings.joint_eps)

    def residuals(self, states: Array) -> tuple[Array, Array]:
        """(g, J_measures) at states."""
        values, J = self.m.room.values.copy(), np.zeros_like(self.m.room.J_measures)
        measure(self.m.bodies.system, states, values, J)
        sign, rest, target = np.array(self.rest).reshape(-1, 3).T
        return sign * (values[self.rows[:, 0]] - rest - target), J

    def matrix(self, J: Array) -> Any:
        """dg/dx, sparse."""
        from scipy.sparse import coo_matrix

        sign = np.array(self.rest).reshape(-1, 3)[:, 0]
        where, columns, numbers = [], [], []
        for side in range(2):
            own = self.rows[:, 1 + side] >= 0
            r = np.flatnonzero(own)
            where.append(np.repeat(r, 6))
            columns.append((6 * self.rows[own, 1 + side][:, None] + np.arange(6)).ravel())
            numbers.append((sign[own, None] * J[self.rows[own, 0], 6 * side : 6 * side + 6]).ravel())
        parts = (np.concatenate(x) for x in (numbers, where, columns))
        data, i, j = parts
        return coo_matrix((data, (i, j)), shape=(len(self.rows), 6 * self.m.n)).tocsr()


def moved(states: Array, step: Array) -> Array:
    """States whose bodies are turned and shifted by (turn, shift) each."""
    out = states.copy()
    motion.advance(1.0, step, np.full(len(states), motion.BALANCED, dtype=np.int64), out)
    return out


def closed(held: Held, states: Array, size: float) -> tuple[Array, Array]:
    """(g, states) where |g| is least, from states."""
    from scipy.sparse.linalg import lsmr

    g, J = held.residuals(states)
    for _ in range(ROUNDS):
        if np.abs(g).max() <= CLOSED * size:
            break
        step = lsmr(held.matrix(J), -g, damp=1e-6, atol=1e-12, btol=1e-12, maxiter=20 * len(g) + 100)[0]
        step *= min(1.0, 0.5 / max(float(np.abs(step).max()), 1e-300))
        for _ in range(12):
            trial = moved(states, step)
            g_trial, J_trial = held.residuals(trial)
            if np.linalg.norm(g_trial) < np.linalg.norm(g):
                break
            step *= 0.5
        gained = 1.0 - np.linalg.norm(g_trial) / np.linalg.norm(g)
        if gained <= 0.0:
            break
        states, g, J = trial, g_trial, J_trial
        if gained < STALLED:
            break
    return g, states


def contradictions(m: Machine) -> dict[str, float]:
    """{joint: how far it stays open, m or rad} where the joints of a machine cannot all be closed; empty where they can."""
    if not m.joints:
        return {}
    held = Held(m)
    if not len(held.rows):
        return {}
    g = held.residuals(m.states)[0]
    if np.abs(g).max() <= OPEN:
        return {}
    places = m.states[:, :3]
    size = max(1.0, float(np.ptp(places, axis=0).max()))
    rng, best = np.random.default_rng(0), None
    for k in range(STARTS):
        start = m.states if k == 0 else moved(m.states, CHANCE * rng.normal(size=6 * m.n))
        g = closed(held, start, size)[0]
        if np.abs(g).max() <= OPEN:
            return {}
        if best is None or np.linalg.norm(g) < np.linalg.norm(best):
            best = g
    assert best is not None
    worst: dict[str, float] = {}
    for name, x in zip(held.names, np.abs(best), strict=True):
        if x > 0.5 * OPEN:
            worst[name] = max(worst.get(name, 0.0), float(x))
    return worst


def refuse_contradictions(m: Machine, name: str) -> None:
    """AssemblyError that names the joints that cannot all be closed."""
    found = contradictions(m)
    if found:
        most = sorted(found.items(), key=lambda item: -item[1])
        words = ", ".join(f"{joint!r} ({gap:.3g} m or rad)" for joint, gap in most[:6])
        raise AssemblyError(
            f"model {name!r}: joints {words}{' and others' if len(most) > 6 else ''} contradict each other: they stay open by this much "
            "wherever the bodies are put. Correct an anchor, an axis, a length or a drive, remove one of them, or give it a compliance.",
            errors=found,
        )
