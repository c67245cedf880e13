"""Contacts at an instant within a step: where bodies are there, and the rows of what touches.

    x(t) = x + t v + t^2/2 a,    q(t) = q exp(t w + t^2/2 w')        velocities (w, v), their slope (w', a); w in axes of the body

A ball of radius r at c and a sphere or box, p the point of its core nearest to c (its centre; the box itself), R the radius of a sphere:

    D = |c - p| - r - R,    n = (c - p)/|c - p|,    D' = n.(velocity of c - velocity of the other body at p)
    meeting      the first zero of D: Newton's method from the left, where D is convex and its tangents lie below it
    rows         along n at that instant, at the point c - r n of the ball

Other contacts keep the normal of the beginning. Their point: that of the ball, of a ball; the middle of the two points of the surfaces,
point -+ gap/2 n, each moved with its body (of boxes and hulls turned with it too; what is round rolls under its point); of a body and
the world, that of the body. One point for both bodies: impulses there turn nothing as a whole.
"""

import math

from dalembert.kernels._jit import inline, kernel
from dalembert.kernels.bodies.motion import Q, X
from dalembert.kernels.contact.rows import three_sides
from dalembert.kernels.contact.tables import BOX, FOREIGN, SPHERE
from dalembert.kernels.quat import exp, load, mul, normalise, rotate, rotate_inverse, store
from dalembert.kernels.smallmat import add, axpy, cross, dot, load3, scale, store3, sub

STEPS = 60  # of Newton's method; it halves the distance at least where balls only graze
HERE = (1.0, 0.0, 0.0, 0.0)


@inline
def _three(a, i):
    return (a[i], a[i + 1], a[i + 2])


@kernel
def move(t, v, slope, states):
    """Bodies t later."""
    for k in range(states.shape[0]):
        x, w = axpy(t, _three(v, 6 * k + 3), load3(states[k], X)), scale(t, _three(v, 6 * k))
        store3(states[k], X, axpy(0.5 * t * t, _three(slope, 6 * k + 3), x))
        store(states[k], Q, normalise(mul(load(states[k], Q), exp(axpy(0.5 * t * t, _three(slope, 6 * k), w)))))


@inline
def _pose(states, k, t, v, slope):
    """(x, q, velocity, angular velocity in world axes) of a body t later; of the world, k < 0."""
    if k < 0:
        return (0.0, 0.0, 0.0), HERE, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    u, w, a, b = _three(v, 6 * k + 3), _three(v, 6 * k), _three(slope, 6 * k + 3), _three(slope, 6 * k)
    x = axpy(0.5 * t * t, a, axpy(t, u, load3(states[k], X)))
    q = normalise(mul(load(states[k], Q), exp(axpy(0.5 * t * t, b, scale(t, w)))))
    return x, q, axpy(t, a, u), rotate(q, axpy(t, b, w))


@inline
def _nearest(shapes, states, ball, other, t, v, slope):
    """(D, n, D', c) of a ball and a sphere or box t later; n points to the ball. D = -inf where its centre is in the core."""
    x, q, u, w = _pose(states, shapes.owner[ball], t, v, slope)
    arm = rotate(q, load3(shapes.position[ball], 0))
    c, u = add(x, arm), add(u, cross(w, arm))
    x, q, u_other, w = _pose(states, shapes.owner[other], t, v, slope)
    arm = sub(c, x)
    turn = mul(q, load(shapes.quaternion[other], 0))
    y, R = rotate_inverse(turn, sub(arm, rotate(q, load3(shapes.position[other], 0)))), shapes.half[other, 0]
    if shapes.kind[other] == BOX:
        e, R = load3(shapes.half[other], 0), 0.0
        y = sub(y, (min(max(y[0], -e[0]), e[0]), min(max(y[1], -e[1]), e[1]), min(max(y[2], -e[2]), e[2])))
    length = math.sqrt(dot(y, y))
    if length == 0.0:
        return -math.inf, y, 0.0, c
    n = rotate(turn, scale(1.0 / length, y))
    rate = dot(n, sub(u, add(u_other, cross(w, axpy(-length, n, arm)))))
    return length - shapes.half[ball, 0] - R, n, rate, c


