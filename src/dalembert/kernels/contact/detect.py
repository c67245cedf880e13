"""All contact points of a scene that our own kernels find: spheres, boxes, convex hulls on planes.

    place -> pairs whose bounding boxes meet -> contact points of each pair, in the order of the pairs' keys

What does not fit is counted, and GROW is returned: the caller makes room and calls again. Nothing that is remembered has changed then.
The margin of a pair is margin * (smaller scale of the two) + reach of both bodies.
"""

from dalembert.kernels._jit import inline, kernel
from dalembert.kernels.contact.balls import ball_on_box, ball_on_plane, two_balls
from dalembert.kernels.contact.boxes import NO_AXIS, boxes
from dalembert.kernels.contact.broad import by_rows, over_planes, place, sweep
from dalembert.kernels.contact.filters import material
from dalembert.kernels.contact.manifold import vertices_on_plane
from dalembert.kernels.contact.tables import AXES, BOX, CONTACTS, HULL, PAIRS, PLANE, SPHERE
from dalembert.kernels.status import NOT_FINITE, OK

GROW = 100  # room for work.counts[PAIRS] candidates and work.counts[CONTACTS] contacts is needed


@inline
def margin_of(shapes, reach, settings, i, j):
    """Margin of a pair."""
    margin = settings.margin * min(shapes.scale[i], shapes.scale[j])
    a, b = shapes.owner[i], shapes.owner[j]
    return margin + (reach[a] if a >= 0 else 0.0) + (reach[b] if b >= 0 else 0.0)


@kernel
def on_plane(shapes, work, plane, i, margin, found, at):
    """Contacts of a sphere, box or hull with a plane; returns how many."""
    if shapes.kind[i] == SPHERE:
        return ball_on_plane(work.c, work.R, shapes.half[i, 0], plane, i, margin, found, at)
    return vertices_on_plane(shapes, work.c, work.R, plane, i, margin, found, at)


@kernel
def with_ball(shapes, work, i, j, margin, found, at):
    """Contacts of a sphere with a sphere or box; returns how many."""
    c, half = work.c, shapes.half
    if shapes.kind[i] == shapes.kind[j]:
        return two_balls(c, half[i, 0], half[j, 0], i, j, margin, found, at)
    if shapes.kind[i] == SPHERE:
        return ball_on_box(c, work.R, half, i, j, half[i, 0], -1.0, margin, found, at)
    return ball_on_box(c, work.R, half, j, i, half[j, 0], 1.0, margin, found, at)


@inline
def _of_pair(shapes, work, settings, i, j, margin, kept, found, at):
    """(contacts, axis) of a pair."""
    if shapes.kind[i] == PLANE:
        return on_plane(shapes, work, i, j, margin, found, at), NO_AXIS
    if shapes.kind[j] == PLANE:
        return on_plane(shapes, work, j, i, margin, found, at), NO_AXIS
    if shapes.kind[i] == BOX and shapes.kind[j] == BOX:
        scale = min(shapes.scale[i], shapes.scale[j])
        slack, clip = scale * settings.slack, scale * settings.clip
        fast = margin > 2.0 * scale * settings.margin
        return boxes(shapes, work, i, j, margin, fast, slack, clip, settings.angle, kept, found, at)
    if shapes.kind[i] == HULL or shapes.kind[j] == HULL:  # see hulls.py
        return 0, NO_AXIS
    return with_ball(shapes, work, i, j, margin, found, at), NO_AXIS


@inline
def _name(shapes, filters, i, j, found, at, count):
    """Bodies, key and material of contacts."""
    if count > 0:
        own = material(filters, i, j)
        for k in range(at, min(at + count, found.gap.shape[0])):
            found.bodies[k, 0], found.bodies[k, 1] = shapes.owner[i], shapes.owner[j]
            found.key[k] = i * shapes.owner.shape[0] + j
            found.material[k] = own


@kernel
def narrow(shapes, filters, settings, reach, work, keys, codes, found):
    """Contacts of all candidates. keys, codes: axes of the last detection, sorted; those of this one go to work.axis_keys, axis_codes."""
    n_shapes, at, axes, old = shapes.owner.shape[0], 0, 0, 0
    for i in range(n_shapes):
        for k in range(work.start[i], work.start[i + 1]):
            j = work.second[k]
            key = i * n_shapes + j
            while old < keys.shape[0] and keys[old] < key:
                old += 1
            kept = codes[old] if old < keys.shape[0] and keys[old] == key else NO_AXIS
            margin = margin_of(shapes, reach, settings, i, j)
            count, axis = _of_pair(shapes, work, settings, i, j, margin, kept, found, at)
            _name(shapes, filters, i, j, found, at, count)
            at += count
            if axis != NO_AXIS:
                work.axis_keys[axes], work.axis_codes[axes] = key, axis
                axes += 1
    work.counts[CONTACTS], work.counts[AXES] = at, axes


@kernel
def detect(shapes, filters, settings, x, q, reach, work, keys, codes, found):
    """Contacts of bodies at x (n, 3), q (n, 4), which may come nearer by reach (n,) each. Status OK, GROW or NOT_FINITE.

    counts[CONTACTS] contacts are in found, counts[AXES] axes in work.axis_keys, axis_codes.
    """
    work.counts[PAIRS] = work.counts[CONTACTS] = work.counts[AXES] = 0
    if not place(shapes, x, q, reach, settings.margin, work):
        return NOT_FINITE
    over_planes(shapes, filters, settings.margin, work)
    sweep(shapes, filters, work)
    if work.counts[PAIRS] > work.pairs.shape[0]:
        return GROW
    by_rows(work, shapes.owner.shape[0])
    narrow(shapes, filters, settings, reach, work, keys, codes, found)
    return GROW if work.counts[CONTACTS] > found.gap.shape[0] else OK
