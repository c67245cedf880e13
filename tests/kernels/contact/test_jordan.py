"""The algebra of the Lorentz cone, by its defining equations."""

import numpy as np
import pytest

from dalembert.kernels._jit import kernel
from dalembert.kernels.contact import jordan


@kernel
def scaled(l, s, v):
    """W v, W^-1 v, lambda"""
    eta, w, d1, d2 = jordan.scaling(l, s)
    there = jordan.scaled(eta, w, d1, d2, v)
    back = jordan.scaled(1.0 / eta, 1.0 / w, d1, d2, v)
    return there, back, jordan.scaled_point(eta, w, d1, d2, l, s)


@kernel
def softened(l, s, n, t):
    """Q^-1 in Cartesian components, column by column."""
    eta, w, d1, d2 = jordan.scaling(l, s)
    return jordan.softened(eta, w, n, t), (d1, d2)


@kernel
def longest(l, d):
    return jordan.longest(l, d)


@kernel
def divide(a, r):
    return jordan.divide(a, r)


@kernel
def product(a, b):
    return jordan.product(a, b)


@kernel
def smooth(z, m):
    return jordan.smooth(z, m)


def inside(rng, thin=0.0):
    t = rng.normal(size=2)
    return (float(np.hypot(*t) + 10.0**-thin * rng.uniform(0.1, 1.0)), float(t[0]), float(t[1]))


def gap(x):
    return x[0] - np.hypot(x[1], x[2])


def triple(v):
    return tuple(float(x) for x in v)


def matrix(l, s, inverse):
    return np.array([scaled(l, s, triple(e))[1 if inverse else 0] for e in np.eye(3)]).T


@pytest.mark.nojit
@pytest.mark.parametrize("thin", [0.0, 3.0, 6.0])
def test_the_scaling_takes_l_and_s_to_the_same_point(thin):
    """W l = W^-1 s up to the condition of points 10^-thin from the edge; W symmetric; W W^-1 = 1."""
    rng = np.random.default_rng(3)
    for _ in range(20):
        l, s = inside(rng, thin), inside(rng, thin)
        a, b, point = scaled(l, s, l)[0], scaled(l, s, s)[1], scaled(l, s, l)[2]
        bound = 1e-13 * 10.0 ** (1.5 * thin) * max(np.abs(a))
        np.testing.assert_allclose(a, b, rtol=0, atol=bound)
        np.testing.assert_allclose(point, a, rtol=0, atol=bound)
        W, V = matrix(l, s, False), matrix(l, s, True)
        np.testing.assert_allclose(W, W.T, rtol=0, atol=1e-13 * np.abs(W).max())
        np.testing.assert_allclose(W @ V, np.eye(3), rtol=0, atol=1e-14 * np.abs(W).max() * np.abs(V).max() * 10)


@pytest.mark.nojit
def test_softened_inverts_the_scaling_plus_a_diagonal():
    rng = np.random.default_rng(4)
    for _ in range(20):
        l, s, n, t = inside(rng), inside(rng), rng.uniform(0.1, 1), rng.uniform(0.1, 1)
        (pp, pm, mm, f), (d1, d2) = softened(l, s, n, t)
        P = np.array([[1, d1, d2], [1, -d1, -d2], [0, -d2 * 2**0.5, d1 * 2**0.5]]) / 2**0.5
        W = matrix(l, s, False)
        found = P.T @ np.array([[pp, pm, 0], [pm, mm, 0], [0, 0, f]]) @ P
        np.testing.assert_allclose(found @ (W @ W + np.diag([n, t, t])), np.eye(3), rtol=0, atol=1e-11)


@pytest.mark.nojit
def test_the_longest_step_ends_on_the_edge():
    rng = np.random.default_rng(5)
    ended = 0
    for _ in range(200):
        l, d = inside(rng), triple(rng.normal(size=3))
        a = longest(l, d)
        if a < jordan.FAR:
            ended += 1
            assert abs(gap(np.array(l) + a * np.array(d))) < 1e-12 * (1 + a) * 10
            assert gap(np.array(l) + 0.999 * a * np.array(d)) > 0
        else:
            assert gap(np.array(l) + 1e6 * np.array(d)) > 0
    assert 100 < ended < 200


@pytest.mark.nojit
def test_products_can_be_divided_and_smoothed_points_are_complementary():
    """a o (a \\ r) = r; smooth(z) o smooth(-z) = m e."""
    rng = np.random.default_rng(6)
    for _ in range(20):
        a, r = inside(rng), triple(rng.normal(size=3))
        np.testing.assert_allclose(product(a, divide(a, r)), r, rtol=0, atol=1e-12)
        z, m = triple(rng.normal(size=3)), 0.3
        there, back = smooth(z, m), smooth(triple(-np.array(z)), m)
        np.testing.assert_allclose(product(there, back), [m, 0, 0], rtol=0, atol=1e-14)
        np.testing.assert_allclose(np.subtract(there, back), z, rtol=0, atol=1e-14)
