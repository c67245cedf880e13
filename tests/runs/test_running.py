"""The loop: arguments, controls, recording, failure, interruption."""

import os
import signal
import threading

import numpy as np
import pytest

import dalembert as dal

V0 = (0.3, 1.0, 0.4, 0.1, 0.2, 0.3)


@pytest.fixture
def body():
    m = dal.Model("body", gravity=(0, 0, 0))
    m.add_body("b", 1.5, (1, 2, 2.5), com=(0.1, -0.2, 0.3))
    return m


@pytest.fixture
def top():
    m = dal.Model("top")
    m.add_body("rotor", 1.0, (1, 1, 1.5), com=(0, 0, 0.5))
    m.add_joint("tip", "spherical", "world", "rotor")
    return m


def test_nodes_times_and_shapes(body):
    traj = dal.simulate(body, h=0.01, t_end=1.0, v0=V0, every=5)
    assert traj.t == pytest.approx(np.arange(21) * 0.05, abs=1e-15)
    assert traj.q.shape == (21, 7)
    assert traj.v.shape == (21, 6)
    assert traj.v_interval.shape == (20, 6)
    assert traj.poses.shape == (21, 1, 4, 4)
    assert traj.momentum.shape == (21, 6)
    assert traj.solver["iterations"].shape == (20,)
    assert traj.status == "ok"


def test_every_only_thins_out(body):
    full = dal.simulate(body, h=0.01, t_end=1.0, v0=V0)
    thin = dal.simulate(body, h=0.01, t_end=1.0, v0=V0, every=10)
    assert (full.states[::10] == thin.states).all()
    assert thin.solver["iterations"].sum() == full.solver["iterations"].sum()


def test_initial_state_is_what_was_given(body):
    q0 = body.random(3)
    traj = dal.simulate(body, h=0.01, t_end=0.1, q0=q0, v0=V0)
    assert body.difference(q0, traj.q[0]) == pytest.approx(np.zeros(6), abs=1e-14)
    assert traj.v[0] == pytest.approx(np.array(V0), abs=1e-14)


def test_a_falling_body_follows_the_parabola():
    m = dal.Model()
    m.add_body("stone", 2.0, (1, 2, 2.5), com=(0.3, 0, 0))
    traj = dal.simulate(m, h=0.01, t_end=2.0, v0=(0.5, 1.0, -0.7, 1, 2, 3))
    com = traj.poses[:, 0, :3, 3] + traj.poses[:, 0, :3, :3] @ m.bodies[0].com
    v_com = np.array([1, 2, 3]) + np.cross([0.5, 1.0, -0.7], m.bodies[0].com)
    exact = com[0] + np.outer(traj.t, v_com) + 0.5 * np.outer(traj.t**2, m.gravity)
    assert com == pytest.approx(exact, abs=1e-12)  # the trapezoidal rule is exact for constant gravity


def test_inertia_in_tilted_axes_moves_as_in_principal_axes():
    """Body axes are a matter of description: the same body described in turned axes moves the same way."""
    R = dal.so3.exp([0.4, -0.7, 0.2])
    J = np.diag([1.0, 2.0, 2.5])
    straight, tilted = dal.Model(gravity=(0, 0, 0)), dal.Model(gravity=(0, 0, 0))
    straight.add_body("b", 1.0, J)
    tilted.add_body("b", 1.0, R @ J @ R.T)
    w = np.array([0.3, 1.0, 0.4])
    a = dal.simulate(straight, h=0.01, t_end=1, v0=[*w, 0, 0, 0])
    b = dal.simulate(tilted, h=0.01, t_end=1, v0=[*(R @ w), 0, 0, 0], q0=[0, 0, 0, *dal.quat.from_matrix(R.T)])
    assert b.poses[:, 0, :3, :3] @ R == pytest.approx(a.poses[:, 0, :3, :3], abs=1e-12)


