"""Potentials of springs and joints, forces of springs, laws of motors."""

import numpy as np
import pytest

import dalembert as dal
from dalembert.model.forces import Spring


def two_bodies(**joint):
    m = dal.Model("pair", gravity=(0, 0, 0))
    m.add_body("a", 1, (1, 1, 1), pose=((1, 2, 3), (1, 0, 0, 0)))
    m.add_body("b", 1, (1, 1, 1), pose=((1, 2, 5), (1, 0, 0, 0)))
    if joint:
        m.add_joint(name="j", parent="world", child="a", **joint)
    return m


def test_springs_store_energy():
    m = two_bodies()
    m.add_force(Spring("a", "b", (0, 0, 0.5), (0, 0, 0.5), stiffness=10, rest_length=0.5))
    assert m.potential_energy(m.neutral()) == pytest.approx(5 * 1.5**2, rel=1e-15)
    m.add_force(Spring("a", "world", point_b=(1, 2, 0), stiffness=4, rest_length=1))
    assert m.potential_energy(m.neutral()) == pytest.approx(5 * 1.5**2 + 2 * 2.0**2, rel=1e-15)
    q = np.array([m.neutral(), m.random(1)])
    assert m.potential_energy(q) == pytest.approx([m.potential_energy(x) for x in q], rel=1e-15)


def test_force_of_a_spring_is_the_gradient_of_its_energy():
    rng = np.random.default_rng(0)
    s = Spring("a", "b", stiffness=7, rest_length=0.8)
    x_a, x_b, zero = rng.normal(size=3), rng.normal(size=3), np.zeros(3)
    e = 1e-6
    slope = [(s.potential(x_a + e * d, x_b) - s.potential(x_a - e * d, x_b)) / (2 * e) for d in np.eye(3)]
    assert s.force(x_a, x_b, zero, zero) == pytest.approx(-np.array(slope), abs=1e-8)


def test_damping_acts_along_the_line_only():
    s = Spring("a", "b", damping=2.0)
    x_a, x_b = np.zeros(3), np.array([3.0, 0, 0])
    assert s.force(x_a, x_b, np.zeros(3), np.array([1.0, 5, 0])) == pytest.approx([2, 0, 0])


def test_no_force_at_zero_distance():
    s = Spring("a", "b", stiffness=2.0, rest_length=1.0, damping=1.0)
    x = np.zeros((4, 3))
    assert not s.force(x, x, x, x + 1).any()
    assert s.potential(x, x) == pytest.approx(1.0)


def test_spring_names_are_checked():
    m = two_bodies()
    with pytest.raises(dal.UnknownNameError, match="body of a spring 'c'"):
        m.add_force(Spring("a", "c", stiffness=1))
    with pytest.raises(dal.UnknownNameError, match="body of a spring"):
        m.add_force(Spring("c", "world", stiffness=1))
    m.add_force(Spring("a", "world", stiffness=1))


@pytest.mark.parametrize(
    ("joint", "q", "expected"),
    [
        ({"kind": "revolute", "rest": 0.2}, [0.7], 1.5 * 0.25),
        ({"kind": "prismatic"}, [0.5], 1.5 * 0.25),
        ({"kind": "cylindrical", "rest": 0.1}, [0.4, 0.6], 1.5 * (0.09 + 0.25)),
        ({"kind": "universal", "axis2": (1, 0, 0)}, [0.3, 0.4], 1.5 * 0.25),
        ({"kind": "planar"}, [0.1, 0.2, 0.3], 1.5 * 0.14),
        ({"kind": "spherical"}, dal.quat.exp([0.3, 0.4, 0.0]), 1.5 * 0.25),
        ({"kind": "spherical"}, -np.asarray(dal.quat.exp([0.3, 0.4, 0.0])), 1.5 * 0.25),
    ],
)
def test_joint_stiffness_stores_energy(joint, q, expected):
    m = two_bodies(**joint, stiffness=3.0)
    assert m.potential_energy(m.check_q({"j": q})) == pytest.approx(expected, rel=1e-14)


