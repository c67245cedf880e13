"""Impacts of several rows at once, at one node, against published numbers, conservation laws and the conditions of complementarity."""

import json
from pathlib import Path

import numpy as np
import pytest

from dalembert.errors import SimulationError
from dalembert.lagrangian.impact_law import Metric, complementary, impact, impacts, resting, stopping

CRADLES = json.loads((Path(__file__).parents[1] / "data" / "contact_impact.json").read_text())["newton_cradle"][
    "moreau_newton_simultaneous"
]
NONE = np.zeros((0, 3))


@pytest.mark.parametrize("case", CRADLES, ids=lambda c: f"{c['n']} balls, e = {c['e']}")
def test_touching_balls_leave_as_moreaus_law_says(case):
    n, v = case["n"], np.array(case["v_minus"], dtype=float)
    C = np.diff(np.eye(n), axis=0)
    metric = Metric.of(np.eye(n), np.zeros((0, n)), C)
    impulse = impact(metric, C @ v, np.full(n - 1, float(case["e"])))
    assert np.allclose(impulse, np.array(case["P"], dtype=float), atol=1e-14)
    assert np.allclose(v + metric.velocity(impulse), np.array(case["v_plus"], dtype=float), atol=1e-14)


@pytest.mark.parametrize("equations", [0, 2])
def test_random_impacts_are_complementary_keep_equations_and_lose_what_restitution_says(equations):
    """With one e for all rows dT = (1 - e) / 2 Lambda . b, never positive."""
    rng = np.random.default_rng(11)
    for k in range(60):
        n, rows, e = 6, 1 + k % 4, (0.0, 0.5, 1.0)[k % 3]
        root = rng.normal(size=(n, n))
        M, G, C = root @ root.T + 0.1 * np.eye(n), rng.normal(size=(equations, n)), rng.normal(size=(rows, n))
        v = rng.normal(size=n)
        v -= np.linalg.pinv(G) @ (G @ v) if equations else 0.0
        metric, b = Metric.of(M, G, C), C @ v
        impulse = impact(metric, b, np.full(rows, e))
        after = v + metric.velocity(impulse)
        left = C @ after + e * b
        assert (impulse >= 0.0).all() and (left >= -1e-10).all() and np.abs(impulse * left).max() < 1e-9
        assert np.abs(G @ after).max(initial=0.0) < 1e-12
        assert np.allclose(M @ after, M @ v + metric.momentum(G, C, impulse), atol=1e-11)
        change = 0.5 * (after @ M @ after - v @ M @ v)
        assert change < 1e-10 and change == pytest.approx(0.5 * (1 - e) * impulse @ b, abs=1e-10)


def test_a_cascade_of_impacts_ends_with_no_row_closing_and_no_energy_gained():
    rng = np.random.default_rng(5)
    lengths = []
    for _ in range(60):
        n, rows = 4, 3
        root, C, v = rng.normal(size=(n, n)), rng.normal(size=(rows, n)), rng.normal(size=n)
        M = root @ root.T + 0.1 * np.eye(n)
        metric, e = Metric.of(M, np.zeros((0, n)), C), rng.uniform(0.0, 1.0, rows)
        before, passes = 0.5 * v @ M @ v, 0
        for impulse, _, _ in impacts(metric, C @ v, e, np.zeros(rows) + 1e-12):
            v = v + metric.velocity(impulse)
            energy = 0.5 * v @ M @ v
            assert energy < before + 1e-9
            before, passes = energy, passes + 1
        assert (C @ v > -1e-10).all()
        lengths.append(passes)
    assert max(lengths) > 1  # there are cascades


def test_beads_of_different_masses_that_hit_together_do_not_share_an_impulse():
    """One common impulse leaves the heavy one with -0.636: still entering (leyendecker, 3.2)."""
    M, C = np.diag([1.0, 10.0]), np.eye(2)
    metric = Metric.of(M, np.zeros((0, 2)), C)
    assert np.allclose(impact(metric, np.array([-1.0, -1.0]), np.ones(2)), [2.0, 20.0], atol=1e-14)
    assert np.allclose(impact(metric, np.array([-1.0, -0.2]), np.ones(2)), [2.0, 4.0], atol=1e-14)


def test_rows_that_say_the_same_share_what_presses():
    C = np.array([[0.0, 1.0, 0.0], [0.0, 2.0, 0.0]])
    metric = Metric.of(np.eye(3), NONE, C)
    force = resting(metric, C @ np.array([0.0, -9.81, 0.0]))
    assert (force >= 0.0).all()
    assert (C.T @ force)[1] == pytest.approx(9.81, abs=1e-12)
    stop = stopping(metric, C @ np.array([3.0, -2.0, 1.0]))
    assert np.allclose(metric.velocity(stop), [0.0, 2.0, 0.0], atol=1e-12)


def test_a_row_that_cannot_move_says_so_and_round_off_is_no_impact():
    with pytest.raises(SimulationError, match="cannot move"):
        complementary(np.zeros((1, 1)), np.array([-1.0]))
    assert not complementary(np.eye(2), np.array([1e-20, 3.0])).any()
    assert complementary(np.eye(2), np.array([-1e-20, -3.0]))[1] == 3.0