@inline
def _ball_and_other(shapes, key):
    """(ball, other, sign): sign 1 if the normal, from the first to the second, points to the ball. ball: -1 where there is none; other: -1
    where it is neither sphere nor box."""
    i, j = key // shapes.owner.shape[0], key % shapes.owner.shape[0]
    ball, other, sign = -1, -1, 1.0
    if shapes.kind[j] == SPHERE:
        ball, other = j, i
    elif shapes.kind[i] == SPHERE:
        ball, other, sign = i, j, -1.0
    if other >= 0 and shapes.kind[other] != SPHERE and shapes.kind[other] != BOX:
        other = -1
    return ball, other, sign


@kernel
def meeting_times(shapes, chosen, n, key, states, v, slope, threshold, end, out):
    """out (n,): of balls that meet spheres and boxes, faster than the threshold, before `end`; inf of those that do not."""
    for j in range(n):
        ball, other, _ = _ball_and_other(shapes, key[chosen[j]])
        if other < 0:
            continue
        t, D, rate = 0.0, 0.0, 0.0
        for _ in range(STEPS):
            D, _, rate, _ = _nearest(shapes, states, ball, other, t, v, slope)
            if rate >= 0.0 or t > end or D <= 0.0:
                break
            step = -D / rate
            t += step
            if step <= 1e-15 * end:
                break
        if math.isfinite(D):
            out[j] = t if rate < -threshold and t <= end else math.inf


@inline
def _moved(shapes, states, start, i, p):
    """A point of the surface of shape i that was at p when its body was at `start`; a round shape rolls under it."""
    k = shapes.owner[i]
    if k < 0:
        return p
    arm = sub(p, load3(start[k], X))
    if shapes.kind[i] != FOREIGN:
        arm = rotate(load(states[k], Q), rotate_inverse(load(start[k], Q), arm))
    return add(load3(states[k], X), arm)


@inline
def _tilt(frames, k, n):
    """The frame of contact k with another normal, its first tangent as near as can be."""
    t = load3(frames[k, 1], 0)
    t = axpy(-dot(n, t), n, t)
    t = scale(1.0 / math.sqrt(dot(t, t)), t)
    store3(frames[k, 0], 0, n)
    store3(frames[k, 1], 0, t)
    store3(frames[k, 2], 0, cross(n, t))


@kernel
def rows_at(shapes, chosen, n, key, pair, point, gap, normals, start, states, still, r, points, frames, J, gaps):
    """J of n contacts, rows from r on, for bodies at `states`; start: where they were when contacts were found. gaps (n,): those of balls
    with spheres and boxes become exact. frames (n, 3, 3): theirs are tilted. still (6 n,): zeros; points (n, 3): room."""
    for j in range(n):
        k = chosen[j]
        a, b, m = pair[k, 0], pair[k, 1], load3(normals[k], 0)
        ball, other, sign = _ball_and_other(shapes, key[k])
        p, i = load3(point[k], 0), key[k] // shapes.owner.shape[0]
        one = _moved(shapes, states, start, i, axpy(-0.5 * gap[k], m, p))
        two = _moved(shapes, states, start, key[k] - i * shapes.owner.shape[0], axpy(0.5 * gap[k], m, p))
        p = two if a < 0 else scale(0.5, add(one, two))
        if ball >= 0:
            x, q, _, _ = _pose(states, shapes.owner[ball], 0.0, still, still)
            c = add(x, rotate(q, load3(shapes.position[ball], 0)))
            if other >= 0:
                D, n_ball, _, _ = _nearest(shapes, states, ball, other, 0.0, still, still)
                if math.isfinite(D):
                    m, gaps[j] = scale(sign, n_ball), D
                    _tilt(frames, j, m)
            p = axpy(-sign * shapes.half[ball, 0], m, c)
        store3(points[j], 0, p)
        three_sides(states, a, -1.0, points, j, frames, J, r + 3 * j, 0)
        three_sides(states, b, 1.0, points, j, frames, J, r + 3 * j, 6)
