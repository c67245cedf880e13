"""A free joint in the elimination of `factor.py`: the root of its tree, six equations.

    D = T A + h d/dx (T l) + armature T + wl damping,   T = dtau_x^-T,   x = h (omega, v),  l = dL/d(omega, v)
    delta = -D^-1 (e + T B)

For the Cayley map, x = (w, u), l = (p, n), n' = n + w x n/2                                                   Kobilarov (55)

    T = [[1 + hat(w)/2 + w w^T/4, hat(u) (1 + hat(w)/2)/2], [0, 1 + hat(w)/2]]
    d(T l)/dw = [-hat(p)/2 + (w.p + w p^T)/4 - hat(u) hat(n)/4; -hat(n)/2],   d(T l)/du = [-hat(n')/2; 0]
"""

from dalembert.kernels._jit import ARRAY, BOOL, INT, REAL, far, inline, kernel
from dalembert.kernels.mat3 import hat_mul, load9, mul
from dalembert.kernels.smallmat import add, axpy, cross, dot, load3, mat_vec, store3
from dalembert.kernels.tree.layout import ARMATURE, DAMPING, HEADER, LINK_SIZE, V_AT
from dalembert.kernels.tree.variational.ball import diagonal, hat, outer, plus, scaled
from dalembert.kernels.tree.variational.layout import BIAS, FACTOR_SIZE, FREE_D, FREE_RIGHT, FREE_ROW, FREE_SPARE, INERTIA


@inline
def put(work, at, row, column, m):
    """Write a 3 x 3 block into the 6 x 6 matrix at work[at:]."""
    for r in range(3):
        for c in range(3):
            work[at + 6 * (row + r) + column + c] = m[3 * r + c]


@inline
def get(work, out, k):
    """The 3 x 3 block of A that starts k numbers behind its first."""
    at = out + INERTIA + k
    (a, b, c), (d, e, f), (g, h, i) = load3(work, at), load3(work, at + 6), load3(work, at + 12)
    return (a, b, c, d, e, f, g, h, i)


@kernel
def invert(work, a, out, n):
    """work[out:] = inverse of the n x n matrix work[a:], which is destroyed. Gauss-Jordan with partial pivoting. False if singular."""
    for i in range(n * n):
        work[out + i] = 0.0
    for i in range(n):
        work[out + i * n + i] = 1.0
    for k in range(n):
        best = k
        for i in range(k + 1, n):
            if abs(work[a + i * n + k]) > abs(work[a + best * n + k]):
                best = i
        pivot = work[a + best * n + k]
        if not abs(pivot) > 0.0:
            return False
        for j in range(n):
            kept, other = work[a + k * n + j], work[out + k * n + j]
            work[a + k * n + j], work[out + k * n + j] = work[a + best * n + j] / pivot, work[out + best * n + j] / pivot
            if best != k:
                work[a + best * n + j], work[out + best * n + j] = kept, other
        for i in range(n):
            if i != k:
                factor = work[a + i * n + k]
                if factor != 0.0:
                    for j in range(n):
                        work[a + i * n + j] -= factor * work[a + k * n + j]
                        work[out + i * n + j] -= factor * work[out + k * n + j]
    return True


@far(BOOL(ARRAY, ARRAY, INT, INT, INT, INT, REAL, REAL))
def factor_free(system, work, i, fac, x_at, l_at, wl, wr):
    """D^-1 of a free joint. False where D is singular."""
    at = HEADER + i * LINK_SIZE
    out = fac + i * FACTOR_SIZE
    vi = int(system[at + V_AT])
    h = wl + wr
    w, u = load3(work, x_at + vi), load3(work, x_at + vi + 3)
    p, n = load3(work, l_at + vi), load3(work, l_at + vi + 3)
    one = diagonal(1.0)
    t_low = plus(one, hat(w, 0.5))
    t_top = plus(t_low, outer(w, w, 0.25))
    t_mix = scaled(0.5, hat_mul(u, t_low))
    aa, ab, ba, bb = get(work, out, 0), get(work, out, 3), get(work, out, 18), get(work, out, 21)
    r = system[at + ARMATURE]
    aa, bb = plus(aa, diagonal(r)), plus(bb, diagonal(r))
    d_wp = plus(plus(hat(p, -0.5), plus(diagonal(0.25 * dot(w, p)), outer(w, p, 0.25))), hat_mul(u, hat(n, -0.25)))
    d_up = hat(axpy(0.5, cross(w, n), n), -0.5)
    damping = diagonal(wl * system[at + DAMPING])
    spare = out + FREE_SPARE
    put(work, spare, 0, 0, plus(plus(plus(mul(t_top, aa), mul(t_mix, ba)), scaled(h, d_wp)), damping))
    put(work, spare, 0, 3, plus(plus(mul(t_top, ab), mul(t_mix, bb)), scaled(h, d_up)))
    put(work, spare, 3, 0, plus(mul(t_low, ba), hat(n, -0.5 * h)))
    put(work, spare, 3, 3, plus(mul(t_low, bb), damping))
    for k in range(9):
        work[out + FREE_ROW + k] = t_top[k]
        work[out + FREE_ROW + 9 + k] = t_mix[k]
        work[out + FREE_ROW + 18 + k] = t_low[k]
    return invert(work, spare, out + FREE_D, 6)


@kernel
def reduce_free(system, work, i, fac, e_at):
    """e + T B is kept."""
    out = fac + i * FACTOR_SIZE
    vi = int(system[HEADER + i * LINK_SIZE + V_AT])
    b_w, b_v = load3(work, out + BIAS), load3(work, out + BIAS + 3)
    top = add(mat_vec(load9(work, out + FREE_ROW), b_w), mat_vec(load9(work, out + FREE_ROW + 9), b_v))
    store3(work, out + FREE_RIGHT, add(load3(work, e_at + vi), top))
    store3(work, out + FREE_RIGHT + 3, add(load3(work, e_at + vi + 3), mat_vec(load9(work, out + FREE_ROW + 18), b_v)))


@kernel
def move_free(work, out, dv):
    """work[dv : dv + 6] = delta = y of the link."""
    for r in range(6):
        total = 0.0
        for c in range(6):
            total -= work[out + FREE_D + 6 * r + c] * work[out + FREE_RIGHT + c]
        work[dv + r] = total
    return load3(work, dv), load3(work, dv + 3)
