"""Methods against each other on one model: `compare` (one run each), `work_precision` (error against cost over several steps)."""

from dalembert.comparison.methods import Method, parse_method
from dalembert.comparison.precision import WorkPrecision, work_precision
from dalembert.comparison.runs import Comparison, Row, compare

__all__ = ["Comparison", "Method", "Row", "WorkPrecision", "compare", "parse_method", "work_precision"]
