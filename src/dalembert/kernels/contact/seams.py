"""Shapes of the world beneath a plane on which a body stands: flush tiles.

Contacts ahead of a body that slides over a tile are also with the next tile, whose nearest point is its edge: their normals lie across the
way, though no body above both can strike that edge. A contact keeps its body beyond a plane, so whatever of the world is wholly beneath
that plane cannot be struck by the same shape of the body:

    contact l of a shape with the world, n_l.(x - q_l) = 0 its plane (q_l = p_l - gap_l n_l/2), gap_l >= -tolerance
    contact k of it with another shape of the world is left out where    max over that shape of n_l.(x - q_l) <= tolerance

Where n_k is within NEARLY of n_l that other shape may carry the body too, unless it is a ball: the contact stays, along n_l. A step up,
a wall, a rising slope reach above the plane and stay as they are. Bounding boxes in the axes of a shape stand for it: of spheres and boxes
they are exact.
"""

from dalembert.kernels._jit import inline, kernel
from dalembert.kernels.contact.tables import PLANE, SPHERE

SAME, NEARLY = 1e-12, 1e-4  # 1 - cosine of the angle between normals


@inline
def highest(shapes, c, R, i, n, q):
    """max n.(x - q) over the bounding box of a shape."""
    out = 0.0
    for m in range(3):
        out += n[m] * (c[i, m] - q[m])
        along = n[0] * R[i, 0, m] + n[1] * R[i, 1, m] + n[2] * R[i, 2, m]
        out += along * shapes.centre[i, m]
        out += 0.0 if shapes.kind[i] == SPHERE else abs(along) * shapes.half[i, m]
    return out + (shapes.half[i, 0] if shapes.kind[i] == SPHERE else 0.0)


@inline
def _cosine(found, l, k):
    """Of the angle between two normals."""
    a, b = found.normal[l], found.normal[k]
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@inline
def _turn(found, l, k):
    """Contact k gets the normal and plane of contact l; what touches stays where it is."""
    p, q, n = found.point[k], found.point[l], found.normal[l]
    gap = 0.5 * found.gap[l]
    for m in range(3):
        p[m] += 0.5 * found.gap[k] * found.normal[k, m]
        gap += n[m] * (p[m] - q[m])
    for m in range(3):
        p[m] -= 0.5 * gap * n[m]
        found.normal[k, m] = n[m]
    found.gap[k] = gap


@inline
def _hides(shapes, c, R, slack, found, l, k):
    """Is the world's shape of contact k beneath the plane of contact l of the same shape of a body?"""
    n_shapes = shapes.owner.shape[0]
    i, moving = found.key[k] // n_shapes, found.key[k] % n_shapes
    tolerance = slack * min(shapes.scale[i], shapes.scale[moving])
    n = (found.normal[l, 0], found.normal[l, 1], found.normal[l, 2])
    if _cosine(found, l, k) > 1.0 - SAME or found.gap[l] < -tolerance or shapes.kind[i] == PLANE or shapes.half[i, 0] == 0.0:
        return False
    s = -0.5 * found.gap[l]
    q = (found.point[l, 0] + s * n[0], found.point[l, 1] + s * n[1], found.point[l, 2] + s * n[2])
    return highest(shapes, c, R, i, n, q) <= tolerance


@inline
def _move(found, k, to):
    """Contact k to another place."""
    for m in range(3):
        found.point[to, m], found.normal[to, m] = found.point[k, m], found.normal[k, m]
    found.bodies[to, 0], found.bodies[to, 1] = found.bodies[k, 0], found.bodies[k, 1]
    found.key[to], found.feature[to], found.gap[to], found.material[to] = found.key[k], found.feature[k], found.gap[k], found.material[k]


@kernel
def leave_out_seams(shapes, c, R, slack, count, found, last, before):
    """Returns how many of the contacts (sorted by key: those with the world come first) are left. last (S,), before (count,): room for
    the list of contacts of each shape; slack: tolerance of shapes of full size."""
    n_shapes, world = shapes.owner.shape[0], 0
    for i in range(n_shapes):
        last[i] = -1
    while world < count and found.bodies[world, 0] < 0:
        j = found.key[world] % n_shapes
        before[world], last[j] = last[j], world
        world += 1
    dropped = 0
    for k in range(world):
        l = last[found.key[k] % n_shapes]
        while l >= 0 and (found.key[l] == found.key[k] or found.material[l] < 0 or not _hides(shapes, c, R, slack, found, l, k)):
            l = before[l]
        if l < 0:
            continue
        if shapes.kind[found.key[k] % n_shapes] != SPHERE and _cosine(found, l, k) > 1.0 - NEARLY:
            _turn(found, l, k)
        else:
            found.material[k] = -1 - found.material[k]  # left out
            dropped += 1
    if dropped == 0:
        return count
    left = 0
    for k in range(count):
        if found.material[k] >= 0:
            _move(found, k, left)
            left += 1
    return left
