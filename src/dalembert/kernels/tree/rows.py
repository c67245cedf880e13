"""What mechanics says of many states at once: one row per state, O(links) each.

    kinetic     sum V . I V / 2 and the armatures                                   potential   gravity, loads, joint stiffness
    momentum    sum (R L + x x R p, R p), about the world origin, world axes        poses       4x4, of the body frames

q (N, nq), v (N, nv); a body is a record of numbers, `BODY_SIZE` of them, in the frame of its link. `work` is scratch of at least
`compile_tree.work_size(system)` numbers, and what a function says beyond.
"""

import math

from dalembert.kernels._jit import inline, kernel
from dalembert.kernels.mat3 import load9, mul
from dalembert.kernels.smallmat import add, cross, dot, load3, mat_vec, store3, sub
from dalembert.kernels.tree.energy import gravity_energy, kinetic_energy, spatial_momentum
from dalembert.kernels.tree.kinematics import place, sweep, world
from dalembert.kernels.tree.layout import (
    ARMATURE,
    AT_Q,
    AT_V,
    HEADER,
    KIND,
    LINK_SIZE,
    LINKS,
    PRISMATIC,
    Q_AT,
    R_W,
    REST,
    SCRATCH,
    SPHERICAL,
    STIFFNESS,
    V_AT,
    VEL,
)
from dalembert.kernels.tree.loads import load_energy, point_in_world
from dalembert.kernels.tree.record import record
from dalembert.kernels.tree.subspace import degrees

# record of a body
LINK = 0  # -1: fixed to the world
FRAME_R = 1  # link axes <- body axes, by rows
FRAME_P = 10  # origin of the body frame in the link
COM = 13  # centre of mass in the link
BODY_MASS = 16
BODY_INERTIA = 17  # about the centre of mass, link axes: xx, yy, zz, xy, xz, yz
COM_ARM = 23  # distance of the centre of mass from the origin of the body frame
AS_IT_IS = 24  # 1: its rotation is the quaternion in q itself, and is not made orthogonal
BODY_SIZE = 25


@inline
def strain_energy(system, work, q):
    """sum k |strain|^2 / 2 of the joints: q - rest, of a ball joint its rotation vector."""
    total = 0.0
    for i in range(int(system[LINKS])):
        at = record(HEADER, i, LINK_SIZE)
        k, kind, qi = system[at + STIFFNESS], int(system[at + KIND]), q + int(system[at + Q_AT])
        if k == 0.0:
            continue
        if kind <= PRISMATIC:
            total += 0.5 * k * (work[qi] - system[at + REST]) ** 2
        elif kind == SPHERICAL:
            n = math.sqrt(work[qi + 1] ** 2 + work[qi + 2] ** 2 + work[qi + 3] ** 2)
            total += 2.0 * k * math.atan2(n, abs(work[qi])) ** 2
    return total


@inline
def put(rows, k, work, at):
    """work[at:] = row k; zeros where there are no rows."""
    for i in range(rows.shape[1]):
        work[at + i] = rows[k, i] if k < rows.shape[0] else 0.0


@kernel
def state_rows(system, q, v, work, kinetic, potential, momentum):
    """Energies (N,) and momentum (N, 6) of all states. What is given without rows is not computed; v without rows is rest.

    The last six numbers of `work` are for the momentum.
    """
    at_q, at_v, out = int(system[AT_Q]), int(system[AT_V]), work.shape[0] - 6
    for k in range(q.shape[0]):
        put(q, k, work, at_q)
        put(v, k, work, at_v)
        sweep(system, work, at_q, at_v)
        if kinetic.shape[0] > 0:
            kinetic[k] = kinetic_energy(system, work, at_v)
        if potential.shape[0] + momentum.shape[0] > 0:
            world(system, work)
        if potential.shape[0] > 0:
            potential[k] = gravity_energy(system, work) + load_energy(system, work) + strain_energy(system, work, at_q)
        if momentum.shape[0] > 0:
            spatial_momentum(system, work, out)
            for i in range(6):
                momentum[k, i] = work[out + i]


@inline
def orthogonal(r):
    """R (3 - R^T R) / 2: the error e of a matrix that is orthogonal up to e becomes 3 e^2 / 4."""
    a, b, c = (r[0], r[3], r[6]), (r[1], r[4], r[7]), (r[2], r[5], r[8])
    aa, bb, cc = 0.5 * (3.0 - dot(a, a)), 0.5 * (3.0 - dot(b, b)), 0.5 * (3.0 - dot(c, c))
    ab, ac, bc = -0.5 * dot(a, b), -0.5 * dot(a, c), -0.5 * dot(b, c)
    return mul(r, (aa, ab, ac, ab, bb, bc, ac, bc, cc))


