"""Controls of machines that run in coordinates of their bodies: they speak the joint coordinates of the machine that was given."""

import json
import pickle

import numpy as np
import pytest

import dalembert as dal
from dalembert.contact.joint_view import JointView, order_of
from dalembert.model import joint_state
from dalembert.runs.plan import Plan

I = (0.02, 0.025, 0.03)
KINDS = ("revolute", "prismatic", "spherical", "universal", "cylindrical", "planar")


def tree(floating=True):
    """A base with all kinds of joints on it, none of which is where it starts."""
    m = dal.Model("tree")
    m.add_body("base", 3.0, (0.2, 0.3, 0.25), com=(0.02, 0.01, 0), pose=((0, 0, 1), (0.8, 0.6, 0, 0)))
    if not floating:
        m.add_joint("foot", "revolute", "world", "base", (0, 0, 0.5), (1, 0.2, 0))
    for i, kind in enumerate(KINDS):
        m.add_body(kind, 1.0 + 0.1 * i, I, com=(0.1, 0.02 * i, 0), pose=((0.3 * i, 0, 0.1 * i), (np.cos(i), np.sin(i), 0, 0)))
        axis2 = (0, 0.2, 1) if kind in ("universal", "planar") else None
        m.add_joint(f"to {kind}", kind, ("base", "revolute")[i % 2], kind, (0.3 * i, 0, 0.2), (0.1, 1, 0.3), axis2=axis2)
    return m


def pendulum(**joint):
    m = dal.Model("pendulum")
    m.add_body("rod", 2.0, (0.1, 0.1, 0.05), com=(0, 0, -0.5))
    m.add_joint("hinge", "revolute", "world", "rod", axis=(0, 1, 0), **joint)
    return m


def start(m, seed=0):
    rng = np.random.default_rng(seed)
    return np.concatenate([j.coordinates.random(rng) for j in m.joints]), 0.5 * rng.normal(size=m.nv)


@pytest.mark.parametrize("floating", [True, False])
def test_a_control_sees_q_and_v_of_the_machine_that_was_given(floating):
    m, seen = tree(floating), []
    q0, v0 = start(m)
    traj = dal.simulate(m, "spook", h=1e-3, t_end=0.02, q0=q0, v0=v0, control=lambda t, q, v: seen.append((q, v)) or np.zeros(m.nv))
    q, v = joint_state(m, traj.q, traj.v)
    seen_q, seen_v = (np.array(x) for x in zip(*seen, strict=True))
    assert seen_q.shape == (20, m.nq) and traj.control.shape == (20, m.nv)
    np.testing.assert_allclose(np.abs(m.difference(seen_q[0], m.check_q(q0))).max(), 0.0, atol=1e-12)
    np.testing.assert_allclose(seen_v[0], v0, atol=1e-12)
    # joints hold to the square of the step, so rates by rows and by frames agree to about 1e-4
    assert max(np.abs(m.difference(a, b)).max() for a, b in zip(seen_q, q[:-1], strict=True)) < 1e-4
    np.testing.assert_allclose(seen_v, v[:-1], atol=1e-2)


def test_the_power_of_tau_is_that_of_its_forces_on_the_bodies():
    """tau . v = f . x of the bodies at any state that meets the joints, to round-off."""
    m, rng = tree(), np.random.default_rng(3)
    plan = Plan.of(m, "spook", h=0.01)
    engine = plan.engine()
    for seed in range(4):
        engine.start(*start(m, seed))
        _, v = engine.observe()
        tau, machine = rng.normal(size=m.nv), engine.machine
        engine.view.push(machine, tau)
        assert machine.held @ machine.bodies.unknowns(machine.states) == pytest.approx(tau @ v, abs=1e-12)


def test_tau_accelerates_the_machine_as_its_equations_say():
    """Order 1: the error of the mean acceleration over a step is halved with h."""
    m, rng = tree().without("gravity"), np.random.default_rng(5)
    q, v = start(m, 1)[0], np.zeros(m.nv)
    tau = rng.normal(size=m.nv)
    exact, errors = m.forward_dynamics(q, v, tau), []
    for h in (4e-3, 2e-3, 1e-3):
        sim = dal.Simulation(m, "spook", h=h, q0=q, v0=v)
        errors.append(np.abs(sim.step(tau=tau).v / h - exact).max())
    assert errors[-1] < 0.01 * np.abs(exact).max()
    assert errors[0] / errors[-1] > 3.0  # 4 in the limit


