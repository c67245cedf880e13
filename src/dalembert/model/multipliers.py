"""Accelerations of a machine with loops, rolling, blades or drives, and the multipliers that hold these joints.

With G the Jacobian of `Model.constraint_rows` and f all other forces,

    M a = f + G^T lambda,     G a = -(dG/dt) v + d2/dt2 (prescribed motion of drives, 0 of other rows)    (index 1)

and lambda > 0 pushes the child towards a larger residual, the parent the other way. Where rows are redundant only G^T lambda is determined;
then lambda is the shortest one (N and N m count alike). (dG/dt) v is a central difference along the motion, extrapolated to order four: it
leaves some 1e-11 of the largest term.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import UnsupportedError

STEP = 3e-4  # of the differences along the motion, rad or m
RANK = 1e-8  # singular values of rows of unit length below this part of the largest belong to redundant rows


def constrained(model: Any, q: Array, v: Array, tau: Array, t: float = 0.0) -> tuple[Array, Array]:
    """(a, lambda) at one state and time under joint forces tau."""
    G = model.constraint_rows(q)[1]
    bias = along_motion(lambda s: model.constraint_rows(model.integrate(q, s * v))[1] @ v, v)
    try:
        L = np.linalg.cholesky(model.mass_matrix(q))
    except np.linalg.LinAlgError:
        raise UnsupportedError(
            f"forward dynamics of model {model.name!r}: its mass matrix is not positive definite, so its joints without coordinates have "
            "no multipliers; expected mass or armature behind every joint."
        ) from None
    f = tau - model.inverse_dynamics(q, v, np.zeros(model.nv), t=t)
    start = np.linalg.solve(L, f)  # L^T times the acceleration without multipliers
    W = np.linalg.solve(L, G.T).T
    multipliers = shortest(W, model._constraints().prescribed(t)[2] - bias - W @ start)
    return np.asarray(np.linalg.solve(L.T, start + W.T @ multipliers), dtype=float), multipliers


def shortest(W: Array, b: Array) -> Array:
    """The shortest solution of W W^T x = b, for b in the range of W. Its rank is judged on rows of unit length."""
    length = np.linalg.norm(W, axis=1)
    length = np.where(length > RANK * length.max(initial=0.0), length, 1.0 + length.max(initial=0.0))
    U, s, _ = np.linalg.svd(W / length[:, None], full_matrices=True)
    r = int(np.sum(s > RANK * s.max(initial=0.0)))
    x = (U[:, :r] @ ((U[:, :r].T @ (b / length)) / s[:r] ** 2)) / length
    if r < len(b):
        null = np.linalg.qr(U[:, r:] / length[:, None])[0]
        x -= null @ (null.T @ x)
    return x


def along_motion(f: Any, v: Array) -> Array:
    """d f(s)/ds at 0 by central differences, extrapolated; v: velocities (..., nv) of the motion, which fix how far to look."""
    s = STEP / np.maximum(1.0, np.abs(v).max(axis=-1, initial=0.0, keepdims=True))
    near, far = ((f(k * s) - f(-k * s)) / (2.0 * k * s) for k in (1.0, 2.0))
    return np.asarray((4.0 * near - far) / 3.0)
