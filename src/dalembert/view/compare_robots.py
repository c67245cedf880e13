"""One machine under several methods: side by side, with the errors of energy and momentum over the whole time below.

Of a long run three windows are shown at the pace of the motion: its beginning, its middle and its end; a line in the curves says where.
"""

from __future__ import annotations

import io
import itertools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image

from dalembert.arrays import Array
from dalembert.runs.progress import Progress
from dalembert.view.compare_board import Board, strip_layout
from dalembert.view.gif import gif_bytes
from dalembert.view.picture import checked_path, write_file

if TYPE_CHECKING:
    from dalembert.comparison.runs import Comparison

SUFFIXES = (".gif", ".png")
FPS, WINDOW, WINDOWS = 10, 2.5, 3


def write_board(result: Comparison, path: Any, progress: bool | None = None) -> Path:
    """Write an animation (.gif) or a picture (.png), by the suffix of the path."""
    target = checked_path(path, SUFFIXES)
    write_file(target, picture(result) if target.suffix.lower() == ".png" else animation(result, progress))
    return target


def picture(result: Comparison) -> bytes:
    """PNG: the machines at the end of their runs, and the curves."""
    return _png(Board(result, scale=2.0).draw(float(result.t_end), cursor=False))


def animation(result: Comparison, progress: bool | None = None) -> bytes:
    """GIF: the machines in motion, and the curves."""
    return _gif(Board(result).draw, frame_times(result.t_end), progress)


def write_strips(results: Sequence[Comparison], path: Any, progress: bool | None = None) -> Path:
    """Several machines below each other, each a strip of panels and the curve of the energy: an animation (.gif) or a picture (.png)."""
    target = checked_path(path, (".gif", ".png"))
    moving = target.suffix.lower() == ".gif"
    boards = [Board(result, strip_layout, 1.0 if moving else 2.0) for result in results]
    end = min(result.t_end for result in results)

    def draw(t: float) -> Array:
        return np.concatenate([board.draw(t, cursor=moving) for board in boards])

    write_file(target, _gif(draw, frame_times(end, windows=2), progress) if moving else _png(draw(end)))
    return target


def _png(image: Array) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(image).quantize(256).save(buffer, "PNG", optimize=True)
    return buffer.getvalue()


def _gif(draw: Callable[[float], Array], times: Array, progress: bool | None) -> bytes:
    drawn = itertools.count(1)
    with Progress(progress, "drawing", 0, len(times), 1.0 / FPS) as bar:

        def image(k: int) -> Image.Image:
            bar.update(next(drawn))
            return Image.fromarray(draw(float(times[k])))

        return gif_bytes(image, len(times), 1000 // FPS)


def frame_times(t_end: float, windows: int = WINDOWS) -> Array:
    """Times of the images: the whole run if it is short, else windows from its beginning to its end."""
    if t_end <= windows * WINDOW:
        return np.linspace(0.0, t_end, max(2, round(FPS * t_end)))
    starts = np.linspace(0.0, t_end - WINDOW, windows)
    return np.concatenate([s + np.linspace(0.0, WINDOW, round(FPS * WINDOW)) for s in starts])
