"""Functions whose zeros are the solutions, with their derivatives: see `dalembert.complementarity.newton`."""

import math

from dalembert.kernels._jit import inline

INFINITY = float("inf")
SMOOTHING, FISCHER_BURMEISTER, MINIMUM = 0, 1, 2


@inline
def _root(x, c):
    """sqrt(x^2 + c^2) and its derivative."""
    r = math.sqrt(x * x + c * c)
    return r, x / r if r > 0.0 else 0.0


@inline
def smoothed(z, w, lower, upper, c):
    """F = z - clip_c(z - w), clip_c(x) = (l + sqrt((x - l)^2 + c^2) + u - sqrt((x - u)^2 + c^2)) / 2 with its limits for infinite bounds.

    Returns F, dF/dz, dF/dw; c = 0 is the natural map: min(z, w) of an LCP.
    """
    x = z - w
    if lower == -INFINITY and upper == INFINITY:
        return w, 0.0, 1.0
    if upper == INFINITY:
        r, dr = _root(x - lower, c)
        clip, slope = 0.5 * (lower + x + r), 0.5 * (1.0 + dr)
    elif lower == -INFINITY:
        r, dr = _root(x - upper, c)
        clip, slope = 0.5 * (upper + x - r), 0.5 * (1.0 - dr)
    else:
        r, dr = _root(x - lower, c)
        s, ds = _root(x - upper, c)
        clip, slope = 0.5 * (lower + r + upper - s), 0.5 * (dr - ds)
    return z - clip, 1.0 - slope, slope


@inline
def natural(z, w, lower, upper):
    """F = z - clip(z - w, l, u) and an element of its generalised derivative."""
    x = z - w
    if x < lower:
        return z - lower, 1.0, 0.0
    if x > upper:
        return z - upper, 1.0, 0.0
    return w, 0.0, 1.0


@inline
def _fb(a, b):
    """phi = a + b - sqrt(a^2 + b^2) and its derivatives; at the origin those along the diagonal."""
    r = math.sqrt(a * a + b * b)
    if r == 0.0:
        return 0.0, 1.0 - math.sqrt(0.5), 1.0 - math.sqrt(0.5)
    value = a + b - r if a + b <= 0.0 else 2.0 * a * b / (a + b + r)  # no cancellation
    return value, 1.0 - a / r, 1.0 - b / r


@inline
def fischer_burmeister(z, w, lower, upper):
    """phi(z - l, w); -phi(u - z, -w); phi(z - l, -phi(u - z, -w)) with two bounds (Billups); w with none."""
    if lower == -INFINITY and upper == INFINITY:
        return w, 0.0, 1.0
    if upper == INFINITY:
        return _fb(z - lower, w)
    y, y_a, y_b = _fb(upper - z, -w)
    if lower == -INFINITY:
        return -y, y_a, y_b
    f, f_a, f_b = _fb(z - lower, -y)
    return f, f_a + f_b * y_a, f_b * y_b


@inline
def evaluate(kind, z, w, lower, upper, c):
    """F, dF/dz, dF/dw of the chosen function."""
    if kind == SMOOTHING:
        return smoothed(z, w, lower, upper, c)
    if kind == FISCHER_BURMEISTER:
        return fischer_burmeister(z, w, lower, upper)
    return natural(z, w, lower, upper)
