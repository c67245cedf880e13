"""Compiled solvers of linear complementarity problems, boxed and mixed. One file per method, one signature for all of them:

    status = solve(M, q, lower, upper, side, z, w, options, A, B, V, I, info)

    M (n, n), q, lower, upper (n,)   the problem, scaled (`scaling.py`): entries of M and q of order 1
    side (n,) int64                  in: the start, where options[WARM]; out: FREE, LOWER or UPPER for every index
    z, w (n,)                        out: the solution and w = M z + q; after RAY w is the direction of the ray. In: z is the start
    options (8,)                     WARM, LIMIT (pivots, iterations or sweeps), FEASIBILITY, and three of the method itself
    A (n + 1, n), B (n, n), V (8, n), I (5, 2 n + 1) int64     workspace: contents do not matter
    info (8,)                        out: PIVOTS

Kernels allocate nothing and raise nothing.
"""
