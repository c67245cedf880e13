"""The sweep of `block_gs` for contacts alone: three rows, one or two bodies, a diagonal E. All that a contact needs lies together.

Numbers of one contact, seven lines of a cache. The first two are all that is read of one that stays open:

    row n of W, of the first and of the second body (6 each; zeros for the world), E_n, c_n, mu, the step size of the normal
    rows 1 and 2 of W of the first body, then of the second (12 each), S^-1 (6: nn, n1, n2, 11, 12, 22), c_1, c_2, E_1, E_2, S_1n, S_2n,
    the step size of the tangents, S_nn, S_11, S_22

Large piles are read from memory in every sweep: numbers are asked for twelve contacts ahead, all of them where the contact presses.
"""

from dalembert.kernels._jit import inline, kernel, prefetch
from dalembert.kernels.linalg.block_gs import contact_law
from dalembert.kernels.linalg.six import axpy6, dot6, load6, store6

NORMAL_B, SOFT_N, RHS_N, MU, STEP_N = 6, 12, 13, 14, 15
TANGENTS, TANGENTS_B, INVERSE, RHS, SOFT, COUPLING, STEP_T, DIAGONAL = 16, 28, 40, 46, 48, 50, 52, 53
SIZE = 56
AHEAD = 12
LINE = 8


@inline
def ask(ends, z, y, i):
    """Ask for the numbers of contact i; where it is open, for the first two lines alone."""
    if i < ends.shape[0]:
        rest = LINE if y[ends[i, 2]] != 0.0 else 0
        prefetch(z, SIZE * i)
        prefetch(z, SIZE * i + LINE)
        for k in range(1, 6):
            prefetch(z, SIZE * i + LINE + k * rest)


@kernel
def sweep(ends, z, y, w, info):
    """One sweep. ends: where the velocities of the two bodies begin in w (the world: one spare body at rest)."""
    moved, size = 0.0, 0.0
    for i in range(ends.shape[0]):
        at, ka, kb, row = SIZE * i, ends[i, 0], ends[i, 1], ends[i, 2]
        ask(ends, z, y, i + AHEAD)
        wa, wb = load6(w, ka), load6(w, kb)
        a0, b0 = load6(z, at), load6(z, at + NORMAL_B)
        yn = y[row]
        if yn == 0.0:  # two tests: this one is answered before the velocities are known, and the next hardly ever fails
            qn = dot6(a0, wa) + (dot6(b0, wb) - z[at + RHS_N])
            if qn >= 0.0:
                continue
        else:
            qn = dot6(a0, wa) + (dot6(b0, wb) + (z[at + SOFT_N] * yn - z[at + RHS_N]))
        y1, y2 = y[row + 1], y[row + 2]
        a1, a2 = load6(z, at + TANGENTS), load6(z, at + TANGENTS + 6)
        b1, b2 = load6(z, at + TANGENTS_B), load6(z, at + TANGENTS_B + 6)
        q1 = dot6(a1, wa) + (dot6(b1, wb) + (z[at + SOFT] * y1 - z[at + RHS]))
        q2 = dot6(a2, wa) + (dot6(b2, wb) + (z[at + SOFT + 1] * y2 - z[at + RHS + 1]))
        s = at + INVERSE
        full = (
            yn - z[s] * qn - z[s + 1] * q1 - z[s + 2] * q2,
            y1 - z[s + 1] * qn - z[s + 3] * q1 - z[s + 4] * q2,
            y2 - z[s + 2] * qn - z[s + 4] * q1 - z[s + 5] * q2,
        )
        steps = (z[at + STEP_N], z[at + STEP_T])
        n, t1, t2 = contact_law(yn, y1, y2, qn, q1, q2, z[at + COUPLING], z[at + COUPLING + 1], steps, z[at + MU], full)
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
