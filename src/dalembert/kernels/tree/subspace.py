"""Joint axes of primitive joints are unit vectors of six dimensions: degree k of a joint is component first(kind) + k of a twist."""

from dalembert.kernels._jit import inline
from dalembert.kernels.tree.layout import PRISMATIC, REVOLUTE, SPHERICAL


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
