"""Riccati's equations of linear-quadratic control, in discrete time.

    x+ = A x + B u,  cost  sum of x . Q x + u . R u

    point        P = Q + A^T P (A - B K),  K = (R + B^T P B)^-1 B^T P A          one P for all times (SciPy's solver)
    trajectory   P_k = Q + A_k^T P_k+1 (A_k - B_k K_k), from P_N backwards

A machine with closed loops or rolling moves on the changes that its constraints allow: x = T y, with T an orthonormal basis of these at
each node, and A, B, Q as y sees them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.linalg import eig, solve_discrete_are

from dalembert.arrays import Array
from dalembert.errors import OptionError

#: part of an eigenvector that inputs move, or that Q weighs, below which it is none; and how near to the unit circle is on it. Eigenvalues
#: of a mass that moves freely are two that coincide, known to the root of round-off
BLIND, ON_CIRCLE = 1e-7, 1e-6


def weight(name: str, given: Any, size: int, definite: bool) -> Array:
    """A symmetric matrix from a number, `size` numbers on the diagonal, or the matrix; definite: positive, else not negative."""
    try:
        array = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        array = np.array(np.nan)
    if array.ndim <= 1 and array.shape in ((), (1,), (size,)):
        array = np.diag(np.broadcast_to(array, (size,)))
    if array.shape != (size, size) or not np.isfinite(array).all():
        raise OptionError(f"{name} has the shape {array.shape}; expected finite numbers: one, {size}, or a matrix ({size}, {size}).")
    scale = float(np.abs(array).max(initial=0.0))
    if not np.abs(array - array.T).max(initial=0.0) <= 1e-9 * scale:
        raise OptionError(f"{name} is not symmetric.")
    least = float(np.linalg.eigvalsh(array)[0]) if size else 1.0
    if least < -1e-12 * scale or (definite and not least > 1e-14 * scale):
        raise OptionError(f"{name} has the eigenvalue {least:.3g}; expected {'> 0' if definite else '>= 0'}.")
    return np.array(array)


def stationary(A: Array, B: Array, Q: Array, R: Array, T: Array, names: Sequence[str]) -> tuple[Array, Array]:
    """(K, P) of a point, on the changes T; OptionError names directions that inputs do not reach or that Q does not weigh."""
    a, b, q = T.T @ A @ T, T.T @ B, T.T @ Q @ T
    _refuse_blind(a.T, b.T, T, names, "no input reaches", "give more inputs=, or another point")
    _refuse_blind(a, q, T, names, "Q does not weigh", "give Q a weight there", circle=True)
    try:
        P = solve_discrete_are(a, b, q, R)
    except (np.linalg.LinAlgError, ValueError) as problem:
        raise OptionError(f"lqr: Riccati's equation has no stabilising solution here ({problem}).") from None
    K = np.linalg.solve(R + b.T @ P @ b, b.T @ P @ a)
    return K @ T.T, T @ P @ T.T


def _refuse_blind(a: Array, sees: Array, T: Array, names: Sequence[str], what: str, remedy: str, circle: bool = False) -> None:
    """Eigenvectors of a that do not decay, and that `sees` takes to 0; circle: only those on the unit circle."""
    values, vectors = eig(a)
    size = float(np.linalg.norm(sees))
    for value, x in zip(values, vectors.T, strict=True):
        lasts = abs(abs(value) - 1.0) < ON_CIRCLE if circle else abs(value) > 1.0 - ON_CIRCLE
        if lasts and np.linalg.norm(sees @ x) <= BLIND * size * np.linalg.norm(x):
            raise OptionError(f"lqr: {what} the direction ({_direction(T @ x, names)}), whose eigenvalue is {abs(value):.6g}; {remedy}.")


def _direction(x: Array, names: Sequence[str]) -> str:
    """The largest entries of a direction, by name."""
    x = np.real(x / x[np.argmax(np.abs(x))])
    large = [i for i in np.argsort(-np.abs(x), kind="stable")[:4] if abs(x[i]) > 0.05]
    return ", ".join(f"{x[i]:.2g} {names[i]}" for i in large)


def backwards(steps: Sequence[tuple[Array, Array]], bases: Sequence[Array], Q: Array, R: Array, final: Array) -> tuple[Array, Array]:
    """(K (N, nu, n), P (N + 1, n, n)) along steps (A_k, B_k), with the bases of all nodes."""
    T = bases[-1]
    p = T.T @ final @ T
    gains, costs = list[Array](), [T @ p @ T.T]
    for (A, B), T_0, T_1 in zip(reversed(steps), reversed(bases[:-1]), reversed(bases[1:]), strict=True):
        a, b = T_1.T @ A @ T_0, T_1.T @ B
        k = np.linalg.solve(R + b.T @ p @ b, b.T @ p @ a)
        p = T_0.T @ Q @ T_0 + a.T @ p @ (a - b @ k)
        p = 0.5 * (p + p.T)
        gains.append(k @ T_0.T)
        costs.append(T_0 @ p @ T_0.T)
    return np.array(gains[::-1]), np.array(costs[::-1])
