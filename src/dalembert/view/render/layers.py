"""Layers of a picture: colours that are multiplied by how much they show, (height, width, 4), from 0 to 1, float32.

top over bottom = top + (1 - a_top) bottom
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Pixels = NDArray[Any]  # float32, or bytes
FINE = 2  # pixels drawn per pixel shown, each way


def over(top: Pixels, bottom: Pixels) -> Pixels:
    """One layer on another."""
    return top + (1.0 - top[..., 3:]) * bottom


def plain(colour: Pixels, shows: Pixels) -> Pixels:
    """A layer of one colour (3,), or of (height, width, 3), of which `shows` (height, width) is seen."""
    shown = np.asarray(shows, dtype=np.float32)[..., None]
    return np.concatenate([np.asarray(colour, dtype=np.float32) * shown, shown], axis=-1)


def smaller(image: Pixels) -> Pixels:
    """Means of squares of FINE x FINE pixels, float32; bytes become numbers from 0 to 1."""
    wide = np.uint16 if image.dtype == np.uint8 else np.float32
    total = sum(image[i::FINE, j::FINE].astype(wide) for i in range(FINE) for j in range(FINE))
    return np.asarray(total, dtype=np.float32) * np.float32(1.0 / FINE**2 / (255.0 if image.dtype == np.uint8 else 1.0))


def nearest(depth: Pixels) -> Pixels:
    """The smallest depth in each square of FINE x FINE pixels."""
    parts = [depth[i::FINE, j::FINE] for i in range(FINE) for j in range(FINE)]
    return np.minimum.reduce(parts)


def matted(on_black: Pixels, depth: Pixels, on_white: Pixels | None = None) -> Pixels:
    """A layer of what an eye saw: what is not there is known by its depth, or, where something is seen through, by two backgrounds.

    Seen on black c a, on white c a + (1 - a): their difference is 1 - a.
    """
    colour, there = smaller(on_black), np.isfinite(depth)
    if on_white is None:
        shows = smaller(there)
    else:
        clear = (on_white.astype(np.int16) - on_black).mean(axis=-1, dtype=np.float32) / 255.0
        shows = smaller(np.where(there, 1.0, np.clip(1.0 - clear, 0.0, 1.0)).astype(np.float32))
    return np.concatenate([colour, shows[..., None]], axis=-1)


def as_bytes(layer: Pixels, transparent: bool) -> NDArray[np.uint8]:
    """(height, width, 3), or (height, width, 4) with colours that are not multiplied, as files have them."""
    if not transparent:
        return np.round(255.0 * np.clip(layer[..., :3], 0.0, 1.0)).astype(np.uint8)
    alpha = np.clip(layer[..., 3:], 0.0, 1.0)
    colour = np.where(alpha > 0.0, layer[..., :3] / np.maximum(alpha, 1e-6), 0.0)
    return np.round(255.0 * np.clip(np.concatenate([colour, alpha], axis=-1), 0.0, 1.0)).astype(np.uint8)
