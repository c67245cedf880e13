"""Linear algebra of multibody systems in maximal coordinates.

Bodies carry 6 x 6 masses M, constraints are rows of a block Jacobian G that touch few bodies, E >= 0 is their compliance:

    M x - G^T y = b,     G x + E y = c
"""

from dalembert.linalg.blocks import BlockJacobian
from dalembert.linalg.saddle import Saddle
from dalembert.linalg.solve import Solution, solve

__all__ = ["BlockJacobian", "Saddle", "Solution", "solve"]
