"""One contract for every group. A new group joins by a line in GROUPS.

Independent judges: SciPy's expm, central differences, exact rational arithmetic (the Cayley map is a rational function), group axioms.
Tolerances are small multiples of the unit round-off, times the condition number that the comment names.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import scipy.linalg
from numba import njit

from dalembert.errors import OptionError
from dalembert.groups import quat, se2, se3, so3
from dalembert.kernels import se2 as kernel_se2
from dalembert.kernels import se3 as kernel_se3
from dalembert.kernels import so3 as kernel_so3

pytestmark = pytest.mark.nojit

EPS = np.finfo(float).eps


@dataclass(frozen=True)
class Group:
    name: str
    module: ModuleType
    dim: int  # of the tangent space
    angular: int  # how many of them are angular; they come first
    identity: np.ndarray
    product: Callable[[Any, Any], np.ndarray] = np.matmul
    size: int = 0  # of the matrices

    def tangent(self, angle: float, seed: int = 0, reach: float = 2.0) -> np.ndarray:
        """A tangent vector of this angle in a random direction, with a random linear part."""
        rng = np.random.default_rng(seed)
        axis = rng.normal(size=self.angular)
        return np.r_[angle * axis / np.linalg.norm(axis), rng.uniform(-reach, reach, self.dim - self.angular)]

    def adjoint(self, g: np.ndarray) -> np.ndarray:
        """The matrix of eta -> vee(g hat(eta) g^-1)."""
        inverse = np.linalg.inv(g)
        return np.column_stack([self.module.vee(g @ self.module.hat(e) @ inverse) for e in np.eye(self.dim)])


SO3 = Group("so3", so3, 3, 3, np.eye(3), size=3)
SE3 = Group("se3", se3, 6, 3, np.eye(4), size=4)
SE2 = Group("se2", se2, 3, 1, np.eye(3), size=3)
QUAT = Group("quat", quat, 3, 3, np.eye(4)[0], quat.mul)
MATRIX_GROUPS = [SO3, SE3, SE2]
GROUPS = [*MATRIX_GROUPS, QUAT]

SMALL = [0.0, *(10.0**-k for k in range(12, 0, -1))]
MIDDLE = [0.3, np.nextafter(0.5, 0), np.nextafter(0.5, 1), 1.0, 2.0, 3.0]  # 0.5: where series and closed form meet
NEAR_PI = [np.pi - 10.0**-k for k in range(3, 13)]
BEYOND_PI = [np.pi + 1e-9, 3.2, 4.0, 5.0, 6.2]
LARGE = [7.5, 20.0]
ALL = [*SMALL, *MIDDLE, *NEAR_PI, np.pi, *BEYOND_PI, *LARGE]

over_groups = pytest.mark.parametrize("group", GROUPS, ids=lambda g: g.name)
over_matrix_groups = pytest.mark.parametrize("group", MATRIX_GROUPS, ids=lambda g: g.name)
over_maps = pytest.mark.parametrize("tau", ["exp", "cay"])


def over_angles(angles: list[float]) -> Any:
    return pytest.mark.parametrize("angle", angles, ids=lambda a: f"{a:.13g}")


def close(a: np.ndarray, b: np.ndarray, units: float) -> None:
    np.testing.assert_allclose(a, b, rtol=0, atol=units * EPS)


# ---------------------------------------------------------------------------------------------------------------- exp and log


@over_groups
@over_angles([*SMALL, *MIDDLE, *NEAR_PI])
def test_log_undoes_exp_below_pi(group: Group, angle: float) -> None:
    """Relative to the angle itself, so 1e-12 rad keeps its digits; near pi the entries' round-off is that of the angle."""
    for seed in range(5):
        x = group.tangent(angle, seed)
        y = group.module.log(group.module.exp(x))
        close(y[: group.angular], x[: group.angular], 8 * angle)
        close(y[group.angular :], x[group.angular :], 16)