def test_motor_laws():
    m = two_bodies(kind="revolute")
    m.add_motor("torque", "j", gear=2)
    m.add_motor("servo", "j", "position", kp=10, kv=0.5)
    m.add_motor("belt", "j", "velocity", kv=3, gear=4)
    assert [x.name for x in m.motors] == ["torque", "servo", "belt"]
    q, v = m.check_q({"j": 0.3}), m.check_v({"j": 0.7})
    at = m.v_slices()["j"].start
    for u, expected in (
        ([1.5, 0, 0], 2 * 1.5 + 10 * (0 - 0.3) - 0.5 * 0.7 + 4 * 3 * (0 - 4 * 0.7)),
        ([0, 1, 2], 10 * (1 - 0.3) - 0.5 * 0.7 + 4 * 3 * (2 - 4 * 0.7)),
    ):
        tau = m.motor_forces(u, q, v)
        assert tau[at] == pytest.approx(expected, rel=1e-14)
        assert np.count_nonzero(tau) == 1 and tau.shape == (m.nv,)
    assert np.array_equal(m.motor_forces({"servo": 1, "belt": 2}, q, v), m.motor_forces([0, 1, 2], q, v))


def test_a_gear_keeps_power():
    """The motor does the work on its own side that the joint receives: force at the motor times gear v = joint force times v."""
    m = two_bodies(kind="prismatic")
    m.add_motor("servo", "j", "position", kp=10, kv=2, gear=-3)
    q, v, u = 0.3, 0.7, 0.9
    at_motor = 10 * (u - -3 * q) - 2 * (-3 * v)
    tau = m.motor_forces([u], m.check_q({"j": q}), m.check_v({"j": v}))[m.v_slices()["j"].start]
    assert tau * v == pytest.approx(at_motor * -3 * v, rel=1e-14)


def test_limits_clip_the_joint_force():
    m = two_bodies(kind="revolute")
    m.add_motor("a", "j", gear=10, limit=5)
    m.add_motor("b", "j", gear=10, limit=(-1, 0.5))
    at = m.v_slices()["j"].start
    u = np.array([[1.0, 0], [-1, 0], [0, 1], [0, -1], [0.1, 0.01]])
    tau = m.motor_forces(u, m.neutral(), np.zeros(m.nv))
    assert tau[:, at] == pytest.approx([5, -5, 0.5, -1, 1.1], rel=1e-15)


@pytest.mark.parametrize(
    ("kwargs", "match"),
    [
        ({"name": "a/b"}, "motor: name is"),
        ({"joint": "ja"}, "unknown joint of motor 'm' 'ja'"),
        ({"joint": "b"}, r"joint 'b' \(free\) has 6 degrees of freedom; expected one"),
        ({"kind": "torqe"}, "did you mean 'torque'"),
        ({"gear": 0}, "gear is 0"),
        ({"limit": -1}, "limit is -1.0"),
        ({"limit": (1, -1)}, "lower < upper"),
        ({"kp": 1}, "kp is 1, but a torque motor does not use it"),
        ({"kind": "position"}, "kp is missing; a position motor needs it"),
        ({"kind": "position", "kp": 0}, "kp is 0.0"),
        ({"kind": "velocity", "kv": -1}, "kv is -1.0"),
        ({"kind": "velocity"}, "kv is missing"),
        ({"kind": "velocity", "kp": 1, "kv": 1}, "a velocity motor does not use it"),
    ],
)
def test_bad_motors(kwargs, match):
    m = two_bodies(kind="revolute")
    with pytest.raises(dal.DalembertError, match=match):
        m.add_motor(**{"name": "m", "joint": "j", **kwargs})
    assert m.motors == ()


