"""The Jordan algebra of the Lorentz cone l_0 >= |l_t| in three dimensions, by numbers: eigenvalues l_0 +- |l_t|.

a o b = (a . b, a_0 b_t + b_0 a_t),    a \\ r solves a o x = r
W of Nesterov and Todd: W l = W^-1 s. With d = w_t / |w_t|, in the frame p+- = (1, +-d) / sqrt 2 and the tangent normal to d it is
eta diag(w+, 1 / w+, 1): all products are taken there, since W^2 formed in Cartesian components loses half of the digits
"""

from math import sqrt

from dalembert.kernels._jit import inline

SMALL = 1e-300
FAR = 1e30


@inline
def product(a, b):
    """a o b"""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2], a[0] * b[1] + b[0] * a[1], a[0] * b[2] + b[0] * a[2]


@inline
def divide(a, r):
    """a \\ r"""
    t = sqrt(a[1] * a[1] + a[2] * a[2])
    det = max(a[0] - t, SMALL) * (a[0] + t)
    x = (a[0] * r[0] - a[1] * r[1] - a[2] * r[2]) / det
    return x, (r[1] - x * a[1]) / a[0], (r[2] - x * a[2]) / a[0]


@inline
def positive(a, m):
    """(a + sqrt(a^2 + 4 m)) / 2 without cancellation."""
    root = sqrt(a * a + 4.0 * m)
    return 0.5 * (a + root) if a > 0.0 else 2.0 * m / (root - a)


@inline
def smooth(z, m):
    """The same of a vector, by eigenvalues."""
    t = sqrt(z[1] * z[1] + z[2] * z[2])
    p, q = positive(z[0] + t, m), positive(z[0] - t, m)
    f = 0.5 * (p - q) / t if t > 0.0 else 0.0
    return 0.5 * (p + q), f * z[1], f * z[2]


@inline
def clipped(v, low, high):
    """Eigenvalues of v moved into low ... high, minus v, at least -high each."""
    t = sqrt(v[1] * v[1] + v[2] * v[2])
    p, q = clip_change(v[0] + t, low, high), clip_change(v[0] - t, low, high)
    f = 0.5 * (p - q) / t if t > 0.0 else 0.0
    return 0.5 * (p + q), f * v[1], f * v[2]


@inline
def clip_change(a, low, high):
    """min(max(a, low), high) - a, at least -high."""
    if a < low:
        return low - a
    return max(high - a, -high) if a > high else 0.0


@inline
def longest(l, d):
    """The largest step with l + a d in the cone."""
    t = sqrt(l[1] * l[1] + l[2] * l[2])
    c, b = max(l[0] - t, 0.0) * (l[0] + t), l[0] * d[0] - l[1] * d[1] - l[2] * d[2]
    a = d[0] * d[0] - d[1] * d[1] - d[2] * d[2]
    disc, found = b * b - a * c, FAR
    if disc >= 0.0:
        root = sqrt(disc)
        if b < 0.0:
            found = c / (root - b)
        elif a < 0.0:
            found = (-b - root) / a
    return min(found, -l[0] / d[0]) if d[0] < 0.0 else found


@inline
def scaling(l, s):
    """(eta, w+, d_1, d_2) of W."""
    lt, st = sqrt(l[1] * l[1] + l[2] * l[2]), sqrt(s[1] * s[1] + s[2] * s[2])
    lj, sj = sqrt(max(l[0] - lt, SMALL) * (l[0] + lt)), sqrt(max(s[0] - st, SMALL) * (s[0] + st))
    g = 2.0 * sqrt(0.5 * (1.0 + max((l[0] * s[0] + l[1] * s[1] + l[2] * s[2]) / (lj * sj), 1.0)))
    w1, w2 = (s[1] / sj - l[1] / lj) / g, (s[2] / sj - l[2] / lj) / g
    wt = sqrt(w1 * w1 + w2 * w2)
    d1, d2 = (w1 / wt, w2 / wt) if wt > 0.0 else (1.0, 0.0)
    return sqrt(sj / lj), sqrt(1.0 + wt * wt) + wt, d1, d2


@inline
def to_frame(v, d1, d2):
    """Components along p+, p- (times sqrt 2) and the tangent."""
    e = v[1] * d1 + v[2] * d2
    return v[0] + e, v[0] - e, v[2] * d1 - v[1] * d2


@inline
def from_frame(p, q, f, d1, d2):
    """Back; p, q times 1 / sqrt 2."""
    t = p - q
    return p + q, t * d1 - f * d2, t * d2 + f * d1


@inline
def scaled(eta, w, d1, d2, v):
    """W v; W^-1 v with 1 / eta and 1 / w."""
    p, q, f = to_frame(v, d1, d2)
    return from_frame(0.5 * eta * w * p, 0.5 * eta / w * q, eta * f, d1, d2)


@inline
def scaled_point(eta, w, d1, d2, l, s):
    """lambda = W l = W^-1 s, each component from that one of the two which cancels less."""
    lp, lq, lf = to_frame(l, d1, d2)
    sp, sq, _ = to_frame(s, d1, d2)
    p = eta * w * lp if abs(lp) * s[0] > abs(sp) * l[0] else sp / (eta * w)
    q = eta / w * lq if abs(lq) * s[0] > abs(sq) * l[0] else sq * w / eta
    return from_frame(0.5 * p, 0.5 * q, eta * lf, d1, d2)


@inline
def softened(eta, w, n, t):
    """Q^-1 in the frame, Q = W^2 + diag(n, t, t): (q++, q+-, q--, q_f). The determinant is a sum of positive terms."""
    a, b = eta * eta * w * w, eta * eta / (w * w)
    s1, s2 = 0.5 * (n + t), 0.5 * (n - t)
    det = a * b + (a + b) * s1 + n * t
    return (b + s1) / det, -s2 / det, (a + s1) / det, 1.0 / (eta * eta + t)
