"""When does Newton's method converge on the trapezoidal step? kobilarov2014 section 4.2, corrected, and two sharper bounds derived here.

Kantorovich: from v_0 with |De(v_0)^-1| <= beta, |d_0| = |De^-1 e| <= eta and De Lipschitz with gamma on the ball of radius eta about
v_0 + d_0 (inside that of 2 eta about v_0), Newton's iterates stay in the ball and converge to its only solution if 2 beta eta gamma <= 1.
With s = |v_0|, r = s + 2 eta, linear damping K >= k1 (|K| for l4), and the constants of `tree_constants.py`:

    residual     |e(v_0)| <= h L0;   from the interval before  L0 = l0 s^2 + |b|,  b = -v.dM v / 2 + grad V - f     (34)
                 from the first node, p = M(q0) v0, half of it bounds the residual: every bound below holds for that start too
                 sharper: L0(h) = |M a| + h l2 s^3 / 2, a the acceleration at (q, v): M(q + h v) - M(q - h v) to first order
    inverse      beta = 1 / (m1 - h L1), L1 = l1 s + (l3 s + l4) / 2                                                (36)
                 sharper: 1 / delta(h), delta = m1 - h/2 (h l2 s^2 + l3 s - k1): the rest of De is skew
                 local: delta = lambda_min(M(q) + h/2 (dM(q)[v] + K)) - 3/4 h^2 l2 s^2; both are concave in h
    Lipschitz    gamma = h (L2 + L3 r), L2 = (3 l0 + l6) / 2, L3 = (h l2 + l5) / 2                                  (39), print lost h
                 or h c1 + h^2 l2 r + h (l5 r + l6) / 2: the three derivatives of M at one point are Christoffel's symbols

(32): De(v) regular for h < [sqrt((l3 s - k1)^2 + 8 l2 s^2 m1) - (l3 s - k1)] / (2 l2 s^2); the printed root sign swallows all.
(38): h^2 l2 r^2 + h (l3 r - k1) < 2 m1 with r of (37): De regular at all iterates of a convergent Newton method; print has m1.
(41): (38) and 2 h^2 L0 [L2 + L3(h) r] <= (m1 - h L1)^2; print has 2 m1^2 L1 for 3 m1^2 L1.
Each of these conditions, once false, stays false as h grows: one bisection finds the bound, and it holds for every smaller step.

Prismatic joints: the constants hold for |q_i| <= reach_i only, so each condition also asks that q + h v stays there for v in the ball.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from dalembert.solvability.tree_constants import Constants
from dalembert.solvability.tree_step import Array

SLACK = 1.0 - 1e-10  # conditions must hold by this much more than round-off


@dataclass(frozen=True)
class Room:
    """h (speed_i + row_i change) <= slack_i keeps prismatic joints where the constants hold; row: |change of v_i| per |change of y|."""

    slack: Array = field(default_factory=lambda: np.zeros(0))
    speed: Array = field(default_factory=lambda: np.zeros(0))
    row: Array = field(default_factory=lambda: np.zeros(0))

    def holds(self, h: float, change: float) -> bool:
        """For velocities that differ from v_0 by at most `change`."""
        return bool(np.all(h * (self.speed + self.row * change) <= self.slack))


@dataclass(frozen=True)
class Numbers:
    """At one state, in the coordinates of one `Constants`: s, |b|, |M a|, M, dM[v] + K, |K|, and the room of prismatic joints."""

    speed: float
    bias: float
    force: float
    M: Array
    growth: Array
    drag: float = 0.0
    room: Room = field(default_factory=Room)


def largest_step(condition: Callable[[float], bool], low: float = 1e-150, high: float = 1e12) -> float:
    """Largest h with condition(h), true from 0 on up to one h; returned from below. 0 if false at `low`, inf if true at `high`."""
    if not condition(low):
        return 0.0
    if condition(high):
        return math.inf
    while high - low > 1e-9 * high:
        middle = math.sqrt(low * high)
        low, high = (middle, high) if condition(middle) else (low, middle)
    return low


def regular_32(c: Constants, s: float, room: Room | None = None) -> float:
    """(32): De(v) is regular below, |v| = s."""
    square, linear = c.l2 * s * s, c.l3 * s - c.k1
    if c.m1 <= 0.0:
        return 0.0
    if square > 0.0:
        root = math.sqrt(linear * linear + 8.0 * square * c.m1)
        h = 4.0 * c.m1 / (root + linear) if linear > 0.0 else (root - linear) / (2.0 * square)
    else:
        h = 2.0 * c.m1 / linear if linear > 0.0 else math.inf
    return min(h * SLACK, _free(room, 0.0))


def _free(room: Room | None, change: float) -> float:
    """h up to which the room suffices for a fixed change."""
    if room is None or not len(room.slack):
        return math.inf
    pace = room.speed + room.row * change
    return float(np.min(np.where(pace > 0.0, room.slack / np.where(pace > 0.0, pace, 1.0), math.inf)))


def residual_34(c: Constants, x: Numbers) -> float:
    """L0 of (34)."""
    return c.l0 * x.speed * x.speed + x.bias


def _eta_37(c: Constants, x: Numbers, h: float) -> tuple[float, float]:
    """m1 - h L1 and eta of (36), (37); eta is inf where the first is not positive."""
    low = c.m1 - h * (c.l1 * x.speed + 0.5 * (c.l3 * x.speed + x.drag))
    return low, h * residual_34(c, x) / low if low > 0.0 else math.inf


def _holds_38(c: Constants, x: Numbers, h: float) -> bool:
    low, eta = _eta_37(c, x, h)
    if low <= 0.0 or not x.room.holds(h, 2.0 * eta):
        return False
    r = x.speed + 2.0 * eta
    return c.l2 * r * r * h * h + (c.l3 * r - c.k1) * h < 2.0 * c.m1 * SLACK


def iterates_38(c: Constants, x: Numbers) -> float:
    """(38): below it De is regular at every iterate of a convergent Newton method."""
    return largest_step(lambda h: _holds_38(c, x, h))


def newton_41(c: Constants, x: Numbers) -> float:
    """(41): below it Newton's method converges."""

    def condition(h: float) -> bool:
        low, eta = _eta_37(c, x, h)
        return low > 0.0 and _holds_38(c, x, h) and 2.0 * eta * _lipschitz_39(c, h, x.speed + 2.0 * eta) <= low * SLACK

    return largest_step(condition)


