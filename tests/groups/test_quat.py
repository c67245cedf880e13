"""Quaternions: every identity of Lacoursiere (2007), chapter 13, that the library relies on, with the misprints corrected."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.linalg
from numba import njit
from scipy.spatial.transform import Rotation

from dalembert.errors import OptionError
from dalembert.groups import quat, so3
from dalembert.groups.quat import E, G, P, Q, conj, mul, to_matrix

pytestmark = pytest.mark.nojit

EPS = np.finfo(float).eps
C = np.diag([1.0, -1, -1, -1])
ONE = np.array([1.0, 0, 0, 0])
RNG = np.random.default_rng(13)
PAIRS = [tuple(RNG.normal(size=(2, 4))) for _ in range(10)]
over_pairs = pytest.mark.parametrize("p, q", PAIRS, ids=range(len(PAIRS)))


def close(a: np.ndarray | float, b: np.ndarray | float, units: float = 64) -> None:
    """64 units of round-off: sums of up to 16 products of numbers of size 3."""
    np.testing.assert_allclose(a, b, rtol=0, atol=units * EPS * (1 + np.abs(b).max()))


def unit(q: np.ndarray) -> np.ndarray:
    return quat.normalise(q)


@over_pairs
def test_product(p: np.ndarray, q: np.ndarray) -> None:
    """(13.47), (13.51), (13.52)"""
    close(mul(p, q), np.r_[p[0] * q[0] - p[1:] @ q[1:], p[0] * q[1:] + q[0] * p[1:] + np.cross(p[1:], q[1:])])
    close(mul(p, q), Q(p) @ q)
    close(mul(p, q), P(q) @ p)
    close(conj(mul(p, q)), mul(conj(q), conj(p)))
    close(mul(q, conj(q)) / (q @ q), ONE)  # inverse conj(q)/|q|^2


def test_hamilton() -> None:
    one, i, j, k = np.eye(4)
    np.testing.assert_array_equal(mul(i, j), k)
    np.testing.assert_array_equal(mul(j, k), i)
    np.testing.assert_array_equal(mul(k, i), j)
    np.testing.assert_array_equal(mul(i, i), -one)


@over_pairs
def test_product_matrices(p: np.ndarray, q: np.ndarray) -> None:
    """(13.55), (13.59) corrected, Theorem 13.16, (13.60), (13.61)"""
    close(Q(p) @ Q(q), Q(mul(p, q)))
    close(P(q) @ P(p), P(mul(p, q)))
    assert np.abs(P(q) @ P(p) - P(mul(q, p))).max() > 0.01  # the order as printed
    close(P(p) @ Q(q), Q(q) @ P(p))
    close(Q(conj(q)), Q(q).T)
    close(P(conj(q)), P(q).T)
    close(Q(q).T @ p, C @ Q(p).T @ q)
    close(P(q).T @ p, C @ P(p).T @ q)
    close(np.linalg.det(Q(q)), (q @ q) ** 2, 256)
    close(np.linalg.det(P(q)), (q @ q) ** 2, 256)


@over_pairs
def test_columns_of_the_product_matrices(p: np.ndarray, q: np.ndarray) -> None:
    """(13.62)-(13.64), (13.86), (13.92), (13.95), (13.97)"""
    n = q @ q
    np.testing.assert_array_equal(Q(q), np.column_stack([q, G(q).T]))
    np.testing.assert_array_equal(P(q), np.column_stack([q, E(q).T]))
    for M in (E, G):
        close(M(q) @ q, np.zeros(3))
        close(M(q) @ p, -M(p) @ q)
        close(M(q).T @ M(q), n * np.eye(4) - np.outer(q, q))
        close(M(q) @ M(q).T, n * np.eye(3))
        np.testing.assert_array_equal(M(ONE), np.eye(4)[1:])
    close(E(q), E(ONE) @ P(q).T)
    close(G(q), G(ONE) @ Q(q).T)
    close(E(q) @ E(p).T, E(ONE) @ E(mul(p, conj(q))).T)
    close(G(q) @ G(p).T, G(ONE) @ G(mul(conj(q), p)).T)


@over_pairs
def test_determinant_and_kernel(p: np.ndarray, q: np.ndarray) -> None:
    """Lemma 13.27; Lemma 13.22: E(p) q = 0 only for q = +-p, as |E(p) q|^2 = 1 - (p . q)^2 for unit p and q."""
    close(np.linalg.det(E(q) @ G(p).T), (q @ q) * (p @ p) * (q @ p), 512)
    p, q = unit(p), unit(q)
    for M in (E, G):
        close((M(p) @ q) @ (M(p) @ q), 1 - (p @ q) ** 2)


@over_pairs
def test_rotation(p: np.ndarray, q: np.ndarray) -> None:
    """(13.73)-(13.75), (13.99)"""
    p, q = unit(p), unit(q)
    R, s, v = to_matrix(q), q[0], q[1:]
    hat, one = so3.hat(v), np.eye(3)
    x = np.array([0.3, -1.2, 0.7])
    close(mul(mul(q, np.r_[0, x]), conj(q)), np.r_[0, R @ x])
    close(Q(q) @ P(q).T, scipy.linalg.block_diag(1, R))
    close(R, E(q) @ G(q).T)
    close(R, (2 * s * s - 1) * one + 2 * np.outer(v, v) + 2 * s * hat)
    close(R, one + 2 * s * hat + 2 * hat @ hat)
    close(to_matrix(unit(mul(p, q))), to_matrix(p) @ R)
    np.testing.assert_array_equal(to_matrix(-q), R)
    close(R @ G(q), E(q))
    close(R.T @ E(q), G(q))
    close(R, Rotation.from_quat(q, scalar_first=True).as_matrix())


@pytest.mark.parametrize("angle", [0.0, 1e-12, 1e-6, 1e-3, 0.1, 1.0, 3.0, np.pi - 1e-9, np.pi, 4.0, 6.2])
def test_axis_and_angle(angle: float) -> None:
    """(13.81), (13.110); the three ways to turn by a rotation vector agree"""
    n = np.array([2, -1, 2]) / 3
    q = quat.exp(angle * n)
    close(q, np.r_[math.cos(angle / 2), math.sin(angle / 2) * n], 4)
    close(q, scipy.linalg.expm(Q(np.r_[0, angle * n / 2]))[:, 0])
    R = math.cos(angle) * np.eye(3) + (1 - math.cos(angle)) * np.outer(n, n) + math.sin(angle) * so3.hat(n)
    close(to_matrix(q), R, 8)
    close(so3.exp(angle * n), R, 8)


@pytest.mark.parametrize("angle", [0.0, 1e-12, 1e-6, 1e-3, 0.1, 1.0, 2.0, 2.2, 3.0, np.pi - 1e-6, np.pi - 1e-12, np.pi])
@pytest.mark.parametrize("axis", [*np.eye(3), *-np.eye(3), *RNG.normal(size=(6, 3))], ids=lambda a: f"{a[0]:.1f},{a[1]:.1f}")
def test_quaternion_of_a_matrix(angle: float, axis: np.ndarray) -> None:
    """(13.83) corrected to q_s^2 = (1 + tr R)/4, and (13.84), (13.85); every branch of the choice of a row."""
    q = quat.exp(angle * axis / np.linalg.norm(axis))
    R = to_matrix(q)
    got = quat.from_matrix(R)
    assert got[0] >= 0.0
    assert np.linalg.norm(got) == pytest.approx(1.0, abs=2 * EPS)
    sign = np.sign(got @ q)  # at pi q and -q are equally good
    assert sign > 0 or angle > 3.14159265
    np.testing.assert_allclose(sign * got, q, rtol=0, atol=8 * EPS * max(np.sin(angle / 2), 1e-3) + 2 * EPS)
    np.testing.assert_allclose(sign * got[1:], q[1:], rtol=0, atol=8 * EPS * np.sin(angle / 2))  # relative, even at 1e-12
    close(to_matrix(got), R, 8)
    assert got[0] ** 2 == pytest.approx((1 + np.trace(R)) / 4, abs=4 * EPS)
    close(4 * got[0] * got[1:], 2 * so3.vee(R), 8)


def test_log_takes_the_shorter_way() -> None:
    w = np.array([0.4, -1.0, 0.8])
    for q in (quat.exp(w), -quat.exp(w)):
        close(quat.log(q), w, 4)
    beyond = 4.0 * w / np.linalg.norm(w)
    close(quat.log(quat.exp(beyond)), (4.0 - 2 * np.pi) * w / np.linalg.norm(w), 8)
    np.testing.assert_array_equal(quat.log(ONE), np.zeros(3))
    np.testing.assert_array_equal(quat.log(-ONE), np.zeros(3))
    tiny = np.array([1.0, 1e-200, -3e-310, 0])
    np.testing.assert_allclose(quat.log(tiny), 2 * tiny[1:], rtol=4 * EPS)


@over_pairs
def test_kinematics(p: np.ndarray, q: np.ndarray) -> None:
    """(13.119), (13.120), Example 13.2: q(t) = exp(t w) * q turns at w in world axes, q * exp(t w') at w' in body axes."""
    q, w = unit(q), p[1:]
    d = 1e-3

    def slope(f):  # five points: 1e-12
        return (8 * (f(d) - f(-d)) - (f(2 * d) - f(-2 * d))) / (12 * d)

    world = slope(lambda t: mul(quat.exp(t * w), q))
    body = slope(lambda t: mul(q, quat.exp(t * w)))
    np.testing.assert_allclose(world, E(q).T @ w / 2, rtol=0, atol=2e-12)
    np.testing.assert_allclose(world, mul(np.r_[0, w], q) / 2, rtol=0, atol=2e-12)
    np.testing.assert_allclose(2 * E(q) @ world, w, rtol=0, atol=4e-12)
    np.testing.assert_allclose(body, G(q).T @ w / 2, rtol=0, atol=2e-12)
    np.testing.assert_allclose(body, mul(q, np.r_[0, w]) / 2, rtol=0, atol=2e-12)
    np.testing.assert_allclose(2 * G(q) @ body, w, rtol=0, atol=4e-12)
    close(2 * E(q) @ (E(q).T @ w / 2), to_matrix(q) @ (2 * G(q) @ (E(q).T @ w / 2)))  # w = R w'


def chebyshev(n: int, x: float) -> float:
    """U_n(x) of the second kind by its recurrence, U_-1 = 0."""
    before, now = 0.0, 1.0
    for _ in range(n):
        before, now = now, 2 * x * now - before
    return now if n >= 0 else 0.0


@over_pairs
def test_powers_and_exponential_of_a_full_quaternion(p: np.ndarray, q: np.ndarray) -> None:
    """(13.30), and (13.106) with the constant a_0, judged by repeated products and by expm."""
    size = np.linalg.norm(q)
    x = q[0] / size
    for n in range(1, 7):
        right = size ** (n - 1) * chebyshev(n - 1, x) * Q(q) - size**n * chebyshev(n - 2, x) * np.eye(4)
        close(np.linalg.matrix_power(Q(q), n), right, 256)
    a = [1 / math.factorial(n) for n in range(60)]
    scalar = a[0] - sum(a[n + 2] * size ** (n + 2) * chebyshev(n, x) for n in range(58))
    vector = sum(a[n + 1] * size**n * chebyshev(n, x) for n in range(58))
    np.testing.assert_allclose(scalar * ONE + vector * q, scipy.linalg.expm(Q(q))[:, 0], rtol=0, atol=1e-13 * math.exp(size))


def test_rates_of_euler_angles() -> None:
    """(13.129) with the corrected order of the rates: R = R3(psi) R1(theta) R3(phi)."""
    psi, theta, phi = 0.4, 1.1, -0.7
    rates, d = np.array([0.3, -0.9, 0.5]), 1e-3
    e1, _, e3 = np.eye(3)

    def attitude(t):
        a, b, c = np.array([psi, theta, phi]) + t * rates
        return so3.exp(a * e3) @ so3.exp(b * e1) @ so3.exp(c * e3)

    R_dot = (8 * (attitude(d) - attitude(-d)) - (attitude(2 * d) - attitude(-2 * d))) / (12 * d)
    c, s, ct, st = math.cos(psi), math.sin(psi), math.cos(theta), math.sin(theta)
    T = np.array([[0, c, s * st], [0, s, -c * st], [1, 0, ct]])
    np.testing.assert_allclose(so3.vee(R_dot @ attitude(0).T), T @ rates, rtol=0, atol=2e-12)


def test_what_is_no_unit_quaternion_is_refused() -> None:
    for function in (quat.to_matrix, quat.log):
        with pytest.raises(OptionError, match=rf"quat\.{function.__name__}: q is not a unit quaternion: .* = 1; see quat\.normalise"):
            function([2, 0, 0, 0])
    with pytest.raises(OptionError, match=r"quat\.normalise: q is zero"):
        quat.normalise([0, 0, 0, 0])
    with pytest.raises(OptionError, match="do not fit each other"):
        quat.mul(np.ones((2, 4)), np.ones((3, 4)))
    assert quat.mul(np.ones((2, 1, 4)), np.ones((3, 4))).shape == (2, 3, 4)


def test_a_users_compiled_integrator() -> None:
    """A thousand steps at constant rate end where one exponential ends; round-off of a thousand products."""

    @njit
    def spin(q, w, h, n):
        for _ in range(n):
            q = quat.normalise(quat.mul(p=q, q=quat.exp(h * w)))
        return q, so3.log(quat.to_matrix(q)), so3.exp((0.0, 0.0, 0.5))

    w = np.array([0.3, -0.2, 0.9])
    q, vector, turn = spin(ONE, w, 1e-3, 1000)
    close(q, quat.exp(w), 1000)
    close(vector, w, 2000)
    np.testing.assert_array_equal(turn, so3.exp([0, 0, 0.5]))
