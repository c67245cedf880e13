"""What happens at a node where rows of c(q) >= 0 touch: impacts, rest, release. Numbers come from machine code of the formulas.

A row that touches (c <= gap) and approaches has an impact. A row whose next flight would be shorter than FLIGHT h, 2 (dc/dt) / |d2c/dt2|,
comes to rest if something presses it: it is stopped, and held. Which rows are pressed is a complementarity problem of accelerations.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dalembert.arrays import AnyArray, Array
from dalembert.kernels.lagrangian import layout as at
from dalembert.kernels.lagrangian import node
from dalembert.lagrangian.impact_law import Metric, impacts, resting, stopping
from dalembert.lagrangian.impacts import Places

FLIGHT = 1e-6  # of h
ROUND_OFF = 64 * float(np.finfo(float).eps)
PRESSED = 1e-12  # of the terms of an acceleration: what presses less is round-off

#: (kind, row, impulse, dc/dt before, after)
Event = tuple[int, int, float, float, float]


@dataclass
class Reflection:
    """An impact that is known but for a factor of its impulse: change of momentum and velocity at factor 1, energy before."""

    momentum: Array
    velocity: Array
    v: Array
    M: Array
    noether: Array  # push along each symmetry
    rows: int  # events that it has
    shifted: bool = False  # energies of nodes are off by a term that changes sign with the velocity

    def gain(self, factor: float) -> float:
        """Kinetic energy that it gives."""
        dv = factor * self.velocity
        return float(dv @ self.M @ (self.v + 0.5 * dv))

    def count(self, state: Array, where: Places, factor: float) -> None:
        """Enter it into the account: what it gives at the node, or where that says little, what it is to give."""
        state[where.given] += self.gain(1.0 if self.shifted else factor)
        last = len(state) - where.n
        state[last - len(self.noether) : last] += factor * self.noether

    def act(self, state: Array, where: Places, factor: float) -> None:
        """Change the momentum of a node, and enter it into the account."""
        n = where.n
        state[n : 2 * n] += factor * self.momentum
        state[2 * n : 3 * n] = self.v + factor * self.velocity  # first guess of the next step
        self.count(state, where, factor)


@dataclass
class Settled:
    """What happened at a node."""

    held: tuple[int, ...]
    events: list[Event] = field(default_factory=list)
    reflection: Reflection | None = None


class ContactNode:
    """Questions about the nodes of one system."""

    def __init__(self, model: Any, addresses: dict[str, int], where: Places):
        self.at, self.n, self.k = where, model.n, model.formulas.unilateral_rows
        self.m, self.symmetries = model.formulas.holonomic_rows, model.formulas.symmetries
        self.e = np.array(model.restitution)
        self.place, self.push = addresses["place"], addresses["push"]
        self.tol = 0.0

    def settle(
        self, system: Array, state: Array, held: tuple[int, ...], h: float, released: tuple[int, ...] = (), law: str = "nodal"
    ) -> Settled:
        """Impacts and rest at a node; its state is changed.

        law: of the impact; unless it is nodal, a reflection after which the row stays open for longer than h is left to be done.
        """
        aims = law != "nodal"
        self._read(system, state)
        touching = np.flatnonzero((self.c <= self.tol) | np.isin(np.arange(self.k), held))
        found = Settled(())
        if not len(touching):
            return found
        C, G = self.C[touching], self.G
        metric = Metric.of(self.M, G, C)
        b, small = C @ self.v, ROUND_OFF * (np.abs(C) @ np.abs(self.v))
        b = np.where(np.abs(b) > small, b, 0.0)
        push = self._scale(C, touching)
        slow = 0.5 * FLIGHT * h * push + small
        is_held = np.isin(touching, held)
        total = np.zeros(len(b))
        for impulse, before, after in impacts(metric, b, self.e[touching], np.where(is_held, np.inf, slow)):
            found.events += [(0, int(touching[i]), impulse[i], before[i], after[i]) for i in np.flatnonzero(impulse > 0.0)]
            aims &= bool((after[before < -slow] > 0.5 * h * push[before < -slow]).all())
            total, b = total + impulse, after
        if found.events:
            found.reflection = self._reflection(metric, C, total)
            found.reflection.rows, found.reflection.shifted = len(found.events), law == "exact"
        resting_now = (b <= slow) & ~np.isin(touching, released)
        found.held = self._rest(found, state, touching[resting_now], held, aims)
        state[self.at.rate] = self.C @ self.v
        found.events += [(2, i, 0.0, state[self.at.rate][i], state[self.at.rate][i]) for i in held if i not in found.held]
        return found

    # parts -----------------------------------------------------------------------------------------------------------------------------

    def _read(self, system: Array, state: Array) -> None:
        """M, rows, velocity and forces of a node."""
        n, rows = self.n, self.m + self.k
        params = system[len(system) - int(system[at.PARAMS]) :]
        x = np.concatenate([[state[3 * n], 1.0], params, state, np.zeros(n)])
        out = np.empty(n * n + n + rows * n + n * self.symmetries + self.m)
        node.evaluate(self.place, x, out)
        self.M = out[: n * n].reshape(n, n).T
        offset, J = out[n * n : n * n + n], out[n * n + n : n * n + n + rows * n].reshape(n, rows).T
        self.xi = out[n * n + n + rows * n :][: n * self.symmetries].reshape(self.symmetries, n).T
        self.G, self.C = J[: self.m], J[self.m :]
        self.v: Array = np.asarray(np.linalg.solve(self.M, state[n : 2 * n] - offset), dtype=np.float64)
        self.c = state[self.at.gap].copy()
        self.tol = float(system[at.HEADER + at.BLOCK * (int(system[at.MOVES]) + 1) + 2])
        x[-n:] = self.v
        self._x = x
        self._look()

    def _look(self) -> None:
        """Forces and second derivatives at the velocity of the node."""
        out = np.empty(self.n + self.m + self.k)
        self._x[-self.n :] = self.v
        node.evaluate(self.push, self._x, out)
        self.force, self.rest_G, self.rest_C = out[: self.n], out[self.n : self.n + self.m], out[self.n + self.m :]

    def _scale(self, C: Array, rows: AnyArray) -> Array:
        """How large the second derivatives of rows are: the sum of the sizes of their terms. Others may hold what presses one of them."""
        return np.asarray(np.abs(C) @ np.abs(self._accelerations()) + np.abs(self.rest_C[rows]))

    def _second(self, C: Array, rows: AnyArray) -> Array:
        """d2c/dt2 without forces of the rows."""
        return np.asarray(C @ self._accelerations() + self.rest_C[rows])

    def _accelerations(self) -> Array:
        """Without forces of the rows."""
        a = np.linalg.solve(self.M, self.force)
        if self.m:
            back = np.linalg.solve(self.M, self.G.T)
            mu = np.linalg.lstsq(self.G @ back, -self.rest_G - self.G @ a, rcond=1e-12)[0]
            a = a + back @ mu
        return np.asarray(a)

    def _reflection(self, metric: Metric, C: Array, impulse: Array) -> Reflection:
        change = metric.momentum(self.G, C, impulse)
        return Reflection(change, metric.velocity(impulse), self.v.copy(), self.M, self.xi.T @ (C.T @ impulse), 0)

    def _rest(self, found: Settled, state: Array, slow: AnyArray, held: tuple[int, ...], aims: bool) -> tuple[int, ...]:
        """Rows that are held from here on; an impact that ends in rest is nodal, others are left to the energy condition if it aims."""
        if found.reflection is not None:
            self.v = self.v + found.reflection.velocity
        pressed = self._pressed(state, slow)
        if found.reflection is not None:
            if aims and not pressed:
                self._aim(found.reflection, state)
                return ()
            found.reflection.act(state, self.at, 1.0)
            found.reflection = None
        new = [i for i in pressed if i not in held]
        if new:
            self._stop(found, state, pressed, new)
        return tuple(sorted(pressed))

    def _pressed(self, state: Array, rows: AnyArray) -> list[int]:
        """Which of the rows that do not move are pressed; their forces are written into the state."""
        state[self.at.pressure] = 0.0
        if not len(rows):
            return []
        self._look()
        C = self.C[rows]
        c_dd = self._second(C, rows)
        c_dd = np.where(np.abs(c_dd) > PRESSED * self._scale(C, rows), c_dd, 0.0)
        force = resting(Metric.of(self.M, self.G, C), c_dd)
        state[self.at.pressure][rows] = force
        return [int(i) for i, f in zip(rows, force, strict=True) if f > 0.0]

    def _stop(self, found: Settled, state: Array, pressed: list[int], new: list[int]) -> None:
        """Rows that come to rest lose what is left of their speed."""
        C = self.C[pressed]
        metric = Metric.of(self.M, self.G, C)
        b = C @ self.v
        impulse = stopping(metric, b)
        self._reflection(metric, C, impulse).act(state, self.at, 1.0)
        self.v = self.v + metric.velocity(impulse)
        found.events += [(1, i, impulse[j], b[j], 0.0) for j, i in enumerate(pressed) if i in new]

    def _aim(self, reflection: Reflection, state: Array) -> None:
        """What the next step has to reach: the energy of the interval before, less what the impact takes."""
        n = self.n
        state[self.at.direction] = reflection.momentum
        state[self.at.aim] = state[self.at.last] + reflection.gain(1.0)
        state[2 * n : 3 * n] = reflection.v + reflection.velocity
