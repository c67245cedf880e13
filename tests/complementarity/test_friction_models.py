"""Friction models: closed forms, published numbers, random problems before the judge, wrong input."""

import numpy as np
import pytest

from dalembert.complementarity.friction import ContactProblem, judge_friction, models, solve_friction
from dalembert.complementarity.friction.generators import anisotropic, incline, random_contacts
from dalembert.errors import OptionError, UnknownNameError

NAMES = [m.name for m in models()]
ROUND_OFF = 1e-9  # the judge's own tolerance: backward errors relative to the terms of a row


def coulomb(p, r, mu):
    """Largest violation of Coulomb's law, written out without projections: (normal, cone, collinearity or stick)."""
    u, f = (p.W @ r.reshape(-1) + p.b).reshape(-1, 3), r
    slip = np.hypot(u[:, 1], u[:, 2])
    push = np.hypot(f[:, 1], f[:, 2])
    opposite = np.abs(slip[:, None] * f[:, 1:] + (mu * f[:, 0])[:, None] * u[:, 1:]).max()  # 0 in stick, where slip and u_t vanish
    return np.abs(np.minimum(f[:, 0], u[:, 0])).max(), np.max(push - mu * f[:, 0]), opposite


def test_there_are_five_models():
    assert set(NAMES) == {"cone", "cylinder", "box", "pyramid", "polygon"}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("slope", [0.1, 0.3, 0.49, 0.51, 0.8, 2.0, 5.0])
def test_a_block_on_an_incline_sticks_below_mu_and_slides_above(name, slope):
    mu, h = 0.5, 1.0 / 60.0
    p = incline(slope, mu)
    r = solve_friction(p, model=name)
    assert r.solved
    f, theta = r.impulses.sum(axis=0), np.arctan(slope)
    # four contacts with 1e-6 on the diagonal: compliance 1e-6 / 4 beside a mass of 1
    assert np.hypot(f[1], f[2]) / f[0] == pytest.approx(min(slope, mu), abs=1e-6)
    expected = 9.81 * h * max(0.0, np.sin(theta) - mu * np.cos(theta))
    assert r.velocities[:, 1] == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    ("name", "options", "threshold"),
    [
        ("cone", {}, (1.0, 1.0, 1.0)),
        ("cylinder", {}, (1.0, 1.0, 1.0)),
        ("box", {}, (1.0, 1.0823922, 1.4142136)),
        ("pyramid", {}, (1.0, 1.0823922, 1.4142136)),
        ("polygon", {"directions": 4}, (1.0, 0.7653669, 0.7071068)),
        ("polygon", {"directions": 8}, (1.0, 0.9238795, 1.0)),
    ],
)
def test_thresholds_of_sticking_by_heading(name, options, threshold):
    for heading, expected in zip((0.0, np.pi / 8, np.pi / 4), threshold, strict=True):
        for factor, sticks in ((0.9999, True), (1.0001, False)):
            pull = 0.5 * 9.8 * expected * factor
            r = solve_friction(np.eye(3), [-9.8, pull * np.cos(heading), pull * np.sin(heading)], 0.5, model=name, **options)
            assert r.solved
            assert (np.abs(r.velocities[0, 1:]).max() < 1e-9) == sticks


@pytest.mark.parametrize(
    ("name", "options", "heading", "steps", "distance", "path"),
    [
        ("cone", {}, 0.0, 25, 0.3917, 0.0),
        ("cone", {}, 17.0, 25, 0.3917, 17.0),
        ("cone", {}, 45.0, 25, 0.3917, 45.0),
        ("box", {}, 45.0, 18, 0.2722, 45.0),
        ("polygon", {"directions": 4}, 45.0, 35, 0.5607, 45.0),
        ("box", {}, 22.5, 23, None, 9.1),
    ],
)
def test_a_sliding_disc_stops_where_the_model_says(name, options, heading, steps, distance, path):
    """v0 = 2, mu = 0.5, g = 9.8, h = 1/60 (lacoursiere2007, models of 10.12 side by side)."""
    h, v, x, count = 1.0 / 60.0, 2.0 * np.array([np.cos(np.radians(heading)), np.sin(np.radians(heading))]), np.zeros(2), 0
    while np.abs(v).max() > 1e-12 and count < 100:
        v = solve_friction(np.eye(3), np.r_[-9.8 * h, v], 0.5, model=name, **options).velocities[0, 1:]
        x, count = x + h * v, count + 1
    assert count == steps
    assert distance is None or np.hypot(*x) == pytest.approx(distance, abs=5e-5)
    assert np.degrees(np.arctan2(x[1], x[0])) == pytest.approx(path, abs=0.05)


