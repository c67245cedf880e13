"""Jacobians of constraints in blocks: one r x 6 block for each body that a constraint touches (lacoursiere2007, 18.1-13, tables 18.1-3)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from dalembert.errors import OptionError
from dalembert.kernels.linalg import blocks as kernels

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def offsets(sizes: npt.ArrayLike) -> Ints:
    """0, s_0, s_0 + s_1, ..."""
    return np.concatenate([[0], np.cumsum(np.asarray(sizes, dtype=np.int64))]).astype(np.int64)


def runs(starts: Ints, sizes: Ints) -> Ints:
    """All of start, start + 1, ..., start + size - 1, one run after the other."""
    return np.repeat(starts - offsets(sizes)[:-1], sizes) + np.arange(int(sizes.sum()))


@dataclass(frozen=True, eq=False)
class BlockJacobian:
    """G, rows of constraints by bodies of six coordinates.

    n_bodies   number of bodies
    rows       (m + 1,) first row of each constraint
    first      (m + 1,) first block of each constraint
    bodies     (blocks,) body of each block; no body twice in one constraint, at least one
    data       flat: the blocks one after the other, each r x 6 by rows

    Make one by `from_blocks`, `from_pairs` or `from_sparse`.
    """

    n_bodies: int
    rows: Ints
    first: Ints
    bodies: Ints
    data: Floats

    def __post_init__(self) -> None:
        if np.any(np.diff(self.rows) < 1) or np.any(np.diff(self.first) < 1):
            raise OptionError("block Jacobian: every constraint needs at least one row and one body.")
        if self.bodies.size and not (self.bodies.min() >= 0 and self.bodies.max() < self.n_bodies):
            raise OptionError(f"block Jacobian: bodies {self.bodies.min()} ... {self.bodies.max()} given, 0 ... {self.n_bodies - 1} exist.")
        pairs = self.owner * self.n_bodies + self.bodies
        if len(np.unique(pairs)) < len(pairs):
            raise OptionError("block Jacobian: a constraint names a body twice; add the two blocks.")
        expected = 6 * int(self.heights.sum())
        if self.data.shape != (expected,):
            raise OptionError(f"block Jacobian: {self.data.size} numbers given, the blocks have {expected}.")

    # making --------------------------------------------------------------------------------------------------------------------

    @staticmethod
    def from_blocks(n_bodies: int, constraints: Iterable[tuple[Sequence[int], Sequence[npt.ArrayLike]]]) -> BlockJacobian:
        """Constraints as (bodies, blocks): each block r x 6, r the same within a constraint."""
        sizes, counts, bodies = [], [], []
        data: list[Floats] = []
        for i, (who, blocks) in enumerate(constraints):
            found = [np.atleast_2d(np.asarray(block, dtype=float)) for block in blocks]
            shapes = {block.shape for block in found}
            if len(found) != len(who) or len(shapes) != 1 or found[0].shape[1] != 6:
                raise OptionError(
                    f"constraint {i}: blocks {sorted(shapes)} for bodies {list(who)} given, one r x 6 block per body expected."
                )
            sizes.append(len(found[0]))
            counts.append(len(who))
            bodies += list(who)
            data += [block.ravel() for block in found]
        flat = np.concatenate(data) if data else np.zeros(0)
        return BlockJacobian(n_bodies, offsets(sizes), offsets(counts), np.asarray(bodies, dtype=np.int64), flat)

    @staticmethod
    def from_pairs(n_bodies: int, bodies: npt.ArrayLike, blocks: npt.ArrayLike) -> BlockJacobian:
        """Constraints between two bodies, all of r rows: bodies (m, 2), blocks (m, 2, r, 6). Body -1 is the world; its block is dropped."""
        who, values = np.asarray(bodies, dtype=np.int64), np.asarray(blocks, dtype=float)
        if who.ndim != 2 or who.shape[1] != 2 or values.ndim != 4 or values.shape != (len(who), 2, values.shape[2], 6):
            raise OptionError(f"pairs: bodies {who.shape} and blocks {values.shape} given, (m, 2) and (m, 2, r, 6) expected.")
        kept = who != -1
        rows = values.shape[2] * np.arange(len(who) + 1)
        return BlockJacobian(n_bodies, rows, offsets(kept.sum(1)), who[kept], np.ascontiguousarray(values[kept]).ravel())

    @staticmethod
    def from_sparse(matrix: sp.sparray | sp.spmatrix, rows: npt.ArrayLike | None = None) -> BlockJacobian:
        """From a matrix with 6 columns per body. rows: first row of each constraint and the end; None: each row is a constraint."""
        csr = sp.csr_array(matrix)
        ends = np.arange(csr.shape[0] + 1) if rows is None else np.asarray(rows, dtype=np.int64)
        if csr.shape[1] % 6 or len(ends) == 0 or ends[0] != 0 or ends[-1] != csr.shape[0]:
            raise OptionError(
                f"sparse matrix {csr.shape}, rows {ends[:1]} ... {ends[-1:]}: six columns per body, rows from 0 to the last expected."
            )
        coo = csr.tocoo()
        n = csr.shape[1] // 6
        line, column, values = coo.row.astype(np.int64), coo.col.astype(np.int64), np.asarray(coo.data, dtype=float)
        owner = np.searchsorted(ends, line, side="right") - 1
        keys, block = np.unique(owner * n + column // 6, return_inverse=True)
        counts = np.bincount(keys // max(n, 1), minlength=len(ends) - 1)
        heights = np.diff(ends)[keys // max(n, 1)]
        data = np.zeros(6 * int(heights.sum()))
        np.add.at(data, 6 * (offsets(heights)[block] + line - ends[owner]) + column % 6, values)
        return BlockJacobian(n, ends.astype(np.int64), offsets(counts), keys % max(n, 1), data)

    def subset(self, chosen: npt.ArrayLike) -> BlockJacobian:
        """The constraints with these numbers, in this order, on the same bodies."""
        which = np.asarray(chosen, dtype=np.int64)
        counts = np.diff(self.first)[which]
        blocks = runs(self.first[which], counts)
        numbers = runs(6 * self.lines[blocks], 6 * self.heights[blocks])
        return BlockJacobian(self.n_bodies, offsets(np.diff(self.rows)[which]), offsets(counts), self.bodies[blocks], self.data[numbers])

    def with_data(self, data: npt.ArrayLike) -> BlockJacobian:
        """The same structure with other numbers."""
        return BlockJacobian(self.n_bodies, self.rows, self.first, self.bodies, np.ascontiguousarray(data, dtype=float).ravel())

    # structure -----------------------------------------------------------------------------------------------------------------

    @property
    def n_constraints(self) -> int:
        """Number of constraints."""
        return len(self.rows) - 1

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.rows[-1])

    @cached_property
    def owner(self) -> Ints:
        """Constraint of each block."""
        return np.repeat(np.arange(self.n_constraints), np.diff(self.first))

    @cached_property
    def heights(self) -> Ints:
        """Rows of each block."""
        return np.diff(self.rows)[self.owner]

    @cached_property
    def lines(self) -> Ints:
        """First line of six numbers of each block in `data`."""
        return offsets(self.heights)[:-1]

    @cached_property
    def places(self) -> Ints:
        """Where the r x r block of each constraint begins in a flat array of such blocks, and the end."""
        return offsets(np.diff(self.rows) ** 2)

    @cached_property
    def body_blocks(self) -> Ints:
        """Blocks sorted by body, then by constraint."""
        return np.argsort(self.bodies, kind="stable").astype(np.int64)

    @cached_property
    def body_first(self) -> Ints:
        """(n + 1,) where the blocks of each body begin in `body_blocks`."""
        return offsets(np.bincount(self.bodies, minlength=self.n_bodies))

    @cached_property
    def entries(self) -> tuple[Ints, Ints]:
        """Row and column of each number in `data`."""
        line = runs(self.rows[self.owner], self.heights)
        columns = np.repeat(6 * self.bodies, self.heights)[:, None] + np.arange(6)
        return np.repeat(line, 6), columns.ravel()

    # products ------------------------------------------------------------------------------------------------------------------

    def multiply(self, x: npt.ArrayLike, alpha: float = 1.0, beta: float = 0.0, out: Floats | None = None) -> Floats:
        """y <- alpha G x + beta y; `out` is y."""
        y = np.zeros(self.n_rows) if out is None else out
        kernels.multiply(
            self.first, self.bodies, self.lines, self.rows, self.data, float(alpha), vector("x", x, 6 * self.n_bodies), float(beta), y
        )
        return y

    def multiply_transposed(self, y: npt.ArrayLike, alpha: float = 1.0, beta: float = 0.0, out: Floats | None = None) -> Floats:
        """x <- alpha G^T y + beta x; `out` is x."""
        x = np.zeros(6 * self.n_bodies) if out is None else out
        kernels.multiply_transposed(
            self.first, self.bodies, self.lines, self.rows, self.data, float(alpha), vector("y", y, self.n_rows), float(beta), x
        )
        return x

    def times_masses(self, masses: Floats) -> BlockJacobian:
        """G diag(masses), in the same blocks. masses: (n, 6, 6), for instance inverse masses."""
        out = np.zeros_like(self.data)
        kernels.times_masses(self.first, self.bodies, self.lines, self.rows, self.data, block_masses(masses).ravel(), 1.0, 0.0, out)
        return self.with_data(out)

    def to_sparse(self) -> sp.csr_array:
        """(rows, 6 n) as a SciPy matrix."""
        return sp.csr_array((self.data, self.entries), shape=(self.n_rows, 6 * self.n_bodies))


def vector(name: str, x: npt.ArrayLike, size: int) -> Floats:
    """A contiguous vector of a given length."""
    found = np.ascontiguousarray(x, dtype=float).ravel()
    if found.shape != (size,):
        raise OptionError(f"{name}: {found.size} numbers given, {size} expected.")
    return found


def block_masses(masses: npt.ArrayLike) -> Floats:
    """(n, 6, 6) from (n, 6, 6) or, diagonal, (n, 6)."""
    found = np.asarray(masses, dtype=float)
    if found.ndim == 2 and found.shape[1] == 6:
        found = found[:, :, None] * np.eye(6)
    if found.ndim != 3 or found.shape[1:] != (6, 6):
        raise OptionError(f"masses: shape {found.shape} given, (n, 6, 6) or (n, 6) expected.")
    return np.ascontiguousarray(found)


def multiply_masses(masses: Floats, x: npt.ArrayLike, alpha: float = 1.0, beta: float = 0.0, out: Floats | None = None) -> Floats:
    """y <- alpha M x + beta y; `out` is y."""
    y = np.zeros(6 * len(masses)) if out is None else out
    kernels.multiply_blocks(np.ascontiguousarray(masses).ravel(), 6, float(alpha), vector("x", x, 6 * len(masses)), float(beta), y)
    return y
