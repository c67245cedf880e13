"""Step advice of one rigid body: Jacobians by differences, limits by Monte Carlo and optimisation, Newton by brute force."""

import math

import numpy as np
import pytest
from scipy.linalg import solve_continuous_are
from scipy.optimize import minimize

from dalembert.errors import OptionError, UnknownNameError
from dalembert.solvability import Limit, StepAdvice, advise_rigid_body
from dalembert.solvability import body_existence as existence
from dalembert.solvability import body_jacobian as bj
from dalembert.solvability import body_newton as bn

IMPLICIT = ("tln", "cayley", "moser-veselov", "moser-veselov-cayley", "quaternion", "quaternion-linear")
EXPLICIT = ("euler", "stabilized-euler", "moser-veselov-explicit", "bobenko-suris")
# kappa: (19), sharp, Monte Carlo minimum, physical sharp, physical Monte Carlo minimum, (20); 5,000 draws each
TABLE = {
    1.5: (8.000, 9.798, 9.918, 9.798, 9.807, math.inf),
    2.0: (4.000, 5.657, 5.709, 5.657, 5.699, math.inf),
    3.0: (2.000, 3.464, 3.488, 3.464, 3.509, math.inf),
    5.0: (1.000, 2.236, 2.251, 2.582, 2.606, 0.828),
    10.0: (0.444, 1.406, 1.416, 2.236, 2.269, 0.359),
    20.0: (0.211, 0.942, 0.947, 2.108, 2.142, 0.183),
    50.0: (0.082, 0.577, 0.578, 2.041, 2.071, 0.076),
    100.0: (0.040, 0.404, 0.409, 2.020, 2.026, 0.039),
}


def tln(J, w, h):
    return J * w + 0.5 * h * np.cross(w, J * w)


def cayley(J, w, h):
    return tln(J, w, h) + 0.25 * h * h * np.sum(J * w * w, axis=-1, keepdims=True) * w


def moser_veselov(J, w, h, p):
    """(J x + x x J x / 2 - (1 + |x|^2 / 4) h p) / h at x = h w."""
    return tln(J, w, h) - (1.0 + 0.25 * h * h * np.sum(w * w, axis=-1, keepdims=True)) * p


def directions(rng, n):
    w = rng.normal(size=(n, 3))
    return w / np.linalg.norm(w, axis=1, keepdims=True)


def inertias(rng, kappa, n, physical=False):
    low = max(1.0, kappa - 1.0) if physical else 1.0
    return np.column_stack([np.ones(n), rng.uniform(low, kappa, n), np.full(n, kappa)])


def random_states(seed, n):
    """Inertias in any order with kappa up to 30, not only physical ones, and some nearly principal spins."""
    rng = np.random.default_rng(seed)
    J = np.exp(rng.uniform(0.0, np.log(30.0), (n, 3)) * rng.uniform(0.0, 1.0, (n, 1)))
    w = directions(rng, n) * np.exp(rng.normal(size=(n, 1)))
    w[::7, 0] *= 1e-6
    return rng, J, w


# Jacobians and their determinants


@pytest.mark.parametrize(("equation", "jacobian"), [(tln, bj.jacobian_tln), (cayley, bj.jacobian_cayley)])
def test_jacobians_by_differences(equation, jacobian):
    """Central differences are exact for quadratics and off by e^2 for cubics: 1e-8 with e = 1e-5. The printed (18) fails by 0.1."""
    rng = np.random.default_rng(1)
    for _ in range(20):
        J, w, h, e = rng.uniform(0.5, 3.0, 3), rng.normal(size=3), rng.uniform(0.1, 2.0), 1e-5
        columns = [(equation(J, w + e * k, h) - equation(J, w - e * k, h)) / (2 * e) for k in np.eye(3)]
        assert np.max(np.abs(np.column_stack(columns) - jacobian(J, w, h))) < 1e-8


