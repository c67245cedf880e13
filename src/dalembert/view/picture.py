"""Figures that look alike, belong to nobody's global state, and are written with clear errors."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from dalembert.errors import OptionError

FIGURE_SUFFIXES = (".png", ".pdf", ".svg")
INK, MUTED, FAINT = "#22303f", "#66727f", "#d9dee4"
NARROW = 8.0  # inches: below this title and subtitle have no room beside each other
COLOURS = ("#1f6fb4", "#d9541a", "#2a9d6f", "#8a63b8", "#c79a1b", "#b5446e", "#35a0b8", "#7d6a58", "#5b6770", "#a3b63c")
STYLE: Any = {
    "font.family": "sans-serif",
    "font.size": 9.0,
    "axes.titlesize": 10.0,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titley": 1.0,
    "axes.titlepad": 16.0,
    "axes.titlecolor": INK,
    "axes.labelcolor": INK,
    "axes.labelsize": 9.0,
    "axes.edgecolor": MUTED,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.formatter.limits": (-3, 4),
    "axes.formatter.use_mathtext": True,
    "grid.color": FAINT,
    "grid.linewidth": 0.6,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelsize": 8.0,
    "ytick.labelsize": 8.0,
    "legend.frameon": False,
    "legend.fontsize": 8.0,
    "lines.linewidth": 1.3,
    "text.color": INK,
    "figure.facecolor": "white",
    "savefig.facecolor": "auto",
    "svg.hashsalt": "dalembert",
}
_NO_DATE = {".png": {}, ".pdf": {"CreationDate": None}, ".svg": {"Date": None}}


def styled() -> Any:
    """Context in which figures of this package are made; matplotlib's own settings return at its end."""
    return matplotlib.rc_context(STYLE)


class Picture(Figure):
    """A figure that pyplot does not know of, and that a notebook shows."""

    def _repr_png_(self) -> bytes:
        return png_bytes(self)


def new_picture(width: float, height: float, title: str = "", subtitle: str = "") -> Picture:
    """An empty figure of a size in inches; call it within `styled()`."""
    picture = Picture(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(picture)
    if title:
        picture.text(0.012, 1.0 - 0.12 / height, title, ha="left", va="top", fontsize=13, fontweight="bold", color=INK)
        below = width < NARROW and bool(subtitle)
        place: Any = (
            {"x": 0.012, "y": 1.0 - 0.38 / height, "ha": "left"} if below else {"x": 0.988, "y": 1.0 - 0.15 / height, "ha": "right"}
        )
        picture.text(**place, s=subtitle, va="top", fontsize=9.5, color=MUTED)
        engine: Any = picture.get_layout_engine()
        engine.set(rect=(0.0, 0.0, 1.0, 1.0 - (0.6 if below else 0.42) / height), w_pad=0.08, h_pad=0.08)
    return picture


def png_bytes(figure: Figure, dpi: int = 110) -> bytes:
    """The figure as a PNG file in memory."""
    buffer = io.BytesIO()
    with styled():
        figure.savefig(buffer, format="png", dpi=dpi)
    return buffer.getvalue()


def checked_path(path: Any, suffixes: Sequence[str]) -> Path:
    """The path, if a file with one of these suffixes can be there; no directory is made."""
    try:
        found = Path(os.fsdecode(path))
    except TypeError:
        raise OptionError(f"path is {path!r}; expected the name of a file ({', '.join(suffixes)}).") from None
    if found.suffix.lower() not in suffixes:
        raise OptionError(f"path {str(found)!r} has suffix {found.suffix!r}; expected one of {', '.join(suffixes)}.")
    if not found.parent.is_dir():
        raise OptionError(f"path {str(found)!r}: the directory {str(found.parent)!r} does not exist.")
    if found.is_dir():
        raise OptionError(f"path {str(found)!r} is a directory; expected the name of a file.")
    return found


def write_file(path: Path, data: bytes) -> None:
    """Write a whole file; what the system refuses is told as an OptionError."""
    try:
        path.write_bytes(data)
    except OSError as problem:
        raise OptionError(f"path {str(path)!r} cannot be written: {problem.strerror or problem}.") from problem


def save_picture(figure: Figure, path: Path, dpi: int = 150) -> None:
    """Write a figure to a path that `checked_path` has passed; the same figure gives the same bytes."""
    suffix = path.suffix.lower()
    buffer = io.BytesIO()
    with styled():
        figure.savefig(buffer, format=suffix[1:], dpi=dpi, metadata=_NO_DATE[suffix])
    write_file(path, buffer.getvalue())