def test_controls_as_functions_as_arrays_and_compiled_ones_are_one_run():
    m, rows = pendulum(), 0.3 * np.sin(np.arange(50.0))[:, None]

    @dal.compiled
    def wave(t, q, v, out):
        out[0] = 0.3 * np.sin(round(t / 0.01))

    runs = [
        dal.simulate(m, "spook", h=0.01, t_end=0.5, q0=[0.4], control=c)
        for c in (rows, wave, lambda t, q, v: [0.3 * np.sin(round(t / 0.01))])
    ]
    sim = dal.Simulation(m, "spook", h=0.01, q0=[0.4])
    for row in rows:
        sim.step(tau=row)
    runs.append(sim.trajectory())
    for run in runs:
        np.testing.assert_array_equal(run.states, runs[0].states)
        np.testing.assert_array_equal(run.control, rows)
    assert sim.state.q.shape == (1,) and sim.state.q[0] == pytest.approx(runs[0].joint("hinge").q[-1, 0], abs=1e-9)


@pytest.mark.parametrize("kind", ["python", "array"])
def test_a_controlled_run_is_resumed_bit_for_bit(tmp_path, kind):
    m = tree()
    q0, v0 = start(m)
    rows = 0.1 * np.random.default_rng(0).normal(size=(40, m.nv))
    law = {"python": lambda t, q, v: -0.3 * v + 0.1 * q[: m.nv], "array": rows}[kind]
    whole = dal.simulate(m, "spook", h=0.01, t_end=0.4, q0=q0, v0=v0, control=law)
    path = tmp_path / "run.h5"
    dal.simulate(m, "spook", h=0.01, t_end=0.2, q0=q0, v0=v0, control=rows[:20] if kind == "array" else law, save=path)
    loaded = dal.load(path)
    np.testing.assert_array_equal(loaded.control, whole.control[:20])
    assert loaded.meta["coordinates"] == json.loads(json.dumps(order_of(m)))
    resumed = dal.resume(path, 0.4, control=rows[20:] if kind == "array" else law)
    np.testing.assert_array_equal(resumed.states, whole.states)
    np.testing.assert_array_equal(dal.load(path).control, whole.control)


def test_angles_go_on_from_the_start_that_was_given():
    """A start beyond half a turn stays there, also for limits."""
    m, seen = pendulum(limits=(0.0, 5.0)), []
    traj = dal.simulate(m, "spook", h=0.01, t_end=0.1, q0=[4.0], control=lambda t, q, v: seen.append(q[0]) or [0.0])
    assert seen[0] == 4.0 and abs(seen[-1] - 4.0) < 0.2
    assert traj.account["limits"].sum() == 0.0


def test_a_force_on_a_body_acts_on_the_body_itself():
    """At the end of the rod: the same as the torque 2 N m about the hinge; 1 N on a free body: 1/m."""
    m = pendulum().without("gravity")
    a, b = (dal.Simulation(m, "spook", h=1e-3) for _ in range(2))
    a.apply_force("rod", force=(2, 0, 0), point=(0, 0, -1))
    np.testing.assert_allclose(a.step().v, b.step(tau=[-2.0]).v, rtol=1e-4)  # sigma = 4 eps Y/h^2 = 4e-5 of 1/m
    a.step(), b.step()
    np.testing.assert_allclose(a.state.v, b.state.v, rtol=1e-4)  # it acted once
    assert a.trajectory().work[-1] == pytest.approx(b.trajectory().work[-1], rel=1e-4)
    a.apply_force("rod", force=(2, 0, 0))
    b = pickle.loads(pickle.dumps(a))
    np.testing.assert_array_equal(a.step().v, b.step().v)


def test_a_simulation_starts_anew_from_its_own_state():
    m = tree(floating=False)
    q0, v0 = start(m)
    sim = dal.Simulation(m, "spook", h=0.01, q0=q0, v0=v0, keep=5)
    np.testing.assert_allclose(m.difference(sim.state.q, m.check_q(q0)), 0.0, atol=1e-12)
    kept = sim.step(20)
    assert len(sim.trajectory()) == 5
    again = sim.reset(kept.q, kept.v)
    np.testing.assert_allclose(m.difference(again.q, kept.q), 0.0, atol=1e-12)
    # rates of the start meet the joints, those of a step meet them to its order
    np.testing.assert_allclose(again.v, kept.v, atol=1e-9)


def test_monitors_and_functions_see_the_machine_that_was_given():
    m, seen = tree(), []
    m.add_force(lambda t, q, v: seen.append((q.shape, v.shape)) or np.zeros(m.nv))
    dal.simulate(m, "spook", h=0.01, t_end=0.05, monitors=[lambda t, q, v: seen.append((q.shape, v.shape))])
    assert set(seen) == {((m.nq,), (m.nv,))}


