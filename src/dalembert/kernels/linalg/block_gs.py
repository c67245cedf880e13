"""Block Gauss-Seidel on S y = r, S = G M^-1 G^T + E, without S (lacoursiere2007, 18.36-38 and Alg. 18.5.2).

With M_k = C_k C_k^T, the sweep works on W_ik = G_ik C_k^-T and keeps w_k = C_k^-1 (b_k + sum_i G_ik^T y_i), the velocity
in coordinates in which every mass is 1: one set of blocks serves both directions. For one constraint after the other

    q = sum_k W_ik w_k + E_i y_i - c_i,    y_i' = law(D_i, q, y_i),    w_k += W_ik^T (y_i' - y_i),    D_i = sum_k W_ik W_ik^T + E_i

Laws: FREE (equality) y' = y - D^-1 q; BOX l <= y <= u, complementary; CONTACT (normal, two tangents): y_n >= 0, |y_t| <= mu y_n;
one that does not press and separates is left alone.
Print lacks E_i in D_i and in the residual, and accumulates q with the opposite sign.
"""

from dalembert.kernels._jit import inline, kernel
from dalembert.kernels.contact.laws import box, contact_law, coulomb_miss, tangent_scale
from dalembert.kernels.linalg.dense import ldl, lower, scale, upper
from dalembert.kernels.linalg.six import axpy6, dot6, load6, store6

FREE, BOX, CONTACT = 0, 1, 2
INNER = 50  # sweeps within one block of the box law


@kernel
def whiten(first, bodies, lines, rows, G, R, W):
    """W = G C^-T; R: the matrices C^-1, lower triangular, 6 x 6 by rows."""
    for i in range(first.shape[0] - 1):
        for t in range(first[i], first[i + 1]):
            m = 36 * bodies[t]
            for line in range(lines[t], lines[t] + rows[i + 1] - rows[i]):
                for a in range(6):
                    s = 0.0
                    for b in range(a + 1):
                        s += G[6 * line + b] * R[m + 6 * a + b]
                    W[6 * line + a] = s


@kernel
def diagonal_blocks(first, lines, rows, places, W, E, zero, tol, S, D):
    """S_ii and their factors D. False where one is not positive definite."""
    for i in range(first.shape[0] - 1):
        r, at = rows[i + 1] - rows[i], places[i]
        for a in range(r):
            for b in range(r):
                s = E[at + a * r + b]
                for t in range(first[i], first[i + 1]):
                    s += dot6(load6(W, 6 * (lines[t] + a)), load6(W, 6 * (lines[t] + b)))
                S[at + a * r + b] = s
                D[at + a * r + b] = s
        if not ldl(D, at, r, zero, 0, tol):
            return False
    return True


@inline
def step_sizes(S, at, r):
    """For the block S[at:] of a contact, r numbers per row: 1/S_nn, and one step for both tangents, at most 1/|S_tt|."""
    return 1.0 / S[at], 1.0 / tangent_scale(S[at + r + 1], S[at + 2 * r + 1], S[at + 2 * r + 2])


@inline
def _box(S, at, r, lo, hi, row, y, new, q):
    """new: y - S^-1 q on entry; where it leaves the box, Gauss-Seidel within the block. q is used up."""
    inside = True
    for a in range(r):
        if not (lo[row + a] <= new[a] <= hi[row + a]):
            inside = False
    if inside:
        return
    for a in range(r):
        new[a] = y[row + a]
    for _ in range(INNER):
        moved = False
        for a in range(r):
            s = S[at + a * (r + 1)]
            value, _ = box(new[a] - q[a] / s, lo[row + a], hi[row + a])
            change = value - new[a]
            if abs(change) > 1e-15 * abs(value):
                moved = True
            new[a] = value
            for b in range(r):
                q[b] += S[at + b * r + a] * change
        if not moved:
            return


