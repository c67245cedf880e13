"""Compositions: every order condition in exact arithmetic, the digits one by one, and the order seen on a rigid body."""

from fractions import Fraction
from math import factorial

import numpy as np
import pytest

from dalembert.contracts import machines
from dalembert.contracts import runs as contract_runs
from dalembert.errors import OptionError
from dalembert.registry import find
from dalembert.steppers._compositions import DIGITS, suzuki_digits
from dalembert.steppers._order_conditions import defects, series, sizes, words
from dalembert.steppers.compose import COMPOSITIONS, Composition, find_composition

SUBSTEPS = {
    "yoshida4": 3, "suzuki4": 5,
    "yoshida6": 7, "kahan-li6": 9, "suzuki6": 25,
    "yoshida8": 15, "suzuki-umeno8": 15, "kahan-li8": 17, "suzuki8": 125,
}  # fmt: skip


def exact_weights(half: tuple[str, ...]) -> list[Fraction]:
    """A palindrome of fractions with sum 1."""
    first = [Fraction(digits) for digits in half]
    return [*first, 1 - 2 * sum(first), *reversed(first)]


def worst(weights: list, order: int) -> float:
    """Largest defect of the conditions of an order, over the size of its terms."""
    numbers = np.array(weights, dtype=object) if isinstance(weights[0], Fraction) else np.array(weights)
    size = sizes(numbers, order - 1)
    return max(float(abs(defect) / size[word]) for word, defect in defects(numbers, order - 1).items())


# the judge of the judge ---------------------------------------------------------------------------------------------------------------


def test_words_are_counted_by_fibonacci() -> None:
    """A number is a sum of odd numbers in a Fibonacci number of ways."""
    assert [len(words(n)) for n in range(1, 10)] == [1, 1, 2, 3, 5, 8, 13, 21, 34]


def test_series_of_one_substep_is_an_exponential() -> None:
    for word, value in series(np.array([Fraction(3, 7)], dtype=object), 7).items():
        assert value == Fraction(3, 7) ** sum(word) / factorial(len(word))


def test_series_agrees_with_products_of_matrices() -> None:
    """Strictly upper triangular 9 x 9 matrices represent the words of up to eight letters; random ones tell all coefficients apart."""
    from scipy.linalg import expm

    rng = np.random.default_rng(5)
    X = {k: np.triu(rng.normal(size=(9, 9)), k) for k in (1, 3, 5, 7)}  # X_k moves k places: products of weight above 8 vanish
    weights = np.array([0.7, -0.4, 0.9, 0.2])
    product = np.eye(9)
    for w in weights:
        product = product @ expm(sum(w**k * X[k] for k in X))
    by_words = np.zeros((9, 9))
    for word, value in series(weights, 8).items():
        term = np.eye(9)
        for letter in word:
            term = term @ X[letter]
        by_words += value * term
    np.testing.assert_allclose(by_words, product, rtol=0, atol=1e-13 * np.abs(product).max())


# the coefficients ---------------------------------------------------------------------------------------------------------------------


def test_the_library_has_these_compositions() -> None:
    assert {c.name: len(c.weights) for c in COMPOSITIONS.values()} == SUBSTEPS
    assert {int(name[-1]) == c.order for name, c in COMPOSITIONS.items()} == {True}


@pytest.mark.parametrize("name", DIGITS)
def test_digits_solve_all_conditions(name: str) -> None:
    """36 digits are given: the defect in fractions is a few units of the 36th, and the conditions of the next order are not met."""
    weights = exact_weights(DIGITS[name])
    order = find_composition(name).order
    assert worst(weights, order) < 1e-34
    assert worst(weights, order + 2) > 1e-5


@pytest.mark.parametrize("order", [4, 6, 8])
def test_fractal_solves_all_conditions(order: int) -> None:
    """In 40-digit arithmetic; 2e-36 is the round-off of 125 substeps of seventh powers."""
    weights = [Fraction(w) for w in suzuki_digits(order)]
    assert worst(weights, order) < 2e-36
    assert worst(weights, order + 2) > 1e-6


