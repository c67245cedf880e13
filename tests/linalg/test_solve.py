"""One interface: the method follows structure and size, the answer is the same."""

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dalembert.errors import OptionError, UnknownNameError
from dalembert.kernels.status import OK, SINGULAR
from dalembert.linalg import BlockJacobian, Saddle, solve
from dalembert.linalg.samples import chain, chain_pairs, contacts, system, tree_pairs
from dalembert.linalg.solve import METHODS


def ring(n, rows=2, compliance=0.01):
    return system(n, [(i, (i + 1) % n) for i in range(n)], rows, np.random.default_rng(n), compliance)


@pytest.mark.parametrize(
    ("saddle", "method"),
    [
        (chain(4, 5), "dense"),
        (chain(40, 5), "tree"),
        (ring(20), "loops"),
        (contacts(50, compliance=0.1), "qdldl"),
    ],
)
def test_method_by_structure_and_size(saddle, method, judge, sides):
    found = solve(saddle, *sides(saddle))
    assert (found.method, found.status, found.failed) == (method, OK, ())
    assert found.ok
    assert found.residual < 1e-12
    judge(saddle, *sides(saddle)).accepts(found.x, found.y, factor=1000.0)


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 10), st.integers(0, 4), st.integers(0, 10**6))
def test_all_methods_agree(judge, n, extra, seed):
    rng = np.random.default_rng(seed)
    pairs = [*map(tuple, tree_pairs(n, rng))] + [(-1, int(rng.integers(n))) for _ in range(extra)]
    s = system(n, pairs, 2, rng, 1e-3)
    b, c = rng.normal(size=6 * n), rng.normal(size=s.jacobian.n_rows)
    verdict = judge(s, b, c)
    for method in METHODS:
        found = solve(s, b, c, method)
        assert (found.status, found.method) == (OK, method)
        verdict.accepts(found.x, found.y, factor=1000.0)


def test_where_one_method_fails_the_next_is_tried(judge, sides):
    """Ten bodies with three rows each to the world and 30 joints of one row, E = 0: QDLDL meets a zero pivot, SuperLU does not."""
    rng = np.random.default_rng(0)
    pairs = [(-1, k) for k in range(30)] + [tuple(rng.choice(30, 2, replace=False)) for _ in range(70)]
    s = system(30, pairs, 1, rng)
    found = solve(s, *sides(s))
    assert (found.method, found.failed) == ("superlu", ("qdldl",))
    judge(s, *sides(s)).accepts(found.x, found.y, factor=1000.0)


def test_without_the_package_qdldl(monkeypatch, judge, sides):
    monkeypatch.setitem(sys.modules, "qdldl", None)
    s = contacts(50, compliance=0.1)
    found = solve(s, *sides(s))
    assert (found.method, found.failed) == ("superlu", ("qdldl",))
    judge(s, *sides(s)).accepts(found.x, found.y, factor=1000.0)


def test_a_chain_held_at_both_ends(judge, sides):
    """Without compliance the tree may be singular in parts; loops through the world solve it."""
    pairs = np.concatenate([chain_pairs(20), [(19, -1)]])
    s = system(20, pairs, 5, np.random.default_rng(1))
    found = solve(s, *sides(s))
    assert found.status == OK
    judge(s, *sides(s)).accepts(found.x, found.y, factor=1e4)


@pytest.mark.parametrize("n", [2, 40])
def test_singular_systems_are_reported(n, sides):
    s = chain(n, 3)
    twice = Saddle.of(s.masses, s.jacobian.subset([*range(n), 1]))
    found = solve(twice, *sides(twice))
    assert found.status == SINGULAR
    assert not found.ok
    assert np.isnan(found.x).all() and np.isnan(found.y).all()
    assert found.residual == np.inf
    soft = Saddle.of(twice.masses, twice.jacobian, 1e-6)
    assert solve(soft, *sides(soft)).status == OK


def test_bad_masses_are_reported(sides):
    s = chain(30, 3)
    assert solve(Saddle.of(-s.masses, s.jacobian), *sides(s)).status == SINGULAR
    assert solve(Saddle.of(s.masses * np.nan, s.jacobian), *sides(s)).status == SINGULAR


@pytest.mark.parametrize("n", [3, 40])
def test_masses_over_twelve_decades(n, judge, sides):
    rng = np.random.default_rng(n)
    s = system(n, tree_pairs(n, rng), 3, rng, 1e-9, decades=6.0)
    found = solve(s, *sides(s))
    assert found.residual < 1e-12
    judge(s, *sides(s)).accepts(found.x, found.y)


@pytest.mark.parametrize("n", [2, 40])
def test_velocities_that_are_zero_are_no_failure(n):
    """The first body is welded to the world at rest: what is left of its velocity is round-off, and so is what its rows leave."""
    rng = np.random.default_rng(4)
    s = system(n, chain_pairs(n), [6] + (n - 1) * [3], rng)
    b, c = rng.normal(size=6 * n), rng.normal(size=s.jacobian.n_rows)
    c[:6] = 0.0
    found = solve(s, b, c)
    assert found.ok
    np.testing.assert_allclose(found.x[:6], 0.0, rtol=0, atol=1e-12)
    nothing = solve(s, 0 * b, 0 * c)
    assert nothing.ok
    assert not nothing.x.any()


def test_one_body_and_no_constraints():
    s = Saddle.of(np.full((1, 6), 2.0), BlockJacobian.from_blocks(1, []))
    np.testing.assert_allclose(solve(s, np.ones(6), []).x, 0.5, rtol=1e-15)
    for method in METHODS:
        np.testing.assert_allclose(solve(s, np.ones(6), [], method).x, 0.5, rtol=1e-15)


def test_refinement_repairs_a_badly_conditioned_factor(sides):
    s = chain(300, 5, compliance=1e-6)
    found = solve(s, *sides(s))
    assert found.residual < 1e-14


def test_wrong_names_and_shapes():
    s = chain(2, 3)
    with pytest.raises(UnknownNameError, match="did you mean 'tree'"):
        solve(s, np.zeros(12), np.zeros(6), "tre")
    with pytest.raises(OptionError, match="11 numbers given, 12 expected"):
        solve(s, np.zeros(11), np.zeros(6))
