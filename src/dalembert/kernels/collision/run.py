"""Steps of a machine whose bodies collide, and the one loop over them.

From a node: a trial step over what is left of h (`travel.py`). Where it ends with a gap below -tol, or a gap dips below it in between, the
first instant of contact is found on the same step, s -> min over contacts of g_c(q(s)), bracketed, from where balls meet on straight ways
by secants and Illinois' rule: this solves (12), (14) of Leyendecker et al. The machine goes there, bounces (`impact.py`), and goes on to
the node of the grid. A contact that has just touched counts by g_c / s: its rate at s = 0, so that its own root at s = 0 is none. One that
leaves more slowly than rest_speed rests and is held until its force would pull (Zeno). Where it cannot be held, as where a hull rolls from
one corner to the next, it is opened with HOP times the speed of the solids, counted, and strikes again. A body that rattles on several
contacts comes to no end by itself: every RATTLES impacts and hops of one step that are not those of the same contact again, what counts as
slow doubles.

Decomposition (Cirak and West 2005; Leyendecker et al. 5.4) looks for no instant: at a node where bodies overlap and approach, momentum is
parted into what the contacts feel and the rest, and the former is reflected; overlap opens by UNDO per step. They overlap by a step's way.
"""

import math

from dalembert.kernels._jit import inline, kernel
from dalembert.kernels.collision.energy import interval_energy
from dalembert.kernels.collision.gaps import crossing, gap_of, nearest, put_solids, row3, soonest
from dalembert.kernels.collision.impact import after, closed_contacts, complementarity, impulses, node_velocity, outside
from dalembert.kernels.collision.tables import (
    AT_NODES,
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
    LEAVES,
    LINEAR,
    LOSS,
    MOST,
    PACE,
    PENDING,
    REFLECTION,
    RESPONSE,
    REST_SPEED,
    RESTS,
    SEARCHED,
    SQUARE,
    STRUCK,
    TOL,
    TOUCH,
    TOUCHING,
    TRIALS,
    UNSOLVED,
    VARIATIONAL,
    WALLS,
)
from dalembert.kernels.collision.travel import jumps, prepare_rest, reflecting, resting, settle
from dalembert.kernels.loop import (
    FUNCTION,
    ITERATIONS,
    MAX_ITERATIONS,
    RESIDUAL,
    ROW,
    STEP_INDEX,
    SUBSTEPS,
    TABLE,
    TABLE_START,
    call_control,
    call_hold,
    call_ledger,
    call_nodal,
    call_step,
    finite,
)
from dalembert.kernels.smallmat import dot, load3, sub
from dalembert.kernels.status import NOT_CONVERGED, NOT_FINITE, OK, SINGULAR, TOO_MANY_EVENTS, UNMET
from dalembert.kernels.tree.layout import GRAVITY
from dalembert.kernels.tree.variational.layout import notes, places

GROW, MORE_EVENTS = -10, -11  # the list of contacts, of events, is too short: the step was not done
SHORT = 1e-13  # of h: what is left of a step is nothing
HALVINGS = 200
SECANTS = 12
HOP = 0.005
RATTLES, MANY = 32.0, 2000
UNDO = 0.2  # of an overlap per step, no faster than g h: a body that lies sinks by g h^2/2 in each, and comes to rest 2.5 g h^2 deep


@kernel
def go(step, t, s, system, work, info, scene, room, counts, settings, count):
    """room.trial: the machine s after the node. Returns the status; room.goal tells whether it reflects, count how many contacts rest."""
    counts[TRIALS] += 1
    if room.goal[PENDING] != 0.0:
        status = reflecting(step, t, s, system, work, info, room)
    elif count > 0:
        status = resting(step, t, s, system, work, info, scene, room, counts[TOUCHING], count, settings[TOL])
    else:
        for i in range(room.node.shape[0]):
            room.trial[i] = room.node[i]
        status = call_step(step, t, s, system, room.trial, work, info)
    return status


@inline
def least(s, system, work, scene, room, counts, settings):
    """Smallest gap at room.trial."""
    put_solids(system, room.trial, work, scene, room)
    gap, at = nearest(scene, room, counts[TOUCHING], s, settings[TOUCH])
    return gap, at


