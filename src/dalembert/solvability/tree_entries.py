"""Bounds of the entries of M, dM and d2M of a tree that hold at every configuration (prismatic joints: |q_i| <= reach_i).

In the frame of body b the twist J_i of joint i obeys d_k J_i = [J_i, J_k] for i < k, else 0, and d_kl J_i = [[J_i, J_k], J_l], i < k <= l.
Sizes (w, u) = (|angular|, |velocity at the last joint|) start with (1, 0) revolute, (0, 1) prismatic; a bracket with revolute k gives
(w s_ik, u + w d_ik), with prismatic k (0, w s_ik). d, D: greatest distances between joints and from a joint to a centre of mass, s_ik: sine
of the angle of the axes where it is constant, else 1 (`tree_geometry.py`). rho_i (no bracket), beta_ik (one) and theta_ikl (two), each
sqrt(m_b (w D + u)^2 + w^2 lambda_max(I_b)), give, summed over b,

    |M_ij| <= rho_i rho_j                                  |d_k M_ij| <= T3 = beta_ik rho_j + rho_i beta_jk
    |d_kl M_ij| <= T4 = theta_ikl rho_j + rho_i theta_jkl + beta_ik beta_jl + beta_il beta_jk
    |d_i M_kj + d_j M_ki - d_k M_ij| / 2 <= G = (beta_ij rho_k + beta_ik rho_j + beta_jk rho_i) / 2           (Christoffel's symbols)

Planar trees (all axes parallel) in absolute angles: M_ij = Re(conj(z_i) Z_ij z_j), |z_i| = 1, with a constant Hermitian Z, so |dM_ij| and
|d2M_ij| <= |Z_ij| for the two angles i != j, and Christoffel's symbols are |Z_ij| at (i; j, j).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dalembert.solvability.tree_geometry import Geometry
from dalembert.solvability.tree_step import Array, DenseTree

ComplexArray = NDArray[np.complex128]


@dataclass(frozen=True)
class Entries:
    """Bounds of the entries of M, dM [k, i, j], d2M [k, l, i, j] and of Christoffel's symbols, without armature."""

    M: Array
    T3: Array
    T4: Array
    G: Array


@dataclass(frozen=True)
class Planar:
    """Absolute angles S q of a planar tree, and Z."""

    S: Array
    Z: ComplexArray


def entries(tree: DenseTree, geo: Geometry) -> Entries:
    """T3, T4, G and the bound of |M|."""
    n, turn = tree.n, tree.revolute
    own = np.eye(n, dtype=bool)
    upto = tree.above | own
    w0, u0 = turn.astype(float), (~turn).astype(float)
    w1 = np.where(tree.above & turn, w0[:, None] * geo.sine, 0.0)
    u1 = np.where(tree.above, np.where(turn, u0[:, None] * geo.sine + w0[:, None] * geo.across, w0[:, None] * geo.sine), 0.0)
    ends = tree.above[:, :, None] & upto[None]  # i < k <= l
    w2 = np.where(ends & turn, w1[:, :, None], 0.0)
    u2 = np.where(ends, np.where(turn, u1[:, :, None] + w1[:, :, None] * geo.full[None], w1[:, :, None]), 0.0)
    mass, heaviest = tree.mass, np.linalg.eigvalsh(tree.inertia)[:, -1]
    reached = upto.T.astype(float)  # [b, i]: i carries b or is it
    across, full = geo.com_across.T, geo.com_full.T
    rho = reached * np.sqrt(mass[:, None] * (w0 * across + u0) ** 2 + w0**2 * np.maximum(geo.spin.T, 0.0))
    m, lam = mass[:, None, None], np.maximum(heaviest, 0.0)[:, None, None]
    beta = reached[:, None, :] * np.sqrt(m * (w1 * full[:, None, :] + u1) ** 2 + w1**2 * lam)
    theta = reached[:, None, None, :] * np.sqrt(m[..., None] * (w2 * full[:, None, None, :] + u2) ** 2 + w2**2 * lam[..., None])
    theta = theta + np.where(own, 0.0, np.swapaxes(theta, 2, 3))
    T3 = np.einsum("bik,bj->kij", beta, rho, optimize=True)
    T4 = np.einsum("bikl,bj->klij", theta, rho, optimize=True)
    cross = np.einsum("bik,bjl->klij", beta, beta, optimize=True)
    either = beta + np.swapaxes(beta, 1, 2)
    G = 0.5 * np.einsum("bij,bk->kij", either, rho, optimize=True)
    return Entries(
        rho.T @ rho,
        T3 + np.swapaxes(T3, 1, 2),
        T4 + np.swapaxes(T4, 2, 3) + cross + np.swapaxes(cross, 0, 1),
        G + np.moveaxis(G, 0, 1) + np.moveaxis(G, 0, 2),
    )


def planar(tree: DenseTree, geo: Geometry) -> Planar | None:
    """S and Z if all joints are revolute about parallel axes."""
    if not (np.all(tree.revolute) and np.all(geo.parallel)):
        return None
    n = tree.n
    R = np.zeros((n, 3, 3))
    for i in tree.order:
        R[i] = tree.R_tree[i] if tree.parent[i] < 0 else R[tree.parent[i]] @ tree.R_tree[i]
    plane = R[tree.order[0]] * np.array([1.0, geo.signs[tree.order[0]], 1.0])  # x, y of one frame about the first axis

    def number(x: Array) -> complex:
        return complex(plane[:, 0] @ x, plane[:, 1] @ x)

    A = np.zeros((n, n), dtype=complex)  # [i, b]: from joint i to the next joint towards b, or to the centre of mass of b
    for b in range(n):
        A[b, b] = number(R[b] @ tree.com[b])
        k = b
        while (p := int(tree.parent[k])) >= 0:
            A[p, b] = number(R[p] @ tree.p_tree[k])
            k = p
    Z: Any = np.conj(A) * tree.mass @ A.T + np.diag(tree.inertia[:, 2, 2])
    upto = tree.above | np.eye(n, dtype=bool)
    return Planar(np.where(upto.T, geo.signs, 0.0), np.asarray(0.5 * (Z + np.conj(Z.T)), dtype=complex))


def planar_entries(Z: ComplexArray) -> Entries:
    """T3, T4, G in absolute angles."""
    n = len(Z)
    C = np.abs(Z) * (1.0 - np.eye(n))
    index = np.eye(n)
    pair = index[:, :, None] + index[:, None, :]  # [k, i, j]: k is i or j
    G = np.zeros((n, n, n))
    G[:, np.arange(n), np.arange(n)] = C
    return Entries(np.abs(Z), C * pair, C * pair[:, None] * pair[None], G)
