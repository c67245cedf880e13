"""Sums in eight parts: against exact sums, at every length, with and without the compiler."""

import math

import numpy as np
import pytest

from dalembert.kernels._eights import eight_sizes, eight_sums
from dalembert.kernels._jit import kernel

pytestmark = pytest.mark.nojit


@kernel
def both(x, y, sums, sizes):
    sums[0], sums[1], sums[2], sums[3], sums[4], sums[5], sums[6], sums[7] = eight_sums(x, y)
    sizes[0], sizes[1], sizes[2], sizes[3], sizes[4], sizes[5], sizes[6], sizes[7] = eight_sizes(x, y)


def parts(x, y):
    sums, sizes = np.full(8, np.nan), np.full(8, np.nan)
    both(x, y, sums, sizes)
    return sums, sizes


@pytest.mark.parametrize("n", [0, 1, 7, 8, 9, 16, 23, 100])
def test_each_part_has_every_eighth_entry(n):
    """Whole numbers: sums without round-off. What is left beyond the last eight takes no part."""
    rng = np.random.default_rng(n)
    x, y = (rng.integers(-1000, 1000, n).astype(float) for _ in range(2))
    whole = n - n % 8
    sums, sizes = parts(x, y)
    for k in range(8):
        assert sums[k] == (x[k:whole:8] * y[k:whole:8]).sum()
        assert sizes[k] == np.abs(x[k:whole:8] * y[k:whole:8]).sum()


def test_sums_are_those_of_the_rows_to_round_off_also_where_rows_are_parts_of_a_matrix():
    rng = np.random.default_rng(0)
    A = rng.standard_normal((5, 71))
    for row in (A[2], A[3, 3:43], A[4, 1:]):  # starts that no vector is aligned to
        n = len(row) - len(row) % 8
        sums, sizes = parts(row, row)
        exact = math.fsum(row[:n] ** 2)
        assert sums.sum() == pytest.approx(exact, rel=8 * np.finfo(float).eps)
        np.testing.assert_array_max_ulp(sums, sizes, 2)


def test_what_is_no_number_stays_none():
    x, y = np.ones(16), np.ones(16)
    y[11] = np.nan
    sums, sizes = parts(x, y)
    assert np.isnan(sums[3]) and np.isnan(sizes[3]) and np.isfinite(np.delete(sums, 3)).all()
