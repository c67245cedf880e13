"""Exact solutions: what tests, documentation and benchmarks measure steppers against. NumPy and SciPy only, nothing is stepped."""

from dalembert.verification.free_body import free_body, period
from dalembert.verification.lagrange_top import LagrangeTop, sleeping_threshold, turning_points
from dalembert.verification.symmetric_top import symmetric_top

__all__ = ["LagrangeTop", "free_body", "period", "sleeping_threshold", "symmetric_top", "turning_points"]
