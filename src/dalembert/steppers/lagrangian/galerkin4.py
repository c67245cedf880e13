"""Galerkin method of order 4: polynomials of degree 2, see `_galerkin`."""

from typing import Any

from dalembert.lagrangian.formulas import Formulas
from dalembert.lagrangian.program import Program
from dalembert.steppers.lagrangian._entry import lagrangian
from dalembert.steppers.lagrangian._galerkin import COMMON, galerkin


@lagrangian(name="galerkin4", summary="variational Galerkin method of order 4: polynomials of degree 2", order=4, rank=24, **COMMON)
def program(formulas: Formulas, options: dict[str, Any]) -> Program:
    """Degree 2."""
    return galerkin(formulas, 2, options["points"])
