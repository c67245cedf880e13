"""Free motion of bodies in one step: the mass matrix in which constraints act, the velocities without them, and the way to the next node.

A body has 13 numbers: x of its centre of mass (world), quaternion q (body to world), omega (body axes), v of its centre of mass (world).
Unknowns of a step: (w, v) with w = (2/h) x_v, x_v the vector part of the rotation over the step (Lacoursiere 2007, 15.59-15.70, corrected).

    y = (cos(h|omega|/2), sin(h|omega|/2) omega/|omega|)         rotation of the step before (15.45)
    z_s = y_v . I y_v,   z_v = -(y_s I y_v + (I y_v) x y_v) - (h^2/2) tau'         all known torques inside z
    D = I - z_s 1,       M~ = D - hat(z_v) D^-1 hat(z_v)         symmetric, positive definite while z_s < min I (15.62)
    (M~/y_s) w = -(2/h) (1 - hat(z_v) D^-1) z_v + J^T lam        so M~/y_s is the mass of w
    q+ = q * (sqrt(1 - |h w/2|^2), h w/2)
    m v = m v_k + h f + J^T lam,   x+ = x + h v

A body with three equal inertias has no gyroscopic torque: I w = I omega + h tau' + J^T lam, q+ = q * exp(h w), exact for every h; w is its
angular velocity. Its mode is BALANCED.

Where another body turns too fast for the quaternion step (z_s > 1/2 min I, or h |omega| > 1.6 rad), its rotation is the stabilised step
(15.29), which exists for every h and loses energy; w is then the angular velocity, and mode is STABILISED:

    (I - h^2 hat(L) I^-1 hat(L)) w = (I + h hat(L)) omega + h (1 + h hat(L) I^-1) tau' + J^T lam,   L = I omega,   q+ = q * exp(h w)

A body whose mode is ASLEEP stays where it is, bit for bit: its velocities are 0, with and without constraints.
"""

import math

from dalembert.kernels._jit import inline, kernel
from dalembert.kernels.mat3 import mul
from dalembert.kernels.smallmat import add, axpy, cross, dot, mat_vec, scale, sub

QUATERNION, STABILISED, BALANCED, ASLEEP = 0, 1, 2, 3
X, Q, OMEGA, V, SIZE = 0, 3, 7, 10, 13
SHARE, LARGEST_ANGLE = 0.5, 1.6  # of the limit (15.62); rad per step
LARGEST_HALF = 0.95  # |h w/2| of a step: beyond, w is taken for the angular velocity


@inline
def _row3(a, k, i):
    return (a[k, i], a[k, i + 1], a[k, i + 2])


@inline
def _put3(a, k, i, x):
    a[k, i], a[k, i + 1], a[k, i + 2] = x[0], x[1], x[2]


@inline
def _matrix(a, k):
    """Nine numbers of a[k]."""
    return (a[k, 0, 0], a[k, 0, 1], a[k, 0, 2], a[k, 1, 0], a[k, 1, 1], a[k, 1, 2], a[k, 2, 0], a[k, 2, 1], a[k, 2, 2])


@inline
def hat(x):
    """Matrix of the cross product."""
    return (0.0, -x[2], x[1], x[2], 0.0, -x[0], -x[1], x[0], 0.0)


@inline
def inverse_symmetric(a):
    """a^-1 of a symmetric matrix of nine numbers."""
    c0, c1, c2 = a[4] * a[8] - a[5] * a[5], a[2] * a[5] - a[1] * a[8], a[1] * a[5] - a[2] * a[4]
    d = 1.0 / (a[0] * c0 + a[1] * c1 + a[2] * c2)
    c3, c4, c5 = d * (a[0] * a[8] - a[2] * a[2]), d * (a[1] * a[2] - a[0] * a[5]), d * (a[0] * a[4] - a[1] * a[1])
    return (d * c0, d * c1, d * c2, d * c1, c3, c4, d * c2, c4, c5)


@inline
def sandwich(s, a, z, inverse):
    """a - s hat(z) inverse hat(z), made symmetric."""
    t = mul(mul(hat(z), inverse), hat(z))
    xy, xz, yz = a[1] - 0.5 * s * (t[1] + t[3]), a[2] - 0.5 * s * (t[2] + t[6]), a[5] - 0.5 * s * (t[5] + t[7])
    return (a[0] - s * t[0], xy, xz, xy, a[4] - s * t[4], yz, xz, yz, a[8] - s * t[8])


@inline
def rotation_matrix(w, x, y, z):
    """R of a unit quaternion, nine numbers by rows."""
    return (
        1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y),
        2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x),
        2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y),
    )  # fmt: skip


