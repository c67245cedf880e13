"""Provable step sizes: how large h may be so that the equation of a step has a solution, and Newton's method finds it."""

from dalembert.solvability.advice import Limit, StepAdvice
from dalembert.solvability.rigid_body import advise_rigid_body

__all__ = ["Limit", "StepAdvice", "advise_rigid_body"]
