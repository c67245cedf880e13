"""Islands of a step are solved apart: to the same solution, those at rest not at all, by any number of threads to the same digits."""

from dataclasses import replace

import numpy as np
import pytest

import dalembert as dal
from dalembert.contact.problem import StepProblem
from dalembert.contact.solver import SolverOptions, StepSolver
from dalembert.contact.step_samples import chain, heap, pyramid


def beside(*parts: StepProblem) -> StepProblem:
    """Problems of bodies that do not know of each other, as one."""
    n = np.cumsum([0, *(len(p.masses) for p in parts)])
    rows = np.cumsum([0, *(len(p.J) for p in parts)])
    bodies = np.concatenate([np.where(p.bodies >= 0, p.bodies + k, -1) for p, k in zip(parts, n[:-1], strict=True)])
    first = np.concatenate([[0], *(p.first[1:] + k for p, k in zip(parts, rows[:-1], strict=True))])
    whole = {
        k: np.concatenate([getattr(p, k) for p in parts]) for k in ("kind", "J", "b", "sigma", "mu", "masses", "inverse", "free", "start")
    }
    return StepProblem(bodies=bodies, first=first, lam=np.concatenate([p.impulses for p in parts]), **whole)


@pytest.mark.parametrize("law", ["associated", "coulomb"])
def test_each_island_gets_the_solution_that_it_has_alone(law):
    """Pyramids, a chain, heaps: by the solver of each alone. Solutions are unique to tol times the condition of W for small heaps."""
    parts = [pyramid(6), heap(1, side=2, layers=2, eps=1e-6), chain(5), pyramid(3), heap(2, side=2, layers=2, eps=1e-6)]
    whole, solver, options = beside(*parts), StepSolver(), SolverOptions(law=law)
    result = solver.solve(whole, options)
    assert result.ok and whole.natural_residual(law=law) <= max(1e-6, 1.01 * result.residual)
    x = []
    for p in parts:
        x.append(StepSolver().solve(p, options).x.copy())
    np.testing.assert_allclose(result.x, np.concatenate(x), atol=1e-5)
    assert result.factorisations > 0


def test_an_island_at_rest_is_not_touched():
    """A pyramid with its solution beside a heap in motion: its impulses stay bit for bit, the heap is solved as alone."""
    calm, wild = pyramid(8), heap(3, side=3, layers=2)
    StepSolver().solve(calm, SolverOptions(tol=1e-12))
    before = calm.impulses.copy()
    whole = beside(calm, wild)
    result = StepSolver().solve(whole)
    alone = heap(3, side=3, layers=2)
    single = StepSolver().solve(alone)
    assert result.ok and result.factorisations == single.factorisations
    np.testing.assert_array_equal(whole.impulses[: len(before)], before)
    np.testing.assert_array_equal(whole.impulses[len(before) :], alone.impulses)


def test_no_digit_depends_on_the_number_of_threads():
    parts = [heap(seed, side=3, layers=3) for seed in range(4)] + [pyramid(4)]
    found = []
    for threads in (1, 2, 5):
        whole = beside(*[replace(p, lam=np.zeros(len(p.J))) for p in parts])
        result = StepSolver().solve(whole, SolverOptions(threads=threads, law="coulomb", creep=1e-5))
        found.append((whole.impulses.copy(), result.x.copy(), result.factorisations))
    for lam, x, factors in found[1:]:
        np.testing.assert_array_equal(lam, found[0][0])
        np.testing.assert_array_equal(x, found[0][1])
        assert factors == found[0][2]


def test_a_budget_of_time_holds_for_all_islands_together():
    whole = beside(*[heap(seed, side=3, layers=3) for seed in range(3)])
    result = StepSolver().solve(whole, SolverOptions(max_time=0.0))
    assert not result.ok and "time" in result.branch
    assert result.residual == pytest.approx(whole.natural_residual(), rel=1e-9)


def test_two_heaps_run_alike_with_one_thread_and_with_three():
    def piles() -> dal.Model:
        m = dal.Model("two heaps")
        m.add_shape("world", dal.Plane(friction=0.5))
        box = dal.Box((0.2, 0.2, 0.2), friction=0.5)
        rng = np.random.default_rng(0)
        for side in (-2.0, 2.0):
            for k in range(20):
                place = (side + 0.1 * rng.normal(), 0.1 * rng.normal(), 0.2 + 0.3 * k)
                m.add_body(f"box {side} {k}", 1.0, box.inertia(1.0), pose=(place, (1, 0, 0, 0)), shapes=[box])
        return m

    one, three = (dal.simulate(piles(), "spook", h=1 / 60, t_end=1.5, threads=n) for n in (1, 3))
    np.testing.assert_array_equal(one.q, three.q)
    np.testing.assert_array_equal(one.contacts.rows, three.contacts.rows)
