"""What a worker does with some samples: run them and observe. Tasks are pickled once for each worker.

CompiledTask    one system, numbers and starts that differ: one compiled loop over samples (ensembles/compiled.py)
SimulatedTask   a function that builds machines, a Python control, engines with a loop of their own: `simulate`, one by one
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dalembert.ensembles.batch import TrajectoryBatch
from dalembert.ensembles.common import Common
from dalembert.ensembles.compiled import CompiledTask
from dalembert.ensembles.observers import USERS, observe
from dalembert.ensembles.rows import RAISED, REFUSED, Rows, empty_rows, put, put_observed
from dalembert.ensembles.samples import Samples
from dalembert.ensembles.starts import as_text, base_of, refusal, setting
from dalembert.errors import OptionError
from dalembert.kernels.status import MEANING, OK
from dalembert.runs import checks
from dalembert.runs.controls import CompiledControl
from dalembert.runs.simulate import simulate
from dalembert.systems import System, as_system

KEPT_NODES = 10_000  # of a run that nobody observes


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
