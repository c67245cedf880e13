"""Values and Jacobians of what joints measure, from the poses of free bodies.

Every measure is a wrench: a force f at a world point and a torque n on body B, and the opposite on body A. Its Jacobian acts on
(w_A, v_A, w_B, v_B), w in body axes, v of the centre of mass in world axes; with r from the centre of mass to where f acts

    d value/dt = n . (omega_B - omega_A) + f . (velocity of B - velocity of A) = J x,
    J = (-R_A^T (n + r_A x f), -f, R_B^T (n + r_B x f), f)           so that  J^T lam  is the force of a multiplier on both bodies

With d from the place on A to that on B, p_A, p_B the joint frames in the world, q = p_A^+ * p_B (lacoursiere2007, 14.1, 14.6):

    SHIFT_WORLD  a . d             f = a at both places
    SHIFT        a . d             f = a at the place on B: a turns with A
    LOCK, TILT   2 a . q_v         n = R(p_B) (q_s a - q_v x a)                            (14.11), (14.13), (14.34)-(14.36), times 2
    CROSS        s (a . b - value) n = s b x a                                             (14.19)-(14.21), (14.27), times 2
    DISTANCE     |d| - value       f = d/|d| at both places
    ABOUT        2 atan2(a . q_v, q_s)     n = R(p_B) (q_s z + (a . q_v) q_v)/(q_s^2 + (a . q_v)^2),  z = q_s a - q_v x a
    FIRST        angle from b to R(q) b, both seen along a
    SECOND       ABOUT of what is left behind the first turn
    VECTOR       a . w, w = log(q)         n = R(p_B) dexp^-T(w) a
    BEND         |w|                       n = R(p_B) w/|w|
    SPIN         (no value)                n = b
    SPEED        (no value)                n along omega_B - omega_A as it is; 0 where nothing turns
    SLIP         |omega_B - omega_A|       n along it, or across it
    PACE         (no value)                f along the velocity of the centre of mass of B; 0 where it rests
    SCALAR       2 q_s                     n = -R(p_B) q_v
    HEIGHT ...   lowest point of a wheel or ball: kernels/tree/constraints.py

All hold at every pose, also where the joint does not. Three LOCK rows vanish where the frames agree and nowhere else, two TILT rows across
an axis where it agrees with itself and not with its reverse: there they have the length 2, and in between 2 sin(angle/2), as the tilt rows
of kernels/tree/constraints.py, from which they differ by half the hinge angle, about the axis. Where they are satisfied a row is an angle:
compliance is in rad/(N m). Half a turn away, LOCK and TILT have a row without a derivative: no direction leads back rather than another.
"""

import math

from dalembert.kernels._jit import inline, kernel
from dalembert.kernels.bodies.layout import (
    ABOUT,
    ARM_A,
    ARM_B,
    AT_JOINTS,
    AT_MEASURES,
    BEND,
    BLADE,
    BODY_A,
    BODY_B,
    CROSS,
    DIRECTION_A,
    DIRECTION_B,
    DIRECTION_C,
    DISTANCE,
    FIRST,
    FIRST_MEASURE,
    FRAME_A,
    FRAME_B,
    HEADING,
    HEIGHT,
    JOINT_SIZE,
    JOINTS,
    LAST_MEASURE,
    LOCK,
    MEASURE_SIZE,
    PACE,
    SCALAR,
    SCALE,
    SECOND,
    SHIFT,
    SHIFT_WORLD,
    SLIP,
    SPEED,
    TILT,
    VALUE,
    VECTOR,
    WHAT,
)
from dalembert.kernels.quat import conj, load, log, mul, rotate, rotate_inverse
from dalembert.kernels.smallmat import add, axpy, cross, dot, load3, scale, sub
from dalembert.kernels.tree.group import dexp_inv_coefficients

ZERO = (0.0, 0.0, 0.0)
TURN = 2.0 * math.pi


@inline
def imaginary(q):
    """q_v"""
    return (q[1], q[2], q[3])


@inline
def turned(a, q, p_b, sign):
    """(2 a . q_v, n) of sign times q."""
    v = imaginary(q)
    return 2.0 * sign * dot(a, v), rotate(p_b, scale(sign, axpy(q[0], a, cross(a, v))))


@inline
def about(a, q, p_b):
    """(angle of q about a in (-pi, pi], n)."""
    v = imaginary(q)
    s, c = dot(a, v), q[0]
    m = s * s + c * c
    if m == 0.0:  # half a turn about an axis across a: no angle
        return 0.0, ZERO
    n = rotate(p_b, scale(1.0 / m, axpy(c, axpy(c, a, cross(a, v)), scale(s, v))))
    angle = 2.0 * math.atan2(s, c) if c >= 0.0 else 2.0 * math.atan2(-s, -c)
    return (math.pi if angle <= -math.pi else angle), n


