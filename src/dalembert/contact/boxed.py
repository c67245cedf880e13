"""Box friction with known limits: a step as a boxed complementarity problem, symmetric, with one solution (lacoursiere2007 10.12.3).

    cone (n, t1, t2)   ->   0 <= lam_n  _|_  u_n >= 0,    |lam_1|, |lam_2| <= mu nu,    nu: normal impulses, of the step before say

All methods of `dal.lcp` solve W, q and bounds of it: chapters 16 and 17 are tried on such problems.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.contact.problem import BOXED, CONE, UNILATERAL, StepProblem
from dalembert.errors import OptionError


def with_boxes(problem: StepProblem, normal: Any = None) -> StepProblem:
    """The problem with boxes in place of cones. normal: impulses of the cones, in their order, by default those in problem.lam."""
    p, cones = problem, problem.kind == CONE
    at = p.first[:-1][cones]
    nu = p.impulses[at] if normal is None else np.asarray(normal, dtype=np.float64)
    if nu.shape != at.shape:
        raise OptionError(f"normal has shape {nu.shape}; expected ({len(at)},), an impulse for each contact.")
    pieces = np.where(cones, 3, 1)
    owner = np.repeat(np.arange(len(p.kind)), pieces)
    ends = np.cumsum(pieces)[cones]
    kind, sizes = p.kind[owner], np.diff(p.first)[owner]
    kind[ends - 3], kind[ends - 2], kind[ends - 1] = UNILATERAL, BOXED, BOXED
    sizes[np.repeat(cones, pieces)] = 1
    low, high = p.lows.copy(), p.highs.copy()
    for t in (at + 1, at + 2):
        low[t], high[t] = -p.mu[cones] * np.maximum(nu, 0.0), p.mu[cones] * np.maximum(nu, 0.0)
    return StepProblem(
        p.bodies[owner], kind, np.concatenate([[0], np.cumsum(sizes)]), p.J, p.b, p.sigma, np.where(cones[owner], 0.0, p.mu[owner]),
        p.masses, p.inverse, p.free, low, high, np.array(p.start), np.zeros(len(p.J)), check=False,
    )  # fmt: skip
