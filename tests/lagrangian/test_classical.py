"""Classical methods on Lagrangians: growth on the oscillator (lacoursiere2007, chapters 2 and 5), orders, constraints of all kinds."""

import numpy as np
import pytest

import dalembert as dal
from dalembert.verification import AlphaBeta, Pendulum, amplitude_factor, area_factor, named_power, rolling_disk, stability_function

OSCILLATOR = dal.Lagrangian(1, lambda q, v: 0.5 * v[0] ** 2 - 0.5 * q[0] ** 2, name="oscillator")
NAMES = {"explicit-euler": "explicit Euler", "implicit-euler": "implicit Euler", "rk2": "RK2", "rk3": "RK3", "rk4": "RK4"}
EULERS = {"explicit-euler": (1.0, 1.0, {}), "implicit-euler": (0.0, 0.0, {})}
EULERS |= {f"symplectic-euler {first}": (a, 1.0 - a, {"first": first}) for first, a in (("position", 1.0), ("velocity", 0.0))}
OPTIONS = {"baumgarte 2": {"rk": 2}, "ggl 1": {"order": 1}}
FIXED = {"explicit-euler": 1, "implicit-euler": 1, "symplectic-euler": 1, "rk2": 2, "rk3": 3, "rk4": 4, "projection": 1}
FIXED |= {"baumgarte": 4, "baumgarte 2": 2, "penalty-implicit": 1, "penalty-midpoint": 2, "ggl": 2, "ggl 1": 1}
ROUND_OFF = 4e-15


def run(system, method, h, steps, q0, v0=None, **options):
    name = method.split()[0]
    given = {**OPTIONS.get(method, {}), **options}
    return dal.simulate(system, name, h=h, t_end=steps * h, q0=q0, v0=v0, **given)


def nodes(method, h, steps, z0=(10.0, 0.0), **options):
    traj = run(OSCILLATOR, method, h, steps, [z0[0]], [z0[1]], **options)
    return np.column_stack([traj.q, traj.v])


def step_matrix(method, h, **options):
    return np.column_stack([nodes(method, h, 1, z, **options)[1] for z in ((1.0, 0.0), (0.0, 1.0))])


# the oscillator ---------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("x", [0.05, 0.2, 0.5, 1.0, 2**0.5, 2.0, 3.0])
@pytest.mark.parametrize("method", NAMES)
def test_growth_is_the_stability_function(method, x):
    """One step is the matrix of R(i x); |R| is the closed form of (5.4)."""
    R = complex(stability_function(NAMES[method], 1j * x))
    A = step_matrix(method, x)
    assert np.abs(A - [[R.real, R.imag], [-R.imag, R.real]]).max() < ROUND_OFF * (1 + x**4)
    assert np.hypot(A[0, 0], A[0, 1]) == pytest.approx(amplitude_factor(NAMES[method], x), rel=1e-14)
    assert np.linalg.det(A) == pytest.approx(area_factor(NAMES[method], x), rel=1e-13)  # areas of the cat's face, x = 1/5 and 1


@pytest.mark.parametrize(("x", "areas"), [(0.2, (1.0004, 0.96154)), (1.0, (1.25, 0.5))])
def test_areas_of_the_cat(x, areas):
    assert [np.linalg.det(step_matrix(m, x)) for m in ("rk2", "implicit-euler")] == pytest.approx(areas, abs=5e-6)


@pytest.mark.parametrize(("method", "limit", "lowest", "least"), [("rk3", 3**0.5, 2**0.5, (8 / 9) ** 0.5), ("rk4", 8**0.5, 6**0.5, 0.5)])
def test_limits_of_rk3_and_rk4(method, limit, lowest, least):
    """|R| = 1 at sqrt(3) and sqrt(8), less below, more above; its least value at sqrt(2) and sqrt(6)."""

    def growth(x):
        return np.hypot(*step_matrix(method, x)[0])

    assert growth(limit) == pytest.approx(1.0, abs=1e-13)
    assert growth(limit - 1e-3) < 1 - 1e-4 < 1 + 1e-4 < growth(limit + 1e-3)
    assert growth(lowest) == pytest.approx(least, abs=1e-13)
    assert least < growth(lowest - 0.05) and least < growth(lowest + 0.05)
    assert all(growth(x) < 1 for x in np.linspace(0.2, limit - 0.01, 7))  # dissipative everywhere inside


