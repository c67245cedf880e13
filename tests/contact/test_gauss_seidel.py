"""Sweeps over the arrays of a step: the same laws, less accuracy."""

import numpy as np
import pytest

from dalembert.contact.solver import SolverOptions, StepSolver
from dalembert.contact.step_samples import chain, heap, mixed, pyramid
from dalembert.kernels.status import NOT_CONVERGED, OK


@pytest.fixture(scope="module")
def solver():
    return StepSolver()


def sweeps(count, law="associated", tol=1e-9):
    return SolverOptions(method="gauss-seidel", sweeps=count, law=law, tol=tol)


@pytest.mark.parametrize("law", ["associated", "coulomb"])
def test_sweeps_converge_to_the_solution_of_the_direct_solver(solver, law):
    """sigma = 0.1: W is well conditioned and sweeps converge; both end at 1e-9 over its smallest eigenvalue."""
    p, q = mixed(0, n=30, m=30, sigma=0.1), mixed(0, n=30, m=30, sigma=0.1)
    result = solver.solve(p, sweeps(5000, law))
    assert result.status == OK and result.branch == "sweeps" and result.factorisations == 0
    direct = solver.solve(q, SolverOptions(law=law))
    assert direct.residual <= 1e-9
    np.testing.assert_allclose(p.lam, q.lam, rtol=0, atol=1e-6)


@pytest.mark.parametrize("law", ["associated", "coulomb"])
def test_more_sweeps_leave_a_smaller_residual_and_it_is_the_true_one(solver, law):
    found = []
    for count in (10, 100, 1000):
        p = heap(0, side=3, layers=2)
        result = solver.solve(p, sweeps(count, law))
        assert p.natural_residual(law=law) == pytest.approx(result.residual, rel=1e-6)
        assert result.iterations <= count
        found.append(result.residual)
    assert found[2] < 0.3 * found[1] < 0.3 * found[0]


def test_the_budget_is_kept_and_a_warm_start_goes_on_from_there(solver):
    p = pyramid(5)
    first = solver.solve(p, sweeps(30))
    assert first.status == NOT_CONVERGED and first.iterations == 30
    second = solver.solve(p, sweeps(30))
    assert second.residual < first.residual


def test_joints_converge_slowly_but_surely(solver):
    p = chain(5, sigma=0.1)
    assert solver.solve(p, sweeps(3000)).status == OK
