"""Contacts by a penalty: the spring itself in closed form, the table of a second program, the simulator."""

import numpy as np
import pytest

import dalembert as dal
from dalembert.control import Touch, dmocc
from dalembert.control.penalty import soft, stored
from dalembert.control.scenes import cube_wall


def test_the_spring_pushes_only_what_overlaps_and_has_a_derivative():
    eps = 1e-3
    g = np.linspace(-5e-3, 5e-3, 2001)
    force, energy = (np.array([float(f(x, eps)) for x in g]) for f in (soft, stored))
    assert (force[g > eps] == 0.0).all() and (force >= 0.0).all()
    np.testing.assert_allclose(force[g < -eps], -g[g < -eps], rtol=1e-12)
    truncation = (g[1] - g[0]) ** 2 / (12 * eps)  # of a central difference: h^2/6 of the second derivative of the force, 1/(2 eps)
    np.testing.assert_allclose(-np.gradient(energy, g)[1:-1], force[1:-1], rtol=0, atol=1.01 * truncation)
    assert np.abs(np.diff(np.gradient(force, g))).max() < 1.1 * (g[1] - g[0]) / eps  # slope without a jump


def test_a_ball_bounces_as_a_spring_says():
    """1 kg at 0.5 m/s on 1000 N/m: depth v sqrt(m/k) = 15.8 mm, back after pi sqrt(m/k) = 99 ms. No input is needed."""
    m = dal.Model("ball", gravity=(0, 0, 0))
    m.add_shape("world", dal.Plane())
    m.add_particle("ball", 1.0, (0, 0, 0.2), shapes=[dal.Sphere(0.1)])
    T = 0.2 / 0.5 + np.pi * np.sqrt(1e-3)
    goal = ([0, 0, 0.2], [0, 0, 0.5])
    found = dmocc(
        m, 400, ([0, 0, 0.2], [0, 0, -0.5]), goal, contacts=["ball"], contact="penalty", stiffness=1e3, eps=1e-6, h=T / 400
    ).solve()
    depth = -min(found.problem.penalty.gaps(q).min() for q in found.q)
    assert found.ok and found.cost < 1e-3  # of order h^2 of the frequency
    assert depth == pytest.approx(0.5 * np.sqrt(1e-3), rel=1e-3)
    assert found.replay.errors.max() < 1e-9


@pytest.mark.parametrize(("stiffness", "N", "cost", "depth"), [(1e3, 30, 0.0880, 19.8e-3), (1.6e4, 90, 0.0160, 4.0e-3)])
def test_the_wall_as_a_spring(stiffness, N, cost, depth):
    """Costs and depths of a second program on directors, with another rounding of the spring: a percent, some percent of the depth."""
    found = cube_wall.build(N=N, contact="penalty", contacts=[Touch("cube")], stiffness=stiffness).solve()
    gaps = np.array([found.problem.penalty.gaps(q).min() for q in found.q])
    assert found.ok
    assert found.cost == pytest.approx(cost, rel=0.01)
    assert -gaps.min() == pytest.approx(depth, rel=0.05)
    assert found.replay.errors.max() < 1e-9
    proof = found.verify(true_motion=False)
    assert proof.imbalance < 1e-10 and proof.ok
    assert found.traj.report().verdict == "pass"


def test_a_spring_that_is_no_spring_is_refused():
    for wrong in ({"stiffness": 0.0}, {"stiffness": np.nan}, {"eps": -1.0}):
        with pytest.raises(dal.OptionError, match="expected positive numbers"):
            cube_wall.build(contact="penalty", contacts=["cube"], **wrong)
