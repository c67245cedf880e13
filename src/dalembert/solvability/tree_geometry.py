"""Greatest distances and constant angles along the paths of a tree: what bounds of its mass matrix need.

Index i carries k (or is it). Distances add up the fixed offsets of the links and the strokes of prismatic joints, |q_k| <= reach_k. While
all rotations from joint i on are about axes parallel to its own, an offset keeps its part across that axis, and only this part counts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dalembert.solvability.tree_step import Array, DenseTree

PARALLEL = 1e-12  # axes whose sine is below count as parallel


@dataclass(frozen=True)
class Geometry:
    """Greatest distances and constant angles along the paths of a tree; index i carries k (or is it)."""

    full: Array  # |o_k - o_i|
    across: Array  # the same across the axis of i while rotations are about it
    com_full: Array  # |com_b - o_i|
    com_across: Array
    sine: Array  # s_ik
    spin: Array  # a.I_b a where rotations from i to b are parallel, else lambda_max(I_b)
    parallel: Array  # axes parallel at the reference configuration
    signs: Array  # +1, -1: direction of an axis relative to the first


def geometry(tree: DenseTree, reach: Array) -> Geometry:
    """Walk every path once, outwards from each joint."""
    n = tree.n
    R = np.zeros((n, 3, 3))
    for i in tree.order:
        R[i] = tree.R_tree[i] if tree.parent[i] < 0 else R[tree.parent[i]] @ tree.R_tree[i]
    axis = R[:, :, 2]
    sine_ref = np.linalg.norm(np.cross(axis[:, None], axis[None]), axis=2)
    parallel = sine_ref < PARALLEL
    step = np.array([(np.eye(3) if p < 0 else R[p]) @ x for p, x in zip(tree.parent, tree.p_tree, strict=True)])
    com = np.einsum("nij,nj->ni", R, tree.com)
    heaviest = np.linalg.eigvalsh(tree.inertia)[:, -1]
    full, across = np.zeros((n, n)), np.zeros((n, n))
    com_full, com_across = np.zeros((n, n)), np.zeros((n, n))
    run = np.zeros((n, n), dtype=bool)
    spin = np.zeros((n, n))
    inertia = R @ tree.inertia @ np.swapaxes(R, 1, 2)
    for i in range(n):
        for k in tree.order:
            if k != i and not tree.above[i, k]:
                continue
            p = tree.parent[k]
            run[i, k] = k == i or (run[i, p] and (not tree.revolute[k] or parallel[i, k]))
            if k != i:
                stroke = reach[k] * axis[k]
                full[i, k] = full[i, p] + _longest(step[k], stroke)
                across[i, k] = across[i, p] + _longest(
                    *((_across(step[k], axis[i]), _across(stroke, axis[i])) if run[i, p] else (step[k], stroke))
                )
            com_full[i, k] = full[i, k] + np.linalg.norm(com[k])
            com_across[i, k] = across[i, k] + np.linalg.norm(_across(com[k], axis[i]) if run[i, k] else com[k])
            spin[i, k] = axis[i] @ inertia[k] @ axis[i] if run[i, k] else heaviest[k]
    signs = np.sign(axis @ axis[0])
    return Geometry(full, across, com_full, com_across, _sines(tree, sine_ref, parallel, run), spin, parallel, signs)


def _longest(x: Array, stroke: Array) -> float:
    return float(max(np.linalg.norm(x + stroke), np.linalg.norm(x - stroke)))


def _across(x: Array, a: Array) -> Array:
    return x - (x @ a) * a


def _sines(tree: DenseTree, sine_ref: Array, parallel: Array, run: Array) -> Array:
    """s_ik: the angle is constant if the rotations between i and k are first about a_i, then about a_k."""
    s = np.where(tree.above, 1.0, 0.0)
    for k in range(tree.n):
        m = int(tree.parent[k])
        back = True  # rotations strictly between m and k are about a_k
        while m >= 0 and back:
            for i in np.flatnonzero(run[:, m]):
                s[i, k] = sine_ref[i, k] if sine_ref[i, k] >= PARALLEL else 0.0
            back = bool(not tree.revolute[m] or parallel[m, k])
            m = int(tree.parent[m])
    return s
