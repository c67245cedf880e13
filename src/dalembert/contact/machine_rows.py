"""`Rows`: the problem of a step: known forces, masses, contacts near the bodies, rows of joints and contacts."""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.contact.accounts import CONTACT, FRICTION
from dalembert.contact.impacts import WHEN
from dalembert.contact.machine_arrays import STRETCH, Arrays
from dalembert.contact.problem import StepProblem
from dalembert.contact.settings import Report
from dalembert.kernels.bodies import motion
from dalembert.kernels.bodies.couplings import lend
from dalembert.kernels.bodies.joint_rows import assemble_rows
from dalembert.kernels.bodies.loads import add_loads
from dalembert.kernels.bodies.measures import measure
from dalembert.kernels.bodies.springs import calm_springs
from dalembert.kernels.bodies.targets import add_motor_forces
from dalembert.kernels.contact import rows as contact_rows
from dalembert.kernels.contact.axes import turn_frames

#: contacts with gaps below this part of the margin count as touching
NEAR = 0.05


class Rows(Arrays):
    """What a step is assembled from."""

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
        count = self.detector.detect(*self._poses, h * self.free[: 6 * self.n].reshape(-1, 6))
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

    def _lend(self) -> None:
        if self.companions:
            lend(self.bodies.system, self.rows.bodies, self.rows.J, self.masses, self.inverse, self.before, self.free)
