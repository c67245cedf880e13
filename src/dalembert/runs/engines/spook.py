"""Bodies, joints and contacts: `contact/machine.py`, one call per step.

The flat state is the fixed part of the checkpoint (STATE below); what contacts remember (axes of pairs, features, impulses) is the ragged
table "memory". Contacts of the last step and events (impacts, broken joints) are tables too.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.arrays import Array
from dalembert.contact.accounts import COLUMNS as WORKS
from dalembert.contact.machine import Machine, Report, Settings
from dalembert.contact.tables import COLUMNS, contact_rows, memory_rows, restore_memory
from dalembert.kernels._fields import Layout, Part
from dalembert.kernels.bodies import layout as joints
from dalembert.kernels.bodies.states import from_states
from dalembert.kernels.loop import LOG_COLUMNS
from dalembert.kernels.status import NOT_FINITE, OK
from dalembert.model.compile_bodies import compile_bodies
from dalembert.runs.controls import HELD, TabledControl, sample
from dalembert.runs.engines import Chunk, Into, times
from dalembert.runs.ragged import Table, Tables

if TYPE_CHECKING:
    from dalembert.runs.plan import Plan

STATE = Layout(
    "Bodies",
    Part("bodies", "13 n", "position of the centre of mass, quaternion, omega (body axes), velocity (world axes) of every body"),
    Part("values", "measures", "coordinates of joints, continued over whole turns"),
    Part("intact", "joints", "0: broken"),
    Part("lam", "rows", "impulses of the rows of joints over the step before"),
    Part("tau", "6 n", "control that was held over the step before"),
    Part("account", "works", "work since the start, by kind"),
    Part("impulse", "6", "angular (not kept) and linear impulse of known forces since the start"),
)


class SpookEngine:
    """A run of a machine cut free."""

    log_columns = (*LOG_COLUMNS, "contacts", "penetration", "stabilised", "unsolved")
    table_columns = COLUMNS
    t0 = 0.0

    def __init__(self, plan: Plan, control: Any = None):
        o = dict(plan.options)
        self.model, self.h = plan.acting, plan.h
        o["max_time"] = o["max_time"] or math.inf
        keep = o.pop("contacts")
        self.keeps_contacts = keep == "all"
        self.machine = Machine(plan.acting, Settings(**o))
        self.control, self.steps, self.info = control, 0, np.zeros(2)
        self.at, self.size = places(self.machine.bodies)
        self.tau = np.zeros(6 * self.machine.n)
        self.events: list[tuple[float, ...]] = []
        self._last = Report()

    # checkpoints -----------------------------------------------------------------------------------------------------------------------

    def start(self, q: Array, v: Array) -> None:
        """Begin at t = 0 from q and v."""
        self.machine.start(q, v)
        self.tau[:], self.steps, self.events = 0.0, 0, []

    def restart(self, state: Array, step: int, tables: Tables | None = None) -> None:
        """Begin from a checkpoint."""
        m, at, state = self.machine, self.at, np.asarray(state, dtype=float)
        m.states[:] = state[at.bodies : at.values].reshape(m.n, 13)
        m.room.values[:], m.intact[:] = state[at.values : at.intact], state[at.intact : at.lam].astype(np.int64)
        m.joint_lam[:], self.tau[:] = state[at.lam : at.tau], state[at.tau : at.account]
        m.account[:], m.impulse[:] = state[at.account : at.impulse], state[at.impulse : self.size]
        self.steps, self.events = step, []
        if m.detector is not None:
            restore_memory(m.detector, None if tables is None else tables.get("memory"))

    @property
    def state(self) -> Array:
        """The fixed part of the checkpoint."""
        m = self.machine
        return np.concatenate([m.states.ravel(), m.room.values, m.intact, m.joint_lam, self.tau, m.account, m.impulse])

    def checkpoint_tables(self) -> Tables:
        """Contacts, events and memory of the current node."""
        return self._tables([self._contacts()], [self._take_events()])

    def _tables(self, contacts: list[Array], events: list[Array]) -> dict[str, Table]:
        memory = [np.zeros((0, len(COLUMNS["memory"])))] * (len(contacts) - 1) + [memory_rows(self.machine.detector)]
        found = {"contacts": contacts, "events": events, "memory": memory}
        return {name: Table.from_nodes(COLUMNS[name], rows) for name, rows in found.items()}

    def _contacts(self) -> Array:
        return contact_rows(self.machine) if self.keeps_contacts else np.zeros((0, len(COLUMNS["contacts"])))

    def _take_events(self) -> Array:
        rows, self.events = self.events, []
        return np.array(rows).reshape(-1, len(COLUMNS["events"]))

    @property
    def time(self) -> float:
        """Time of the current node."""
        return self.t0 + self.steps * self.h

    def observe(self) -> tuple[Array, Array]:
        """q and v of the current node."""
        return self.machine.configuration()

    node = observe

    # steps -----------------------------------------------------------------------------------------------------------------------------

    def hold(self, tau: Array) -> None:
        """Hold a generalised force, dual to v, until told otherwise."""
        self.tau[:] = tau

    def advance(self, n: int, every: int, stop: Callable[[], bool] = lambda: False, into: Into | None = None) -> Chunk:
        """Up to n steps."""
        status, error, first = OK, None, self.steps
        states: list[Array] = []
        logs: list[Array] = []
        contacts: list[Array] = []
        events: list[Array] = []
        memory: Tables = {}
        log = np.zeros(len(self.log_columns))
        for _ in range(n):
            try:
                status = self._one(log)
            except (Exception, KeyboardInterrupt) as problem:  # the user's control: handed on together with what was computed before
                error = problem
            if status != OK or error is not None:
                break
            if self.steps % every == 0:
                states.append(self.state)
                logs.append(log.copy())
                contacts.append(self._contacts())
                events.append(self._take_events())
                memory = self._tables([contacts[-1]], [events[-1]])
                log[:] = 0.0
            if stop():
                break
        rows = np.array(states).reshape(len(states), self.size)
        tables = {} if not states else {**self._tables(contacts, events), "memory": _last_of(memory["memory"], len(states))}
        when = times(first, self.steps, every, self.h, self.t0)
        return Chunk(status, when, rows, np.array(logs).reshape(len(logs), len(self.log_columns)), error, tables)

    def _one(self, log: Array) -> int:
        m = self.machine
        if self.control is not None and self.control is not HELD:
            self.hold(self._sampled())
        m.hold(self.tau)
        with np.errstate(all="ignore"):  # a state that overflows ends the run by its status
            found = m.step(self.time, self.h)
        self._last = found
        self.info[:] = found.factorisations, found.residual
        if found.status != OK:
            return NOT_FINITE
        t = self.time + self.h
        self.steps += 1
        self.events += [(t, *event) for event in m.events]
        f, r = found.factorisations, found.residual
        log[0], log[1], log[2] = log[0] + f, max(log[1], f), max(log[2], r)
        log[4], log[5] = found.contacts, max(log[5], found.penetration)
        log[6], log[7] = log[6] + found.stabilised, log[7] + (not found.converged)
        return OK

    def _sampled(self) -> Array:
        if isinstance(self.control, TabledControl):
            return np.asarray(self.control.rows[self.steps - self.control.first])
        return sample(self.control, self.time, *self.observe())

    # reading ---------------------------------------------------------------------------------------------------------------------------

    def unpack(self, states: Array) -> dict[str, Any]:
        """q, v, control, work, impulse and account of recorded states."""
        return unpack(self.machine.bodies, self.at, self.size, states)

    @classmethod
    def read(cls, plan: Plan, states: Array, controlled: bool) -> dict[str, Any]:
        """`unpack` of a run that is over."""
        bodies = plan.once("bodies", lambda: compile_bodies(plan.acting))  # type: ignore[arg-type]
        return unpack(bodies, *places(bodies), states)


def _last_of(table: Table, nodes: int) -> Table:
    """A table of some nodes that has the rows of a table of one at the last."""
    return Table(table.columns, [0] * (nodes - 1) + [len(table.rows)], table.rows)


def places(bodies: Any) -> tuple[Any, int]:
    """Where the parts of the state are, and its size."""
    sizes = {"n": len(bodies.names), "works": len(WORKS), "measures": bodies.count(joints.MEASURES), "joints": bodies.count(joints.JOINTS)}
    starts, size = STATE.lay(0, {}, {**sizes, "rows": bodies.count(joints.ROWS)})
    return STATE.named(starts), size


def unpack(bodies: Any, at: Any, size: int, states: Array) -> dict[str, Any]:
    """What recorded states tell."""
    N, n = len(states), len(bodies.names)
    q, v = np.empty((N, 7 * n)), np.empty((N, 6 * n))
    for k in range(N):
        from_states(np.ascontiguousarray(states[k, at.bodies : at.values]).reshape(n, 13), bodies.com, q[k], 0, v[k], 0)
    works = states[:, at.account : at.impulse]
    impulse = np.full((N, 6), np.nan)
    impulse[:, 3:] = states[:, at.impulse + 3 : size]
    return {
        "q": q,
        "v": v,
        "v_interval": v,
        "control": states[:, at.tau : at.account],
        "work": works.sum(axis=1),
        "impulse": impulse,
        "account": {name: works[:, i] for i, name in enumerate(WORKS)},
    }


ENGINE = SpookEngine
