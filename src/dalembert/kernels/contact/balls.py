"""Contact points of spheres with spheres, planes and boxes: one point, exact, midway between the surfaces. Feature: 0."""

import math

from dalembert.kernels._jit import kernel
from dalembert.kernels.contact.manifold import above, put


@kernel
def ball_on_plane(c, R, radius, plane, ball, margin, found, at):
    """gap = n.(c - p) - r. Returns the number of points, 0 or 1."""
    height, n = above(c, R, plane, (c[ball, 0], c[ball, 1], c[ball, 2]))
    gap = height - radius
    if gap >= margin:
        return 0
    s = -(radius + 0.5 * gap)
    put(found, at, (c[ball, 0] + s * n[0], c[ball, 1] + s * n[1], c[ball, 2] + s * n[2]), n, gap, 0)
    return 1


@kernel
def two_balls(c, r_A, r_B, A, B, margin, found, at):
    """gap = |c_B - c_A| - r_A - r_B; the normal of two with one centre is z. Returns the number of points, 0 or 1."""
    d = (c[B, 0] - c[A, 0], c[B, 1] - c[A, 1], c[B, 2] - c[A, 2])
    length2, reach = d[0] * d[0] + d[1] * d[1] + d[2] * d[2], r_A + r_B + margin
    if length2 >= reach * reach:
        return 0
    length = math.sqrt(length2)
    n = (d[0] / length, d[1] / length, d[2] / length) if length > 0.0 else (0.0, 0.0, 1.0)
    gap = length - r_A - r_B
    s = r_A + 0.5 * gap
    put(found, at, (c[A, 0] + s * n[0], c[A, 1] + s * n[1], c[A, 2] + s * n[2]), n, gap, 0)
    return 1


@kernel
def ball_on_box(c, R, half, ball, box, radius, sign, margin, found, at):
    """The point of the box nearest to the centre of the ball; a centre inside is pushed out of the nearest face.

    sign: 1 if the normal shall point from the box to the ball, else -1. Returns the number of points, 0 or 1.
    """
    d = (c[ball, 0] - c[box, 0], c[ball, 1] - c[box, 1], c[ball, 2] - c[box, 2])
    n, beyond, face, nearest, outward = (0.0, 0.0, 0.0), 0.0, 0, -math.inf, 1.0
    for k in range(3):
        a = (R[box, 0, k], R[box, 1, k], R[box, 2, k])
        x = d[0] * a[0] + d[1] * a[1] + d[2] * a[2]
        out = abs(x) - half[box, k]
        side = 1.0 if x >= 0.0 else -1.0
        if out > nearest:
            nearest, face, outward = out, k, side
        if out > 0.0:
            n = (n[0] + side * out * a[0], n[1] + side * out * a[1], n[2] + side * out * a[2])
            beyond += out * out
    if beyond > 0.0:
        distance = math.sqrt(beyond)
        n = (n[0] / distance, n[1] / distance, n[2] / distance)
    else:
        distance = nearest
        n = (outward * R[box, 0, face], outward * R[box, 1, face], outward * R[box, 2, face])
    gap = distance - radius
    if gap >= margin:
        return 0
    s = -(radius + 0.5 * gap)
    point = (c[ball, 0] + s * n[0], c[ball, 1] + s * n[1], c[ball, 2] + s * n[2])
    put(found, at, point, (sign * n[0], sign * n[1], sign * n[2]), gap, 0)
    return 1
