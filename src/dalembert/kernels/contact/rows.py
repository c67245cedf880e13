"""Contacts as constraints of a step: three rows each, normal and two tangents (lacoursiere2007, 10.75, with the corrected signs).

    gap rate n.(velocity of b - velocity of a) = J x,    Y = 1/(1 + 4 tau/h),    sigma = 4 eps Y/h^2 on all three rows

    touching   gap <= near       b_n = (4/h) Y gap - Y J x_k, at least -max(J x_k, push) - sigma lam_k, with 0 for J x_k < -threshold:
                                 bodies that came fast stop where they touch (psi = 0), and penetration that the impulse lam_k of the step
                                 before does not explain is undone no faster than with `push`: what carries a load is not bounded by it.
                                 With a compliance of its own a spring's approach adds (4 Y - 1) |J x_k| for Y > 1/4, so it follows its law
               with compliance and damping time of the model's own: a spring and damper, b_n = (4/h) Y gap - Y J x_k whatever it is
    ahead      gap > near        b_n = gap/h: the bodies may meet at the end of the step, not before
    tangents                     b_t = -t.w, w: velocity of a moving surface of a (10.56); mu by the slip speed of the step before (10.55)

Contacts that strike (restitution psi > 0, approach faster than the threshold) have no rows in the step in which they do so, nor before:
they are not braked on their way. Which those are depends on the method, see contact/impacts.py.
"""

import math

from dalembert.kernels._jit import inline, kernel
from dalembert.kernels.bodies.motion import Q, X, along, rotation_matrix
from dalembert.kernels.contact.codes import BOXED, CONE
from dalembert.kernels.contact.products import form, row6
from dalembert.kernels.mat3 import apply_transposed
from dalembert.kernels.smallmat import cross, mat_vec

FRICTION, RESTITUTION, COMPLIANCE, DAMPING_TIME = 0, 1, 2, 3
KINETIC, SLIP_SPEED, LINEAR, TORSION, ROLLING, BELT = 4, 5, 6, 7, 8, 9
ALONG, ACROSS, AXIS_OF, AXIS = 12, 13, 14, 15
ORDINARY, STRIKES, LEFT = 0, 1, 2
#: states of contacts
OPEN, STICK, SLIP = 0, 1, 2
#: the default compliance counts as less where bodies are heavy: sigma is at most this part of J M^-1 J^T (0.6 um by its own weight)
SOFTEST = 1e-4
#: larger coefficients of friction count as this one (an angle of 89.4 degrees)
ROUGHEST = 100.0
POST_FACTO, PREEMPTIVE, COMBINED, EXACT = 0, 1, 2, 3


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
def three_sides(states, body, sign, point, k, frames, J, r, column):
    """`_side` of contact k along the three axes of its frame, rows r ... r + 2."""
    if body < 0:
        for i in range(3):
            for j in range(6):
                J[r + i, column + j] = 0.0
        return
    arm = (point[k, 0] - states[body, X], point[k, 1] - states[body, X + 1], point[k, 2] - states[body, X + 2])
    R = rotation_matrix(states[body, Q], states[body, Q + 1], states[body, Q + 2], states[body, Q + 3])
    for i in range(3):
        e = (frames[k, i, 0], frames[k, i, 1], frames[k, i, 2])
        turn = apply_transposed(R, cross(arm, e))
        for j in range(3):
            J[r + i, column + j] = sign * turn[j]
            J[r + i, column + 3 + j] = sign * e[j]


@inline
def _fate(when, h, gap, rate, free):
    """What becomes of a contact with restitution that approaches with `rate`, faster than the threshold; free: rate without constraints."""
    meets = gap + h * free <= 0.0
    if when == POST_FACTO:
        strikes = gap <= 0.0
    elif when == COMBINED:
        strikes = gap + 0.5 * h * rate <= 0.0
    else:
        strikes = gap <= 0.0 or meets
    return STRIKES if strikes else LEFT


@kernel
def choose(h, margin, when, threshold, x, before, count, pair, frames, point, gap, material, materials, states, room, chosen, out):
    """Contacts that matter in the step: near, or expected to come near with the velocities x. chosen (count,): places of those with rows,
    of those that strike, and of all others, which may meet after an impact within the step; out (2,): how many of the first two. when:
    method of impacts, before: velocities of the step before."""
    found, strikes = 0, 0
    for wanted in range(3):
        for k in range(count):
            fate, bounces = ORDINARY, materials[material[k], RESTITUTION] > 0.0
            if bounces or gap[k] > margin:
                _side(states, pair[k, 0], -1.0, point[k], frames[k, 0], room, 0, 0)
                _side(states, pair[k, 1], 1.0, point[k], frames[k, 0], room, 0, 6)
                free = along(room, 0, x, pair[k, 0], pair[k, 1])
                if gap[k] > margin and gap[k] + h * free > margin:
                    fate = LEFT
                elif bounces:
                    last = along(room, 0, before, pair[k, 0], pair[k, 1])
                    if last < -threshold:
                        fate = _fate(when, h, gap[k], last, free)
            if wanted == 0 and fate == STRIKES:
                strikes += 1
            if fate == wanted:
                chosen[found] = k
                found += 1
        if wanted == 0:
            out[0], out[1] = found, strikes
            if strikes == 0:
                return


