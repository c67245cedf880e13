"""The sweep of `block_gs` for contacts alone: three rows, one or two bodies, a diagonal E. All that a contact needs lies together.

Numbers of one contact: W of the first and of the second body (3 x 6 each; zeros for the world), S^-1 (6: nn, n1, n2, 11, 12, 22), c (3),
E (3), S_1n, S_2n, the two step sizes, mu, S_nn, S_11, S_22. Large piles are read from memory in every sweep: a contact's numbers are asked
for twelve contacts ahead.
"""

from math import sqrt

from dalembert.kernels._jit import inline, kernel, prefetch
from dalembert.kernels.linalg.six import axpy6, dot6, load6, store6

SECOND, INVERSE, RHS, SOFT, COUPLING, STEPS, MU, DIAGONAL = 18, 36, 42, 45, 48, 50, 52, 53
SIZE = 56
AHEAD = 12 * SIZE
LEAST = 1e-300  # of a square that is divided by


@inline
def law(yn, y1, y2, qn, q1, q2, s1, s2, steps, mu, full):
    """`laws.contact_law` without branches: whether one of many contacts sticks or slides cannot be foretold, and a wrong guess costs more
    than the other answer (100,000 contacts, half of them pressed: 31 and 28.5 ns per contact and sweep; 5,000: 22 and 20.5)."""
    fn, f1, f2 = full
    sticks = (fn >= 0.0) & (f1 * f1 + f2 * f2 <= mu * mu * fn * fn)
    n = max(0.0, yn - steps[0] * qn)
    change, radius = n - yn, mu * n
    t1, t2 = y1 - steps[1] * (q1 + s1 * change), y2 - steps[1] * (q2 + s2 * change)
    length = t1 * t1 + t2 * t2
    f, inside = radius / sqrt(max(length, LEAST)), length <= radius * radius
    d1, d2 = f * t1, f * t2
    t1, t2 = t1 if inside else d1, t2 if inside else d2
    return fn if sticks else n, f1 if sticks else t1, f2 if sticks else t2


@kernel
def sweep(ends, z, y, w, info):
    """One sweep. ends: where the velocities of the two bodies begin in w (the world: one spare body at rest)."""
    moved, size = 0.0, 0.0
    for i in range(ends.shape[0]):
        at, ka, kb, row = SIZE * i, ends[i, 0], ends[i, 1], ends[i, 2]
        for line in range(0, SIZE, 8):
            prefetch(z, at + AHEAD + line)
        wa, wb = load6(w, ka), load6(w, kb)
        a0, b0 = load6(z, at), load6(z, at + SECOND)
        yn = y[row]
        qn = dot6(a0, wa) + (dot6(b0, wb) + (z[at + SOFT] * yn - z[at + RHS]))
        if yn == 0.0 and qn >= 0.0:
            continue
        y1, y2 = y[row + 1], y[row + 2]
        a1, a2 = load6(z, at + 6), load6(z, at + 12)
        b1, b2 = load6(z, at + SECOND + 6), load6(z, at + SECOND + 12)
        q1 = dot6(a1, wa) + (dot6(b1, wb) + (z[at + SOFT + 1] * y1 - z[at + RHS + 1]))
        q2 = dot6(a2, wa) + (dot6(b2, wb) + (z[at + SOFT + 2] * y2 - z[at + RHS + 2]))
        s = at + INVERSE
        full = (
            yn - z[s] * qn - z[s + 1] * q1 - z[s + 2] * q2,
            y1 - z[s + 1] * qn - z[s + 3] * q1 - z[s + 4] * q2,
            y2 - z[s + 2] * qn - z[s + 4] * q1 - z[s + 5] * q2,
        )
        steps = (z[at + STEPS], z[at + STEPS + 1])
        n, t1, t2 = law(yn, y1, y2, qn, q1, q2, z[at + COUPLING], z[at + COUPLING + 1], steps, z[at + MU], full)
        dn, d1, d2 = n - yn, t1 - y1, t2 - y2
        y[row], y[row + 1], y[row + 2] = n, t1, t2
        store6(w, ka, axpy6(dn, a0, axpy6(d1, a1, axpy6(d2, a2, wa))))
        store6(w, kb, axpy6(dn, b0, axpy6(d1, b1, axpy6(d2, b2, wb))))
        s0, s1, s2 = z[at + DIAGONAL], z[at + DIAGONAL + 1], z[at + DIAGONAL + 2]
        moved += s0 * dn * dn + s1 * d1 * d1 + s2 * d2 * d2
        size += s0 * n * n + s1 * t1 * t1 + s2 * t2 * t2
    info[0], info[1] = moved, size


@kernel
def run(ends, z, y, w, goal, most, info):
    """Sweeps until moved <= goal size or `most` of them. Returns their number."""
    for k in range(most):
        sweep(ends, z, y, w, info)
        if info[0] <= goal * info[1]:
            return k + 1
    return most
