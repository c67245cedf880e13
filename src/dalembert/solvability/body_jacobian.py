"""When is the Jacobian of a rigid-body step regular? x = h |omega|, kappa = largest / smallest principal inertia.

    D_tln    = J + h/2 (hat(w) J - hat(J w))                                                    kobilarov2014 (17)
    D_cayley = D_tln + h^2/4 (w.Jw) 1 + h^2/2 w (J w)^T                                         (18); print has h/4, h/2

(19), (20) ask for positive definite Jacobians. From sym(hat(w) J) >= -|w| (s+ - s-) / 2 and, with n = w / |w|, the smallest eigenvalue
2 n.Jn - |Jn| of sym((n.Jn) 1 + 2 n (Jn)^T) and Kantorovich's inequality |Jn|^2 <= (s+ + s-) n.Jn - s+ s-:

    D_tln / s-    >= 1 - (kappa - 1) x / 4
    D_cayley / s- >= 1 - (kappa - 1) x / 4 + f x^2 / 4,   f = 1 (kappa <= 3), f = 2 kappa / (1 + kappa) - (1 + kappa) / 8 (kappa > 3)

The printed bound behind (20), with x^2 (1 - kappa / 4) instead of f x^2 / 4, is false for kappa < 3, but (20) itself stays below the
corrected root.

Sharp limit of D_tln (proved here). Order J1 <= J2 <= J3, a = h w / 2, d1 = J3 - J2, d2 = J3 - J1, d3 = J2 - J1. Expanding,

    det D_tln = J1 J2 J3 + d1 d2 J3 a3^2 + d2 d3 J1 a1^2 - d1 d3 J2 a2^2 - 2 d1 d2 d3 a1 a2 a3
             >= J2 (J1 J3 - d1 d3 a2^2) + 2 d2 sqrt(d1 d3) |a1 a3| (sqrt(J1 J3) - sqrt(d1 d3) |a2|)

by the arithmetic-geometric mean of the two squares. Both terms are positive while d1 d3 a2^2 < J1 J3; the middle axis attains the bound:

    regular for all directions iff  x < 2 sqrt(J1 J3 / ((J3 - J2)(J2 - J1)))                    this inertia; only |w_2| matters
    worst J2 = (J1 + J3) / 2:       x < 4 sqrt(kappa) / (kappa - 1)                             any inertia
    with J3 <= J1 + J2, kappa >= 3: x < 2 sqrt(kappa / (kappa - 2)), so x < 2 always suffices   physical inertia (worst J2 = J3 - J1)
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dalembert.arrays import Array

#: Global search (no proof): D_cayley is singular for no direction and no J2 below this kappa.
CAYLEY_SEARCHED_KAPPA = 135.87
#: (kappa, smallest singular x found by search, rounded down); it falls with kappa. Just above 135.87 the worst J2 is J3, later it is
#: smaller, and the worst velocity has no component along the largest inertia.
CAYLEY_SEARCHED = ((136.0, 6.592), (140.0, 5.653), (150.0, 4.914), (200.0, 3.490), (500.0, 2.015), (1000.0, 1.557))


def jacobian_tln(J: Array, w: Array, h: float) -> Array:
    """D_tln (..., 3, 3) for principal inertias and velocities (..., 3)."""
    return _diag(J) + 0.5 * h * (hat(w) * np.asarray(J)[..., None, :] - hat(J * w))


def jacobian_cayley(J: Array, w: Array, h: float) -> Array:
    """D_cayley (..., 3, 3): (18) corrected."""
    stretch = np.sum(J * w * w, axis=-1)[..., None, None] * np.eye(3)
    return jacobian_tln(J, w, h) + 0.25 * h * h * (stretch + 2.0 * np.asarray(w)[..., :, None] * (J * w)[..., None, :])


def determinant_tln(J: Array, w: Array) -> Array:
    """Coefficients (..., 4) of det D_tln as a polynomial in h, constant first."""
    gyro = 0.5 * (hat(w) * np.asarray(J)[..., None, :] - hat(J * w))
    return _determinant(np.stack([_diag(J) + 0.0 * gyro, gyro], axis=-1))


def determinant_cayley(J: Array, w: Array) -> Array:
    """Coefficients (..., 7) of det D_cayley as a polynomial in h, constant first."""
    gyro = 0.5 * (hat(w) * np.asarray(J)[..., None, :] - hat(J * w))
    square = jacobian_cayley(J, w, 2.0) - jacobian_tln(J, w, 2.0)
    return _determinant(np.stack([_diag(J) + 0.0 * gyro, gyro, 0.25 * square], axis=-1))


def smallest_positive_root(coefficients: Array) -> Array:
    """Smallest positive real root of each polynomial (..., n + 1), constant first and not 0; inf where there is none.

    The reciprocal polynomial is monic after division by the constant, so its companion matrix exists even where the degree drops.
    """
    c = np.atleast_2d(coefficients)
    n = c.shape[-1] - 1
    companion = np.zeros((*c.shape[:-1], n, n))
    companion[..., range(1, n), range(n - 1)] = 1.0
    companion[..., 0, :] = -c[..., 1:] / c[..., :1]
    reciprocal = np.linalg.eigvals(companion)
    real = (np.abs(reciprocal.imag) <= 1e-9 * np.abs(reciprocal)) & (
        reciprocal.real > 1e-9 * np.abs(reciprocal).max(axis=-1, keepdims=True)
    )
    largest = np.max(np.where(real, reciprocal.real, 0.0), axis=-1)
    roots = np.full(largest.shape, np.inf)
    np.divide(1.0, largest, out=roots, where=largest > 0.0)
    return roots.reshape(np.shape(coefficients)[:-1])


def x_tln_19(kappa: float) -> float:
    """(19): 4 / (kappa - 1)."""
    return 4.0 / (kappa - 1.0) if kappa > 1.0 else math.inf


def x_tln_sharp(kappa: float) -> float:
    """Any inertia with this kappa: 4 sqrt(kappa) / (kappa - 1)."""
    return 4.0 * math.sqrt(kappa) / (kappa - 1.0) if kappa > 1.0 else math.inf


def x_tln_physical(kappa: float) -> float:
    """Inertias with J3 <= J1 + J2: 2 sqrt(kappa / (kappa - 2)) for kappa >= 3, below it as for any inertia."""
    return 2.0 * math.sqrt(kappa / (kappa - 2.0)) if kappa >= 3.0 else x_tln_sharp(kappa)


def x_tln_inertia(J: Array) -> float:
    """This inertia, the worst direction: 2 sqrt(J1 J3 / ((J3 - J2)(J2 - J1)))."""
    J1, J2, J3 = np.sort(J)
    product = float((J3 - J2) / J3 * ((J2 - J1) / J1))
    return 2.0 / math.sqrt(product) if product > 0.0 else math.inf


def x_cayley_20(kappa: float) -> float:
    """(20): smallest root of 1 - (kappa - 1) x / 4 + (1 - kappa / 4) x^2, written so that kappa = 4 is no exception."""
    return _first_root(0.25 * (kappa - 1.0), 1.0 - 0.25 * kappa)


def x_cayley_definite(kappa: float) -> float:
    """D_cayley is positive definite below the smallest root of 1 - (kappa - 1) x / 4 + f x^2 / 4."""
    f = 1.0 if kappa <= 3.0 else 2.0 * kappa / (1.0 + kappa) - 0.125 * (1.0 + kappa)
    return _first_root(0.25 * (kappa - 1.0), 0.25 * f)


def x_cayley_searched(kappa: float) -> float:
    """Regular by global search: inf up to kappa = 135.87, then the value found at the next larger kappa, nan beyond the table."""
    if kappa < CAYLEY_SEARCHED_KAPPA:
        return math.inf
    return next((x for known, x in CAYLEY_SEARCHED if kappa <= known), math.nan)


def _first_root(b: float, a: float) -> float:
    """Smallest positive root of 1 - b x + a x^2, b >= 0."""
    discriminant = b * b - 4.0 * a
    return 2.0 / (b + math.sqrt(discriminant)) if discriminant >= 0.0 and b + math.sqrt(discriminant) > 0.0 else math.inf


def hat(w: Array) -> Array:
    """Cross-product matrices (..., 3, 3)."""
    w = np.asarray(w, dtype=float)
    out = np.zeros((*w.shape, 3))
    out[..., 0, 1], out[..., 0, 2], out[..., 1, 2] = -w[..., 2], w[..., 1], -w[..., 0]
    return out - np.swapaxes(out, -1, -2)


def _diag(J: Array) -> Array:
    return np.asarray(J, dtype=float)[..., None, :] * np.eye(3)


def _determinant(entries: Array) -> Array:
    """det of a 3x3 matrix of polynomials (..., 3, 3, degree + 1), by the rule of Sarrus."""
    total: Any = 0.0
    for i, j, k, sign in ((0, 1, 2, 1), (1, 2, 0, 1), (2, 0, 1, 1), (2, 1, 0, -1), (1, 0, 2, -1), (0, 2, 1, -1)):
        total = total + sign * _times(_times(entries[..., 0, i, :], entries[..., 1, j, :]), entries[..., 2, k, :])
    return np.asarray(total)


def _times(a: Array, b: Array) -> Array:
    out = np.zeros((*a.shape[:-1], a.shape[-1] + b.shape[-1] - 1))
    for power in range(b.shape[-1]):
        out[..., power : power + a.shape[-1]] += a * b[..., power : power + 1]
    return out
