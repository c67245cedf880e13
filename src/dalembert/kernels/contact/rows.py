"""Contacts as constraints of a step: three rows each, normal and two tangents (lacoursiere2007, 10.75, with the corrected signs).

    gap rate n.(velocity of b - velocity of a) = J x,    Y = 1/(1 + 4 tau/h),    sigma = 4 eps Y/h^2 on all three rows

    near       gap <= margin     b_n = (4/h) Y gap - Y J x_k
    ahead      gap > margin      b_n = gap/h: the bodies may meet at the end of the step, not before
    tangents                     b_t = 0
"""

import math

from dalembert.kernels._jit import inline, kernel
from dalembert.kernels.bodies.motion import Q, X, rotation_matrix
from dalembert.kernels.contact.codes import CONE
from dalembert.kernels.mat3 import apply_transposed
from dalembert.kernels.smallmat import cross, mat_vec

FRICTION, RESTITUTION, COMPLIANCE, DAMPING_TIME = 0, 1, 2, 3


@inline
def _side(states, k, sign, point, e, J, r, column):
    """Six numbers of a row: sign (R^T (arm x e), e)."""
    if k < 0:
        for i in range(6):
            J[r, column + i] = 0.0
        return
    arm = (point[0] - states[k, X], point[1] - states[k, X + 1], point[2] - states[k, X + 2])
    R = rotation_matrix(states[k, Q], states[k, Q + 1], states[k, Q + 2], states[k, Q + 3])
    turn = apply_transposed(R, cross(arm, e))
    for i in range(3):
        J[r, column + i] = sign * turn[i]
        J[r, column + 3 + i] = sign * e[i]


@inline
def rate(J, r, x, a, b):
    """J[r] x on two bodies."""
    total = 0.0
    for i in range(6):
        if a >= 0:
            total += J[r, i] * x[6 * a + i]
        if b >= 0:
            total += J[r, 6 + i] * x[6 * b + i]
    return total


@kernel
def choose(h, margin, x, count, pair, frames, point, gap, states, room, chosen):
    """Contacts that matter in the step: near, or expected to come near with the velocities x. chosen (count,): their places; how many."""
    found = 0
    for k in range(count):
        if gap[k] > margin:
            _side(states, pair[k, 0], -1.0, point[k], frames[k, 0], room, 0, 0)
            _side(states, pair[k, 1], 1.0, point[k], frames[k, 0], room, 0, 6)
            if gap[k] + h * rate(room, 0, x, pair[k, 0], pair[k, 1]) > margin:
                continue
        chosen[found] = k
        found += 1
    return found


@kernel
def write(
    h, margin, eps, steps, chosen, n, pair, frames, point, gap, material, materials, states, x, c, r,
    bodies, kind, first, J, b, sigma, low, high, mu, rates,
):  # fmt: skip
    """Constraints c ... c + n - 1, rows from r on, of the chosen contacts. rates (n,): normal velocities of the step before.

    eps, steps: compliance and damping time (in steps) where the material says nothing.
    """
    for j in range(n):
        k, row = chosen[j], r + 3 * j
        p, q = pair[k, 0], pair[k, 1]
        what = material[k]
        f = materials[what, FRICTION]
        e, tau = materials[what, COMPLIANCE], materials[what, DAMPING_TIME]
        e = eps if math.isnan(e) else e
        Y = 1.0 / (1.0 + 4.0 * (steps if math.isnan(tau) else tau / h))
        bodies[c + j, 0], bodies[c + j, 1], kind[c + j], mu[c + j] = p, q, CONE, f
        first[c + j + 1] = row + 3
        for i in range(3):
            _side(states, p, -1.0, point[k], frames[k, i], J, row + i, 0)
            _side(states, q, 1.0, point[k], frames[k, i], J, row + i, 6)
            sigma[row + i] = 4.0 * e * Y / (h * h)
            b[row + i], low[row + i], high[row + i] = 0.0, -math.inf, math.inf
        rates[j] = rate(J, row, x, p, q)
        if gap[k] > margin:
            b[row] = gap[k] / h
            continue
        b[row] = Y * (4.0 / h * gap[k] - rates[j])


@kernel
def strike(n, c, r, chosen, gap, material, materials, rates, threshold, early, h, struck, b):
    """Impact rows b = psi C v- of contacts that strike: they touch (or meet within the step, where `early`) and approach faster than the
    threshold. Others that touch: b = 0; those apart keep their distance: b = gap/h. Returns how many strike with psi > 0."""
    count = 0
    for j in range(n):
        k, row = chosen[j], r + 3 * j
        meets = gap[k] <= 0.0 or (early and gap[k] + h * rates[j] <= 0.0)
        psi = materials[material[k], RESTITUTION]
        hit = meets and rates[j] < -threshold
        struck[j] = 1 if hit and psi > 0.0 else 0
        count += struck[j]
        b[row] = psi * rates[j] if hit else max(gap[k], 0.0) / h
        b[row + 1] = 0.0
        b[row + 2] = 0.0
    return count


@kernel
def works(rows, first, kind, bodies, J, lam, x, free, split, column, out):
    """out[column[row]] += lam (J x + J free)/2 of every row: what it does to the kinetic energy in the metric of the step.

    Rows of cones go to column[row] (normal) and column[row] + 1 (tangents) where split.
    """
    for c in range(kind.shape[0]):
        a, b = bodies[c, 0], bodies[c, 1]
        for r in range(first[c], first[c + 1]):
            if r >= rows:
                return
            if lam[r] != 0.0:
                tangent = 1 if split and kind[c] == CONE and r > first[c] else 0
                out[column[r] + tangent] += 0.5 * lam[r] * (rate(J, r, x, a, b) + rate(J, r, free, a, b))


@kernel
def slips(n, c, r, bodies, J, x, out):
    """out (n,): slip speeds of the contacts whose constraints begin at c and rows at r."""
    for j in range(n):
        row, a, b = r + 3 * j, bodies[c + j, 0], bodies[c + j, 1]
        out[j] = math.hypot(rate(J, row + 1, x, a, b), rate(J, row + 2, x, a, b))


@kernel
def hold(states, coms, tau, out):
    """out (6 n,): torque about the centre of mass (body axes) and force (world axes) of tau, dual to the velocity of the body frame."""
    for k in range(states.shape[0]):
        f = (tau[6 * k + 3], tau[6 * k + 4], tau[6 * k + 5])
        m = cross((coms[k, 0], coms[k, 1], coms[k, 2]), f)
        force = mat_vec(rotation_matrix(states[k, Q], states[k, Q + 1], states[k, Q + 2], states[k, Q + 3]), f)
        for i in range(3):
            out[6 * k + i] = tau[6 * k + i] - m[i]
            out[6 * k + 3 + i] = force[i]
