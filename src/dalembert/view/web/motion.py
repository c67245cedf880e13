"""Where the bodies of a machine are and how they move, as a picture needs it.

position, quaternion    of the body frames, world
centre, velocity        of the centres of mass, world: p + R c,  R (v + omega x c)
omega                   world axes: R omega
"""

from __future__ import annotations

from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np

from dalembert.arrays import Array
from dalembert.directors import Directors
from dalembert.model import Model, kinematics
from dalembert.model.rotation import rotate
from dalembert.systems import System


class Motion(NamedTuple):
    """All bodies at one time: (n, 3), quaternion (n, 4)."""

    position: Array
    quaternion: Array
    centre: Array
    velocity: Array
    omega: Array


def motion_of(model: Model, q: Array, v: Array) -> Motion:
    """Of one state of a model."""
    frames = kinematics.frames(model, q, v)
    found = [frames[b.name] for b in model.bodies]
    position, quaternion, omega, velocity = (np.array([f[i] for f in found]).reshape(-1, k) for i, k in enumerate((3, 4, 3, 3)))
    com = np.array([b.com for b in model.bodies]).reshape(-1, 3)
    turned = rotate(quaternion, np.stack([com, velocity + np.cross(omega, com), omega]))
    return Motion(position, quaternion, position + turned[0], turned[1], turned[2])


@singledispatch
def machine_of(system: Any) -> Model:
    """The model whose bodies are drawn; UnsupportedError for a system that has none."""
    system.needs_bodies("view")
    return system  # type: ignore[no-any-return]


@machine_of.register
def _(system: Directors) -> Model:
    return system.model  # type: ignore[no-any-return]


def joint_state(system: System, q: Array, v: Array) -> tuple[Array, Array]:
    """q and v of the model that is drawn."""
    if isinstance(system, Directors):
        at_q, at_v = system.joint_state(q[None], v[None])
        return at_q[0], at_v[0]
    return q, v
