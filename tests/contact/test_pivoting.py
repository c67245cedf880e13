"""Small steps by Lemke's and Keller's methods against the direct solver, polygons in place of cones, and what is refused."""

import numpy as np
import pytest
from contact_laws import H

import dalembert as dal
from dalembert.contact.boxed import with_boxes
from dalembert.contact.pivoting import LARGEST, PivotingSolver, as_lcp
from dalembert.contact.problem import BILATERAL, BOXED, CONE, UNILATERAL, StepProblem
from dalembert.contact.solver import SolverOptions, StepSolver
from dalembert.contact.solvers import solver_of
from dalembert.contact.step_samples import chain, heap, mixed
from dalembert.errors import SimulationError, UnsupportedError
from dalembert.kernels.status import OK


def boxed_rows(seed):
    """Rows with bounds alone."""
    rng = np.random.default_rng(seed)
    p = mixed(seed, n=8, m=20)
    rows = len(p.J)
    owner = np.repeat(np.arange(20), np.diff(p.first))
    high = rng.uniform(0.0, 0.3, size=rows)
    low = np.where(rng.uniform(size=rows) < 0.3, -np.inf, -rng.uniform(0.0, 0.3, size=rows))
    return StepProblem(
        p.bodies[owner], np.full(rows, BOXED), np.arange(rows + 1), p.J, p.b, p.sigma, np.zeros(rows), p.masses, p.inverse, p.free, low,
        high,
    )  # fmt: skip


def frictionless(seed):
    """Contacts without friction, some boxes in a lattice."""
    p = heap(seed, side=2, layers=2)
    p.mu[:] = 0.0
    return p


def machine(seed):
    """Joints, limits and motors, without contacts."""
    p = mixed(seed, n=10, m=20)
    p.kind[p.kind == CONE] = BILATERAL
    return p


def joints(seed):
    return chain(6, sigma=1e-6, seed=seed)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("make", [boxed_rows, frictionless, machine, joints])
@pytest.mark.parametrize("method", ["lemke", "keller"])
@pytest.mark.parametrize("law", ["coulomb", "associated"])
def test_rows_with_bounds_are_solved_as_by_the_direct_solver(make, seed, method, law):
    """Both are judged to 1e-9 m/s; velocities of bodies (masses from 0.1 on) then agree to 1e-7, impulses where W is well conditioned."""
    p, other = make(seed), make(seed)
    found = PivotingSolver(SolverOptions(method=method, law=law)).solve(p)
    direct = StepSolver(SolverOptions()).solve(other)
    assert found.status == direct.status == OK
    assert found.residual == pytest.approx(p.natural_residual(), abs=1e-15) and found.residual < 1e-10
    assert found.branch == method and 0 <= found.iterations <= 3 * len(p.J)
    np.testing.assert_allclose(found.x, direct.x, rtol=0, atol=1e-7 * (1.0 + np.abs(direct.x).max()))
    if np.linalg.cond(p.dense()[0]) < 1e6:
        np.testing.assert_allclose(p.lam, other.lam, rtol=0, atol=1e-6 * (1.0 + np.abs(other.lam).max()))


@pytest.mark.parametrize("law", ["coulomb", "associated"])
def test_polygons_lie_in_the_cone_and_come_near_it_with_their_corners(law):
    """Between corners the direction of friction errs by up to pi/k: first order, from 8 to 128 corners a sixteenth. Medians of 8 problems:
    measured 0.04 and 0.0012 m/s (Coulomb), 0.05 and 0.004 m/s."""
    medians = []
    for corners in (8, 128):
        misses = []
        for seed in range(8):
            p, exact = mixed(seed, n=20, m=20), mixed(seed, n=20, m=20)
            found = PivotingSolver(SolverOptions(method="lemke", law=law, corners=corners)).solve(p)
            solver_of(SolverOptions(law=law)).solve(exact)
            at = p.first[:-1][p.kind == CONE]
            if found.branch == "lemke":  # it may end on a ray, which it says
                tangents = np.hypot(p.lam[at + 1], p.lam[at + 2])
                assert (tangents <= p.mu[p.kind == CONE] * p.lam[at] * (1.0 + 1e-12) + 1e-12).all()
                misses.append(np.abs(found.x - exact.velocities()).max())
        assert len(misses) >= 6
        medians.append(np.median(misses))
    assert medians[1] < 0.2 * medians[0] < 0.2


def test_keller_solves_polygons_of_the_associated_law_as_lemke_does():
    for seed in range(4):
        p, other = mixed(seed, n=20, m=20), mixed(seed, n=20, m=20)
        for q, method in ((p, "keller"), (other, "lemke")):
            PivotingSolver(SolverOptions(method=method, corners=6)).solve(q)
        np.testing.assert_allclose(p.velocities(), other.velocities(), rtol=0, atol=1e-7)


