"""Ragged tables go with the rows of a run through memory, journals, files, pickles and kills, and a run goes on from them bit for bit.

The engine here is one of its own: nodes have 0 ... 5 rows, and each step depends on the rows that the step before left in its memory.
"""

import pickle
import shutil
import signal
import subprocess
import sys
import time

import h5py
import numpy as np
import pytest
import xarray

import dalembert as dal
from dalembert import registry
from dalembert.contracts.check import check_restart
from dalembert.io import Journal, read_archive
from dalembert.kernels.status import OK
from dalembert.runs import engines, recording, run, stored
from dalembert.runs.controls import sample
from dalembert.runs.engines.python import PythonEngine
from dalembert.runs.plan import Plan
from dalembert.runs.ragged import COLUMNS, Table, nodes_of
from dalembert.runs.recording import Rows, journal_path
from dalembert.runs.stored import StoredTrajectory

V0 = (0.1, 3.0, 0.1, 1.0, 0.0, 0.0)


class Rattling(PythonEngine):
    """A body that is pushed by what it remembers."""

    table_columns = {**COLUMNS, "memory": ("x", "y")}  # noqa: RUF012
    trouble: dict = {}  # noqa: RUF012  step: exception

    def restart(self, state, step, tables=None):
        super().restart(state, step)
        self.now = {name: Table.empty(names, 1) for name, names in self.table_columns.items()} if tables is None else dict(tables)
        self.since, self.every, self.nodes = [], 1, []

    def checkpoint_tables(self):
        return self.now

    def advance(self, n, every, stop=lambda: False, into=None):
        self.every, self.nodes = every, []
        found = super().advance(n, every, stop, into)
        names, nodes = self.table_columns, self.nodes
        left = [np.zeros((0, 2))] * (len(nodes) - 1) + [node["memory"].rows for node in nodes[-1:]]
        tables = {name: Table.from_nodes(names[name], [node[name].rows for node in nodes]) for name in ("contacts", "events")}
        return found._replace(tables={**tables, "memory": Table.from_nodes(names["memory"], left)})

    def _one(self):
        step = self.steps
        if step in self.trouble:
            raise self.trouble[step]
        q, v = (x.copy() for x in self.observe())
        rng, memory = np.random.default_rng(step), self.now["memory"].rows
        tau = np.zeros_like(v) if self.control is None else sample(self.control, self.time, q, v)
        v += 0.1 * np.sin(memory).sum()
        v += self.h * (tau - 0.1 * v)
        q[0] += self.h * v[-1]
        self.state, self.steps = np.concatenate([q, v, tau]), step + 1
        remembered = rng.normal(size=(rng.integers(0, 6), 2)) + np.cos(memory).sum(axis=0)
        contacts = rng.normal(size=(rng.integers(0, 6), 12)) + v[0]
        self.since += [[self.time - self.h * rng.random(), rng.integers(3), 0, -1, v[0]] for _ in range(rng.integers(0, 3))]
        found = {"contacts": contacts, "events": self.since, "memory": remembered}
        self.now = {name: Table.from_nodes(self.table_columns[name], [rows]) for name, rows in found.items()}
        if self.steps % self.every == 0:
            self.nodes.append(self.now)
            self.since = []
        return OK


def enter():
    """Register stepper and engine."""
    registry.load_all()
    engines.add_engine("rattling", Rattling)
    about = {"name": "rattling", "summary": "for tests", "system": "any", "order": 1, "engine": "rattling", "python": True, "rank": 2000}
    registry.register(**about)(lambda m, t, q, v, h: (q, v))


@pytest.fixture(scope="module", autouse=True)
def entered():
    enter()
    yield
    del registry._steppers["any", "rattling"], engines._added["rattling"]
    registry._version += 1


@pytest.fixture
def long(monkeypatch):
    """Every saved run is a long one, of many blocks."""
    monkeypatch.setattr(run, "KEPT_BYTES", 0)
    monkeypatch.setattr(recording, "LONG_FILE", 0)
    for module in (run, stored):
        monkeypatch.setattr(module, "BLOCK_BYTES", 5000)


