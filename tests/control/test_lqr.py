"""Linear-quadratic control on the derivatives of the simulator's own steps."""

import numpy as np
import pytest
from scipy.linalg import expm

import dalembert as dal
from dalembert.control.scenes.cart_pole import model as cart_pole

Q, R, H = np.diag([1.0, 10.0, 1.0, 1.0]), np.array([[0.1]]), 0.02
UPRIGHT = np.array([0.0, np.pi])


@pytest.fixture(scope="module")
def upright():
    return dal.control.lqr(cart_pole(), UPRIGHT, Q, R, h=H)


def run(feedback, q0, t_end=6.0, m=None, **more):
    return dal.simulate(m or cart_pole(), "midpoint", h=H, t_end=t_end, q0=q0, control=feedback, ignore=("limits",), **more)


def test_a_pole_is_held_upright(upright):
    held = run(upright, [0.3, np.pi + 0.15])
    assert abs(held.q[-1] - UPRIGHT).max() < 2e-3 and abs(held.control[:, 0]).max() <= 20.0
    assert (held.control[:, 1] == 0.0).all()  # the hinge has no motor
    left = run(None, [0.3, np.pi + 0.15])
    assert abs(left.q[:, 1] - np.pi).max() > 1.0


def test_riccati_identity_and_gain(upright):
    A, B, K, P = upright.A, upright.steps[0].B @ upright.B, upright.K[0], upright.P[0]
    assert np.allclose(P, Q + A.T @ P @ (A - B @ K), rtol=1e-9, atol=1e-9 * np.abs(P).max())
    assert np.allclose((R + B.T @ P @ B) @ K, B.T @ P @ A, rtol=1e-9)
    assert np.allclose(P, P.T) and np.linalg.eigvalsh(P)[0] > 0.0


def test_the_cost_of_a_small_run_is_that_of_riccati(upright):
    start = np.array([1e-4, -2e-4])
    held = run(upright, UPRIGHT + start, 12.0)
    x = np.hstack([held.q - UPRIGHT, held.v])
    u = held.control[:, :1]
    cost = np.einsum("ki,ij,kj->", x[:-1], Q, x[:-1]) + float((R[0, 0] * u**2).sum())
    x0 = np.concatenate([start, [0, 0]])
    assert np.isclose(cost, x0 @ upright.P[0] @ x0, rtol=1e-3)  # what is left after 12 s, and the square of 2e-4 rad


def test_eigenvalues_of_the_closed_loop_are_the_decay_of_the_run(upright):
    values = upright.eigenvalues
    assert abs(values).max() < 1.0 and abs(np.linalg.eigvals(upright.A)).max() > 1.01  # held, and unstable without
    own, left = np.linalg.eig(upright.closed.T)
    held = run(upright, UPRIGHT + 1e-5, 2.0)
    seen = np.abs(np.hstack([held.q - UPRIGHT, held.v]) @ left)  # each eigenvector by itself
    for value, size in zip(own, seen.T, strict=True):
        k = np.flatnonzero(size > 1e-9)[-1]  # as long as it is above the second order of 1e-5
        assert k >= 10 and np.isclose((size[k] / size[0]) ** (1 / k), abs(value), rtol=1e-3)
    assert np.allclose(np.sort(abs(own)), np.sort(abs(values)), rtol=1e-9)


def test_each_step_of_a_small_run_is_that_of_the_closed_loop(upright):
    held = run(upright, UPRIGHT + np.array([1e-5, 2e-5]), 1.0)
    x = np.hstack([held.q - UPRIGHT, held.v])
    assert np.abs(x[1:] - x[:-1] @ upright.closed.T).max() < 1e-9  # of the second order in 1e-5


def test_a_double_integrator_by_its_closed_form():
    """A cart on a rail: A = [[1, h], [0, 1]], B = [h^2/2, h]/m, which is also what the continuous cart does under a held force."""
    m = dal.Model("cart", gravity=(0, 0, 0))
    m.add_body("cart", 2.0, (1, 1, 1))
    m.add_joint("rail", "prismatic", "world", "cart", axis=(1, 0, 0))
    found = dal.control.lqr(m, [0.7], 1.0, 1.0, h=0.1)
    exact = expm(0.1 * np.array([[0, 1, 0], [0, 0, 0.5], [0, 0, 0]]))
    assert np.allclose(found.A, exact[:2, :2], atol=1e-14) and np.allclose(found.steps[0].B, exact[:2, 2:], atol=1e-14)
    s = dal.Lagrangian(1, lambda q, v: v[0] ** 2)
    assert np.allclose(dal.control.lqr(s, [0.7], 1.0, 1.0, h=0.1).K, found.K, rtol=1e-10)


def test_the_input_that_holds_the_point_is_found():
    m = dal.Model("arm")
    m.add_body("rod", 1.5, (0.1, 0.1, 0.1), com=(0, 0, -0.4))
    m.add_joint("hinge", "revolute", "world", "rod", axis=(0, 1, 0))
    found = dal.control.lqr(m, {"q": {"hinge": 1.0}}, 10.0, 1.0, h=0.01)
    assert np.isclose(found.inputs[0, 0], 1.5 * 9.81 * 0.4 * np.sin(1.0), rtol=1e-9)
    held = dal.simulate(m, "midpoint", h=0.01, t_end=10.0, q0=[1.2], control=found)
    assert abs(held.q[-1, 0] - 1.0) < 1e-6
    m.add_motor("weak", "hinge", limit=2.0)
    with pytest.raises(dal.OptionError, match=r"input 'weak' has to be 4\.95"):
        dal.control.lqr(m, [1.0], 10.0, 1.0)


