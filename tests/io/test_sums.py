"""Checksums of stretches from those of their parts."""

import zlib

import numpy as np
import pytest

from dalembert.io.sums import joined


@pytest.mark.parametrize("length", [0, 1, 7, 8, 1000, 2**20 + 3])
def test_the_sum_of_two_stretches_is_that_of_the_whole(length):
    rng = np.random.default_rng(length)
    for first in (b"", b"\0", rng.bytes(55), rng.bytes(4096)):
        second = rng.bytes(length)
        assert joined(zlib.crc32(first), zlib.crc32(second), length) == zlib.crc32(first + second)


def test_three_stretches():
    parts = [b"a" * 10, b"", b"bc" * 77]
    crc = 0
    for part in parts:
        crc = joined(crc, zlib.crc32(part), len(part))
    assert crc == zlib.crc32(b"".join(parts))
