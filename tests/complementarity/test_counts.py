"""Counts of pivots and iterations beside the tables of lacoursiere2007 16.8, agreement at n = 100 and 400, rates of PSOR."""

import itertools

import numpy as np
import pytest

from dalembert.complementarity import lcp
from dalembert.complementarity.generators import random_boxed, random_lcp, random_mixed

KINDS = {"lcp": random_lcp, "boxed": random_boxed, "mixed": random_mixed}
TOLERANCE = {1e2: 1e-12, 1e4: 1e-9, 1e6: 1e-6}


def size(x):
    return np.abs(x).max()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("condition", TOLERANCE)
@pytest.mark.parametrize("n", [50, 100, 400])
def test_four_methods_agree_on_large_problems(n, condition, kind, judges) -> None:
    rng = np.random.default_rng(n)
    for _ in range(1 if n == 400 else 2):
        problem = KINDS[kind](n, condition, rng)
        results = {m: lcp(*problem, method=m) for m in ("keller", "lemke", "block-pivot", "newton")}
        z = results["keller"].z
        for result in results.values():
            assert result.solved
            assert size(result.z - z) <= TOLERANCE[condition] * size(z)
            residual, scale = judges.natural(*problem, result.z)
            assert residual <= 1e-13 * scale
        # only block pivoting may need another method, and names it
        assert not any(results[m].fallback for m in ("keller", "lemke", "newton"))
        assert results["block-pivot"].fallback in ("", "lemke")


def _median(method, make, n, condition, samples, **options):
    rng = np.random.default_rng(11)
    results = [lcp(*make(n, condition, rng), method=method, **options) for _ in range(samples)]
    return np.median([r.pivots for r in results]), results


def test_direct_methods_on_lcps_of_size_100() -> None:
    """Figure 16.8. Medians found independently: Keller 62, Lemke 70, Cottle-Dantzig 190, Murty 249, block pivoting 7."""
    n = 100
    expected = {"keller": (50, 75), "lemke": (55, 85), "cottle-dantzig": (150, 240), "murty": (180, 320)}
    for method, (low, high) in expected.items():
        median, results = _median(method, random_lcp, n, 1e4, 12)
        assert low <= median <= high, (method, median)
        assert all(r.solved for r in results)
    assert 5 <= _median("block-pivot", random_lcp, n, 1e4, 12, sweeps=0)[0] <= 10


def test_direct_methods_on_boxes_of_size_100() -> None:
    """Figure 16.9. Independently: Keller 103-174, median 135; Lemke's doubled problem 128-165; Murty solves 37 % within 10 n pivots."""
    keller, results = _median("keller", random_boxed, 100, 1e4, 12)
    assert 110 <= keller <= 160 and max(r.pivots for r in results) <= 200
    assert 120 <= _median("lemke", random_boxed, 100, 1e4, 12)[0] <= 175
    _, murty = _median("murty", random_boxed, 100, 1e4, 12, max_pivots=1000)
    assert sum(r.status == "pivot-limit" for r in murty) >= 3
    assert {r.status for r in murty} <= {"solved", "pivot-limit"}


def test_boxes_of_size_400() -> None:
    """Figure 16.10. Independently: Keller 561-598 pivots; Murty never within 4,000."""
    rng = np.random.default_rng(12)
    problem = random_boxed(400, 1e4, rng)
    assert 450 <= lcp(*problem, method="keller").pivots <= 700
    assert 450 <= lcp(*problem, method="lemke").pivots <= 700
    murty = lcp(*problem, method="murty", max_pivots=1000)
    assert murty.status == "pivot-limit" and murty.pivots == 1000


@pytest.mark.parametrize(("condition", "low", "high"), [(1e2, 5, 8), (1e3, 7, 11), (1e4, 10, 18)])
def test_block_pivoting_on_boxes(condition, low, high) -> None:
    """Figure 16.5. Medians found independently: 6, 9, 13. Sweeps save iterations where the condition is moderate."""
    median, results = _median("block-pivot", random_boxed, 100, condition, 15, sweeps=0)
    assert all(r.solved for r in results) and low <= median <= high
    with_sweeps, _ = _median("block-pivot", random_boxed, 100, condition, 15)
    assert with_sweeps <= median + 1


@pytest.mark.parametrize("condition", [1e2, 1e4, 1e6])
def test_newton_takes_five_to_fifteen_iterations(condition) -> None:
    """Figure 16.5: 5-10 iterations at moderate condition numbers."""
    median, results = _median("newton", random_boxed, 100, condition, 8)
    assert 4 <= median <= (10 if condition <= 1e4 else 16)
    assert all(r.solved and not r.fallback for r in results)


@pytest.mark.parametrize("function", ["fischer-burmeister", "min", "smoothing"])
def test_functions_of_newton_lead_to_the_same_solution(function) -> None:
    rng = np.random.default_rng(13)
    own = 0
    for make in (random_lcp, random_boxed, random_mixed):
        for _ in range(10):
            problem = make(20, 100.0, rng)
            result = lcp(*problem, method="newton", function=function)
            assert result.solved
            assert size(result.z - lcp(*problem).z) <= 1e-11 * size(result.z)
            own += not result.fallback
    assert own >= (30 if function == "smoothing" else 24)


def test_psor_converges_linearly_and_slower_with_the_condition() -> None:
    """Figure 16.3: error ratios per sweep about 0.92, 0.98, 0.99, 0.997 for 1e3 ... 1e6, from 50 sweeps apart."""
    rates = []
    for condition in (1e3, 1e4, 1e5, 1e6):
        problem = random_lcp(100, condition, np.random.default_rng(14))
        exact = lcp(*problem).z
        errors = [size(lcp(*problem, method="psor", max_pivots=k, finish=False, stop=1e-300).z - exact) for k in (50, 100, 150)]
        first, second = ((b / a) ** (1 / 50) for a, b in itertools.pairwise(errors))
        assert errors[0] > errors[1] > errors[2]
        assert abs(first - second) < 0.03
        rates.append(second)
    assert rates == sorted(rates)
    assert 0.85 < rates[0] < 0.97 and rates[3] > 0.985


@pytest.mark.parametrize("omega", [0.5, 1.0, 1.5, 1.9])
def test_psor_converges_for_all_relaxations(omega) -> None:
    problem = random_boxed(15, 100.0, np.random.default_rng(15))
    result = lcp(*problem, method="psor", omega=omega, finish=False)
    assert result.solved and size(result.z - lcp(*problem).z) <= 1e-8 * size(result.z)


def test_psor_without_finish_reports_what_it_did_not_reach() -> None:
    problem = random_lcp(50, 1e6, np.random.default_rng(16))
    result = lcp(*problem, method="psor", finish=False, max_pivots=100)
    assert result.status == "pivot-limit" and result.pivots == 100 and result.relative_residual > 1e-9
