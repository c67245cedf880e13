"""Nodal reparametrisation q_1 = F(u, q) with its increment, dF/du, and round-off taken out of a node.

With R - 1 = rot and the increment of phi = shift of a node, primes for its parent, a the point of the joint:

    FREE    shift = u_1, rot = exp(u_2) - 1                                   POINT   shift = u
    BALL    rot = exp(u) - 1: absolute;  shift = a_shift + rot (phi - a)      a_shift = shift' + rot' (a - phi')
    LINK    d = phi - a of length l: shift = a_shift + l ((cos t - 1) d/l + sin t / t w),  w = u_1 t_1 + u_2 t_2,  t = |w|
    CHAIN   shifts u n and turns exp(u n) one behind the other: D = product of the turns, s = sum of the shifts:
            R = R' D,  shift = a_shift + R' s + rot (phi - a)

Increments are formed from u, not as differences of places, which would lose digits. At the next node dF/du = P(q_1) T(u), T = dexp(u) for
FREE and BALL.

References: leyendecker 3.1 and betsch2006; composition along trees and the other joints are derived here.
"""

import math

from dalembert.kernels._jit import inline, kernel
from dalembert.kernels.directors import layout as at
from dalembert.kernels.directors.tree import axis_of, combined, own_anchor, parent_anchor, tangent, tangents, vector
from dalembert.kernels.smallmat import add, axpy, cross, dot, load3, mat_vec, scale, store3, sub
from dalembert.kernels.so3 import exp_coefficients, quadratic, square


@inline
def turn_of(work, place):
    """Nine numbers."""
    return (
        work[place], work[place + 1], work[place + 2], work[place + 3], work[place + 4],
        work[place + 5], work[place + 6], work[place + 7], work[place + 8],
    )  # fmt: skip


@inline
def set_turn(work, place, R):
    """Write them."""
    for i in range(9):
        work[place + i] = R[i]


@inline
def exp_less_one(w):
    """exp(w) - 1"""
    A, B, _ = exp_coefficients(square(w))
    return quadratic(0.0, A, B, w)


@inline
def chained(a, b):
    """(1 + a) (1 + b) - 1 = a + b + a b, nine numbers each."""
    x, y, z = (b[0], b[3], b[6]), (b[1], b[4], b[7]), (b[2], b[5], b[8])
    p, q, r = mat_vec(a, x), mat_vec(a, y), mat_vec(a, z)
    return (
        a[0] + b[0] + p[0], a[1] + b[1] + q[0], a[2] + b[2] + r[0],
        a[3] + b[3] + p[1], a[4] + b[4] + q[1], a[5] + b[5] + r[1],
        a[6] + b[6] + p[2], a[7] + b[7] + q[2], a[8] + b[8] + r[2],
    )  # fmt: skip


@inline
def swing(l, d, u1, u2):
    """Increment of a link d of length l: l ((cos t - 1) d/l + sin t/t w)."""
    t1, t2 = tangents(d)
    A, B, _ = exp_coefficients(u1 * u1 + u2 * u2)
    w = axpy(u1, t1, scale(u2, t2))
    return add(scale(-B * (u1 * u1 + u2 * u2), d), scale(l * A, w))


