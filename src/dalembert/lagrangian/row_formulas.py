"""Rows of loops, couplings, rolling and blades as CasADi expressions, from the records that the kernels read (kernels/tree/constraints.py).

A row is a residual g(q), 0 for rows on velocities alone, and a power: force f at the points x_B of link B and x_A of link A, torque n,

    G v = f . (velocity of B at x_B - velocity of A at x_A) + n . (omega_B - omega_A)

linear in v, so that G is its derivative and G^T lambda that of lambda . G v. For rows on positions G v is the rate of g.
"""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from dalembert.arrays import Array
from dalembert.errors import UnsupportedError
from dalembert.kernels.tree import constraint_layout as at
from dalembert.kernels.tree import layout
from dalembert.lagrangian.tree_formulas import TreeFormula
from dalembert.model.compile_tree import system_array


class RowFormula:
    """All rows of a model: `count` of them, those on positions first (`holonomic`)."""

    def __init__(self, trees: TreeFormula):
        self.trees = trees
        self.system = s = system_array(trees.model, {})
        start, count = int(s[layout.AT_CONSTRAINTS]), int(s[layout.CONSTRAINTS])
        self.records = [s[start + r * at.ROW_SIZE : start + (r + 1) * at.ROW_SIZE] for r in range(count)]
        self.holonomic = int(s[layout.HOLONOMIC])
        known = (at.SHIFT_WORLD, at.SHIFT, at.ANGLE, at.TILT, at.TURN, at.DISTANCE, at.COUPLING, at.BLADE, at.CONTACT)
        if any(int(r[at.ROW_KIND]) not in known for r in self.records):
            raise UnsupportedError(f"a plan of {trees.model!r} does not know drives of joints.")
        self._make(range(count))

    def keep(self, q: Array, tolerance: float = 1e-8) -> int:
        """Of rows that depend on each other at q only as many as there are independent ones; returns how many were left out."""
        G = np.array(self._numbers(q)[1])
        chosen: list[int] = []
        basis = np.zeros((0, G.shape[1]))
        for r, row in enumerate(G):
            rest = row - basis.T @ (basis @ row)
            rest = rest - basis.T @ (basis @ rest)
            if np.linalg.norm(rest) > tolerance * max(1.0, float(np.linalg.norm(row))):
                basis = np.vstack([basis, rest / np.linalg.norm(rest)])
                chosen.append(r)
        left = len(self.records) - len(chosen)
        self.holonomic = sum(r < self.holonomic for r in chosen)
        self.records = [self.records[r] for r in chosen]
        self._make(range(len(chosen)))
        return left

    def _make(self, which: Any) -> None:
        self.count = len(which)
        q, v = ca.SX.sym("q", self.trees.nq), ca.SX.sym("v", self.trees.nv)
        swept = self.trees.sweep(q, v)
        found = [self._row(self.records[r], swept, q, v) for r in which]
        g, power = (ca.vertcat(*column) if found else ca.SX(0, 1) for column in ([x for x, _ in found], [x for _, x in found]))
        G = ca.jacobian(power, v)
        self._residual = ca.Function("g", [q], [ca.densify(g)])
        self._power = ca.Function("Gv", [q, v], [ca.densify(power)])
        self._numbers = ca.Function("G", [q], [ca.densify(g), ca.densify(G)])
        lam = ca.SX.sym("lam", self.count)
        self._push = ca.Function("push", [q, lam], [ca.densify(G.T @ lam)])

    # expressions ---------------------------------------------------------------------------------------------------------------------

    def residual(self, q: Any) -> Any:
        """g of the rows on positions."""
        return self._residual(q)[: self.holonomic, :]

    def rate(self, q: Any, v: Any) -> Any:
        """G v of all rows."""
        return self._power(q, v)

    def push(self, q: Any, lam: Any) -> Any:
        """G^T lambda"""
        return self._push(q, lam)

    def matrix(self, q: Array) -> Array:
        """G as numbers."""
        return np.array(self._numbers(q)[1]).reshape(self.count, self.trees.nv)

    # one row -------------------------------------------------------------------------------------------------------------------------

    def _row(self, record: Array, swept: list[Any], q: Any, v: Any) -> tuple[Any, Any]:
        kind = int(record[at.ROW_KIND])
        if kind == at.COUPLING:
            return self._coupling(record, q, v)
        A, B = (_Side(swept, int(record[link])) for link in (at.ROW_LINK_A, at.ROW_LINK_B))
        p_a, p_b = A.point(_three(record, at.ROW_POINT_A)), B.point(_three(record, at.ROW_POINT_B))
        a, b = A.R @ _three(record, at.ROW_A), B.R @ _three(record, at.ROW_B)
        d, zero, value = p_b - p_a, ca.SX.zeros(3), float(record[at.ROW_VALUE])
        if kind == at.SHIFT_WORLD:
            f = ca.SX(_three(record, at.ROW_A))
            return ca.dot(f, d), _power(A, B, f, zero, p_a, p_b)
        if kind == at.SHIFT:
            return ca.dot(a, d), _power(A, B, a, zero, p_b, p_b)
        if kind == at.ANGLE:
            return ca.dot(a, b) - value, _power(A, B, zero, ca.cross(b, a), p_a, p_b)
        if kind == at.TILT:
            c = B.R @ _three(record, at.ROW_TURN_B)
            s = 1 + ca.dot(a, c)
            k = ca.sqrt(2 / s)
            g = k * ca.dot(a, b)
            return g, _power(A, B, zero, k * ca.cross(b, a) - 0.5 * g / s * ca.cross(c, a), p_a, p_b)
        if kind == at.TURN:
            g, n = _turn(record, A, B)
            return g, _power(A, B, zero, n, p_a, p_b)
        if kind == at.DISTANCE:
            length = ca.sqrt(ca.dot(d, d))
            return length - value, _power(A, B, d / length, zero, p_a, p_b)
        if kind == at.BLADE:
            return ca.SX(0), _power(A, B, b, zero, p_b, p_b)
        return self._contact(record, A, B, p_a, p_b)

    def _coupling(self, record: Array, q: Any, v: Any) -> tuple[Any, Any]:
        links, (i, j) = self.trees.tree.links, (int(record[k]) for k in (at.ROW_LINK_A, at.ROW_LINK_B))
        first, n = int(record[at.ROW_POLYNOMIAL]), int(record[at.ROW_DEGREE])
        x = q[links[i].q_at] if i >= 0 else ca.SX(0)
        p, slope = ca.SX(0), ca.SX(0)
        for c in self.system[first : first + n][::-1]:
            slope = slope * x + p
            p = p * x + float(c)
        rate = v[links[j].v_at] - (slope * v[links[i].v_at] if i >= 0 else 0)
        return q[links[j].q_at] - p, rate

    def _contact(self, record: Array, A: _Side, B: _Side, p_a: Any, centre: Any) -> tuple[Any, Any]:
        normal, axle = A.R @ _three(record, at.ROW_A), _three(record, at.ROW_B)
        up, heading = normal, A.R @ _three(record, at.ROW_TURN_A)
        if np.any(np.array(axle)):
            spin = B.R @ axle
            up = _unit(normal - ca.dot(spin, normal) * spin)
            heading = _unit(ca.cross(spin, normal))
        x = centre - float(record[at.ROW_VALUE]) * up
        which = int(record[at.ROW_WHICH])
        f = {at.HEIGHT: normal, at.HEADING: heading}.get(which, ca.cross(normal, heading))
        return ca.dot(normal, x - p_a) if which == at.HEIGHT else ca.SX(0), _power(A, B, f, ca.SX.zeros(3), x, x)