def test_determinants_are_those_polynomials():
    rng = np.random.default_rng(2)
    J, w = rng.uniform(0.5, 3.0, (200, 3)), rng.normal(size=(200, 3))
    for h in (0.0, 0.3, -1.0, 4.0):
        for coefficients, jacobian in ((bj.determinant_tln(J, w), bj.jacobian_tln), (bj.determinant_cayley(J, w), bj.jacobian_cayley)):
            value = sum(coefficients[:, k] * h**k for k in range(coefficients.shape[1]))
            scale = sum(np.abs(coefficients[:, k]) * abs(h) ** k for k in range(coefficients.shape[1]))
            assert np.max(np.abs(value - np.linalg.det(jacobian(J, w, h))) / scale) < 1e-13


def test_tln_determinant_as_in_the_proof():
    rng = np.random.default_rng(3)
    J, w, h = np.sort(rng.uniform(0.5, 3.0, 3)), rng.normal(size=3), 0.8
    a, (d1, d2, d3) = 0.5 * h * w, (J[2] - J[1], J[2] - J[0], J[1] - J[0])
    squares = d1 * d2 * J[2] * a[2] ** 2 + d2 * d3 * J[0] * a[0] ** 2 - d1 * d3 * J[1] * a[1] ** 2
    expected = np.prod(J) + squares - 2 * d1 * d2 * d3 * np.prod(a)
    assert np.linalg.det(bj.jacobian_tln(J, w, h)) == pytest.approx(expected, rel=1e-13)


def test_cayley_determinant_on_the_middle_axis():
    J, x = np.array([1.0, 4.0, 9.0]), 1.7
    expected = J[1] * (1 + x * x / 4) * (1 + 3 * x * x / 4) * (J[0] * J[2] + x * x * J[1] ** 2 / 4)
    assert np.linalg.det(bj.jacobian_cayley(J, np.array([0.0, 1.0, 0.0]), x)) == pytest.approx(expected, rel=1e-13)


def test_smallest_positive_root():
    roots = bj.smallest_positive_root(np.array([[6.0, -5.0, 1.0], [1.0, 0.0, 1.0], [-2.0, 1.0, 0.0], [1.0, 1.0, 0.0], [1.0, 0.0, 0.0]]))
    assert np.allclose(roots, [2.0, np.inf, 2.0, np.inf, np.inf])


# Limits in x = h |omega|


@pytest.mark.parametrize("kappa", TABLE)
def test_monte_carlo(kappa):
    """No draw below the sharp limits; minima of 5,000 draws within 4 % of the table (they depend on the draws); Cayley never singular."""
    printed_19, sharp, table_min, physical, table_physical, printed_20 = TABLE[kappa]
    assert bj.x_tln_19(kappa) == pytest.approx(printed_19, abs=5e-4)
    assert bj.x_tln_sharp(kappa) == pytest.approx(sharp, abs=6e-4)
    assert bj.x_tln_physical(kappa) == pytest.approx(physical, abs=6e-4)
    assert bj.x_cayley_20(kappa) == pytest.approx(printed_20, abs=6e-4)
    rng = np.random.default_rng(20)
    for is_physical, limit, expected in ((False, bj.x_tln_sharp(kappa), table_min), (True, bj.x_tln_physical(kappa), table_physical)):
        J, n = inertias(rng, kappa, 5000, is_physical), directions(rng, 5000)
        x = bj.smallest_positive_root(bj.determinant_tln(J, n))
        assert np.min(x) >= limit * (1 - 1e-9)
        assert np.min(x) == pytest.approx(expected, rel=0.04)
        own = np.array([bj.x_tln_inertia(j) for j in J])
        assert np.all(x * np.abs(n[:, 1]) >= own * (1 - 1e-9))  # only the middle component matters
        assert np.all(np.isinf(bj.smallest_positive_root(bj.determinant_cayley(J, n))))


