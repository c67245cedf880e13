"""`Machine`: bodies cut free, their joints and contacts, and one step of them (lacoursiere2007, (4.31), (10.75), (10.31), corrected).

1  known forces: weight, forces of the model, motors, control
2  masses, and velocities without constraints               kernels/bodies/motion.py
3  rows of joints                                           kernels/bodies/joint_rows.py
4  contacts, matched with those of the step before          contact/detector.py, kernels/contact/rows.py
5  impacts: velocities jump, positions stay                 only where a material has a restitution
6  velocities and impulses of the step                      contact/solver.py
7  account, broken joints, next node
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.contact.accounts import COLUMNS, CONTACT, FORCES, IMPACT, NUMERICAL, columns_of
from dalembert.contact.detector import Detector
from dalembert.contact.problem import StepProblem
from dalembert.contact.scene import Scene
from dalembert.contact.solver import SolverOptions, StepSolver
from dalembert.contact.tables import BROKEN, STRUCK
from dalembert.kernels.bodies import layout, motion
from dalembert.kernels.bodies.joint_rows import assemble_rows, joint_forces, keep_rates, rotor_energy, strike_rows
from dalembert.kernels.bodies.loads import add_loads
from dalembert.kernels.bodies.measures import measure
from dalembert.kernels.bodies.targets import add_motor_forces
from dalembert.kernels.contact import rows as contact_rows
from dalembert.kernels.status import NOT_FINITE, OK
from dalembert.model.compile_bodies import compile_bodies
from dalembert.model.features import can_touch

#: which contacts strike before the step, by the option `impact`: only those that touch, or also those that meet within it
EARLY = {"post-facto": False, "preemptive": True}


@dataclass(frozen=True)
class Settings:
    """Options of the stepper, see steppers/bodies/spook.py."""

    eps: float = 1e-8
    joint_eps: float = 1e-10
    tau: float = 2.0
    margin: float = 4e-3
    law: str = "coulomb"
    solver: str = "direct"
    tol: float = 1e-9
    impact: str = "post-facto"
    threshold: float = 0.05
    sweeps: int = 50
    max_time: float = math.inf


@dataclass
class Report:
    """What a step tells of itself."""

    status: int = OK
    residual: float = 0.0
    factorisations: int = 0
    contacts: int = 0
    penetration: float = 0.0
    stabilised: int = 0
    converged: bool = True


class Machine:
    """State and arrays of a machine in body coordinates; `step` advances it."""

    def __init__(self, model: Any, settings: Settings):
        self.settings = s = settings
        self.bodies = compile_bodies(model, s.joint_eps, s.tau)
        self.n = n = len(self.bodies.names)
        self.detector = Detector(Scene.of(model, self.bodies.names), margin=s.margin) if can_touch(model) else None
        budget = s.max_time if math.isfinite(s.max_time) else None
        self.solver = StepSolver(SolverOptions(tol=s.tol, method=s.solver, sweeps=s.sweeps, max_time=budget))
        self.least = np.array([np.linalg.eigvalsh(I)[0] for I in self.bodies.inertia])
        self.size = np.zeros(n) if self.detector is None else self.detector.scene.radii
        count = self.bodies.count
        self.joints, self.constraints, self.joint_rows = count(layout.JOINTS), count(layout.CONSTRAINTS), count(layout.ROWS)
        self.motors, self.rotors = count(layout.MOTORS), count(layout.ROTORS)
        self.has_restitution = self.detector is not None and bool((self.detector.materials[:, contact_rows.RESTITUTION] > 0.0).any())
        # the checkpoint
        self.states = np.zeros((n, motion.SIZE))
        self.room = self.bodies.room()
        self.intact = np.ones(self.joints, dtype=np.int64)
        self.joint_lam = np.zeros(self.joint_rows)
        self.held = np.zeros(6 * n)
        self.account, self.impulse = np.zeros(len(COLUMNS)), np.zeros(6)
        # arrays of a step
        self.push, self.before, self.free, self.x = (np.zeros(6 * n) for _ in range(4))
        self.masses, self.inverse = np.zeros((n, 6, 6)), np.zeros((n, 6, 6))
        self.mode = np.zeros(n, dtype=np.int64)
        self.inputs = np.full(self.motors, np.nan)  # of motors; NaN: off
        self.rates_of_rotors = self.room.targets[len(self.room.targets) - self.rotors :]  # NaN: those of the bodies
        self.tree_work = self.bodies.tree_work()
        self.forces = np.zeros(self.joints)
        self._joint_columns = columns_of(self.bodies)
        self._grow(64)
        self.contacts = 0  # of the last step that were rows of it
        self.events: list[tuple[float, ...]] = []  # (kind, a, b, value) of the last step

    def _grow(self, contacts: int) -> None:
        """Room for so many contacts."""
        self.capacity = contacts
        self.rows = self.bodies.arrays(contacts, 3 * contacts)
        size = self.joint_rows + 3 * contacts
        self.lam, self.columns = np.zeros(size), np.full(size, CONTACT, dtype=np.int64)
        self.columns[: self.joint_rows] = self._joint_columns
        self.lam0, self.chosen = np.zeros((contacts, 3)), np.zeros(contacts, dtype=np.int64)
        self.rates, self.struck = np.zeros(contacts), np.zeros(contacts, dtype=np.int64)
        self._row = np.zeros((1, 12))
        self._b = np.zeros(size)

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

    def configuration(self) -> tuple[Array, Array]:
        """q and v of the model."""
        return self.bodies.configuration(self.states)

    # a step ------------------------------------------------------------------------------------------------------------------------------

    def step(self, t: float, h: float) -> Report:
        """From t to t + h. The state is changed only where the step succeeds."""
        found, self.events = Report(), []
        energy = self._kinetic()
        self._known_forces(t)
        self._prepare(h, found)
        n = self._detect(h)
        if n < 0:
            return Report(NOT_FINITE)
        if self.has_restitution and n:
            energy = self._strike(t, h, n, energy, found)
        self._assemble(t, h, n)
        self._solve(n, found, self.free, self.before, self.rows.b)
        self._enter(h, n, energy)
        if self.rotors:
            keep_rates(self.bodies.system, self.rows.bodies, self.rows.J, self.x, self.room.targets)
        if not motion.advance(h, self.x, self.mode, self.states):
            return Report(NOT_FINITE)
        self.account[NUMERICAL] += self._kinetic()
        self._break(h)
        self._remember(n, found)
        return found

    def _kinetic(self) -> float:
        """Kinetic energy of the node: of bodies and rotors."""
        b, room = self.bodies, self.room
        found = float(motion.kinetic(b.mass, b.inertia, self.states))
        if self.rotors:
            measure(b.system, self.states, room.values, room.J_measures)
            found += rotor_energy(b.system, self.states, room.J_measures)
        return found

    def _known_forces(self, t: float) -> None:
        self.push[:] = self.bodies.weight
        self.push += self.held
        if len(self.tree_work):
            add_loads(self.bodies.tree, self.tree_work, self.states, self.bodies.com, self.push)
        if self.motors:
            measure(self.bodies.system, self.states, self.room.values, self.room.J_measures)
            add_motor_forces(self.bodies.system, self.inputs, self.room.J_measures, self.push)

    def _prepare(self, h: float, found: Report) -> None:
        b = self.bodies
        found.stabilised = motion.prepare(
            h, b.mass, b.inertia, self.least, self.states, self.push, self.masses, self.inverse, self.before, self.free, self.mode
        )

    def _detect(self, h: float) -> int:
        """Contacts that matter in this step: how many; -1 where a state is not finite."""
        if self.detector is None:
            return 0
        speed = np.sqrt((self.free.reshape(-1, 6)[:, 3:] ** 2).sum(1)) + self.size * np.sqrt((self.free.reshape(-1, 6)[:, :3] ** 2).sum(1))
        reach = np.maximum(abs(h) * speed - 0.5 * self.settings.margin, 0.0)
        count = self.detector.detect(self.states[:, :3].copy(), self.states[:, 3:7].copy(), reach)
        if count < 0:
            return -1
        if count > self.capacity:
            self._grow(int(1.5 * count))
        self.detector.warm_start(self.lam0[:count])
        c = self.detector.contacts
        return int(
            contact_rows.choose(
                h,
                self.settings.margin,
                self.free,
                count,
                c.bodies,
                self.detector.frames,
                c.point,
                c.gap,
                self.states,
                self._row,
                self.chosen,
            )
        )

    def _assemble(self, t: float, h: float, n: int) -> None:
        """Rows of joints, then of contacts, with their warm starts."""
        r, s = self.rows, self.settings
        assemble_rows(self.bodies.system, self.states, self.before, self.intact, self.inputs, t, h, *self.room, *r)
        self.lam[: self.joint_rows] = self.joint_lam
        if not n:
            return
        assert self.detector is not None
        c = self.detector.contacts
        most = math.inf if s.law == "coulomb" else 0.0
        contact_rows.write(
            h, s.margin, s.eps, s.tau, most, 1e-5, self.chosen, n, c.bodies, self.detector.frames, c.point, c.gap, c.material,
            self.detector.materials, self.states, self.before, self.lam0, self.constraints, self.joint_rows, *r, self.rates,
        )  # fmt: skip
        self.lam[self.joint_rows : self.joint_rows + 3 * n] = self.lam0[self.chosen[:n]].ravel()

    def _problem(self, n: int, free: Array, start: Array, b: Array) -> StepProblem:
        m, k, r = self.constraints + n, self.joint_rows + 3 * n, self.rows
        return StepProblem(
            r.bodies[:m], r.kind[:m], r.first[: m + 1], r.J[:k], b[:k], r.sigma[:k], r.mu[:m], self.masses, self.inverse, free,
            r.low[:k], r.high[:k], start, self.lam[:k], check=False,
        )  # fmt: skip

    def _solve(self, n: int, found: Report, free: Array, start: Array, b: Array) -> None:
        """x and lam of a problem over the rows at hand."""
        if self.constraints + n == 0:
            self.x[:] = free
            return
        result = self.solver.solve(self._problem(n, free, start, b))
        self.x[:] = result.x
        found.residual = max(found.residual, result.residual)
        found.factorisations += result.factorisations
        found.converged = found.converged and result.ok

    # impacts ---------------------------------------------------------------------------------------------------------------------------

    def _strike(self, t: float, h: float, n: int, energy: float, found: Report) -> float:
        """Impacts: M (x+ - x-) = J^T lam with C x+ + psi C x- >= 0. Returns the kinetic energy behind it."""
        assert self.detector is not None
        s, c, r0 = self.settings, self.detector.contacts, self.joint_rows
        self._assemble(t, h, n)
        size = r0 + 3 * n
        b, r = self._b, self.rows
        strike_rows(self.bodies.system, self.before, r.bodies, r.J, b, r.sigma, r.low, r.high)
        struck = contact_rows.strike(
            n, self.constraints, r0, self.chosen, c.gap, c.material, self.detector.materials, self.rates, s.threshold, EARLY[s.impact], h,
            self.struck, b,
        )  # fmt: skip
        if not struck:
            return energy
        self.lam[:size] = 0.0
        last = self.before.copy()
        self._solve(n, found, last, last, b)
        hit, lam = np.flatnonzero(self.struck[:n]), self.lam[r0:size:3]
        self.events += [(STRUCK, *map(float, c.bodies[self.chosen[j]]), float(lam[j])) for j in hit]
        before = self.account[IMPACT]
        m = self.constraints + n
        works = np.zeros(len(COLUMNS))
        contact_rows.works(
            size, self.rows.first, self.rows.kind[:m], self.rows.bodies, self.rows.J, self.lam, self.x, last, False, self.columns, works
        )
        self.account[IMPACT] = before + works.sum()
        motion.kick(h, self.x, self.mode, self.states)
        self.rates_of_rotors[:] = np.nan
        after = self._kinetic()
        self.account[NUMERICAL] += after - energy - works.sum()
        self._prepare(h, found)
        self.lam0[: len(c.gap)] = 0.0
        return float(after)

    # account, breaking, memory ---------------------------------------------------------------------------------------------------------

    def _enter(self, h: float, n: int, energy: float) -> None:
        """Work of every row, lam J (x + x_k)/2, of known forces, and what the discretisation of rotation and weight adds.

        kinetic + potential at the end - at the start = sum of all columns, to round-off, where no spring acts. The kinetic energy at the
        end is added by `step`.
        """
        m, rows = self.constraints + n, self.joint_rows + 3 * n
        contact_rows.works(
            rows, self.rows.first, self.rows.kind[:m], self.rows.bodies, self.rows.J, self.lam, self.x, self.before, True, self.columns,
            self.account,
        )  # fmt: skip
        others = self.push - self.bodies.weight
        work = 0.5 * h * float(others @ (self.x + self.before))
        self.account[FORCES] += work
        self.account[NUMERICAL] += motion.exchange(self.masses, self.x, self.before, self.free) - energy - work
        self.account[NUMERICAL] -= h * float(self.bodies.weight @ self.x)
        self.impulse[3:] += h * self.push.reshape(-1, 6)[:, 3:].sum(0)

    def _break(self, h: float) -> None:
        """Joints whose force was beyond their strength."""
        if self.joints and np.isfinite(self.bodies.strength).any():
            joint_forces(self.bodies.system, h, self.rows.J, self.lam, self.forces)
            over = (self.forces > self.bodies.strength) & (self.intact == 1)
            self.events += [(BROKEN, float(j), -1.0, float(self.forces[j])) for j in np.flatnonzero(over)]
            self.intact[over] = 0

    def _remember(self, n: int, found: Report) -> None:
        self.joint_lam[:] = self.lam[: self.joint_rows]
        self.contacts = n
        if self.detector is None:
            return
        count = self.detector.count
        self.lam0[:count] = 0.0
        self.lam0[self.chosen[:n]] = self.lam[self.joint_rows : self.joint_rows + 3 * n].reshape(-1, 3)
        self.detector.remember(self.lam0[:count])
        gap = self.detector.contacts.gap
        found.contacts, found.penetration = n, max(0.0, -float(gap.min())) if count else 0.0
