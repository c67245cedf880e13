"""Compiled solvers of linear complementarity problems, boxed and mixed. One file per method, one signature for all of them:

    status = solve(M, q, lower, upper, side, z, w, options, A, B, V, I, info)

    M (n, n), q, lower, upper (n,)   the problem, scaled (`scaling.py`): entries of M and q of order 1
    side (n,) int64                  in: the start, where options[WARM]; out: FREE, LOWER or UPPER for every index
    z, w (n,)                        out: the solution and w = M z + q; after RAY w is the direction of the ray. In: z is the start
    options (6,)                     WARM, LIMIT (pivots, iterations or sweeps), FEASIBILITY, and three of the method itself
    A (n + 1, n), B (n + 5, n), V (13, n), I (6, 2 n + 4) int64   workspace: contents do not matter; V[8 : 12] is not touched
    info (8,)                        in: SYMMETRIC; out: PIVOTS

Kernels allocate nothing and raise nothing.
"""
