"""Derivatives of one step of a Lagrangian: every stepper of these is a program of moves (`lagrangian/program.py`), each of them

    R(u, x) = 0,  x+ = F(u, x)        x: the state, parameters;  u: what is solved for

so that dx+ = F_x dx + F_u du with R_u du = -R_x dx. The start gives x from (q, v), the last block the velocity of the node.
"""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from dalembert.arrays import Array
from dalembert.errors import SimulationError, UnknownNameError, UnsupportedError
from dalembert.sensitivity.linear import independent
from dalembert.sensitivity.result import Derivatives
from dalembert.sensitivity.step import Start, take

#: a velocity differs from that of the simulator by more than this, relative to the largest, and by more than so many times what round-off
#: of the start makes of it (at equilibria of stiff and of weak systems it was at most a hundred): another solution of the same equations
APART, NOISE = 1e-6, 1e4
MOST, SMALL = 60, 1e-15


class Solved:
    """A block and what follows from it, with derivatives by the state and the parameters."""

    def __init__(self, scope: Any, block: Any, update: Any):
        u = ca.SX(0, 1) if block is None else block.unknowns
        residual = ca.SX(0, 1) if block is None else block.residual
        guess = ca.SX(0, 1) if block is None else block.guess
        self.revealing = block is not None and block.revealing
        x = ca.vertcat(scope.state, scope.formulas.p)
        inputs = [scope.t, scope.h, scope.formulas.p, scope.state, u]
        self.size = u.shape[0]
        self._guess = ca.Function("guess", inputs[:-1], [ca.densify(guess)])
        self._newton = ca.Function("newton", inputs, [ca.densify(residual), ca.densify(ca.jacobian(residual, u))])
        parts = [ca.jacobian(residual, u), ca.jacobian(residual, x), update, ca.jacobian(update, u), ca.jacobian(update, x)]
        self._all = ca.Function("all", inputs, ca.cse([ca.densify(ca.SX(part)) for part in parts]))

    def __call__(self, t: float, h: float, p: Array, state: Array) -> tuple[Array, Array]:
        """(what follows, its derivatives by state and parameters)"""
        u = self._solve(t, h, p, state)
        R_u, R_x, value, F_u, F_x = (x.full() for x in self._all(t, h, p, state, u))
        if not self.size:
            return value.ravel(), F_x
        return value.ravel(), F_x - F_u @ self._invert(R_u, R_x)

    def _invert(self, matrix: Array, right: Array) -> Array:
        if not (np.isfinite(matrix).all() and np.isfinite(right).all()):
            raise SimulationError("derivatives: a formula of the step is not finite here.")
        if self.revealing:  # equations may be redundant
            return np.asarray(np.linalg.lstsq(matrix, right, rcond=1e-12)[0])
        try:
            return np.asarray(np.linalg.solve(matrix, right))
        except np.linalg.LinAlgError:
            raise SimulationError("derivatives: the discrete equations of the step are singular here.") from None

    def _solve(self, t: float, h: float, p: Array, state: Array) -> Array:
        """Newton's method until nothing is gained."""
        u = self._guess(t, h, p, state).full().ravel()
        least = np.inf
        for _ in range(MOST if self.size else 0):
            residual, slope = (x.full() for x in self._newton(t, h, p, state, u))
            change = self._invert(slope, residual).ravel()
            u = u - change
            size = float(np.abs(change).max())
            if size <= SMALL * float(np.abs(u).max()) or (size >= least and size <= 1e-9 * float(np.abs(u).max())):
                break
            least = min(least, size)
        return u


class ProgramStep:
    """Functions of a stepper on a Lagrangian."""

    def __init__(self, system: Any, stepper: Any, options: dict[str, Any]):
        built = {k: tuple(x) if isinstance(x, list) else x for k, x in options.items() if k not in ("tol", "max_iterations")}
        program = stepper.program(system.formulas, built)
        s = self.scope = program.scope
        q, v, state = program.start
        x = ca.vertcat(q, v, s.formulas.p)
        self._start = ca.Function("start", [q, v, s.formulas.p], [ca.densify(state), ca.densify(ca.jacobian(state, x))])
        moves = program.moves
        self.moves = [Solved(s, move.block, ca.vertcat(move.update, s.u)) for move in moves]
        block = program.nodal
        self.nodal = Solved(s, block, s.y if block is None else block.unknowns[: s.n])

    def __call__(self, at: Start, h: float, p: Array) -> tuple[Array, Array, Array, Array]:
        """(q+, v+, derivatives of both by q, v, tau and the parameters)"""
        n, k = len(at.v), len(p)
        state, by = (x.full() for x in self._start(at.q, at.v, p))
        state = state.ravel()
        state[3 * n], state[len(state) - n :] = at.t, at.tau
        D = np.zeros((len(state), 3 * n + k))
        D[:, : 2 * n], D[:, 3 * n :] = by[:, : 2 * n], by[:, 2 * n :]
        D[len(state) - n :, 2 * n : 3 * n] = np.eye(n)
        below = np.hstack([np.zeros((k, 3 * n)), np.eye(k)])
        for move in self.moves:
            state, F = move(at.t, h, p, state)
            D = F @ np.vstack([D, below])
        v, F = self.nodal(at.t, h, p, state)
        return state[:n], v, D[:n], F @ np.vstack([D, below])