@pytest.mark.parametrize("name", COMPOSITIONS)
def test_weights_are_the_nearest_floats(name: str) -> None:
    c = find_composition(name)
    if name == "yoshida4":
        p = 1 / (2 - 2 ** (1 / 3))
        want = [p, 1 - 2 * p, p]
    else:
        want = [float(w) for w in (exact_weights(DIGITS[name]) if name in DIGITS else suzuki_digits(c.order))]
    ends = np.arange(len(want)) != len(want) // 2
    assert (c.weights[ends] == np.array(want)[ends]).all()
    assert abs(c.weights[~ends][0] - want[len(want) // 2]) < len(want) * 2.3e-16  # takes the round-off of all others
    assert (c.weights == c.weights[::-1]).all()
    assert abs(sum(Fraction(w) for w in c.weights) - 1) < 2.3e-16


@pytest.mark.parametrize(("name", "place"), [(name, i) for name in DIGITS for i in range(len(DIGITS[name]))])
def test_a_wrong_digit_is_caught(name: str, place: int) -> None:
    """The fifteenth digit by the exact conditions, the eighth already when the composition is made."""

    def spoil(digit: int) -> tuple[str, ...]:
        half = list(DIGITS[name])
        at = [i for i, char in enumerate(half[place]) if char.isdigit() and half[place][:i].strip("-0.") + char != "0"][digit - 1]
        half[place] = half[place][:at] + str((int(half[place][at]) + 1) % 10) + half[place][at + 1 :]
        return tuple(half)

    order = find_composition(name).order
    assert worst(exact_weights(spoil(15)), order) > 1e-20
    with pytest.raises(OptionError, match=f"'spoilt' misses a condition of order {order}"):
        Composition("spoilt", order, tuple(float(w) for w in spoil(8)), "nobody")


def test_power_sums_alone_do_not_make_order_six() -> None:
    """Three of the four conditions of order six are sums of powers; the same weights in another order keep those and miss the fourth."""
    a, b, c = find_composition("yoshida6").half
    with pytest.raises(OptionError, match=r"X1 X3 X1|X1 X1 X3|X3 X1 X1"):
        Composition("shuffled", 6, (c, a, b), "nobody")


def test_a_wrong_order_is_refused() -> None:
    with pytest.raises(OptionError, match="sum of w"):
        Composition("wrong", 4, (1.3,), "nobody")
    with pytest.raises(OptionError, match="order 8"):
        Composition("wrong", 8, find_composition("kahan-li6").half, "nobody")


# the order on a rigid body ------------------------------------------------------------------------------------------------------------


def slope(weights: np.ndarray, floor: float = 3e-11) -> tuple[float, list[float]]:
    """Of the cayley stepper on a fast heavy top, from the last five errors above a hundred times that of the reference.

    The number of steps grows by the cube root of 2: an order of eight falls from 1e-6 to the floor in two halvings.
    """
    stepper = find("rigid-body", "cayley")
    model, q, v = machines.top(symmetric=False)
    machine = (model, q, 4.0 * v)
    q_ref, v_ref = machines.reference(machine, contract_runs.T_ORDER)
    hs, errors = [], []
    for n in (round(2 ** (k / 3)) for k in range(9, 34)):
        engine = contract_runs.engine_of(stepper, machine, contract_runs.T_ORDER / n, weights)
        try:
            q, v = contract_runs.end_state(engine, n)
        except contract_runs.SimulationError:
            continue  # too large a step; enough smaller ones must remain
        error = max(np.abs(model.difference(q_ref, q)).max(), np.abs(v - v_ref).max())
        if error < floor:
            break
        hs.append(contract_runs.T_ORDER / n)
        errors.append(error)
    assert len(errors) >= 5
    return float(np.polyfit(np.log(hs[-5:]), np.log(errors[-5:]), 1)[0]), errors[-5:]


@pytest.mark.parametrize("name", [c.name for c in COMPOSITIONS.values() if c.order >= 6])
def test_order_on_a_top(name: str) -> None:
    """Errors of 1e-7 ... 3e-11; the next term of the error, h^2 smaller, moves the slope by about 0.1."""
    c = find_composition(name)
    found, errors = slope(c.weights)
    assert abs(found - c.order) < 0.2, (found, errors)


def test_a_wrong_digit_lowers_the_order() -> None:
    """The third digit of one weight of Kahan and Li, middle weight adapted: from order 8 to 2."""
    half = list(find_composition("kahan-li8").half)
    half[1] += 0.001
    weights = np.array([*half, 1 - 2 * sum(half), *reversed(half)])
    found, _ = slope(weights)
    assert found < 4.5
