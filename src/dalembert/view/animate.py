"""Animations: a GIF of the moving bodies, drawn from their shapes, or a film (.mp4, .webm) of them in light and shadow.

renderer "painter": parallel rays, plain, quick, needs nothing but NumPy. "pyvista": light and shadow (view/render/). "auto": PyVista for
films, and for a GIF where an option is given that only PyVista knows; else the painter.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from PIL import Image

from dalembert.arrays import Array
from dalembert.errors import OptionError, UnknownNameError
from dalembert.runs.as_bodies import as_bodies
from dalembert.runs.progress import Progress
from dalembert.view.gif import gif_bytes
from dalembert.view.picture import checked_path, write_file
from dalembert.view.render import backend, film
from dalembert.view.render.checks import checked_size
from dalembert.view.sphere import com_paths
from dalembert.view.stage import Stage

SHORTEST, LONGEST = 4.0, 10.0
PATH_POINTS = 1200
SUFFIXES = (".gif", ".mp4", ".webm")
RENDERERS = ("auto", "painter", "pyvista")
LOOKS = ("theme", "camera", "trails", "contacts", "frames", "occlusion")  # options that only PyVista knows


class Usual(NamedTuple):
    """What is taken where nothing is said."""

    fps: float
    size: tuple[int, int]
    max_frames: int


GIF, FILM = Usual(20, (480, 480), 200), Usual(30, (1280, 720), 3600)


def animate_trajectory(
    traj: Any,
    path: Any,
    fps: float | None = None,
    seconds: float | None = None,
    size: tuple[int, int] | None = None,
    max_frames: int | None = None,
    speed: float | None = None,
    renderer: str = "auto",
    progress: bool | None = None,
    **look: Any,
) -> Path:
    """Write a GIF or a film of the moving bodies and return its path.

    GIF     fps: images per second of playing time (20; at most 50: players slow down what is faster); seconds: playing time, by default
            that of the motion, but not below 4 s or above 10 s; max_frames: fewer images per second are taken rather than more than these
            (200); size: (480, 480) pixels
    film    fps (30, at most 120), size (1280, 720), both even; as long as the motion (speed=1), more than max_frames (3600) are refused
    both    speed: of the playing time, 2 is twice as fast as the motion (instead of seconds); renderer: "auto", "painter", "pyvista";
            progress: a bar, by default in a terminal on long work
    look    by PyVista: theme, camera, trails, contacts, frames as in `Trajectory.picture`; occlusion: darker corners (True: slower)
    """
    target = checked_path(path, SUFFIXES)
    unknown = next((name for name in look if name not in LOOKS), None)
    if unknown is not None:
        known = ("fps", "seconds", "size", "max_frames", "speed", "renderer", "progress", *LOOKS)
        raise UnknownNameError("option of animate", unknown, known)
    target, is_film = _writable(target)
    usual, traj = FILM if is_film else GIF, as_bodies(traj)
    rate, most = usual.fps if fps is None else fps, usual.max_frames if max_frames is None else max_frames
    given = usual.size if size is None else size
    pixels = film.checked_film_size(given) if is_film else checked_size(given, 4096)
    seconds = _playing(float(traj.t[-1] - traj.t[0]), speed, seconds)
    times, duration = (film_times if is_film else frame_times)(traj.t, rate, seconds, most)
    shown = 0.001 * duration * len(times)
    pitch, drawn = float(times[-1] - times[0]) / max(len(times) - 1, 1), itertools.count(1)
    with drawer(traj, times, pixels, shown, renderer, is_film, look) as draw, Progress(progress, "drawing", 0, len(times), pitch) as bar:

        def image(k: int) -> Image.Image:
            bar.update(next(drawn))
            return draw(k)

        if is_film:
            film.write_film((image(k) for k in range(len(times))), target, pixels, float(rate))
        else:
            write_file(target, gif_bytes(image, len(times), int(duration)))
    return target


def _writable(target: Path) -> tuple[Path, bool]:
    """Where to write, and whether it is a film: a GIF beside it, with a warning, if films cannot be written."""
    is_film = target.suffix.lower() != ".gif"
    problem = film.ffmpeg_problem() if is_film else ""
    if not problem:
        return target, is_film
    other = target.with_suffix(".gif")
    warnings.warn(f"animate: {problem}; {str(other)!r} is written instead of {target.name!r}.", stacklevel=4)
    return other, False


def _playing(span: float, speed: float | None, seconds: float | None) -> float | None:
    """Playing time, s, if one is given; span: that of the motion."""
    if speed is None:
        return seconds
    if seconds is not None:
        raise OptionError(f"speed = {speed!r} and seconds = {seconds!r} both say how long the animation is; expected one of them.")
    pace = _positive("speed", speed)
    return span / pace if span > 0 else None


@contextmanager
def drawer(
    traj: Any, times: Array, size: tuple[int, int], playing: float, renderer: str, is_film: bool, look: dict[str, Any]
) -> Iterator[Callable[[int], Image.Image]]:
    """What draws the image of time k; playing: how long all are shown, s."""
    if renderer not in RENDERERS:
        raise UnknownNameError("renderer", renderer, RENDERERS)
    if renderer == "painter" and look:
        raise OptionError(f"the painter has no {', '.join(look)}; renderer='pyvista' has.")
    wanted = renderer == "pyvista" or (renderer == "auto" and (is_film or bool(look)))
    if wanted:
        try:
            backend.load()
        except backend.CannotRender as problem:
            if renderer == "pyvista":
                raise
            warnings.warn(f"animate: {problem} Drawn by the plain painter.", stacklevel=6)
            wanted = False
    if not wanted:
        yield _drawer(traj, times, size, playing)
        return
    label, pace = _clock(float(times[-1] - times[0]), playing)
    with film.Film(traj, times, size, (_title(traj), label, pace), **look) as made:
        yield made.draw


def film_times(t: Array, fps: float, seconds: float | None, max_frames: int) -> tuple[Array, float]:
    """Times of the images of a film, and how long each is shown, ms; as long as the motion if no playing time is given."""
    rate, most = _positive("fps", fps), int(_positive("max_frames", max_frames))
    if rate > 120:
        raise OptionError(f"fps = {rate:g}; expected at most 120.")
    span = float(t[-1] - t[0])
    playing = span if seconds is None else _positive("seconds", seconds)
    count = max(round(playing * rate), 1) if span > 0 else 1
    if count > most:
        raise OptionError(
            f"a film of {playing:g} s at {rate:g} images per second has {count} images, more than max_frames = {most}; "
            f"speed={np.ceil(10.0 * span * rate / most) / 10.0:g} or seconds={np.floor(most / rate):g} fits."
        )
    return np.linspace(t[0], t[-1], count), 1000.0 / rate


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
    size = checked_size(size, 4096)
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
    stage = Stage(traj.model, poses, now, size, _title(traj), pace)
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
    stage = Stage(model, poses, now, checked_size(size, 4096), model.name or "model", "")
    return np.asarray(stage.draw(poses[0], now[0], "", now[:1]).convert("RGB"))


def configurations(traj: Any, times: Array) -> Array:
    """q (n, nq) at times of the run: `traj.at`, of all at once."""
    if len(traj) == 1:
        return np.repeat(traj.q, len(times), axis=0)
    k = np.clip(np.searchsorted(traj.t, times, side="right") - 1, 0, len(traj) - 2)
    s = (times - traj.t[k]) / (traj.t[k + 1] - traj.t[k])
    return np.asarray(traj.model.integrate(traj.q[k], s[:, None] * traj.model.difference(traj.q[k], traj.q[k + 1])))


def _title(traj: Any) -> str:
    return f"{traj.model.name or 'model'}: {traj.meta['method']}"


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