@inline
def _friction(materials, k, slip):
    """mu at a slip speed (10.55)."""
    f, kinetic, speed = materials[k, FRICTION], materials[k, KINETIC], materials[k, SLIP_SPEED]
    part = min(slip / speed, 1.0) if materials[k, LINEAR] > 0.0 else slip / math.sqrt(speed * speed + slip * slip)
    return f - (f - kinetic) * part


@inline
def _mobility(J, r, inverse, a, b):
    """J M^-1 J^T of a row."""
    total = 0.0
    if a >= 0:
        total += form(inverse, a, row6(J, r, 0))
    if b >= 0:
        total += form(inverse, b, row6(J, r, 6))
    return total


@kernel
def write(
    h, near, push, threshold, eps, steps, chosen, n, pair, frames, point, gap, material, materials, states, inverse, x, c, r,
    bodies, kind, first, J, b, sigma, low, high, mu, rates, start, lam,
):  # fmt: skip
    """Constraints c ... c + n - 1, rows from r on, of the chosen contacts. rates (n,): normal velocities of the step before; lam: impulses
    of all rows, those of contacts from start (contacts, 3).

    eps, steps: compliance and damping time (in steps) where the material says nothing.
    """
    for j in range(n):
        k, row = chosen[j], r + 3 * j
        p, q = pair[k, 0], pair[k, 1]
        what = material[k]
        e, tau = materials[what, COMPLIANCE], materials[what, DAMPING_TIME]
        Y = 1.0 / (1.0 + 4.0 * (steps if math.isnan(tau) else tau / h))
        bodies[c + j, 0], bodies[c + j, 1], kind[c + j] = p, q, CONE
        first[c + j + 1] = row + 3
        three_sides(states, p, -1.0, point, k, frames, J, row, 0)
        three_sides(states, q, 1.0, point, k, frames, J, row, 6)
        for i in range(3):
            b[row + i], low[row + i], high[row + i], lam[row + i] = 0.0, -math.inf, math.inf, start[k, i]
        soft = 4.0 * (eps if math.isnan(e) else e) * Y / (h * h)
        if math.isnan(e):
            soft = min(soft, SOFTEST * _mobility(J, row, inverse, p, q))
        sigma[row], sigma[row + 1], sigma[row + 2] = soft, soft, soft
        for i in range(1, 3):
            for a in range(3):
                b[row + i] -= frames[k, i, a] * materials[what, BELT + a]
        mu[c + j] = materials[what, FRICTION]
        if not math.isnan(materials[what, KINETIC]):
            slip = math.hypot(along(J, row + 1, x, p, q) + b[row + 1], along(J, row + 2, x, p, q) + b[row + 2])
            mu[c + j] = _friction(materials, what, slip)
        mu[c + j] = min(mu[c + j], ROUGHEST)
        rates[j] = along(J, row, x, p, q)
        own = not (math.isnan(e) or math.isnan(tau))  # a spring and damper of the model's own: (4.31) as it stands
        if gap[k] > (0.0 if own else near):
            b[row] = gap[k] / h
            continue
        if own:
            b[row] = Y * (4.0 / h * gap[k] - rates[j])
            continue
        last = rates[j] if rates[j] > -threshold else 0.0
        known = soft * start[k, 0]  # of the violation
        if not math.isnan(e):
            known += max(4.0 * Y - 1.0, 0.0) * max(-rates[j], 0.0)
        b[row] = max(Y * (4.0 / h * gap[k] - last), -max(last, push) - known)


@inline
def _turning(states, k, sign, e, J, r, column):
    """Six numbers of a row on angular velocities alone: sign R^T e."""
    for i in range(6):
        J[r, column + i] = 0.0
    if k >= 0:
        R = rotation_matrix(states[k, Q], states[k, Q + 1], states[k, Q + 2], states[k, Q + 3])
        turn = apply_transposed(R, e)
        for i in range(3):
            J[r, column + i] = sign * turn[i]