@over_groups
def test_log_at_pi_is_one_of_two(group: Group) -> None:
    for seed in range(5):
        x = group.tangent(np.pi, seed)
        g = group.module.exp(x)
        y = group.module.log(g)
        w = y[: group.angular] * np.sign(y[: group.angular] @ x[: group.angular])
        close(w, x[: group.angular], 16)
        back = group.module.exp(y)
        close(back * (np.sign(back @ g) if group is QUAT else 1.0), g, 32)  # q and -q are one rotation


@over_groups
@over_angles([*BEYOND_PI, *LARGE])
def test_log_wraps_beyond_pi(group: Group, angle: float) -> None:
    """The shortest rotation vector of the same element; the angle of exp is uncertain by eps * angle."""
    x = group.tangent(angle)
    g = group.module.exp(x)
    y = group.module.log(g)
    close(y[: group.angular], x[: group.angular] * (1 - 2 * np.pi * round(angle / (2 * np.pi)) / angle), 8 * angle)
    back = group.module.exp(y)
    close(back * (np.sign(back @ g) if group is QUAT else 1.0), g, 32)


@over_groups
@over_angles([*ALL, 1e3, 1e6])
def test_exp_of_minus_x_is_the_inverse(group: Group, angle: float) -> None:
    for seed in range(3):
        x = group.tangent(angle, seed)
        close(group.product(group.module.exp(-x), group.module.exp(x)), group.identity, 16)


@over_groups
@over_angles(ALL)
def test_exp_adds_along_a_line(group: Group, angle: float) -> None:
    x = group.tangent(angle)
    g = group.product(group.module.exp(0.25 * x), group.module.exp(0.75 * x))
    close(g, group.module.exp(x), 16 * (1 + angle))


@over_matrix_groups
@over_angles(ALL)
def test_exp_agrees_with_expm(group: Group, angle: float) -> None:
    """SciPy squares a Pade approximant; its own error grows with the norm: 5e-14 at 7.5 rad on SE(2), against math.sin."""
    for seed in range(3):
        x = group.tangent(angle, seed)
        X = group.module.hat(x)
        close(group.module.exp(x), scipy.linalg.expm(X), 64 * (1 + np.linalg.norm(X)))


@over_matrix_groups
@over_maps
@over_angles([*ALL, 1e3])
def test_result_is_in_the_group(group: Group, tau: str, angle: float) -> None:
    n = 2 if group is SE2 else 3
    g = getattr(group.module, tau)(group.tangent(angle))
    close(g[:n, :n].T @ g[:n, :n], np.eye(n), 16)
    assert np.linalg.det(g) == pytest.approx(1.0, abs=16 * EPS)
    np.testing.assert_array_equal(g[n:], np.eye(group.size)[n:])


# ------------------------------------------------------------------------------------------------------------- both maps, tangents


@over_matrix_groups
def test_vee_undoes_hat(group: Group) -> None:
    x = group.tangent(1.3)
    np.testing.assert_array_equal(group.module.vee(group.module.hat(x)), x)
    assert np.trace(group.module.hat(x)) == 0.0


@over_matrix_groups
@over_maps
@over_angles(ALL)
def test_tau_of_minus_xi_is_the_inverse(group: Group, tau: str, angle: float) -> None:
    f = getattr(group.module, tau)
    x = group.tangent(angle, seed=1)
    close(f(-x) @ f(x), group.identity, 16)


@over_matrix_groups
@over_maps
@over_angles(ALL)
def test_tangent_agrees_with_central_differences(group: Group, tau: str, angle: float) -> None:
    """vee(d/dt tau(x + t e) tau(x)^-1), five points: truncation d^4/30 |tau^(5)| = 3e-14 |.|, round-off eps/d = 2e-13 at d = 1e-3."""
    f, df = getattr(group.module, tau), getattr(group.module, "d" + tau)
    x, d = group.tangent(angle, seed=2), 1e-3
    inverse = np.linalg.inv(f(x))
    columns = []
    for e in d * np.eye(group.dim):
        slope = (8 * (f(x + e) - f(x - e)) - (f(x + 2 * e) - f(x - 2 * e))) / (12 * d)
        columns.append(group.module.vee(slope @ inverse))
    np.testing.assert_allclose(df(x), np.column_stack(columns), rtol=0, atol=2e-12 * (1 + angle))


