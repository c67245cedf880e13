"""Which shapes of a body are drawn.

Files may have two kinds of geometry: for contacts, and for pictures alone (no contact bits, `contype` and `conaffinity`, in `extra`). Where
a body has both, what touches is not drawn

    if it is in a group that viewers of MuJoCo hide (3 and above; collision geometry of URDF links that have another is in group 3)
    if what is for pictures is a mesh: it then is the body itself, not a mark on it

The latter holds for bodies alone, not for the many things that the world is made of. All other shapes are drawn, those made in Python too.
"""

from __future__ import annotations

from collections.abc import Sequence

from dalembert.model.shapes import Shape

HIDDEN = 3  # groups from here on are hidden
UNNAMED = (0.5, 0.5, 0.5, 1.0)  # the colour of geometry in a file that names none
Colour = tuple[float, ...]


def seen(shapes: Sequence[Shape], world: bool = False) -> list[Shape]:
    """Those of the shapes of one body, or of the world, that pictures, films and pages draw."""
    looks = [s for s in shapes if not _touches(s) and _group(s) < HIDDEN]
    whole = not world and any(s.kind == "mesh" for s in looks)
    return [s for s in shapes if not (looks and _touches(s) and (whole or _group(s) >= HIDDEN))]


def colour_given(shape: Shape) -> Colour | None:
    """Red, green, blue and opacity that a file gives, from 0 to 1; None where it names none."""
    rgba = shape.extra.get("rgba")
    return None if rgba is None or tuple(rgba) == UNNAMED else tuple(float(x) for x in rgba)


def _touches(shape: Shape) -> bool:
    return shape.collide or any(bool(shape.extra.get(what, 1)) for what in ("contype", "conaffinity"))


def _group(shape: Shape) -> int:
    return int(shape.extra.get("group", 0))