@inline
def _slip(first, bodies, lines, rows, places, W, E, c, y, w, i, q):
    """q = sum_k W_ik w_k + E_i y_i - c_i"""
    r = rows[i + 1] - rows[i]
    for a in range(r):
        s = -c[rows[i] + a]
        for b in range(r):
            s += E[places[i] + a * r + b] * y[rows[i] + b]
        for t in range(first[i], first[i + 1]):
            s += dot6(load6(W, 6 * (lines[t] + a)), load6(w, 6 * bodies[t]))
        q[a] = s


@kernel
def sweep(first, bodies, lines, rows, places, W, E, S, D, c, law, lo, hi, mu, y, w, q, new, info):
    """One sweep over all constraints. q, new: working space of the largest r. info[0], [1]: sums of S_aa dy_a^2 and S_aa y_a^2."""
    moved, size = 0.0, 0.0
    for i in range(first.shape[0] - 1):
        row, at = rows[i], places[i]
        r = rows[i + 1] - row
        _slip(first, bodies, lines, rows, places, W, E, c, y, w, i, q)
        for a in range(r):
            new[a] = -q[a]
        lower(D, at, r, new, 0, 1)
        scale(D, at, r, new, 0)
        upper(D, at, r, new, 0)
        for a in range(r):
            new[a] += y[row + a]
        if law[i] == BOX:
            _box(S, at, r, lo, hi, row, y, new, q)
        elif law[i] == CONTACT:
            if y[row] == 0.0 and q[0] >= 0.0:
                new[0], new[1], new[2] = 0.0, 0.0, 0.0
            else:
                full, steps, s1, s2 = (new[0], new[1], new[2]), step_sizes(S, at, r), S[at + r], S[at + 2 * r]
                new[0], new[1], new[2] = contact_law(y[row], y[row + 1], y[row + 2], q[0], q[1], q[2], s1, s2, steps, mu[i], full)
        for a in range(r):
            change = new[a] - y[row + a]
            y[row + a] = new[a]
            moved += S[at + a * (r + 1)] * change * change
            size += S[at + a * (r + 1)] * new[a] * new[a]
            for t in range(first[i], first[i + 1]):
                k = 6 * bodies[t]
                store6(w, k, axpy6(change, load6(W, 6 * (lines[t] + a)), load6(w, k)))
    info[0], info[1] = moved, size


@kernel
def run(first, bodies, lines, rows, places, W, E, S, D, c, law, lo, hi, mu, y, w, q, new, goal, most, info):
    """Sweeps until moved <= goal size or `most` of them. Returns their number."""
    for k in range(most):
        sweep(first, bodies, lines, rows, places, W, E, S, D, c, law, lo, hi, mu, y, w, q, new, info)
        if info[0] <= goal * info[1]:
            return k + 1
    return most


@kernel
def residual(first, bodies, lines, rows, places, W, E, S, c, law, lo, hi, mu, y, w, q):
    """Largest violation of the laws, as a velocity: s |y - projection(y - q / s)|, s = S_aa."""
    worst = 0.0
    for i in range(first.shape[0] - 1):
        row, at = rows[i], places[i]
        r = rows[i + 1] - row
        _slip(first, bodies, lines, rows, places, W, E, c, y, w, i, q)
        if law[i] == CONTACT:
            n, t = step_sizes(S, at, r)
            f, f1, f2 = coulomb_miss(y[row], y[row + 1], y[row + 2], q[0], q[1], q[2], 1.0 / n, 1.0 / t, 0.0, mu[i])
            worst = max(worst, abs(f) / n, (f1 * f1 + f2 * f2) ** 0.5 / t)
        else:
            for a in range(r):
                s = S[at + a * (r + 1)]
                free = y[row + a] - q[a] / s
                if law[i] == BOX:
                    free, _ = box(free, lo[row + a], hi[row + a])
                worst = max(worst, s * abs(y[row + a] - free))
    return worst
