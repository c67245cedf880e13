"""From the functions that define a system to its `Formulas`: shapes are checked, parts taken apart."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from dalembert.arrays import Array
from dalembert.errors import ModelError
from dalembert.lagrangian.formulas import Formulas, function_of
from dalembert.lagrangian.reading import Params, check_numbers, read

if TYPE_CHECKING:
    from dalembert.lagrangian.system import Lagrangian


class Reader:
    """Turns the functions of a user into `Formulas`."""

    def __init__(self, owner: Lagrangian):
        self.owner, self.n = owner, owner.n
        self.size = len(owner.parameter_vector)

    def formulas(self, given: Mapping[str, Any], generators: Mapping[str, Any]) -> Formulas:
        made: dict[str, Any] = {}
        for name, function in given.items():
            made |= self._read(name, function)
        if generators:
            made["symmetries"] = function_of(self.n, self.size, lambda *x: self._generators(generators, *x), "symmetries")
        formulas = Formulas(self.n, made)
        self._check_singular(formulas)
        return formulas

    def _read(self, name: str, function: Any) -> dict[str, Any]:
        order = ("q", "v") if name in ("L", "force", "rayleigh") else ("q",)
        found: dict[str, Any] = {}

        def make(q: Any, v: Any, t: Any, p: Any) -> Any:
            given = {"q": q, "v": v, "p": self._params(p)} | ({} if name in ("L", "rayleigh", "unilateral") else {"t": t})
            result = read(name, function, given, order)
            parts = result if isinstance(result, tuple) else (result,)
            for part in parts:
                check_numbers(name, part)
            self._check_shape(name, parts)
            found["parts"] = len(parts)
            return ca.horzcat(*parts) if len(parts) > 1 else parts[0]

        whole = function_of(self.n, self.size, make, name)
        if found["parts"] == 1:
            return {name: whole}

        def part(columns: slice) -> Any:
            return function_of(self.n, self.size, lambda *x: whole(*x)[:, columns], name)

        return {"pfaffian": part(slice(0, self.n)), "drive": part(slice(self.n, self.n + 1))}

    def _check_shape(self, name: str, parts: tuple[Any, ...]) -> None:
        shapes = [p.shape for p in parts] or [(0, 0)]
        vector = "a vector of numbers"
        wanted = {"L": "one number", "rayleigh": "one number", "force": f"{self.n} numbers", "holonomic": vector, "unilateral": vector}
        ok = {
            "L": shapes == [(1, 1)],
            "rayleigh": shapes == [(1, 1)],
            "force": shapes == [(self.n, 1)],
            "holonomic": len(shapes) == 1 and shapes[0][1] == 1,
            "unilateral": len(shapes) == 1 and shapes[0][1] == 1 and shapes[0][0] > 0,
            "pfaffian": len(shapes) <= 2 and shapes[0][1] == self.n and (len(shapes) == 1 or shapes[1] == (shapes[0][0], 1)),
        }[name]
        if not ok:
            what = " and ".join(f"{a} x {b}" for a, b in shapes)
            raise ModelError(
                f"{name} returns {what} numbers; expected {wanted.get(name, f'a matrix with {self.n} columns, or it and a vector')}."
            )

    def _params(self, p: Any) -> Params:
        found, first = {}, 0
        for name, size in self.owner._sizes.items():
            count = size or 1
            symbols = [p[first + i] for i in range(count)]
            found[name] = symbols[0] if size is None else np.array(symbols, dtype=object)
            first += count
        return Params(found)

    def _generators(self, generators: Mapping[str, Any], q: Any, v: Any, t: Any, p: Any) -> Any:
        columns = []
        for name, generator in generators.items():
            if callable(generator):
                column = read(name, generator, {"q": q, "p": self._params(p)}, ("q",))
            else:
                array = _generator(name, generator)
                if array.ndim == 2 and array.shape != (self.n, self.n):
                    raise ModelError(f"{name} is a matrix of {array.shape[0]} x {array.shape[1]}; expected {self.n} x {self.n}.")
                column = ca.SX(ca.DM(array)) @ q if array.ndim == 2 else ca.SX(ca.DM(array))
            if column.shape != (self.n, 1):
                raise ModelError(f"{name} gives {column.shape[0]} x {column.shape[1]} numbers; expected {self.n}.")
            columns.append(column)
        return ca.horzcat(*columns)

    def _check_singular(self, formulas: Formulas) -> None:
        """ModelError where the mass matrix has no inverse whatever q and v are."""
        q, v = ca.SX.sym("q", self.n), ca.SX.sym("v", self.n)
        M = ca.sparsify(formulas.mass(q, v))
        if ca.sprank(M) < self.n:
            empty = [self.owner.names[i] for i in range(self.n) if M[i, :].nnz() == 0]
            why = f"it does not depend on the velocity of {', '.join(empty)}" if empty else "its mass matrix has dependent rows"
            raise ModelError(f"the Lagrangian is singular: {why}, so d2L/dv2 has no inverse. Add inertia, or leave the coordinate out.")


def _generator(name: str, given: Any) -> Array:
    """A vector or matrix of finite numbers."""
    try:
        array = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        array = np.full(0, np.nan)
    if array.ndim not in (1, 2) or not array.size or not np.isfinite(array).all():
        raise ModelError(f"{name} is {given!r}; expected a function of q, a vector or a matrix of finite numbers.")
    return array
