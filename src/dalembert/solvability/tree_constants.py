"""Constants m1, m2, l0 .. l6 of kobilarov2014 (26)-(31) for trees of revolute and prismatic joints, from lengths, masses and inertias.

They hold at every configuration (prismatic joints: |q_i| <= reach_i), in linear coordinates y = T q, where M_y = T^-T M T^-1.

l0 = l1, l2 and c1 are upper bounds (`tensor_norm.py`) of the norms of dM, d2M and Christoffel's symbols as multilinear forms, from bounds
of their entries (`tree_entries.py`): (27) and (28) bound the same trilinear form.

m1. |dq/dt| <= |B| sqrt(2 kinetic energy) gives m1 = 1 / |B|^2: a revolute joint's row holds sqrt(a.I^-1 a) for its link and its parent, a
prismatic one's 1 / sqrt(m_i), 1 / sqrt(m_p) and |c_i - c_p| / sqrt(lambda_min I_p); 1 / sqrt(armature) where that is better. Two hinges
with a massless link between them share the rotation of their bodies: 1 / sqrt(lambda_min I) over the sine of their angle. Planar trees in
absolute angles: lambda_min(Z) <= M <= lambda_max(Z); in other coordinates M >= N^T D N with any diagonal D <= Z, chosen by ascent.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dalembert.solvability.tensor_norm import norm3, norm4
from dalembert.solvability.tree_entries import ComplexArray, Entries, entries, planar, planar_entries
from dalembert.solvability.tree_geometry import geometry
from dalembert.solvability.tree_step import Array, DenseTree

SCALINGS = (("", 0.0), (", half scaled", 0.5), (", scaled", 1.0))


@dataclass(frozen=True)
class Constants:
    """Of one tree in the coordinates y = T q; norms are Euclidean in y. Joint damping K: l4 = |K|, k1 = its smallest eigenvalue.

    l3, l5, l6 are zero for joint damping, gravity, stiffness and constant controls.
    """

    name: str
    T: Array
    T_inv: Array
    m1: float
    m2: float
    l0: float
    l2: float
    c1: float
    l3: float = 0.0
    l4: float = 0.0
    l5: float = 0.0
    l6: float = 0.0
    k1: float = 0.0

    @property
    def l1(self) -> float:
        """Equal to l0."""
        return self.l0


def default_reach(tree: DenseTree, q: Array, limits: list[tuple[float, float] | None]) -> Array:
    """A bound on |q_i| of the prismatic joints for which the constants are computed: farthest limit or place, and room beyond it."""
    scale = float(np.max(np.linalg.norm(tree.p_tree, axis=1) + np.linalg.norm(tree.com, axis=1)))
    reach = np.zeros(tree.n)
    for i in np.flatnonzero(~tree.revolute):
        pair = limits[i]
        room = 0.5 * (pair[1] - pair[0]) if pair is not None and np.all(np.isfinite(pair)) else (scale if scale > 0.0 else 1.0)
        far = max((abs(x) for x in pair), default=0.0) if pair is not None and np.all(np.isfinite(pair)) else 0.0
        reach[i] = max(far, float(np.max(np.abs(q[..., i])))) + room
    return reach


def energy_rows(tree: DenseTree, reach: Array) -> Array:
    """B of the head: |dq_i/dt| <= sum_c B_ic x_c, |x|^2 = 2 kinetic energy. inf: no bound.

    Columns: spin of each link, motion of each centre of mass, armatures.
    """
    n = tree.n
    B = np.zeros((n, 3 * n))
    for i in range(n):
        row = _hinge_row(tree, i) if tree.revolute[i] else _slide_row(tree, i, float(reach[i]))
        rotor = np.zeros(3 * n)
        rotor[2 * n + i] = _inverse_root(float(tree.armature[i]))
        B[i] = row if np.linalg.norm(row) <= np.linalg.norm(rotor) else rotor
    return B


def _hinge_row(tree: DenseTree, i: int) -> Array:
    row, p = np.zeros(3 * tree.n), int(tree.parent[i])
    row[i] = _compliance(tree.inertia[i], np.array([0.0, 0.0, 1.0]))
    if p >= 0:
        row[p] = _compliance(tree.inertia[p], tree.R_tree[i][:, 2])
    if np.all(np.isfinite(row)):
        return row
    pairs = [(p, i)] if p >= 0 and tree.mass[p] == 0.0 else [(i, int(k)) for k in np.flatnonzero(tree.parent == i) if tree.mass[i] == 0.0]
    rows = [_double_hinge_row(tree, *pair) for pair in pairs if np.all(tree.revolute[list(pair)])]
    return min([row, *rows], key=lambda found: float(np.linalg.norm(found)))


def _double_hinge_row(tree: DenseTree, massless: int, i: int) -> Array:
    """Both rates of two hinges between a body and its grandparent: the rotation between these, over the sine of the axes' angle."""
    row, p = np.zeros(3 * tree.n), int(tree.parent[massless])
    sine = float(np.hypot(*tree.R_tree[i][:2, 2]))
    for link in (i, p):
        if link >= 0:
            row[link] = _softest(tree.inertia[link]) / sine if sine > 0.0 else np.inf
    return row


