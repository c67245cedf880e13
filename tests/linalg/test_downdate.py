"""Factors that follow an active set, against dense ones."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dalembert.errors import OptionError
from dalembert.kernels.status import OK, SINGULAR
from dalembert.linalg.downdate import ActiveCholesky, solve_with_bounds
from dalembert.linalg.samples import chain
from dalembert.linalg.schur import assemble
from dalembert.linalg.tree_ldl import TreeLDL

EPS = np.finfo(float).eps


def spd(n, seed, shift=0.1):
    a = np.random.default_rng(seed).normal(size=(n, n))
    return a @ a.T / n + shift * np.eye(n)


def check(f, S):
    """L L^T is the matrix of the active rows; round-off grows with the number of changes, each a few EPS times the largest entry."""
    expected = S[np.ix_(f.active, f.active)]
    L = f.factor()
    assert (np.diag(L) > 0).all()
    np.testing.assert_allclose(L @ L.T, expected, rtol=0, atol=500 * EPS * np.abs(S).max())


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 12), st.integers(0, 10**6), st.lists(st.integers(0, 11), max_size=40))
def test_any_sequence_of_rows_in_and_out(n, seed, toggles):
    S = spd(n, seed)
    f = ActiveCholesky(S)
    for i in toggles:
        if i < n:
            assert (f.remove(i) if i in f.active else f.add(i)) == OK
    check(f, S)
    r = np.arange(1.0, 1.0 + len(f.active))
    np.testing.assert_allclose(S[np.ix_(f.active, f.active)] @ f.solve(r), r, rtol=0, atol=1e-11 * max(1, n))


@pytest.mark.nojit
@pytest.mark.parametrize("place", [0, 3, 6])
def test_first_middle_and_last_row(place):
    S = spd(7, 1)
    f = ActiveCholesky(S, range(7))
    assert f.remove(place) == OK
    check(f, S)
    assert f.add(place) == OK
    assert f.active[-1] == place
    check(f, S)


@pytest.mark.nojit
def test_rank_one_up_and_down_again():
    S = spd(8, 2)
    w = np.random.default_rng(0).normal(size=8)
    f = ActiveCholesky(S.copy(), range(8))
    before = f.factor()
    assert f.change(w, 1) == OK
    check(f, S + np.outer(w, w))
    assert f.change(w, -1) == OK
    np.testing.assert_allclose(f.factor(), before, rtol=0, atol=1e-13)


def test_a_downdate_that_takes_too_much_is_reported():
    f = ActiveCholesky(np.eye(4), range(4))
    assert f.change([0.0, 2.0, 0.0, 0.0], -1) == SINGULAR
    assert ActiveCholesky(np.eye(3), range(3)).change([1.0, 0.0, 0.0], -1) == SINGULAR


def test_a_row_that_depends_on_others_cannot_enter_and_harms_nothing():
    a = np.random.default_rng(3).normal(size=(4, 3))
    S = a @ a.T  # rank 3
    f = ActiveCholesky(S, [0, 1, 2])
    assert f.add(3) == SINGULAR
    check(f, S)
    assert ActiveCholesky(S, range(4)).status == SINGULAR


def test_a_thousand_changes_stay_accurate():
    S, rng = spd(30, 5), np.random.default_rng(1)
    f = ActiveCholesky(S, range(30))
    for i in rng.integers(0, 30, 1000):
        _ = f.remove(int(i)) if int(i) in f.active else f.add(int(i))
    np.testing.assert_allclose(f.factor() @ f.factor().T, S[np.ix_(f.active, f.active)], rtol=0, atol=1e-12)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 10), st.integers(0, 10**6), st.data())
def test_rows_at_bounds(n, seed, data):
    """Alg. 18.7.3 against the solution of the free rows alone."""
    S, rng = spd(n, seed), np.random.default_rng(seed)
    fixed = data.draw(st.lists(st.integers(0, n - 1), unique=True))
    q, values = rng.normal(size=n), rng.normal(size=len(fixed))
    z, status = solve_with_bounds(lambda r: np.linalg.solve(S, r), q, fixed, values)
    free = np.setdiff1d(np.arange(n), fixed)
    expected = np.zeros(n)
    expected[fixed] = values
    expected[free] = np.linalg.solve(S[np.ix_(free, free)], -q[free] - S[np.ix_(free, fixed)] @ values) if len(free) else 0.0
    assert status == OK
    np.testing.assert_allclose(z, expected, rtol=0, atol=1e3 * EPS * np.linalg.cond(S) * max(1.0, np.abs(expected).max()))


def test_rows_at_bounds_with_the_factor_of_a_tree():
    """S^-1 r is the y of b = 0, c = r."""
    s = chain(6, 3, compliance=0.01)
    tree = TreeLDL(s.jacobian)
    tree.factor(s)
    S = assemble(s).to_sparse().toarray()
    q = np.linspace(-1, 1, len(S))
    z, status = solve_with_bounds(lambda r: tree.solve(np.zeros(36), r)[1], q, [2, 11], [0.5, -0.5])
    assert status == OK
    free = np.setdiff1d(np.arange(len(S)), [2, 11])
    np.testing.assert_allclose((S @ z + q)[free], 0.0, rtol=0, atol=1e-12)
    assert z[[2, 11]].tolist() == [0.5, -0.5]


def test_what_cannot_be_is_refused():
    f = ActiveCholesky(np.eye(3), [0])
    with pytest.raises(OptionError, match="row 0 cannot enter"):
        f.add(0)
    with pytest.raises(OptionError, match="row 2 cannot leave"):
        f.remove(2)
    with pytest.raises(OptionError, match="square"):
        ActiveCholesky(np.zeros((2, 3)))
    with pytest.raises(OptionError, match="different numbers"):
        ActiveCholesky(np.eye(3), [1, 1])