@kernel
def first_contact(step, t, low, g_low, high, g_high, guess, slope, system, work, info, scene, room, counts, settings, count):
    """(status, s): where the smallest gap first becomes zero between low (open) and high (closed); room.trial is there.

    First at a guess with a rate of the gap, then by the secant of the last two places, where it stays inside, else by Illinois' rule.
    """
    side, s, k, tol = 0, high, 0, settings[TOL]
    last, g_last, new = 0.0, 0.0, guess
    while k < HALVINGS:
        k += 1
        width = high - low
        if width <= 4e-16 * high:
            return OK, s
        if k > SECANTS or not low < new < high:
            new = (low * g_high - high * g_low) / (g_high - g_low) if k < 60 else 0.5 * (low + high)
        s = min(max(new, low + 1e-3 * width if k > 20 else low), high)
        counts[SEARCHED] += 1
        status = go(step, t, s, system, work, info, scene, room, counts, settings, count)
        if status != OK:
            return status, s
        gap, _ = least(s, system, work, scene, room, counts, settings)
        if abs(gap) <= 0.1 * tol:
            return OK, s
        if gap > 0.0:
            if side == 1:
                g_high *= 0.5
            low, g_low, side = s, gap, 1
        else:
            if side == -1:
                g_low *= 0.5
            high, g_high, side = s, gap, -1
        rate = (gap - g_last) / (s - last) if k > 1 else slope
        new = s - gap / rate if rate < 0.0 else high
        last, g_last = s, gap
    return UNMET, s


@inline
def _pace(room):
    """Largest displacement of a solid since the node."""
    most = 0.0
    for k in range(room.centre.shape[0]):
        d = sub(row3(room.centre, k), row3(room.before, k))
        most = max(most, dot(d, d))
    return most**0.5


@kernel
def closed_at(step, t, s, system, work, info, scene, room, counts, settings, count):
    """(status, gap) at an instant inside a trial step."""
    status = go(step, t, s, system, work, info, scene, room, counts, settings, count)
    if status != OK:
        return status, 0.0
    gap, _ = least(s, system, work, scene, room, counts, settings)
    return OK, gap


@kernel
def dips(step, t, s, g_end, at, system, work, info, scene, room, counts, settings, count, pace):
    """(status, s', gap) of an instant inside a trial step at which a contact is closed though it is open at both ends; s' = 0: none.

    Looked at: where two solids pass each other on straight ways; and for the nearest contact, if it is nearer than solids move, the middle
    and the lowest point of the parabola. room.trial is another afterwards.
    """
    if not g_end < 2.0 * pace:
        return OK, 0.0, 0.0
    a, b, k = at
    put_solids(system, room.node, work, scene, room)
    g_start = gap_of(scene, room, a, b, k)
    middle = 0.5 * s
    status, gap = closed_at(step, t, middle, system, work, info, scene, room, counts, settings, count)
    if status != OK or gap < -settings[TOL]:
        return status, middle, gap
    own = gap_of(scene, room, a, b, k)
    slope, curve = 4.0 * own - 3.0 * g_start - g_end, 2.0 * (g_start + g_end - 2.0 * own)
    if curve > 0.0 and -2.0 * curve < slope < 0.0 and g_start - 0.25 * slope * slope / curve < 0.1 * (abs(slope) + curve):
        lowest = -0.5 * slope / curve * s
        status, gap = closed_at(step, t, lowest, system, work, info, scene, room, counts, settings, count)
        if status != OK or gap < -settings[TOL]:
            return status, lowest, gap
    return OK, 0.0, 0.0


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
    complementarity(room.matrix, room.extra, room.push, 0.0, count)
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


@kernel
def let_go(t, scene, room, counts, record, events):
    """After a step with resting contacts: what did not push is let go. Their impulses are entered. False without room for events."""
    kept, c, full = 0, 0, False
    for k in range(counts[TOUCHING]):
        if room.held[k] != 1:
            continue
        outside(scene, room.who, room.hold_normal, room.hold_point, c, room.lam[c], record, IMPULSE)
        outside(scene, room.who, room.normal, room.point, c, room.push[c], record, IMPULSE)
        if room.lam[c] <= 0.0:
            room.held[k] = 0
            if room.lift[k] == 1.0:
                full = full or not write_event(events, counts, t, LEAVES, scene, room, c, 0.0, 0.0, 0.0)
        else:
            room.lift[k] = 1.0
        c += 1
    for k in range(counts[TOUCHING]):
        if room.held[k] == 1:
            for i in range(3):
                room.touch[kept, i] = room.touch[k, i]
            room.held[kept], room.lift[kept] = 1, room.lift[k]
            kept += 1
    counts[TOUCHING] = kept
    return not full


@kernel
def accept(t, s, system, work, scene, room, counts, count, settings, record, events):
    """Make the trial the node, s after the one before. Returns the status."""
    n = notes(system)
    status = OK
    if room.goal[PENDING] != 0.0:
        if room.goal[FACTOR] == 1.0:
            record[UNSOLVED] += 1.0
        reflected(room, record, events)
    if count > 0:
        if not settle(system, work, scene, room, counts[TOUCHING], count):
            return SINGULAR
        if not let_go(t + s, scene, room, counts, record, events):
            status = MORE_EVENTS
    else:
        counts[TOUCHING] = 0
    for i in range(room.node.shape[0]):
        room.node[i] = room.trial[i]
    room.node[n.known] = room.trial[n.known]
    return status


