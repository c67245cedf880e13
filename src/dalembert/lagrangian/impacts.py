"""Steps between impacts as programs: free, with rows of c(q) >= 0 that are held as if they were equations, and behind an impact.

    p_0 + D_1 L_d(q_0, q_1, h) + f^- + G_0^T Lambda + C_0^T Nu = 0,   g(q_1) = 0,   c_i(q_1) = 0 for held i
    p_1 = D_2 L_d + f^+ + G_1^T mu + C_1^T nu                with  G_1 v_1 = 0,  C_1 v_1 = 0 for held i      (as in RATTLE)

The first step behind an impact by the energy condition (leyendecker, 13; lacoursiere2007, 10.22-10.26) has one unknown more, a factor of
the impulse D = C^T Lambda that the nodal law would give, and one equation more:

    p_0 + x D + D_1 L_d + f^- = 0,      E_d(q_0, q_1, h) - (h/2) f . w = E^- - loss,      E_d = -dL_d/dh at fixed q_0 and q_1

E^- = E_d + (h/2) f . w of the interval before, so that work of forces is counted from the middle of one interval to that of the next.

L_d: midpoint, trapezoidal ("verlet") or one-sided, h L(q_0, w) ("euler", the discretisation of lacoursiere2007, 3.25).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca

from dalembert.errors import UnsupportedError
from dalembert.lagrangian.discrete import Discrete, Rows, nodal_velocity, variational
from dalembert.lagrangian.formulas import Formulas, solve_symmetric
from dalembert.lagrangian.program import Block, Move, Program, Scope


class Places:
    """Where the extra entries of the state are: those of each row, and those of the run. Slices of the state."""

    def __init__(self, n: int, k: int):
        self.n, self.k, self.first = n, k, 3 * n + 1
        self.gap, self.rate, self.held, self.pressure, self.push = (self._rows(i) for i in range(5))
        end = self.first + 5 * k
        self.last, self.factor, self.aim, self.given = end, end + 1, end + 2, end + 3
        self.direction = slice(end + 4, end + 4 + n)
        self.size = 5 * k + 4 + n

    def _rows(self, i: int) -> slice:
        return slice(self.first + i * self.k, self.first + (i + 1) * self.k)


class _Extra:
    """The same entries as symbols of a step."""

    def __init__(self, s: Scope, k: int):
        where, self.symbols = Places(s.n, k), s.state
        self.k = k
        self.held = s.state[where.held]
        self.last, self.aim, self.given = s.state[where.last], s.state[where.aim], s.state[where.given]
        self.direction = s.state[where.direction]

    def written(self, gap: Any, rate: Any, pressure: Any, push: Any, last: Any, factor: Any) -> Any:
        """All entries of the next state; what an impact aims at, and what impacts gave so far, stays."""
        return ca.vertcat(gap, rate, self.held, pressure, push, last, factor, self.aim, self.given, self.direction)


def collision_program(formulas: Formulas, options: dict[str, Any], held: tuple[int, ...] = (), post: bool = False) -> Program:
    """The program of a step. held: rows that are kept at zero; post: behind an impact by the energy condition."""
    k, n = formulas.unilateral_rows, formulas.n
    q, v = ca.SX.sym("q", n), ca.SX.sym("v", n)
    if k and formulas.depends(formulas.mass(q, v), v):
        raise UnsupportedError("impacts of a Lagrangian whose mass matrix d2L/dv2 depends on velocities are not known.")
    if k and options["reflection"] == "exact" and formulas.features & {"variable mass", "gyroscopic"}:
        what = " and ".join(sorted(formulas.features & {"variable mass", "gyroscopic"}))
        raise UnsupportedError(
            f"reflection='exact' is for L = v . M v / 2 - V(q) with a constant M, not for {what}; 'variational' takes any."
        )
    s = Scope(formulas, Places(n, k).size)
    x = _Extra(s, k)
    C = _rows_of(formulas, held)
    moves = [_motion(s, x, DISCRETE[base_of(options)](s), C, held, post), _node(s, x, C, held)]
    record = (float(k), float(3 * n + 1), float(options["gap"]))
    return Program(s, moves, _start(s, x), nodal_velocity(s), _node_functions(s), record, 2 * k)


def base_of(options: dict[str, Any]) -> str:
    """The discrete Lagrangian of a run."""
    return "euler" if options["reflection"] == "exact" else str(options["base"])


def _rows_of(f: Formulas, held: tuple[int, ...]) -> Callable[[Any], tuple[Any, Any]]:
    """q -> (c, C) of held rows."""

    def rows(q: Any) -> tuple[Any, Any]:
        index = list(held)
        return (f.unilateral(q)[index], f.unilateral_jacobian(q)[index, :]) if index else (ca.SX(0, 1), ca.SX(0, f.n))

    return rows


# discrete Lagrangians ----------------------------------------------------------------------------------------------------------------


def _midpoint(s: Scope) -> Discrete:
    q, w, f = ca.SX.sym("q0", s.n), ca.SX.sym("W", s.n), s.formulas
    middle = q + 0.5 * s.h * w
    push = 0.5 * s.h * f.force(middle, w, s.t + 0.5 * s.h, s.u)
    return Discrete(q, w, s.h * f.L(middle, w), [push, push])


def _trapezoid(s: Scope) -> Discrete:
    q, w, f = ca.SX.sym("q0", s.n), ca.SX.sym("W", s.n), s.formulas
    end = q + s.h * w
    forces = [0.5 * s.h * f.force(q, w, s.t, s.u), 0.5 * s.h * f.force(end, w, s.t + s.h, s.u)]
    return Discrete(q, w, 0.5 * s.h * (f.L(q, w) + f.L(end, w)), forces)


def _one_sided(s: Scope) -> Discrete:
    q, w, f = ca.SX.sym("q0", s.n), ca.SX.sym("W", s.n), s.formulas
    return Discrete(q, w, s.h * f.L(q, w), [s.h * f.force(q, w, s.t, s.u), ca.SX(s.n, 1)])


DISCRETE: dict[str, Callable[[Scope], Discrete]] = {"midpoint": _midpoint, "verlet": _trapezoid, "euler": _one_sided}


def discrete_energy(s: Scope, d: Discrete) -> Any:
    """E_d = -dL_d/dh at fixed q_0 and q_1: w = (q_1 - q_0) / h changes with h."""
    return ca.dot(d.W, ca.gradient(d.Ld, d.W)) / s.h - ca.gradient(d.Ld, s.h)


# moves -------------------------------------------------------------------------------------------------------------------------------


def _motion(s: Scope, x: _Extra, d: Discrete, C: Any, held: tuple[int, ...], post: bool) -> Move:
    """The discrete Euler-Lagrange equations. Impulses (holonomic, held, factor) are unknowns; as forces they wait in mu and push."""
    f, m = s.formulas, s.formulas.holonomic_rows
    end = d.q0 + s.h * d.W
    energy = discrete_energy(s, d)
    work = 0.5 * ca.dot(d.forces[0] + d.forces[1], d.W)  # of half an interval
    equations = [f.holonomic(end, s.t + s.h) / s.h, C(end)[0] / s.h]
    directions, guess = [f.jacobian(d.q0, s.t).T, C(d.q0)[1].T], [ca.SX(m, 1), ca.SX(len(held), 1)]
    if post:
        equations.append((energy - work - x.aim) / ca.sqrt(ca.sumsqr(f.momentum(s.q, s.w)) + 1e-300))
        directions.append(x.direction)
        guess.append(ca.SX(1))
    rows = Rows(ca.vertcat(*equations), ca.horzcat(*directions), ca.vertcat(*guess))
    return _with_extra(s, x, d, rows, held, post, energy + work) if rows.directions.shape[1] else _plain(s, x, d, energy + work)


def _plain(s: Scope, x: _Extra, d: Discrete, last: Any) -> Move:
    move = variational(s, d)
    none = ca.SX(x.k, 1)
    return Move(_replaced(s, move.update, x.written(none, none, none, none, _here(s, d, last), ca.SX(0))), move.block)


def _with_extra(s: Scope, x: _Extra, d: Discrete, rows: Rows, held: tuple[int, ...], post: bool, last: Any) -> Move:
    wide = _Wide(s, rows.directions.shape[1])
    move = variational(wide, d, rows)
    m, block = s.formulas.holonomic_rows, move.block
    assert block is not None
    impulse = block.unknowns[s.n :, :]
    push = ca.SX(x.k, 1)
    for j, i in enumerate(held):
        push[i] = impulse[m + j] / s.h
    none = ca.SX(x.k, 1)
    extra = x.written(none, none, none, push, _here(s, d, last), impulse[-1] if post else ca.SX(0))
    ledger = s.ledger + ca.vertcat(0.0, s.formulas.generators(s.q).T @ _pushed(s, d, rows, impulse, m, len(held)))
    update = ca.vertcat(*_parts(s, move.update, wide.multipliers)[:4], extra, impulse[:m, :] / s.h, ledger)
    return Move(ca.densify(update), block)


class _Wide(Scope):
    """The scope of a step with more multipliers than the state keeps: the same symbols."""

    def __init__(self, s: Scope, multipliers: int):
        self.__dict__.update(s.__dict__)
        self.multipliers = multipliers


def _parts(s: Scope, update: Any, multipliers: int) -> list[Any]:
    """q, y, w, time, extra, multipliers, ledger of a next state."""
    sizes = [s.n, s.n, s.n, 1, s.extra_size, multipliers, s.ledger_size]
    found, first = [], 0
    for size in sizes:
        found.append(update[first : first + size])
        first += size
    return found


def _replaced(s: Scope, update: Any, extra: Any) -> Any:
    q, y, w, time, _, mu, ledger = _parts(s, update, s.multipliers)
    return ca.densify(ca.vertcat(q, y, w, time, extra, mu, ledger))


def _here(s: Scope, d: Discrete, expression: Any) -> Any:
    return ca.substitute(expression, d.q0, s.q)


def _pushed(s: Scope, d: Discrete, rows: Rows, impulse: Any, m: int, held: int) -> Any:
    """What held rows push at the node where the step begins."""
    return _here(s, d, rows.directions[:, m : m + held]) @ impulse[m : m + held, :] if held else ca.SX(s.n, 1)


def _node(s: Scope, x: _Extra, C: Any, held: tuple[int, ...]) -> Move:
    """At the new node: the velocity, made tangent to what is held; gaps, rates and forces of held rows."""
    f, m = s.formulas, s.formulas.holonomic_rows
    rows = m + len(held)
    v, mu = ca.SX.sym("v", s.n), ca.SX.sym("nu", rows)
    J = ca.vertcat(f.jacobian(s.q, s.time), C(s.q)[1])
    rates = ca.vertcat(f.holonomic_rate(s.q, s.time), ca.SX(len(held), 1))
    residual = ca.vertcat(f.momentum(s.q, v) - s.y - J.T @ mu, J @ v + rates)
    size = ca.fmax(ca.norm_inf(s.w), ca.norm_inf(s.y / ca.fmax(ca.fabs(ca.diag(f.mass(s.q, s.w))), 1e-300)))
    linear = not f.depends(f.mass(s.q, v), v)
    block = Block(ca.vertcat(v, mu), residual, ca.vertcat(s.w, ca.SX(rows, 1)), 4e-15 * size, s.n, revealing=rows > 0, linear=linear)
    push, where = s.state[Places(s.n, x.k).push], Places(s.n, x.k)
    for j, i in enumerate(held):
        push[i] += mu[m + j] / s.h
    pressure = _pressure(s, C, v, held, x.k)
    extra = x.written(f.unilateral(s.q), f.unilateral_jacobian(s.q) @ v, pressure, push, s.state[where.last], s.state[where.factor])
    ledger = s.ledger + ca.vertcat(0.0, f.generators(s.q).T @ (C(s.q)[1].T @ mu[m:, :])) if held else s.ledger
    y = f.momentum(s.q, v) if rows else s.y
    update = ca.vertcat(s.q, y, s.w, s.time, extra, s.mu + mu[:m, :] / s.h if m else s.mu, ledger)
    return Move(ca.densify(update), block)


def _pressure(s: Scope, C: Any, v: Any, held: tuple[int, ...], k: int) -> Any:
    """Forces nu of M a = b + f + G^T mu + C^T nu with g and the held c differentiated twice; 0 of other rows."""
    found = ca.SX(k, 1)
    if not held:
        return found
    f, m = s.formulas, s.formulas.holonomic_rows
    J, rest = second_derivatives(f, s.q, v, s.time, C)
    M, right = f.mass(s.q, v), f.inertial(s.q, v) + f.force(s.q, v, s.time, s.u)
    back = solve_symmetric(M, J.T)
    nu = solve_symmetric(J @ back, -rest - J @ solve_symmetric(M, right))
    for j, i in enumerate(held):
        found[i] = nu[m + j]
    return found


def second_derivatives(f: Formulas, q: Any, v: Any, t: Any, C: Any) -> tuple[Any, Any]:
    """(J, rest) of J a + rest, the second derivatives of g and of some rows of c."""
    x, y, time = ca.SX.sym("q", f.n), ca.SX.sym("v", f.n), ca.SX.sym("t")
    rate = ca.vertcat(f.jacobian(x, time) @ y + f.holonomic_rate(x, time), C(x)[1] @ y)
    rest = ca.jtimes(rate, x, y) + ca.jtimes(rate, time, ca.SX(1))
    made = ca.Function("rows", [x, y, time, f.p], [ca.jacobian(rate, y), rest])
    J, rest = made(q, v, t, f.p)
    return J, rest


# start, and what an impact asks of a node --------------------------------------------------------------------------------------------


def _start(s: Scope, x: _Extra) -> tuple[Any, Any, Any]:
    f, q, v = s.formulas, ca.SX.sym("q0", s.n), ca.SX.sym("v0", s.n)
    none = ca.SX(x.k, 1)
    energy = f.energy(q, v)
    extra = ca.vertcat(f.unilateral(q), f.unilateral_jacobian(q) @ v, none, none, none, energy, 0.0, 0.0, 0.0, ca.SX(s.n, 1))
    tail = ca.SX(s.multipliers + s.ledger_size + s.n, 1)
    return q, v, ca.densify(ca.vertcat(q, f.momentum(q, v), v, 0.0, extra, tail))


def _node_functions(s: Scope) -> dict[str, Any]:
    """place: M, p(q, 0), (G; C), xi at a node, by columns. push: b + f, and the rest of the second derivatives of (g; c) under v."""
    f, v = s.formulas, ca.SX.sym("v", s.n)
    every = _rows_of(f, tuple(range(f.unilateral_rows)))
    J, rest = second_derivatives(f, s.q, v, s.time, every)
    place = ca.vertcat(
        ca.vec(f.mass(s.q, s.w)), f.momentum(s.q, ca.SX(s.n, 1)), ca.vec(J), ca.vec(f.generators(s.q)), f.holonomic_rate(s.q, s.time)
    )
    push = ca.vertcat(f.inertial(s.q, v) + f.force(s.q, v, s.time, s.u), rest)
    inputs = ca.vertcat(s.inputs, v)
    return {"place": ([inputs], place), "push": ([inputs], push)}
