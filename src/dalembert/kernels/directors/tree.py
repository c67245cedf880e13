"""The spanning tree: places, axes and the null-space matrix P(q).

A node (a body, or a particle) hangs on its parent by a joint at the point a. Its spin and velocity along the coordinates of motion u are
those of its parent (BALL, LINK: of the point a alone) and, along its own u,

    FREE    phi_dot, omega                          POINT   phi_dot
    BALL    omega, absolute;  phi_dot = omega x (phi - a)
    LINK    phi_dot = l (u_1 t_1 + u_2 t_2), t_1, t_2 unit vectors across the link
    CHAIN   turns n: omega = n, phi_dot = n x (phi - a);  shifts n: phi_dot = n; relative to the parent, n fixed in it (the second axis of a
            universal joint: in the child)

and d_i_dot = omega x d_i. Directions of shifts are products n_a x n_b of directions fixed in the parent: so P is a null-space matrix of the
gradients at every w, also in the middle of a step, where directors are not orthonormal.

References: leyendecker 3.1 and betsch2006; composition along trees and the other joints are derived here.
"""

import math

from dalembert.kernels._jit import inline, kernel
from dalembert.kernels.directors import layout as at
from dalembert.kernels.smallmat import add, axpy, cross, dot, load3, scale, sub


@inline
def combined(w, base, dirs, system, comps):
    """X_1 d_1 + X_2 d_2 + X_3 d_3 with X = system[comps:]."""
    x = scale(system[comps], load3(w, base + 3 * dirs))
    x = axpy(system[comps + 1], load3(w, base + 3 * dirs + 3), x)
    return axpy(system[comps + 2], load3(w, base + 3 * dirs + 6), x)


@inline
def vector(w, base, i):
    """w_i"""
    return load3(w, base + 3 * i)


@inline
def axis_of(w, base, system, e, k):
    """Direction of the k-th primitive of a chain."""
    axis = e + at.AXES + at.AXIS * k
    dirs = int(system[e + (at.DIRS if system[axis + 1] == at.CHILD else at.PARENT_DIRS)])
    first = combined(w, base, dirs, system, axis + 2)
    if system[axis] == at.SLIDE:
        return cross(first, combined(w, base, dirs, system, axis + 5))
    return first


@inline
def own_anchor(w, base, system, e):
    """The point of the joint, on the child."""
    return add(vector(w, base, int(system[e + at.PHI])), combined(w, base, int(system[e + at.DIRS]), system, e + at.ANCHOR))


@inline
def parent_anchor(w, base, system, e):
    """The point of the joint, on the parent."""
    place = combined(w, base, int(system[e + at.PARENT_DIRS]), system, e + at.PARENT_ANCHOR)
    return add(vector(w, base, int(system[e + at.PARENT_PHI])), place)


@inline
def tangents(d):
    """Two unit vectors across d: d x e_k / |.|, k the smallest |d_k|, and d / |d| x the first."""
    a, b, c = abs(d[0]), abs(d[1]), abs(d[2])
    if a <= b and a <= c:
        t = (0.0, d[2], -d[1])
    elif b <= c:
        t = (-d[2], 0.0, d[0])
    else:
        t = (d[1], -d[0], 0.0)
    t1 = scale(1.0 / math.sqrt(dot(t, t)), t)
    return t1, scale(1.0 / math.sqrt(dot(d, d)), cross(d, t1))


@inline
def column3(a, first, k, c):
    """Column c of three rows of k numbers."""
    return (a[first + c], a[first + k + c], a[first + 2 * k + c])


@inline
def set_column3(a, first, k, c, x):
    """Write it."""
    a[first + c] = x[0]
    a[first + k + c] = x[1]
    a[first + 2 * k + c] = x[2]


@inline
def own_spin(w, base, system, e, kind, j):
    """(spin, velocity of phi) along the j-th coordinate of a node itself."""
    zero = (0.0, 0.0, 0.0)
    one = (1.0 if j % 3 == 0 else 0.0, 1.0 if j % 3 == 1 else 0.0, 1.0 if j % 3 == 2 else 0.0)
    if kind == at.FREE:
        return (zero, one) if j < 3 else (one, zero)
    if kind == at.POINT:
        return zero, one
    phi = vector(w, base, int(system[e + at.PHI]))
    if kind == at.LINK:
        t1, t2 = tangents(sub(phi, parent_anchor(w, base, system, e)))
        return zero, scale(system[e + at.LENGTH], t1 if j == 0 else t2)
    arm = sub(phi, own_anchor(w, base, system, e))
    if kind == at.BALL:
        return one, cross(one, arm)
    n = axis_of(w, base, system, e, j)
    if system[e + at.AXES + at.AXIS * j] == at.SLIDE:
        return zero, n
    return n, cross(n, arm)


@kernel
def tangent(system, s, work, base, P):
    """The null-space matrix of the tree at the vectors work[base:], n rows of k numbers at work[P:]; spins are in work[s.omega:]."""
    k = s.k
    for i in range(3 * k):
        work[s.omega + i] = 0.0
    for i in range(s.n * k):
        work[P + i] = 0.0
    for b in range(s.edges):
        e = s.at_edges + at.EDGE * b
        kind, spin, before = int(system[e]), s.omega + 3 * k * int(system[e + at.SLOT]), s.omega + 3 * k * int(system[e + at.PARENT_SLOT])
        phi, parent = int(system[e + at.PHI]), int(system[e + at.PARENT_PHI])
        place, first, count = vector(work, base, phi), int(system[e + at.U]), int(system[e + at.COUNT])
        follows = place
        if kind == at.BALL:
            follows = own_anchor(work, base, system, e)
        elif kind == at.LINK:
            follows = parent_anchor(work, base, system, e)
        arm = sub(follows, vector(work, base, parent))
        for c in range(k):
            omega, v = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
            if kind >= at.BALL:
                turned = column3(work, before, k, c)
                v = cross(turned, arm)
                if parent > at.ZERO:
                    v = add(v, column3(work, P + 3 * (parent - 4) * k, k, c))
                if kind == at.CHAIN:
                    omega = turned
            if first <= c < first + count:
                own, moved = own_spin(work, base, system, e, kind, c - first)
                omega, v = add(omega, own), add(v, moved)
            set_column3(work, spin, k, c, omega)
            set_column3(work, P + 3 * (phi - 4) * k, k, c, v)
            if system[e + at.RIGID] == 1.0:
                for i in range(1, 4):
                    set_column3(work, P + 3 * (phi - 4 + i) * k, k, c, cross(omega, vector(work, base, phi + i)))
