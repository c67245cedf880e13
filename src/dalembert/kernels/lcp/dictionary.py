"""Principal pivoting: the dictionary that Murty's, Keller's and Cottle and Dantzig's methods share.

Every index i has one basic variable x_i (z_i where free, w_i where at a bound) and its partner, which is not basic. The dictionary
gives the basic ones as affine functions of the others; T[j, i] is the derivative of x_i by the partner of j. Its columns are contiguous,
so a column that a method moves along, and the rank-one update of a pivot, run over contiguous memory.

    column s of an index at a bound:  v_a = -M_aa^-1 M_as,  rho = M_ss + M_sa v_a,  u_b = M_bs + M_ba v_a     (lacoursiere2007 (16.42-43),
                                      whose print has rho with the opposite sign of its second term)
    principal pivot on r (partners exchange roles), p = T[r, r]:
        T[r, i] /= p,  T[r, r] = 1 / p,  T[j, i] -= T[j, r] T[r, i],  T[j, r] = -T[j, r] / p                   n^2 operations
"""

from dalembert.kernels._jit import apart, inline, kernel
from dalembert.kernels.lcp.codes import FREE, LOWER, UPPER
from dalembert.kernels.lcp.dense import axpy


@kernel
def pivot(T, r, n):
    """Exchange the partners of index r."""
    column = T[r]
    inverse = 1.0 / column[r]
    for i in range(column.shape[0]):
        column[i] *= inverse
    column[r] = inverse
    for j in range(n):
        if j != r:
            f = T[j, r]
            if f != 0.0:
                T[j, r] = 0.0
                axpy(T[j], -f, column)


@inline
def sides(lower, upper, side):
    """The start of the pivoting methods: at the lower bound, else at the upper, else free (lacoursiere2007 Alg. 16.5.2, corrected)."""
    for i in range(side.shape[0]):
        side[i] = LOWER
        if lower[i] == -float("inf"):
            side[i] = FREE if upper[i] == float("inf") else UPPER


@apart
def build(M, lower, upper, side, T, tiny):
    """Dictionary of the given sides: pivots on the largest diagonal entry. False where a free index cannot be made basic.

    Where that index has a bound, it goes to the bound instead.
    """
    n = M.shape[0]
    for i in range(n):
        row = M[i]
        for j in range(n):
            T[j, i] = row[j]
    for i in range(n):
        if side[i] == FREE:
            side[i] = 3  # waits for its pivot
    while True:
        r, best = -1, 0.0
        for i in range(n):
            if side[i] == 3 and abs(T[i, i]) >= best:
                r, best = i, abs(T[i, i])
        if r < 0:
            return True
        if best <= tiny:
            stuck = False
            for i in range(n):
                if side[i] == 3:
                    side[i] = LOWER if lower[i] > -float("inf") else UPPER
                    if lower[i] == -float("inf") and upper[i] == float("inf"):
                        side[i] = FREE
                        stuck = True
            return not stuck
        pivot(T, r, n)
        side[r] = FREE


@inline
def values(side, z, w, x):
    """x = the basic variables."""
    for i in range(side.shape[0]):
        x[i] = z[i] if side[i] == FREE else w[i]
