"""Viscous drag on a body against the world.

    torque -angular omega,  force -linear v,   v the velocity of the centre of mass

With s = wl linear, t = wl angular, and r the centre of mass in the frame in which Newton's matrix is, the drag joins it as

    [ t 1 - s hat(r)^2    s hat(r) ]
    [   -s hat(r)           s 1    ]
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dalembert.kernels._fields import Part
from dalembert.kernels._jit import slotted
from dalembert.kernels.mat3 import load9
from dalembert.kernels.smallmat import add, cross, dot, load3, mat_vec, scale
from dalembert.kernels.tree.layout import SCRATCH, VEL
from dalembert.kernels.tree.load_layout import APPLY_SIGNATURE, LINK, MATRIX_SIGNATURE, load_record
from dalembert.kernels.tree.loads import push
from dalembert.kernels.tree.variational.six import add6, load6, store6
from dalembert.model.forces._base import Force, Kernels, Load, Slide, acts_on, number, register

RECORD, (POINT, ANGULAR, LINEAR, SIZE) = load_record(
    Part("point", 3, "of the link"), Part("angular", 1, "N m s"), Part("linear", 1, "N s/m")
)


@slotted(APPLY_SIGNATURE)
def apply(system, work, first, last):
    """Drag on a point and on the rotation."""
    for at in range(first, last, SIZE):
        i, point = int(system[at + LINK]), load3(system, at + POINT)
        omega = load3(work, i * SCRATCH + VEL)
        v = add(load3(work, i * SCRATCH + VEL + 3), cross(omega, point))
        push(work, i, point, scale(-system[at + LINEAR], v), scale(-system[at + ANGULAR], omega))


@slotted(MATRIX_SIGNATURE)
def matrix(system, work, first, last, frame, to, stride, wl):
    """The matrix in the head of this file."""
    for at in range(first, last, SIZE):
        s, t, i = wl * system[at + LINEAR], wl * system[at + ANGULAR], stride * int(system[at + LINK])
        r = add(load3(work, frame + i + 9), mat_vec(load9(work, frame + i), load3(system, at + POINT)))
        x, y, z = r
        f, d = scale(s, r), s * dot(r, r) + t
        rows = (
            (d - f[0] * x, -f[0] * y, -f[0] * z, 0.0, -f[2], f[1]),
            (-f[1] * x, d - f[1] * y, -f[1] * z, f[2], 0.0, -f[0]),
            (-f[2] * x, -f[2] * y, d - f[2] * z, -f[1], f[0], 0.0),
            (0.0, f[2], -f[1], s, 0.0, 0.0),
            (-f[2], 0.0, f[0], 0.0, s, 0.0),
            (f[1], -f[0], 0.0, 0.0, 0.0, s),
        )
        for k in range(6):
            store6(work, to + i + 6 * k, add6(rows[k], load6(work, to + i + 6 * k)))


@register
@dataclass(frozen=True)
class Damper(Force):
    """Viscous drag on a body against the world: torque -angular omega, force -linear v of the centre of mass. N m s, N s/m."""

    body: str = acts_on()
    angular: float = number(units="N m s", least=0.0)
    linear: float = number(units="N s/m", least=0.0)
    kind: ClassVar[str] = "damper"
    feature: ClassVar[str] = "damping"
    kernels: ClassVar[Kernels] = Kernels(apply, matrix=matrix)
    record: ClassVar[Any] = RECORD
    account: ClassVar[str] = "damping"
    drives: ClassVar[bool] = False
    proved: ClassVar[bool] = True

    def loads(self, places: Mapping[str, Any], model: Any) -> list[Load]:
        """One record."""
        place = places[self.body]
        if place.link < 0:
            return []
        centre = place.at(model.body(self.body).com)
        return [self.load((place.link,), point=centre, angular=self.angular, linear=self.linear)]

    def slides(self, model: Any, found: Mapping[str, Any]) -> list[tuple[float, list[Slide]]]:
        """Rotation, and velocity of the centre of mass."""
        centre, one, none = model.body(self.body).com, np.eye(3), np.zeros((3, 3))
        return [(self.angular, [Slide(self.body, centre, one, none)]), (self.linear, [Slide(self.body, centre, none, one)])]
