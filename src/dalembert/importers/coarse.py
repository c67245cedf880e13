"""Meshes that only are looked at, with fewer triangles.

All points in one cell of a grid become the one point that is nearest to the planes of the triangles around them (Lindstrom 2000): with
n, a the normals, weighted by area, and corners of these triangles and c the mean of the points,

    x = c + y,    (sum n n^T + e 1) y = sum n n . (a - c),    e = 1e-3 trace of the sum

so edges and corners stay where they are. Where y leads out of the cell, x = c. Triangles that collapse are left out.
"""

from __future__ import annotations

import numpy as np

from dalembert.arrays import AnyArray, Array

PLAIN = 100  # triangles of a mesh whose points stay as they are
GRAIN = 14  # binary digits of coordinates, of the extent of a mesh
TRIES = 8


def light(points: Array, triangles: AnyArray, most: int) -> tuple[Array, AnyArray]:
    """At most so many triangles, or nearly, and coordinates of few digits, which files hold in little room."""
    if len(triangles) <= PLAIN:
        return points, triangles
    points, triangles = coarse(points, triangles, most)
    extent = float(np.ptp(points, axis=0).max())
    grain = 2.0 ** (np.floor(np.log2(extent)) - GRAIN) if extent > 0.0 else 1.0
    return np.round(points / grain) * grain, triangles


def coarse(points: Array, triangles: AnyArray, most: int) -> tuple[Array, AnyArray]:
    """The mesh itself if it has no more triangles than that; else one on a grid of cells as small as that allows."""
    if len(triangles) <= most:
        return points, triangles
    corners = points[triangles]
    area = 0.5 * float(np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1).sum())
    extent = float(np.ptp(points, axis=0).max())
    cell = max(np.sqrt(0.7 * area / most), 1e-5 * extent)
    if not cell > 0.0:
        return points, triangles
    for _ in range(TRIES):
        found = clustered(points, triangles, cell)
        if len(found[1]) <= most or cell > extent:
            break
        cell *= 1.02 * np.sqrt(len(found[1]) / most)
    return found if len(found[1]) else (points, triangles[:most])


def clustered(points: Array, triangles: AnyArray, cell: float) -> tuple[Array, AnyArray]:
    """One point for each cell of the grid, and the triangles that are left."""
    steps = np.floor((points - points.min(axis=0)) / cell).astype(np.int64)
    counts = steps.max(axis=0) + 1
    _, which = np.unique((steps[:, 0] * counts[1] + steps[:, 1]) * counts[2] + steps[:, 2], return_inverse=True)
    index = which.reshape(-1)[triangles]
    a, b, c = index.T
    whole = (a != b) & (b != c) & (c != a)
    _, once = np.unique(np.sort(index[whole], axis=1), axis=0, return_index=True)
    kept, new = np.unique(index[whole][np.sort(once)], return_inverse=True)
    return _representatives(points, triangles, which.reshape(-1), cell)[kept], new.reshape(-1, 3)


def _representatives(points: Array, triangles: AnyArray, which: AnyArray, cell: float) -> Array:
    """(cells, 3)"""
    size = int(which.max()) + 1
    mean = np.stack([np.bincount(which, points[:, i], size) for i in range(3)], axis=-1) / np.bincount(which, minlength=size)[:, None]
    corners = points[triangles]
    normal = np.repeat(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), 3, axis=0)
    owner = which[triangles].ravel()
    height = np.einsum("ij,ij->i", normal, corners.reshape(-1, 3) - mean[owner])
    A, b = np.empty((size, 3, 3)), np.empty((size, 3))
    for i in range(3):
        b[:, i] = np.bincount(owner, normal[:, i] * height, size)
        for j in range(i, 3):
            A[:, i, j] = A[:, j, i] = np.bincount(owner, normal[:, i] * normal[:, j], size)
    trace = np.trace(A, axis1=1, axis2=2)
    flat = trace <= 1e-300
    A += np.where(flat, 1.0, 1e-3 * trace)[:, None, None] * np.eye(3)
    shift = np.linalg.solve(A, b[..., None])[..., 0]
    near = ~flat & (np.abs(shift).max(axis=1) <= cell)
    return mean + np.where(near[:, None], shift, 0.0)