@pytest.mark.parametrize("kappa", [1.5, 3.0, 10.0, 100.0])
@pytest.mark.parametrize("physical", [False, True])
def test_sharp_limit_is_attained(kappa, physical):
    """Optimising J2 and direction from the best of 2,000 draws reaches the limit to 1e-4 and never passes it."""
    low = max(1.0, kappa - 1.0) if physical else 1.0

    def smallest(parameters):
        J = np.array([1.0, np.clip(parameters[0], low, kappa), kappa])
        return min(1e3, float(bj.smallest_positive_root(bj.determinant_tln(J, parameters[1:] / np.linalg.norm(parameters[1:])))))

    rng = np.random.default_rng(5)
    J, n = inertias(rng, kappa, 2000, physical), directions(rng, 2000)
    best = int(np.argmin(bj.smallest_positive_root(bj.determinant_tln(J, n))))
    start = np.concatenate([J[best, 1:2], n[best]])
    for _ in range(3):
        start = minimize(smallest, start, method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-10, "maxiter": 1000}).x
    limit = bj.x_tln_physical(kappa) if physical else bj.x_tln_sharp(kappa)
    assert limit * (1 - 1e-9) <= smallest(start) < limit * (1 + 1e-4)


def test_definite_bounds_hold():
    """Smallest eigenvalue of the symmetric part against its lower bounds; the printed bound behind (20) fails."""
    rng = np.random.default_rng(6)
    broken = 0
    for kappa in (1.0, 1.5, 3.0, 4.0, 8.0, 40.0):
        J, n = inertias(rng, kappa, 2000), directions(rng, 2000)
        f = 1.0 if kappa <= 3 else 2 * kappa / (1 + kappa) - (1 + kappa) / 8
        for x in (0.1, 1.0, 3.0):
            for jacobian, square in ((bj.jacobian_tln, 0.0), (bj.jacobian_cayley, 0.25 * f)):
                D = jacobian(J, n, x)
                lowest = np.linalg.eigvalsh(0.5 * (D + np.swapaxes(D, 1, 2)))[:, 0]
                assert np.all(lowest >= 1 - (kappa - 1) * x / 4 + square * x * x - 1e-9)
            broken += int(np.sum(lowest < 1 - (kappa - 1) * x / 4 + (1 - kappa / 4) * x * x - 1e-9))
    assert broken > 0
    for kappa in np.linspace(1.0, 200.0, 400):
        assert bj.x_cayley_20(kappa) <= bj.x_cayley_definite(kappa)
    assert math.isinf(bj.x_cayley_definite(4.85))  # unrestricted while (kappa - 1)^2 / 16 < f, that is up to 4.8508
    assert bj.x_cayley_definite(4.86) < math.inf
    assert math.isinf(bj.x_cayley_20(4 * math.sqrt(7) - 7 - 1e-9))
    assert bj.x_cayley_20(4.0) == pytest.approx(4.0 / 3.0)


def test_cayley_becomes_singular_for_large_kappa():
    """kappa = 200: a local search from a known singular velocity ends at x = 3.4906; at 135.87 and below the same search finds none."""
    J, n = np.array([1.0, 105.875, 200.0]), np.array([0.948553, 0.316619, 0.0])

    def smallest(parameters, kappa=200.0):
        J = np.array([1.0, np.clip(parameters[0], 1.0, kappa), kappa])
        return min(1e3, float(bj.smallest_positive_root(bj.determinant_cayley(J, parameters[1:] / np.linalg.norm(parameters[1:])))))

    assert np.linalg.det(bj.jacobian_cayley(J, n, 3.47)) > 0.0 > np.linalg.det(bj.jacobian_cayley(J, n, 3.52))
    found = minimize(
        smallest, [120.0, 0.94, 0.32, 0.05], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-11, "maxiter": 2000}
    ).fun
    assert found == pytest.approx(3.49057, abs=1e-4)
    assert bj.x_cayley_searched(200.0) <= found
    assert smallest(np.array([136.0, 0.97339453, 0.229135, 0.0]), 136.0) == pytest.approx(6.5926, abs=1e-2)
    rng = np.random.default_rng(8)
    J, n = inertias(rng, 135.8, 5000), directions(rng, 5000)
    J[::2, 1] = 135.8
    assert np.all(np.isinf(bj.smallest_positive_root(bj.determinant_cayley(J, n))))
    assert math.isinf(bj.x_cayley_searched(135.0))
    assert math.isnan(bj.x_cayley_searched(5000.0))