def _lipschitz_39(c: Constants, h: float, r: float) -> float:
    return h * (0.5 * (3.0 * c.l0 + c.l6) + 0.5 * (h * c.l2 + c.l5) * r)


def lipschitz(c: Constants, h: float, r: float) -> float:
    """gamma: the smaller of (39) and of the form with Christoffel's symbols."""
    return min(_lipschitz_39(c, h, r), h * c.c1 + h * h * c.l2 * r + 0.5 * h * (c.l5 * r + c.l6))


def _delta(c: Constants, x: Numbers, h: float) -> float:
    """m1 - h/2 (h l2 s^2 + l3 s - k1), and its smallest value on [0, h]: it is concave."""
    return min(c.m1, c.m1 - 0.5 * h * (h * c.l2 * x.speed * x.speed + c.l3 * x.speed - c.k1))


def _delta_local(c: Constants, x: Numbers, h: float) -> float:
    """lambda_min(M + h/2 (dM[v] + K)) - 3/4 h^2 l2 s^2, its smallest value on [0, h]: it is concave."""
    pencil = np.linalg.eigvalsh(np.stack([x.M, x.M + 0.5 * h * x.growth]))[:, 0]
    return float(min(pencil[0], pencil[1] - 0.75 * h * h * c.l2 * x.speed * x.speed))


def newton_sharper(c: Constants, x: Numbers) -> float:
    """Below it Newton's method converges: delta(h) for m1 - h L1 in (41)."""

    def condition(h: float) -> bool:
        delta = _delta(c, x, h)
        if delta <= 0.0:
            return False
        eta = h * residual_34(c, x) / delta
        return x.room.holds(h, 2.0 * eta) and 2.0 * eta * _lipschitz_39(c, h, x.speed + 2.0 * eta) <= delta * SLACK

    return largest_step(condition)


def newton_local(c: Constants, x: Numbers) -> float:
    """Below it Newton's method converges: every sharper form of the head."""

    def condition(h: float) -> bool:
        delta = max(_delta(c, x, h), _delta_local(c, x, h))
        if delta <= 0.0:
            return False
        residual = min(residual_34(c, x), x.force + 0.5 * h * c.l2 * x.speed * x.speed * x.speed)
        eta = h * residual / delta
        return x.room.holds(h, 2.0 * eta) and 2.0 * eta * lipschitz(c, h, x.speed + 2.0 * eta) <= delta * SLACK

    return largest_step(condition)


def regular_local(c: Constants, x: Numbers) -> float:
    """Below it De(v) is positive definite, by the local delta."""
    return largest_step(lambda h: x.room.holds(h, 0.0) and _delta_local(c, x, h) > 0.0)


def certificate(c: Constants, h: Array, beta: Array, eta: Array, arrived: Array) -> Array:
    """Online: 2 beta eta gamma <= 1 with beta and eta computed at the first iteration; arrived = |v_0 + d_0|, so r = arrived + eta."""
    r = arrived + eta
    common = 0.5 * (c.l5 * r + c.l6)
    gamma = h * np.minimum(1.5 * c.l0 + 0.5 * h * c.l2 * r, c.c1 + h * c.l2 * r) + h * common
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(2.0 * beta * eta * gamma <= SLACK)
