"""Long saved runs: rows are in the file alone, and everything that is asked of the trajectory is that of a run in memory, bit for bit."""

import pickle
import signal
import subprocess
import sys
import time
import tracemalloc

import numpy as np
import pytest

import dalembert as dal
from dalembert.io import read_archive
from dalembert.runs import recording, run, stored
from dalembert.runs.recording import journal_path
from dalembert.runs.stored import StoredTrajectory

NAMES = "t states q v v_interval control work impulse kinetic potential energy momentum poses"


def chain(n=3):
    m = dal.Model("chain")
    for i in range(n):
        m.add_body(f"b{i}", 1.0, (0.1, 0.1, 0.02), pose=((0, 0, -1.0 * i), (1, 0, 0, 0)), com=(0, 0, -0.5))
        m.add_joint(f"j{i}", "revolute", f"b{i - 1}" if i else "world", f"b{i}", anchor=(0, 0, -1.0 * i), axis=(0, 1, 0), damping=0.01)
    return m


def body():
    m = dal.Model("body")
    m.add_body("body", 1.0, (1.0, 2.0, 2.5))
    return m


def push(t, q, v):
    out = np.zeros_like(v)
    out[0] = np.sin(3 * t)
    return out


RUNS = {
    "tree": (chain, {"stepper": "midpoint", "q0": [0.3, 0.2, 0.1]}),
    "tree with a control": (chain, {"stepper": "trapezoidal", "control": push}),
    "explicit, thinned out": (chain, {"stepper": "mk4", "q0": [0.3, 0.2, 0.1], "every": 5}),
    "body": (body, {"stepper": "cayley", "v0": (0.1, 3.0, 0.1, 1.0, 0, 0)}),
    "composition": (body, {"stepper": "cayley", "v0": (0.1, 3.0, 0.1, 1.0, 0, 0), "compose": "suzuki4"}),
    "without damping": (chain, {"stepper": "midpoint", "q0": [0.3, 0.2, 0.1], "ignore": ("damping",)}),
}


@pytest.fixture
def long(monkeypatch):
    """Every saved run is a long one, of many blocks."""
    monkeypatch.setattr(run, "KEPT_BYTES", 0)
    monkeypatch.setattr(recording, "LONG_FILE", 0)
    for module in (run, stored):
        monkeypatch.setattr(module, "BLOCK_BYTES", 5000)


def same(a, b):
    for name in NAMES.split():
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)
    for name in a.solver:
        np.testing.assert_array_equal(a.solver[name], b.solver[name], err_msg=name)
    for name in a.account:
        np.testing.assert_array_equal(a.account[name], b.account[name], err_msg=name)
    assert a.report().to_dict() == b.report().to_dict()
    assert len(a) == len(b)


@pytest.mark.parametrize("name", RUNS)
def test_what_is_read_is_what_was_computed(name, tmp_path, long):
    make, options = RUNS[name]
    whole = dal.simulate(make(), h=0.01, t_end=2.0, **options)
    found = dal.simulate(make(), h=0.01, t_end=2.0, save=tmp_path / "run.h5", **options)
    assert isinstance(found, StoredTrajectory)
    assert not journal_path(tmp_path / "run.h5").exists()
    same(found, whole)
    same(dal.load(tmp_path / "run.h5"), whole)


@pytest.mark.parametrize("name", RUNS)
def test_the_file_is_that_of_a_run_in_memory(name, tmp_path, monkeypatch):
    """Every variable; attributes but the identity of the run, and the report, which a long run leaves to who asks."""
    make, options = RUNS[name]
    dal.simulate(make(), h=0.01, t_end=2.0, save=tmp_path / "short.h5", **options)
    monkeypatch.setattr(run, "KEPT_BYTES", 0)
    monkeypatch.setattr(run, "BLOCK_BYTES", 5000)
    dal.simulate(make(), h=0.01, t_end=2.0, save=tmp_path / "long.h5", **options)
    (a, about_a), (b, about_b) = (read_archive(tmp_path / f"{x}.h5") for x in ("short", "long"))
    assert list(a) == list(b)
    for key, value in a.items():
        np.testing.assert_array_equal(value, b[key], err_msg=key)
    del about_a["report"], about_a["meta"]["run_id"], about_b["meta"]["run_id"]
    assert about_a == about_b


def test_it_is_resumed_bit_for_bit(tmp_path, long):
    path, start = tmp_path / "run.h5", {"stepper": "midpoint", "h": 0.01, "q0": [0.3, 0.2, 0.1]}
    dal.simulate(chain(), t_end=1.0, save=path, **start)
    dal.resume(path, 1.5)
    same(dal.resume(path, 2.0), dal.simulate(chain(), t_end=2.0, **start))


