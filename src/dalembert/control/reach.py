"""A configuration at which bodies are where they are wanted: damped least squares, a guess for goals that are poses.

    dq = J^T (J J^T + d^2)^-1 r,   r = (place - x, log(R^T R_wanted))

J by differences. Joints whose coordinates are given stay; those with limits stay within them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dalembert.arrays import Array

ITERATIONS, DAMPING, LONGEST = 100, 0.03, 0.3  # rad, m: the longest change of an iteration
SHIFT = 1e-6
NEAR_ENOUGH = 1e-2  # rad, m


def reached(machine: Any, node: Any, q: Array) -> Array:
    """q of the nearest such configuration, as far as it is found."""
    free = np.ones(machine.nv, dtype=bool)
    for name, at in machine.parts("q").items():
        free[machine.parts("v")[name]] = not np.isfinite(node.q[at]).all()
    limits, columns = machine.q_limits(), np.flatnonzero(free)
    for _ in range(ITERATIONS):
        r = missed(machine, node.poses, q)
        if np.abs(r).max(initial=0.0) < SHIFT or not len(columns):
            break
        J = np.zeros((len(r), machine.nv))
        for i in columns:
            J[:, i] = (r - missed(machine, node.poses, machine.system.integrate(q, SHIFT * np.eye(machine.nv)[i]))) / SHIFT
        change = J.T @ np.linalg.solve(J @ J.T + DAMPING**2 * np.eye(len(r)), r)
        change *= min(1.0, LONGEST / max(np.abs(change).max(), 1e-300))
        q = np.clip(machine.system.integrate(q, change), limits[:, 0], limits[:, 1])
    return q


def missed(machine: Any, poses: Mapping[str, tuple[Array | None, Array | None]], q: Array) -> Array:
    """How far bodies are from where they are wanted, along axes of the world, and turned about their own."""
    T, names = machine.whole.poses(q), [body.name for body in machine.whole.bodies]
    parts = []
    for body, (place, turn) in poses.items():
        at = T[names.index(body)]
        if place is not None:
            parts.append(np.asarray(place) - at[:3, 3])
        if turn is not None:
            parts.append(_log(at[:3, :3].T @ np.asarray(turn)))
    return np.concatenate(parts) if parts else np.zeros(0)


def _log(R: Array) -> Array:
    """The turn of a matrix, about its axis, up to half a turn."""
    sine = 0.5 * np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    size, cosine = float(np.linalg.norm(sine)), 0.5 * (np.trace(R) - 1.0)
    if size < 1e-9 and cosine < 0.0:  # half a turn: about the longest column of R + 1
        columns = R + np.eye(3)
        axis = columns[:, np.argmax(np.linalg.norm(columns, axis=0))]
        return np.asarray(np.pi * axis / np.linalg.norm(axis))
    return np.asarray(sine * (np.arctan2(size, cosine) / size if size > 0.0 else 1.0))