# Newton


def iterate(residual, jacobian, w):
    """Sixty plain Newton steps on a batch."""
    for _ in range(60):
        w = w - np.linalg.solve(jacobian(w), residual(w)[..., None])[..., 0]
    return w


def converged(residual, w, scale):
    return np.linalg.norm(residual(w), axis=1) <= 1e-11 * scale


@pytest.mark.parametrize("from_node", [True, False])
@pytest.mark.parametrize("name", ["tln", "cayley", "moser-veselov"])
def test_newton_never_fails_below_its_bound(name, from_node):
    """2,500 random bodies and velocities, h uniform below the bound (a fifth of them at the bound)."""
    rng, J, w = random_states(9, 2500)
    certify = {"tln": bn.newton_tln, "cayley": bn.newton_cayley, "moser-veselov": bn.newton_moser_veselov}[name]
    bound = np.array([certify(bn.constants(j, v), from_node) for j, v in zip(J, w, strict=True)])
    assert np.all(np.isfinite(bound))
    h = (np.where(rng.random(2500) < 0.2, 0.999, rng.random(2500)) * bound)[:, None]
    scale = np.linalg.norm(J * w, axis=1)
    if name == "moser-veselov":
        p = J * w if from_node else (J * w - 0.5 * h * np.cross(w, J * w)) / (1 + 0.25 * h * h * np.sum(w * w, axis=1, keepdims=True))

        def residual(v):
            return moser_veselov(J, v, h, p)

        def jacobian(v):
            return bj.jacobian_tln(J, v, h[..., None]) - 0.5 * h[..., None] ** 2 * p[:, :, None] * v[:, None, :]
    else:
        equation, matrix = (tln, bj.jacobian_tln) if name == "tln" else (cayley, bj.jacobian_cayley)
        rhs = J * w if from_node else equation(J, w, -h)

        def residual(v):
            return equation(J, v, h) - rhs

        def jacobian(v):
            return matrix(J, v, h[..., None])

    root = iterate(residual, jacobian, w)
    assert np.all(converged(residual, root, scale))


def test_newton_bound_is_not_idle():
    """tln: Newton fails for some bodies at 3 times the bound (4 % of the draws; 1.5 times: 0.2 %), and its h |omega| is not tiny."""
    _, J, w = random_states(9, 2500)
    bound = np.array([bn.newton_tln(bn.constants(j, v), True) for j, v in zip(J, w, strict=True)])
    x = bound * np.linalg.norm(w, axis=1)
    assert np.median(x) > 2.0
    h = 3.0 * bound[:, None]
    with np.errstate(all="ignore"):
        root = iterate(lambda v: tln(J, v, h) - J * w, lambda v: bj.jacobian_tln(J, v, h[..., None]), w)
    assert not np.all(converged(lambda v: tln(J, v, h) - J * w, root, np.linalg.norm(J * w, axis=1)))


def test_constants_of_the_newton_bound():
    """|B(z, y)| <= b |z| |y|, and the smallest singular value is at least 1 - h s / 2 - h^2 t."""
    rng = np.random.default_rng(12)
    for _ in range(50):
        J, w = rng.uniform(0.3, 3.0, 3), rng.normal(size=3)
        c, root = bn.constants(J, w), np.sqrt(J)
        z, y = directions(rng, 500), directions(rng, 500)
        z[:250] = y[:250]
        B = (np.cross(z / root, root * y) + np.cross(y / root, root * z)) / root
        assert np.max(np.linalg.norm(B, axis=1)) <= c.b
        h = rng.uniform(0.0, 1.0)
        for jacobian, t in ((bj.jacobian_tln, 0.0), (bj.jacobian_cayley, c.t_cayley)):
            scaled = jacobian(J, w, h) / root[:, None] / root[None, :]
            assert np.linalg.svd(scaled, compute_uv=False)[-1] >= 1 - 0.5 * h * c.s - h * h * t - 1e-12


