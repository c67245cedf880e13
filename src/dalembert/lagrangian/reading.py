"""From functions that a user wrote to expressions.

A function is called once with symbols. They come first as NumPy arrays of symbols, for which NumPy's functions, `@`, `.dot` and slices do
what they do with numbers; if that fails, as CasADi column vectors, for code written with CasADi.

Arguments are recognised by name: `t` is the time, `p` or `params` the parameters; all others are taken in the order (q, v).
"""

from __future__ import annotations

import inspect
import math
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import casadi as ca
import numpy as np

from dalembert.errors import ModelError


class Params:
    """Parameters by attribute or name, as symbols (or numbers)."""

    def __init__(self, values: Mapping[str, Any]):
        self.__dict__.update(values)

    def __getitem__(self, name: str) -> Any:
        return self.__dict__[name]

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"there is no parameter {name!r}; known: {', '.join(self.__dict__) or 'none'}. Give it by params={{...}}.")


def arguments(what: str, function: Callable[..., Any], given: Mapping[str, Any], order: tuple[str, ...]) -> list[str]:
    """Which of q, v, t, p the function wants, in the order of its arguments."""
    try:
        names = [
            a.name
            for a in inspect.signature(function).parameters.values()
            if a.kind in (a.POSITIONAL_ONLY, a.POSITIONAL_OR_KEYWORD) and a.default is a.empty
        ]
    except (TypeError, ValueError):  # built-in functions have no signature
        return list(order)
    wanted, rest = [], list(order)
    for name in names:
        if name in ("t", "p", "params"):
            wanted.append(name[0])
        elif rest:
            wanted.append(rest.pop(0))
        else:
            raise ModelError(f"{what} has the argument {name!r}; expected ({', '.join(order)}), and t or p where needed.")
    if "t" in wanted and "t" not in given:
        raise ModelError(f"{what} depends on t; only force, holonomic and pfaffian may.")
    return wanted


def read(what: str, function: Any, given: Mapping[str, Any], order: tuple[str, ...]) -> Any:
    """What the function returns for symbols: SX, or a tuple of them. ModelError with the reason where that fails."""
    if not callable(function):
        raise ModelError(f"{what} is {function!r}; expected a function of ({', '.join(order)}).")
    wanted = arguments(what, function, given, order)
    problems = []
    for convert in (_array, _column):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", FutureWarning)  # CasADi's advice about NumPy functions
                found = function(*(convert(name, given[name]) for name in wanted))
                return tuple(expression(what, x) for x in found) if isinstance(found, tuple) else expression(what, found)
        except ModelError:
            raise
        except Exception as problem:  # the user's code may raise anything: the reason is in the message
            problems.append(f"{type(problem).__name__}: {str(problem).strip().splitlines()[0] if str(problem).strip() else ''}")
    raise ModelError(
        f"{what} could not be differentiated: it must consist of operators and functions of NumPy or CasADi, without branches on q or v. "
        f"With NumPy arrays of symbols: {problems[0]}. With CasADi vectors: {problems[1]}."
    )


def _array(name: str, x: Any) -> Any:
    return np.array([x[i] for i in range(x.shape[0])], dtype=object) if name in ("q", "v") else x


def _column(name: str, x: Any) -> Any:
    return x


def expression(what: str, x: Any) -> Any:
    """A CasADi expression from what a function returned: numbers, arrays and nested lists of expressions."""
    if isinstance(x, ca.SX):
        found = x
    elif isinstance(x, ca.MX):
        raise ModelError(f"{what} returns an MX expression; use the symbols it is given.")
    else:
        array = np.asarray(x, dtype=object) if not isinstance(x, np.ndarray) else x
        rows = array.reshape(-1, 1) if array.ndim < 2 else array
        if rows.ndim != 2:
            raise ModelError(f"{what} returns an array of shape {array.shape}; expected at most two dimensions.")
        found = ca.SX(rows.shape[0], rows.shape[1])
        for i in range(rows.shape[0]):
            for j in range(rows.shape[1]):
                found[i, j] = _scalar(what, rows[i, j])
    return ca.densify(found)


def _scalar(what: str, x: Any) -> Any:
    if isinstance(x, ca.SX):
        if not x.is_scalar():
            raise ModelError(f"{what} returns a list whose entries are vectors; expected numbers.")
        return x
    try:
        return ca.SX(float(x))
    except (TypeError, ValueError):
        raise ModelError(f"{what} returns {type(x).__name__!r}; expected numbers made from q and v.") from None


def check_numbers(what: str, found: Any) -> None:
    """ModelError where an expression holds a constant that is not a number: `math.sin(q[0])` and `float(q[0])` lose the symbol."""
    symbols = ca.symvar(found)
    function = ca.Function("f", symbols, [found])
    for k in range(function.n_instructions()):
        if function.instruction_id(k) == ca.OP_CONST and math.isnan(function.instruction_constant(k)):
            raise ModelError(f"{what} turns a symbol into a number (math.sin, float, ...); use functions of NumPy or CasADi instead.")
