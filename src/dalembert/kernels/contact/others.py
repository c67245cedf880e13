"""Contacts that were found elsewhere, with shapes in any order and no regard to filters; flat ends of cylinders, and cylinders on planes,
get points of ours: MuJoCo 3 finds no contact with a plane where the axis is off its normal by some 1e-15."""

from dalembert.kernels._jit import inline, kernel
from dalembert.kernels.contact.caps import cap_points, cylinder_on_plane
from dalembert.kernels.contact.detect import margin_of
from dalembert.kernels.contact.filters import material, touch
from dalembert.kernels.contact.manifold import put
from dalembert.kernels.contact.tables import BOX, PLANE

UNKNOWN = -1  # feature


@inline
def _way(shapes, way, cylinder, other):
    """Way of the body of a cylinder in the step, less that of the other one."""
    a, b = shapes.owner[cylinder], shapes.owner[other]
    out = (way[a, 3], way[a, 4], way[a, 5]) if a >= 0 else (0.0, 0.0, 0.0)
    return (out[0] - way[b, 3], out[1] - way[b, 4], out[2] - way[b, 5]) if b >= 0 else out


@inline
def _name(shapes, filters, i, j, found, at, count):
    """Bodies, key and material of contacts."""
    own = material(filters, i, j)
    for m in range(at, min(at + count, found.gap.shape[0])):
        found.bodies[m, 0], found.bodies[m, 1] = shapes.owner[i], shapes.owner[j]
        found.key[m] = i * shapes.owner.shape[0] + j
        found.material[m] = own


@kernel
def add_on_planes(shapes, filters, settings, reach, work, cylinder, way, found, at):
    """Contacts of cylinders (S,) with planes, which are of the world; way (n, 6): see paths.py. Returns how many contacts there are then;
    what does not fit is only counted."""
    for p in range(shapes.owner.shape[0]):
        if shapes.kind[p] != PLANE:
            continue
        for i in range(p + 1, shapes.owner.shape[0]):
            if cylinder[i] == 0 or work.awake[i] == 0 or not touch(shapes, filters, p, i):
                continue
            margin = margin_of(shapes, reach, settings, p, i)
            count = cylinder_on_plane(shapes, work, i, p, _way(shapes, way, i, p), margin, found, at)
            _name(shapes, filters, p, i, found, at, count)
            at += count
    return at


@inline
def _of_cap(shapes, settings, work, cylinder, way, i, j, n, margin, found, at):
    """Contacts of the flat end of a cylinder, i or j, on a box; n: normal from i to j."""
    tolerance = settings.clip * min(shapes.scale[i], shapes.scale[j])
    if cylinder[j] > 0 and shapes.kind[i] == BOX:
        return cap_points(shapes, work, j, i, n, _way(shapes, way, j, i), 1.0, margin, tolerance, found, at)
    if cylinder[i] > 0 and shapes.kind[j] == BOX:
        n = (-n[0], -n[1], -n[2])
        return cap_points(shapes, work, i, j, n, _way(shapes, way, i, j), -1.0, margin, tolerance, found, at)
    return 0


@kernel
def add_others(shapes, filters, settings, reach, work, cylinder, way, pair, point, frame, gap, found, at):
    """Append those that touch and are below the margin of their pair; frame (m, 9): first the normal from pair[0] to pair[1]; cylinder
    (S,): 1 for cylinders; way (n, 6): see paths.py. Contacts of a pair follow each other; those of cylinders with planes are left out.

    Returns how many contacts there are then; what does not fit is only counted.
    """
    done_i, done_j = -1, -1  # a pair whose contacts are all there
    for k in range(gap.shape[0]):
        i, j, sign = pair[k, 0], pair[k, 1], 1.0
        if i > j:
            i, j, sign = j, i, -1.0
        if (i == done_i and j == done_j) or work.awake[i] + work.awake[j] == 0 or (shapes.kind[i] == PLANE and cylinder[j] > 0):
            continue
        margin = margin_of(shapes, reach, settings, i, j)
        if gap[k] >= margin or not touch(shapes, filters, i, j):
            continue
        normal = (sign * frame[k, 0], sign * frame[k, 1], sign * frame[k, 2])
        count = _of_cap(shapes, settings, work, cylinder, way, i, j, normal, margin, found, at)
        if count > 0:
            done_i, done_j = i, j
        else:
            put(found, at, (point[k, 0], point[k, 1], point[k, 2]), normal, gap[k], UNKNOWN)
            count = 1
        _name(shapes, filters, i, j, found, at, count)
        at += count
    return at
