"""Drawing of bodies in space, one image per configuration: ground, shadow, bodies, paths, words.

The camera stands at azimuth 35 and elevation 22 degrees, far away. Where the bodies travel far it goes with them (framing.py).
"""

from __future__ import annotations

import numpy as np
from PIL import Image

from dalembert.arrays import Array
from dalembert.model import Model
from dalembert.model.parts import WORLD
from dalembert.view.canvas import FINE, UNDER, Canvas, camera, opaque, rgb, text_width, window_of, write
from dalembert.view.framing import frame_of
from dalembert.view.ground import level_floor, with_world, world_pieces
from dalembert.view.links import Piece, groups_of, pieces_of
from dalembert.view.machine import CELL, Machine
from dalembert.view.picture import COLOURS, INK, MUTED
from dalembert.view.room import Links, fills, room_edges

BODY_COLOURS = ("#4a86c5", "#e08a3c", "#57a773", "#9a78c4", "#c9a93a", "#c66a8c")
AXES_COLOURS = ("#c8402f", "#3a8f4c", "#2f62c0")
MOST_PATHS = 6
FEW_BODIES = 3
BEHIND = 0.35  # how much of a path is seen through a body
_GRID, _TILE, _WORLD = rgb("#b9c2cc"), rgb("#dde3e9"), rgb("#aeb6bf")
_ROOM, _LINK = rgb("#8f9aa6"), rgb("#5b6570")
_SHADE = opaque(rgb("#c3cbd4"))  # of shadows on chequered ground


