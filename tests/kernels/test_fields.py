"""Layouts that are data."""

import numpy as np
import pytest

from dalembert.kernels._fields import Count, Layout, Part, Real, Record
from dalembert.kernels._jit import kernel

LAYOUT = Layout("Trial", Real("half", "a number"), Part("x", "nv", "a vector"), Part("rows", "2 nv nv", "rows"), Count("n", "how many"))
read = LAYOUT.reader(0, 2)


@kernel
def add_halves(system, work):
    """rows[i] += half x[i]"""
    s = read(system)
    for i in range(s.n):
        work[s.rows + i] += s.half * work[s.x + i]


def test_parts_follow_one_another_and_kernels_read_them_by_name():
    numbers, end = LAYOUT.lay(5, {"half": 0.5, "n": 3}, {"nv": 3})
    np.testing.assert_array_equal(numbers, [0.5, 5, 8, 3])
    assert end == 8 + 18
    system, work = np.concatenate([[1.0, 0.0, 0.0], numbers]), np.zeros(end)
    work[5:8] = 1, 2, 3
    add_halves(system, work)
    np.testing.assert_array_equal(work[8:12], [0.5, 1, 1.5, 0])


def test_numbers_of_a_layout_have_names_in_python_too():
    numbers, _ = LAYOUT.lay(5, {"half": 0.5, "n": 3}, {"nv": 3})
    named = LAYOUT.named(numbers)
    assert (named.half, named.rows, named.n) == (0.5, 8, 3)
    assert isinstance(named.rows, int)


def test_a_record_has_offsets_and_a_size():
    record = Record(Part("axes", 9, "by rows"), Part("origin", 3, "in the parent"), Part("mass", 1, "kg"))
    assert record.starts == (0, 9, 12)
    assert record.size == 13


def test_a_name_is_given_once():
    with pytest.raises(ValueError, match="twice"):
        Layout("Twice", Real("a", "one"), Real("a", "two"))
