"""Clocks that jump by hours, back and forth, while runs, studies and files are made: everything goes on, with the same digits.

A clock of the wall may be set while a run lasts; the clocks that count (monotonic, perf_counter) never are, and jump here all the same.
"""

import os
import time

import numpy as np
import pytest
from tests.ensembles.machines import double_pendulum

import dalembert as dal
from dalembert.runs import progress

STARTS = np.random.default_rng(4).uniform(-1, 1, (64, 2))
HOURS = np.array([0.0, 5.0, -7.0, 0.1, -0.1, 1000.0, -1000.0, 24.0]) * 3600.0
CLOCKS = ("time", "monotonic", "perf_counter", "process_time")


@pytest.fixture
def jumping(monkeypatch):
    """Every look at a clock finds it hours away from the look before. How often each was looked at."""
    looks = dict.fromkeys(CLOCKS, 0)

    def jumps(name):
        true = getattr(time, name)

        def clock():
            looks[name] += 1
            return true() + float(HOURS[looks[name] % len(HOURS)])

        return clock

    for name in CLOCKS:
        monkeypatch.setattr(time, name, jumps(name))
    return looks


def same(a, b):
    np.testing.assert_array_equal(a.q, b.q)
    np.testing.assert_array_equal(a.v, b.v)


@pytest.fixture
def whole():
    """A run under clocks as they are."""
    return dal.simulate(double_pendulum(), "midpoint", h=0.001, t_end=20.0, q0=[1.0, 0.5])


def test_runs_files_and_reports_go_on(whole, jumping, monkeypatch, tmp_path):
    monkeypatch.setattr(progress, "SHOW_AFTER_SECONDS", -1e9)  # the bar and its remaining time are there from the first chunk on
    given = {"stepper": "midpoint", "h": 0.001, "q0": [1.0, 0.5], "progress": True}
    half = dal.simulate(double_pendulum(), t_end=10.0, save=tmp_path / "run.h5", **given)
    resumed = dal.resume(tmp_path / "run.h5", 20.0)
    assert half.status == resumed.status == "ok" and jumping["perf_counter"] > 4
    same(resumed, whole)
    assert resumed.report().to_dict() == whole.report().to_dict()
    same(dal.load(tmp_path / "run.h5"), whole)


def test_studies_their_bars_and_journals_go_on(jumping, monkeypatch, tmp_path):
    monkeypatch.setattr(progress, "SHOW_AFTER_SECONDS", -1e9)
    given = {"stepper": "midpoint", "h": 0.01, "t_end": 1.0, "observe": dal.observers.EnergyChange()}
    found = dal.ensemble(double_pendulum(), {"q0": STARTS}, save=tmp_path / "study.h5", progress=True, workers=2, **given)
    assert found.ok.all() and isinstance(found.text, str) and jumping["perf_counter"] > 2
    monkeypatch.undo()
    same(found, dal.ensemble(double_pendulum(), {"q0": STARTS}, **given))
    same(dal.load_study(tmp_path / "study.h5"), found)


@pytest.mark.parametrize("when", [0.0, 4e9])
def test_files_of_1970_and_of_2096_are_read_and_continued(tmp_path, when):
    """Times of files decide nothing."""
    run, study = tmp_path / "run.h5", tmp_path / "study.h5"
    dal.simulate(double_pendulum(), "midpoint", h=0.01, t_end=1.0, q0=[1.0, 0.5], save=run)
    first = dal.ensemble(double_pendulum(), {"q0": STARTS}, "midpoint", h=0.01, t_end=0.1, save=study)
    for path in (run, study):
        os.utime(path, (when, when))
    same(dal.resume(run, 2.0), dal.simulate(double_pendulum(), "midpoint", h=0.01, t_end=2.0, q0=[1.0, 0.5]))
    same(dal.ensemble(double_pendulum(), {"q0": STARTS}, "midpoint", h=0.01, t_end=0.1, save=study), first)


def test_work_and_precision_and_comparisons_have_times_that_are_numbers(jumping):
    """CPU times are wrong under such clocks, and are numbers all the same."""
    from dalembert.ensembles import precision

    found = precision(double_pendulum(), {"q0": STARTS[:4]}, ["midpoint"], [0.02, 0.01], t_end=0.2)
    assert np.isfinite([row["seconds"] for row in found.table]).all() and abs(found.orders["midpoint"] - 2) < 0.3
    assert "midpoint" in dal.compare(double_pendulum(), [("midpoint", 0.01)], 0.1, q0=STARTS[0]).text
