"""`Machine`: bodies cut free, their joints and contacts, and one step of them (lacoursiere2007, (4.31), (10.75), (10.31), corrected).

1  known forces: weight, forces of the model, motors, control
2  masses, and velocities without constraints               kernels/bodies/motion.py
3  rows of joints                                           kernels/bodies/joint_rows.py
4  contacts, matched with those of the step before          contact/detector.py, kernels/contact/rows.py
5  velocities and impulses of the step                      contact/solver.py, contact/yielding.py
6  impacts, before 5 or within the step                     contact/impacts.py
7  account, broken joints, next node
8  islands that fall asleep; 1 and 4 wake them              contact/sleep.py
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.contact.accounts import FORCES, NUMERICAL, STIFFNESS
from dalembert.contact.impacts import Impacts
from dalembert.contact.machine_rows import Rows
from dalembert.contact.settings import Report, Settings
from dalembert.contact.sleep import Sleep
from dalembert.contact.tables import BROKEN
from dalembert.contact.yielding import Yielding
from dalembert.kernels.bodies import motion
from dalembert.kernels.bodies.joint_rows import joint_forces, keep_rates, rotor_energy
from dalembert.kernels.bodies.loads import load_potential
from dalembert.kernels.bodies.measures import measure
from dalembert.kernels.bodies.nonlinear import correct_rows
from dalembert.kernels.bodies.springs import strain_energy
from dalembert.kernels.bodies.stiffening import stiffen, stiffness
from dalembert.kernels.contact import rows as contact_rows
from dalembert.kernels.status import NOT_FINITE

#: Of impulses at rest (residual of those of the step before below SETTLED, m/s) the next step begins from the mean of old and new: a step
#: corrects velocities once, and need not do so again. Factorisations per step of a pyramid of 105 boxes at rest: 0.57 with the new ones,
#: 0.42, 0.39, 0.42, 0.54 with parts 0.7, 0.5, 0.3, 0.1 of them.
SETTLED, REST_PART = 1e-6, 0.5


class Machine(Rows):
    """State and arrays of a machine in body coordinates; `step` advances it."""

    def __init__(self, model: Any, settings: Settings):
        super().__init__(model, settings)
        self.impacts, self.sleep = Impacts(self), Sleep(self)
        self.yielding = Yielding(self.bodies.lengths, settings.tol, self.options.interior_tol)

    def start(self, q: Array, v: Array) -> None:
        """Begin from q and v of the model, awake."""
        super().start(q, v)
        self.sleep.restore()

    # a step ------------------------------------------------------------------------------------------------------------------------------

    def step(self, t: float, h: float) -> Report:
        """From t to t + h. The state is changed only where the step succeeds."""
        self._wake(t, h)
        found, self.events, self.h = Report(asleep=self.sleep.count), [], h
        self.impacts.forget()
        if self.sleep.all:
            return self._sleep_on(h, found)
        energy = self.kinetic()
        self._store(-1.0)
        self._prepare(h, found)
        touching = self._touching(h, found)
        if touching is None:
            return Report(NOT_FINITE)
        ordinary, strikes = touching
        if strikes and self.settings.impact != "exact":
            energy = self._strike(t, h, strikes + ordinary, energy, found)
            ordinary, strikes = self._choose(h)[0], 0
        n = self.detector.count if strikes and self.detector is not None else ordinary
        self._assemble(t, h, n)
        if self.joints:
            stiffness(self.bodies.system, h, self.states, self.rows.J, self.joint_lam, self._stiffness)
            found.stiffened = int(stiffen(h, self._stiffness, self.masses, self.inverse, self.free))
        self._lend()
        self._solve(ordinary, found)
        if self.settings.newton and self.joints:
            self._iterate(h, ordinary, found)
        self._enter(h, ordinary, energy)
        way = self.x
        if strikes:
            self.impacts.begin(n)
            way = self.impacts.within(h, n, found)
        if self.rotors:
            keep_rates(self.bodies.system, self.rows.bodies, self.rows.J, self.x, self.room.targets)
        self._break(h)
        if not self._advance(h, way):
            return Report(NOT_FINITE)
        self._remember(ordinary, found)
        self._add_jolts(ordinary, n)
        if self.sleep.on:
            self.sleep.settle(h)
            found.asleep = self.sleep.count
        return found

    def _wake(self, t: float, h: float) -> None:
        """Known forces; what sleeps wakes where they act, or where h is another."""
        self._known_forces(t)
        if self.sleep.count and self.h not in (0.0, h):
            self.sleep.wake_all()
        if self.sleep.count:
            self.sleep.wake_loaded()

    def _sleep_on(self, h: float, found: Report) -> Report:
        """Nothing moves."""
        assert self.detector is not None
        self.detector.count = self.contacts = 0
        self.impulse[3:] += h * self.bodies.weight.reshape(-1, 6)[:, 3:].sum(axis=0)
        return found

    def _touching(self, h: float, found: Report) -> tuple[int, int] | None:
        """`_detect` and `_choose`, again and again where contacts wake what slept. None where a state is not finite."""
        while True:
            before = self.detector.glance()[0] if self.sleep.count and self.detector is not None else None
            if not self._detect(h):
                return None
            ordinary, strikes = self._choose(h)
            if before is None:
                return ordinary, strikes
            n = self.detector.count if strikes and self.detector is not None else ordinary
            if not self.sleep.wake_touched(n, before):
                return ordinary, strikes
            self._prepare(h, found)

    def _advance(self, h: float, way: Array) -> bool:
        """The next node, by velocities `way`; then velocities x. The energy at the node, and what the weight did, go into the account."""
        fine = motion.advance(h, way, self.mode, self.states)
        if way is not self.x:
            motion.kick(h, self.x, self.mode, self.states)
        fallen = float((self.bodies.weight * way[: 6 * self.n]).sum())  # not by BLAS: it starts threads for long vectors, which spin
        self.account[NUMERICAL] += self.kinetic() - h * fallen
        self._store(1.0)
        return bool(fine)

    def _store(self, sign: float) -> None:
        """The energy of springs at the node, beside what they did: what is left of both is what the step makes of them."""
        b, room = self.bodies, self.room
        if self.springs:
            measure(b.system, self.states, room.values, room.J_measures)
            self.account[STIFFNESS] += sign * strain_energy(b.system, room.values)
        if len(self.tree_work):
            self.account[FORCES] += sign * load_potential(b.tree, self.tree_work, self.states, b.com)

    def kinetic(self) -> float:
        """Kinetic energy of the node: of bodies and rotors."""
        b, room = self.bodies, self.room
        found = float(motion.kinetic(b.mass, b.inertia, self.states))
        if self.rotors:
            measure(b.system, self.states, room.values, room.J_measures)
            found += rotor_energy(b.system, self.states, room.J_measures)
        return found

    def _solve(self, n: int, found: Report) -> None:
        """x and lam of the rows of joints and of n contacts."""
        if self.constraints + n == 0:
            self.x[:] = self.free
            return
        result = self.yielding.solve(self.solver, self._problem(n), self.h)
        self.x[:] = result.x
        found.residual = max(found.residual, result.residual)
        found.first = result.first
        found.factorisations += result.factorisations
        found.converged = found.converged and result.ok

    def _iterate(self, h: float, n: int, found: Report) -> None:
        """Newton's iteration on the nonlinear stepper: kernels/bodies/nonlinear.py. Ends where b changes by no more than the tolerance."""
        b, r, now = self.bodies, self.rows, self.room.values.copy()
        J, values, trial = np.zeros_like(self.room.J_measures), [now.copy(), now.copy()], self.states.copy()
        motion.advance(-h, self.before, self.mode, trial)
        measure(b.system, trial, values[0], J)
        for _ in range(self.settings.newton):
            trial[:], values[1][:] = self.states, now
            motion.advance(h, self.x, self.mode, trial)
            measure(b.system, trial, values[1], J)
            if correct_rows(b.system, h, self.x, self.intact, values[0], now, values[1], J, r.bodies, r.J, r.b) <= self.settings.tol:
                return
            self._solve(n, found)

    def _strike(self, t: float, h: float, n: int, energy: float, found: Report) -> float:
        """Impacts before the step: velocities of the step before jump. Returns the kinetic energy behind them."""
        assert self.detector is not None
        self._assemble(t, h, n)
        self._lend()
        gap = self.detector.contacts.gap[self.chosen[:n]]
        self.impacts.begin(n)
        allowed, spins = np.arange(n) >= self._chosen[0], self.impacts.spins
        last = spins.rates(h, self.before)
        self.x[:] = spins.sines(h, last + self.impacts.jump(n, last, gap, self.rates[:n].copy(), h, allowed, found))
        self.impacts.keep(n)
        motion.kick(h, self.x, self.mode, self.states)
        self.rates_of_rotors[:] = np.nan
        after = self.kinetic()
        self.account[NUMERICAL] += after - energy
        self._prepare(h, found)
        return after

    # account, breaking, memory ---------------------------------------------------------------------------------------------------------

    def _enter(self, h: float, n: int, energy: float) -> None:
        """Work of every row, lam J (x + x_k)/2, of known forces, and what the discretisation of rotation and weight adds.

        kinetic + potential at the end - at the start = sum of all columns, to round-off. The kinetic energy at the end is added by
        `_advance`, and so is what springs have stored.
        """
        m, rows = self.constraints + n + self.torques, self.joint_rows + 3 * n + self.torques
        contact_rows.works(
            rows, self.rows.first, self.rows.kind[:m], self.rows.bodies, self.rows.J, self.lam, self.x + self.before, True, self.columns,
            self.account,
        )  # fmt: skip
        work = motion.known_work(h, self.push, self.bodies.weight, self.x, self.before, self.impulse)
        self.account[FORCES] += work
        self.account[NUMERICAL] += motion.exchange(self.masses, self.x, self.before, self.free) - energy - work

    def _add_jolts(self, ordinary: int, n: int) -> None:
        """Impulses of impacts within the step, to those of the step, for whoever reads them."""
        if n > ordinary:
            r0 = self.joint_rows
            self.lam[r0 + 3 * ordinary : r0 + 3 * n] = 0.0
            self.lam[r0 : r0 + 3 * n] += self.impacts.jolts
            self.contacts = n

    def _break(self, h: float) -> None:
        """Joints whose force was beyond their strength."""
        if self.joints and np.isfinite(self.bodies.strength).any():
            joint_forces(self.bodies.system, h, self.states, self.rows.J, self.lam, self.forces)
            over = (self.forces > self.bodies.strength) & (self.intact[:, None] == 1)
            self.events += [(BROKEN, float(j), -1.0, float(self.forces[j, k])) for j, k in np.argwhere(over)]
            self.intact[over.any(axis=1)] = 0
            gone = {self.bodies.joints[j] for j in np.flatnonzero(self.intact == 0)}
            self.intact[[j for j, name in enumerate(self.bodies.joints) if gone & {*self.bodies.coupled.get(name, ())}]] = 0

    def _remember(self, n: int, found: Report) -> None:
        self.joint_lam[:] = self.lam[: self.joint_rows]
        self.contacts = n
        if self.detector is None:
            return
        settling = found.factorisations > 0 and found.first < SETTLED
        found.contacts = n
        found.penetration = self.detector.keep(self.chosen, n, self.lam, self.joint_rows, self.lam0, REST_PART if settling else 1.0)
