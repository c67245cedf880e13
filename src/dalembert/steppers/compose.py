"""Symmetric compositions: substeps w_1 h, ..., w_s h of a self-adjoint method of order 2 give order 4 or 6.

A composition of order p of a symmetric method needs sum w = 1 and, for p >= 4, sum w^3 = 0; for p = 6 also sum w^5 = 0 and one condition
that couples
neighbours. A palindrome of weights keeps the composition self-adjoint; negative substeps are part of the price.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dalembert.errors import OptionError, UnknownNameError


@dataclass(frozen=True)
class Composition:
    """Weights of a composition, checked when they are made."""

    name: str
    order: int
    half: tuple[float, ...]
    reference: str

    def __post_init__(self) -> None:
        w = self.weights
        for k in range(1, self.order, 2):
            want = 1.0 if k == 1 else 0.0
            if abs(np.sum(w**k) - want) > 1e-13 * np.sum(np.abs(w) ** k):
                raise OptionError(f"composition {self.name!r}: sum of w^{k} is {np.sum(w**k)!r}; expected {want}.")

    @property
    def weights(self) -> np.ndarray:
        """All weights: the half, the middle one that makes the sum 1, the half backwards."""
        middle = 1.0 - 2.0 * sum(self.half)
        return np.array([*self.half, middle, *reversed(self.half)])


_CUBE2, _CUBE4 = 2.0 ** (1 / 3), 4.0 ** (1 / 3)

COMPOSITIONS = {
    c.name: c
    for c in (
        Composition("yoshida4", 4, (1.0 / (2.0 - _CUBE2),), "yoshida1990"),
        Composition("suzuki4", 4, (1.0 / (4.0 - _CUBE4),) * 2, "suzuki1990"),
        Composition("yoshida6", 6, (0.784513610477557263819, 0.235573213359358133685, -1.17767998417887100695), "yoshida1990"),
        Composition(
            "kahan-li6",
            6,
            (0.392161444007314139276, 0.332599136789359438604, -0.706246172557639359809, 0.0822135962935508002304),
            "kahan1997",
        ),
    )
}


def find_composition(name: str) -> Composition:
    """The composition of that name."""
    if name not in COMPOSITIONS:
        raise UnknownNameError("composition", name, COMPOSITIONS)
    return COMPOSITIONS[name]
