"""Where solids are, and their gaps.

    ball and wall, corner and wall      n.x - offset - r
    ball and ball                       |x_b - x_a| - r_a - r_b
    others                              signed distance of the hulls (kernels/separation) - r_a - r_b

Nearest pairs by sorting along x: a pair is looked at only where its bounding balls could be nearer than the nearest gap found so far.
"""

import math

from dalembert.kernels._jit import ARRAY, INT, far, inline, kernel
from dalembert.kernels.collision.tables import NEVER
from dalembert.kernels.events.parabolas import first_zero
from dalembert.kernels.mat3 import load9
from dalembert.kernels.separation import layout as separation
from dalembert.kernels.separation.distance import signed_distance
from dalembert.kernels.smallmat import add, axpy, dot, load3, mat_vec, scale, sub
from dalembert.kernels.tree.kinematics import place, world
from dalembert.kernels.tree.layout import AT_Q, LINKS, NQ, P_W, R_W, SCRATCH
from dalembert.kernels.tree.record import record

ROUND_OFF, PATCH, PIVOTS = separation.OPTIONS[0], separation.OPTIONS[1], int(separation.OPTIONS[2])
NOISE = 0.01  # of the distance at which bodies touch


@inline
def row3(a, i):
    """Three numbers of a row."""
    return (a[i, 0], a[i, 1], a[i, 2])


@inline
def put3(a, i, x):
    """a[i] = x"""
    a[i, 0], a[i, 1], a[i, 2] = x[0], x[1], x[2]


@kernel
def put_solids(system, state, work, scene, room):
    """World places of links and solids at the configuration of a state."""
    at_q = int(system[AT_Q])
    for i in range(int(system[NQ])):
        work[at_q + i] = state[i]
    for i in range(int(system[LINKS])):
        place(system, work, i, at_q, record(0, i, SCRATCH))
    world(system, work)
    for k in range(scene.link.shape[0]):
        i = scene.link[k]
        if i < 0:
            put3(room.centre, k, row3(scene.centre, k))
            for p in range(scene.first[k], scene.first[k + 1]):
                put3(room.points, p, row3(scene.points, p))
        else:
            rot, c = load9(work, record(0, i, SCRATCH) + R_W), load3(work, record(0, i, SCRATCH) + P_W)
            put3(room.centre, k, add(c, mat_vec(rot, row3(scene.centre, k))))
            for p in range(scene.first[k], scene.first[k + 1]):
                put3(room.points, p, add(c, mat_vec(rot, row3(scene.points, p))))
        room.low[k] = room.centre[k, 0] - scene.reach[k]
    _sort(room.order, room.low)


@inline
def _sort(order, low):
    """By insertion: places change little from one call to the next."""
    for i in range(1, order.shape[0]):
        k, j = order[i], i
        while j > 0 and low[order[j - 1]] > low[k]:
            order[j] = order[j - 1]
            j -= 1
        order[j] = k


@inline
def wall_gap(scene, room, a, w, k):
    """Of point k of solid a and a wall."""
    return dot(row3(scene.normal, w), row3(room.points, scene.first[a] + k)) - scene.offset[w] - scene.radius[a]


@far(INT(separation.MATRIX, separation.MATRIX, separation.MATRIX, ARRAY))
def hull_distance(X, Y, work, out):
    """Signed distance of two hulls; compiled where a machine has hulls."""
    return signed_distance(X, Y, ROUND_OFF, PATCH, PIVOTS, work, out)


@kernel
def pair_gap(scene, room, a, b):
    """(gap, normal from a to b, point) of two solids."""
    i, j = scene.first[a], scene.first[b]
    n_a, n_b, r_a, r_b = scene.first[a + 1] - i, scene.first[b + 1] - j, scene.radius[a], scene.radius[b]
    if n_a == 1 and n_b == 1:
        d = sub(row3(room.points, j), row3(room.points, i))
        size = math.sqrt(dot(d, d))
        n = scale(1.0 / size, d) if size > 0.0 else (1.0, 0.0, 0.0)
        return size - r_a - r_b, n, axpy(r_a, n, row3(room.points, i))
    out = room.answer
    hull_distance(room.points[i : i + n_a], room.points[j : j + n_b], room.separation, out)
    n = scale(-1.0, load3(out, separation.N))
    return out[separation.H] - r_a - r_b, n, axpy(0.5 * (r_a - r_b), n, load3(out, separation.CENTRE))


