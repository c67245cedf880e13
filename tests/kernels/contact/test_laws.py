"""Projections of the laws and their derivatives, against what defines them."""

import numpy as np
import pytest

from dalembert.kernels._jit import kernel
from dalembert.kernels.contact import laws
from dalembert.kernels.contact.codes import ABOVE, BELOW, INSIDE, SLIDING


@kernel
def cone(n, a, b, mu, k):
    return laws.cone(n, a, b, mu, k)


@kernel
def derivative(n, a, b, mu, k, r):
    return laws.cone_derivative(n, a, b, mu, k, r)


@kernel
def box(y, lo, hi):
    return laws.box(y, lo, hi)


def on_the_cone(rng, mu):
    t = rng.normal(size=2)
    return np.array([np.hypot(*t) / mu * rng.uniform(1.0, 2.0), *t]) if mu > 0 else np.array([rng.uniform(), 0.0, 0.0])


@pytest.mark.nojit
@pytest.mark.parametrize("mu", [0.0, 0.3, 1.0, 4.0])
@pytest.mark.parametrize("k", [1.0, 0.2, 7.0])
def test_a_projection_leaves_an_obtuse_angle_to_the_whole_cone(mu, k):
    """(y - P) . R (z - P) <= 0 for all z of the cone, R = diag(1, k^2, k^2): this defines the nearest point."""
    rng = np.random.default_rng(1)
    R, seen = np.array([1.0, k * k, k * k]), set()
    for _ in range(60):
        y = rng.normal(size=3) * [rng.choice([0.3, 3.0, 1000.0]), 1.0, 1.0]
        *p, state = cone(*y, mu, k)
        p = np.array(p)
        seen.add(state)
        assert np.hypot(p[1], p[2]) <= mu * p[0] * (1 + 1e-14) + 1e-300
        for z in [np.zeros(3), 2 * p] + [on_the_cone(rng, mu) for _ in range(10)]:
            scale = (1 + np.abs(y).max()) * (1 + np.abs(z).max()) * R.max()
            assert (y - p) @ (R * (z - p)) <= 1e-14 * scale  # round-off of three products
    assert seen >= {BELOW, SLIDING} and (mu == 0.0 or INSIDE in seen)


@pytest.mark.nojit
@pytest.mark.parametrize("mu", [0.3, 1.0])
@pytest.mark.parametrize("k", [1.0, 0.3, 3.0])
def test_the_derivative_of_a_sliding_cone_is_that_of_its_projection(mu, k):
    """Central differences of step 1e-6: error 1e-12 from the step, 1e-10 from round-off."""
    rng = np.random.default_rng(2)
    R_n, checked = 0.7, 0
    while checked < 10:
        y = rng.normal(size=3)
        if cone(*y, mu, k)[3] != SLIDING or np.hypot(y[1], y[2]) < 0.2:
            continue
        e = 1e-6
        if any(cone(*(y + s * e * np.eye(3)[j]), mu, k)[3] != SLIDING for j in range(3) for s in (-2, 2)):
            continue
        D = np.array([np.subtract(cone(*(y + d), mu, k)[:3], cone(*(y - d), mu, k)[:3]) / (2 * e) for d in e * np.eye(3)]).T
        nn, n1, n2, a, m, b = derivative(*y, mu, k, 1 / R_n)
        W = np.array([[nn, n1, n2], [n1, a, m], [n2, m, b]])
        np.testing.assert_allclose(W, D / (R_n * np.array([1.0, k * k, k * k])), rtol=0, atol=1e-8 * np.abs(W).max())
        checked += 1


@pytest.mark.nojit
def test_every_law_of_one_row_is_a_box():
    assert box(2.0, -1.0, 1.0) == (1.0, ABOVE)
    assert box(-2.0, -1.0, 1.0) == (-1.0, BELOW)
    assert box(0.5, -1.0, 1.0) == (0.5, INSIDE)
    assert box(-3.0, -np.inf, np.inf) == (-3.0, INSIDE)
    assert box(-3.0, 0.0, np.inf) == (0.0, BELOW)


@kernel
def disc(a, b, radius):
    return laws.disc(a, b, radius)


@kernel
def coulomb_miss(lam, u, w_n, w_t, c, mu):
    return laws.coulomb_miss(lam[0], lam[1], lam[2], u[0], u[1], u[2], w_n, w_t, c, mu)


@pytest.mark.nojit
def test_a_disc_has_the_nearest_point_along_the_radius():
    rng = np.random.default_rng(3)
    for _ in range(20):
        t, radius = rng.normal(size=2), rng.uniform(0.0, 2.0)
        p = np.array(disc(*t, radius))
        assert np.hypot(*p) == pytest.approx(min(np.hypot(*t), radius), rel=1e-14)
        assert abs(p[0] * t[1] - p[1] * t[0]) < 1e-15 and p @ t >= 0.0
    assert disc(0.3, -0.4, 0.0) == (0.0, 0.0) and disc(0.0, 0.0, 0.0) == (0.0, 0.0)


@pytest.mark.nojit
@pytest.mark.parametrize(("c", "mu"), [(0.0, 0.5), (0.3, 0.0), (0.1, 0.7)])
def test_the_map_of_coulombs_law_vanishes_on_the_law_alone(c, mu):
    """Stick, slip and open contacts obey it to round-off; a push beyond the limit, a slip that is not opposed and a pull do not."""
    rng = np.random.default_rng(4)
    for _ in range(20):
        n, a, speed = rng.uniform(0.1, 2.0), rng.uniform(0.0, 2 * np.pi), rng.uniform(0.1, 1.0)
        e, w, radius = np.array([np.cos(a), np.sin(a)]), rng.uniform(0.5, 2.0, size=2), c + mu * n
        inside = 0.9 * radius * e
        obeyed = [((n, *inside), (0, 0, 0)), ((n, *(radius * e)), (0, *(-speed * e))), ((0, *(c * e)), (speed, *(-speed * e)))]
        for lam, u in obeyed:
            assert np.abs(coulomb_miss(np.array(lam), np.array(u, dtype=float), *w, c, mu)).max() < 1e-15
        broken = [
            ((n, *(1.1 * radius * e)), (0, 0, 0)),
            ((n, *(radius * e)), (0, *(speed * e))),
            ((-n, 0, 0), (0, 0, 0)),
            ((n, 0, 0), (1, 0, 0)),
        ]
        for lam, u in broken:
            assert np.abs(coulomb_miss(np.array(lam), np.array(u, dtype=float), *w, c, mu)).max() > 1e-3
