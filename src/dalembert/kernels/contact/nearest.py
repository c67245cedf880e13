"""Nearest points of two boxes that are apart, by projecting on one and the other in turn.

Each round is a projection on a convex set, so the distance falls to the least one. For boxes that come near corner to corner or corner to
edge: no face has the nearest point of the other above it, and fast ones would not be seen before they overlap.
"""

import math

from dalembert.kernels._jit import inline, kernel
from dalembert.kernels.contact.manifold import put

ROUNDS = 64
STANDS = 1e-24  # square of a motion below which nothing changes any longer, m^2


@inline
def on_box(c, R, half, A, p):
    """The point of a box nearest to p."""
    d = (p[0] - c[A, 0], p[1] - c[A, 1], p[2] - c[A, 2])
    out = (c[A, 0], c[A, 1], c[A, 2])
    for k in range(3):
        x = d[0] * R[A, 0, k] + d[1] * R[A, 1, k] + d[2] * R[A, 2, k]
        x = min(max(x, -half[A, k]), half[A, k])
        out = (out[0] + x * R[A, 0, k], out[1] + x * R[A, 1, k], out[2] + x * R[A, 2, k])
    return out


@kernel
def nearest_contact(c, R, half, A, B, margin, feature, found, at):
    """One contact between the nearest points of boxes that are apart by less than the margin. Returns the number of points, 0 or 1."""
    b = (c[B, 0], c[B, 1], c[B, 2])
    a = on_box(c, R, half, A, b)
    for _ in range(ROUNDS):
        last = b
        b = on_box(c, R, half, B, a)
        a = on_box(c, R, half, A, b)
        if (b[0] - last[0]) ** 2 + (b[1] - last[1]) ** 2 + (b[2] - last[2]) ** 2 < STANDS:
            break
    d = (b[0] - a[0], b[1] - a[1], b[2] - a[2])
    gap = math.sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2])
    if gap >= margin or gap == 0.0:
        return 0
    middle = (0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1]), 0.5 * (a[2] + b[2]))
    put(found, at, middle, (d[0] / gap, d[1] / gap, d[2] / gap), gap, feature)
    return 1
