"""Friction that depends on the direction: mu_1 along the first tangent, mu_2 along the second, an ellipse of tangential impulses.

    (lam_1/mu_1)^2 + (lam_2/mu_2)^2 <= lam_n^2

With mu = max(mu_1, mu_2), s_i = mu_i/mu, J'_i = s_i J_i, b'_i = s_i b_i and lam_i = s_i lam'_i the ellipse is a disc of radius mu lam_n and
u'_i = s_i u_i, so every law of isotropic friction holds in the rows J': what slides does the most work against the slip that the ellipse
allows. s_i = 0 is no friction along that tangent. sigma' = s^2 sigma, s the smaller of the two that is not 0: contacts that stick
creep no more than isotropic ones, where s >= LEAST.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from dalembert.contact.problem import CONE, StepProblem
from dalembert.contact.solver import StepResult

LEAST = 0.1


class StretchedSolver:
    """Scales the tangents of problems whose contacts have a `stretch`, and lets another solver do the rest."""

    def __init__(self, solver: Any):
        self.solver = solver

    def solve(self, problem: StepProblem) -> StepResult:
        """Impulses into problem.lam, velocities and residual of the scaled rows into the result."""
        if problem.stretch is None:
            return self.solver.solve(problem)  # type: ignore[no-any-return]
        cones = problem.kind == CONE
        s = problem.stretch[cones]
        rows = problem.first[:-1][cones][:, None] + 1 + np.arange(2)
        least = np.clip(np.where(s > 0.0, s, 1.0).min(axis=1), LEAST, 1.0)
        J, b, sigma, lam = problem.J.copy(), problem.b.copy(), problem.sigma.copy(), problem.impulses.copy()
        J[rows] *= s[:, :, None]
        b[rows] *= s
        sigma[rows] *= (least * least)[:, None]
        lam[rows] = np.where(s > 0.0, lam[rows] / np.where(s > 0.0, s, 1.0), 0.0)
        scaled = replace(problem, J=J, b=b, sigma=sigma, lam=lam, stretch=None, check=False)
        result: StepResult = self.solver.solve(scaled)
        problem.impulses[:] = scaled.impulses
        problem.impulses[rows] *= s
        return result
