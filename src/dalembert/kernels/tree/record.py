"""Places in the flat arrays, marked as not negative."""

from dalembert.kernels._jit import NOT_NEGATIVE, inline

__all__ = ["NOT_NEGATIVE", "record"]


@inline
def record(start, i, size):
    """start + i size, which is not negative: the mask says so to the compiler, which then drops the test for negative indices that Numba
    puts before every access (measured: 300 -> 170 ns per link in `variational/factor_both.py`)."""
    return (start + i * size) & NOT_NEGATIVE