@over_matrix_groups
@over_maps
@over_angles(ALL)
def test_tangent_times_its_inverse_is_one(group: Group, tau: str, angle: float) -> None:
    """Round-off times the condition number of the tangent (75 for exp at 6.2 rad, before the pole at 2 pi)."""
    for seed in range(3):
        x = group.tangent(angle, seed)
        D, D_inv = getattr(group.module, "d" + tau)(x), getattr(group.module, f"d{tau}_inv")(x)
        condition = np.linalg.norm(D) * np.linalg.norm(D_inv)
        close(D @ D_inv, np.eye(group.dim), 4 * condition)
        close(D_inv @ D, np.eye(group.dim), 4 * condition)


@over_matrix_groups
@over_maps
@over_angles(ALL)
def test_tangents_of_xi_and_minus_xi_differ_by_the_adjoint(group: Group, tau: str, angle: float) -> None:
    """dtau(-xi)^-1 = dtau(xi)^-1 Ad(tau(xi)): kobilarov2014 (61)."""
    x = group.tangent(angle, seed=3)
    D_inv = getattr(group.module, f"d{tau}_inv")
    right = D_inv(x) @ group.adjoint(getattr(group.module, tau)(x))
    close(D_inv(-x), right, 16 * (1 + np.linalg.norm(right)) * (1 + np.linalg.norm(D_inv(x))))


@over_matrix_groups
def test_tangents_at_zero_are_one(group: Group) -> None:
    for name in ("dexp", "dexp_inv", "dcay", "dcay_inv"):
        np.testing.assert_array_equal(getattr(group.module, name)(np.zeros(group.dim)), np.eye(group.dim))


# ------------------------------------------------------------------------------------------------------------------------- Cayley


def rational(a: np.ndarray) -> list[list[Fraction]]:
    return [[Fraction(x) for x in row] for row in np.asarray(a, dtype=float).tolist()]


def times(A: list[list[Fraction]], B: list[list[Fraction]]) -> list[list[Fraction]]:
    return [[sum((a * b for a, b in zip(row, column, strict=True)), Fraction(0)) for column in zip(*B, strict=True)] for row in A]


def inverse(A: list[list[Fraction]]) -> list[list[Fraction]]:
    """Gauss-Jordan without rounding."""
    n = len(A)
    T = [row + [Fraction(int(i == j)) for j in range(n)] for i, row in enumerate(A)]
    for k in range(n):
        pivot = next(i for i in range(k, n) if T[i][k] != 0)
        T[k], T[pivot] = T[pivot], T[k]
        T[k] = [x / T[k][k] for x in T[k]]
        for i in range(n):
            if i != k:
                T[i] = [x - T[i][k] * y for x, y in zip(T[i], T[k], strict=True)]
    return [row[n:] for row in T]


def floats(A: list[list[Fraction]]) -> np.ndarray:
    return np.array([[float(x) for x in row] for row in A])


def cayley_factors(group: Group, x: np.ndarray) -> tuple[list[list[Fraction]], list[list[Fraction]]]:
    """1 - hat(x)/2 and 1 + hat(x)/2, exactly: the halves must be of the exact hat, not of rounded sums."""
    X, one = rational(group.module.hat(x)), rational(np.eye(group.size))
    minus = [[i - a / 2 for i, a in zip(r, s, strict=True)] for r, s in zip(one, X, strict=True)]
    plus = [[i + a / 2 for i, a in zip(r, s, strict=True)] for r, s in zip(one, X, strict=True)]
    return minus, plus


@over_matrix_groups
@over_angles([*SMALL, *MIDDLE, *BEYOND_PI, *LARGE, 1e3])
def test_cay_agrees_with_rational_arithmetic(group: Group, angle: float) -> None:
    x = group.tangent(angle, seed=4)
    minus, plus = cayley_factors(group, x)
    close(group.module.cay(x), floats(times(inverse(minus), plus)), 8)