@inline
def gap_of(scene, room, a, b, k):
    """Gap of a contact."""
    if b < 0:
        return wall_gap(scene, room, a, -1 - b, k)
    gap, _, _ = pair_gap(scene, room, a, b)
    return gap


@inline
def _weighed(room, touching, a, b, k, gap, s, touch):
    """The gap; of what touched at the node over the time since, its rate (as known, where it has not moved by
    more than round-off); NEVER for what rests, and for s = 0."""
    for c in range(touching):
        if room.touch[c, 0] == a and room.touch[c, 1] == b and room.touch[c, 2] == k:
            if room.held[c] == 1 or s == 0.0:
                return NEVER
            return room.lift[c] if s * room.lift[c] < NOISE * touch else gap / s
    return gap


@kernel
def nearest(scene, room, touching, s, touch):
    """(smallest gap, (a, b, k)). s: time since the node; what touched there counts by gap / s, or for s = 0 not at all."""
    best, at = NEVER, (-1, 0, 0)
    for a in range(scene.link.shape[0]):
        c = row3(room.centre, a)
        for w in range(scene.normal.shape[0]):
            if scene.walls[a, w] == 0 or dot(row3(scene.normal, w), c) - scene.offset[w] - scene.reach[a] > max(best, touch):
                continue
            for k in range(scene.first[a + 1] - scene.first[a]):
                gap = _weighed(room, touching, a, -1 - w, k, wall_gap(scene, room, a, w, k), s, touch)
                if gap < best:
                    best, at = gap, (a, -1 - w, k)
    for i in range(room.order.shape[0]):
        a = room.order[i]
        high = room.low[a] + 2.0 * scene.reach[a]
        for j in range(i + 1, room.order.shape[0]):
            b = room.order[j]
            if room.low[b] - high > max(best, touch):
                break
            if scene.pairs[a, b] == 0:
                continue
            d = sub(row3(room.centre, b), row3(room.centre, a))
            bound = max(best, touch) + scene.reach[a] + scene.reach[b]
            if dot(d, d) > bound * bound:
                continue
            first, second = min(a, b), max(a, b)
            gap, _, _ = pair_gap(scene, room, first, second)
            gap = _weighed(room, touching, first, second, 0, gap, s, touch)
            if gap < best:
                best, at = gap, (first, second, 0)
    return best, at


@inline
def _enter(scene, room, count, a, b, k, gap, normal, point):
    """A contact in the list; its number, or -1 without room."""
    if count == room.gap.shape[0]:
        return -1
    room.who[count, 0], room.who[count, 1], room.who[count, 2] = a, b, k
    room.gap[count] = gap
    put3(room.normal, count, normal)
    put3(room.point, count, point)
    room.bounce[count] = scene.bounce_wall[a, -1 - b] if b < 0 else scene.bounce[a, b]
    return count + 1


