"""Three-dimensional panels: the momentum sphere of a free body, the path of the centre of mass of the others.

Body momentum. In body axes d = J omega of a torque-free body stays on the sphere |d| = const and on the ellipsoid d . J^-1 d = 2 E: the
path is one of the level curves of the energy on the sphere. The level through the middle axis, 1/J_middle, is the separatrix.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import contourpy
import numpy as np
from mpl_toolkits.mplot3d.art3d import Poly3DCollection

from dalembert.arrays import Array
from dalembert.model import Model, kinematics
from dalembert.model.rotation import rotate
from dalembert.view.lines import strided
from dalembert.view.picture import COLOURS, INK, MUTED

_FAINT_ALPHA = 0.22


def draw_space_panel(axes: Any, traj: Any) -> str:
    """The picture in space that says most about this model; its title."""
    if len(traj.model.bodies) == 1 and traj.model.joints[0].kind == "free":
        draw_momentum_sphere(axes, traj)
        return "Momentum in the body"
    draw_paths(axes, traj)
    return "Path of the centre of mass" if len(traj.model.bodies) == 1 else "Paths of the centres of mass"


def body_momentum(model: Model, v: Array) -> Array:
    """J omega about the centre of mass, body axes, of the only and free body; N m s."""
    return v[:, :3] @ model.bodies[0].inertia


def draw_momentum_sphere(axes: Any, traj: Any) -> None:
    """Path of the body momentum, scaled by its largest norm, with level curves of the energy where the norm is constant."""
    d = strided(body_momentum(traj.model, traj.v))
    norms = np.linalg.norm(d, axis=1)
    d, norms = d[np.isfinite(norms)], norms[np.isfinite(norms)]
    size = float(norms.max())
    if not size > 0:
        _say(axes, "at rest")
        return
    eye = _look_at(axes, d / size)
    _draw_globe(axes, eye)
    kept = np.ptp(norms) <= 1e-2 * size
    if kept:
        for line, special in energy_levels(traj.model.bodies[0].inertia):
            _two_sided(axes, line, eye, color=INK if special else MUTED, lw=0.8 if special else 0.5, ls="--" if special else "-")
    _draw_path(axes, d / size, eye if kept else None, COLOURS[1])
    _draw_body_axes(axes, eye)
    _note(axes, f"{'|L|' if kept else 'radius: largest |L|'} = {size:.4g} N m s")


def energy_levels(inertia: Array, count: int = 9) -> Iterator[tuple[Array, bool]]:
    """Curves (n, 3) of constant n . J^-1 n on the unit sphere, and whether each belongs to the separatrix."""
    inverse, axes = np.linalg.inv(inertia), np.linalg.eigh(inertia)
    low, middle, high = np.sort(1.0 / axes.eigenvalues)
    if high - low < 1e-9 * high:
        return
    turn = axes.eigenvectors  # poles at principal axes, so that no level but the separatrix runs through the seams of the map
    longitude, latitude = np.linspace(-np.pi, np.pi, 181), np.linspace(-0.5 * np.pi, 0.5 * np.pi, 121)
    n = _on_sphere(*np.meshgrid(longitude, latitude)) @ turn.T
    value = np.einsum("...i,ij,...j", n, inverse, n)
    lines: Any = contourpy.contour_generator(longitude, latitude, value)
    levels = [(x, False) for x in np.linspace(low, high, count + 2)[1:-1] if abs(x - middle) > 0.02 * (high - low)]
    if min(middle - low, high - middle) > 1e-6 * (high - low):
        levels.append((middle, True))
    for level, special in levels:
        for line in lines.lines(level):
            yield _on_sphere(line[:, 0], line[:, 1]) @ turn.T, special


def draw_paths(axes: Any, traj: Any) -> None:
    """Path of the centre of mass of every body; of a body about a pivot on its sphere."""
    paths = [strided(p) for p in com_paths(traj.model, traj.q)]
    pivoted = len(paths) == 1 and traj.model.joints[0].kind == "spherical"
    centre = traj.model.joints[0].anchor if pivoted else np.mean([p.mean(axis=0) for p in paths], axis=0)
    size = max(float(np.linalg.norm(p - centre, axis=1).max()) for p in paths)
    if not size > 0:
        _say(axes, "at rest")
        return
    eye = _look_at(axes, (paths[0] - centre) / size, 15.0, 40.0)
    if pivoted:
        _draw_globe(axes, eye)
        axes.plot([0, 0], [0, 0], [-1, 1], color=MUTED, lw=0.7, ls="-.")
    for i, path in enumerate(paths):
        _draw_path(axes, (path - centre) / size, eye if pivoted else None, COLOURS[(i + 1) % len(COLOURS)])
    _note(axes, f"{'radius' if pivoted else 'half width'} = {size:.4g} m")


def com_paths(model: Model, q: Array) -> list[Array]:
    """World positions of the centres of mass, one array (n, 3) per body."""
    frames = kinematics.frames(model, q)
    return [frames[b.name].position + rotate(frames[b.name].quaternion, b.com) for b in model.bodies]


def _on_sphere(longitude: Array, latitude: Array) -> Array:
    return np.stack([np.cos(latitude) * np.cos(longitude), np.cos(latitude) * np.sin(longitude), np.sin(latitude)], axis=-1)


def _look_at(axes: Any, path: Array, least_elevation: float = -90.0, most_elevation: float = 35.0) -> Array:
    """Turn the view towards the path; the direction of the eye."""
    middle = path.mean(axis=0)
    azimuth = np.degrees(np.arctan2(middle[1], middle[0])) + 25.0 if np.hypot(*middle[:2]) > 0.15 else 35.0
    elevation = float(np.clip(np.degrees(np.arcsin(np.clip(middle[2], -1, 1))) + 12.0, least_elevation, most_elevation))
    axes.view_init(elevation, azimuth)
    axes.set_proj_type("ortho")
    axes.set_box_aspect((1, 1, 1), zoom=1.4)
    axes.set_axis_off()
    return _on_sphere(np.radians(azimuth), np.radians(elevation))


def _draw_globe(axes: Any, eye: Array) -> None:
    """Outline of the unit sphere, filled, behind everything else."""
    across = np.linalg.svd(eye[None, :])[2][1:]
    angle = np.linspace(0, 2 * np.pi, 181)
    rim = np.cos(angle)[:, None] * across[0] + np.sin(angle)[:, None] * across[1]
    axes.computed_zorder = False
    axes.add_collection3d(Poly3DCollection([rim], facecolors="#f2f6fa", edgecolors=MUTED, linewidths=0.8, zorder=0))


def _draw_path(axes: Any, path: Array, eye: Array | None, colour: str) -> None:
    _two_sided(axes, path, eye, color=colour, lw=1.5)
    axes.plot(*path[:1].T, marker="o", ms=4.5, color=colour, mec="white", mew=0.8, ls="")


def _two_sided(axes: Any, line: Array, eye: Array | None, **look: Any) -> None:
    """A line on the sphere: clear in front, faint behind."""
    front = np.ones(len(line), dtype=bool) if eye is None else line @ eye >= -0.02
    for part, alpha in ((front, 1.0), (~front, _FAINT_ALPHA)):
        if part.any():
            axes.plot(*np.where(part[:, None], line, np.nan).T, alpha=alpha, **look)


def _draw_body_axes(axes: Any, eye: Array) -> None:
    for i, e in enumerate(np.eye(3)):
        axes.plot(*np.stack([e, 1.13 * e]).T, color=INK, lw=1.0, alpha=1.0 if e @ eye > 0 else _FAINT_ALPHA)
        axes.text(*(1.23 * e), f"$e_{i + 1}$", color=INK, fontsize=9, ha="center", va="center", alpha=1.0 if e @ eye > 0 else 0.5)


def _note(axes: Any, text: str) -> None:
    axes.set(xlim=(-1, 1), ylim=(-1, 1), zlim=(-1, 1))
    axes.text2D(0.02, 0.0, text, transform=axes.transAxes, color=MUTED, fontsize=8)


def _say(axes: Any, text: str) -> None:
    axes.set_axis_off()
    axes.text2D(0.5, 0.5, text, transform=axes.transAxes, color=MUTED, ha="center")
