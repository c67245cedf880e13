"""What the steps in director coordinates share."""

from dalembert.kernels._jit import inline, kernel
from dalembert.kernels.directors import layout as at
from dalembert.kernels.directors.dense import solve
from dalembert.kernels.directors.quadratic import gradients
from dalembert.kernels.directors.tree import axis_of, own_anchor, parent_anchor, tangents, vector
from dalembert.kernels.smallmat import axpy, cross, dot, load3, scale, solve3, sub

FLOOR = 1e-15  # of the largest coordinate (directors: 1): corrections of u below are round-off
STALLED = 0.5


@inline
def state_places(s):
    """Where p, the held force along u, u / h, multipliers and the tail begin in the state."""
    return s.n, 3 * s.n, 3 * s.n + s.k, 3 * s.n + 2 * s.k, 3 * s.n + 2 * s.k + s.rows


@kernel
def load(s, state, work, base):
    """The vectors of the node into work[base:]."""
    for i in range(at.Q0):
        work[base + i] = 1.0 if i < 9 and i % 4 == 0 else 0.0
    for i in range(s.n):
        work[base + at.Q0 + i] = state[i]


@kernel
def middle(s, work, base, dq, out):
    """w + dw/2"""
    for i in range(at.Q0):
        work[out + i] = work[base + i]
    for i in range(s.n):
        work[out + at.Q0 + i] = work[base + at.Q0 + i] + 0.5 * work[dq + i]


@kernel
def reduced_mass(system, s, work, P, A):
    """P^T M P, k x k."""
    k = s.k
    for i in range(k * k):
        work[A + i] = 0.0
    for r in range(s.n):
        m = system[s.at_mass + r]
        if m != 0.0:
            for i in range(k):
                x = m * work[P + r * k + i]
                if x != 0.0:
                    for j in range(k):
                        work[A + i * k + j] += x * work[P + r * k + j]


@kernel
def onto(s, work, P, x, out):
    """P^T x"""
    for c in range(s.k):
        work[out + c] = 0.0
    for r in range(s.n):
        for c in range(s.k):
            work[out + c] += work[P + r * s.k + c] * work[x + r]


@kernel
def velocities(system, s, work, P, b):
    """nu with P^T M P nu = b, in place. With loops: b is completed to the momentum of what they allow, G P nu = 0, with G at work[s.w:]."""
    reduced_mass(system, s, work, P, s.A)
    if s.loops == 0:
        return solve(work, s.A, s.k, b)
    return constrained(system, s, work, P, b)


@kernel
def constrained(system, s, work, P, b):
    """[M R^T; R 0] (nu, lambda) = (b, 0) with R = G P of the loops; G of the node is in work[s.G:]."""
    k, m = s.k, s.loops
    size = k + m
    for i in range(size * size):
        work[s.K + i] = 0.0
    for i in range(k):
        work[s.x + i] = work[b + i]
        for j in range(k):
            work[s.K + i * size + j] = work[s.A + i * k + j]
    for r in range(m):
        work[s.x + k + r] = 0.0
        for c in range(k):
            total = 0.0
            for i in range(s.n):
                total += work[s.G + (s.rows - m + r) * s.n + i] * work[P + i * k + c]
            work[s.K + (k + r) * size + c] = total
            work[s.K + c * size + k + r] = total
    ok = solve(work, s.K, size, s.x)
    for i in range(k):
        work[b + i] = work[s.x + i]
    return ok


@kernel
def largest(work, x, n):
    """max |x|; NaN in, NaN out."""
    m = 0.0
    for i in range(n):
        size = abs(work[x + i])
        if size > m or size != size:
            m = size
    return m


@kernel
def push(system, s, state, work, base):
    """B^T tau into work[s.push:]: forces on the coordinates whose work along u is tau, the force that is held along u.

    A turn: torque m on the child, -m on the parent, m/2 x d_i on the directors. A shift: forces +-f at the point of the joint. What hangs
    by absolute coordinates (FREE, BALL) is pushed from outside. P^T B^T = 1.
    """
    held = 3 * s.n
    for i in range(s.n):
        work[s.push + i] = 0.0
    for b in range(s.edges):
        e = s.at_edges + at.EDGE * b
        kind, first = int(system[e]), held + int(system[e + at.U])
        force, torque, point = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), vector(work, base, int(system[e + at.PHI]))
        if kind == at.FREE or kind == at.POINT:
            force = load3(state, first)
            if kind == at.FREE:
                torque = load3(state, first + 3)
        elif kind == at.BALL:
            torque = load3(state, first)
        elif kind == at.LINK:
            t1, t2 = tangents(sub(point, parent_anchor(work, base, system, e)))
            force = scale(1.0 / system[e + at.LENGTH], axpy(state[first], t1, scale(state[first + 1], t2)))
        else:
            point = own_anchor(work, base, system, e)
            force, torque = along_chain(system, s, state, work, base, e, first)
        press(s, work, base, int(system[e + at.PHI]), system[e + at.RIGID] == 1.0, 1.0, force, torque, point)
        parent = int(system[e + at.PARENT_PHI])
        if kind >= at.LINK and parent > at.ZERO:
            press(s, work, base, parent, int(system[e + at.PARENT_DIRS]) > at.ZERO, -1.0, force, torque, point)


