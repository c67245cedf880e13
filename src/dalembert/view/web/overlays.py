"""What is drawn over a machine when a box is ticked: contacts with forces, momenta, angular velocities, frames, trails.

    force of a contact      at p, impulse over the last step / h; an arrow as long as the usual body is large is the weight of the mean one
    momentum                m v at the centre of mass; that arrow is the momentum of the mean body at 1 m/s
    angular velocity        omega at the centre of mass; that arrow is 2 pi rad/s

All lengths times the slider "arrows". Trails: paths of the centres of mass over the last TRAIL pictures, of the bodies that moved farthest.
"""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.model import Model
from dalembert.view.stage import BODY_COLOURS
from dalembert.view.web.motion import Motion

GRAVITY = 9.81
FORCE, MOMENTUM, SPIN, POINT = (214, 60, 46), (47, 98, 192), (132, 74, 176), (60, 20, 16)
KINDS = ("contacts", "momentum", "angular velocity", "frames", "trails")
HINTS = {
    "contacts": "points where bodies touch, and the forces there",
    "momentum": "m v of every body",
    "angular velocity": "omega of every body, about its axis",
    "frames": "axes of every body: x red, y green, z blue",
    "trails": "paths of the centres of mass",
}
TRAIL, MOST_TRAILS, MOST_ARROWS = 180, 12, 4000
LONGEST = 12.0  # sizes of a body
P, J = slice(2, 5), slice(9, 12)  # columns of a contact: point, impulse on b
NOTHING = np.zeros((1, 2, 3))


