"""Cottle and Dantzig's principal pivoting: see `dalembert.complementarity.cottle_dantzig`."""

from dalembert.kernels._jit import kernel, packed
from dalembert.kernels.lcp.codes import CYCLE, FEASIBILITY, FREE, KEPT, LIMIT, LOWER, RUN, SINGULAR, SOLVED
from dalembert.kernels.lcp.dictionary import build, sides, values
from dalembert.kernels.lcp.drive import drive
from dalembert.kernels.lcp.guard import forget, repeats
from dalembert.kernels.lcp.keller import feasible_start
from dalembert.kernels.lcp.polish import size, violation
from dalembert.kernels.lcp.run import conclude, prepare


@kernel
def cottle_dantzig(M, q, lower, upper, side, z, w, options, A, B, V, I, info):
    """Indices one by one; those done before stay feasible."""
    n, x, guard = q.shape[0], V[2], I[2]
    sides(lower, upper, side)
    forget(info)
    for i in range(n):
        guard[i] = 1 if side[i] == FREE else 0
    while True:  # each turn starts from a fresh factorisation
        status = feasible_start(M, q, lower, upper, side, z, w, options, A, B, V, I, info)
        if status != SOLVED:
            return status
        if not build(M, lower, upper, side, A, 1e-14):
            return SINGULAR
        tol = options[FEASIBILITY] * size(z)
        values(side, z, w, x)
        clean = True
        for i in range(n):
            if violation(i, side, z, w, lower, upper) > tol:
                guard[i] = 0
                clean = False
        if clean:
            return SOLVED
        if repeats(side, 0, info):
            return CYCLE
        for s in range(n):
            if guard[s] == 0 and side[s] != FREE and lower[s] < upper[s]:
                wrong = -x[s] if side[s] == LOWER else x[s]
                if wrong > tol:
                    status = drive(A, s, x, side, lower, upper, guard, options[LIMIT], w, info)
                    if status != SOLVED:
                        return status
            guard[s] = 1
        for i in range(n):
            z[i] = x[i] if side[i] == FREE else z[i]


@packed(RUN, KEPT)
def run(options, side, S, A, B, V, I, info, M, q, lower, upper, z, w):
    """The problem as it was given, judged: see `run.py`."""
    bad = prepare(M, q, lower, upper, side, z, options, S, V, info)
    if bad != SOLVED:
        return bad, 0, 0.0, 0.0
    return conclude(cottle_dantzig(S, V[9], V[10], V[11], side, z, w, options, A, B, V, I, info), M, q, lower, upper, z, w, V, info)
