"""Residuals and Jacobian of the constraints of a tree: closed loops, couplings, drives, rolling, blades.

Every row is a wrench: a force f at a world point x_B and a torque n on link B, and the opposite, at x_A, on link A. Virtual work gives its
row of the Jacobian, joint by joint on the way to the root, for a joint with world axes R_i at p_i (body-fixed coordinates):

    rotations  R_i^T (n + (x - p_i) x f),   shifts  R_i^T f          so that  d g = G v dt  and  G^T lambda  is the force of multipliers

lambda > 0 pushes the child towards a larger residual. With d = p_B - p_A:

    SHIFT_WORLD  a . d           f = a at p_B and p_A
    SHIFT        a . d           f = a at p_B on both: a turns with A
    ANGLE        a . b - value   n = b x a
    TILT         k a . b         n = k (b x a) - k (a . b) / (2 (1 + a . c)) (c x a),  k = sqrt(2 / (1 + a . c))
    TURN         a . w           n = R_C dexp^-T(w) a,  dexp^-T = 1 - hat(w)/2 + k hat(w)^2,  R_C = R_B turn_B,  w = log(R_P^T R_C)
    DISTANCE     |d| - value     f = d/|d| at p_B and p_A
    BLADE        (no residual)   f = b at p_B on both
    CONTACT      height          f = normal, heading or sideways direction at the contact point on both

and on coordinates of joints, without a wrench: COUPLING q_B - p(q_A), DRIVE q_B - f(t), for which G v = f'(t) instead of 0.

c is the axis of B and b across it. With theta the angle between a and c, the two TILT rows of a hinge have the length 2 sin(theta/2), twice
that of the part of the relative quaternion across the axis (lacoursiere2007, 14.13): 0 where the axes agree, greatest where they are
opposite. Direction cosines a . b alone, of length sin(theta), vanish at both. Unlike the quaternion these rows have one sign at every hinge
angle, and where the hinge is closed they are the direction cosines, with their Jacobian. At opposite axes, where no direction leads back
rather than another, both are sqrt(2), with the Jacobian of the cosines.

The contact point is the lowest point of the wheel: c - r e, with e the normal n without its part along the axle, as a unit vector (a ball:
e = n). Its height n . (c - p_A) - r n . e is stationary under a shift of the point along the rim, so the normal row is the velocity of the
material point there, as are the two tangential rows: heading (axle x n) and sideways (n x heading). A wheel that lies flat has no heading
and gives values that are not finite.
"""

import math

from dalembert.kernels._jit import call_at, inline, kernel
from dalembert.kernels.mat3 import load9, mul, transpose
from dalembert.kernels.quat import log
from dalembert.kernels.smallmat import add, axpy, cross, dot, load3, mat_vec, scale, sub
from dalembert.kernels.tree.constraint_layout import (
    ANGLE,
    BLADE,
    CONTACT,
    COUPLING,
    DISTANCE,
    DRIVE,
    HEADING,
    HEIGHT,
    OPPOSITE,
    PIECE,
    ROW_A,
    ROW_B,
    ROW_DEGREE,
    ROW_FUNCTION,
    ROW_KIND,
    ROW_LINK_A,
    ROW_LINK_B,
    ROW_POINT_A,
    ROW_POINT_B,
    ROW_POLYNOMIAL,
    ROW_SIZE,
    ROW_TURN_A,
    ROW_TURN_B,
    ROW_VALUE,
    ROW_WHICH,
    SHIFT,
    SHIFT_WORLD,
    TABLE_HEAD,
    TILT,
    TURN,
)
from dalembert.kernels.tree.group import dexp_inv_coefficients
from dalembert.kernels.tree.layout import (
    AT_CALL,
    AT_CONSTRAINTS,
    CONSTRAINTS,
    HEADER,
    HOLONOMIC,
    LINK_SIZE,
    NV,
    P_W,
    Q_AT,
    R_W,
    SCRATCH,
    V_AT,
)
from dalembert.kernels.tree.loads import add_wrench
from dalembert.kernels.tree.record import record


