"""Animations: a GIF of the moving bodies, drawn from their shapes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from dalembert.arrays import Array
from dalembert.errors import OptionError
from dalembert.runs.as_bodies import as_bodies
from dalembert.view.gif import gif_bytes
from dalembert.view.picture import checked_path, write_file
from dalembert.view.sphere import com_paths
from dalembert.view.stage import Stage

SHORTEST, LONGEST = 4.0, 10.0
PATH_POINTS = 1200


def animate_trajectory(
    traj: Any, path: Any, fps: float = 20, seconds: float | None = None, size: tuple[int, int] = (480, 480), max_frames: int = 200
) -> Path:
    """Write a GIF of the moving bodies and return its path.

    fps: images per second of playing time (at most 50: GIF players slow down what is faster); seconds: playing time, by default that of
    the motion, but not below 4 s or above 10 s; size: width and height in pixels; max_frames: fewer images per second are taken rather
    than more than these.
    """
    target = checked_path(path, (".gif",))
    write_file(target, render_gif(traj, fps, seconds, size, max_frames))
    return target


def show_trajectory(traj: Any, **options: Any) -> Any:
    """The animation as an IPython image, which a notebook shows; options are those of `animate_trajectory`."""
    try:
        from IPython.display import Image as Shown
    except ImportError:
        raise OptionError(
            "an image of the motion needs IPython, which is not installed (pip install ipython); traj.animate('run.gif') writes a file."
        ) from None
    return Shown(data=render_gif(traj, **options), format="gif")


def render_gif(
    traj: Any, fps: float = 20, seconds: float | None = None, size: tuple[int, int] = (480, 480), max_frames: int = 200
) -> bytes:
    """The animation as the bytes of a GIF file."""
    traj = as_bodies(traj)
    size = _checked_size(size)
    times, duration = frame_times(traj.t, fps, seconds, max_frames)
    return gif_bytes(_drawer(traj, times, size, 0.001 * duration * len(times)), len(times), duration)


def frame_times(t: Array, fps: float, seconds: float | None, max_frames: int) -> tuple[Array, int]:
    """Times of the images, and how long each is shown in ms (GIF counts in hundredths of a second)."""
    fps, most = _positive("fps", fps), int(_positive("max_frames", max_frames))
    if fps > 50:
        raise OptionError(f"fps = {fps:g}; expected at most 50: players of GIF files slow down what is faster.")
    span = float(t[-1] - t[0])
    playing = min(max(span, SHORTEST), LONGEST) if seconds is None else _positive("seconds", seconds)
    duration = max(10 * round(100 / fps), 20)
    count = max(round(1000 * playing / duration), 1) if span > 0 else 1
    if count > most:
        count, duration = most, max(10 * round(100 * playing / most), 20)
    return np.linspace(t[0], t[-1], count), duration


def _drawer(traj: Any, times: Array, size: tuple[int, int], playing: float) -> Callable[[int], Image.Image]:
    """What draws the image of time k; playing: how long all are shown, s."""
    nodes = np.unique(np.linspace(0, len(traj) - 1, PATH_POINTS).astype(int))
    q = configurations(traj, times)
    path, now = (np.stack(com_paths(traj.model, x), axis=1) for x in (traj.q[nodes], q))
    poses, (label, pace) = traj.model.poses(q), _clock(float(times[-1] - times[0]), playing)
    stage = Stage(traj.model, poses, now, size, f"{traj.model.name or 'model'}: {traj.meta['method']}", pace)
    ends = np.searchsorted(traj.t[nodes], times)

    def draw(k: int) -> Image.Image:
        past = path[: ends[k]][-PATH_POINTS // 4 :]
        return stage.draw(poses[k], now[k], label.format(times[k]), np.concatenate([past, now[k : k + 1]]))

    return draw


def picture_of(model: Any, q: Array, size: tuple[int, int] = (480, 480)) -> Any:
    """An image of a machine at one configuration, (height, width, 3)."""
    model.needs_bodies("render")
    rows = np.asarray(q, dtype=float)[None, :]
    now, poses = np.stack(com_paths(model, rows), axis=1), model.poses(rows)
    stage = Stage(model, poses, now, _checked_size(size), model.name or "model", "")
    return np.asarray(stage.draw(poses[0], now[0], "", now[:1]).convert("RGB"))


def configurations(traj: Any, times: Array) -> Array:
    """q (n, nq) at times of the run: `traj.at`, of all at once."""
    if len(traj) == 1:
        return np.repeat(traj.q, len(times), axis=0)
    k = np.clip(np.searchsorted(traj.t, times, side="right") - 1, 0, len(traj) - 2)
    s = (times - traj.t[k]) / (traj.t[k + 1] - traj.t[k])
    return np.asarray(traj.model.integrate(traj.q[k], s[:, None] * traj.model.difference(traj.q[k], traj.q[k + 1])))


def _clock(span: float, playing: float) -> tuple[str, str]:
    """Format of the time label, and words that tell the pace where it is not that of the motion."""
    digits = 0 if span >= 200 else 1 if span >= 20 else 2
    speed = span / playing if span > 0 else 1.0
    return f"t = {{:.{digits}f}} s", "" if abs(speed - 1.0) < 0.05 else f"{speed:.2g}× speed"


def _positive(what: str, value: Any) -> float:
    try:
        x = float(value)
    except (TypeError, ValueError):
        x = np.nan
    if not (np.isfinite(x) and x > 0):
        raise OptionError(f"{what} = {value!r}; expected a positive number.")
    return x


def _checked_size(size: Any) -> tuple[int, int]:
    try:
        width, height = (int(x) for x in size)
    except (TypeError, ValueError):
        width = height = 0
    if not (64 <= width <= 4096 and 64 <= height <= 4096):
        raise OptionError(f"size = {size!r}; expected (width, height) in pixels, each from 64 to 4096.")
    return width, height
