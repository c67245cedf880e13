"""A machine as coloured triangles in the frames of its bodies: what every three-dimensional view draws.

Bodies look as in `links`: their shapes, or rods between joints where they have none. A shape of a file keeps the colour that the file
gives it (`rgba`), unless that is the grey which a file that names none has; other bodies have the colours of the painter, one for each
group of bodies that are fixed to each other, darker and lighter for the further shapes of a body.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dalembert.arrays import Array
from dalembert.model import Model
from dalembert.view.canvas import rgb
from dalembert.view.links import groups_of, pieces_of
from dalembert.view.seen import Colour, colour_given, seen
from dalembert.view.solids import Solid, solid_of_shape
from dalembert.view.stage import BODY_COLOURS

WORLD_COLOUR = "#b9c2cc"
DARK, LIGHT = rgb("#3b4754") / 255.0, np.ones(3)
TONE = 0.22  # how much darker the stripes are by which a round body is seen to turn


class Mesh(NamedTuple):
    """Triangles of one piece: points (n, 3) in the body frame, m; triangles (m, 3); colours (m, 3) from 0 to 1, per triangle; opacity.

    body: number in model.bodies, -1 for what stands still in the world; closed: its back faces are never seen.
    """

    body: int
    points: Array
    triangles: NDArray[np.int64]
    colours: Array
    opacity: float
    closed: bool


def meshes_of(model: Model, detail: int = 1) -> list[Mesh]:
    """Everything of a machine that has faces; planes of the world have none (`view.ground` has the level of the floor).

    detail: how many times finer round pieces are.
    """
    base = [rgb(BODY_COLOURS[g % len(BODY_COLOURS)]) / 255.0 for g in groups_of(model)]
    out = []
    for piece in pieces_of(model, detail):
        colour = base[piece.body]
        shaded = (colour, 0.35 * colour + 0.65 * DARK, 0.45 * colour + 0.55 * LIGHT)[piece.shade]
        out.append(mesh_of(piece.body, piece.solid, shaded, piece.given))
    for shape in seen(model.world_shapes, world=True):
        solid = solid_of_shape(shape, detail)
        if solid is not None:
            out.append(mesh_of(-1, solid, rgb(WORLD_COLOUR) / 255.0, colour_given(shape)))
    return out


def mesh_of(body: int, solid: Solid, colour: Array, given: Colour | None = None) -> Mesh:
    """Triangles of a solid of a body; colour (3,) from 0 to 1; given: colour and opacity of a file."""
    corners = solid.faces[:, [[0, 1, 2], [0, 2, 3]]].reshape(-1, 3, 3)
    area = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    some = area > 1e-12 * area.max(initial=0.0)
    points, index = np.unique(corners[some].reshape(-1, 3), axis=0, return_inverse=True)
    tone = 1.0 - TONE * np.repeat(solid.tone, 2)[some]
    colours = tone[:, None] * (colour if given is None else np.array(given[:3]))
    return Mesh(body, points, index.reshape(-1, 3).astype(np.int64), colours, 1.0 if given is None else given[3], solid.closed)
