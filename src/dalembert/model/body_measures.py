"""What joints between free bodies measure: records of `kernels/bodies/layout.py` for every kind of joint.

A joint is a list of groups: those of `loops.RESIDUALS`, which it holds to zero, and those of its free directions. Residuals vanish where
those of model/loops.py do, and shifts and distances are the same numbers; of the others

    turned       2 q_v, of length 2 sin(angle/2), for the rotation vector
    tilted       of the same length, turned by half the hinge angle about the axis (and of either sign)
    twist        2 axis . q_v for the component of the rotation vector
    universal    divided by the sine between the axes: an angle

All directions are in world axes at the reference configuration, which are those of the joint frames.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from dalembert.arrays import Array
from dalembert.kernels.bodies import layout as at
from dalembert.model import loops
from dalembert.model.joints import KINDS
from dalembert.model.joints._base import perpendicular
from dalembert.model.loops import Loop
from dalembert.model.nonholonomic import Nonholonomic

NONE = np.zeros(3)


class Measure(NamedTuple):
    """One measure, what it is called, and the numbers of its record."""

    label: str
    what: int
    a: Array = NONE
    b: Array = NONE
    c: Array = NONE
    value: float = 0.0
    scale: float = 1.0

    def record(self) -> list[float]:
        """As it stands in the system array."""
        directions = {"DIRECTION_A": self.a, "DIRECTION_B": self.b, "DIRECTION_C": self.c}
        return at.MEASURE.filled(WHAT=self.what, VALUE=self.value, SCALE=self.scale, **directions)


# what is held to zero ----------------------------------------------------------------------------------------------------------------


def _shift(loop: Loop) -> list[Measure]:
    return [Measure(f"{x} shift", at.SHIFT_WORLD, a) for x, a in zip("xyz", np.eye(3), strict=True)]


def _shift_across(loop: Loop) -> list[Measure]:
    return [Measure(f"shift {w}", at.SHIFT, b) for w, b in zip(("across", "across (2)"), loops.across(loop.axis), strict=True)]


def _shift_along(loop: Loop) -> list[Measure]:
    return [Measure("shift along the axis", at.SHIFT, loop.axis)]


def _turned(loop: Loop) -> list[Measure]:
    return [Measure(f"{x} turn", at.LOCK, a) for x, a in zip("xyz", np.eye(3), strict=True)]


def _tilted(loop: Loop) -> list[Measure]:
    return [Measure(w, at.TILT, b) for w, b in zip(("tilt", "tilt (2)"), loops.across(loop.axis), strict=True)]


def _twist(loop: Loop) -> list[Measure]:
    return [Measure("twist", at.LOCK, loop.axis)]


def _universal(loop: Loop) -> list[Measure]:
    a, b = loop.axis, loop.axis2
    assert b is not None  # Loop.build
    sine = float(np.linalg.norm(np.cross(a, b)))
    return [Measure("angle of the axes", at.CROSS, a, b, value=float(a @ b), scale=1.0 / sine)]


def _stretched(loop: Loop) -> list[Measure]:
    assert loop.length is not None  # Loop.build
    return [Measure("length", at.DISTANCE, value=loop.length)]


GROUPS: dict[loops.Rows, Callable[[Loop], list[Measure]]] = {
    loops.shift: _shift,
    loops.shift_across: _shift_across,
    loops.shift_along: _shift_along,
    loops.turned: _turned,
    loops.tilted: _tilted,
    loops.twist: _twist,
    loops.angle_of_axes: _universal,
    loops.stretched: _stretched,
}


def held(loop: Loop) -> list[Measure]:
    """What a loop joint holds to zero, in the order of its residuals."""
    return [m for rows in loops.RESIDUALS[loop.kind] for m in GROUPS[rows](loop)]


def _wheel(joint: Nonholonomic) -> list[Measure]:
    assert joint.normal is not None and joint.radius is not None  # Nonholonomic.rolling
    axle, heading = (NONE, perpendicular(joint.normal)) if joint.axis is None else (joint.axis, NONE)
    wanted = {"height": at.HEIGHT} if joint.contact else {}
    wanted |= {"heading": at.HEADING, "sideways": at.SIDEWAYS}
    return [Measure(label, what, joint.normal, axle, heading, joint.radius) for label, what in wanted.items()]


def rolled(joint: Nonholonomic) -> list[Measure]:
    """What a rolling or knife-edge joint holds to zero: its height (a position), then velocities."""
    if joint.kind == "rolling":
        return _wheel(joint)
    assert joint.axis is not None  # Nonholonomic.knife_edge
    return [Measure("across the blade", at.BLADE, b=joint.axis)]


# free directions ---------------------------------------------------------------------------------------------------------------------


class Free(NamedTuple):
    """Free directions of a joint: coordinates in R^n, and what its rates, its strains, its limits and its speeds are measured by."""

    coordinates: list[Measure]
    rates: list[Measure]
    strains: list[Measure]
    bounded: Measure | None
    speeds: list[Measure]


def _about(name: str, axis: Array) -> Measure:
    return Measure(name, at.ABOUT, axis)


def _coordinates(loop: Loop) -> list[Measure]:
    """The coordinates of a kind whose q is in R^n, as model/joints defines them."""
    a, b = KINDS[loop.kind].axes(loop.axis, loop.axis2)
    chains: dict[str, Callable[[], list[Measure]]] = {
        "revolute": lambda: [_about("angle", a)],
        "prismatic": lambda: [Measure("shift", at.SHIFT, a)],
        "cylindrical": lambda: [_about("angle", a), Measure("shift", at.SHIFT, a)],
        "universal": lambda: [Measure("angle1", at.FIRST, a, b), Measure("angle2", at.SECOND, a, b)],
        "planar": lambda: [Measure("x", at.SHIFT, b), Measure("y", at.SHIFT, np.cross(a, b)), _about("angle", a)],
    }
    return chains[loop.kind]() if loop.kind in chains else []


def rotors(loop: Loop, rates: list[Measure]) -> list[Measure]:
    """What armatures turn with: the rates as model/joints defines them also where a joint does not quite hold, so that energies agree."""
    return [Measure("spin", at.SPIN, b=loop.axis)] if loop.kind == "revolute" else rates


def slips(loop: Loop, rates: list[Measure]) -> list[Measure]:
    """What dry friction acts on: the rates, of a ball joint its spin along and across itself."""
    words = ("slip", "slip across", "slip across (2)")
    return [Measure(w, at.SLIP, value=float(k)) for k, w in enumerate(words)] if loop.kind == "spherical" else rates


def free(loop: Loop) -> Free:
    """Free directions of a loop joint; empty for kinds without coordinates."""
    if loop.kind == "spherical":
        spins = [Measure(f"{x} spin", at.SPIN, b=e) for x, e in zip("xyz", np.eye(3), strict=True)]
        strains = [Measure(f"{x} rotation", at.VECTOR, e) for x, e in zip("xyz", np.eye(3), strict=True)]
        return Free([], spins, strains, Measure("angle", at.BEND), [Measure("spin", at.SPEED)])
    if loop.kind == "path":
        return Free([Measure(x, at.SHIFT, e) for x, e in zip("xyz", np.eye(3), strict=True)], [], [], None, [])
    if loop.kind == "orientation":
        parts = [Measure(f"{x} turn", at.TILT, e) for x, e in zip("xyz", np.eye(3), strict=True)]
        return Free([Measure("scalar", at.SCALAR), *parts], [], [], None, [])
    found = _coordinates(loop) if loop.kind in KINDS else []
    return Free(found, found, found, found[0] if found else None, found)
