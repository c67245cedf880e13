"""Controls: a Python function control(t, q, v) -> tau, a compiled one f(t, q, v, out), or an array with a row for each step."""

from __future__ import annotations

import functools
import inspect
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import OptionError
from dalembert.kernels.guard import guarded

#: a control that is not asked: what was held last stays (`Simulation` holds it between steps)
HELD = "held"


class CompiledControl:
    """A control that runs inside the compiled loop: f(t, q, v, out) writes the generalised force into out, which is 0 before.

    An index out of range, like every other exception of the function, ends the run; so does a number that is not finite.
    """

    def __init__(self, function: Callable[..., None]):
        functools.update_wrapper(self, function)
        self.python = getattr(function, "py_func", function)
        self.kernel = guarded(self.python)

    def __call__(self, t: float, q: Array, v: Array, out: Array | None = None) -> Array:
        out = np.zeros_like(np.asarray(v, dtype=float)) if out is None else out
        self.kernel(float(t), np.ascontiguousarray(q, dtype=float), np.ascontiguousarray(v, dtype=float), out)
        return out

    def __reduce__(self) -> Any:
        """As the name of a module's function where it is one, and else as the function."""
        found: Any = inspect.getmodule(self.python)
        for name in self.python.__qualname__.split("."):
            found = getattr(found, name, None)
        return self.python.__qualname__ if found is self else (compiled, (self.python,))

    def problem(self, t: float, q: Array, v: Array) -> Exception:
        """What went wrong at a node where the loop found numbers that are not finite: asked of the function itself, uncompiled first.

        Uncompiled it says more: Numba names neither the index nor the size of the array.
        """
        for function in (self.python, self.kernel):
            out = np.zeros(len(v))
            try:
                function(float(t), q.copy(), v.copy(), out)
            except Exception as error:
                return error
            if not np.isfinite(out).all():
                return OptionError(f"it wrote {out.tolist()}; expected finite numbers")
        return OptionError("it raised an exception, or wrote numbers that are not finite, and did not when asked once more")


class TabledControl:
    """A control that was given as an array: row k is held over step `first` + k. The compiled loop reads it; called, it finds its row by t.

    rows (steps, nv): N, N m. h: step, s.
    """

    def __init__(self, rows: Array, h: float, first: int = 0):
        self.rows, self.h, self.first = rows, h, first

    def __call__(self, t: float, q: Array, v: Array) -> Array:
        return self.rows[round(t / self.h) - self.first]


def compiled(function: Callable[..., None]) -> CompiledControl:
    """Compile f(t, q, v, out) so that a run with this control has no Python in its loop. Usable as a decorator.

    Every index of the function is checked. Functions that it calls and that were compiled elsewhere are checked if they were compiled so
    (`numba.njit(boundscheck=True)`).
    """
    if isinstance(function, CompiledControl):
        return function
    python = getattr(function, "py_func", function)
    if not inspect.isfunction(python):
        raise OptionError(f"compiled: {function!r} is not a function f(t, q, v, out).")
    name = python.__name__
    try:
        inspect.signature(python).bind(0.0, 0, 0, 0)
    except TypeError:
        given = f"{name}{inspect.signature(python)}"
        raise OptionError(f"compiled: {given} does not take four arguments; expected f(t, q, v, out), which writes into out.") from None
    try:
        return CompiledControl(function)
    except Exception as error:  # Numba's own have no common class
        raise OptionError(f"compiled: {name}(t, q, v, out) cannot be compiled: {_gist(error)}") from error


def _gist(error: Exception) -> str:
    """What one of Numba's long messages says first, and the line of source that it names, as one sentence."""
    lines = [line.strip().rstrip(":. ") for line in str(error).splitlines() if line.strip()]
    said = itertools.takewhile(lambda line: not line.startswith(("File ", "There are")), lines)
    text = " ".join(line for line in said if not line.startswith(("Failed in", "During", "Raised from")))
    where = next((line.removeprefix("File ") for line in lines if line.startswith("File ")), None)
    return f"{text[:300].rstrip(';')}{f' ({where})' if where else ''}. It writes numbers into out and returns nothing."


def check_control(control: Any, call: str) -> None:
    """OptionError for what is no function of (t, q, v)."""
    if control is None or isinstance(control, CompiledControl):
        return
    if not callable(control):
        given = f"an array of shape {control.shape}" if isinstance(control, np.ndarray) else repr(control)
        raise OptionError(f"{call}: control is {given}; expected a function control(t, q, v).")
    try:
        signature = inspect.signature(control)
    except (TypeError, ValueError):  # callables of C have none
        return
    try:
        signature.bind(0.0, 0, 0)
    except TypeError:
        name = getattr(control, "__name__", type(control).__name__)
        raise OptionError(
            f"{call}: control is {name}{signature}; expected a function control(t, q, v) -> tau, or dal.compiled(f) with f(t, q, v, out)."
        ) from None


def for_steps(control: Any, call: str, nv: int, n: int, h: float, first: int = 0) -> Any:
    """A control for the steps first, ..., n - 1, checked: None and functions as they are, an array or lists of numbers as a table."""
    if not isinstance(control, (np.ndarray, list, tuple)):
        check_control(control, call)
        return control
    what = f"(steps{' that remain' if first else ''}, nv) = {(n - first, nv)}"
    try:
        rows = np.array(control, dtype=float, order="C")
    except (TypeError, ValueError) as error:
        raise OptionError(f"{call}: control is no array of numbers ({error}); expected one of shape {what}.") from None
    if rows.shape != (n - first, nv):
        raise OptionError(f"{call}: control has the shape {rows.shape}; expected {what}: row k is held over step k.")
    bad = np.argwhere(~np.isfinite(rows))
    if len(bad):
        k, i = bad[0]
        raise OptionError(f"{call}: control[{k}, {i}] is {rows[k, i]}; expected finite numbers, shape {what}.")
    return TabledControl(rows, h, first)


def kind_of(control: Any) -> str | None:
    """What a file says of a control."""
    if control is None:
        return None
    return {CompiledControl: "compiled", TabledControl: "array"}.get(type(control), "python")


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