class Stage:
    """Everything that stays the same between the images of one animation.

    poses (n, bodies, 4, 4) and centres of mass (n, bodies, 3): what they will show; pace: words below the time; dots: where the world
    holds the machine.
    """

    def __init__(self, model: Model, poses: Array, centres: Array, size: tuple[int, int], title: str, pace: str = "", dots: bool = True):
        self.model, view = model, camera()
        pieces, self.ground = pieces_of(model), level_floor(model)
        some = slice(None, None, max(len(poses) // 100, 1))
        pieces += world_pieces(model, centres[some], sizes_of(pieces))
        self.room, self.links = room_edges(model), Links(model)
        if len(self.room) and not fills(self.room, centres[some]):
            self.room, self.ground = self.room[:0], None
        self.frame = frame_of(model, pieces, poses[some], centres[some], size, view, self.ground, self.room.reshape(-1, 3))
        self.canvas = Canvas(size, view, self.frame.half, self.frame.centre)
        self.edge, self.type = 0.028 * min(size), max(0.029 * min(size), 8.0)
        self.colours = [rgb(BODY_COLOURS[g % len(BODY_COLOURS)]) for g in groups_of(model)]
        self.machine = Machine(pieces, [*self.colours, _WORLD], CELL * 2.0 * self.frame.half / min(size), len(model.bodies))
        self.paths = self._choose_paths(centres)
        self.path_colours = np.array([rgb(COLOURS[1]) if len(model.bodies) == 1 else 0.8 * self.colours[i] for i in self.paths])
        anchors = [j.anchor for j in model.joints if dots and j.parent == WORLD and j.kind not in ("free", "translation", "fixed")]
        self.anchors = np.array(anchors).reshape(-1, 3)
        self._write_title(title, pace)
        if not self.frame.follows:
            self._draw_ground(np.zeros(3))
            self.canvas.ribbons(self.room, opaque(np.tile(_ROOM, (len(self.room), 1))), 1.2, depth=UNDER)
        self.canvas.keep()

    def _choose_paths(self, centres: Array) -> list[int]:
        """Bodies whose paths are drawn: those with mass if they are few, else the last ones of the chains that travel farthest."""
        heavy = [i for i, b in enumerate(self.model.bodies) if not b.massless and self.frame.kept[i]]
        if len(heavy) > FEW_BODIES:
            solid = {self.model.bodies[i].name for i in heavy}
            carrying = {j.parent for j in self.model.joints if j.kind != "fixed" and j.child in solid}
            moved = {j.child for j in self.model.joints if j.kind != "fixed"}
            heavy = [i for i in heavy if self.model.bodies[i].name in moved - carrying]
        travel = {i: float(np.linalg.norm(np.ptp(centres[:, i], axis=0))) for i in heavy}
        far = sorted((i for i in heavy if travel[i] > 0.02 * self.frame.half), key=lambda i: -travel[i])
        return sorted(far[:MOST_PATHS])

    def draw(self, poses: Array, centres: Array, clock: str, past: Array) -> Image.Image:
        """Image of one configuration; poses (bodies, 4, 4), centres (bodies, 3), past (k, bodies, 3): centres of mass up to now."""
        away = self.frame.middle(centres)
        self.canvas.centre = self.frame.centre + away
        if self.frame.follows:
            self._draw_ground(away)
        every = with_world(poses)
        self.machine.paint_shadow(self.canvas, every, self.frame.floor + away[2], *([] if self.ground is None else [_SHADE]))
        self.machine.paint(self.canvas, every)
        links = self.links.lines(every)
        self.canvas.ribbons(links, opaque(np.tile(_LINK, (len(links), 1))), 2.0)
        self._draw_paths(past)
        self.canvas.dots(self.anchors, rgb(INK), 2.2)
        image = self.canvas.finished()
        write(image, (image.size[0] - self.edge, self.edge), clock, self.type, INK, "ra")
        return image

    def _draw_ground(self, away: Array) -> None:
        """Chequered where the world has a floor, else lines alone."""
        if self.ground is not None:
            self._draw_tiles(away)
        self._draw_grid(away)

    def _draw_tiles(self, away: Array) -> None:
        """Every other square between the lines of the grid, fading towards the edge."""
        spacing = round_length(self.frame.half / 2.5)
        middle, height = self._seen_ground(away), self.frame.floor + away[2]
        i, j = (x.ravel() for x in np.meshgrid(np.arange(-24, 24), np.arange(-24, 24), indexing="ij"))
        corner = np.round(middle / spacing).astype(int) + np.stack([i, j], axis=-1)
        corner = corner[corner.sum(axis=1) % 2 == 0]
        shows = np.clip(1.25 - np.linalg.norm((corner + 0.5) * spacing - middle, axis=1) / (4.2 * spacing), 0.0, 0.8)
        flat = spacing * (corner[:, None] + np.array([(0, 0), (1, 0), (1, 1), (0, 0), (1, 1), (0, 1)]))[shows > 0.0]
        corners = self.canvas.project(np.concatenate([flat, np.full((*flat.shape[:2], 1), height)], axis=-1))
        corners[..., 2] = UNDER
        colours = np.column_stack([np.tile(_TILE, (len(flat), 1)), shows[shows > 0.0]])
        self.canvas.triangles(corners.reshape(-1, 3, 3), np.repeat(colours, 2, axis=0))

    def _draw_grid(self, away: Array) -> None:
        """Lines of round spacing on the ground, fading towards the edge."""
        spacing = round_length(self.frame.half / 2.5)
        middle, height = self._seen_ground(away), self.frame.floor + away[2]
        ticks, along = np.arange(-6, 7) * spacing, np.linspace(-6, 6, 49) * spacing
        lines = np.stack(np.meshgrid(ticks, along, indexing="ij"), axis=-1)
        points = np.concatenate([lines, lines[..., ::-1]]) + np.round(middle / spacing) * spacing
        pieces = np.stack([points[:, :-1], points[:, 1:]], axis=2).reshape(-1, 2, 2)
        shows = np.clip(1.25 - np.linalg.norm(pieces.mean(axis=1) - middle, axis=1) / (4.2 * spacing), 0.0, 0.8)
        colours = np.column_stack([np.tile(_GRID, (len(pieces), 1)), shows])
        pieces = np.concatenate([pieces, np.full((len(pieces), 2, 1), height)], axis=-1)
        self.canvas.ribbons(pieces[shows > 0.0], colours[shows > 0.0], 0.9, depth=UNDER)

    def _seen_ground(self, away: Array) -> Array:
        """The point (x, y) of the ground that is seen somewhat below the middle of the picture."""
        right, up, _ = self.canvas.view
        at = self.frame.centre + away
        low = up @ at - 0.4 * self.frame.half * window_of(self.canvas.size)[1]
        return np.linalg.solve(np.stack([right, up, [0.0, 0.0, 1.0]]), [right @ at, low, self.frame.floor + away[2]])[:2]

    def _draw_paths(self, past: Array) -> None:
        """Paths of the centres of mass so far, fading with age."""
        if len(past) < 2 or not self.paths:
            return
        shown = past[:, self.paths]
        pieces = np.stack([shown[:-1], shown[1:]], axis=2).reshape(-1, 2, 3)
        colours = np.empty((len(past) - 1, len(self.paths), 4))
        colours[..., :3] = self.path_colours
        colours[..., 3] = np.linspace(0.0, 0.95, len(past))[1:, None]
        self.canvas.ribbons(pieces, colours.reshape(-1, 4), 1.5, hidden=BEHIND)

    def _write_title(self, title: str, pace: str) -> None:
        """Title, pace, world axes, and who is out of the picture."""
        width, height = self.canvas.size
        room = width - 3.0 * self.edge - 6.5 * self.type  # beside the time
        size = self.type * min(max(room / max(text_width(title, self.type, bold=True), 1.0), 0.75), 1.0)
        while title and text_width(title, size, bold=True) > room:
            title = title.removesuffix("...")[:-1] + "..." if len(title) > 4 else ""
        self.canvas.words((self.edge, self.edge), title, size, INK, bold=True)
        self.canvas.words((width - self.edge, self.edge + 1.4 * self.type), pace, 0.9 * self.type, MUTED, "ra")
        gone = [b.name for b, kept in zip(self.model.bodies, self.frame.kept, strict=True) if not kept and not b.massless]
        if gone:
            names = ", ".join(gone[:3]) + (" ..." if len(gone) > 3 else "")
            self.canvas.words((width - self.edge, height - self.edge), f"not in view: {names}", 0.9 * self.type, MUTED, "rd")
        self._draw_axes()

    def _draw_axes(self) -> None:
        """World axes in the lower left corner."""
        canvas, reach = self.canvas, 0.06 * min(self.canvas.size)
        origin = np.array([1.6 * reach, canvas.size[1] - 1.1 * reach])
        for i in np.argsort(canvas.view[2]):
            along = canvas.view[:2, i] * [1.0, -1.0]
            side = 0.11 * reach * np.array([-along[1], along[0]]) / np.linalg.norm(along)
            shaft = 0.2 * side
            flat = [-shaft, shaft, 0.72 * reach * along + shaft, -shaft, 0.72 * reach * along + shaft, 0.72 * reach * along - shaft]
            flat += [0.7 * reach * along - side, 0.7 * reach * along + side, reach * along]
            corners = np.column_stack([FINE * (origin + np.array(flat)), np.full(9, UNDER)]).reshape(3, 3, 3)
            canvas.triangles(corners, opaque(np.tile(rgb(AXES_COLOURS[i]), (3, 1))))
            x, y = origin + 1.3 * reach * along
            canvas.words((x, y), "xyz"[i], 0.9 * self.type, AXES_COLOURS[i], "mm")


def sizes_of(pieces: list[Piece]) -> Array:
    """(pieces,): greatest distance of a corner from the frame of its body, m."""
    return np.array([float(np.linalg.norm(p.solid.faces.reshape(-1, 3), axis=1).max(initial=0.0)) for p in pieces])


def round_length(x: float) -> float:
    """The largest of 1, 2, 5 times a power of ten that is at most x."""
    power = 10.0 ** np.floor(np.log10(x))
    return float(power * max(s for s in (1.0, 2.0, 5.0) if s * power <= x * (1 + 1e-9)))
