"""`h="auto"`: one step size for a whole run, certified at every node of that run.

    h_0 = t_end / N from the advice for the start;  run;  certify every step;  where one is not certified: a smaller h, and again

A rigid body: h <= min(h_newton, h_jacobian) of `advise` at every node. A tree (`trapezoidal`): Kantorovich's condition for every step
of the run, see `solvability/certify.py`. Runs are deterministic, so the run that follows with the h that was found is the one that was
certified.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from dalembert.arrays import Array
from dalembert.errors import OptionError
from dalembert.families.variational import SHRINK
from dalembert.runs.plan import Plan
from dalembert.runs.trajectory import Trajectory

TRIALS = 40  # 0.8^40 = 1e-4 of the step that the start allows


def certified_step(plan: Plan, q: Array, v: Array, t_end: float, trial: Callable[[float], Trajectory]) -> float:
    """The first h = t_end / N, from that of the start downwards, whose whole run is certified. trial(h): such a run."""
    family, name = plan.family, plan.stepper.name
    limit = math.inf if family.limit is None else family.limit(plan.acting, q, v, name)
    if not math.isfinite(limit) or family.limit_along is None:
        family.advise(plan.acting, q, v, name)  # says why, where nothing is proved for this family
        why = "it solves no equation, or the body is at rest"
        raise OptionError(f"h='auto': no step size is certified for stepper {name!r} at this state ({why}); give h.")
    for _ in range(TRIALS):
        h = t_end / math.ceil(t_end / limit)
        traj = trial(h)
        if traj.status == "interrupted":
            raise KeyboardInterrupt
        limit = family.limit_along(name, traj) if traj.status == "ok" else SHRINK * h
        if h <= limit:
            return h
    raise OptionError(f"h='auto': stepper {name!r} has steps without a proof even with h = {h:.3g} s; give h.")