@kernel
def step_to_node(step, ledger, use_ledger, t, h, system, work, info, scene, room, counts, settings, record, events, tally):
    """From room.node at t to t + h by decomposition of the momentum at the second node. Returns the status."""
    counts[TOUCHING] = 0
    status = go(step, t, h, system, work, info, scene, room, counts, settings, 0)
    tally[ITERATIONS] += info[0]
    tally[MAX_ITERATIONS] = max(tally[MAX_ITERATIONS], info[0])
    tally[RESIDUAL] = max(tally[RESIDUAL], info[1])
    tally[SUBSTEPS] += info[2]
    if status != OK:
        return status
    if use_ledger:
        call_ledger(ledger, t, h, 0, system, room.node, work, info)
        call_ledger(ledger, t + h, h, 1, system, room.trial, work, info)
    status = accept(t, h, system, work, scene, room, counts, 0, settings, record, events)
    if status != OK:
        return status
    put_solids(system, room.node, work, scene, room)
    gap, _ = nearest(scene, room, 0, 1.0, settings[TOUCH])
    if gap <= settings[TOUCH]:
        g = load3(system, GRAVITY)
        status = bounce(
            t + h, math.nan, 0.0, UNDO / h, h * math.sqrt(dot(g, g)), system, room.node, work, scene, room, counts, settings, record, events
        )
        counts[TOUCHING] = 0
    return status


@kernel
def whole_step(
    step, ledger, use_ledger, t, h, system, work, info, scene, room, counts, settings, record, events, tally
):  # fmt: skip
    """From room.node at t to t + h. Returns the status."""
    done, hits, rattles, last = 0.0, 0, 0, (-1, 0, 0)
    while h - done > SHORT * h:
        s = h - done
        put_solids(system, room.node, work, scene, room)
        g_start, _ = nearest(scene, room, counts[TOUCHING], 0.0, settings[TOUCH])
        if g_start <= settings[TOUCH] and counts[TOUCHING] == 0:  # closed, and not known to be: at a start, or after a very short step
            status = bounce(
                t + done, math.nan, settings[REST_SPEED], 0.0, 0.0, system, room.node, work, scene, room, counts, settings, record, events
            )
            if status != OK:
                return status
        count = 0
        held = False
        for k in range(counts[TOUCHING]):
            held = held or room.held[k] == 1
            if room.held[k] == 0:  # what has just touched opens at this rate
                g_start = min(g_start, room.lift[k])
        if held and room.goal[PENDING] == 0.0:
            count = prepare_rest(system, work, scene, room, counts[TOUCHING])
            if count < 0:
                return SINGULAR
        for k in range(room.centre.shape[0]):  # solids are where they are at the node
            for i in range(3):
                room.before[k, i] = room.centre[k, i]
        status = go(step, t + done, s, system, work, info, scene, room, counts, settings, count)
        tally[ITERATIONS] += info[0]
        tally[MAX_ITERATIONS] = max(tally[MAX_ITERATIONS], info[0])
        tally[RESIDUAL] = max(tally[RESIDUAL], info[1])
        tally[SUBSTEPS] += info[2]
        if status == OK and count > 0 and jumps(scene, room, counts[TOUCHING], 4.0 * max(_pace(room), settings[TOUCH])):
            status = NOT_CONVERGED
        if status == NOT_CONVERGED and count > 0 and hits < int(settings[MOST]):
            hits, rattles = hits + 1, rattles + 1
            status = hop(
                h, settings[REST_SPEED] * 2.0 ** (rattles / RATTLES), system, room.node, work, scene, room, counts, settings, record
            )
            if status != OK:
                return status
            continue
        if status != OK:
            return status
        gap, at = least(s, system, work, scene, room, counts, settings)
        moved = _pace(room)
        pace = max(moved, record[PACE] * s / h)
        guess, slope = soonest(scene, room, moved)
        high, looked = s, gap < -settings[TOL]
        if not looked:
            meeting, part = crossing(scene, room, moved)
            if meeting < 0.0:
                status, inner = closed_at(step, t + done, part * s, system, work, info, scene, room, counts, settings, count)
                if status != OK:
                    return status
                looked = inner < -settings[TOL]
                if looked:
                    high, gap = part * s, inner
            if not looked and gap < 2.0 * pace:
                status, inside, inner = dips(step, t + done, s, gap, at, system, work, info, scene, room, counts, settings, count, pace)
                if status != OK:
                    return status
                looked = inside > 0.0
                if looked:
                    high, gap = inside, inner
            if not looked and (meeting < 0.0 or gap < 2.0 * pace):  # the trial was used for looking
                status = go(step, t + done, s, system, work, info, scene, room, counts, settings, count)
                if status != OK:
                    return status
        record[PACE] = pace
        energy = 0.0
        if gap < -settings[TOL]:
            status, s = first_contact(
                step, t + done, 0.0, max(g_start, settings[TOL]), high, gap, guess * s, slope / s, system, work, info, scene, room,
                counts, settings, count,
            )  # fmt: skip
            if status in (NOT_CONVERGED, UNMET) and count > 0 and hits < int(settings[MOST]):
                hits, rattles = hits + 1, rattles + 1
                status = hop(
                    h, settings[REST_SPEED] * 2.0 ** (rattles / RATTLES), system, room.node, work, scene, room, counts, settings, record
                )
                if status != OK:
                    return status
                continue
            if status != OK:
                return status
            hits += 1
            if hits > int(settings[MOST]):
                return TOO_MANY_EVENTS
            if settings[REFLECTION] == VARIATIONAL:
                found, _ = nearest(scene, room, 0, 1.0, settings[TOUCH])
                if room.goal[PENDING] != 0.0 and abs(found) > 100.0 * settings[TOL]:  # it has its root for some s and not for others
                    at_the_node(system, room, record, events)
                    continue
                energy = interval_energy(s, system, work) if hits == 1 else math.nan
        if use_ledger:
            call_ledger(ledger, t + done, s, 0, system, room.node, work, info)
            call_ledger(ledger, t + done + s, s, 1, system, room.trial, work, info)
        status = accept(t + done, s, system, work, scene, room, counts, count, settings, record, events)
        if status != OK:
            return status
        done += s
        if gap < -settings[TOL]:
            if at[0] != last[0] or at[1] != last[1] or at[2] != last[2] or hits > MANY:
                rattles += 1
            last = at
            slow = slower(settings, rattles)
            status = bounce(t + done, energy, slow, 0.0, 0.0, system, room.node, work, scene, room, counts, settings, record, events)
            if status != OK:
                return status
    if room.goal[PENDING] != 0.0:  # at the very end of the step
        at_the_node(system, room, record, events)
    return OK