@pytest.mark.parametrize(
    ("kwargs", "error", "match"),
    [
        ({"h": 0.0}, dal.OptionError, "positive"),
        ({"h": -0.01}, dal.OptionError, "positive"),
        ({"h": float("nan")}, dal.OptionError, "positive"),
        ({"h": "fast"}, dal.OptionError, "h is 'fast'"),
        ({"h": 0.3}, dal.OptionError, "nearest h is 0.333"),
        ({"t_end": -1.0}, dal.OptionError, "t_end"),
        ({"t_end": 0.001}, dal.OptionError, "whole number"),
        ({"every": 0}, dal.OptionError, "every"),
        ({"every": 7}, dal.OptionError, "next smaller number that does is 5"),
        ({"stepper": "cayly"}, dal.UnknownNameError, "did you mean 'cayley'"),
        ({"stepper": "cayley", "tolerance": 1}, dal.UnknownNameError, "did you mean 'tol'"),
        ({"stepper": "cayley", "tol": -1}, dal.OptionError, r"tol.*in \(0, 1\)"),
        ({"stepper": "cayley", "max_iterations": 2.5}, dal.OptionError, "max_iterations"),
        ({"q0": np.zeros(3)}, dal.OptionError, r"shape \(3,\); expected \(7,\)"),
        ({"q0": [0, 0, 0, 2, 0, 0, 0]}, dal.OptionError, "unit quaternion"),
        ({"v0": [np.nan] * 6}, dal.OptionError, "finite"),
        ({"v0": {"c": (1, 2, 3)}}, dal.UnknownNameError, "Known: b"),
        ({"v0": {"b": (1, 2, 3)}}, dal.OptionError, "expected"),
        ({"compose": "suzuki5"}, dal.UnknownNameError, "suzuki4"),
        ({"stepper": "euler", "compose": "suzuki4"}, dal.UnsupportedError, "not self-adjoint"),
        ({"compose": "suzuki4", "h": "auto"}, dal.OptionError, "auto"),
        ({"control": 3}, dal.OptionError, "control"),
        ({"on_fail": "ignore"}, dal.OptionError, "on_fail"),
        ({"stepper": "bobenko-suris"}, dal.UnsupportedError, "symmetric"),
    ],
)
def test_bad_arguments(body, kwargs, error, match):
    with pytest.raises(error, match=match):
        dal.simulate(body, **{"h": 0.01, "t_end": 1.0, **kwargs})


def test_every_error_is_of_one_family(body):
    with pytest.raises(dal.DalembertError):
        dal.simulate(body, "nothing")
    with pytest.raises(dal.DalembertError):
        dal.simulate("body")


def test_model_is_frozen_by_a_run(body):
    traj = dal.simulate(body, h=0.1, t_end=1.0)
    with pytest.raises(dal.ModelError, match="frozen"):
        traj.model.add_body("c", 1, (1, 1, 1))
    body.add_body("c", 1, (1, 1, 1))  # the user's own model is not


def test_two_bodies_go_to_the_tree_methods(body):
    body.add_body("c", 1, (1, 1, 1))
    with pytest.raises(dal.UnknownNameError, match="unknown stepper 'cayley'"):
        dal.simulate(body, "cayley", h=0.01, t_end=0.1)
    assert dal.simulate(body, h=0.01, t_end=0.1).stepper.system == "tree"


def test_a_model_without_freedom_is_refused():
    with pytest.raises(dal.UnsupportedError, match="no degree of freedom"):
        dal.simulate(dal.Model("nothing"))


def test_a_force_given_as_a_function_acts(body, tmp_path):
    body.add_force(lambda t, q, v: (0, 0, 0, 3.0, 0, 0))
    with pytest.warns(UserWarning, match="holds force"):
        traj = dal.simulate(body, "cayley", h=0.01, t_end=1.0, save=tmp_path / "run.h5")
    same = dal.Model("body", gravity=(0, 0, 0))
    same.add_body("b", 1.5, (1, 2, 2.5), com=(0.1, -0.2, 0.3))
    assert (dal.simulate(same, "cayley", h=0.01, t_end=1.0, control=lambda t, q, v: (0, 0, 0, 3.0, 0, 0)).states == traj.states).all()
    with pytest.raises(dal.OptionError, match="given as functions"):
        dal.resume(tmp_path / "run.h5", 2.0)


def test_unsupported_features_are_named(top):
    m = dal.Model("stiff top")
    m.add_body("rotor", 1.0, (1, 1, 1.5), com=(0, 0, 0.5))
    m.add_joint("tip", "spherical", "world", "rotor", friction=0.1, limits=(0, 1))
    with pytest.raises(
        dal.UnsupportedError, match=r"joint friction, spherical limits of .*ignore=\('joint friction', 'spherical limits'\)"
    ):
        dal.simulate(m, "cayley")
    assert dal.simulate(m, "cayley", h=0.1, t_end=1, ignore=("joint friction", "limits")).status == "ok"


def test_a_needle_about_a_far_pivot_is_refused():
    m = dal.Model("needle")
    m.add_body("b", 1e4, (1e-12, 1e-12, 1e-12), com=(1, 1, 1))
    m.add_joint("tip", "spherical", "world", "b")
    with pytest.raises(dal.UnsupportedError, match=r"'b'.*float64 resolves"):
        dal.simulate(m)


# controls -----------------------------------------------------------------------------------------------------------------------------


