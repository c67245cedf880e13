"""Exponents beside closed forms of the discrete motion."""

import numpy as np
import pytest
from tests.ensembles.machines import double_pendulum

import dalembert as dal
from dalembert.ensembles import Lyapunov


def test_an_inverted_oscillator_has_the_exponent_of_its_steps():
    """q'' = k q by the midpoint rule multiplies by (1 + s)/(1 - s), s = h sqrt(k)/2, in a step: exponent 2 atanh(s)/h. The disturbance may
    begin with a part 50 times as large in the direction that decays: of the order of 50 exp(-8) when counting begins, seen over 36 s."""
    h, k = 0.05, np.array([1.0, 4.0])
    system = dal.Lagrangian(1, lambda q, v, p: 0.5 * v[0] ** 2 + 0.5 * p["k"] * q[0] ** 2, params={"k": 1.0})
    study = dal.ensemble(system, {"k": k}, "midpoint", h=h, t_end=40.0, observe=Lyapunov())
    exact = 2 * np.arctanh(h * np.sqrt(k) / 2) / h
    np.testing.assert_allclose(study.observed["lyapunov"], exact, atol=50 * np.exp(-8.0) / 36)


def test_a_pendulum_is_regular_and_a_double_pendulum_is_not():
    m = dal.Model("pendulum", gravity=(0, 0, -9.81))
    m.add_body("rod", 1.0, (0.1, 0.1, 0.01), com=(0, 0, -0.5))
    m.add_joint("hinge", "revolute", "world", "rod", axis=(0, 1, 0))
    regular = dal.ensemble(m, {"q0": [[1.0]]}, "midpoint", h=0.02, t_end=40.0, observe=Lyapunov())
    chaotic = dal.ensemble(double_pendulum(), {"q0": [[2.5, 1.0]]}, "midpoint", h=0.01, t_end=20.0, observe=Lyapunov(), every=5)
    assert abs(regular.observed["lyapunov"][0]) < 0.2  # log(T)/T of a shear
    assert chaotic.observed["lyapunov"][0] > 1.0


def test_sizes_that_are_none():
    with pytest.raises(dal.OptionError):
        Lyapunov(size=1.0)
