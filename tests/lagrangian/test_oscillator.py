"""Harmonic oscillator under the variational steppers: every fact of lacoursiere2007, chapter 2, that they realise.

In natural time, state (x, v) = (q, p). alpha = a is the member (a, 1 - a) of the alpha-beta family: midpoint is (1/2, 1/2), the rectangle
rules are the two symplectic Eulers. Verlet's method is symplectic Euler seen from the middle of a kick.
"""

import numpy as np
import pytest

import dalembert as dal
from dalembert.verification import AlphaBeta, area_factor, named_power

OSCILLATOR = dal.Lagrangian(1, lambda q, v: 0.5 * v[0] ** 2 - 0.5 * q[0] ** 2, name="oscillator")
STEPS = (0.05, 0.2, 0.5)  # h omega of the thesis' pictures
GALERKIN = [(name, {"points": p}) for name in ("galerkin4", "galerkin6") for p in ("gauss", "lobatto")]
VARIATIONAL = [("midpoint", {}), ("verlet", {}), ("trapezoidal", {}), ("alpha", {"alpha": 0.0}), ("alpha", {"alpha": 0.3}), *GALERKIN]


def run(stepper, h, steps, z0=(10.0, 0.0), **options):
    """(x, v) at the nodes. On this system p = v."""
    traj = dal.simulate(OSCILLATOR, stepper, h=h, t_end=steps * h, q0=[z0[0]], v0=[z0[1]], **options)
    return np.column_stack([traj.q, traj.v])


def step_matrix(stepper, h, **options):
    return np.column_stack([run(stepper, h, 1, z0, **options)[1] for z0 in ((1.0, 0.0), (0.0, 1.0))])


@pytest.mark.parametrize("h", STEPS)
@pytest.mark.parametrize("a", [0.0, 0.25, 0.5, 1.0])
def test_alpha_is_the_family_on_its_line_of_equal_areas(a, h):
    """z_k = A^k z_0 of (2.11), (2.21) with (alpha, beta) = (a, 1 - a); 400 steps, round-off grows no faster than k."""
    member, z = AlphaBeta(a, 1.0 - a, h), run("alpha", h, 400, alpha=a)
    assert np.abs(z - member.state((10.0, 0.0), np.arange(401))).max() < 1e-15 * 10 * 400
    assert np.ptp(member.form(z)) < 1e-13 * member.form(z[0])  # the exact invariant x^2 + v^2 + h (alpha - beta) x v


@pytest.mark.parametrize("h", [0.05, 0.2, 0.5, 1.0, 10.0])
def test_midpoint_turns_by_a_rotation_with_tan_of_half_the_phase_h_over_2(h):
    z = run("midpoint", h, 100)
    assert np.abs(np.hypot(*z.T) - 10.0).max() < 1e-13 * 10  # radius 10 exactly: energy exact, whatever h
    phase = np.unwrap(np.arctan2(-z[:, 1], z[:, 0]))
    assert np.abs(phase - 2.0 * np.arange(101) * np.arctan(0.5 * h)).max() < 1e-12
    assert np.cos(phase[1]) == pytest.approx((1 - h**2 / 4) / (1 + h**2 / 4), abs=1e-14)
    assert np.abs(z[100] - named_power("implicit midpoint", h, 100) @ [10.0, 0.0]).max() < 1e-12


@pytest.mark.parametrize("h", STEPS)
def test_symplectic_euler_in_closed_form(h):
    """A^k = [[cos(k phi - psi), sin k phi], [-sin k phi, cos(k phi + psi)]] / cos psi, sin psi = h/2 ((2.29) with psi's signs mended)."""
    z = run("alpha", h, 300, alpha=1.0)
    psi, k = np.arcsin(0.5 * h), np.arange(301)
    closed = 10.0 / np.cos(psi) * np.column_stack([np.cos(2 * k * psi - psi), -np.sin(2 * k * psi)])
    assert np.abs(z - closed).max() < 2e-12
    printed = 10.0 / np.cos(psi) * np.cos(2 * k * psi + psi)
    assert np.abs(z[:, 0] - printed).max() > 0.1 * h  # the print is wrong by O(h)
    assert np.trace(step_matrix("alpha", h, alpha=1.0)) == pytest.approx(2 * (1 - h**2 / 2), abs=1e-14)  # cos phi = 1 - h^2/2


