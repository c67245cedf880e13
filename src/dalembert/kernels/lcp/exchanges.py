"""Exchanges of Lemke's method, put off: four of them change the dictionary in one pass over its memory.

An exchange of column s with row r, p = T[s, r], c = T[s] / p but c_r = 1 / p, turns every other column v into

    f = v_r,   v_r := 0,   v -= f c                  and column s into c

which needs nothing but (c, r, s). So a column is brought up to date when it is asked for, and the others four exchanges at a time,
f_k = a_k v_(r_k) - sum_(m < k) f_m g_mk,  v -= f_0 c_0 + f_1 c_1 + f_2 c_2 + f_3 c_3: a quarter of the loads and stores.

A small dictionary lies in the nearest cache: there exchanges are not put off.

C (5, n): c of the exchanges that wait, and a row for the moving column.  P (2, .): their rows r and columns s.
"""

from dalembert.kernels._jit import apart, inline
from dalembert.kernels.lcp.dense import axpy, axpy4, scaled

ROW, COLUMN = 0, 1
GROUP = 4
SMALL = 32  # dictionaries of fewer rows are changed at once


@inline
def current(T, C, P, count, j, out):
    """out = column j after the exchanges that wait. out is not among the first `count` rows of C."""
    first, source = 0, T[j]
    for k in range(count):
        if P[COLUMN, k] == j:
            first, source = k + 1, C[k]
    for i in range(out.shape[0]):
        out[i] = source[i]
    for k in range(first, count):
        r = P[ROW, k]
        f = out[r]
        out[r] = 0.0
        axpy(out, -f, C[k])


@inline
def _factor(C, P, m, k):
    """g_mk = c_m at row r_k; 0 where that row was exchanged again between m and k."""
    for between in range(m + 1, k):
        if P[ROW, between] == P[ROW, k]:
            return 0.0
    return C[m, P[ROW, k]]


@inline
def _seen(P, k):
    """a_k: 0 where row r_k was exchanged before within the group, which had set v_(r_k) to 0."""
    for m in range(k):
        if P[ROW, m] == P[ROW, k]:
            return 0.0
    return 1.0


@inline
def _four(T, C, P):
    """All four exchanges at once, in all columns but the four exchanged ones, which are up to date."""
    g01, g02, g03 = _factor(C, P, 0, 1), _factor(C, P, 0, 2), _factor(C, P, 0, 3)
    g12, g13, g23 = _factor(C, P, 1, 2), _factor(C, P, 1, 3), _factor(C, P, 2, 3)
    a1, a2, a3 = _seen(P, 1), _seen(P, 2), _seen(P, 3)
    r0, r1, r2, r3 = P[ROW, 0], P[ROW, 1], P[ROW, 2], P[ROW, 3]
    s0, s1, s2, s3 = P[COLUMN, 0], P[COLUMN, 1], P[COLUMN, 2], P[COLUMN, 3]
    for k in range(1, GROUP):
        for m in range(k):
            C[m, P[ROW, k]] = 0.0  # what happened to row r_k before exchange k is in f_k
    c0, c1, c2, c3 = C[0], C[1], C[2], C[3]
    for j in range(T.shape[0]):
        if j in (s0, s1, s2, s3):
            continue
        v = T[j]
        f0 = v[r0]
        f1 = a1 * v[r1] - f0 * g01
        f2 = a2 * v[r2] - f0 * g02 - f1 * g12
        f3 = a3 * v[r3] - f0 * g03 - f1 * g13 - f2 * g23
        v[r0] = v[r1] = v[r2] = v[r3] = 0.0
        axpy4(v, -f0, c0, -f1, c1, -f2, c2, -f3, c3)


@inline
def _one(T, c, r, s):
    """One exchange in all columns. Row r is set last: a number that was just stored alone would hold up the loads of its neighbours."""
    for j in range(T.shape[0]):
        v = T[j]
        if j == s:
            scaled(v, 1.0, c)
        else:
            f = v[r]
            axpy(v, -f, c)
            v[r] = -f * c[r]


@apart
def settle(T, C, P, count):
    """Bring all columns up to date. Returns 0: no exchange waits any more."""
    if count == 1:
        _one(T, C[0], P[ROW, 0], P[COLUMN, 0])
        return 0
    if count == GROUP:
        for k in range(GROUP):
            current(T, C, P, GROUP, P[COLUMN, k], T[P[COLUMN, k]])
        _four(T, C, P)
        return 0
    for j in range(T.shape[0]):
        current(T, C, P, count, j, T[j])
    return 0


@inline
def exchange(T, C, P, count, column, s, r):
    """The variable of column s, at present `column`, becomes basic in row r; that of row r goes to column s. Returns how many wait."""
    c = C[count]
    inverse = 1.0 / column[r]
    scaled(c, inverse, column)
    c[r] = inverse
    P[ROW, count], P[COLUMN, count] = r, s
    count += 1
    return settle(T, C, P, count) if count == GROUP or c.shape[0] < SMALL else count