@pytest.mark.parametrize(("x", "percent"), [(1.5, 5.86), (2.0, 25.5), (2.5, 49.2)])
def test_losses_of_rk4(x, percent):
    assert 100 * (1 - np.hypot(*nodes("rk4", x, 1, (1.0, 0.0))[1])) == pytest.approx(percent, abs=0.05)


@pytest.mark.parametrize("h", [0.05, 0.2, 0.5])
@pytest.mark.parametrize("member", EULERS)
def test_eulers_are_members_of_the_family(member, h):
    """z_k = A^k z_0 of (2.11), (2.21), and the form x^2 + v^2 + h (alpha - beta) x v grows by det A; round-off grows with k and |z_k|."""
    alpha, beta, options = EULERS[member]
    family, z, k = AlphaBeta(alpha, beta, h), nodes(member.split()[0], h, 200, **options), np.arange(201)
    size = 10.0 * max(1.0, family.growth) ** k
    assert (np.abs(z - family.state((10.0, 0.0), k)).max(axis=1) < ROUND_OFF * (k + 1) * size).all()
    assert np.allclose(family.form(z) / family.det**k, 100.0, rtol=1e-12, atol=0)
    if alpha == 1.0:
        name = "explicit Euler" if beta == 1.0 else "symplectic Euler"
        assert np.abs(z[50] - named_power(name, h, 50) @ [10.0, 0.0]).max() < 1e-13 * size[50]


def test_numbers_of_the_first_experiment():
    """|z_10| of the two Eulers, where explicit Euler passes 15, and the radii of symplectic Euler (chapter 2, figures 2.1 to 2.3)."""
    steps = (0.05, 0.2, 0.5)
    assert [np.hypot(*nodes("explicit-euler", h, 10)[-1]) for h in steps] == pytest.approx((10.126, 12.167, 30.52), rel=1e-4)
    assert [np.hypot(*nodes("implicit-euler", h, 10)[-1]) for h in steps] == pytest.approx((9.876, 8.219, 3.277), rel=1e-4)
    for h, first in ((0.5, 4), (0.2, 21), (0.05, 325)):
        assert np.argmax(np.hypot(*nodes("explicit-euler", h, first + 1).T) > 15.0) == first
    for h in (0.2, 0.5):
        radius = np.hypot(*nodes("symplectic-euler", h, 3000).T)
        assert (radius.min(), radius.max()) == pytest.approx((10 / (1 + h / 2) ** 0.5, 10 / (1 - h / 2) ** 0.5), abs=2e-4)


def test_implicit_euler_slows_down():
    """phi = atan h in one step: four steps per turn when h grows, whatever the frequency."""
    for h in (0.5, 10.0, 1e4):
        z = nodes("implicit-euler", h, 1, (1.0, 0.0))[1]
        assert np.arctan2(-z[1], z[0]) == pytest.approx(np.arctan(h), abs=1e-15 * (1 + h))


def test_symplectic_euler_is_stable_up_to_two():
    assert np.hypot(*nodes("symplectic-euler", 1.99, 2000).T).max() < 10 / (1 - 1.99 / 2) ** 0.5 * (1 + 1e-9)
    assert np.hypot(*nodes("symplectic-euler", 2.01, 200).T).max() > 1e8


# orders -----------------------------------------------------------------------------------------------------------------------------


def double_pendulum(q, v):
    """Variable mass."""
    c = np.cos(q[0] - q[1])
    return v[0] ** 2 + 0.5 * v[1] ** 2 + v[0] * v[1] * c + 9.81 * (2 * np.cos(q[0]) + np.cos(q[1]))


def rod(q, v):
    return 0.5 * (v[0] ** 2 + v[1] ** 2) - 10.0 * q[1]


DOUBLE = dal.Lagrangian(2, double_pendulum, force=lambda q, v, t: [0.3 * np.sin(3 * t), -0.1 * v[1]], rayleigh=lambda q, v: 0.1 * v[0] ** 2)
REDUCED = dal.Lagrangian(1, lambda q, v: 0.5 * v[0] ** 2 + 10.0 * np.cos(q[0]), name="reduced pendulum")
ROD = dal.Lagrangian(2, rod, holonomic=lambda q: [0.5 * (q[0] ** 2 + q[1] ** 2 - 1)], name="pendulum")
EXACT = Pendulum(1.0, 10.0, np.pi / 2)


