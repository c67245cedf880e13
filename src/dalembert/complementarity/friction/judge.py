"""The one judge of all friction models: whatever a solver claims, this decides. Everything is recomputed from W, b, mu and the impulses.

    u = W r + b,  W_n: normal entry of the diagonal,  W_t: mean of the two tangential ones,  R = mu r_n, or mu times a given impulse
    normal      |W_n r_n - max(0, W_n r_n - u_n)|                 0 <= r_n  _|_  u_n >= 0
    limit       W_t max(0, |r_t| - R)                             in the norm of the model: disc, square or polygon
    direction   W_t |r_t - P(r_t - u_t / W_t; R)|                 0 if and only if r_t does the most work against u_t of all in the set:
                                                                  opposite to u_t for the disc, anything inside where u_t = 0

All in units of velocity. `relative` = the largest of them, each divided by the size of the terms that cancel in its contact,
max over its rows of |b_i| + sum_j |W_ij r_j|. `power` = the largest r_t . u_t of a contact: friction must not drive (<= 0 up to round-off).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.complementarity.friction.problem import ContactProblem, impulses
from dalembert.complementarity.friction.registry import find_model
from dalembert.complementarity.friction.shapes import Shape
from dalembert.complementarity.problem import vector
from dalembert.kernels.status import TINY

TOL = 1e-9


@dataclass(frozen=True, eq=False)
class FrictionJudgement:
    """Largest residuals over the contacts, in units of velocity; `relative` decides. velocities: (m, 3)."""

    normal: float
    limit: float
    direction: float
    relative: float
    power: float
    velocities: Array

    def solved(self, tol: float = TOL) -> bool:
        """Whether the impulses obey the law to the tolerance."""
        return self.relative <= tol


def judge_friction(problem: ContactProblem, r: Any, model: str = "cone", normal: Any = None, **options: Any) -> FrictionJudgement:
    """Judge impulses (m, 3) by the law of a model. normal: impulses (m,) that limit friction in place of those in r (box and cylinder)."""
    chosen = find_model(model)
    flat = impulses("r", r, problem.contacts)
    given = None if normal is None else vector("normal", normal, problem.contacts)
    return judge_shape(problem, flat, chosen.shape(chosen.resolve(options)), given)


def judge_shape(problem: ContactProblem, r: Array, shape: Shape, normal: Array | None = None) -> FrictionJudgement:
    """The same for a shape and flat impulses."""
    m = problem.contacts
    if m == 0:
        return FrictionJudgement(0.0, 0.0, 0.0, 0.0, 0.0, np.empty((0, 3)))
    u = problem.velocities(r).reshape(m, 3)
    terms = (np.abs(problem.b) + np.abs(problem.W) @ np.abs(r)).reshape(m, 3).max(axis=1)
    f, diagonal = r.reshape(m, 3), np.diag(problem.W).reshape(m, 3)
    w_n = np.where(diagonal[:, 0] > 0.0, diagonal[:, 0], 1.0)
    w_t = diagonal[:, 1:].mean(axis=1)
    w_t = np.where(w_t > 0.0, w_t, 1.0)
    radius = problem.mu * np.maximum(f[:, 0] if normal is None else normal, 0.0)
    on_normal = np.abs(np.minimum(w_n * f[:, 0], u[:, 0]))
    on_limit = w_t * np.maximum(shape.gauge(f[:, 1:]) - radius, 0.0)
    miss = f[:, 1:] - shape.project(f[:, 1:] - u[:, 1:] / w_t[:, None], radius)
    on_direction = w_t * np.hypot(miss[:, 0], miss[:, 1])
    worst = np.maximum(np.maximum(on_normal, on_limit), on_direction)
    return FrictionJudgement(
        normal=float(on_normal.max()),
        limit=float(on_limit.max()),
        direction=float(on_direction.max()),
        relative=float((worst / (terms + TINY)).max()),
        power=float((f[:, 1:] * u[:, 1:]).sum(axis=1).max()),
        velocities=u,
    )
