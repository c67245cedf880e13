"""What an animation shows: a tight box around the machine over the whole run.

    still        what cannot move and is much larger than what moves (a stage) is drawn but not framed
    flung        bodies that go farther than FLUNG times the reach of the machine at the start are left behind, if some that move stay, and
                 most of the mass
    exploded     images in which the machine is larger than FLUNG times its usual size (nine tenths of the images) do not count
    following    if the machine travels far, the camera goes with it: where the box would be FOLLOW_AT times larger without

Reach: largest distance of a corner of a body from the hub, the mean of the places where the world holds the machine, or the centre of its
bodies (of each coordinate the median) if it floats.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dalembert.arrays import Array
from dalembert.model import Model
from dalembert.model.parts import WORLD
from dalembert.view.canvas import window_of
from dalembert.view.links import Piece, still_bodies

FLUNG, FOLLOW_AT, STAGE = 4.0, 10.0, 2.0
MARGIN = 1.06
CLEARANCE = 0.04  # of the height of the picture, between the lowest corner and the floor
LABELS = 0.09  # of the height, for the words at the top
NOWHERE = np.zeros((0, 3))
_DIRECTIONS = np.random.default_rng(0).normal(size=(64, 3))


class Frame(NamedTuple):
    """centre and half: see Canvas; floor: height of the ground; follows: all of these are relative to `middle` of the moment."""

    centre: Array
    half: float
    floor: float
    follows: bool
    kept: Array  # (bodies,) bool: bodies that stay in the picture
    level: bool = False  # it follows along a floor
    points: Array = NOWHERE  # (n, 3): what the frame was put around, relative to `middle`

    def middle(self, centres: Array) -> Array:
        """What the camera goes with: the mean of the centres of mass (..., bodies, 3) of the kept bodies; 0 if it stands."""
        if not self.follows:
            return np.zeros((*centres.shape[:-2], 3))
        return centres[..., self.kept, :].mean(axis=-2) * ([1.0, 1.0, 0.0] if self.level else [1.0, 1.0, 1.0])


def frame_of(
    model: Model,
    pieces: list[Piece],
    poses: Array,
    centres: Array,
    size: tuple[int, int],
    view: Array,
    ground: float | None = None,
    room: Array = NOWHERE,
    follow: bool = True,
) -> Frame:
    """The frame of some images: poses (n, bodies, 4, 4), centres of mass (n, bodies, 3); ground: height of a floor, which stays in place.

    follow: whether the camera may go with the machine. Pieces of the world (the number behind the last body), and corners (k, 3) of a
    room, are framed where they are not much larger than what moves.
    """
    parts = _sorted_by_body(pieces, len(model.bodies) + 1)
    corners = [_corners(parts[i], poses[:, i]) for i in range(len(model.bodies))]
    kept = _kept(model, corners, centres)
    shown = np.concatenate([x for x, keep in zip(corners, kept, strict=True) if keep], axis=1)
    usual = _usual(shown)
    shown = shown[usual]
    middle = Frame(np.zeros(3), 1.0, 0.0, True, kept).middle(centres[usual])[:, None]
    if ground is not None:
        middle = middle * [1.0, 1.0, 0.0]
    fixed, moving = (_box(x, size, view, ground) for x in (shown, shown - middle))
    if follow and fixed[1] > FOLLOW_AT * moving[1]:
        return Frame(*moving, True, kept, ground is not None, (shown - middle).reshape(-1, 3))
    around = _near(np.concatenate([_corners(parts[-1], np.eye(4)[None]), room[None]], axis=1), shown)
    if around.shape[1]:
        fixed = _box(np.concatenate([shown.reshape(1, -1, 3), around], axis=1), size, view, ground)
    return Frame(*fixed, False, kept, points=np.concatenate([shown.reshape(-1, 3), around.reshape(-1, 3)]))


def _sorted_by_body(pieces: list[Piece], n: int) -> list[list[Piece]]:
    parts: list[list[Piece]] = [[] for _ in range(n)]
    for p in pieces:
        parts[p.body].append(p)
    return parts


def _near(corners: Array, shown: Array) -> Array:
    """Corners (1, k, 3) of the world, unless they reach much farther than what is shown."""
    if not corners.shape[1] or not shown.size:
        return corners[:, :0]
    low, high = shown.reshape(-1, 3).min(axis=0), shown.reshape(-1, 3).max(axis=0)
    reach = float(np.linalg.norm(corners[0] - 0.5 * (low + high), axis=1).max())
    return corners if reach <= STAGE * max(float(np.linalg.norm(high - low)), 1e-300) else corners[:, :0]


def _corners(pieces: list[Piece], poses: Array) -> Array:
    """World positions (n, k, 3) of the corners of a body with poses (n, 4, 4) that stand out in some direction."""
    mine = [p.solid.faces.reshape(-1, 3) for p in pieces]
    points = np.concatenate(mine) if mine else np.zeros((0, 3))
    if len(points) > len(_DIRECTIONS):
        points = points[np.unique(np.argmax(points @ _DIRECTIONS.T, axis=0))]
    return points @ poses[:, :3, :3].swapaxes(1, 2) + poses[:, None, :3, 3]


def _kept(model: Model, corners: list[Array], centres: Array) -> Array:
    """Which bodies are framed, (bodies,) bool."""
    drawn = np.array([x.shape[1] > 0 for x in corners])
    if not drawn.any():
        return np.ones(len(drawn), dtype=bool)
    still = still_bodies(model)
    moving = drawn & np.array([b.name not in still for b in model.bodies])
    moving = moving if moving.any() else drawn
    anchors = [j.anchor for j in model.joints if j.parent == WORLD and j.kind not in ("free", "translation", "fixed")]
    anchors += [j.anchor for j in model.joints if j.parent in still and j.kind != "fixed"]
    hub = np.tile(np.mean(anchors, axis=0), (len(centres), 1)) if anchors else np.median(centres[:, moving], axis=1)
    with np.errstate(over="ignore", invalid="ignore"):
        reach = np.array([_reach(x, hub) for x in corners])
    start = np.where(moving, np.nan_to_num(reach[:, 0]), 0.0).max()
    flung = moving & ~(np.max(reach, axis=1) <= FLUNG * start)
    mass = np.array([b.mass for b in model.bodies])
    if not (moving & ~flung).any() or mass[flung].sum() > mass[drawn & ~flung].sum():
        flung[:] = False
    kept = moving & ~flung
    most = float(np.max(np.nan_to_num(reach[kept], posinf=0.0)))
    return kept | (drawn & ~moving & (reach[:, 0] <= STAGE * most))


def _reach(corners: Array, hub: Array) -> Array:
    """(n,)"""
    return np.linalg.norm(corners - hub[:, None], axis=2).max(axis=1, initial=0.0)


def _usual(corners: Array) -> Array:
    """(n,) bool: images of usual size, all but those of an explosion; corners (n, k, 3)."""
    if not corners.shape[1]:
        return np.ones(len(corners), dtype=bool)
    with np.errstate(over="ignore", invalid="ignore"):
        size = np.linalg.norm(corners - np.median(corners, axis=1, keepdims=True), axis=2).max(axis=1)
    finite = np.isfinite(size)
    return finite & (size <= FLUNG * np.quantile(size[finite], 0.9)) if finite.any() else np.ones(len(size), dtype=bool)


def _box(corners: Array, size: tuple[int, int], view: Array, ground: float | None = None) -> tuple[Array, float, float]:
    """Centre, half and floor of a picture of all corners (n, k, 3) and their shadows."""
    window = window_of(size)
    flat = corners.reshape(-1, 3)
    spread = float(np.ptp(flat, axis=0).max()) if len(flat) else 0.0
    if not spread > 0.0:
        return (flat.mean(axis=0) if len(flat) else np.zeros(3)), 1.0, -0.5
    floor = float(flat[:, 2].min()) - CLEARANCE * spread if ground is None else ground
    below = flat * [1.0, 1.0, 0.0] + [0.0, 0.0, floor]
    screen = np.concatenate([flat, below]) @ view[:2].T
    low, high = screen.min(axis=0), screen.max(axis=0)
    high[1] += LABELS * (high[1] - low[1])
    half = MARGIN * float((0.5 * (high - low) / window).max())
    away = flat @ view[2]
    middle = np.append(0.5 * (low + high), 0.5 * (away.min() + away.max()))
    return middle @ view, half, floor
