"""`energy-time`: steps whose length keeps the discrete energy; judged by energies that are computed anew, closed forms and SciPy."""

import numpy as np
import pytest

import dalembert as dal
from dalembert.scenes import find
from dalembert.verification import Kepler, Pendulum

PLANET = {"q0": [0.7, 0.0], "v0": [0.0, np.sqrt(1.3 / 0.7)]}  # eccentricity 0.3, period 2 pi


def energies(traj):
    """E(q, v) in the middle of every step, from the nodes."""
    return traj.model.energy(0.5 * (traj.q[1:] + traj.q[:-1]), traj.v_interval)


@pytest.mark.parametrize(("name", "start", "h"), [("pendulum", {"q0": [0.5 * np.pi]}, 0.02), ("kepler", PLANET, 0.05)])
def test_the_discrete_energy_is_kept_to_round_off_over_a_hundred_thousand_steps(name, start, h):
    """Each step solves its energy to a few eps of its terms; it is compared with that of the first step, so nothing adds up."""
    s = find(name).model()
    traj = dal.simulate(s, "energy-time", h=h, t_end=100_000 * h, **start)
    kinetic = traj.kinetic.max()
    assert np.ptp(energies(traj)) < 2e-14 * max(kinetic, np.abs(traj.potential).max())
    midpoint = dal.simulate(s, "midpoint", h=h, t_end=1000 * h, **start)
    assert np.ptp(energies(midpoint)) > 1e-5 * kinetic
    assert np.abs(traj.momentum - traj.momentum[0]).max(initial=0.0) < 1e-11
    tau = np.diff(traj.t)
    assert (tau > 0).all() and tau.max() / tau.min() > 1.2
    assert traj.report()["discrete energy"].verdict == "pass"
    assert traj.report().verdict == "pass"


def test_a_linear_oscillator_has_steps_of_one_length():
    """There H - E_d = h^2/4 E_d at every node: the midpoint rule itself."""
    s = find("oscillator").model()
    traj = dal.simulate(s, "energy-time", h=0.1, t_end=100.0, q0=[1.0])
    midpoint = dal.simulate(s, "midpoint", h=0.1, t_end=100.0, q0=[1.0])
    assert np.diff(traj.t) == pytest.approx(0.1, rel=1e-10)
    assert np.abs(traj.q - midpoint.q).max() < 1e-9


@pytest.mark.parametrize("name", ["pendulum", "kepler"])
def test_nodes_at_their_own_times_converge_with_order_2(name):
    """Largest error over the nodes of one second of nominal time, over four halvings."""
    if name == "pendulum":
        start, exact = {"q0": [0.5 * np.pi]}, lambda t: Pendulum(1.0, 10.0, 0.5 * np.pi).state(t)[0][:, None]
    else:
        start, exact = PLANET, lambda t: Kepler(1.0, PLANET["q0"], PLANET["v0"]).state(t)[0]
    hs, errors = [0.02 / 2**k for k in range(5)], []
    for h in hs:
        traj = dal.simulate(find(name).model(), "energy-time", h=h, t_end=1.0, **start)
        errors.append(np.abs(traj.q - exact(traj.t)).max())
    assert np.polyfit(np.log(hs), np.log(errors), 1)[0] == pytest.approx(2, abs=0.1)


def test_a_run_goes_back_to_where_it_came_from():
    """v -> -v at a node and E_d as it was: the steps back have the lengths of those there. Lengths are known to eps / (h Omega)^2."""
    from dalembert.registry import find as stepper
    from dalembert.runs.plan import Plan

    s = find("kepler").model()
    there = Plan.bare(s, stepper("lagrangian", "energy-time"), 0.05).engine()
    there.start(np.array(PLANET["q0"]), np.array(PLANET["v0"]))
    there.advance(200, 200)
    assert there.time > 9.0
    back = Plan.bare(s, stepper("lagrangian", "energy-time"), -0.05).engine()
    back.restart(there.state, 0)
    back.advance(200, 200)
    q, v = back.observe()
    assert np.abs(q - PLANET["q0"]).max() < 1e-9 and np.abs(v - PLANET["v0"]).max() < 1e-9
    assert abs(back.time) < 1e-9


