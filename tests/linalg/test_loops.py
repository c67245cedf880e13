"""Loops by the Schur complement on a spanning tree."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dalembert.errors import OptionError
from dalembert.kernels.status import OK, SINGULAR
from dalembert.linalg import Saddle
from dalembert.linalg.loops import LoopLDL, restrict
from dalembert.linalg.samples import chain_pairs, system, tree_pairs
from dalembert.linalg.tree_ldl import Forest


def solve(s, b, c):
    factor = LoopLDL(s.jacobian)
    assert factor.factor(s) == OK
    return factor.solve(b, c)


@pytest.mark.nojit
@pytest.mark.parametrize("rows", [1, 2, 3])
@pytest.mark.parametrize("n", [3, 8])
def test_rings(n, rows, judge, sides):
    s = system(n, [(i, (i + 1) % n) for i in range(n)], rows, np.random.default_rng(n), 0.0)
    assert LoopLDL(s.jacobian).loop_rows == rows
    judge(s, *sides(s)).accepts(*solve(s, *sides(s)))


@settings(max_examples=50, deadline=None)
@given(st.integers(2, 12), st.integers(0, 6), st.integers(0, 3), st.sampled_from([0.0, 1e-6, 0.1]), st.integers(0, 10**6))
def test_random_graphs(judge, n, extra, anchors, compliance, seed):
    """Fewer rows than coordinates are regular without compliance, whatever they close."""
    rng = np.random.default_rng(seed)
    pairs = [*map(tuple, tree_pairs(n, rng)), *(tuple(rng.choice(n, 2, replace=False)) for _ in range(extra))]
    pairs += [(-1, int(rng.integers(n))) for _ in range(anchors)]
    s = system(n, pairs, 1, rng, compliance)
    b, c = rng.normal(size=6 * n), rng.normal(size=s.jacobian.n_rows)
    verdict = judge(s, b, c)
    if verdict.condition < 1e10:
        verdict.accepts(*solve(s, b, c), factor=1000.0)


def test_a_chain_held_at_both_ends_has_one_loop_through_the_world(judge, sides):
    """Balls at both ends and between two bars: the tree alone, from either end, would meet a singular block."""
    lever = [np.array([[0, 0.0, 0.0], [1.0, 0.3, 0.0]]), np.array([[1.0, 0.3, 0.0], [2.0, -0.2, 0.1]])]

    def ball(point, centre):
        r = point - centre
        return np.concatenate([-np.cross(np.eye(3), r), np.eye(3)], axis=1)

    from dalembert.linalg import BlockJacobian

    centre = [bar.mean(0) for bar in lever]
    middle = lever[0][1]
    g = BlockJacobian.from_blocks(
        2,
        [
            ([0], [ball(lever[0][0], centre[0])]),
            ([0, 1], [-ball(middle, centre[0]), ball(middle, centre[1])]),
            ([1], [ball(lever[1][1], centre[1])]),
        ],
    )
    s = Saddle.of(np.tile([0.1, 0.2, 0.3, 1.0, 1.0, 1.0], (2, 1)), g)
    assert Forest(g).loops.size == 0
    assert Forest(g, one_anchor=True).loops.tolist() == [2]
    judge(s, *sides(s)).accepts(*solve(s, *sides(s)))


def test_masses_over_twelve_decades(judge, sides):
    rng = np.random.default_rng(11)
    s = system(8, [(i, (i + 1) % 8) for i in range(8)], 2, rng, 1e-6, decades=6.0)
    judge(s, *sides(s)).accepts(*solve(s, *sides(s)), factor=1000.0)


def test_a_joint_named_twice_is_singular_without_compliance_and_solved_with_it(judge, sides):
    s = system(4, chain_pairs(4), 3, np.random.default_rng(1))
    twice = s.jacobian.subset([0, 1, 2, 3, 2])
    assert LoopLDL(twice).factor(Saddle.of(s.masses, twice)) == SINGULAR
    soft = Saddle.of(s.masses, twice, 1e-3)
    judge(soft, *sides(soft)).accepts(*solve(soft, *sides(soft)), factor=1000.0)
    with pytest.raises(OptionError, match="singular"):
        LoopLDL(twice).solve(np.zeros(24), np.zeros(15))


def test_without_loops_it_is_the_tree(judge, sides):
    s = system(6, chain_pairs(6), 4, np.random.default_rng(2))
    judge(s, *sides(s)).accepts(*solve(s, *sides(s)))


def test_the_schur_complement_of_loops_is_that_of_S(sides):
    """C = S_22 - S_21 S_11^-1 S_12: responses of the loops times their rows."""
    rng = np.random.default_rng(6)
    s = system(6, [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0), (1, 4)], 2, rng, 0.05)
    f = LoopLDL(s.jacobian)
    assert f.factor(s) == OK
    G = s.jacobian.to_sparse().toarray()
    S = G @ np.linalg.inv(s.M().toarray()) @ G.T + s.E().toarray()
    two = f.rows
    one = np.setdiff1d(np.arange(len(S)), two)
    expected = S[np.ix_(two, two)] - S[np.ix_(two, one)] @ np.linalg.solve(S[np.ix_(one, one)], S[np.ix_(one, two)])
    part = restrict(s, f.forest.loops)
    G2 = part.jacobian.to_sparse().toarray()
    C = G2 @ f.X.reshape(len(two), -1).T + part.E().toarray()
    np.testing.assert_allclose(C, expected, rtol=0, atol=1e-12 * np.abs(expected).max())
