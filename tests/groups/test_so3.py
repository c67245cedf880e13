"""SO(3) against 30-digit reference vectors, its coefficients against 100-digit arithmetic, identities of the hat map."""

from __future__ import annotations

import json
from decimal import Decimal, localcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba import njit
from numba.core.runtime import _nrt_python as runtime

from dalembert.errors import OptionError
from dalembert.groups import so3
from dalembert.kernels import so3 as kernels

EPS = np.finfo(float).eps
CASES = json.loads((Path(__file__).parents[1] / "data" / "so3_se3_vectors.json").read_text())["cases"]
over_cases = pytest.mark.parametrize("case", CASES, ids=[f"{c['angle']}-{i % 3}" for i, c in enumerate(CASES)])


def numbers(strings: Any) -> np.ndarray:
    return np.array(strings, dtype=object).astype(float)


def agree(a: np.ndarray, b: np.ndarray, tolerance: float = 1e-14) -> None:
    """Relative to the largest element."""
    np.testing.assert_allclose(a, b, rtol=0, atol=tolerance * np.abs(b).max())


@pytest.mark.nojit
@over_cases
def test_exp_and_dexp_against_reference(case: dict[str, Any]) -> None:
    w = numbers(case["w"])
    agree(so3.exp(w), numbers(case["exp_SO3"]))
    agree(so3.dexp(w), numbers(case["Jl_SO3"]))
    agree(so3.dexp(-w), numbers(case["Jl_SO3"]).T)  # right Jacobian


@pytest.mark.nojit
@over_cases
def test_dexp_inv_against_reference(case: dict[str, Any]) -> None:
    """Near the pole at 2 pi the rounding of |w| itself, eps |w|, is magnified by 1/(2 pi - |w|)."""
    w = numbers(case["w"])
    angle = np.linalg.norm(w)
    magnified = EPS * angle / abs(2 * np.pi - angle) if angle > 1 else 0.0
    agree(so3.dexp_inv(w), numbers(case["Jl_inv_SO3"]), 1e-14 + 4 * magnified)


@pytest.mark.nojit
@pytest.mark.parametrize("case", [c for c in CASES if np.linalg.norm(numbers(c["w"])) < np.pi - 1e-11 and numbers(c["w"]).any()])
def test_log_against_reference(case: dict[str, Any]) -> None:
    """The reference matrix is rounded once, so near pi its angle is uncertain by eps; relative to |w| even at 1e-12."""
    agree(so3.log(numbers(case["exp_SO3"])), numbers(case["w"]), 4e-15)


@pytest.mark.nojit
@pytest.mark.parametrize("axis", np.vstack([np.eye(3), -np.eye(3), [[0.6, 0.8, 0], [0, -0.6, 0.8], [2 / 3, -1 / 3, 2 / 3]]]), ids=str)
def test_log_of_an_exact_half_turn(axis: np.ndarray) -> None:
    R = 2 * np.outer(axis, axis) - np.eye(3)
    w = so3.log(R)
    assert np.linalg.norm(w) == pytest.approx(np.pi, abs=4 * EPS)
    np.testing.assert_allclose(np.outer(w, w) / np.pi**2, np.outer(axis, axis), rtol=0, atol=8 * EPS)


@pytest.mark.nojit
def test_exp_of_many_turns() -> None:
    """k whole turns about an axis are the identity, within the rounding of the angle."""
    for k in (1, 10, 1000, 10**6):
        np.testing.assert_allclose(so3.exp([0, 0, 2 * np.pi * k]), np.eye(3), rtol=0, atol=2 * np.pi * k * EPS)


def series(theta: float) -> dict[str, float]:
    """All coefficients to about 50 digits, from the power series of sine and cosine only."""
    with localcontext() as context:
        context.prec = 110
        t = Decimal(theta) ** 2
        sinc, cos, half_sinc, half_cos = (Decimal(0) for _ in range(4))
        term = Decimal(1)  # (-t)^k / (2k)!
        for k in range(60):
            cos += term
            half_cos += term / 4**k
            sinc += term / (2 * k + 1)
            half_sinc += term / (2 * k + 1) / 4**k
            term *= -t / ((2 * k + 1) * (2 * k + 2))
        B, C = (1 - cos) / t, (1 - sinc) / t
        gamma = half_cos / half_sinc
        return {
            "A": float(sinc),
            "B": float(B),
            "C": float(C),
            "B_dot": float((sinc - 2 * B) / t),
            "C_dot": float((B - 3 * C) / t),
            "E": float((1 - gamma) / t),
            "E_dot": float((1 / half_sinc**2 + gamma - 2) / t**2),
        }


def coefficients(theta: float) -> dict[str, float]:
    t = theta * theta
    names = ("A", "B", "C", "B_dot", "C_dot", "E", "E_dot")
    return dict(zip(names, (*kernels.exp_coefficients(t), *kernels.exp_slopes(t), *kernels.inverse_coefficients(t)), strict=True))


@pytest.mark.nojit
@pytest.mark.parametrize("theta", [1e-12, 1e-9, 1e-6, 1e-3, 0.01, 0.1, 0.2, 0.3, 0.4, 0.49, 0.4999999])
def test_series_are_right_to_round_off(theta: float) -> None:
    assert coefficients(theta) == pytest.approx(series(theta), rel=3 * EPS, abs=0)