def test_lengths_of_steps_follow_the_error_of_the_midpoint_rule():
    """tau ~ kappa^(-1/3), kappa = |grad V|^2 + v . V'' v, to leading order."""
    s = find("kepler").model()
    traj = dal.simulate(s, "energy-time", h=0.01, t_end=5.0, q0=[0.4, 0.0], v0=[0.0, 2.0])
    q, v = 0.5 * (traj.q[1:] + traj.q[:-1]), traj.v_interval
    r = np.linalg.norm(q, axis=1)
    kappa = r**-4 + (np.sum(v**2, axis=1) - 3 * np.sum(q * v, axis=1) ** 2 / r**2) / r**3
    constant = np.diff(traj.t) ** 3 * kappa
    assert np.ptp(constant) / constant.mean() < 0.02
    assert np.ptp(np.diff(traj.t)) / 0.01 > 1.0


@pytest.mark.parametrize("h", [0.01, 0.001])
def test_a_pendulum_that_goes_over_the_top_ends_where_no_step_continues_it(h):
    """kappa vanishes there: no length has the energy; the step back, of the opposite length, is not taken for one."""
    with pytest.raises(dal.SimulationError, match=r"no step of a similar length.*stepper 'midpoint' goes on") as problem:
        dal.simulate(find("pendulum").model(), "energy-time", h=h, t_end=10.0, v0=[7.0])
    traj = problem.value.traj
    assert 1.5 < traj.q[-1, 0] < 2.2 and (np.diff(traj.q[:, 0]) > 0).all()
    assert np.ptp(energies(traj)) < 1e-13 * traj.kinetic.max()


def test_files_hold_the_times_and_runs_are_resumed_bit_for_bit(tmp_path):
    path = tmp_path / "planet.h5"
    s = find("kepler").model()
    dal.simulate(s, "energy-time", h=0.05, t_end=5.0, every=2, save=path, **PLANET)
    whole = dal.simulate(s, "energy-time", h=0.05, t_end=10.0, every=2, **PLANET)
    resumed = dal.resume(path, 10.0)
    assert np.array_equal(resumed.states, whole.states) and np.array_equal(resumed.t, whole.t)
    assert np.array_equal(dal.load(path).t, whole.t)
    assert resumed.report().text == whole.report().text
    q, _ = whole.at(0.5 * (whole.t[3] + whole.t[4]))
    assert np.allclose(q, 0.5 * (whole.q[3] + whole.q[4]), atol=1e-15)
    sim = dal.Simulation(s, "energy-time", h=0.05, **PLANET)
    sim.step(200)
    assert sim.state.t == whole.t[-1] and np.array_equal(sim.state.q, whole.q[-1])


def test_forces_constraints_and_controls_are_refused():
    pushed = dal.Lagrangian(1, lambda q, v: 0.5 * v[0] ** 2, force=lambda q, v: [1.0])
    with pytest.raises(dal.UnsupportedError, match="'energy-time' does not handle force"):
        dal.simulate(pushed, "energy-time")
    with pytest.raises(dal.UnsupportedError, match="holonomic"):
        dal.simulate(find("pendulum-on-rod").model(), "energy-time", q0=[0.0, -1.0])
    with pytest.raises(dal.UnsupportedError, match="takes no control"):
        dal.simulate(find("pendulum").model(), "energy-time", control=lambda t, q, v: [1.0])
    with pytest.raises(dal.UnsupportedError, match="composition"):
        dal.simulate(find("pendulum").model(), "energy-time", compose="suzuki4")


def test_a_comparison_has_no_end_state_of_a_run_that_ends_at_its_own_time():
    found = dal.compare(find("kepler").model(), [("midpoint", 0.02), ("energy-time", 0.02)], t_end=2.0, **PLANET)
    fixed, own = found.rows
    assert fixed.attitude < 1e-2 and np.isnan(own.attitude)
    assert own.verdict == "pass" and own.momentum < 1e-13
