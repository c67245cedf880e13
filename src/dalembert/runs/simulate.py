"""`simulate`: from a model to a trajectory."""

from __future__ import annotations

import warnings
from typing import Any

from dalembert.errors import OptionError
from dalembert.runs import checks
from dalembert.runs.automatic import certified_step
from dalembert.runs.controls import for_steps
from dalembert.runs.functions import names_of_functions
from dalembert.runs.plan import Plan
from dalembert.runs.recording import Recording
from dalembert.runs.run import Run
from dalembert.runs.trajectory import Trajectory
from dalembert.systems import System, as_system

BYTES_PER_NUMBER = 8 * 3  # the row, and copies while rows are joined and derived quantities are computed


def simulate(
    m: System,
    stepper: str | None = None,
    h: float | str = 0.01,
    t_end: float = 10.0,
    q0: Any = None,
    v0: Any = None,
    control: Any = None,
    every: int = 1,
    compose: str | None = None,
    save: Any = None,
    overwrite: bool = False,
    progress: bool | None = None,
    on_fail: str = "raise",
    ignore: Any = (),
    monitors: Any = (),
    **stepper_options: Any,
) -> Trajectory:
    """Simulate a model from t = 0 to t_end with a fixed step h.

    h: s, or "auto": the run is repeated with smaller steps until every step of it is certified; see `automatic.py`.
    stepper: a name from `dal.steppers()`; None takes the registry's first that handles the model.
    q0, v0: arrays, or {joint: values}; default: reference configuration, at rest.
    control: control(t, q, v) -> tau, sampled at nodes and held over the step; `dal.compiled(f)` with f(t, q, v, out) keeps the loop
    compiled. Or an array (N, nv), a row for each of the N = t_end / h steps, which runs without Python too. A composition samples it once
    per step and holds it over all substeps: the order is that of the motion under the held force. `traj.control` has what was held.
    A force of the model that is a function (`m.add_force(f)`) is evaluated where the step evaluates its forces.
    every: keep the state every so many steps. compose: e.g. "suzuki4", raises the order of a self-adjoint stepper.
    save: stream to this HDF5 file while running; a killed run can be loaded and resumed.
    monitors: functions monitor(t, q, v), called about ten times a second and at the end with the latest node; a true answer ends the run.
    ignore: names of features to run without, such as "contact" or ("limits", "joint friction"); they are taken out of the motion, the
    energy and the report. List: model/features.py; of a Lagrangian: force, damping, holonomic, nonholonomic, unilateral.
    on_fail: "raise" a SimulationError (its .traj holds what was computed) or "return" the trajectory with its status.
    Ctrl-C returns what was computed.
    """
    as_system(m, "simulate")
    checks.check_on_fail(on_fail)
    checks.check_progress(progress)
    monitors = checks.check_monitors(monitors)
    plan = Plan.chosen("simulate", m, stepper, h, compose, ignore, stepper_options)
    q, v = plan.start(q0, v0)
    automatic = plan.h == 0.0
    if automatic:
        checks.step_count(t_end, t_end)
        if control is not None or plan.functions:
            raise OptionError("h='auto' with a control, or with forces given as functions: no proof covers what it will do; give h.")
        start = {"t_end": t_end, "q0": q, "v0": v, "ignore": plan.ignore, "progress": progress, "on_fail": "return", **stepper_options}
        h = certified_step(plan, q, v, t_end, lambda h: simulate(plan.system, plan.stepper.name, h, **start))
    step, n = checks.step_count(h, t_end)
    plan = plan.at(step)
    every = checks.check_every(every, n)
    control = for_steps(control, "simulate", len(v), n, step)
    meta = plan.meta(control)
    meta.update(t_end=n * step, every=every, status="running", **({"h_auto": True} if automatic else {}))
    meta.update(describe_functions(plan))
    engine = plan.engine(control)
    engine.start(q, v)
    if save is None:
        checks.check_memory(n // every + 1, BYTES_PER_NUMBER * (engine.state.size + 2 * (len(q) + len(v))))
    run = Run(plan, engine, meta, None, progress, monitors)
    if save is not None:
        run.recording = Recording.create(save, plan.system, plan.stepper, meta, overwrite)
    run.record_first()
    return run.to_end(n, on_fail)


def describe_functions(plan: Plan) -> dict[str, Any]:
    """What a file says of forces given as functions; a warning where the stepper can only hold them over its steps."""
    functions = names_of_functions(plan.acting if plan.given is None else plan.given)
    held = functions if functions and not plan.evaluates_functions else []
    if held and plan.stepper.order > 1:
        warnings.warn(
            f"stepper {plan.stepper.name!r} holds force {', '.join(map(repr, held))} of model {plan.system.name!r} over each step: the run "
            f"is of order 1, not {plan.stepper.order}. Steppers of trees ('midpoint', 'trapezoidal', 'mk4', ...) evaluate it where they "
            "need it.",
            stacklevel=3,
        )
    return {"functions": len(functions), "held_functions": held, **({"control": "python"} if held else {})}
