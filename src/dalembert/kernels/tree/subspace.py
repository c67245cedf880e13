"""Joint axes of primitive joints are unit vectors of six dimensions: degree k of a joint is component first(kind) + k of a twist. Those of
joints that slide, PRISMATIC, are (turn z, slide z)."""

from dalembert.kernels._jit import inline
from dalembert.kernels.tree.layout import PRISMATIC, REVOLUTE, SLIDES, SPHERICAL, TURNS


@inline
def first(kind):
    """First component of a twist that the joint moves: z rotation, z shift, rotations, everything."""
    if kind == REVOLUTE:
        return 2
    if kind == PRISMATIC:
        return 5
    return 0


@inline
def degrees(kind):
    """Degrees of freedom."""
    if kind <= PRISMATIC:
        return 1
    if kind == SPHERICAL:
        return 3
    return 6


@inline
def along(system, at, kind, k, work, wrench):
    """S_k . work[wrench:], of the joint with its record at system[at:]."""
    if kind == PRISMATIC:
        return system[at + SLIDES] * work[wrench + 5] + system[at + TURNS] * work[wrench + 2]
    return work[wrench + first(kind) + k]
