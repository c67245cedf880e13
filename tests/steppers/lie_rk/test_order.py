"""Observed orders on trees, and what the steps keep."""

import numpy as np
import pytest

import dalembert as dal
from dalembert.kernels.lie_rk import fixed_step
from dalembert.registry import Stepper, find
from dalembert.runs.plan import Plan
from dalembert.steppers.lie_rk._tableau import Tableau, one_by_one

FIXED = ["cg2", "cg3", "cg4", "cf2", "cf3", "cf4", "mk2", "mk3", "mk4"]
FIRST = {2: 0.01, 3: 0.025, 4: 0.05, 5: 0.1}  # largest h: four halvings later the error is still 100 times that of the reference
NO_CONTROL = {"rtol": 1e6, "atol": 1e6}  # one internal step per step
T = 2.0


def end(machine, stepper, h, **options):
    """q and v at t = T."""
    model, q0, v0 = machine
    traj = dal.simulate(model, stepper, h=h, t_end=T, q0=q0, v0=v0, every=round(T / h), **options)
    return traj.q[-1], traj.v[-1]


def errors(machine, reference, stepper, h, **options):
    q, v = end(machine, stepper, h, **options)
    return np.linalg.norm(machine[0].difference(reference[0], q)), np.linalg.norm(v - reference[1])


def slopes(hs, values):
    """Orders of configuration and velocity by regression of log error over log h."""
    return np.polyfit(np.log(hs), np.log(values), 1)[0]


@pytest.fixture(scope="module")
def chain_end(chain):
    return end(chain, "mk8", 0.5, rtol=1e-14, atol=1e-15)


@pytest.fixture(scope="module")
def tree_end(tree):
    return end(tree, "mk8", 0.5, rtol=1e-14, atol=1e-15)


MJCF = """
<mujoco><option gravity="0 0 -2"/><default><joint type="hinge" damping=".05"/></default><worldbody>
<body><freejoint/><inertial mass="1" pos="0 0 0" diaginertia=".1 .2 .25"/>
<body pos=".5 0 0" name="right"><joint axis="0 0 1"/><inertial mass="1" pos=".5 0 0" diaginertia=".02 .1 .1"/></body>
<body pos="-.5 0 0"><joint axis="0 1 0"/><inertial mass="1" pos="-.5 0 0" diaginertia=".02 .1 .1"/></body>
</body></worldbody></mujoco>"""


def test_reference_agrees_with_mujoco_dynamics_under_scipy(chain, chain_end):
    """Forward dynamics of MuJoCo (mass matrix and recursive Newton-Euler, no articulated inertias), integrated by DOP853 at 1e-12."""
    import mujoco
    from scipy.integrate import solve_ivp

    m = mujoco.MjModel.from_xml_string(MJCF)
    d = mujoco.MjData(m)
    d.xfrc_applied[m.body("right").id] = (0.5, -0.3, 0.4, 0.1, 0.2, -0.1)

    def rate(t, y):
        d.qpos[:], d.qvel[:] = y[:9], y[9:]
        d.qpos[3:7] /= np.linalg.norm(d.qpos[3:7])
        mujoco.mj_forward(m, d)
        w = y[12:15]
        s, x = y[3], y[4:7]
        spin = 0.5 * np.concatenate([[-x @ w], s * w + np.cross(x, w)])
        return np.concatenate([y[9:12], spin, y[15:], d.qacc])

    _, q0, v0 = chain
    y0 = np.concatenate([q0, v0[3:6], v0[:3], v0[6:]])  # the attitude is the identity at the start
    y = solve_ivp(rate, (0, T), y0, method="DOP853", rtol=1e-12, atol=1e-13).y[:, -1]
    y[3:7] /= np.linalg.norm(y[3:7])
    q, v = chain_end
    np.testing.assert_allclose(y[:9], q, rtol=0, atol=1e-11)
    np.testing.assert_allclose(y[12:15], v[:3], rtol=0, atol=1e-11)
    np.testing.assert_allclose(y[15:], v[6:], rtol=0, atol=1e-11)
    np.testing.assert_allclose(y[9:12], dal.quat.to_matrix(q[3:7]) @ v[3:6], rtol=0, atol=1e-11)