class Overlays:
    """size: of the usual body, m. `on`: which kinds are shown; scale: of the arrows."""

    def __init__(self, scene: Any, model: Model, size: float, root: str = "/over"):
        self.scene, self.size, self.scale = scene, size, 1.0
        self.on = dict.fromkeys(KINDS, False)
        self.mass = np.array([b.mass for b in model.bodies])
        heavy = self.mass[self.mass > 0.0]
        self.mean = float(heavy.mean()) if len(heavy) else 1.0
        self.path: deque[Array] = deque(maxlen=TRAIL)
        self.top = scene.add_frame(root, show_axes=False)
        self.nodes = {name: self._arrows(f"{root}/{name.replace(' ', '-')}", colour) for name, colour in ARROWS.items()}
        self.points = scene.add_point_cloud(
            f"{root}/points", np.zeros((1, 3), np.float32), POINT, point_size=0.06 * size, point_shape="circle", precision="float32",
            visible=False,
        )  # fmt: skip
        n = len(model.bodies)
        self.axes = scene.add_batched_axes(
            f"{root}/axes",
            np.tile([1.0, 0, 0, 0], (n, 1)),
            np.zeros((n, 3)),
            axes_length=1.1 * size,
            axes_radius=0.025 * size,
            visible=False,
        )
        self.lines = scene.add_line_segments(
            f"{root}/lines",
            NOTHING.astype(np.float32),
            np.zeros((1, 2, 3), np.uint8),
            thickness=2.0,
            thickness_units="screen",
            visible=False,
        )
        self.colours = np.array([[int(c[i : i + 2], 16) for i in (1, 3, 5)] for c in BODY_COLOURS])

    def _arrows(self, name: str, colour: tuple[int, int, int]) -> Any:
        s = self.size
        return self.scene.add_arrows(
            name, NOTHING, colour, shaft_radius=0.02 * s, head_radius=0.05 * s, head_length=0.12 * s, visible=False
        )

    def show(self, motion: Motion, contacts: Array, h: float, path: Array | None = None) -> None:
        """Draw what is ticked. contacts (k, columns): those of the step; path (n, bodies, 3): if given, in place of what was shown before.
        Inside `server.atomic()`."""
        self.path.append(motion.centre)
        self._draw_contacts(contacts, h)
        self._draw_vectors("momentum", motion.centre, motion.velocity * (self.mass / self.mean)[:, None])
        self._draw_vectors("angular velocity", motion.centre, motion.omega / (2.0 * np.pi))
        self.axes.visible = self.on["frames"]
        if self.on["frames"]:
            self.axes.batched_positions = motion.position.astype(np.float32)
            self.axes.batched_wxyzs = motion.quaternion.astype(np.float32)
        self._draw_trails(np.array(self.path) if path is None else path)

    def _draw_contacts(self, contacts: Array, h: float) -> None:
        touching = contacts[:MOST_ARROWS] if self.on["contacts"] else contacts[:0]
        self.points.visible = len(touching) > 0
        if len(touching):
            self.points.points = touching[:, P].astype(np.float32)
        at, force = touching[:, P], touching[:, J] / h / (GRAVITY * self.mean)
        down = force[:, 2] < 0.0  # drawn as it acts on the body above: away from the other one
        self._draw("contacts", at, np.where(down[:, None], -force, force))

    def _draw_vectors(self, name: str, at: Array, vectors: Array) -> None:
        shown = slice(None) if self.on[name] else slice(0)
        self._draw(name, at[shown], vectors[shown])

    def _draw(self, name: str, at: Array, vectors: Array) -> None:
        """Arrows of so many sizes of a body; short ones are left out, long ones cut."""
        lengths = self.scale * np.linalg.norm(vectors, axis=1)
        some = np.isfinite(lengths) & (lengths > 0.02)
        node = self.nodes[name]
        node.visible = bool(some.any())
        if some.any():
            cut = np.minimum(LONGEST / lengths[some], 1.0)
            ends = at[some] + self.size * self.scale * cut[:, None] * vectors[some]
            node.points = np.stack([at[some], ends], axis=1).astype(np.float32)

    def _draw_trails(self, path: Array) -> None:
        self.lines.visible = self.on["trails"] and len(path) > 1
        if not self.lines.visible:
            return
        travel = np.linalg.norm(np.ptp(path, axis=0), axis=1)
        far = np.argsort(-travel, kind="stable")[:MOST_TRAILS]
        far = far[travel[far] > 0.02 * self.size]
        self.lines.visible = len(far) > 0
        if len(far):
            shown = path[:, far]
            age = np.linspace(0.7, 0.0, len(path))[:, None, None]
            colours = (self.colours[far % len(self.colours)] * (1.0 - age) + 244.0 * age).astype(np.uint8)
            self.lines.points = np.stack([shown[:-1], shown[1:]], axis=2).reshape(-1, 2, 3).astype(np.float32)
            self.lines.colors = np.stack([colours[:-1], colours[1:]], axis=2).reshape(-1, 2, 3)

    def forget(self) -> None:
        """The trails begin anew."""
        self.path.clear()

    def remove(self) -> None:
        """Take all of it away."""
        self.top.remove()


ARROWS = {"contacts": FORCE, "momentum": MOMENTUM, "angular velocity": SPIN}


def add_switches(gui: Any, overlays: list[Overlays], shown: tuple[str, ...] = ()) -> dict[str, Any]:
    """Boxes to tick, and a slider for the lengths of arrows. overlays: a list that the owner may change."""
    boxes: dict[str, Any] = {}
    for kind in KINDS:
        box = gui.add_checkbox(kind, kind in shown, hint=HINTS[kind])
        box.on_update(lambda _: apply_switches(boxes, overlays))
        boxes[kind] = box
    boxes["arrows"] = gui.add_slider("arrows", 0.1, 5.0, 0.1, 1.0, hint="length of all arrows")
    boxes["arrows"].on_update(lambda _: apply_switches(boxes, overlays))
    apply_switches(boxes, overlays)
    return boxes


def apply_switches(boxes: dict[str, Any], overlays: list[Overlays]) -> None:
    """Let overlays show what is ticked."""
    for overlay in overlays:
        overlay.on = {kind: bool(boxes[kind].value) for kind in KINDS if kind in boxes}
        overlay.scale = float(boxes["arrows"].value) if "arrows" in boxes else overlay.scale
