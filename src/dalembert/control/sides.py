"""The two sides of a pair of solids as expressions: seen from the nearest link that carries both, of the coordinates between them alone.

Hands of a robot are seen from its chest, whatever the chest does: rows of the pair, and planes between them, are in the chest's frame.
What moves in the world, or on machines of its own, is seen from the world.
"""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from dalembert.arrays import Array
from dalembert.control.obstacles import Solid
from dalembert.lagrangian.charts import PRIMITIVE
from dalembert.model.parts import WORLD

ROUNDED = 1e-8  # of 1, under the root of the reach of a disc seen along its axis: outwards by 1e-4 of its radius at most

Pair = tuple[Solid, Solid]


class Between:
    """How the owners of a pair are seen from the link `home` (-1: the world). which: coordinates of the joints between them."""

    def __init__(self, machine: Any, pair: Pair):
        self.pair, self.formulas, self.tree = pair, machine.formulas, machine.formulas.tree
        lines = [self._line(s.owner) for s in pair]
        self.home = next(k for k in lines[0] if k in lines[1])
        self.ways = [line[: line.index(self.home)] for line in lines]
        links = [self.tree.links[k] for k in sorted({k for way in self.ways for k in way})]
        self.which = np.array([i for link in links for i in range(link.q_at, link.q_at + PRIMITIVE[link.kind].nq)], dtype=int)
        self._rest = ca.DM(machine.system.neutral())

    def _line(self, owner: str) -> list[int]:
        """Links from that of an owner down to the world."""
        k = -1 if owner == WORLD else self.tree.places[owner].link
        line = [k]
        while k >= 0:
            k = self.tree.links[k].parent
            line.append(k)
        return line

    def whole(self, few: Any) -> Any:
        """q of those coordinates; the others do not count."""
        q = ca.SX(self._rest)
        for i, k in enumerate(self.which):
            q[int(k)] = few[i]
        return q

    def pose(self, q: Any, side: int) -> tuple[Any, Any]:
        """(R, x) of an owner, seen from home."""
        owner, zero = self.pair[side].owner, ca.SX.zeros(self.formulas.nv)
        if owner == WORLD:
            return ca.SX.eye(3), ca.SX.zeros(3)
        place = self.tree.places[owner]
        R, x = ca.SX(ca.DM(place.R)), ca.SX(ca.DM(place.p))
        for k in self.ways[side]:
            link = self.tree.links[k]
            R_j, p_j, _, _ = self.formulas._joint(link, q, zero)
            R_t = ca.sparsify(ca.DM(link.R_tree))
            R, x = R_t @ R_j @ R, ca.DM(link.p_tree) + R_t @ (p_j + R_j @ x)
        return R, x

    def symbols(self, ends: int) -> list[Any]:
        """Symbols of the coordinates at one node or two."""
        return [ca.SX.sym(f"q{i}", len(self.which)) for i in range(ends)]

    def index(self, chain: Any, where: Array, ends: int) -> Array:
        """Their places among the variables, (places, ends x coordinates)."""
        return np.concatenate([chain.q[chain.nodes[where + i]][:, self.which] for i in range(ends)], axis=1)


class Sides:
    """The solids of a pair at q, as expressions of the poses (R, x) of their owners."""

    def __init__(self, between: Between, q: Any):
        self.pair = between.pair
        self.poses = [between.pose(q, side) for side in (0, 1)]

    def heights(self, side: int, alpha: Any) -> Any:
        """alpha . x_i of all points: those of the body along R^T alpha."""
        R, x = self.poses[side]
        return ca.DM(self.pair[side].points) @ (R.T @ alpha) + ca.dot(alpha, x)

    def reach(self, side: int, alpha: Any) -> Any:
        """|E^T R^T alpha|, less what is a constant."""
        growth = self.pair[side].growth
        if np.ndim(growth) == 0:
            return 0.0
        grown = ca.DM(np.asarray(growth).T) @ (self.poses[side][0].T @ alpha)
        small = ROUNDED * float(np.linalg.norm(growth, 2)) ** 2
        return ca.sqrt(ca.dot(grown, grown) + small)

    def centre(self, side: int) -> Any:
        """The first point, seen from home."""
        R, x = self.poses[side]
        return x + R @ ca.DM(self.pair[side].points[0])


class Swept:
    """The solids of a pair at a node, or at both ends of an interval and, with arcs, in its middle."""

    def __init__(self, between: Between, ends: list[Any], arcs: bool):
        whole = [between.whole(few) for few in ends]
        self.between, self.ends = between, [Sides(between, q) for q in whole]
        chart, bent = between.formulas.chart, arcs and len(ends) == 2
        self.middle = Sides(between, chart.middle(whole[0], chart.lift(*whole))) if bent else None

    def along(self, what: Any, moves: bool = True) -> list[Any]:
        """Of a function of sides, linear in points: at the ends, and at the third points 2 x_m - (x_0 + x_1)/2."""
        found = [what(sides) for sides in (self.ends if moves else self.ends[:1])]
        if self.middle is not None and moves:
            found.append(2 * what(self.middle) - 0.5 * (found[0] + found[1]))
        return found

    def rows(self, side: int, alpha: Any, a: Any = 0.0) -> Any:
        """How far all points of a side, grown, are beyond the plane: of the first solid above it, of the second below."""
        sign, moves = (1.0, -1.0)[side], bool(self.between.ways[side])
        heights = self.along(lambda sides: sides.heights(side, alpha), moves)
        places = [*self.ends, *([self.middle] if self.middle is not None else [])]
        return ca.vertcat(*(sign * (h - a) - sides.reach(side, alpha) for h, sides in zip(heights, places, strict=False)))


class Clouds:
    """Points of both solids of a pair at nodes q (n, nq), seen from home: (n, points, 3) each."""

    def __init__(self, between: Between):
        few = between.symbols(1)[0]
        sides, clouds = Sides(between, between.whole(few)), []
        for s, (R, x) in zip(between.pair, sides.poses, strict=True):
            clouds.append(ca.densify(ca.repmat(x, 1, len(s.cloud)) + R @ ca.DM(s.cloud.T)))
        self._clouds = ca.Function("clouds", [few], clouds)

    def __call__(self, few: Array) -> list[Array]:
        found = self._clouds.map(len(few))(few.T)
        return [np.array(x).T.reshape(len(few), -1, 3) for x in found]
