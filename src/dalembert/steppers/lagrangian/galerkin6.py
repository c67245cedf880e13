"""Galerkin method of order 6: polynomials of degree 3, see `_galerkin`."""

from typing import Any

from dalembert.lagrangian.formulas import Formulas
from dalembert.lagrangian.program import Program
from dalembert.steppers.lagrangian._entry import lagrangian
from dalembert.steppers.lagrangian._galerkin import COMMON, galerkin


@lagrangian(name="galerkin6", summary="variational Galerkin method of order 6: polynomials of degree 3", order=6, rank=26, **COMMON)
def program(formulas: Formulas, options: dict[str, Any]) -> Program:
    """Degree 3."""
    return galerkin(formulas, 3, options["points"])
