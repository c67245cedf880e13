"""Trajectories as xarray and pandas tables."""

import sys

import numpy as np
import pandas
import pytest
import xarray

from dalembert import scenes
from dalembert.errors import OptionError


@pytest.fixture(scope="module")
def traj():
    return scenes.find("falling-body").simulate(t_end=0.5)


def test_dataset_has_named_dimensions_and_the_values_of_the_run(traj):
    data = traj.to_xarray()
    assert dict(data.sizes) == {"time": 101, "q_name": 7, "v_name": 6, "momentum_name": 6, "interval": 100}
    assert np.array_equal(data.time, traj.t)
    for name in ("q", "v", "energy", "kinetic", "potential", "momentum", "work", "impulse", "v_interval"):
        assert np.array_equal(data[name], getattr(traj, name))
    assert np.array_equal(data.q.sel(q_name="body.z"), traj.q[:, 2])
    assert np.array_equal(data.momentum.sel(momentum_name="pz"), traj.momentum[:, 5])
    assert data.q.sel(time=0.25, q_name="body.x").item() == pytest.approx(0.5)


def test_dataset_carries_units(traj):
    data = traj.to_xarray()
    assert data.time.attrs["units"] == "s"
    assert data.energy.attrs["units"] == "J"
    assert list(data.q_unit.values) == ["m"] * 3 + ["1"] * 4
    assert list(data.v_unit.values) == ["rad/s"] * 3 + ["m/s"] * 3
    assert all("units" in v.attrs for v in data.variables.values())
    assert data.attrs["h"] == traj.h
    assert data.attrs["status"] == "ok"


def test_dataset_agrees_with_the_saved_file(traj, tmp_path):
    traj.save(tmp_path / "run.h5")
    with xarray.open_dataset(tmp_path / "run.h5", engine="netcdf4") as stored:
        mine = traj.to_xarray()
        for name in mine.variables:
            assert mine[name].dims == stored[name].dims
            assert np.array_equal(mine[name].values, stored[name].values), name


def test_dataset_can_be_written(traj, tmp_path):
    traj.to_xarray().to_netcdf(tmp_path / "a.nc", engine="netcdf4")
    with xarray.open_dataset(tmp_path / "a.nc", engine="netcdf4") as again:
        assert np.array_equal(again.q, traj.q)


def test_frame_is_indexed_by_time(traj):
    frame = traj.to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert frame.index.name == "time"
    assert np.array_equal(frame.index, traj.t)
    assert frame.shape == (101, 7 + 6 + 3 + 6)
    assert frame.columns.is_unique
    assert np.array_equal(frame["body.qw"], traj.q[:, 3])
    assert np.array_equal(frame["body.vz"], traj.v[:, 5])
    assert np.array_equal(frame[["energy", "kinetic", "potential"]], np.column_stack([traj.energy, traj.kinetic, traj.potential]))
    assert np.array_equal(frame[["Lx", "Ly", "Lz", "px", "py", "pz"]], traj.momentum)
    assert set(frame.attrs["units"]) == {"time", *frame.columns}
    assert frame.attrs["units"]["body.wx"] == "rad/s"


@pytest.mark.parametrize("library", ["xarray", "pandas"])
def test_missing_library_says_what_to_install(library, traj, monkeypatch):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(OptionError, match=rf"{library}.*pip install dalembert\[tables\]"):
        getattr(traj, f"to_{library}")()