def _slide_row(tree: DenseTree, i: int, reach: float) -> Array:
    n, p = tree.n, int(tree.parent[i])
    row = np.zeros(3 * n)
    row[n + i] = _inverse_root(float(tree.mass[i]))
    if p >= 0:
        arm = float(np.linalg.norm(tree.p_tree[i] - tree.com[p]) + np.linalg.norm(tree.com[i])) + reach
        row[n + p] = _inverse_root(float(tree.mass[p]))
        row[p] = arm * _softest(tree.inertia[p]) if arm > 0.0 else 0.0
    return row


def _softest(inertia: Array) -> float:
    """1 / sqrt(lambda_min); inf if the inertia is not positive definite."""
    values = np.linalg.eigvalsh(inertia)
    return _inverse_root(float(values[0])) if values[0] > 1e-12 * values[-1] else float("inf")


def _inverse_root(x: float) -> float:
    return float(1.0 / np.sqrt(x)) if x > 0.0 else float("inf")


def _compliance(inertia: Array, a: Array) -> float:
    """sqrt(a.I^-1 a); inf if I is not positive definite."""
    values, vectors = np.linalg.eigh(inertia)
    if values[0] <= 1e-12 * values[-1] or values[0] <= 0.0:
        return float("inf")
    return float(np.sqrt(np.sum((vectors.T @ a) ** 2 / values)))


def diagonal_bound(Z: ComplexArray, N: Array, extra: Array) -> float:
    """A lower bound of the eigenvalues of N^T Re(z* Z z) N + extra for all phases z: lambda_min(N^T D N + extra), D <= Z diagonal.

    Any D proves a bound; ascent on log D follows the eigenvectors that limit it.
    """
    n = len(Z)
    if np.linalg.eigvalsh(Z)[0] <= 0.0:
        return max(0.0, float(np.linalg.eigvalsh(extra)[0]))
    d, best = 1.0 / np.sum(N**2, axis=1), 0.0
    for k in range(1 if n == 1 else min(150, 900 // n)):
        root = np.sqrt(d)
        values, U = np.linalg.eigh(Z / np.outer(root, root))
        d = d * values[0]
        low, V = np.linalg.eigh((N.T * d) @ N + extra)
        best = max(best, float(low[0]))
        gain = d * (N @ V[:, 0]) ** 2
        d = d * np.exp((gain / max(float(gain.sum()), 1e-300) - np.abs(U[:, 0]) ** 2) * 2.0 / (1.0 + 0.1 * k))
    return best * (1.0 - 1e-12)


def all_constants(tree: DenseTree, reach: Array) -> Iterator[Constants]:
    """In joint coordinates and, for planar trees, absolute angles; plain, and scaled by powers of the root of the greatest inertia."""
    geo = geometry(tree, reach)
    found, flat, B = entries(tree, geo), planar(tree, geo), energy_rows(tree, reach)
    scale = np.sqrt(np.diag(found.M) + tree.armature)
    for tail, power in SCALINGS:
        w = np.where(scale > 0.0, scale, 1.0) ** power
        rows = float(np.linalg.norm(w[:, None] * B, 2)) if np.all(np.isfinite(B)) else np.inf
        m1 = 1.0 / rows**2
        if flat is not None:
            m1 = max(m1, diagonal_bound(flat.Z, flat.S / w, np.diag(tree.armature / w**2)))
        yield _constants("relative" + tail, np.diag(w), tree, found, w, m1, None)
    if flat is None:
        return
    bend = planar_entries(flat.Z)
    S_inv = np.linalg.inv(flat.S)
    rotor = S_inv.T @ (tree.armature[:, None] * S_inv)
    scale = np.sqrt(np.real(np.diag(flat.Z)) + np.diag(rotor))
    for tail, power in SCALINGS:
        w = np.where(scale > 0.0, scale, 1.0) ** power
        extra = rotor / np.outer(w, w)
        m1 = diagonal_bound(flat.Z, np.diag(1.0 / w), extra)
        m2 = float(np.linalg.eigvalsh(flat.Z / np.outer(w, w))[-1] + np.linalg.eigvalsh(extra)[-1])
        yield _constants("absolute" + tail, w[:, None] * flat.S, tree, bend, w, m1, m2)


def _constants(name: str, T: Array, tree: DenseTree, e: Entries, w: Array, m1: float, m2: float | None) -> Constants:
    """Entries e belong to coordinates that are w times smaller than y."""
    T_inv = np.asarray(np.linalg.inv(T), dtype=float)
    W2, W3 = w[:, None] * w, w[:, None, None] * w[:, None] * w
    K = T_inv.T @ (tree.damping[:, None] * T_inv)
    if m2 is None:
        m2 = float(np.linalg.eigvalsh((e.M + np.diag(tree.armature)) / W2)[-1])
    damping = np.linalg.eigvalsh(K)
    l0, c1 = norm3(e.T3 / W3), norm3(e.G / W3)
    l2 = norm4(e.T4 / (W3[..., None] * w))
    return Constants(name, T, T_inv, m1, m2, l0, l2, min(c1, 1.5 * l0), l4=max(0.0, float(damping[-1])), k1=max(0.0, float(damping[0])))
