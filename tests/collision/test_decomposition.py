"""Impacts by decomposition of the momentum at nodes: quick, and close to those at their instants."""

import numpy as np
import pytest
from tests.collision.conftest import G, ball

import dalembert as dal


def test_a_ball_bounces_at_the_node_after_its_instant_with_the_speed_that_it_has_there():
    h = 0.01
    traj = dal.simulate(ball(1.0, 0.8), "collision", h=h, t_end=1.0, response="decomposition")
    first = traj.events.rows[0]
    node = np.ceil(np.sqrt(2 / G) / h) * h
    assert abs(first[0] - node) < 1e-12 and abs(first[11] + G * node) < 1e-12 and abs(first[12] - 0.8 * G * node) < 1e-12


@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
def test_two_cubes_meet_as_at_their_instants_to_first_order(two_cubes, e):
    m, q0, v0 = two_cubes(e)
    ends, exact = [], dal.simulate(m, "collision", h=1e-4, t_end=0.17, q0=q0, v0=v0, every=1700)
    for h in (1e-3, 5e-4, 2.5e-4, 1.25e-4):
        traj = dal.simulate(m, "collision", h=h, t_end=0.17, q0=q0, v0=v0, response="decomposition")
        ends.append(np.abs(traj.q[-1] - exact.q[-1]).max())
        assert np.abs(traj.momentum - traj.momentum[0]).max() < 1e-13
        assert traj.report().verdict == "pass"
    assert max(np.array(ends) / [1e-3, 5e-4, 2.5e-4, 1.25e-4]) < 6.0  # at most a step late, at relative speeds of up to 4 m/s


def test_bodies_that_do_not_bounce_rest_without_an_end_of_bounces():
    h = 0.01
    traj = dal.simulate(ball(1.0, 0.0), "collision", h=h, t_end=3.0, response="decomposition")
    late = traj.t > 2.0
    assert np.allclose(traj.q[late, 2], 0.1 - 2.5 * G * h**2, atol=1e-4)  # where what opens per step is what it sinks
    assert np.abs(traj.v[late, 2]).max() < G * h
