"""A program in its own units: z = S zeta, rows divided by R, the cost by C.

    S     units of the variables (control/units.py)
    R     of rows: the largest entry of (d row/dz) S at the first guess, where that is small or large
    C     of the cost: the largest entry of (d cost/dz) S beside the first guess, where that is small or large: IPOPT takes a slope of 1e-9
          for none, and a cost of 1e-12 would be minimised by any motion

All are powers of two, so that nothing is rounded. For machines and costs of ordinary size there are none, and the search is not changed at
all. Multipliers of rows are C/R of those of the scaled program, those of bounds C/S.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np

from dalembert.arrays import Array

COST = (1e-5, 1e9)  # slopes of an ordinary cost
ROW = (1e-3, 1e3)  # slopes of rows that are left as they are


def power_of_two(x: Any) -> Array:
    """The nearest one, of each number."""
    return np.asarray(np.exp2(np.round(np.log2(x))), dtype=float)


def scales_of(program: Any, z: Array) -> Scales | None:
    """Scales of a program whose search begins at z; None: it is of ordinary size."""
    S = np.ones(len(z)) if program.units is None else program.units
    beside = np.clip(z + S, program.least, program.most)
    slope = np.abs(np.array(program._gradient(beside, program.parameters)[1]).ravel() * S).max(initial=0.0)
    ordinary = not 0.0 < slope < np.inf or COST[0] <= slope <= COST[1]
    if program.units is None and ordinary:
        return None
    C = 1.0 if not 0.0 < slope < np.inf else float(power_of_two(slope))
    R = np.ones(program.assembly.rows)
    if program.units is not None and len(R):
        _, J = program._jacobian(z, program.parameters)
        entries = np.abs(np.array(J.nonzeros())) * S[np.array(J.sparsity().get_col(), dtype=int)]
        largest = np.zeros(len(R))
        np.maximum.at(largest, np.array(J.sparsity().row(), dtype=int), entries)
        other = (largest > 0.0) & (largest < np.inf) & ((largest < ROW[0]) | (largest > ROW[1]))
        R[other] = power_of_two(largest[other])
    return Scales(S, R, C)


class Scales:
    """S, R, C, and what they do with functions, bounds and multipliers."""

    def __init__(self, S: Array, R: Array, C: float):
        self.S, self.R, self.C = S, R, C

    def scaled(self, program: Any) -> tuple[Any, Any, Any, Any]:
        """Value, gradient, Jacobian, Hessian in scaled variables, as IPOPT takes them."""
        zeta, p = program.assembly.z, program.assembly.p
        s, lam = ca.MX.sym("lam_f"), ca.MX.sym("lam_g", program.assembly.rows)
        S, less, C = ca.DM(self.S), ca.DM(1.0 / self.R), self.C
        z, columns, rows_by = S * zeta, ca.diag(S), ca.diag(less)
        cost, rows = program.value(z, p)
        _, gradient = program._gradient(z, p)
        _, jacobian = program._jacobian(z, p)
        hessian = program._hessian(z, p, s / C, lam * less)
        return (
            ca.Function("value", [zeta, p], [cost / C, rows * less]),
            ca.Function("grad_f", [zeta, p], [cost / C, gradient * S / C], ["x", "p"], ["f", "grad_f_x"]),
            ca.Function("jac_g", [zeta, p], [rows * less, rows_by @ jacobian @ columns], ["x", "p"], ["g", "jac_g_x"]),
            ca.Function(
                "hess_lag", [zeta, p, s, lam], [columns @ hessian @ columns], ["x", "p", "lam_f", "lam_g"], ["triu_hess_gamma_x_x"]
            ),
        )

    def inwards(self, start: dict[str, Any]) -> dict[str, Any]:
        """What a search begins with."""
        S, R, C = self.S, self.R, self.C
        by = {"x0": 1.0 / S, "lbx": 1.0 / S, "ubx": 1.0 / S, "lbg": 1.0 / R, "ubg": 1.0 / R, "lam_g0": R / C, "lam_x0": S / C}
        return {name: np.asarray(value) * by[name] for name, value in start.items()}

    def outwards(self, found: dict[str, Any]) -> dict[str, Any]:
        """What a search found."""
        S, R, C = self.S, self.R, self.C
        by = {"x": S, "f": C, "g": R, "lam_g": C / R, "lam_x": C / S}
        return {name: np.array(found[name]).ravel() * factor for name, factor in by.items()}

    def watched(self, watch: Callable[[Array, float, Array], bool]) -> Callable[[Array, float, Array], bool]:
        """The same with the numbers of the scaled program."""
        return lambda z, cost, rows: watch(z * self.S, cost * self.C, rows * self.R)
