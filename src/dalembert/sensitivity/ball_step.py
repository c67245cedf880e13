"""One step of balls in contact as formulas: the problem that `spook` solves (kernels/bodies/motion.py, kernels/contact/rows.py).

    M (x - x_free) = sum of J^T lam,   u = J x + b + sigma lam                     rows (normal, two tangents) of each contact
    sticks          u = 0
    slides          lam_t = -mu lam_n u_t/|u_t|,  u_n = min(mu |u_t|, creep)       Coulomb's law with its dead band (contact/coulomb.py)

x = (w, v) of each body over the step. Contacts are those of spheres with planes of the world and with each other; their frames are carried
along with the normal, on which nothing depends while friction is the same in all directions.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from dalembert.contact.machine_rows import NEAR
from dalembert.kernels.bodies.motion import BALANCED
from dalembert.kernels.contact.rows import COMPLIANCE, DAMPING_TIME, FRICTION, ROUGHEST, SOFTEST
from dalembert.kernels.contact.tables import PLANE
from dalembert.lagrangian.charts import Chart, Part, Rigid, matrix, product

TINY = 1e-200  # under roots, so that derivatives at 0 are finite


class Touch(NamedTuple):
    """A contact: shapes (the first may be of the world), material, and whether it slides."""

    first: int
    second: int
    material: int
    slides: bool


class Ball(NamedTuple):
    """A body: expressions of its state at the start, mass block and velocities without contacts."""

    x: Any
    R: Any
    quaternion: Any
    before: Any
    free: Any
    inverse: Any
    com: Any


class BallStep:
    """Functions of (q, v, tau, mass, gravity, h, frames): residual R of the unknowns (x, lam), the next node, and their derivatives.

    switches: names, whether they are impulses (else speeds), and expressions that are 0 where one set of contacts gives way to another.
    """

    def __init__(self, machine: Any, touches: tuple[Touch, ...], q_at: list[int], v_at: list[int]):
        self.machine, self.touches = machine, touches
        n, m = machine.n, len(touches)
        self.n, self.chart = n, Chart([Part(Rigid(), a, b) for a, b in zip(q_at, v_at, strict=True)])
        self.h, self.mass, self.gravity = ca.SX.sym("h"), ca.SX.sym("mass", n), ca.SX.sym("gravity", 3)
        self.q, self.v, self.tau = ca.SX.sym("q", 7 * n), ca.SX.sym("v", 6 * n), ca.SX.sym("tau", 6 * n)
        self.frames = ca.SX.sym("frames", 3, 3 * m)  # of the contacts as they are: columns normal, first and second tangent
        self.x, self.lam = ca.SX.sym("x", 6 * n), ca.SX.sym("lam", 3 * m)
        self.switches: list[tuple[str, bool, Any]] = []
        self.places = list(zip(q_at, v_at, strict=True))
        balls = [self._ball(k) for k in range(n)]
        pushes, rows = [ca.SX.zeros(6) for _ in range(n)], []
        for c, touch in enumerate(touches):
            at = slice(3 * c, 3 * c + 3)
            rows.append(self._contact(touch, balls, pushes, self.lam[at], self.frames[:, at]))
        balance = [self.x[6 * k : 6 * k + 6] - b.free - b.inverse @ pushes[k] for k, b in enumerate(balls)]
        self._functions(ca.vertcat(*balance, *rows), self._next(balls))

    # bodies --------------------------------------------------------------------------------------------------------------------------

    def _ball(self, k: int) -> Ball:
        i, j = self.places[k]
        b, q = self.machine.bodies, self.q[i : i + 7]
        com, I, R = ca.DM(b.com[k]), ca.DM(b.inertia[k]), matrix(q[3:])
        omega = self.v[j : j + 3]
        v = R @ (self.v[j + 3 : j + 6] + ca.cross(omega, com))
        f = self.tau[j + 3 : j + 6]
        torque, force = self.tau[j : j + 3] - ca.cross(com, f), R @ f + self.mass[k] * self.gravity
        M, w, last = _turning(I, omega, torque, self.h, self.machine.mode[k] == BALANCED)
        free, before = ca.vertcat(w, v + self.h * force / self.mass[k]), ca.vertcat(last, v)
        inverse = ca.diagcat(ca.inv(M), ca.SX.eye(3) / self.mass[k])
        return Ball(q[:3] + R @ com, R, q[3:], before, free, inverse, com)

    def _next(self, balls: list[Ball]) -> tuple[Any, Any]:
        """(q+, v+)"""
        q, v = ca.SX.zeros(7 * self.n), ca.SX.zeros(6 * self.n)
        for k, b in enumerate(balls):
            w, speed, (i, j) = self.x[6 * k : 6 * k + 3], self.x[6 * k + 3 : 6 * k + 6], self.places[k]
            if self.machine.mode[k] == BALANCED:
                s, half = _half_turn(self.h, w)
                omega = w
            else:
                half = 0.5 * self.h * w
                size = ca.sqrt(ca.dot(half, half) + TINY)
                s = ca.sqrt(1 - ca.dot(half, half))
                omega = 2 / self.h * ca.atan2(size, s) / size * half
            turned = product(b.quaternion, ca.vertcat(s, half))
            R = matrix(turned)
            q[i : i + 7] = ca.vertcat(b.x + self.h * speed - R @ b.com, turned)
            v[j : j + 6] = ca.vertcat(omega, R.T @ speed - ca.cross(omega, b.com))
        return q, v

    # contacts ------------------------------------------------------------------------------------------------------------------------

    def _contact(self, touch: Touch, balls: list[Ball], pushes: list[Any], lam: Any, axes: Any) -> Any:
        """Three equations; impulses are added to `pushes`."""
        d, s, h = self.machine.detector, self.machine.settings, self.h
        material = d.materials[touch.material]
        gap, point, normal = self._meeting(touch, balls)
        frame = _carried(axes, normal)
        rows = []
        for shape, sign in ((touch.first, -1.0), (touch.second, 1.0)):
            k = int(d.scene.shapes.owner[shape])
            if k >= 0:
                arm = point - balls[k].x
                J = ca.vertcat(*(ca.horzcat((balls[k].R.T @ ca.cross(arm, e)).T, e.T) for e in frame)) * sign
                pushes[k] += J.T @ lam
                rows.append((k, J))
        rate = sum(J @ self.x[6 * k : 6 * k + 6] for k, J in rows)
        last = sum(J[0, :] @ balls[k].before for k, J in rows)
        own_eps, own_tau = float(material[COMPLIANCE]), float(material[DAMPING_TIME])
        Y = 1 / (1 + 4 * (s.tau if np.isnan(own_tau) else own_tau / h))
        sigma = 4 * (s.eps if np.isnan(own_eps) else own_eps) * Y / h**2
        if np.isnan(own_eps):
            sigma = ca.fmin(sigma, SOFTEST * sum(J[0, :] @ balls[k].inverse @ J[0, :].T for k, J in rows))
        own = not (np.isnan(own_eps) or np.isnan(own_tau))
        u = rate + sigma * lam + ca.vertcat(self._target(gap, last, Y, own), 0, 0)
        mu = min(float(material[FRICTION]), ROUGHEST)
        self.switches.append(("a contact opens", True, lam[0]))
        if mu == 0.0:
            return ca.vertcat(u[0], lam[1:])
        if not touch.slides:
            self.switches.append(("sliding begins", True, mu * lam[0] - ca.sqrt(ca.dot(lam[1:], lam[1:]) + TINY)))
            return u
        slip = ca.sqrt(ca.dot(u[1:], u[1:]))
        self.switches.append(("sliding ends", False, slip))
        self.switches.append(("creeping ends", False, ca.fabs(mu * slip - self.machine.options.creep)))
        return ca.vertcat(u[0] - ca.fmin(mu * slip, self.machine.options.creep), lam[1:] + mu * lam[0] * u[1:] / slip)

    def _target(self, gap: Any, last: Any, Y: Any, own: bool) -> Any:
        """b of the normal row (kernels/contact/rows.py)."""
        s, h = self.machine.settings, self.h
        if own:
            return ca.if_else(gap > 0, gap / h, Y * (4 / h * gap - last))
        slow = ca.if_else(last > -s.threshold, last, 0)
        touching = ca.fmax(Y * (4 / h * gap - slow), -ca.fmax(slow, s.push))
        return ca.if_else(gap > NEAR * s.margin, gap / h, touching)

    def _meeting(self, touch: Touch, balls: list[Ball]) -> tuple[Any, Any, Any]:
        """(gap, point, normal)"""
        shapes = self.machine.detector.scene.shapes

        def centre(shape: int) -> Any:
            k, p = int(shapes.owner[shape]), ca.DM(shapes.position[shape])
            return ca.SX(p) if k < 0 else balls[k].x + balls[k].R @ p

        a, c, r = centre(touch.first), centre(touch.second), float(shapes.half[touch.second, 0])
        if shapes.kind[touch.first] == PLANE:
            normal = matrix(ca.DM(shapes.quaternion[touch.first]))[:, 2]
            gap = ca.dot(normal, c - a) - r
            return gap, c - (r + 0.5 * gap) * normal, ca.SX(normal)
        distance = ca.sqrt(ca.dot(c - a, c - a))
        normal, r_a = (c - a) / distance, float(shapes.half[touch.first, 0])
        gap = distance - r_a - r
        return gap, a + (r_a + 0.5 * gap) * normal, normal

    # functions -----------------------------------------------------------------------------------------------------------------------

    def _functions(self, residual: Any, after: tuple[Any, Any]) -> None:
        given = [self.q, self.v, self.tau, self.mass, self.gravity, self.h, self.frames]
        u, e = ca.vertcat(self.x, self.lam), ca.SX.sym("e", 6 * self.n)
        along = ca.substitute(ca.jacobian(self.chart.retract(self.q, e), e), e, ca.SX.zeros(6 * self.n))
        b = ca.SX.sym("b", 7 * self.n)
        seen = ca.substitute(ca.jacobian(self.chart.lift(self.q, b), b), b, self.q)
        seen = ca.substitute(seen, self.q, after[0])
        what = ca.vertcat(residual, after[0], after[1])
        by = ca.horzcat(ca.jacobian(what, self.q) @ along, ca.jacobian(what, ca.vertcat(self.v, self.tau, self.mass, self.gravity)))
        m, k = residual.shape[0], residual.shape[0] + 7 * self.n
        by_u = ca.jacobian(what, u)
        dense = ca.densify
        self.newton = ca.Function("newton", [*given, u], [dense(residual), dense(by_u[:m, :])])
        out = [by_u[:m, :], by[:m, :], seen @ by_u[m:k, :], seen @ by[m:k, :], by_u[k:, :], by[k:, :], *after]
        switches = ca.vertcat(*(x for _, _, x in self.switches)) if self.switches else ca.SX(0, 1)
        self.all = ca.Function("all", [*given, u], [dense(ca.SX(x)) for x in (*out, switches)])


def _half_turn(h: Any, omega: Any) -> tuple[Any, Any]:
    """Scalar and vector part of a rotation by h omega."""
    rate = ca.sqrt(ca.dot(omega, omega) + TINY)
    a = 0.5 * h * rate
    return ca.cos(a), ca.sin(a) / rate * omega


def _turning(I: Any, omega: Any, torque: Any, h: Any, balanced: bool) -> tuple[Any, Any, Any]:
    """(mass of w, w without contacts, w of the step before): (15.59) of kernels/bodies/motion.py."""
    if balanced:
        return ca.SX(I), omega + h * torque / I[0, 0], omega
    s, y = _half_turn(h, omega)
    l = I @ y
    z = -(s * l + ca.cross(l, y)) - 0.5 * h * h * torque
    inverse, hat = ca.inv(I - ca.dot(y, l) * ca.SX.eye(3)), ca.skew(z)
    M = (I - ca.dot(y, l) * ca.SX.eye(3) - hat @ inverse @ hat) / s
    return M, ca.inv(M) @ (-2 / h * (z - ca.cross(z, inverse @ z))), 2 / h * y


def _carried(axes: Any, normal: Any) -> list[Any]:
    """A frame, turned the shortest way so that its first axis is the normal."""
    n0, tangents = axes[:, 0], (axes[:, 1], axes[:, 2])
    return [normal, *(t - ca.dot(t, normal) / (1 + ca.dot(n0, normal)) * (n0 + normal) for t in tangents)]