@pytest.fixture(params=["short", "long"])
def either(request):
    """Rows in memory, or in the file alone."""
    if request.param == "long":
        request.getfixturevalue("long")
    return request.param


def body():
    m = dal.Model("body")
    m.add_body("body", 1.0, (1.0, 2.0, 2.5))
    return m


def simulate(steps=300, **options):
    return dal.simulate(body(), "rattling", h=0.01, t_end=steps * 0.01, v0=V0, **options)


def same(a, b):
    np.testing.assert_array_equal(a.t, b.t)
    np.testing.assert_array_equal(a.states, b.states)
    assert len(a.contacts) == len(a.events) == len(a)
    assert a.contacts == b.contacts
    assert a.events == b.events
    assert a._last_tables == b._last_tables
    assert a.tables.keys() == {"contacts", "events"}


def test_a_run_has_the_rows_that_its_engine_found():
    traj = simulate()
    engine = Plan.of(body(), "rattling", 0.01).engine()
    engine.start(np.array([0, 0, 0, 1.0, 0, 0, 0]), np.array(V0))
    for k in range(1, 301):
        engine.advance(1, 1)
        np.testing.assert_array_equal(traj.contacts.of(k), engine.now["contacts"].rows)
        np.testing.assert_array_equal(traj.events.of(k), engine.now["events"].rows)
    assert traj._last_tables == engine.now
    assert not len(traj.contacts.of(0))
    assert set(traj.contacts.counts.tolist()) == {0, 1, 2, 3, 4, 5}
    late = traj.t[traj.events.nodes] - traj.events["t"]
    assert (late >= 0).all() and (late <= 0.01 + 1e-12).all()  # 1e-12: round-off of times up to 3 s


def test_the_step_depends_on_its_memory():
    """Or nothing below would be told."""
    engine = Plan.of(body(), "rattling", 0.01).engine()
    engine.start(np.array([0, 0, 0, 1.0, 0, 0, 0]), np.array(V0))
    engine.advance(20, 1)
    state, tables, ends = engine.state, engine.checkpoint_tables(), []
    for given in (tables, tables, None):
        engine.restart(state, 20, given)
        engine.advance(20, 1)
        ends.append(engine.state)
    assert (ends[0] == ends[1]).all()
    assert len(tables["memory"].rows)
    assert (ends[0] != ends[2]).any()


def test_thinned_out_rows_have_all_events_and_the_contacts_of_their_step():
    whole, thin = simulate(), simulate(every=3)
    np.testing.assert_array_equal(thin.states, whole.states[::3])
    np.testing.assert_array_equal(thin.events.rows, whole.events.rows)
    for k in range(101):
        np.testing.assert_array_equal(thin.contacts.of(k), whole.contacts.of(3 * k))


def test_other_engines_have_tables_without_rows(tmp_path):
    traj = dal.simulate(body(), "cayley", h=0.01, t_end=0.1, v0=V0, save=tmp_path / "run.h5")
    for found in (traj, dal.load(tmp_path / "run.h5"), dal.Trajectory.of_nodes(body(), traj.t, traj.q, traj.v, meta=simulate(10).meta)):
        assert found.contacts == Table.empty(COLUMNS["contacts"], 11)
        assert found.events == Table.empty(COLUMNS["events"], 11)
    data, about = read_archive(tmp_path / "run.h5")
    assert "tables" not in about["meta"]
    assert not [name for name in data if "contacts" in name or "events" in name or "memory" in name]


@pytest.mark.parametrize("every", [1, 3])
def test_files_give_back_what_was_computed(tmp_path, either, every):
    whole, path = simulate(every=every), tmp_path / "run.h5"
    found = simulate(every=every, save=path)
    assert isinstance(found, StoredTrajectory) == (either == "long")
    assert not journal_path(path).exists()
    same(found, whole)
    same(dal.load(path), whole)
    dal.load(path).save(tmp_path / "again.h5")
    same(dal.load(tmp_path / "again.h5"), whole)


def test_long_and_short_files_are_the_same(tmp_path, monkeypatch):
    simulate(save=tmp_path / "short.h5")
    monkeypatch.setattr(run, "KEPT_BYTES", 0)
    monkeypatch.setattr(run, "BLOCK_BYTES", 5000)
    simulate(save=tmp_path / "long.h5")
    a, b = (read_archive(tmp_path / f"{x}.h5")[0] for x in ("short", "long"))
    assert list(a) == list(b)
    for key, value in a.items():
        np.testing.assert_array_equal(value, b[key], err_msg=key)


