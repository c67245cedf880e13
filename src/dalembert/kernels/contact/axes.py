"""Frames of contacts whose material has a direction, `friction_axis` of a body: the first tangent is that direction, as far as it is one.

    t1 = (1 - n n^T) R e / |...|,   t2 = n x t1

R: of the body (1: the first of the contact, 2: the second; the world: 1). Where e is along n, within SMALL, the frame stays as it is.
"""

import math

from dalembert.kernels._jit import kernel
from dalembert.kernels.bodies.motion import Q, rotation_matrix
from dalembert.kernels.contact.rows import AXIS, AXIS_OF
from dalembert.kernels.smallmat import mat_vec

SMALL = 1e-6


@kernel
def turn_frames(count, pair, material, materials, states, frames):
    """frames (count, 3, 3) in place."""
    for k in range(count):
        what = material[k]
        side = int(materials[what, AXIS_OF])
        if side == 0:
            continue
        e = (materials[what, AXIS], materials[what, AXIS + 1], materials[what, AXIS + 2])
        body = pair[k, side - 1]
        if body >= 0:
            e = mat_vec(rotation_matrix(states[body, Q], states[body, Q + 1], states[body, Q + 2], states[body, Q + 3]), e)
        x, y, z = frames[k, 0, 0], frames[k, 0, 1], frames[k, 0, 2]
        s = e[0] * x + e[1] * y + e[2] * z
        a, b, c = e[0] - s * x, e[1] - s * y, e[2] - s * z
        length = math.sqrt(a * a + b * b + c * c)
        if length < SMALL:
            continue
        a, b, c = a / length, b / length, c / length
        frames[k, 1, 0], frames[k, 1, 1], frames[k, 1, 2] = a, b, c
        frames[k, 2, 0], frames[k, 2, 1], frames[k, 2, 2] = y * c - z * b, z * a - x * c, x * b - y * a
