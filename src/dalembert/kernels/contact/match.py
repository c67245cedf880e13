"""Contacts of this step and of the last: which is which, frames, and impulses to start from.

A contact is matched with the one of the same pair of shapes and the same feature, however far it has come; or else with the nearest of the
pair within a distance; or else, of pairs without features (-1) that had as many contacts before, with the one that stood at its place. So
what rolls or slides fast touches as before. Impulses are remembered in world axes and turned into the frame of the new contact:

    frame = rows (n, t1, t2),  t1 = n x e / |n x e|,  t2 = n x t1,   e = x, or y where |n_x| >= 0.6

It depends on the normal alone and jumps at |n_x| = 0.6 only, far from normals along the axes of the world.
"""

import math

from dalembert.kernels._jit import inline, kernel


@kernel
def frames(normal, count, out):
    """out (count, 3, 3): rows n, t1, t2 of a right-handed frame."""
    for k in range(count):
        x, y, z = normal[k, 0], normal[k, 1], normal[k, 2]
        if abs(x) < 0.6:
            a, b, c = 0.0, z, -y
        else:
            a, b, c = -z, 0.0, x
        f = 1.0 / math.sqrt(a * a + b * b + c * c)
        a, b, c = f * a, f * b, f * c
        out[k, 0, 0], out[k, 0, 1], out[k, 0, 2] = x, y, z
        out[k, 1, 0], out[k, 1, 1], out[k, 1, 2] = a, b, c
        out[k, 2, 0], out[k, 2, 1], out[k, 2, 2] = y * c - z * b, z * a - x * c, x * b - y * a


@inline
def _of_pair(feature, point, k, features, points, start, end, near, same):
    """Contact of start ... end that continues contact k, or -1. same: where it stands if the pair has as many as before, else -1."""
    found, nearest = -1, near * near
    for i in range(start, end):
        a, b, c = point[k, 0] - points[i, 0], point[k, 1] - points[i, 1], point[k, 2] - points[i, 2]
        distance = a * a + b * b + c * c
        if features[i] == feature[k] and feature[k] >= 0:
            return i
        if distance < nearest:
            found, nearest = i, distance
    return same if found < 0 and feature[k] < 0 else found


@kernel
def match(key, feature, point, count, keys, features, points, scale, near, out):
    """out (count,): place among the old contacts (keys sorted), or -1. scale (S,): of shapes, shrinks the distance. Returns how many."""
    n_shapes, start, end, matched, first, last = scale.shape[0], 0, 0, 0, 0, 0
    for k in range(count):
        if k == 0 or key[k] != key[k - 1]:
            start = end
            while start < keys.shape[0] and keys[start] < key[k]:
                start += 1
            end = start
            while end < keys.shape[0] and keys[end] == key[k]:
                end += 1
            first, last = k, k + 1
            while last < count and key[last] == key[k]:
                last += 1
        same = start + k - first if last - first == end - start else -1
        own = near * min(scale[key[k] // n_shapes], scale[key[k] % n_shapes])
        out[k] = _of_pair(feature, point, k, features, points, start, end, own, same)
        if out[k] >= 0:
            matched += 1
    return matched


@kernel
def to_frames(frame, matched, impulses, count, out):
    """out (count, 3): impulses (world axes) of the matched contacts in the frames of the new ones, else 0."""
    for k in range(count):
        i = matched[k]
        for r in range(3):
            out[k, r] = 0.0
            if i >= 0:
                out[k, r] = frame[k, r, 0] * impulses[i, 0] + frame[k, r, 1] * impulses[i, 1] + frame[k, r, 2] * impulses[i, 2]


@kernel
def keep(frame, gap, chosen, n, lam, at, start, part, count, out):
    """out (count, 3): start + part (lam - start) of the chosen contacts in world axes, else 0; lam: of all rows, contacts from `at` on.
    Returns the deepest penetration of all contacts."""
    deepest = 0.0
    for k in range(count):
        out[k, 0], out[k, 1], out[k, 2] = 0.0, 0.0, 0.0
        deepest = max(deepest, -gap[k])
    for j in range(n):
        k, r = chosen[j], at + 3 * j
        a = start[k, 0] + part * (lam[r] - start[k, 0])
        b = start[k, 1] + part * (lam[r + 1] - start[k, 1])
        c = start[k, 2] + part * (lam[r + 2] - start[k, 2])
        for i in range(3):
            out[k, i] = frame[k, 0, i] * a + frame[k, 1, i] * b + frame[k, 2, i] * c
    return deepest


@kernel
def to_world(frame, lam, count, out):
    """out (count, 3): impulses lam (count, 3) in world axes."""
    for k in range(count):
        for r in range(3):
            out[k, r] = frame[k, 0, r] * lam[k, 0] + frame[k, 1, r] * lam[k, 1] + frame[k, 2, r] * lam[k, 2]
