"""Impacts at a node: impulses along normals of the contacts that are closed there.

With the rows G_c of the contacts, v = M^-1 p (constraints of loops kept: p changes along them too), b = G_c v, A = G_c M^-1 G_c^T:

    0 <= Lambda  perp  A Lambda + (1 + e) b >= 0,      p+ = p- + G_c^T Lambda

Leyendecker et al. (7), 3.2, with the term of holonomic constraints that print lost, and one multiplier for each contact in place of one
for all (which lets bodies pass through each other). With one e for all, energy is taken or kept: Lambda . (A Lambda + (1 + e) b) = 0, so it
changes by Lambda . (b + A Lambda/2) = (1 - e)/2 Lambda . b <= 0. A contact that was opening may leave closing, at up to -e b (a ball that
fits between two walls): then the problem is solved again with what came of it, and in the end without bounces. `in turn`: one contact
after the other, the fastest first, without time passing, as long as any approaches: what balls in a row do.
"""

from dalembert.kernels._jit import inline, kernel
from dalembert.kernels.collision.complementarity import complementarity
from dalembert.kernels.collision.gaps import collect, put_solids, row3
from dalembert.kernels.collision.tables import IN_TURN
from dalembert.kernels.smallmat import cross, scale
from dalembert.kernels.tree.loads import add_wrench
from dalembert.kernels.tree.variational.constrained import velocity_of
from dalembert.kernels.tree.variational.factor import solve
from dalembert.kernels.tree.variational.layout import notes, places
from dalembert.kernels.tree.variational.singular import project

CLOSING = 1e-9  # of the fastest: contacts that close more slowly after an impact do so by round-off
REBOUNDS = 20  # problems of one instant, the last without bounces
ROUND_OFF = 1e-9  # of the energy that impulses move: slow convergence of many contacts


@kernel
def node_velocity(system, state, work):
    """work[s.dv:] = M^-1 p at the node of a state. False where M is singular."""
    s, n = places(system), notes(system)
    for i in range(s.nq):
        work[s.q_new + i] = state[n.q + i]
    for i in range(s.nv):
        work[s.p_old + i] = state[n.p + i]
    return velocity_of(system, work, s.q_new, s.p_old, s.dv)


@kernel
def put_row(system, work, scene, room, c, rows):
    """rows[c]: derivative of the gap of contact c by the velocities; world places of links are known."""
    s = places(system)
    a, b = room.who[c, 0], room.who[c, 1]
    n, x, none = row3(room.normal, c), row3(room.point, c), (0.0, 0.0, 0.0)
    for i in range(s.nv):
        work[s.trial + i] = 0.0
    if b < 0:
        add_wrench(system, work, scene.link[a], 1.0, n, none, x, s.trial)
    else:
        add_wrench(system, work, scene.link[b], 1.0, n, none, x, s.trial)
        add_wrench(system, work, scene.link[a], -1.0, n, none, x, s.trial)
    for i in range(s.nv):
        rows[c, i] = work[s.trial + i]


@kernel
def put_matrix(system, state, work, room, count):
    """A and the replies M^-1 G_c^T of the first `count` contacts; M is factored at the node of the state. False where it is singular."""
    s = places(system)
    for c in range(count):
        for i in range(s.nv):
            work[s.e + i] = -room.rows[c, i] if s.m == 0 else room.rows[c, i]
        if s.m == 0:
            solve(system, work, s.side_1, s.factor, s.e, s.delta)
        else:
            for i in range(s.nq):
                work[s.q_new + i] = state[i]
            if not project(0.0, system, work, s.q_new, s.e) or not velocity_of(system, work, s.q_new, s.e, s.delta):
                return False
            for i in range(s.nv):
                room.rows[c, i] = work[s.e + i]  # with the impulses of the constraints that it calls up
        for i in range(s.nv):
            room.reply[c, i] = work[s.delta + i]
    for c in range(count):
        for d in range(count):
            total = 0.0
            for i in range(s.nv):
                total += room.rows[c, i] * room.reply[d, i]
            room.matrix[c, d] = total
    return True


@kernel
def _together(room, count, slow, most, undo, fall):
    """All contacts at once, of speeds room.speed; most: of the restitutions; undo: part of an overlap that is to open per second, no faster
    than `fall`."""
    for c in range(count):
        e = min(room.bounce[c], most) if -room.speed[c] >= slow else 0.0
        room.extra[c] = (1.0 + e) * room.speed[c]
        if undo > 0.0:
            room.extra[c] = room.speed[c] + min(e * room.speed[c], max(undo * min(room.gap[c], 0.0), -fall))
        room.push[c] = 0.0
    complementarity(room.matrix, room.extra, room.push, 0.0, count, room.factor, room.free)