@inline
def half_turn(h, omega):
    """(y_s, y_v) of a rotation by h omega."""
    rate = math.sqrt(dot(omega, omega))
    a = 0.5 * h * rate
    f = math.sin(a) / rate if rate > 0.0 else 0.5 * h
    return math.cos(a), scale(f, omega)


@inline
def quick(h, I, least, omega):
    """Whether (15.62) is too near for a body that turns by omega."""
    rate = math.sqrt(dot(omega, omega))
    if not abs(h) * rate <= LARGEST_ANGLE:
        return True
    _, y = half_turn(h, omega)
    return not dot(y, mat_vec(I, y)) <= SHARE * least


@inline
def quaternion_mass(h, I, omega, torque):
    """(mass of w, w without constraints): 15.59."""
    s, y = half_turn(h, omega)
    l = mat_vec(I, y)
    z_s = dot(y, l)
    z = axpy(-0.5 * h * h, torque, scale(-1.0, add(scale(s, l), cross(l, y))))
    D = (I[0] - z_s, I[1], I[2], I[3], I[4] - z_s, I[5], I[6], I[7], I[8] - z_s)
    inverse = inverse_symmetric(D)
    M = sandwich(1.0, D, z, inverse)
    b = scale(-2.0 / h, sub(z, cross(z, mat_vec(inverse, z))))
    r = 1.0 / s
    mass = (r * M[0], r * M[1], r * M[2], r * M[3], r * M[4], r * M[5], r * M[6], r * M[7], r * M[8])
    return mass, mat_vec(inverse_symmetric(mass), b)


@inline
def stabilised_mass(h, I, omega, torque):
    """(mass of w, w without constraints): 15.29."""
    L, inverse = mat_vec(I, omega), inverse_symmetric(I)
    mass = sandwich(h * h, I, L, inverse)
    b = add(L, scale(h, cross(L, omega)))
    b = add(b, scale(h, add(torque, scale(h, cross(L, mat_vec(inverse, torque))))))
    return mass, mat_vec(inverse_symmetric(mass), b)


@inline
def balanced(I):
    """Whether the three principal inertias are one."""
    least = 1e-12 * I[0]
    even = abs(I[0] - I[4]) <= least and abs(I[0] - I[8]) <= least
    return even and abs(I[1]) <= least and abs(I[2]) <= least and abs(I[5]) <= least


@inline
def _put_block(a, k, m):
    for i in range(3):
        for j in range(3):
            a[k, i, j] = m[3 * i + j]


@inline
def along(J, r, x, body_a, body_b):
    """J[r] x on two bodies."""
    total = 0.0
    for k in range(6):
        if body_a >= 0:
            total += J[r, k] * x[6 * body_a + k]
        if body_b >= 0:
            total += J[r, 6 + k] * x[6 * body_b + k]
    return total


@kernel
def prepare(h, mass, inertia, least, states, push, M, inverse, before, free, mode):
    """Mass blocks, velocities of the step before and velocities without constraints; how many bodies are STABILISED.

    mass (n,), inertia (n, 3, 3), least (n,): smallest principal inertias, states (n, 13), push (6 n,): known torque (body axes) and force
    (world axes) about the centre of mass; M, inverse (n, 6, 6); before, free (6 n,): (w, v); mode (n,), ASLEEP stays.
    """
    count = 0
    for k in range(mass.shape[0]):
        if mode[k] == ASLEEP:
            for i in range(6 * k, 6 * k + 6):
                before[i], free[i] = 0.0, 0.0
            continue
        I, omega, torque = _matrix(inertia, k), _row3(states, k, OMEGA), (push[6 * k], push[6 * k + 1], push[6 * k + 2])
        even = balanced(I)
        fast = not even and quick(h, I, least[k], omega)
        mode[k] = BALANCED if even else STABILISED if fast else QUATERNION
        count += int(fast)
        if even:
            block, w = I, axpy(h / I[0], torque, omega)
            last = omega
        elif fast:
            block, w = stabilised_mass(h, I, omega, torque)
            last = omega
        else:
            block, w = quaternion_mass(h, I, omega, torque)
            last = scale(2.0 / h, half_turn(h, omega)[1])
        for i in range(6):
            for j in range(6):
                M[k, i, j] = 0.0
                inverse[k, i, j] = 0.0
        _put_block(M, k, block)
        _put_block(inverse, k, inverse_symmetric(block))
        for i in range(3):
            M[k, 3 + i, 3 + i] = mass[k]
            inverse[k, 3 + i, 3 + i] = 1.0 / mass[k]
            before[6 * k + i], free[6 * k + i] = last[i], w[i]
            before[6 * k + 3 + i] = states[k, V + i]
            free[6 * k + 3 + i] = states[k, V + i] + h * push[6 * k + 3 + i] / mass[k]
    return count


