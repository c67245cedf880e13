"""Crossings against closed forms."""

import numpy as np

from dalembert.view.section import crossings


def test_crossings_of_a_sine_are_its_zeros_upwards():
    """Cubic interpolation: error below 3/128 h^4 of the fourth derivative, 1, so of the root as the slope is 1."""
    h = 0.05
    t = np.arange(0.5, 20.0, h)
    found = crossings(t, np.sin(t), np.column_stack([np.cos(t), t**2]))
    exact = 2 * np.pi * np.arange(1, 4)
    assert np.abs(found.t - exact).max() < 3 / 128 * h**4
    assert np.allclose(found.x[:, 0], 1.0, atol=h**4) and np.allclose(found.x[:, 1], exact**2, rtol=h**4)


def test_cubics_are_exact_also_at_the_ends():
    t = np.array([0.0, 0.7, 1.1, 2.0, 2.3])
    found = crossings(t, t - 0.2, t[:, None] ** 3)
    assert np.allclose(found.t, 0.2, atol=1e-14) and np.allclose(found.x, 0.008, atol=1e-14)


def test_two_and_three_nodes_suffice_and_none_gives_none():
    assert np.allclose(crossings(np.array([0.0, 1.0]), np.array([-1.0, 3.0]), np.zeros((2, 1))).t, 0.25)
    assert crossings(np.array([0.0, 1.0]), np.array([1.0, -1.0]), np.zeros((2, 1))).x.shape == (0, 1)
    assert crossings(np.array([0.0]), np.array([0.0]), np.zeros((1, 2))).x.shape == (0, 2)


def test_nodes_that_are_not_finite_are_no_crossings():
    t = np.arange(8.0)
    s = np.array([-1, 1, -1, -1, np.nan, 1, -1, 2.0])
    assert len(crossings(t, s, t[:, None]).t) == 1  # only the first has four whole nodes around it
