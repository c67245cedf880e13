"""Steps of a machine whose bodies collide, and the one loop over them.

From a node: a trial step over what is left of h (`travel.py`), up to the first instant of contact (`seek.py`). The machine goes there,
bounces (`bounce.py`), and goes on to the node of the grid. A contact that rests is held until its force would pull (Zeno). A body that
rattles on several contacts comes to no end by itself: every RATTLES impacts and hops of one step that are not those of the same contact
again, what counts as slow doubles; sooner where impacts are slower than what weight gives in a step, as in heaps.

Decomposition (Cirak and West 2005; Leyendecker et al. 5.4) looks for no instant: at a node where bodies overlap and approach, momentum is
parted into what the contacts feel and the rest, and the former is reflected; overlap opens by UNDO per step. They overlap by a step's way.
"""

import math

from dalembert.kernels._jit import inline, kernel
from dalembert.kernels.collision.bounce import GROW, MANY, MORE_EVENTS, at_the_node, bounce, hop, reflected, slower, write_event
from dalembert.kernels.collision.energy import interval_energy
from dalembert.kernels.collision.gaps import nearest, put3, put_solids, row3
from dalembert.kernels.collision.impact import outside
from dalembert.kernels.collision.seek import go, seek
from dalembert.kernels.collision.tables import (
    AT_NODES,
    EVENTS,
    FACTOR,
    IMPULSE,
    LEAVES,
    MOST,
    PENDING,
    REFLECTION,
    RESPONSE,
    REST_SPEED,
    TOL,
    TOUCH,
    TOUCHING,
    UNSOLVED,
    VARIATIONAL,
)
from dalembert.kernels.collision.travel import prepare_rest, settle
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
    finite,
)
from dalembert.kernels.smallmat import dot, load3
from dalembert.kernels.status import NOT_CONVERGED, NOT_FINITE, OK, SINGULAR, TOO_MANY_EVENTS, UNMET
from dalembert.kernels.tree.layout import GRAVITY
from dalembert.kernels.tree.variational.layout import notes

SHORT = 1e-13  # of h: what is left of a step is nothing
WEIGHTY = 4  # an impact slower than g h, as weight makes them within a step, counts as so many rattles more
UNDO = 0.2  # of an overlap per step, no faster than g h: a body that lies sinks by g h^2/2 in each, and comes to rest 2.5 g h^2 deep


@inline
def weight(system):
    """|g|"""
    g = load3(system, GRAVITY)
    return math.sqrt(dot(g, g))


@inline
def fastest(room, count):
    """Speed of the fastest approach of the contacts that have been struck."""
    most = 0.0
    for c in range(count):
        most = max(most, -room.speed[c])
    return most


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
    if use_ledger and room.weights.shape[0] == 1:
        call_ledger(ledger, t, h, 0, system, room.node, work, info)
        call_ledger(ledger, t + h, h, 1, system, room.trial, work, info)
    status = accept(t, h, system, work, scene, room, counts, 0, settings, record, events)
    if status != OK:
        return status
    put_solids(system, room.node, work, scene, room)
    gap, _ = nearest(scene, room, 0, 1.0, settings[TOUCH])
    if gap <= settings[TOUCH]:
        fall = h * weight(system)
        status = bounce(t + h, math.nan, 0.0, UNDO / h, fall, system, room.node, work, scene, room, counts, settings, record, events)
        counts[TOUCHING] = 0
    return status


@kernel
def begin(t, system, work, scene, room, counts, settings, record, events):
    """(status, how many contacts rest, smallest gap of others or rate at which one opens) at room.node; room.before: where solids are."""
    put_solids(system, room.node, work, scene, room)
    gap, _ = nearest(scene, room, counts[TOUCHING], 0.0, settings[TOUCH])
    if gap <= settings[TOUCH] and counts[TOUCHING] == 0:  # closed, and not known to be: at a start, or after a very short step
        slow = settings[REST_SPEED]
        status = bounce(t, math.nan, slow, 0.0, 0.0, system, room.node, work, scene, room, counts, settings, record, events)
        if status != OK:
            return status, 0, gap
    count, held = 0, False
    for k in range(counts[TOUCHING]):
        held = held or room.held[k] == 1
        if room.held[k] == 0:  # what has just touched opens at this rate
            gap = min(gap, room.lift[k])
    if held and room.goal[PENDING] == 0.0:
        count = prepare_rest(system, work, scene, room, counts[TOUCHING])
        if count < 0:
            return SINGULAR, 0, gap
    for k in range(room.centre.shape[0]):
        put3(room.before, k, row3(room.centre, k))
    for p in range(room.points.shape[0]):
        put3(room.points_before, p, row3(room.points, p))
    return OK, count, gap


@kernel
def whole_step(
    step, ledger, use_ledger, t, h, system, work, info, scene, room, counts, settings, record, events, tally
):  # fmt: skip
    """From room.node at t to t + h. Returns the status."""
    done, hits, rattles, last, fall = 0.0, 0, 0, (-1, 0, 0), abs(h) * weight(system)
    while abs(h - done) > SHORT * abs(h):
        status, count, g_start = begin(t + done, system, work, scene, room, counts, settings, record, events)
        if status != OK:
            return status
        status, s, struck, at = seek(
            step, t + done, h - done, h, g_start, system, work, info, scene, room, counts, settings, count, record, tally
        )
        hits += 1 if struck else 0
        if hits > int(settings[MOST]):
            return TOO_MANY_EVENTS
        if status in (NOT_CONVERGED, UNMET) and count > 0:  # contacts that cannot be held
            hits, rattles = hits + 1, rattles + 1
            status = hop(h, slower(settings, rattles), system, room.node, work, scene, room, counts, settings, record)
            if status != OK:
                return status
            continue
        if status != OK:
            return status
        energy = math.nan
        if struck and settings[REFLECTION] == VARIATIONAL:
            found, _ = nearest(scene, room, 0, 1.0, settings[TOUCH])
            if room.goal[PENDING] != 0.0 and abs(found) > 100.0 * settings[TOL]:  # it has its root for some s and not for others
                at_the_node(system, room, record, events)
                continue
            if hits == 1:
                energy = interval_energy(s, system, work)
        if use_ledger and room.weights.shape[0] == 1:
            call_ledger(ledger, t + done, s, 0, system, room.node, work, info)
            call_ledger(ledger, t + done + s, s, 1, system, room.trial, work, info)
        status = accept(t + done, s, system, work, scene, room, counts, count, settings, record, events)
        if status != OK:
            return status
        done += s
        if struck:
            other = at[0] != last[0] or at[1] != last[1] or at[2] != last[2] or hits > MANY
            rattles += 1 if other else 0
            last, slow = at, slower(settings, rattles)
            status = bounce(t + done, energy, slow, 0.0, 0.0, system, room.node, work, scene, room, counts, settings, record, events)
            if status != OK:
                return status
            if other and hits > 1 and fastest(room, counts[TOUCHING]) < fall:
                rattles += WEIGHTY
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
