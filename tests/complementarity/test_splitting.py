"""The splitting of friction: contraction, limits, starts, and what it reports where it does not converge."""

import numpy as np
import pytest

from dalembert.complementarity import judge, lcp, methods
from dalembert.complementarity.friction.generators import anisotropic, incline
from dalembert.complementarity.friction.polygonal import parts
from dalembert.complementarity.friction.shapes import directions
from dalembert.complementarity.friction.solve import solve_friction
from dalembert.complementarity.splitting import split
from dalembert.errors import OptionError


def contractive(seed, ratio, n=12):
    """H0 with least eigenvalue 1 of its symmetric part, U >= 0 of norm `ratio`."""
    rng = np.random.default_rng(seed)
    A, B, U = rng.standard_normal((3, n, n))
    H0 = A @ A.T / n + 0.3 * (B - B.T)
    H0 += (1.0 - np.linalg.eigvalsh(0.5 * (H0 + H0.T))[0]) * np.eye(n)
    U = np.abs(U)
    return H0, U * ratio / np.linalg.norm(U, 2), rng.uniform(-1.0, 1.0, n)


@pytest.mark.parametrize("tau", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("seed", range(5))
def test_the_change_shrinks_by_the_proved_ratio(seed, tau):
    H0, U, q = contractive(seed, 0.5)
    s = split(H0, U, q, tau=tau)
    assert s.solved and s.ratio_bound <= 0.5 + 1e-12
    expected = lcp(H0 + U, q, method="lemke").z
    np.testing.assert_allclose(s.z, expected, atol=1e-9)
    # from z = 0 on, |z_k - z| <= ratio^k |z| in the 2-norm; changes are max-norms relative to |z_k|: a factor of sqrt(n) and 2 between them
    size = 2.0 * np.sqrt(len(q)) * 1.5
    assert all(change <= size * 0.5**k * 4.0 for k, change in enumerate(s.changes))


def test_eps_changes_the_problem_and_the_result_says_which_was_solved():
    H0, U, q = contractive(3, 0.5)
    s = split(H0, U, q, eps=0.1)
    assert s.solved and judge(H0 + U + 0.1 * np.eye(len(q)), q, s.z).solved()
    assert not judge(H0 + U, q, s.z).solved()


@pytest.mark.parametrize("method", [m.name for m in methods()])
def test_any_method_solves_inside(method):
    H0, U, q = contractive(1, 0.3)
    s = split(0.5 * (H0 + H0.T), U, q, method=method)
    assert s.solved and s.relative_residual < 1e-9
    p = anisotropic(3, 0.3, np.random.default_rng(2))
    r = solve_friction(p, model="box", method=method, fallback=False)
    assert r.solved
    np.testing.assert_allclose(r.impulses, solve_friction(p, model="pyramid").impulses, atol=1e-7)


def test_it_stays_bounded_and_reports_where_it_does_not_converge():
    H0, U, q = contractive(0, 40.0)
    s = split(H0, U, q, max_iterations=7)
    assert s.ratio_bound > 1.0 and s.iterations <= 7
    assert s.status == ("solved" if judge(H0 + U, q, s.z).solved() else "iteration-limit")
    least = 1.0
    assert np.linalg.norm(s.z) <= np.linalg.norm(q) / least * len(q)  # q + U z >= q: z is largest without U


def test_the_polygonal_problem_of_contacts_by_splitting_is_that_of_lemke():
    p = anisotropic(2, 0.05, np.random.default_rng(4))
    H0, U, q, T = parts(p, directions(4), eps=1e-3)
    s, direct = split(H0, U, q), lcp(H0 + U, q)
    assert s.solved and direct.solved
    np.testing.assert_allclose(T @ s.z[: T.shape[1]], T @ direct.z[: T.shape[1]], atol=1e-7)


def test_starting_without_friction_takes_few_iterations_and_sticking_ever_more():
    """A cube with mu = 0.9, slopes 1 ... 60 (lacoursiere2007, 17.6): 3 to 5 iterations, and 4 ... 13 from infinite limits."""
    slopes = (1.0, 2.0, 5.0, 20.0, 60.0)
    count = {}
    for start in ("frictionless", "sticking"):
        results = [solve_friction(incline(s, 0.9), model="box", start=start, fallback=False) for s in slopes]
        assert all(r.solved for r in results)
        count[start] = [r.iterations for r in results]
        f = [r.impulses.sum(axis=0) for r in results]
        assert [np.hypot(x[1], x[2]) / x[0] for x in f] == pytest.approx(np.minimum(slopes, 0.9), abs=1e-6)
    assert max(count["frictionless"]) <= 5
    assert count["sticking"] == sorted(count["sticking"]) and count["sticking"][-1] >= 2 * max(count["frictionless"])


@pytest.mark.parametrize("tau", [0.3, 1.0])
def test_box_friction_by_the_augmented_scheme(tau):
    for slope in (0.3, 0.8):
        p = incline(slope, 0.5)
        r = solve_friction(p, model="box", tau=tau, fallback=False)
        assert r.solved
        np.testing.assert_allclose(r.velocities, solve_friction(p, model="pyramid").velocities, atol=1e-9)


def test_relaxation_and_warm_start():
    p = anisotropic(3, 0.4, np.random.default_rng(7))
    full = solve_friction(p, model="box", fallback=False)
    relaxed = solve_friction(p, model="box", relaxation=0.5, fallback=False)
    warm = solve_friction(p, model="box", start=full.impulses, fallback=False)
    assert full.solved and relaxed.solved and warm.solved
    assert relaxed.iterations > full.iterations > warm.iterations
    np.testing.assert_allclose(relaxed.impulses, full.impulses, atol=1e-8)


def test_wrong_input():
    H0, U, q = contractive(0, 0.5)
    for bad, words in (({"tau": 2.0}, "tau is 2.0"), ({"eps": -1.0}, "eps -1.0"), ({"max_iterations": 0}, "max_iterations is 0")):
        with pytest.raises(OptionError, match=words):
            split(H0, U, q, **bad)
    with pytest.raises(OptionError, match="entries >= 0"):
        split(H0, -U, q)
