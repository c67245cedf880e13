"""Judges of derivatives: differences of the simulator itself, and differences of the formulas in extended precision."""

import casadi as ca
import mpmath
import numpy as np
import pytest

from dalembert.lagrangian.row_formulas import RowFormula
from dalembert.lagrangian.stages import stage
from dalembert.lagrangian.tree_formulas import TreeFormula
from dalembert.runs.plan import Plan
from dalembert.sensitivity.step import Start, take

WEIGHTS = ((1, 45.0), (2, -9.0), (3, 1.0))  # of central differences of order 6, over 60


def ways(of, columns, size):
    """d of(x)/dx along columns at x = 0, by differences of order 6 of a function of a vector."""
    found = [sum(s * w * of(s * c * size * e) for c, w in WEIGHTS for s in (1, -1)) / (60 * size) for e in columns.T]
    return np.array(found).T


@pytest.fixture
def simulated():
    """(system, q, v, tau, h, stepper, columns, size): differences of the compiled simulator along columns of (dq, dv, dtau)."""

    def judge(system, q, v, tau, h, stepper, columns=None, size=1e-3, compose=None, ignore=()):
        plan, n = Plan.of(system, stepper, h, compose, ignore), len(v)
        base = take(plan, Start(q, v, tau, 0.0))

        def moved(x):
            there = take(plan, Start(system.integrate(q, x[:n]), v + x[n : 2 * n], tau + x[2 * n :], 0.0))
            return np.concatenate([system.difference(base.q, there.q), there.v - base.v])

        return ways(moved, np.eye(3 * n) if columns is None else columns, size)

    return judge


class Wide:
    """A CasADi function run in extended precision: 80 bits where the processor has them, else mpmath's 106."""

    real = np.longdouble if np.finfo(np.longdouble).eps < 1e-18 else mpmath.mpf

    def __init__(self, name, inputs, outputs):
        self.f = ca.Function(name, inputs, [ca.densify(x) for x in outputs])
        tape = range(self.f.n_instructions())
        self.tape = [(self.f.instruction_id(k), self.f.instruction_input(k), self.f.instruction_output(k)) for k in tape]
        self.constants = [self.f.instruction_constant(k) if self.tape[k][0] == ca.OP_CONST else 0.0 for k in tape]

    @classmethod
    def array(cls, x):
        """Of these numbers, (entries, columns)."""
        x = np.asarray(x)
        if cls.real is np.longdouble:
            return x.astype(np.longdouble)
        return np.vectorize(mpmath.mpf, otypes=[object])(x) if x.size else x.astype(object)

    @classmethod
    def call(cls, name, *x):
        """An elementary function."""
        if cls.real is np.longdouble:
            return getattr(np, {"atan2": "arctan2"}.get(name, name))(*x)
        return np.frompyfunc(getattr(mpmath, name), len(x), 1)(*x)

    def __call__(self, *inputs):
        work = [None] * self.f.sz_w()
        columns = max(x.shape[1] for x in inputs)
        out = [[self.array(np.zeros(columns))] * self.f.numel_out(i) for i in range(self.f.n_out())]
        for (op, at, to), constant in zip(self.tape, self.constants, strict=True):
            if op == ca.OP_INPUT:
                work[to[0]] = inputs[at[0]][at[1]]
            elif op == ca.OP_OUTPUT:
                out[to[0]][to[1]] = work[at[0]] + out[to[0]][to[1]]
            elif op == ca.OP_CONST:
                work[to[0]] = self.array(np.array([constant]))
            else:
                work[to[0]] = OPERATIONS[op](*(work[i] for i in at))
        return [np.array(rows) for rows in out]


def choose(condition, x):
    """x where the condition holds, else 0."""
    return np.where(condition != 0, x, 0 * x)


OPERATIONS = {
    ca.OP_ASSIGN: lambda a: a,
    ca.OP_ADD: lambda a, b: a + b,
    ca.OP_SUB: lambda a, b: a - b,
    ca.OP_MUL: lambda a, b: a * b,
    ca.OP_DIV: lambda a, b: a / b,
    ca.OP_NEG: lambda a: -a,
    ca.OP_SQ: lambda a: a * a,
    ca.OP_TWICE: lambda a: a + a,
    ca.OP_INV: lambda a: 1 / a,
    ca.OP_SQRT: lambda a: Wide.call("sqrt", a),
    ca.OP_SIN: lambda a: Wide.call("sin", a),
    ca.OP_COS: lambda a: Wide.call("cos", a),
    ca.OP_ATAN2: lambda a, b: Wide.call("atan2", a, b),
    ca.OP_FABS: lambda a: abs(a),
    ca.OP_LT: lambda a, b: (a < b).astype(float),
    ca.OP_LE: lambda a, b: (a <= b).astype(float),
    ca.OP_NOT: lambda a: (a == 0).astype(float),
    ca.OP_IF_ELSE_ZERO: choose,
}


