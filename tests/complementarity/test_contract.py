"""Every registered method keeps what all of them promise. A new method gets these tests by being registered."""

import itertools

import numpy as np
import pytest

from dalembert.complementarity import MEANING, judge, lcp, methods
from dalembert.complementarity.generators import random_boxed, random_lcp, random_mixed, random_nonsymmetric
from dalembert.errors import OptionError, UnknownNameError

METHODS = methods()
NAMES = [m.name for m in METHODS]
EXACT = ["keller", "lemke", "block-pivot", "newton"]  # must solve all problems of the generator
EACH = pytest.mark.parametrize("method", NAMES)
KINDS = {"lcp": random_lcp, "boxed": random_boxed, "mixed": random_mixed}
# agreement between methods: both have backward errors of some 1e-15, amplified by the condition number
TOLERANCE = {1e2: 1e-12, 1e4: 1e-9, 1e6: 1e-6}


def size(x):
    return np.abs(x).max(initial=0.0)


@EACH
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("condition", TOLERANCE)
@pytest.mark.parametrize("n", [1, 2, 5, 20])
def test_agrees_with_newton_and_satisfies_the_plain_judge(method, kind, condition, n, judges) -> None:
    rng = np.random.default_rng(n)
    for _ in range(5):
        problem = KINDS[kind](n, condition, rng)
        result = lcp(*problem, method=method)
        assert result.status in MEANING
        if not result.solved:
            assert method not in EXACT
            assert result.status in ("pivot-limit", "cycle", "singular")
            assert method != "psor" or condition > 1e3
            continue
        reference = lcp(*problem, method="newton" if method != "newton" else "lemke")
        assert reference.solved
        assert size(result.z - reference.z) <= TOLERANCE[condition] * size(reference.z)
        residual, scale = judges.natural(*problem, result.z)
        assert residual <= 1e-12 * scale
        assert (problem[2] <= result.z).all() and (result.z <= problem[3]).all()


@EACH
@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_finds_the_solution_that_enumeration_finds(method, n, kind, judges) -> None:
    rng = np.random.default_rng(100 + n)
    for _ in range(15):
        problem = KINDS[kind](n, 10.0, rng)
        (expected,) = judges.solutions(*problem)[:1]
        result = lcp(*problem, method=method)
        assert result.solved
        assert size(result.z - expected) <= 1e-12 * max(1.0, size(expected))


@EACH
def test_small_whole_numbered_problems_are_solved_or_reported(method, judges) -> None:
    """All 2 x 2 matrices with entries -1, 0, 1 and some q: degenerate, singular, unsolvable ones too. Nothing loops, nothing lies."""
    low, high = np.zeros(2), np.full(2, np.inf)
    for entries in itertools.product((-1.0, 0.0, 1.0), repeat=4):
        M = np.array(entries).reshape(2, 2)
        for q in ((-1.0, -1.0), (-1.0, 2.0), (0.0, -1.0), (3.0, -1.0), (1.0, 1.0)):
            result = lcp(M, np.array(q), method=method)
            some = judges.solutions(M, np.array(q), low, high)
            residual, _ = judges.natural(M, np.array(q), low, high, result.z)
            assert result.solved == (residual <= 1e-9), (M, q, result)
            if result.status == "infeasible":
                assert not some
            if method in ("lemke", "keller") and result.status == "ray":
                assert not some or not _copositive_plus(M)


def _copositive_plus(M) -> bool:
    """Sufficient: positive semidefinite."""
    return bool(np.linalg.eigvalsh(M + M.T)[0] >= 0)


@EACH
@pytest.mark.parametrize("boxed", [False, True])
def test_nonsymmetric_positive_definite_is_solved_or_reported(method, boxed, judges) -> None:
    rng = np.random.default_rng(7)
    for _ in range(20):
        problem = random_nonsymmetric(6, 1.0, rng, boxed)
        result = lcp(*problem, method=method)
        residual, scale = judges.natural(*problem, result.z)
        assert result.solved == (residual <= 1e-9 * scale)
        if "P" in next(m.guarantee for m in METHODS if m.name == method).replace(";", " ").replace(",", " ").split():
            assert result.solved
        if result.fallback:
            assert result.claim in ("cycle", "pivot-limit", "singular", "ray") and result.solved


@EACH
@pytest.mark.parametrize("scale_M", [1e-100, 1e-12, 1.0, 1e12, 1e100])
@pytest.mark.parametrize("scale_q", [1e-100, 1e-12, 1.0, 1e12, 1e100])
def test_units_do_not_matter(method, scale_M, scale_q) -> None:
    rng = np.random.default_rng(3)
    M, q, _, _ = random_lcp(6, 100.0, rng)
    plain = lcp(M, q, method="lemke")
    result = lcp(scale_M * M, scale_q * q, method=method)
    assert result.solved
    assert size(result.z * (scale_M / scale_q) - plain.z) <= 1e-11 * size(plain.z)


@EACH
def test_units_of_single_rows_do_not_matter(method) -> None:
    """D M D, D q with D from 1e-6 to 1e6: z becomes z / D."""
    rng = np.random.default_rng(4)
    M, q, lower, upper = random_boxed(8, 100.0, rng)
    d = 10.0 ** rng.uniform(-6, 6, 8)
    plain = lcp(M, q, lower, upper)
    result = lcp(d[:, None] * M * d, d * q, lower / d, upper / d, method=method)
    assert result.solved
    assert size(result.z * d - plain.z) <= 1e-10 * size(plain.z)


@EACH
def test_the_empty_problem_is_solved(method) -> None:
    result = lcp(np.empty((0, 0)), np.empty(0), method=method)
    assert result.solved and result.z.shape == result.w.shape == (0,) and result.pivots == 0


