"""Options of the stepper as a machine takes them, what a step tells of itself, and the options of its solver."""

from __future__ import annotations

import math
from dataclasses import dataclass

from dalembert.contact.solver import SolverOptions
from dalembert.contact.solvers import CONES
from dalembert.kernels.status import OK

#: m/s, dead band of Coulomb's law (contact/coulomb.py)
CREEP = 1e-5
#: m/s: residual of Coulomb's law that is enough
ROUNDS_TOL = 1e-6


@dataclass(frozen=True)
class Settings:
    """Options of the stepper, see steppers/bodies/spook.py."""

    eps: float = 1e-8
    joint_eps: float = 1e-10
    tau: float = 2.0
    margin: float = 4e-3
    law: str = "coulomb"
    sides: int = 8
    solver: str = "direct"
    tol: float = 1e-9
    impact: str = "exact"
    threshold: float = 0.05
    push: float = 1.0
    sleep: float = 0.0
    sweeps: int = 50
    rounds: int = 200
    corners: int = 0
    newton: int = 0
    max_time: float = math.inf
    threads: int = 1


@dataclass
class Report:
    """What a step tells of itself. first: residual of the impulses of the step before."""

    status: int = OK
    residual: float = 0.0
    first: float = 0.0
    factorisations: int = 0
    contacts: int = 0
    penetration: float = 0.0
    stabilised: int = 0
    stiffened: int = 0
    converged: bool = True
    asleep: int = 0


def options_of(s: Settings) -> SolverOptions:
    """Of the solver of steps."""
    budget = s.max_time if math.isfinite(s.max_time) else None
    return SolverOptions(
        tol=s.tol,
        law=CONES.get(s.law, "coulomb"),
        method=s.solver,
        sweeps=s.sweeps,
        rounds=s.rounds,
        corners=s.corners,
        creep=CREEP,
        rounds_tol=ROUNDS_TOL,
        max_time=budget,
        threads=s.threads,
    )
