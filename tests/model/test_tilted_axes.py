"""Hinges of loops tell parallel axes from opposite ones."""

import numpy as np
import pytest

import dalembert as dal
from dalembert.model.rotation import quat_exp, quat_mul, rotate

KINDS = ["revolute", "cylindrical", "planar"]
AXIS = np.array([0.6, 0.0, 0.8])
ACROSS = np.array([0.0, 1.0, 0.0])


def free_body(kind):
    """A free body that a loop of this kind joins to the world."""
    m = dal.Model("one")
    m.add_body("b", 1.0, (1, 1.2, 1.4), pose=((0.1, 0.2, 0.3), quat_exp(np.array([0.4, -0.3, 0.9]))))
    m.add_loop("loop", kind, "world", "b", (0.3, -0.2, 0.7), AXIS)
    return m


def tilted(m, angle, spin=0.0, across=ACROSS):
    """The body turned about the axis, then by an angle across it, about the anchor: only the tilt is wrong."""
    b, anchor = m.bodies[0], m.loops[0].anchor
    turn = quat_mul(quat_exp(angle * across), quat_exp(spin * AXIS))
    return np.concatenate([anchor + rotate(turn, b.position - anchor), quat_mul(turn, b.quaternion)])


def axis_now(m, q):
    b = m.bodies[0]
    return rotate(quat_mul(q[3:], b.quaternion * [1, -1, -1, -1]), AXIS)


@pytest.mark.parametrize("kind", KINDS)
def test_the_tilt_is_twice_the_sine_of_half_the_angle_at_every_spin(kind):
    m = free_body(kind)
    for angle in (0.0, 1e-9, 0.3, 2.0, 3.1, 3.1415, np.pi):
        for spin in (0.0, 2.0, np.pi, 5.0):
            rows = m.constraint_rows(tilted(m, angle, spin))[0][-2:]
            lost = 4e-15 / max(1 + np.cos(angle), 1e-8)  # 1 + a.c cancels near pi
            assert np.linalg.norm(rows) == pytest.approx(2 * np.sin(angle / 2), abs=lost)
            np.testing.assert_allclose(rows, m.loop_errors(tilted(m, angle, spin))["loop"][-2:], rtol=0, atol=2 * lost)


@pytest.mark.parametrize("kind", KINDS)
def test_rows_turn_with_the_child_without_a_jump_of_sign(kind):
    """At every hinge angle the Jacobian of a closed hinge is that of the direction cosines: constant in the axes of the child."""
    m = free_body(kind)
    found = [m.constraint_rows(tilted(m, 0.0, spin))[1][-2:, :3] for spin in np.linspace(0.0, 4 * np.pi, 9)]
    np.testing.assert_allclose(found, np.broadcast_to(found[0], np.shape(found)), atol=1e-14)
    np.testing.assert_allclose(np.linalg.svd(found[0])[1], [1.0, 1.0], atol=1e-14)


@pytest.mark.parametrize("angle", [1e-9, 0.3, 2.0, 3.0, 3.14])
def test_the_jacobian_is_the_derivative_at_every_tilt(angle):
    m = free_body("revolute")
    q = tilted(m, angle, 1.0)
    h = min(1e-5, 1e-2 * (np.pi - angle))

    def central(step):
        return np.array([(m.constraint_rows(m.integrate(q, s * e))[0]) for s in (step, -step) for e in np.eye(6)])

    def slope(step):
        rows = central(step)
        return ((rows[:6] - rows[6:]) / (2 * step)).T

    J = (4 * slope(h) - slope(2 * h)) / 3
    G = m.constraint_rows(q)[1]
    np.testing.assert_allclose(G, J, atol=1e-6 * np.abs(G).max())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("degrees", [60, 120, 170, 179.999, 180])
def test_a_turned_child_is_assembled_the_right_way_round(kind, degrees):
    """From 120 degrees direction cosines lead to the opposite axis, where they vanish too."""
    m = free_body(kind)
    q, _ = m.assemble(tilted(m, np.radians(degrees), 0.7, np.cross(AXIS, ACROSS)))
    assert axis_now(m, q) @ AXIS == pytest.approx(1.0, abs=1e-14)
    assert np.abs(m.constraint_rows(q)[0]).max() < 1e-10


def test_a_start_with_opposite_axes_is_refused():
    m = free_body("revolute")
    with pytest.raises(dal.OptionError, match=r"joint 'loop' \(tilt.*q0 leaves it open by 1\.41 rad"):
        dal.simulate(m, "midpoint", h=0.01, t_end=0.1, q0=tilted(m, np.pi))


def test_a_loop_that_closes_only_the_wrong_way_round_says_so():
    """A rod on a ball, its hinge to the world opposite, and a joint that keeps it there."""
    m = dal.Model("forced")
    m.add_body("b", 1.0, (1, 1, 1))
    m.add_joint("pin", "revolute", "world", "b", (0, 0, 0), (0, 0, 1))
    m.add_loop("turned", "revolute", "world", "b", (0, 0, 0), (0, 0, 1), turn=(0, 1, 0, 0))
    with pytest.raises(dal.AssemblyError, match="'turned' is off by"):
        m.assemble(None)


def test_all_turns_that_meet_a_universal_row_are_turns_of_a_universal_joint():
    """Its one row needs no such care: a random turn that meets it is undone by turns about the two axes."""
    m = dal.Model("cross")
    m.add_body("b", 1.0, (1, 1, 1))
    b = np.array([0.0, 0.28, 0.96])
    m.add_loop("loop", "universal", "world", "b", (0, 0, 0), AXIS, axis2=b)
    rng = np.random.default_rng(0)
    for _ in range(5):
        q, _ = m.assemble(m.random(rng))
        c = rotate(q[3:], b)
        flat = [x - (x @ AXIS) * AXIS for x in (b, c)]  # the turn about the first axis that takes b to where it is now
        first = np.arctan2(AXIS @ np.cross(*flat), flat[0] @ flat[1])
        left = quat_mul(quat_exp(-first * AXIS), q[3:])
        np.testing.assert_allclose(np.cross(left[1:], b), 0.0, atol=1e-9)  # what is left turns about the second
