"""What is judged without physics: attitude, norm of the body momentum, solver effort, how the run ended."""

from __future__ import annotations

import numpy as np

from dalembert.families import find_family
from dalembert.kernels.tree.rows import worst_rotation
from dalembert.report.facts import EPS, Facts, ratio
from dalembert.report.items import FAIL, NOT_APPLICABLE, PASS, WARN, Item, item

ATTITUDE_FLOOR = 1e-13
ATTITUDE_NOTICEABLE = 1e-8
BLOCK = 2**14  # poses
CLOSE = 0.8
RARE = 0.01
ENDED_EARLY = ("interrupted", "killed", "running")


def judge_attitude(facts: Facts) -> Item:
    """| |q| - 1 | of all quaternions and |R^T R - 1|: round-off, max(1e-13, eps N)."""
    traj = facts.traj
    errors, at = [], traj.model.q_slices()
    for j in traj.model.joints:
        start = at[j.name].start
        for slot in j.coordinates.quaternion_slots():
            q = traj.q[:, start + slot : start + slot + 4]
            errors.append(float(np.max(np.abs(np.linalg.norm(q, axis=-1) - 1.0))))
    nodes = max(1, BLOCK // max(1, len(traj.model.bodies)))
    for k in range(0, len(traj), nodes):  # poses of all nodes would be the largest array of all
        errors.append(float(worst_rotation(traj.model.poses(traj.q[k : k + nodes]))))
    error, promised = float(np.max(errors)), facts.promise("attitude")
    text = f"rotations are orthogonal to {error:.2g}"
    if promised != "exactly":
        return item("attitude", WARN if error > ATTITUDE_NOTICEABLE else NOT_APPLICABLE, error, promised, f"{text} (not promised)")
    limit = max(ATTITUDE_FLOOR, EPS * facts.steps)
    return item("attitude", PASS if error <= limit else FAIL, error, promised, f"{text} (promised: exactly)", limit)


def judge_body_momentum(facts: Facts) -> Item | None:
    """|I omega| about the reference point, where it is promised and no torque acts."""
    promised = facts.promise("body momentum")
    if promised is None or facts.unknown or not facts.torque_free:
        return None
    norm = np.linalg.norm(facts.spin, axis=-1)
    error, limit = ratio(float(np.max(np.abs(norm - norm[0]))), float(norm.max())), facts.solved_limit
    text = f"norm of the body momentum conserved to {error:.2g} (promised: {promised})"
    return item("body momentum", PASS if error <= limit else FAIL, error, promised, text, limit)


def judge_left_out(facts: Facts) -> Item | None:
    """Features of the model that the run ignored, with the names of the joints among them."""
    whole, acting = facts.traj.model, facts.model
    family = find_family(whole)
    gone = family.features(whole) - family.features(acting)
    if not gone:
        return None
    words = [name + _few(whole.parts(name)) for name in sorted(gone)]
    return item("left out", NOT_APPLICABLE, None, None, f"left out of the run: {', '.join(words)}")


def _few(names: list[str]) -> str:
    return "" if not names else f" ({', '.join(map(repr, names[:4]))}{f' and {len(names) - 4} more' if len(names) > 4 else ''})"


def judge_solver(facts: Facts) -> Item:
    """Effort and success of Newton's method, or of the error control of an adaptive method, in the steps that were not split.

    A warning where iterations come close to their limit, or where what the solver reports is beyond its tolerance in more than one interval
    of a hundred: relative to a velocity near zero, a correction at round-off is no small part. `measured` is the largest number of
    iterations of one step.
    """
    solver, options = facts.traj.solver, facts.traj.meta.get("options", {})
    if facts.traj.stepper.python or not len(solver["iterations"]) or not solver["iterations"].any():
        return item("solver", NOT_APPLICABLE, None, None, "solver: no equation was solved iteratively")
    adaptive, whole = facts.traj.stepper.adaptive, solver["substeps"] == 0.0
    if not whole.any():
        return item("solver", NOT_APPLICABLE, None, None, "solver: all steps were split")
    allowed = options.get("max_substeps" if adaptive else "max_iterations")
    per_interval = facts.steps / len(whole)
    mean, most = float(solver["iterations"][whole].mean()) / per_interval, float(solver["max_iterations"][whole].max())
    left = solver["residual"][whole]
    what, tolerance = _left_over(facts, float(left.max()))
    limit = "" if allowed is None else f" (limit {allowed:g})"
    text = f"solver: {mean:.2g} {'internal steps' if adaptive else 'iterations'} per step, at most {most:.0f}{limit}, {what}"
    text += "" if whole.all() else ", steps that were split aside"
    good = (allowed is None or most < CLOSE * allowed) and np.mean(left > 2.0 * tolerance) <= RARE
    return item("solver", PASS if good else WARN, most, None, text, allowed)


def _left_over(facts: Facts, left: float) -> tuple[str, float]:
    """(words, tolerance) about what a solver reports as `info[1]`, at most `left`; infinite where the tolerance limits something else."""
    if facts.traj.stepper.adaptive:
        return f"error of an internal step at most {left:.2g} of its tolerance", 1.0
    if facts.family.expects:
        return f"last correction at most {left:.2g} of the velocity, the next one expected within {facts.tol:g}", np.inf
    corrects = facts.family.corrects
    what = f"last correction at most {left:.2g} of the velocity" if corrects else f"last residual at most {left:.2g}"
    return (f"{what} (tolerance {facts.tol:g})", facts.tol) if facts.tol else (what, np.inf)


def judge_split(facts: Facts) -> Item | None:
    """Steps that did not converge and were repeated in parts; None if there were none. `measured`: in how many recorded intervals."""
    parts = facts.traj.solver["substeps"]
    split = int(np.count_nonzero(parts))
    if not split:
        return None
    every = int(facts.traj.meta["every"])
    what = f"{split} of {len(parts)} steps were" if every == 1 else f"in {split} of {len(parts)} intervals of {every} steps, steps were"
    text = f"{what} split to converge (up to {parts.max():.0f} parts): there the map is not symplectic and energy is not promised"
    return item("split steps", WARN, split, None, f"{text}; try a smaller h")


def judge_held(facts: Facts) -> Item | None:
    """Forces given as functions that the stepper could only hold over its steps, which lowers its order; None if there were none."""
    held = facts.traj.meta.get("held_functions")
    if not held or facts.method_order == 1:
        return None
    text = f"force {', '.join(map(repr, held))} was held over each step, so the run is of order 1, not {facts.method_order}"
    return item("functions", WARN, 1.0, None, f"{text}; steppers of trees evaluate it where they need it")


def judge_status(facts: Facts) -> Item:
    """How the run ended."""
    status = facts.traj.status
    verdict = FAIL
    if status == "ok" or status.startswith("ended by monitor"):
        verdict = PASS
    elif status.startswith(ENDED_EARLY):
        verdict = WARN
    return item("run", verdict, None, None, f"run: {status} at t = {facts.traj.t[-1]:g} s")