@over_matrix_groups
@over_angles([1e-12, 1e-3, 1.0, 6.2, 1e3])
def test_dcay_agrees_with_rational_arithmetic(group: Group, angle: float) -> None:
    """hat(dcay(x) e) = (1 - hat(x)/2)^-1 hat(e) (1 + hat(x)/2)^-1; the inverse map undoes that."""
    x = group.tangent(angle, seed=5)
    minus, plus = cayley_factors(group, x)
    minus_inv, plus_inv = inverse(minus), inverse(plus)
    hats = [rational(group.module.hat(e)) for e in np.eye(group.dim)]
    D = np.column_stack([group.module.vee(floats(times(times(minus_inv, H), plus_inv))) for H in hats])
    D_inv = np.column_stack([group.module.vee(floats(times(times(minus, H), plus))) for H in hats])
    close(group.module.dcay(x), D, 8)
    close(group.module.dcay_inv(x), D_inv, 8 * (1 + angle**2))


@over_matrix_groups
@over_angles([*SMALL, 0.5, 1.0, 3.0, 10.0, 1e3])
def test_cay_inv_undoes_cay(group: Group, angle: float) -> None:
    """|w| = 2 tan(rotation angle/2), so round-off grows with d|w|/d(rotation angle) = 1 + |w|^2/4."""
    for seed in range(3):
        x = group.tangent(angle, seed)
        y = group.module.cay_inv(group.module.cay(x))
        close(y[: group.angular], x[: group.angular], 8 * (angle if angle < 1 else 1 + angle**2 / 4))
        close(y[group.angular :], x[group.angular :], 16 * (1 + angle**2 / 4))


@over_matrix_groups
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_cay_inv_has_no_value_at_pi(group: Group, sign: float) -> None:
    for seed in range(5):
        half_turn = group.module.exp(sign * group.tangent(np.pi, seed))
        with pytest.raises(OptionError, match=rf"{group.name}\.cay_inv is not defined here: the rotation angle is pi"):
            group.module.cay_inv(half_turn)
    assert np.isfinite(group.module.cay_inv(group.module.exp(group.tangent(np.pi - 1e-12)))).all()


@pytest.mark.parametrize("kernel, g, size", [(kernel_so3, np.eye(3), 3), (kernel_se3, np.eye(4), 6), (kernel_se2, np.eye(3), 3)])
def test_cay_inv_kernel_answers_not_a_number_at_pi(kernel: ModuleType, g: np.ndarray, size: int) -> None:
    half_turn, out = g.copy(), np.empty(size)
    half_turn[0, 0] = half_turn[1, 1] = -1.0
    kernel.cay_inv(half_turn, out)
    assert np.isnan(out[0])


# --------------------------------------------------------------------------------------------------------- Python and compiled use


def argument(group: Group, name: str) -> tuple[np.ndarray, ...]:
    """A good argument of a function of a group."""
    module = group.module
    q = quat.exp(SO3.tangent(0.7))
    if group is QUAT:
        special = {"exp": (SO3.tangent(0.7),), "from_matrix": (quat.to_matrix(q),), "mul": (q, quat.exp(SO3.tangent(1.1, 1)))}
        return special.get(name, (q,))
    if name in ("log", "cay_inv", "Ad", "inv"):
        return (module.exp(group.tangent(0.7)),)
    return (module.hat(group.tangent(0.7)),) if name == "vee" else (group.tangent(0.7),)


FUNCTIONS = [(group, name) for group in GROUPS for name in group.module.__all__]
over_functions = pytest.mark.parametrize("group, name", FUNCTIONS, ids=[f"{g.name}.{n}" for g, n in FUNCTIONS])


