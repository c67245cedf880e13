"""Balls ahead of what they pass: the plane of a contact is turned to where the two come nearest in the step.

A contact ahead keeps a ball beyond a plane. With the normal of the beginning of the step that plane lies across the way of a ball which
passes clear, and deflects it. Of a ball (radius r) and a sphere, capsule or box, in the axes of the latter,

    x(t) = x_0 + t u, 0 <= t <= 1    centre of the ball, u: its relative way in the step
    core |y_k| <= e_k, radius R      sphere e = 0; capsule e = (0, 0, L/2); box R = 0
    D(t) = |x - p| - r - R           p: point of the core nearest to x; D is convex

the plane is taken at the least D where that is positive: n = (x - p)/|x - p|, gap = n.(x_0 - p) - r - R >= D. It separates the two at
every time, so what is deflected into the other shape meets it as before. Where the ball meets a shape of the world it is the plane of the
first touch; of two bodies that meet it stays as it was: its point would be beside the line of centres of one of them.

Turning bodies: x(t) is straight up to (angle)^2/2 times the arm, and a core that turns moves its ends by angle times its size. D must be
larger than that.
"""

import math

from dalembert.kernels._jit import inline, kernel
from dalembert.kernels.contact.tables import BOX, SPHERE
from dalembert.kernels.contact.turned import turned, turned_back
from dalembert.kernels.quat import normalise, rotate
from dalembert.kernels.smallmat import add, axpy, cross, dot, sub

HALVINGS, EXACT = 50, 1e-15  # of the step


@inline
def core(shapes, capsule, i):
    """(e, R) of a sphere, capsule or box."""
    if shapes.kind[i] == SPHERE:
        return (0.0, 0.0, 0.0), shapes.half[i, 0]
    if capsule[i] > 0:
        return (0.0, 0.0, shapes.half[i, 2] - shapes.half[i, 0]), shapes.half[i, 0]
    return (shapes.half[i, 0], shapes.half[i, 1], shapes.half[i, 2]), 0.0


@inline
def beyond(x, e):
    """x - p: what of x is beyond the core."""
    return (
        x[0] - min(max(x[0], -e[0]), e[0]),
        x[1] - min(max(x[1], -e[1]), e[1]),
        x[2] - min(max(x[2], -e[2]), e[2]),
    )


@inline
def _slope(u, d):
    """Derivative of u.(x - p), where d = x - p."""
    return (u[0] * u[0] if d[0] != 0.0 else 0.0) + (u[1] * u[1] if d[1] != 0.0 else 0.0) + (u[2] * u[2] if d[2] != 0.0 else 0.0)


@kernel
def nearest_time(x, u, e):
    """t of the least D in 0 ... 1: zero of u.(x - p), which rises with t along straight pieces, by Newton's method within bounds."""
    if dot(u, beyond(add(x, u), e)) <= 0.0:
        return 1.0
    low, high, t = 0.0, 1.0, 0.0
    for _ in range(HALVINGS):
        d = beyond(axpy(t, u, x), e)
        rate, slope = dot(u, d), _slope(u, d)
        if rate < 0.0:
            low = t
        else:
            high = t
        step = -rate / slope if slope > 0.0 else 0.0
        if abs(step) <= EXACT:
            return t
        t = t + step if low < t + step < high else 0.5 * (low + high)
    return t


@kernel
def touching_time(x, u, e, reach, end):
    """First t in 0 ... end with |x - p| = reach; it is more at 0, less at the end."""
    low, high = 0.0, end
    for _ in range(HALVINGS):
        t = 0.5 * (low + high)
        d = beyond(axpy(t, u, x), e)
        if dot(d, d) > reach * reach:
            low = t
        else:
            high = t
    return low


@inline
def _row(a, i):
    return (a[i, 0], a[i, 1], a[i, 2])


@inline
def way_of(shapes, c, x, q, way, i):
    """(way of the origin of a shape in the step, angle of its turn, by how much that way is curved); way (n, 6): see `turn_planes`."""
    b = shapes.owner[i]
    if b < 0:
        return (0.0, 0.0, 0.0), 0.0, 0.0
    w = rotate(normalise((q[b, 0], q[b, 1], q[b, 2], q[b, 3])), (way[b, 0], way[b, 1], way[b, 2]))
    arm = sub(_row(c, i), _row(x, b))
    square = dot(w, w)
    return add((way[b, 3], way[b, 4], way[b, 5]), cross(w, arm)), math.sqrt(square), 0.5 * square * math.sqrt(dot(arm, arm))


@kernel
def turn_plane(shapes, capsule, c, R, x, q, way, ball, other, sign, k, found):
    """Contact k of a ball with a sphere, capsule or box; sign: 1 if its normal points to the ball, else -1."""
    (own, _, bend), (theirs, angle, more) = way_of(shapes, c, x, q, way, ball), way_of(shapes, c, x, q, way, other)
    u = turned_back(R, other, sub(own, theirs))
    start = turned_back(R, other, sub(_row(c, ball), _row(c, other)))
    (e, radius), r = core(shapes, capsule, other), shapes.half[ball, 0]
    reach, apart = r + radius, beyond(start, e)
    if dot(u, apart) >= 0.0 or dot(apart, apart) <= reach * reach:
        return
    t = nearest_time(start, u, e)
    d = beyond(axpy(t, u, start), e)
    slack = reach + bend + more + angle * math.sqrt(dot(e, e))
    fixed = shapes.owner[other] < 0
    if dot(d, d) <= slack * slack:
        if not fixed:
            return
        if dot(d, d) < reach * reach:
            t = touching_time(start, u, e, reach, t)
            d = beyond(axpy(t, u, start), e)
    f = 1.0 / math.sqrt(dot(d, d))
    n = (f * d[0], f * d[1], f * d[2])
    p = sub(axpy(t, u, start), d)
    gap = dot(n, sub(start, p)) - reach
    n, surface = turned(R, other, n), add(_row(c, other), turned(R, other, axpy(radius, n, p)))
    part = 1.0 if fixed else (0.0 if shapes.owner[ball] < 0 else 0.5)  # the point is on the side of what moves
    ahead = axpy(-r - 0.5 * gap, n, _row(c, ball))
    surface = axpy(0.5 * gap, n, surface)
    found.gap[k] = gap
    for m in range(3):
        found.normal[k, m] = sign * n[m]
        found.point[k, m] = part * ahead[m] + (1.0 - part) * surface[m]


@kernel
def turn_planes(shapes, capsule, c, R, x, q, reach, way, count, found):
    """All contacts ahead of a ball with a sphere, capsule or box of which one is fast (reach > 0).

    capsule (S,): 1 for capsules; c, R: places of shapes; x, q: of bodies; way (n, 6): turn (axes of the body) and way of its centre of
    mass in the step, with the velocities that it has without constraints.
    """
    n_shapes = shapes.owner.shape[0]
    for k in range(count):
        a, b = found.bodies[k, 0], found.bodies[k, 1]
        if found.gap[k] <= 0.0 or ((a < 0 or reach[a] == 0.0) and (b < 0 or reach[b] == 0.0)):
            continue
        i, j = found.key[k] // n_shapes, found.key[k] % n_shapes
        if shapes.kind[j] == SPHERE and (shapes.kind[i] == SPHERE or shapes.kind[i] == BOX or capsule[i] > 0):
            turn_plane(shapes, capsule, c, R, x, q, way, j, i, 1.0, k, found)
        elif shapes.kind[i] == SPHERE and (shapes.kind[j] == BOX or capsule[j] > 0):
            turn_plane(shapes, capsule, c, R, x, q, way, i, j, -1.0, k, found)
