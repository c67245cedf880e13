"""Floor, light and camera of a page: what stands around a machine.

The camera looks as that of the animations does (azimuth 35, elevation 22 degrees), but across what is long and narrow, at the box that
`framing` finds for the run, from the distance at which the box fills the picture: half / tan(fov / 2).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dalembert.arrays import Array
from dalembert.model import Model
from dalembert.model.parts import WORLD
from dalembert.view.canvas import camera
from dalembert.view.framing import frame_of
from dalembert.view.ground import level_floor, world_pieces
from dalembert.view.links import pieces_of
from dalembert.view.seen import seen
from dalembert.view.solids import solid_of_shape
from dalembert.view.stage import round_length, sizes_of
from dalembert.view.web.looks import creased

PICTURE = (1280, 800)
FOV = np.radians(50.0)
AWAY, ASIDE = 1.4, 0.3  # the panel covers a part on the right
SPREAD = 1.5
AZIMUTH, SIDE, NARROW = 35.0, 30.0, 0.1
SLATE, CELLS, SECTIONS, GROUND = (174, 182, 191), (222, 227, 233), (203, 210, 218), (243, 245, 248)
TILES = ((203, 210, 218), (225, 230, 235))


class Setting(NamedTuple):
    """centre of the picture (3,), half of what is seen of it, height of the floor, m; view: rows right, up, towards the eye."""

    centre: Array
    half: float
    floor: float
    view: Array


def setting_of(model: Model, poses: Array, centres: Array) -> Setting:
    """For what some images show: poses (k, bodies, 4, 4), centres of mass (k, bodies, 3)."""
    pieces, ground = pieces_of(model), level_floor(model)
    pieces = pieces + world_pieces(model, centres, sizes_of(pieces))
    view = camera(_azimuth(centres[0]))
    frame = frame_of(model, pieces, poses, centres, PICTURE, view, ground)
    middle = frame.middle(centres[0])
    return Setting(frame.centre + middle, frame.half, frame.floor + (0.0 if ground is not None else middle[2]), view)


def with_reach(setting: Setting, model: Model, centres: Array, size: float) -> Setting:
    """Wider, where the world holds a machine that may swing: the whole ball about its hub that its bodies (n, 3) of a size reach."""
    anchors = [j.anchor for j in model.joints if j.parent == WORLD and j.kind not in ("free", "translation", "fixed")]
    if not anchors or not len(centres):
        return setting
    hub = np.mean(anchors, axis=0)
    reach = float(np.linalg.norm(centres - hub, axis=1).max()) + 0.5 * size
    if reach <= setting.half:
        return setting
    ground = level_floor(model)
    return setting._replace(centre=hub, half=reach, floor=setting.floor if ground is not None else min(setting.floor, hub[2] - reach))


def beside(setting: Setting, runs: int) -> Setting:
    """Room for several runs side by side, SPREAD halves apart."""
    extra = 0.5 * SPREAD * (runs - 1)
    return setting._replace(centre=setting.centre + extra * setting.half * setting.view[0], half=setting.half * (1.0 + 0.6 * extra))


def _azimuth(centres: Array) -> float:
    """Degrees. Bodies (n, 3) in a line or a wall are seen from SIDE degrees beside its normal."""
    if len(centres) < 3:
        return AZIMUTH
    values, axes = np.linalg.eigh(np.cov(centres[:, :2].T))
    if not values[0] < NARROW * values[1]:
        return AZIMUTH
    along = np.degrees(np.arctan2(axes[1, 1], axes[0, 1]))
    return float(min((along + 90.0 - SIDE, along - 90.0 - SIDE), key=lambda a: abs((a - AZIMUTH + 180.0) % 360.0 - 180.0)))


def furnish(server: Any, model: Model, setting: Setting, centres: Array) -> None:
    """Floor, slopes, light, and where a new browser looks from."""
    scene, spacing = server.scene, round_length(setting.half / 2.5)
    _light(scene, setting)
    solid = level_floor(model) is not None
    scene.add_grid(
        "/floor", 60 * spacing, 60 * spacing, position=(0.0, 0.0, setting.floor - 1e-3 * spacing),
        cell_size=spacing, section_size=5 * spacing, cell_color=CELLS, section_color=SECTIONS, cell_thickness=1.0, section_thickness=1.4,
        infinite_grid=True, fade_distance=22 * setting.half, fade_strength=1.4, fade_from="camera",
        shadow_opacity=0.3, plane_color=GROUND, plane_opacity=1.0 if solid else 0.0,
    )  # fmt: skip
    _add_slopes(scene, model, centres)
    look_from(server, setting)


def _light(scene: Any, setting: Setting) -> None:
    """A sun with shadows, high behind the viewer's left shoulder, and the sky."""
    scene.configure_environment_map("studio", environment_intensity=0.1)
    scene.configure_default_lights(False)
    scene.add_light_hemisphere("/light/sky", sky_color=(255, 255, 255), ground_color=(188, 194, 204), intensity=0.85)
    right, _, eye = setting.view
    sun = setting.half * (2.4 * eye - 1.2 * right + np.array([0.0, 0.0, 3.4]))  # it shines towards the origin, from wherever it stands
    scene.add_light_directional("/light/sun", intensity=1.9, cast_shadow=True, position=tuple(sun.tolist()))


def add_shadow_switch(server: Any) -> Any:
    """A box to tick: shadows cost a computer without a graphics card two thirds of its pictures."""
    box = server.gui.add_checkbox("shadows", True, hint="off: quicker without a graphics card")
    box.on_update(lambda _: setattr(server.scene.get_handle_by_name("/light/sun"), "cast_shadow", bool(box.value)))
    return box


def look_from(server: Any, setting: Setting) -> None:
    """Where a new browser looks from, and at what."""
    eye = setting.view[2]
    server.initial_camera.fov = float(FOV)
    middle = setting.centre + ASIDE * setting.half * setting.view[0]
    server.initial_camera.look_at = middle
    server.initial_camera.position = middle + AWAY * setting.half / np.tan(0.5 * FOV) * eye
    server.initial_camera.near = 0.005 * setting.half


def _add_slopes(scene: Any, model: Model, centres: Array) -> None:
    """Planes of the world that are not level, as tiles."""
    pieces = world_pieces(model, centres, sizes_of(pieces_of(model)))
    drawn = sum(solid_of_shape(s) is not None for s in seen(model.world_shapes, world=True))
    for k, piece in enumerate(pieces[drawn:]):
        for tone, colour in enumerate(TILES):
            faces = piece.solid.faces[piece.solid.tone == tone]
            if len(faces):
                points, triangles = faces.reshape(-1, 3), np.arange(4 * len(faces)).reshape(-1, 4)[:, [0, 1, 2, 0, 2, 3]].reshape(-1, 3)
                scene.add_mesh_simple(f"/slope{k}/tone{tone}", *creased(points, triangles), color=colour, side="double")