def test_tables_that_outgrow_memory_stay_in_the_file(tmp_path, monkeypatch):
    """States are 46 kB, tables 80 kB."""
    monkeypatch.setattr(run, "KEPT_BYTES", 60_000)
    found, whole = simulate(save=tmp_path / "run.h5"), simulate()
    assert whole.states.nbytes < 60_000 < whole.contacts.nbytes
    assert isinstance(found, StoredTrajectory)
    same(found, whole)
    assert type(whole) is dal.Trajectory


def test_a_table_of_a_long_file_is_read_alone(tmp_path, long):
    found = simulate(save=tmp_path / "run.h5")
    read, names = found._reader.read, []
    found._reader.read = lambda name, *part: names.append(name) or read(name, *part)
    assert len(found.events) == 301
    assert set(names) == {"events", "events_count"}


def test_a_run_without_any_row_is_a_file_too(tmp_path, either, monkeypatch):
    monkeypatch.setattr(Rattling, "_one", lambda self: PythonEngine._one(self) + bool(self.nodes.append(self.now)))
    traj = simulate(100, save=tmp_path / "run.h5")
    for found in (traj, dal.load(tmp_path / "run.h5"), dal.resume(tmp_path / "run.h5", 2.0)):
        assert found.contacts == Table.empty(COLUMNS["contacts"], len(found))


def test_netcdf_and_xarray_open_it(tmp_path):
    traj, path = simulate(save=tmp_path / "run.h5"), tmp_path / "run.h5"
    with xarray.open_dataset(path, engine="netcdf4") as data:
        assert data.contacts.dims == ("contacts_row", "contacts_column")
        np.testing.assert_array_equal(data.contacts.sel(contacts_column="gap"), traj.contacts["gap"])
        np.testing.assert_array_equal(data.events_count, traj.events.counts)
        assert data.events_count.dims == ("time",)
        assert list(data.memory_column.values) == ["x", "y"]
        mine = traj.to_xarray()
        for name in ("contacts", "contacts_count", "contacts_column", "events"):
            np.testing.assert_array_equal(mine[name], data[name])
        assert "memory" not in mine
    with h5py.File(path) as file:
        assert file["memory"].shape == traj._last_tables["memory"].rows.shape


@pytest.mark.parametrize("every", [1, 3])
def test_runs_are_resumed_bit_for_bit(tmp_path, either, every):
    path = tmp_path / "run.h5"
    simulate(90, every=every, save=path)
    dal.resume(path, 1.5)
    same(dal.resume(path, 3.0), simulate(every=every))
    same(dal.load(path), simulate(every=every))


@pytest.mark.parametrize("problem", [KeyboardInterrupt(), ValueError("out of order")], ids=["Ctrl-C", "failure"])
@pytest.mark.parametrize("every", [1, 3])
def test_what_ends_early_is_kept_and_goes_on(tmp_path, either, every, problem, monkeypatch):
    path, whole = tmp_path / "run.h5", simulate(every=every)
    with monkeypatch.context() as m:
        m.setattr(Rattling, "trouble", {200: problem})  # 200 = 3 66 + 2: between nodes that are kept
        traj = simulate(every=every, save=path, on_fail="return")
    n = 200 // every + 1
    assert len(traj) == n
    assert traj.contacts == whole.contacts[:n]
    assert traj.events == whole.events[:n]
    assert traj.status == "interrupted" or "out of order" in traj.status
    same(dal.resume(path, 3.0), whole)


def test_a_file_of_other_tables_is_not_continued(tmp_path, monkeypatch):
    path = tmp_path / "run.h5"
    simulate(30, save=path)
    monkeypatch.setattr(Rattling, "table_columns", {"contacts": ("a",)})
    with pytest.raises(dal.ArchiveError, match=r"run\.h5.*ragged tables.*memory.*another version"):
        dal.resume(path, 1.0)


