"""What happens at a node where contacts are closed: the impact (`impact.py`) with its events and accounts, its completion by the energy
condition, and hops.

A contact that leaves more slowly than what counts as slow rests. One that cannot be held, as where a hull rolls from one corner to the
next, is opened with HOP times the speed of the solids, counted, and strikes again.
"""

from dalembert.kernels._jit import inline, kernel
from dalembert.kernels.collision.complementarity import complementarity
from dalembert.kernels.collision.impact import after, closed_contacts, impulses, node_velocity, outside
from dalembert.kernels.collision.tables import (
    COUNT,
    ENERGY,
    EVENTS,
    FACTOR,
    FIRST_EVENT,
    HOPPED,
    HOPS,
    IMPACTS,
    IMPULSE,
    LAST_EVENT,
    LINEAR,
    LOSS,
    MOST,
    PACE,
    PENDING,
    REFLECTION,
    REST_SPEED,
    RESTS,
    SQUARE,
    STRUCK,
    TOUCH,
    TOUCHING,
    UNSOLVED,
    VARIATIONAL,
    WALLS,
)
from dalembert.kernels.status import OK, SINGULAR, TOO_MANY_EVENTS
from dalembert.kernels.tree.variational.layout import notes, places

GROW, MORE_EVENTS = -10, -11  # the list of contacts, of events, is too short: the step was not done
HOP = 0.005
RATTLES, MANY = 32.0, 2000


@kernel
def write_event(events, counts, t, kind, scene, room, c, value, before, later):
    """A row of the table of events; False without room."""
    r = counts[EVENTS]
    if r == events.shape[0]:
        return False
    a, b = room.who[c, 0], room.who[c, 1]
    events[r, 0], events[r, 1] = t, kind
    events[r, 2], events[r, 3] = (-1.0, scene.part[a]) if b < 0 else (scene.part[a], scene.part[b])
    events[r, 4] = value
    for i in range(3):
        events[r, 5 + i], events[r, 8 + i] = room.point[c, i], room.normal[c, i]
    events[r, 11], events[r, 12] = before, later
    counts[EVENTS] = r + 1
    return True


@kernel
def remember_velocity(system, state, work):
    """The next step starts from the velocity of the node."""
    s, n = places(system), notes(system)
    if node_velocity(system, state, work):
        for i in range(s.nv):
            state[n.history + i] = work[s.dv + i]
    state[n.known] = 1.0


@kernel
def remember_bounce(system, state, work, room, count):
    """The next step starts from v- + M^-1 G_c^T Lambda; v- is known from `closed_contacts`."""
    s, n = places(system), notes(system)
    if s.m != 0:  # there the search for replies has used its place
        remember_velocity(system, state, work)
        return
    for i in range(s.nv):
        total = work[s.dv + i]
        for c in range(count):
            total += room.push[c] * room.reply[c, i]
        state[n.history + i] = total
    state[n.known] = 1.0


