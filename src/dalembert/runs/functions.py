"""Forces of a model that were given as functions f(t, q, v): machine code at one address, called where a step evaluates its forces.

    void f(const double *x, double *y)        x = (t, q, v),  y = tau, the sum of all functions

Functions made by `dal.compiled` become machine code; one of Python is called back, about a microsecond and its own time for each call.
"""

from __future__ import annotations

import ctypes
import functools
from typing import Any

import numba
import numpy as np
from numba import types

from dalembert.arrays import Array
from dalembert.kernels import _jit
from dalembert.model.forces.function import total_force
from dalembert.runs.controls import CompiledControl

_POINTER = types.CPointer(types.float64)
_CALLBACK = ctypes.CFUNCTYPE(None, ctypes.POINTER(ctypes.c_double), ctypes.POINTER(ctypes.c_double))


def given_functions(model: Any) -> list[Any]:
    """Forces of a model that are functions; of a Lagrangian none: its forces are formulas."""
    return [f.function for f in getattr(model, "forces", ()) if f.kind == "function"]


def names_of_functions(model: Any) -> list[str]:
    """Their names."""
    return [f.name for f in model.forces if f.kind == "function"]


class Functions:
    """The functions of a model as one address. An exception in one of them is kept in `error`; the step sees numbers that are none."""

    def __init__(self, model: Any):
        self.forces, self.nq, self.nv = [f for f in model.forces if f.kind == "function"], model.nq, model.nv
        self.error: Exception | None = None
        functions = [f.function for f in self.forces]
        if all(isinstance(f, CompiledControl) for f in functions) and not _jit.JIT_DISABLED:
            self._code: Any = _machine_code([f.kernel for f in functions], self.nq, self.nv)
            self.address = int(self._code.address)
        else:
            self._code = _CALLBACK(self._called)
            self.address = int(ctypes.cast(self._code, ctypes.c_void_p).value or 0)

    def __call__(self, t: float, q: Array, v: Array) -> Array:
        """The sum of all functions, each checked: nv numbers."""
        return total_force(self.forces, t, q, v)

    def _called(self, x: Any, y: Any) -> None:
        out = np.ctypeslib.as_array(y, (self.nv,))
        out[:] = np.nan
        if self.error is not None:
            return
        given = np.ctypeslib.as_array(x, (1 + self.nq + self.nv,))
        try:
            out[:] = self(float(given[0]), given[1 : 1 + self.nq], given[1 + self.nq :])
        except Exception as problem:  # the user's code: handed on by the engine together with what was computed before
            self.error = problem

    def take_error(self) -> Exception | None:
        """The exception that ended the last step, if one did; it is forgotten then."""
        found, self.error = self.error, None
        return found


def _machine_code(kernels: list[Any], nq: int, nv: int) -> Any:
    """A C function that adds up compiled functions f(t, q, v, out)."""
    total = functools.reduce(_sum, kernels)

    def called(x, y):  # type: ignore[no-untyped-def]
        given, out = numba.carray(x, 1 + nq + nv), numba.carray(y, nv)
        out[:] = 0.0
        total(given[0], given[1 : 1 + nq], given[1 + nq :], out)

    return numba.cfunc(types.void(_POINTER, _POINTER), error_model="numpy")(called)


def _sum(f: Any, g: Any) -> Any:
    def both(t, q, v, out):  # type: ignore[no-untyped-def]
        f(t, q, v, out)
        more = np.zeros_like(out)
        g(t, q, v, more)
        out += more

    return numba.njit(error_model="numpy")(both)