@inline
def rate_of(h, half, s):
    """omega of a rotation (s, half) over h: (2/h) atan2(|half|, s) along it."""
    n = math.sqrt(dot(half, half))
    f = math.atan2(n, s) / n if n > 0.0 else 1.0
    return scale(2.0 * f / h, half)


@inline
def _turn(states, k, s, x):
    """q <- q * (s, x), normalised."""
    a, b, c, d = states[k, Q], states[k, Q + 1], states[k, Q + 2], states[k, Q + 3]
    w = a * s - b * x[0] - c * x[1] - d * x[2]
    i = a * x[0] + b * s + c * x[2] - d * x[1]
    j = a * x[1] - b * x[2] + c * s + d * x[0]
    l = a * x[2] + b * x[1] - c * x[0] + d * s
    r = 1.0 / math.sqrt(w * w + i * i + j * j + l * l)
    states[k, Q], states[k, Q + 1], states[k, Q + 2], states[k, Q + 3] = r * w, r * i, r * j, r * l


@kernel
def advance(h, x, mode, states):
    """The next node from the velocities (w, v) of the step. Returns False where a number is not finite."""
    fine = True
    for k in range(states.shape[0]):
        if mode[k] == ASLEEP:
            continue
        w = (x[6 * k], x[6 * k + 1], x[6 * k + 2])
        half = scale(0.5 * h, w)
        square = dot(half, half)
        if mode[k] == QUATERNION and square < LARGEST_HALF * LARGEST_HALF:
            s = math.sqrt(1.0 - square)
            omega = rate_of(h, half, s)
        else:
            s, half = half_turn(h, w)
            omega = w
        _turn(states, k, s, half)
        _put3(states, k, OMEGA, omega)
        for i in range(3):
            states[k, V + i] = x[6 * k + 3 + i]
            states[k, X + i] += h * x[6 * k + 3 + i]
        for i in range(SIZE):
            fine = fine and abs(states[k, i]) < math.inf
    return fine


@kernel
def kick(h, x, mode, states):
    """omega and v of the states from velocities (w, v), as those of the step that ended here: for impacts, which move nothing."""
    for k in range(states.shape[0]):
        if mode[k] == ASLEEP:
            continue
        w = (x[6 * k], x[6 * k + 1], x[6 * k + 2])
        half = scale(0.5 * h, w)
        square = dot(half, half)
        if mode[k] == QUATERNION and square < LARGEST_HALF * LARGEST_HALF:
            w = rate_of(h, half, math.sqrt(1.0 - square))
        _put3(states, k, OMEGA, w)
        for i in range(3):
            states[k, V + i] = x[6 * k + 3 + i]


@kernel
def kinetic(mass, inertia, states):
    """Kinetic energy of the bodies."""
    total = 0.0
    for k in range(mass.shape[0]):
        omega, v = _row3(states, k, OMEGA), _row3(states, k, V)
        total += 0.5 * dot(omega, mat_vec(_matrix(inertia, k), omega)) + 0.5 * mass[k] * dot(v, v)
    return total


@kernel
def reaches(h, margin, size, free, states, x, q, reach):
    """x (n, 3), q (n, 4) of the states; reach (n,): how far each body may come in the step beyond half the margin. size (n,): radii."""
    for k in range(states.shape[0]):
        for i in range(3):
            x[k, i] = states[k, X + i]
        for i in range(4):
            q[k, i] = states[k, Q + i]
        turn, way = 0.0, 0.0
        for i in range(3):
            turn += free[6 * k + i] * free[6 * k + i]
            way += free[6 * k + 3 + i] * free[6 * k + 3 + i]
        reach[k] = max(abs(h) * (math.sqrt(way) + size[k] * math.sqrt(turn)) - 0.5 * margin, 0.0)


@kernel
def known_work(h, push, weight, x, before, impulse):
    """h (push - weight).(x + before)/2: work of known forces other than the weight; impulse (6,): that of their forces is added."""
    total = 0.0
    for k in range(weight.shape[0] // 6):
        for i in range(6):
            p = 6 * k + i
            total += (push[p] - weight[p]) * (x[p] + before[p])
        for i in range(3):
            impulse[3 + i] += h * push[6 * k + 3 + i]
    return 0.5 * h * total


@kernel
def exchange(M, x, before, free):
    """(x + before).M (free - before)/2 - (x.M x - before.M before)/2: what known forces do, less the change of energy in the metric M."""
    total = 0.0
    for k in range(M.shape[0]):
        for i in range(6):
            p, q = 6 * k + i, 0.0
            for j in range(6):
                q += M[k, i, j] * (free[6 * k + j] - x[6 * k + j])
            total += 0.5 * (x[p] + before[p]) * q
    return total
