"""The first instant of contact within a trial step, on the step itself.

s -> min over contacts of g_c(q(s)), bracketed (kernels/events), from where balls meet on straight ways, by secants and Illinois' rule:
this solves (12), (14) of Leyendecker et al. A contact that has just touched counts by g_c / s: its rate at s = 0, so that its own root at
s = 0 is none. Where a trial ends open, it is looked at inside: where solids pass each other, and where the nearest contact dips.
"""

from dalembert.kernels._jit import inline, kernel
from dalembert.kernels.collision.gaps import crossing, gap_of, nearest, put_solids, row3, soonest
from dalembert.kernels.collision.tables import (
    NEVER,
    PACE,
    PENDING,
    SEARCHED,
    TOL,
    TOUCH,
    TOUCHING,
    TRIALS,
)
from dalembert.kernels.collision.travel import jumps, reflecting, resting, travel
from dalembert.kernels.events import brackets
from dalembert.kernels.loop import (
    ITERATIONS,
    MAX_ITERATIONS,
    RESIDUAL,
    SUBSTEPS,
)
from dalembert.kernels.smallmat import dot, sub
from dalembert.kernels.status import NOT_CONVERGED, OK, UNMET

HALVINGS = 250
TURN = 0.025  # rad, between two looks: of 180 pairs of hulls 1 then misses an impact, 0.1 mm deep; with 0.1 rad 5, without looks 14
LEAST_PART = 1 / 64  # of a step


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
        status = travel(step, t, s, system, work, info, room)
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

    First at a guess with a rate of the gap, then by the secant of the last two places, where it stays inside the bracket, else as it says.
    """
    bracket, s, last, g_last, new = room.bracket, high, 0.0, 0.0, guess
    brackets.begin(bracket, low, g_low, high, g_high)
    for k in range(HALVINGS):
        if bracket[brackets.HI] - bracket[brackets.LO] <= 4e-16 * bracket[brackets.HI]:
            return OK, s
        s = brackets.aim(bracket, new, k)
        counts[SEARCHED] += 1
        status = go(step, t, s, system, work, info, scene, room, counts, settings, count)
        if status != OK:
            return status, s
        gap, _ = least(s, system, work, scene, room, counts, settings)
        if abs(gap) <= 0.1 * settings[TOL]:
            return OK, s
        brackets.narrow(bracket, s, gap)
        rate = (gap - g_last) / (s - last) if k > 0 else slope
        new = s - gap / rate if rate < 0.0 else 0.0
        last, g_last = s, gap
    return UNMET, s


@inline
def farthest(now, before):
    """Largest displacement of a row."""
    most = 0.0
    for k in range(now.shape[0]):
        d = sub(row3(now, k), row3(before, k))
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

    Looked at: where two solids pass each other on straight ways; and for the nearest contact, if it is nearer than points of solids move,
    the middle and the lowest point of the parabola. room.trial is another afterwards.
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


@inline
def turn_of(scene, room):
    """Largest turn of a solid since the node, rad, as the way of a corner about the centre over its distance; 0 of balls about theirs."""
    most = 0.0
    for k in range(scene.link.shape[0]):
        for p in range(scene.first[k], scene.first[k + 1]):
            now, before = sub(row3(room.points, p), row3(room.centre, k)), sub(row3(room.points_before, p), row3(room.before, k))
            way, size = sub(now, before), dot(before, before)
            if size > 0.0:
                most = max(most, dot(way, way) / size)
    return most**0.5


@inline
def lowest_of(t, g, t_left, g_left, t_middle, g_middle):
    """Where the parabola through three places has its lowest point; g_middle is the smallest."""
    falls, rises = (g_middle - g_left) / (t_middle - t_left), (g - g_middle) / (t - t_middle)
    return 0.5 * (t_left + t_middle - falls * (t - t_left) / (rises - falls)) if rises > falls else t_middle


@kernel
def turns_into(step, t, s, g_end, way, part, system, work, info, scene, room, counts, settings, count):
    """As `dips`, of solids that turn far: corners come and go in less than a turn.

    From place to place by gap / (2 way / s), in which no gap closes, at least by a part of s; and at the lowest point of the parabola where
    one is lower than its neighbours. way: how far points of solids move.
    """
    put_solids(system, room.node, work, scene, room)
    left, t_left, t_middle = NEVER, 0.0, 0.0
    middle, _ = nearest(scene, room, counts[TOUCHING], 0.0, settings[TOUCH])
    while t_middle < s:
        now = t_middle + max(part, 0.5 * min(middle, 2.0 * way) / way) * s
        status, gap = OK, g_end
        if now < (1.0 - 0.5 * part) * s:
            status, gap = closed_at(step, t, now, system, work, info, scene, room, counts, settings, count)
            if status != OK or gap < -settings[TOL]:
                return status, now, gap
        else:
            now = s
        if middle <= min(left, gap) and left < NEVER and middle < way * (now - t_left) / s:
            lowest = lowest_of(now, gap, t_left, left, t_middle, middle)
            status, inner = closed_at(step, t, lowest, system, work, info, scene, room, counts, settings, count)
            if status != OK or inner < -settings[TOL]:
                return status, lowest, inner
        left, t_left, middle, t_middle = middle, t_middle, gap, now
    return OK, 0.0, 0.0


@kernel
def inspect(step, t, s, gap, at, pace, moved, system, work, info, scene, room, counts, settings, count):
    """(status, s', gap) of an instant inside a trial step that ends open at which a contact is closed; s' = 0: none. room.trial is at s."""
    turn = turn_of(scene, room)  # before looks move the solids
    meeting, part = crossing(scene, room, moved)
    if meeting < 0.0:
        status, inner = closed_at(step, t, part * s, system, work, info, scene, room, counts, settings, count)
        if status != OK or inner < -settings[TOL]:
            return status, part * s, inner
    if gap < 2.0 * pace:
        if turn > TURN:
            part = max(TURN / turn, LEAST_PART)
            status, inside, inner = turns_into(step, t, s, gap, pace, part, system, work, info, scene, room, counts, settings, count)
        else:
            status, inside, inner = dips(step, t, s, gap, at, system, work, info, scene, room, counts, settings, count, pace)
        if status != OK or inside > 0.0:
            return status, inside, inner
    if meeting < 0.0 or gap < 2.0 * pace:  # the trial was used for looking
        return go(step, t, s, system, work, info, scene, room, counts, settings, count), 0.0, gap
    return OK, 0.0, gap


@kernel
def seek(step, t, s, h, g_start, system, work, info, scene, room, counts, settings, count, record, tally):
    """(status, s', struck, contact): room.trial is s' after the node, at the first instant of contact or, where there is none, at s."""
    status = go(step, t, s, system, work, info, scene, room, counts, settings, count)
    tally[ITERATIONS] += info[0]
    tally[MAX_ITERATIONS] = max(tally[MAX_ITERATIONS], info[0])
    tally[RESIDUAL] = max(tally[RESIDUAL], info[1])
    tally[SUBSTEPS] += info[2]
    none = (-1, 0, 0)
    if status != OK:
        return status, s, False, none
    if count > 0 and jumps(scene, room, counts[TOUCHING], 4.0 * max(farthest(room.centre, room.before), settings[TOUCH])):
        return NOT_CONVERGED, s, False, none
    gap, at = least(s, system, work, scene, room, counts, settings)
    moved = farthest(room.centre, room.before)
    pace = max(moved, record[PACE] * s / h)
    swept = max(pace, farthest(room.points, room.points_before))  # a rod that turns about its middle moves none
    guess, slope = soonest(scene, room, moved)
    high = s
    if gap >= -settings[TOL]:
        status, inside, inner = inspect(step, t, s, gap, at, swept, moved, system, work, info, scene, room, counts, settings, count)
        if status != OK:
            return status, s, False, none
        if inside > 0.0:
            high, gap = inside, inner
    record[PACE] = pace
    if gap >= -settings[TOL]:
        return OK, s, False, none
    status, s = first_contact(
        step, t, 0.0, max(g_start, settings[TOL]), high, gap, guess * s, slope / s,
        system, work, info, scene, room, counts, settings, count,
    )  # fmt: skip
    return status, s, True, at
