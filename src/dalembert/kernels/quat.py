"""Unit quaternions, scalar first, Hamilton, body to world, as tuples of four numbers.

    p * q = (p_s q_s - p_v . q_v,  p_s q_v + q_s p_v + p_v x q_v)               Lacoursiere (13.47)
    x_W = q * x_B * q^dagger
"""

import math

from dalembert.kernels._jit import inline


@inline
def mul(p, q):
    """Hamilton product p * q."""
    return (
        p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3],
        p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2],
        p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1],
        p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0],
    )


@inline
def conj(q):
    """(q_s, -q_v): the inverse of a unit quaternion."""
    return (q[0], -q[1], -q[2], -q[3])


@inline
def normalise(q):
    """q / |q|"""
    s = 1.0 / math.sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    return (s * q[0], s * q[1], s * q[2], s * q[3])


@inline
def rotate(q, x):
    """R(q) x = x + 2 q_v x (q_v x x + q_s x): body to world."""
    u0 = q[2] * x[2] - q[3] * x[1] + q[0] * x[0]
    u1 = q[3] * x[0] - q[1] * x[2] + q[0] * x[1]
    u2 = q[1] * x[1] - q[2] * x[0] + q[0] * x[2]
    return (
        x[0] + 2.0 * (q[2] * u2 - q[3] * u1),
        x[1] + 2.0 * (q[3] * u0 - q[1] * u2),
        x[2] + 2.0 * (q[1] * u1 - q[2] * u0),
    )


@inline
def rotate_inverse(q, x):
    """R(q)^T x: world to body."""
    return rotate(conj(q), x)


@inline
def exp(w):
    """Rotation vector to quaternion: (cos |w|/2, sin(|w|/2)/|w| w)."""
    angle2 = w[0] * w[0] + w[1] * w[1] + w[2] * w[2]
    half = 0.5 * math.sqrt(angle2)
    if half < 0.05:  # sin(x)/x to x^8: the next term, 0.05^10/11!, is below round-off
        x2 = half * half
        s = 0.5 * (1.0 - x2 / 6.0 * (1.0 - x2 / 20.0 * (1.0 - x2 / 42.0 * (1.0 - x2 / 72.0))))
    else:
        s = 0.5 * math.sin(half) / half
    return (math.cos(half), s * w[0], s * w[1], s * w[2])


@inline
def cay(w):
    """Cayley map of a rotation vector: (1, w/2) / sqrt(1 + |w|^2/4), the quaternion of (1 - hat(w)/2)^-1 (1 + hat(w)/2)."""
    s = 1.0 / math.sqrt(1.0 + 0.25 * (w[0] * w[0] + w[1] * w[1] + w[2] * w[2]))
    return (s, 0.5 * s * w[0], 0.5 * s * w[1], 0.5 * s * w[2])


@inline
def load(array, i):
    """Four numbers of a flat array from index i on."""
    return (array[i], array[i + 1], array[i + 2], array[i + 3])


@inline
def store(array, i, q):
    """array[i:i+4] = q"""
    array[i] = q[0]
    array[i + 1] = q[1]
    array[i + 2] = q[2]
    array[i + 3] = q[3]
