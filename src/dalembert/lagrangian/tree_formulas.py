"""A tree of bodies as CasADi expressions, built from the links that the kernels run on.

    L(q, v) = sum over links of m |u|^2/2 + u . (w x s) + w . J w/2 + g . (m x + R s) + armature |v|^2/2 - potentials of springs

(w, u) the twist of a link in its axes, s its first and J its second moment about its origin, (R, x) its pose in the world. What has no
potential is a force of its own: damping of joints, drag on bodies, wrenches, dampers along lines.

    force(q, v) = dL/dq + damping, drag, wrenches        dL/dq in body-fixed coordinates: derivative along q tau(e) at e = 0
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from dalembert.arrays import Array
from dalembert.errors import UnsupportedError
from dalembert.kernels.tree import layout as at
from dalembert.lagrangian.charts import PRIMITIVE, Chart, Part, conjugate, matrix, rotate
from dalembert.model import Model
from dalembert.model.compile_tree import Link, build_tree
from dalembert.model.parts import WORLD

SMALL = 1e-200  # under roots, so that derivatives at 0 are finite


class TreeFormula:
    """Expressions of (q, v) of a frozen model."""

    def __init__(self, model: Model):
        self.model = model
        self.tree = build_tree(model)
        self.chart = Chart([Part(PRIMITIVE[k.kind], k.q_at, k.v_at) for k in self.tree.links])
        self.nq, self.nv = model.nq, model.nv
        self._check()

    def _check(self) -> None:
        for force in self.model.forces:
            if force.kind not in ("spring", "damper", "wrench"):
                raise UnsupportedError(f"{self.model!r}: {force.owner} has no formula; plans know springs, dampers and wrenches.")

    # motion --------------------------------------------------------------------------------------------------------------------------

    def _joint(self, link: Link, q: Any, v: Any) -> tuple[Any, Any, Any, Any]:
        """(R, p, w, u) of a joint: pose and twist of the link against where it is carried, link axes."""
        zero, chart = ca.SX.zeros(3), PRIMITIVE[link.kind]
        qi, vi = q[link.q_at : link.q_at + chart.nq], v[link.v_at : link.v_at + chart.nv]
        if link.kind <= at.PRISMATIC:
            turn, slide = link.turn, link.slide
            c, s = ca.cos(turn * qi), ca.sin(turn * qi)
            R = ca.vertcat(ca.horzcat(c, -s, 0), ca.horzcat(s, c, 0), ca.horzcat(0, 0, 1)) if turn else ca.SX.eye(3)
            return R, ca.vertcat(0, 0, slide * qi), ca.vertcat(0, 0, turn * vi), ca.vertcat(0, 0, slide * vi)
        if link.kind == at.SPHERICAL:
            return matrix(qi), zero, vi, zero
        return matrix(qi[3:]), qi[:3], vi[:3], vi[3:]

    def sweep(self, q: Any, v: Any) -> list[tuple[Any, Any, Any, Any]]:
        """(R, x, w, u) of every link: pose in the world, twist in link axes."""
        found: list[tuple[Any, Any, Any, Any]] = []
        for link in self.tree.links:
            R_j, p_j, w, u = self._joint(link, q, v)
            R_t, p_t = ca.sparsify(ca.DM(link.R_tree)), ca.DM(link.p_tree)
            R, p = R_t @ R_j, p_t + R_t @ p_j
            if link.parent >= 0:
                R_p, x_p, w_p, u_p = found[link.parent]
                w, u = R.T @ w_p + w, R.T @ (u_p + ca.cross(w_p, p)) + u
                p, R = x_p + R_p @ p, R_p @ R
            found.append((R, p, w, u))
        return found

    def pose(self, q: Any, body: str) -> tuple[Any, Any]:
        """(R, x) of a body's frame in the world."""
        place = self.tree.places[body]
        if place.link < 0:
            return ca.SX(ca.DM(place.R)), ca.SX(ca.DM(place.p))
        R, x, _, _ = self.sweep(q, ca.SX.zeros(self.nv))[place.link]
        return R @ ca.DM(place.R), x + R @ ca.DM(place.p)

    def points(self, q: Any, wanted: list[tuple[str, Any]]) -> list[Any]:
        """World places of points (body, point in its frame)."""
        swept, out = self.sweep(q, ca.SX.zeros(self.nv)), []
        for body, point in wanted:
            place = self.tree.places[body]
            local = ca.DM(place.at(np.asarray(point, dtype=float)))
            if place.link < 0:
                out.append(ca.SX(local))
            else:
                R, x, _, _ = swept[place.link]
                out.append(x + R @ local)
        return out

    # energy --------------------------------------------------------------------------------------------------------------------------

    def kinetic(self, swept: list[Any], v: Any) -> Any:
        """Kinetic energy, rotors of motors included."""
        total = ca.SX(0)
        for link, (_, _, w, u) in zip(self.tree.links, swept, strict=True):
            if link.mass or np.any(link.inertia):
                s, J = ca.DM(link.moment), ca.DM(link.inertia)
                total += 0.5 * link.mass * ca.dot(u, u) + ca.dot(u, ca.cross(w, s)) + 0.5 * ca.dot(w, J @ w)
            if link.joint.armature:
                vi = v[link.v_at : link.v_at + PRIMITIVE[link.kind].nv]
                total += 0.5 * link.joint.armature * ca.dot(vi, vi)
        return total

    def potential(self, swept: list[Any], q: Any) -> Any:
        """Of gravity, joint springs and springs between bodies."""
        g, total = ca.DM(self.model.gravity), ca.SX(0)
        for link, (R, x, _, _) in zip(self.tree.links, swept, strict=True):
            total -= ca.dot(g, link.mass * x + R @ ca.DM(link.moment))
            k = link.joint.stiffness
            if k and link.kind <= at.PRISMATIC:
                total += 0.5 * k * (q[link.q_at] - getattr(link.joint, "rest", 0.0)) ** 2
            elif k and link.kind == at.SPHERICAL:
                total += 0.5 * k * _angle(q[link.q_at : link.q_at + 4]) ** 2
        for force in self.model.forces:
            if force.kind == "spring" and force.stiffness:
                (a, _), (b, _) = self._ends(force, swept)
                d = b - a
                total += 0.5 * force.stiffness * (ca.sqrt(ca.dot(d, d) + SMALL) - force.rest_length) ** 2
        return total

    def lagrangian(self, q: Any, v: Any) -> Any:
        """Kinetic less potential energy."""
        swept = self.sweep(q, v)
        return self.kinetic(swept, v) - self.potential(swept, q)

    def _ends(self, force: Any, swept: list[Any]) -> list[tuple[Any, Any]]:
        return [self._point(swept, body, x) for body, x in ((force.body_a, force.point_a), (force.body_b, force.point_b))]

    def _point(self, swept: list[Any], body: str, point: Any) -> tuple[Any, Any]:
        """World place and velocity of a point of a body."""
        place = self.tree.places[body]
        local = ca.DM(place.at(np.asarray(point, dtype=float)))
        if place.link < 0 or body == WORLD:
            return ca.SX(local), ca.SX.zeros(3)
        R, x, w, u = swept[place.link]
        return x + R @ local, R @ (u + ca.cross(w, local))

    # forces --------------------------------------------------------------------------------------------------------------------------

    def _rayleigh(self, swept: list[Any], v: Any) -> Any:
        """Half the power that dampers take, whose derivative by v is their force."""
        total = ca.SX(0)
        for link in self.tree.links:
            vi = v[link.v_at : link.v_at + PRIMITIVE[link.kind].nv]
            total += 0.5 * link.joint.damping * ca.dot(vi, vi)
        for force in self.model.forces:
            if force.kind == "damper" and self.tree.places[force.body].link >= 0:
                _, speed = self._point(swept, force.body, self.model.body(force.body).com)
                w = swept[self.tree.places[force.body].link][2]
                total += 0.5 * force.angular * ca.dot(w, w) + 0.5 * force.linear * ca.dot(speed, speed)
            elif force.kind == "spring" and force.damping:
                (a, v_a), (b, v_b) = self._ends(force, swept)
                d = b - a
                total += 0.5 * force.damping * ca.dot(d, v_b - v_a) ** 2 / (ca.dot(d, d) + SMALL)
        return total

    def _wrenches(self, swept: list[Any]) -> Any:
        """Power of constant wrenches, whose derivative by v is their force."""
        total = ca.SX(0)
        for force in self.model.forces:
            if force.kind == "wrench" and self.tree.places[force.body].link >= 0:
                place = self.tree.places[force.body]
                R, _, w, _ = swept[place.link]
                turn = R @ ca.DM(place.R) if force.frame == "body" else ca.SX.eye(3)
                _, speed = self._point(swept, force.body, force.point)
                total += ca.dot(turn @ ca.DM(force.force), speed) + ca.dot(turn @ ca.DM(force.torque), R @ w)
        return total

    # straight paths ------------------------------------------------------------------------------------------------------------------

    def straight(self, a: Any, b: Any, h: Any) -> Any:
        """1/(2h) sum mu |x1 - x0|^2 of all material points, each on the chord between its places at nodes a and b.

        With x = c + R X, first moment s and second moment E = tr(J)/2 - J of a link: m |dc|^2 + 2 dc . dR s + tr(dR E dR^T).
        """
        zero, total = ca.SX.zeros(self.nv), ca.SX(0)
        for link, (R0, x0, _, _), (R1, x1, _, _) in zip(self.tree.links, self.sweep(a, zero), self.sweep(b, zero), strict=True):
            if link.mass or np.any(link.inertia):
                E = ca.DM(0.5 * np.trace(link.inertia) * np.eye(3) - link.inertia)
                dR, dc = R1 - R0, x1 - x0
                total += link.mass * ca.dot(dc, dc) + 2 * ca.dot(dc, dR @ ca.DM(link.moment)) + ca.dot(dR, dR @ E)
        return 0.5 * total / h

    def rotor(self, v: Any) -> Any:
        """Momentum of the rotors of motors."""
        weights = np.zeros(self.nv)
        for link in self.tree.links:
            weights[link.v_at : link.v_at + PRIMITIVE[link.kind].nv] = link.joint.armature
        return ca.DM(weights) * v

    @cached_property
    def _push(self) -> Any:
        q, v = ca.SX.sym("q", self.nq), ca.SX.sym("v", self.nv)
        swept = self.sweep(q, v)
        slope = -self._along(q).T @ ca.gradient(self.potential(swept, q), q)
        return ca.Function("push", [q, v], [ca.densify(slope + ca.gradient(self._wrenches(swept) - self._rayleigh(swept, v), v))])

    def push(self, q: Any, v: Any) -> Any:
        """All forces but those of inertia."""
        return self._push(q, v)

    def _along(self, q: Any) -> Any:
        """d(q tau(e))/de at e = 0"""
        e = ca.SX.sym("e", self.nv)
        return ca.substitute(ca.jacobian(self.chart.retract(q, e), e), e, ca.SX.zeros(self.nv))

    @cached_property
    def function(self) -> Any:
        """(q, v) -> momentum dL/dv, force dL/dq + damping + wrenches, as one function."""
        q, v = ca.SX.sym("q", self.nq), ca.SX.sym("v", self.nv)
        swept = self.sweep(q, v)
        L = self.kinetic(swept, v) - self.potential(swept, q)
        slope = self._along(q).T @ ca.gradient(L, q)
        push = slope + ca.gradient(self._wrenches(swept) - self._rayleigh(swept, v), v)
        return ca.Function("tree", [q, v], [ca.densify(ca.gradient(L, v)), ca.densify(push)])

    def momentum(self, q: Any, v: Any) -> Any:
        """dL/dv"""
        return self.function(q, v)[0]

    def force(self, q: Any, v: Any) -> Any:
        """dL/dq and what has no potential"""
        return self.function(q, v)[1]

    def both(self, q: Any, v: Any) -> tuple[Any, Any]:
        """(momentum, force)"""
        found: tuple[Any, Any] = self.function(q, v)
        return found

    def momentum_of(self, q: Array, v: Array) -> Array:
        """dL/dv as numbers."""
        return np.array(self.function(q, v)[0]).ravel()


def _angle(q: Any) -> Any:
    """Length of the rotation vector of a unit quaternion, of the shorter way."""
    return 2 * ca.atan2(ca.sqrt(ca.dot(q[1:4], q[1:4]) + SMALL), ca.fabs(q[0]))


def heading(R: Any, wanted: Any) -> Any:
    """Three numbers that are 0 where R is `wanted` (or half a turn away): vee of the skew part of wanted^T R."""
    E = wanted.T @ R
    return 0.5 * ca.vertcat(E[2, 1] - E[1, 2], E[0, 2] - E[2, 0], E[1, 0] - E[0, 1])


__all__ = ["TreeFormula", "conjugate", "heading", "rotate"]
