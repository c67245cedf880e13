"""Keller's principal pivoting: see `dalembert.complementarity.keller`."""

from dalembert.kernels._jit import inline, kernel, packed
from dalembert.kernels.lcp.codes import (
    CYCLE,
    FEASIBILITY,
    FREE,
    KEPT,
    LIMIT,
    LOWER,
    PIVOT_LIMIT,
    PIVOTS,
    RUN,
    SINGULAR,
    SOLVED,
    UPPER,
    WARM,
)
from dalembert.kernels.lcp.dictionary import build, sides, values
from dalembert.kernels.lcp.drive import drive
from dalembert.kernels.lcp.guard import forget, repeats
from dalembert.kernels.lcp.polish import polish, size
from dalembert.kernels.lcp.run import conclude, prepare


@inline
def _worst(side, x, lower, upper, tol):
    """Index at a bound whose w has the wrong sign most, -1 if there is none."""
    s, most = -1, tol
    for i in range(side.shape[0]):
        if side[i] != FREE and lower[i] < upper[i]:
            wrong = -x[i] if side[i] == LOWER else x[i]
            if wrong > most:
                s, most = i, wrong
    return s


@kernel
def feasible_start(M, q, lower, upper, side, z, w, options, A, B, V, I, info):
    """Make the free z of a start satisfy their equations without leaving the bounds.

    Walk from z towards the solution of the free set; an index that reaches a bound stays there. z is the start, within its bounds.
    Each walk drops at least one index, so there are at most n.
    """
    n, here = q.shape[0], V[3]
    while True:
        for i in range(n):
            here[i] = min(max(z[i], lower[i]), upper[i])
        if not polish(M, q, lower, upper, side, z, w, options, B, V, I, info):
            return SINGULAR
        theta, r = 1.0, -1
        for i in range(n):
            if side[i] == FREE:
                bound = lower[i] if z[i] < lower[i] else upper[i]
                if z[i] < lower[i] or z[i] > upper[i]:
                    t = max(0.0, (bound - here[i]) / (z[i] - here[i]))
                    if t < theta or r < 0:
                        theta, r = t, i
        if r < 0:
            return SOLVED
        if info[PIVOTS] >= options[LIMIT]:
            return PIVOT_LIMIT
        info[PIVOTS] += 1.0
        side[r] = LOWER if z[r] < lower[r] else UPPER
        for i in range(n):
            if side[i] == FREE:
                z[i] = min(max(here[i] + theta * (z[i] - here[i]), lower[i]), upper[i])
                if z[i] == lower[i] or z[i] == upper[i]:
                    side[i] = LOWER if z[i] == lower[i] else UPPER


@kernel
def keller(M, q, lower, upper, side, z, w, options, A, B, V, I, info):
    """Majors: drive the worst violator. Sides at the start of a major determine z, so a repetition is a cycle."""
    n, x, guard = q.shape[0], V[2], I[2]
    for i in range(n):
        guard[i] = 0
    if options[WARM] == 0.0:
        sides(lower, upper, side)
    forget(info)
    while True:  # each turn starts from a fresh factorisation
        status = feasible_start(M, q, lower, upper, side, z, w, options, A, B, V, I, info)
        if status != SOLVED:
            return status
        tol = options[FEASIBILITY] * size(z)
        values(side, z, w, x)
        s = _worst(side, x, lower, upper, tol)
        if s < 0:
            return SOLVED
        if not build(M, lower, upper, side, A, 1e-14):
            return SINGULAR
        while s >= 0:
            if repeats(side, 0, info):
                return CYCLE
            status = drive(A, s, x, side, lower, upper, guard, options[LIMIT], w, info)
            if status != SOLVED:
                return status
            s = _worst(side, x, lower, upper, tol)
        for i in range(n):
            z[i] = x[i] if side[i] == FREE else z[i]


@packed(RUN, KEPT)
def run(options, side, S, A, B, V, I, info, M, q, lower, upper, z, w):
    """The problem as it was given, judged: see `run.py`."""
    bad = prepare(M, q, lower, upper, side, z, options, S, V, info)
    if bad != SOLVED:
        return bad, 0, 0.0, 0.0
    return conclude(keller(S, V[9], V[10], V[11], side, z, w, options, A, B, V, I, info), M, q, lower, upper, z, w, V, info)
