"""What a worker does with some samples: run them and observe. Tasks are pickled once for each worker.

CompiledTask    one system, numbers and starts that differ: one compiled loop over samples
SimulatedTask   a function that builds machines, a Python control, engines with a loop of their own: `simulate`, one by one
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from dalembert.ensembles.batch import CompiledBatch, TrajectoryBatch
from dalembert.ensembles.observers import USERS, observe
from dalembert.ensembles.rows import RAISED, REFUSED, Rows, empty_rows, put, put_observed
from dalembert.ensembles.samples import Samples
from dalembert.ensembles.starts import as_text, base_of, plain_starts, refusal, setting
from dalembert.errors import OptionError
from dalembert.kernels._jit import first_class
from dalembert.kernels.many import MANY, run_many
from dalembert.kernels.status import MEANING, OK
from dalembert.runs import checks
from dalembert.runs.controls import CompiledControl, for_steps
from dalembert.runs.plan import Plan
from dalembert.runs.simulate import simulate
from dalembert.systems import System, as_system

BATCH_BYTES = 2**24  # of states that a job keeps at a time
KEPT_NODES = 10_000  # of a run that nobody observes


@dataclass(frozen=True)
class Common:
    """What all samples share: stepper, step, time, and what is looked at. every: nodes that observers see, 0: the last one alone."""

    stepper: str | None
    h: Any
    t_end: float
    every: int = 1
    compose: str | None = None
    ignore: Any = ()
    control: Any = None
    observers: dict[str, Any] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    q0: Any = None
    v0: Any = None

    def plan(self, system: Any, h: Any = None) -> Plan:
        """Of a system."""
        return Plan.of(system, self.stepper, self.h if h is None else h, self.compose, self.ignore, "ensemble", **self.options)


@dataclass(frozen=True)
class CompiledTask:
    """Starts and numbers of one system."""

    system: Any
    common: Common

    def __call__(self, index: np.ndarray, samples: Samples) -> Rows:
        """Rows of the samples."""
        rows = empty_rows(index, self.system.nq, self.system.nv)
        given = plain_starts(self.system, samples, self.common.q0, self.common.v0)
        if given is not None:
            h, n = checks.step_count(self.common.h, self.common.t_end)
            plan = self.common.plan(self.system, h)
            engine = self._engine(plan, n)
            with np.errstate(all="ignore"):  # a start that is too large ends in a row
                states = None if plan.family.starts is None else plan.family.starts(plan.acting, plan.arrays(), *given)
            if states is not None:
                self._run(rows, np.arange(len(index)), [plan], engine, states, np.zeros(len(index), dtype=np.int64), n)
                return rows
        groups: dict[Any, list[int]] = {}
        settings: list[Any] = []
        base = base_of(self.system, self.common.q0, self.common.v0)
        for b in range(len(index)):
            try:
                settings.append(setting(samples[b], base))
                key = self._times(settings[b])
            except Exception as error:
                settings.append(None) if len(settings) == b else None
                rows.code[b], rows.errors[b] = REFUSED, refusal(error)
                continue
            groups.setdefault(key, []).append(b)
        for (h, n), members in groups.items():
            for piece in self._pieces(members, n):
                try:
                    self._group(rows, np.array(piece), [settings[b] for b in piece], h, n)
                except Exception as error:  # of this step and time: a control of other steps, no memory for so many nodes
                    for b in piece:
                        rows.code[b], rows.errors[b] = REFUSED, refusal(error)
        return rows

    def _times(self, one: Any) -> tuple[float, int]:
        h = self.common.h if one.h is None else one.h
        t_end = self.common.t_end if one.t_end is None else one.t_end
        step, n = checks.step_count(checks.seconds("h", h), t_end)
        if self.common.every:
            checks.check_every(self.common.every, n)
            checks.check_memory(n // self.common.every + 1, self._row_bytes)
        return step, n

    @property
    def _row_bytes(self) -> int:
        """Of a node: its state and what is made of it."""
        return 8 * 8 * (self.system.nq + self.system.nv)

    def portion(self, n: int) -> int:
        """How many samples of n steps are kept at a time."""
        nodes = 1 if not self.common.every else n // self.common.every + 1
        return int(max(1, BATCH_BYTES // (nodes * self._row_bytes)))

    def _pieces(self, members: list[int], n: int) -> list[list[int]]:
        size = self.portion(n)
        return [members[k : k + size] for k in range(0, len(members), size)]

    def _group(self, rows: Rows, members: np.ndarray, settings: list[Any], h: float, n: int) -> None:
        """Samples of one step and time."""
        common, base = self.common, self.common.plan(self.system, h)
        engine, plans, varied = self._engine(base, n), [], any(one.values for one in settings)
        starts, codes = None, np.zeros(len(settings), dtype=np.int64)
        for k, one in enumerate(settings):
            try:
                plan = common.plan(self.system.with_values(one.values), h) if one.values else base
                start = _state(plan, *plan.start(one.q0, one.v0))
                starts = np.zeros((len(settings), len(start))) if starts is None else starts
                starts[k] = start
            except Exception as error:
                plan, codes[k] = base, REFUSED
                rows.code[members[k]], rows.errors[members[k]] = REFUSED, refusal(error)
            plans.append(plan)
        if starts is None:
            return
        self._run(rows, members, plans if varied else [base], engine, starts, codes, n)

    def _engine(self, plan: Plan, n: int) -> Any:
        """Made before states are: it loads the kernels that these call."""
        return plan.engine(for_steps(self.common.control, "ensemble", self.system.nv, n, plan.h))

    def _run(self, rows: Rows, members: np.ndarray, plans: list[Plan], engine: Any, starts: np.ndarray, codes: np.ndarray, n: int) -> None:
        """n steps from the starts. plans: of each sample, or one that all share."""
        common, h = self.common, plans[0].h
        every = common.every or n
        states, log, steps = _run(engine, np.stack([plan.arrays() for plan in plans]), starts, codes, n, every)
        ended = rows.index[members], codes, steps
        batch = CompiledBatch(plans, ended, n, every, (states, log), common.control is not None)
        self._collect(rows, members, batch, starts, h)

    def _collect(self, rows: Rows, members: np.ndarray, batch: CompiledBatch, starts: np.ndarray, h: float) -> None:
        """Last nodes, sentences, what was observed."""
        plans, ran = batch.plans, np.flatnonzero(batch.code != REFUSED)
        at = members[ran]
        shared = len(batch.plans) == 1
        found = [plans[0].read(starts[ran], batch.held)] if shared else [plans[k].read(starts[k : k + 1], batch.held) for k in ran]
        rows.q[at], rows.v[at] = (np.concatenate([f[name] for f in found]) if found else rows.q[at] for name in ("q", "v"))
        rows.code[at], rows.steps[at], rows.t[at] = batch.code[ran], batch.steps[ran], batch.steps[ran] * h
        for k in ran[batch.code[ran] != OK]:
            step = int(batch.steps[k])
            rows.errors[members[k]] = f"step {step + 1}, from t = {step * h:.6g} s: {MEANING.get(int(batch.code[k]), 'failed')}."
        observed, problems = observe(self.common.observers, batch)
        for k, text in problems.items():
            rows.code[members[k]], rows.errors[members[k]] = RAISED, text
        put_observed(rows.observed, len(rows.index), members, observed)


def _state(plan: Plan, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """The flat state of a start."""
    system = plan.arrays()
    state = plan.family.start(system, q, v)
    if plan.family.expect is not None:
        plan.family.expect(plan.acting, system, q, v, state)
    return state if plan.family.usable is None else plan.family.usable(system, state)


def _run(
    engine: Any, systems: np.ndarray, starts: np.ndarray, codes: np.ndarray, n: int, every: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(states with the starts, log, steps): the compiled loop over samples; starts then hold the last nodes."""
    samples, size = starts.shape
    rows, columns = n // every, engine.tally.size
    states, log = np.empty((samples * rows, size)), np.zeros((samples * rows, columns))
    steps, first = np.zeros(samples, dtype=np.int64), starts.copy()
    first_class(run_many, MANY)(
        *engine._functions, engine.h, n, every, engine.weights, np.ascontiguousarray(systems), starts, np.empty(size), engine.work,
        engine.info, engine.q, engine.v, engine.tau, engine.tally, engine.counter, engine.table, states, log, codes, steps,
    )  # fmt: skip
    whole = np.concatenate([first[:, None], states.reshape(samples, rows, size)], axis=1)
    return whole, log.reshape(samples, rows, columns), steps