@inline
def first_angle(a, b, q, p_a):
    """(angle about a from b to R(q) b, n)."""
    image = rotate(q, b)
    x = axpy(-dot(a, b), a, b)
    y = cross(a, x)
    s, c = dot(image, y), dot(image, x)
    m = s * s + c * c
    if m == 0.0:  # the second axis points along the first
        return 0.0, ZERO
    return math.atan2(s, c), rotate(p_a, scale(1.0 / m, cross(image, axpy(c, y, scale(-s, x)))))


@inline
def second_angle(a, b, q, p_a, p_b):
    """(angle about b of what is left of q behind the turn by the first angle, n)."""
    first, n_first = first_angle(a, b, q, p_a)
    s = math.sin(0.5 * first)
    back = (math.cos(0.5 * first), -s * a[0], -s * a[1], -s * a[2])
    angle, n = about(b, mul(back, q), p_b)
    return angle, axpy(-dot(n, rotate(p_a, a)), n_first, n)


@inline
def component(a, q, p_b):
    """(a . log(q), n)."""
    w = log(q)
    t2 = dot(w, w)
    k2, k4 = dexp_inv_coefficients(t2)
    wa = cross(w, a)
    return dot(a, w), rotate(p_b, axpy(k2 - t2 * k4, cross(w, wa), axpy(-0.5, wa, a)))


@inline
def bend(q, p_b):
    """(|log(q)|, n)."""
    v = imaginary(q)
    s = math.sqrt(dot(v, v))
    if s == 0.0:
        return 0.0, ZERO
    return 2.0 * math.atan2(s, abs(q[0])), rotate(p_b, scale(math.copysign(1.0 / s, q[0]), v))


@kernel
def turn_of(system, at, what, q, p_a, p_b):
    """(value, n) of a measure on orientations alone."""
    a, b = load3(system, at + DIRECTION_A), load3(system, at + DIRECTION_B)
    if what == LOCK:
        return turned(a, q, p_b, math.copysign(1.0, q[0]))
    if what == TILT:
        return turned(a, q, p_b, 1.0)
    if what == CROSS:
        s = system[at + SCALE]
        a_W, b_W = rotate(p_a, a), rotate(p_b, b)
        return s * (dot(a_W, b_W) - system[at + VALUE]), scale(s, cross(b_W, a_W))
    if what == ABOUT:
        return about(a, q, p_b)
    if what == FIRST:
        return first_angle(a, b, q, p_a)
    if what == SECOND:
        return second_angle(a, b, q, p_a, p_b)
    if what == VECTOR:
        return component(a, q, p_b)
    if what == BEND:
        return bend(q, p_b)
    if what == SCALAR:
        return 2.0 * q[0], rotate(p_b, scale(-1.0, imaginary(q)))
    return 0.0, rotate(p_b, b)  # SPIN


@inline
def unit(a):
    """a / |a|"""
    return scale(1.0 / math.sqrt(dot(a, a)), a)


@kernel
def lowest(system, at, what, p_a, p_b, place_a, centre):
    """(value, f, contact point) of a wheel or ball on a plane."""
    normal, heading = rotate(p_a, load3(system, at + DIRECTION_A)), rotate(p_a, load3(system, at + DIRECTION_C))
    axle, up = load3(system, at + DIRECTION_B), normal
    if dot(axle, axle) > 0.0:
        axle = rotate(p_b, axle)
        up = unit(axpy(-dot(axle, normal), axle, normal))
        heading = unit(cross(axle, normal))
    x = axpy(-system[at + VALUE], up, centre)
    if what == HEIGHT:
        return dot(normal, sub(x, place_a)), normal, x
    if what == HEADING:
        return 0.0, heading, x
    return 0.0, cross(normal, heading), x


@kernel
def shift_of(system, at, what, p_a, p_b, place_a, place_b):
    """(value, f, where f acts on A, where it acts on B) of a measure on places."""
    d = sub(place_b, place_a)
    if what == SHIFT_WORLD:
        f = load3(system, at + DIRECTION_A)
        return dot(f, d), f, place_a, place_b
    if what == SHIFT:
        f = rotate(p_a, load3(system, at + DIRECTION_A))
        return dot(f, d), f, place_b, place_b
    if what == DISTANCE:
        length = math.sqrt(dot(d, d))
        f = scale(1.0 / length, d) if length > 0.0 else ZERO
        return length - system[at + VALUE], f, place_a, place_b
    if what == BLADE:
        return 0.0, rotate(p_b, load3(system, at + DIRECTION_B)), place_b, place_b
    value, f, x = lowest(system, at, what, p_a, p_b, place_a, place_b)
    return value, f, x, x


