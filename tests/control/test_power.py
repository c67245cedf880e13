"""The cost "energy": sum of |power|, exactly, where a smoothed |x| was never minimised."""

import numpy as np
import pytest

import dalembert as dal
from dalembert.control.scenes import cart_pole, double_pendulum, rest_to_rest


def spent(plan):
    """Sum of h |u . B^T v| over the steps, v of a composition the mean."""
    chain = plan.problem.chain
    v = np.einsum("kin,i->kn", plan.v_interval.reshape(chain.N, len(chain.weights), -1), np.array(chain.weights))
    return float((np.abs(plan.inputs * (v @ plan.problem.machine.B)) * plan.h[:, None]).sum())


@pytest.mark.parametrize("cost", ["energy", {"energy": 2.0}, {"energy": 1.0, "effort": 1e-3}])
def test_a_swing_up_with_the_least_energy_is_found(cost):
    plan = dal.control.dmoc(cart_pole.model(), 60, [0, 0], [1, np.pi], h=2.0 / 60, cost=cost).solve()
    assert plan.ok and plan.replay.errors.max() < 1e-9
    effort = 1e-3 * float((plan.inputs**2 * plan.h[:, None]).sum()) if isinstance(cost, dict) and "effort" in cost else 0.0
    weight = cost["energy"] if isinstance(cost, dict) else 1.0
    assert plan.cost == pytest.approx(weight * spent(plan) + effort, rel=1e-6)  # e = |power| at the optimum
    least_effort = dal.control.dmoc(cart_pole.model(), 60, [0, 0], [1, np.pi], h=2.0 / 60).solve()
    assert spent(plan) < 0.9 * spent(least_effort)


def test_energy_of_a_swing_up_is_at_least_what_standing_gains():
    """m g 2 l of the pole: nothing comes from elsewhere."""
    plan = dal.control.dmoc(cart_pole.model(), 100, [0, 0], [1, np.pi], h=0.02, cost="energy").solve()
    assert plan.ok and plan.cost > 0.3 * 9.81 * 1.0


def test_a_slider_spends_what_it_must():
    """Up to a speed and down again: |power| is at least m v^2 (half of it to speed up, half to slow down), v at least d/T, and the least is
    near it: two strokes of one step and coasting at d/(T - h)."""
    plan = dal.control.dmoc(rest_to_rest.model(), 30, [0.0], [2.0], h=0.05, cost="energy").solve()
    coasting = rest_to_rest.MASS * (2.0 / (1.5 - 0.05)) ** 2
    assert plan.ok and plan.cost == pytest.approx(coasting, rel=1e-4)
    assert np.abs(plan.inputs[1:-1]).max() < 0.05 * np.abs(plan.inputs).max()


@pytest.mark.parametrize("more", [{"compose": "suzuki4"}, {"free_time": (1.0, 3.0)}, {"stepper": "trapezoidal"}])
def test_energy_with_compositions_and_free_time(more):
    plan = dal.control.dmoc(cart_pole.model(), 40, [0, 0], [1, np.pi], h=0.05, cost={"energy": 1.0, "effort": 1e-2}, **more).solve()
    assert plan.ok
    effort = 1e-2 * float((plan.inputs**2 * plan.h[:, None]).sum())
    assert plan.cost == pytest.approx(spent(plan) + effort, rel=1e-6)


def test_energy_of_a_lagrangian_is_that_of_its_motors():
    plan = double_pendulum.build(N=100, cost={"energy": 1.0, "effort": 1e-3}).solve()
    assert plan.ok and spent(plan) >= 0.99 * 6.0 * double_pendulum.G  # what standing gains, to the order of the method


def test_energy_cannot_be_wanted():
    with pytest.raises(dal.OptionError, match="not negative"):
        dal.control.dmoc(rest_to_rest.model(), 10, [0.0], [2.0], h=0.1, cost={"energy": -1.0})


def test_without_inputs_no_energy_is_spent():
    plan = dal.control.dmoc(rest_to_rest.model(), 10, ([0.0], [1.0]), ([1.0], [1.0]), h=0.1, cost="energy", inputs=[]).solve()
    assert plan.cost == 0.0