@dataclass(frozen=True)
class SimulatedTask:
    """Runs that are made one by one. build: a system, or a function of a sample: a system, or (system, keywords of simulate)."""

    build: Any
    common: Common

    def __call__(self, index: np.ndarray, samples: Samples) -> Rows:
        """Rows of the samples."""
        whole: Rows | None = None
        for b, i in enumerate(index):
            rows = self._one(int(i), samples[b])
            if whole is None or whole.q.shape[1] < rows.q.shape[1] or whole.v.shape[1] < rows.v.shape[1]:
                whole = _wider(whole, index, rows)
            put(whole, np.array([b]), _padded(rows, whole))
        return empty_rows(index, 0, 0) if whole is None else whole

    def simulated(self, sample: dict[str, Any], **more: Any) -> Any:
        """The run of a sample."""
        common = self.common
        given: dict[str, Any] = {"stepper": common.stepper, "h": common.h, "t_end": common.t_end, "control": common.control}
        given |= {"compose": common.compose, "ignore": common.ignore, **common.options}
        if isinstance(self.build, System):
            one = setting(sample, base_of(self.build, common.q0, common.v0))
            system: Any = self.build.with_values(one.values) if one.values else self.build
            given |= {"q0": one.q0, "v0": one.v0} | {k: x for k, x in (("h", one.h), ("t_end", one.t_end)) if x is not None}
        else:
            made = self.build(sample)
            system, own = made if isinstance(made, tuple) and len(made) == 2 else (made, {})
            if not isinstance(own, dict):
                raise OptionError(f"build returned {type(own).__name__} beside a system; expected a mapping of keywords of simulate.")
            given |= {"q0": common.q0, "v0": common.v0} | own
        as_system(system, "ensemble")
        given.setdefault("every", common.every or _few(given["h"], given["t_end"]))
        return simulate(system, **{**given, "on_fail": "return", "progress": False, **more})

    def _one(self, i: int, sample: dict[str, Any]) -> Rows:
        index = np.array([i])
        try:
            run = self.simulated(sample)
        except USERS as error:
            rows = empty_rows(index, 0, 0)
            rows.code[0], rows.errors[0] = REFUSED, refusal(error)
            return rows
        code = _code(run.status)
        rows = Rows(
            index, np.array([code]), np.array([round(run.t[-1] / run.h)]), run.t[-1:], run.q[-1:], run.v[-1:],
            ["" if run.status == "ok" else as_text(run.status)], {},
        )  # fmt: skip
        observed, problems = observe(self.common.observers, TrajectoryBatch(index, [run], rows.code))
        for text in problems.values():
            rows.code[0], rows.errors[0] = RAISED, text
        put_observed(rows.observed, 1, np.array([0]), observed)
        return rows


