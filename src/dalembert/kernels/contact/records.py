"""The arrays of a step under names. Work arrays may be longer than a step needs: counts come from `Step.first` and `Pattern.size`."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dalembert.kernels._jit import INT, types

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Step(NamedTuple):
    """n bodies, m constraints. Angular first; rows act on (w_a, v_a, w_b, v_b)."""

    bodies: Ints  # (m, 2), -1: the world
    kind: Ints  # (m,)
    first: Ints  # (m + 1,) first row
    J: Floats  # (rows, 12)
    b: Floats  # (rows,)
    sigma: Floats  # (rows,)
    low: Floats  # (rows,)
    high: Floats  # (rows,)
    mu: Floats  # (m,)
    masses: Floats  # (n, 6, 6)
    inverse: Floats  # (n, 6, 6)
    free: Floats  # (6 n,) velocities without constraints


class Pattern(NamedTuple):
    """Order of elimination and blocks of U, H = U^T U. Row k of U: the diagonal block k, then blocks start[k] ... start[k + 1] - 1."""

    place: Ints  # (n,) place of a body in the order, -1: no constraint
    body: Ints  # (count,) body at a place
    start: Ints  # (count + 1,)
    column: Ints  # (blocks,) places, ascending in each row; the first one is the parent in the elimination tree
    above: Ints  # (count + 1,) where the list of blocks above the diagonal block of a column begins
    above_block: Ints  # (blocks,)
    above_row: Ints  # (blocks,)
    size: Ints  # (3,) count, blocks, signature of the pairs of bodies that were given


class Factor(NamedTuple):
    """Numbers of U by blocks of 6 x 6, by rows, and what was asked of it."""

    diagonal: Floats  # (36 count,)
    blocks: Floats  # (36 blocks,)
    vector: Floats  # (6 count,)
    at: Ints  # (count,) block of row j in a column
    slot: Ints  # (m,) block of a constraint: -1 one body alone
    state: Ints  # (m,) pieces of the laws for which U was made
    kept: Ints  # (2,) whether U stands for `state`; number of constraints


class Work(NamedTuple):
    """What a solve needs beside the step."""

    lam: Floats  # (rows,) impulses, start and result
    x: Floats  # (6 n,) velocities, result
    start: Floats  # (6 n,) velocities from which Newton starts
    b: Floats  # (rows,) b with the shift of the law
    lo: Floats  # (rows,) bounds by law
    hi: Floats  # (rows,)
    D: Floats  # (rows,) diagonal of J M^-1 J^T, its largest entry for cones
    R: Floats  # (rows,) sigma, or the floor
    W: Floats  # (rows, 3)
    state: Ints  # (m,)
    best: Floats  # (rows,)
    base: Floats  # (rows,)
    rows: Floats  # (8, rows)
    bodies: Floats  # (6, 6 n)
    l: Floats  # (rows,) interior point: cones lam_n, lam_t / mu; others lam
    s: Floats  # (rows,) cones u_n, mu u_t
    gaps: Floats  # (rows, 4) p = lam - lo, its multiplier, q = hi - lam, its multiplier
    frame: Floats  # (m, 8)
    turns: Floats  # (8, rows)
    pairs: Floats  # (6, rows, 2) of rows with bounds
    island: Ints  # (n,) island of a body
    worst: Floats  # (n,) residual of an island


_I1, _I2 = types.int64[::1], types.int64[:, ::1]
_F1, _F2, _F3 = types.float64[::1], types.float64[:, ::1], types.float64[:, :, ::1]
STEP_TYPE = types.NamedTuple([_I2, _I1, _I1, _F2, _F1, _F1, _F1, _F1, _F1, _F3, _F3, _F1], Step)
PATTERN_TYPE = types.NamedUniTuple(_I1, 8, Pattern)
FACTOR_TYPE = types.NamedTuple([_F1, _F1, _F1, _I1, _I1, _I1, _I1], Factor)
WORK_TYPE = types.NamedTuple([_F1] * 8 + [_F2, _I1, _F1, _F1, _F2, _F2, _F1, _F1, _F2, _F2, _F2, _F3, _I1, _F1], Work)

#: status = run(what, step, pattern, factor, work, options, info)
RUN = INT(INT, STEP_TYPE, PATTERN_TYPE, FACTOR_TYPE, WORK_TYPE, _F1, _F1)
__all__ = ["FACTOR_TYPE", "PATTERN_TYPE", "RUN", "STEP_TYPE", "WORK_TYPE", "Factor", "Pattern", "Step", "Work"]
