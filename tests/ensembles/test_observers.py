"""Observers beside what is computed from each trajectory alone."""

import numpy as np
import pytest
from tests.ensembles.machines import double_pendulum, oscillator

import dalembert as dal

STARTS = np.random.default_rng(5).uniform(-1, 1, (12, 2))


def study(observe, **more):
    return dal.ensemble(double_pendulum(), {"q0": STARTS}, "midpoint", h=0.01, t_end=1.0, observe=observe, **more)


def runs(every=1):
    return [dal.simulate(double_pendulum(), "midpoint", h=0.01, t_end=1.0, q0=q, every=every) for q in STARTS]


def test_statistics_of_a_run():
    o = dal.observers
    found = study({"E": o.Statistics("energy"), "q": o.Statistics("q", quantiles=(0.1, 0.5)), "change": o.EnergyChange()})
    for i, run in enumerate(runs()):
        np.testing.assert_allclose(found.observed["E.mean"][i], run.energy.mean(), rtol=1e-13)
        np.testing.assert_allclose(found.observed["E.max"][i], run.energy.max(), rtol=1e-13)
        np.testing.assert_allclose(found.observed["q.std"][i], run.q.std(axis=0), rtol=1e-12)
        np.testing.assert_allclose(found.observed["q.quantiles"][i], np.quantile(run.q, (0.1, 0.5), axis=0), rtol=1e-12)
        np.testing.assert_allclose(found.observed["change.energy_change"][i], np.abs(run.energy - run.energy[0]).max(), atol=1e-13)


def test_a_function_of_the_trajectory_sees_the_run_itself():
    found = study(lambda run: {"verdict": run.report().verdict == "pass", "last": run.v[-1], "n": len(run)}, every=10)
    for i, run in enumerate(runs(every=10)):
        np.testing.assert_array_equal(found.observed["last"][i], run.v[-1])
        assert found.observed["n"][i] == len(run) == 11 and found.observed["verdict"][i] == 1.0


def test_a_function_that_raises_is_a_row():
    def picky(run):
        if run.q[0, 0] < 0:
            raise RuntimeError("negative")
        return run.q[-1, 0]

    found = study(picky)
    bad = STARTS[:, 0] < 0
    assert (found.status[bad] == "raised").all() and (found.status[~bad] == "ok").all()
    assert "picky(traj): RuntimeError: negative" in found.error[int(np.argmax(bad))]
    assert np.isfinite(found.q).all()  # the runs themselves went well


def test_histograms_count_all_nodes():
    found = study(dal.observers.Histogram(lambda t, q, v: q[:, :, 0], np.linspace(-4, 4, 9)))
    assert (found.observed["counts"].sum(axis=1) == 101).all()


def test_a_section_finds_the_periods_of_an_oscillator():
    """q = cos(w t) with w = 2: it passes 0 upwards at t = 3 pi/(2 w) + 2 pi k/w. Order 2 of the step: (h w)^2/12 of the time."""
    section = dal.observers.Section(lambda t, q, v: q[:, :, 0], most=3)
    found = dal.ensemble(oscillator(), {"q0": [[1.0], [0.5]]}, "midpoint", h=0.01, t_end=10.0, observe=section)
    exact = 0.75 * np.pi + np.pi * np.arange(3)
    np.testing.assert_allclose(found.observed["times"], np.tile(exact, (2, 1)), rtol=1.1 * 0.02**2 / 12)
    np.testing.assert_allclose(found.observed["crossings"][:, :, 0], 0.0, atol=1e-9)
    np.testing.assert_allclose(found.observed["crossings"][:, 0, 1], [2.0, 1.0], rtol=1e-3)
    assert (found.observed["count"] == 3).all()


def test_basins_of_a_damped_double_well():
    system = dal.Lagrangian(1, lambda q, v: 0.5 * v[0] ** 2 - (q[0] ** 2 - 1) ** 2, rayleigh=lambda q, v: 0.5 * v[0] ** 2)
    q0 = np.linspace(-1.4, 1.4, 8)[:, None]
    found = dal.ensemble(system, {"q0": q0}, "midpoint", h=0.02, t_end=20.0, observe=dal.observers.Basin([[-1.0], [1.0]], radius=0.1))
    ends = np.array([dal.simulate(system, "midpoint", h=0.02, t_end=20.0, q0=q).q[-1, 0] for q in q0])
    np.testing.assert_array_equal(found.observed["basin"], (ends > 0).astype(float))
    none = dal.ensemble(system, {"q0": q0}, "midpoint", h=0.02, t_end=0.2, observe=dal.observers.Basin([[5.0]], radius=0.1))
    assert (none.observed["basin"] == -1).all()


def test_runs_that_fail_leave_numbers_that_are_none():
    starts = [{"q0": [1.0, 0.0]}, {"q0": [1.0, 0.0], "v0": [1e160, 0.0]}, {"q0": [np.nan, 0.0]}]
    found = dal.ensemble(double_pendulum(), starts, "midpoint", h=0.01, t_end=0.1, observe=dal.observers.Statistics("q"))
    assert np.isfinite(found.observed["mean"][0]).all() and np.isnan(found.observed["mean"][2]).all()


def test_observers_that_are_none():
    with pytest.raises(dal.OptionError):
        dal.observers.Histogram("energy", [1.0])
    with pytest.raises(dal.OptionError):
        dal.observers.Statistics("energy", quantiles=(2.0,))
    assert (study(dal.observers.Statistics("nothing")).status == "raised").all()