@kernel
def pose_rows(system, bodies, q, work, out):
    """out (N, bodies, 4, 4), zeros before: world poses. Products of many rotations are made orthogonal again."""
    at_q = int(system[AT_Q])
    for k in range(q.shape[0]):
        put(q, k, work, at_q)
        for i in range(int(system[LINKS])):
            place(system, work, i, at_q, record(0, i, SCRATCH))
        world(system, work)
        for b in range(bodies.shape[0] // BODY_SIZE):
            at = b * BODY_SIZE
            i, rot, p = int(bodies[at + LINK]), load9(bodies, at + FRAME_R), load3(bodies, at + FRAME_P)
            if i >= 0:
                p = point_in_world(work, i, p)
                rot = mul(load9(work, record(0, i, SCRATCH) + R_W), rot)
            if bodies[at + AS_IT_IS] == 0.0:
                rot = orthogonal(rot)
            for r in range(3):
                out[k, b, r, 0], out[k, b, r, 1], out[k, b, r, 2], out[k, b, r, 3] = rot[3 * r], rot[3 * r + 1], rot[3 * r + 2], p[r]
            out[k, b, 3, 3] = 1.0


@inline
def inertia_times(bodies, at, w):
    """I w of the record of a body at bodies[at:]."""
    xx, yy, zz = load3(bodies, at + BODY_INERTIA)
    xy, xz, yz = load3(bodies, at + BODY_INERTIA + 3)
    return (xx * w[0] + xy * w[1] + xz * w[2], xy * w[0] + yy * w[1] + yz * w[2], xz * w[0] + yz * w[1] + zz * w[2])


@inline
def armature_change(system, v, k):
    """sum armature |v_k - v_(k-1)|^2 over the joints."""
    total = 0.0
    for i in range(int(system[LINKS])):
        at = record(HEADER, i, LINK_SIZE)
        if system[at + ARMATURE] > 0.0:
            vi = int(system[at + V_AT])
            for c in range(degrees(int(system[at + KIND]))):
                total += system[at + ARMATURE] * (v[k, vi + c] - v[k - 1, vi + c]) ** 2
    return total


@kernel
def survey_rows(system, bodies, q, v, centre, work, spins, reach, moments, changes):
    """What a report asks of all bodies; x: centres of mass, world.

    spins (N, bodies)   |omega|
    reach (N,)          the largest |origin of the frame| + |arm of the centre of mass|
    moments (N,)        sum |x - centre| m |x'| + |I omega|
    changes (N - 1,)    |z_k - z_(k-1)|, z = (sqrt(m) x', sqrt(I) omega) of every body and sqrt(armature) v, |z|^2 = 2 T

    The last 6 bodies.shape[0] / BODY_SIZE numbers of `work` are for (x', omega) of the node before.
    """
    at_q, at_v, n = int(system[AT_Q]), int(system[AT_V]), bodies.shape[0] // BODY_SIZE
    before, origin = work.shape[0] - 6 * n, load3(centre, 0)
    for k in range(q.shape[0]):
        put(q, k, work, at_q)
        put(v, k, work, at_v)
        sweep(system, work, at_q, at_v)
        world(system, work)
        far, moment, change = 0.0, 0.0, 0.0
        for b in range(n):
            at, old = b * BODY_SIZE, before + 6 * b
            i, m, p, c = int(bodies[at + LINK]), bodies[at + BODY_MASS], load3(bodies, at + FRAME_P), load3(bodies, at + COM)
            p = point_in_world(work, i, p)
            far = max(far, math.sqrt(dot(p, p)) + bodies[at + COM_ARM])
            spins[k, b] = 0.0
            if i >= 0:
                link = record(0, i, SCRATCH)
                omega = load3(work, link + VEL)
                speed = mat_vec(load9(work, link + R_W), add(load3(work, link + VEL + 3), cross(omega, c)))
                x, spin = sub(point_in_world(work, i, c), origin), inertia_times(bodies, at, omega)
                spins[k, b] = math.sqrt(dot(omega, omega))
                moment += m * math.sqrt(dot(speed, speed) * dot(x, x)) + math.sqrt(dot(spin, spin))
                du, dw = sub(speed, load3(work, old)), sub(omega, load3(work, old + 3))
                change += m * dot(du, du) + dot(dw, inertia_times(bodies, at, dw))
                store3(work, old, speed)
                store3(work, old + 3, omega)
        reach[k], moments[k] = far, moment
        if k > 0:
            changes[k - 1] = math.sqrt(abs(change + armature_change(system, v, k)))


@kernel
def worst_rotation(poses):
    """Largest entry of |R^T R - 1| over poses (N, bodies, 4, 4); not a number where one is none."""
    worst = 0.0
    for k in range(poses.shape[0]):
        for b in range(poses.shape[1]):
            for i in range(3):
                for j in range(i + 1):
                    total = -1.0 if i == j else 0.0
                    for r in range(3):
                        total += poses[k, b, r, i] * poses[k, b, r, j]
                    if not abs(total) <= worst:
                        worst = abs(total)
                        if worst != worst:
                            return worst
    return worst
