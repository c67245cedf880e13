"""Nonlinear programs made of blocks: a few expressions that hold in many places.

    minimise  sum over blocks and places of c(x, p)    subject to  lower <= r(x, p) <= upper,   least <= z <= most

x are the variables of one place, gathered from the vector z of all of them, p numbers of the place, gathered from the parameters of the
program. One place is differentiated (sparse Jacobian, upper triangle of the Hessian of s c + lam . r), mapped over all of them, and
scattered: building takes as long for one place as for a thousand.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import casadi as ca
import numpy as np

Index = Any  # an array of places


@dataclass
class Block:
    """Cost and rows of one place as expressions of x (n) and p, and where they hold.

    index (places, n): which entries of z are x. numbers (places, len(p)): which entries of the parameters are p.
    lower, upper (places, rows): bounds of the rows. names: of the rows. places: where, in words.
    live: a function of x (n, places) -> p (len(p), places) instead of numbers: p then moves with x, but is not differentiated.
    """

    name: str
    x: Any
    index: Index
    cost: Any = 0.0
    rows: Any = None
    p: Any = None
    numbers: Index | None = None
    lower: Any = 0.0
    upper: Any = 0.0
    names: Sequence[str] = ()
    places: Sequence[str] = ()
    live: Any = None
    _made: dict[str, Any] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        self.index = np.atleast_2d(np.asarray(self.index, dtype=int))
        self.count, n = self.index.shape
        if n != self.x.numel():
            raise ValueError(f"block {self.name}: index has {n} columns for {self.x.numel()} variables")
        self.rows = ca.SX(0, 1) if self.rows is None else ca.densify(ca.SX(self.rows))
        self.p = ca.SX(0, 1) if self.p is None else self.p
        self.numbers = np.zeros((self.count, 0), dtype=int) if self.numbers is None else np.atleast_2d(np.asarray(self.numbers, dtype=int))
        self.size = self.rows.numel()
        self.lower, self.upper = (np.array(np.broadcast_to(b, (self.count, self.size)), dtype=float) for b in (self.lower, self.upper))
        self.names = tuple(self.names) or tuple(f"{self.name}[{i}]" for i in range(self.size))
        self.places = tuple(self.places) or tuple(f"place {k}" for k in range(self.count))

    def functions(self) -> dict[str, Any]:
        """Cost, rows, gradient of the cost, entries of the Jacobian, entries of the upper triangle of the Hessian."""
        if not self._made:
            x, p, cost, rows = self.x, self.p, ca.SX(self.cost), self.rows
            s, lam = ca.SX.sym("s"), ca.SX.sym("lam", self.size)
            gradient, jacobian = ca.gradient(cost, x), ca.jacobian(rows, x)
            hessian = ca.triu(ca.hessian(s * cost + ca.dot(lam, rows), x)[0])
            self._made = {
                "cost": ca.Function("cost", [x, p], _lean(cost)),
                "rows": ca.Function("rows", [x, p], _lean(rows)),
                "gradient": ca.Function("gradient", [x, p], _lean(ca.densify(gradient))),
                "jacobian": ca.Function("jacobian", [x, p], _lean(ca.densify(_entries(jacobian)))),
                "hessian": ca.Function("hessian", [x, p, s, lam], _lean(ca.densify(_entries(hessian)))),
                "jacobian sparsity": jacobian.sparsity().get_triplet(),
                "hessian sparsity": hessian.sparsity().get_triplet(),
            }
        return self._made


def _entries(matrix: Any) -> Any:
    return ca.vertcat(*matrix.nonzeros()) if matrix.nnz() else ca.SX(0, 1)


def _lean(*expressions: Any) -> list[Any]:
    """The expressions with common parts computed once."""
    sizes = [e.shape for e in expressions]
    whole = ca.cse(ca.vertcat(*(ca.densify(ca.vec(e)) for e in expressions)))
    ends = np.cumsum([r * c for r, c in sizes])
    return [ca.reshape(whole[end - r * c : end], r, c) for end, (r, c) in zip(ends, sizes, strict=True)]


class Assembly:
    """All blocks of a program as functions of z and the parameters, with the places of their derivatives."""

    def __init__(self, variables: int, parameters: int, blocks: Sequence[Block]):
        self.blocks = [b for b in blocks if b.count]
        self.z, self.p = ca.MX.sym("z", variables), ca.MX.sym("p", parameters)
        self.rows = sum(b.count * b.size for b in self.blocks)
        self.starts = np.cumsum([0, *(b.count * b.size for b in self.blocks)])

    def _gathered(self, block: Block) -> tuple[Any, Any]:
        x = ca.reshape(self.z[block.index.ravel().tolist()], block.index.shape[1], block.count)
        if block.live is not None:
            return x, block.live(x)
        numbers = block.numbers
        assert numbers is not None
        p = ca.reshape(self.p[numbers.ravel().tolist()], numbers.shape[1], block.count) if numbers.size else ca.MX(0, block.count)
        return x, p

    def _mapped(self, block: Block, what: str, *more: Any) -> Any:
        return block.functions()[what].map(block.count)(*self._gathered(block), *more)

    def value(self) -> tuple[Any, Any]:
        """Cost and rows."""
        costs = [ca.sum2(self._mapped(b, "cost")) for b in self.blocks if not ca.SX(b.cost).is_constant()]
        fixed = sum(float(ca.SX(b.cost)) * b.count for b in self.blocks if ca.SX(b.cost).is_constant())
        return sum(costs, ca.MX(fixed)), ca.vertcat(*(ca.vec(self._mapped(b, "rows")) for b in self.blocks))

    def gradient(self) -> Any:
        """Of the cost, dense."""
        total = ca.MX.zeros(self.z.numel())
        for b in self.blocks:
            if not ca.SX(b.cost).is_constant():
                entries = ca.vec(self._mapped(b, "gradient"))
                total += _summed(b.index.ravel(), self.z.numel()) @ entries
        return total

    def jacobian(self) -> Any:
        """Of the rows, sparse."""
        entries, at_row, at_column = [], [], []
        for b, start in zip(self.blocks, self.starts, strict=False):
            if b.size:
                row, column = (np.array(s, dtype=int) for s in b.functions()["jacobian sparsity"])
                entries.append(ca.vec(self._mapped(b, "jacobian")))
                at_row.append((start + b.size * np.arange(b.count)[:, None] + row[None, :]).ravel())
                at_column.append(b.index[:, column].ravel())
        return _sparse(entries, at_row, at_column, self.rows, self.z.numel())

    def hessian(self, s: Any, lam: Any) -> Any:
        """Upper triangle of the Hessian of s cost + lam . rows."""
        entries, at_row, at_column = [], [], []
        for b, start in zip(self.blocks, self.starts, strict=False):
            row, column = (np.array(x, dtype=int) for x in b.functions()["hessian sparsity"])
            if len(row) == 0:
                continue
            own = ca.reshape(lam[start : start + b.count * b.size], b.size, b.count)
            entries.append(ca.vec(self._mapped(b, "hessian", ca.repmat(s, 1, b.count), own)))
            first, second = b.index[:, row].ravel(), b.index[:, column].ravel()
            at_row.append(np.minimum(first, second))
            at_column.append(np.maximum(first, second))
        n = self.z.numel()
        return _sparse(entries, at_row, at_column, n, n)


def _summed(index: Index, n: int) -> Any:
    """The matrix that adds entry k of a vector to entry index[k] of one of length n."""
    return ca.DM.triplet(index.tolist(), list(range(len(index))), ca.DM.ones(len(index)), n, len(index))


def _sparse(entries: list[Any], rows: list[Index], columns: list[Index], m: int, n: int) -> Any:
    """The sparse matrix of entries, those of one place added."""
    if not entries:
        return ca.MX(m, n)
    row, column = np.concatenate(rows), np.concatenate(columns)
    places, inverse = np.unique(column * m + row, return_inverse=True)  # by columns, as CasADi keeps them
    sparsity = ca.Sparsity.triplet(m, n, (places % m).tolist(), (places // m).tolist())
    return ca.MX(sparsity, _summed(inverse, len(places)) @ ca.vertcat(*entries))