@kernel
def bounce(t, energy, slow, undo, fall, system, state, work, scene, room, counts, settings, record, events):
    """The impact at the node of `state`, at time t. energy: E_d of the interval before; slow: what is slower does not bounce and rests;
    undo: part of an overlap that is to open per second, no faster than `fall`. Returns the status."""
    n, nv = notes(system), room.jump.shape[0]
    count = closed_contacts(system, state, work, scene, room, settings[TOUCH])
    if count < 0:
        return GROW if count == -1 else SINGULAR
    ok, gain = impulses(room, count, settings[IMPACTS], int(settings[MOST]), slow, 0.01 * settings[REST_SPEED], undo, fall)
    if not ok:
        return TOO_MANY_EVENTS
    pushes, rests = False, False
    for c in range(count):
        pushes = pushes or room.push[c] > 0.0
        rests = rests or abs(after(room, count, c, 1.0)) <= slow
    later = settings[REFLECTION] == VARIATIONAL and pushes and not rests and energy == energy
    room.goal[FIRST_EVENT] = counts[EVENTS]
    for i in range(6):
        room.goal[WALLS + i] = 0.0
    for i in range(nv):
        room.jump[i] = 0.0
    for c in range(count):
        for i in range(nv):
            room.jump[i] += room.push[c] * room.rows[c, i]
    counts[TOUCHING] = 0
    for c in range(count):
        speed, was = after(room, count, c, 1.0), room.speed[c]
        outside(scene, room.who, room.normal, room.point, c, room.push[c], room.goal, WALLS)
        strikes = room.push[c] > 0.0 and room.push[c] * room.matrix[c, c] > 1e-3 * settings[REST_SPEED]
        if strikes:
            if not write_event(events, counts, t, STRUCK, scene, room, c, room.push[c], was, speed):
                return MORE_EVENTS
            record[COUNT] += 1.0
        k = counts[TOUCHING]
        for i in range(3):
            room.touch[k, i] = room.who[c, i]
        room.held[k], room.lift[k] = 0, speed
        if abs(speed) <= slow:
            room.held[k], room.lift[k] = 1, 1.0 if strikes else 0.0
        if room.held[k] == 1 and strikes and not write_event(events, counts, t, RESTS, scene, room, c, 0.0, was, speed):
            return MORE_EVENTS
        counts[TOUCHING] = k + 1
    linear = 0.0
    for c in range(count):
        linear += room.push[c] * room.speed[c]
    room.goal[PENDING], room.goal[ENERGY], room.goal[FACTOR] = 1.0 if pushes else 0.0, energy + gain, 1.0
    room.goal[LINEAR], room.goal[SQUARE], room.goal[LAST_EVENT] = linear, gain - linear, counts[EVENTS]
    if pushes:
        for i in range(nv):
            room.trial[n.p + i], state[n.p + i] = state[n.p + i], state[n.p + i] + room.jump[i]
        remember_bounce(system, state, work, room, count)
        if later:  # the next step completes it
            for i in range(nv):
                state[n.p + i] = room.trial[n.p + i]
        else:
            reflected(room, record, events)
    return OK


@kernel
def reflected(room, record, events):
    """Enter the reflection that was completed, with its factor."""
    f = room.goal[FACTOR]
    record[LOSS] += f * room.goal[LINEAR] + f * f * room.goal[SQUARE]
    for i in range(6):
        record[IMPULSE + i] += f * room.goal[WALLS + i]
    for r in range(int(room.goal[FIRST_EVENT]), int(room.goal[LAST_EVENT])):
        events[r, 4] *= f
        events[r, 12] = events[r, 11] + f * (events[r, 12] - events[r, 11])
    room.goal[PENDING] = 0.0


@kernel
def at_the_node(system, room, record, events):
    """Complete a reflection by the energy condition as one at the node."""
    n = notes(system)
    for i in range(room.jump.shape[0]):
        room.node[n.p + i] += room.jump[i]
    room.goal[FACTOR] = 1.0
    record[UNSOLVED] += 1.0
    reflected(room, record, events)


@inline
def slower(settings, rattles):
    """What counts as slow after so many rattles."""
    return settings[REST_SPEED] * 2.0 ** (rattles / RATTLES)


@kernel
def hop(h, slow, system, state, work, scene, room, counts, settings, record):
    """Open contacts that rest and cannot be held: 0 <= Lambda perp A Lambda + b - max(HOP pace/h, 2 slow) >= 0. Returns the status."""
    n, nv = notes(system), room.jump.shape[0]
    count = closed_contacts(system, state, work, scene, room, settings[TOUCH])
    if count < 0:
        return GROW if count == -1 else SINGULAR
    speed = max(HOP * record[PACE] / h, 2.0 * slow)
    for c in range(count):
        room.extra[c], room.push[c] = room.speed[c] - speed, 0.0
    complementarity(room.matrix, room.extra, room.push, 0.0, count, room.factor, room.free)
    counts[TOUCHING] = count
    for c in range(count):
        for i in range(nv):
            state[n.p + i] += room.push[c] * room.rows[c, i]
        later = after(room, count, c, 1.0)
        record[HOPPED] += 0.5 * room.push[c] * (room.speed[c] + later)
        outside(scene, room.who, room.normal, room.point, c, room.push[c], record, IMPULSE)
        for i in range(3):
            room.touch[c, i] = room.who[c, i]
        room.held[c], room.lift[c] = 0, later
    record[HOPS] += 1.0
    remember_velocity(system, state, work)
    return OK
