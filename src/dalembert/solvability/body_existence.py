"""When does a Moser-Veselov step have a solution at all? p = J w is the node's momentum, L_i = tr J / 2 - J_i, W the rotation of the step.

    W L - L W^T = h hat(p)                                                                     caltech2008slides (2)-(6)

Sufficient (proved). W L = S + h hat(p) / 2 with S symmetric turns orthogonality of W into the Riccati equation
S^2 + h/2 (S hat(p) - hat(p) S) = L^2 + h^2/4 hat(p)^2. For a positive definite right-hand side and L > 0 (strict triangle inequality) it
has a unique stabilising solution S > 0, and W = (S + h hat(p) / 2) L^-1 is a rotation; the linearised Riccati operator is regular there,
so W depends smoothly on p and the equation's Jacobian at W is regular. The condition is

    h < 2 / sqrt(largest eigenvalue of L^-1 (|p|^2 1 - p p^T) L^-1).

Necessary (proved). In the quaternion (c, n s) of W the equation is h p / 2 = c s J n + s^2 n x J n (s = sin f, c = cos f), two orthogonal
vectors: h^2 |p|^2 / 4 = s^2 |Jn|^2 - s^4 (n.Jn)^2 <= (|Jn|^2 / (2 n.Jn))^2 <= J_max^2 / 4. So there is no solution for h |p| > J_max.

Spin about principal axis i: h |p| = J_i sin(2 f), solvable exactly for h |w| <= 1, with a regular Jacobian below.

Linear quaternion step (lacoursiere2007 (15.58)-(15.62)): y = (cos f, n sin f), f = h |w| / 2, and with u = sin^2 f

    (D + hat(z)) x = -cos(f) z,   D = J - u (n.Jn) 1,   |z|^2 = u (1 - u) |Jn|^2 + u^2 |n x Jn|^2,   needs D > 0 (15.62) and |x| < 1.

x.Dx = -cos(f) z.x gives |x| <= cos(f) |z| / (J_min - u n.Jn), so both hold up to the first root of
(J_min - u n.Jn)^2 = (1 - u) |z|^2, a cubic in u; and f < pi/2 keeps the scalar part positive.
"""

from __future__ import annotations

import math

import numpy as np

from dalembert.solvability.body_jacobian import Array, smallest_positive_root


def moser_veselov_sufficient(J: Array, w: Array) -> float:
    """h below which the Riccati equation proves a solution; 0 when the inertia violates the strict triangle inequality."""
    L = 0.5 * float(np.sum(J)) - J
    p = J * w
    if not np.any(p):
        return math.inf
    if np.min(L) <= 0.0:
        return 0.0
    A = (float(p @ p) * np.eye(3) - np.outer(p, p)) / np.outer(L, L)
    top = float(np.linalg.eigvalsh(A)[-1])
    return 2.0 / math.sqrt(top) if top > 0.0 else math.inf


def moser_veselov_necessary(J: Array, w: Array) -> float:
    """h above which no solution exists: J_max / |J w|."""
    momentum = float(np.linalg.norm(J * w))
    return float(np.max(J)) / momentum if momentum > 0.0 else math.inf


def quaternion_linear_definite(J: Array, w: Array) -> float:
    """(15.62), D > 0: sin^2(h |w| / 2) n.Jn < J_min; capped at half a turn per step."""
    speed = float(np.linalg.norm(w))
    if speed == 0.0:
        return math.inf
    ratio = float(np.min(J)) * speed**2 / float(w @ (J * w))
    return 2.0 * math.asin(min(1.0, math.sqrt(ratio))) / speed


def quaternion_linear_solvable(J: Array, w: Array) -> float:
    """D > 0 and |x| < 1 for every smaller step too."""
    speed = float(np.linalg.norm(w))
    if speed == 0.0:
        return math.inf
    n = w / speed
    low, along = float(np.min(J)), float(n @ (J * n))
    full, across = float((J * n) @ (J * n)), float(np.sum(np.cross(n, J * n) ** 2))
    # (low - u along)^2 - u (1 - u) ((1 - u) full + u across), constant first
    cubic = np.array([low**2, -2.0 * low * along - full, along**2 + 2.0 * full - across, across - full])
    u = min(1.0, low / along, float(smallest_positive_root(cubic)))
    return 2.0 * math.asin(math.sqrt(u)) / speed
