"""Tableaux: the order conditions that they must meet, and that wrong ones are refused."""

import math
from dataclasses import replace

import numpy as np
import pytest

from dalembert.errors import OptionError
from dalembert.steppers.lie_rk import _order as order
from dalembert.steppers.lie_rk._tableau import Tableau, all_in_one, one_by_one
from dalembert.steppers.lie_rk.commutator_free import CF2, CF3, CF4
from dalembert.steppers.lie_rk.crouch_grossman import CG2, CG3, CG4
from dalembert.steppers.lie_rk.munthe_kaas import MK2, MK3, MK4
from dalembert.steppers.lie_rk.munthe_kaas_adaptive import dormand_prince_5, dormand_prince_8

KUTTA = ([[], [0.5], [0.0, 0.5], [0.0, 0.0, 1.0]], [1 / 6, 1 / 3, 1 / 3, 1 / 6])
FIXED = [CG2, CG3, CG4, CF2, CF3, CF4, MK2, MK3, MK4]


def test_numbers_of_trees():
    """Rooted trees: sequence A000081; words of ordered trees: Catalan numbers."""
    assert [len(order.rooted_trees(n)) for n in range(1, 9)] == [1, 1, 2, 4, 9, 20, 48, 115]
    words = order.exact_flow(6)
    assert [sum(order.size(w) == n for w in words) for n in range(7)] == [1, 1, 2, 5, 14, 42, 132]


def test_exact_flow_of_a_constant_field_and_of_a_linear_one():
    """Words of single nodes are what a constant F leaves: the exponential. Tall trees: F' F' ... F."""
    flow = order.exact_flow(5)
    tall = ()
    for n in range(1, 6):
        assert flow[((),) * n] == pytest.approx(1 / math.factorial(n), rel=1e-14)
        assert flow[(tall,)] == pytest.approx(1 / math.factorial(n), rel=1e-14)
        tall = (tall,)


@pytest.mark.parametrize("t", FIXED, ids=lambda t: t.name)
def test_order_on_groups_is_exactly_the_declared_one(t):
    """Conditions up to the order hold to round-off, and the next order is missed by far."""
    assert order.group_defect(t.stages, t.weights, t.order, t.algebra) < 1e-15
    assert order.group_defect(t.stages, t.weights, t.order + 1, t.algebra) > 1e-3


def test_dormand_prince_on_groups():
    t = dormand_prince_5()
    assert order.group_defect(t.stages, t.weights, 5, algebra=True) < 1e-15
    assert order.group_defect(t.stages, t.weights, 6, algebra=True) > 1e-4


@pytest.mark.parametrize("p", [2, 3, 4])
def test_kutta_weights_used_by_crouch_and_grossman_have_order_two(p):
    rows = one_by_one(*KUTTA)
    defect = order.group_defect(rows["stages"], rows["weights"], p)
    assert defect < 1e-15 if p == 2 else defect > 1e-2


@pytest.mark.parametrize("terms", [1, 2, 3])
def test_truncated_dexp_inv_needs_order_minus_one_terms(terms):
    """p - 1 terms of dexp^-1 give order p, fewer lower it by one each."""
    for p in range(2, 5):
        defect = order.group_defect(MK4.stages, MK4.weights, p, True, terms)
        assert defect < 1e-15 if p <= terms + 1 else defect > 1e-2


@pytest.mark.parametrize(
    ("t", "exponentials"),
    [(CG2, 3), (CG3, 6), (CG4, 15), (CF2, 3), (CF3, 3), (CF4, 5), (MK3, 3), (MK4, 4)],
    ids=lambda x: getattr(x, "name", x),
)
def test_number_of_exponentials(t, exponentials):
    """Park & Chung, Table IV: repeated exponentials are computed once. (The step of cf2 does not repeat its stage.)"""
    assert sum(count for _, _, count in t._plan()[0]) == exponentials


def test_coefficients_are_those_of_scipy():
    from scipy.integrate import RK45

    t = dormand_prince_5()
    A, b = t.summed()
    np.testing.assert_allclose(A[:6, :5], RK45.A, rtol=0, atol=1e-15)
    np.testing.assert_allclose(b[:6], RK45.B, rtol=0, atol=1e-15)
    np.testing.assert_allclose(np.abs(t.errors[0]), np.abs(RK45.E), rtol=0, atol=1e-16)


@pytest.mark.parametrize(("make", "lower"), [(dormand_prince_5, (4,)), (dormand_prince_8, (5, 3))])
def test_error_estimates_compare_with_the_lower_order(make, lower):
    """The step minus (or, for the signs of SciPy, plus) its error estimate is a method of exactly the lower order."""
    t = make()
    A, b = t.summed()
    for row, p in zip(t.errors, lower, strict=True):
        for sign in (1.0, -1.0):
            if order.classical_defect(A, b + sign * np.array(row), p) < 1e-15:
                break
        else:
            pytest.fail(f"{t.name}: no embedded method of order {p}")
        assert order.classical_defect(A, b + sign * np.array(row), p + 1) > 1e-6


def test_misprints_are_refused():
    """The printed tableaux: a_21 = 3/24 of CG3, and the fractions of CG4, whose weights miss 1 by 6.5e-7."""
    with pytest.raises(OptionError, match=r"cg3.*row sums minus c missed by"):
        replace(CG3, **one_by_one([[], [3 / 24], [119 / 216, 17 / 108]], [13 / 51, -2 / 3, 24 / 17]))
    a = [[], [1458 / 1783], [1039 / 3247, 97 / 1470], [997 / 1082, 1167 / 2335, -475 / 433], [173 / 487, 751 / 3141, 547 / 393, -680 / 613]]
    b = [407 / 2969, -135 / 7349, 543 / 734, -267 / 1400, 696 / 2095]
    with pytest.raises(OptionError, match=r"cg4.*order conditions missed by"):
        replace(CG4, **one_by_one(a, b), c=tuple(float(sum(row)) for row in a))


def test_a_method_of_lower_order_on_groups_is_refused():
    with pytest.raises(OptionError, match="order conditions on a group missed by"):
        Tableau("kutta", 4, **one_by_one(*KUTTA), c=(0.0, 0.5, 0.5, 1.0))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"c": (0.0, 0.5, 0.5)}, "expected 4, one per stage"),
        ({"stages": (*MK4.stages[:3], ((0.0, 0.0, 0.0, 1.0),))}, "explicit method"),
        ({"weights": CF4.weights}, "several exponentials"),
        ({"weights": ((1 / 6, 1 / 3, 1 / 3, 0.2),)}, "order conditions missed"),
        ({"errors": ((0.1, -0.1, 0.0, 0.0),)}, "last stage is not the step"),
        ({"errors": ((0.1, -0.2, 0.0, 0.0),)}, "sum of the error coefficients"),
    ],
)
def test_impossible_tableaux_are_refused(change, message):
    with pytest.raises(OptionError, match=message):
        replace(MK4, **change)


def test_one_exponential_per_stage_is_not_enough_without_dexp_inv():
    rows = all_in_one(*KUTTA)
    with pytest.raises(OptionError, match="on a group"):
        Tableau("plain", 4, stages=rows["stages"], weights=rows["weights"], c=(0.0, 0.5, 0.5, 1.0))
