"""Directions in the axes of shape i and of the world; R (S, 3, 3): axes of the shapes, by columns."""

from dalembert.kernels._jit import inline


@inline
def turned(R, i, v):
    """R v: of the shape's axes, in those of the world."""
    return (
        R[i, 0, 0] * v[0] + R[i, 0, 1] * v[1] + R[i, 0, 2] * v[2],
        R[i, 1, 0] * v[0] + R[i, 1, 1] * v[1] + R[i, 1, 2] * v[2],
        R[i, 2, 0] * v[0] + R[i, 2, 1] * v[1] + R[i, 2, 2] * v[2],
    )


@inline
def turned_back(R, i, v):
    """R^T v: of the world's axes, in those of the shape."""
    return (
        R[i, 0, 0] * v[0] + R[i, 1, 0] * v[1] + R[i, 2, 0] * v[2],
        R[i, 0, 1] * v[0] + R[i, 1, 1] * v[1] + R[i, 2, 1] * v[2],
        R[i, 0, 2] * v[0] + R[i, 1, 2] * v[1] + R[i, 2, 2] * v[2],
    )
