"""Kernels of the rigid-body steppers: Jacobians by differences, solvers against NumPy and SciPy, small algebra against matrices."""

import numpy as np
import pytest
from scipy.linalg import expm, solve_continuous_lyapunov
from scipy.spatial.transform import Rotation

from dalembert.kernels import quat, smallmat
from dalembert.kernels.gauss import solve_in_place
from dalembert.kernels.rigid_body.layout import ITERATIONS, RESIDUAL
from dalembert.kernels.status import OK
from dalembert.steppers.rigid_body import cayley, moser_veselov, moser_veselov_cayley, quaternion, tln

pytestmark = pytest.mark.nojit

SEEDS = range(20)


def floats(a):
    return tuple(float(x) for x in np.ravel(a))


def hat(w):
    return np.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])


def left_matrix(q):
    """Q(q): Q(q) p = q * p."""
    Q = np.zeros((4, 4))
    Q[0, 1:], Q[1:, 0] = -np.array(q[1:]), q[1:]
    Q[1:, 1:] = hat(q[1:])
    return Q + q[0] * np.eye(4)


def unit(rng, n):
    x = rng.normal(size=n)
    return x / np.linalg.norm(x)


def differences(f, x, d=1e-6):
    """Jacobian by central differences; error about d^2 + 1e-16/d = 1e-10."""
    return np.column_stack([(np.array(f(floats(x + d * e))) - np.array(f(floats(x - d * e)))) / (2 * d) for e in np.eye(len(x))])


def body(seed):
    """(J, w, h, mu) of moderate size."""
    rng = np.random.default_rng(seed)
    return rng.uniform(0.5, 3.0, 3), rng.normal(size=3), float(rng.uniform(0.05, 0.8)), 0.3 * rng.normal(size=3)


# Jacobians -------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("method", [tln, cayley], ids=["tln", "cayley"])
def test_jacobian_of_the_node_momentum(method, seed):
    J, w, h, _ = body(seed)
    found = np.reshape(method.jacobian(floats(J), floats(w), h), (3, 3))
    np.testing.assert_allclose(found, differences(lambda x: method.node_momentum(floats(J), x, h), w), rtol=0, atol=1e-8)


@pytest.mark.parametrize("seed", SEEDS)
def test_jacobian_of_moser_veselov_in_cayley_coordinates(seed):
    J, x, _, mu = body(seed)
    found = np.reshape(moser_veselov_cayley.jacobian(floats(J), floats(x), floats(mu)), (3, 3))
    by_differences = differences(lambda y: moser_veselov_cayley.residual(floats(J), y, floats(mu)), x)
    np.testing.assert_allclose(found, by_differences, rtol=0, atol=1e-8)


@pytest.mark.parametrize("seed", SEEDS)
def test_printed_jacobian_of_cayley_is_wrong(seed):
    """kobilarov2014 (18) prints h/4 and h/2 where h^2/4 and h^2/2 are right: far off for every h but 1."""
    J, w, h, _ = body(seed)
    L = J * w
    printed = np.diag(J) + h / 2 * (hat(w) @ np.diag(J) - hat(L)) + h / 4 * (w @ L) * np.eye(3) + h / 2 * np.outer(w, L)
    true = differences(lambda x: cayley.node_momentum(floats(J), x, h), w)
    assert np.abs(printed - true).max() > 0.01
    corrected = printed + (h * h - h) * ((w @ L) / 4 * np.eye(3) + np.outer(w, L) / 2)
    np.testing.assert_allclose(corrected, true, rtol=0, atol=1e-8)


