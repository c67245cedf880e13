"""Lagrangians with unilateral constraints: the compiled loop over ordinary steps, and Python around the steps in which something happens.

The loop stops where a step meets c(q) = 0 or a held row would pull (`kernels/lagrangian/collision.py`); that step is done here, event by
event, and the loop goes on. Which rows are held is in the state, so the flat state is the whole checkpoint; for each set of held rows there
is a program of its own, made when it first occurs. What happens at a node is in `lagrangian/contact_node.py`.

Rows of `traj.events`: time; kind (0 impact, 1 comes to rest, 2 is released); row of c; impulse; dc/dt before and after.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import SimulationError
from dalembert.kernels import loop
from dalembert.kernels.events import brackets
from dalembert.kernels.lagrangian import collision as kernels
from dalembert.kernels.lagrangian import layout as at
from dalembert.kernels.lagrangian import node
from dalembert.kernels.status import EVENT, OK, TOO_MANY_EVENTS
from dalembert.lagrangian.contact_node import ContactNode, Reflection
from dalembert.lagrangian.impacts import Places, collision_program
from dalembert.lagrangian.program import CompiledProgram
from dalembert.runs.engines import Chunk, Into
from dalembert.runs.engines.compiled import CompiledEngine
from dalembert.runs.ragged import Table, Tables

if TYPE_CHECKING:
    from dalembert.runs.plan import Plan

EVENTS = ("t", "kind", "row", "impulse", "before", "after")
NEAR = 0.5  # relative distance of the impulse of the energy condition from the nodal one
TOLD = 6  # events that an error tells


class CollisionEngine(CompiledEngine):
    """A run with impacts."""

    log_columns: Any = (*loop.LOG_COLUMNS, "events")
    table_columns = {"events": EVENTS}  # noqa: RUF012  constant

    def __init__(self, plan: Plan, control: Any = None):
        super().__init__(plan, control)
        model: Any = plan.acting
        self.options = plan.options
        self.at = Places(model.n, model.formulas.unilateral_rows)
        self.tally = np.zeros(len(self.log_columns))
        self._free = (self.system, self.work)
        self._variants: dict[Any, tuple[Array, Array, ContactNode | None]] = {}
        self.held: tuple[int, ...] = ()
        self.found, self.bracket = np.zeros(2), np.zeros(brackets.SIZE)
        self.scratch = np.zeros(2 * kernels.PER_ROW * self.at.k)
        self.events: list[tuple[int, list[float]]] = []  # (step, row), of nodes that are not recorded yet
        self.trouble = ""
        self._stop: Callable[[], bool] = lambda: False

    # checkpoints -----------------------------------------------------------------------------------------------------------------------

    def start(self, q: Array, v: Array) -> None:
        """Begin at t = 0 from q and v."""
        self.system, self.work = self._free
        super().start(q, v)

    def restart(self, state: Array, step: int, tables: Tables | None = None) -> None:
        """Begin from a checkpoint: rows that are held are told by the state."""
        super().restart(state, step)
        self.events, self.trouble = [], ""
        self._use(tuple(int(i) for i in np.flatnonzero(self.state[self.at.held])))

    def checkpoint_tables(self) -> Tables:
        """Nothing happens at a node."""
        return {"events": Table.empty(EVENTS, 1)}

    def _use(self, held: tuple[int, ...]) -> None:
        """Let the loop step with these rows held."""
        self.held = held
        self.state[self.at.held] = 0.0
        self.state[self.at.held][list(held)] = 1.0
        self.system, self.work, _ = self._variant(held)
        self._arrays = (self.weights, self.system, self.state, self.previous, self.work, *self._arrays[5:])

    def _variant(self, held: tuple[int, ...], post: bool = False) -> tuple[Array, Array, ContactNode | None]:
        """(system, workspace, questions about nodes) of a program."""
        key = (held, post)
        if key not in self._variants:
            model: Any = self.model
            name = ("collision", held, post, *sorted((k, x) for k, x in self.options.items() if k in ("reflection", "base", "gap")))
            if name not in model._programs:
                model._programs[name] = CompiledProgram(collision_program(model.formulas, self.options, held, post))
            made = model._programs[name]
            system = made.system(model.parameter_vector, self.options["tol"], self.options["max_iterations"])
            questions = ContactNode(model, made.code.addresses, self.at) if not post and not held else None
            self._variants[key] = system, np.zeros(int(system[at.WORK_SIZE])), questions
        return self._variants[key]

    # steps -----------------------------------------------------------------------------------------------------------------------------

    def advance(self, n: int, every: int, stop: Callable[[], bool] = lambda: False, into: Into | None = None) -> Chunk:
        """Up to n steps."""
        self._stop, before = stop, self.steps // every
        chunk = super().advance(n, every, stop, into)
        return chunk._replace(tables=self._tables(before, len(chunk.states), every)) if len(chunk.states) else chunk

    def _tables(self, before: int, count: int, every: int) -> Tables:
        """Events of the recorded nodes; later ones wait."""
        last = (before + count) * every
        rows = [(step // every - before, row) for step, row in self.events if step < last]
        self.events = [x for x in self.events if x[0] >= last]
        counts = np.bincount([max(k, 0) for k, _ in rows], minlength=count) if rows else np.zeros(count, dtype=np.int64)
        return {"events": Table(EVENTS, counts, np.array([row for _, row in rows]).reshape(-1, len(EVENTS)))}

    def _call(self, n: int, every: int, states: Array, log: Array) -> int:
        last = self.steps + n
        while self.steps < last:
            status = super()._call(last - self.steps, every, states, log)
            if status == OK:
                break
            status = self._eventful(every, states, log) if status == EVENT else status
            if status != OK or self._stop():
                return status
        return OK

    def _eventful(self, every: int, states: Array, log: Array) -> int:
        """One step with events, and its row where it is recorded. A failure leaves the state as it was."""
        before, known = self.state.copy(), len(self.events)
        if self.source == loop.FUNCTION:
            self.hold(self.tau)
        elif self.source == loop.TABLE:
            self.hold(self.table[self.steps - int(self.counter[loop.TABLE_START])])
        try:
            with np.errstate(all="ignore"):
                status = self._through()
        except (SimulationError, np.linalg.LinAlgError) as problem:
            self.trouble, status = f"{problem}", EVENT
        if status == OK and not np.isfinite(self.state).all():
            status = loop.NOT_FINITE
        if status != OK:
            self.state[:] = before
            del self.events[known:]
            self._use(tuple(int(i) for i in np.flatnonzero(before[self.at.held])))
            return status
        self._use(self.held)
        self.counter[loop.STEP_INDEX] += 1
        if self.steps % every == 0:
            row = int(self.counter[loop.ROW])
            states[row], log[row] = self.state, self.tally
            self.tally[:] = 0.0
            self.counter[loop.ROW] = row + 1
        return OK

    def _through(self) -> int:
        """From node to node, event by event."""
        done, first = 0.0, len(self.events)
        reflection = self._settle(0.0)
        for _ in range(int(self.options["max_events"])):
            reflection = self._aimed(reflection, done)
            held, post = self.held, reflection is not None
            status = self._to_next(done, held, post)
            if status != OK and reflection is not None:  # no root of the energy condition on the way to the next event
                reflection.act(self.state, self.at, 1.0)
                reflection = None
                continue
            if status != OK:
                return status
            if reflection is not None:
                self._scale(reflection)
                reflection = None
            done, row = done + self.found[0], int(self.found[1])
            if row < 0:
                return OK
            reflection = self._settle(done, (row,) if row in held else ())
            if not done < self.h * (1.0 - 1e-15):
                return self._finish(reflection, done)
        self.trouble = self._told(first)
        return TOO_MANY_EVENTS

    def _to_next(self, done: float, held: tuple[int, ...], post: bool) -> int:
        """The state at the next event, or at the end of the step."""
        system, work, _ = self._variant(held, post)
        trial, t, left = np.empty_like(self.state), self.time + done, self.h - done
        arrays = (system, self.state, trial, work, self.info)
        status = int(kernels.locate(t, left, int(self.options["parts"]), *arrays, self.scratch, self.bracket, self.found))
        if status != OK:
            return status
        s = float(self.found[0])
        if s == 0.0:
            return OK
        self.tally[:3] = self.tally[0] + self.info[0], max(self.tally[1], self.info[0]), max(self.tally[2], self.info[1])
        if self.use_ledger:
            self._enter_account(t, s, system, work, trial)
        self.state[:] = trial
        return OK

    def _enter_account(self, t: float, s: float, system: Array, work: Array, trial: Array) -> None:
        """Work and impulse of the forces over a part of a step, by the trapezoidal rule."""
        here = slice(int(system[at.AT_LEDGER]), int(system[at.AT_LEDGER]) + int(system[at.LEDGER_SIZE]))
        start = self.state.copy()
        node.ledger(t, s, 0, system, start, work, self.info)
        trial[here] += start[here] - self.state[here]
        node.ledger(t + s, s, 1, system, trial, work, self.info)

    def words(self, status: int) -> str:
        """What there is to say of a step that failed."""
        return self.trouble

    # events ----------------------------------------------------------------------------------------------------------------------------

    def _settle(self, done: float, released: tuple[int, ...] = ()) -> Reflection | None:
        """Impacts, and which rows are held, at a node; a reflection that is yet to be done by the energy condition."""
        questions = self._variant(())[2]
        assert questions is not None
        found = questions.settle(self.system, self.state, self.held, self.h, released, self.options["reflection"])
        self.held = found.held
        self.state[self.at.held] = 0.0
        self.state[self.at.held][list(found.held)] = 1.0
        for kind, row, impulse, before, after in found.events:
            self._note(done, kind, row, impulse, before, after)
        return found.reflection

    def _aimed(self, reflection: Reflection | None, done: float) -> Reflection | None:
        """The reflection, if the energy condition has a root near it; else the nodal law has acted, and there is none left to do."""
        if reflection is None:
            return None
        system, work, _ = self._variant(self.held, True)
        trial = np.empty_like(self.state)
        status = kernels.reach(self.time + done, self.h - done, system, self.state, trial, work, self.info)
        if status == OK and abs(trial[self.at.factor] - 1.0) < NEAR:
            return reflection
        reflection.act(self.state, self.at, 1.0)
        return None

    def _scale(self, reflection: Reflection) -> None:
        """The account and the event of an impact whose impulse the step behind it has found."""
        factor = float(self.state[self.at.factor])
        reflection.count(self.state, self.at, factor)
        for _, row in self.events[len(self.events) - reflection.rows :]:
            row[3], row[5] = factor * row[3], row[4] + factor * (row[5] - row[4])

    def _finish(self, reflection: Reflection | None, done: float) -> int:
        """An impact at the very end of a step is nodal."""
        if reflection is not None:
            reflection.act(self.state, self.at, 1.0)
        return OK

    def _note(self, done: float, kind: int, row: int, impulse: float, before: float, after: float) -> None:
        self.events.append((self.steps, [self.time + done, float(kind), float(row), float(impulse), float(before), float(after)]))
        self.tally[-1] += 1.0

    def _told(self, first: int) -> str:
        """The last events of a step, for an error."""
        words = {0: "impact", 1: "rest", 2: "release"}
        rows = [row for _, row in self.events[first:]][-TOLD:]
        log = "; ".join(f"{words[int(r[1])]} of row {int(r[2]) + 1} at t = {r[0]:.9g} s, dc/dt {r[4]:.3g} -> {r[5]:.3g}" for r in rows)
        return f"The last of {len(self.events) - first} events: {log}. A larger max_events (now {self.options['max_events']}) allows more."

    # reading ---------------------------------------------------------------------------------------------------------------------------

    def unpack(self, states: Array) -> dict[str, Any]:
        """As of any Lagrangian; the work has what impacts took."""
        return with_impacts(super().unpack(states), states, self.at)

    @classmethod
    def read(cls, plan: Plan, states: Array, controlled: bool) -> dict[str, Any]:
        """`unpack` of a run that is over."""
        model: Any = plan.acting
        return with_impacts(super().read(plan, states, controlled), states, Places(model.n, model.formulas.unilateral_rows))


def with_impacts(found: dict[str, Any], states: Array, where: Places) -> dict[str, Any]:
    """Energy that impacts gave, a column of the account and a part of the work."""
    given = states[:, where.given]
    return {**found, "work": found["work"] + given, "account": {"forces": found["work"], "impacts": given}}


ENGINE = CollisionEngine
