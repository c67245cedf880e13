"""Constraints and potential energy: sums of products a.b of combinations of the vectors w_i.

    g(q)                    rows of the constraints;  G = dg/dq
    V(q) = sum f(s(q))      LINEAR  f = s                      SPRING  f = k (sqrt(2 s) - L)^2/2,  s = |x|^2/2
                            SQUARE  f = k (s - r)^2/2          ANGLE   f = k arccos(s)^2/2

For quadratic s and two nodes  s_1 - s_0 = ds/dq((q_0 + q_1)/2).(q_1 - q_0), so that f_01 ds/dq in the middle, with the difference quotient
f_01 = (f_1 - f_0)/(s_1 - s_0), is a discrete gradient. The quotients in a form without cancellation, l = sqrt(2 s), s = cos t:

    LINEAR 1    SPRING k (1 - 2 L/(l_0 + l_1))    SQUARE k ((s_0 + s_1)/2 - r)    ANGLE -k a/sin a b/sin b,  a, b = (t_1 +- t_0)/2
"""

import math

from dalembert.kernels._jit import inline, kernel
from dalembert.kernels.directors import layout as at
from dalembert.kernels.smallmat import axpy, dot, load3


@inline
def factor(system, s, x, work, base):
    """A combination of vectors."""
    total = (0.0, 0.0, 0.0)
    for entry in range(int(system[s.at_factors + x]), int(system[s.at_factors + x + 1])):
        at_entry = s.at_entries + 2 * entry
        total = axpy(system[at_entry + 1], load3(work, base + 3 * int(system[at_entry])), total)
    return total


@inline
def value(system, s, row, work, base):
    """sum of a.b"""
    total = 0.0
    for x in range(int(system[s.at_pointers + row]), int(system[s.at_pointers + row + 1])):
        total += dot(factor(system, s, 2 * x, work, base), factor(system, s, 2 * x + 1, work, base))
    return total


@inline
def spread(system, s, x, c, along, work, out):
    """work[out:] += c d(along . factor x)/dq for a constant vector."""
    for entry in range(int(system[s.at_factors + x]), int(system[s.at_factors + x + 1])):
        at_entry = s.at_entries + 2 * entry
        i, weight = int(system[at_entry]), c * system[at_entry + 1]
        if i > at.ZERO:
            for a in range(3):
                work[out + 3 * (i - 4) + a] += weight * along[a]


@inline
def add_gradient(system, s, row, scale, work, base, out):
    """work[out:] += scale d(row)/dq"""
    for x in range(int(system[s.at_pointers + row]), int(system[s.at_pointers + row + 1])):
        spread(system, s, 2 * x, scale, factor(system, s, 2 * x + 1, work, base), work, out)
        spread(system, s, 2 * x + 1, scale, factor(system, s, 2 * x, work, base), work, out)


@kernel
def constraints(system, s, work, base, g):
    """All rows at the vectors work[base:]."""
    for r in range(s.rows):
        work[g + r] = value(system, s, r, work, base)


@kernel
def gradients(system, s, work, base, G):
    """G, rows of n numbers."""
    for i in range(s.rows * s.n):
        work[G + i] = 0.0
    for r in range(s.rows):
        add_gradient(system, s, r, 1.0, work, base, G + r * s.n)


@inline
def angle(c):
    """arccos of a cosine, 0 beyond 1."""
    return math.acos(min(max(c, -1.0), 1.0))


@inline
def over_sine(t):
    """t / sin t"""
    if abs(t) < 1e-3:
        return 1.0 + t * t / 6.0 * (1.0 + 7.0 * t * t / 60.0)
    return t / math.sin(t)


@inline
def energy_of(kind, k, r, x):
    """f(s)"""
    if kind == at.SPRING:
        return 0.5 * k * (math.sqrt(max(2.0 * x, 0.0)) - r) ** 2
    if kind == at.SQUARE:
        return 0.5 * k * (x - r) ** 2
    if kind == at.ANGLE:
        return 0.5 * k * angle(x) ** 2
    return x


@inline
def slope(kind, k, r, x, y):
    """(f(y) - f(x))/(y - x), at x = y its limit f'(x)."""
    if kind == at.SPRING:
        return k * (1.0 - 2.0 * r / (math.sqrt(max(2.0 * x, 1e-300)) + math.sqrt(max(2.0 * y, 1e-300)))) if r != 0.0 else k
    if kind == at.SQUARE:
        return k * (0.5 * (x + y) - r)
    if kind == at.ANGLE:
        a, b = angle(x), angle(y)
        return -k * over_sine(0.5 * (a + b)) * over_sine(0.5 * (b - a))
    return 1.0


@inline
def curvature(kind, k, r, x):
    """f''(s)"""
    if kind == at.SPRING:
        return k * r / max(2.0 * x, 1e-300) ** 1.5
    if kind == at.SQUARE:
        return k
    if kind == at.ANGLE:
        t = angle(x)
        if t < 1e-2:
            return k * (1.0 / 3.0 + 4.0 * t * t / 15.0)
        return k * (1.0 - t / math.tan(t)) / math.sin(t) ** 2
    return 0.0