def spin_up(t, q, v, out):
    out[:] = 0.0
    out[0] = np.sin(t)
    out[2] = -0.1 * v[2]


def test_compiled_and_python_controls_agree_bit_for_bit(top):
    def python(t, q, v):
        return np.sin(t), 0.0, -0.1 * v[2]

    a = dal.simulate(top, h=0.01, t_end=2, v0=(0, 0, 3), control=dal.compiled(spin_up))
    b = dal.simulate(top, h=0.01, t_end=2, v0=(0, 0, 3), control=python)
    assert (a.states == b.states).all()


def test_control_enters_as_a_generalised_force():
    """A free body with its centre of mass off the origin: power tau . v is the rate of the energy."""
    m = dal.Model(gravity=(0, 0, 0))
    m.add_body("b", 1.5, (1, 2, 2.5), com=(0.1, -0.2, 0.3))
    tau = np.array([0.3, -0.2, 0.5, 1.0, -2.0, 0.7])
    traj = dal.simulate(m, h=1e-3, t_end=1.0, v0=V0, control=lambda t, q, v: tau)
    power = traj.v @ tau
    work = np.concatenate([[0], np.cumsum(0.5 * traj.h * (power[1:] + power[:-1]))])
    assert traj.energy - traj.energy[0] == pytest.approx(work, abs=5e-6)  # both are of order 2: h^2 times rates of a few
    assert traj.work == pytest.approx(work, rel=1e-10, abs=1e-12)


@pytest.mark.parametrize(("bad", "match"), [((1.0,), "shape"), ((np.nan, 0, 0), "finite"), ("x", "could not convert")])
def test_bad_control_values_stop_the_run_and_keep_it(top, bad, match):
    with pytest.raises(dal.SimulationError, match=match) as caught:
        dal.simulate(top, h=0.01, t_end=1, control=lambda t, q, v: (0, 0, 0) if t < 0.055 else bad)
    assert len(caught.value.traj) == 7
    assert caught.value.traj.status.startswith("step 6")


def test_nan_in_a_compiled_control_never_reaches_the_trajectory(top):
    @dal.compiled
    def broken(t, q, v, out):
        out[:] = 0.0
        if t > 0.055:
            out[0] = np.nan

    with pytest.raises(dal.SimulationError, match=r"step 6 at t = 0.06") as caught:
        dal.simulate(top, h=0.01, t_end=1, control=broken)
    assert np.isfinite(caught.value.traj.states).all()


# failure ------------------------------------------------------------------------------------------------------------------------------


def test_failure_names_step_time_residual_tolerance_and_remedy(body):
    with pytest.raises(dal.SimulationError) as caught:
        dal.simulate(body, "moser-veselov-cayley", h=0.5, t_end=10.0, v0=(0, 4, 0, 0, 0, 0))
    text = str(caught.value)
    for part in ("step 0 at t = 0 s", "h = 0.5 s", "residual", "tolerance 1e-09", "provably solvable here is h = "):
        assert part in text
    assert len(caught.value.traj) == 1
    remedy = float(text.split("h = ")[-1].split(" s")[0])
    assert 0 < remedy < 0.25
    assert dal.simulate(body, "moser-veselov-cayley", h=remedy * 0.999, t_end=100 * remedy * 0.999, v0=(0, 4, 0, 0, 0, 0)).status == "ok"


def test_explicit_euler_overflows_into_an_error_not_into_nan(body):
    with pytest.raises(dal.SimulationError, match="not a number") as caught:
        dal.simulate(body, "euler", h=0.1, t_end=1000, v0=(0.3, 1, 0.4, 0, 0, 0))
    traj = caught.value.traj
    assert np.isfinite(traj.q).all()
    assert 10 < len(traj) < 10_001


def test_on_fail_return(body):
    traj = dal.simulate(body, "euler", h=0.1, t_end=1000, v0=(0.3, 1, 0.4, 0, 0, 0), on_fail="return")
    assert "not a number" in traj.status
    assert traj.report().verdict == "fail"


def test_huge_and_zero_velocities(body):
    rest = dal.simulate(body, h=0.1, t_end=1)
    assert (rest.q == rest.q[0]).all()
    for name in ("cayley", "tln", "quaternion", "moser-veselov", "moser-veselov-cayley", "quaternion-linear"):
        assert dal.simulate(body, name, h=0.1, t_end=1).status == "ok"
        traj = dal.simulate(body, name, h=0.1, t_end=1, v0=(1e200, 1e200, 0, 0, 0, 0), on_fail="return")
        assert np.isfinite(traj.states).all()


# interruption --------------------------------------------------------------------------------------------------------------------------