# Existence: Moser-Veselov, linear quaternion


def solve_moser_veselov(J, p):
    """W of W L - L W^T = hat(p) by the Riccati equation; p contains h."""
    L = np.diag(0.5 * np.sum(J) - J)
    P = bj.hat(p)
    S = solve_continuous_are(-0.5 * P, np.eye(3), L @ L + 0.25 * P @ P, np.eye(3))
    return (S + 0.5 * P) @ np.linalg.inv(L), L, P


def test_moser_veselov_solution_exists_below_the_riccati_bound():
    rng = np.random.default_rng(13)
    for _ in range(200):
        J = np.array([1.0, 1.0, 1.0]) * 0.3 + rng.uniform(0.2, 1.0, 3)
        L = 0.5 * np.sum(J) - J
        if np.min(L) < 0.02:
            continue
        w = rng.normal(size=3)
        h = 0.999 * existence.moser_veselov_sufficient(J, w)
        assert h <= existence.moser_veselov_necessary(J, w)
        W, L, P = solve_moser_veselov(J, h * J * w)
        assert np.max(np.abs(W @ L - L @ W.T - P)) < 1e-9
        assert np.max(np.abs(W.T @ W - np.eye(3))) < 1e-7  # division by L down to 0.02, CARE near its limit
        assert np.linalg.det(W) > 0.0


def test_no_rotation_has_more_momentum_than_the_necessary_bound():
    rng = np.random.default_rng(14)
    J, q = rng.uniform(0.1, 3.0, (20000, 3)), rng.normal(size=(20000, 4))
    q /= np.linalg.norm(q, axis=1, keepdims=True)
    momentum = 2.0 * (q[:, :1] * J * q[:, 1:] + np.cross(q[:, 1:], J * q[:, 1:]))
    ratio = np.linalg.norm(momentum, axis=1) / np.max(J, axis=1)
    assert 0.97 < np.max(ratio) <= 1.0


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_moser_veselov_about_a_principal_axis(axis):
    """h |omega| = sin(angle): h |omega| > 1 leaves J_i sin(angle) = h J_i |omega| without a root; the advice never promises it."""
    J, w = np.array([2.0, 3.0, 4.0]), 5.0 * np.eye(3)[axis]
    advice = advise_rigid_body(J, w, "moser-veselov")
    limits = {limit.name: limit.h for limit in advice.limits}
    assert limits["principal axis"] == pytest.approx(0.2)
    assert 0.0 < advice.h_jacobian <= 0.2
    assert limits["no solution"] >= 0.2
    W, L, P = solve_moser_veselov(J, 0.999 * advice.h_jacobian * J * w)
    assert np.max(np.abs(W @ L - L @ W.T - P)) < 1e-12


def test_linear_quaternion_step_below_its_bound():
    """D > 0 and |x| < 1 for 1,000 random states, at every tenth of the bound."""
    _, J, w = random_states(15, 1000)
    for j, v in zip(J, w, strict=True):
        bound, speed = existence.quaternion_linear_solvable(j, v), float(np.linalg.norm(v))
        assert bound <= existence.quaternion_linear_definite(j, v) * (1 + 1e-12)
        for h in np.linspace(0.1, 0.999, 10) * bound:
            y_s, y = math.cos(0.5 * h * speed), math.sin(0.5 * h * speed) * v / speed
            z = -(y_s * j * y + np.cross(j * y, y))
            D = np.diag(j - y @ (j * y))
            assert np.min(np.diag(D)) > 0.0
            assert np.linalg.norm(np.linalg.solve(D + bj.hat(z), -y_s * z)) < 1.0


# The advice itself


@pytest.mark.parametrize("stepper", IMPLICIT)
def test_shape_of_the_advice(stepper):
    advice = advise_rigid_body([1.0, 2.0, 2.5], [0.3, 1.0, 0.4], stepper)
    assert isinstance(advice, StepAdvice)
    assert advice.stepper == stepper
    assert advice.h_jacobian > 0.0
    assert advice.h_newton > 0.0
    assert advice.rigorous["h_jacobian"]
    names = [limit.name for limit in advice.limits]
    assert len(set(names)) == len(names)
    for limit in advice.limits:
        assert isinstance(limit, Limit)
        assert advice.rigorous[limit.name] == limit.rigorous
        assert limit.name in advice.text
        assert limit.reference
    assert advice.constants["kappa"] == 2.5
    assert stepper in advice.text
    assert advice.to_dict()["limits"][0]["name"] == names[0]


