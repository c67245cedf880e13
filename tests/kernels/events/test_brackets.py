"""Brackets of event functions: they close on the root, whatever the function, and tangents bound convex functions from below."""

import numpy as np
import pytest

from dalembert.kernels.events import brackets

pytestmark = pytest.mark.nojit


def root(f, lo, hi, most=200):
    """(root, evaluations)."""
    bracket = np.zeros(brackets.SIZE)
    brackets.begin(bracket, lo, f(lo), hi, f(hi))
    for n in range(most):
        x = brackets.propose(bracket, n)
        assert bracket[brackets.LO] < x < bracket[brackets.HI]
        value = f(x)
        if value == 0.0:
            return x, n
        brackets.narrow(bracket, x, value)
        if bracket[brackets.HI] - bracket[brackets.LO] < 1e-14:
            return bracket[brackets.LO], n
    raise AssertionError("the bracket does not close")


@pytest.mark.parametrize(
    ("f", "exact", "most"),
    [
        (lambda x: 1.0 - 2.0 * x, 0.5, 3),  # false position is exact
        (lambda x: 0.3 - x**2, np.sqrt(0.3), 24),
        (lambda x: np.cos(2.0 * x) - x, 0.514933264661129, 24),
        (lambda x: 1e-12 - x**9, 1e-12 ** (1 / 9), 60),  # flat: bisection does it
        (lambda x: 1.0 if x < 0.123456789 else -1e-9, 0.123456789, 200),  # a jump
    ],
)
def test_a_bracket_closes_on_the_root(f, exact, most):
    found, evaluations = root(f, 0.0, 1.0)
    assert abs(found - exact) < 2e-14
    assert evaluations <= most


def test_tangents_bound_a_convex_function_from_below_and_touch_a_wedge():
    rng = np.random.default_rng(3)
    for _ in range(100):
        a, b, c, h = *rng.uniform(0.1, 3.0, 3), rng.uniform(0.1, 2.0)
        f, df = (lambda x, a=a, b=b, c=c: a * (x - b) ** 2 + c, lambda x, a=a, b=b: 2 * a * (x - b))
        x = np.linspace(0.0, h, 1001)
        assert brackets.below(f(0.0), df(0.0), f(h), df(h), h) <= f(x).min() + 1e-12
    assert brackets.below(0.3, -1.0, 0.3, 1.0, 1.0) == pytest.approx(-0.2, abs=1e-15)  # |x - 0.5| - 0.2
    assert brackets.below(0.3, 1.0, 0.2, -1.0, 1.0) == 0.2  # between hills there is nothing lower than the ends
