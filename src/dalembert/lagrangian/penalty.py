"""Constraints replaced by stiff springs and dampers: what the two penalty methods have in common.

    holonomic:   mu = -(k g + c dg/dt),  force G^T mu          k: stiffness, 1 / compliance;  c: damping
    Pfaffian:    mu = -d (A v + w),      force A^T mu          d: drag

As k and d grow, trajectories converge to those of the constrained system, the forces of the springs only in the mean
(lacoursiere2007, theorems 4.1 and 4.2).
"""

from __future__ import annotations

from typing import Any

import casadi as ca

from dalembert.lagrangian.formulas import Formulas
from dalembert.registry import Option


def stiffness() -> Option:
    """Option k."""
    return Option("stiffness", 1e4, "of springs that stand for holonomic constraints", "N/m for rows in m", *_positive())


def damping(default: float) -> Option:
    """Option c."""
    limits = (lambda x: 0 <= x < float("inf"), "a number >= 0")
    return Option("damping", default, "of the dampers beside these springs", "N s/m for rows in m", *limits)


def drag() -> Option:
    """Option d."""
    return Option("drag", 1e4, "of the dampers that stand for Pfaffian constraints", "N s/m for rows in m/s", *_positive())


def _positive() -> tuple[Any, str]:
    return lambda x: 0 < x < float("inf"), "a positive number"


def spring_forces(f: Formulas, k: float, c: float, d: float, q: Any, v: Any, t: Any) -> Any:
    """mu of all rows, holonomic ones first."""
    springs = -k * f.holonomic(q, t)
    if c and f.holonomic_rows:
        springs -= c * (f.jacobian(q, t) @ v + f.holonomic_rate(q, t))
    return ca.vertcat(springs, -d * (f.pfaffian(q, t) @ v + f.drive(q, t)))


def directions(f: Formulas, q: Any, t: Any) -> Any:
    """(G; A)^T."""
    return ca.vertcat(f.jacobian(q, t), f.pfaffian(q, t)).T