@pytest.mark.parametrize(("h", "low", "high"), [(0.5, 8.944, 11.547), (0.2, 9.535, 10.541)])
def test_radii_of_the_skewed_ellipse(h, low, high):
    """Symplectic Euler: |z| in [10/sqrt(1 + h/2), 10/sqrt(1 - h/2)], and the ends are reached (thousands of points)."""
    for a in (0.0, 1.0):
        radius = np.hypot(*run("alpha", h, 5000, alpha=a).T)
        bounds = 10 / np.sqrt(1 + h / 2), 10 / np.sqrt(1 - h / 2)
        assert bounds == pytest.approx((low, high), abs=6e-4)
        assert bounds[0] * (1 - 1e-12) < radius.min() < bounds[0] + 1e-4
        assert bounds[1] - 1e-4 < radius.max() < bounds[1] * (1 + 1e-12)


@pytest.mark.parametrize("h", [0.05, 0.5, 1.5, 1.9])
def test_verlet_keeps_its_own_ellipse_and_turns_like_symplectic_euler(h):
    """v^2 + (1 - h^2/4) x^2 is exact, cos phi = 1 - h^2/2; the step of symplectic Euler is similar to it, moved by half a kick."""
    z = run("verlet", h, 1000)
    form = z[:, 1] ** 2 + (1 - h**2 / 4) * z[:, 0] ** 2
    assert np.ptp(form) < 1e-12 * form[0]
    k = np.arange(1001)
    assert np.abs(z[:, 0] - 10 * np.cos(2 * k * np.arcsin(h / 2))).max() < 1e-15 * 10 * 1000 / np.sqrt(1 - h**2 / 4)
    kick = np.array([[1.0, 0.0], [-h / 2, 1.0]])
    assert np.allclose(np.linalg.inv(kick) @ step_matrix("verlet", h) @ kick, AlphaBeta(0.0, 1.0, h).matrix, rtol=0, atol=1e-14)


def test_stability_ends_at_two():
    """Symplectic Euler and Verlet: bounded for h < 2; at 2 itself the double root -1 grows like k; beyond it explodes. Midpoint: never."""
    for stepper, options in (("verlet", {}), ("alpha", {"alpha": 0.0}), ("alpha", {"alpha": 1.0})):
        assert np.abs(run(stepper, 1.99, 3000, **options)).max() < 10 / np.sqrt(1 - 1.99 / 2) * 1.001
        growth = AlphaBeta(1.0, 0.0, 2.01).growth
        assert growth > 1.1
        assert np.abs(run(stepper, 2.01, 200, **options)).max() > growth**190
    k = np.arange(301)
    assert np.array_equal(run("alpha", 2.0, 300, alpha=0.0)[:, 0], 10 * (-1.0) ** k * (1 + 2 * k))
    assert np.array_equal(run("verlet", 2.0, 300, (0.0, 1.0))[:, 0], -2 * (-1.0) ** k * k)
    assert np.abs(run("midpoint", 100.0, 1000)).max() < 10 * (1 + 1e-12)


@pytest.mark.parametrize(("stepper", "options"), VARIATIONAL)
@pytest.mark.parametrize("h", [0.2, 1.0])
def test_det_of_the_step_is_one(stepper, options, h):
    assert np.linalg.det(step_matrix(stepper, h, **options)) == pytest.approx(1.0, abs=1e-14)


def cat(points=24):
    """Outline of a face with two ears, counterclockwise in (x, v)."""
    angle = 2 * np.pi * np.arange(points) / points
    radius = 1.0 + 0.5 * sum(np.exp(-(((angle - ear) / 0.15) ** 2)) for ear in (np.pi / 3, 2 * np.pi / 3))
    return np.column_stack([1.5 + radius * np.cos(angle), 0.7 + radius * np.sin(angle)])


def area(outline):
    x, v = outline.T
    return 0.5 * np.sum(x * np.roll(v, -1) - np.roll(x, -1) * v)


