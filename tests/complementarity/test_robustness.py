"""Whatever is given: an answer that the judge accepts, an honest status, or an error that names what is wrong."""

import numpy as np
import pytest

from dalembert.complementarity import MEANING, judge, lcp, methods
from dalembert.errors import OptionError

NAMES = [m.name for m in methods()]
EACH = pytest.mark.parametrize("method", NAMES)
I2 = np.eye(2)


def honest(result, M, q, lower=None, upper=None):
    assert result.status in MEANING
    assert np.isfinite(result.z).all()
    assert result.solved == judge(M, q, result.z, lower, upper).solved()


@EACH
@pytest.mark.parametrize("scale", [1e-150, 1e-75, 1e75, 1e150])
def test_huge_and_tiny_numbers(method, scale) -> None:
    M, q = np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([-5.0, -6.0])
    exact = np.array([4.0, 7.0]) / 3.0
    for a, b in ((scale, 1.0), (1.0, scale), (scale, scale)):
        result = lcp(a * M, b * q, method=method)
        assert result.solved
        np.testing.assert_allclose(result.z * (a / b), exact, rtol=1e-12)


@EACH
@pytest.mark.parametrize("M", [np.zeros((3, 3)), np.ones((3, 3)), np.diag([1.0, 0.0, -1.0]), np.full((3, 3), 1e-320), -np.ones((3, 3))])
@pytest.mark.parametrize("q", [[1.0, 1.0, 1.0], [-1.0, 1.0, -1.0], [0.0, 0.0, 0.0], [-1e300, 1e-300, 0.0]])
def test_singular_matrices(method, M, q) -> None:
    honest(lcp(M, q, method=method), M, q)


@EACH
def test_duplicated_rows(method) -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        J = rng.standard_normal((4, 3))[[0, 1, 2, 3, 0, 1]]
        M, q = J @ J.T, J @ rng.standard_normal(3)
        result = lcp(M, q, method=method)
        honest(result, M, q)
        if method in ("lemke", "cottle-dantzig"):
            assert result.solved


@EACH
def test_bounds_of_every_kind_at_once(method) -> None:
    """Fixed at one number, fixed at zero, one-sided either way, none, a box far away, a box of round-off width."""
    M = np.diag(np.arange(1.0, 8.0)) + 0.1
    lower = np.array([2.0, 0.0, -np.inf, 1.0, -np.inf, 1e9, 1.0])
    upper = np.array([2.0, 0.0, -1.0, np.inf, np.inf, 2e9, 1.0 + 1e-15])
    q = np.array([1.0, -1.0, 5.0, -9.0, 3.0, -1.0, 2.0])
    result = lcp(M, q, lower, upper, method=method)
    honest(result, M, q, lower, upper)
    assert result.solved or method == "psor"
    assert result.z[0] == 2.0 and result.z[1] == 0.0


@EACH
def test_one_number(method) -> None:
    assert lcp([[2.0]], [-4.0], method=method).z == 2.0
    assert lcp([[0.0]], [1.0], method=method).z == 0.0
    assert lcp([[3.0]], [-4.0], lower=5.0, upper=5.0, method=method).z == 5.0
    assert lcp([[1.0]], [-4.0], lower=-np.inf, method=method).z == 4.0


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"M": np.full((2, 2), np.nan)}, r"M\[0, 0\] is nan"),
        ({"M": np.array([[1.0, 0.0], [0.0, -np.inf]])}, r"M\[1, 1\] is -inf"),
        ({"q": [np.nan, 0.0]}, r"q\[0\] is nan"),
        ({"q": []}, r"q has shape \(0,\)"),
        ({"M": np.eye(3)}, r"q has shape \(2,\)"),
        ({"M": np.zeros((2, 2, 2))}, r"M has shape \(2, 2, 2\)"),
        ({"M": [[1.0, 2.0], [3.0]]}, "M cannot be read"),
        ({"lower": [1.0, 1.0], "upper": [0.0, 2.0]}, r"bounds of z\[0\]"),
        ({"lower": [0.0, np.nan]}, r"bounds of z\[1\]"),
        ({"upper": [1.0]}, r"upper has shape \(1,\)"),
        ({"start": [np.nan, 0.0]}, r"start\[0\] is nan"),
        ({"start": [1.0]}, r"start has shape \(1,\)"),
        ({"tol": float("nan")}, "tol is nan"),
        ({"max_pivots": 1.5}, "max_pivots is 1.5"),
        ({"max_pivots": True}, "max_pivots is True"),
    ],
)
def test_what_cannot_be_is_named(given, words) -> None:
    with pytest.raises(OptionError, match=words):
        lcp(**{"M": I2, "q": -np.ones(2), **given})


def test_any_layout_of_numbers_is_read() -> None:
    M, q = np.array([[2.0, 1.0], [0.5, 2.0]]), np.array([-5.0, -6.0])
    expected = lcp(M, q).z
    wide = np.zeros((4, 4))
    wide[::2, ::2] = M
    read_only = M.copy()
    read_only.flags.writeable = False
    buffer = np.frombuffer(b"\0" + M.tobytes(), dtype=np.uint8)[1:].view(np.float64).reshape(2, 2)  # not aligned
    for given in (M.tolist(), np.asfortranarray(M), wide[::2, ::2], M.astype(">f8"), M.astype(np.float32), read_only, buffer):
        np.testing.assert_array_equal(lcp(given, q).z, expected)
    np.testing.assert_array_equal(lcp(M, [-5, -6]).z, expected)


def test_threads_do_not_share_their_workspace() -> None:
    from concurrent.futures import ThreadPoolExecutor

    from dalembert.complementarity.generators import random_boxed

    rng = np.random.default_rng(1)
    problems = [random_boxed(int(rng.integers(5, 40)), 1e3, rng) for _ in range(60)]
    alone = [lcp(*p).z for p in problems]
    with ThreadPoolExecutor(4) as pool:
        for _ in range(3):
            for a, b in zip(alone, pool.map(lambda p: lcp(*p).z, problems), strict=True):
                np.testing.assert_array_equal(a, b)