@inline
def axes_of(work, link):
    """World axes <- link axes."""
    if link < 0:
        return (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
    return load9(work, record(0, link, SCRATCH) + R_W)


@inline
def to_world(work, link, point):
    """World position of a point of a link."""
    if link < 0:
        return point
    return add(load3(work, record(0, link, SCRATCH) + P_W), mat_vec(load9(work, record(0, link, SCRATCH) + R_W), point))


@inline
def quaternion_of(m):
    """Quaternion (of any length) of a rotation matrix, from its largest component."""
    xx, yy, zz = m[0], m[4], m[8]
    trace = xx + yy + zz
    if trace >= xx and trace >= yy and trace >= zz:
        return (1.0 + trace, m[7] - m[5], m[2] - m[6], m[3] - m[1])
    if xx >= yy and xx >= zz:
        return (m[7] - m[5], 1.0 + xx - yy - zz, m[1] + m[3], m[2] + m[6])
    if yy >= zz:
        return (m[2] - m[6], m[1] + m[3], 1.0 + yy - xx - zz, m[5] + m[7])
    return (m[3] - m[1], m[2] + m[6], m[5] + m[7], 1.0 + zz - xx - yy)


@inline
def turn_row(system, at, rot_a, rot_b):
    """(residual, torque) of a TURN row."""
    parent = mul(rot_a, load9(system, at + ROW_TURN_A))
    child = mul(rot_b, load9(system, at + ROW_TURN_B))
    w = log(quaternion_of(mul(transpose(parent), child)))
    a = load3(system, at + ROW_A)
    t2 = dot(w, w)
    k2, k4 = dexp_inv_coefficients(t2)
    wa = cross(w, a)
    n = axpy(k2 - t2 * k4, cross(w, wa), axpy(-0.5, wa, a))
    return dot(a, w), mat_vec(child, n)


@inline
def tilt_row(system, at, rot_a, rot_b):
    """(residual, torque) of a TILT row."""
    a = mat_vec(rot_a, load3(system, at + ROW_A))
    b = mat_vec(rot_b, load3(system, at + ROW_B))
    c = mat_vec(rot_b, load3(system, at + ROW_TURN_B))
    n = cross(b, a)
    s = 1.0 + dot(a, c)
    if s < OPPOSITE:
        return math.sqrt(2.0), n
    k = math.sqrt(2.0 / s)
    g = k * dot(a, b)
    return g, axpy(-0.5 * g / s, cross(c, a), scale(k, n))


@inline
def unit(a):
    """a / |a|"""
    return scale(1.0 / math.sqrt(dot(a, a)), a)


@inline
def contact_row(system, at, rot_a, rot_b, p_a, centre):
    """(residual, direction, contact point) of a CONTACT row."""
    normal = mat_vec(rot_a, load3(system, at + ROW_A))
    axle = load3(system, at + ROW_B)
    up = normal
    heading = mat_vec(rot_a, load3(system, at + ROW_TURN_A))
    if dot(axle, axle) > 0.0:
        axle = mat_vec(rot_b, axle)
        up = unit(axpy(-dot(axle, normal), axle, normal))
        heading = unit(cross(axle, normal))
    x = axpy(-system[at + ROW_VALUE], up, centre)
    which = int(system[at + ROW_WHICH])
    if which == HEIGHT:
        return dot(normal, sub(x, p_a)), normal, x
    if which == HEADING:
        return 0.0, heading, x
    return 0.0, cross(normal, heading), x


@inline
def row_wrench(system, work, at):
    """(residual, force on B, torque on B, point of the force on B, point of the force on A), all in world axes; no coupling."""
    kind = int(system[at + ROW_KIND])
    link_a, link_b = int(system[at + ROW_LINK_A]), int(system[at + ROW_LINK_B])
    rot_a, rot_b = axes_of(work, link_a), axes_of(work, link_b)
    p_a = to_world(work, link_a, load3(system, at + ROW_POINT_A))
    p_b = to_world(work, link_b, load3(system, at + ROW_POINT_B))
    d = sub(p_b, p_a)
    residual = 0.0
    f = (0.0, 0.0, 0.0)
    n = (0.0, 0.0, 0.0)
    if kind == SHIFT_WORLD:
        f = load3(system, at + ROW_A)
        residual = dot(f, d)
    elif kind == SHIFT:
        f = mat_vec(rot_a, load3(system, at + ROW_A))
        residual = dot(f, d)
        p_a = p_b
    elif kind == ANGLE:
        a = mat_vec(rot_a, load3(system, at + ROW_A))
        b = mat_vec(rot_b, load3(system, at + ROW_B))
        n = cross(b, a)
        residual = dot(a, b) - system[at + ROW_VALUE]
    elif kind == TILT:
        residual, n = tilt_row(system, at, rot_a, rot_b)
    elif kind == TURN:
        residual, n = turn_row(system, at, rot_a, rot_b)
    elif kind == DISTANCE:
        length = math.sqrt(dot(d, d))
        f = scale(1.0 / length, d)
        residual = length - system[at + ROW_VALUE]
    elif kind == BLADE:
        f = mat_vec(rot_b, load3(system, at + ROW_B))
        p_a = p_b
    elif kind == CONTACT:
        residual, f, p_b = contact_row(system, at, rot_a, rot_b, p_a, p_b)
        p_a = p_b
    return residual, f, n, p_b, p_a


@inline
def couple(system, work, at, q, g, row):
    """A COUPLING row: joints of one degree of freedom, so G holds 1 and -p'(q_A)."""
    link_a = HEADER + int(system[at + ROW_LINK_A]) * LINK_SIZE
    link_b = HEADER + int(system[at + ROW_LINK_B]) * LINK_SIZE
    led = system[at + ROW_LINK_A] >= 0.0
    x = work[q + int(system[link_a + Q_AT])] if led else 0.0
    p = 0.0
    slope = 0.0
    first, n = int(system[at + ROW_POLYNOMIAL]), int(system[at + ROW_DEGREE])
    for k in range(n - 1, -1, -1):
        slope = slope * x + p
        p = p * x + system[first + k]
    work[g] = work[q + int(system[link_b + Q_AT])] - p
    work[row + int(system[link_b + V_AT])] = 1.0
    if led:
        work[row + int(system[link_a + V_AT])] -= slope


@inline
def look_up(system, at, n, t, work, out):
    """f, f', f'' of a table of n pieces, NaN where it has no value."""
    first, last = 0, n
    while last - first > 1:  # the last piece that starts before t, or the first one
        middle = (first + last) // 2
        if system[at + TABLE_HEAD + middle * PIECE] <= t:
            first = middle
        else:
            last = middle
    piece = at + TABLE_HEAD + first * PIECE
    s = t - system[piece]
    if not (t >= system[at] and t <= system[at + 1]):
        s = math.nan
    c1, c2, c3 = system[piece + 2], system[piece + 3], system[piece + 4]
    work[out] = system[piece + 1] + s * (c1 + s * (c2 + s * c3))
    work[out + 1] = c1 + s * (2.0 * c2 + 3.0 * s * c3)
    work[out + 2] = 2.0 * c2 + 6.0 * s * c3


@kernel
def prescribed(system, work, at):
    """Where in work f, f', f'' of a DRIVE row are, at the time that is written behind the start of the step."""
    time, n = int(system[AT_CALL]) + 1, int(system[at + ROW_DEGREE])
    if n > 0:
        look_up(system, int(system[at + ROW_POLYNOMIAL]), n, work[time], work, time + 1)
    else:
        call_at(int(system[at + ROW_FUNCTION]), work, time, work, time + 1)
    return time + 1


@inline
def follow(system, work, at, q, g, row):
    """A DRIVE row: G holds 1."""
    link = HEADER + int(system[at + ROW_LINK_B]) * LINK_SIZE
    work[g] = work[q + int(system[link + Q_AT])] - work[prescribed(system, work, at)]
    work[row + int(system[link + V_AT])] = 1.0


@inline
def first_drive(system):
    """The first DRIVE row; they go on to the last row on positions."""
    r = int(system[HOLONOMIC])
    while r > 0 and int(system[int(system[AT_CONSTRAINTS]) + (r - 1) * ROW_SIZE + ROW_KIND]) == DRIVE:
        r -= 1
    return r


@kernel
def rates_missing(system, work, out):
    """work[out + r] = -f'(t) of DRIVE rows, 0 of all others: G v + this is to vanish."""
    for r in range(int(system[CONSTRAINTS])):
        work[out + r] = 0.0
    for r in range(first_drive(system), int(system[HOLONOMIC])):
        work[out + r] = -work[prescribed(system, work, int(system[AT_CONSTRAINTS]) + r * ROW_SIZE) + 1]


@kernel
def constraint_rows(system, work, q, g, G):
    """Fill work[g : g + m] with the residuals (0 for rows on velocities alone) and work[G : G + m nv], by rows, with the Jacobian.

    m = system[CONSTRAINTS]. World poses of the links are known (kinematics.world); work[q:] is the configuration they belong to.
    Drives are taken at the time that is written behind the start of the step.
    """
    nv = int(system[NV])
    for r in range(int(system[CONSTRAINTS])):
        at = int(system[AT_CONSTRAINTS]) + r * ROW_SIZE
        row = G + r * nv
        for k in range(nv):
            work[row + k] = 0.0
        if int(system[at + ROW_KIND]) == COUPLING:
            couple(system, work, at, q, g + r, row)
            continue
        if int(system[at + ROW_KIND]) == DRIVE:
            follow(system, work, at, q, g + r, row)
            continue
        residual, f, n, x_b, x_a = row_wrench(system, work, at)
        work[g + r] = residual
        add_wrench(system, work, int(system[at + ROW_LINK_B]), 1.0, f, n, x_b, row)
        add_wrench(system, work, int(system[at + ROW_LINK_A]), -1.0, f, n, x_a, row)
