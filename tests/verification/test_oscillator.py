"""Closed laws of oscillators against matrix powers, eigenvalue routines, an integrator, and the figures of lacoursiere2007, ch. 2, 3, 5."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import expm
from scipy.optimize import minimize_scalar

from dalembert.errors import OptionError, UnknownNameError
from dalembert.verification.oscillator import (
    ALPHA_BETA,
    AlphaBeta,
    amplitude_factor,
    area_factor,
    damped_oscillator,
    named_power,
    stability_function,
)

EPS = np.finfo(float).eps
MEMBERS = [(1.0, 1.0), (0.0, 0.0), (0.5, 0.5), (1.0, 0.0), (0.0, 1.0), (0.3, 0.9), (0.25, 0.75), (0.6, 0.1)]


def step(alpha, beta, h):
    """The two implicit equations of the family, solved as a linear system."""
    left = np.array([[1.0, -h * (1 - alpha)], [h * (1 - beta), 1.0]])
    return np.linalg.solve(left, np.array([[1.0, h * alpha], [-h * beta, 1.0]]))


@pytest.mark.parametrize(("alpha", "beta"), MEMBERS)
@pytest.mark.parametrize("h", [0.05, 0.5, 1.0, 1.9999, 2.0, 2.0001, 5.0])
def test_matrix_and_eigenvalues(alpha, beta, h):
    member = AlphaBeta(alpha, beta, h)
    A = step(alpha, beta, h)
    assert np.max(np.abs(member.matrix - A)) < 8 * EPS * np.linalg.cond(A) * (1 + h * h)
    assert member.det == pytest.approx(np.linalg.det(A), rel=1e-13)
    plus, minus = member.eigenvalues
    trace, det = np.trace(A), np.linalg.det(A)
    assert abs(plus + minus - trace) < 1e-14 * (1 + h * h)
    assert abs(plus * minus - det) < 1e-14 * (1 + h * h)
    assert abs(member.growth - max(abs(np.linalg.eigvals(A)))) < 1e-7  # a double root moves by sqrt(eps)
    if plus.imag > 0.0:
        assert member.phase == pytest.approx(np.angle(plus), abs=1e-15)


@pytest.mark.parametrize(("alpha", "beta"), MEMBERS)
@pytest.mark.parametrize("h", [0.05, 0.5, 1.0, 1.9999, 2.0, 2.0001, 2.3])
def test_powers(alpha, beta, h):
    """(2.21), complex, double and real pairs. Squaring and multiplying loses about k eps of the largest power."""
    member, k = AlphaBeta(alpha, beta, h), np.arange(0, 41)
    exact = np.array([np.linalg.matrix_power(member.matrix, int(n)) for n in k])
    scale = np.maximum.accumulate(np.max(np.abs(exact), axis=(1, 2)))[:, None, None]
    amplification = np.arange(1, 42)[:, None, None] ** 2  # a Jordan block differentiates: k times the k rounding errors
    assert np.all(np.abs(member.power(k) - exact) < 8 * EPS * amplification * scale)
    assert np.allclose(member.state([10.0, 3.0], 7), exact[7] @ [10.0, 3.0], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("alpha", "beta"), MEMBERS)
def test_form_is_multiplied_by_the_determinant(alpha, beta):
    member = AlphaBeta(alpha, beta, 0.7)
    z, first = np.array([1.2, -0.4]), member.form([1.2, -0.4])
    for k in range(1, 200):
        z = member.matrix @ z
        assert member.form(z) == pytest.approx(member.det**k * first, rel=1e-13)


def test_form_of_symplectic_euler():
    """x^2 + v^2 + h x v for (1, 0), minus for (0, 1)."""
    assert AlphaBeta(1.0, 0.0, 0.5).form([2.0, 3.0]) == 4.0 + 9.0 + 0.5 * 6.0
    assert AlphaBeta(0.0, 1.0, 0.5).form([2.0, 3.0]) == 4.0 + 9.0 - 0.5 * 6.0


@pytest.mark.parametrize(("alpha", "h"), [(1.0, 0.5), (0.0, 0.5), (0.5, 3.0), (0.8, 1.5), (1.0, 1.99)])
def test_modified_energy_generates_the_step(alpha, h):
    """The flow of the modified Hamiltonian over h, by the matrix exponential, is the step."""
    member = AlphaBeta(alpha, 1.0 - alpha, h)
    unit = np.eye(2)
    hessian = np.array(
        [[member.modified_energy(a + b) - member.modified_energy(a) - member.modified_energy(b) for a in unit] for b in unit]
    )
    flow = expm(h * np.array([[0.0, 1.0], [-1.0, 0.0]]) @ hessian)
    assert np.max(np.abs(flow - member.matrix)) < 1e-12


@pytest.mark.parametrize("name", ALPHA_BETA)
@pytest.mark.parametrize("h", [0.05, 0.2, 0.5, 1.9])
def test_named_powers(name, h):
    for k in (0, 1, 2, 7, 30):
        exact = np.linalg.matrix_power(AlphaBeta(*ALPHA_BETA[name], h).matrix, k)
        assert np.max(np.abs(named_power(name, h, k) - exact)) < 1e-12 * max(1.0, np.max(np.abs(exact)))


def test_phases():
    h = 0.7
    assert AlphaBeta(1, 1, h).phase == pytest.approx(np.arctan(h), rel=1e-15)
    assert AlphaBeta(0, 0, h).phase == pytest.approx(np.arctan(h), rel=1e-15)
    assert np.tan(0.5 * AlphaBeta(0.5, 0.5, h).phase) == pytest.approx(0.5 * h, rel=1e-15)
    assert np.cos(AlphaBeta(1, 0, h).phase) == pytest.approx(1 - 0.5 * h * h, rel=1e-15)
    assert AlphaBeta(0, 0, 1e8).phase == pytest.approx(0.5 * np.pi, abs=2e-8)  # a period of four steps


def test_norm_after_ten_steps():
    """From (10, 0): explicit Euler 10.126, 12.167, 30.52; implicit Euler 9.876, 8.219, 3.277 (to the digits shown)."""
    for h, explicit, implicit in [(0.05, 10.126, 9.876), (0.2, 12.167, 8.219), (0.5, 30.52, 3.277)]:
        assert np.linalg.norm(AlphaBeta(1, 1, h).state([10.0, 0.0], 10)) == pytest.approx(explicit, abs=6e-3 if h == 0.5 else 6e-4)
        assert np.linalg.norm(AlphaBeta(0, 0, h).state([10.0, 0.0], 10)) == pytest.approx(implicit, abs=6e-4)


@pytest.mark.parametrize(("h", "passes"), [(0.5, 4), (0.2, 21), (0.05, 325)])
def test_explicit_euler_leaves_the_picture(h, passes):
    radius = np.linalg.norm(AlphaBeta(1, 1, h).state([10.0, 0.0], np.arange(400)), axis=1)
    assert np.argmax(radius > 15.0) == passes


@pytest.mark.parametrize(("h", "low", "high"), [(0.5, 8.944, 11.547), (0.2, 9.535, 10.541)])
def test_radii_of_the_symplectic_ellipse(h, low, high):
    """[10 / sqrt(1 + h/2), 10 / sqrt(1 - h/2)]; 1e5 steps come within 1e-6 of both ends. Midpoint: 10 exactly."""
    radius = np.linalg.norm(AlphaBeta(1, 0, h).state([10.0, 0.0], np.arange(100_000)), axis=1)
    assert radius.min() == pytest.approx(10 / np.sqrt(1 + 0.5 * h), abs=1e-6)
    assert radius.max() == pytest.approx(10 / np.sqrt(1 - 0.5 * h), abs=1e-6)
    assert (radius.min(), radius.max()) == pytest.approx((low, high), abs=6e-4)
    middle = np.linalg.norm(AlphaBeta(0.5, 0.5, h).state([10.0, 0.0], np.arange(1000)), axis=1)
    assert np.max(np.abs(middle - 10.0)) < 1e-13


# ---- Runge-Kutta methods


def taylor_step(name, x):
    """The step on the real system, with its stages: what |R| must be the determinant of."""
    B = x * np.array([[0.0, 1.0], [-1.0, 0.0]])
    I = np.eye(2)
    k1 = B
    if name == "explicit Euler":
        return I + B
    if name == "implicit Euler":
        return np.linalg.inv(I - B)
    if name == "implicit midpoint":
        return np.linalg.solve(I - 0.5 * B, I + 0.5 * B)
    if name == "RK2":
        return I + B @ (I + 0.5 * k1)
    if name == "RK3":  # Heun, b = (1/4, 0, 3/4)
        k2 = B @ (I + k1 / 3)
        k3 = B @ (I + 2 * k2 / 3)
        return I + k1 / 4 + 3 * k3 / 4
    k2 = B @ (I + 0.5 * k1)
    k3 = B @ (I + 0.5 * k2)
    k4 = B @ (I + k3)
    return I + (k1 + 2 * k2 + 2 * k3 + k4) / 6


@pytest.mark.parametrize("name", ["explicit Euler", "implicit Euler", "implicit midpoint", "RK2", "RK3", "RK4"])
def test_stability_functions(name):
    for x in (0.1, 0.7, 1.5, 2.5, 3.0):
        A, R = taylor_step(name, x), stability_function(name, 1j * x)
        assert np.max(np.abs(A - np.array([[R.real, R.imag], [-R.imag, R.real]]))) < 1e-14 * (1 + x**4)
        assert area_factor(name, x) == pytest.approx(np.linalg.det(A), rel=1e-13)
        assert amplitude_factor(name, x) == pytest.approx(abs(R), rel=1e-13)


def test_area_of_the_cat():
    """One step of Verlet and of midpoint keeps areas; RK2 1.0004 and 1.25, implicit Euler 0.9615 and 0.5 at h omega = 1/5 and 1."""
    for x, rk2, implicit in [(0.2, 1.0004, 0.9615), (1.0, 1.25, 0.5)]:
        assert area_factor("RK2", x) == pytest.approx(rk2, abs=1e-15)
        assert area_factor("implicit Euler", x) == pytest.approx(implicit, abs=5e-5)
        assert area_factor("Verlet", x) == area_factor("implicit midpoint", x) == 1.0
    cat = np.array([[0.0, 1.0], [0.4, 1.6], [0.8, 1.1], [0.7, 0.2], [0.0, -0.1], [-0.6, 0.3]])

    def area(p):
        return 0.5 * np.sum(p[:, 0] * np.roll(p[:, 1], -1) - p[:, 1] * np.roll(p[:, 0], -1))

    for name in ("RK2", "implicit Euler", "implicit midpoint"):
        assert area(cat @ taylor_step(name, 0.2).T) == pytest.approx(area_factor(name, 0.2) * area(cat), rel=1e-13)


def test_minima_of_rk3_and_rk4():
    """RK3: least sqrt(8/9) = .9428 at sqrt 2, 1 again at sqrt 3. RK4: least 1/2 at sqrt 6, 1 again at sqrt 8."""
    for name, at, least, end, shown in [("RK3", np.sqrt(2), np.sqrt(8 / 9), np.sqrt(3), 0.9428), ("RK4", np.sqrt(6), 0.5, np.sqrt(8), 0.5)]:
        found = minimize_scalar(
            lambda x, name=name: float(amplitude_factor(name, x)), bounds=(0.5, 3.0), method="bounded", options={"xatol": 1e-10}
        )
        assert found.x == pytest.approx(at, abs=1e-6)
        assert found.fun == pytest.approx(least, abs=1e-14)
        assert least == pytest.approx(shown, abs=5e-5)
        assert amplitude_factor(name, end) == pytest.approx(1.0, abs=1e-14)
        x = np.linspace(0.05, end - 0.01, 200)
        assert np.all(amplitude_factor(name, x) < 1.0)
    assert (np.sqrt(3), np.sqrt(6), np.sqrt(8)) == pytest.approx((1.7321, 2.4495, 2.8284), abs=5e-5)


def test_loss_per_step_of_rk4():
    for x, percent in [(1.5, 5.86), (2.0, 25.5), (2.5, 49.2)]:
        assert 100 * (1 - amplitude_factor("RK4", x)) == pytest.approx(percent, abs=0.051 if x > 1.5 else 0.0051)


def test_orders_five_and_six_are_not_stable_near_zero():
    """'Stable for every order from 3' is not so: |R| > 1 for orders 5 and 6 at small x."""
    for order in (5, 6):
        R = sum((0.5j) ** j / float(np.prod(np.arange(1, j + 1))) for j in range(order + 1))
        assert abs(R) > 1.0


# ---- damped oscillator


@pytest.mark.parametrize("zeta", [0.0, 0.1, 0.999999, 1.0, 1.000001, 2.5, 30.0])
def test_damped_oscillator(zeta):
    """DOP853, rtol 1e-13, shares nothing with the closed form."""
    s = np.linspace(0.0, 8.0, 33)
    y = solve_ivp(lambda _, y: [y[1], -2 * zeta * y[1] - y[0]], (0, 8), [0.7, -1.3], "DOP853", s, rtol=1e-13, atol=1e-15).y
    u, rate = damped_oscillator(s, zeta, 0.7, -1.3)
    assert np.max(np.abs(u - y[0])) < 1e-11
    assert np.max(np.abs(rate - y[1])) < 1e-11


def test_strong_damping_does_not_overflow():
    u, rate = damped_oscillator(1e4, 1e3, 1.0, 0.0)
    assert u == pytest.approx(np.exp(-1e4 / (1e3 + np.sqrt(1e6 - 1))), rel=1e-5)
    assert rate < 0.0


def test_bad_arguments():
    with pytest.raises(OptionError, match=r"alpha, beta = 1\.5"):
        AlphaBeta(1.5, 0.0, 0.1)
    with pytest.raises(OptionError, match="positive step"):
        AlphaBeta(1.0, 0.0, 0.0)
    with pytest.raises(OptionError, match="not negative"):
        AlphaBeta(1.0, 0.0, 0.1).power(-1)
    with pytest.raises(OptionError, match="areas are kept"):
        AlphaBeta(1.0, 1.0, 0.1).modified_energy([1.0, 0.0])
    with pytest.raises(OptionError, match="less than 2"):
        named_power("symplectic Euler", 2.5, 3)
    for call in (lambda: named_power("Euler", 0.1, 1), lambda: stability_function("RK5", 0.1), lambda: area_factor("RK5", 0.1)):
        with pytest.raises(UnknownNameError, match="Known"):
            call()