# node momenta ----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_node_momenta_are_what_the_methods_say(seed):
    """Cayley and quaternion: the second node's momentum is the first one's, turned by the interval. tln: midpoint rule for J^-1 c."""
    J, w, h, _ = body(seed)
    jj, ww = floats(J), floats(w)
    W = np.linalg.solve(np.eye(3) - h / 2 * hat(w), np.eye(3) + h / 2 * hat(w))
    np.testing.assert_allclose(cayley.node_momentum(jj, ww, -h), W.T @ cayley.node_momentum(jj, ww, h), rtol=0, atol=1e-14)
    x = quat.exp(floats(h * w))
    R = expm(h * hat(w))
    np.testing.assert_allclose(quaternion.node_momentum(jj, x, -1.0), R.T @ quaternion.node_momentum(jj, x, 1.0), rtol=0, atol=1e-14)
    c, c_next = np.array(tln.node_momentum(jj, ww, h)), np.array(tln.node_momentum(jj, ww, -h))
    middle = 0.5 * (c + c_next)
    np.testing.assert_allclose(c_next - c, h * np.cross(middle, middle / J), rtol=0, atol=1e-14)


@pytest.mark.parametrize("method", [tln, cayley], ids=["tln", "cayley"])
@pytest.mark.parametrize("seed", SEEDS)
def test_solve_rate_inverts_the_node_momentum(method, seed):
    """Where the step is safe (x = h |w| < 4/(kappa - 1)) the rate itself comes back, not another root."""
    J, w, h, _ = body(seed)
    w = w / np.linalg.norm(w) * min(1.0, 0.9 * 4.0 / (J.max() / J.min() - 1.0)) / h
    info = np.zeros(4)
    status, found = method.solve_rate(h, floats(J), method.node_momentum(floats(J), floats(w), h), 1e-9, 30, info)
    assert status == OK
    np.testing.assert_allclose(found, w, rtol=0, atol=1e-12 * np.linalg.norm(w))
    assert info[RESIDUAL] <= 1e-9 and 1 <= info[ITERATIONS] <= 10


# the quartic -----------------------------------------------------------------------------------------------------------------------


def eigenproblem(inertia, M):
    """diag(0, I) + Q(z) with z = (0, -M): lacoursiere2007 (15.47), whose scalar part of z only shifts the eigenvalues."""
    return np.diag([0.0, *inertia]) + left_matrix([0.0, *(-M)])


@pytest.mark.parametrize("seed", SEEDS)
def test_quartic_is_the_characteristic_polynomial(seed):
    """f(rho) = -det(diag(0, I) + Q(z) - rho) for any rho, f' by differences."""
    rng = np.random.default_rng(seed)
    inertia, M, rho = rng.uniform(0.5, 3.0, 3), 0.4 * rng.normal(size=3), float(rng.normal())
    f, f_drho, _ = quaternion.quartic(floats(inertia), floats(M), rho)
    assert f == pytest.approx(-np.linalg.det(eigenproblem(inertia, M) - rho * np.eye(4)), abs=1e-12)
    d = 1e-6
    up, down = (quaternion.quartic(floats(inertia), floats(M), rho + s)[0] for s in (d, -d))
    assert f_drho == pytest.approx((up - down) / (2 * d), abs=1e-7)


@pytest.mark.parametrize("seed", SEEDS)
def test_rotation_is_the_eigenvector(seed):
    """The real eigenpair with the smallest eigenvalue (it tends to M . I^-1 M), x_s > 0; NumPy's eigenvector is good to about 1e-13."""
    rng = np.random.default_rng(seed)
    inertia = rng.uniform(0.5, 3.0, 3)
    M = 0.45 * rng.uniform(0.01, 0.8) * inertia * unit(rng, 3)
    values, vectors = np.linalg.eig(eigenproblem(inertia, M))
    real = np.abs(values.imag) < 1e-10
    k = np.flatnonzero(real)[np.argmin(values.real[real])]
    x = vectors[:, k].real / np.linalg.norm(vectors[:, k].real)
    status, found = quaternion.solve_rotation(floats(inertia), floats(M), 1e-12, 30, np.zeros(4))
    assert status == OK
    np.testing.assert_allclose(found, x * np.sign(x[0]), rtol=0, atol=1e-12)


def test_rate_of_inverts_exp():
    rng = np.random.default_rng(0)
    for size in (0.0, 1e-12, 1e-3, 1.0, 3.0):
        w = size * unit(rng, 3)
        np.testing.assert_allclose(quaternion.rate_of(quat.exp(floats(0.5 * w)), 0.5), w, rtol=1e-14, atol=1e-300)


