"""Singular positions of loops: nodes on them keep the velocity of the motion, steps to and from them converge, starts on them run."""

import numpy as np
import pytest

import dalembert as dal

METHODS = ("midpoint", "trapezoidal", "symplectic-euler")
ROD = 1 / 12
TURNING = np.array([1.0, 1.0, -1.0])  # the motion of the square: uprights turn, the bar does not


def square(tilt=0.0, closing="slot", gravity=0.0):
    """Two uprights, along z at the reference, and a bar, on a ground line that is turned by `tilt` against the rows of the loop."""
    m = dal.Model("square", gravity=(0, 0, -gravity))
    ground = np.array([np.cos(tilt), 0, -np.sin(tilt)])
    turn = (np.cos(tilt / 2 + np.pi / 4), 0, np.sin(tilt / 2 + np.pi / 4), 0)  # z of the bar along the ground
    top = np.array([0, 0, 1.0])
    for k in range(2):
        m.add_body(f"upright{k}", 1.0, (ROD, ROD, 1e-4), com=(0, 0, 0.5), pose=(k * ground, (1, 0, 0, 0)))
        m.add_joint(f"foot{k}", "revolute", "world", f"upright{k}", k * ground, (0, 1, 0))
    m.add_body("bar", 1.0, (ROD, ROD, 1e-4), com=(0, 0, 0.5), pose=(top, turn))
    m.add_joint("left", "revolute", "upright0", "bar", top, (0, 1, 0))
    m.add_loop("right", closing, "upright1", "bar", ground + top, (0, 1, 0))
    return m.frozen()


def in_line(tilt=0.0):
    """q where all rods lie on the ground line."""
    return (np.pi / 2 + tilt) * TURNING


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("closing", ["slot", "revolute"])
@pytest.mark.parametrize("tilt", [0.0, 0.3, np.pi / 4])
@pytest.mark.parametrize("n", [200, 2000])
def test_a_node_on_a_singular_position_keeps_its_velocity(method, closing, tilt, n):
    """Without forces the square turns at 1 rad/s. Rows within 1e-4 rad of the position lift round-off of positions, 1e-16, as a velocity
    1e-16/h, to 1e-12/h; ten times that is allowed, and velocities of nodes lose the square of 1e-4."""
    h, before = np.pi / n, 20
    start = in_line(tilt) - before * h * TURNING
    traj = dal.simulate(square(tilt, closing), method, h=h, t_end=2 * before * h, q0=start, v0=TURNING)
    assert np.abs(traj.v - TURNING).max() < 1e-7
    assert np.abs(traj.v_interval - TURNING).max() < 1e-7
    assert np.abs(traj.constraint).max() < 1e-14
    assert not traj.solver["substeps"].any()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n", [200, 2000])
def test_a_square_turns_once_through_both_of_its_lines(method, n):
    """From the upright square; nodes fall on both singular positions."""
    h = np.pi / n
    traj = dal.simulate(square(), method, h=h, t_end=2 * n * h, v0=TURNING)
    assert np.abs(traj.v - TURNING).max() < 1e-6
    assert np.abs(traj.energy / traj.energy[0] - 1).max() < 1e-6


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("tilt", [0.0, 0.3])
@pytest.mark.parametrize("speed", [1e-3, 1.0])
@pytest.mark.parametrize("side", [1, -1])
def test_a_start_on_a_singular_position_runs(method, tilt, speed, side):
    """Without forces at a constant rate, to round-off of positions, 1e-16, as a velocity 1e-16/h, lifted at the next node by 1/(h |v|)."""
    q0, h = in_line(tilt) if side > 0 else in_line(tilt - np.pi), 0.01
    traj = dal.simulate(square(tilt), method, h=h, t_end=1.0, q0=q0, v0=speed * TURNING)
    assert np.abs(traj.v - speed * TURNING).max() < max(10 * 1e-16 / (h * h * speed), 1e-8)
    assert not traj.solver["substeps"].any()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("tilt", [0.0, 0.3])
@pytest.mark.parametrize("side", [1, -1])
def test_a_square_at_rest_in_its_line_stays_there(method, tilt, side):
    """Within 1e-8 rad, the square root of round-off, each place is on both branches: ten times that."""
    q0 = in_line(tilt) if side > 0 else in_line(tilt - np.pi)
    traj = dal.simulate(square(tilt), method, h=0.01, t_end=5.0, q0=q0)
    assert np.abs(traj.q - q0).max() < 1e-7
    assert np.abs(traj.v).max() < 1e-7
    assert np.abs(traj.constraint).max() < 1e-14


@pytest.mark.parametrize("method", METHODS)
def test_a_square_falls_from_its_line(method):
    """At rest with all rods level, under gravity: it falls on one of its branches, and both levels of the constraint hold."""
    traj = dal.simulate(square(gravity=9.81), method, h=0.005, t_end=1.0, q0=in_line())
    assert traj.kinetic.max() > 1.0
    assert np.abs(traj.constraint).max() < 1e-12
    assert np.abs(traj.energy - traj.energy[0]).max() < (0.1 if method == "symplectic-euler" else 1e-3) * traj.kinetic.max()


def test_rows_that_are_short_everywhere_are_no_singular_position():
    """A loop of millimetres beside one of kilometres: each row of the small one is 1e-6 of the longest, and is kept."""
    m = dal.Model("two sizes", gravity=(0, 0, 0))
    for name, size, place in (("large", 2e3, 0.0), ("small", 1e-3, 1e4)):
        inertia = size**2 / 12
        for k in range(2):
            at = np.array([place + k * size, 0, 0])
            m.add_body(f"{name} upright{k}", 1.0, (inertia, inertia, 1e-3 * inertia), com=(0, 0, size / 2), pose=(at, (1, 0, 0, 0)))
            m.add_joint(f"{name} foot{k}", "revolute", "world", f"{name} upright{k}", at, (0, 1, 0))
        top = np.array([place, 0, size])
        m.add_body(f"{name} bar", 1.0, (1e-3 * inertia, inertia, inertia), com=(size / 2, 0, 0), pose=(top, (1, 0, 0, 0)))
        m.add_joint(f"{name} left", "revolute", f"{name} upright0", f"{name} bar", top, (0, 1, 0))
        m.add_loop(f"{name} right", "slot", f"{name} upright1", f"{name} bar", top + np.array([size, 0, 0]), (0, 1, 0))
    rates = np.tile(TURNING, 2)
    traj = dal.simulate(m, h=0.01, t_end=1.0, v0=rates)
    assert np.abs(traj.v - rates).max() < 1e-6
