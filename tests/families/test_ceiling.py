"""The ceiling of energy, beside its parts as the model tells them; of many starts the same as of one."""

import numpy as np
import pytest

import dalembert as dal
from dalembert.ensembles.common import Common
from dalembert.families.ceiling import RUNAWAY, elastic, fall
from dalembert.kernels.tree.variational.layout import state_places


def machine(gravity=(0, 0, -9.81)):
    m = dal.Model("two rods", gravity=gravity)
    m.add_body("a", 1.5, (0.1, 0.1, 0.02), com=(0, 0, -0.5))
    m.add_body("b", 0.5, (0.1, 0.1, 0.02), com=(0.1, 0, -0.4), pose=((0, 0, -1), (1, 0, 0, 0)))
    m.add_joint("first", "revolute", "world", "a", (0, 0, 0), (0, 1, 0), stiffness=3.0, rest=0.2)
    m.add_joint("second", "revolute", "a", "b", (0, 0, -1), (0, 1, 0))
    m.add_force(dal.Spring("b", "world", (0, 0, -1), (1, 0, 0), stiffness=20.0, rest_length=0.5), name="spring")
    return m.frozen()


def ceiling_of(m, q, v):
    plan = Common("midpoint", 0.01, 0.1).plan(m)
    plan.engine()
    states = plan.family.starts(m, plan.arrays()[None], q, v)
    return states[:, state_places(m.nq, m.nv)[0].ceiling], plan


def test_it_is_nine_times_speed_springs_and_weight():
    """Springs: the potential energy of the same machine without gravity. Weight: 2 |g| m (arm of the joint + distance of the mass)."""
    m, rng = machine(), np.random.default_rng(1)
    q, v = rng.normal(size=(6, 2)), rng.normal(size=(6, 2))
    found, plan = ceiling_of(m, q, v)
    weightless = machine(gravity=(0, 0, 0))
    springs = weightless.potential_energy(q)
    weight = 2 * 9.81 * (1.5 * 0.5 + 0.5 * (1.0 + np.hypot(0.1, 0.4)))
    np.testing.assert_allclose(elastic(m, plan.arrays()[None], q), springs, rtol=1e-12)
    np.testing.assert_allclose(fall(plan.arrays()[None]), weight, rtol=1e-12)
    np.testing.assert_allclose(found, RUNAWAY * (m.kinetic_energy(q, v) + springs + weight), rtol=1e-12)
    for k in range(6):
        assert ceiling_of(m, q[k : k + 1], v[k : k + 1])[0][0] == found[k]


@pytest.mark.parametrize("kind", ["prismatic", "free"])
def test_what_can_fall_for_ever_has_none(kind):
    m = dal.Model("falling")
    m.add_body("a", 1.0, (0.1, 0.1, 0.1))
    m.add_body("b", 1.0, (0.1, 0.1, 0.1), pose=((0, 0, 1), (1, 0, 0, 0)))
    m.add_joint("way", kind, "world", "a")
    m.add_joint("hinge", "revolute", "a", "b", (0, 0, 1), (0, 1, 0))
    m = m.frozen()
    found, _ = ceiling_of(m, m.neutral()[None], np.ones((1, m.nv)))
    assert found[0] == 0.0
