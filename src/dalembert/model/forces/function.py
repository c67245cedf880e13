"""Joint forces as a function of time and state. The steps call it by its address, not as a load: runs/functions.py."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import ModelError, OptionError
from dalembert.model.forces._base import Force, Load, Where, register


@register
@dataclass(frozen=True)
class FunctionForce(Force):
    """Joint forces as a function of time and state: function(t, q, v) -> tau (nv,). The model keeps it but cannot write it to a file."""

    function: Callable[[float, Array, Array], Array]
    kind: ClassVar[str] = "function"
    account: ClassVar[str] = "function"
    writable: ClassVar[bool] = False

    def check(self) -> None:
        """That it can be called."""
        try:
            inspect.signature(self.function, follow_wrapped=False).bind(0.0, None, None)
        except TypeError:
            raise ModelError(
                f"force {self.name!r}: it cannot be called as f(t, q, v); expected a function that returns tau (nv,)."
            ) from None
        except ValueError:  # a compiled function that does not tell its signature
            return

    @property
    def name(self) -> str:
        """Name of the function."""
        return str(getattr(self.function, "__qualname__", repr(self.function)))

    @property
    def owner(self) -> str:
        """The force, in messages."""
        return f"force {self.name!r}"

    def to_dict(self) -> dict[str, Any]:
        """Refused: a function is not data."""
        raise ModelError(
            f"force {self.name!r} is a Python function and cannot be written as data; "
            "to_dict(drop_functions=True) leaves such forces out, or give it to simulate(control=...)."
        )

    def loads(self, places: Mapping[str, Any], model: Any) -> list[Load]:
        """None: it acts on joints."""
        return []

    def kept(self, fixed: set[str], where: Where) -> Array | None:
        """Nobody knows what it does."""
        return np.zeros((0, 6))


def total_force(forces: Iterable[FunctionForce], t: float, q: Array, v: Array) -> Array:
    """The sum of functions at a time and state, each checked: nv numbers."""
    total = np.zeros(len(v))
    for force in forces:
        tau = np.asarray(force.function(t, q.copy(), v.copy()), dtype=float)
        if tau.shape != total.shape:
            raise OptionError(f"force {force.name!r} returned shape {tau.shape} at t = {t:.6g} s; expected {total.shape}, dual to v.")
        total += tau
    return total