def test_it_is_pickled_with_its_rows(tmp_path, long):
    found = dal.simulate(body(), "cayley", h=0.01, t_end=1.0, v0=(0.1, 3, 0.1, 0, 0, 0), save=tmp_path / "run.h5")
    again = pickle.loads(pickle.dumps(found))
    assert type(again) is dal.Trajectory
    same(again, found)


def test_another_file_of_that_name_does_no_harm(tmp_path, long):
    path, start = tmp_path / "run.h5", {"stepper": "midpoint", "h": 0.01, "q0": [0.3, 0.2, 0.1]}
    first = dal.simulate(chain(), t_end=1.0, save=path, **start)
    dal.resume(path, 2.0)
    path.unlink()
    same(first, dal.simulate(chain(), t_end=1.0, **start))


def test_a_file_that_was_cut_short_is_named(tmp_path, long):
    path = tmp_path / "run.h5"
    found = dal.simulate(chain(), "midpoint", h=0.01, t_end=1.0, save=path)
    with path.open("r+b") as file:
        file.truncate(5000)
    with pytest.raises(dal.ArchiveError, match=r"run\.h5.*cut short"):
        found.states  # noqa: B018


def test_a_file_that_cannot_be_closed_leaves_the_run_in_memory_and_in_the_journal(tmp_path, long, monkeypatch):
    path, start = tmp_path / "run.h5", {"stepper": "midpoint", "h": 0.01, "t_end": 1.0, "q0": [0.3, 0.2, 0.1]}

    def full(*args, **kwargs):
        raise dal.ArchiveError("no space left on device")

    with monkeypatch.context() as m:
        m.setattr(recording, "streaming", full)
        with pytest.raises(dal.SimulationError, match="no space left") as caught:
            dal.simulate(chain(), save=path, **start)
    whole = dal.simulate(chain(), **start)
    same(caught.value.traj, whole)
    np.testing.assert_array_equal(dal.load(path).states, whole.states)  # `caught` still holds the run, whose status is "running"


def test_a_disk_that_fills_up_keeps_what_was_computed(tmp_path, long, monkeypatch):
    """The first records are read back from the journal."""
    from dalembert.io import Journal

    append, done = Journal.append, []

    def limited(self, arrays):
        done.append(len(arrays["time"]))
        if len(done) > 6:
            raise dal.ArchiveError("no space left on device")
        return append(self, arrays)

    monkeypatch.setattr(Journal, "append", limited)
    start = {"stepper": "midpoint", "h": 0.01, "q0": [0.3, 0.2, 0.1]}
    with pytest.raises(dal.SimulationError, match="no space left") as caught:
        dal.simulate(chain(), t_end=100.0, save=tmp_path / "run.h5", **start)
    traj = caught.value.traj
    assert len(traj) == sum(done)
    np.testing.assert_array_equal(traj.states, dal.simulate(chain(), t_end=float(traj.t[-1]), **start).states)


CHILD = """
import sys
import dalembert as dal
from dalembert.runs import run
run.KEPT_BYTES, run.BLOCK_BYTES = 0, 50_000
sys.path.insert(0, sys.argv[2])
from test_stored import chain
print("ready", flush=True)
dal.simulate(chain(), "midpoint", h=0.001, t_end=4000.0, q0=[0.3, 0.2, 0.1], save=sys.argv[1])
"""


@pytest.mark.parametrize("seconds", [0.0, 0.3])
def test_a_killed_one_is_put_in_order_and_resumed(tmp_path, long, seconds):
    path = tmp_path / "run.h5"
    child = subprocess.Popen([sys.executable, "-c", CHILD, str(path), __file__.rpartition("/")[0]], stdout=subprocess.PIPE)
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
    t_end = round(float(killed.t[-1]) + 0.5, 3)
    whole = dal.simulate(chain(), "midpoint", h=0.001, t_end=t_end, q0=[0.3, 0.2, 0.1])
    np.testing.assert_array_equal(killed.states, whole.states[: len(killed)])
    same(dal.resume(path, t_end), whole)


def peak(steps, path):
    """Largest memory of a saved run, bytes, and that of its states."""
    tracemalloc.start()
    traj = dal.simulate(chain(), "midpoint", h=1e-4, t_end=steps * 1e-4, q0=[0.3, 0.2, 0.1], save=path, overwrite=True)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    size = traj._reader.places["state"].shape
    return most, 8 * size[0] * size[1]


def test_memory_is_that_of_some_blocks_however_long_the_run(tmp_path):
    """A block of states of 4 MiB, its copy from the journal, and what is derived from it: less than eight of them."""
    peak(40_000, tmp_path / "run.h5")
    (a, small), (b, large) = (peak(n, tmp_path / "run.h5") for n in (60_000, 180_000))
    assert large > 20 * stored.BLOCK_BYTES
    assert large == pytest.approx(3 * small, rel=1e-3)
    assert b < 8 * stored.BLOCK_BYTES
    assert b < 1.1 * a
