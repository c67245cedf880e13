"""Rigid motions of the world, as rows (w, u) that move a point x at w x x + u."""

from __future__ import annotations

import numpy as np

from dalembert.arrays import Array


def turn(axis: Array, through: Array) -> Array:
    """The rotation about an axis through a point, (1, 6)."""
    return np.concatenate([axis, np.cross(through, axis)])[None]


def shift(axis: Array) -> Array:
    """The shift along an axis, (1, 6)."""
    return np.concatenate([np.zeros(3), axis])[None]


def turns(through: Array) -> Array:
    """All rotations about a point, (3, 6)."""
    return np.concatenate([turn(axis, through) for axis in np.eye(3)])