def observed(error, first, halvings=4):
    """Slope of log error over log h over that many halvings."""
    steps = [first * 2**k for k in range(halvings + 1)]
    return np.polyfit(np.log(steps), np.log([error(n) for n in steps]), 1)[0] * -1


FIRST = {1: 1000, 2: 400, 3: 60, 4: 40}  # steps of the coarsest run


@pytest.mark.parametrize("method", FIXED)
def test_order_on_the_reduced_pendulum(method):
    phi, rate = EXACT.state(1.0)

    def error(n):
        traj = run(REDUCED, method, 1.0 / n, n, [np.pi / 2])
        return max(abs(traj.q[-1, 0] - phi), abs(traj.v[-1, 0] - rate))

    assert observed(error, FIRST[FIXED[method]]) == pytest.approx(FIXED[method], abs=0.1)


@pytest.mark.parametrize("method", [m for m in FIXED if not m.startswith("symplectic")])
def test_order_with_variable_mass_forces_and_damping(method):
    start = ([0.5, 0.9], [0.3, 0.2])
    exact = run(DOUBLE, "dop853", 1.0, 1, *start, rtol=1e-13, atol=1e-13)

    def error(n):
        traj = run(DOUBLE, method, 1.0 / n, n, *start)
        return max(np.abs(traj.q[-1] - exact.q[-1]).max(), np.abs(traj.v[-1] - exact.v[-1]).max())

    assert observed(error, FIRST[FIXED[method]]) == pytest.approx(FIXED[method], abs=0.1)


CONSTRAINED = [m for m in FIXED if not m.startswith(("symplectic", "penalty"))]


def rod_errors(method, n, **options):
    """Of q and of v after 1 s of the pendulum, against elliptic functions."""
    traj = run(ROD, method, 1.0 / n, n, [1.0, 0.0], **options)
    return np.abs(traj.q[-1] - EXACT.position(1.0)).max(), np.abs(traj.v[-1] - EXACT.velocity(1.0)).max()


@pytest.mark.parametrize("method", CONSTRAINED)
def test_order_on_the_constrained_pendulum(method):
    options = {"alpha": 10.0} if method.startswith("baumgarte") else {}
    assert observed(lambda n: max(rod_errors(method, n, **options)), FIRST[FIXED[method]]) == pytest.approx(FIXED[method], abs=0.1)


@pytest.mark.parametrize(("method", "in_q", "in_v"), [("baumgarte", 2, 1), ("baumgarte 2", 1, 1)])
def test_order_of_baumgarte_when_alpha_grows_with_1_over_h(method, in_q, in_v):
    """The default is stiff: errors of the stages, times alpha, push along the constraints, and the order falls."""
    assert observed(lambda n: rod_errors(method, n)[0], 320) == pytest.approx(in_q, abs=0.1)
    assert observed(lambda n: rod_errors(method, n)[1], 320) == pytest.approx(in_v, abs=0.15)


@pytest.mark.parametrize(("method", "options"), [("penalty-implicit", {"damping": 3.0}), ("penalty-midpoint", {"damping": 0.0})])
def test_order_of_penalties_on_the_system_with_springs(method, options):
    k, c = 100.0, options["damping"]

    def spring(q, v):
        return rod(q, v) - 0.5 * k * (0.5 * (q[0] ** 2 + q[1] ** 2 - 1)) ** 2

    sprung = dal.Lagrangian(2, spring, rayleigh=lambda q, v: 0.5 * c * (q[0] * v[0] + q[1] * v[1]) ** 2)
    exact = run(sprung, "dop853", 1.0, 1, [1.0, 0.0], rtol=1e-12, atol=1e-13).q[-1]

    def error(n):
        return np.abs(run(ROD, method, 1.0 / n, n, [1.0, 0.0], stiffness=k, **options).q[-1] - exact).max()

    assert observed(error, 2 * FIRST[FIXED[method]]) == pytest.approx(FIXED[method], abs=0.1)


# constraints of all kinds -----------------------------------------------------------------------------------------------------------


def disk_energy(q, v):
    """(x, y, heading, roll): m = 1, inertia 1/4 of steering, 1/2 of roll."""
    return 0.5 * (v[0] ** 2 + v[1] ** 2) + 0.125 * v[2] ** 2 + 0.25 * v[3] ** 2


