"""The kinetic energy that no motion from a start can have: where steps that are too large let energy grow beyond it, a run ends.

    RUNAWAY (kinetic energy + elastic energy + sum over links of m |g| 2 reach),     reach <= sum of the arms from the first joint on

A motion of a machine that only its weight, springs and dampers move stays below a RUNAWAY-th of that.
"""

from __future__ import annotations

import numpy as np

from dalembert.arrays import Array
from dalembert.kernels.tree import layout as at
from dalembert.kernels.tree.rows import state_rows
from dalembert.kernels.tree.variational.layout import state_places
from dalembert.model import Model
from dalembert.model.compile_tree import work_size

RUNAWAY = 9.0
NONE, NO_ROWS = np.zeros(0), np.zeros((0, 6))


def expect(model: Model, system: Array, q: Array, v: Array, state: Array) -> None:
    """Write the ceiling into the state of the start: `expect_rows` of one."""
    expect_rows(model, system[None], q[None], v[None], state[None])


def expect_rows(model: Model, systems: Array, q: Array, v: Array, states: Array) -> None:
    """Write the ceilings into the states of starts, 0 (none) where a force or a joint may drive the machine, or its weight by way of a
    joint that lets it fall for ever. Those states hold the momentum: T = p . v/2.

    systems: of each start, or one that all share. model: of all of them, but for its numbers.
    """
    place = state_places(model.nq, model.nv)[0]
    if model.driven or any(f.drives for f in model.forces):
        states[:, place.ceiling] = 0.0
        return
    with np.errstate(over="ignore", invalid="ignore"):  # of velocities that no step can take
        kinetic = 0.5 * _dots(states[:, place.p : place.p + model.nv], v)
        most = RUNAWAY * (kinetic + elastic(model, systems, q) + fall(systems))
        states[:, place.ceiling] = np.where((most > 0.0) & (most < np.inf), most, 0.0)


def _dots(a: Array, b: Array) -> Array:
    """a . b of each row, column by column: a row among others has the digits of one alone."""
    total = np.zeros(len(a))
    for x, y in zip(a.T, b.T, strict=True):
        total = total + x * y
    return total


def _links(systems: Array) -> Array:
    n = int(systems[0, at.LINKS])
    return systems[:, at.HEADER : at.HEADER + n * at.LINK_SIZE].reshape(len(systems), n, at.LINK_SIZE)


def elastic(model: Model, systems: Array, q: Array) -> Array:
    """Energy of springs and other forces, joint stiffness and limits that are exceeded, of each start."""
    total = np.zeros(len(q))
    if any(f.has_potential() for f in model.forces) or any(j.stiffness for j in model.joints):
        total = np.maximum(_stored(systems, q), 0.0)
    links = _links(systems)
    for i in np.flatnonzero((links[:, :, at.LIMIT_STIFFNESS] > 0.0).any(axis=0)):
        link, x = links[:, i], q[:, int(links[0, i, at.Q_AT])]
        beyond = np.maximum(np.maximum(x - link[:, at.LIMIT_HIGH], link[:, at.LIMIT_LOW] - x), 0.0)
        total = total + 0.5 * link[:, at.LIMIT_STIFFNESS] * beyond**2
    return total


def _stored(systems: Array, q: Array) -> Array:
    """Potential energy without the weight."""
    out, rest = np.empty(len(q)), np.zeros((0, int(systems[0, at.NV])))
    work, weightless = np.zeros(work_size(systems[0]) + 6), np.array(systems)
    weightless[:, at.GRAVITY : at.GRAVITY + 3] = 0.0
    for k in range(len(q)):
        state_rows(weightless[min(k, len(systems) - 1)], np.ascontiguousarray(q[k : k + 1]), rest, work, NONE, out[k : k + 1], NO_ROWS)
    return out


def fall(systems: Array) -> Array:
    """By how much the potential energy of the weight of each machine can change, at most."""
    g, links = _length(systems[:, at.GRAVITY : at.GRAVITY + 3]), _links(systems)
    arms = _arms(links[0])
    mass, moment = links[:, :, at.MASS], _length(links[:, :, at.MOMENT : at.MOMENT + 3])
    with np.errstate(invalid="ignore"):  # nothing that is far away
        each = np.where(mass > 0.0, 2.0 * g[:, None] * (mass * arms + moment), 0.0)
    return np.where(g == 0.0, 0.0, np.cumsum(each, axis=1)[:, -1])  # one after the other, whatever the number of rows


def _arms(links: Array) -> Array:
    """Distance of each link from the first joint, at most: the same for all machines of one structure."""
    arms, own = np.zeros(len(links)), _length(links[:, at.P_TREE : at.P_TREE + 3])
    far = (links[:, at.KIND] == at.PRISMATIC) | (links[:, at.KIND] == at.FREE)
    for i, parent in enumerate(links[:, at.PARENT].astype(int).tolist()):
        arms[i] = np.inf if far[i] else arms[parent] + own[i] if parent >= 0 else 0.0
    return arms


def _length(x: Array) -> Array:
    """Of triples of numbers, (..., 3)."""
    return np.sqrt(x[..., 0] * x[..., 0] + x[..., 1] * x[..., 1] + x[..., 2] * x[..., 2])
