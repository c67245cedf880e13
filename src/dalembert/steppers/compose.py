"""Symmetric compositions: substeps w_1 h, ..., w_s h of a self-adjoint method of order 2 give order 4, 6 or 8.

A palindrome of weights keeps the composition self-adjoint; negative substeps are part of the price. All order conditions, derived in
`_order_conditions`, are checked when a composition is made.

| order | composition | substeps | sum of the sizes of w |
|---|---|---|---|
| 4 | yoshida4, suzuki4 | 3, 5 | 4.4, 2.3 |
| 6 | yoshida6, kahan-li6, suzuki6 | 7, 9, 25 | 5.7, 3.8, 4.6 |
| 8 | yoshida8, suzuki-umeno8, kahan-li8, suzuki8 | 15, 15, 17, 125 | 15.3, 6.5, 5.4, 8.6 |

Errors grow with the longest substep and with the detours: of one order take the Kahan-Li weights, or Suzuki's where h is large.

References: suzuki1990, yoshida1990, suzuki1993, kahan1997, hairer2006 (section V.3.2).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum

import numpy as np

from dalembert.errors import OptionError, UnknownNameError
from dalembert.steppers._compositions import numbers, suzuki
from dalembert.steppers._order_conditions import defects, sizes, spell

ROUND_OFF = 64 * np.finfo(float).eps  # the middle weight takes the round-off of all others, and its seventh power seven times that


@dataclass(frozen=True)
class Composition:
    """Weights of a composition, checked when they are made."""

    name: str
    order: int
    half: tuple[float, ...]
    reference: str

    def __post_init__(self) -> None:
        size = sizes(self.weights, self.order - 1)
        for word, defect in defects(self.weights, self.order - 1).items():
            if not abs(defect) <= ROUND_OFF * size[word]:
                raise OptionError(
                    f"composition {self.name!r} misses a condition of order {self.order}: {spell(word)} is off by {defect:.3g}; "
                    f"expected at most {ROUND_OFF * size[word]:.1g}."
                )

    @property
    def weights(self) -> np.ndarray:
        """All weights: the half, the middle one that makes the sum 1, the half backwards."""
        middle = fsum([1.0, *(-2.0 * w for w in self.half)])
        return np.array([*self.half, middle, *reversed(self.half)])


_CUBE2 = 2.0 ** (1 / 3)

COMPOSITIONS = {
    c.name: c
    for c in (
        Composition("yoshida4", 4, (1.0 / (2.0 - _CUBE2),), "yoshida1990"),
        Composition("suzuki4", 4, suzuki(4), "suzuki1990"),
        Composition("yoshida6", 6, numbers("yoshida6"), "yoshida1990"),
        Composition("kahan-li6", 6, numbers("kahan-li6"), "kahan1997"),
        Composition("suzuki6", 6, suzuki(6), "suzuki1990"),
        Composition("yoshida8", 8, numbers("yoshida8"), "yoshida1990"),
        Composition("suzuki-umeno8", 8, numbers("suzuki-umeno8"), "suzuki1993"),
        Composition("kahan-li8", 8, numbers("kahan-li8"), "kahan1997"),
        Composition("suzuki8", 8, suzuki(8), "suzuki1990"),
    )
}


def find_composition(name: str) -> Composition:
    """The composition of that name."""
    if not isinstance(name, str) or name not in COMPOSITIONS:
        raise UnknownNameError("composition", name, COMPOSITIONS)
    return COMPOSITIONS[name]