@pytest.mark.parametrize("stepper", EXPLICIT)
def test_explicit_steppers_have_no_limit(stepper):
    advice = advise_rigid_body([1.0, 2.0, 2.5], [0.3, 1.0, 0.4], stepper)
    assert math.isinf(advice.h_jacobian)
    assert math.isinf(advice.h_newton)
    assert advice.limits == ()
    assert "no limit" in advice.text


@pytest.mark.parametrize("stepper", IMPLICIT)
def test_no_limit_at_rest(stepper):
    advice = advise_rigid_body([1.0, 1.0, 2.0], [0.0, 0.0, 0.0], stepper)
    assert math.isinf(advice.h_jacobian)
    assert math.isinf(advice.h_newton)
    assert all(math.isinf(limit.h) for limit in advice.limits)


def test_sphere():
    tln_advice = advise_rigid_body([2.0, 2.0, 2.0], [0.3, 1.0, 0.4], "tln")
    assert math.isinf(tln_advice.h_jacobian)
    assert math.isinf(tln_advice.h_newton)
    assert math.isinf(advise_rigid_body([2.0, 2.0, 2.0], [0.3, 1.0, 0.4], "cayley").h_jacobian)
    for stepper in IMPLICIT:
        advice = advise_rigid_body([2.0, 2.0, 2.0], [0.0, 0.0, 3.0], stepper)
        assert not any(math.isnan(h) for h in (advice.h_jacobian, advice.h_newton, *(limit.h for limit in advice.limits)))


@pytest.mark.parametrize("stepper", IMPLICIT)
def test_advice_scales_with_speed_and_ignores_units_of_inertia_and_order_of_axes(stepper):
    J, w = np.array([1.0, 2.0, 2.5]), np.array([0.3, 1.0, 0.4])
    advice = advise_rigid_body(J, w, stepper)
    for other, factor in (
        (advise_rigid_body(J, 10.0 * w, stepper), 0.1),
        (advise_rigid_body(1e-3 * J, w, stepper), 1.0),
        (advise_rigid_body(J[[2, 0, 1]], w[[2, 0, 1]], stepper), 1.0),
    ):
        assert other.h_jacobian == pytest.approx(factor * advice.h_jacobian, rel=1e-9)
        assert other.h_newton == pytest.approx(factor * advice.h_newton, rel=1e-9)


def test_honest_labels():
    advice = advise_rigid_body([1.0, 2.0, 2.5], [0.3, 1.0, 0.4], "cayley")
    assert not advice.rigorous["searched"]
    assert advice.rigorous["definite"]
    assert not advise_rigid_body([1.0, 2.0, 2.5], [0.3, 1.0, 0.4], "moser-veselov").rigorous["h_newton"]
    assert advise_rigid_body([1.0, 2.0, 2.5], [0.3, 1.0, 0.4], "moser-veselov-cayley").rigorous["h_newton"]
    flat = {limit.name for limit in advise_rigid_body([1.0, 2.0, 9.0], [0.3, 1.0, 0.4], "tln").limits}
    assert "physical" not in flat


def test_wrong_input_is_named():
    with pytest.raises(UnknownNameError, match="did you mean 'cayley'"):
        advise_rigid_body([1.0, 2.0, 2.5], [0.3, 1.0, 0.4], "cayly")
    with pytest.raises(OptionError, match="principal inertias"):
        advise_rigid_body([1.0, 2.0], [0.3, 1.0, 0.4], "tln")
    with pytest.raises(OptionError, match="omega"):
        advise_rigid_body([1.0, 2.0, 2.5], [0.3, 1.0, np.inf], "tln")
