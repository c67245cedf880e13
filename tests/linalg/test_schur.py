"""S by blocks, and the number of products that it takes (lacoursiere2007, 18.12)."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dalembert.linalg import BlockJacobian, Saddle
from dalembert.linalg.samples import chain, contacts, random_masses, system
from dalembert.linalg.schur import SchurPattern, assemble, body_matrix, count_multiplications, count_products


def random_system(seed, n=7, m=12):
    rng = np.random.default_rng(seed)
    constraints = []
    for _ in range(m):
        who = rng.choice(n, size=rng.integers(1, 4), replace=False)
        constraints.append((who.tolist(), rng.normal(size=(len(who), rng.integers(1, 7), 6))))
    return Saddle.of(random_masses(n, rng), BlockJacobian.from_blocks(n, constraints), 0.2)


def by_counting(s, half):
    """The loops of the algorithm, without arithmetic: block products and multiplications."""
    g = s.jacobian
    products = multiplications = 0
    for t, (i, k) in enumerate(zip(g.owner, g.bodies, strict=True)):
        for u, (j, l) in enumerate(zip(g.owner, g.bodies, strict=True)):
            if k == l and (j <= i or not half):
                products += 1
                multiplications += int(6 * g.heights[t] * g.heights[u])
    return products, multiplications


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.booleans())
def test_matrix_and_counts(seed, half):
    s = random_system(seed)
    G = s.jacobian.to_sparse().toarray()
    expected = G @ np.linalg.inv(s.M().toarray()) @ G.T + s.E().toarray()
    found = assemble(s, half=half)
    np.testing.assert_allclose(found.to_sparse().toarray(), expected, rtol=0, atol=1e-12 * np.abs(expected).max())
    assert (found.products, count_multiplications(s.jacobian, half)) == by_counting(s, half)
    assert found.products == count_products(s.jacobian, half) == len(found.pattern.slots)


def test_eighteen_twelve_for_equal_numbers():
    """n_c constraints with n_b = 2 bodies each, n_k constraints on each body: n_c n_b n_k products. A ring: 2 n * 2."""
    n = 20
    ring = system(n, [(i, (i + 1) % n) for i in range(n)], 3, np.random.default_rng(0))
    assert assemble(ring, half=False).products == n * 2 * 2
    assert assemble(ring).products == n * 3


@pytest.mark.nojit
def test_linear_for_chains_quadratic_for_stars():
    counts = [assemble(chain(n)).products for n in (10, 100, 1000)]
    assert counts == [3 * n - 2 for n in (10, 100, 1000)]  # 2 constraints on each body but the last: 3 products
    star = system(51, [(0, i) for i in range(1, 51)], 1, np.random.default_rng(0))
    assert assemble(star).products == 50 + 50 * 51 // 2
    assert SchurPattern(star.jacobian).n_blocks == 50 * 51 // 2  # dense


def test_pattern_serves_other_numbers():
    one, two = chain(9, 4, seed=1), chain(9, 4, seed=2)
    pattern = SchurPattern(one.jacobian)
    assemble(one, pattern)
    np.testing.assert_array_equal(assemble(two, pattern).data, assemble(two).data)


def test_no_constraints():
    s = Saddle.of(np.ones((2, 6)), BlockJacobian.from_blocks(2, []))
    assert assemble(s).to_sparse().shape == (0, 0)
    assert count_products(s.jacobian) == count_multiplications(s.jacobian) == 0


@pytest.mark.parametrize("seed", range(3))
def test_matrix_of_bodies(seed):
    s = random_system(seed)
    G = s.jacobian.to_sparse().toarray()
    found, products = body_matrix(s)
    np.testing.assert_allclose(found.toarray(), s.M().toarray() + G.T @ G, rtol=0, atol=1e-12)
    assert products == int((np.diff(s.jacobian.first) ** 2).sum())


def test_growth_of_contacts_is_linear():
    """Products per contact stay the same from 1,000 to 100,000 contacts: the number on a body does not grow."""
    per = [count_products(contacts(m).jacobian) / m for m in (1000, 10_000, 100_000)]
    assert max(per) / min(per) < 1.05