@inline
def along_chain(system, s, state, work, base, e, first):
    """(force, torque) of a chain: along its shifts, which are orthonormal, and in the plane of its turns."""
    force, torque = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    count = int(system[e + at.COUNT])
    if count == 2 and system[e + at.AXES] == at.TURN and system[e + at.AXES + at.AXIS] == at.TURN:
        a, b = axis_of(work, base, system, e, 0), axis_of(work, base, system, e, 1)
        aa, ab, bb = dot(a, a), dot(a, b), dot(b, b)
        det = aa * bb - ab * ab
        x, y = state[first], state[first + 1]
        return force, axpy((bb * x - ab * y) / det, a, scale((aa * y - ab * x) / det, b))
    for j in range(count):
        n = axis_of(work, base, system, e, j)
        if system[e + at.AXES + at.AXIS * j] == at.SLIDE:
            force = axpy(state[first + j] / dot(n, n), n, force)
        else:
            torque = axpy(state[first + j] / dot(n, n), n, torque)
    return force, torque


@inline
def press(s, work, base, phi, rigid, sign, force, torque, point):
    """A force at a point and a torque on a node: the force on phi; of the whole torque m about phi a x d_i on the directors with

    sum of d_i x (a x d_i) = m: for orthonormal directors a = m/2.
    """
    whole = axpy(1.0, cross(sub(point, vector(work, base, phi)), force), torque)
    for a in range(3):
        work[s.push + 3 * (phi - 4) + a] += sign * force[a]
    if rigid:
        x, y, z = vector(work, base, phi + 1), vector(work, base, phi + 2), vector(work, base, phi + 3)
        t = dot(x, x) + dot(y, y) + dot(z, z)
        xy = -(x[0] * x[1] + y[0] * y[1] + z[0] * z[1])
        xz = -(x[0] * x[2] + y[0] * y[2] + z[0] * z[2])
        yz = -(x[1] * x[2] + y[1] * y[2] + z[1] * z[2])
        xx, yy, zz = x[0] ** 2 + y[0] ** 2 + z[0] ** 2, x[1] ** 2 + y[1] ** 2 + z[1] ** 2, x[2] ** 2 + y[2] ** 2 + z[2] ** 2
        _, half = solve3((t - xx, xy, xz, xy, t - yy, yz, xz, yz, t - zz), whole)
        for i in range(1, 4):
            on = cross(half, vector(work, base, phi + i))
            for a in range(3):
                work[s.push + 3 * (phi - 4 + i) + a] += sign * on[a]


@kernel
def recover(system, s, work, base, r):
    """Multipliers with G^T lambda = work[r:], by least squares: G G^T lambda = G r. G at the vectors work[base:]."""
    gradients(system, s, work, base, s.G)
    m, n = s.rows, s.n
    for i in range(m):
        total = 0.0
        for c in range(n):
            total += work[s.G + i * n + c] * work[r + c]
        work[s.lam + i] = total
        for j in range(m):
            work[s.N + i * m + j] = 0.0
    for c in range(n):
        for i in range(m):
            x = work[s.G + i * n + c]
            if x != 0.0:  # of most coordinates most rows know nothing
                for j in range(i + 1):
                    work[s.N + i * m + j] += x * work[s.G + j * n + c]
    for i in range(m):
        for j in range(i):
            work[s.N + j * m + i] = work[s.N + i * m + j]
    return solve(work, s.N, m, s.lam)


@kernel
def add_impulse(system, s, state, work, base, weight, f):
    """Angular (about the origin) and linear impulse of forces weight f on the coordinates, at the vectors work[base:]."""
    into = 3 * s.n + 2 * s.k + s.rows + at.IMPULSE
    for i in range(s.n // 3):
        force = load3(work, f + 3 * i)
        moment = cross(vector(work, base, 4 + i), force)
        for a in range(3):
            state[into + a] += weight * moment[a]
    for b in range(s.edges):
        phi = int(system[s.at_edges + at.EDGE * b + at.PHI])
        for a in range(3):
            state[into + 3 + a] += weight * work[f + 3 * (phi - 4) + a]


@kernel
def take_control(s, state, work, P):
    """The force that is held on the coordinates becomes one along u, P^T f, which acts at both ends of the step."""
    for c in range(s.k):
        total = 0.0
        for i in range(s.n):
            total += work[P + i * s.k + c] * state[2 * s.n + i]
        state[3 * s.n + c] = total


@kernel
def start_increment(system, s, h, state, work, base, P):
    """u = h nu, nu the velocity of the momentum p of the state; P at the node is in work[P:]. False where no velocity belongs to it."""
    at_p = s.n
    for i in range(s.n):
        work[s.r + i] = state[at_p + i]
    onto(s, work, P, s.r, s.u)
    if s.loops > 0:
        gradients(system, s, work, base, s.G)
    ok = velocities(system, s, work, P, s.u)
    for i in range(s.k):
        work[s.u + i] *= h
    return ok