@kernel
def potential(system, s, work, base):
    """V"""
    total = 0.0
    for term in range(s.terms):
        kind = s.at_kinds + 3 * term
        total += energy_of(int(system[kind]), system[kind + 1], system[kind + 2], value(system, s, s.rows + term, work, base))
    return total


@kernel
def potential_gradient(system, s, work, base, base0, base1, out):
    """dV/dq at work[base:] into work[out:]; with base0, base1 >= 0 the discrete gradient between two nodes of which base is the middle."""
    for i in range(s.n):
        work[out + i] = 0.0
    for term in range(s.terms):
        kind, row = s.at_kinds + 3 * term, s.rows + term
        if base0 < 0:
            x = value(system, s, row, work, base)
            y = x
        else:
            x, y = value(system, s, row, work, base0), value(system, s, row, work, base1)
        add_gradient(system, s, row, slope(int(system[kind]), system[kind + 1], system[kind + 2], x, y), work, base, out)


@inline
def add_mixed(system, s, x, y, c, work, J, B):
    """work[B:] += c A^T (B J) for the constant matrices A, B of two factors."""
    k = s.k
    for one in range(int(system[s.at_factors + x]), int(system[s.at_factors + x + 1])):
        i, a = int(system[s.at_entries + 2 * one]), c * system[s.at_entries + 2 * one + 1]
        if i > at.ZERO:
            for other in range(int(system[s.at_factors + y]), int(system[s.at_factors + y + 1])):
                j, b = int(system[s.at_entries + 2 * other]), a * system[s.at_entries + 2 * other + 1]
                if j > at.ZERO:
                    for r in range(3 * k):
                        work[B + 3 * (i - 4) * k + r] += b * work[J + 3 * (j - 4) * k + r]


@kernel
def add_hessian(system, s, work, base, weight, J, B):
    """work[B:] += weight d^2V/dq^2 J, both of n rows of k numbers."""
    k = s.k
    for term in range(s.terms):
        kind, row = s.at_kinds + 3 * term, s.rows + term
        here = value(system, s, row, work, base)
        first = slope(int(system[kind]), system[kind + 1], system[kind + 2], here, here)
        second = curvature(int(system[kind]), system[kind + 1], system[kind + 2], here)
        for x in range(int(system[s.at_pointers + row]), int(system[s.at_pointers + row + 1])):
            add_mixed(system, s, 2 * x, 2 * x + 1, weight * first, work, J, B)
            add_mixed(system, s, 2 * x + 1, 2 * x, weight * first, work, J, B)
        if second != 0.0:
            for i in range(s.n):
                work[s.grad + i] = 0.0
            add_gradient(system, s, row, 1.0, work, base, s.grad)
            for c in range(k):
                along = 0.0
                for i in range(s.n):
                    along += work[s.grad + i] * work[J + i * k + c]
                for i in range(s.n):
                    work[B + i * k + c] += weight * second * along * work[s.grad + i]


@inline
def add_corner(system, s, x, y, c, work, K, size):
    """The matrix at work[K:] += c A^T B for the constant matrices A, B of two factors."""
    for one in range(int(system[s.at_factors + x]), int(system[s.at_factors + x + 1])):
        i, a = 3 * (int(system[s.at_entries + 2 * one]) - 4), c * system[s.at_entries + 2 * one + 1]
        for other in range(int(system[s.at_factors + y]), int(system[s.at_factors + y + 1])):
            j, b = 3 * (int(system[s.at_entries + 2 * other]) - 4), a * system[s.at_entries + 2 * other + 1]
            if i >= 0 and j >= 0:
                for r in range(3):
                    work[K + (i + r) * size + j + r] += b


@kernel
def hessian(system, s, work, base, weight, K, size):
    """The first n rows and columns of the matrix at work[K:], of rows of `size` numbers, += weight d^2V/dq^2."""
    for term in range(s.terms):
        kind, row = s.at_kinds + 3 * term, s.rows + term
        here = value(system, s, row, work, base)
        first = slope(int(system[kind]), system[kind + 1], system[kind + 2], here, here)
        second = curvature(int(system[kind]), system[kind + 1], system[kind + 2], here)
        for x in range(int(system[s.at_pointers + row]), int(system[s.at_pointers + row + 1])):
            add_corner(system, s, 2 * x, 2 * x + 1, weight * first, work, K, size)
            add_corner(system, s, 2 * x + 1, 2 * x, weight * first, work, K, size)
        if second != 0.0:
            for i in range(s.n):
                work[s.grad + i] = 0.0
            add_gradient(system, s, row, 1.0, work, base, s.grad)
            for i in range(s.n):
                for j in range(s.n):
                    work[K + i * size + j] += weight * second * work[s.grad + i] * work[s.grad + j]
