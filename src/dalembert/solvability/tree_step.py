"""The trapezoidal variational step of a fixed-base tree in joint coordinates, dense, on whole batches of states (kobilarov2014 (22)-(25)).

Screws s_i of the joints in world axes about one fixed point, composite inertias I_m (all that link m carries), i < k: joint i carries k.

    M_ij    = s_i . I_max(i,j) s_j
    d_k M_ij = [s_i, s_k]_(i<k) . I_max(j,k) s_j + s_i . I_max(i,k) [s_j, s_k]_(j<k)         exact; all three on one path, else 0
    grad V_i = -s_i . I_i (0, g) + stiffness_i (q_i - rest_i)

because d_k s_i = 0 for i <= k on the way, and what k carries moves with it: d_k f = -ad(s_k)^T f for a wrench f there.

    left(v)  = [M(q) + M(q + h v)] v / 2 - h/4 v.dM(q) v + h/2 (grad V(q) - f(v))       momentum of node q seen from the interval after
    right(v) = [M(q - h v) + M(q)] v / 2 + h/4 v.dM(q) v - h/2 (grad V(q) - f(v))       and from the interval before
    e(v) = left(v) - p,      p = right(v_k) of the interval before,  or  p = M(q0) v0 at the start (discrete Legendre transform)
    De_ij = [M + M+]_ij / 2 + h/2 [(d_j M+ v)_i - (v.d_i M)_j + K_ij],   M+ at q + h v

f(v) = control - K v, K >= 0 of joint damping and of drag on bodies at q. Leading dimensions of q and v are free; h broadcasts against them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dalembert.arrays import Array
from dalembert.errors import UnsupportedError
from dalembert.kernels.tree import layout as at
from dalembert.model.compile_tree import Link, build_tree

if TYPE_CHECKING:
    from dalembert.model import Model


TOLERANCE, ITERATIONS = 1e-11, 50


@dataclass(frozen=True)
class DenseTree:
    """Links of one degree of freedom, numbered by their place in v. Frames at the joints, z along the axis; inertia about the com."""

    parent: NDArray[np.intp]
    revolute: NDArray[np.bool_]
    R_tree: Array
    p_tree: Array
    mass: Array
    com: Array
    inertia: Array
    armature: Array
    damping: Array
    stiffness: Array
    rest: Array
    gravity: Array
    order: tuple[int, ...]
    above: NDArray[np.bool_]
    deeper: NDArray[np.intp]
    related: NDArray[np.bool_]

    @property
    def n(self) -> int:
        """Degrees of freedom."""
        return len(self.parent)

    def path(self, link: int) -> list[int]:
        """Joints from the root to a link, itself included."""
        return [k for k in self.order if self.above[k, link] or k == link]


class Terms(NamedTuple):
    """At one configuration: M (..., n, n), grad V (..., n), and the factors of dM (..., k, i, 6): [s_i, s_k]_(i<k) and I_max(i,k) s_i.

    drag (..., n, n): K >= 0 of f = control - K v.
    """

    M: Array
    gradient: Array
    bracket: Array
    wrench: Array
    drag: Array

    @property
    def dM(self) -> Array:
        """d_k M_ij, (..., k, i, j)."""
        P = self.bracket @ np.swapaxes(self.wrench, -1, -2)
        return P + np.swapaxes(P, -1, -2)

    def columns(self, v: Array) -> Array:
        """(d_j M v)_i, (..., n, n); its transpose is (v.d_i M)_j."""
        x = v[..., None, None, :]
        out = self.bracket @ np.swapaxes(x @ self.wrench, -1, -2) + self.wrench @ np.swapaxes(x @ self.bracket, -1, -2)
        return np.swapaxes(out[..., 0], -1, -2)

    def along(self, v: Array) -> Array:
        """dM[v] = sum_k v_k d_k M, (..., n, n)."""
        return np.einsum("...kij,...k->...ij", self.dM, v)


def dense_tree(model: Model) -> DenseTree:
    """The tree of a model whose joints are revolute, prismatic, or chains of these."""
    tree = build_tree(model)
    links = sorted(tree.links, key=lambda link: link.v_at)
    if not links:
        raise UnsupportedError(f"{model!r} has no degree of freedom.")
    for link in links:
        if link.kind not in (at.REVOLUTE, at.PRISMATIC) or link.turn * link.slide != 0.0:
            raise UnsupportedError(f"joint {link.joint.name!r} is {link.joint.kind}; expected rotations and shifts about fixed axes.")
    where = {id(link): i for i, link in enumerate(links)}
    parent = np.array([-1 if link.parent < 0 else where[id(tree.links[link.parent])] for link in links])
    order = tuple(where[id(link)] for link in tree.links)
    return assemble(links, parent, order, np.asarray(model.gravity, dtype=float))


def assemble(links: list[Link], parent: NDArray[np.intp], order: tuple[int, ...], gravity: Array) -> DenseTree:
    """Arrays of the links, and who carries whom."""
    n = len(links)
    above = np.zeros((n, n), dtype=bool)
    for i in order:
        if parent[i] >= 0:
            above[:, i] = above[:, parent[i]]
            above[parent[i], i] = True
    mass = np.array([link.mass for link in links])
    com = np.array([link.moment / link.mass if link.mass > 0.0 else np.zeros(3) for link in links])
    shift = mass[:, None, None] * (np.sum(com**2, axis=1)[:, None, None] * np.eye(3) - com[:, :, None] * com[:, None, :])
    index = np.arange(n)
    return DenseTree(
        parent=parent,
        revolute=np.array([link.kind == at.REVOLUTE for link in links]),
        R_tree=np.array([link.R_tree for link in links]),
        p_tree=np.array([link.p_tree for link in links]),
        mass=mass,
        com=com,
        inertia=np.array([link.inertia for link in links]) - shift,
        armature=np.array([float(link.joint.armature) for link in links]),
        damping=np.array([float(link.joint.damping) for link in links]),
        stiffness=np.array([float(link.joint.stiffness) for link in links]),
        rest=np.array([float(link.joint.rest) for link in links]),
        gravity=gravity,
        order=order,
        above=above,
        deeper=np.where(above, index[None, :], index[:, None]),
        related=above | above.T | np.eye(n, dtype=bool),
    )


def screws(tree: DenseTree, q: Array) -> tuple[Array, Array]:
    """s (..., n, 6) and composite inertias (..., n, 6, 6), world axes, about the first joint of the tree."""
    lead, n = q.shape[:-1], tree.n
    R, o = np.zeros((*lead, n, 3, 3)), np.zeros((*lead, n, 3))
    axis = np.zeros((*lead, n, 3))
    c, s = np.cos(q), np.sin(q)
    for i in tree.order:
        p = tree.parent[i]
        R0 = tree.R_tree[i] if p < 0 else R[..., p, :, :] @ tree.R_tree[i]
        o[..., i, :] = tree.p_tree[i] if p < 0 else o[..., p, :] + R[..., p, :, :] @ tree.p_tree[i]
        axis[..., i, :] = R0[..., :, 2]
        R[..., i, :, :] = R0
        if tree.revolute[i]:
            ci, si = c[..., i, None], s[..., i, None]
            R[..., i, :, 0] = ci * R0[..., :, 0] + si * R0[..., :, 1]
            R[..., i, :, 1] = ci * R0[..., :, 1] - si * R0[..., :, 0]
        else:
            o[..., i, :] += q[..., i, None] * R0[..., :, 2]
    o = o - tree.p_tree[tree.order[0]]
    turn = tree.revolute[:, None]
    S = np.concatenate([np.where(turn, axis, 0.0), np.where(turn, np.cross(o, axis), axis)], axis=-1)
    return S, _composite(tree, R, o)


def _composite(tree: DenseTree, R: Array, o: Array) -> Array:
    """Spatial inertias of what each link carries, itself included."""
    x = o + (R @ tree.com[:, :, None])[..., 0]
    m = tree.mass[:, None, None]
    X = hat(x)
    I = np.zeros((*x.shape[:-1], 6, 6))
    I[..., :3, :3] = R @ tree.inertia @ np.swapaxes(R, -1, -2) - m * (X @ X)
    I[..., :3, 3:], I[..., 3:, :3] = m * X, -m * X
    I[..., 3:, 3:] = m * np.eye(3)
    for i in reversed(tree.order):
        if tree.parent[i] >= 0:
            I[..., tree.parent[i], :, :] += I[..., i, :, :]
    return I


def terms(tree: DenseTree, q: Array) -> Terms:
    """M, the factors of dM, and grad V at q (..., n)."""
    S, I = screws(tree, q)
    carried = S[..., None, :, :] @ I  # [m, i] = I_m s_i
    F = carried[..., tree.deeper.T, np.arange(tree.n)[None, :], :] * tree.related[:, :, None]  # [k, i] = I_max(i,k) s_i
    M = (F @ S[..., :, :, None])[..., 0] + np.diag(tree.armature)
    ad = np.zeros((*S.shape, 6))
    ad[..., :3, :3] = ad[..., 3:, 3:] = hat(S[..., :3])
    ad[..., 3:, :3] = hat(S[..., 3:])
    X = -S[..., None, :, :] @ np.swapaxes(ad, -1, -2)  # [k, i] = -ad(s_k) s_i = [s_i, s_k]
    X = X * tree.above.T[:, :, None]  # where i carries k
    fall = np.concatenate([np.zeros(3), tree.gravity])
    gradient = tree.stiffness * (q - tree.rest) - np.einsum("...ic,...ic->...i", S, I @ fall)
    return Terms(M, gradient, X, F, np.broadcast_to(np.diag(tree.damping), M.shape))


def hat(x: Array) -> Array:
    """hat(x) y = x cross y, (..., 3, 3)."""
    X = np.zeros((*x.shape, 3))
    X[..., 0, 1], X[..., 0, 2], X[..., 1, 2] = -x[..., 2], x[..., 1], -x[..., 0]
    return X - np.swapaxes(X, -1, -2)


def acceleration_force(here: Terms, v: Array, control: Array) -> Array:
    """dM[v] v - v.dM v / 2 + grad V - f(v) = -M a, with a the acceleration of the continuous motion at (q, v)."""
    C = here.columns(v)
    twice = np.einsum("...ij,...j->...i", C, v)
    return twice - 0.5 * np.einsum("...ji,...j->...i", C, v) + here.gradient - control + times(here.drag, v)


def left(h: Array, here: Terms, after: Terms, v: Array, control: Array) -> Array:
    """left(v) of the head; `after` at q + h v."""
    return _mean_momentum(here, after, v) - _node_impulse(h, here, v, control)


def right(h: Array, before: Terms, here: Terms, v: Array, control: Array) -> Array:
    """right(v) of the head; `before` at the node before."""
    return _mean_momentum(before, here, v) + _node_impulse(h, here, v, control)


def times(A: Array, v: Array) -> Array:
    """A v for stacks."""
    return np.einsum("...ij,...j->...i", A, v)


def _mean_momentum(a: Terms, b: Terms, v: Array) -> Array:
    return 0.5 * times(a.M + b.M, v)


def _node_impulse(h: Array, here: Terms, v: Array, control: Array) -> Array:
    """h/4 v.dM v - h/2 (grad V - f(v))."""
    quadratic = np.einsum("...ji,...j->...i", here.columns(v), v)
    return np.asarray(h)[..., None] * (0.25 * quadratic - 0.5 * (here.gradient - control + times(here.drag, v)))


def jacobian(h: Array, here: Terms, after: Terms, v: Array) -> Array:
    """De(v), (..., n, n)."""
    turned = after.columns(v) - np.swapaxes(here.columns(v), -1, -2) + here.drag
    return 0.5 * (here.M + after.M) + 0.5 * np.asarray(h)[..., None, None] * turned


def start_momentum(tree: DenseTree, h: Array, q: Array, here: Terms, v: Array, control: Array, first: bool) -> Array:
    """p for which v is Newton's start: M(q) v at the first node, else right(v) with the node before at q - h v."""
    if first:
        return times(here.M, v) + 0.0 * h[:, None]
    return right(h, terms(tree, q - h[:, None] * v), here, v, control)