def test_ctrl_c_returns_what_was_computed(body, tmp_path):
    dal.simulate(body, h=1e-4, t_end=1e-3, v0=V0, save=tmp_path / "first.h5")  # nothing is left to be compiled or imported
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    before = signal.getsignal(signal.SIGINT)
    timer.start()
    traj = dal.simulate(body, h=1e-4, t_end=1e6, every=10_000, v0=V0, save=tmp_path / "run.h5")
    assert traj.status == "interrupted"
    assert 1 <= len(traj) < 1_000_001
    assert signal.getsignal(signal.SIGINT) is before
    assert traj.report().verdict in ("warn", "pass")
    again = dal.load(tmp_path / "run.h5")
    assert (again.states == traj.states).all()


def test_ctrl_c_with_a_python_control(top):
    dal.simulate(top, h=1e-3, t_end=1e-2, control=lambda t, q, v: (0, 0, 0))
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    traj = dal.simulate(top, h=1e-3, t_end=1e4, control=lambda t, q, v: (0, 0, 0))
    assert traj.status == "interrupted"
    assert len(traj) > 10


def test_runs_elsewhere_than_in_the_main_thread(body):
    found = []
    thread = threading.Thread(target=lambda: found.append(dal.simulate(body, h=0.01, t_end=1, v0=V0)))
    thread.start()
    thread.join()
    assert found[0].status == "ok"


def test_monitor_sees_the_run_and_may_end_it(body):
    seen = []

    def far_enough(t, q, v):
        seen.append(t)
        return t > 5.0

    traj = dal.simulate(body, h=1e-3, t_end=1000, v0=V0, monitors=[far_enough])
    assert "far_enough" in traj.status
    assert 5.0 < traj.t[-1] < 1000
    assert seen == sorted(seen)


# interactive ---------------------------------------------------------------------------------------------------------------------------


def test_simulation_steps_like_simulate(body):
    sim = dal.Simulation(body, stepper="cayley", h=0.01, v0=V0)
    sim.step(50)
    sim.step(50)
    whole = dal.simulate(body, "cayley", h=0.01, t_end=1.0, v0=V0)
    assert sim.state.t == 1.0
    assert sim.state.q == pytest.approx(whole.q[-1], abs=0)
    assert len(sim.trajectory()) == 101


def test_simulation_force_acts_for_one_call_only(body):
    sim = dal.Simulation(body, h=0.01)
    sim.apply_force("b", force=(3.0, 0, 0))
    sim.step(10)
    p = sim.trajectory().momentum[-1, 3:]
    assert p == pytest.approx([0.3, 0, 0], abs=1e-3)  # the force is held in body axes over each call, and the body has hardly turned
    before = sim.state.v.copy()
    sim.step(1)
    assert np.linalg.norm(sim.state.v - before) < 1e-3
    with pytest.raises(dal.UnknownNameError, match="Known: b"):
        sim.apply_force("c")


def test_at_interpolates_on_the_group(body):
    traj = dal.simulate(body, h=0.01, t_end=1.0, v0=V0)
    q, v = traj.at(0.505)
    fine = dal.simulate(body, h=0.005, t_end=1.0, v0=V0)
    assert body.difference(q, fine.q[101]) == pytest.approx(np.zeros(6), abs=1e-4)
    assert np.linalg.norm(q[3:]) == pytest.approx(1.0, abs=1e-15)
    assert v == pytest.approx(fine.v[101], abs=1e-4)
    assert (traj.at(0.5)[0] == traj.q[50]).all()
    with pytest.raises(dal.OptionError, match="outside"):
        traj.at(2.0)


def test_h_auto_is_certified(body):
    traj = dal.simulate(body, "cayley", h="auto", t_end=1.0, v0=V0)
    advice = dal.advise(body, v=V0, stepper="cayley")
    assert 0 < traj.h <= advice.h_newton
    with pytest.raises(dal.OptionError, match="no step size is certified"):
        dal.simulate(body, "euler", h="auto", v0=V0)


@pytest.mark.parametrize("stepper", ["cayley", "quaternion-linear", "tln"])
def test_momentum_balance_is_exact_for_held_controls(body, stepper):
    """Discrete d'Alembert: the change of spatial momentum is the sum of the impulses at the nodes, to round-off where the stepper has a
    momentum map."""
    traj = dal.simulate(body, stepper, h=0.02, t_end=4.0, v0=V0, control=lambda t, q, v: (0.3, 0.1 * t, 0, 1, 0, -0.5))
    gap = np.abs(traj.momentum - traj.momentum[0] - traj.impulse).max()
    if stepper == "cayley":
        assert gap < 1e-12 * len(traj)
    else:
        assert 1e-9 < gap < 1e-2
