"""Predictions of the next interval velocity: exact where they claim to be, and without influence on the result."""

import numpy as np
import pytest

import dalembert as dal
from dalembert.kernels.tree.variational.layout import HISTORY, STAGE_SIZE
from dalembert.steppers.compose import COMPOSITIONS
from dalembert.steppers.variational._prediction import table


def rows(weights: tuple[float, ...]) -> np.ndarray:
    """(stage, number of velocities, coefficient)"""
    return table(weights).reshape(len(weights), STAGE_SIZE)[:, 1:].reshape(len(weights), HISTORY, HISTORY)


@pytest.mark.parametrize("name", [None, "yoshida4", "suzuki4", "kahan-li6", "kahan-li8"])
def test_a_motion_at_constant_acceleration_is_foreseen(name) -> None:
    """Velocities of intervals are those at their middles: t - w/2 with t the sum of the weights so far. Least squares with weights 1, 0.1,
    0.01 ... leave 1e-4 of the straight line to the higher words where two velocities have to do, and round-off where all are known."""
    weights = tuple(COMPOSITIONS[name].weights) if name else (1.0,)
    s = len(weights)
    w = np.tile(weights, HISTORY // s + 2)
    middles = np.cumsum(w) - w / 2
    for stage, found in enumerate(rows(weights)):
        k = len(w) - s + stage
        past = middles[k - HISTORY : k][::-1]
        assert found[0, 0] == 1.0
        for n in range(2, HISTORY + 1):
            assert not found[n - 1, n:].any()
        assert abs(found[-1].sum() - 1.0) < 1e-7
        assert abs(found[-1] @ past - middles[k]) < 1e-6


def test_equal_steps_extrapolate_by_polynomials() -> None:
    """Through the last n values, with binomial coefficients: 2 -1, 3 -3 1, ... up to what the least squares give to higher degrees."""
    found = rows((1.0,))[0]
    np.testing.assert_allclose(found[1, :2], [2, -1], atol=0.05)
    t = -np.arange(1.0, HISTORY + 1)
    for degree in range(6):
        assert abs(found[-1] @ t**degree - (degree == 0)) < 1e-7 * HISTORY**degree


@pytest.mark.parametrize("name", [None, "kahan-li6"])
def test_one_correction_suffices_at_small_steps(name) -> None:
    """A chain of three hinges at 1600 substeps per second: less than 1.3 corrections each."""
    m = dal.Model("hinges")
    for k in range(3):
        m.add_body(f"b{k}", 1.0, (0.002, 0.02, 0.02), com=(0.25, 0, 0), pose=((0.5 * k, 0, 0), (1, 0, 0, 0)))
        m.add_joint(
            f"j{k}", "revolute", "world" if k == 0 else f"b{k - 1}", f"b{k}", (0.5 * k, 0, 0), (0, 1, 0) if k % 2 == 0 else (0, 0, 1)
        )
    q, v = np.array([-0.2, 0.1, 0.2]), np.array([0.3, -0.4, 0.1])
    substeps = len(COMPOSITIONS[name].weights) if name else 1
    n = 1600 // substeps
    traj = dal.simulate(m, "midpoint", h=1 / n, t_end=2.0, q0=q, v0=v, compose=name)
    assert traj.solver["iterations"].sum() < 1.3 * 2 * n * substeps