@inline
def after(room, count, c, factor):
    """Rate of the gap of a contact after the impulses."""
    total = room.speed[c]
    for d in range(count):
        total += room.matrix[c, d] * factor * room.push[d]
    return total


@kernel
def _closing(room, count):
    """Whether a contact is still closing after the impulses."""
    fastest, least = 0.0, 0.0
    for c in range(count):
        fastest, least = max(fastest, abs(room.speed[c])), min(least, after(room, count, c, 1.0))
    return least < -CLOSING * fastest


@kernel
def _again(room, count, slow, most):
    """Contacts that a rebound closes are struck at the same instant: solve together until none closes, in the end without bounces."""
    for c in range(count):
        room.arrival[c], room.total[c] = room.speed[c], 0.0
    for k in range(REBOUNDS + 1):
        for c in range(count):
            room.total[c] += room.push[c]
        if k == REBOUNDS or not _closing(room, count):
            break
        for c in range(count):
            room.extra[c] = after(room, count, c, 1.0)
        for c in range(count):
            room.speed[c] = room.extra[c]
        _together(room, count, slow, most if k + 1 < REBOUNDS else 0.0, 0.0, 0.0)
    for c in range(count):
        room.speed[c], room.push[c] = room.arrival[c], room.total[c]


@kernel
def _in_turn(room, count, most, slow, end):
    """One after the other: the fastest first, until none approaches faster than `end`. False where it does not end."""
    for c in range(count):
        room.push[c], room.extra[c] = 0.0, room.speed[c]
    for c in range(count):
        end = max(end, 1e-14 * abs(room.speed[c]))
    for _ in range(most):
        worst = 0
        for c in range(count):
            if room.extra[c] < room.extra[worst]:
                worst = c
        if not room.extra[worst] < -end:
            return True
        e = room.bounce[worst] if -room.extra[worst] >= slow else 0.0
        impulse = -(1.0 + e) * room.extra[worst] / room.matrix[worst, worst]
        room.push[worst] += impulse
        for c in range(count):
            room.extra[c] += room.matrix[c, worst] * impulse
    return False


@kernel
def closed_contacts(system, state, work, scene, room, within):
    """List what is closed at the node of a state: rows, matrix, rates of the gaps. Returns how many; -1: no room, -2: M singular."""
    put_solids(system, state, work, scene, room)
    count = collect(scene, room, within)
    if count <= 0:
        return count
    for c in range(count):
        put_row(system, work, scene, room, c, room.rows)
    if not node_velocity(system, state, work):
        return -2
    s = places(system)
    for c in range(count):
        total = 0.0
        for i in range(s.nv):
            total += room.rows[c, i] * work[s.dv + i]
        room.speed[c] = total
    return count if put_matrix(system, state, work, room, count) else -2


@inline
def _gain(room, count):
    """(energy that the impulses add, what they move)"""
    gain, size = 0.0, 0.0
    for c in range(count):
        total = room.speed[c]
        for d in range(count):
            total += 0.5 * room.matrix[c, d] * room.push[d]
        gain += room.push[c] * total
        size += abs(room.push[c] * room.speed[c])
    return gain, size


@kernel
def impulses(room, count, impacts, most, slow, end, undo, fall):
    """room.push: impulses of the contacts listed. Returns (ok, energy that they add: not positive). slow: what is slower does not bounce.

    Different restitutions of contacts that are struck together could add energy: then the smallest of them counts for all.
    """
    ok, gain = True, 0.0
    if impacts == IN_TURN:
        ok = _in_turn(room, count, most, slow, end)
    else:
        _together(room, count, slow, 1.0, undo, fall)
        (gain, size), least = _gain(room, count), 1.0
        if undo == 0.0 and gain > ROUND_OFF * size:
            for c in range(count):
                if room.speed[c] < 0.0:
                    least = min(least, room.bounce[c])
            _together(room, count, slow, least, undo, fall)
        if undo == 0.0 and _closing(room, count):
            _again(room, count, slow, least)
            gain, size = _gain(room, count)
            if gain > ROUND_OFF * size:
                _together(room, count, slow, 0.0, undo, fall)
    gain, _ = _gain(room, count)
    return ok, gain


@inline
def outside(scene, who, normal, point, c, impulse, record, at):
    """Enter the impulse of a wall, or of a solid of the world, into the account of what comes from outside."""
    a, b, sign = who[c, 0], who[c, 1], 0.0
    if b < 0 or scene.link[a] < 0:
        sign = 1.0
    elif scene.link[b] < 0:
        sign = -1.0
    n, x = row3(normal, c), row3(point, c)
    f = scale(sign * impulse, n)
    m = cross(x, f)
    for i in range(3):
        record[at + i] += m[i]
        record[at + 3 + i] += f[i]
