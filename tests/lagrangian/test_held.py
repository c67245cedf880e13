"""What forces hold in balance stays: their sum is 0, the round-off of each of them is not."""

import numpy as np
import pytest

import dalembert as dal

METHODS = ("midpoint", "trapezoidal", "verlet", "alpha", "galerkin4", "implicit-euler")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("h", [0.1, 0.01, 0.001])
@pytest.mark.parametrize("at", [0.0, 1.0])
def test_a_weight_that_its_control_holds_stays(method, h, at):
    weight = dal.Lagrangian(1, lambda q, v: 0.5 * v[0] ** 2 - 9.81 * q[0], name="weight")
    traj = dal.simulate(weight, method, h=h, t_end=1.0, q0=[at], control=lambda t, q, v: [9.81])
    assert traj.status == "ok"
    assert np.abs(traj.q - at).max() < 64 * np.finfo(float).eps * 9.81 and np.abs(traj.v).max() < 64 * np.finfo(float).eps * 9.81 / h


def test_a_weight_that_a_force_of_its_own_holds_stays():
    weight = dal.Lagrangian(2, lambda q, v: 0.5 * (v @ v) - 9.81 * (q[0] + q[1]), force=lambda q, v: [9.81, 9.81])
    traj = dal.simulate(weight, h=0.1, t_end=10.0)
    assert np.abs(traj.q).max() < 1e-13