# the Riccati equation --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_lyapunov_system(seed):
    """The three-unknown form against SciPy's solver."""
    rng = np.random.default_rng(seed)
    S = np.diag(rng.uniform(0.5, 2.0, 3)) + 0.1 * rng.normal(size=(3, 3))
    r = rng.normal(size=(3, 3))
    r += r.T
    i, j = [0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]
    det, found = moser_veselov.lyapunov(floats(S), floats(r[i, j]))
    assert det != 0.0
    np.testing.assert_allclose(found, solve_continuous_lyapunov(S.T, r)[i, j], rtol=0, atol=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_riccati_parts(seed):
    rng = np.random.default_rng(seed)
    sigma, mu, lam = rng.normal(size=(3, 3)), rng.normal(size=3), rng.uniform(0.5, 2.0, 3)
    sigma += sigma.T
    i, j = [0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]
    S = np.reshape(moser_veselov.assemble(floats(sigma[i, j]), floats(mu)), (3, 3))
    np.testing.assert_allclose(S, sigma + hat(mu) / 2, rtol=0, atol=1e-15)
    found = moser_veselov.riccati_residual(floats(S), floats(lam))
    np.testing.assert_allclose(found, (np.diag(lam**2) - S.T @ S)[i, j], rtol=0, atol=1e-13)
    W = expm(hat(0.4 * unit(rng, 3)))
    q = moser_veselov.to_quaternion(floats(W @ np.diag(lam)), floats(1.0 / lam))
    np.testing.assert_allclose(Rotation.from_quat(np.roll(q, -1)).as_matrix(), W, rtol=0, atol=1e-15)


# Gauss -----------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", range(1, 13))
def test_gauss_against_numpy(n):
    """Anywhere in a work array, and nothing outside A and r is touched."""
    rng = np.random.default_rng(n)
    a, b = 3, 3 + n * n + 2
    work = np.full(b + n + 4, 7.0)
    A, r = rng.normal(size=(n, n)) + n * np.eye(n), rng.normal(size=n)
    work[a : a + n * n], work[b : b + n] = A.ravel(), r
    assert solve_in_place(work, a, b, n)
    np.testing.assert_allclose(work[b : b + n], np.linalg.solve(A, r), rtol=0, atol=1e-14)
    assert np.all(work[:a] == 7.0) and np.all(work[a + n * n : b] == 7.0) and np.all(work[b + n :] == 7.0)


def test_gauss_pivots():
    """A zero and a tiny first pivot: without exchange of rows 1/0 and a loss of all digits."""
    for tiny in (0.0, 1e-18):
        work = np.array([tiny, 1.0, 1.0, 1.0, 1.0, 2.0])
        assert solve_in_place(work, 0, 4, 2)
        np.testing.assert_allclose(work[4:], [1.0, 1.0], rtol=0, atol=1e-15)


@pytest.mark.parametrize("A", [[[1, 2], [2, 4]], [[0, 0], [0, 1]], [[np.nan, 1], [1, 1]]])
def test_gauss_says_singular(A):
    work = np.concatenate([np.ravel(np.array(A, dtype=float)), [1.0, 1.0]])
    assert not solve_in_place(work, 0, 4, 2)


# three dimensions ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_small_vectors_and_matrices(seed):
    rng = np.random.default_rng(seed)
    a, b, s = rng.normal(size=3), rng.normal(size=3), float(rng.normal())
    d, A = rng.uniform(0.5, 2.0, 3), rng.normal(size=(3, 3)) + 3 * np.eye(3)
    ta, tb, td = floats(a), floats(b), floats(d)
    close = {"rtol": 0, "atol": 1e-14}
    np.testing.assert_allclose(smallmat.dot(ta, tb), a @ b, **close)
    np.testing.assert_allclose(smallmat.cross(ta, tb), np.cross(a, b), **close)
    np.testing.assert_allclose(smallmat.scale(s, ta), s * a, **close)
    np.testing.assert_allclose(smallmat.axpy(s, ta, tb), s * a + b, **close)
    np.testing.assert_allclose(smallmat.diag_mul(td, ta), d * a, **close)
    np.testing.assert_allclose(smallmat.diag_solve(td, ta), a / d, **close)
    np.testing.assert_allclose(smallmat.mat_vec(floats(A), ta), A @ a, **close)
    assert smallmat.max_abs(ta) == np.abs(a).max()
    det, x = smallmat.solve3(floats(A), ta)
    assert det == pytest.approx(np.linalg.det(A), rel=1e-13)
    np.testing.assert_allclose(x, np.linalg.solve(A, a), rtol=0, atol=1e-13)


def test_max_abs_passes_nan_on():
    for k in range(3):
        assert np.isnan(smallmat.max_abs(tuple(np.nan if i == k else 1.0 for i in range(3))))


def test_solve3_of_a_singular_matrix():
    """det is exactly 0, and the vector is not finite. NumPy's scalars divide by 0 as compiled code does."""
    with np.errstate(all="ignore"):
        det, x = smallmat.solve3(tuple(np.float64(v) for v in (1, 2, 3, 2, 4, 6, 1, 0, 1)), tuple(np.float64(v) for v in (1, 0, 0)))
    assert det == 0.0
    assert not np.isfinite(x).all()


def test_load_and_store():
    a = np.arange(10.0)
    assert smallmat.load3(a, 2) == (2.0, 3.0, 4.0)
    assert quat.load(a, 5) == (5.0, 6.0, 7.0, 8.0)
    smallmat.store3(a, 0, (-1.0, -2.0, -3.0))
    quat.store(a, 6, (1.0, 0.0, 0.0, 0.5))
    assert a.tolist() == [-1.0, -2.0, -3.0, 3.0, 4.0, 5.0, 1.0, 0.0, 0.0, 0.5]


# quaternions -----------------------------------------------------------------------------------------------------------------------


def matrix(q):
    return Rotation.from_quat(np.roll(q, -1)).as_matrix()


@pytest.mark.parametrize("seed", SEEDS)
def test_quaternion_algebra(seed):
    rng = np.random.default_rng(seed)
    p, q, x = unit(rng, 4), unit(rng, 4), rng.normal(size=3)
    tp, tq = floats(p), floats(q)
    close = {"rtol": 0, "atol": 1e-14}
    np.testing.assert_allclose(quat.mul(tp, tq), left_matrix(p) @ q, **close)
    np.testing.assert_allclose(matrix(quat.mul(tp, tq)), matrix(p) @ matrix(q), **close)
    np.testing.assert_allclose(quat.mul(tq, quat.conj(tq)), [1, 0, 0, 0], **close)
    np.testing.assert_allclose(quat.rotate(tq, floats(x)), matrix(q) @ x, **close)
    np.testing.assert_allclose(quat.rotate_inverse(tq, floats(x)), matrix(q).T @ x, **close)
    np.testing.assert_allclose(quat.normalise(floats(3.7 * q)), q, **close)


@pytest.mark.parametrize("size", [0.0, 1e-200, 1e-12, 1e-3, 0.0999999, 0.1, 0.1000001, 1.0, 3.1, np.pi, 10.0])
def test_quaternion_maps(size):
    """exp against the matrix exponential (its series joins at |w| = 0.1), cay against its fraction, log undoes exp up to half a turn."""
    w = size * unit(np.random.default_rng(7), 3)
    np.testing.assert_allclose(matrix(quat.exp(floats(w))), expm(hat(w)), rtol=0, atol=1e-14)
    fraction = np.linalg.solve(np.eye(3) - hat(w) / 2, np.eye(3) + hat(w) / 2)
    np.testing.assert_allclose(matrix(quat.cay(floats(w))), fraction, rtol=0, atol=1e-14)
    for q in (quat.exp(floats(w)), quat.cay(floats(w))):
        assert np.linalg.norm(q) == pytest.approx(1.0, abs=4e-16)
    if size < np.pi:
        np.testing.assert_allclose(quat.log(quat.exp(floats(w))), w, rtol=2e-14, atol=0)
        np.testing.assert_allclose(quat.log(tuple(-c for c in quat.exp(floats(w)))), w, rtol=2e-14, atol=0)