def disk_rows(q):
    return [[1, 0, 0, -np.cos(q[2])], [0, 1, 0, -np.sin(q[2])]]


DISK = dal.Lagrangian(4, disk_energy, pfaffian=disk_rows, name="rolling disk")
NONHOLONOMIC = [m for m in CONSTRAINED if m != "projection"]


@pytest.mark.parametrize("method", NONHOLONOMIC)
def test_rolling_disk(method):
    """x, y on the circle of radius R theta' / phi' = 2: an error of h^order with constants below 10."""
    h = 0.005
    traj = run(DISK, method, h, 400, np.zeros(4), [2.0, 0.0, 1.0, 2.0])
    path, heading = rolling_disk(traj.t, 1.0, 2.0, 1.0)
    assert np.abs(traj.q[:, :2] - path).max() < max(10 * h ** FIXED[method], 1e-9)
    assert np.abs(traj.q[:, 2] - heading).max() < 1e-12
    if method.startswith(("implicit", "ggl")):
        assert np.abs(DISK.velocity_errors(traj.q, traj.v)).max() < 1e-14


@pytest.mark.parametrize("method", ["penalty-implicit", "penalty-midpoint"])
def test_penalties_roll_as_drag_grows(method):
    """Creep A v = mu / d, so errors fall with 1/d until those of the step dominate."""
    errors = []
    for drag in (1e2, 1e3):
        traj = run(DISK, method, 0.001, 2000, np.zeros(4), [2.0, 0.0, 1.0, 2.0], drag=drag)
        errors.append(np.abs(traj.q[:, :2] - rolling_disk(traj.t, 1.0, 2.0, 1.0)[0]).max())
    assert errors[0] < 0.1
    assert 0.05 < errors[1] / errors[0] < 0.3


def test_driven_constraints():
    """A bead carried along x = sin t, falling: y = -g t^2 / 2; the force of the drive is -m sin t."""
    bead = dal.Lagrangian(2, rod, holonomic=lambda q, t: [q[0] - np.sin(t)])
    for method in CONSTRAINED:
        h, order = 0.01, FIXED[method]
        options = {"alpha": 10.0} if method.startswith("baumgarte") else {}
        traj = run(bead, method, h, 100, [0.0, 0.0], [1.0, 0.0], **options)
        assert np.abs(traj.q - np.column_stack([np.sin(traj.t), -5 * traj.t**2])).max() < 8 * h**order, method
        assert np.abs(traj.multipliers["holonomic"][1:, 0] + np.sin(traj.t[1:-1] + h / 2)).max() < 2 * h, method


@pytest.mark.parametrize("method", [*CONSTRAINED, "penalty-implicit"])
def test_redundant_rows_change_nothing(method):
    """A row given twice is left out; springs share the load, so two of half the stiffness are one."""
    twice = dal.Lagrangian(2, rod, holonomic=lambda q: [0.5 * (q[0] ** 2 + q[1] ** 2 - 1)] * 2)
    half = {"stiffness": 5e3} if method.startswith("penalty") else {}
    one, two = run(ROD, method, 0.01, 200, [1.0, 0.0]), run(twice, method, 0.01, 200, [1.0, 0.0], **half)
    assert np.abs(one.q - two.q).max() < 1e-10
    assert np.abs(one.multipliers["holonomic"][:, 0] - two.multipliers["holonomic"].sum(axis=1)).max() < 1e-6


@pytest.mark.parametrize("method", CONSTRAINED)
def test_forces_of_the_constraint(method):
    """Means over the step or values at one of its ends: the tension of the pendulum to O(h)."""
    h = 0.002
    traj = run(ROD, method, h, 500, [1.0, 0.0])
    force = traj.multipliers["holonomic"][1:, 0]
    assert np.abs(force - EXACT.multiplier(traj.t[1:-1] + h / 2, squared=True)).max() < 300 * h  # it changes by up to 95 per second


def test_projection_is_implicit_euler_where_forces_are_constant():
    """Both solve M (w - v_0) = h f + G(q_1)^T impulse, g(q_1) = 0."""
    one, two = run(ROD, "projection", 1 / 60, 400, [1.0, 0.0]), run(ROD, "implicit-euler", 1 / 60, 400, [1.0, 0.0])
    assert np.abs(one.q - two.q).max() < 1e-12


