"""Upper bounds of the norms of multilinear forms with entries of known size.

|sum T'_kij w_k u_i v_j| <= norm |w| |u| |v| for every T' with |T'| <= T entrywise. Any grouping of the indices bounds it from above: fibres
first (norms of fibres as a matrix), slices first (spectral norms of slices as a vector), one index against all others (unfolding); and
the diagonal of an index pair apart from the rest, with sum |u_i v_i| <= |u| |v|. The smallest is returned.
"""

from __future__ import annotations

import numpy as np

from dalembert.solvability.tree_step import Array

SAFETY = 1.0 + 1e-12  # round-off of the decompositions


def norm3(T: Array) -> float:
    """Bound of the trilinear form |T|, T >= 0 of shape (n, n, n)."""
    bounds = []
    for k in range(3):
        A = np.moveaxis(T, k, 0)
        bounds.append(_spectral(np.sqrt(np.sum(A**2, axis=0))))
        bounds.append(float(np.sqrt(np.sum(_spectral_stack(A) ** 2))))
        bounds.append(_spectral(A.reshape(len(A), -1)))
        bounds.append(_split(A))
    return min(bounds) * SAFETY


def _split(A: Array) -> float:
    """Diagonal of the last two indices by its greatest column, the rest by fibres."""
    n = len(A)
    diagonal = A[:, np.arange(n), np.arange(n)]
    rest = A.copy()
    rest[:, np.arange(n), np.arange(n)] = 0.0
    return float(np.max(np.linalg.norm(diagonal, axis=0))) + _spectral(np.sqrt(np.sum(rest**2, axis=0)))


def norm4(T: Array) -> float:
    """Bound of the four-linear form |T|, T >= 0 of shape (n, n, n, n), symmetric in its first two and last two indices."""
    n = len(T)
    bounds = [_pairs(T), _pairs(T.transpose(2, 3, 0, 1))]
    if n <= 12:
        for order in ((0, 1, 2, 3), (0, 2, 1, 3)):
            bounds.append(_spectral(T.transpose(order).reshape(n * n, n * n)))
        mixed = _spectral_stack(T.transpose(1, 3, 0, 2).reshape(n * n, n, n)).reshape(n, n)
        bounds.append(_spectral(mixed))
    return min(bounds) * SAFETY


def _pairs(T: Array) -> float:
    """Spectral norms of the slices [i, j, :, :] as a symmetric matrix; a symmetric matrix >= 0 has its greatest eigenvalue as norm."""
    n = len(T)
    i, j = np.triu_indices(n)
    sizes = np.zeros((n, n))
    sizes[i, j] = sizes[j, i] = np.linalg.eigvalsh(T[i, j])[:, -1]
    return _spectral(sizes)


def _spectral(A: Array) -> float:
    """From the smaller Gram matrix: only the greatest eigenvalue matters."""
    gram = A @ A.T if len(A) <= A.shape[1] else A.T @ A
    return float(np.sqrt(max(0.0, np.linalg.eigvalsh(gram)[-1])))


def _spectral_stack(A: Array) -> Array:
    """Spectral norms of (m, n, n)."""
    return np.sqrt(np.maximum(0.0, np.linalg.eigvalsh(A @ np.swapaxes(A, 1, 2))[:, -1]))
