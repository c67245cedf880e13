"""SE(2) against 30-digit reference vectors, which order twists (x, y, angle)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba import njit
from numba.core.runtime import _nrt_python as runtime

from dalembert.groups import se2
from dalembert.kernels import se2 as kernels

EPS = np.finfo(float).eps
CASES = json.loads((Path(__file__).parents[1] / "data" / "se2_vectors.json").read_text())["cases"]
over_cases = pytest.mark.parametrize("case", CASES, ids=[c["theta"] for c in CASES])
ANGULAR_FIRST = np.ix_([2, 0, 1], [2, 0, 1])


def numbers(strings: Any) -> np.ndarray:
    return np.array(strings, dtype=object).astype(float)


def agree(a: np.ndarray, b: np.ndarray) -> None:
    """1e-14 of the largest element."""
    np.testing.assert_allclose(a, b, rtol=0, atol=1e-14 * np.abs(b).max())


@pytest.mark.nojit
@over_cases
def test_against_reference(case: dict[str, Any]) -> None:
    xi = numbers([case["theta"], case["x"], case["y"]])
    g, D = numbers(case["exp"]), numbers(case["Jl"])[ANGULAR_FIRST]
    agree(se2.exp(xi), g)
    agree(se2.dexp(xi), D)
    agree(se2.dexp_inv(xi), np.linalg.inv(D))
    if abs(xi[0]) <= np.pi:
        agree(se2.log(g), xi)


@pytest.mark.nojit
def test_a_body_at_constant_twist_drives_a_circle() -> None:
    """Speed v, rate w: the circle of radius v/w about (0, v/w)."""
    for t in (0.1, 1.0, 3.0, 6.0):
        x, y = se2.exp(t * np.array([0.5, 2.0, 0.0]))[:2, 2]
        assert (x, y) == pytest.approx((4 * np.sin(0.5 * t), 4 * (1 - np.cos(0.5 * t))), abs=8 * EPS)


@pytest.mark.nojit
def test_log_at_a_half_turn_has_either_sign() -> None:
    assert se2.log(np.diag([-1.0, -1.0, 1.0]))[0] == np.pi
    assert abs(se2.log(se2.exp([-np.pi, 1, 2]))[0]) == pytest.approx(np.pi, abs=4 * EPS)


@njit
def _all_kernels(n, xi, g, out, out_vector):
    for _ in range(n):
        kernels.hat(xi, out)
        kernels.vee(out, out_vector)
        kernels.exp(xi, out)
        kernels.cay(xi, out)
        kernels.dexp(xi, out)
        kernels.dexp_inv(xi, out)
        kernels.dcay(xi, out)
        kernels.dcay_inv(xi, out)
        kernels.log(g, out_vector)
        kernels.cay_inv(g, out_vector)


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
