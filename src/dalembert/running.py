"""`simulate` and `resume`: from a model to a trajectory."""

from __future__ import annotations

import contextlib
import signal
import threading
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from dalembert import environment, options
from dalembert.automatic import certified_step
from dalembert.engine import Stopping, evaluates_functions, make_engine
from dalembert.errors import ArchiveError, OptionError, SimulationError, UnsupportedError
from dalembert.families import Family, find_family
from dalembert.functions import given_functions
from dalembert.inputs import CompiledControl, check_control
from dalembert.io import file_path
from dalembert.kernels.loop import LOG_COLUMNS, SUBSTEPS
from dalembert.kernels.status import MEANING, OK
from dalembert.lagrangian import Lagrangian
from dalembert.model import Model
from dalembert.progress import Progress
from dalembert.recording import Recording, load
from dalembert.registry import Stepper
from dalembert.steppers.compose import find_composition
from dalembert.trajectory import Trajectory

CHUNK_SECONDS = 0.1
BYTES_PER_NUMBER = 8 * 3  # the row, and copies while rows are joined and derived quantities are computed


def simulate(
    m: Model | Lagrangian,
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
    compiled. A composition samples it once per step and holds it over all substeps: the order is that of the motion under the held
    force. A force of the model that is a function (`m.add_force(f)`) is evaluated where the step evaluates its forces.
    every: keep the state every so many steps. compose: e.g. "suzuki4", raises the order of a self-adjoint stepper.
    save: stream to this HDF5 file while running; a killed run can be loaded and resumed.
    monitors: functions monitor(t, q, v), called about ten times a second and at the end with the latest node; a true answer ends the run.
    ignore: names of features to run without, such as "contact" or ("limits", "joint friction"); they are taken out of the motion, the
    energy and the report. List: model/features.py; of a Lagrangian: force, damping, holonomic, nonholonomic.
    on_fail: "raise" a SimulationError (its .traj holds what was computed) or "return" the trajectory with its status.
    Ctrl-C returns what was computed.
    """
    if not isinstance(m, (Model, Lagrangian)):
        raise OptionError(f"simulate: the first argument is {type(m).__name__!r}; expected a Model or a Lagrangian.")
    options.check_on_fail(on_fail)
    options.check_progress(progress)
    monitors = options.check_monitors(monitors)
    model: Any = m.frozen()
    ignore = model.check_features(ignore)
    acting = model.without(ignore)
    automatic = isinstance(h, str) and h == "auto"
    family, method = options.choose_stepper(model, stepper, ignore, proved=automatic)
    resolved = method.resolve(stepper_options)
    q, v = model.check_q(q0), model.check_v(v0)
    check_control(control, "simulate")
    options.check_start(model, family, method, q, v, ignore)
    weights = composition_weights(compose, method, acting, family, h)
    if automatic:
        options.step_count(t_end, t_end)
        if control is not None or given_functions(acting):
            raise OptionError("h='auto' with a control, or with forces given as functions: no proof covers what it will do; give h.")
        start = {"t_end": t_end, "q0": q, "v0": v, "ignore": ignore, "progress": progress, "on_fail": "return", **stepper_options}
        h = certified_step(acting, family, method, q, v, t_end, lambda h: simulate(model, method.name, h, **start))
    step, n = options.step_count(h, t_end)
    every = options.check_every(every, n)
    meta = run_description(method, compose, family, step, resolved, ignore, control)
    meta.update(t_end=n * step, every=every, status="running", **({"h_auto": True} if automatic else {}))
    meta.update(describe_functions(acting, method))
    engine = make_engine(acting, family, method, step, resolved, control, weights)
    engine.start(q, v)
    options.check_memory(n // every + 1, BYTES_PER_NUMBER * (engine.state.size + 2 * (model.nq + model.nv)))
    recording = Recording.create(save, model, meta, overwrite) if save is not None else None
    run = Run(model, family, method, engine, meta, recording, progress, monitors)
    run.record_first()
    return run.to_end(n, on_fail)


def describe_functions(model: Any, method: Stepper) -> dict[str, Any]:
    """What a file says of forces given as functions; a warning where the stepper can only hold them over its steps."""
    functions = [f.name for f in model.forces if f.kind == "function"]
    held = functions if functions and not evaluates_functions(model, method) else []
    if held:
        warnings.warn(
            f"stepper {method.name!r} holds force {', '.join(map(repr, held))} of model {model.name!r} over each step: the run is of order "
            f"1, not {method.order}. Steppers of trees ('midpoint', 'trapezoidal', 'mk4', ...) evaluate it where they need it.",
            stacklevel=3,
        )
    return {"functions": len(functions), "held_functions": held, **({"control": "python"} if held else {})}


def run_description(
    method: Stepper, compose: str | None, family: Family, h: float, resolved: dict, ignore: tuple[str, ...], control: Any
) -> dict[str, Any]:
    """What a file must say about a run beside its model."""
    return {
        "stepper": method.name,
        "method": method.name if compose is None else f"{method.name} + {compose}",
        "family": family.name,
        "h": h,
        "t_end": 0.0,
        "every": 1,
        "compose": compose,
        "options": resolved,
        "ignore": list(ignore),
        "control": None if control is None else ("compiled" if isinstance(control, CompiledControl) else "python"),
        "versions": environment.versions(),
        "machine": environment.machine(),
        "status": "ok",
    }


def composition_weights(compose: str | None, method: Stepper, model: Model, family: Family, h: Any) -> Any:
    """Weights of the substeps; refuses what a composition cannot do."""
    if compose is None:
        return (1.0,)
    composition = find_composition(compose)
    if not method.self_adjoint:
        raise UnsupportedError(
            f"compose={compose!r}: stepper {method.name!r} is not self-adjoint, so a composition does not raise its order."
        )
    if method.order != 2:
        raise UnsupportedError(f"compose={compose!r}: stepper {method.name!r} has order {method.order}; these compositions raise order 2.")
    if "damping" in family.features(model):
        raise UnsupportedError(f"compose={compose!r}: model {model.name!r} is dissipative, and negative substeps would undo its damping.")
    _refuse_functions(compose, method, model)
    if isinstance(h, str) and h == "auto":
        raise OptionError("compose with h='auto': a certified step size holds for single steps only; give h.")
    return composition.weights


def _refuse_functions(compose: str, method: Stepper, model: Any) -> None:
    """UnsupportedError where a force given as a function is held over the step, or takes energy (seen at the reference configuration)."""
    functions = given_functions(model)
    if not functions:
        return
    if not evaluates_functions(model, method):
        raise UnsupportedError(
            f"compose={compose!r}: stepper {method.name!r} holds the forces of model {model.name!r} that are functions over its steps, so "
            "the order stays 1; steppers of trees ('midpoint', 'trapezoidal') evaluate them."
        )
    q, rng = model.neutral(), np.random.default_rng(0)
    for name, f in zip((f.name for f in model.forces if f.kind == "function"), functions, strict=True):
        for v in rng.normal(size=(8, model.nv)):
            there, back, rest = (np.asarray(f(0.0, q.copy(), s * v), dtype=float) for s in (1.0, -1.0, 0.0))
            if (there - back) @ v < -1e-9 * float(np.abs(v) @ (np.abs(there) + np.abs(back) + np.abs(rest))):
                raise UnsupportedError(
                    f"compose={compose!r}: force {name!r} of model {model.name!r} takes energy at v = {np.round(v, 3).tolist()}, and "
                    "negative substeps would undo that."
                )


class Run:
    """The loop in Python: chunks of compiled steps, and between them progress, saving, monitors and Ctrl-C."""

    def __init__(
        self, model: Model, family: Family, method: Stepper, engine: Any, meta: dict, recording: Any, progress: bool | None, monitors: tuple
    ):
        self.model, self.family, self.method, self.engine = model, family, method, engine
        self.meta, self.recording, self.monitors = meta, recording, monitors
        self.progress = progress
        self.states: list[np.ndarray] = []
        self.logs: list[np.ndarray] = []
        self.raised_by = "control"

    def record_first(self) -> None:
        """Node 0."""
        self._keep(self.engine.state[None, :].copy(), np.zeros((1, len(LOG_COLUMNS))))
        if self.recording is not None:
            self.recording.begin(self.trajectory())

    def _keep(self, states: np.ndarray, log: np.ndarray) -> ArchiveError | None:
        """Keep rows in memory and in the file. A full disk ends the run; what was computed stays in memory."""
        self.states.append(states)
        self.logs.append(log)
        if self.recording is not None and len(states):
            try:
                self.recording.append(states, log)
            except ArchiveError as problem:
                return problem
        return None

    def to_end(self, n: int, on_fail: str) -> Trajectory:
        """All steps up to step n, or as many as can be done."""
        status, stopped = OK, ""
        error: Stopping | None = None
        every = self.meta["every"]
        chunk = 1
        with interrupt_flag() as interrupted, Progress(self.progress, self.meta["method"], self.engine.steps, n, self.engine.h) as bar:
            while self.engine.steps < n and status == OK and error is None and not interrupted.is_set() and not stopped:
                began = time.perf_counter()
                before = self.engine.steps
                status, states, log, error = self.engine.advance(min(chunk, n - before), every, interrupted.is_set)
                error = self._keep(states, log) or self._by_user(error)
                elapsed = max(time.perf_counter() - began, 1e-9)
                chunk = max(1, int(min(2 * chunk + 1, (self.engine.steps - before) * CHUNK_SECONDS / elapsed + 1)))
                bar.update(self.engine.steps)
                if error is None:
                    stopped, error = self._ask_monitors()
        ending = "interrupted" if interrupted.is_set() or isinstance(error, KeyboardInterrupt) else stopped or "ok"
        return self._finish(status, None if isinstance(error, KeyboardInterrupt) else error, ending, on_fail)

    def _by_user(self, error: Stopping | None) -> Stopping | None:
        """Remember whose code raised."""
        self.raised_by = f"stepper {self.method.name!r}" if self.method.python or self.meta["control"] is None else "control"
        return error

    def _ask_monitors(self) -> tuple[str, Stopping | None]:
        """Why a monitor ends the run, or what it raised."""
        if not self.monitors:
            return "", None
        q, v = self.engine.observe()
        for monitor in self.monitors:
            name = getattr(monitor, "__name__", str(monitor))
            try:
                if monitor(self.engine.time, q.copy(), v.copy()):
                    return f"ended by monitor {name}", None
            except (Exception, KeyboardInterrupt) as problem:  # the user's code: the run is kept
                self.raised_by = f"monitor {name}"
                return "", problem
        return "", None

    def _finish(self, status: int, error: Exception | None, ending: str, on_fail: str) -> Trajectory:
        message = "" if status == OK else self._failure(status)
        if error is not None:
            message = f"step {self.engine.steps} at t = {self.engine.time:.6g} s: {self._said(error)}"
        self.meta["status"] = message or ending
        split = int(sum(np.count_nonzero(log[:, SUBSTEPS]) for log in self.logs))
        if split:
            self.meta["rescued"] = split  # recorded intervals in which a step was split: see traj.solver["substeps"]
        traj = self.trajectory()
        if self.recording is not None:
            self._close(traj)
        if message and on_fail == "raise":
            raise SimulationError(
                message,
                traj,
                step=self.engine.steps,
                time=self.engine.time,
                h=self.engine.h,
                residual=float(self.engine.info[1]),
                status=status,
            ) from error
        return traj

    def _said(self, error: Exception) -> str:
        """An exception as words: those of a user's code name the code, type and message."""
        return str(error) if isinstance(error, ArchiveError) else f"{self.raised_by}: {type(error).__name__}: {error}"

    def _close(self, traj: Trajectory) -> None:
        """Merge the file; where that fails, an error that carries the trajectory."""
        try:
            self.recording.close(traj)
        except ArchiveError as problem:
            raise SimulationError(f"the run is in memory (err.traj), but its file could not be closed: {problem}", traj) from problem

    def _failure(self, status: int) -> str:
        e = self.engine
        text = f"step {e.steps} at t = {e.time:.6g} s with h = {e.h:g} s ({self.meta['method']}): {MEANING[status]}"
        if "tol" in self.meta["options"]:
            what = "relative residual" if self.meta["family"] == "rigid-body" else "last correction relative to the velocity"
            text += f"; {what} {e.info[1]:.3g} after {int(e.info[0])} iterations, tolerance {self.meta['options']['tol']:g}"
        return text + ". " + self._remedy()

    def _remedy(self) -> str:
        kept = "Everything before this step is in the trajectory."
        if self.method.python:
            return kept
        q, v = self.engine.observe()
        rescue = "; rescue=True repeats such a step in smaller parts" if self.meta["options"].get("rescue") is False else ""
        try:
            with np.errstate(all="ignore"):  # at an overflowing state the advice may be 0 or nothing, but not a warning
                advice = self.family.advise(self.model.without(self.meta["ignore"]), q, v, self.method.name)
        except (UnsupportedError, OptionError, KeyError):
            return f"Try a smaller h{rescue}. {kept}"
        bound = min(advice.h_newton, advice.h_jacobian)  # the smaller one guarantees both
        if self.family.kind == "tree":
            if advice.rigorous.get("h_newton") and 0 < bound < self.engine.h:
                return f"A step of h = {bound:.4g} s is provably solvable here{rescue}. {kept}"
            return f"Try a smaller h{rescue}. {kept}"
        if 0 < bound < np.inf:
            return f"The largest step that is provably solvable here is h = {bound:.4g} s. {kept}"
        other = "" if self.method.name == "cayley" else ", or stepper 'cayley'"
        return f"No step size is provably safe for this method; try a smaller h{other}. {kept}"

    def trajectory(self) -> Trajectory:
        """Everything recorded so far."""
        states, log = np.concatenate(self.states), np.concatenate(self.logs)
        every, h = self.meta["every"], self.meta["h"]
        t = (np.arange(len(states)) * every) * h
        return Trajectory(self.model, self.method, dict(self.meta), t, states, log, self.engine.unpack(states))


@contextlib.contextmanager
def interrupt_flag() -> Iterator[threading.Event]:
    """An event that Ctrl-C sets instead of raising; a second Ctrl-C raises as usual. Elsewhere than in the main thread: never set."""
    flag = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield flag
        return
    before = signal.getsignal(signal.SIGINT)

    def on_interrupt(number: int, frame: Any) -> None:
        flag.set()
        signal.signal(signal.SIGINT, before)

    signal.signal(signal.SIGINT, on_interrupt)
    try:
        yield flag
    finally:
        signal.signal(signal.SIGINT, before)


def resume(
    path: Any, t_end: float, control: Any = None, progress: bool | None = None, on_fail: str = "raise", monitors: Any = ()
) -> Trajectory:
    """Continue a saved run to t_end, in the same file, bit for bit as if it had never been interrupted.

    Bit for bit holds on the same CPU model with the same versions; both are recorded in the file and a warning says what differs. SciPy's
    adaptive solvers (`dop853`, `lsoda`) start anew from the checkpoint, and repeat the run to their tolerances.
    A run with a control needs the same control again.
    """
    options.check_on_fail(on_fail)
    options.check_progress(progress)
    monitors = options.check_monitors(monitors)
    check_control(control, "resume")
    path = file_path("resume", path)
    traj = load(path)
    meta = dict(traj.meta)
    _compare_environment(path, meta)
    if meta.get("functions"):
        raise OptionError(f"{path}: the model had {meta['functions']} force(s) given as functions, which a file cannot hold; run it anew.")
    if (meta["control"] is None) != (control is None):
        had = "a control, which a file cannot hold: pass control=" if control is None else "no control"
        raise OptionError(f"{path}: the run had {had}.")
    model, method = traj.model, traj.stepper
    family = find_family(model, meta["family"])
    h, n = options.step_count(meta["h"], t_end)
    done = (len(traj) - 1) * meta["every"]
    if n < done:
        raise OptionError(f"{path}: the run has reached t = {traj.t[-1]:g} s already; t_end = {t_end:g} s lies before.")
    options.check_every(meta["every"], n)
    acting = model.without(meta["ignore"])
    weights = composition_weights(meta["compose"], method, acting, family, h)
    engine = make_engine(acting, family, method, h, meta["options"], control, weights)
    engine.start(traj.q[0], traj.v[0])
    if engine.state.size != traj.states.shape[1]:
        raise ArchiveError(
            f"{path}: states hold {traj.states.shape[1]} numbers, those of stepper {method.name!r} now {engine.state.size}: the file was "
            "written by another version. Its trajectory can be read; a new run may start from its last q and v."
        )
    engine.restart(traj.states[-1], done)
    meta.update(t_end=n * h, status="running")
    run = Run(model, family, method, engine, meta, Recording.extend(path, traj, meta), progress, monitors)
    run.states, run.logs = [traj.states], [traj._log]
    return run.to_end(n, on_fail)


def _compare_environment(path: Path, meta: dict) -> None:
    then = {**meta["versions"], **meta["machine"]}
    now = {**environment.versions(), **environment.machine()}
    differs = [f"{what}: {value} then, {now.get(what)} now" for what, value in then.items() if now.get(what) != value]
    if differs:
        warnings.warn(f"{path}: resumed under other conditions, so not bit for bit ({'; '.join(differs)}).", stacklevel=3)
