"""Trees whose bodies collide: the compiled loop of `kernels/collision/run.py` over the base step of the plan.

The flat state is that of the variational family, then the notes of collisions (energy that impacts took, impulses of walls, ...). Contacts
that touch at a node, and whether they rest, are the ragged table "memory"; impacts with their instants are "events".
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from dalembert.arrays import AnyArray, Array
from dalembert.collision.solids import Solids
from dalembert.errors import OptionError
from dalembert.kernels import loop
from dalembert.kernels._jit import address_of
from dalembert.kernels.collision import tables
from dalembert.kernels.collision.bounce import GROW, MORE_EVENTS
from dalembert.kernels.collision.gaps import gaps_along, nearest, put_solids
from dalembert.kernels.collision.run import run
from dalembert.kernels.collision.tables import NOTES, Room
from dalembert.kernels.events import brackets
from dalembert.kernels.separation import layout as separation
from dalembert.kernels.status import OK, TOO_MANY_EVENTS
from dalembert.kernels.tree.variational.layout import state_places
from dalembert.model import compile_tree
from dalembert.runs.engines import Chunk, Into, Stopping, times
from dalembert.runs.engines.compiled import CompiledEngine
from dalembert.runs.ragged import COLUMNS, Table, Tables

if TYPE_CHECKING:
    from dalembert.runs.plan import Plan

MEMORY = ("a", "b", "k", "held", "lift")
TOLERANCE = 1e-14  # gaps below minus this, of the size of the scene, are penetration: some tens of round-off of a position
TOUCH = 1e-11  # and below this two bodies touch


def room_for(scene: Any, n: int, state: int, contacts: int) -> Room:
    """Workspace for so many contacts."""
    H, N, C = len(scene.link), len(scene.points), contacts
    most = int(np.diff(scene.first).max(initial=1))
    whole, real = np.int64, float
    made = {
        "points": np.zeros((N, 3)), "points_before": np.zeros((N, 3)),
        "centre": np.zeros((H, 3)), "before": np.zeros((H, 3)), "order": np.arange(H, dtype=whole),
        "low": np.zeros(H), "separation": np.zeros((separation.rows(most, most), separation.WIDTH)), "answer": np.zeros(separation.SIZE),
        "who": np.zeros((C, 3), dtype=whole), "held": np.zeros(C, dtype=whole), "touch": np.zeros((C, 3), dtype=whole),
        "matrix": np.zeros((C, C)), "factor": np.zeros((C + 1, C)), "free": np.zeros(C, dtype=whole), "node": np.zeros(state),
        "trial": np.zeros(state), "jump": np.zeros(n), "goal": np.zeros(tables.GOAL), "weights": np.ones(1),
        "bracket": np.zeros(brackets.SIZE), "address": np.zeros(1, dtype=whole),
    }  # fmt: skip
    made |= {name: np.zeros((C, n), dtype=real) for name in ("rows", "reply", "hold_rows")}
    made |= {name: np.zeros((C, 3)) for name in ("point", "normal", "hold_point", "hold_normal")}
    made |= {name: np.zeros(C) for name in ("gap", "bounce", "speed", "push", "extra", "arrival", "total", "lam", "lift")}
    return Room(**made)


class CollisionEngine(CompiledEngine):
    """A run with collisions."""

    table_columns: ClassVar[dict[str, tuple[str, ...]]] = {**COLUMNS, "events": tables.EVENT, "memory": MEMORY}

    def __init__(self, plan: Plan, control: Any = None):
        super().__init__(plan, control)
        o = plan.options
        self.solids = plan.once("solids", lambda: Solids(plan.acting, None if o["restitution"] < 0.0 else o["restitution"], o["smooth"]))
        self.scene, self.use_ledger = self.solids.scene, True
        size = self.solids.size
        self.settings = np.zeros(tables.SETTINGS)
        self.settings[tables.TOL], self.settings[tables.TOUCH] = TOLERANCE * size, TOUCH * size
        self.settings[tables.REST_SPEED], self.settings[tables.MOST] = o["rest_speed"], o["max_impacts"]
        self.settings[tables.REFLECTION] = tables.VARIATIONAL if o["reflection"] == "variational" else tables.NODAL
        self.settings[tables.RESPONSE] = tables.AT_NODES if o["response"] == "decomposition" else tables.AT_INSTANTS
        self.settings[tables.IMPACTS] = tables.IN_TURN if o["impacts"] == "in turn" else tables.TOGETHER
        step, _, nodal, hold, asked, source, _ = self._functions
        self._kernels = (step, address_of(self.family.ledger, loop.LEDGER), nodal, hold, asked, source, True)
        self._ledger = np.array([self._kernels[1]], dtype=np.int64)
        if len(self.weights) > 1 and (o["reflection"] != "nodal" or o["base"] == "symplectic-euler"):
            raise OptionError(
                f"compose={plan.compose!r}: stepper 'collision' has reflection={o['reflection']!r}, base={o['base']!r}; expected "
                "reflection='nodal', as substeps have no energy of one interval, and a base of order 2."
            )
        self.counts = np.zeros(tables.COUNTS, dtype=np.int64)
        self.events = np.zeros((64, len(tables.EVENT)))
        self._log = ""
        self.size = state_places(self.model.nq, self.model.nv)[1]  # of the state of the base step

    # checkpoints -----------------------------------------------------------------------------------------------------------------------

    def start(self, q: Array, v: Array) -> None:
        """Begin at t = 0 from q and v; OptionError where bodies overlap."""
        super().start(q, v)
        put_solids(self.system, self.inner, self.work, self.scene, self.room)
        gap, (a, b, k) = nearest(self.scene, self.room, 0, 1.0, float(self.settings[tables.TOUCH]))
        if gap < -self.settings[tables.TOUCH]:
            raise OptionError(
                f"start: {self.solids.contact_name(a, b, k)} overlap by {-gap:.3g} m; expected bodies that are apart or touch."
            )

    def restart(self, state: Array, step: int, tables_: Tables | None = None) -> None:
        """Begin from a checkpoint, or from a state of the variational family alone."""
        given = np.array(state, dtype=float)
        super().restart(given[: self.size], step)
        whole = np.zeros(self.size + NOTES)
        whole[: self.size], whole[self.size :][: len(given) - self.size] = self.state, given[self.size :]
        self.state = whole
        self.inner, self.record = whole[: self.size], whole[self.size :]
        self.counts[:] = 0
        self._make_room(16)
        if tables_ is not None and "memory" in tables_:
            rows = tables_["memory"].of(-1)
            self._make_room(max(16, 2 * len(rows)))
            self.room.touch[: len(rows)], self.room.held[: len(rows)] = rows[:, :3].astype(np.int64), rows[:, 3].astype(np.int64)
            self.room.lift[: len(rows)] = rows[:, 4]
            self.counts[tables.TOUCHING] = len(rows)

    def _make_room(self, contacts: int) -> None:
        """Workspace for so many contacts; what touches is carried over."""
        old = getattr(self, "room", None)
        self.room = room_for(self.scene, self.model.nv, self.size, contacts)._replace(weights=self.weights, address=self._ledger)
        self.saved = np.zeros(NOTES + 5 * contacts)
        if old is not None:
            n = min(int(self.counts[tables.TOUCHING]), len(old.held))
            self.room.touch[:n], self.room.held[:n], self.room.lift[:n] = old.touch[:n], old.held[:n], old.lift[:n]

    def _memory(self) -> Array:
        n = int(self.counts[tables.TOUCHING])
        return np.column_stack([self.room.touch[:n], self.room.held[:n], self.room.lift[:n]]).astype(float).reshape(n, len(MEMORY))

    def _table(self, name: str, nodes: list[Array]) -> Table:
        return Table.from_nodes(self.table_columns[name], nodes)

    def checkpoint_tables(self) -> dict[str, Table]:
        """What touches at the current node."""
        return {
            "events": self._table("events", [self.events[: self.counts[tables.EVENTS]]]),
            "memory": self._table("memory", [self._memory()]),
        }

    # steps -----------------------------------------------------------------------------------------------------------------------------

    def advance(self, n: int, every: int, stop: Callable[[], bool] = lambda: False, into: Into | None = None) -> Chunk:
        """Up to n steps. Ends early on failure, and between steps on request of `stop` where Python takes part in each step."""
        first = self.steps
        rows = (first + n) // every - first // every
        states, log = (np.empty((rows, self.state.size)), np.empty((rows, self.tally.size))) if into is None else into(rows)
        marks = np.zeros(rows, dtype=np.int64)
        self.counter[loop.ROW] = 0
        error: Stopping | None = None
        recorded = max((first + n) // every * every - first, 0)  # steps up to the last node that is recorded
        status, error = self._steps(recorded, every, stop, states, log, marks)
        memory = self._memory()
        if status == OK and error is None and self.steps == first + recorded and recorded < n:
            status, error = self._steps(n - recorded, every, stop, states, log, marks)
        done = int(self.counter[loop.ROW])
        if status == TOO_MANY_EVENTS:
            self._log = self._told()
        found = self._cut(marks[:done])
        when = times(first, self.steps, every, self.h, self.t0)
        made = {} if not done else {
            "events": self._table("events", found),
            "memory": self._table("memory", [np.zeros((0, len(MEMORY)))] * (done - 1) + [memory]),
        }  # fmt: skip
        return Chunk(status, when, states[:done], log[:done], error, made)

    def _cut(self, marks: AnyArray) -> list[Array]:
        """Events of each recorded node; later ones are kept for the next chunk."""
        ends = [0, *marks.tolist()]
        found = [self.events[a:b].copy() for a, b in pairwise(ends)]
        left = self.events[ends[-1] : self.counts[tables.EVENTS]].copy()
        self.events[: len(left)], self.counts[tables.EVENTS] = left, len(left)
        return found

    def _steps(
        self, n: int, every: int, stop: Callable[[], bool], states: Array, log: Array, marks: AnyArray
    ) -> tuple[int, Stopping | None]:
        if n <= 0:
            return OK, None
        if self.python_control is not None:
            self._marks = marks
            return self._with_python_control(n, every, stop, states, log)
        return self._loop(n, every, states, log, marks), None

    def _call(self, n: int, every: int, states: Array, log: Array) -> int:
        return self._loop(n, every, states, log, self._marks)

    def _loop(self, n: int, every: int, states: Array, log: Array, marks: AnyArray) -> int:
        """n steps; lists that are too short are made longer."""
        last = self.steps + n
        while True:
            arrays = (self.system, self.inner, self.work, self.info, self.q, self.v, self.tau, self.tally, self.counter, self.table)
            mine = (self.scene, self.room, self.counts, self.settings, self.record, self.saved, self.events, marks)
            status = int(run(*self._kernels, self.t0, self.h, last - self.steps, every, *arrays, *mine, states, log))
            if status == GROW:
                self._make_room(2 * len(self.room.held))
            elif status == MORE_EVENTS:
                self.events = np.concatenate([self.events, np.zeros_like(self.events)])
            else:
                return status

    def words(self, status: int) -> str:
        """What to say of a step that failed."""
        return self._log if status == TOO_MANY_EVENTS else ""

    def _told(self) -> str:
        """The last impacts, in words."""
        rows = self.events[: self.counts[tables.EVENTS]][-5:]
        names = [*self.solids.names, "world"]
        told = [f"t = {r[0]:.12g} s: {names[int(r[2])]!r} and {names[int(r[3])]!r} at {r[11]:.3g} m/s" for r in rows]
        return f"The last impacts: {'; '.join(told)}. A larger rest_speed lets slow contacts rest, max_impacts allows more."

    # reading ---------------------------------------------------------------------------------------------------------------------------

    def unpack(self, states: Array) -> dict[str, Array]:
        """q, v, v_interval, control, work, impulse and account of recorded states."""
        return read(self.family, self.model, self.system, states)

    @classmethod
    def read(cls, plan: Plan, states: Array, controlled: bool) -> dict[str, Array]:
        """`unpack` of a run that is over; steps are not compiled for it."""
        return read(plan.family, plan.acting, plan.arrays(), states)


def smallest_gaps(model: Any, solids: Solids, q: Array) -> Array:
    """(N,) smallest gap between bodies that can touch, m, at configurations of a model."""
    system = compile_tree.system_array(model, {})
    out = np.zeros(len(q))
    room = room_for(solids.scene, model.nv, 0, 1)
    gaps_along(system, np.ascontiguousarray(q), np.zeros(compile_tree.work_size(system)), solids.scene, room, TOUCH * solids.size, out)
    return out


def read(family: Any, model: Any, system: Array, states: Array) -> dict[str, Any]:
    """What recorded states tell; impacts are part of the account."""
    found = family.read(model, system, np.ascontiguousarray(states[:, :-NOTES]), True)
    notes = states[:, -NOTES:]
    loss, hops = notes[:, tables.LOSS], notes[:, tables.HOPPED]
    found["account"] = {**found["account"], "impacts": loss, "hops": hops}
    found["work"] = found["work"] + loss + hops
    found["impulse"] = found["impulse"] + notes[:, tables.IMPULSE : tables.IMPULSE + 6]
    return found


ENGINE = CollisionEngine
