"""Block Gauss-Seidel over the arrays of a step, with a budget of sweeps: cheap, robust, and slow to converge.

For one constraint after the other, forwards and backwards by turns, u = J x + b + sigma lam with all other impulses held:

    row                  lam' = box(lam - u / (D + sigma))
    cone, Coulomb        lam - S^-1 u where that sticks, else the normal, then the tangents on their disc (`laws.contact_law`)
    cone, associated     lam - S^-1 u where that sticks, else P(lam - u / s), s >= |S|: a projected gradient step
    x += M^-1 J^T (lam' - lam)

With M^-1 = C C^T, x = C w and G = J C this is u = G w + ..., w += G^T (lam' - lam): one array serves both ways.
"""

import math

from dalembert.kernels._jit import inline, kernel
from dalembert.kernels.contact.codes import CONE, INSIDE, RESIDUAL, STEPS
from dalembert.kernels.contact.laws import box, cone, contact_law, tangent_scale
from dalembert.kernels.contact.products import row6, row_velocities, velocities
from dalembert.kernels.contact.residual import natural, prepare, project
from dalembert.kernels.linalg.six import axpy6, dot6, load6, store6
from dalembert.kernels.status import NOT_CONVERGED, OK


@kernel
def lower_factors(blocks, C):
    """C C^T = blocks (n, 6, 6), C lower."""
    for k in range(blocks.shape[0]):
        for i in range(6):
            for j in range(i + 1):
                s = blocks[k, i, j]
                for p in range(j):
                    s -= C[k, i, p] * C[k, j, p]
                C[k, i, j] = math.sqrt(s) if i == j else s / C[k, j, j]
            for j in range(i + 1, 6):
                C[k, i, j] = 0.0


@kernel
def scaled_rows(step, C, G):
    """G = J C"""
    for c in range(step.kind.shape[0]):
        for side in range(2):
            k = step.bodies[c, side]
            for r in range(step.first[c], step.first[c + 1]):
                for j in range(6):
                    s = 0.0
                    if k >= 0:
                        for i in range(j, 6):
                            s += step.J[r, 6 * side + i] * C[k, i, j]
                    G[r, 6 * side + j] = s


@kernel
def scaled_velocities(free, C, G, step, lam, w):
    """w = C^-1 free + G^T lam"""
    for k in range(C.shape[0]):
        for i in range(6):
            s = free[6 * k + i]
            for j in range(i):
                s -= C[k, i, j] * w[6 * k + j]
            w[6 * k + i] = s / C[k, i, i]
    for c in range(step.kind.shape[0]):
        a, e = step.bodies[c, 0], step.bodies[c, 1]
        for r in range(step.first[c], step.first[c + 1]):
            if lam[r] != 0.0:
                _push(G, w, a, e, r, lam[r])


@inline
def _speed(G, w, a, e, r):
    """J x of one row."""
    s = 0.0
    if a >= 0:
        s += dot6(row6(G, r, 0), load6(w, 6 * a))
    if e >= 0:
        s += dot6(row6(G, r, 6), load6(w, 6 * e))
    return s


@inline
def _push(G, w, a, e, r, change):
    """w += G^T change for one row."""
    if a >= 0:
        store6(w, 6 * a, axpy6(change, row6(G, r, 0), load6(w, 6 * a)))
    if e >= 0:
        store6(w, 6 * e, axpy6(change, row6(G, r, 6), load6(w, 6 * e)))


@kernel
def cone_blocks(step, G, W):
    """W: rows of S = G G^T + sigma of each cone."""
    for c in range(step.kind.shape[0]):
        if step.kind[c] == CONE:
            i = step.first[c]
            for p in range(3):
                for q in range(3):
                    s = dot6(row6(G, i + p, 0), row6(G, i + q, 0)) + dot6(row6(G, i + p, 6), row6(G, i + q, 6))
                    W[i + p, q] = s + (step.sigma[i + p] if p == q else 0.0)


@inline
def _solved(W, i, u0, u1, u2):
    """S^-1 u of a cone; zeros where S is singular."""
    a, b, c, d, e, f = W[i, 0], W[i, 1], W[i, 2], W[i + 1, 1], W[i + 1, 2], W[i + 2, 2]
    x, y, z = d * f - e * e, c * e - b * f, b * e - c * d
    det = a * x + b * y + c * z
    if not det > 1e-14 * a * d * f:
        return 0.0, 0.0, 0.0, False
    p = (x * u0 + y * u1 + z * u2) / det
    q = (y * u0 + (a * f - c * c) * u1 + (b * c - a * e) * u2) / det
    return p, q, (z * u0 + (b * c - a * e) * u1 + (a * d - b * b) * u2) / det, True


