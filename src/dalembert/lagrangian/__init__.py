"""Systems given by a Lagrangian: formulas, their derivatives, and the programs that steppers make of them."""

from dalembert.lagrangian.system import Lagrangian

__all__ = ["Lagrangian"]
