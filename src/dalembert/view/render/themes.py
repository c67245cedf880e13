"""Looks of pictures in space: colours of background, floor, grid and words, and how strong light and shadow are."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import UnknownNameError
from dalembert.view.canvas import rgb


class Theme(NamedTuple):
    """Colours '#rrggbb'. top, bottom: of the background; floor, grid: colour and how much it shows; shadow: part of the light it takes."""

    top: str
    bottom: str
    floor: tuple[str, float]
    grid: tuple[str, float]
    ink: str
    muted: str
    force: str  # arrows of contact forces
    shadow: float

    def background(self, width: int, height: int) -> Array:
        """(height, width, 3) from 0 to 1: from the top colour to the bottom colour."""
        s = np.linspace(0.0, 1.0, height, dtype=np.float32)[:, None, None]
        colours = [(rgb(c) / 255.0).astype(np.float32) for c in (self.top, self.bottom)]
        return np.broadcast_to((1.0 - s) * colours[0] + s * colours[1], (height, width, 3))


THEMES = {
    "light": Theme("#fafbfc", "#eceff3", ("#e6eaef", 0.55), ("#b4bec9", 0.75), "#22303f", "#66727f", "#c8402f", 0.50),
    "dark": Theme("#1b2027", "#12161b", ("#262d36", 0.70), ("#4a5563", 0.60), "#e8edf2", "#98a4b1", "#ff8a70", 0.55),
    "paper": Theme("#ffffff", "#ffffff", ("#ffffff", 0.0), ("#c9d0d8", 0.55), "#000000", "#555555", "#b3261e", 0.42),
}


def find_theme(name: str) -> Theme:
    """The theme of a name; UnknownNameError lists those that exist."""
    if not isinstance(name, str) or name not in THEMES:
        raise UnknownNameError("theme", name, THEMES)
    return THEMES[name]