def newton(
    tree: DenseTree, h: Array, q: Array, here: Terms, p: Array, v: Array, control: Array
) -> tuple[Array, NDArray[np.bool_], NDArray[np.intp]]:
    """Plain Newton from v on e(v) = left(v) - p: (v, converged, iterations used). h (B,); the rest (B, ...), or one for all; `here` at q.

    Converged: |correction| <= 1e-11 (1 + |v|) within 50 iterations.
    """
    count, n = len(h), tree.n
    v = np.array(np.broadcast_to(v, (count, n)), dtype=float)
    q, p, control = (np.broadcast_to(x, v.shape) for x in (q, p, control))
    here = stacked(here, count)
    done, used = np.zeros(count, dtype=bool), np.zeros(count, dtype=np.intp)
    active = np.arange(count)
    for _ in range(ITERATIONS):
        if not len(active):
            break
        now = Terms(*(x[active] for x in here))
        after = terms(tree, q[active] + h[active, None] * v[active])
        e = left(h[active], now, after, v[active], control[active]) - p[active]
        d = -solve(jacobian(h[active], now, after, v[active]), e)
        v[active] += d
        used[active] += 1
        size, step = np.linalg.norm(v[active], axis=1), np.linalg.norm(d, axis=1)
        good = step <= TOLERANCE * (1.0 + size)
        done[active[good]] = True
        active = active[~good & np.isfinite(step) & (size < 1e12)]
    return v, done, used


def stacked(here: Terms, count: int) -> Terms:
    """Terms of one configuration for each of several steps; those of several as they are."""
    return here if here.M.ndim == 3 else Terms(*(np.broadcast_to(x, (count, *x.shape)) for x in here))


def solve(A: Array, b: Array) -> Array:
    """A^-1 b for stacks; NaN where A is exactly singular."""
    try:
        return np.asarray(np.linalg.solve(A, b[..., None])[..., 0], dtype=float)
    except np.linalg.LinAlgError:
        out = np.full(b.shape, np.nan)
        for k in np.ndindex(b.shape[:-1]):
            if np.linalg.matrix_rank(A[k]) == A.shape[-1]:
                out[k] = np.linalg.solve(A[k], b[k])
        return out
