"""The block format against SciPy's matrices."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from dalembert.errors import OptionError
from dalembert.kernels.linalg.blocks import gather_transposed
from dalembert.linalg import BlockJacobian
from dalembert.linalg.blocks import block_masses, multiply_masses
from dalembert.linalg.samples import random_masses, system


def random_jacobian(seed, n=6, m=9):
    """One to three bodies and one to six rows per constraint."""
    rng = np.random.default_rng(seed)
    constraints = []
    for _ in range(m):
        who = rng.choice(n, size=rng.integers(1, 4), replace=False)
        constraints.append((who.tolist(), rng.normal(size=(len(who), rng.integers(1, 7), 6))))
    dense = np.concatenate([_rows(n, who, blocks) for who, blocks in constraints])
    return BlockJacobian.from_blocks(n, constraints), dense


def _rows(n, who, blocks):
    rows = np.zeros((blocks.shape[1], 6 * n))
    for k, block in zip(who, blocks, strict=True):
        rows[:, 6 * k : 6 * k + 6] = block
    return rows


@pytest.mark.nojit
@pytest.mark.parametrize("seed", range(4))
def test_products_and_conversion(seed):
    g, dense = random_jacobian(seed)
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=36), rng.normal(size=g.n_rows)
    np.testing.assert_array_equal(g.to_sparse().toarray(), dense)
    # sums of at most 18 and 54 products
    np.testing.assert_allclose(g.multiply(x, 2.0, 3.0, y.copy()), 2 * dense @ x + 3 * y, rtol=0, atol=1e-13)
    np.testing.assert_allclose(g.multiply_transposed(y, -1.0, 0.5, x.copy()), -dense.T @ y + 0.5 * x, rtol=0, atol=1e-13)
    out = x.copy()
    gather_transposed(g.body_first, g.body_blocks, g.owner, g.lines, g.rows, g.data, -1.0, y, 0.5, out)
    np.testing.assert_allclose(out, -dense.T @ y + 0.5 * x, rtol=0, atol=1e-13)
    masses = random_masses(6, rng)
    M = sp.block_diag(list(masses)).toarray()
    np.testing.assert_allclose(g.times_masses(masses).to_sparse().toarray(), dense @ M, rtol=0, atol=1e-12)
    np.testing.assert_allclose(multiply_masses(masses, x, -2.0, 1.0, x.copy()), -2 * M @ x + x, rtol=0, atol=1e-12)


def test_zero_times_garbage_is_zero():
    g, _ = random_jacobian(0)
    assert np.isfinite(g.multiply(np.ones(36), out=np.full(g.n_rows, np.nan))).all()
    assert np.isfinite(g.multiply_transposed(np.ones(g.n_rows), out=np.full(36, np.nan))).all()


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6))
def test_from_sparse_and_back(seed):
    g, dense = random_jacobian(seed)
    again = BlockJacobian.from_sparse(sp.csr_array(dense), g.rows)
    np.testing.assert_array_equal(again.to_sparse().toarray(), dense)
    np.testing.assert_array_equal(again.rows, g.rows)
    assert [sorted(p) for p in np.split(g.bodies, g.first[1:-1])] == [p.tolist() for p in np.split(again.bodies, again.first[1:-1])]
    each = BlockJacobian.from_sparse(sp.csr_array(dense))
    assert each.n_constraints == g.n_rows
    np.testing.assert_array_equal(each.to_sparse().toarray(), dense)


def test_subset_keeps_order():
    g, dense = random_jacobian(3)
    chosen = [7, 0, 4]
    rows = np.concatenate([np.arange(g.rows[i], g.rows[i + 1]) for i in chosen])
    np.testing.assert_array_equal(g.subset(chosen).to_sparse().toarray(), dense[rows])
    assert g.subset([]).n_rows == 0


def test_lists_of_blocks_by_body():
    g, _ = random_jacobian(5)
    for k in range(6):
        mine = g.body_blocks[g.body_first[k] : g.body_first[k + 1]]
        assert (g.bodies[mine] == k).all()
        assert (np.diff(g.owner[mine]) > 0).all()
    assert sorted(g.body_blocks.tolist()) == list(range(len(g.bodies)))


def test_world_is_dropped():
    s = system(2, [(-1, 0), (0, 1)], 2, np.random.default_rng(0))
    assert s.jacobian.bodies.tolist() == [0, 0, 1]


@pytest.mark.parametrize(
    ("constraints", "message"),
    [
        ([([0, 0], np.zeros((2, 1, 6)))], "twice"),
        ([([2], np.zeros((1, 1, 6)))], "0 ... 1 exist"),
        ([([0], np.zeros((1, 1, 5)))], "r x 6"),
        ([([0, 1], np.zeros((1, 1, 6)))], "one r x 6 block per body"),
        ([([0], np.zeros((1, 0, 6)))], "at least one row"),
    ],
)
def test_what_cannot_be_is_refused(constraints, message):
    with pytest.raises(OptionError, match=message):
        BlockJacobian.from_blocks(2, constraints)


def test_shapes_are_checked():
    g, _ = random_jacobian(0)
    with pytest.raises(OptionError, match="35 numbers given, 36 expected"):
        g.multiply(np.zeros(35))
    with pytest.raises(OptionError, match="masses"):
        block_masses(np.zeros((2, 5)))
    with pytest.raises(OptionError, match="six columns"):
        BlockJacobian.from_sparse(sp.csr_array((2, 7)))
