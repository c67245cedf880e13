"""Solvers of complementarity problems describe themselves. A method of the library is one file in this package with one `register` call
at its end; `dal.lcp`, the list of methods, the documentation and the contract tests are made from these descriptions.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import OptionError, UnknownNameError
from dalembert.kernels.lcp.codes import FEASIBILITY, FIRST, LIMIT, WARM
from dalembert.option import Option


@dataclass(frozen=True)
class Method:
    """Description of a solver.

    problems: "LCP" (bounds 0 and infinity) and "boxed" (any bounds, equality rows among them).
    guarantee: the matrices for which it is proved to end with a solution, or with the proof that there is none.
    warm: whether `start` shortens its way.  fallback: the method that takes over where it gives up, "" for none.
    counts: what `pivots` counts.  rank: the order in lists.
    """

    name: str
    summary: str
    problems: tuple[str, ...]
    guarantee: str
    warm: bool
    run: Any = field(repr=False, compare=False)
    limit: Callable[[int], int] = field(repr=False, compare=False)
    options: tuple[Option, ...] = ()
    counts: str = "pivots"
    fallback: str = ""
    limitations: str = ""
    references: tuple[str, ...] = ()
    rank: int = 50

    @cached_property
    def _defaults(self) -> Array:
        numbers = np.zeros(6)
        numbers[FEASIBILITY] = 1e-13
        for k, option in enumerate(self.options):
            numbers[FIRST + k] = option.number(f"method {self.name!r}", option.default)
        return numbers

    def numbers(self, n: int, given: Mapping[str, Any], max_pivots: Any = None, warm: bool = False) -> Array:
        """The kernel's array of options."""
        numbers = self._defaults.copy()
        numbers[WARM], numbers[LIMIT] = warm, self.limit(n) if max_pivots is None else _limit(max_pivots)
        known = {o.name: k for k, o in enumerate(self.options)}
        for name, value in given.items():
            if name not in known:
                raise UnknownNameError(f"option of method {self.name!r}", name, [*known, "max_pivots", "tol", "fallback"])
            numbers[FIRST + known[name]] = self.options[known[name]].number(f"method {self.name!r}", value)
        return numbers


def _limit(max_pivots: Any) -> float:
    if isinstance(max_pivots, bool) or not isinstance(max_pivots, (int, np.integer)) or max_pivots < 0:
        raise OptionError(f"max_pivots is {max_pivots!r}; expected a whole number >= 0.")
    return float(max_pivots)


_methods: dict[str, Method] = {}


@cache
def load(package: str) -> None:
    """Import every module of a package, once: what they describe is then registered."""
    for found in pkgutil.iter_modules(importlib.import_module(package).__path__, package + "."):
        importlib.import_module(found.name)


def register(**description: Any) -> Method:
    """Enter a method into the registry."""
    method = Method(**description)
    _methods[method.name] = method
    return method


def methods() -> list[Method]:
    """All methods, best first."""
    load("dalembert.complementarity")
    return sorted(_methods.values(), key=lambda m: (m.rank, m.name))


def find_method(name: str) -> Method:
    """The method of that name."""
    found = _methods.get(name) if isinstance(name, str) else None
    if found is None:
        load("dalembert.complementarity")
        found = _methods.get(name) if isinstance(name, str) else None
        if found is None:
            raise UnknownNameError("method of complementarity", name, _methods)
    return found