def differentiate(plan: Any, at: Start, params: tuple[str, ...]) -> Derivatives:
    """Of one step of plan.h from `at`."""
    system = plan.acting
    if plan.stepper.program is None:
        raise UnsupportedError(f"derivatives: stepper {plan.stepper.name!r} of Lagrangians is no program of moves.")
    chosen, names = columns_of(system, params)
    known: ProgramStep = plan.once("derivatives", lambda: ProgramStep(system, plan.stepper, plan.options))
    step = take(plan, at)
    q, v, by_q, by_v = known(at, plan.h, system.parameter_vector)
    n, whole = len(v), np.vstack([by_q, by_v])
    size = max(float(np.abs(step.v).max()), float(np.abs(step.q - at.q).max()) / plan.h)
    far = max(float(np.abs(v - step.v).max()), float(np.abs(q - step.q).max()) / plan.h)
    if not far <= APART * size + NOISE * round_off(at, plan.h, system.parameter_vector, whole):
        raise SimulationError(f"derivatives: the equations of this step of h = {plan.h:.6g} s have several solutions; take a smaller h.")
    return Derivatives(
        at.q, at.v, at.tau, plan.h, step.q, step.v, whole[:, : 2 * n], whole[:, 2 * n : 3 * n], whole[:, 3 * n :][:, chosen],
        tangent(system, at), parameters=tuple(names),
    )  # fmt: skip


def round_off(at: Start, h: float, p: Array, by: Array) -> float:
    """What round-off of the start makes of velocities: the largest of eps sum_j |dv_i/dx_j| |x_j| and of eps sum_j |dq_i/dx_j| |x_j|/h,
    x = (q, v, tau, parameters), by (2 n, 3 n + parameters) its derivatives. Where a motion is about 0 this is the size that is left. At
    q = 0 numbers within the formula, such as lengths at rest, have round-off: coordinates count as 1 (rad, m) at least."""
    x = np.concatenate([np.maximum(np.abs(at.q), 1.0), np.abs(np.concatenate([at.v, at.tau, p]))])
    found = np.finfo(float).eps * (np.abs(by) @ x)
    n = len(found) // 2
    return max(float(found[:n].max()) / h, float(found[n:].max()))


def columns_of(system: Any, params: tuple[str, ...]) -> tuple[list[int], list[str]]:
    """Places and labels of named parameters in the vector of all."""
    places: dict[str, list[int]] = {}
    at = 0
    for name, value in system._values.items():
        places[name] = list(range(at, at + np.size(value)))
        at += np.size(value)
    for name in params:
        if name not in places:
            raise UnknownNameError("parameter", name, places)
    scalar = {name: len(where) == 1 for name, where in places.items()}
    labels = [name if scalar[name] else f"{name}[{i}]" for name in params for i in range(len(places[name]))]
    return [i for name in params for i in places[name]], labels


def tangent(system: Any, at: Start) -> Array:
    """Changes of (q, v) that keep the constraints."""
    f, n = system.formulas, system.n
    m, k = f.holonomic_rows, f.holonomic_rows + f.pfaffian_rows
    if not k:
        return np.eye(2 * n)
    q, v, t = ca.SX.sym("q", n), ca.SX.sym("v", n), ca.SX.sym("t")
    rates = ca.vertcat(f.jacobian(q, t) @ v + f.holonomic_rate(q, t), f.pfaffian(q, t) @ v + f.drive(q, t))
    made = ca.Function("rows", [q, v, t, f.p], [ca.densify(ca.jacobian(rates, q)), ca.densify(ca.jacobian(rates, v))])
    by_q, by_v = (x.full() for x in made(at.q, at.v, at.t, system.parameter_vector))
    loops, kept = independent(by_v[:m]), independent(by_v)
    rows = np.vstack([np.hstack([by_v[loops], np.zeros((len(loops), n))]), np.hstack([by_q[kept], by_v[kept]])])
    return np.linalg.qr(rows.T, mode="complete")[0][:, len(rows) :]
