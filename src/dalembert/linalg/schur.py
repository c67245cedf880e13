"""S = G M^-1 G^T + E by blocks, lower half (lacoursiere2007, Alg. 18.2.2), and M + G^T X G (Alg. 18.2.3).

Products of blocks, counted exactly: sum over blocks of the number of constraints on that block's body = sum_k n_k^2 (18.12), with n_k the
number of constraints on body k; for the lower half sum_k n_k (n_k + 1) / 2. A product of r x 6 with 6 x r' takes 6 r r' multiplications.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from dalembert.kernels.linalg.schur import add_products, add_transposed_products
from dalembert.linalg.blocks import BlockJacobian, Floats, Ints, offsets, runs
from dalembert.linalg.saddle import Saddle


def count_products(g: BlockJacobian, half: bool = True) -> int:
    """Block products of the assembly, by the formula."""
    n = np.diff(g.body_first)
    return int((n * (n + 1) // 2).sum() if half else (n * n).sum())


def count_multiplications(g: BlockJacobian, half: bool = True) -> int:
    """Multiplications of these products: 6 r r' each."""
    by_body = g.heights[g.body_blocks]
    sums = np.add.reduceat(np.append(by_body, 0), g.body_first[:-1]) * (np.diff(g.body_first) > 0) if g.n_bodies else np.zeros(0)
    squares = int((sums**2).sum())
    return 6 * ((squares + int((by_body**2).sum())) // 2 if half else squares)


class SchurPattern:
    """Where the blocks of S lie; made once per structure. Blocks (i, j), sorted by i, then j; with `half` only j <= i."""

    def __init__(self, g: BlockJacobian, half: bool = True):
        self.jacobian, self.half = g, half
        counts = np.repeat(np.diff(g.body_first), np.diff(g.body_first))
        begin = np.repeat(g.body_first[:-1], np.diff(g.body_first))
        counts = np.arange(len(g.bodies)) - begin + 1 if half else counts
        i = np.repeat(g.owner[g.body_blocks], counts)
        j = g.owner[g.body_blocks[runs(begin, counts)]]
        m = g.n_constraints
        own = np.arange(m) * (m + 1)  # E may fill the diagonal
        keys, slots = np.unique(np.concatenate([own, i * m + j]), return_inverse=True)
        self.slots: Ints = np.ascontiguousarray(slots[m:])
        self.diagonal: Ints = slots[:m]
        self.i, self.j = keys // max(m, 1), keys % max(m, 1)
        heights = np.diff(g.rows)
        self.places: Ints = offsets(heights[self.i] * heights[self.j])

    @property
    def n_blocks(self) -> int:
        """Blocks that are kept."""
        return len(self.i)


@dataclass(frozen=True, eq=False)
class BlockSchur:
    """S in blocks, and the number of block products that its assembly took."""

    pattern: SchurPattern
    data: Floats
    products: int

    def to_sparse(self) -> sp.csc_array:
        """All of S as a SciPy matrix."""
        g, p = self.pattern.jacobian, self.pattern
        heights = np.diff(g.rows)
        sizes = heights[p.i] * heights[p.j]
        within = np.arange(len(self.data)) - np.repeat(p.places[:-1], sizes)
        wide = np.repeat(heights[p.j], sizes)
        row, column = np.repeat(g.rows[p.i], sizes) + within // wide, np.repeat(g.rows[p.j], sizes) + within % wide
        lower = sp.csc_array((self.data, (row, column)), shape=(g.n_rows, g.n_rows))
        if not p.half:
            return lower
        off = sp.csc_array((self.data * np.repeat(p.i != p.j, sizes), (row, column)), shape=lower.shape)
        return sp.csc_array(lower + off.T)


def assemble(saddle: Saddle, pattern: SchurPattern | None = None, half: bool = True) -> BlockSchur:
    """S = G M^-1 G^T + E"""
    g = saddle.jacobian
    found = pattern or SchurPattern(g, half)
    weighted = g.times_masses(saddle.inverse_masses)
    data = np.zeros(int(found.places[-1]))
    sizes = np.diff(g.places)
    data[runs(found.places[found.diagonal], sizes)] = saddle.compliance
    count = add_products(
        g.body_first, g.body_blocks, g.owner, g.lines, g.rows, weighted.data, g.data, 1.0, found.half, found.slots, found.places, data
    )
    return BlockSchur(found, data, int(count))


def body_matrix(saddle: Saddle, weighted: BlockJacobian | None = None) -> tuple[sp.csc_array, int]:
    """M + K^T G for K in the blocks of G (None: K = G), and the number of block products: sum over constraints of n_bodies^2."""
    g = saddle.jacobian
    counts = np.diff(g.first)
    t = np.repeat(np.arange(len(g.bodies)), counts[g.owner])
    u = runs(g.first[g.owner], counts[g.owner])
    n = g.n_bodies
    keys, slots = np.unique(np.concatenate([np.arange(n) * (n + 1), g.bodies[t] * n + g.bodies[u]]), return_inverse=True)
    blocks = np.zeros((len(keys), 6, 6))
    blocks[slots[:n]] = saddle.masses
    flat = blocks.reshape(-1)
    k = (weighted or g).data
    count = add_transposed_products(g.first, g.lines, g.rows, k, g.data, 1.0, np.ascontiguousarray(slots[n:]), flat)
    a, b = np.divmod(keys, max(n, 1))
    row = (6 * a)[:, None, None] + np.arange(6)[:, None] + np.zeros(6, dtype=np.int64)
    column = (6 * b)[:, None, None] + np.arange(6)[None, :] + np.zeros((6, 1), dtype=np.int64)
    return sp.csc_array((flat, (row.ravel(), column.ravel())), shape=(6 * n, 6 * n)), int(count)
