"""Machines of the contract in director coordinates, and how they are judged: motions by SciPy in the coordinates of the joints."""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.contracts import machines as bodies
from dalembert.directors import Directors
from dalembert.registry import Stepper


def machines(symmetric: bool, trees: bool) -> list[Any]:
    """A free body and a top; with trees: chains with hinges, a ball joint, a slide on a spring."""
    found = [bodies.free_body(symmetric), bodies.top(symmetric)]
    if trees:
        found += [bodies.floating_chain(), bodies.pinned_chain()]
    out = []
    for model, q, v in found:
        d = Directors(model)
        out.append((d, *d.state(q, v)))
    return out


def reference(d: Directors, q: Array, v: Array, t_end: float) -> tuple[Array, Array]:
    """q and v at t_end."""
    return d.state(*bodies.reference((d.model, *d.joint_state(q, v)), t_end))


def momentum_error(d: Directors, q: Array, v: Array) -> float:
    """Departure of the momenta that the symmetry allows, of the largest sum of |w| |p| over all vectors."""
    momentum = d.momentum(q, v)
    kept = momentum[:, [2]] if np.any(d.model.gravity) else momentum
    w, p = (x.reshape(len(q), -1, 3) for x in (q, d.mass * v))
    scale = np.sum(np.linalg.norm(w, axis=2) * np.linalg.norm(p, axis=2), axis=1).max()
    return float(np.abs(kept - kept[0]).max() / scale)


def keeps_energy(d: Directors, stepper: Stepper, t: Array, q: Array, v: Array) -> tuple[bool, str]:
    """(ok, words): exactly, to 1e-11, or in a band without drift; chaotic chains wander in theirs, see contracts/judges.py."""
    energy = d.energy(q, v) / d.kinetic_energy(q, v).max()
    band, drift = float(np.ptp(energy)), abs(float(np.polyfit(t / t[-1], energy, 1)[0]))
    exactly = stepper.promise("energy") == "exactly"
    if exactly:
        ok = band < 1e-11
    elif len(d.model.bodies) == 1:
        ok = drift < 0.05 * band + 1e-13
    else:
        ok = drift < 0.5 * band and band < 3.0 * float(np.ptp(energy[: len(energy) // 10]))
    return ok, f"{d.name.split(': ')[1]}: band {band:.1e}, drift {drift:.1e}{' (exactly)' if exactly else ''}"


class Chart:
    """Canonical coordinates near a configuration q: x = (u, y) with F(u, q) the configuration and y = (dF/du)^T p."""

    def __init__(self, d: Directors, q: Array):
        self.d, self.q, self.k = d, q, d.compiled.k

    def state(self, x: Array) -> tuple[Array, Array]:
        """(q, v)"""
        q, _, J = self.d.moved(x[: self.k], self.q)
        return q, J @ np.linalg.solve(J.T @ (self.d.mass[:, None] * J), x[self.k :])

    def coordinates(self, q: Array, v: Array) -> Array:
        """x of a state."""
        P = self.d.tree_null_space(self.q)
        u = np.linalg.lstsq(P, self.d.difference(self.q, q), rcond=None)[0]
        return np.concatenate([u, self.d.moved(u, self.q)[2].T @ (self.d.mass * v)])
