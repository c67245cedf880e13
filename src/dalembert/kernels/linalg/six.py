"""What is done with factors of 6 x 6 blocks and with r x 6 blocks, six numbers at a time in registers (flat arrays, by rows)."""

from dalembert.kernels._jit import inline


@inline
def load6(x, at):
    """Six numbers."""
    return x[at], x[at + 1], x[at + 2], x[at + 3], x[at + 4], x[at + 5]


@inline
def store6(x, at, v):
    """x[at : at + 6] = v"""
    x[at] = v[0]
    x[at + 1] = v[1]
    x[at + 2] = v[2]
    x[at + 3] = v[3]
    x[at + 4] = v[4]
    x[at + 5] = v[5]


@inline
def dot6(a, b):
    """a . b"""
    return (a[0] * b[0] + a[1] * b[1]) + (a[2] * b[2] + a[3] * b[3]) + (a[4] * b[4] + a[5] * b[5])


@inline
def axpy6(s, a, b):
    """s a + b"""
    return s * a[0] + b[0], s * a[1] + b[1], s * a[2] + b[2], s * a[3] + b[3], s * a[4] + b[4], s * a[5] + b[5]


@inline
def diagonal6(f, at):
    """1/d of a factor."""
    return f[at], f[at + 7], f[at + 14], f[at + 21], f[at + 28], f[at + 35]


@inline
def times6(a, b):
    """Products one by one."""
    return a[0] * b[0], a[1] * b[1], a[2] * b[2], a[3] * b[3], a[4] * b[4], a[5] * b[5]


@inline
def lower6(f, at, v):
    """L^-1 v"""
    y0 = v[0]
    y1 = v[1] - f[at + 6] * y0
    y2 = v[2] - f[at + 12] * y0 - f[at + 13] * y1
    y3 = v[3] - f[at + 18] * y0 - f[at + 19] * y1 - f[at + 20] * y2
    y4 = v[4] - f[at + 24] * y0 - f[at + 25] * y1 - f[at + 26] * y2 - f[at + 27] * y3
    y5 = v[5] - f[at + 30] * y0 - f[at + 31] * y1 - f[at + 32] * y2 - f[at + 33] * y3 - f[at + 34] * y4
    return y0, y1, y2, y3, y4, y5


@inline
def upper6(f, at, v):
    """L^-T v"""
    y5 = v[5]
    y4 = v[4] - f[at + 34] * y5
    y3 = v[3] - f[at + 33] * y5 - f[at + 27] * y4
    y2 = v[2] - f[at + 32] * y5 - f[at + 26] * y4 - f[at + 20] * y3
    y1 = v[1] - f[at + 31] * y5 - f[at + 25] * y4 - f[at + 19] * y3 - f[at + 13] * y2
    y0 = v[0] - f[at + 30] * y5 - f[at + 24] * y4 - f[at + 18] * y3 - f[at + 12] * y2 - f[at + 6] * y1
    return y0, y1, y2, y3, y4, y5


@inline
def lower_rows(f, at, r, g, at_g, y, at_y):
    """Y <- G L^-T for r x 6 numbers: L^-1 applied to each row."""
    for j in range(r):
        store6(y, at_y + 6 * j, lower6(f, at, load6(g, at_g + 6 * j)))


@inline
def gram_rows(f, at, r, y, at_y, old, at_old, s, at_s):
    """S <- old + Y d^-1 Y^T, lower half, r x r."""
    d = diagonal6(f, at)
    for i in range(r):
        w = times6(d, load6(y, at_y + 6 * i))
        for j in range(i + 1):
            s[at_s + i * r + j] = old[at_old + i * r + j] + dot6(w, load6(y, at_y + 6 * j))


@inline
def lower_columns(f, at, r, g, at_g, y, at_y):
    """Y <- L^-1 G for r x 6 numbers and a factor of r x r."""
    for i in range(r):
        v = load6(g, at_g + 6 * i)
        for k in range(i):
            v = axpy6(-f[at + i * r + k], load6(y, at_y + 6 * k), v)
        store6(y, at_y + 6 * i, v)


@inline
def gram_columns(f, at, r, y, at_y, old, at_old, s, at_s):
    """S <- old + Y^T d^-1 Y, all 6 x 6 of it."""
    for i in range(6):
        v = load6(old, at_old + 6 * i)
        for k in range(r):
            v = axpy6(y[at_y + 6 * k + i] * f[at + k * (r + 1)], load6(y, at_y + 6 * k), v)
        store6(s, at_s + 6 * i, v)
