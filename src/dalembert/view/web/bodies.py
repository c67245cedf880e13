"""The bodies of a machine as nodes of a scene: what many bodies share is one node (`Batch`), else each body is a frame with its meshes.

Moved by `show`: two arrays per shared node, two vectors per other body, and nothing for what stands.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.model import Model
from dalembert.view.web.colours import linear
from dalembert.view.web.looks import Batch, batches_of, sizes_of_bodies
from dalembert.view.web.motion import Motion

STILL = np.zeros(3)
CHOSEN = np.array([255, 214, 64])  # what a body is tinted with that was chosen
TINTED = 0.65
MANY = 2  # bodies that share a node


class Bodies:
    """Nodes below `root`. opacity: of a ghost; tint: (3,) 0 ... 255, what a ghost is tinted with. size: that of the usual body, m."""

    def __init__(self, scene: Any, model: Model, root: str = "/machine", opacity: float = 1.0, tint: Any = None):
        self.scene, self.model, self.root = scene, model, root
        self.opacity, self.tint, self.chosen = opacity, tint, -1
        found = batches_of(model)
        sizes = sizes_of_bodies(model, found)
        self.sizes = sizes
        self.size = float(np.median(sizes[sizes > 0.0])) if (sizes > 0.0).any() else 0.1
        self.top = scene.add_frame(root, show_axes=False)
        self.shared = [(b, self._add_shared(k, b)) for k, b in enumerate(found) if len(b.bodies) >= MANY and b.bodies[0] >= 0]
        self.frames: dict[int, Any] = {}
        self.meshes: list[tuple[int, Any, Any, Batch]] = []  # body, colour, node
        for k, batch in enumerate(found):
            if len(batch.bodies) < MANY or batch.bodies[0] < 0:
                self._add_single(k, batch)

    def _look(self, batch: Batch) -> dict[str, Any]:
        opacity = self.opacity * batch.opacity
        return {"opacity": None if opacity >= 1.0 else opacity, "side": "front" if batch.closed else "double"}

    def _colours(self, colours: Any) -> Any:
        if self.tint is None:
            return np.asarray(colours, dtype=np.uint8)
        return np.round(0.35 * np.asarray(colours) + 0.65 * np.asarray(self.tint)).astype(np.uint8)

    def _add_shared(self, k: int, batch: Batch) -> Any:
        n = len(batch.bodies)
        return self.scene.add_batched_meshes_simple(
            f"{self.root}/shared{k}", batch.points, batch.triangles, np.tile([1.0, 0, 0, 0], (n, 1)), np.zeros((n, 3)),
            batched_colors=linear(self._colours(batch.colours)), lod="off", **self._look(batch),
        )  # fmt: skip

    def _add_single(self, k: int, batch: Batch) -> None:
        for body, colour in zip(batch.bodies.tolist(), self._colours(batch.colours), strict=True):
            where = f"{self.root}/world" if body < 0 else f"{self.root}/body{body}"
            if body >= 0 and body not in self.frames:
                self.frames[body] = self.scene.add_frame(where, show_axes=False)
            node = self.scene.add_mesh_simple(
                f"{where}/part{k}", batch.points, batch.triangles, color=tuple(colour.tolist()), **self._look(batch)
            )
            self.meshes.append((body, colour, node, batch))

    def show(self, motion: Motion) -> None:
        """Move all bodies to where they are. Inside `server.atomic()`."""
        for batch, node in self.shared:
            node.batched_positions = motion.position[batch.bodies].astype(np.float32)
            node.batched_wxyzs = motion.quaternion[batch.bodies].astype(np.float32)
        for body, frame in self.frames.items():
            frame.position, frame.wxyz = motion.position[body], motion.quaternion[body]

    def move(self, shift: Array) -> None:
        """The whole machine by so much, for pictures side by side."""
        self.top.position = shift

    def fade(self, opacity: float) -> None:
        """Make all bodies solid, or ghosts."""
        self.opacity = opacity
        for batch, node in [*self.shared, *((batch, node) for _, _, node, batch in self.meshes)]:
            node.opacity = self._look(batch)["opacity"]

    def choose(self, body: int) -> None:
        """Show which body was chosen; -1: none."""
        self.chosen = body
        for batch, node in self.shared:
            colours = self._colours(batch.colours).astype(float)
            colours[batch.bodies == body] += TINTED * (CHOSEN - colours[batch.bodies == body])
            node.batched_colors = linear(np.round(colours))
        for owner, colour, node, _ in self.meshes:
            node.color = tuple(int(x) for x in (colour + TINTED * (CHOSEN - colour) if owner == body and body >= 0 else colour))

    def listen(self, clicked: Callable[[int, Any], None], dragged: Callable[[int, Any], None]) -> None:
        """Call with the number of the body, and the event, when a body is clicked or dragged."""
        for batch, node in self.shared:
            _bind(node, partial(_member, batch.bodies), clicked, dragged)
        for body, _, node, _ in self.meshes:
            if body >= 0:
                _bind(node, partial(_only, body), clicked, dragged)

    def remove(self) -> None:
        """Take all of them away."""
        self.top.remove()


def _member(bodies: Any, event: Any) -> int:
    k = event.instance_index
    return int(bodies[k]) if isinstance(k, int) and 0 <= k < len(bodies) else -1


def _only(body: int, event: Any) -> int:
    return body


def _bind(node: Any, which: Callable[[Any], int], clicked: Callable[[int, Any], None], dragged: Callable[[int, Any], None]) -> None:
    async def on_click(event: Any) -> None:
        clicked(which(event), event)

    async def on_drag(event: Any) -> None:  # async: start, update, end come in order
        dragged(which(event), event)

    node.on_click(on_click)
    node.on_drag(on_drag)
