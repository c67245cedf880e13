"""`Machine`: bodies cut free, their joints and contacts, and one step of them (lacoursiere2007, (4.31), (10.75), (10.31), corrected).

1  known forces: weight, forces of the model, motors, control
2  masses, and velocities without constraints               kernels/bodies/motion.py
3  rows of joints                                           kernels/bodies/joint_rows.py
4  contacts, matched with those of the step before          contact/detector.py, kernels/contact/rows.py
5  velocities and impulses of the step                      contact/solver.py
6  impacts, before 5 or within the step                     contact/impacts.py
7  account, broken joints, next node
8  islands that fall asleep; 1 and 4 wake them              contact/sleep.py
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.contact.accounts import COLUMNS, CONTACT, FORCES, FRICTION, NUMERICAL, STIFFNESS, columns_of
from dalembert.contact.detector import Detector
from dalembert.contact.impacts import WHEN, Impacts
from dalembert.contact.problem import StepProblem
from dalembert.contact.scene import Scene
from dalembert.contact.sleep import Sleep
from dalembert.contact.solver import SolverOptions
from dalembert.contact.solvers import CONES, Solver, solver_of
from dalembert.contact.stretched import StretchedSolver
from dalembert.contact.tables import BROKEN
from dalembert.kernels.bodies import layout, motion
from dalembert.kernels.bodies.couplings import lend
from dalembert.kernels.bodies.joint_rows import assemble_rows, joint_forces, keep_rates, rotor_energy
from dalembert.kernels.bodies.loads import add_loads, load_potential
from dalembert.kernels.bodies.measures import measure
from dalembert.kernels.bodies.nonlinear import correct_rows
from dalembert.kernels.bodies.springs import calm_springs, strain_energy
from dalembert.kernels.bodies.stiffening import stiffen, stiffness
from dalembert.kernels.bodies.targets import add_motor_forces
from dalembert.kernels.contact import rows as contact_rows
from dalembert.kernels.contact.axes import turn_frames
from dalembert.kernels.status import NOT_FINITE, OK
from dalembert.model.compile_bodies import compile_bodies
from dalembert.model.features import can_touch

STRETCH = [contact_rows.ALONG, contact_rows.ACROSS]
#: contacts with gaps below this part of the margin count as touching
NEAR = 0.05
#: m/s, dead band of Coulomb's law (contact/coulomb.py)
CREEP = 1e-5
#: m/s: residual of Coulomb's law that is enough
ROUNDS_TOL = 1e-6
#: Of impulses at rest (residual of those of the step before below SETTLED, m/s) the next step begins from the mean of old and new: a step
#: corrects velocities once, and need not do so again. Factorisations per step of a pyramid of 105 boxes at rest: 0.57 with the new ones,
#: 0.42, 0.39, 0.42, 0.54 with parts 0.7, 0.5, 0.3, 0.1 of them.
SETTLED, REST_PART = 1e-6, 0.5


@dataclass(frozen=True)
class Settings:
    """Options of the stepper, see steppers/bodies/spook.py."""

    eps: float = 1e-8
    joint_eps: float = 1e-10
    tau: float = 2.0
    margin: float = 4e-3
    law: str = "coulomb"
    sides: int = 8
    solver: str = "direct"
    tol: float = 1e-9
    impact: str = "exact"
    threshold: float = 0.05
    push: float = 1.0
    sleep: float = 0.0
    sweeps: int = 50
    rounds: int = 200
    corners: int = 0
    newton: int = 0
    max_time: float = math.inf
    threads: int = 1


@dataclass
class Report:
    """What a step tells of itself. first: residual of the impulses of the step before."""

    status: int = OK
    residual: float = 0.0
    first: float = 0.0
    factorisations: int = 0
    contacts: int = 0
    penetration: float = 0.0
    stabilised: int = 0
    stiffened: int = 0
    converged: bool = True
    asleep: int = 0


class Machine:
    """State and arrays of a machine in body coordinates; `step` advances it."""

    def __init__(self, model: Any, settings: Settings):
        self.settings = s = settings
        self.bodies = compile_bodies(model, s.joint_eps, s.tau)
        self.n = n = len(self.bodies.names)
        self.detector = Detector(Scene.of(model, self.bodies.names), margin=s.margin) if can_touch(model) else None
        budget = s.max_time if math.isfinite(s.max_time) else None
        self.options = SolverOptions(
            tol=s.tol,
            method=s.solver,
            sweeps=s.sweeps,
            rounds=s.rounds,
            corners=s.corners,
            max_time=budget,
            law=CONES.get(s.law, "coulomb"),
            creep=CREEP,
            rounds_tol=ROUNDS_TOL,
            threads=s.threads,
        )
        self.solver: Solver = solver_of(self.options, s.law, s.sides)
        self.least = np.array([np.linalg.eigvalsh(I)[0] for I in self.bodies.inertia])
        self.size = np.zeros(n) if self.detector is None else self.detector.scene.radii
        count = self.bodies.count
        self.joints, self.constraints, self.joint_rows = count(layout.JOINTS), count(layout.CONSTRAINTS), count(layout.ROWS)
        self.motors, self.rotors = count(layout.MOTORS), count(layout.ROTORS)
        self.companions = count(layout.COMPANIONS)  # bodies of a step behind the n that are there: kernels/bodies/couplings.py
        self.impacts = Impacts(self)
        torques = [contact_rows.TORSION, contact_rows.ROLLING]
        self.has_torques = self.detector is not None and bool((self.detector.materials[:, torques] > 0.0).any())
        table = np.zeros((0, contact_rows.AXIS)) if self.detector is None else self.detector.materials
        self.has_axes, self.is_stretched = bool(table[:, contact_rows.AXIS_OF].any()), bool((table[:, STRETCH] != 1.0).any())
        if self.is_stretched:
            self.solver = StretchedSolver(self.solver)
        self.torques = 0  # rows of torques of contacts in the last step
        # the checkpoint
        self.states = np.zeros((n, motion.SIZE))
        self.room = self.bodies.room()
        self.intact = np.ones(self.joints, dtype=np.int64)
        self.joint_lam = np.zeros(self.joint_rows)
        self.held = np.zeros(6 * n)
        self.account, self.impulse = np.zeros(len(COLUMNS)), np.zeros(6)
        # arrays of a step
        whole = n + self.companions
        self.push, self.before, self.free, self.x = (np.zeros(6 * whole) for _ in range(4))
        self.masses, self.inverse = np.zeros((whole, 6, 6)), np.zeros((whole, 6, 6))
        self.masses[n:], self.inverse[n:] = np.eye(6), np.eye(6)
        self.mode = np.zeros(n, dtype=np.int64)
        self._stiffness = np.zeros((n, 3, 3))
        self._poses = np.zeros((n, 3)), np.zeros((n, 4)), np.zeros(n)  # of detection: positions, quaternions, reaches
        self.inputs = np.full(self.motors, np.nan)  # of motors; NaN: off
        self.rates_of_rotors = self.room.targets[len(self.room.targets) - self.rotors :]  # NaN: those of the bodies
        self.tree_work = self.bodies.tree_work()
        self.forces = np.zeros((self.joints, 2))
        self._joint_columns = columns_of(self.bodies)
        self.springs = bool((self._joint_columns == STIFFNESS).any())
        self._grow(64)
        self.sleep = Sleep(self)
        self.h = 0.0  # of the last step
        self.contacts = 0  # of the last step that were rows of it
        self.events: list[tuple[float, ...]] = []  # (kind, a, b, value) of the last step

    def _grow(self, contacts: int) -> None:
        """Room for so many contacts."""
        self.capacity = contacts
        more = 3 * contacts if self.has_torques else 0
        self.rows = self.bodies.arrays(contacts + more, 3 * contacts + more)
        size = self.joint_rows + 3 * contacts + more
        self.lam, self.columns = np.zeros(size), np.full(size, CONTACT, dtype=np.int64)
        self.columns[: self.joint_rows] = self._joint_columns
        self.lam0, self.chosen = np.zeros((contacts, 3)), np.zeros(contacts, dtype=np.int64)
        self.rates, self._row = np.zeros(contacts), np.zeros((1, 12))
        self._chosen = np.zeros(2, dtype=np.int64)
        self._made: tuple[Any, Any] = (None, None)

    # start -----------------------------------------------------------------------------------------------------------------------------

    def start(self, q: Array, v: Array) -> None:
        """Begin from q and v of the model."""
        self.states[:] = self.bodies.states(q, v)
        self.room.values[:] = 0.0
        self.inputs[:], self.rates_of_rotors[:] = np.nan, np.nan
        self.intact[:], self.joint_lam[:], self.held[:] = 1, 0.0, 0.0
        self.account[:], self.impulse[:] = 0.0, 0.0
        if self.detector is not None:
            self.detector.forget()
        self.sleep.restore()

    def configuration(self) -> tuple[Array, Array]:
        """q and v of the model."""
        return self.bodies.configuration(self.states)

    # a step ------------------------------------------------------------------------------------------------------------------------------

    def step(self, t: float, h: float) -> Report:
        """From t to t + h. The state is changed only where the step succeeds."""
        self._wake(t, h)
        found, self.events, self.h = Report(asleep=self.sleep.count), [], h
        self.impacts.times = []
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
        self.account[NUMERICAL] += self.kinetic() - h * float(self.bodies.weight @ way[: 6 * self.n])
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

    def _known_forces(self, t: float) -> None:
        push = self.push[: 6 * self.n]
        push[:] = self.bodies.weight
        push += self.held
        if len(self.tree_work):
            add_loads(self.bodies.tree, self.tree_work, self.states, self.bodies.com, push)
        if self.motors:
            measure(self.bodies.system, self.states, self.room.values, self.room.J_measures)
            add_motor_forces(self.bodies.system, self.inputs, self.room.J_measures, self.push)

    def _prepare(self, h: float, found: Report) -> None:
        b = self.bodies
        found.stabilised = motion.prepare(
            h, b.mass, b.inertia, self.least, self.states, self.push, self.masses, self.inverse, self.before, self.free, self.mode
        )

    def _detect(self, h: float) -> bool:
        """Contacts near the bodies, and those on their way; False where a state is not finite."""
        if self.detector is None:
            return True
        motion.reaches(h, self.settings.margin, self.size, self.free, self.states, *self._poses)
        count = self.detector.detect(*self._poses)
        if count < 0:
            return False
        if count > self.capacity:
            self._grow(int(1.5 * count))
        if self.has_axes:
            c = self.detector.contacts
            turn_frames(count, c.bodies, c.material, self.detector.materials, self.states, self.detector.frames)
        self.detector.warm_start(self.lam0[:count])
        return True

    def _choose(self, h: float) -> tuple[int, int]:
        """How many contacts have rows in this step, and how many strike."""
        if self.detector is None:
            return 0, 0
        s, d, c = self.settings, self.detector, self.detector.contacts
        contact_rows.choose(
            h, s.margin, WHEN[s.impact], s.threshold, self.free, self.before, d.count, c.bodies, d.frames, c.point, c.gap, c.material,
            d.materials, self.states, self._row, self.chosen, self._chosen,
        )  # fmt: skip
        return int(self._chosen[0]), int(self._chosen[1])

    def _assemble(self, t: float, h: float, n: int) -> None:
        """Rows of joints, then of contacts, with their warm starts."""
        r, s, self.torques = self.rows, self.settings, 0
        if self.joints:
            assemble_rows(self.bodies.system, self.states, self.before, self.intact, self.inputs, t, h, *self.room, *r)
            if self.springs:
                calm_springs(self.bodies.system, h, r.bodies, self.inverse, r.J, r.b, r.sigma)
        self.lam[: self.joint_rows] = self.joint_lam
        if not n:
            return
        assert self.detector is not None
        c = self.detector.contacts
        contact_rows.write(
            h, NEAR * s.margin, s.push, s.threshold, s.eps, s.tau, self.chosen, n, c.bodies, self.detector.frames, c.point, c.gap,
            c.material,
            self.detector.materials, self.states, self.inverse, self.before, self.constraints, self.joint_rows, *r, self.rates,
            self.lam0, self.lam,
        )  # fmt: skip
        end = self.joint_rows + 3 * n
        self.columns[self.joint_rows : end] = CONTACT
        if self.has_torques and n == self._chosen[0]:
            self.torques = contact_rows.write_torques(
                self.chosen, n, c.bodies, self.detector.frames, c.material, self.detector.materials, self.states, self.inverse, self.before,
                self.lam0, self.constraints + n, end, *r,
            )  # fmt: skip
            self.lam[end : end + self.torques], self.columns[end : end + self.torques] = 0.0, FRICTION

    def _problem(self, n: int) -> StepProblem:
        """Views of the rows of joints and of n contacts, made anew where their number or the arrays are others."""
        if self._made[0] != (n, self.torques, self.capacity):
            self._made = (n, self.torques, self.capacity), self._views(n)
        problem: StepProblem = self._made[1]
        problem.stretch = self.stretch(self.chosen[:n], self.torques)
        return problem

    def _views(self, n: int) -> StepProblem:
        m, k, r = self.constraints + n + self.torques, self.joint_rows + 3 * n + self.torques, self.rows
        return StepProblem(
            r.bodies[:m], r.kind[:m], r.first[: m + 1], r.J[:k], r.b[:k], r.sigma[:k], r.mu[:m], self.masses, self.inverse, self.free,
            r.low[:k], r.high[:k], self.before, self.lam[:k], check=False,
        )  # fmt: skip

    def stretch(self, contacts: Any, more: int = 0) -> Array | None:
        """(constraints, 2): friction by tangents of contacts in units of the larger one, between those of joints and `more` others."""
        if not self.is_stretched:
            return None
        assert self.detector is not None
        own = self.detector.materials[self.detector.contacts.material[contacts]][:, STRETCH]
        return np.vstack([np.ones((self.constraints, 2)), own, np.ones((more, 2))])

    def _solve(self, n: int, found: Report) -> None:
        """x and lam of the rows of joints and of n contacts."""
        if self.constraints + n == 0:
            self.x[:] = self.free
            return
        result = self.solver.solve(self._problem(n))
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

    def _lend(self) -> None:
        if self.companions:
            lend(self.bodies.system, self.rows.bodies, self.rows.J, self.masses, self.inverse, self.before, self.free)

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
        motion.kick(h, self.x, self.mode, self.states)
        self.rates_of_rotors[:] = np.nan
        after = self.kinetic()
        self.account[NUMERICAL] += after - energy
        self._prepare(h, found)
        self.lam0[: self.detector.count] = 0.0
        return after

    # account, breaking, memory ---------------------------------------------------------------------------------------------------------

    def _enter(self, h: float, n: int, energy: float) -> None:
        """Work of every row, lam J (x + x_k)/2, of known forces, and what the discretisation of rotation and weight adds.

        kinetic + potential at the end - at the start = sum of all columns, to round-off. The kinetic energy at the end is added by
        `_advance`, and so is what springs have stored.
        """
        m, rows = self.constraints + n + self.torques, self.joint_rows + 3 * n + self.torques
        contact_rows.works(
            rows, self.rows.first, self.rows.kind[:m], self.rows.bodies, self.rows.J, self.lam, self.x, self.before, True, self.columns,
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
