"""Unit quaternions, scalar first, Hamilton, body to world, as tuples of four numbers.

    p * q = (p_s q_s - p_v . q_v,  p_s q_v + q_s p_v + p_v x q_v)               Lacoursiere (13.47)
    x_W = q * x_B * q^dagger

Matrices are written to an array `out`; vectors and quaternions are returned as tuples.
    p * q = Q(p) q = P(q) p,   Q(q) = [q, G(q)^T],   P(q) = [q, E(q)^T]         (13.51), (13.52), (13.62), (13.63)
    q_dot = E(q)^T w/2 = G(q)^T w_B/2,   w = 2 E(q) q_dot,   w_B = 2 G(q) q_dot,   R(q) = E(q) G(q)^T
with w in world axes and w_B in body axes (13.119), (13.120).
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
def log(q):
    """Rotation vector of length at most pi: 2 atan2(|q_v|, |q_s|) q_v/|q_v|, with q and -q alike. The length of q does not matter.

    No series is needed: atan2(n, s)/n keeps its digits for every n > 0, even where n itself has lost some to underflow.
    """
    n = math.sqrt(q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    if n > 0.0:
        f = 2.0 * math.atan2(n, abs(q[0])) / n
    else:
        f = 2.0 / abs(q[0]) if q[0] != 0.0 else math.nan
    f = math.copysign(f, q[0])
    return (f * q[1], f * q[2], f * q[3])


@inline
def to_matrix(q, out):
    """R(q) = 1 + 2 q_s hat(q_v) + 2 hat(q_v)^2 for |q| = 1 (13.73)-(13.75)."""
    s, x, y, z = 2.0 * q[0], 2.0 * q[1], 2.0 * q[2], 2.0 * q[3]
    out[0, 0] = 1.0 - (y * q[2] + z * q[3])
    out[1, 1] = 1.0 - (x * q[1] + z * q[3])
    out[2, 2] = 1.0 - (x * q[1] + y * q[2])
    out[0, 1], out[1, 0] = x * q[2] - s * q[3], x * q[2] + s * q[3]
    out[0, 2], out[2, 0] = x * q[3] + s * q[2], x * q[3] - s * q[2]
    out[1, 2], out[2, 1] = y * q[3] - s * q[1], y * q[3] + s * q[1]


@inline
def from_matrix(R):
    """The unit quaternion with q_s >= 0 of the rotation R (a 3x3 array, or the corner of a larger one).

    Each row of 4 q q^T is known from R (13.83)-(13.85); the row with the largest diagonal element, at least 1, is taken and
    normalised, so that no angle loses digits. Printed (13.83) lacks the 1 of q_s^2 = (1 + tr R)/4.
    """
    xx, yy, zz = R[0, 0], R[1, 1], R[2, 2]
    if xx + yy + zz > 0.0:
        q = (1.0 + xx + yy + zz, R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1])
    elif xx >= yy and xx >= zz:
        q = (R[2, 1] - R[1, 2], 1.0 + xx - yy - zz, R[0, 1] + R[1, 0], R[0, 2] + R[2, 0])
    elif yy >= zz:
        q = (R[0, 2] - R[2, 0], R[0, 1] + R[1, 0], 1.0 + yy - xx - zz, R[1, 2] + R[2, 1])
    else:
        q = (R[1, 0] - R[0, 1], R[0, 2] + R[2, 0], R[1, 2] + R[2, 1], 1.0 + zz - xx - yy)
    if q[0] < 0.0:
        q = (-q[0], -q[1], -q[2], -q[3])
    return normalise(q)


@inline
def _turned(q, sign, out, row, column):
    """out[row:row+3, column:column+3] = q_s 1 + sign hat(q_v)"""
    x, y, z = sign * q[1], sign * q[2], sign * q[3]
    for i in range(3):
        out[row + i, column + i] = q[0]
    out[row, column + 1], out[row + 1, column] = -z, z
    out[row, column + 2], out[row + 2, column] = y, -y
    out[row + 1, column + 2], out[row + 2, column + 1] = -x, x


@inline
def _product_matrix(q, sign, out):
    """out = [[q_s, -q_v^T], [q_v, q_s 1 + sign hat(q_v)]]"""
    out[0, 0] = q[0]
    for i in range(1, 4):
        out[0, i] = -q[i]
        out[i, 0] = q[i]
    _turned(q, sign, out, 1, 1)


@inline
def P(q, out):
    """[[q_s, -q_v^T], [q_v, q_s 1 - hat(q_v)]]: P(q) p = p * q (13.52)."""
    _product_matrix(q, -1.0, out)


@inline
def Q(q, out):
    """[[q_s, -q_v^T], [q_v, q_s 1 + hat(q_v)]]: Q(q) p = q * p (13.51)."""
    _product_matrix(q, 1.0, out)


@inline
def E(q, out):
    """[-q_v, q_s 1 + hat(q_v)], 3x4: world angular velocity w = 2 E(q) q_dot (13.64)."""
    for i in range(3):
        out[i, 0] = -q[i + 1]
    _turned(q, 1.0, out, 0, 1)


@inline
def G(q, out):
    """[-q_v, q_s 1 - hat(q_v)], 3x4: body angular velocity w_B = 2 G(q) q_dot (13.64)."""
    for i in range(3):
        out[i, 0] = -q[i + 1]
    _turned(q, -1.0, out, 0, 1)


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