def test_projection_is_orthogonal_in_the_metric_of_mass():
    """A light and a heavy mass on a rod, pulled apart: they move by shares of the other one's mass, and the centre of mass not at all."""

    def energy(q, v):
        return 0.5 * v[0] ** 2 + 1.5 * v[1] ** 2

    pair = dal.Lagrangian(2, energy, holonomic=lambda q: [q[1] - q[0] - 1], force=lambda q, v: [-4, 4])
    traj = run(pair, "projection", 0.1, 20, [0.0, 1.0])
    assert np.abs(traj.q @ [1.0, 3.0] - 3.0).max() < 1e-14
    assert np.abs(traj.multipliers["holonomic"] + 4.0).max() < 1e-12


# Baumgarte --------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("alpha", "beta"), [(6.0, -1.0), (6.0, 25.0), (0.0, 4.0)])
def test_baumgarte_pulls_a_violation_in_as_a_damped_oscillator(alpha, beta):
    """On a linear constraint g'' + alpha g' + beta g = 0 holds exactly, but for the error of RK4 (h = 0.01: 1e-8)."""
    linear = dal.Lagrangian(2, rod, holonomic=lambda q: [q[0] + q[1]])
    traj = run(linear, "baumgarte", 0.01, 200, [0.3, 0.0], [0.0, 0.1], alpha=alpha, beta=beta)
    g, stiffness = linear.constraint_errors(traj.q)[:, 0], 9.0 if beta < 0 else beta
    root = np.sqrt(complex(alpha**2 / 4 - stiffness))
    t = traj.t
    odd = t if root == 0 else (np.sinh(root * t) / root).real
    exact = np.exp(-alpha * t / 2) * (0.3 * np.cosh(root * t).real + (0.1 + 0.15 * alpha) * odd)
    assert np.abs(g - exact).max() < 1e-6


def test_baumgarte_pulls_a_velocity_in():
    """A v + w decays with the rate alpha."""
    traj = run(DISK, "baumgarte", 0.01, 100, np.zeros(4), [2.5, 0.2, 1.0, 2.0], alpha=5.0)
    wrong = DISK.velocity_errors(traj.q, traj.v)
    assert np.abs(wrong - np.exp(-5.0 * traj.t)[:, None] * [0.5, 0.2]).max() < 1e-5


def test_baumgarte_without_feedback_is_runge_kutta():
    for rk in (2, 4):
        one = run(ROD, "baumgarte", 0.02, 100, [1.0, 0.0], rk=rk, alpha=0.0, beta=0.0)
        assert (one.q == run(ROD, f"rk{rk}", 0.02, 100, [1.0, 0.0]).q).all()


@pytest.mark.parametrize("method", ["rk4", "implicit-euler", "projection", "ggl", "lsoda"])
def test_others_refuse_a_start_that_violates_constraints(method):
    with pytest.raises(dal.OptionError, match=r"holonomic: q0 violates it by 0\.105"):
        run(ROD, method, 0.01, 1, [1.1, 0.0])


@pytest.mark.parametrize(
    ("stepper", "options", "message"),
    [
        ("baumgarte", {"rk": 3}, "expected 2 or 4"),
        ("baumgarte", {"alpha": np.inf}, "expected a number"),
        ("ggl", {"order": 3}, "expected 1 or 2"),
        ("symplectic-euler", {"first": "time"}, "expected 'velocity' or 'position'"),
        ("penalty-implicit", {"stiffness": 0.0}, "expected a positive number"),
        ("penalty-midpoint", {"damping": -1.0}, "expected a number >= 0"),
    ],
)
def test_options_are_checked(stepper, options, message):
    with pytest.raises(dal.OptionError, match=message):
        run(REDUCED, stepper, 0.1, 1, [0.0], **options)


def test_constraints_are_refused_by_methods_that_do_not_keep_them():
    with pytest.raises(dal.UnsupportedError, match="'symplectic-euler' does not handle holonomic"):
        run(ROD, "symplectic-euler", 0.1, 1, [1.0, 0.0])
    with pytest.raises(dal.UnsupportedError, match="'projection' does not handle nonholonomic"):
        run(DISK, "projection", 0.1, 1, np.zeros(4))
