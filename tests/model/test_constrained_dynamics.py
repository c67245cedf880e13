"""Accelerations and multipliers with loops and rolling; inverse dynamics with and without passive forces; threads; pickles."""

import copy
import pickle
import sys
import threading

import mujoco
import numpy as np
import pinocchio
import pytest

import dalembert as dal
from dalembert.scenes import loops

ARM = """<robot name="arm"><link name="base"/>
<link name="a"><inertial><origin xyz=".1 0 -.4"/><mass value="1.5"/>
<inertia ixx=".2" iyy=".25" izz=".1" ixy=".01" ixz="0" iyz=".02"/></inertial></link>
<link name="b"><inertial><origin xyz="0 .1 -.4"/><mass value="1.0"/>
<inertia ixx=".1" iyy=".15" izz=".08" ixy="0" ixz=".01" iyz="0"/></inertial></link>
<link name="c"><inertial><origin xyz="0 0 -.3"/><mass value="0.8"/>
<inertia ixx=".1" iyy=".1" izz=".05" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j1" type="continuous"><parent link="base"/><child link="a"/><axis xyz="0 1 0"/><dynamics damping="0.7"/></joint>
<joint name="j2" type="continuous"><parent link="a"/><child link="b"/><origin xyz="0 0 -1"/>
<axis xyz="1 0 0"/><dynamics damping="0.3"/></joint>
<joint name="j3" type="continuous"><parent link="b"/><child link="c"/><origin xyz="0 0 -1"/><axis xyz="0 1 0"/></joint>
<link name="d"><inertial><origin xyz="0 .1 -.3"/><mass value="0.5"/>
<inertia ixx=".05" iyy=".06" izz=".04" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j4" type="continuous"><parent link="c"/><child link="d"/><origin xyz="0 0 -1"/><axis xyz="1 0 0"/></joint>
</robot>"""
TIP = np.array([0.2, 0.1, -0.7])  # in the frame of d
THERE = TIP - [0, 0, 3]  # at the reference configuration


def arm():
    return dal.load_model(ARM)


def judge():
    """Pinocchio's model; continuous joints have (cos, sin) there."""
    return pinocchio.buildModelFromXML(ARM)


def circle(q):
    return np.ravel(np.column_stack([np.cos(q), np.sin(q)]))


def test_plain_inverse_dynamics_is_pinocchios_rnea():
    m, theirs = arm(), judge()
    rng = np.random.default_rng(1)
    m.add_force(dal.Spring("c", "world", stiffness=40.0))
    for _ in range(3):
        q, v, a = rng.normal(size=(3, 4))
        expected = pinocchio.rnea(theirs, theirs.createData(), circle(q), v, a)
        np.testing.assert_allclose(m.inverse_dynamics(q, v, a, passive=False), expected, rtol=1e-12, atol=1e-12)
        damped = m.without("spring").inverse_dynamics(q, v, a)
        np.testing.assert_allclose(damped, expected + np.array([0.7, 0.3, 0.0, 0.0]) * v, rtol=1e-12, atol=1e-12)