@kernel
def run(
    step, ledger, nodal, hold, control, source, use_ledger,
    t0, h, n, every, system, state, work, info, q, v, tau, tally, counter, table,
    scene, room, counts, settings, record, saved, events, marks, states, log,
):  # fmt: skip
    """Up to n steps, as `kernels/loop.py`. A step that fails leaves everything as it was. GROW, MORE_EVENTS: lists are too short.

    saved: workspace for what is restored, record, touching contacts. marks: number of events after each recorded row.
    """
    size = record.shape[0]
    for _ in range(n):
        t = t0 + counter[STEP_INDEX] * h
        if source == FUNCTION:
            call_nodal(nodal, system, state, work, q, v)
            call_control(control, t, q, v, tau)
            call_hold(hold, system, state, tau)
        elif source == TABLE:
            call_hold(hold, system, state, table[counter[STEP_INDEX] - counter[TABLE_START]])
        first, touching = counts[EVENTS], counts[TOUCHING]
        for i in range(size):
            saved[i] = record[i]
        for k in range(touching):
            for i in range(3):
                saved[size + 5 * k + i] = room.touch[k, i]
            saved[size + 5 * k + 3], saved[size + 5 * k + 4] = room.held[k], room.lift[k]
        for i in range(state.shape[0]):
            room.node[i] = state[i]
        if settings[RESPONSE] == AT_NODES:
            status = step_to_node(step, ledger, use_ledger, t, h, system, work, info, scene, room, counts, settings, record, events, tally)
        else:
            status = whole_step(
                step, ledger, use_ledger, t, h, system, work, info, scene, room, counts, settings, record, events, tally
            )  # fmt: skip
        if status == OK and not finite(room.node):
            status = NOT_FINITE
        if status != OK:
            for i in range(size):
                record[i] = saved[i]
            for k in range(touching):
                for i in range(3):
                    room.touch[k, i] = int(saved[size + 5 * k + i])
                room.held[k], room.lift[k] = int(saved[size + 5 * k + 3]), saved[size + 5 * k + 4]
            if status in (GROW, MORE_EVENTS):
                counts[EVENTS] = first
            counts[TOUCHING], room.goal[PENDING] = touching, 0.0
            return status
        for i in range(state.shape[0]):
            state[i] = room.node[i]
        counter[STEP_INDEX] += 1
        if counter[STEP_INDEX] % every == 0:
            r = counter[ROW]
            for i in range(state.shape[0]):
                states[r, i] = state[i]
            for i in range(size):
                states[r, state.shape[0] + i] = record[i]
            for i in range(tally.shape[0]):
                log[r, i] = tally[i]
                tally[i] = 0.0
            marks[r] = counts[EVENTS]
            counter[ROW] = r + 1
    return OK
