"""First zeros of parabolas in closed form: against polynomial roots, and where a formula with differences would lose its digits."""

import numpy as np
import pytest

from dalembert.kernels.events import brackets
from dalembert.kernels.events.parabolas import first_zero, meetings

pytestmark = pytest.mark.nojit


def test_first_zeros_are_the_smallest_roots_at_which_a_parabola_falls():
    rng = np.random.default_rng(1)
    for c, b, a in rng.normal(size=(500, 3)) * [1, 2, 3]:
        c = abs(c)
        roots = np.roots([0.5 * a, b, c])
        falls = [r.real for r in roots if abs(r.imag) < 1e-12 and r.real >= 0 and b + a * r.real < 0]
        t, slope = first_zero(c, b, a)
        if falls:
            assert t == pytest.approx(min(falls), rel=1e-9) and slope == pytest.approx(b + a * t, rel=1e-6)
        else:
            assert t == np.inf and slope == 0.0


def test_zeros_keep_their_digits_where_the_curve_is_nearly_straight_or_the_gap_is_tiny():
    assert first_zero(1.0, -2.0, 0.0) == (0.5, -2.0)
    assert first_zero(1.0, -1.0, 1e-17)[0] == pytest.approx(1.0, rel=1e-15)
    assert first_zero(1e-18, -1.0, -9.81)[0] == pytest.approx(1e-18, rel=1e-15)
    assert first_zero(0.0, -1.0, 9.81) == (0.0, -1.0)
    assert first_zero(-1e-9, -1.0, 9.81) == (0.0, -1.0)  # closed already
    assert first_zero(0.0, 1.0, -2.0) == (1.0, -1.0)  # thrown up, it comes down
    assert first_zero(1.0, 1.0, 0.0) == first_zero(1.0, 0.0, 0.0) == first_zero(1.0, -1.0, 0.6) == (np.inf, 0.0)


def test_slow_meetings_are_none():
    out = np.zeros(3)
    meetings(np.array([1.0, 1.0, 1.0]), np.array([-1.0, -0.01, 1.0]), np.zeros(3), 0.05, out)
    assert out.tolist() == [1.0, np.inf, np.inf]


def test_a_bracket_takes_a_guess_that_lies_inside_and_comes_to_an_end_by_itself_where_guesses_are_bad():
    bracket = np.zeros(brackets.SIZE)
    brackets.begin(bracket, 0.0, 1.0, 1.0, -1.0)
    assert brackets.aim(bracket, 0.25, 0) == 0.25
    assert brackets.aim(bracket, 1.5, 0) == brackets.aim(bracket, np.nan, 0) == 0.5
    for k in range(100):
        x = brackets.aim(bracket, bracket[brackets.LO] + 1e-9, k)  # creeps
        brackets.narrow(bracket, x, 0.7 - x)
        if bracket[brackets.HI] - bracket[brackets.LO] < 1e-15:
            break
    assert k < 80 and bracket[brackets.LO] == pytest.approx(0.7, abs=2e-15)