class _Side:
    """Pose and twist of a link in the world; -1: the world itself."""

    def __init__(self, swept: list[Any], link: int):
        if link < 0:
            self.R, self.x, self.w, self.u = ca.SX.eye(3), ca.SX.zeros(3), ca.SX.zeros(3), ca.SX.zeros(3)
        else:
            R, self.x, w, u = swept[link]
            self.R, self.w, self.u = R, R @ w, R @ u  # world axes, of the origin of the link

    def point(self, local: Any) -> Any:
        return self.x + self.R @ local

    def velocity(self, x: Any) -> Any:
        return self.u + ca.cross(self.w, x - self.x)


def _power(A: _Side, B: _Side, f: Any, n: Any, x_a: Any, x_b: Any) -> Any:
    return ca.dot(f, B.velocity(x_b) - A.velocity(x_a)) + ca.dot(n, B.w - A.w)


def _three(record: Array, i: int) -> Any:
    return ca.DM(record[i : i + 3])


def _unit(a: Any) -> Any:
    return a / ca.sqrt(ca.dot(a, a))


def _turn(record: Array, A: _Side, B: _Side) -> tuple[Any, Any]:
    """a . w of the rotation vector w between two frames, and its torque: small rotations, where sin(t)/t is far from 0."""
    parent, child = (S.R @ ca.DM(record[k : k + 9].reshape(3, 3)) for S, k in ((A, at.ROW_TURN_A), (B, at.ROW_TURN_B)))
    E = parent.T @ child
    s = 0.5 * ca.vertcat(E[2, 1] - E[1, 2], E[0, 2] - E[2, 0], E[1, 0] - E[0, 1])
    c = 0.5 * (ca.trace(E) - 1)
    size = ca.sqrt(ca.dot(s, s) + 1e-200)
    angle = ca.atan2(size, c)
    w = s * ca.if_else(size < 1e-5, 1 + size**2 / 6, angle / size)
    a, t2 = _three(record, at.ROW_A), angle**2
    k = ca.if_else(size < 1e-4, 1.0 / 12 + t2 / 720, (1 - 0.5 * angle * ca.sin(angle) / (1 - c + 1e-200)) / (t2 + 1e-200))
    wa = ca.cross(w, a)
    return ca.dot(a, w), child @ (a - 0.5 * wa + k * ca.cross(w, wa))