def _few(h: Any, t_end: Any) -> int:
    """How often a node is kept where nobody looks: a long run keeps few, a short one all, so that the last before a failure is known."""
    try:
        n = checks.step_count(h, t_end)[1]
    except OptionError:  # `simulate` tells what is wrong
        return 1
    return checks.largest_divisor(n, max(1, n // KEPT_NODES))


def _code(status: str) -> int:
    """Of the sentence of a run: that of the loop where a step failed, else the user's own code raised. Ctrl-C ends the study, no sample."""
    if status == "interrupted":
        raise KeyboardInterrupt
    if status == "ok" or status.startswith("ended by monitor"):
        return OK
    return next((code for code in sorted(MEANING, key=lambda c: -len(MEANING[c])) if code != OK and MEANING[code] in status), RAISED)


def _padded(rows: Rows, whole: Rows) -> Rows:
    """Rows of a smaller machine, NaN for what it has not."""
    wide = []
    for own, other in ((rows.q, whole.q), (rows.v, whole.v)):
        out = np.full((len(own), other.shape[1]), np.nan)
        out[:, : own.shape[1]] = own
        wide.append(out)
    return replace(rows, q=wide[0], v=wide[1])


def _wider(whole: Rows | None, index: np.ndarray, rows: Rows) -> Rows:
    """The rows so far with room for a larger machine."""
    if whole is None:
        return empty_rows(index, rows.q.shape[1], rows.v.shape[1])
    room = empty_rows(index, max(whole.q.shape[1], rows.q.shape[1]), max(whole.v.shape[1], rows.v.shape[1]))
    return _padded(whole, room)


def task_of(build: Any, common: Common) -> CompiledTask | SimulatedTask:
    """The quickest way to run samples of what is built."""
    if not isinstance(build, System):
        if not callable(build):
            raise OptionError(f"ensemble: build is {build!r}; expected a Model or Lagrangian, or a function of a sample that returns one.")
        return SimulatedTask(build, common)
    system = build.frozen()
    plan = common.plan(system)
    compiled = plan.stepper.engine_name == "compiled" and not plan.functions and plan.given is None and plan.h > 0.0
    plain = common.control is None or isinstance(common.control, (CompiledControl, np.ndarray, list, tuple))
    return CompiledTask(system, common) if compiled and plain else SimulatedTask(system, common)
