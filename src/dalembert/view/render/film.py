"""Images of a run one after the other, by PyVista; and films of images: .mp4 (H.264) and .webm (VP9), through imageio-ffmpeg.

A film appears whole or not at all: it is written beside its place and then renamed.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from dalembert.arrays import Array
from dalembert.errors import OptionError
from dalembert.view.canvas import text_width, write
from dalembert.view.meshes import Mesh
from dalembert.view.render import checks, overlays
from dalembert.view.render.camera import checked_camera
from dalembert.view.render.scene import Moment, Scene
from dalembert.view.render.still import contact_marks
from dalembert.view.render.themes import find_theme

CODECS = {
    ".mp4": ("libx264", ("-crf", "18", "-preset", "fast", "-movflags", "+faststart")),
    ".webm": ("libvpx-vp9", ("-crf", "30", "-b:v", "0", "-deadline", "good", "-cpu-used", "5")),
}
SAMPLES = 100  # configurations by which the camera is put


class Film:
    """Draws image k of a run at times (n,); used as a context. words: title, format of the time, pace."""

    def __init__(
        self,
        traj: Any,
        times: Array,
        size: tuple[int, int],
        words: tuple[str, str, str],
        theme: str = "light",
        camera: Any = None,
        trails: Any = (),
        contacts: bool = False,
        frames: bool = False,
        occlusion: bool = False,
    ):
        from dalembert.view.animate import configurations

        self.traj, self.times, self.words, self.look = traj, times, words, find_theme(theme)
        view, self.points = checked_camera(camera), overlays.trail_points(traj.model, trails)
        for what, value in (("contacts", contacts), ("frames", frames), ("occlusion", occlusion)):
            checks.check_switch(what, value)
        self.contacts, self.frames = contacts, frames
        self.q = configurations(traj, times)
        checks.checked_finite(self.q, times)
        some = self.q[np.unique(np.linspace(0, len(times) - 1, SAMPLES).astype(int))]
        self.past = np.linspace(times[0], times[-1], max(overlays.PATH_POINTS, 1)) if self.points else times[:0]
        self.paths = overlays.point_paths(traj.model, configurations(traj, self.past), self.points) if self.points else []
        extra = np.concatenate([p.reshape(-1, 3) for p in self.paths]) if self.paths else None
        poses, centres = traj.model.poses(some), overlays.centres_of(traj.model, some)
        self.scene = Scene(traj.model, poses, centres, size, view, self.look, extra, occlusion)

    def __enter__(self) -> Film:
        return self

    def __exit__(self, *error: object) -> None:
        self.scene.close()

    def draw(self, k: int) -> Image.Image:
        """Image k, red, green and blue."""
        q, model = self.q[k : k + 1], self.traj.model
        poses = model.poses(q)[0]
        pixels = self.scene.draw([Moment(poses, overlays.centres_of(model, q)[0])], self._marks(k, poses))
        image = Image.fromarray(pixels)
        self._write(image, self.words[1].format(self.times[k]))
        return image

    def _marks(self, k: int, poses: Array) -> list[Mesh]:
        marks: list[Mesh] = []
        so_far = int(np.searchsorted(self.past, self.times[k], side="right"))
        for (body, place, _), path in zip(self.points, self.paths, strict=True):
            now = poses[body, :3, :3] @ place + poses[body, :3, 3]
            marks += overlays.trail(np.concatenate([path[:so_far], now[None]]), self.scene.extent, 0.85 * self.scene.body_colour(body))
        if self.contacts:
            marks += contact_marks(self.traj, float(self.times[k]), self.scene.extent, self.look)
        return marks + (overlays.body_frames(poses, self.scene.extent) if self.frames else [])

    def _write(self, image: Image.Image, clock: str) -> None:
        """Title, pace and time at the top."""
        title, _, pace = self.words
        edge, size = 0.028 * min(image.size), max(0.029 * min(image.size), 8.0)
        room = image.size[0] - 4.0 * edge - text_width(clock, size)
        while len(title) > 4 and text_width(title, size, True) > room:
            title = title[:-2].rstrip("…") + "…"
        write(image, (edge, edge), title, size, self.look.ink, "la", True)
        write(image, (image.size[0] - edge, edge), clock, size, self.look.ink, "ra")
        write(image, (image.size[0] - edge, edge + 1.4 * size), pace, 0.9 * size, self.look.muted, "ra")


def checked_film_size(size: Any) -> tuple[int, int]:
    """(width, height), both even, as H.264 and VP9 store them."""
    width, height = checks.checked_size(size, 4096)
    if width % 2 or height % 2:
        raise OptionError(f"size = {size!r}; films have even widths and heights, such as {(width + width % 2, height + height % 2)}.")
    return width, height


def write_film(images: Iterable[Image.Image], path: Path, size: tuple[int, int], fps: float) -> None:
    """Write images to a film; what cannot be written is told as an OptionError, and nothing is left behind."""
    import imageio_ffmpeg

    codec, more = CODECS[path.suffix.lower()]
    temporary = path.with_name(f".{path.stem[:100]}.{secrets.token_hex(6)}{path.suffix.lower()}")
    writer = imageio_ffmpeg.write_frames(
        str(temporary), size, fps=fps, codec=codec, quality=None, macro_block_size=2, ffmpeg_log_level="error", output_params=list(more)
    )
    try:
        writer.send(None)
        for image in images:
            writer.send(np.ascontiguousarray(np.asarray(image)))
        writer.close()
        os.replace(temporary, path)
    except OSError as problem:
        raise OptionError(f"path {str(path)!r} cannot be written: {problem.strerror or problem}.") from problem
    finally:
        writer.close()
        temporary.unlink(missing_ok=True)


def ffmpeg_problem() -> str:
    """'' if films can be written, else why not."""
    try:
        import imageio_ffmpeg

        imageio_ffmpeg.get_ffmpeg_exe()
    except ImportError:
        return "imageio-ffmpeg is not installed (pip install dalembert[view])"
    except RuntimeError as problem:
        return f"imageio-ffmpeg finds no ffmpeg ({str(problem).splitlines()[0]})"
    return ""
