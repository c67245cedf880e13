"""Parts of the workspace as vectors of n numbers. Places are marked as not negative (`record.py`): loops are vectorised then."""

from dalembert.kernels._jit import inline
from dalembert.kernels.tree.record import NOT_NEGATIVE


@inline
def largest(work, at, n):
    """max |work[at : at + n]|; NaN if one entry is infinite or NaN. Without branches, which would not be foreseen."""
    at, m, nothing = at & NOT_NEGATIVE, 0.0, 0.0
    for i in range(n):
        x = abs(work[at + i])
        m = x if x > m else m
        nothing += x - x
    return m + nothing


@inline
def product(work, a, b, n):
    """work[a : a + n] . work[b : b + n]"""
    a, b, total = a & NOT_NEGATIVE, b & NOT_NEGATIVE, 0.0
    for i in range(n):
        total += work[a + i] * work[b + i]
    return total


@inline
def advance_along(work, start, s, direction, out, n):
    """work[out:] = work[start:] + s work[direction:]"""
    start, direction, out = start & NOT_NEGATIVE, direction & NOT_NEGATIVE, out & NOT_NEGATIVE
    for i in range(n):
        work[out + i] = work[start + i] + s * work[direction + i]


@inline
def copy(source, start, out, to, n):
    """out[to : to + n] = source[start : start + n]"""
    start, to = start & NOT_NEGATIVE, to & NOT_NEGATIVE
    for i in range(n):
        out[to + i] = source[start + i]
