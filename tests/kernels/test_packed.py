"""Arguments that are kept in a table: what a kernel finds there is what was given."""

import numpy as np
import pytest

from dalembert.kernels._jit import ARRAY, BOOL, INT, REAL, packed, types
from dalembert.kernels._packed import table, words

pytestmark = pytest.mark.nojit
MATRIX, INTS = types.float64[:, ::1], types.int64[::1]


@packed(REAL(REAL, INT, BOOL, BOOL, ARRAY, MATRIX, INTS, ARRAY, INT), 7)
def mixed(number, whole, yes, no, row, matrix, counts, out, place):
    """Something of everything, of which no part can take the place of another."""
    out[place] = number
    out[place + 1] = whole if yes and not no else -1.0
    out[place + 2] = row[row.shape[0] - 1]
    out[place + 3] = matrix[1, 2] + 1000.0 * matrix.shape[1] + 100.0 * matrix.shape[0]
    out[place + 4] = counts[1]
    row[0] += 1.0
    return number * whole


def test_kept_arguments_are_read_and_arrays_are_shared():
    row, matrix, counts = np.array([0.5, 0.25, -3.0]), np.arange(12.0).reshape(3, 4), np.array([7, -(2**40)])
    bound = mixed.bind(-0.1, -(2**50), True, False, row, matrix, counts)
    out = np.zeros(7)
    assert bound.call(bound.address, out, 1) == -0.1 * -(2**50)
    np.testing.assert_array_equal(out, [0.0, -0.1, -(2.0**50), -3.0, 6.0 + 4000.0 + 300.0, -(2.0**40), 0.0])
    matrix[1, 2] = -1.0  # the table holds places, not copies
    bound.call(bound.address, out, 0)
    assert out[3] == -1.0 + 4300.0
    assert row[0] == 0.5 + 2.0


def test_two_bindings_of_one_kernel_do_not_mix():
    first, second = (mixed.bind(x, 3, True, False, np.full(2, x), np.full((2, 3), x), np.array([1, 2])) for x in (1.5, -2.5))
    out = np.zeros(5)
    for bound, x in ((first, 1.5), (second, -2.5), (first, 1.5)):
        assert bound.call(bound.address, out, 0) == 3 * x
        assert out[2] == x


def test_a_table_refuses_arrays_with_gaps():
    assert words(MATRIX) == 3
    with pytest.raises(ValueError, match="contiguous"):
        table((ARRAY,), (np.zeros(6)[::2],))