@pytest.mark.nojit
@pytest.mark.parametrize("theta", [0.5000001, 0.6, 0.8, 1.0, 1.5, 2.0, 3.0, 3.14159, 4.0, 5.0, 6.0])
def test_closed_forms_cancel_no_more_than_they_may(theta: float) -> None:
    """Cancellation: eps/t for C and E, 3 eps/t^2 for those with a dot (absolute); towards 2 pi E and E_dot are steep."""
    exact, t = series(theta), theta * theta
    steep = (2 * np.pi / (2 * np.pi - theta)) ** 3
    dotted = 6 / t**2 + 2
    units = {"A": 2, "B": 2, "C": 2 / t, "B_dot": dotted, "C_dot": dotted, "E": 4 * steep / t, "E_dot": 6 * steep / min(t, t * t)}
    for name, value in coefficients(theta).items():
        assert abs(value - exact[name]) <= units[name] * EPS, name


@pytest.mark.nojit
def test_hat_identities() -> None:
    """Lacoursiere (2007), section 13: x cross y, products, determinants, rotation of a hat."""
    rng = np.random.default_rng(1)
    x, y, w = rng.normal(size=(3, 3))
    hat, one = so3.hat, np.eye(3)
    np.testing.assert_allclose(hat(x) @ y, np.cross(x, y), rtol=0, atol=4 * EPS)
    np.testing.assert_allclose(hat(x) @ y, -hat(y) @ x, rtol=0, atol=4 * EPS)
    np.testing.assert_allclose(hat(x) @ hat(y), -(x @ y) * one + np.outer(y, x), rtol=0, atol=16 * EPS)
    np.testing.assert_allclose(hat(np.cross(x, y)), np.outer(y, x) - np.outer(x, y), rtol=0, atol=8 * EPS)
    for R in (so3.exp(w), -so3.exp(w)):
        np.testing.assert_allclose(R @ hat(x) @ R.T, np.linalg.det(R) * hat(R @ x), rtol=0, atol=16 * EPS)
    assert np.linalg.det(0.7 * one + hat(x)) == pytest.approx(0.7**3 + 0.7 * x @ x, rel=1e-14)
    assert np.linalg.det(0.7 * np.eye(3) + np.outer(x, y)) == pytest.approx(0.7**2 * (0.7 + x @ y), rel=1e-13)


@pytest.mark.nojit
@pytest.mark.parametrize("left", [True, False], ids=["H hat(x)", "hat(x) H"])
def test_inverse_of_one_plus_inertia_times_hat(left: bool) -> None:
    """Lacoursiere (2007), Lemma 13.15, with (13.36) corrected: the print has 1 + beta kappa."""
    rng = np.random.default_rng(2)
    L, x, a, b = rng.normal(size=(3, 3)), rng.normal(size=3), 0.3, 0.2
    H, one = L @ L.T + np.eye(3), np.eye(3)
    A = H @ so3.hat(x) if left else so3.hat(x) @ H
    k = np.linalg.det(H) * x @ np.linalg.solve(H, x)
    np.testing.assert_allclose(A @ A @ A, -k * A, rtol=0, atol=1e-13 * k * np.abs(A).max())
    inverse = one - a / (1 + a * a * k) * A + a * a / (1 + a * a * k) * A @ A
    np.testing.assert_allclose((one + a * A) @ inverse, one, rtol=0, atol=1e-12)
    inverse = one - b / (1 - b * k) * A @ A
    np.testing.assert_allclose((one + b * A @ A) @ inverse, one, rtol=0, atol=1e-12)


@pytest.mark.nojit
def test_vee_takes_the_antisymmetric_part() -> None:
    S = np.arange(9.0).reshape(3, 3)
    np.testing.assert_array_equal(so3.hat(so3.vee(S)), (S - S.T) / 2)


@pytest.mark.nojit
def test_what_is_no_rotation_is_refused() -> None:
    for bad, words in ((1.001 * np.eye(3), r"not a rotation: max \|R\^T R - 1\| = 0.002"), (-np.eye(3), "reflection")):
        with pytest.raises(OptionError, match=r"so3\.log: R is " + ("a " if words == "reflection" else "") + words):
            so3.log(bad)
    so3.log(so3.exp([0.1, 0.2, 0.3]) + 1e-8)  # the round-off of single precision is forgiven


@njit
def _all_kernels(n, w, R, out, out_vector):
    for _ in range(n):
        kernels.hat(w, out)
        kernels.vee(out, out_vector)
        kernels.exp(w, out)
        kernels.cay(w, out)
        kernels.dexp(w, out)
        kernels.dexp_inv(w, out)
        kernels.dcay(w, out)
        kernels.dcay_inv(w, out)
        kernels.log(R, out_vector)
        kernels.cay_inv(R, out_vector)


def test_kernels_allocate_nothing() -> None:
    """As many allocations in one round as in a thousand."""
    counts = []
    arguments = (np.array([0.1, 0.2, 0.9]), np.eye(3), np.empty((3, 3)), np.empty(3))
    _all_kernels(1, *arguments)
    runtime.memsys_enable_stats()
    for n in (1, 1000):
        before = runtime.memsys_get_stats_alloc()
        _all_kernels(n, *arguments)
        counts.append(runtime.memsys_get_stats_alloc() - before)
    runtime.memsys_disable_stats()
    assert counts[0] == counts[1]
