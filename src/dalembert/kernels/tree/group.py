"""The configuration group of a tree: SE(3) for free joints, SO(3) for spherical ones, the line for the others. Tangent vectors are
body-fixed.

    move      q exp(dq)
    dexp_inv  dexp^-1_{-theta} v: the derivative of the exponential coordinates theta(t) of g_0^-1 g(t) when g_dot = g hat(v)

On SE(3) with theta = (w, u), t = |w|: the translation of exp is V(w) u, V = 1 + (1 - cos t)/t^2 hat(w) + (t - sin t)/t^3 hat(w)^2. With ad
= ad(theta), dexp^-1_{-theta} =
1 + ad/2 + k2 ad^2 + k4 ad^4, the two coefficients from the characteristic polynomial ad^5 = -2 t^2 ad^3 - t^4 ad; below t = 0.5 from the
Bernoulli series.
"""

import math

from dalembert.kernels._jit import inline, kernel
from dalembert.kernels.quat import exp, load, mul, normalise, rotate, store
from dalembert.kernels.smallmat import add, axpy, cross, dot, load3, scale, store3
from dalembert.kernels.tree.layout import HEADER, KIND, LINK_SIZE, LINKS, PRISMATIC, Q_AT, SPHERICAL, V_AT
from dalembert.kernels.tree.record import record


@inline
def translation_of_exp(w, u):
    """V(w) u."""
    t2 = dot(w, w)
    if t2 < 0.25:  # eight terms: the next ones are below 1e-17
        b = 0.5 * (1.0 - t2 / 12.0 * (1.0 - t2 / 30.0 * (1.0 - t2 / 56.0 * (1.0 - t2 / 90.0 * (1.0 - t2 / 132.0 * (1.0 - t2 / 182.0))))))
        c = (1.0 - t2 / 20.0 * (1.0 - t2 / 42.0 * (1.0 - t2 / 72.0 * (1.0 - t2 / 110.0 * (1.0 - t2 / 156.0 * (1.0 - t2 / 210.0)))))) / 6.0
    else:
        t = math.sqrt(t2)
        s = math.sin(0.5 * t)
        b = 2.0 * s * s / t2
        c = (t - math.sin(t)) / (t * t2)
    wu = cross(w, u)
    return axpy(c, cross(w, wu), axpy(b, wu, u))


@kernel
def move(system, work, q, dq, out):
    """work[out:] = q exp(dq), joint by joint. out may equal q."""
    for i in range(int(system[LINKS])):
        at = record(HEADER, i, LINK_SIZE)
        kind = int(system[at + KIND])
        qi, vi = int(system[at + Q_AT]), int(system[at + V_AT])
        if kind <= PRISMATIC:
            work[out + qi] = work[q + qi] + work[dq + vi]
        elif kind == SPHERICAL:
            store(work, out + qi, normalise(mul(load(work, q + qi), exp(load3(work, dq + vi)))))
        else:
            w, u = load3(work, dq + vi), load3(work, dq + vi + 3)
            attitude = load(work, q + qi + 3)
            store3(work, out + qi, add(load3(work, q + qi), rotate(attitude, translation_of_exp(w, u))))
            store(work, out + qi + 3, normalise(mul(attitude, exp(w))))


@inline
def dexp_inv_coefficients(t2):
    """(k2, k4) of dexp^-1 = 1 + ad/2 + k2 ad^2 + k4 ad^4 (sign of ad for -theta).

    x/2 coth(x/2) = sum B_2n x^2n/(2n)! on the eigenvalues x = 0, +-i t (double): with f(t) = (t/2) cot(t/2),
    1 - k2 t^2 + k4 t^4 = f and, from the derivative, -2 k2 t + 4 k4 t^3 = f'.
    """
    if t2 < 0.25:  # f = 1 - t^2/12 - t^4/720 - t^6/30240 - t^8/1209600 - t^10/47900160 - 691 t^12/1307674368000 - ...
        x = t2 * t2
        k2 = 1.0 / 12.0 - x * (1.0 / 30240.0 + t2 / 604800.0 + 3.0 * x / 47900160.0 + 2764.0 * t2 * x / 1307674368000.0)
        k4 = -1.0 / 720.0 - t2 / 15120.0 - x / 403200.0 - t2 * x / 11975040.0 - 3455.0 * x * x / 1307674368000.0
        return k2, k4
    t = math.sqrt(t2)
    half = 0.5 * t
    s, c = math.sin(half), math.cos(half)
    f = half * c / s
    df = 0.5 * c / s - 0.5 * half / (s * s)
    k4 = (0.5 * t * df - (f - 1.0)) / (t2 * t2)
    k2 = (0.25 * t * df - (f - 1.0)) / (0.5 * t2)
    return k2, k4


@inline
def bracket(w, u, a, b):
    """ad_(w, u) (a, b) = (w x a, u x a + w x b)."""
    return cross(w, a), add(cross(u, a), cross(w, b))


@kernel
def dexp_inv(system, work, theta, v, out):
    """work[out:] = dexp^-1_{-theta} v, joint by joint; the identity for joints of one degree of freedom."""
    zero = (0.0, 0.0, 0.0)
    for i in range(int(system[LINKS])):
        at = record(HEADER, i, LINK_SIZE)
        kind = int(system[at + KIND])
        vi = int(system[at + V_AT])
        if kind <= PRISMATIC:
            work[out + vi] = work[v + vi]
            continue
        ball = kind == SPHERICAL
        w = load3(work, theta + vi)
        u = zero if ball else load3(work, theta + vi + 3)
        a = load3(work, v + vi)
        b = zero if ball else load3(work, v + vi + 3)
        k2, k4 = dexp_inv_coefficients(dot(w, w))
        a1, b1 = bracket(w, u, a, b)
        a2, b2 = bracket(w, u, a1, b1)
        a3, b3 = bracket(w, u, a2, b2)
        a4, b4 = bracket(w, u, a3, b3)
        store3(work, out + vi, add(add(a, scale(0.5, a1)), add(scale(k2, a2), scale(k4, a4))))
        if not ball:
            store3(work, out + vi + 3, add(add(b, scale(0.5, b1)), add(scale(k2, b2), scale(k4, b4))))
