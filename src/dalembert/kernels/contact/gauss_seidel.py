"""Block Gauss-Seidel over the arrays of a step, with a budget of sweeps: cheap, robust, and slow to converge.

For one constraint after the other, forwards and backwards by turns, u = J x + b + sigma lam with all other impulses held:

    row                  lam' = box(lam - u / (D + sigma))
    cone, Coulomb        solved exactly (`friction/local.py`)
    cone, associated     lam - S^-1 u where that sticks, else P(lam - u / s), s >= |S|: a projected gradient step
    x += M^-1 J^T (lam' - lam)
"""

from dalembert.kernels._jit import inline, kernel
from dalembert.kernels.contact.codes import CONE, COULOMB, INSIDE, RESIDUAL, STEPS
from dalembert.kernels.contact.laws import box, cone
from dalembert.kernels.contact.products import block_times, row6, row_velocities, velocities
from dalembert.kernels.contact.residual import natural, prepare, project
from dalembert.kernels.friction.local import contact
from dalembert.kernels.linalg.six import axpy6, dot6, load6, store6
from dalembert.kernels.status import NOT_CONVERGED, OK


@inline
def _speed(step, b, lam, x, a, e, r):
    """u of one row."""
    s = b[r] + step.sigma[r] * lam[r]
    if a >= 0:
        s += dot6(row6(step.J, r, 0), load6(x, 6 * a))
    if e >= 0:
        s += dot6(row6(step.J, r, 6), load6(x, 6 * e))
    return s


@inline
def _push(step, x, a, e, r, change):
    """x += M^-1 J^T change for one row."""
    if a >= 0:
        store6(x, 6 * a, axpy6(change, block_times(step.inverse, a, row6(step.J, r, 0)), load6(x, 6 * a)))
    if e >= 0:
        store6(x, 6 * e, axpy6(change, block_times(step.inverse, e, row6(step.J, r, 6)), load6(x, 6 * e)))


@kernel
def cone_blocks(step, W):
    """W: rows of S = J M^-1 J^T + sigma of each cone."""
    for c in range(step.kind.shape[0]):
        if step.kind[c] == CONE:
            i, a, e = step.first[c], step.bodies[c, 0], step.bodies[c, 1]
            for p in range(3):
                for q in range(3):
                    s = step.sigma[i + p] if p == q else 0.0
                    if a >= 0:
                        s += dot6(row6(step.J, i + p, 0), block_times(step.inverse, a, row6(step.J, i + q, 0)))
                    if e >= 0:
                        s += dot6(row6(step.J, i + p, 6), block_times(step.inverse, e, row6(step.J, i + q, 6)))
                    W[i + p, q] = s


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
def _coulomb(W, block, i, l0, l1, l2, u0, u1, u2, mu):
    for p in range(3):
        for q in range(3):
            block[p, q] = W[i + p, q]
    b0 = u0 - (block[0, 0] * l0 + block[0, 1] * l1 + block[0, 2] * l2)
    b1 = u1 - (block[1, 0] * l0 + block[1, 1] * l1 + block[1, 2] * l2)
    b2 = u2 - (block[2, 0] * l0 + block[2, 1] * l1 + block[2, 2] * l2)
    return contact(block, 0, b0, b1, b2, 0.0, mu)


@kernel
def sweep(step, work, law, backwards, block):
    """All constraints once; work.lam and work.x in place."""
    lam, x, W, m = work.lam, work.x, work.W, step.kind.shape[0]
    for k in range(m):
        c = m - 1 - k if backwards else k
        i, a, e = step.first[c], step.bodies[c, 0], step.bodies[c, 1]
        if step.kind[c] == CONE:
            u0, u1 = _speed(step, step.b, lam, x, a, e, i), _speed(step, step.b, lam, x, a, e, i + 1)
            u2 = _speed(step, step.b, lam, x, a, e, i + 2)
            l0, l1, l2 = lam[i], lam[i + 1], lam[i + 2]
            if law == COULOMB:
                n, t1, t2 = _coulomb(W, block, i, l0, l1, l2, u0, u1, u2, step.mu[c])
            else:
                n, t1, t2 = _associated(W, i, l0, l1, l2, u0, u1, u2, step.mu[c])
            lam[i], lam[i + 1], lam[i + 2] = n, t1, t2
            _push(step, x, a, e, i, n - l0)
            _push(step, x, a, e, i + 1, t1 - l1)
            _push(step, x, a, e, i + 2, t2 - l2)
        else:
            for r in range(i, step.first[c + 1]):
                old = lam[r]
                u = _speed(step, step.b, lam, x, a, e, r)
                lam[r], _ = box(old - u / (work.D[r] + step.sigma[r]), work.lo[r], work.hi[r])
                _push(step, x, a, e, r, lam[r] - old)


@kernel
def gauss_seidel(step, work, law, tol, sweeps, every, block, info):
    """At most `sweeps` from work.lam; judged after each `every` of them. block: (3, 3) working space."""
    prepare(step, work, 0.0, 1.0)
    project(step, work, work.lam)
    cone_blocks(step, work.W)
    velocities(step, work.lam, work.x)
    done = 0
    while True:
        u = work.rows[0]
        row_velocities(step, step.b, work.lam, work.x, u)
        info[RESIDUAL] = natural(step, work, law, work.lam, u)
        info[STEPS] = done
        if info[RESIDUAL] <= tol or done >= sweeps:
            break
        for _ in range(min(every, sweeps - done)):
            sweep(step, work, law, done % 2 == 1, block)
            done += 1
        velocities(step, work.lam, work.x)
    return OK if info[RESIDUAL] <= tol else NOT_CONVERGED
