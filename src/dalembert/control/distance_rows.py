"""Distances as rows of a plan, instead of planes as variables.

balls (form="distance")   the centres c of two balls move straight in an interval, d = c1 - c2 from d0 to d1:  |d(s)|^2 is a quadratic
                          polynomial with the coefficients of Bernstein |d0|^2, d0 . d1, |d1|^2, and stays above r^2 where these do:

                              d0 . d1 >= r^2,   d1 . d1 >= r^2          r = r1 + r2 + margin

                          No variables; a bit more than is needed, |d1 - d0|^2/(8 r). On arcs (control/separation.py) d moves on a
                          parabola by way of a third point c, with five coefficients |d0|^2, d0 . c, (d0 . d1 + 2 |c|^2)/3, c . d1, |d1|^2.
                          At d = 0 and along the motion a row has no push to the side: a guess through the middle of an obstacle needs
                          guess="random". Other pairs: planes.

signed distance (form="lp")   h(q) >= margin with h of `dal.contact.sshlp`, whose linear program with beta = alpha has the value h. Its
                          subgradient moves the witnesses x, y = sums of vertices with fixed weights, along a fixed alpha (Leyendecker
                          et al. 4.1):  dh = alpha . (dx - dy).  IPOPT is given h, this subgradient and, as the second derivative,
                          that of alpha . (x(q) - y(q)): what alpha and the weights themselves change is left out, and h has kinks where
                          the nearest features change. So this converges slowly or not at all where faces slide on each other, and is here
                          to compare.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import casadi as ca
import numpy as np
from scipy.optimize import nnls

from dalembert.arrays import Array
from dalembert.contact.separation import sshlp
from dalembert.control.blocks import Block
from dalembert.control.obstacles import Solid
from dalembert.control.separation import separate
from dalembert.control.sides import Between, Clouds, Pair, Sides, Swept
from dalembert.errors import UnsupportedError

SUPPORT = 1e-7  # m: vertices so near to a supporting plane may carry a witness
WITNESS = 4  # numbers of a witness at one end of an interval: weight and weighted point


def balls_apart(made: Any, pairs: Sequence[Pair], margin: float, swept: bool, places: Any, arcs: bool = True) -> None:
    """Rows of balls; planes of all other pairs."""
    for pair in pairs:
        if not all(s.ball for s in pair):
            separate(made, [pair], margin, swept, places, arcs)
            continue
        made.apart.append((pair[0].exact, pair[1].exact))
        where = np.asarray(places, dtype=int)
        r = pair[0].radius + pair[1].radius + margin
        between = Between(made.machine, pair)
        ends = between.symbols(1 + swept)
        rows = ca.vertcat(*_coefficients(Swept(between, ends, arcs))) / (2 * r)
        name, index = f"{pair[0].name} apart from {pair[1].name}", between.index(made.chain, where, 1 + swept)
        words = [f"{'step' if swept else 'node'} {k}" for k in where]
        names = [name] * rows.numel()
        lower = np.full((len(where), rows.numel()), 0.5 * r)
        lower[np.isin(where - 1, where) & swept, 0] = -np.inf  # the first end is the second one of the interval before
        made.add(Block(name, ca.vertcat(*ends), index, rows=rows, lower=lower, upper=np.inf, names=names, places=words))


def _coefficients(swept: Swept) -> list[Any]:
    """Of |d|^2 at a node, or in an interval, the one of its first end first."""
    d = swept.along(lambda sides: sides.centre(0) - sides.centre(1))
    first, last = d[0], d[min(1, len(d) - 1)]
    if len(d) < 3:
        return [ca.dot(first, first), *([ca.dot(first, last), ca.dot(last, last)] if len(d) == 2 else [])]
    c = d[2]
    inner = [ca.dot(first, c), (ca.dot(first, last) + 2 * ca.dot(c, c)) / 3, ca.dot(c, last)]
    return [ca.dot(first, first), *inner, ca.dot(last, last)]


def keep_apart(made: Any, pairs: Sequence[Pair], margin: float, swept: bool, places: Any, arcs: bool = False) -> None:
    """Rows of the signed distance, of straight ways."""
    for pair in pairs:
        for s in pair:
            if s.half_space is None and np.ndim(s.growth):
                raise UnsupportedError(f"avoid: {s.name} is a {s.shape.kind}, which form='lp' does not know; take form='planes'.")
        if any(s.half_space is not None for s in pair):
            separate(made, [pair], margin, swept, places, arcs)
        else:
            _signed(made, pair, margin, swept, np.asarray(places, dtype=int))


def _signed(made: Any, pair: Pair, margin: float, swept: bool, where: Array) -> None:
    made.apart.append((pair[0].exact, pair[1].exact))
    between = Between(made.machine, pair)
    ends = between.symbols(1 + swept)
    alpha, witness = ca.SX.sym("alpha", 3), [ca.SX.sym("w", WITNESS, len(ends)) for _ in pair]
    value = ca.SX(0)
    for i, few in enumerate(ends):
        for (R, x), w, sign in zip(Sides(between, between.whole(few)).poses, witness, (1.0, -1.0), strict=True):
            value += sign * ca.dot(alpha, w[0, i] * x + R @ w[1:, i])
    name = f"{pair[0].name} apart from {pair[1].name}"
    live = Witnesses(between, len(ends), len(where))
    p = ca.vertcat(alpha, *(ca.vec(w) for w in witness))
    words = [f"{'step' if swept else 'node'} {k}" for k in where]
    lower, index, x = margin + pair[0].radius + pair[1].radius, between.index(made.chain, where, 1 + swept), ca.vertcat(*ends)
    made.add(Block(name, x, index, rows=value, p=p, live=live, lower=lower, upper=np.inf, names=[name], places=words))


class Witnesses(ca.Callback):  # type: ignore[misc]
    """(q of the ends, places) -> (alpha, weights and weighted points of both solids at both ends, places)."""

    def __init__(self, between: Between, ends: int, places: int):
        ca.Callback.__init__(self)
        self.pair, self.ends, self.places, self.nq = between.pair, ends, places, len(between.which)
        self.size = 3 + 2 * WITNESS * ends
        self.clouds = Clouds(between)
        self._last: tuple[Array, Array] | None = None
        self.construct("witnesses", {})

    def get_sparsity_in(self, i: int) -> Any:
        return ca.Sparsity.dense(self.ends * self.nq, self.places)

    def get_sparsity_out(self, i: int) -> Any:
        return ca.Sparsity.dense(self.size, self.places)

    def has_jacobian(self) -> bool:
        return True

    def get_jacobian(self, name: str, inputs: Any, outputs: Any, options: Any) -> Any:
        """None: what it returns is held."""
        x, y = ca.MX.sym("x", self.get_sparsity_in(0)), ca.MX.sym("y", self.get_sparsity_out(0))
        return ca.Function(name, [x, y], [ca.MX(y.numel(), x.numel())], inputs, outputs)

    def eval(self, arguments: Any) -> list[Any]:
        x = np.array(arguments[0])
        if self._last is None or not np.array_equal(self._last[0], x):
            self._last = x, self._found(x)
        return [self._last[1]]

    def _found(self, x: Array) -> Array:
        q = x.T.reshape(self.places, self.ends, self.nq)
        if not np.isfinite(q).all():
            return np.full((self.size, self.places), np.nan)
        X, Y = (c.reshape(self.places, self.ends, -1, 3) for c in self.clouds(q.reshape(-1, self.nq)))
        out = np.empty((self.places, self.size))
        for k in range(self.places):
            found = sshlp(X[k].reshape(-1, 3), Y[k].reshape(-1, 3))
            alpha = found.h_normal
            out[k, :3] = alpha
            for side, (points, s, w) in enumerate(((X[k], self.pair[0], found.point1), (Y[k], self.pair[1], found.point2))):
                first = 3 + side * WITNESS * self.ends
                out[k, first : first + WITNESS * self.ends] = _weights(points, s, w, alpha if side == 0 else -alpha)
        return out.T


def _weights(points: Array, s: Solid, witness: Array, alpha: Array) -> Array:
    """Weight and weighted point of the body at each end, of the vertices that make up a witness: least squares with weights >= 0."""
    flat = points.reshape(-1, 3)
    heights = flat @ alpha
    near = np.flatnonzero(heights <= heights.min() + SUPPORT)
    weights = np.zeros(len(flat))
    if len(near) == 1:
        weights[near] = 1.0
    else:
        size = 1.0 + np.abs(flat).max()
        weights[near] = nnls(np.vstack([flat[near].T, np.full(len(near), size)]), np.append(witness, size))[0]
        weights /= weights.sum()
    by_end = weights.reshape(len(points), -1)
    return np.concatenate([np.append(w.sum(), w @ s.points) for w in by_end])


__all__ = ["balls_apart", "keep_apart"]
