"""SE(3) against 30-digit reference vectors (which order twists (v, w)), and the Cayley map as printed against its tangent."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.linalg
from numba import njit
from numba.core.runtime import _nrt_python as runtime

from dalembert.groups import se2, se3, so3
from dalembert.kernels import se3 as kernels

EPS = np.finfo(float).eps
CASES = json.loads((Path(__file__).parents[1] / "data" / "so3_se3_vectors.json").read_text())["cases"]
over_cases = pytest.mark.parametrize("case", CASES, ids=[f"{c['angle']}-{i % 3}" for i, c in enumerate(CASES)])
ANGULAR_FIRST = [3, 4, 5, 0, 1, 2]


def numbers(strings: Any) -> np.ndarray:
    return np.array(strings, dtype=object).astype(float)


def reordered(strings: Any) -> np.ndarray:
    return numbers(strings)[np.ix_(ANGULAR_FIRST, ANGULAR_FIRST)]


def twist(case: dict[str, Any]) -> np.ndarray:
    return np.r_[numbers(case["w"]), numbers(case["v"])]


def agree(a: np.ndarray, b: np.ndarray, tolerance: float = 1e-14) -> None:
    """Relative to the largest element."""
    np.testing.assert_allclose(a, b, rtol=0, atol=tolerance * np.abs(b).max())


def inverse(strings: list[list[str]]) -> np.ndarray:
    """Gauss-Jordan on the 30-digit numbers without rounding."""
    n = len(strings)
    T = [[*map(Fraction, row), *(Fraction(int(i == j)) for j in range(n))] for i, row in enumerate(strings)]
    for k in range(n):
        pivot = max(range(k, n), key=lambda i: abs(T[i][k]))
        T[k], T[pivot] = T[pivot], T[k]
        T[k] = [x / T[k][k] for x in T[k]]
        for i in range(n):
            if i != k:
                T[i] = [x - T[i][k] * y for x, y in zip(T[i], T[k], strict=True)]
    return np.array([[float(x) for x in row[n:]] for row in T])


@pytest.mark.nojit
@over_cases
def test_exp_dexp_and_adjoint_against_reference(case: dict[str, Any]) -> None:
    xi = twist(case)
    agree(se3.exp(xi), numbers(case["exp_SE3"]))
    agree(se3.dexp(xi), reordered(case["Jl_SE3_vw"]))
    agree(se3.Ad(numbers(case["exp_SE3"])), reordered(case["Ad_SE3_vw"]))


@pytest.mark.nojit
@over_cases
def test_dexp_inv_against_the_exact_inverse_of_the_reference(case: dict[str, Any]) -> None:
    """Near the pole at 2 pi the rounding of |w|, eps |w|, is magnified by 1/(2 pi - |w|), in the lower block twice that."""
    xi = twist(case)
    angle = np.linalg.norm(xi[:3])
    magnified = EPS * angle / abs(2 * np.pi - angle) if angle > 1 else 0.0
    exact = inverse(case["Jl_SE3_vw"])[np.ix_(ANGULAR_FIRST, ANGULAR_FIRST)]
    agree(se3.dexp_inv(xi), exact, 1e-14 + 8 * magnified)


@pytest.mark.nojit
@pytest.mark.parametrize("case", [c for c in CASES if np.linalg.norm(numbers(c["w"])) < np.pi - 1e-11])
def test_log_against_reference(case: dict[str, Any]) -> None:
    xi, got = twist(case), se3.log(numbers(case["exp_SE3"]))
    np.testing.assert_allclose(got[:3], xi[:3], rtol=0, atol=4e-15 * np.linalg.norm(xi[:3]))
    agree(got[3:], xi[3:])


@pytest.mark.nojit
@pytest.mark.parametrize("angle", [0.0, 1e-12, 1e-6, 1e-3, 0.1, 0.4999, 0.5, 0.5001, 0.7, 1.0, 2.0, np.pi, 5.0])
def test_relative_accuracy_holds_for_long_levers(angle: float) -> None:
    """A linear part a million times the angular one must not spoil the angular blocks: dexp_inv dexp = 1, block by block."""
    xi = np.r_[angle * np.array([2, -1, 2]) / 3, 1e6, -2e6, 3e6]
    product = se3.dexp_inv(xi) @ se3.dexp(xi)
    np.testing.assert_allclose(product[:3], np.eye(6)[:3], rtol=0, atol=64 * EPS)
    np.testing.assert_allclose(product[3:] / 4e6, np.eye(6)[3:] / 4e6, rtol=0, atol=64 * EPS)


@pytest.mark.nojit
def test_adjoint_ad_and_inverse_by_their_definitions() -> None:
    rng = np.random.default_rng(3)
    xi, eta, g = rng.normal(size=6), rng.normal(size=6), se3.exp(rng.normal(size=6))
    np.testing.assert_allclose(se3.inv(g) @ g, np.eye(4), rtol=0, atol=8 * EPS)
    np.testing.assert_allclose(se3.hat(se3.Ad(g) @ xi), g @ se3.hat(xi) @ se3.inv(g), rtol=0, atol=32 * EPS)
    X, Y = se3.hat(xi), se3.hat(eta)
    np.testing.assert_allclose(se3.hat(se3.ad(xi) @ eta), X @ Y - Y @ X, rtol=0, atol=16 * EPS)
    np.testing.assert_allclose(se3.Ad(se3.exp(xi)), scipy.linalg.expm(se3.ad(xi)), rtol=0, atol=1e-13)
    np.testing.assert_allclose(se3.Ad(se3.inv(g)) @ se3.Ad(g), np.eye(6), rtol=0, atol=32 * EPS)
    out = np.empty((4, 4))
    kernels.mul(g, se3.exp(xi), out)
    np.testing.assert_allclose(out, g @ se3.exp(xi), rtol=0, atol=8 * EPS)


@pytest.mark.nojit
def test_plane_is_a_part_of_space() -> None:
    """SE(2) is SE(3) with rotation about z and translation in x, y."""
    xi = np.array([1.2, 0.3, -0.8])
    space = np.array([0, 0, 1.2, 0.3, -0.8, 0])
    pose, tangent = np.ix_([0, 1, 3], [0, 1, 3]), np.ix_([2, 3, 4], [2, 3, 4])
    for name in ("exp", "cay"):
        np.testing.assert_allclose(getattr(se2, name)(xi), getattr(se3, name)(space)[pose], rtol=0, atol=4 * EPS)
    for name in ("dexp", "dexp_inv", "dcay", "dcay_inv"):
        np.testing.assert_allclose(getattr(se2, name)(xi), getattr(se3, name)(space)[tangent], rtol=0, atol=4 * EPS)


def printed_cay(xi: np.ndarray) -> np.ndarray:
    """Kobilarov (2014), equation (54) as printed: the translation lacks w w^T/2."""
    w, v = xi[:3], xi[3:]
    g = np.eye(4)
    g[:3, :3] = so3.cay(w)
    g[:3, 3] = 2 / (4 + w @ w) * (2 * np.eye(3) + so3.hat(w)) @ v
    return g


def tangent_by_differences(tau: Any, xi: np.ndarray) -> np.ndarray:
    """Right-trivialised, five points at 1e-3: good to about 1e-12."""
    d = 1e-3
    inverse = np.linalg.inv(tau(xi))
    slopes = [(8 * (tau(xi + e) - tau(xi - e)) - (tau(xi + 2 * e) - tau(xi - 2 * e))) / (12 * d) for e in d * np.eye(6)]
    return np.column_stack([se3.vee(slope @ inverse) for slope in slopes])


@pytest.mark.nojit
def test_cayley_translation_as_printed_is_not_the_map_of_the_printed_tangent() -> None:
    """(55) is the tangent of the corrected (54), and misses the printed one by far more than the differences can."""
    xi = np.array([0.3, 0.8, 0.5, 0.1, 0.4, 0.2])
    np.testing.assert_allclose(se3.dcay(xi), tangent_by_differences(se3.cay, xi), rtol=0, atol=1e-11)
    assert np.abs(se3.dcay(xi) - tangent_by_differences(printed_cay, xi)).max() > 0.05
    corrected = 2 / (4 + xi[:3] @ xi[:3]) * (2 * np.eye(3) + so3.hat(xi[:3]) + np.outer(xi[:3], xi[:3]) / 2) @ xi[3:]
    np.testing.assert_allclose(se3.cay(xi)[:3, 3], corrected, rtol=0, atol=4 * EPS)


@njit
def _all_kernels(n, xi, g, out4, out6, out_vector):
    for _ in range(n):
        kernels.hat(xi, out4)
        kernels.vee(out4, out_vector)
        kernels.exp(xi, out4)
        kernels.cay(xi, out4)
        kernels.inv(g, out4)
        kernels.mul(g, g, out4)
        kernels.dexp(xi, out6)
        kernels.dexp_inv(xi, out6)
        kernels.dcay(xi, out6)
        kernels.dcay_inv(xi, out6)
        kernels.Ad(g, out6)
        kernels.ad(xi, out6)
        kernels.log(g, out_vector)
        kernels.cay_inv(g, out_vector)


def test_kernels_allocate_nothing() -> None:
    """As many allocations in one round as in a thousand."""
    counts = []
    arguments = (np.array([0.1, 0.2, 0.9, 1, 2, 3]), np.eye(4), np.empty((4, 4)), np.empty((6, 6)), np.empty(6))
    _all_kernels(1, *arguments)
    runtime.memsys_enable_stats()
    for n in (1, 1000):
        before = runtime.memsys_get_stats_alloc()
        _all_kernels(n, *arguments)
        counts.append(runtime.memsys_get_stats_alloc() - before)
    runtime.memsys_disable_stats()
    assert counts[0] == counts[1]
