"""`traj.picture`: one image of a machine, with earlier exposures, paths, contact forces and frames.

Earlier exposures fade: exposure k of n shows FAINT + (STRONG - FAINT) k/(n - 1), the oldest the least.
"""

from __future__ import annotations

import io
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from dalembert.arrays import Array
from dalembert.errors import UnknownNameError
from dalembert.runs.as_bodies import as_bodies
from dalembert.view.meshes import Mesh
from dalembert.view.picture import checked_path, new_picture, save_picture, styled, write_file
from dalembert.view.render import backend, checks, overlays
from dalembert.view.render.camera import checked_camera
from dalembert.view.render.scene import Moment, Scene
from dalembert.view.render.themes import Theme, find_theme

SUFFIXES = (".png", ".pdf", ".svg")
OPTIONS = ("t", "size", "theme", "camera", "exposures", "trails", "contacts", "frames", "transparent")
FAINT, STRONG = 0.16, 0.5
DPI = 300  # of the raster in a PDF or SVG file


def picture_trajectory(
    traj: Any,
    path: Any = None,
    t: float | None = None,
    size: tuple[int, int] = (1600, 1200),
    theme: str = "light",
    camera: Any = None,
    exposures: Any = 0,
    trails: Any = (),
    contacts: bool = True,
    frames: bool = False,
    transparent: bool = False,
    **unknown: Any,
) -> Any:
    """See `Trajectory.picture`."""
    if unknown:
        raise UnknownNameError("option of picture", next(iter(unknown)), OPTIONS)
    target = None if path is None else checked_path(path, SUFFIXES)
    traj = as_bodies(traj)
    image = Image.fromarray(_drawn(traj, t, size, theme, camera, exposures, trails, contacts, frames, transparent))
    if target is None:
        return image
    _write(image, target)
    return target


def _drawn(
    traj: Any, t: Any, size: Any, theme: Any, camera: Any, exposures: Any, trails: Any, contacts: Any, frames: Any, transparent: Any
) -> NDArray[np.uint8]:
    """Everything is checked before anything is drawn."""
    from dalembert.view.animate import configurations

    size, look, view = checks.checked_size(size), find_theme(theme), checked_camera(camera)
    at = checks.checked_time(traj, t)
    times = np.append(checks.exposure_times(traj, exposures, at), at)
    points = overlays.trail_points(traj.model, trails)
    for what, value in (("contacts", contacts), ("frames", frames), ("transparent", transparent)):
        checks.check_switch(what, value)
    q = configurations(traj, times)
    checks.checked_finite(q, times)
    poses, centres = traj.model.poses(q), overlays.centres_of(traj.model, q)
    try:
        backend.load()
    except backend.CannotRender as problem:
        return _painted(traj, q, poses, centres, size, problem)
    paths = _paths(traj, points, at)
    extra = np.concatenate([p.reshape(-1, 3) for p in paths]) if paths else None
    with Scene(traj.model, poses, centres, size, view, look, extra, follow=False) as scene:
        marks = _marks(traj, scene, points, paths, poses[-1], at, look, contacts, frames)
        return scene.draw(_moments(poses, centres), marks, transparent)


def _moments(poses: Array, centres: Array) -> list[Moment]:
    n = len(poses) - 1
    shows = [*(np.linspace(FAINT, STRONG, n) if n > 1 else np.full(n, STRONG)), 1.0]
    return [Moment(*x) for x in zip(poses, centres, shows, strict=True)]


def _paths(traj: Any, points: Any, at: float) -> list[Array]:
    """Paths of points from the start of the run to a time."""
    from dalembert.view.animate import configurations

    if not points:
        return []
    times = np.linspace(traj.t[0], at, overlays.PATH_POINTS)
    q = configurations(traj, times)
    return overlays.point_paths(traj.model, q[np.isfinite(q).all(axis=1)], points)


def _marks(
    traj: Any, scene: Scene, points: Any, paths: list[Array], poses: Array, at: float, look: Theme, contacts: bool, frames: bool
) -> list[Mesh]:
    marks: list[Mesh] = []
    for (body, _, _), path in zip(points, paths, strict=True):
        marks += overlays.trail(path, scene.extent, 0.85 * scene.body_colour(body))
    if contacts:
        marks += contact_marks(traj, at, scene.extent, look)
    return marks + (overlays.body_frames(poses, scene.extent) if frames else [])


def contact_marks(traj: Any, at: float, extent: float, look: Theme) -> list[Mesh]:
    """Forces of the contacts of the node at or before a time; none where the run kept no contacts."""
    rows = traj.contacts
    if not len(rows.rows):
        return []
    k = int(np.searchsorted(traj.t, at * (1 + 1e-12), side="right")) - 1
    here = rows[k : k + 1]
    return overlays.contact_forces(here, extent, look.force)


def _painted(traj: Any, q: Array, poses: Array, centres: Array, size: tuple[int, int], problem: Exception) -> NDArray[np.uint8]:
    """The picture of the painter, which needs nothing but NumPy."""
    from dalembert.view.stage import Stage

    warnings.warn(f"picture: {problem} Drawn by the plain painter, without theme, camera, exposures and marks.", stacklevel=5)
    stage = Stage(traj.model, poses[-1:], centres[-1:], size, traj.model.name or "model")
    return np.asarray(stage.draw(poses[-1], centres[-1], "", centres[-1:]).convert("RGB"))


def _write(image: Image.Image, path: Path) -> None:
    if path.suffix.lower() == ".png":
        buffer = io.BytesIO()
        image.save(buffer, format="PNG")
        write_file(path, buffer.getvalue())
        return
    with styled():
        figure = new_picture(image.width / DPI, image.height / DPI)
        figure.set_layout_engine("none")
        figure.patch.set_alpha(0.0)
        axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
        axes.set_axis_off()
        axes.imshow(np.asarray(image), interpolation="none", aspect="auto")
    save_picture(figure, path, dpi=DPI)
