"""Exact derivatives of one step of the simulator: d(q+, v+)/d(q, v, tau, parameters), by the implicit function theorem."""

from dalembert.sensitivity.call import derivatives
from dalembert.sensitivity.result import Derivatives

__all__ = ["Derivatives", "derivatives"]
