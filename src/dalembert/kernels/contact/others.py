"""Contacts that were found elsewhere, with shapes in any order and no regard to filters."""

from dalembert.kernels._jit import kernel
from dalembert.kernels.contact.detect import margin_of
from dalembert.kernels.contact.filters import material, touch
from dalembert.kernels.contact.manifold import put

UNKNOWN = -1  # feature


@kernel
def add_others(shapes, filters, settings, reach, awake, pair, point, frame, gap, found, at):
    """Append those that touch and are below the margin of their pair; awake (S,): see tables.Work; frame (m, 9): first the normal from
    pair[0] to pair[1].

    Returns how many contacts there are then; what does not fit is only counted.
    """
    for k in range(gap.shape[0]):
        i, j, sign = pair[k, 0], pair[k, 1], 1.0
        if i > j:
            i, j, sign = j, i, -1.0
        if awake[i] + awake[j] == 0 or gap[k] >= margin_of(shapes, reach, settings, i, j) or not touch(shapes, filters, i, j):
            continue
        normal = (sign * frame[k, 0], sign * frame[k, 1], sign * frame[k, 2])
        put(found, at, (point[k, 0], point[k, 1], point[k, 2]), normal, gap[k], UNKNOWN)
        if at < found.gap.shape[0]:
            found.bodies[at, 0], found.bodies[at, 1] = shapes.owner[i], shapes.owner[j]
            found.key[at] = i * shapes.owner.shape[0] + j
            found.material[at] = material(filters, i, j)
        at += 1
    return at