def test_a_function_acts_as_a_control_does():
    law = lambda t, q, v: -3.0 * q - 0.2 * v  # noqa: E731
    m = pendulum()
    m.add_force(law)
    a = dal.simulate(m, "spook", h=0.01, t_end=0.3, q0=[1.0])
    b = dal.simulate(pendulum(), "spook", h=0.01, t_end=0.3, q0=[1.0], control=law)
    np.testing.assert_array_equal(a.q, b.q)


def test_what_a_control_returns_is_checked():
    m = pendulum()
    m.add_motor("drive", "hinge", "velocity", kv=2.0)
    for given, match in (
        ([1.0, 2.0], r"shape \(2,\).*expected \(1,\), dual to v"),
        ([np.nan], "expected finite"),
        ({"drvie": 1.0}, "drive"),
        ({"drive": np.inf}, "input of motor 'drive' = inf"),
    ):
        with pytest.raises(dal.SimulationError, match=match):
            dal.simulate(m, "spook", h=0.01, t_end=0.1, control=lambda t, q, v, given=given: given)


def test_motors_do_nothing_unless_a_control_names_them():
    m = pendulum()
    m.add_motor("drive", "hinge", "position", kp=50.0, kv=2.0)
    plain = dal.simulate(pendulum(), "spook", h=0.01, t_end=0.3, q0=[1.0])
    for law in (None, lambda t, q, v: {}, lambda t, q, v: np.zeros(1)):
        np.testing.assert_array_equal(dal.simulate(m, "spook", h=0.01, t_end=0.3, q0=[1.0], control=law).q, plain.q)
    sim = dal.Simulation(m, "spook", h=0.01, q0=[1.0], control=lambda t, q, v: {"drive": 1.0})
    before, after = sim.step(5, tau=[0.5]), sim.step(tau=[0.5])
    force = 50.0 * (1.0 - before.q[0]) - 2.0 * after.v[0] - 50.0 * 0.01 / 4 * (after.v[0] - before.v[0])  # (4.31) with tau = kv/kp
    assert sim.trajectory().control[-1, 0] == pytest.approx(0.5 + force, rel=1e-3)


def test_a_broken_joint_hands_on_no_control():
    m = pendulum(strength=10.0)
    traj = dal.simulate(m, "spook", h=0.01, t_end=0.5, q0=[0.3], control=lambda t, q, v: [0.5])
    assert len(traj.events.rows) == 1
    k = traj.events.nodes[0]
    np.testing.assert_allclose(traj.v[k:, :3], np.broadcast_to(traj.v[k, :3], traj.v[k:, :3].shape), atol=1e-12)  # it spins as it did


def test_the_order_of_joints_is_that_of_the_machine():
    m = dal.Model()
    m.add_body("a", 1.0, I)
    m.add_body("b", 1.0, I)
    m.add_body("c", 1.0, I)
    m.add_joint("hinge", "revolute", "a", "c")
    assert order_of(m) == [["free", "a"], ["free", "b"], ["revolute", "hinge"]]
    view = JointView(Plan.of(m, "spook", h=0.01).engine().machine.bodies, order_of(m))
    assert (view.nq, view.nv) == (m.nq, m.nv)


def test_motors_rotors_and_limits_are_resumed_bit_for_bit(tmp_path):
    """With every third node kept: inputs of motors, rates of rotors and counted turns are in the checkpoint."""
    m = pendulum(armature=0.2, limits=(-9.0, 9.0), friction=0.1)
    m.add_motor("drive", "hinge", "velocity", kv=5.0, limit=30.0)
    given = {"h": 0.01, "q0": [0.1], "control": lambda t, q, v: ([0.1], {"drive": 8.0 if q[0] < 8.0 else -8.0}), "every": 3}
    whole = dal.simulate(m, "spook", t_end=1.8, **given)
    path = tmp_path / "run.h5"
    dal.simulate(m, "spook", t_end=0.9, save=path, **given)
    resumed = dal.resume(path, 1.8, control=given["control"])
    np.testing.assert_array_equal(resumed.states, whole.states)
    assert whole.joint("hinge").q.max() > 2 * np.pi  # it has gone round
    assert np.abs(whole.account["motors"]).max() > 0.1


def test_the_step_may_change_between_steps():
    m = pendulum(armature=0.1)
    sim = dal.Simulation(m, "spook", h=0.01, q0=[0.5], keep=0)
    sim.step(10)
    sim.h = 0.005
    late = sim.step(20)
    exact = dal.simulate(m, "mk4", h=0.01, t_end=0.2, q0=[0.5])
    assert late.t == pytest.approx(0.2) and late.q[0] == pytest.approx(exact.q[-1, 0], abs=0.02)
