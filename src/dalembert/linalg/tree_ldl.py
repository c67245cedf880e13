"""Direct solution for constraints that form trees: L D L^T from the leaves to the roots, no fill, time linear in the number of bodies.

The graph has bodies and constraints as nodes (lacoursiere2007, 18.4; formulas in `kernels/linalg/tree_ldl.py`). Constraints on one body
only (held to the world) are allowed anywhere. With E = 0 the pivots exist if every joint has full rank on the body below it and
no chain is held at both ends; else the status is SINGULAR, though the matrix as a whole may be regular: see `loops`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from dalembert.errors import OptionError
from dalembert.kernels.linalg import tree_ldl as kernels
from dalembert.kernels.linalg import tree_order as at
from dalembert.kernels.status import OK, SINGULAR
from dalembert.linalg.blocks import BlockJacobian, Floats, Ints, offsets, vector
from dalembert.linalg.saddle import Saddle

#: a pivot below this share of the diagonal entry that it is left of is round-off
PIVOT_TOLERANCE = 1e-14


class Forest:
    """Spanning forest of bodies and constraints.

    queue    nodes (bodies k, constraints n + i), parents before children
    parent   block that leads to the parent, -1 for roots, -2 for constraints outside the forest
    loops    numbers of the constraints that close loops. With one_anchor the world counts as a body.
    """

    def __init__(self, g: BlockJacobian, one_anchor: bool = False):
        nodes = g.n_bodies + g.n_constraints
        queue, self.parent = np.empty(nodes, dtype=np.int64), np.empty(nodes, dtype=np.int64)
        state = np.empty(g.n_constraints, dtype=np.int64)
        count = at.span(g.n_bodies, g.first, g.bodies, g.body_first, g.body_blocks, g.owner, one_anchor, queue, self.parent, state)
        self.queue = queue[:count]
        self.loops: Ints = np.flatnonzero(state == at.LOOP)
        self.tree: Ints = np.flatnonzero(state == at.TREE)


def is_tree(g: BlockJacobian) -> bool:
    """Whether no constraint closes a loop (the world does not count as a body)."""
    return len(Forest(g).loops) == 0


def elimination_table(g: BlockJacobian, forest: Forest) -> tuple[Ints, Ints, int, int]:
    """Table and leaves for the kernels, length of the factor, number of unknowns."""
    n = g.n_bodies
    nodes = forest.queue[::-1]
    is_leaf = np.zeros(n + g.n_constraints, dtype=bool)
    is_leaf[n:] = (np.diff(g.first) == 1) & (forest.parent[n:] >= 0)
    heights = np.diff(g.rows)
    leaf = nodes[is_leaf[nodes]] - n
    leaf_body = g.bodies[g.first[leaf]]
    nodes = nodes[~is_leaf[nodes]]
    place = np.zeros(n + g.n_constraints, dtype=np.int64)
    place[nodes] = np.arange(len(nodes))
    of_body, i = nodes < n, np.maximum(nodes - n, 0)
    heights_or_0, rows_or_0, places_or_0 = (np.append(a, 0) for a in (heights, g.rows[:-1], g.places[:-1]))
    table = np.zeros((len(nodes), at.COLUMNS), dtype=np.int64)
    table[:, at.KIND] = np.where(of_body, at.BODY, at.CONSTRAINT)
    table[:, at.SIZE] = np.where(of_body, 6, heights_or_0[i])
    table[:, at.SOURCE] = np.where(of_body, 36 * nodes, places_or_0[i])
    table[:, at.RHS] = np.where(of_body, 6 * nodes, rows_or_0[i])
    table[:, at.LEAVES] = np.bincount(place[leaf_body], minlength=len(nodes))
    table[:, at.LEAF] = offsets(table[:, at.LEAVES])[:-1]
    table[:, at.LEAF_ROWS] = np.bincount(place[leaf_body], weights=heights[leaf], minlength=len(nodes))
    edge = forest.parent[nodes]
    child, t = edge >= 0, edge[edge >= 0]
    up = place[np.where(of_body[child], n + g.owner[t], g.bodies[t])]
    table[:, at.EDGE] = table[:, at.PARENT_D] = table[:, at.PARENT_Z] = -1
    table[child, at.EDGE] = 6 * g.lines[t]
    table[child, at.PARENT_SIZE] = table[up, at.SIZE]
    size, extra = table[:, at.SIZE], table[:, at.LEAF_ROWS]
    own = size * size + extra * (extra + size)
    ends = offsets(own + (size + extra) * table[:, at.PARENT_SIZE])
    table[:, at.AT_D], table[:, at.AT_Y] = ends[:-1], ends[:-1] + own
    rows = offsets(size + extra)
    table[:, at.AT_Z] = rows[:-1]
    table[child, at.PARENT_D], table[child, at.PARENT_Z] = table[up, at.AT_D], table[up, at.AT_Z]
    table[:, at.CHILDREN] = np.bincount(up, minlength=len(nodes))
    table[:, at.OLD] = -1  # the first child of a node adds to the masses or compliances, the others to what is there
    eldest = np.flatnonzero(child)[np.unique(up, return_index=True)[1]]
    table[eldest, at.OLD] = table[np.unique(up), at.SOURCE]
    by_line = leaf[np.argsort(place[leaf_body], kind="stable")]
    leaves = np.stack([6 * g.lines[g.first[by_line]], heights[by_line], g.places[by_line], g.rows[by_line]], axis=1)
    return table, np.ascontiguousarray(leaves), int(ends[-1]), int(rows[-1])


class TreeLDL:
    """Factor once per set of numbers, solve often. The structure is analysed once.

        factor = TreeLDL(saddle.jacobian)
        factor.factor(saddle)            # status; numbers may change, the structure may not
        x, y = factor.solve(b, c)

    forest: one that leaves out the constraints that close loops; these then take no part and get y = 0.
    """

    def __init__(self, jacobian: BlockJacobian, forest: Forest | None = None):
        found = forest or Forest(jacobian)
        if forest is None and len(found.loops):
            raise OptionError(
                f"tree LDL^T: constraint {found.loops[0]} closes a loop ({len(found.loops)} in all); use dalembert.linalg.solve."
            )
        self.jacobian = jacobian
        self.table, self.leaves, length, unknowns = elimination_table(jacobian, found)
        self.f, self.slack, self.z = np.zeros(length), np.zeros(unknowns), np.zeros(unknowns)
        self.status = SINGULAR

    @property
    def blocks_off_diagonal(self) -> int:
        """Blocks of L below the diagonal: one per node that is not a root."""
        return int((self.table[:, at.EDGE] >= 0).sum()) + len(self.leaves)

    @property
    def numbers(self) -> int:
        """Numbers that the factor keeps."""
        return len(self.f)

    def factor(self, saddle: Saddle, tol: float = PIVOT_TOLERANCE) -> int:
        """Factor [M -G^T; G E]; OK or SINGULAR."""
        m, g, e = saddle.masses.reshape(-1), saddle.jacobian.data, saddle.compliance
        self.status = int(kernels.factor(self.table, self.leaves, m, g, e, self.f, self.slack, tol))
        return self.status

    def solve(self, b: npt.ArrayLike, c: npt.ArrayLike) -> tuple[Floats, Floats]:
        """x, y"""
        if self.status != OK:
            raise OptionError("tree LDL^T: the matrix has not been factored, or is singular.")
        b, c = vector("b", b, 6 * self.jacobian.n_bodies), vector("c", c, self.jacobian.n_rows)
        x, y = np.zeros_like(b), np.zeros_like(c)
        kernels.solve(self.table, self.leaves, self.f, b, 0, c, 0, self.z, x, 0, y, 0)
        return x, y
