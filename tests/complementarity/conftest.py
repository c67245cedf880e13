"""Judges that share nothing with the solvers."""

from __future__ import annotations

import itertools
from types import SimpleNamespace

import numpy as np
import pytest


def natural(M, q, lower, upper, z):
    """(max |z - clip(z - w, l, u)|, size of the terms of w) in plain NumPy."""
    w = M @ z + q
    r = np.abs(z - np.clip(z - w, lower, upper)).max(initial=0.0)
    return r, (np.abs(M) @ np.abs(z) + np.abs(q)).max(initial=0.0)


def solutions(M, q, lower, upper, tol=1e-9):
    """All solutions with nonsingular free sets, by trying all 3^n sides."""
    found = []
    for sides in itertools.product((-1, 0, 1), repeat=len(q)):
        side = np.array(sides)
        if np.isinf(lower[side == -1]).any() or np.isinf(upper[side == 1]).any():
            continue
        z, free = np.where(side == -1, lower, np.where(side == 1, upper, 0.0)), side == 0
        z[free] = 0.0
        block = M[np.ix_(free, free)]
        if free.any():
            if abs(np.linalg.det(block)) < 1e-12:
                continue
            z[free] = np.linalg.solve(block, -(q + M @ z)[free])
        w, loose = M @ z + q, lower < upper
        if (
            ((z >= lower - tol) & (z <= upper + tol)).all()
            and (w[(side == -1) & loose] >= -tol).all()
            and (w[(side == 1) & loose] <= tol).all()
        ):
            found.append(z)
    return found


@pytest.fixture(scope="session")
def judges():
    return SimpleNamespace(natural=natural, solutions=solutions)
