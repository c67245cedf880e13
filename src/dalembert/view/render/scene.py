"""A machine in light: what stays the same between the images of one run, and how an image is put together.

    background, floor with grid, shadows on it      computed (floor.py, shadow.py)
    bodies, earlier ones first and faint            seen by PyVista, darkened where the key light does not get
    paths, forces, frames                           seen by PyVista apart; behind a body they show through it a little

Layers are put on each other as images are (layers.py): earlier exposures never cut into later ones, as on a photographic plate.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dalembert.arrays import Array
from dalembert.model import Model
from dalembert.view.canvas import rgb
from dalembert.view.framing import frame_of
from dalembert.view.ground import level_floor, with_world, world_pieces
from dalembert.view.links import pieces_of
from dalembert.view.meshes import WORLD_COLOUR, Mesh, mesh_of, meshes_of
from dalembert.view.render import overlays
from dalembert.view.render.camera import Angles, Camera, axes_of, fitted
from dalembert.view.render.eye import Eye, surface, surfaces_of
from dalembert.view.render.floor import Floor
from dalembert.view.render.layers import FINE, Pixels, as_bytes, matted, nearest, over, plain, smaller
from dalembert.view.render.shadow import Light
from dalembert.view.render.themes import Theme
from dalembert.view.room import Links, fills, room_edges
from dalembert.view.stage import sizes_of

DETAIL, COARSE, MANY = 3, 1, 200  # round pieces are three times finer, unless there are many bodies
GLASS = 0.25  # opacity of walls of the world that would hide bodies
BEHIND = 0.3  # how much of a path or a force is seen through a body
NEAR, FAR = 0.02, 40.0  # of the distance of the camera


class Moment(NamedTuple):
    """What one exposure shows: poses (bodies, 4, 4), centres of mass (bodies, 3), and how much of it shows."""

    poses: Array
    centres: Array
    shows: float = 1.0


class Scene:
    """poses (n, bodies, 4, 4) and centres of mass (n, bodies, 3): what will be shown; view: a camera, or the direction of one that is
    fitted; extra (k, 3): points that are seen as well; occlusion: corners and gaps are darker; follow: the camera may go with bodies."""

    def __init__(
        self,
        model: Model,
        poses: Array,
        centres: Array,
        size: tuple[int, int],
        view: Camera | Angles,
        theme: Theme,
        extra: Array | None = None,
        occlusion: bool = True,
        follow: bool = True,
    ):
        self.model, self.size, self.theme, self.occlusion = model, size, theme, occlusion
        self._frame(poses, centres, view, extra, follow)
        self.links = Links(model)
        axes = self.camera.axes
        across = np.array([axes[0, 0], axes[0, 1], 0.0])
        across, front = across / np.linalg.norm(across), np.cross(across, [0.0, 0.0, 1.0]) / np.linalg.norm(across)
        key, fill = -0.5 * across + 0.7 * front + [0, 0, 1.2], 0.9 * across + 0.55 * front + [0, 0, 0.35]
        self.meshes = self._meshes(centres)
        surfaces = surfaces_of(self.meshes)
        self.eye = Eye((FINE * size[0], FINE * size[1]))
        self.eye.add_machine(surfaces)
        self.eye.add_lights((key, fill))
        self.light = Light(surfaces, key, 0.55 * float(np.linalg.norm(np.ptp(self.points, axis=0))) + 0.05 * self.extent)
        self.over: Eye | None = None
        self.floor: Floor | None = None

    def close(self) -> None:
        """Give the windows back."""
        for eye in (self.eye, self.light.eye, self.over):
            if eye is not None:
                eye.close()

    def __enter__(self) -> Scene:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _frame(self, poses: Array, centres: Array, view: Camera | Angles, extra: Array | None, follow: bool) -> None:
        """Where the camera is, how large everything is, and where the floor is."""
        pieces, self.ground = pieces_of(self.model), level_floor(self.model)
        some = slice(None, None, max(len(poses) // 100, 1))
        pieces += world_pieces(self.model, centres[some], sizes_of(pieces))
        self.room = room_edges(self.model)
        if len(self.room) and not fills(self.room, centres[some]):
            self.room, self.ground = self.room[:0], None
        axes = axes_of(view)
        room = self.room.reshape(-1, 3)
        self.frame = frame_of(self.model, pieces, poses[some], centres[some], self.size, axes, self.ground, room, follow)
        points = self.frame.points if extra is None or self.frame.follows else np.concatenate([self.frame.points, extra])
        points = points[np.isfinite(points).all(axis=1)]
        points = points if len(points) else np.zeros((1, 3))
        self.extent = float(np.ptp(points, axis=0).max()) or 1.0
        below = points * [1.0, 1.0, 0.0] + [0.0, 0.0, self.frame.floor]
        self.points = np.concatenate(
            [points, below.mean(axis=0) + 0.5 * (below - below.mean(axis=0))]
        )  # shadows may reach out of the picture
        self.camera = view if isinstance(view, Camera) else fitted(view, self.points, self.size)

    def _meshes(self, centres: Array) -> list[Mesh]:
        """Bodies and world; walls that would hide bodies are seen through; tilted planes as far as bodies get."""
        out = meshes_of(self.model, DETAIL if len(self.model.bodies) <= MANY else COARSE)
        targets = centres.reshape(-1, 3)
        targets = targets[np.isfinite(targets).all(axis=1)]
        out = [m._replace(opacity=min(m.opacity, GLASS)) if _hides(m, self.camera.position, targets) else m for m in out]
        planes = [s for s in self.model.world_shapes if s.kind == "plane"]
        if planes:
            sizes = sizes_of(pieces_of(self.model))
            solids = [p.solid for p in world_pieces(self.model, centres, sizes) if not p.solid.closed and p.solid.tone.any()]
            out += [mesh_of(-1, solid, rgb(WORLD_COLOUR) / 255.0) for solid in solids]
        return out

    def draw(self, moments: Sequence[Moment], over_all: Sequence[Mesh] = (), transparent: bool = False) -> NDArray[np.uint8]:
        """An image (height, width, 3 or 4) of some exposures, the last of which is whole."""
        away = self.frame.middle(moments[-1].centres)
        camera, floor = self.camera.moved(away), self._floor(away)
        distance = float(np.linalg.norm(camera.position - camera.focus))
        self.eye.look(camera, NEAR * distance, FAR * distance)
        middle = 0.5 * (self.points.min(axis=0) + self.points.max(axis=0)) + away
        bright: Pixels = np.ones(floor.fade.shape, dtype=np.float32)
        layers, depth = [], None
        for k, moment in enumerate(moments):
            poses = with_world(moment.poses)
            self.light.see(poses, middle)
            bright *= 1.0 - floor.shaded(self.light, self.light.on_floor(floor.height), moment.shows)
            if self.occlusion and k == len(moments) - 1:
                self.eye.occlude(0.06 * self.extent)
            layer, depth = self._bodies(poses, camera)
            layers.append(moment.shows * layer)
        if transparent:
            image = over(plain(np.zeros(3), 1.0 - bright), floor.layer)
        else:
            image = floor.ground * bright[..., None]
        for layer in layers:
            image = over(layer, image)
        marks = [*over_all, *self._lines(moments[-1])]
        if marks and depth is not None:
            image = over(self._marks(marks, camera, distance, depth), image)
        return as_bytes(image, transparent)

    def body_colour(self, body: int) -> Array:
        """(3,) from 0 to 1: that of the first piece of a body."""
        return next((m.colours[0] for m in self.meshes if m.body == body), rgb(self.theme.muted) / 255.0)

    def _floor(self, away: Array) -> Floor:
        """The floor as the camera sees it; one and the same while the camera stands."""
        if self.floor is None or self.frame.follows:
            middle = 0.5 * (self.points.min(axis=0) + self.points.max(axis=0)) + away
            height = self.frame.floor + away[2]
            camera = self.camera.moved(away)
            self.floor = Floor(camera, self.size, middle[:2], self.extent, height, self.theme, self.ground is not None)
            self.rays = camera.rays(*self.size)
        return self.floor

    def _bodies(self, poses: Array, camera: Camera) -> tuple[Pixels, Pixels]:
        """Layer of the bodies, and depth in all pixels that were drawn."""
        self.eye.place(poses)
        colours, depth = self.eye.shot()
        layer = matted(colours, depth, self.eye.shot(white=True)[0] if self.eye.see_through else None)
        small = nearest(depth)
        seen = np.isfinite(small)
        if seen.any():
            points = camera.position.astype(np.float32) + np.where(seen, small, np.nan)[..., None] * self.rays
            facing = _facing(points, self.light.towards)[seen]
            layer[seen, :3] *= 1.0 - self.theme.shadow * (facing * self.light.on_bodies(points[seen]))[:, None]
        return layer, depth

    def _lines(self, moment: Moment) -> list[Mesh]:
        """Links of `distance` loops, and edges of the room."""
        links = self.links.lines(with_world(moment.poses))
        muted = rgb(self.theme.muted) / 255.0
        return overlays.rods(links, 0.005 * self.extent, muted) + overlays.rods(self.room, 0.0025 * self.extent, muted)

    def _marks(self, meshes: Sequence[Mesh], camera: Camera, distance: float, depth: Pixels) -> Pixels:
        """Layer of what is drawn over the bodies: faint where they hide it."""
        if self.over is None:
            self.over = Eye(self.eye.size)
            self.over.add_lights((self.light.towards, camera.axes[2]))
        self.over.replace(surface(meshes))
        self.over.look(camera, NEAR * distance, FAR * distance)
        colours, own = self.over.shot()
        shows = np.where(np.isfinite(own), np.where(own <= depth + 0.002 * self.extent, 1.0, BEHIND), 0.0).astype(np.float32)
        return smaller(np.concatenate([colours.astype(np.float32) / 255.0 * shows[..., None], shows[..., None]], axis=-1))


def _hides(mesh: Mesh, eye: Array, targets: Array) -> bool:
    """Whether the box around a closed piece of the world is between the eye and one of some points (n, 3), or around it."""
    if mesh.body >= 0 or not mesh.closed or not len(mesh.points):
        return False
    along = targets - eye
    along = np.where(np.abs(along) > 1e-12, along, 1e-12)
    ends = np.stack([(mesh.points.min(axis=0) - eye) / along, (mesh.points.max(axis=0) - eye) / along])
    enter, leave = ends.min(axis=0).max(axis=1), ends.max(axis=0).min(axis=1)
    return bool(((enter <= leave) & (leave > 0.0) & (enter < 1.0)).any())


def _facing(points: Pixels, towards: Array) -> Pixels:
    """(height, width) from 0 to 1: whether surfaces at points (height, width, 3) look at the light; 1 where that is not known."""
    down, right = np.gradient(points, axis=(0, 1))
    normal = np.cross(down, right)
    size = np.linalg.norm(normal, axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        cosine = (normal @ towards.astype(np.float32)) / size
    return np.nan_to_num(np.clip(3.0 * (cosine - 0.15), 0.0, 1.0), nan=1.0).astype(np.float32)