def test_bad_inputs():
    m = two_bodies(kind="revolute")
    m.add_motor("m", "j")
    with pytest.raises(dal.ModelError, match="motor of this name already"):
        m.add_motor("m", "j")
    with pytest.raises(dal.OptionError, match=r"shape \(2,\); expected \(..., 1\): m"):
        m.motor_forces([1, 2], m.neutral(), np.zeros(m.nv))
    with pytest.raises(dal.UnknownNameError, match="motor in u"):
        m.motor_forces({"n": 1}, m.neutral(), np.zeros(m.nv))
    with pytest.raises(dal.UnknownNameError, match="motor"):
        m.motor("n")


# forces that are functions ---------------------------------------------------------------------------------------------------------------


def arm(force=None):
    """Two rods that hang from each other."""
    m = dal.Model("arm")
    for k in range(2):
        m.add_body(f"rod{k}", 1.0, (0.1, 0.1, 0.01), com=(0, 0, -0.5), pose=((0, 0, -k), (1, 0, 0, 0)))
        m.add_joint(f"j{k}", "revolute", f"rod{k - 1}" if k else "world", f"rod{k}", (0, 0, -k), (0, 1, 0), damping=0.1)
    if force is not None:
        m.add_force(force)
    return m


def waving(t, q, v):
    return np.array([5.0 * np.cos(2.0 * t) - q[1], -0.3 * v[0] * v[1]])


def waving_compiled(t, q, v, out):
    out[0] = 5.0 * np.cos(2.0 * t) - q[1]
    out[1] = -0.3 * v[0] * v[1]


@pytest.mark.parametrize("force", [waving, dal.compiled(waving_compiled)])
def test_dynamics_count_forces_that_are_functions(force):
    """As the same generalised force given as tau, at any time; with gravity alone they do not count."""
    m, q, v, tau = arm(force), np.array([0.3, 0.8]), np.array([1.0, -2.0]), np.array([0.1, 0.2])
    for t in (0.0, 0.7):
        more = waving(t, q, v)
        a = m.forward_dynamics(q, v, tau, t=t)
        np.testing.assert_array_equal(a, arm().forward_dynamics(q, v, tau + more))
        np.testing.assert_allclose(m.inverse_dynamics(q, v, a, t=t), tau, rtol=0, atol=1e-13)
        np.testing.assert_array_equal(m.inverse_dynamics(q, v, a, passive=False, t=t), arm().inverse_dynamics(q, v, a, passive=False))
    np.testing.assert_array_equal(m.forward_dynamics(q, v), m.forward_dynamics(q, v, t=0.0))


def test_accelerations_under_a_function_are_those_of_a_run():
    """The first difference of velocities of an accurate run: of first order in h."""
    m, q0, v0, h = arm(waving), np.array([0.3, 0.8]), np.array([1.0, -2.0]), 1e-5
    traj = dal.simulate(m, "mk8", h=h, t_end=h, q0=q0, v0=v0)
    np.testing.assert_allclose((traj.v[1] - traj.v[0]) / h, m.forward_dynamics(q0, v0), rtol=1e-3)


def test_multipliers_of_loops_count_functions():
    """A closed loop under a function and under the same force as tau."""
    plain, pushed = (dal.scenes.find("four-bar").model().copy() for _ in range(2))
    q, v = plain.assemble(plain.neutral(), np.zeros(plain.nv))
    pushed.add_force(lambda t, q, v: np.full(len(v), 0.5 + t))
    for t in (0.0, 2.0):
        found, expected = (
            m.forward_dynamics(q, v, tau, multipliers=True, t=t) for m, tau in ((pushed, None), (plain, np.full(plain.nv, 0.5 + t)))
        )
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_allclose(a, b, rtol=0, atol=1e-11 * max(1.0, np.abs(b).max()))


def test_a_function_that_returns_another_shape_is_named():
    m = arm(lambda t, q, v: [1.0])
    for call in (m.forward_dynamics, lambda q, v: m.inverse_dynamics(q, v, v)):
        with pytest.raises(dal.OptionError, match=r"returned shape \(1,\).*expected \(2,\)"):
            call([0.0, 0.0], [0.0, 0.0])