def test_plain_inverse_dynamics_is_mujocos_bias():
    xml = """<mujoco><worldbody><body><joint axis="0 1 0" damping="2" stiffness="5"/>
    <geom type="capsule" fromto="0 0 0 .5 0 -.8" size=".1"/>
    <body pos=".5 0 -.8"><joint type="slide" axis="1 0 1" damping="3" armature=".2"/><geom type="box" pos=".1 .2 0" size=".1 .2 .3"/>
    <body><joint axis="0 0 1"/><geom type="sphere" pos=".4 0 0" size=".2"/></body></body></body></worldbody></mujoco>"""
    m, theirs = dal.load_model(xml), mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(theirs)
    rng = np.random.default_rng(2)
    for _ in range(3):
        q, v = rng.normal(size=(2, 3))
        data.qpos[:], data.qvel[:] = q, v
        mujoco.mj_forward(theirs, data)
        np.testing.assert_allclose(m.inverse_dynamics(q, v, 0 * v, passive=False), data.qfrc_bias, rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(m.inverse_dynamics(q, v, 0 * v), data.qfrc_bias - data.qfrc_passive, rtol=1e-10, atol=1e-10)


def test_a_held_tip_accelerates_as_pinocchio_says():
    """A point of the last link is held to the world by a ball: one freedom of four is left, and it moves."""
    m, theirs = arm().without("damping"), judge()
    last = theirs.getJointId("j4")
    rng = np.random.default_rng(3)
    for _ in range(3):
        q, tau = 0.5 * rng.normal(size=(2, 4))
        data = theirs.createData()
        pinocchio.forwardKinematics(theirs, data, circle(q))
        here = data.oMi[last].act(TIP)
        held = m.copy()
        held.add_loop("held", "spherical", "world", "d", anchor=here, point=THERE)
        _, v = held.assemble(q, rng.normal(size=4))
        assert np.abs(v).max() > 0.1
        places = pinocchio.SE3(np.eye(3), here), pinocchio.SE3(np.eye(3), TIP)
        contact = pinocchio.RigidConstraintModel(
            pinocchio.ContactType.CONTACT_3D, theirs, 0, places[0], last, places[1], pinocchio.ReferenceFrame.LOCAL
        )
        models, datas = pinocchio.StdVec_RigidConstraintModel(), pinocchio.StdVec_RigidConstraintData()
        models.append(contact)
        datas.append(contact.createData())
        pinocchio.initConstraintDynamics(theirs, data, models, datas)
        expected = pinocchio.constraintDynamics(theirs, data, circle(q), v, tau, models, datas)
        a, multipliers = held.forward_dynamics(q, v, tau, multipliers=True)
        scale = max(1.0, np.abs(expected).max())
        np.testing.assert_allclose(a, expected, atol=1e-8 * scale)  # differences along the motion leave 1e-11
        np.testing.assert_allclose(np.linalg.norm(multipliers), np.linalg.norm(datas[0].contact_force.linear), rtol=1e-8)


def test_a_moving_four_bar_follows_its_one_coordinate():
    """Redundant hinges; the judge is Lagrange's equation of the square of unit rods under gravity: 5/3 a = 2 g sin(angle)."""
    m = loops.four_bar("revolute")
    q, v = m.assemble({"foot0": 0.4, "foot1": 0.4, "left1": -0.4}, {"foot0": 1.5}, fixed=["foot0"])
    a, multipliers = m.forward_dynamics(q, v, multipliers=True)
    assert a[m.v_slices()["foot0"]] == pytest.approx(2 * 9.81 * np.sin(0.4) / (5 / 3), rel=1e-9)
    assert len(multipliers) == len(m.constraint_labels)
    # the rows of the plane that follow from the others carry nothing
    held = dict(zip([what for _, what in m.constraint_labels], multipliers, strict=True))
    assert max(abs(held[what]) for what in ("y shift", "tilt", "tilt (2)")) < 1e-9


def test_a_ball_rolls_down_an_incline():
    """5/7 g sin down the slope, 2/7 m g sin of friction, m g cos of pressure."""
    slope, g = 0.3, 9.81
    m = dal.Model("ball", gravity=(g * np.sin(slope), 0, -g * np.cos(slope)))
    m.add_body("ball", 2.0, dal.Sphere(0.5).inertia(2.0), pose=((0, 0, 0.5), (1, 0, 0, 0)))
    m.add_joint("ground", "rolling", "world", "ball", radius=0.5)
    a, multipliers = m.forward_dynamics(m.neutral(), np.zeros(6), multipliers=True)
    np.testing.assert_allclose(a, [0, 5 / 7 * g * np.sin(slope) / 0.5, 0, 5 / 7 * g * np.sin(slope), 0, 0], atol=1e-12)
    labels = [what for _, what in m.constraint_labels]
    assert multipliers[labels.index("height")] == pytest.approx(2 * g * np.cos(slope))
    friction = np.hypot(multipliers[labels.index("heading")], multipliers[labels.index("sideways")])
    assert friction == pytest.approx(2 / 7 * 2 * g * np.sin(slope))


@pytest.mark.parametrize("name", ["n-four-bar", "bricard", "andrews", "rolling-disk", "snakeboard", "chaplygin-sleigh"])
def test_accelerations_meet_the_equations(name):
    """M a = tau - bias + G^T lambda, and the rows stay closed to second order: both judged by the pieces, the second by a step."""
    scene = dal.scenes.find(name)
    m = scene.model()
    q, v = m.assemble(m.check_q(scene.q0), m.check_v(scene.v0))
    tau = np.linspace(-1, 1, m.nv)
    a, multipliers = m.forward_dynamics(q, v, tau, multipliers=True)
    G = m.constraint_rows(q)[1]
    terms = G.T @ multipliers
    left = m.inverse_dynamics(q, v, a) - tau - terms
    assert np.abs(left).max() < 1e-9 * max(1.0, np.abs(terms).max(), np.abs(m.mass_matrix(q)).max() * np.abs(a).max())
    h = 1e-4 / max(1.0, np.abs(v).max())  # rate of G v along the motion: h^2 and 1e-16/h
    rates = [m.constraint_rows(m.integrate(q, s * h * v))[1] @ (v + s * h * a) for s in (1, -1)]
    scale = np.abs(G).max() * max(1.0, np.abs(a).max(), np.abs(v).max() ** 2)
    assert np.abs(rates[0] - rates[1]).max() / (2 * h) < 1e-6 * scale
    np.testing.assert_array_equal(m.forward_dynamics(q, v, tau), a)


def test_a_tree_has_no_multipliers_and_shapes_are_checked():
    a, multipliers = arm().forward_dynamics(np.zeros(4), np.ones(4), multipliers=True)
    assert a.shape == (4,) and multipliers.shape == (0,)
    m = loops.four_bar()
    with pytest.raises(dal.OptionError, match=r"tau has shape \(2,\); expected \(3,\)"):
        m.forward_dynamics(np.zeros(3), np.zeros(3), np.zeros(2))
    with pytest.raises(dal.OptionError, match=r"q has shape \(4,\); expected \(3,\)"):
        m.forward_dynamics(np.zeros(4), np.zeros(3))


def answers(m, q, v):
    """Everything that is computed in a workspace."""
    return np.concatenate(
        [
            m.forward_dynamics(q, v),
            m.inverse_dynamics(q, v, v),
            np.ravel(m.mass_matrix(q)),
            *map(np.ravel, m.constraint_rows(q)),
            np.ravel(m.jacobian(m.bodies[-1].name, q)),
            m.momentum(q, v),
        ]
    )


@pytest.mark.parametrize("machine", [lambda: dal.scenes.find("floating-chain").model(), lambda: loops.four_bar("revolute")])
def test_threads_on_one_model_do_not_disturb_each_other(machine):
    m = machine()
    rng = np.random.default_rng(4)
    states = [(m.random(rng), rng.normal(size=m.nv)) for _ in range(4)]
    expected = [answers(m, *state) for state in states]
    wrong = []

    def work(i):
        for _ in range(300):
            if not np.array_equal(answers(m, *states[i]), expected[i]):
                wrong.append(i)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=work, args=(i,)) for i in range(len(states))]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    finally:
        sys.setswitchinterval(before)
    assert not wrong


@pytest.mark.parametrize("again", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m)), lambda m: m.copy()])
def test_a_model_that_has_been_used_can_be_pickled_and_copied(again):
    m = loops.four_bar("revolute")
    q, v = m.assemble(None, {"foot0": 1.0})
    expected = answers(m, q, v)
    np.testing.assert_array_equal(answers(again(m), q, v), expected)
    assert again(m.frozen()).to_dict() == m.to_dict()
