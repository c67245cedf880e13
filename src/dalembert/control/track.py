"""`track`: a feedback that keeps a run on its plan, and at its end where it ends at rest.

Weights that are not given follow what the plan itself does (Bryson's rule): deviations of 0.1 (rad, m), of a tenth of the largest speed of
each degree of freedom (0.1 at least) and corrections as large as the largest input count alike.

Where the plan ends at an equilibrium, the cost beyond its end is that of the feedback about that point, which then goes on holding it.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.control.feedback import Feedback
from dalembert.control.lqr import about_motion, about_point, check_limits
from dalembert.control.motion import Motion, motion_of
from dalembert.control.riccati import weight
from dalembert.errors import DalembertError, OptionError

#: deviations that count as one: of positions (rad, m), and the least of speeds
NEAR, LEAST_SPEED = 0.1, 0.1
#: largest speed at the end of a plan that comes to rest
AT_REST = 1e-4


def track(solution: Any, Q: Any = None, R: Any = None, final: Any = None) -> Feedback:
    """A control for `dal.simulate` that follows a plan, a saved plan or a trajectory.

    Q, R: weights of deviations (q, v) and of corrections of the inputs, as `lqr` has them. final: weight at the last node; by default what
    holding the end costs, where it is an equilibrium that inputs can hold, else Q. K: (N, nu, 2 nv). Behind the end of the plan
    `hold`, a feedback about the end, acts; where there is none, `notes` say why, and of a plan that comes to rest a warning does.
    """
    motion = motion_of(solution)
    if motion is None:
        raise OptionError(f"track: got {type(solution).__name__!r}; expected a Solution, a saved plan or a trajectory.")
    _check_motion(solution)
    machine = motion.machine
    if not machine.nu:
        raise OptionError(f"track: {machine.system!r} has no inputs.")
    Q = weight("Q", weights_of_states(motion) if Q is None else Q, 2 * machine.nv, False)
    R = weight("R", weights_of_inputs(motion) if R is None else R, machine.nu, True)
    hold, why = about_end(motion, Q, R)
    found = about_motion(motion, Q, R, hold.P[0] if final is None and hold is not None else final, hold)
    if hold is not None:
        return found
    note = f"behind its end nothing holds it: {why}"
    if end_speed(motion) <= AT_REST:
        warnings.warn(f"track: {note}", stacklevel=2)
    return replace(found, notes=(note,))


def _check_motion(solution: Any) -> None:
    """A plan that was not found, whose nodes are no motion of the simulator, cannot be followed."""
    traj, status = getattr(solution, "traj", None), getattr(solution, "status", "solved")
    if traj is not None and not status.startswith("solved") and traj.status != "ok":
        raise OptionError(f"track: {traj.status}; expected a plan that is solved.")


def weights_of_states(motion: Motion) -> Array:
    """1/deviation^2 of each of (q, v)."""
    n = motion.machine.nv
    speeds = np.maximum(0.1 * np.abs(motion.v).max(axis=0), LEAST_SPEED)
    return 1.0 / np.concatenate([np.full(n, NEAR), speeds]) ** 2


def weights_of_inputs(motion: Motion) -> Array:
    """1/input^2, of each the largest of the plan, or its limit where the plan does not use it."""
    most = np.abs(motion.inputs).max(axis=0, initial=0.0)
    limits = np.abs(motion.machine.u_limits).min(axis=1)
    fallback = np.where(np.isfinite(limits), limits, max(1.0, float(most.max(initial=0.0))))
    return 1.0 / np.where(most > 0.0, most, fallback) ** 2


def end_speed(motion: Motion) -> float:
    """The largest of the velocities of the last node."""
    return float(np.abs(motion.v[-1]).max())


def about_end(motion: Motion, Q: Array, R: Array) -> tuple[Feedback | None, str]:
    """The feedback about the last node, where it is a point that inputs can hold; else why there is none."""
    if end_speed(motion) > AT_REST:
        return None, f"it ends with a speed of {end_speed(motion):.3g}"
    m = motion.machine
    try:
        found = about_point(m.whole, {"q": motion.q[-1]}, Q, R, float(motion.h[-1]), motion.stepper, m.B, motion.ignore, motion.compose)
        check_limits(m, found.inputs[0])
    except DalembertError as problem:
        return None, str(problem)
    return found.limited(m), ""
