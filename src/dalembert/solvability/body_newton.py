"""Newton-Kantorovich bounds for the equations of one rigid-body step: rigorous for exact arithmetic, for every h up to the bound.

Theorem. If |F'(y0)^-1| <= 1 / delta, |F'(y0)^-1 F(y0)| <= eta, and F' has the Lipschitz constant K on the ball of radius 2 eta about y0,
then K eta / delta <= 1/2 implies that Newton's iterates stay in that ball and converge to a root in it.

Variables y = J^(1/2) w, equations multiplied by J^(-1/2). With d = (J3 - J2, J1 - J3, J2 - J1) and the symmetric bilinear map

    B(z, y) = J^(-1/2) (z x Jy + y x Jz) = (d_i (z_j y_k + z_k y_j))_i / sqrt(det J)        (in the new variables)

the three equations with node momentum p = J^(1/2) q are

    tln             y + h/4 B(y, y)                              = rhs
    cayley          y + h/4 B(y, y) + h^2/4 |y|^2 J^-1 y         = rhs
    moser-veselov   y + h/4 B(y, y) - h^2/4 (y.J^-1 y) q         = q          from J x + x x J x / 2 = (1 + |x|^2 / 4) h p, x = h w

Constants.
    |B(z, y)| <= b |z| |y|.  For a unit vector n, n.B is the symmetric form with zero diagonal and entries n_i d_i / sqrt(det J); its
        eigenvalues (times sqrt(det J)) solve l^3 = S l + 2 P, S = sum (n_i d_i)^2 <= D^2, |P| <= |d1 d2 d3| / (3 sqrt 3), D = max |d_i|,
        hence l <= D r with r the positive root of r^3 = r + 2 |d1 d2 d3| / (3 sqrt(3) D^3), and b = D r / sqrt(det J).
    delta: the smallest singular value is at least the smallest eigenvalue of the symmetric part, 1 - h s / 2 - h^2 t, with
        -s = smallest eigenvalue of sym B(y, .) <= 0;  t = 0 (tln), t = -min(0, smallest eigenvalue of sym(|y|^2 J^-1 + 2 J^-1 y y^T)) / 4
        (cayley), t = |q| |J^-1 y| / 2 (moser-veselov).
    K = h b / 2 (tln),  h b / 2 + 3/2 h^2 (|y| + 2 eta) / J_min (cayley),  h b / 2 + h^2 |q| / (2 J_min) (moser-veselov).
    eta <= residual / delta. Start at w = J^-1 p, from the node: residual h/2 g, plus h^2/4 |y|^2 |J^-1 y| (cayley), h^2/4 |w|^2 |q|
        (moser-veselov), with g = |J^(-1/2) (w x Jw)|. Start at the velocity w of the interval before: residual h g in all three; then
        |q| <= |y| + h g / 2 (moser-veselov).
All of these grow (delta falls) with h, so the condition holds up to one h, found by bisection and returned from below.
For tln it is h = 2 / (s + sqrt(2 c b g)), c = 1 from the node, c = 2 from the interval before.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dalembert.solvability.body_jacobian import Array


@dataclass(frozen=True)
class BodyConstants:
    """Numbers of the head of this file at one velocity."""

    b: float
    s: float
    t_cayley: float
    gyro: float
    size: float
    inverse_size: float
    speed: float
    J_min: float


def constants(J: Array, w: Array) -> BodyConstants:
    """b, s, t of cayley, g, |y|, |J^-1 y|, |w|, J_min at the velocity w."""
    root = np.sqrt(J)
    y = root * w
    d = np.array([J[2] - J[1], J[0] - J[2], J[1] - J[0]])
    det_root = float(np.prod(root))
    B = np.array([[0.0, y[2], y[1]], [y[2], 0.0, y[0]], [y[1], y[0], 0.0]]) * d[:, None] / det_root
    square = float(y @ y) * np.diag(1.0 / J) + 2.0 * np.outer(y / J, y)
    return BodyConstants(
        b=_bilinear_norm(d) / det_root,
        s=max(0.0, -_smallest(B)),
        t_cayley=0.25 * max(0.0, -_smallest(square)),
        gyro=float(np.linalg.norm(np.cross(w, J * w) / root)),
        size=float(np.linalg.norm(y)),
        inverse_size=float(np.linalg.norm(y / J)),
        speed=float(np.linalg.norm(w)),
        J_min=float(np.min(J)),
    )


def newton_tln(c: BodyConstants, from_node: bool) -> float:
    """Largest certified h of the tln equation; closed form."""
    slope = c.s + math.sqrt((2.0 if from_node else 4.0) * c.b * c.gyro)
    return 2.0 / slope if slope > 0.0 else math.inf


def newton_cayley(c: BodyConstants, from_node: bool) -> float:
    """Largest certified h of the cayley equation."""

    def condition(h: float) -> bool:
        delta = 1.0 - 0.5 * h * c.s - h * h * c.t_cayley
        residual = 0.5 * h * c.gyro + 0.25 * h * h * c.size**2 * c.inverse_size if from_node else h * c.gyro
        if delta <= 0.0:
            return False
        eta = residual / delta
        return 2.0 * eta * (0.5 * h * c.b + 1.5 * h * h * (c.size + 2.0 * eta) / c.J_min) <= delta

    return largest(condition, c.speed)


def newton_moser_veselov(c: BodyConstants, from_node: bool) -> float:
    """Largest certified h of the Moser-Veselov equation in Cayley's vector."""

    def condition(h: float) -> bool:
        momentum = c.size if from_node else c.size + 0.5 * h * c.gyro
        delta = 1.0 - 0.5 * h * c.s - 0.5 * h * h * momentum * c.inverse_size
        residual = 0.5 * h * c.gyro + 0.25 * h * h * c.speed**2 * c.size if from_node else h * c.gyro
        if delta <= 0.0:
            return False
        return 2.0 * residual / delta * (0.5 * h * c.b + 0.5 * h * h * momentum / c.J_min) <= delta

    return largest(condition, c.speed)


def largest(condition: Callable[[float], bool], speed: float) -> float:
    """Largest h with condition(h), which must be true on an interval from 0 on; from below, inf when it still holds at h |w| = 1e6."""
    if speed == 0.0 or condition(1e6 / speed):
        return math.inf
    low, high = 0.0, 1e6 / speed
    while high - low > 1e-12 * high:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if condition(middle) else (low, middle)
    return low


def _bilinear_norm(d: Array) -> float:
    """D r of the head: r^3 = r + 2 e, 0 <= e <= 1 / (12 sqrt 3), by Newton from above (convex: every iterate is an upper bound)."""
    D = float(np.max(np.abs(d)))
    if D == 0.0:
        return 0.0
    e = float(np.prod(np.abs(d / D))) / (3.0 * math.sqrt(3.0))
    r = 1.1
    for _ in range(6):
        r -= (r**3 - r - 2.0 * e) / (3.0 * r * r - 1.0)
    return D * r


def _smallest(A: Array) -> float:
    return float(np.linalg.eigvalsh(0.5 * (A + A.T))[0])
