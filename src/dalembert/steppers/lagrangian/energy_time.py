"""Time as a variable: the midpoint rule with steps of such a length that its discrete energy is kept exactly.

The action is stationary in the times of the nodes too, so that q_1 and the length tau of a step are both unknown:

    p_0 = -D_1 L_d(q_0, q_1, tau),      E_d(q_0, q_1, tau) = E_d of the step before,      E_d = -dL_d/dtau = E(q_0 + tau w/2, w)

L_d = tau L(q_0 + tau w/2, w), p_1 = D_2 L_d. The first step has the length h, and its E_d is that of all others. E_d belongs to the
intervals; the energy of the nodes differs by H - E_d = tau^2/8 (|grad V|^2_M^-1 + v . V'' v) + O(tau^3), and stays in a band as the steps
do: their length follows tau^3 |H - E_d| / tau^2 = const to leading order.

There is a next step only as long as that bracket does not vanish. Where it does (a pendulum that goes over the top, a planet of an
eccentricity above 0.79), no length has the energy, and the run ends with a sentence. The step back to the last node, of length -tau,
solves the equations too: a root is accepted if it has the right sign and at most 1.5 times, at least 1 / 1.5 of, the last length.

Goes back on its own way (but a composition of steps that find their own length has no order to raise), of order 2 in h at the times of its
nodes, `traj.t`; conserves momenta of symmetries that act linearly exactly. A run has
t_end / h steps, and ends where these lead. Forces, constraints and controls have no place here.

References: lacoursiere2007 (3.58-3.61), kane1999.
"""

from typing import Any

import casadi as ca

from dalembert.kernels.lagrangian.clock import step
from dalembert.lagrangian.discrete import nodal_velocity
from dalembert.lagrangian.formulas import Formulas
from dalembert.lagrangian.program import Block, Move, Program, Scope
from dalembert.registry import register
from dalembert.steppers.lagrangian._entry import MAX_ITERATIONS, TOL


def program(formulas: Formulas, options: dict[str, Any]) -> Program:
    """Two moves: w of a step as long as the last one, the first guess; then w and length. Extra entries: E_d, length of the last step."""
    s = Scope(formulas, 2)
    return Program(s, [_guess(s), _both(s)], _start(s), nodal_velocity(s))


def _rule(s: Scope, tau: Any, w: Any) -> tuple[Any, Any, Any]:
    """(p_0 + D_1 L_d, E_d, p_1) of a step of length tau."""
    f, middle = s.formulas, s.q + 0.5 * tau * w
    p, slope = f.momentum(middle, w), 0.5 * tau * f.slope(middle, w)
    return s.y - p + slope, f.energy(middle, w), p + slope


def _length(s: Scope) -> Any:
    """That of the last step, in the direction of h; before the first one h."""
    last = s.extra[1]
    return ca.if_else(ca.fabs(last) > 0.0, ca.fabs(last) * ca.sign(s.h), s.h)


def _guess(s: Scope) -> Move:
    w = ca.SX.sym("w", s.n)
    block = Block(w, _rule(s, _length(s), w)[0], s.w, s.floor(), s.n)
    return Move(s.next(s.q, s.y, w, time=s.time), block)


def _both(s: Scope) -> Move:
    f, (energy, last) = s.formulas, (s.extra[0], s.extra[1])
    begun, first = ca.fabs(last) > 0.0, _length(s)
    mass = f.mass(s.q, s.w)
    speed = ca.norm_inf(s.w) + ca.fabs(first) * ca.norm_inf(f.slope(s.q, s.w) / ca.fmax(ca.fabs(ca.diag(mass)), 1e-300)) + 1e-300
    w, length = ca.SX.sym("w", s.n), ca.SX.sym("length")  # the length in units of the last one, times the speed: as large as w
    tau = first * length / speed
    motion, found, p = _rule(s, tau, w)
    condition = ca.if_else(begun, (found - energy) / (ca.norm_inf(ca.vec(mass)) * speed), length - speed)
    block = Block(ca.vertcat(w, length), ca.vertcat(motion, condition), ca.vertcat(s.w, speed), s.floor(), s.n + 1)
    extra = ca.vertcat(ca.if_else(begun, energy, found), tau)
    return Move(s.next(s.q + tau * w, p, w, extra=extra, time=s.time + tau), block)


def _start(s: Scope) -> tuple[Any, Any, Any]:
    q, v = ca.SX.sym("q0", s.n), ca.SX.sym("v0", s.n)
    state = ca.vertcat(q, s.formulas.momentum(q, v), v, 0.0, s.formulas.energy(q, v), 0.0, ca.SX(s.multipliers + s.ledger_size + s.n, 1))
    return q, v, ca.densify(state)


register(
    system="lagrangian",
    name="energy-time",
    summary="midpoint rule whose steps have the length that keeps the discrete energy: time is a variable",
    order=2,
    conserves=("momentum: exactly", "energy: bounded", "discrete energy: exactly"),
    handles=("variable mass", "gyroscopic"),
    limitations="lengths of steps vary, traj.t has the times; ends where no length continues the motion: no step at a flat place of E_d",
    options=(TOL, MAX_ITERATIONS),
    references=("lacoursiere2007", "kane1999"),
    rank=28,
    program=program,
    engine="clocked",
    clocked=True,
)(step)