@inline
def _associated(W, i, l0, l1, l2, u0, u1, u2, mu):
    d0, d1, d2, regular = _solved(W, i, u0, u1, u2)
    if regular:
        n, t1, t2, state = cone(l0 - d0, l1 - d1, l2 - d2, mu, 1.0)
        if state == INSIDE:
            return n, t1, t2
    s = max(
        W[i, 0] + abs(W[i, 1]) + abs(W[i, 2]),
        W[i + 1, 1] + abs(W[i, 1]) + abs(W[i + 1, 2]),
        W[i + 2, 2] + abs(W[i, 2]) + abs(W[i + 1, 2]),
    )
    n, t1, t2, _ = cone(l0 - u0 / s, l1 - u1 / s, l2 - u2 / s, mu, 1.0)
    return n, t1, t2


@inline
def _coulomb(W, i, l0, l1, l2, u0, u1, u2, mu):
    d0, d1, d2, regular = _solved(W, i, u0, u1, u2)
    full = (l0 - d0, l1 - d1, l2 - d2) if regular else (-1.0, 0.0, 0.0)
    steps = (1.0 / W[i, 0], 1.0 / tangent_scale(W[i + 1, 1], W[i + 1, 2], W[i + 2, 2]))
    return contact_law(l0, l1, l2, u0, u1, u2, W[i, 1], W[i, 2], steps, mu, full)


@kernel
def sweep(step, work, coulomb, backwards, G, w):
    """All constraints once; work.lam and w in place."""
    lam, W, b, sigma, m = work.lam, work.W, step.b, step.sigma, step.kind.shape[0]
    for k in range(m):
        c = m - 1 - k if backwards else k
        i, a, e = step.first[c], step.bodies[c, 0], step.bodies[c, 1]
        if step.kind[c] == CONE:
            l0, l1, l2 = lam[i], lam[i + 1], lam[i + 2]
            u0 = _speed(G, w, a, e, i) + b[i] + sigma[i] * l0
            if coulomb and l0 == 0.0 and u0 >= 0.0:
                continue
            u1 = _speed(G, w, a, e, i + 1) + b[i + 1] + sigma[i + 1] * l1
            u2 = _speed(G, w, a, e, i + 2) + b[i + 2] + sigma[i + 2] * l2
            if coulomb:
                n, t1, t2 = _coulomb(W, i, l0, l1, l2, u0, u1, u2, step.mu[c])
            else:
                n, t1, t2 = _associated(W, i, l0, l1, l2, u0, u1, u2, step.mu[c])
            lam[i], lam[i + 1], lam[i + 2] = n, t1, t2
            _push(G, w, a, e, i, n - l0)
            _push(G, w, a, e, i + 1, t1 - l1)
            _push(G, w, a, e, i + 2, t2 - l2)
        else:
            for r in range(i, step.first[c + 1]):
                old = lam[r]
                u = _speed(G, w, a, e, r) + b[r] + sigma[r] * old
                lam[r], _ = box(old - u / (work.D[r] + sigma[r]), work.lo[r], work.hi[r])
                _push(G, w, a, e, r, lam[r] - old)


@kernel
def gauss_seidel(step, work, least, tol, sweeps, every, C, G, w, info):
    """At most `sweeps` from work.lam; judged after each `every` of them. C (n, 6, 6), G (rows, 12), w (6 n,): working space."""
    prepare(step, work, 0.0, 1.0)
    project(step, work, work.lam)
    lower_factors(step.inverse, C)
    scaled_rows(step, C, G)
    cone_blocks(step, G, work.W)
    done = 0
    while True:
        velocities(step, work.lam, work.x)
        u = work.rows[0]
        row_velocities(step, step.b, work.lam, work.x, u)
        info[RESIDUAL] = natural(step, work, least, work.lam, u)
        info[STEPS] = done
        if info[RESIDUAL] <= tol or done >= sweeps:
            break
        scaled_velocities(step.free, C, G, step, work.lam, w)
        for _ in range(min(every, sweeps - done)):
            sweep(step, work, least < math.inf, done % 2 == 1, G, w)
            done += 1
    return OK if info[RESIDUAL] <= tol else NOT_CONVERGED
