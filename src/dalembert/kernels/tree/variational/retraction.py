"""The map tau from joint velocities to motions, joint by joint, and what the discrete momenta need of it.

    q_new = q tau(x),  x = h v          tau: a sum for joints of one degree of freedom; Cayley map or exponential on SO(3) and SE(3)
    p_left  = dtau_x^-T l - h f_left                        momentum at the first node       Kobilarov (62)-(64)
    p_right = Ad_tau(x)^T (p_left + h f_left) + h f_right   momentum at the second node

The second line follows from dtau_-x^-1 = dtau_x^-1 Ad_tau(x); computed so, momentum cannot drift with the tolerance of the solver.

    cay      (w, u) -> quaternion (1, w/2)/sqrt(1 + |w|^2/4), translation (1 - hat(w)/2)^-1 u      (54), where print lacks w w^T/2
    dcay^-T  (p, n) -> (p + w x p/2 + (w.p) w/4 + u x n'/2, n'),  n' = n + w x n/2                 (55)
    half     the motion E with E E = tau(x); force at the middle belongs to the first node by (1 + Ad_E)^-T, to the second by the rest
"""

from dalembert.kernels._jit import ARRAY, BOOL, INT, REAL, VOID, far, inline
from dalembert.kernels.quat import cay, exp, load, mul, normalise, rotate, rotate_inverse, store
from dalembert.kernels.smallmat import add, axpy, cross, dot, load3, scale, store3, sub
from dalembert.kernels.tree.group import dexp_inv_coefficients, translation_of_exp
from dalembert.kernels.tree.layout import HEADER, KIND, LINK_SIZE, LINKS, NQ, NV, PRISMATIC, Q_AT, SPHERICAL, V_AT
from dalembert.kernels.tree.record import NOT_NEGATIVE


@inline
def all_single(system):
    """True if all joints have one degree of freedom. Entries of q and v belong to each other then, and loops over them are vectorised."""
    return system[NQ] == system[NV]


@inline
def motion(w, u, exponential):
    """(quaternion, translation) of tau(w, u)."""
    if exponential:
        return exp(w), translation_of_exp(w, u)
    s = 1.0 / (1.0 + 0.25 * dot(w, w))
    return cay(w), scale(s, axpy(0.25 * dot(w, u), w, axpy(0.5, cross(w, u), u)))


@inline
def middle(turn, shift):
    """(quaternion, translation) of the half of a motion: its rotation angle halved, t_E = (1 + R_E)^-1 t.

    (1 + R)^-1 = (1 - hat(e))/2 with e = q_v/q_s of the quaternion of R.
    """
    q = normalise((1.0 + turn[0], turn[1], turn[2], turn[3]))
    e = scale(1.0 / q[0], (q[1], q[2], q[3]))
    return q, scale(0.5, sub(shift, cross(e, shift)))


@inline
def halved(q, a):
    """(1 + R(q))^-T a = (a + e x a)/2."""
    e = scale(1.0 / q[0], (q[1], q[2], q[3]))
    return scale(0.5, add(a, cross(e, a)))


@far(VOID(ARRAY, ARRAY, INT, INT, INT, BOOL, BOOL))
def retract_turning(system, work, q, x, out, exponential, half):
    """The same where joints turn by quaternions."""
    for i in range(int(system[LINKS])):
        at = HEADER + i * LINK_SIZE
        kind = int(system[at + KIND])
        qi, vi = int(system[at + Q_AT]), int(system[at + V_AT])
        if kind <= PRISMATIC:
            work[out + qi] = work[q + qi] + (0.5 * work[x + vi] if half else work[x + vi])
            continue
        w = load3(work, x + vi)
        u = (0.0, 0.0, 0.0) if kind == SPHERICAL else load3(work, x + vi + 3)
        turn, shift = motion(w, u, exponential)
        if half:
            turn, shift = middle(turn, shift)
        if kind == SPHERICAL:
            store(work, out + qi, normalise(mul(load(work, q + qi), turn)))
        else:
            attitude = load(work, q + qi + 3)
            store3(work, out + qi, add(load3(work, q + qi), rotate(attitude, shift)))
            store(work, out + qi + 3, normalise(mul(attitude, turn)))


@inline
def retract(system, work, q, x, out, exponential, half):
    """work[out:] = q tau(x) joint by joint; half: q E(x), half way."""
    if all_single(system):
        q, x, out = q & NOT_NEGATIVE, x & NOT_NEGATIVE, out & NOT_NEGATIVE
        part = 0.5 if half else 1.0
        for i in range(int(system[NV])):
            work[out + i] = work[q + i] + part * work[x + i]
    else:
        retract_turning(system, work, q, x, out, exponential, half)


@inline
def pulled_back(w, u, p, n, exponential):
    """dtau_x^-T (p, n) for x = (w, u)."""
    if exponential:  # 1 - ad/2 + k2 ad^2 + k4 ad^4, transposed
        k2, k4 = dexp_inv_coefficients(dot(w, w))
        p1, n1 = coadjoint(w, u, p, n)
        p2, n2 = coadjoint(w, u, p1, n1)
        p3, n3 = coadjoint(w, u, p2, n2)
        p4, n4 = coadjoint(w, u, p3, n3)
        return axpy(k4, p4, axpy(k2, p2, axpy(-0.5, p1, p))), axpy(k4, n4, axpy(k2, n2, axpy(-0.5, n1, n)))
    n1 = axpy(0.5, cross(w, n), n)
    p1 = axpy(0.25 * dot(w, p), w, axpy(0.5, cross(w, p), p))
    return axpy(0.5, cross(u, n1), p1), n1


