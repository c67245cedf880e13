"""A run killed at any moment leaves a readable file, and resuming repeats the uninterrupted run bit for bit."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import dalembert as dal
from dalembert.runs.recording import journal_path

CHILD = """
import sys
import dalembert as dal
m = dal.Model("top")
m.add_body("rotor", 1.0, (1, 1, 1.5), com=(0, 0, 0.5))
m.add_joint("tip", "spherical", "world", "rotor")
print("ready", flush=True)
dal.simulate(m, sys.argv[2], h=0.001, t_end=400000.0, every=200, v0=(0.1, 0.2, 9.0), save=sys.argv[1])
"""


def top():
    m = dal.Model("top")
    m.add_body("rotor", 1.0, (1, 1, 1.5), com=(0, 0, 0.5))
    m.add_joint("tip", "spherical", "world", "rotor")
    return m


def kill_after(path, stepper, seconds):
    """Some time after the first rows; the run would last for minutes."""
    child = subprocess.Popen([sys.executable, "-c", CHILD, str(path), stepper], stdout=subprocess.PIPE)
    child.stdout.readline()
    until = time.monotonic() + 240
    while not (path.exists() and journal_path(path).exists()) and time.monotonic() < until:
        time.sleep(0.002)
    time.sleep(seconds)
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stdout.close()


@pytest.mark.parametrize(("stepper", "seconds"), [("cayley", 0.0), ("cayley", 0.013), ("quaternion-linear", 0.2), ("tln", 0.5)])
def test_sigkill_then_resume_bit_for_bit(tmp_path, stepper, seconds):
    path = tmp_path / "run.h5"
    kill_after(path, stepper, seconds)
    killed = dal.load(path)
    assert "killed" in killed.status
    assert not journal_path(path).exists()  # loading put the file in order
    t_end = killed.t[-1] + 2.0
    resumed = dal.resume(path, t_end)
    whole = dal.simulate(top(), stepper, h=0.001, t_end=t_end, every=200, v0=(0.1, 0.2, 9.0))
    assert len(resumed) == len(whole)
    assert (resumed.states == whole.states).all()
    assert (resumed.solver["iterations"] == whole.solver["iterations"]).all()
    assert (dal.load(path).states == whole.states).all()
    assert resumed.report().to_dict() == whole.report().to_dict()


def test_killed_file_is_hdf5_at_any_moment(tmp_path):
    import h5py

    path = tmp_path / "run.h5"
    kill_after(path, "cayley", 0.05)
    with h5py.File(path) as f:
        assert f["state"].shape[0] >= 1


def test_existing_file_is_not_overwritten(tmp_path):
    path = tmp_path / "run.h5"
    first = dal.simulate(top(), h=0.01, t_end=1.0, v0=(0, 0, 9), save=path)
    with pytest.raises(dal.ArchiveError, match="overwrite=True"):
        dal.simulate(top(), h=0.01, t_end=2.0, v0=(0, 0, 9), save=path)
    assert (dal.load(path).states == first.states).all()
    assert len(dal.simulate(top(), h=0.01, t_end=2.0, v0=(0, 0, 9), save=path, overwrite=True)) == 201
    assert len(dal.load(path)) == 201


def test_resume_twice_equals_once(tmp_path):
    path = tmp_path / "run.h5"
    dal.simulate(top(), h=0.01, t_end=1.0, v0=(0, 0.3, 9), save=path, compose="suzuki4")
    dal.resume(path, 2.0)
    thrice = dal.resume(path, 3.0)
    whole = dal.simulate(top(), h=0.01, t_end=3.0, v0=(0, 0.3, 9), compose="suzuki4")
    assert (thrice.states == whole.states).all()


def test_resume_with_a_control(tmp_path):
    path = tmp_path / "run.h5"

    def control(t, q, v):
        return np.sin(3 * t), 0.0, 0.0

    dal.simulate(top(), h=0.01, t_end=1.0, v0=(0, 0, 9), save=path, control=control)
    with pytest.raises(dal.OptionError, match="pass control="):
        dal.resume(path, 2.0)
    resumed = dal.resume(path, 2.0, control=control)
    whole = dal.simulate(top(), h=0.01, t_end=2.0, v0=(0, 0, 9), control=control)
    assert (resumed.states == whole.states).all()


def test_resume_refuses_the_past_and_a_broken_step_count(tmp_path):
    path = tmp_path / "run.h5"
    dal.simulate(top(), h=0.01, t_end=1.0, save=path)
    with pytest.raises(dal.OptionError, match="already"):
        dal.resume(path, 0.5)
    with pytest.raises(dal.OptionError, match="whole number"):
        dal.resume(path, 1.505)


def test_resume_elsewhere_warns(tmp_path, monkeypatch):
    path = tmp_path / "run.h5"
    dal.simulate(top(), h=0.01, t_end=1.0, save=path)
    monkeypatch.setattr("dalembert.runs.environment._cpu_model", lambda: "another CPU")
    with pytest.warns(UserWarning, match="not bit for bit.*another CPU"):
        dal.resume(path, 2.0)


def test_load_explains_what_is_wrong(tmp_path):
    with pytest.raises(dal.ArchiveError, match="does not exist"):
        dal.load(tmp_path / "nothing.h5")
    bad = tmp_path / "bad.h5"
    bad.write_bytes(b"this is not HDF5")
    with pytest.raises(dal.ArchiveError):
        dal.load(bad)


def test_a_run_can_be_read_while_it_is_written(tmp_path):
    path = tmp_path / "run.h5"
    seen = []

    def reader(t, q, v):
        if not seen and t > 1.0:
            seen.append(dal.load(path))
        return False

    dal.simulate(top(), h=1e-4, t_end=100.0, every=100, v0=(0, 0, 9), save=path, monitors=[reader])
    assert seen[0].status == "running"
    assert len(seen[0]) > 1
    assert len(dal.load(path)) == 10_001


def test_a_full_disk_keeps_the_computed_part(tmp_path, monkeypatch):
    from dalembert.io import Journal

    real, appended = Journal.append, []

    def append(self, arrays):
        appended.append(1)
        if len(appended) > 3:
            raise dal.ArchiveError("no space left on device")
        return real(self, arrays)

    monkeypatch.setattr(Journal, "append", append)
    with pytest.raises(dal.SimulationError, match="no space left") as caught:
        dal.simulate(top(), h=1e-3, t_end=1e4, v0=(0, 0, 9), save=tmp_path / "run.h5")
    assert len(caught.value.traj) > 1


def test_file_holds_what_a_reader_needs(tmp_path):
    import netCDF4
    import xarray

    path = tmp_path / "run.h5"
    traj = dal.simulate(top(), h=0.01, t_end=1.0, v0=(0, 0.1, 9), save=path)
    with netCDF4.Dataset(path) as f:
        assert f["energy"].units == "J"
        assert f["time"].units == "s"
    with xarray.open_dataset(path, engine="netcdf4") as d:
        assert d["q"].dims == ("time", "q_name")
        assert d["v"].sel(v_name="tip.wz").values == pytest.approx(traj.v[:, 2])
        assert list(d["q_name"].values) == ["tip.qw", "tip.qx", "tip.qy", "tip.qz"]
    again = dal.load(path)
    assert again.meta["versions"]["numba"]
    assert again.meta["machine"]["cpu"]
    assert again.model.to_dict() == traj.model.to_dict()
    assert again.meta["options"] == traj.meta["options"]
    os.remove(path)
