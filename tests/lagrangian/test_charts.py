"""Charts: identities that hold for every primitive joint, at random and at large steps, and derivatives by differentiation.

Round-off: entries of size 1 and a few hundred operations, so 1e-13; derivatives are exact (automatic), not differences.
"""

import casadi as ca
import numpy as np
import pytest

import dalembert as dal
from dalembert.kernels.tree import layout as at
from dalembert.lagrangian.charts import PRIMITIVE, Flat, matrix

KINDS = (at.REVOLUTE, at.SPHERICAL, at.FREE)
SIZES = (1e-12, 1e-3, 0.3, 1.5)


def draw(kind, size, seed=0):
    rng = np.random.default_rng(seed)
    chart = PRIMITIVE[kind]
    q = rng.normal(size=chart.nq)
    if kind == at.SPHERICAL:
        q /= np.linalg.norm(q)
    if kind == at.FREE:
        q[3:] /= np.linalg.norm(q[3:])
    return chart, q, size * rng.normal(size=chart.nv), rng.normal(size=chart.nv)


def value(expression):
    return np.array(ca.evalf(expression)).ravel()


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", KINDS)
def test_lift_undoes_retract_and_two_middles_make_a_step(kind, size):
    chart, q, x, _ = draw(kind, size)
    q, x = ca.SX(q), ca.SX(x)
    np.testing.assert_allclose(value(chart.lift(q, chart.retract(q, x))), value(x), rtol=1e-12, atol=1e-14)
    half = chart.lift(q, chart.middle(q, x))
    np.testing.assert_allclose(value(chart.retract(chart.middle(q, x), half)), value(chart.retract(q, x)), atol=1e-13)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", KINDS)
def test_left_and_right_are_the_derivatives_of_the_lift(kind, size):
    """l . d lift(a tau(e0), b tau(e1)) = -left . e0 + right(left) . e1, for all l."""
    chart, q, x, l = draw(kind, size)
    e0, e1 = ca.SX.sym("e0", chart.nv), ca.SX.sym("e1", chart.nv)
    a, b = ca.SX(q), chart.retract(ca.SX(q), ca.SX(x))
    turned = ca.dot(ca.SX(l), chart.lift(chart.retract(a, e0), chart.retract(b, e1)))
    zero = ca.SX.zeros(2 * chart.nv)
    d0, d1 = (value(ca.substitute(ca.gradient(turned, e), ca.vertcat(e0, e1), zero)) for e in (e0, e1))
    left = chart.left(ca.SX(x), ca.SX(l))
    np.testing.assert_allclose(d0, -value(left), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(d1, value(chart.right(ca.SX(x), left)), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", KINDS)
def test_a_force_at_the_middle_is_shared_by_virtual_work(kind, size):
    """f . (motion of the middle, body axes) = share . e0 + (f - share) . e1."""
    chart, q, x, f = draw(kind, size)
    e0, e1 = ca.SX.sym("e0", chart.nv), ca.SX.sym("e1", chart.nv)
    a, b = ca.SX(q), chart.retract(ca.SX(q), ca.SX(x))
    moved = chart.middle(chart.retract(a, e0), chart.lift(chart.retract(a, e0), chart.retract(b, e1)))
    motion = chart.lift(chart.middle(a, ca.SX(x)), moved)
    zero = ca.SX.zeros(2 * chart.nv)
    d0, d1 = (value(ca.substitute(ca.gradient(ca.dot(ca.SX(f), motion), e), ca.vertcat(e0, e1), zero)) for e in (e0, e1))
    share = value(chart.share(ca.SX(x), ca.SX(f)))
    np.testing.assert_allclose(d0, share, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(d1, f - share, rtol=1e-11, atol=1e-12)


def test_turns_agree_with_the_groups_of_the_library():
    """Another code: dal.so3.cay, dal.se3.cay."""
    rng = np.random.default_rng(3)
    for _ in range(5):
        x = rng.normal(size=6)
        q = value(PRIMITIVE[at.FREE].retract(ca.SX([0, 0, 0, 1, 0, 0, 0]), ca.SX(x)))
        g = dal.se3.cay(x)
        np.testing.assert_allclose(np.array(ca.evalf(matrix(ca.SX(q[3:])))), g[:3, :3], atol=1e-13)
        np.testing.assert_allclose(q[:3], g[:3, 3], atol=1e-13)


def test_flat_coordinates_are_taken_together():
    chart = Flat(3)
    assert value(chart.share(ca.SX.ones(3), ca.SX([2.0, 4.0, 6.0]))).tolist() == [1.0, 2.0, 3.0]
