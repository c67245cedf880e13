"""The dense trapezoidal step behind the step advice for trees: its terms, Jacobian and forces by differences."""

from itertools import pairwise

import numpy as np
import pytest

from dalembert import Damper, Spring, Wrench
from dalembert.model.kinematics import frames, mass_matrix_reference, point, potential_energy
from dalembert.solvability.kantorovich import residual_34
from dalembert.solvability.tree_loads import held_forces, with_drag
from dalembert.solvability.tree_online import first_iteration
from dalembert.solvability.tree_state import numbers, state_of
from dalembert.solvability.tree_step import dense_tree, jacobian, left, right, terms

MIXED = ("revolute", "revolute", "prismatic", "universal", "cylindrical", "planar")


# the dense step -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
def test_terms_against_an_independent_mass_matrix_and_differences(random_tree, seed):
    rng = np.random.default_rng(seed)
    m = random_tree(rng, 4, MIXED)
    tree, q, e = dense_tree(m), rng.normal(size=(3, m.nv)), 1e-5
    at = terms(tree, q)
    scale = np.max(np.abs(at.M))
    np.testing.assert_allclose(at.M, mass_matrix_reference(m, q), atol=1e-13 * scale)
    for k, d in enumerate(np.eye(m.nv) * e):
        np.testing.assert_allclose(at.dM[:, k], (terms(tree, q + d).M - terms(tree, q - d).M) / (2 * e), atol=1e-8 * scale)
        slope = (potential_energy(m, q + d) - potential_energy(m, q - d)) / (2 * e)
        np.testing.assert_allclose(at.gradient[:, k], slope, atol=1e-7 * scale)


@pytest.mark.parametrize("seed", range(6))
def test_jacobian_against_differences(random_tree, seed):
    """Central differences with e = 1e-5 are right to 1e-10 of the third derivative, and to round-off 1e-16 / e."""
    rng = np.random.default_rng(seed)
    m = random_tree(rng, 4, MIXED)
    tree, h, e = dense_tree(m), 0.1, 1e-5
    q, v, u = rng.normal(size=m.nv), rng.normal(size=m.nv), rng.normal(size=m.nv)
    here = terms(tree, q)

    def residual(x):
        return left(h, here, terms(tree, q + h * x), x, u)

    De = jacobian(h, here, terms(tree, q + h * v), v)
    differences = np.column_stack([(residual(v + d) - residual(v - d)) / (2 * e) for d in np.eye(m.nv) * e])
    np.testing.assert_allclose(De, differences, atol=1e-8 * max(1.0, np.max(np.abs(De))))


def test_step_is_second_order_and_symmetric_in_time(rods, run):
    m = rods(2, gravity=9.81)
    tree, q0, v0 = dense_tree(m), np.array([0.3, -0.4]), np.array([0.5, 1.0])
    ends = [run(m, q0, v0, 0.4 / n, n)[0][-1] for n in (20, 40, 80, 160, 320)]
    errors = [np.linalg.norm(a - b) for a, b in pairwise(ends)]
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert np.all(np.abs(orders - 2.0) < 0.1)
    nodes, velocities = run(m, q0, v0, 0.02, 20)
    here = terms(tree, nodes[-1])
    p = right(0.02, terms(tree, nodes[-2]), here, velocities[-1], np.zeros(2))
    back, _ = run(m, nodes[-1], np.linalg.solve(here.M, p), -0.02, 20)
    np.testing.assert_allclose(back[-1], q0, atol=1e-11)


@pytest.mark.parametrize("seed", range(5))
def test_residual_bounds_of_both_starts(random_tree, seed):
    """|e(v)| <= h L0 from the interval before, half of it from the first node, in every coordinate system."""
    rng = np.random.default_rng(seed)
    m = random_tree(rng, 3, ("revolute", "prismatic"))
    state = state_of(m, m.random(rng) * 0.5, rng.normal(size=m.nv), np.zeros(m.nv))
    for h in (1e-3, 1e-2, 3e-2):
        now = first_iteration(state, np.array([h]))
        e_first, e_later = -now.De[0] @ now.first[0], -now.De[0] @ now.later[0]
        for c in state.constants:
            x = numbers(state, c)
            bound = h * min(residual_34(c, x), x.force + 0.5 * h * c.l2 * x.speed**3)
            assert np.linalg.norm(c.T_inv.T @ e_later) <= bound * (1 + 1e-9)
            assert np.linalg.norm(c.T_inv.T @ e_first) <= 0.5 * bound * (1 + 1e-9)


def test_held_forces_are_minus_the_slope_of_their_potential(rods):
    m = rods(3)
    rng = np.random.default_rng(0)
    m.add_force(Spring("rod 2", "world", point_a=(1, 0, 0.2), point_b=(0, 2, 0), stiffness=3.0, rest_length=0.5))
    m.add_force(Spring("rod 2", "rod 0", point_a=(0.3, 0, 0), stiffness=2.0, rest_length=0.3))
    q, e, tree = rng.normal(size=(4, 3)), 1e-6, dense_tree(m)
    slope = np.stack([(potential_energy(m, q + d) - potential_energy(m, q - d)) / (2 * e) for d in np.eye(3) * e], axis=-1)
    np.testing.assert_allclose(terms(tree, q).gradient - held_forces(m, q), slope, atol=1e-7)


def test_held_wrench_is_the_slope_of_its_work(rods):
    m = rods(3)
    m.add_force(Wrench("rod 2", force=(1, 2, 0), frame="world", point=(0.4, 0.1, 0)))
    turned = rods(3)
    turned.add_force(Wrench("rod 2", torque=(0, 0, 3.0)))
    q, e = np.array([0.3, -0.2, 0.5]), 1e-6

    def work(x):
        pose = m.poses(x)[2]
        return np.array([1.0, 2.0, 0.0]) @ (pose[:3, :3] @ [0.4, 0.1, 0.0] + pose[:3, 3])

    slope = [(work(q + d) - work(q - d)) / (2 * e) for d in np.eye(3) * e]
    np.testing.assert_allclose(held_forces(m, q), slope, atol=1e-8)
    np.testing.assert_allclose(held_forces(turned, q), [3.0, 3.0, 3.0], atol=1e-12)


def test_drag_takes_the_power_of_its_dampers(random_tree):
    """v.Kv = sum c |velocity|^2, with velocities of the kinematics, not of its Jacobians."""
    rng = np.random.default_rng(7)
    m = random_tree(rng, 4, MIXED)
    q, v, tree = m.random(rng), rng.normal(size=m.nv), dense_tree(m)
    plain = with_drag(m, terms(tree, q), q).drag
    np.testing.assert_allclose(plain, np.diag(tree.damping))
    m.add_force(Damper("body 2", angular=0.7, linear=0.4))
    m.add_force(Spring("body 3", "body 1", point_a=(0.1, 0.2, 0.3), damping=0.9))
    K = with_drag(m, terms(tree, q), q).drag - plain
    frame = frames(m, q, v)["body 2"]
    power = 0.7 * frame.omega @ frame.omega + 0.4 * np.sum((frame.velocity + np.cross(frame.omega, m.body("body 2").com)) ** 2)

    def length(x):
        found = frames(m, x)
        return np.linalg.norm(point(found, "body 3", (0.1, 0.2, 0.3)) - point(found, "body 1", (0, 0, 0)))

    rate = (length(q + 1e-6 * v) - length(q - 1e-6 * v)) / 2e-6
    assert v @ K @ v == pytest.approx(power + 0.9 * rate**2, rel=1e-7)