class WideStep:
    """One step of a tree by the formulas of lagrangian/stages.py, solved in extended precision for many starts side by side."""

    def __init__(self, model, stepper, h):
        f = TreeFormula(model)
        self.h, self.n = h, model.nv
        rows = RowFormula(f) if model.loops or model.nonholonomic else None
        m = self.rows = 0 if rows is None else rows.count
        q, p, w, tau, v = (ca.SX.sym(x, k) for x, k in (("q", model.nq), ("p", self.n), ("w", self.n), ("tau", self.n), ("v", self.n)))
        lam, b = ca.SX.sym("lam", m), ca.SX.sym("b", model.nq)
        found = stage(stepper)(f, q, p, w, tau, h)
        equation, node = found.equation, f.momentum(q, v) - p
        if rows is not None:
            middle = q if stepper == "symplectic-euler" else f.chart.middle(q, h * w)
            loops = rows.residual(found.q) if rows.holonomic else ca.SX(0, 1)
            equation = ca.vertcat(equation - rows.push(q, lam), loops / h, rows.rate(middle, w)[rows.holonomic :, :])
            node = ca.vertcat(node - rows.push(q, lam), rows.rate(q, v))
        self.momentum = Wide("l", [q, v], [f.momentum(q, v)])
        self.retract, self.lift = Wide("retract", [q, v], [f.chart.retract(q, v)]), Wide("lift", [q, b], [f.chart.lift(q, b)])
        self.after = Wide("after", [q, p, w, tau], [found.q, found.p])
        self.interval = self._solver([q, p, tau], ca.vertcat(w, lam), equation)
        self.node = self._solver([q, p], ca.vertcat(v, lam), node)

    def _solver(self, given, unknown, residual):
        """Newton's method with the matrix of the first column, in double precision."""
        wide = Wide("r", [*given, unknown], [residual])
        slope = ca.Function("J", [*given, unknown], [ca.densify(ca.jacobian(residual, unknown))])

        def solve(start, *x):
            u = Wide.array(np.tile(start[:, None], (1, x[0].shape[1])))
            for k in range(30):
                if k in (0, 1, 2):
                    inverse = np.linalg.pinv(np.array(slope(*(np.asarray(y[:, 0], dtype=float) for y in (*x, u)))), rcond=1e-12)
                u = u - inverse @ wide(*x, u)[0]
            return u

        return solve

    def __call__(self, q, v, tau, columns):
        """(dq+, dv+) at q + columns of (dq, dv, dtau), relative to the first column, which is 0."""
        n, x = self.n, Wide.array(columns)
        one = np.ones((1, columns.shape[1]))
        q0 = self.retract(Wide.array(q[:, None] * one), x[:n])[0]
        p = self.momentum(q0, v[:, None] + x[n : 2 * n])[0]
        force = tau[:, None] + x[2 * n :]
        rows = np.zeros(self.rows)
        w = self.interval(np.concatenate([v, rows]), q0, p, force)[:n]
        q1, p1 = self.after(q0, p, w, force)
        v1 = self.node(np.concatenate([v, rows]), q1, p1)[:n]
        way = self.lift(q1[:, :1] * Wide.array(one), q1)[0]
        return np.concatenate([way, v1 - v1[:, :1]])


@pytest.fixture
def extended():
    """(model, q, v, tau, h, stepper, columns): central differences of the formulas in extended precision, and the step at 0."""

    def judge(model, q, v, tau, h, stepper, columns, size=1e-4):
        steps = [np.zeros(len(columns))] + [s * c * size * e for e in columns.T for c, _ in WEIGHTS for s in (1, -1)]
        with mpmath.workprec(106):
            moved = WideStep(model, stepper, h)(q, v, tau, np.array(steps).T)[:, 1:]
        weights = np.array([s * w for _, w in WEIGHTS for s in (1, -1)]) / (60 * size)
        return (moved.reshape(len(moved), -1, 6) @ weights).astype(float)

    return judge


@pytest.fixture
def chain():
    """A chain of n hinges with axes across each other."""
    return hinges


def hinges(n):
    import dalembert as dal

    m = dal.Model("chain")
    for i in range(n):
        m.add_body(f"b{i}", 1.0, (0.1, 0.1, 0.02), com=(0, 0, -0.25), pose=((0, 0, -0.5 * i), (1, 0, 0, 0)))
        axis = (0, 1, 0) if i % 2 == 0 else (1, 0, 0)
        m.add_joint(f"j{i}", "revolute", "world" if i == 0 else f"b{i - 1}", f"b{i}", anchor=(0, 0, -0.5 * i), axis=axis)
    return m
