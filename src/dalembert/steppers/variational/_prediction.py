"""Coefficients that predict the velocity of the next substep of a composition from those of the substeps before.

A substep w h is the flow of w h X1 + (w h)^3 X3 + ... (`steppers/_order_conditions.py`). Seen from the node where it starts, the velocity
of its interval is a series over words u in the letters 1, 3, 5, ..., with |u| the weight and #u the length of a word,

    v = 1/h sum over u of phi_u h^|u| X_u q,    phi_u = w^(|u| - 1) / (#u)!

and so are those of the substeps before, which are reached by going backwards over -w_k-1, -w_k-2, ... (the method is self-adjoint). The
coefficients make sum_j c_j phi_u(k-j) = phi_u(k) for as many words as they can, short words first: n of them are the least-squares
solution over all words of weight at most WEIGHT, of which one of weight |u| counts RESOLVED^(|u| - 1).
"""

from __future__ import annotations

from functools import cache

import numpy as np

from dalembert.arrays import Array
from dalembert.kernels.tree.variational.layout import HISTORY
from dalembert.steppers._order_conditions import increments

WEIGHT = 9  # of the longest words
RESOLVED = 0.1  # the longest substep over the time in which a motion changes
ERROR_FIELDS = 1 / 12  # size of X3 beside the third derivatives of the motion, and of X5 beside that of X3
ROUND_OFF = 1e-9  # what a coefficient of size 1 may cost


@cache
def table(weights: tuple[float, ...]) -> Array:
    """For each stage its weight, then the coefficients of 1, 2, ..., HISTORY velocities, the latest first, filled up with zeros."""
    return np.concatenate([_stage(weights, k) for k in range(len(weights))])


def _stage(weights: tuple[float, ...], k: int) -> Array:
    past = -np.array([weights[(k - j) % len(weights)] for j in range(1, HISTORY + 1)])
    unit = np.abs(weights).max()
    before, ahead = _velocities(past / unit), _velocities(np.array([weights[k] / unit]))
    rows = [np.concatenate([coefficients(before[:, :n], ahead[:, 0]), np.zeros(HISTORY - n)]) for n in range(1, HISTORY + 1)]
    return np.concatenate([[weights[k]], *rows])


def _velocities(weights: Array) -> Array:
    """phi_u, one row per word, by how much it counts."""
    found = increments(weights, WEIGHT)
    sizes = [RESOLVED ** (sum(u) - 1) * ERROR_FIELDS ** sum((letter - 1) // 2 for letter in u) for u in found]
    return np.array([size * added / weights for size, added in zip(sizes, found.values(), strict=True)])


def coefficients(before: Array, ahead: Array) -> Array:
    """Least squares; a single velocity is taken as it is."""
    n = before.shape[1]
    if n == 1:
        return np.ones(1)
    system = np.vstack([before, ROUND_OFF * np.eye(n)])
    return np.asarray(np.linalg.lstsq(system, np.concatenate([ahead, np.zeros(n)]), rcond=None)[0])