def leave_journal(path, monkeypatch, **options):
    """The files of a run that was never closed."""

    def full(*args):
        raise dal.ArchiveError("no space left on device")

    with monkeypatch.context() as m:
        for name in ("close", "close_long"):
            m.setattr(recording.Recording, name, full)
        with pytest.raises(dal.SimulationError, match="no space left") as caught:
            simulate(save=path.with_name("first.h5"), **options)
    for of in (lambda path: path, journal_path):
        shutil.copy(of(path.with_name("first.h5")), of(path))
    return caught.value.traj


@pytest.mark.parametrize("every", [1, 3])
def test_a_file_that_cannot_be_closed_leaves_the_run_in_memory_and_in_the_journal(tmp_path, either, every, monkeypatch):
    path, whole = tmp_path / "run.h5", simulate(every=every)
    same(leave_journal(path, monkeypatch, every=every), whole)
    same(dal.load(path), whole)
    same(dal.load(path), whole)


@pytest.mark.parametrize("every", [1, 3])
def test_a_truncated_journal_is_resumed_from_its_last_whole_record(tmp_path, either, every, monkeypatch):
    path, whole = tmp_path / "run.h5", simulate(every=every)
    leave_journal(path, monkeypatch, every=every)
    file, journal = path.read_bytes(), journal_path(path).read_bytes()
    found = set()
    for left in np.linspace(len(journal) - 1, 3000, 8).astype(int):
        path.write_bytes(file)
        journal_path(path).write_bytes(journal[:left])
        part = dal.load(path)
        found.add(len(part))
        assert part.contacts == whole.contacts[: len(part)]
        assert part.events == whole.events[: len(part)]
        same(dal.resume(path, 3.0), whole)
    assert len(found) > 3