@kernel
def move(system, s, work, base, u, base1, dq):
    """q_1 = F(u, q) from work[base:] and work[u:], into work[base1:], and its increment into work[dq:]."""
    for i in range(12):
        work[base1 + i] = work[base + i]
        if i < 9:
            work[s.rot + i] = 0.0
        if i < 3:
            work[s.shift + i] = 0.0
    for b in range(s.edges):
        e = s.at_edges + at.EDGE * b
        kind, slot, before = int(system[e]), int(system[e + at.SLOT]), int(system[e + at.PARENT_SLOT])
        phi, first = int(system[e + at.PHI]), u + int(system[e + at.U])
        place, rot = vector(work, base, phi), (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        if kind <= at.POINT:
            shift = load3(work, first)
            if kind == at.FREE:
                rot = exp_less_one(load3(work, first + 3))
        else:
            turned, carried = turn_of(work, s.rot + 9 * before), load3(work, s.shift + 3 * before)
            a = parent_anchor(work, base, system, e) if kind == at.LINK else own_anchor(work, base, system, e)
            shift = add(carried, mat_vec(turned, sub(a, vector(work, base, int(system[e + at.PARENT_PHI])))))
            if kind == at.LINK:
                shift = add(shift, swing(system[e + at.LENGTH], sub(place, a), work[first], work[first + 1]))
            elif kind == at.BALL:
                rot = exp_less_one(load3(work, first))
                shift = add(shift, mat_vec(rot, sub(place, a)))
            else:
                rot = turned
                for j in range(int(system[e + at.COUNT])):
                    step = scale(work[first + j], axis_of(work, base, system, e, j))
                    if system[e + at.AXES + at.AXIS * j] == at.SLIDE:
                        shift = add(shift, add(step, mat_vec(turned, step)))
                    else:
                        rot = chained(rot, exp_less_one(step))
                shift = add(shift, mat_vec(rot, sub(place, a)))
        set_turn(work, s.rot + 9 * slot, rot)
        store3(work, s.shift + 3 * slot, shift)
        store3(work, dq + 3 * (phi - 4), shift)
        if system[e + at.RIGID] == 1.0:
            for i in range(1, 4):
                store3(work, dq + 3 * (phi - 4 + i), mat_vec(rot, vector(work, base, phi + i)))
    for i in range(s.n):
        work[base1 + at.Q0 + i] = work[base + at.Q0 + i] + work[dq + i]


@inline
def turned_by(J, work, n, k, first, T):
    """Three columns of J times T, nine numbers."""
    for r in range(n):
        row = J + r * k + first
        a, b, c = work[row], work[row + 1], work[row + 2]
        work[row] = a * T[0] + b * T[3] + c * T[6]
        work[row + 1] = a * T[1] + b * T[4] + c * T[7]
        work[row + 2] = a * T[2] + b * T[5] + c * T[8]


@inline
def swing_slope(l, d, e, t, u1, u2, j):
    """d (swing)/du_j / l with d / l = e, t the two tangents at d: -sin t/t u_j e + sin t/t t_j + (cos t - sin t/t)/t^2 u_j w."""
    square_of = u1 * u1 + u2 * u2
    A, B, C = exp_coefficients(square_of)
    uj = u1 if j == 0 else u2
    w = axpy(u1, t[0], scale(u2, t[1]))
    x = axpy(-A * uj, e, scale(A, t[0] if j == 0 else t[1]))
    return axpy((C - B) * uj, w, x)


@kernel
def chart(system, s, work, base, u, base1, J):
    """dF/du at u into work[J:]: P(q_1) T(u). The vectors of both nodes are in work[base:] and work[base1:]."""
    tangent(system, s, work, base1, J)
    for b in range(s.edges):
        e = s.at_edges + at.EDGE * b
        kind, first = int(system[e]), int(system[e + at.U])
        if kind == at.FREE or kind == at.BALL:
            own = first + 3 if kind == at.FREE else first
            theta = load3(work, u + own)
            _, B, C = exp_coefficients(square(theta))
            turned_by(J, work, s.n, s.k, own, quadratic(1.0, B, C, theta))
        elif kind == at.LINK:
            l, phi = system[e + at.LENGTH], int(system[e + at.PHI])
            d = sub(vector(work, base, phi), parent_anchor(work, base, system, e))
            new = sub(vector(work, base1, phi), parent_anchor(work, base1, system, e))
            before, after = tangents(d), tangents(new)
            x = swing_slope(l, d, scale(1.0 / l, d), before, work[u + first], work[u + first + 1], 0)
            y = swing_slope(l, d, scale(1.0 / l, d), before, work[u + first], work[u + first + 1], 1)
            for r in range(s.n):
                row = J + r * s.k + first
                p, q = work[row], work[row + 1]
                work[row] = p * dot(after[0], x) + q * dot(after[1], x)
                work[row + 1] = p * dot(after[0], y) + q * dot(after[1], y)


@inline
def orthonormal(work, place):
    """One step to the nearest orthonormal directors: D (3 - D^T D)/2, for directors that are orthonormal to round-off."""
    a, b, c = load3(work, place), load3(work, place + 3), load3(work, place + 6)
    aa, bb, cc, ab, ac, bc = dot(a, a), dot(b, b), dot(c, c), dot(a, b), dot(a, c), dot(b, c)
    store3(work, place, axpy(1.5 - 0.5 * aa, a, axpy(-0.5 * ab, b, scale(-0.5 * ac, c))))
    store3(work, place + 3, axpy(1.5 - 0.5 * bb, b, axpy(-0.5 * ab, a, scale(-0.5 * bc, c))))
    store3(work, place + 6, axpy(1.5 - 0.5 * cc, c, axpy(-0.5 * ac, a, scale(-0.5 * bc, b))))


@inline
def align(system, e, work, base):
    """Turn the child by c x n, where its axis c is to be that of its parent, n, and is up to round-off."""
    for j in range(int(system[e + at.COUNT])):
        axis = e + at.AXES + at.AXIS * j
        if system[axis] == at.TURN:
            dirs = int(system[e + at.DIRS])
            c = combined(work, base, dirs, system, axis + 5)
            turned = cross(c, axis_of(work, base, system, e, j))
            for i in range(3):
                place = base + 3 * (dirs + i)
                store3(work, place, add(load3(work, place), cross(turned, load3(work, place))))


@kernel
def tidy(system, s, work, base):
    """Take round-off out of the vectors of a node: directors orthonormal, axes and points of joints together, links as long as they are."""
    for b in range(s.edges):
        e = s.at_edges + at.EDGE * b
        kind, phi = int(system[e]), int(system[e + at.PHI])
        if system[e + at.RIGID] == 1.0:
            orthonormal(work, base + 3 * phi + 3)
        if kind == at.CHAIN:
            align(system, e, work, base)
        if kind == at.BALL or (kind == at.CHAIN and system[e + at.SLIDES] == 0.0):
            a = parent_anchor(work, base, system, e)
            store3(work, base + 3 * phi, sub(a, combined(work, base, int(system[e + at.DIRS]), system, e + at.ANCHOR)))
        elif kind == at.LINK:
            a = parent_anchor(work, base, system, e)
            d = sub(vector(work, base, phi), a)
            store3(work, base + 3 * phi, axpy(system[e + at.LENGTH] / math.sqrt(dot(d, d)), d, a))
