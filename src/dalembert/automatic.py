"""`h="auto"`: one step size for a whole run, certified at every node of that run.

    h_0 = t_end / N from the advice for the start;  run;  certify every step;  where one is not certified: a smaller h, and again

A rigid body: h <= min(h_newton, h_jacobian) of `advise` at every node. A tree (`trapezoidal`): Kantorovich's condition for every step
of the run, see `solvability/certify.py`. Runs are deterministic, so the run that follows with the h that was found is the one that was
certified.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from dalembert.errors import OptionError
from dalembert.families import Family
from dalembert.model import Model
from dalembert.model.rotation import Array
from dalembert.registry import Stepper
from dalembert.trajectory import Trajectory

SHRINK = 0.8  # of h, from one trial to the next, where no node says by how much
TRIALS = 40  # 0.8^40 = 1e-4 of the step that the start allows


def certified_step(
    model: Model, family: Family, method: Stepper, q: Array, v: Array, t_end: float, trial: Callable[[float], Trajectory]
) -> float:
    """The first h = t_end / N, from that of the start downwards, whose whole run is certified. trial(h): such a run."""
    limit = _limit(model, family, method, q, v)
    if not math.isfinite(limit):
        why = "it solves no equation, or the body is at rest"
        raise OptionError(f"h='auto': no step size is certified for stepper {method.name!r} at this state ({why}); give h.")
    for _ in range(TRIALS):
        h = t_end / math.ceil(t_end / limit)
        traj = trial(h)
        if traj.status == "interrupted":
            raise KeyboardInterrupt
        limit = _limit_along(family, method, traj) if traj.status == "ok" else SHRINK * h
        if h <= limit:
            return h
    raise OptionError(f"h='auto': stepper {method.name!r} has steps without a proof even with h = {h:.3g} s; give h.")


def _limit(model: Model, family: Family, method: Stepper, q: Array, v: Array) -> float:
    """The certified step at one state."""
    advice = family.advise(model, q, v, method.name)
    if family.kind == "tree" and not advice.rigorous["h_newton"]:
        from dalembert.solvability.certify import unproved

        raise OptionError(
            f"h='auto': no step size of {model!r} is proved ({'; '.join(unproved(model))}); "
            f"give h, such as the estimate {advice.h_newton:.3g} s of dal.advise."
        )
    return min(advice.h_newton, advice.h_jacobian)


def _limit_along(family: Family, method: Stepper, traj: Trajectory) -> float:
    """A step that is certified at every node of a run: its own h, or a smaller one to try."""
    model = traj._run_model
    if family.kind == "tree":
        from dalembert.solvability.certify import certified_steps

        proved = certified_steps(model, traj.h, traj.q, traj.v_interval) & (traj.solver["substeps"] == 0.0)
        return traj.h if bool(np.all(proved)) else SHRINK * traj.h
    return min(_limit(model, family, method, q, v) for q, v in zip(traj.q, traj.v, strict=True))