def test_the_matrix_of_polygons_is_symmetric_for_the_associated_law_and_copositive_for_coulombs():
    p = mixed(0, n=20, m=20)
    M = as_lcp(p, "lemke", "associated", 6)[0]
    np.testing.assert_allclose(M, M.T, rtol=0, atol=1e-13 * np.abs(M).max())
    M, _, lower, _, _ = as_lcp(p, "lemke", "coulomb", 6)
    z = np.abs(np.random.default_rng(0).normal(size=(200, len(M))))
    z[:, lower < 0.0] *= np.random.default_rng(1).choice([-1.0, 1.0], size=(200, int((lower < 0.0).sum())))
    assert (np.einsum("ki,ij,kj->k", z, M, z) > 0.0).all()


def test_cones_without_corners_and_large_problems_are_refused_by_name():
    p = mixed(0, n=20, m=20)
    for method in ("lemke", "keller"):
        with pytest.raises(UnsupportedError, match=rf"{method}.*cones of friction.*corners"):
            PivotingSolver(SolverOptions(method=method)).solve(p)
    with pytest.raises(UnsupportedError, match=r"keller.*symmetric.*lemke"):
        PivotingSolver(SolverOptions(method="keller", law="coulomb", corners=8)).solve(p)
    large = chain(LARGEST // 3 + 1)
    with pytest.raises(UnsupportedError, match=rf"{LARGEST + 1} rows.*at most {LARGEST}"):
        PivotingSolver(SolverOptions(method="lemke")).solve(large)


def pendulum_on_a_motor():
    """Two links, a limit that is met, a motor with a bound, dry friction: joints, unilateral and boxed rows."""
    m = dal.Model("arm")
    for k in range(2):
        m.add_body(f"link{k + 1}", 1.0, (0.01, 0.02, 0.02), com=(0.25, 0, 0), pose=((0.5 * k, 0, 0), (1, 0, 0, 0)))
    m.add_joint("shoulder", "revolute", "world", "link1", axis=(0, 1, 0), friction=0.4)
    m.add_joint("elbow", "revolute", "link1", "link2", anchor=(0.5, 0, 0), axis=(0, 1, 0), limits=(-0.2, 0.2))
    m.add_motor("hand", "elbow", "velocity", limit=(-1.0, 1.0), kv=10.0)
    return m


@pytest.mark.parametrize("method", ["lemke", "keller"])
def test_a_machine_of_joints_limits_and_motors_runs_by_pivoting(method):
    """Steps are solved to 1e-9 m/s or better by both; over half a second the paths differ by some 30 of that times h, amplified little."""
    runs = [
        dal.simulate(pendulum_on_a_motor(), "spook", h=H, t_end=0.5, solver=s, control=lambda t, q, v: {"hand": 1.0})
        for s in ("direct", method)
    ]
    assert runs[1].solver["unsolved"].sum() == 0
    np.testing.assert_allclose(runs[0].q[-1], runs[1].q[-1], rtol=0, atol=1e-7)


def test_a_run_that_meets_a_cone_is_refused_by_name():
    from dalembert.scenes.contact_piles import stack

    with pytest.raises(SimulationError, match="cones of friction"):
        dal.simulate(stack((1.0,)), "spook", h=H, t_end=0.1, solver="lemke")
    traj = dal.simulate(stack((1.0, 1.0)), "spook", h=H, t_end=0.2, solver="lemke", corners=8)
    assert traj.solver["unsolved"].sum() == 0  # at rest, friction is inside of cone and polygon


@pytest.mark.parametrize("seed", range(3))
def test_boxes_in_place_of_cones_are_one_boxed_problem(seed):
    """Limits of mu times given normal impulses, by the direct solver and by two methods of `lcp`."""
    p = mixed(seed, n=20, m=20)
    cones = p.kind == CONE
    boxes = with_boxes(p, np.full(cones.sum(), 0.3))
    assert len(boxes.J) == len(p.J) and not (boxes.kind == CONE).any()
    assert (boxes.kind == UNILATERAL).sum() == (p.kind == UNILATERAL).sum() + cones.sum()
    at = p.first[:-1][cones]
    np.testing.assert_array_equal(boxes.highs[at + 1], 0.3 * p.mu[cones])
    assert StepSolver().solve(boxes).status == OK
    W, q = boxes.dense()
    for method in ("keller", "block-pivot"):
        found = dal.lcp(W, q, *boxes.bounds(), method=method)
        assert found.solved
        np.testing.assert_allclose(boxes.lam, found.z, rtol=0, atol=1e-6 * (1.0 + np.abs(found.z).max()))
