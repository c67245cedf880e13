"""The loop in Python around the compiled one."""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from dalembert.errors import ArchiveError, OptionError, SimulationError, UnsupportedError
from dalembert.kernels.loop import SUBSTEPS
from dalembert.kernels.status import MEANING, OK
from dalembert.runs.engines import Chunk, Engine, Stopping, checkpoint_tables, table_columns
from dalembert.runs.plan import Plan
from dalembert.runs.progress import Progress
from dalembert.runs.ragged import Tables, declared, join_tables, nodes_of, size
from dalembert.runs.room import Room
from dalembert.runs.stored import BLOCK_BYTES
from dalembert.runs.trajectory import Trajectory, since_first

CHUNK_SECONDS = 0.1
KEPT_BYTES = 2**24  # of states, and of ragged tables: what is more stays in the file that a run is saved to
KEPT = "Everything before this step is in the trajectory."
FIRST, AT_ONCE = 32, 1024  # steps of the first chunk, and of that of a plan whose runs were seen to be quick


class Run:
    """The loop in Python: chunks of compiled steps, and between them progress, saving, monitors and Ctrl-C."""

    def __init__(self, plan: Plan, engine: Engine, meta: dict[str, Any], recording: Any = None, progress: Any = False, monitors: Any = ()):
        self.plan, self.engine, self.meta = plan, engine, meta
        self.recording, self.progress, self.monitors = recording, progress, monitors
        self.meta["log_columns"] = list(engine.log_columns)
        self.meta.update(getattr(engine, "facts", {}))
        self.columns = table_columns(engine)
        if self.columns:
            self.meta["tables"] = {name: list(names) for name, names in self.columns.items()}
        self.t: list[np.ndarray] = []
        self.states: list[np.ndarray] = []
        self.logs: list[np.ndarray] = []
        self.tables: list[Tables] = []  # of the same nodes, where the engine has any
        self._table_bytes = 0
        self.rooms: tuple[Room, ...] = ()  # instead of these lists, where the number of rows to come is known
        self.long = False  # rows are in the file alone
        self._place: Any = None
        self.split = 0  # recorded intervals in which a step was split
        self.raised_by = "control"

    def record_first(self) -> None:
        """Node 0."""
        self.keep_current()
        if self.recording is not None:
            self.recording.begin(self.trajectory())

    def keep_current(self) -> None:
        """Nothing but the current node."""
        engine = self.engine
        self.t, self.states, self.logs, self.tables = [], [], [], []
        row, log = engine.state[None, :].copy(), np.zeros((1, len(engine.log_columns)))
        self.keep(Chunk(OK, np.array([engine.time]), row, log, None, checkpoint_tables(engine)))

    def keep_last(self, n: int) -> None:
        """The last n nodes."""
        for rows in (self.t, self.states, self.logs):
            rows[:] = [np.concatenate(rows)[-n:]]
        if self.tables:
            self.tables = [nodes_of(join_tables(self.tables), -n)]

    def keep(self, chunk: Chunk) -> ArchiveError | None:
        """Keep rows in memory and in the file. A full disk ends the run; what was computed stays in memory."""
        new = (chunk.t, chunk.states, chunk.log)
        if (self.columns or chunk.tables) and len(chunk.states):
            chunk = chunk._replace(tables=declared(chunk.tables, len(chunk.states), self.columns))
            if not self.long:
                self.tables.append(chunk.tables)
                self._table_bytes += size(chunk.tables)
        if self.long:
            return self._write(chunk)
        for room, rows in zip(self.rooms, new, strict=False):
            room.add(rows)
        for kept, rows in zip(() if self.rooms else (self.t, self.states, self.logs), new, strict=False):
            kept.append(rows)
        return self._write(chunk)

    def _room(self, n: int) -> tuple[np.ndarray, np.ndarray]:
        """Where the engine may write its next n rows: where they stay, or one place for all chunks of a long run."""
        if self.rooms:
            return self.rooms[1].next(n), self.rooms[2].next(n)
        if self._place is None or len(self._place[0]) < n:
            self._place = np.empty((n, self.engine.state.size)), np.empty((n, len(self.engine.log_columns)))
        return self._place[0][:n], self._place[1][:n]

    def _write(self, chunk: Chunk) -> ArchiveError | None:
        """Rows to the file. What a long run cannot write any more, it takes into memory, with all that was written before."""
        if self.recording is None or not len(chunk.states):
            return None
        try:
            self.recording.append(chunk.t, chunk.states, chunk.log, chunk.tables)
        except ArchiveError as problem:
            if self.long:
                self._take_back((chunk.t, chunk.states, chunk.log, chunk.tables))
            return problem
        return None

    def _take_back(self, *more: Any) -> None:
        """All rows from the file into memory."""
        *pieces, tables = zip(*(rows[:4] for rows in self.recording.written()), *more, strict=True)
        self.rooms = tuple(Room(rows, 0) for rows in pieces)
        self.tables = list(tables) if self.columns else []
        self.long = False

    def to_end(self, n: int, on_fail: str) -> Trajectory:
        """All steps up to step n, or as many as can be done."""
        status, stopped, pace = OK, "", 0.0
        error: Stopping | None = None
        every = self.meta["every"]
        more = n // every - self.engine.steps // every
        row = self.engine.state.nbytes
        self.long = self.long or (self.recording is not None and (sum(map(len, self.states)) + more) * row > KEPT_BYTES)
        if not self.long:
            self.rooms = (Room(self.t, more), Room(self.states, more), Room(self.logs, more))
        self.t, self.states, self.logs = [], [], []
        self.tables = [] if self.long else self.tables
        self._table_bytes = sum(map(size, self.tables))
        block = max(1, BLOCK_BYTES // row) * every
        most = block if self.long else n
        chunk = 1 if self.monitors else self.plan.pace or FIRST
        with interrupt_flag() as interrupted, Progress(self.progress, self.meta["method"], self.engine.steps, n, self.engine.h) as bar:
            while self.engine.steps < n and status == OK and error is None and not interrupted.is_set() and not stopped:
                began = time.perf_counter()
                before = self.engine.steps
                found = self.engine.advance(min(chunk, most, n - before), every, interrupted.is_set, self._room)
                status, error = found.status, self.keep(found) or self._by_user(found.error)
                self.split += int(np.count_nonzero(found.log[:, SUBSTEPS]))
                if self._table_bytes > KEPT_BYTES and self.recording is not None and error is None:
                    self.long, self.rooms, self.tables, self._table_bytes, most = True, (), [], 0, block
                elapsed = max(time.perf_counter() - began, 1e-9)
                pace = (self.engine.steps - before) * CHUNK_SECONDS / elapsed
                chunk = max(1, int(min(2 * chunk + 1, pace + 1)))
                bar.update(self.engine.steps)
                if error is None:
                    stopped, error = self._ask_monitors()
        self.plan.keep_pace(int(min(pace / 4, AT_ONCE)))
        ending = "interrupted" if interrupted.is_set() or isinstance(error, KeyboardInterrupt) else stopped or "ok"
        return self._finish(status, None if isinstance(error, KeyboardInterrupt) else error, ending, on_fail)

    def _by_user(self, error: Stopping | None) -> Stopping | None:
        """Remember whose code raised."""
        self.raised_by = f"stepper {self.plan.stepper.name!r}" if self.plan.stepper.python or self.meta["control"] is None else "control"
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
        message = "" if status == OK else self.failure(status)
        if error is not None:
            message = f"step {self.engine.steps} at t = {self.engine.time:.6g} s: {self.said(error)}"
        self.meta["status"] = message or ending
        if self.split:
            self.meta["rescued"] = self.split  # see traj.solver["substeps"]
        traj = self._closed()
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

    def said(self, error: Exception) -> str:
        """An exception as words: those of a user's code name the code, type and message."""
        return str(error) if isinstance(error, ArchiveError) else f"{self.raised_by}: {type(error).__name__}: {error}"

    def _closed(self) -> Trajectory:
        """The trajectory, its file merged; where that fails, an error that carries the trajectory."""
        if self.long:
            try:
                return self.recording.close_long(self.plan, dict(self.meta))  # type: ignore[no-any-return]
            except ArchiveError as problem:
                self._take_back()
                raise self._unclosed(problem, self.trajectory()) from problem
        traj = self.trajectory()
        if self.recording is not None:
            try:
                self.recording.close(traj)
            except ArchiveError as problem:
                raise self._unclosed(problem, traj) from problem
        return traj

    def _unclosed(self, problem: ArchiveError, traj: Trajectory) -> SimulationError:
        return SimulationError(f"the run is in memory (err.traj), but its file could not be closed: {problem}", traj)

    def failure(self, status: int) -> str:
        e = self.engine
        text = f"step {e.steps} at t = {e.time:.6g} s with h = {e.h:g} s ({self.meta['method']}): {MEANING[status]}"
        if "tol" in self.meta["options"]:
            what = "last correction relative to the velocity" if self.plan.family.corrects else "relative residual"
            text += f"; {what} {e.info[1]:.3g} after {int(e.info[0])} iterations, tolerance {self.meta['options']['tol']:g}"
        own = getattr(e, "words", lambda status: "")(status)  # what the engine itself says of it
        return f"{text}. {own} {KEPT}" if own else f"{text}. {self._remedy()}"

    def _remedy(self) -> str:
        kept, plan = KEPT, self.plan
        if plan.stepper.python:
            return kept
        trouble = plan.acting.trouble(self.engine.time + self.engine.h)
        if trouble:
            return f"{trouble} {kept}"
        q, v = self.engine.observe()
        rescue = "; rescue=True repeats such a step in smaller parts" if plan.options.get("rescue") is False else ""
        try:
            with np.errstate(all="ignore"):  # at an overflowing state the advice may be 0 or nothing, but not a warning
                advice = plan.family.advise(plan.acting, q, v, plan.stepper.name)
        except (UnsupportedError, OptionError, KeyError):
            return f"Try a smaller h{rescue}. {kept}"
        assert plan.family.remedy is not None  # who gives advice has words for it
        return f"{plan.family.remedy(advice, self.engine.h, plan.stepper.name, rescue)} {kept}"

    def trajectory(self) -> Trajectory:
        """Everything recorded so far."""
        pieces = (self.t, self.states, self.logs)
        t, states, log = (room.rows for room in self.rooms) if self.rooms else (np.concatenate(x) for x in pieces)
        tables = join_tables(self.tables)
        unpacked = since_first(self.engine.unpack(states))
        return Trajectory(self.plan.system, self.plan.stepper, dict(self.meta), t, states, log, unpacked, tables)


class Flag:
    """An event that nobody waits for."""

    def __init__(self) -> None:
        self._set = False

    def set(self) -> None:
        self._set = True

    def is_set(self) -> bool:
        return self._set


@contextlib.contextmanager
def interrupt_flag() -> Iterator[Flag]:
    """A flag that Ctrl-C sets instead of raising; a second Ctrl-C raises as usual. Elsewhere than in the main thread: never set."""
    flag = Flag()
    if threading.current_thread() is not threading.main_thread():
        yield flag
        return

    def on_interrupt(number: int, frame: Any) -> None:
        flag.set()
        signal.signal(signal.SIGINT, before)

    before = signal.signal(signal.SIGINT, on_interrupt)
    try:
        yield flag
    finally:
        signal.signal(signal.SIGINT, before)
