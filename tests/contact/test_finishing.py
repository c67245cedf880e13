"""Newton on laws of friction themselves: its derivatives by differences, its answers by NumPy and by the judge of complementarity."""

from dataclasses import replace

import numpy as np
import pytest
from contact_laws import Steps

import dalembert as dal
from dalembert.complementarity.friction import ContactProblem, judge_friction
from dalembert.contact.finishing import Finishing
from dalembert.contact.friction_laws import LawSolver, section_of
from dalembert.contact.solver import SolverOptions
from dalembert.contact.solvers import solver_of
from dalembert.contact.step_samples import heap, mixed
from dalembert.contact.tangents import Tangents
from dalembert.scenes import contact_piles as piles

COULOMB = SolverOptions(law="coulomb", rounds_tol=1e-6)


@pytest.mark.parametrize(("law", "sides"), [("cylinder", 8), ("pyramid", 8), ("polygon", 6)])
def test_derivatives_of_the_map_are_those_of_differences(law, sides):
    rng = np.random.default_rng(1)
    f = Finishing(Tangents(heap(0, side=2, layers=2), section_of(law, sides)))
    y = rng.normal(size=len(f.p.J))
    y[f.rows[:, 0]] = rng.normal(size=len(f.rows)) + 0.5  # most of them pressed
    y[f.rows[:, 1:]] *= 0.4

    def image(y):  # at impulses y with u = 0: F = lam - Q(y)
        f.J, f.p.b[:], f.p.sigma[:] = 0.0 * f.J, 0.0, 0.0
        return y - f._at(y.copy()).F

    Q, e = f._derivative(y), 1e-7
    for j in range(f.rows.shape[1]):
        up, down = y.copy(), y.copy()
        up[f.rows[:, j]] += e
        down[f.rows[:, j]] -= e
        np.testing.assert_allclose(Q[:, :, j], (image(up) - image(down))[f.rows] / (2 * e), atol=1e-6)


def test_coulombs_law_is_met_where_its_solver_gives_up():
    """Some 450 contacts of 64 boxes that meet at 5 m/s: of 50 such heaps 44 are solved to 1e-6 m/s by the direct way, 48 with this. These
    four are among the six (which they are may change with the last digits)."""
    solved = 0
    for seed in (1, 6, 13, 28):
        p, q = heap(seed), heap(seed)
        direct, exact = solver_of(COULOMB, "coulomb").solve(p), solver_of(replace(COULOMB, method="exact"), "coulomb").solve(q)
        assert exact.ok or not direct.ok
        solved += exact.ok
        if not exact.ok or direct.ok:
            continue
        assert exact.branch == "finished" and q.natural_residual(law="coulomb") < 1e-6
        np.testing.assert_allclose(exact.x, q.velocities(), atol=1e-9)
        W, b = q.dense()
        found = judge_friction(ContactProblem(W, b, q.mu), q.impulses.reshape(-1, 3))
        assert max(found.normal, found.limit, found.direction) < 1e-6 and found.power < 1e-6
    assert solved >= 3


def test_what_is_not_met_is_the_answer_of_the_direct_way():
    p, q = heap(16), heap(16)
    direct, exact = solver_of(COULOMB, "coulomb").solve(p), solver_of(replace(COULOMB, method="exact"), "coulomb").solve(q)
    if exact.ok:  # another processor may be luckier
        assert q.natural_residual(law="coulomb") < 1e-6
    else:
        np.testing.assert_array_equal(q.impulses, p.impulses)
        assert exact.residual == direct.residual == pytest.approx(q.natural_residual(law="coulomb"), rel=1e-3)


@pytest.mark.parametrize(("law", "sides"), [("pyramid", 8), ("polygon", 4), ("polygon", 8)])
def test_heaps_obey_pyramids_and_polygons(law, sides):
    """Judged from W and b; the rows of a polygon share sigma |lam_t| otherwise than two tangents do."""
    solved = 0
    for seed in range(4):
        p = heap(seed, side=3, layers=3)
        result = solver_of(SolverOptions(), law, sides).solve(p)
        W, b = p.dense()
        options = {"directions": sides} if law == "polygon" else {}
        found = judge_friction(ContactProblem(W, b, p.mu), p.impulses.reshape(-1, 3), law, **options)
        slack = p.sigma[0] * np.abs(p.impulses).max() if law == "polygon" else 0.0
        worst = max(found.normal, found.limit, found.direction)
        assert worst <= 4.0 * (result.residual + slack) + 1e-12  # scales of the two judges differ by the diagonal of a contact
        solved += result.ok
    assert solved >= 2


def test_rows_of_joints_and_bounds_take_part():
    """All laws of rows at once: joints, limits, motors and contacts that slide."""
    p = mixed(3)
    result = LawSolver(False, section_of("pyramid"), SolverOptions()).solve(p)
    assert result.ok
    p.impulses[:] *= 1.0 + 1e-3 * np.random.default_rng(0).normal(size=len(p.impulses))
    t = Tangents(p, section_of("pyramid"))
    assert Finishing(t).run(20, 1e-9) <= 1e-9
    t.back()
    np.testing.assert_allclose(p.velocities(), result.x, atol=1e-5)


def test_a_falling_heap_is_solved_step_by_step():
    """20 boxes: the direct way leaves 7 of 240 steps at 1e-6 ... 4e-5 m/s, this way none."""
    direct, exact = Steps(piles.heap(20)).run(1.5), Steps(piles.heap(20), solver="exact").run(1.5)
    missed = [sum(not r.converged for r in s.reports) for s in (direct, exact)]
    assert missed[1] <= min(missed[0], 1)
    assert all(r.residual <= 1e-6 for r in exact.reports if r.converged)


def test_other_laws_take_exact_as_direct():
    traj = dal.simulate(piles.incline(35.0), "spook", h=1 / 60, t_end=0.1, law="pyramid", solver="exact")
    assert traj.solver["unsolved"].sum() == 0
