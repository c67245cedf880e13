"""Monitors end runs for their reason and change nothing else."""

import numpy as np
import pytest

import dalembert as dal


@pytest.fixture
def body():
    m = dal.Model("body", gravity=(0, 0, 0))
    m.add_body("b", 1.5, (1, 2, 2.5))
    return m


def test_energy_within_ends_a_run_that_explodes_and_no_other(body):
    watch = dal.monitors.energy_within(body, 0.5)
    bad = dal.simulate(body, "euler", h=0.05, t_end=1e4, v0=(0.3, 1, 0.4, 0, 0, 0), monitors=[watch], on_fail="return")
    assert "energy_left_its_band" in bad.status or "not a number" in bad.status
    good = dal.simulate(body, "cayley", h=0.05, t_end=1e3, v0=(0.3, 1, 0.4, 0, 0, 0), monitors=[dal.monitors.energy_within(body, 0.5)])
    assert good.status == "ok"


def test_seconds_ends_a_run_in_time(body):
    traj = dal.simulate(body, h=1e-4, t_end=1e5, every=100_000, v0=(0.3, 1, 0.4, 0, 0, 0), monitors=[dal.monitors.seconds(0.3)])
    assert "time_is_up" in traj.status


def test_watch_keeps_values_and_the_run_is_the_same(body):
    watch = dal.monitors.Watch(lambda t, q, v: float(np.linalg.norm(v)))
    assert watch.latest()[1] is None
    watched = dal.simulate(body, h=0.01, t_end=10.0, v0=(0.3, 1, 0.4, 0, 0, 0), monitors=[watch])
    alone = dal.simulate(body, h=0.01, t_end=10.0, v0=(0.3, 1, 0.4, 0, 0, 0))
    assert (watched.states == alone.states).all()
    assert watch.latest() == (10.0, pytest.approx(np.linalg.norm(alone.v[-1])))


@pytest.mark.parametrize("make", [lambda m: dal.monitors.energy_within(m, 0), lambda m: dal.monitors.seconds(-1)])
def test_bad_limits(body, make):
    with pytest.raises(dal.OptionError, match="positive"):
        make(body)


def test_a_run_that_cannot_fit_is_refused_before_it_starts(body):
    with pytest.raises(dal.OptionError, match=r"GB of memory.*every="):
        dal.simulate(body, h=1e-9, t_end=100.0)