@inline
def pose(states, body):
    """(centre of mass, quaternion) of a body; -1: of the world."""
    if body < 0:
        return ZERO, (1.0, 0.0, 0.0, 0.0)
    return (
        (states[body, 0], states[body, 1], states[body, 2]),
        (states[body, 3], states[body, 4], states[body, 5], states[body, 6]),
    )


@inline
def write(J, m, column, q, torque, force):
    """Six columns of a row: torque in the axes of the body, force."""
    t = rotate_inverse(q, torque)
    for k in range(3):
        J[m, column + k] = t[k]
        J[m, column + 3 + k] = force[k]


@kernel
def relative_spin(states, body_a, body_b, q_a, q_b):
    """omega_B - omega_A, world axes."""
    spin = ZERO
    if body_b >= 0:
        spin = rotate(q_b, (states[body_b, 7], states[body_b, 8], states[body_b, 9]))
    if body_a >= 0:
        spin = sub(spin, rotate(q_a, (states[body_a, 7], states[body_a, 8], states[body_a, 9])))
    return spin


@kernel
def side(n, which):
    """One of three unit vectors across each other, the first along n; of n = 0: along x, y, z."""
    if dot(n, n) == 0.0:
        return (1.0 if which == 0 else 0.0, 1.0 if which == 1 else 0.0, 1.0 if which == 2 else 0.0)
    if which == 0:
        return n
    a = (1.0, 0.0, 0.0)
    if abs(n[0]) > 0.6:
        a = (0.0, 1.0, 0.0)
    a = unit(cross(n, a))
    if which == 1:
        return a
    return cross(n, a)


@inline
def is_angle(what):
    """Measures that go on beyond half a turn."""
    return ABOUT <= what <= SECOND


@inline
def on_places(what):
    """Measures with a force; the others are on orientations alone."""
    return what <= SHIFT or what == DISTANCE or HEIGHT <= what <= BLADE


@kernel
def measure_joint(system, joint, states, values, J):
    """Values and Jacobians of the measures of the joint whose record starts at `joint`."""
    body_a, body_b = int(system[joint + BODY_A]), int(system[joint + BODY_B])
    x_a, q_a = pose(states, body_a)
    x_b, q_b = pose(states, body_b)
    place_a, place_b = add(x_a, rotate(q_a, load3(system, joint + ARM_A))), add(x_b, rotate(q_b, load3(system, joint + ARM_B)))
    p_a, p_b = mul(q_a, load(system, joint + FRAME_A)), mul(q_b, load(system, joint + FRAME_B))
    q = mul(conj(p_a), p_b)
    for m in range(int(system[joint + FIRST_MEASURE]), int(system[joint + LAST_MEASURE])):
        at = int(system[AT_MEASURES]) + m * MEASURE_SIZE
        what = int(system[at + WHAT])
        f, n, at_a, at_b = ZERO, ZERO, place_a, place_b
        if what == PACE:
            value = 0.0
            if body_b >= 0:
                f = (states[body_b, 10], states[body_b, 11], states[body_b, 12])
                f = unit(f) if dot(f, f) > 0.0 else f
        elif on_places(what):
            value, f, at_a, at_b = shift_of(system, at, what, p_a, p_b, place_a, place_b)
        elif SPEED <= what <= SLIP:
            n = relative_spin(states, body_a, body_b, q_a, q_b)
            value = math.sqrt(dot(n, n)) if what == SLIP else 0.0
            if dot(n, n) > 0.0:
                n = unit(n)
            if what == SLIP:
                n = side(n, int(system[at + VALUE]))
        else:
            value, n = turn_of(system, at, what, q, p_a, p_b)
            if is_angle(what):
                value += TURN * math.floor((values[m] - value) / TURN + 0.5)
        values[m] = value
        for k in range(12):
            J[m, k] = 0.0
        if body_a >= 0:
            write(J, m, 0, q_a, scale(-1.0, add(n, cross(sub(at_a, x_a), f))), scale(-1.0, f))
        if body_b >= 0:
            write(J, m, 6, q_b, add(n, cross(sub(at_b, x_b), f)), f)


@kernel
def measure(system, states, values, J):
    """values (measures,) and J (measures, 12) of all joints at the states (n, 13) of the bodies.

    Angles go on from what stands in values: the number nearest to it that differs from the angle in (-pi, pi] by whole turns.
    """
    for j in range(int(system[JOINTS])):
        joint = int(system[AT_JOINTS]) + j * JOINT_SIZE
        if system[joint + LAST_MEASURE] > system[joint + FIRST_MEASURE]:  # rows of couplings have none, and companions no pose
            measure_joint(system, joint, states, values, J)
