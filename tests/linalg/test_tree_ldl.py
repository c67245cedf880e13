"""L D L^T without fill on trees, against dense solutions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dalembert.errors import OptionError
from dalembert.kernels.linalg import tree_order as at
from dalembert.kernels.status import OK, SINGULAR
from dalembert.linalg import BlockJacobian, Saddle
from dalembert.linalg.samples import chain, chain_pairs, system, tree_pairs
from dalembert.linalg.tree_ldl import Forest, TreeLDL, is_tree


def solve(saddle, b, c):
    factor = TreeLDL(saddle.jacobian)
    assert factor.factor(saddle) == OK
    return factor.solve(b, c)


@pytest.mark.nojit
@pytest.mark.parametrize("rows", [1, 2, 3, 4, 5, 6])
@pytest.mark.parametrize("n", [1, 2, 7])
def test_chains_of_every_number_of_rows(n, rows, judge, sides):
    s = chain(n, rows, seed=n)
    judge(s, *sides(s)).accepts(*solve(s, *sides(s)))


@pytest.mark.parametrize("anchored", [False, True])
@pytest.mark.parametrize("compliance", [0.0, 1e-8, 1.0])
def test_thirty_bodies(anchored, compliance, judge, sides):
    s = chain(30, 3, 4, compliance, anchored)
    judge(s, *sides(s)).accepts(*solve(s, *sides(s)))


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 14), st.integers(1, 4), st.integers(0, 10**6), st.sampled_from([0.0, 1e-6, 0.3]), st.booleans())
def test_random_forests_with_random_rows(judge, n, roots, seed, compliance, anchored):
    rng = np.random.default_rng(seed)
    pairs = tree_pairs(n, rng, roots)
    if anchored:
        pairs = np.concatenate([pairs, [(-1, rng.integers(n))]])
    s = system(n, pairs, rng.integers(1, 7, len(pairs)), rng, compliance)
    b, c = rng.normal(size=6 * n), rng.normal(size=s.jacobian.n_rows)
    judge(s, b, c).accepts(*solve(s, b, c))


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 10), st.integers(1, 8), st.integers(0, 10**6))
def test_many_anchors_with_compliance_are_merged_with_their_bodies(judge, n, anchors, seed):
    rng = np.random.default_rng(seed)
    pairs = np.concatenate([tree_pairs(n, rng), np.stack([np.full(anchors, -1), rng.integers(0, n, anchors)], axis=1)])
    s = system(n, pairs, rng.integers(1, 4, len(pairs)), rng, 0.01)
    b, c = rng.normal(size=6 * n), rng.normal(size=s.jacobian.n_rows)
    judge(s, b, c).accepts(*solve(s, b, c))


def test_two_anchors_without_compliance(judge, sides):
    """Two rows at each end of a chain of joints with two rows: the merged blocks stay regular."""
    pairs = np.concatenate([chain_pairs(5), [(4, -1)]])
    s = system(5, pairs, 2, np.random.default_rng(3))
    judge(s, *sides(s)).accepts(*solve(s, *sides(s)))


def test_constraints_on_three_bodies(judge, sides):
    rng = np.random.default_rng(5)
    g = BlockJacobian.from_blocks(
        7, [([0, 1, 2], rng.normal(size=(3, 2, 6))), ([2, 3, 4], rng.normal(size=(3, 3, 6))), ([5, 0], rng.normal(size=(2, 1, 6)))]
    )
    s = Saddle.of(np.full((7, 6), 2.0), g, 0.0)
    assert is_tree(g)
    judge(s, *sides(s)).accepts(*solve(s, *sides(s)))


@pytest.mark.parametrize("seed", range(5))
def test_masses_over_twelve_decades(seed, judge, sides):
    rng = np.random.default_rng(seed)
    s = system(12, tree_pairs(12, rng), 3, rng, 1e-9, decades=6.0)
    judge(s, *sides(s)).accepts(*solve(s, *sides(s)))


def test_compliance_as_full_blocks(judge, sides):
    s = chain(6, 3)
    rng = np.random.default_rng(2)
    blocks = [a @ a.T for a in rng.normal(size=(6, 3, 2))]  # rank 2 of 3
    s = Saddle.of(s.masses, s.jacobian, blocks)
    judge(s, *sides(s)).accepts(*solve(s, *sides(s)))


def test_no_constraints_and_no_bodies(sides):
    empty = BlockJacobian.from_blocks(3, [])
    s = Saddle.of(np.full((3, 6), 2.0), empty)
    x, y = solve(s, np.ones(18), [])
    np.testing.assert_array_equal(x, 0.5)
    assert y.size == 0
    nothing = Saddle.of(np.zeros((0, 6)), BlockJacobian.from_blocks(0, []))
    assert solve(nothing, [], [])[0].size == 0


def test_numbers_may_change_and_nothing_is_remembered():
    """The same factor object, first for other numbers and then for a singular matrix, gives bit for bit what a new one gives."""
    first, second = chain(8, 5, seed=1), chain(8, 5, seed=2)
    b, c = np.arange(48.0), np.arange(40.0)
    used = TreeLDL(first.jacobian)
    used.factor(first)
    used.factor(Saddle.of(first.masses, first.jacobian.with_data(0 * first.jacobian.data)))
    assert used.factor(second) == OK
    for a, e in zip(used.solve(b, c), solve(second, b, c), strict=True):
        np.testing.assert_array_equal(a, e)


# what is singular, and what is refused ---------------------------------------------------------------------------------------------


def test_redundant_rows_are_singular_without_compliance_and_solved_with_it(judge, sides):
    s = chain(4, 3)
    data = s.jacobian.data.copy().reshape(-1, 6)
    for t in np.flatnonzero(s.jacobian.owner == 2):
        data[s.jacobian.lines[t] + 2] = data[s.jacobian.lines[t]]  # the third row repeats the first
    g = s.jacobian.with_data(data)
    assert TreeLDL(g).factor(Saddle.of(s.masses, g)) == SINGULAR
    soft = Saddle.of(s.masses, g, 1e-4)
    judge(soft, *sides(soft)).accepts(*solve(soft, *sides(soft)))


def test_a_body_welded_twice_to_the_world_is_singular():
    s = system(1, [(-1, 0), (-1, 0)], 6, np.random.default_rng(0))
    assert TreeLDL(s.jacobian).factor(s) == SINGULAR


def test_what_cancels_to_round_off_is_singular_whatever_its_sign():
    """The same row twice on one body: the second pivot is the difference of two equal numbers."""
    for seed in range(40):
        s = system(2, [(-1, 0), (0, 1)], 1, np.random.default_rng(seed))
        twice = Saddle.of(s.masses, s.jacobian.subset([0, 1, 0]))
        assert TreeLDL(twice.jacobian).factor(twice) == SINGULAR


@pytest.mark.parametrize("value", [0.0, -1.0, np.nan])
def test_bad_masses_are_reported(value):
    s = chain(3, 3)
    masses = s.masses.copy()
    masses[1, 4, :] = masses[1, :, 4] = 0.0
    masses[1, 4, 4] = value
    bad = TreeLDL(s.jacobian)
    free = Saddle.of(masses, BlockJacobian.from_blocks(3, []))
    assert TreeLDL(free.jacobian).factor(free) == SINGULAR
    if not value > 0:
        assert bad.factor(Saddle.of(masses, s.jacobian.with_data(0 * s.jacobian.data), 1.0)) == SINGULAR
    with pytest.raises(OptionError, match="singular"):
        bad.solve(np.zeros(18), np.zeros(9))


def test_loops_are_refused_by_name():
    ring = system(3, [(0, 1), (1, 2), (2, 0)], 1, np.random.default_rng(0))
    assert not is_tree(ring.jacobian)
    with pytest.raises(OptionError, match="constraint 1 closes a loop"):
        TreeLDL(ring.jacobian)


# no fill, linear -------------------------------------------------------------------------------------------------------------------


def test_nodes_less_one_blocks_below_the_diagonal():
    s = chain(30, 3, anchored=False)
    assert TreeLDL(s.jacobian).blocks_off_diagonal == 30 + 29 - 1


def test_cost_is_exactly_linear_up_to_100_000_bodies():
    """Numbers kept, and lines of the table, per body: the same for 100 and for 100,000 bodies, up to the ends of the chain."""
    kept = {}
    for n in (100, 1000, 100_000):
        s = chain(n, 5)
        factor = TreeLDL(s.jacobian)
        assert factor.factor(s) == OK
        assert len(factor.table) == 2 * n
        kept[n] = factor.numbers
        x, y = factor.solve(np.ones(6 * n), np.zeros(5 * n))
        assert s.residual(x, y, np.ones(6 * n), np.zeros(5 * n)) < 1e-11
    assert kept[1000] - 10 * kept[100] == 9 * 30  # the anchor has no edge to the right: 30 numbers less, once
    assert kept[100_000] - 1000 * kept[100] == 999 * 30


def test_children_come_before_parents_and_every_node_once():
    rng = np.random.default_rng(8)
    s = system(200, np.concatenate([tree_pairs(200, rng, 3), [(-1, 5)]]), 2, rng)
    factor = TreeLDL(s.jacobian)
    lines = {int(d): k for k, d in enumerate(factor.table[:, at.AT_D])}
    parents = [lines[int(p)] for p in factor.table[:, at.PARENT_D] if p >= 0]
    children = np.flatnonzero(factor.table[:, at.PARENT_D] >= 0)
    assert (np.array(parents) > children).all()
    forest = Forest(s.jacobian)
    assert sorted(forest.queue.tolist()) == list(range(200 + s.jacobian.n_constraints))
