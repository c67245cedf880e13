"""Colours for the page, which takes the colour of one mesh as sRGB, and those of bodies that share a mesh as linear.

c / 12.92 up to 0.04045, ((c + 0.055) / 1.055)^2.4 above (IEC 61966-2-1)
"""

from __future__ import annotations

from typing import Any

import numpy as np


def linear(colours: Any) -> Any:
    """uint8 sRGB as uint8 linear, so that bodies that share a mesh look as others of their colour."""
    c = np.asarray(colours, dtype=float) / 255.0
    return np.round(255.0 * np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)).astype(np.uint8)
