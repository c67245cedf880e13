"""A Lie-group Runge-Kutta method as data, checked when it is made and packed for the engine when it is used.

    stage i   g_i = g_0 exp(h sum_j alpha1_ij x_j) exp(h sum_j alpha2_ij x_j) ...      first row first, factors multiply on the right
              v_i = v_0 + h sum_j a_ij acc_j,    a_ij = sum of the rows alpha1_ij + alpha2_ij + ...
    step      the same with the rows of the weights

x_j is the velocity v_j (Crouch-Grossman: one x_j per exponential; commutator-free: combinations) or, for a method in the algebra
(Munthe-Kaas: one exponential per stage), dexp^-1_(-Theta_j) v_j.                              Park & Chung (28), (29), (32), (46), (47)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import OptionError
from dalembert.kernels import lie_rk_stages as at
from dalembert.kernels.tree.layout import BY_ITSELF, BY_STAGES, NQ, NV, STAGED, STEPPER_DATA, STEPPER_WORK
from dalembert.steppers.lie_rk._order import classical_defect, group_defect

Row = tuple[float, ...]
Factors = tuple[Row, ...]
ROUND_OFF = 1e-14  # of coefficients of size 1 that are right to the last digit; a misprinted one misses by far more


@dataclass(frozen=True)
class Tableau:
    """Rows of the exponentials of every stage and of the step, all of the same length; `c` where print gives the nodes.

    errors: rows whose combination of stages estimates the error (none: fixed step); the last stage must then be the step itself.
    error_order: power of h of that estimate.
    """

    name: str
    order: int
    stages: tuple[Factors, ...]
    weights: Factors
    c: Row
    algebra: bool = False
    errors: tuple[Row, ...] = ()
    error_order: int = 0

    def __post_init__(self) -> None:
        self._check_shape()
        A, b = self.summed()
        self._check("row sums minus c", float(np.abs(A.sum(axis=1) - self.c).max()))
        self._check("order conditions", classical_defect(A, b, self.order))
        if not self.algebra:
            self._check("order conditions on a group", group_defect(self.stages, self.weights, self.order))
        for row in self.errors:
            self._check("sum of the error coefficients", abs(sum(row)))
        if self.errors and not np.array_equal(A[-1], b):
            raise OptionError(f"tableau {self.name!r}: the last stage is not the step; expected that, because it estimates its error.")

    def _check_shape(self) -> None:
        s = len(self.stages)
        rows = [row for factors in (*self.stages, self.weights, self.errors) for row in factors]
        if len(self.c) != s or any(len(row) != s for row in rows):
            raise OptionError(f"tableau {self.name!r}: rows of lengths {sorted({len(row) for row in rows})}; expected {s}, one per stage.")
        for i, factors in enumerate(self.stages):
            if any(x != 0.0 for row in factors for x in row[i:]) or bool(factors) != (i > 0):
                raise OptionError(
                    f"tableau {self.name!r}: stage {i} needs a later stage, or is not computed at all; expected an explicit method."
                )
        if self.algebra and any(len(factors) > 1 for factors in (*self.stages, self.weights)):
            raise OptionError(f"tableau {self.name!r}: several exponentials in a stage; a method in the algebra has one.")

    def _check(self, what: str, defect: float) -> None:
        if not defect <= ROUND_OFF:
            raise OptionError(f"tableau {self.name!r}: {what} missed by {defect:.2g}; expected 0 for order {self.order}.")

    def summed(self) -> tuple[Array, Array]:
        """(A, b) of the Runge-Kutta method that the velocities see."""
        s = len(self.stages)
        A = np.array([np.sum(factors, axis=0) if factors else np.zeros(s) for factors in self.stages])
        return A, np.sum(self.weights, axis=0)

    def pack(self, system: Array, rtol: float = 0.0, atol: float = 0.0, max_substeps: int = 1) -> Array:
        """The system array with this tableau behind it, as `kernels/lie_rk_stages.py` reads it."""
        s = len(self.stages)
        A, b = self.summed()
        table, rows = self._plan()
        head = np.zeros(at.HEAD)
        parts = [A.ravel(), b, np.ravel(table), np.ravel(rows), np.ravel(self.errors)]
        places = len(system) + at.HEAD + np.cumsum([0, *(len(part) for part in parts)])
        head[[at.STAGES, at.ALGEBRA, at.ERROR_ROWS]] = s, self.algebra, len(self.errors)
        head[[at.AT_SUMMED, at.AT_PLAN, at.AT_ROWS, at.AT_ERRORS]] = places[[0, 2, 3, 4]]
        head[[at.EXPONENT, at.RTOL, at.ATOL]] = 1 / max(1, self.error_order), rtol, atol
        head[at.MAX_SUBSTEPS] = max_substeps
        longer = np.concatenate([system, head, *parts])
        longer[STEPPER_DATA], longer[STAGED] = len(system), BY_ITSELF if self.errors else BY_STAGES
        longer[STEPPER_WORK] = at.work_size(s, int(system[NQ]), int(system[NV]))
        return longer

    def _plan(self) -> tuple[list[tuple[int, int, int]], list[Row]]:
        """For each stage and the step: the stage to start from, the first row and the number of rows.

        Where the first exponentials are those of an earlier stage, its configuration is the start: commutator-free methods are made for it.
        """
        plan: list[tuple[int, int, int]] = []
        rows: list[Row] = []
        every = (*self.stages, self.weights)
        for i, factors in enumerate(every):
            known = [k for k in range(min(i, len(self.stages))) if len(every[k]) < len(factors) and factors[: len(every[k])] == every[k]]
            start = max(known, key=lambda k: len(every[k]), default=0)
            new = [row for row in factors[len(every[start]) :] if any(row)]
            plan.append((start, len(rows), len(new)))
            rows += new
        return plan, rows


def fill(row: Sequence[float], s: int) -> Row:
    """A row of s coefficients; those that are not given are zero."""
    return tuple(float(x) for x in row) + (0.0,) * (s - len(row))


def one_by_one(a: Sequence[Sequence[float]], b: Sequence[float]) -> dict[str, Any]:
    """Stages and weights of a Crouch-Grossman method: one exponential per coefficient."""
    s = len(b)

    def split(row: Sequence[float]) -> Factors:
        return tuple(fill([0.0] * j + [x], s) for j, x in enumerate(row))

    return {"stages": tuple(split(row) for row in a), "weights": split(b)}


def all_in_one(a: Sequence[Sequence[float]], b: Sequence[float]) -> dict[str, Any]:
    """Stages and weights of a Munthe-Kaas method: one exponential per stage."""
    s = len(b)
    return {"stages": tuple((fill(row, s),) if len(row) else () for row in a), "weights": (fill(b, s),), "algebra": True}