CASES = {
    "anisotropic": lambda rng: anisotropic(int(rng.integers(1, 4)), rng.uniform(0, 1.5), rng),
    "five contacts": lambda rng: random_contacts(5, rng.uniform(0, 2), rng),
    "duplicated": lambda rng: random_contacts(4, rng.uniform(0, 2), rng, duplicates=4),
    "mu = 1e4": lambda rng: random_contacts(3, 1e4, rng),
    "nonsymmetric": lambda rng: random_contacts(3, 0.7, rng, regular=0.3, skew=0.02),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", NAMES)
def test_random_problems_are_solved(name, case):
    for seed in range(20):
        p = CASES[case](np.random.default_rng(seed))
        r = solve_friction(p, model=name)
        assert r.solved, (seed, r.status, r.residual)
        again = judge_friction(p, r.impulses, name)
        assert again.relative == r.residual <= ROUND_OFF
        assert r.residuals.power <= 1e-9 * (1.0 + np.abs(r.impulses).max())  # friction takes energy


def test_the_cone_solves_what_the_fixed_point_on_directions_does_not():
    """200 strongly coupled single contacts: the fixed point converges on fewer than half of them, this solver on all."""
    for seed in range(200):
        rng = np.random.default_rng(seed)
        p = anisotropic(1, rng.uniform(0.0, 1.5), rng)
        r = solve_friction(p)
        assert r.solved and r.fallback == ""
        assert max(coulomb(p, r.impulses, p.mu)) < 1e-12  # impulses and velocities are of order 1


@pytest.mark.parametrize("name", NAMES)
def test_without_friction_all_models_are_the_same_linear_problem(name):
    from dalembert.complementarity import lcp

    p = random_contacts(4, 0.0, np.random.default_rng(5), regular=0.1)
    r = solve_friction(p, model=name)
    expected = lcp(p.W[::3, ::3].copy(), p.b[::3].copy()).z
    assert r.solved
    assert np.abs(r.impulses[:, 1:]).max() <= 1e-15  # sums of directions that cancel, beside normal impulses of order 1
    np.testing.assert_allclose(r.impulses[:, 0], expected, atol=1e-12)


def test_cylinder_and_cone_box_and_pyramid_have_the_same_law():
    for seed in range(10):
        p = anisotropic(2, 0.3, np.random.default_rng(seed))  # small mu: one solution
        for one, other in (("cylinder", "cone"), ("box", "pyramid")):
            np.testing.assert_allclose(solve_friction(p, model=one).impulses, solve_friction(p, model=other).impulses, atol=1e-8)


@pytest.mark.parametrize("name", ["box", "cylinder"])
def test_given_normal_impulses_hold_the_limits(name):
    p = anisotropic(3, 0.5, np.random.default_rng(1))
    normal = np.array([0.1, 0.0, 5.0])
    r = solve_friction(p, model=name, normal=normal)
    assert r.solved and r.impulses[1, 1:] == pytest.approx(0.0, abs=1e-15)
    assert judge_friction(p, r.impulses, name, normal=normal).solved()
    assert not judge_friction(p, r.impulses, name).solved()


def test_the_judge_sees_each_kind_of_fault():
    p = incline(0.8, 0.5)
    r = solve_friction(p).impulses
    turned, pulled, heavy = r.copy(), r.copy(), r.copy()
    turned[:, 1:] = turned[:, [2, 1]]
    pulled[0, 0] = -1e-3
    heavy[:, 1] *= 1.01
    assert judge_friction(p, turned).direction > 1e-3
    assert judge_friction(p, pulled).normal > 1e-4
    assert judge_friction(p, heavy).limit > 1e-5
    assert not any(judge_friction(p, x).solved() for x in (turned, pulled, heavy, -r))


@pytest.mark.parametrize("name", NAMES)
def test_no_contacts(name):
    r = solve_friction(np.zeros((0, 0)), np.zeros(0), np.zeros(0), model=name)
    assert r.solved and r.impulses.shape == r.velocities.shape == (0, 3)


def test_a_start_near_the_solution_is_used():
    p = random_contacts(5, 0.4, np.random.default_rng(0))
    first = solve_friction(p)
    assert solve_friction(p, start=first.impulses, sweeps=0).iterations <= 1


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"W": np.full((3, 3), np.nan)}, "W[0, 0] is nan"),
        ({"b": [0, np.inf, 0]}, "b[1] is inf"),
        ({"mu": -0.1}, "mu[0] is -0.1"),
        ({"mu": np.nan}, "mu[0] is nan"),
        ({"W": np.eye(4), "b": np.zeros(4)}, "three per contact"),
        ({"b": np.zeros(4)}, "b has shape (4,)"),
        ({"model": "cone", "normal": [1.0]}, "takes limits from its own normal impulses"),
        ({"model": "box", "normal": [-1.0]}, "expected finite impulses >= 0"),
        ({"model": "polygon", "directions": 2}, "option 'directions'"),
        ({"start": [1.0]}, "start has shape (1,)"),
        ({"start": "sticking"}, "start is 'sticking'"),
        ({"tol": 2.0}, "tol is 2.0"),
    ],
)
def test_wrong_input_is_named(change, words):
    given = {"W": np.eye(3), "b": -np.ones(3), "mu": 0.5, **change}
    with pytest.raises(OptionError) as error:
        solve_friction(given.pop("W"), given.pop("b"), given.pop("mu"), **given)
    assert words in str(error.value)


def test_unknown_names_give_the_nearest():
    with pytest.raises(UnknownNameError, match="did you mean 'cone'"):
        solve_friction(np.eye(3), np.zeros(3), 0.5, model="cne")
    with pytest.raises(UnknownNameError, match="did you mean 'directions'"):
        solve_friction(np.eye(3), np.zeros(3), 0.5, model="polygon", direction=4)
    with pytest.raises(OptionError, match="leave them out"):
        solve_friction(ContactProblem(np.eye(3), np.zeros(3), 0.5), np.zeros(3))
