"""Machines in director coordinates: twelve numbers for a body, a constant mass matrix, quadratic constraints, null-space matrices."""

from dalembert.directors.system import Directors

__all__ = ["Directors"]
