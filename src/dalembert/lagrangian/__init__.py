"""Systems given by a Lagrangian: formulas, their derivatives, and the programs that steppers make of them."""

from dalembert.lagrangian.system import LEAVABLE, Lagrangian

__all__ = ["LEAVABLE", "Lagrangian"]
