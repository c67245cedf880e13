"""Discrete energy of an interval, E_d = -dL_d/dh: what the energy condition (13c) of an impact equates.

straight paths       1/(2 h^2) sum mu |x1 - x0|^2 + [V(q_k) + V(q_k+1)]/2
rules with sides     mean over the sides of  l.v/2 + V,   l = dL/dv
"""

from dalembert.kernels._jit import kernel
from dalembert.kernels.mat3 import load9, mul
from dalembert.kernels.smallmat import dot, load3, mat_vec
from dalembert.kernels.tree.energy import gravity_energy
from dalembert.kernels.tree.kinematics import place, world
from dalembert.kernels.tree.layout import HEADER, LINK_SIZE, MASS, MOMENT, SCRATCH
from dalembert.kernels.tree.loads import load_energy
from dalembert.kernels.tree.record import record
from dalembert.kernels.tree.rows import strain_energy
from dalembert.kernels.tree.variational.chord import second_moment
from dalembert.kernels.tree.variational.layout import CHORD_SIZE, DC, DR, FIRST, SECOND, places
from dalembert.kernels.tree.variational.retraction import retract
from dalembert.kernels.tree.variational.vectors import product


@kernel
def potential(system, work, q):
    """V at work[q:]."""
    for i in range(places(system).links):
        place(system, work, i, q, record(0, i, SCRATCH))
    world(system, work)
    return gravity_energy(system, work) + load_energy(system, work) + strain_energy(system, work, q)


@kernel
def chord_energy(system, work, h):
    """1/(2 h^2) sum mu |x1 - x0|^2 of the step that was done last; rotors of motors go by their velocity."""
    s, total = places(system), 0.0
    for i in range(s.links):
        at, rec = record(HEADER, i, LINK_SIZE), record(s.chords, i, CHORD_SIZE)
        change, shift = load9(work, rec + DR), load3(work, rec + DC)
        moved = mul(change, second_moment(system, at))
        for k in range(9):
            total += moved[k] * change[k]
        total += 2.0 * dot(shift, mat_vec(change, load3(system, at + MOMENT))) + system[at + MASS] * dot(shift, shift)
    return 0.5 * total / (h * h)


@kernel
def interval_energy(h, system, work):
    """E_d of the step that was done last."""
    s = places(system)
    if s.chord != 0:
        return chord_energy(system, work, h) + 0.5 * (potential(system, work, s.q_old) + potential(system, work, s.q_new))
    V, count = 0.0, s.end - s.first
    for k in range(s.first, s.end):
        if k == FIRST:
            V += potential(system, work, s.q_old)
        elif k == SECOND:
            V += potential(system, work, s.q_new)
        else:
            for i in range(s.nv):
                work[s.hv + i] = h * work[s.v + i]
            retract(system, work, s.q_old, s.hv, s.q_mid, s.exponential != 0, s.nv > 0)
            V += potential(system, work, s.q_mid)
    return 0.5 * product(work, s.l, s.v, s.nv) + V / count
