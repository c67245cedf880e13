"""SPOOK on a linear constraint G q = 0 with constant mass: violation and its rate follow a linear recursion.

x_k = G q_k, y_k = h G v_k, S = G M^-1 G^T, Sigma = (4 / h^2) epsilon Upsilon, Upsilon = 1 / (1 + 4 theta), theta = tau / h,
K = S (S + Sigma)^-1, D = 4 K Upsilon, no other force along the constraint (lacoursiere2007, 4.43-4.47):

    (x, y)_{k+1} = [[1 - D, 1 - D Theta], [-D, 1 - D Theta]] (x, y)_k

For one row, sigma = S / (S + Sigma) in (0, 1]: l^2 - 2 beta l + alpha = 0,

    beta = 1 - 2 (1 + theta) sigma / (1 + 4 theta),   alpha = 1 - 4 theta sigma / (1 + 4 theta)
    beta^2 - alpha = 4 sigma / (1 + 4 theta) [(1 + theta)^2 sigma / (1 + 4 theta) - 1]

theta = 0: |l| = 1; theta > 0: |l| < 1; sigma = 1: smallest spectral radius 1/3 at theta = 2, a double root, where a violation x_0 at
rest decays as (1 + 2k/3) 3^-k x_0. Print corrected: a complex pair has |l| = sqrt(alpha), not |alpha|; the bounds beta < 1/3 and
|l| < 2/3 claimed for theta > 2 are false (the larger root tends to 1).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.errors import OptionError
from dalembert.verification.elliptic import Array
from dalembert.verification.oscillator import matrix_power


def spook_sigma(effective: float, epsilon: float, h: float, theta: float) -> float:
    """sigma = S / (S + Sigma) of a row with effective inverse mass S = G M^-1 G^T and compliance epsilon."""
    return effective / (effective + 4.0 * epsilon / (h * h * (1.0 + 4.0 * theta)))


def spook_roots(sigma: float, theta: float) -> tuple[complex, complex]:
    """Eigenvalues of one step, beta +- sqrt(beta^2 - alpha)."""
    beta, square, _ = _pair(sigma, theta)
    root = complex(np.sqrt(complex(square)))
    return beta + root, beta - root


def spook_radius(sigma: float, theta: float) -> float:
    """Spectral radius: sqrt(alpha) for a complex pair, the larger |beta +- sqrt(beta^2 - alpha)| for a real one."""
    beta, square, alpha = _pair(sigma, theta)
    return float(np.sqrt(alpha)) if square <= 0.0 else float(abs(beta) + np.sqrt(square))


def spook_step(sigma: float, theta: float) -> Array:
    """The 2 x 2 matrix of one row."""
    D = 4.0 * sigma / (1.0 + 4.0 * theta)
    return np.array([[1.0 - D, 1.0 - D * theta], [-D, 1.0 - D * theta]])


def spook_state(sigma: float, theta: float, x0: float, y0: float, k: Any) -> Array:
    """(x_k, y_k) for integers k >= 0, shape k.shape + (2,)."""
    beta, square, alpha = _pair(sigma, theta)
    return matrix_power(spook_step(sigma, theta), beta, -square, alpha, k) @ np.array([x0, y0], dtype=float)


def spook_matrix(S: Any, Sigma: Any, theta: Any) -> Array:
    """The step (4.46) of m rows, (2m, 2m). S: (m, m); Sigma (entries 4 epsilon Upsilon / h^2) and theta: scalars or (m,)."""
    S = np.asarray(S, dtype=float)
    one = np.eye(len(S))
    theta = np.broadcast_to(np.asarray(theta, dtype=float), len(S))
    K = np.linalg.solve(S + np.diag(np.broadcast_to(np.asarray(Sigma, dtype=float), len(S))), S).T  # S symmetric: K = S (S + Sigma)^-1
    D = 4.0 * K / (1.0 + 4.0 * theta)
    return np.block([[one - D, one - D * theta], [-D, one - D * theta]])


def spook_spring_energy(mass: float, epsilon: float, h: float, q: Any, q_next: Any) -> Array:
    """m v^2 / 2 + ((q + q_next) / 2)^2 / (2 epsilon), v = (q_next - q) / h: exactly constant for g = q, tau = 0 and no other force.

    The step is then the implicit midpoint rule: tan(phi / 2) = h omega / 2, omega^2 = 1 / (m epsilon).
    """
    q, q_next = np.asarray(q, dtype=float), np.asarray(q_next, dtype=float)
    return 0.5 * mass * ((q_next - q) / h) ** 2 + 0.125 * (q + q_next) ** 2 / epsilon


def _pair(sigma: float, theta: float) -> tuple[float, float, float]:
    """beta, beta^2 - alpha, alpha."""
    if not 0.0 <= sigma <= 1.0 or not theta >= 0.0:
        raise OptionError(f"SPOOK on a linear constraint: sigma = {sigma}, theta = {theta}; expected sigma in [0, 1] and theta >= 0.")
    share = sigma / (1.0 + 4.0 * theta)
    square = 4.0 * share * ((1.0 + theta) ** 2 * share - 1.0)
    return 1.0 - 2.0 * (1.0 + theta) * share, square, 1.0 - 4.0 * theta * share