@pytest.mark.parametrize(("stepper", "options"), [("verlet", {}), ("midpoint", {}), ("alpha", {"alpha": 1.0})])
def test_arnolds_cat_keeps_its_area(stepper, options):
    """Two dozen oscillators are the outline; a linear map scales its area by det = 1 in each step (RK2 would by 1 + h^4/4)."""
    outline = cat()
    herd = dal.Lagrangian(len(outline), lambda q, v: sum(0.5 * v**2 - 0.5 * q**2), name="outline")
    for h in (0.2, 1.0):
        traj = dal.simulate(herd, stepper, h=h, t_end=30 * h, q0=outline[:, 0], v0=outline[:, 1], **options)
        areas = np.array([area(np.column_stack(pair)) for pair in zip(traj.q, traj.v, strict=True)])
        assert np.abs(areas / areas[0] - 1).max() < 1e-13 * 30
        assert area_factor("RK2", h) ** 30 - 1 > 0.01  # what the test would see: 1.0004^30 and 1.25^30


@pytest.mark.parametrize(("name", "stepper", "options", "order"), [
    ("midpoint", "midpoint", {}, 2),
    ("symplectic Euler", "alpha", {"alpha": 1.0}, 1),
    ("verlet", "verlet", {}, 2),
])  # fmt: skip
def test_orders(name, stepper, options, order):
    """Errors at T = 4 over four halvings."""
    counts = 32 * 2 ** np.arange(5)
    errors = [np.linalg.norm(run(stepper, 4.0 / n, n, (1.0, 0.0), **options)[-1] - [np.cos(4.0), -np.sin(4.0)]) for n in counts]
    assert abs(-np.polyfit(np.log(counts), np.log(errors), 1)[0] - order) < 0.05, name


def test_symplectic_euler_is_of_order_two_in_positions_seen_as_verlet():
    """Its positions are those of Verlet's method (3.27): started with the velocity of half a step, order 2 in x."""
    counts = 32 * 2 ** np.arange(5)
    errors = []
    for n in counts:
        h = 4.0 / n
        errors.append(abs(run("alpha", h, n, (1.0, -0.5 * h), alpha=1.0)[-1, 0] - np.cos(4.0)))
    assert abs(-np.polyfit(np.log(counts), np.log(errors), 1)[0] - 2) < 0.05


@pytest.mark.parametrize(("stepper", "options"), [("verlet", {}), ("alpha", {"alpha": 0.0}), ("galerkin4", {"points": "lobatto"})])
def test_energy_error_is_bounded_for_all_time(stepper, options):
    """The band over 20,000 steps equals that of the first 1,000 (an invariant ellipse), and shrinks with h as the order says."""
    bands = []
    for h in (0.2, 0.1, 0.05):
        energy = 0.5 * np.sum(run(stepper, h, 20000, (1.0, 0.0), **options) ** 2, axis=1)
        assert np.ptp(energy) == pytest.approx(np.ptp(energy[:1000]), rel=1e-2)
        bands.append(np.ptp(energy))
    rate = np.log2(np.array(bands[:-1]) / bands[1:])
    assert np.abs(rate - {"verlet": 2, "alpha": 1, "galerkin4": 4}[stepper]).max() < 0.05


@pytest.mark.parametrize("stepper", ["galerkin4", "galerkin6"])
def test_points_of_gauss_make_pade_approximations(stepper):
    """Energy exact and unconditionally stable: the eigenvalues are the diagonal Pade approximations of exp(i h)."""
    numerator = {"galerkin4": [1 / 12, 1 / 2, 1.0], "galerkin6": [1 / 120, 1 / 10, 1 / 2, 1.0]}[stepper]
    for h in (0.2, 1.0, 10.0):
        z = run(stepper, h, 200)
        assert np.ptp(np.hypot(*z.T)) < 1e-12 * 10
        root = np.polyval(numerator, 1j * h)
        expected = (root / np.conj(root)) ** np.arange(201)
        assert np.abs(z[:, 0] - 1j * z[:, 1] - 10 * expected).max() < 1e-11
