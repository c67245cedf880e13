"""Planes between convex solids, as variables of a plan.

For a pair K1, K2 (control/obstacles.py) and a place, unknown alpha (3) and a with

    |alpha|^2 = 1,    alpha . x_i - |E1^T R1^T alpha| >= a + margin/2   on K1,    alpha . y_j + |E2^T R2^T alpha| <= a - margin/2   on K2

A place is a node, or an interval: then one plane has both ends of the interval on its sides, so that points that move straight from one
end to the other never cross it and nothing tunnels (Leyendecker et al. 4.2 with its open inequality closed by the margin). What turns does
not move straight: with arcs also the third point of each parabola through the ends and the middle of the motion, c = 2 x_m - (x_0 + x_1)/2,
is on its side, and with the three of them the parabola, which is the motion up to r theta^3/125 (theta: turn in the step, r: how far from
the axis). |alpha| = 1 is an equation: with |alpha| <= 1 and no margin alpha = 0 would satisfy all rows.

Beside a half space the plane is known: rows at the nodes, no variables.

The planes begin as those of the signed distance in the guess (`dal.contact.sshlp`). Where the guess overlaps, the shortest way out at one
node is often back, and at the next one ahead: a stretch of places that overlap has one direction instead, the one along which the whole
stretch is freed by the least shift.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

import casadi as ca
import numpy as np

from dalembert.arrays import Array
from dalembert.contact.separation import sshlp
from dalembert.control.blocks import Block
from dalembert.control.obstacles import AROUND
from dalembert.control.sides import Between, Clouds, Pair, Swept

SIDES = 24  # directions across the motion that are tried where a guess overlaps


def separate(made: Any, pairs: Sequence[Pair], margin: float = 1e-4, swept: bool = True, places: Any = None, arcs: bool = True) -> None:
    """Keep pairs of solids apart by a margin (m) in a draft of a plan.

    places: nodes, or with swept the intervals (k: from node k to k + 1), where they are; None: all of them. arcs: of what turns in
    them, too.
    """
    chain = made.chain
    made.apart += [(a.exact, b.exact) for a, b in pairs]
    for pair in pairs:
        where = np.arange(chain.N + (not swept)) if places is None else np.asarray(places, dtype=int)
        if any(s.half_space is not None for s in pair):
            _half_space(made, pair, margin, swept, where, arcs)
        elif len(where):
            _planes(made, pair, margin, swept, where, arcs)


def _planes(made: Any, pair: Pair, margin: float, swept: bool, where: Array, arcs: bool) -> None:
    """Variables and rows of one pair."""
    between, ends = Between(made.machine, pair), 1 + swept
    names = f"{pair[0].name} apart from {pair[1].name}"
    word = "step" if swept else "node"
    words = [f"plane between {pair[0].name} and {pair[1].name} of {word} {k}: {part}" for k in where for part in ("x", "y", "z", "place")]
    plane_at = made.take(4 * len(where), words).reshape(-1, 4)
    poses, alpha, a = between.symbols(ends), ca.SX.sym("alpha", 3), ca.SX.sym("a")
    over = Swept(between, poses, arcs)
    above, below = over.rows(0, alpha, a), over.rows(1, alpha, a)
    rows = ca.vertcat(ca.dot(alpha, alpha), above, below)
    room = [0.5 * margin + s.radius for s in pair]
    lower = [1.0, *[room[0]] * above.numel(), *[room[1]] * below.numel()]
    index = np.concatenate([between.index(made.chain, where, ends), plane_at], axis=1)
    upper = np.full(rows.numel(), np.inf)
    upper[0] = 1.0
    made.add(
        Block(
            names, ca.vertcat(*poses, alpha, a), index, rows=rows, lower=lower, upper=upper,
            names=[f"length of the normal between {pair[0].name} and {pair[1].name}", *[names] * (rows.numel() - 1)],
            places=[f"{word} {k}" for k in where],
        )
    )  # fmt: skip
    made.guesses.append(_Guess(between, margin, swept, where, plane_at))


def _half_space(made: Any, pair: Pair, margin: float, swept: bool, where: Array, arcs: bool) -> None:
    """n . x - |E^T R^T n| >= d + margin, for what is above a plane of the world."""
    solid, ground = pair if pair[1].half_space is not None else pair[::-1]
    assert ground.half_space is not None
    normal, d = ground.half_space
    between = Between(made.machine, (solid, ground))
    ends = between.symbols(1 + swept)
    rows = Swept(between, ends, arcs).rows(0, ca.DM(normal))
    name, index = f"{solid.name} apart from {ground.name}", between.index(made.chain, where, 1 + swept)
    places = [f"{'step' if swept else 'node'} {k}" for k in where]
    lower = np.full((len(where), rows.numel()), d + margin + solid.radius)
    known = np.isin(where - 1, where) & swept  # the first end is the second one of the interval before
    lower[known, : len(solid.points)] = -np.inf
    names = [name] * rows.numel()
    made.add(Block(name, ca.vertcat(*ends), index, rows=rows, lower=lower, upper=np.inf, names=names, places=places))


class _Guess:
    """Writes planes into a guess."""

    def __init__(self, between: Between, margin: float, swept: bool, where: Array, plane_at: Array):
        self.between, self.margin, self.swept, self.where, self.plane_at = between, margin, swept, where, plane_at
        self.pair = between.pair
        self.room = sum(s.radius for s in self.pair)
        self.clouds = Clouds(between)

    def __call__(self, problem: Any, z: Array) -> None:
        chain = problem.chain
        nodes = self.clouds(z[chain.q[chain.nodes]][:, self.between.which])
        X, Y = (np.concatenate([c[self.where], c[self.where + 1]], axis=1) if self.swept else c[self.where] for c in nodes)
        found = [sshlp(x, y) for x, y in zip(X, Y, strict=True)]
        normals = np.array([r.h_normal for r in found])
        before = normals.copy()
        near = np.array([r.h - self.room < self.margin for r in found])
        k = 0
        for overlaps, group in groupby(near):
            n = len(list(group))
            if overlaps:
                through = k > 0 and k + n < len(near) and bool(before[k - 1] @ before[k + n] < 0.0)
                normals[k : k + n] = way_out(X[k : k + n], Y[k : k + n], normals[k : k + n], through)
            k += n
        above, below = (np.einsum("kpi,ki->kp", c, normals) for c in (X, Y))
        z[self.plane_at[:, :3]] = normals
        z[self.plane_at[:, 3]] = 0.5 * (above.min(axis=1) - self.pair[0].radius + below.max(axis=1) + self.pair[1].radius)


def way_out(X: Array, Y: Array, normals: Array, through: bool) -> Array:
    """The direction along which clouds X (places, points, 3), shifted as a whole, leave Y by the shortest way.

    through: they come out on another side than they went in on, so that the way is across the motion.
    """
    motion = (X[-1, -1] - Y[-1, -1]) - (X[0, 0] - Y[0, 0])
    length = float(np.linalg.norm(motion))
    tried = np.concatenate([normals, AROUND])
    if length > 1e-9:
        t = motion / length
        e = np.eye(3)[int(np.argmin(np.abs(t)))]
        u = np.cross(t, e) / np.linalg.norm(np.cross(t, e))
        angles = 2.0 * np.pi * np.arange(SIDES) / SIDES
        across = np.outer(np.cos(angles), u) + np.outer(np.sin(angles), np.cross(t, u))
        flat = normals - np.outer(normals @ t, t)
        sizes = np.linalg.norm(flat, axis=1)
        sideways = np.concatenate([flat[sizes > 1e-6] / sizes[sizes > 1e-6, None], across])
        tried = sideways if through else np.concatenate([sideways, tried])
    depth = (np.einsum("kpi,di->dkp", Y, tried).max(axis=2) - np.einsum("kpi,di->dkp", X, tried).min(axis=2)).max(axis=1)
    return np.asarray(tried[int(np.argmin(depth))])