@pytest.mark.parametrize("stepper", FIXED)
def test_order_on_a_floating_chain(chain, chain_end, stepper):
    p = int(stepper[2])
    hs = FIRST[p] / 2.0 ** np.arange(5)
    found = slopes(hs, [errors(chain, chain_end, stepper, h) for h in hs])
    assert np.abs(found - p).max() < 0.1


@pytest.mark.parametrize("stepper", ["cg3", "cf3", "mk3", "cg4", "cf4", "mk4"])
def test_order_on_a_tree_of_all_joints(tree, tree_end, stepper):
    p = int(stepper[2])
    hs = 0.4 * FIRST[p] / 2.0 ** np.arange(5)
    found = slopes(hs, [errors(tree, tree_end, stepper, h) for h in hs])
    assert np.abs(found - p).max() < 0.1


def test_order_five_without_error_control(chain, chain_end):
    hs = FIRST[5] / 2.0 ** np.arange(5)
    found = slopes(hs, [errors(chain, chain_end, "mk5", h, **NO_CONTROL) for h in hs])
    assert np.abs(found - 5).max() < 0.1


def test_order_eight_without_error_control(chain, chain_end):
    """Two halvings in five sizes: at larger steps the order is not yet seen, at smaller ones round-off begins (errors 3e-8 to 2e-13)."""
    hs = 1.0 / np.array([4, 6, 8, 12, 16])
    found = slopes(hs, [errors(chain, chain_end, "mk8", h, **NO_CONTROL) for h in hs])
    assert np.abs(found - 8).max() < 0.3


def test_kutta_weights_used_by_crouch_and_grossman_lose_two_orders(chain, chain_end):
    """The same engine, the classical tableau of order four, one exponential per coefficient: order two in the configuration."""
    kutta = Tableau(
        "kutta", 2, **one_by_one([[], [0.5], [0.0, 0.5], [0.0, 0.0, 1.0]], [1 / 6, 1 / 3, 1 / 3, 1 / 6]), c=(0.0, 0.5, 0.5, 1.0)
    )
    stepper = Stepper("kutta", "", "tree", 2, step=fixed_step, prepare=lambda system, options: kutta.pack(system))
    model, q0, v0 = chain
    values, hs = [], FIRST[2] / 2.0 ** np.arange(5)
    for h in hs:
        engine = Plan.bare(model, stepper, h).engine()
        engine.start(q0, v0)
        engine.advance(round(T / h), round(T / h))
        values.append(np.linalg.norm(model.difference(chain_end[0], engine.observe()[0])))
    assert abs(slopes(hs, values) - 2) < 0.1


@pytest.mark.parametrize("stepper", [*FIXED, "mk5", "mk8"])
def test_configurations_stay_on_the_group(tree, stepper):
    """Unit quaternions after 2000 steps: one rounding of the last normalisation."""
    model, q0, v0 = tree
    q = dal.simulate(model, stepper, h=0.001, t_end=2.0, q0=q0, v0=v0).q
    free, ball = model.q_slices()["root"], model.q_slices()["shoulder"]
    for quaternion in (q[:, free][:, 3:], q[:, ball]):
        assert np.abs(np.linalg.norm(quaternion, axis=1) - 1).max() < 5e-16


@pytest.mark.parametrize("stepper", [*FIXED, "mk5", "mk8"])
def test_restart_is_bit_for_bit(chain, stepper):
    model, q0, v0 = chain

    def engine():
        method = find("tree", stepper)
        made = Plan.bare(model, method, 0.05).engine()
        made.start(q0, v0)
        return made

    whole, first, second = engine(), engine(), engine()
    whole.advance(40, 40)
    first.advance(17, 17)
    second.restart(first.state, 17)
    second.advance(23, 23)
    assert (whole.state == second.state).all()


@pytest.mark.parametrize("stepper", FIXED)
def test_conserved_to_the_order_without_forces(free_chain, stepper):
    """Energy and momentum of the free chain drift with the order of the method: the drift of 100 steps falls by 2^p when h is halved."""
    model, q0, v0 = free_chain
    p = int(stepper[2])
    drift = []
    for h in (0.02, 0.01):
        traj = dal.simulate(model, stepper, h=h, t_end=2.0, q0=q0, v0=v0)
        drift.append([abs(traj.energy[-1] - traj.energy[0]), np.linalg.norm(traj.momentum[-1] - traj.momentum[0])])
    np.testing.assert_allclose(np.log2(np.array(drift[0]) / drift[1]), p, atol=0.15)
