"""Directions of the interior point: dx, dl, ds for given products, and how far one can go along them. Formulas in `interior.py`."""

from dalembert.kernels._jit import apart, inline, kernel
from dalembert.kernels.contact import jordan
from dalembert.kernels.contact.codes import CONE, SOLVES
from dalembert.kernels.contact.factor import solve
from dalembert.kernels.contact.interior_point import DL0, JX, LAM, POINT, R1, RHS, RS, by_W, divided, get3, put3
from dalembert.kernels.contact.products import add_transposed, times_rows


@kernel
def _right_side(step, work, rc, p_rc, shift):
    """dl_0 = Q^-1 t into rows[DL0], T dl_0 into rows[LAM]."""
    rs, dl0, lam = work.turns[RS], work.rows[DL0], work.rows[LAM]
    for c in range(step.kind.shape[0]):
        i, mu = step.first[c], step.mu[c]
        if step.kind[c] == CONE:
            a = by_W(work, c, jordan.divide(get3(work.turns[POINT], i), get3(rc, i)))
            d = divided(work, c, (a[0] - rs[i] - shift[i], a[1] - rs[i + 1], a[2] - rs[i + 2]))
            put3(dl0, i, d)
            put3(lam, i, (d[0], mu * d[1], mu * d[2]))
        else:
            for r in range(i, step.first[c + 1]):
                p, q, t = work.gaps[r, 0], work.gaps[r, 2], -rs[r]
                if p > 0.0:
                    t += p_rc[r, 0] / p
                if q > 0.0:
                    t -= p_rc[r, 1] / q
                dl0[r] = work.W[r, 0] * t
                lam[r] = dl0[r]


@kernel
def _other_sides(step, work, p_rc, shift, dl, ds, p_ds):
    """dl and ds from J dx in rows[JX]."""
    rs, dl0, jd = work.turns[RS], work.rows[DL0], work.rows[JX]
    for c in range(step.kind.shape[0]):
        i, mu = step.first[c], step.mu[c]
        if step.kind[c] == CONE:
            d = divided(work, c, (jd[i], mu * jd[i + 1], mu * jd[i + 2]))
            put3(dl, i, (dl0[i] - d[0], dl0[i + 1] - d[1], dl0[i + 2] - d[2]))
            ds[i] = rs[i] + shift[i] + jd[i] + step.sigma[i] * dl[i]
            for k in range(1, 3):
                ds[i + k] = rs[i + k] + mu * jd[i + k] + mu * mu * step.sigma[i + k] * dl[i + k]
        else:
            for r in range(i, step.first[c + 1]):
                p, q, qs = work.gaps[r, 0], work.gaps[r, 2], work.gaps[r, 3]
                dl[r] = dl0[r] - work.W[r, 0] * jd[r]
                ds[r] = 0.0
                whole = rs[r] + jd[r] + step.sigma[r] * dl[r]
                if p > 0.0 and q > 0.0:
                    p_ds[r, 1] = (p_rc[r, 1] + qs * dl[r]) / q
                    p_ds[r, 0] = whole + p_ds[r, 1]
                elif p > 0.0:
                    p_ds[r, 0], p_ds[r, 1] = whole, 0.0
                elif q > 0.0:
                    p_ds[r, 0], p_ds[r, 1] = 0.0, -whole
                else:
                    p_ds[r, 0], p_ds[r, 1] = 0.0, 0.0


@apart
def direction(step, pattern, factor, work, rc, p_rc, shift, dx, dl, ds, p_ds, info):
    """dx, dl, ds for products rc."""
    _right_side(step, work, rc, p_rc, shift)
    rhs = work.bodies[RHS]
    for k in range(step.free.shape[0]):
        rhs[k] = -work.bodies[R1, k]
    add_transposed(step, work.rows[LAM], rhs)
    solve(pattern, factor.diagonal, factor.blocks, factor.vector, rhs, dx)
    times_rows(step, dx, work.rows[JX])
    _other_sides(step, work, p_rc, shift, dl, ds, p_ds)
    info[SOLVES] += 1.0


@inline
def _until(x, d):
    return -x / d if d < 0.0 else jordan.FAR


@kernel
def longest(step, work, dl, ds, p_ds):
    """The largest step that keeps all products positive."""
    a = jordan.FAR
    for c in range(step.kind.shape[0]):
        i = step.first[c]
        if step.kind[c] == CONE:
            a = min(a, jordan.longest(get3(work.l, i), get3(dl, i)), jordan.longest(get3(work.s, i), get3(ds, i)))
        else:
            for r in range(i, step.first[c + 1]):
                p, ps, q, qs = work.gaps[r, 0], work.gaps[r, 1], work.gaps[r, 2], work.gaps[r, 3]
                if p > 0.0:
                    a = min(a, _until(p, dl[r]), _until(ps, p_ds[r, 0]))
                if q > 0.0:
                    a = min(a, _until(q, -dl[r]), _until(qs, p_ds[r, 1]))
    return a
