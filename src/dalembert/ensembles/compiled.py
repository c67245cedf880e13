"""Samples of one system that differ in starts and numbers: one compiled loop over them.

Samples are taken together where each is of the same kind as the others: starts as rows of numbers, systems as rows of an array
(ensembles/variants.py). The others are looked at one by one before they run in that same loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dalembert.ensembles.batch import CompiledBatch
from dalembert.ensembles.common import Common
from dalembert.ensembles.observers import observe
from dalembert.ensembles.rows import RAISED, REFUSED, Rows, empty_rows, put_observed
from dalembert.ensembles.samples import Samples
from dalembert.ensembles.starts import base_of, plain_starts, refusal, setting
from dalembert.ensembles.variants import FEWEST, Plans, recipe_of, same_as_alone, state_of, states_of
from dalembert.errors import DalembertError
from dalembert.kernels._jit import first_class
from dalembert.kernels.many import MANY, run_many
from dalembert.kernels.status import MEANING, OK
from dalembert.runs import checks
from dalembert.runs.controls import for_steps
from dalembert.runs.plan import Plan

BATCH_BYTES = 2**24  # of states that a job keeps at a time
TIMES = ("h", "t_end")


@dataclass(frozen=True)
class CompiledTask:
    """Starts and numbers of one system."""

    system: Any
    common: Common

    def __call__(self, index: np.ndarray, samples: Samples) -> Rows:
        """Rows of the samples."""
        rows = empty_rows(index, self.system.nq, self.system.nv)
        done = set[int]()
        for task, at in self._by_times(samples):
            try:
                done |= set(task._together(rows, samples, at).tolist())
            except DalembertError:  # of this step and time: a control of other steps. Each says so, by itself
                if task is self:
                    raise
        self._one_by_one(rows, samples, [b for b in range(len(index)) if b not in done])
        return rows

    def _by_times(self, samples: Samples) -> list[tuple[CompiledTask, np.ndarray]]:
        """Samples of one step and time, where they are told as columns, in portions: (task of that step and time, samples)."""
        columns, every = samples.columns, np.arange(len(samples))
        if columns is None or not len(samples):
            return []
        given = [columns[name] for name in TIMES if name in columns]
        if not given:
            return [(self, every)]
        if any(column.ndim > 1 for column in given):
            return []
        kinds, which = np.unique(np.stack(given, axis=1), axis=0, return_inverse=True)
        out = []
        for k, times in enumerate(kinds.tolist()):
            told = dict(zip([name for name in TIMES if name in columns], times, strict=True))
            try:
                h, n = self._times(setting(told))
            except DalembertError:  # each says why, by itself
                continue
            task = CompiledTask(self.system, replace(self.common, h=h, t_end=n * h))
            members = np.flatnonzero(which.ravel() == k).tolist()
            out += [(task, np.array(piece)) for piece in self._pieces(members, n)]
        return out

    def _together(self, rows: Rows, whole: Samples, at: np.ndarray) -> np.ndarray:
        """Run the samples at some places that need not be looked at one by one: their places."""
        none, samples = np.zeros(0, dtype=np.int64), whole.some(at)
        columns = {name: column for name, column in (samples.columns or {}).items() if name not in TIMES}
        starts = {name: column for name, column in columns.items() if name.partition(".")[0] in ("q0", "v0")}
        values = {name: column for name, column in columns.items() if name not in starts}
        sound = np.logical_and.reduce([np.ones(len(samples), dtype=bool), *(_finite(column) for column in starts.values())])
        if values:
            like = self.system.alike(values)
            sound = sound & like if like is not None else ~sound & sound
        members = np.flatnonzero(sound)
        if len(members) < (FEWEST if values else 1):
            return none
        chosen = {name: column[members] for name, column in starts.items()}
        given = plain_starts(self.system, chosen, len(members), self.common.q0, self.common.v0)
        done = given is not None and self._rows_together(rows, at[members], {k: x[members] for k, x in values.items()}, given)
        return at[members] if done else none

    def _rows_together(self, rows: Rows, members: np.ndarray, values: dict[str, np.ndarray], given: tuple[np.ndarray, np.ndarray]) -> bool:
        """False where one of them has to be looked at by itself; nothing is run then."""
        h, n = checks.step_count(self.common.h, self.common.t_end)
        plans: Sequence[Plan] | Plans
        if values:
            recipe = recipe_of(self.common, self.system, h, values)
            if recipe is None:
                return False
            plan, systems, plans = recipe.plan, recipe.systems(values), Plans(self.common, self.system, h, values)
        else:
            plan = self.common.plan(self.system, h)
            systems, plans = plan.arrays()[None], [plan]
        engine = self._engine(plan, n)
        with np.errstate(all="ignore"):  # a start that is too large ends in a row
            states = states_of(plan, systems, *given)
        if states is None or (values and not same_as_alone(plan, plans, systems, states, given)):
            return False
        self._run(rows, members, plans, systems, engine, states, np.zeros(len(members), dtype=np.int64), n)
        return True

    def _one_by_one(self, rows: Rows, samples: Samples, left: list[int]) -> None:
        """Run the others: samples of one step and time together."""
        groups: dict[Any, list[int]] = {}
        settings: dict[int, Any] = {}
        base = base_of(self.system, self.common.q0, self.common.v0) if len(left) else {}
        for b in left:
            try:
                settings[b] = setting(samples[b], base)
                groups.setdefault(self._times(settings[b]), []).append(b)
            except Exception as error:
                rows.code[b], rows.errors[b] = REFUSED, refusal(error)
        for (h, n), members in groups.items():
            for piece in self._pieces(members, n):
                try:
                    self._group(rows, np.array(piece), [settings[b] for b in piece], h, n)
                except Exception as error:  # of this step and time: a control of other steps, no memory for so many nodes
                    for b in piece:
                        rows.code[b], rows.errors[b] = REFUSED, refusal(error)

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
        """Samples of one step and time: those whose plans have the same loop together."""
        common, base = self.common, self.common.plan(self.system, h)
        self._engine(base, n)
        loops: dict[Any, list[tuple[int, Plan, np.ndarray]]] = {}
        for b, one in zip(members, settings, strict=True):
            try:
                plan = common.plan(self.system.with_values(one.values), h) if one.values else base
                start = state_of(plan, *plan.start(one.q0, one.v0))
            except Exception as error:
                rows.code[b], rows.errors[b] = REFUSED, refusal(error)
                continue
            kind = plan.family.name, plan.stepper.name, plan.keeps_account, len(plan.arrays()), len(start)
            loops.setdefault(kind, []).append((int(b), plan, start))
        for those in loops.values():
            plans = [plan for _, plan, _ in those]
            plans = plans[:1] if all(plan is plans[0] for plan in plans) else plans
            systems, at = np.stack([plan.arrays() for plan in plans]), np.array([b for b, _, _ in those])
            starts, codes = np.stack([start for _, _, start in those]), np.zeros(len(those), dtype=np.int64)
            self._run(rows, at, plans, systems, self._engine(plans[0], n), starts, codes, n)

    def _engine(self, plan: Plan, n: int) -> Any:
        """Made before states are: it loads the kernels that these call."""
        return plan.engine(for_steps(self.common.control, "ensemble", self.system.nv, n, plan.h))

    def _run(
        self, rows: Rows, members: np.ndarray, plans: Any, systems: np.ndarray, engine: Any, starts: np.ndarray, codes: np.ndarray, n: int
    ) -> None:
        """n steps from the starts. plans, systems: of each sample, or one that all share."""
        every = self.common.every or n
        states, log, steps = _run(engine, systems, starts, codes, n, every)
        ended = rows.index[members], codes, steps
        batch = CompiledBatch(plans, systems, ended, n, every, (states, log), self.common.control is not None)
        self._collect(rows, members, batch, starts, engine.h)

    def _collect(self, rows: Rows, at: np.ndarray, batch: CompiledBatch, last: np.ndarray, h: float) -> None:
        """Last nodes, sentences, what was observed."""
        q, v = batch.nodal(last[:, None])
        rows.q[at], rows.v[at] = q[:, 0], v[:, 0]
        rows.code[at], rows.steps[at], rows.t[at] = batch.code, batch.steps, batch.steps * h
        for k in np.flatnonzero(batch.code != OK).tolist():
            step = int(batch.steps[k])
            rows.errors[at[k]] = f"step {step + 1}, from t = {step * h:.6g} s: {MEANING.get(int(batch.code[k]), 'failed')}."
        observed, problems = observe(self.common.observers, batch)
        for k, text in problems.items():
            rows.code[at[k]], rows.errors[at[k]] = RAISED, text
        put_observed(rows.observed, len(rows.index), at, observed)


def _finite(column: np.ndarray) -> np.ndarray:
    return np.asarray(np.isfinite(column.reshape(len(column), -1)).all(axis=1))


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
