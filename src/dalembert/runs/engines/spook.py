"""Bodies, joints and contacts: `contact/machine.py`, one call per step.

The flat state is the fixed part of the checkpoint (STATE below); what contacts remember (axes of pairs, features, impulses), also of those
that sleep (contact/sleep.py), is the ragged table "memory". Contacts of the last step and events (impacts, broken joints) are tables too.

The machine runs in the coordinates of its bodies, which are those of `traj.q` and `traj.model`. Whatever the user's own code sees or gives
(controls, monitors, `Simulation.state`, tau) is in the joint coordinates of the machine that was given: contact/joint_view.py. A control
returns tau (nv,), inputs of motors {name: input}, or both, (tau, {name: input}); a motor that it does not name is off.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.arrays import Array
from dalembert.contact.accounts import COLUMNS as WORKS
from dalembert.contact.accounts import DRIVE, JOINTS, columns_of
from dalembert.contact.closing import refuse_contradictions
from dalembert.contact.joint_view import JointView, order_of
from dalembert.contact.machine import Machine, Report, Settings
from dalembert.contact.memories import Memory
from dalembert.contact.overlaps import overlapping
from dalembert.contact.stretched import StretchedSolver
from dalembert.contact.tables import COLUMNS, contact_rows, memory_rows, restore_memory
from dalembert.errors import OptionError, UnknownNameError
from dalembert.kernels._fields import Layout, Part
from dalembert.kernels.bodies import layout as joints
from dalembert.kernels.bodies.measures import measure
from dalembert.kernels.bodies.states import from_states
from dalembert.kernels.contact.rows import hold
from dalembert.kernels.loop import LOG_COLUMNS
from dalembert.kernels.status import NOT_FINITE, OK
from dalembert.model.compile_bodies import compile_bodies
from dalembert.runs.controls import HELD, TabledControl
from dalembert.runs.engines import Chunk, Into, times
from dalembert.runs.ragged import Table, Tables

if TYPE_CHECKING:
    from dalembert.contact.archive import ProblemArchive
    from dalembert.runs.plan import Plan

CONTACT_BYTES = 2**30  # of the contacts of all nodes
NO_CONTACTS = np.zeros((0, len(COLUMNS["contacts"])))

STATE = Layout(
    "Bodies",
    Part("bodies", "13 n", "position of the centre of mass, quaternion, omega (body axes), velocity (world axes) of every body"),
    Part("values", "measures", "coordinates of joints, continued over whole turns"),
    Part("intact", "joints", "0: broken"),
    Part("lam", "rows", "impulses of the rows of joints over the step before"),
    Part("rotors", "rotors", "rates of armatures over the step before"),
    Part("inputs", "motors", "inputs of motors over the step before; NaN: off"),
    Part("tau", "nv", "control that was held over the step before, dual to v of the machine that was given"),
    Part("calm", "calms", "how long every body has been calm, s; -1: it sleeps. None where nothing ever sleeps"),
    Part("account", "works", "work since the start, by kind"),
    Part("impulse", "6", "angular (not kept) and linear impulse of known forces since the start"),
)


class SpookEngine:
    """A run of a machine cut free."""

    log_columns: tuple[str, ...] = (*LOG_COLUMNS, "contacts", "penetration", "stabilised", "unsolved", "stiffened")
    table_columns = COLUMNS
    t0 = 0.0

    def __init__(self, plan: Plan, control: Any = None):
        o = dict(plan.options)
        self.model, self.h = plan.acting, plan.h
        o["max_time"] = o["max_time"] or math.inf
        keep = o.pop("contacts")
        self.keeps_contacts, self._contact_bytes = keep == "all", 0
        self.forgets = False  # whoever runs it keeps few nodes: their contacts need no bound
        path, every, most = o.pop("archive_failures", ""), o.pop("archive_every", 0), o.pop("archive_most", 0)
        self.machine = Machine(plan.acting, Settings(**o))
        self.control, self.steps, self.info = control, 0, np.zeros(2)
        self.view = JointView(self.machine.bodies, coordinates_of(plan))
        self.facts: dict[str, Any] = {"coordinates": self.view.order}
        self.archive = self._archive(path, every, most)
        self.at, self.size = places(self.machine.bodies, self.view.nv, plan)
        if self.machine.sleep.on:
            self.log_columns = (*self.log_columns, "asleep")
        self.tau, self.outer = np.zeros(self.view.nv), np.zeros(6 * self.machine.n)
        self.motors = [motor.name for motor in self.model.motors]
        self._enter = plan.enter_state
        self.events: list[tuple[float, ...]] = []
        self._last = Report()
        self._log = np.zeros(len(self.log_columns))  # since the last node that was recorded, which may be in an earlier chunk

    def _archive(self, path: str, every: int, most: int) -> ProblemArchive | None:
        """What keeps problems of steps, if there is a place for them."""
        if not path:
            if every:
                raise OptionError(f"archive_every = {every} needs a place: archive_failures = the name of an HDF5 file or of a folder.")
            return None
        from dalembert.contact.archive import ProblemArchive

        m = self.machine
        about = {"machine": self.model.name, "law": m.settings.law, "sides": m.settings.sides}
        outer = m.solver if isinstance(m.solver, StretchedSolver) else m  # problems are kept as their solver sees them
        archive = ProblemArchive(outer.solver, m.options, path, every, most, about)
        outer.solver, self.facts["archive"] = archive, archive.facts
        return archive

    # checkpoints -----------------------------------------------------------------------------------------------------------------------

    def start(self, q: Array, v: Array) -> None:
        """Begin at t = 0 from q and v of the machine that was given, or of its bodies."""
        if len(q) == 7 * self.machine.n:
            self.machine.start(q, v)
        else:
            self.machine.start(*self._enter(q, v))
            self.view.seed(self.machine, q)
            self._warn()
        refuse_contradictions(self.machine, self.model.name)
        self.tau[:], self.outer[:], self.steps, self.events, self._log[:] = 0.0, 0.0, 0, [], 0.0

    def _warn(self) -> None:
        """Say which shapes of one machine overlap at the start."""
        deep = overlapping(self.machine)
        if deep:
            pairs = ", ".join(f"{a!r} and {b!r} ({1e3 * depth:.1f} mm)" for (a, b), depth in list(deep.items())[:6])
            warnings.warn(
                f"model {self.model.name!r}: shapes of {pairs}{' and others' if len(deep) > 6 else ''} overlap at the start; if that is "
                "their form and not a touch, dalembert.contact.exclude_overlaps(model, q0) leaves such pairs out.",
                stacklevel=4,
            )

    def restart(self, state: Array, step: int, tables: Tables | None = None) -> None:
        """Begin from a checkpoint."""
        m, at, state = self.machine, self.at, np.asarray(state, dtype=float)
        m.states[:] = state[at.bodies : at.values].reshape(m.n, 13)
        m.room.values[:], m.intact[:] = state[at.values : at.intact], state[at.intact : at.lam].astype(np.int64)
        m.joint_lam[:], m.rates_of_rotors[:] = state[at.lam : at.rotors], state[at.rotors : at.inputs]
        m.inputs[:], self.tau[:], self.outer[:] = state[at.inputs : at.tau], state[at.tau : at.calm], 0.0
        m.account[:], m.impulse[:] = state[at.account : at.impulse], state[at.impulse : self.size]
        self.steps, self.events, self._log[:], m.h = step, [], 0.0, m.h or self.h
        known = tables if tables is not None and "memory" in tables else None
        m.sleep.restore(state[at.calm : at.account], None if known is None else known["contacts"].of(-1))
        if m.detector is not None:
            restore_memory(m.detector, None if known is None else known["memory"])

    @property
    def state(self) -> Array:
        """The fixed part of the checkpoint."""
        m = self.machine
        parts = [m.states.ravel(), m.room.values, m.intact, m.joint_lam, m.rates_of_rotors, m.inputs, self.tau, m.sleep.calm]
        return np.concatenate([*parts, m.account, m.impulse])

    def checkpoint_tables(self) -> Tables:
        """Contacts, events and memory of the current node."""
        found = self.contacts() if self.keeps_contacts else NO_CONTACTS
        return self._tables([found], [self._take_events()], self._memory())

    def _memory(self) -> tuple[Memory, ...]:
        return () if self.machine.detector is None else self.machine.detector.glance()

    def _tables(self, contacts: list[Array], events: list[Array], last: tuple[Memory, ...]) -> dict[str, Table]:
        """Of some nodes; `last`: memory of the last of them."""
        memory = [np.zeros((0, len(COLUMNS["memory"])))] * (len(contacts) - 1) + [memory_rows(last)]
        found = {"contacts": contacts, "events": events, "memory": memory}
        return {name: Table.from_nodes(COLUMNS[name], rows) for name, rows in found.items()}

    def contacts(self) -> Array:
        """Contacts of the last step, (k, 14)."""
        return contact_rows(self.machine)

    def _contacts(self) -> Array:
        """Rows of the contacts, as long as there is room for them."""
        if not self.keeps_contacts or self._contact_bytes > CONTACT_BYTES:
            return NO_CONTACTS
        rows = self.contacts()
        self._contact_bytes += 0 if self.forgets else rows.nbytes
        if self._contact_bytes > CONTACT_BYTES:
            warnings.warn(
                f"contacts of the run take more than {CONTACT_BYTES >> 20} MiB: traj.contacts ends at t = {self.time:.4g} s. A larger "
                "every= keeps those of fewer nodes, contacts='none' keeps none.",
                stacklevel=2,
            )
        return rows

    def _take_events(self) -> Array:
        rows, self.events = self.events, []
        return np.array(rows).reshape(-1, len(COLUMNS["events"]))

    @property
    def time(self) -> float:
        """Time of the current node."""
        return self.t0 + self.steps * self.h

    def observe(self) -> tuple[Array, Array]:
        """q and v of the current node, of the machine that was given."""
        return self.view.read(self.machine)

    node = observe

    # steps -----------------------------------------------------------------------------------------------------------------------------

    def push(self, force: Array) -> None:
        """Let a force on the bodies, dual to the velocity of the machine cut free, act until told otherwise."""
        self.outer[:] = force

    def _hold(self) -> None:
        """What acts over the next step."""
        m = self.machine
        if self.control is not None and self.control is not HELD:
            self._take(self._sampled())
        m.held[:] = 0.0
        if self.tau.any():
            if self.control is None or isinstance(self.control, TabledControl):
                measure(m.bodies.system, m.states, m.room.values, m.room.J_measures)
            self.view.push(m, self.tau)
        if self.outer.any():
            more = np.empty_like(m.held)
            hold(m.states, m.bodies.com, self.outer, more)
            m.held += more

    def _take(self, given: Any) -> None:
        """tau and inputs of motors from what a control returned."""
        inputs: Any = {}
        if isinstance(given, Mapping):
            given, inputs = np.zeros(self.view.nv), given
        elif isinstance(given, tuple) and len(given) == 2 and isinstance(given[1], Mapping):
            given, inputs = given
        self.tau[:] = self._checked("tau", given, self.tau.shape)
        self.machine.inputs[:] = np.nan
        for name, value in inputs.items():
            if name not in self.motors:
                raise UnknownNameError("motor in what the control returned", name, self.motors)
            self.machine.inputs[self.motors.index(name)] = self._checked(f"input of motor {name!r}", value, ())

    def _checked(self, what: str, given: Any, shape: tuple[int, ...]) -> Array:
        found = np.asarray(given, dtype=float)
        if found.shape != shape:
            expected = f"{shape}, dual to v, or {{motor: input}}" if shape else "a number"
            raise OptionError(f"control returned {what} of shape {found.shape} at t = {self.time:.6g} s; expected {expected}.")
        if not np.isfinite(found).all():
            raise OptionError(f"control returned {what} = {found.tolist()} at t = {self.time:.6g} s; expected finite numbers.")
        return found

    def advance(self, n: int, every: int, stop: Callable[[], bool] = lambda: False, into: Into | None = None) -> Chunk:
        """Up to n steps."""
        status, error, first = OK, None, self.steps
        states: list[Array] = []
        logs: list[Array] = []
        contacts: list[Array] = []
        events: list[Array] = []
        memory: tuple[Memory, ...] = ()
        for _ in range(n):
            try:
                status = self._one(self._log)
            except (Exception, KeyboardInterrupt) as problem:  # the user's control: handed on together with what was computed before
                error = problem
            if status != OK or error is not None:
                break
            if self.steps % every == 0:
                states.append(self.state)
                logs.append(self._log.copy())
                contacts.append(self._contacts())
                events.append(self._take_events())
                memory = self._memory()
                self._log[:] = 0.0
            if stop():
                break
        rows = np.array(states).reshape(len(states), self.size)
        tables = self._tables(contacts, events, memory) if states else {}
        when = times(first, self.steps, every, self.h, self.t0)
        return Chunk(status, when, rows, np.array(logs).reshape(len(logs), len(self.log_columns)), error, tables)

    def _one(self, log: Array) -> int:
        m = self.machine
        self._hold()
        if self.archive is not None:
            self.archive.begin(self.steps, self.time, self.h)
        with np.errstate(all="ignore"):  # a state that overflows ends the run by its status
            found = m.step(self.time, self.h)
        if self.archive is not None:
            self.archive.end()
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
        log[6], log[7], log[8] = log[6] + found.stabilised, log[7] + (not found.converged), log[8] + found.stiffened
        log[9:] += found.asleep  # where there is such a column
        return OK

    def _sampled(self) -> Any:
        if isinstance(self.control, TabledControl):
            return self.control.rows[self.steps - self.control.first]
        return self.control(self.time, *self.observe())

    # reading ---------------------------------------------------------------------------------------------------------------------------

    def unpack(self, states: Array) -> dict[str, Any]:
        """q, v, control, work, impulse and account of recorded states."""
        return unpack(self.model, self.machine.bodies, self.view, self.h, self.at, states)

    @classmethod
    def read(cls, plan: Plan, states: Array, controlled: bool) -> dict[str, Any]:
        """`unpack` of a run that is over."""
        bodies = plan.once("bodies", lambda: compile_bodies(plan.acting))  # type: ignore[arg-type]
        view = JointView(bodies, coordinates_of(plan))
        return unpack(plan.acting, bodies, view, plan.h, places(bodies, view.nv, plan)[0], states)

    @classmethod
    def reaction(cls, plan: Plan, states: Array, joint: str, drive: bool = False) -> Array:
        """(N + 1, rows): forces of the rows by which a joint holds its bodies, or of its drives; of the step before each node."""
        model: Any = plan.acting
        bodies = plan.once("bodies", lambda: compile_bodies(model))
        if joint not in bodies.joints:
            raise UnknownNameError("joint", joint, bodies.joints)
        kinds = columns_of(bodies)
        rows = [i for i, (name, _) in enumerate(bodies.rows) if name == joint and kinds[i] == (DRIVE if drive else JOINTS)]
        at, _ = places(bodies, JointView(bodies, coordinates_of(plan)).nv, plan)
        forces = states[:, at.lam : at.rotors][:, rows] / plan.h
        forces[0] = np.nan
        return forces


def coordinates_of(plan: Plan) -> Any:
    """Joints of the machine as its user knows it: from the machine, or from the file that the run is read from."""
    known: Any = plan.acting if plan.given is None else plan.given
    return order_of(known) if plan.coordinates is None else plan.coordinates


def places(bodies: Any, nv: int, plan: Plan) -> tuple[Any, int]:
    """Where the parts of the state are, and its size."""
    n = len(bodies.names)
    counts = {word: bodies.count(getattr(joints, word.upper())) for word in ("measures", "joints", "rows", "rotors", "motors")}
    starts, size = STATE.lay(
        0, {}, {"n": n, "nv": nv, "works": len(WORKS), "calms": n if plan.options.get("sleep", 0.0) > 0.0 else 0, **counts}
    )
    return STATE.named(starts), size


def motor_forces(model: Any, bodies: Any, view: JointView, h: float, inputs: Array, lam: Array) -> Array:
    """(N, nv): forces of motors, from inputs (torque motors) and from impulses of their rows."""
    total = np.zeros((len(lam), view.nv))
    for i, (motor, k) in enumerate(zip(model.motors, view.along([motor.joint for motor in model.motors]), strict=True)):
        if k < 0:
            continue
        if motor.kind == "torque":
            total[:, k] += np.nan_to_num(np.clip(motor.gear * inputs[:, i], *(motor.limit or (-np.inf, np.inf))))
        elif (motor.joint, f"motor {motor.name}") in bodies.rows:
            total[:, k] += lam[:, bodies.rows.index((motor.joint, f"motor {motor.name}"))] / h
    return total


def unpack(model: Any, bodies: Any, view: JointView, h: float, at: Any, states: Array) -> dict[str, Any]:
    """What recorded states tell. "control": tau and the forces of motors, dual to v of the machine that was given."""
    N, n = len(states), len(bodies.names)
    q, v = np.empty((N, 7 * n)), np.empty((N, 6 * n))
    for k in range(N):
        from_states(np.ascontiguousarray(states[k, at.bodies : at.values]).reshape(n, 13), bodies.com, q[k], 0, v[k], 0)
    works = states[:, at.account : at.impulse]
    impulse = np.full((N, 6), np.nan)
    impulse[:, 3:] = states[:, at.impulse + 3 : at.impulse + 6]
    return {
        "q": q,
        "v": v,
        "v_interval": v,
        "control": states[:, at.tau : at.calm]
        + motor_forces(model, bodies, view, h, states[:, at.inputs : at.tau], states[:, at.lam : at.rotors]),
        "work": works.sum(axis=1),
        "impulse": impulse,
        "account": {name: works[:, i] for i, name in enumerate(WORKS)},
    }


ENGINE = SpookEngine
