"""`dal.compare` and `dal.work_precision` on systems given by a Lagrangian."""

import numpy as np
import pytest

import dalembert as dal
from dalembert.comparison.conclusion import keeps_energy
from dalembert.verification import Kepler

TURN = ((0.0, -1.0), (1.0, 0.0))
Q0, V0 = (1.0, 0.0), (0.1, 1.1)


@pytest.fixture(scope="module")
def kepler():
    return dal.Lagrangian(
        2, lambda q, v: 0.5 * (v @ v) + 1 / np.sqrt(q @ q), symmetries={"rotation": TURN}, names=("x", "y"), name="kepler"
    )


def spherical_pendulum():
    return dal.Lagrangian(3, lambda q, v: 0.5 * (v @ v) - 9.81 * q[2], holonomic=lambda q: [0.5 * (q @ q - 1)], name="pendulum")


def test_methods_of_the_library_and_of_scipy_in_one_table(kepler):
    """The end of midpoint's run against Kepler's equation: the reference agrees with it to what it says of itself."""
    result = dal.compare(kepler, [("midpoint", 0.01), ("midpoint", 0.01, "suzuki4"), ("scipy:rk45", 0.01, 1e-6)], 20.0, Q0, V0)
    first, composed, rk45 = result.rows
    exact = Kepler(1.0, Q0, V0).state(20.0)[0]
    assert first.attitude == pytest.approx(np.abs(result.trajectories[0].q[-1] - exact).max(), abs=1e-8)
    assert result.reference.uncertainty < 1e-8
    assert composed.attitude < 1e-3 * first.attitude
    assert first.momentum < 1e-13 < 1e-9 < rk45.momentum
    assert (first.verdict, rk45.verdict) == ("pass", "-")
    assert np.isnan(first.group)
    assert "constraint" in result.text.splitlines()[1]
    assert "contacts" not in result.text
    assert result.to_dict()["rows"][0]["group"] is None


def test_residuals_of_constraints_are_in_the_table():
    result = dal.compare(
        spherical_pendulum(), [("rattle", 0.01), ("spook", 0.01), ("scipy:dop853", 0.01, 1e-8)], 2.0, (0.6, 0, -0.8), (0, 1, 0)
    )
    assert result.rows[0].group < 1e-14 < 1e-6 < result.rows[1].group
    assert result.rows[2].group > 1e-14
    assert result.rows[0].attitude < 1e-2


def test_energy_of_driven_systems_is_left_out():
    s = dal.Lagrangian(1, lambda q, v: 0.5 * v[0] ** 2, holonomic=lambda q, t: [q[0] - np.sin(t)])
    result = dal.compare(s, [("rattle", 0.01)], 1.0, 0.0, 1.0)
    assert np.isnan(result.rows[0].energy_band)
    assert result.rows[0].attitude < 1e-9


def test_forces_are_taken_off_the_energy():
    s = dal.Lagrangian(1, lambda q, v: 0.5 * v[0] ** 2 + np.cos(q[0]), rayleigh=lambda q, v: 0.1 * v[0] ** 2)
    result = dal.compare(s, [("midpoint", 0.01), ("scipy:rk45", 0.01)], 10.0, 1.0)
    assert result.rows[0].energy_band < 1e-4
    assert np.isnan(result.rows[1].energy_band)


def test_what_has_no_bodies_is_refused_by_mujoco_and_not_drawn(kepler, tmp_path):
    with pytest.raises(dal.UnsupportedError, match=r"'mujoco:rk4' runs machines made of bodies.*kepler"):
        dal.compare(kepler, [("mujoco:rk4", 0.01)], 1.0, Q0, V0)
    with pytest.raises(dal.UnsupportedError, match="mujoco"):
        dal.work_precision(kepler, ["midpoint"], [0.1], 1.0, reference="mujoco:rk4", q0=Q0, v0=V0)
    result = dal.compare(kepler, [("midpoint", 0.1)], 1.0, Q0, V0)
    with pytest.raises(dal.UnsupportedError, match="no bodies"):
        result.page(tmp_path / "x.gif")
    result.plot(tmp_path / "x.png")
    assert (tmp_path / "x.png").stat().st_size > 5000


def test_a_run_that_fails_has_no_end(kepler):
    result = dal.compare(kepler, [("midpoint", 0.1), ("verlet", 0.1)], 2.0, (1.0, 0.0), (0.0, 0.0), reference="none")
    assert result.rows[0].verdict == "fail"
    assert np.isnan(result.rows[0].attitude)
    assert "did not converge" in result.text


@pytest.mark.parametrize(("name", "order"), [("midpoint", 2), ("verlet", 2), ("galerkin4", 4), ("midpoint+suzuki4", 4)])
def test_work_precision_shows_the_order(kepler, name, order, tmp_path):
    result = dal.work_precision(kepler, [name], [0.1, 0.05, 0.025], 2.0, q0=Q0, v0=V0)
    assert result.measure == "configuration"
    assert next(iter(result.orders.values())) == pytest.approx(order, abs=0.15)
    result.plot(tmp_path / "wp.png")


def test_work_precision_against_given_references(kepler):
    exact = Kepler(1.0, Q0, V0)
    by_function = dal.work_precision(kepler, ["midpoint"], [0.1, 0.05], 2.0, reference=lambda t: exact.state(t)[0], q0=Q0, v0=V0)
    by_method = dal.work_precision(kepler, ["midpoint"], [0.1, 0.05], 2.0, reference="galerkin6", q0=Q0, v0=V0)
    for a, b in zip(by_function.table, by_method.table, strict=True):
        assert a["error"] == pytest.approx(b["error"], rel=1e-6)
    with pytest.raises(dal.UnknownNameError, match="reference 'mk8'"):
        dal.work_precision(kepler, ["midpoint"], [0.1], 2.0, reference="mk8", q0=Q0, v0=V0)
    with pytest.raises(dal.OptionError, match="no exact solution"):
        dal.work_precision(kepler, ["midpoint"], [0.1], 2.0, reference="exact", q0=Q0, v0=V0)


def test_chaos_is_seen():
    def L(q, v):
        return v[0] ** 2 + 0.5 * v[1] ** 2 + v[0] * v[1] * np.cos(q[0] - q[1]) + 19.62 * np.cos(q[0]) + 9.81 * np.cos(q[1])

    result = dal.compare(dal.Lagrangian(2, L, name="double pendulum"), [("midpoint", 0.01)], 60.0, (2.5, 2.5))
    assert result.reference.end is None
    assert "too sensitive" in result.text


def test_an_energy_that_returns_to_its_start_does_not_drift():
    """The error of an eccentric orbit is zero at the pericentre alone; that of a method that loses energy never returns."""
    t = np.linspace(0, 20, 2001)
    spikes = -1 + np.exp(-((np.mod(t, 7.5) / 0.3) ** 2))
    assert keeps_energy(1e-5 * (spikes - spikes[0]))
    assert not keeps_energy(-1e-4 * t + 1e-6 * np.sin(20 * t))
    assert not keeps_energy(1e-9 * np.exp(0.2 * t))  # an explosion is near the start for most of the run, but not at its end