@over_functions
def test_compiled_code_gets_what_python_gets(group: Group, name: str) -> None:
    function, args = getattr(group.module, name), argument(group, name)
    if len(args) == 1:
        user = njit(lambda a: function(a))
    else:
        user = njit(lambda a, b: function(a, b))
    np.testing.assert_array_equal(user(*args), function(*args))
    strided = tuple(np.repeat(a, 2, axis=-1)[..., ::2] for a in args)
    np.testing.assert_allclose(user(*strided), function(*args), rtol=0, atol=4 * EPS)


@over_functions
def test_lists_and_batches(group: Group, name: str) -> None:
    function, args = getattr(group.module, name), argument(group, name)
    one = function(*args)
    np.testing.assert_array_equal(function(*(a.tolist() for a in args)), one)
    batch = function(*(np.stack([a, a, a, a]).reshape(2, 2, *a.shape) for a in args))
    assert batch.shape == (2, 2, *one.shape)
    np.testing.assert_array_equal(batch, np.broadcast_to(one, batch.shape))
    assert function(*(np.empty((0, *a.shape)) for a in args)).shape == (0, *one.shape)


@over_functions
def test_arguments_are_left_alone_and_results_are_new(group: Group, name: str) -> None:
    function, args = getattr(group.module, name), argument(group, name)
    before = [a.copy() for a in args]
    first, second = function(*args), function(*args)
    assert not np.shares_memory(first, second)
    assert first.dtype == np.float64
    for a, b in zip(args, before, strict=True):
        assert not np.shares_memory(first, a)
        np.testing.assert_array_equal(a, b)


@over_functions
def test_wrong_shape_names_function_given_and_expected(group: Group, name: str) -> None:
    function, args = getattr(group.module, name), argument(group, name)
    for bad in (np.zeros(2), np.zeros((7, 5)), 1.0, np.zeros(()), []):
        with pytest.raises(OptionError) as error:
            function(*(bad for _ in args))
        message = str(error.value)
        assert message.startswith(f"{group.name}.{name}: ")
        assert f"has shape {np.shape(bad)}" in message
        assert f"of shape {args[0].shape}" in message


@over_functions
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e200])
def test_what_is_not_finite_is_refused(group: Group, name: str, bad: float) -> None:
    args = [a.copy() for a in argument(group, name)]
    args[-1].flat[1] = bad
    with pytest.raises(OptionError, match=rf"^{group.name}\.{name}: .* expected finite numbers"):
        getattr(group.module, name)(*args)


@over_functions
def test_what_is_no_number_is_refused(group: Group, name: str) -> None:
    function, args = getattr(group.module, name), argument(group, name)
    for bad in ("word", [[1.0, 2.0], [3.0]], np.full(args[0].shape, 1j), {"w": 1}):
        with pytest.raises(OptionError, match=rf"^{group.name}\.{name}: .* cannot be read as numbers"):
            function(*(bad for _ in args))
    with pytest.raises(TypeError, match="argument"):
        function()
    with pytest.raises(TypeError, match="argument"):
        function(*args, nonsense=1)


@over_functions
def test_arguments_go_by_name_too(group: Group, name: str) -> None:
    function, args = getattr(group.module, name), argument(group, name)
    names = function.__wrapped__.__code__.co_varnames[: len(args)]
    np.testing.assert_array_equal(function(**dict(zip(names, args, strict=True))), function(*args))


@over_functions
def test_every_function_says_what_it_computes(group: Group, name: str) -> None:
    assert len(getattr(group.module, name).__doc__) > 15


@pytest.mark.parametrize("group", [SE3, SE2], ids=lambda g: g.name)
@pytest.mark.parametrize("name", ["log", "cay_inv"])
def test_what_is_no_pose_is_refused(group: Group, name: str) -> None:
    n = group.size
    bad_row, stretched, mirrored = np.eye(n), np.eye(n), np.eye(n)
    bad_row[-1, 0], stretched[0, 0], mirrored[0, 0] = 0.5, 1.01, -1.0
    for bad, words in ((bad_row, "last row"), (stretched, "not a rotation"), (mirrored, "reflection")):
        with pytest.raises(OptionError, match=words):
            getattr(group.module, name)(bad)