@kernel
def collect(scene, room, within):
    """List all contacts with a gap of at most `within`. Returns their number, -1 where the list is too short."""
    count = 0
    for a in range(scene.link.shape[0]):
        c = row3(room.centre, a)
        for w in range(scene.normal.shape[0]):
            n = row3(scene.normal, w)
            if scene.walls[a, w] == 0 or dot(n, c) - scene.offset[w] - scene.reach[a] > within:
                continue
            for k in range(scene.first[a + 1] - scene.first[a]):
                gap = wall_gap(scene, room, a, w, k)
                if gap <= within:
                    count = _enter(
                        scene, room, count, a, -1 - w, k, gap, n, axpy(-scene.radius[a], n, row3(room.points, scene.first[a] + k))
                    )
                    if count < 0:
                        return -1
    for i in range(room.order.shape[0]):
        a = room.order[i]
        high = room.low[a] + 2.0 * scene.reach[a]
        for j in range(i + 1, room.order.shape[0]):
            b = room.order[j]
            if room.low[b] - high > within:
                break
            if scene.pairs[a, b] == 0:
                continue
            d, bound = sub(row3(room.centre, b), row3(room.centre, a)), within + scene.reach[a] + scene.reach[b]
            if dot(d, d) > bound * bound:
                continue
            first, second = min(a, b), max(a, b)
            gap, n, x = pair_gap(scene, room, first, second)
            if gap <= within:
                count = _enter(scene, room, count, first, second, 0, gap, n, x)
                if count < 0:
                    return -1
    return count


@kernel
def crossing(scene, room, pace):
    """(gap, part of the step) where bounding balls of two solids are nearest, inside the straight ways from room.before to room.centre.

    Of solids that could meet at all: none moves further than pace.
    """
    best, part = NEVER, 0.0
    for i in range(room.order.shape[0]):
        a = room.order[i]
        high = room.low[a] + 2.0 * (scene.reach[a] + pace)
        for j in range(i + 1, room.order.shape[0]):
            b = room.order[j]
            if room.low[b] > high:
                break
            if scene.pairs[a, b] == 0:
                continue
            d, move = _way(room, a, b)
            speed, rate = dot(move, move), dot(d, move)
            if not -speed < rate < 0.0:
                continue
            gap = math.sqrt(max(dot(d, d) - rate * rate / speed, 0.0)) - scene.reach[a] - scene.reach[b]
            if gap < best:
                best, part = gap, -rate / speed
    return best, part


@inline
def _way(room, a, b):
    """(difference of two centres at the node, its change since)"""
    d = sub(row3(room.before, b), row3(room.before, a))
    return d, sub(sub(row3(room.centre, b), row3(room.centre, a)), d)


@kernel
def soonest(scene, room, pace):
    """(part of the step, rate of the gap by it) where balls first close on the straight ways from room.before to room.centre; (0, 0): none.

    ball and wall   g + part n.m = 0                    g, d, m at room.before: gap, difference of centres, its change
    ball and ball   |d + part m|^2 = (r_a + r_b)^2      the smaller root; rate (d + part m).m/(r_a + r_b)
    """
    part, slope = 1.0, 0.0
    for i in range(room.order.shape[0]):
        a = room.order[i]
        if scene.first[a + 1] - scene.first[a] != 1:
            continue
        for w in range(scene.normal.shape[0]):
            if scene.walls[a, w] == 1:
                n, c = row3(scene.normal, w), row3(room.before, a)
                gap, rate = dot(n, c) - scene.offset[w] - scene.radius[a], dot(n, sub(row3(room.centre, a), c))
                if 0.0 < gap < -rate * part:
                    part, slope = -gap / rate, rate
        high = room.low[a] + 2.0 * (scene.reach[a] + pace)
        for j in range(i + 1, room.order.shape[0]):
            b = room.order[j]
            if room.low[b] > high:
                break
            if scene.pairs[a, b] == 0 or scene.first[b + 1] - scene.first[b] != 1:
                continue
            d, move = _way(room, a, b)
            r = scene.radius[a] + scene.radius[b]
            left = dot(d, d) - r * r
            met, rate = first_zero(left, 2.0 * dot(d, move), 2.0 * dot(move, move))
            if left > 0.0 and met < part:
                part, slope = met, 0.5 * rate / r
    return (part, slope) if slope < 0.0 else (0.0, 0.0)


@kernel
def gaps_along(system, q, work, scene, room, touch, out):
    """out[k]: smallest gap at the configuration q[k], NEVER where none is near."""
    for k in range(q.shape[0]):
        put_solids(system, q[k], work, scene, room)
        out[k], _ = nearest(scene, room, 0, 1.0, touch)
