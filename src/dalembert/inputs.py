"""Controls: a Python function control(t, q, v) -> tau, or a compiled one f(t, q, v, out)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dalembert.errors import OptionError
from dalembert.kernels import _jit
from dalembert.model.rotation import Array


class CompiledControl:
    """A control that runs inside the compiled loop: f(t, q, v, out) writes the generalised force into out."""

    def __init__(self, function: Callable[..., None]):
        self.python = getattr(function, "py_func", function)
        self.kernel = function if _jit.JIT_DISABLED else _jit.compiled(function, _jit.CONTROL)

    def __call__(self, t: float, q: Array, v: Array, out: Array | None = None) -> Array:
        out = np.zeros_like(np.asarray(v, dtype=float)) if out is None else out
        self.kernel(float(t), np.ascontiguousarray(q, dtype=float), np.ascontiguousarray(v, dtype=float), out)
        return out


def compiled(function: Callable[..., None]) -> CompiledControl:
    """Compile f(t, q, v, out) so that a run with this control has no Python in its loop. Usable as a decorator."""
    if not callable(function):
        raise OptionError(f"compiled: {function!r} is not a function f(t, q, v, out).")
    return CompiledControl(function)


def sample(control: Callable[..., Any], t: float, q: Array, v: Array) -> Array:
    """One call of a Python control, checked: nv finite numbers."""
    tau = np.asarray(control(t, q.copy(), v.copy()), dtype=float)
    if tau.shape != v.shape:
        raise OptionError(f"control returned shape {tau.shape} at t = {t:.6g} s; expected {v.shape}, dual to v.")
    if not np.isfinite(tau).all():
        raise OptionError(f"control returned {tau.tolist()} at t = {t:.6g} s; expected finite numbers.")
    return tau


def combined(control: Any, functions: list[Callable[..., Any]]) -> Callable[..., Array]:
    """A control that adds the forces of a model that were given as functions f(t, q, v)."""
    parts = [*functions, *([] if control is None else [control])]

    def total(t: float, q: Array, v: Array) -> Array:
        return np.sum([np.asarray(f(t, q, v), dtype=float) for f in parts], axis=0)

    return total
