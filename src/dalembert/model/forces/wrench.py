"""A constant force and torque on a body.

frame "body"    force f at the point r and torque t, both fixed in the body
frame "world"   the same, with directions that are fixed in the world: R^T f, R^T t in body axes
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dalembert.errors import ModelError
from dalembert.kernels._fields import Part
from dalembert.kernels._jit import slotted
from dalembert.kernels.smallmat import load3
from dalembert.kernels.tree.load_layout import APPLY_SIGNATURE, LINK, load_record
from dalembert.kernels.tree.loads import push, to_link
from dalembert.model.forces._base import Force, Kernels, Load, Push, acts_on, at_point, register, vector
from dalembert.model.rotation import quat_conj, rotate

RECORD, (POINT, FORCE, TORQUE, SIZE) = load_record(
    Part("point", 3, "of the link"), Part("force", 3, "link or world axes"), Part("torque", 3, "the same axes")
)


@slotted(APPLY_SIGNATURE)
def apply_body(system, work, first, last):
    """Constant in link axes."""
    for at in range(first, last, SIZE):
        push(work, int(system[at + LINK]), load3(system, at + POINT), load3(system, at + FORCE), load3(system, at + TORQUE))


@slotted(APPLY_SIGNATURE)
def apply_world(system, work, first, last):
    """Constant in world axes."""
    for at in range(first, last, SIZE):
        i = int(system[at + LINK])
        force, torque = to_link(work, i, load3(system, at + FORCE)), to_link(work, i, load3(system, at + TORQUE))
        push(work, i, load3(system, at + POINT), force, torque)


@register
@dataclass(frozen=True)
class Wrench(Force):
    """A constant force and torque on a body.

    frame: "body" if force and torque turn with the body, "world" if their directions are fixed in the world.
    point: where the force acts, in the body frame (default: its origin). N, N m, m.
    """

    body: str = acts_on()
    force: Any = vector(units="N")
    torque: Any = vector(units="N m")
    point: Any = at_point()
    frame: str = "body"
    kind: ClassVar[str] = "wrench"
    kernels: ClassVar[Kernels] = Kernels(apply_body)
    record: ClassVar[Any] = RECORD
    proved: ClassVar[bool] = True

    def check(self) -> None:
        """The frame."""
        if self.frame not in ("body", "world"):
            raise ModelError(f"{self.owner}: frame is {self.frame!r}; expected 'body' or 'world'.")

    def loads(self, places: Mapping[str, Any], model: Any) -> list[Load]:
        """One record."""
        place = places[self.body]
        if place.link < 0:
            return []
        fixed_in_body = self.frame == "body"
        turn, kernels = (place.R, self.kernels) if fixed_in_body else (np.eye(3), Kernels(apply_world))
        return [self.load((place.link,), kernels, point=place.at(self.point), force=turn @ self.force, torque=turn @ self.torque)]

    def pushes(self, model: Any, found: Mapping[str, Any]) -> list[Push]:
        """The same in body axes."""
        force, torque, frame = np.array(self.force), np.array(self.torque), found[self.body]
        if self.frame == "world":
            back = quat_conj(frame.quaternion)
            force, torque = rotate(back, force), rotate(back, torque)
        shape = frame.position.shape
        return [Push(self.body, np.array(self.point), np.broadcast_to(force, shape), np.broadcast_to(torque, shape))]