@inline
def coadjoint(w, u, p, n):
    """ad_(w, u)^T (p, n) = (-w x p - u x n, -w x n)."""
    return sub(cross(p, w), cross(u, n)), cross(n, w)


@inline
def six(work, at, ball):
    """(angular, linear) part of a joint vector."""
    return load3(work, at), ((0.0, 0.0, 0.0) if ball else load3(work, at + 3))


@far(VOID(ARRAY, ARRAY, REAL, INT, INT, INT, INT, BOOL))
def left_momentum_turning(system, work, h, x, l, f_left, out, exponential):
    """The same where joints turn by quaternions."""
    for i in range(int(system[LINKS])):
        at = HEADER + i * LINK_SIZE
        kind, vi = int(system[at + KIND]), int(system[at + V_AT])
        if kind <= PRISMATIC:
            work[out + vi] = work[l + vi] - h * work[f_left + vi]
            continue
        ball = kind == SPHERICAL
        w, u = six(work, x + vi, ball)
        p, n = six(work, l + vi, ball)
        p, n = pulled_back(w, u, p, n, exponential)
        store3(work, out + vi, axpy(-h, load3(work, f_left + vi), p))
        if not ball:
            store3(work, out + vi + 3, axpy(-h, load3(work, f_left + vi + 3), n))


@inline
def left_momentum(system, work, h, x, l, f_left, out, exponential):
    """work[out:] = dtau_x^-T l - h f_left."""
    if all_single(system):
        l, f_left, out = l & NOT_NEGATIVE, f_left & NOT_NEGATIVE, out & NOT_NEGATIVE
        for i in range(int(system[NV])):
            work[out + i] = work[l + i] - h * work[f_left + i]
    else:
        left_momentum_turning(system, work, h, x, l, f_left, out, exponential)


@far(VOID(ARRAY, ARRAY, REAL, INT, INT, INT, INT, INT, BOOL))
def right_momentum_turning(system, work, h, x, p_left, f_left, f_right, out, exponential):
    """The same where joints turn by quaternions."""
    for i in range(int(system[LINKS])):
        at = HEADER + i * LINK_SIZE
        kind, vi = int(system[at + KIND]), int(system[at + V_AT])
        if kind <= PRISMATIC:
            work[out + vi] = work[p_left + vi] + h * (work[f_left + vi] + work[f_right + vi])
            continue
        ball = kind == SPHERICAL
        w, u = six(work, x + vi, ball)
        turn, shift = motion(w, u, exponential)
        p, n = six(work, p_left + vi, ball)
        a, b = six(work, f_left + vi, ball)
        p, n = axpy(h, a, p), axpy(h, b, n)
        a, b = six(work, f_right + vi, ball)
        store3(work, out + vi, axpy(h, a, rotate_inverse(turn, sub(p, cross(shift, n)))))
        if not ball:
            store3(work, out + vi + 3, axpy(h, b, rotate_inverse(turn, n)))


@inline
def right_momentum(system, work, h, x, p_left, f_left, f_right, out, exponential):
    """work[out:] = Ad_tau(x)^T (p_left + h f_left) + h f_right."""
    if all_single(system):
        p_left, f_left, f_right, out = p_left & NOT_NEGATIVE, f_left & NOT_NEGATIVE, f_right & NOT_NEGATIVE, out & NOT_NEGATIVE
        for i in range(int(system[NV])):
            work[out + i] = work[p_left + i] + h * (work[f_left + i] + work[f_right + i])
    else:
        right_momentum_turning(system, work, h, x, p_left, f_left, f_right, out, exponential)


@far(VOID(ARRAY, ARRAY, INT, INT, INT, INT, BOOL))
def share_turning(system, work, x, f, f_left, f_right, exponential):
    """The same where joints turn by quaternions."""
    for i in range(int(system[LINKS])):
        at = HEADER + i * LINK_SIZE
        kind, vi = int(system[at + KIND]), int(system[at + V_AT])
        if kind <= PRISMATIC:
            work[f_left + vi] = 0.5 * work[f + vi]
            work[f_right + vi] = 0.5 * work[f + vi]
            continue
        ball = kind == SPHERICAL
        w, u = six(work, x + vi, ball)
        a, b = six(work, f + vi, ball)
        turn, shift = motion(w, u, exponential)
        turn, shift = middle(turn, shift)
        b1 = halved(turn, b)
        a1 = halved(turn, add(a, rotate_inverse(turn, cross(shift, b1))))
        store3(work, f_left + vi, a1)
        store3(work, f_right + vi, sub(a, a1))
        if not ball:
            store3(work, f_left + vi + 3, b1)
            store3(work, f_right + vi + 3, sub(b, b1))


@inline
def share(system, work, x, f, f_left, f_right, exponential):
    """Force at the middle of the step: (1 + Ad_E)^-T f to the first node, the rest to the second."""
    if all_single(system):
        f, f_left, f_right = f & NOT_NEGATIVE, f_left & NOT_NEGATIVE, f_right & NOT_NEGATIVE
        for i in range(int(system[NV])):
            work[f_left + i] = 0.5 * work[f + i]
            work[f_right + i] = 0.5 * work[f + i]
    else:
        share_turning(system, work, x, f, f_left, f_right, exponential)
