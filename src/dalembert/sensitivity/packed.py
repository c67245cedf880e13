"""Several matrices as one CasADi function of arrays, called without conversions."""

from __future__ import annotations

import threading
from typing import Any

import casadi as ca
import numpy as np

from dalembert.arrays import Array


class Part:
    """One matrix among the numbers that a function writes: those that are not 0 by structure, column by column."""

    def __init__(self, name: str, expression: Any, start: int):
        x = ca.SX(expression)
        self.name, self.shape = name, x.shape
        self.span = slice(start, start + x.nnz())
        rows, columns = x.sparsity().get_triplet()
        self.dense = x.nnz() == x.numel()
        self.at = np.array(rows, dtype=int) + x.shape[0] * np.array(columns, dtype=int)

    def of(self, numbers: Array) -> Array:
        """The matrix."""
        if self.dense:
            return numbers[self.span].reshape(self.shape[::-1]).T
        flat = np.zeros(self.shape[0] * self.shape[1])
        flat[self.at] = numbers[self.span]
        return flat.reshape(self.shape[::-1]).T


class Packed:
    """(name: matrix) of expressions; called with arrays, it gives arrays of these shapes. Threads have buffers of their own.

    halves: matrices whose upper and lower half have names of their own.
    """

    def __init__(self, name: str, inputs: list[Any], outputs: dict[str, Any], halves: dict[str, tuple[str, str]] | None = None):
        self._halves = halves or {}
        self._parts, self.size = list[Part](), 0
        for key, expression in outputs.items():
            self._parts.append(Part(key, expression, self.size))
            self.size = self._parts[-1].span.stop
        numbers = ca.vertcat(*(ca.vec(ca.SX(x)).nz[:] for x in outputs.values() if ca.SX(x).nnz()))
        self.function = ca.Function(name, inputs, [ca.densify(numbers)])
        self._local = threading.local()

    def __call__(self, *values: Any) -> dict[str, Array]:
        if not hasattr(self._local, "call"):
            self._local.buffer, self._local.call = self.function.buffer()
        arrays, out = [np.array(x, dtype=np.float64) for x in values], np.empty(self.size)
        for i, array in enumerate(arrays):
            self._local.buffer.set_arg(i, array.data)
        self._local.buffer.set_res(0, out.data)
        self._local.call()
        found = {part.name: part.of(out) for part in self._parts}
        for key, (upper, lower) in self._halves.items():
            whole = found.pop(key)
            found[upper], found[lower] = whole[: len(whole) // 2], whole[len(whole) // 2 :]
        return found
