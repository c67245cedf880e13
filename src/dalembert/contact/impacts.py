"""Impacts: velocities jump, positions stay (lacoursiere2007, (10.31), with the right-hand side corrected).

    M (v+ - v-) = G^T lam + J^T nu,    G v+ + sigma lam = -G v-  (joints),    C v+ + psi C v- >= 0  _|_  nu_n >= 0,    nu in Coulomb's cone

Contacts that touch (within 1 um) take part, with psi = 0 where they do not strike: a row of touching balls parts by Newton's law of all
contacts at once, balls that are a little apart hand their velocities on. Contacts apart, without restitution, may not meet before the end
of the step: C v+ >= -gap/time left. Several contacts that share one impulse (the corners of a box) share it evenly, as their sigma says.

Kinetic energy never grows: for rows without friction by the identity T+ - T- = -lam sigma lam + nu (1 - psi) C v-; with friction Newton's
restitution can add energy where sliding reverses (Kane 1984): psi of all contacts is then lowered until it does not. At psi = 0 it cannot.

Contacts strike where a material has a restitution psi > 0 and they approach faster than the threshold. When:

    exact        at the instant of the step at which they meet. The step is solved without them; its velocities change evenly from v_k to x,
                 so at time s they are v_k + (h/2 + s) (x - v_k)/h and the gap is a parabola (exact in free flight, where nodes are on it),
                 whose zero is known: kernels/events/parabolas.py.
                 The jump D at s changes the velocities at the end by D and the way by (h - s) D; of spinning bodies the gyroscopic
                 acceleration jumps too (contact/spins.py). Impulses act at the points and along the normals of the instant, to which the
                 bodies are moved; balls meet spheres and boxes where their distance is zero (contact/instants.py). Up to EVENTS instants in
                 a step, then all at once. Where a joint stops its bodies in this step (one that was just added), velocities are x from the
                 beginning: a stop is no acceleration.
    post-facto   at the beginning of the step, once they penetrate
    preemptive   at the beginning of the step in which they would come to penetrate
    combined     at the beginning of a step, where they penetrate or meet within its first half: the node that is nearer

The last three use v_k, the velocities of the step before, as v-: elastic bounces under gravity g lose about g h |v| each. `exact` does not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.arrays import Array
from dalembert.contact.accounts import DAMPING, DRIVE, IMPACT, JOINT_FRICTION, MOTORS, NUMERICAL, STIFFNESS
from dalembert.contact.instants import Instants
from dalembert.contact.problem import BILATERAL, BOXED, UNILATERAL, StepProblem
from dalembert.contact.spins import Spins
from dalembert.contact.tables import COLUMNS, STRUCK, rows_of
from dalembert.kernels.bodies import layout
from dalembert.kernels.contact import rows
from dalembert.kernels.events.parabolas import meetings

if TYPE_CHECKING:
    from dalembert.contact.machine import Machine, Report

WHEN = {"post-facto": rows.POST_FACTO, "preemptive": rows.PREEMPTIVE, "combined": rows.COMBINED, "exact": rows.EXACT}
#: instants of one step
EVENTS = 12
#: m. Contacts nearer than this are struck together, those farther apart one after the other
TOUCHING = 1e-6
#: rows that have no impulse in an instant
SOFT = (STIFFNESS, DAMPING, MOTORS, JOINT_FRICTION)
#: rows whose rates go on: driven coordinates, and rotors, whose inertia is the 1/sigma of their rows
KEPT = (DRIVE, NUMERICAL)
#: sigma of rows that are to have none
NEVER = 1e30
#: of sigma of contacts, which in an instant would take some of the restitution: 1e-5 of it for 1 kg, eps = 1e-8, h = 1/60
STIFFER = 1e-5
#: of the kinetic energy of two bodies: where more of it is in rates that their joint does not allow, that is no curvature of their way
#: (sin^2(h Omega/2)) but a motion that the joint stops in this step
AGAINST = 0.25
#: restitutions are lowered by these where energy would grow
LOWER = (0.75, 0.5, 0.25, 0.0)


class Impacts:
    """Impacts of a machine within a step. `jolts` (rows of contacts,): their impulses; `rows`: contacts that struck before the step, as in
    `traj.contacts`, `which`: their places among those that were found."""

    def __init__(self, machine: Machine):
        self.m = machine
        self.jolts = np.zeros(0)
        self.times: list[float] = []  # of the impacts of the last step, from its beginning
        self.there: Instants | None = None  # contacts at the instants of the step
        self.forget()
        self.jointed = np.zeros(machine.n, dtype=bool)
        system = machine.bodies.system
        for j in range(machine.joints):
            record = int(system[layout.AT_JOINTS]) + j * layout.JOINT_SIZE
            self.jointed[[k for k in (int(system[record + end]) for end in (layout.BODY_A, layout.BODY_B)) if 0 <= k < machine.n]] = True

    def forget(self) -> None:
        """A step in which nothing has struck yet."""
        self.times, self.which, self.rows = [], np.zeros(0, dtype=np.int64), np.zeros((0, len(COLUMNS["contacts"])))

    def keep(self, n: int) -> None:
        """Those of the first n contacts that have had an impulse before the step, with velocities m.x."""
        m, lam = self.m, self.m.lam.copy()
        lam[m.joint_rows : m.joint_rows + 3 * n] = self.jolts
        struck = self.jolts.reshape(n, 3).any(axis=1)
        self.which, self.rows = m.chosen[:n][struck], rows_of(m, n, lam)[struck]

    def begin(self, n: int) -> None:
        """A step with n contacts."""
        self.jolts, self.times, self.J, self.there = np.zeros(3 * n), [], self.m.rows.J, None
        self.spins = Spins(self.m, self.jointed)

    # one instant -----------------------------------------------------------------------------------------------------------------------

    def jump(self, n: int, v: Array, gap: Array, rates: Array, left: float, allowed: Any, found: Report, last: bool = False) -> Array:
        """Change of velocity at an instant with velocities v, gaps and gap rates of n contacts, `left` seconds before the end of the step;
        allowed: contacts that strike; last: no other contact may be passed until the end of the step."""
        m, c = self.m, self.m.detector
        assert c is not None
        self.times.append(m.h - left)
        bounces = self.restitutions(n)
        touching = (gap <= TOUCHING) | allowed
        hit = touching & (rates < -m.settings.threshold) & (bounces > 0.0)
        psi = np.where(hit, bounces, 0.0)
        near = np.arange(n) if last else np.flatnonzero(touching | (bounces == 0.0))
        apart = np.where(touching[near], 0.0, np.maximum(gap[near], 0.0) / max(left, 1e-12))
        p = self._problem(near, v)
        at = slice(m.joint_rows, None, 3)
        own = p.b.copy()
        for scale in (1.0, *LOWER):
            p.b[:] = own
            p.b[at] = np.where(psi[near] > 0.0, scale * psi[near] * rates[near], apart)
            p.impulses[:] = 0.0
            result = m.solver.solve(p)
            change, gain = self._without_gain(v, result.x - v)
            if gain <= 0.0:
                break
        found.residual, found.converged = max(found.residual, result.residual), found.converged and result.ok
        found.factorisations += result.factorisations
        m.account[IMPACT] += gain
        m.account[NUMERICAL] -= gain
        lam = p.impulses[m.joint_rows :].reshape(-1, 3)
        jolts = self.jolts.reshape(-1, 3)
        jolts[near] += lam if self.there is None else self.there.from_start(near, lam)
        pairs = c.contacts.bodies[m.chosen[near]]
        m.events += [(STRUCK, *map(float, pairs[i]), float(lam[i, 0])) for i in np.flatnonzero(hit[near])]
        return np.asarray(change)

    def restitutions(self, n: int) -> Array:
        """Of the first n contacts of the step."""
        d = self.m.detector
        assert d is not None
        return np.asarray(d.materials[d.contacts.material[self.m.chosen[:n]], rows.RESTITUTION])

    def _without_gain(self, v: Array, change: Array) -> tuple[Array, float]:
        """(change, what it adds to the kinetic energy); gains of the size of tolerances are taken out of the change."""
        M, c = self.spins.masses, change.reshape(-1, 6)
        twice, along = float(np.einsum("ni,nij,nj->", c, M, c)), float(np.einsum("ni,nij,nj->", c, M, v.reshape(-1, 6)))
        gain = along + 0.5 * twice
        if 0.0 < gain <= 1e-5 * twice:
            change, gain = (-2.0 * along / twice) * change, 0.0
        return change, gain

    def _problem(self, near: Any, v: Array) -> StepProblem:
        """Rows of the joints and of some contacts at an instant with velocities v."""
        m, r, c0, r0 = self.m, self.m.rows, self.m.constraints, self.m.joint_rows
        which = np.concatenate([np.arange(c0), c0 + near])
        take = np.concatenate([np.arange(r0), (r0 + 3 * near[:, None] + np.arange(3)).ravel()])
        first = np.concatenate([r.first[:c0], r0 + 3 * np.arange(len(near) + 1)])
        sigma, low, high, b = r.sigma[take], r.low[take], r.high[take], np.zeros(len(take))
        law = np.repeat(r.kind[:c0], np.diff(r.first[: c0 + 1]))
        column = m.columns[:r0]
        reflect = np.where(np.isin(column, KEPT), -1.0, 1.0) * _rates(r, c0, v)
        b[r0:] = r.b[take[r0:]]  # tangents: belts
        b[:r0] = np.where(law == BILATERAL, reflect, np.where(law == UNILATERAL, np.maximum(r.b[:r0], 0.0), 0.0))
        sigma[r0:] *= STIFFER
        soft = np.isin(column, SOFT)
        sigma[:r0][soft], b[:r0][soft] = NEVER, 0.0
        boxed = law == BOXED
        for bound in (low, high):  # what is bounded gives no impulse; a side without a bound does
            bound[:r0][boxed & np.isfinite(bound[:r0])] = 0.0
        m.yielding.let_go(low, high)
        return StepProblem(
            r.bodies[which], r.kind[which], first, self.J[take], b, sigma, r.mu[which], self.spins.masses, self.spins.inverse, v.copy(),
            low, high, v.copy(), np.zeros(len(take)), check=False, stretch=m.stretch(m.chosen[near]),
        )  # fmt: skip

    def _stopped(self, v: Array) -> bool:
        """Whether velocities v are against a joint: u^2/D of its rows, u = J v, beyond AGAINST of v M v of its bodies."""
        m, r, c0, r0 = self.m, self.m.rows, self.m.constraints, self.m.joint_rows
        owner = np.repeat(np.arange(c0), np.diff(r.first[: c0 + 1]))
        held = np.flatnonzero((r.kind[owner] == BILATERAL) & ~np.isin(m.columns[:r0], SOFT + KEPT))
        if not len(held):
            return False
        ends, J = r.bodies[owner[held]], r.J[held].reshape(-1, 2, 6)
        inverse = np.concatenate([m.inverse, np.zeros((1, 6, 6))])  # and the world
        twice = np.append(np.einsum("ni,nij,nj->n", v.reshape(-1, 6), m.masses, v.reshape(-1, 6)), 0.0)[ends].sum(axis=1)
        size = np.einsum("rsi,rsij,rsj->r", J, inverse[ends], J) * twice
        share = np.divide(_rates(r, c0, v)[held] ** 2, size, out=np.zeros(len(held)), where=size > 0.0)
        return bool(np.bincount(owner[held], share).max() > AGAINST)

    # within a step ---------------------------------------------------------------------------------------------------------------------

    def within(self, h: float, n: int, found: Report) -> Array:
        """Impacts of n contacts inside a step of which m.x is known. m.x becomes the velocities at the end, the answer those that
        carry the bodies there."""
        m, spins = self.m, self.spins
        assert m.detector is not None
        there = self.there = Instants(m, n)
        self.J = there.J
        assembled = (m.constraints, m.joint_rows, m.rows.bodies, self.J)
        before, x = spins.rates(h, m.before), spins.rates(h, m.x)
        if self._stopped(before):
            before = x
        slope, (rates, turn, t) = (x - before) / h, np.zeros((3, n))
        v, way, s = spins.after(x, slope, -0.5 * h), x.copy(), 0.0
        gap = m.detector.contacts.gap[m.chosen[:n]].copy()
        rows.normal_rates(n, *assembled, slope, turn)
        strikers = self.restitutions(n) > 0.0
        known, at = x, 0.5 * h  # velocities at a time of the step, from which others follow
        for event in range(EVENTS):
            rows.normal_rates(n, *assembled, v, rates)
            meetings(gap, rates, turn, m.settings.threshold, t)
            there.meet(v, slope, h - s, t)
            t[~strikers] = np.inf
            ds = float(t.min())
            if not s + ds < h:
                break
            last = event == EVENTS - 1
            gap, s = gap + ds * (rates + 0.5 * ds * turn), s + ds
            there.go(ds, v, slope, gap)
            v = spins.after(known, slope, s - at)
            rows.normal_rates(n, *assembled, v, rates)
            now = strikers & (t <= ds + 1e-9 * h) if not last else strikers & (s + t - ds < h)
            gap[now] = np.maximum(gap[now], 0.0)
            change = self.jump(n, v, gap, rates, h - s, now, found, last)
            turned = spins.gyroscopic(v + change) - spins.gyroscopic(v)
            known, at, v, slope = v + change, s, v + change, slope + turned
            way += (1.0 - s / h) * change + 0.5 * (h - s) ** 2 / h * turned
            rows.normal_rates(n, *assembled, slope, turn)
        if self.times:
            m.x[:] = spins.sines(h, spins.after(known, slope, 0.5 * h - at))
            return spins.sines(h, way)
        return m.x.copy()


def _rates(r: Any, constraints: int, v: Array) -> Array:
    """J v of the rows of the first constraints."""
    owner = np.repeat(np.arange(constraints), np.diff(r.first[: constraints + 1]))
    all_v = np.vstack([v.reshape(-1, 6), np.zeros((1, 6))])
    J = r.J[: len(owner)]
    return np.asarray((J[:, :6] * all_v[r.bodies[owner, 0]]).sum(1) + (J[:, 6:] * all_v[r.bodies[owner, 1]]).sum(1))
