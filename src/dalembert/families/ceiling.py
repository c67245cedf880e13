"""The kinetic energy that no motion from a start can have: where steps that are too large let energy grow beyond it, a run ends.

    RUNAWAY (kinetic energy + elastic energy + sum over links of m |g| 2 reach),     reach <= sum of the arms from the first joint on

A motion of a machine that only its weight, springs and dampers move stays below a RUNAWAY-th of that.
"""

from __future__ import annotations

import numpy as np

from dalembert.arrays import Array
from dalembert.kernels.tree import layout as at
from dalembert.kernels.tree.variational.layout import state_places
from dalembert.model import Model

RUNAWAY = 9.0


def expect(model: Model, system: Array, q: Array, v: Array, state: Array) -> None:
    """Write the ceiling into the state of the start, 0 (none) where a force or a joint may drive the machine, or its weight by way of a
    joint that lets it fall for ever. That state holds the momentum: T = p . v/2."""
    driven = model.driven or any(f.drives for f in model.forces)
    with np.errstate(over="ignore", invalid="ignore"):  # of velocities that no step can take
        energy = 0.5 * float(state[len(q) : len(q) + len(v)] @ v) + elastic(model, system, q) + fall(system)
    state[state_places(len(q), len(v))[0].ceiling] = 0.0 if driven else ceiling(energy)


def ceiling(energy: float) -> float:
    """RUNAWAY times the energy that a start can give; 0: none."""
    most = RUNAWAY * energy
    return most if 0.0 < most < np.inf else 0.0


def sources_of_energy(model: Model, system: Array) -> bool:
    """True where more than speed and weight counts: forces, springs, drives, limits."""
    springs = bool(model.forces) or any(j.stiffness for j in model.joints)
    return model.driven or springs or bool((_links(system)[:, at.LIMIT_STIFFNESS] > 0.0).any())


def _links(system: Array) -> Array:
    n = int(system[at.LINKS])
    return system[at.HEADER : at.HEADER + n * at.LINK_SIZE].reshape(n, at.LINK_SIZE)


def elastic(model: Model, system: Array, q: Array) -> float:
    """Energy of springs and other forces, joint stiffness and limits that are exceeded."""
    springs, stops = 0.0, 0.0
    if any(f.has_potential() for f in model.forces) or any(j.stiffness for j in model.joints):
        poses = model.poses(q)
        weight = sum(b.mass * (g[:3, 3] + g[:3, :3] @ b.com) @ model.gravity for b, g in zip(model.bodies, poses, strict=True))
        springs = max(float(model.potential_energy(q) + weight), 0.0)
    for link in _links(system):
        if link[at.LIMIT_STIFFNESS] > 0.0:
            x = q[int(link[at.Q_AT])]
            stops += 0.5 * link[at.LIMIT_STIFFNESS] * max(x - link[at.LIMIT_HIGH], link[at.LIMIT_LOW] - x, 0.0) ** 2
    return springs + stops


def fall(system: Array) -> float:
    """By how much the potential energy of the weight can change, at most."""
    g, links = float(np.linalg.norm(system[at.GRAVITY : at.GRAVITY + 3])), _links(system)
    total, arms = 0.0, np.zeros(len(links))
    if g == 0.0:
        return 0.0
    for i, link in enumerate(links):
        parent = int(link[at.PARENT])
        if parent >= 0:
            arms[i] = arms[parent] + np.linalg.norm(link[at.P_TREE : at.P_TREE + 3])
        if link[at.KIND] in (at.PRISMATIC, at.FREE):
            arms[i] = np.inf
        if link[at.MASS] > 0.0:
            total += 2.0 * g * (link[at.MASS] * arms[i] + float(np.linalg.norm(link[at.MOMENT : at.MOMENT + 3])))
    return float(total)
