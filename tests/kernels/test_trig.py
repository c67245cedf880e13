"""Sine and cosine in line, against 200-bit arithmetic."""

import mpmath
import numpy as np
import pytest

from dalembert.kernels._jit import kernel
from dalembert.kernels.trig import LARGE, sin_cos


@kernel
def many(x, sines, cosines):
    """Both of every entry."""
    for i in range(x.shape[0]):
        sines[i], cosines[i] = sin_cos(x[i])


def of(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    s, c = np.empty_like(x), np.empty_like(x)
    many(x, s, c)
    return s, c


def arguments() -> np.ndarray:
    """All sizes up to the switch to the library, both signs, and the floats nearest to multiples of pi/4."""
    rng = np.random.default_rng(3)
    sizes = np.exp(rng.uniform(np.log(1e-9), np.log(LARGE), 2000)) * rng.choice([-1, 1], 2000)
    near = np.pi / 4 * np.arange(-400, 401)
    return np.concatenate([sizes, near, np.nextafter(near, 1e9), rng.uniform(-7, 7, 2000)])


def test_errors_are_units_in_the_last_place() -> None:
    """2.1 units: rounding of the reduced argument, of the polynomial and of the last sum. Zeros of the functions have an absolute floor."""
    x = arguments()
    s, c = of(x)
    with mpmath.workprec(200):
        for i, angle in enumerate(x):
            for got, want in ((s[i], mpmath.sin(mpmath.mpf(float(angle)))), (c[i], mpmath.cos(mpmath.mpf(float(angle))))):
                assert abs(float(mpmath.mpf(float(got)) - want)) <= 2.1 * np.spacing(abs(float(want))) + 1e-26 * abs(angle), angle


@pytest.mark.parametrize("x", [0.0, 1e7, -3e9, 1e300])
def test_zero_and_the_library_beyond(x: float) -> None:
    s, c = of(np.array([x]))
    assert s[0] == np.sin(x)
    assert c[0] == np.cos(x)


def test_what_is_not_finite_gives_nan() -> None:
    s, c = of(np.array([np.nan, np.inf]))
    assert np.isnan(s).all()
    assert np.isnan(c).all()