def test_a_run_killed_while_its_journal_was_merged_is_not_merged_twice(tmp_path, either, monkeypatch):
    """The file has rows that the journal has too, and more of them."""
    path, whole = tmp_path / "run.h5", simulate()
    leave_journal(path, monkeypatch)
    journal = journal_path(path).read_bytes()
    dal.load(path)
    journal_path(path).write_bytes(journal[: len(journal) // 2])
    same(dal.load(path), whole)


def test_a_record_of_which_the_file_has_some_nodes_gives_the_others(tmp_path, either, monkeypatch):
    """The file has 41 nodes; records end after nodes 0, 32, 97, ..."""
    path, whole = tmp_path / "run.h5", simulate()
    run_id = leave_journal(path, monkeypatch).meta["run_id"]
    rows = Rows(whole.t[:41], whole.states[:41], whole._log[:41], nodes_of(whole._tables, 0, 41))
    plan = Plan.from_meta(whole.model, whole.stepper, whole.meta)
    recording._part(plan, {**whole.meta, "run_id": run_id}, rows, 0).save(path, overwrite=True)
    with Journal.reopen(journal_path(path)) as journal:
        ends = [int(found["index"][-1]) for found in journal.rows()]
    assert 40 not in ends
    assert ends[0] < 40 < ends[-1]
    found = dal.load(path)
    assert isinstance(found, StoredTrajectory) == (either == "long")  # block by block, not as a whole after that had failed
    same(found, whole)
    assert not journal_path(path).exists()
    same(dal.load(path), whole)


def test_a_disk_that_fills_up_keeps_what_was_computed(tmp_path, either, monkeypatch):
    append, done = Journal.append, []

    def limited(self, arrays):
        done.append(len(arrays["time"]))
        if len(done) > 3:
            raise dal.ArchiveError("no space left on device")
        return append(self, arrays)

    monkeypatch.setattr(Journal, "append", limited)
    with pytest.raises(dal.SimulationError, match="no space left") as caught:
        simulate(save=tmp_path / "run.h5")
    n = sum(done)
    assert n < 301
    assert caught.value.traj.contacts == simulate().contacts[:n]
    assert caught.value.traj.events == simulate().events[:n]


CHILD = """
import sys
sys.path.insert(0, sys.argv[2])
import test_ragged_runs as t
from dalembert.runs import run
run.KEPT_BYTES, run.BLOCK_BYTES = (0, 50_000) if sys.argv[4] == "long" else (2**62, run.BLOCK_BYTES)
t.enter()
print("ready", flush=True)
t.simulate(3_000_000, every=int(sys.argv[3]), save=sys.argv[1])
"""


@pytest.mark.parametrize("every", [1, 3])
@pytest.mark.parametrize("seconds", [0.0, 0.4])
def test_sigkill_then_resume_bit_for_bit(tmp_path, either, every, seconds):
    path = tmp_path / "run.h5"
    command = [sys.executable, "-c", CHILD, str(path), __file__.rpartition("/")[0], str(every), either]
    child = subprocess.Popen(command, stdout=subprocess.PIPE)
    child.stdout.readline()
    until = time.monotonic() + 60
    while not (path.exists() and journal_path(path).exists()) and time.monotonic() < until:
        time.sleep(0.002)
    time.sleep(seconds)
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stdout.close()
    killed = dal.load(path)
    assert "killed" in killed.status
    assert not journal_path(path).exists()
    done = (len(killed) - 1) * every
    assert done > 0 or seconds == 0.0
    assert isinstance(killed, StoredTrajectory) == (either == "long") or done == 0
    whole = simulate(done + 150, every=every)
    assert killed.contacts == whole.contacts[: len(killed)]
    same(dal.resume(path, (done + 150) * 0.01), whole)


def test_trajectories_are_pickled_with_their_tables(tmp_path, either):
    traj = simulate(save=tmp_path / "run.h5")
    again = pickle.loads(pickle.dumps(traj))
    assert type(again) is dal.Trajectory
    same(again, traj)
    again.save(tmp_path / "again.h5")
    same(dal.resume(tmp_path / "again.h5", 3.6), simulate(360))


def test_one_step_at_a_time_is_the_same_run():
    sim = dal.Simulation(body(), "rattling", h=0.01, v0=V0)
    for n in (1, 1, 5, 93, 200):
        sim.step(n)
    same(sim.trajectory(), simulate())
    sim.reset()
    sim.step(50)
    same(sim.trajectory(), simulate(50))


@pytest.mark.parametrize("keep", [7, 1])
def test_the_last_nodes_are_kept_with_their_tables(keep):
    sim, whole = dal.Simulation(body(), "rattling", h=0.01, v0=V0, keep=keep), simulate()
    for _ in range(300):
        sim.step()
    traj = sim.trajectory()
    assert traj.contacts == whole.contacts[-keep:]
    assert traj.events == whole.events[-keep:]
    assert traj._last_tables == whole._last_tables


def test_with_nothing_kept_there_is_the_current_node():
    sim, whole = dal.Simulation(body(), "rattling", h=0.01, v0=V0, keep=0), simulate()
    sim.step(300)
    assert sim.trajectory().contacts == whole.contacts[-1:]
    assert sim.trajectory()._last_tables == whole._last_tables


@pytest.mark.parametrize("keep", ["all", 5, 0])
def test_simulations_are_pickled_with_what_they_remember(keep):
    sim = dal.Simulation(body(), "rattling", h=0.01, v0=V0, keep=keep)
    sim.step(20)
    other = pickle.loads(pickle.dumps(sim))
    for s in (sim, other):
        s.step(20)
    same(other.trajectory(), sim.trajectory())
    assert (sim.state.q == simulate(40).q[-1]).all()


def test_steering_and_a_new_step_size_forget_nothing():
    """A push of nothing makes a new engine; a step that is set and set back restarts it."""
    sim = dal.Simulation(body(), "rattling", h=0.01, v0=V0)
    sim.step(20)
    sim.step(20, tau=np.zeros(6))
    assert sim.trajectory().contacts == simulate(40).contacts
    assert (sim.state.v == simulate(40).v[-1]).all()
    before = sim._run.engine.checkpoint_tables()
    sim.h = 0.02
    assert sim._run.engine.checkpoint_tables() == before


def test_the_contract_restarts_it_with_its_memory():
    outcome = check_restart(registry.find("any", "rattling"))
    assert outcome.passed, outcome


def test_an_engine_that_nobody_knows_is_named():
    with pytest.raises(dal.UnknownNameError, match=r"engine.*'ratling'.*rattling"):
        engines.find_engine("ratling")
