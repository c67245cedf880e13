"""`resume`: a saved run goes on."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

from dalembert.errors import ArchiveError, OptionError
from dalembert.io import file_path
from dalembert.model.joints import KINDS
from dalembert.runs import checks, environment
from dalembert.runs.controls import for_steps
from dalembert.runs.engines import restart, table_columns
from dalembert.runs.plan import Plan
from dalembert.runs.recording import Recording, load
from dalembert.runs.run import Run
from dalembert.runs.stored import StoredTrajectory
from dalembert.runs.trajectory import Trajectory


def resume(
    path: Any, t_end: float, control: Any = None, progress: bool | None = None, on_fail: str = "raise", monitors: Any = ()
) -> Trajectory:
    """Continue a saved run to t_end, in the same file, bit for bit as if it had never been interrupted.

    Bit for bit holds on the same CPU model with the same versions; both are recorded in the file and a warning says what differs. SciPy's
    adaptive solvers (`dop853`, `lsoda`) start anew from the checkpoint, and repeat the run to their tolerances.
    A run with a control needs the same control again; as an array (steps that remain, nv).
    """
    checks.check_on_fail(on_fail)
    checks.check_progress(progress)
    monitors = checks.check_monitors(monitors)
    path = file_path("resume", path)
    traj = load(path)
    meta = dict(traj.meta)
    _compare_environment(path, meta)
    if meta.get("functions"):
        raise OptionError(f"{path}: the model had {meta['functions']} force(s) given as functions, which a file cannot hold; run it anew.")
    if (meta["control"] is None) != (control is None):
        had = "no control" if control is not None else _had(meta["control"])
        raise OptionError(f"{path}: the run had {had}.")
    if meta.get("h_changes"):
        raise OptionError(f"{path}: the step size was changed during the run; start a new run from its last q and v.")
    plan = Plan.from_meta(traj.model, traj.stepper, meta)
    h, n = checks.step_count(meta["h"], t_end)
    done = (len(traj) - 1) * meta["every"]
    if n < done:
        raise OptionError(f"{path}: the run has reached t = {traj.t[-1]:g} s already; t_end = {t_end:g} s lies before.")
    checks.check_every(meta["every"], n)
    (q, v), state = traj._first, traj._last_state
    engine = plan.engine(for_steps(control, "resume", _width(meta, v), n, h, done))
    engine.start(q, v)
    if engine.state.size != len(state):
        raise ArchiveError(
            f"{path}: states hold {len(state)} numbers, those of stepper {plan.stepper.name!r} now {engine.state.size}: the file "
            "was written by another version. Its trajectory can be read; a new run may start from its last q and v."
        )
    _compare_tables(path, meta, engine)
    restart(engine, state, done, traj._last_tables)
    meta.update(t_end=n * h, status="running")
    run = Run(plan, engine, meta, Recording.extend(path, traj, meta), progress, monitors)
    run.long = isinstance(traj, StoredTrajectory)
    if not run.long:
        run.t, run.states, run.logs = [traj.t], [traj.states], [traj._log]
        run.tables = [traj._tables] if traj._tables else []
    run.split = traj._splits
    return run.to_end(n, on_fail)


def _width(meta: dict, v: Any) -> int:
    """Columns of a control."""
    return sum(KINDS[kind].nv for kind, _ in meta["coordinates"]) if meta.get("coordinates") else len(v)


def _had(kind: str) -> str:
    """What to do about the control of a run."""
    if kind == "array":
        return "a control for each of its steps (traj.control): pass control= with a row for each step that remains"
    return "a control, which a file cannot hold: pass control="


def _compare_tables(path: Path, meta: dict, engine: Any) -> None:
    """Ragged tables go on with the columns that they have."""
    then, now = meta.get("tables", {}), {name: list(names) for name, names in table_columns(engine).items()}
    if then != now:
        raise ArchiveError(
            f"{path}: ragged tables are {then}, those of stepper {meta['stepper']!r} now {now}: the file was written by another "
            "version. Its trajectory can be read; a new run may start from its last q and v."
        )


def _compare_environment(path: Path, meta: dict) -> None:
    then = {**meta["versions"], **meta["machine"]}
    now = {**environment.versions(), **environment.machine()}
    differs = [f"{what}: {value} then, {now.get(what)} now" for what, value in then.items() if now.get(what) != value]
    if differs:
        warnings.warn(f"{path}: resumed under other conditions, so not bit for bit ({'; '.join(differs)}).", stacklevel=3)
