"""Particles that are points to all that acts on them.

The joint of a particle keeps the axes of its body frame as they are. Nobody feels that as long as the particle has no inertia (what is
fixed to it would give it some) and all that is joined to it meets it in its centre, by balls and distances: then rotations of the whole
machine are symmetries, as they are for free bodies.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dalembert.arrays import Array
from dalembert.model.parts import Joint

if TYPE_CHECKING:
    from dalembert.model.loops import Loop
    from dalembert.model.model import Model

MEETS_A_POINT = {"distance", "spherical"}


def is_free(model: Model, joint: Joint) -> bool:
    """Whether the world holds nothing by a joint: a free one, or that of a particle which is a point to all."""
    if joint.kind == "free":
        return True
    return joint.kind == "translation" and _is_point(model, joint.child)


def _is_point(model: Model, name: str) -> bool:
    body = model.body(name)
    if not body.particle or any(name in (x.parent, x.child) for x in model.nonholonomic):
        return False
    carried = [j for j in model.joints if j.parent == name]
    balls = all(j.kind == "spherical" and np.array_equal(j.anchor, body.position) for j in carried)
    return balls and all(_meets(loop, name, body.position) for loop in model.loops if loop.kind != "coupling")


def _meets(loop: Loop, name: str, place: Array) -> bool:
    """Whether a loop joint, if it meets the particle at all, does so in its centre."""
    ends = [(loop.parent, loop.anchor), (loop.child, loop.point)]
    here = [where for body, where in ends if body == name]
    return not here or (loop.kind in MEETS_A_POINT and all(np.array_equal(where, place) for where in here))