@EACH
def test_input_is_left_alone_and_results_do_not_share_memory(method) -> None:
    problem = random_boxed(7, 100.0, np.random.default_rng(5))
    kept = [x.copy() for x in problem]
    one = lcp(*problem, method=method)
    z = one.z.copy()
    lcp(problem[0], -problem[1], problem[2], problem[3], method=method)
    assert all(np.array_equal(a, b) for a, b in zip(problem, kept, strict=True))
    assert np.array_equal(one.z, z)


@EACH
def test_same_input_same_bits(method) -> None:
    problem = random_boxed(12, 1e3, np.random.default_rng(6))
    assert np.array_equal(lcp(*problem, method=method).z, lcp(*problem, method=method).z)


@EACH
def test_a_pivot_limit_is_kept_and_reported(method) -> None:
    problem = random_boxed(10, 1e4, np.random.default_rng(8))
    result = lcp(*problem, method=method, max_pivots=0, fallback=None)
    assert result.claim in ("pivot-limit", "solved")  # sweeps alone may find the sides of block pivoting
    assert result.pivots <= 1 and (result.solved or result.status == "pivot-limit")


@EACH
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"M": np.ones((2, 3))}, r"M has shape \(2, 3\)"),
        ({"M": np.array([[1.0, np.nan], [0.0, 1.0]])}, r"M\[0, 1\] is nan"),
        ({"M": "abc"}, "M cannot be read"),
        ({"q": np.ones(3)}, r"q has shape \(3,\)"),
        ({"q": np.array([1.0, np.inf])}, r"q\[1\] is inf"),
        ({"q": 1.0}, "q is 1.0"),
        ({"lower": 2.0, "upper": 1.0}, "lower = 2.0, upper = 1.0"),
        ({"lower": np.nan}, "lower = nan"),
        ({"lower": np.inf}, "lower = inf"),
        ({"upper": -np.inf}, "upper = -inf"),
        ({"tol": 0.0}, "tol is 0.0"),
        ({"max_pivots": -1}, "max_pivots is -1"),
    ],
)
def test_wrong_input_is_named(method, change, message) -> None:
    with pytest.raises(OptionError, match=message):
        lcp(**{"M": np.eye(2), "q": -np.ones(2), "method": method, **change})


@EACH
def test_unknown_options_are_named(method) -> None:
    with pytest.raises(UnknownNameError, match="colour"):
        lcp(np.eye(2), -np.ones(2), method=method, colour=1)


@pytest.mark.parametrize("method", [m.name for m in METHODS if m.warm])
@pytest.mark.parametrize("kind", KINDS)
def test_a_start_near_the_solution_shortens_the_way(method, kind) -> None:
    rng, cold, warm = np.random.default_rng(9), 0, 0
    for _ in range(10):
        M, q, lower, upper = KINDS[kind](20, 100.0, rng)
        before = lcp(M, q, lower, upper, method=method)
        near = q + 0.02 * np.abs(q) * rng.standard_normal(20)
        bare = {"sweeps": 0} if method == "block-pivot" else {}  # sweeps before the first sets are not counted
        first = lcp(M, near, lower, upper, method=method, **bare)
        second = lcp(M, near, lower, upper, method=method, start=before.z)
        assert first.solved and second.solved
        assert size(first.z - second.z) <= 1e-10 * size(first.z)
        cold, warm = cold + first.pivots, warm + second.pivots
    assert warm < cold


@pytest.mark.parametrize("method", [m.name for m in METHODS if m.warm])
def test_the_solution_as_start_needs_no_pivot(method) -> None:
    problem = random_boxed(15, 100.0, np.random.default_rng(10))
    solution = lcp(*problem).z
    assert lcp(*problem, method=method, start=solution).pivots <= (1 if method == "psor" else 0)


@pytest.mark.parametrize("method", [m.name for m in METHODS if not m.warm])
def test_a_start_that_cannot_be_used_is_refused(method) -> None:
    with pytest.raises(OptionError, match="cannot use a start"):
        lcp(np.eye(2), -np.ones(2), method=method, start=np.ones(2))


@EACH
def test_descriptions_are_complete(method) -> None:
    entry = next(m for m in METHODS if m.name == method)
    assert entry.summary and entry.guarantee and entry.references and entry.problems == ("LCP", "boxed")
    assert entry.fallback in ("", *NAMES) and all(o.meaning for o in entry.options)


def test_the_library_has_the_methods_it_lists() -> None:
    assert set(NAMES) >= {"murty", "keller", "cottle-dantzig", "lemke", "psor", "block-pivot", "newton"}
    with pytest.raises(UnknownNameError, match="did you mean 'lemke'"):
        lcp(np.eye(1), [1.0], method="lemk")


def test_the_judge_can_refuse() -> None:
    M, q = np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([-5.0, -6.0])
    z = lcp(M, q).z
    assert judge(M, q, z).solved()
    for wrong in (z + np.array([1e-6, 0.0]), z - np.array([0.0, 1e-6]), np.zeros(2), -z, z * np.nan):
        assert not judge(M, q, wrong).solved()
    huge = judge([[-1.0, 0.0], [1.0, 0.0]], [-1.0, -1.0], [0.0, 2e15])
    assert not huge.solved()  # a large z in a column of zeros does not hide a residual of 1
    for far in (1e8, 1e12, 2e15):  # no solution: q is negligible beside M z, the residual is not beside q
        assert not judge([[-1.0, 1.0], [1.0, -1.0]], [-1.0, -1.0], [far, far]).solved()
    tiny = judge(1e-12 * M, 1e-15 * q, np.zeros(2))
    assert not tiny.solved() and tiny.residual <= 1e-14  # small in itself, not beside the terms of w
