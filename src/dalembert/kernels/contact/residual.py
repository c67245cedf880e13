"""What solvers share: bounds and scales of the rows, and the one judge, the natural residual in units of velocity.

    rows     D |lam - P(lam - u / D)|,  D: diagonal of J M^-1 J^T        (bilateral: |u|)
    cones    the same with P on the cone and one D for three rows, their largest

With Coulomb's law u_n + max(mu |u_t| - least, 0) stands for u_n (De Saxce 1992). least, m/s, is a dead band: contacts that creep do not
count as sliding. least = inf is the associated law, 0 the exact one.
"""

from math import inf, sqrt

from dalembert.kernels._jit import inline, kernel
from dalembert.kernels.contact.codes import BILATERAL, CONE, UNILATERAL
from dalembert.kernels.contact.laws import box, cone
from dalembert.kernels.contact.products import diagonal

# A contact that slides at u has y = lam - u / R, far from the cone, and its projection has the round-off of that. Measured on heaps
# without compliance at 5 m/s: residuals of 5e-11, 2e-10, 2e-9, 2e-8 m/s with R = 1e-5, 1e-6, 1e-7, 1e-8 D.
CONE_FLOOR = 100.0


@kernel
def prepare(step, work, floor, scale):
    """Bounds by law, D, and R: sigma where it is at least `floor` D (cones: 100 times that), times `scale`.

    The rows of a cone share D, its tangents share R.
    """
    diagonal(step, work.D)
    lo, hi, D, R, sigma = work.lo, work.hi, work.D, work.R, step.sigma
    for c in range(step.kind.shape[0]):
        law, first = step.kind[c], step.first[c]
        if law == CONE:
            d = max(D[first], D[first + 1], D[first + 2])
            least = CONE_FLOOR * floor * d
            n, t = max(sigma[first], least) * scale, max(sigma[first + 1], sigma[first + 2], least) * scale
            for r in range(first, first + 3):
                D[r], R[r], lo[r], hi[r] = d, t, -inf, inf
            R[first] = n
            continue
        for r in range(first, step.first[c + 1]):
            R[r] = max(sigma[r], floor * D[r]) * scale
            lo[r], hi[r] = step.low[r], step.high[r]
            if law == BILATERAL:
                lo[r], hi[r] = -inf, inf
            elif law == UNILATERAL:
                lo[r], hi[r] = 0.0, inf


@kernel
def project(step, work, lam):
    """lam <- P(lam)"""
    for c in range(step.kind.shape[0]):
        i = step.first[c]
        if step.kind[c] == CONE:
            lam[i], lam[i + 1], lam[i + 2], _ = cone(lam[i], lam[i + 1], lam[i + 2], step.mu[c], 1.0)
        else:
            for r in range(i, step.first[c + 1]):
                lam[r], _ = box(lam[r], work.lo[r], work.hi[r])


@inline
def shift_of(mu, u1, u2, least):
    """De Saxce's shift of a normal row."""
    return max(mu * sqrt(u1 * u1 + u2 * u2) - least, 0.0)


@inline
def miss_of(step, work, least, lam, u, c):
    """The residual of one constraint, inf where it is not finite."""
    i = step.first[c]
    if step.kind[c] == CONE:
        d, n = work.D[i], u[i] + shift_of(step.mu[c], u[i + 1], u[i + 2], least)
        a, b1, b2, _ = cone(lam[i] - n / d, lam[i + 1] - u[i + 1] / d, lam[i + 2] - u[i + 2] / d, step.mu[c], 1.0)
        e = d * max(abs(lam[i] - a), abs(lam[i + 1] - b1), abs(lam[i + 2] - b2))
        return e if e < inf and n + u[i + 1] + u[i + 2] < inf else inf
    worst = 0.0
    for r in range(i, step.first[c + 1]):
        d = work.D[r]
        p, _ = box(lam[r] - u[r] / d, work.lo[r], work.hi[r])
        e = d * abs(lam[r] - p)
        if not e <= worst:
            worst = e if e < inf else inf
    return worst


@kernel
def natural(step, work, least, lam, u):
    """The residual of impulses lam with u = J x + b + sigma lam; inf where they are not finite."""
    worst = 0.0
    for c in range(step.kind.shape[0]):
        worst = max(worst, miss_of(step, work, least, lam, u, c))
    return worst


@kernel
def by_islands(step, work, least, lam, u, count):
    """work.worst: the residual of each of the first `count` islands of work.island."""
    for k in range(count):
        work.worst[k] = 0.0
    for c in range(step.kind.shape[0]):
        k = work.island[step.bodies[c, 0] if step.bodies[c, 0] >= 0 else step.bodies[c, 1]]
        work.worst[k] = max(work.worst[k], miss_of(step, work, least, lam, u, c))