@kernel
def write_torques(
    chosen, n, pair, frames, material, materials, states, inverse, x, lam, c, r, bodies, kind, first, J, b, sigma, low, high, mu
):
    """Constraints from c, rows from r on, of torques about the normal and against rolling: relative spin 0 within +-(torsion, rolling)
    times the normal impulse of the step before, lam (contacts, 3). Rolling is resisted along the way that it goes. Returns how many."""
    count = 0
    for j in range(n):
        k = chosen[j]
        p, q, what = pair[k, 0], pair[k, 1], material[k]
        if lam[k, 0] <= 0.0 or materials[what, TORSION] + materials[what, ROLLING] == 0.0:
            continue
        t, s = (frames[k, 1, 0], frames[k, 1, 1], frames[k, 1, 2]), (frames[k, 2, 0], frames[k, 2, 1], frames[k, 2, 2])
        at = r + count
        _turning(states, p, -1.0, t, J, at, 0)
        _turning(states, q, 1.0, t, J, at, 6)
        one = along(J, at, x, p, q)
        _turning(states, p, -1.0, s, J, at, 0)
        _turning(states, q, 1.0, s, J, at, 6)
        two = along(J, at, x, p, q)
        spin = math.hypot(one, two)
        if spin > 1e-9:
            e = (one / spin, two / spin)
            t, s = (
                (e[0] * t[0] + e[1] * s[0], e[0] * t[1] + e[1] * s[1], e[0] * t[2] + e[1] * s[2]),
                (e[0] * s[0] - e[1] * t[0], e[0] * s[1] - e[1] * t[1], e[0] * s[2] - e[1] * t[2]),
            )
        for i in range(3):
            bound = lam[k, 0] * (materials[what, TORSION] if i == 0 else materials[what, ROLLING])
            if bound == 0.0:
                continue
            at = r + count
            e3 = (frames[k, 0, 0], frames[k, 0, 1], frames[k, 0, 2]) if i == 0 else t if i == 1 else s
            _turning(states, p, -1.0, e3, J, at, 0)
            _turning(states, q, 1.0, e3, J, at, 6)
            bodies[c + count, 0], bodies[c + count, 1], kind[c + count], mu[c + count] = p, q, BOXED, 0.0
            first[c + count + 1] = at + 1
            b[at], low[at], high[at], sigma[at] = 0.0, -bound, bound, 1e-6 * _mobility(J, at, inverse, p, q)
            count += 1
    return count


@kernel
def normal_rates(n, c, r, bodies, J, x, out):
    """out (n,): gap rates of the contacts whose constraints begin at c and rows at r."""
    for j in range(n):
        out[j] = along(J, r + 3 * j, x, bodies[c + j, 0], bodies[c + j, 1])


@kernel
def works(rows, first, kind, bodies, J, lam, twice, split, column, out):
    """out[column[row]] += lam J twice/2 of every row, twice = x + x_k: what it does to the kinetic energy in the metric of the step.

    Rows of cones go to column[row] (normal) and column[row] + 1 (tangents) where split.
    """
    for c in range(kind.shape[0]):
        a, b = bodies[c, 0], bodies[c, 1]
        for r in range(first[c], first[c + 1]):
            if r >= rows:
                return
            if lam[r] != 0.0:
                tangent = 1 if split and kind[c] == CONE and r > first[c] else 0
                out[column[r] + tangent] += 0.5 * lam[r] * along(J, r, twice, a, b)


@kernel
def describe(n, chosen, pair, point, gap, frames, c, r, bodies, J, b, mu, x, lam, out):
    """out (n, 14): of the contacts with constraints from c, rows from r: bodies, point, normal, gap, impulse (world axes), slip speed,
    state."""
    for j in range(n):
        k, row, p, q = chosen[j], r + 3 * j, bodies[c + j, 0], bodies[c + j, 1]
        out[j, 0], out[j, 1], out[j, 8] = pair[k, 0], pair[k, 1], gap[k]
        for i in range(3):
            out[j, 2 + i], out[j, 5 + i] = point[k, i], frames[k, 0, i]
            out[j, 9 + i] = frames[k, 0, i] * lam[row] + frames[k, 1, i] * lam[row + 1] + frames[k, 2, i] * lam[row + 2]
        out[j, 12] = math.hypot(along(J, row + 1, x, p, q) + b[row + 1], along(J, row + 2, x, p, q) + b[row + 2])
        slides = math.hypot(lam[row + 1], lam[row + 2]) >= (1.0 - 1e-9) * mu[c + j] * lam[row]
        out[j, 13] = OPEN if lam[row] <= 0.0 else SLIP if slides else STICK


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