def test_points_of_formulas_are_held_wherever_inputs_hold_them():
    """A pendulum at any angle, a weight at any height: what inputs balance rests but for round-off."""
    pendulum = dal.Lagrangian(1, lambda q, v: 0.5 * v[0] ** 2 + 9.81 * np.cos(q[0]))
    weight = dal.Lagrangian(1, lambda q, v: 0.5 * v[0] ** 2 - 9.81 * q[0])
    for angle in np.linspace(0.05, 3.1, 30):
        assert np.isclose(dal.control.lqr(pendulum, [angle], 1.0, 1.0).inputs[0, 0], 9.81 * np.sin(angle), rtol=1e-12)
    for h in (0.1, 0.01, 1e-3, 1e-4):
        assert np.isclose(dal.control.lqr(weight, [1.0], 1.0, 1.0, h=h).inputs[0, 0], 9.81, rtol=1e-12)


def test_a_satellite_on_the_group():
    """Attitudes are quaternions: the error is the turn that is left, whatever the sign of the quaternion."""
    m = dal.Model("satellite", gravity=(0, 0, 0))
    m.add_body("hull", 1.0, (1.0, 2.0, 3.0))
    m.add_joint("ball", "spherical", "world", "hull")
    goal = np.array([np.cos(0.5), 0, np.sin(0.5), 0])
    found = dal.control.lqr(m, goal, 1.0, 1.0, h=0.1)
    held = dal.simulate(m, "midpoint", h=0.1, t_end=60.0, q0=-dal.quat.mul(goal, dal.quat.exp(np.array([0.8, -0.5, 0.3]))), control=found)
    assert np.abs(m.difference(goal, held.q[-1])).max() < 1e-6 and abs(found.eigenvalues).max() < 1.0


def test_limits_and_contacts_that_the_stepper_knows_take_part():
    m = dal.Model("flap")
    m.add_body("flap", 1.0, (0.1, 0.1, 0.1), com=(1, 0, 0))
    m.add_joint("hinge", "revolute", "world", "flap", axis=(0, 1, 0), limits=(-0.1, 0.1))
    on_its_limit = dal.control.lqr(m, [0.1 + 9.81 * np.cos(0.101) / 1e4], 1.0, 1.0)
    assert abs(on_its_limit.inputs[0, 0]) < 0.1  # the spring of the limit carries all but that of 9.81 N m
    ball = dal.Model("ball")
    ball.add_shape("world", dal.Plane(friction=0.5))
    ball.add_body("ball", 1.0, (0.004, 0.004, 0.004), shapes=[dal.Sphere(0.1, friction=0.5)])
    rests = dal.control.lqr(ball, [0, 0, 0.1 - 9.81e-8, 1, 0, 0, 0], 1.0, 1.0, stepper="spook")
    assert np.abs(rests.inputs).max() < 1e-3  # the plane carries it


def test_loops_are_kept_and_the_gain_acts_on_what_may_move():
    m = dal.scenes.find("four-bar").build()
    q, _ = m.assemble(np.array([0.4, 0.0, 0.0]), fixed=(m.joints[0].name,))
    found = dal.control.lqr(m, q, 1.0, 1.0, h=0.01, inputs=[m.joints[0].name])
    assert len(found.eigenvalues) == 2 and abs(found.eigenvalues).max() < 1.0
    start, _ = m.assemble(q + np.array([0.1, 0, 0]), fixed=(m.joints[0].name,))
    held = dal.simulate(m, "midpoint", h=0.01, t_end=60.0, q0=start, control=found)
    assert np.abs(held.q[-1] - q).max() < 1e-3 * 0.1


def test_directions_that_no_input_reaches_are_named():
    m = dal.Model("two carts", gravity=(0, 0, 0))
    for name in ("driven", "left"):
        m.add_body(name, 1.0, (1, 1, 1))
        m.add_joint(f"rail of {name}", "prismatic", "world", name, axis=(1, 0, 0))
    with pytest.raises(dal.OptionError, match=r"no input reaches the direction \(.*rail of left"):
        dal.control.lqr(m, None, 1.0, 1.0, inputs=["rail of driven"])
    with pytest.raises(dal.OptionError, match=r"Q does not weigh the direction \(.*rail of left"):
        dal.control.lqr(m, None, [1, 0, 1, 0], 1.0)


def test_a_point_that_does_not_rest_is_refused():
    with pytest.raises(dal.OptionError, match=r"no equilibrium.*inputs drive"):
        dal.control.lqr(cart_pole(), [0.0, 1.0], Q, R)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"Q": np.eye(3)}, r"Q has the shape \(3, 3\)"),
        ({"Q": np.nan}, "Q has the shape"),
        ({"Q": -1.0}, "Q has the eigenvalue -1"),
        ({"Q": np.triu(np.ones((4, 4)))}, "Q is not symmetric"),
        ({"R": 0.0}, "R has the eigenvalue 0"),
        ({"R": [1.0, 2.0]}, "R has the shape"),
        ({"R": "much"}, "R has the shape"),
        ({"at": [0.0]}, r"q has shape \(1,\)"),
        ({"at": cart_pole()}, "at is a system"),
        ({"h": 0.0}, "h is 0.0"),
        ({"final": 1.0}, "final is the weight of the last node"),
        ({"inputs": ["wheel"]}, "wheel"),
    ],
)
def test_bad_input_is_named(given, message):
    with pytest.raises(dal.DalembertError, match=message):
        dal.control.lqr(cart_pole(), **{"at": UPRIGHT, "Q": Q, "R": R, **given})
