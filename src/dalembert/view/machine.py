"""The triangles of a machine: where they are, which of them are seen, and how bright they are."""

from __future__ import annotations

import numpy as np

from dalembert.arrays import Array
from dalembert.view.canvas import UNDER, Canvas, opaque, rgb
from dalembert.view.links import BASE, Piece
from dalembert.view.solids import simplified

LIGHT = np.array([0.45, 0.25, 0.86]) / np.linalg.norm([0.45, 0.25, 0.86])
SHADOW = opaque(rgb("#e3e7ec"))
GLASS = 0.3  # how much shows of what is seen through
CELL = 1.5  # pixels: what is smaller in a mesh is merged
_SLATE, _WHITE = rgb("#3b4754"), rgb("#ffffff")


class Machine:
    """Triangles of all pieces in the frames of their bodies, body after body; colours (3,) of the bodies; cell: see `simplified`, m.

    glass: number of the body whose closed pieces are seen through, the world.
    """

    def __init__(self, pieces: list[Piece], colours: list[Array], cell: float, glass: int = -1):
        pieces = sorted((p for p in pieces if opacity(p) > 0.0), key=lambda p: p.body)
        split = [_split(p._replace(solid=simplified(p.solid, cell)), colours[p.body]) for p in pieces]
        counts = [len(corners) for corners, _ in split]
        corners = np.concatenate([np.zeros((0, 3, 3)), *(c for c, _ in split)])
        self.colours = np.concatenate([np.zeros((0, 3)), *(c for _, c in split)])
        self.closed = np.repeat([p.solid.closed for p in pieces], counts).astype(bool)
        owner = np.repeat([p.body for p in pieces], counts).astype(int)
        self.shows = np.where(self.closed & (owner == glass), GLASS, np.repeat([opacity(p) for p in pieces], counts))
        normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        self.normals = normal / np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-300)
        self._share_corners(corners, owner)

    def _share_corners(self, corners: Array, owner: Array) -> None:
        """Each corner of a body once; triangles by the numbers of their corners."""
        self.parts, points, index, start = [], [np.zeros((0, 3))], [np.zeros((0, 3), dtype=int)], 0
        for body in np.unique(owner):
            mine = slice(*np.searchsorted(owner, [body, body + 1]))
            own, which = np.unique(corners[mine].reshape(-1, 3), axis=0, return_inverse=True)
            self.parts.append((int(body), mine, slice(start, start + len(own))))
            points.append(own)
            index.append(start + which.reshape(-1, 3))
            start += len(own)
        self.points, self.index = np.concatenate(points), np.concatenate(index)

    def paint(self, canvas: Canvas, poses: Array, fade: float = 0.0) -> None:
        """All that looks at the eye; brightness 0.5 + 0.5 (normal . light) + 0.1 (normal . eye); fade: towards white, from 0 to 1."""
        facing, lit = self._towards(poses, canvas.view[2]), self._towards(poses, LIGHT)
        seen = np.flatnonzero((facing > 0.0) | ~self.closed)
        side = np.sign(facing[seen])
        light = 0.5 + 0.5 * np.clip(side * lit[seen], 0.0, 1.0) + 0.1 * side * facing[seen]
        colours = opaque((1.0 - fade) * np.clip(self.colours[seen] * light[:, None], 0.0, 255.0) + fade * _WHITE)
        colours[:, 3] = self.shows[seen]
        corners = self._projected(canvas, poses)[self.index[seen]]
        for some in (colours[:, 3] == 1.0, colours[:, 3] < 1.0):  # what is seen through comes last
            if some.any():
                canvas.triangles(corners[some], colours[some])

    def paint_shadow(self, canvas: Canvas, poses: Array, height: float, colour: Array = SHADOW) -> None:
        """On a level floor, under a light from straight above."""
        up = np.flatnonzero((self._towards(poses, np.array([0.0, 0.0, 1.0])) > 0.0) | ~self.closed)
        corners = self._projected(canvas, poses, height)
        corners[:, 2] = UNDER
        canvas.triangles(corners[self.index[up]], np.tile(colour, (len(up), 1)))

    def _towards(self, poses: Array, direction: Array) -> Array:
        """normal . direction of all triangles."""
        out = np.empty(len(self.index))
        for body, triangles, _ in self.parts:
            out[triangles] = self.normals[triangles] @ (poses[body, :3, :3].T @ direction)
        return out

    def _projected(self, canvas: Canvas, poses: Array, height: float | None = None) -> Array:
        """Corners in pixels; all moved to a height, if one is given."""
        A, b = canvas.affine()
        if height is not None:
            A, b = np.diag([1.0, 1.0, 0.0]) @ A, b + height * A[2]
        out = np.empty_like(self.points)
        for body, _, corners in self.parts:
            out[corners] = self.points[corners] @ (poses[body, :3, :3].T @ A) + (poses[body, :3, 3] @ A + b)
        return out


def opacity(piece: Piece) -> float:
    """1 unless a file says otherwise."""
    return 1.0 if piece.given is None else piece.given[3]


def _split(piece: Piece, base: Array) -> tuple[Array, Array]:
    """Triangles (n, 3, 3) of the faces of a piece and their colours (n, 3)."""
    faces, tone = piece.solid.faces, 1.0 - 0.22 * piece.solid.tone
    base = base if piece.given is None else 255.0 * np.array(piece.given[:3])
    shade = (base, 0.35 * base + 0.65 * _SLATE, 0.45 * base + 0.55 * _WHITE)[piece.shade if piece.given is None else BASE]
    halves = np.stack([faces[:, [0, 1, 2]], faces[:, [0, 2, 3]]], axis=1).reshape(-1, 3, 3)
    area = np.linalg.norm(np.cross(halves[:, 1] - halves[:, 0], halves[:, 2] - halves[:, 0]), axis=1)
    some = area > 1e-9 * area.max(initial=0.0)
    return halves[some], np.repeat(tone, 2)[some, None] * shade
