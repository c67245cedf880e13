"""Derivatives of steps of trees against differences in extended precision, and against differences of the simulator itself."""

import numpy as np
import pytest

import dalembert as dal

STEPPERS = ("midpoint", "trapezoidal", "symplectic-euler", "null-space")


def humanoid():
    """The humanoid with its knees and elbows bent, so that no limit is near."""
    m = dal.load_model(str(dal.scenes.__path__[0]) + "/humanoid.xml").frozen()
    q = m.integrate(m.neutral(), 0.1 * np.random.default_rng(1).standard_normal(m.nv))
    for joint in m.joints:
        if joint.limits is not None:
            q[m.q_slices()[joint.name]] = 0.3 * joint.limits[0] + 0.7 * joint.limits[1]
    return m, q


def mixed():
    """All kinds of joints, springs, dampers, a rotor, and a slide beyond its limit."""
    m = dal.Model("mixed", gravity=(0.3, -0.2, -9))
    m.add_body("base", 2.0, (0.2, 0.3, 0.25), com=(0.1, 0.05, -0.02), pose=((0.1, 0.2, 0.3), (1, 0, 0, 0)))
    inertia = [[0.1, 0.01, 0.02], [0.01, 0.12, 0.005], [0.02, 0.005, 0.08]]
    m.add_body("arm", 1.0, inertia, com=(0.02, 0, -0.3), pose=((0.2, 0.2, 0.1), (np.cos(0.2), np.sin(0.2), 0, 0)))
    m.add_joint("ball", "spherical", "base", "arm", anchor=(0.2, 0.2, 0.1), damping=0.1, stiffness=0.7)
    m.add_body("tool", 0.5, (0.02, 0.03, 0.01), com=(0.1, 0, 0), pose=((0.3, 0.2, -0.4), (1, 0, 0, 0)))
    m.add_joint("hinge", "revolute", "arm", "tool", (0.3, 0.2, -0.4), (0, 1, 0.2), damping=0.05, stiffness=2.0, armature=0.03)
    m.add_body("slug", 0.4, (0.02, 0.03, 0.01), pose=((0.3, 0.2, -0.6), (1, 0, 0, 0)))
    m.add_joint("slide", "prismatic", "tool", "slug", (0.3, 0.2, -0.6), (1, 0, 0), stiffness=5.0, damping=0.02, limits=(-0.01, 0.01))
    m.add_force(dal.Spring("base", "slug", stiffness=3.0, rest_length=0.2, damping=0.2))
    return m.frozen()


def state(m, q, seed, size=1.0):
    rng = np.random.default_rng(seed)
    return q, size * rng.standard_normal(m.nv), rng.standard_normal(m.nv)


def worst(found, judge):
    """Largest error of a column, relative to its largest entry."""
    return (np.abs(found - judge).max(axis=0) / np.abs(judge).max(axis=0)).max()


@pytest.mark.parametrize("stepper", STEPPERS)
def test_humanoid_in_extended_precision(stepper, extended):
    m, q = humanoid()
    q, v, tau = state(m, q, 2, 0.5)
    found = dal.derivatives(m, q, v, tau, 0.005, stepper, ignore=("contact",))
    columns = np.random.default_rng(3).standard_normal((3 * m.nv, 3))
    judge = extended(m.without(("contact", "limits")).frozen(), q, v, tau, 0.005, stepper, columns)
    assert worst(np.hstack([found.A, found.B]) @ columns, judge) < 1e-11  # differences in 64 bits of mantissa are good to 1e-13


@pytest.mark.parametrize("stepper", STEPPERS)
def test_every_column_of_the_humanoid_is_that_of_the_simulator(stepper, simulated):
    m, q = humanoid()
    q, v, tau = state(m, q, 2, 0.5)
    found = dal.derivatives(m, q, v, tau, 0.005, stepper, ignore=("contact",))
    judge = simulated(m, q, v, tau, 0.005, stepper, ignore=("contact",))
    assert worst(np.hstack([found.A, found.B]), judge) < 1e-6  # differences of numbers that Newton's method leaves at 1e-13, over 1e-3


@pytest.mark.parametrize("stepper", STEPPERS)
def test_all_joints_springs_and_a_limit_that_pushes(stepper, simulated):
    m = mixed()
    rng = np.random.default_rng(3)
    q, v, tau = state(m, m.integrate(m.neutral(), 0.3 * rng.standard_normal(m.nv)), 4)
    assert q[m.q_slices()["slide"]][0] > 0.05  # far beyond, in all differences
    found = dal.derivatives(m, q, v, tau, 0.01, stepper)
    assert worst(np.hstack([found.A, found.B]), simulated(m, q, v, tau, 0.01, stepper)) < 1e-6


def test_a_limit_that_is_met_within_the_step(simulated):
    m = dal.Model("stop", gravity=(0, 0, 0))
    m.add_body("slug", 1.0, (1, 1, 1))
    m.add_joint("slide", "prismatic", "world", "slug", axis=(1, 0, 0), limits=(-1.0, 0.0))
    q, v, tau = np.array([-0.004]), np.array([1.0]), np.array([0.5])
    found = dal.derivatives(m, q, v, tau, 0.01)
    assert found.q_next > 0.0 and found.A_vq[0, 0] < -1.0  # the spring acts over a part of the step
    assert worst(np.hstack([found.A, found.B]), simulated(m.frozen(), q, v, tau, 0.01, "midpoint", size=1e-4)) < 1e-7


@pytest.mark.parametrize("name", ["four-bar", "bricard", "snakeboard", "rolling-disk", "chaplygin-sleigh"])
@pytest.mark.parametrize("stepper", ["midpoint", "symplectic-euler"])
def test_loops_and_rolling(name, stepper, simulated, extended):
    scene = dal.scenes.find(name)
    m, run = scene.model().frozen(), scene.simulate(t_end=37 * scene.h, stepper="midpoint")
    q, v, tau = run.q[-1], run.v[-1], 0.1 * np.random.default_rng(5).standard_normal(scene.model().nv)
    found = dal.derivatives(m, q, v, tau, scene.h, stepper)
    n, k = m.nv, found.tangent.shape[1]
    columns = np.zeros((3 * n, k + n))
    columns[: 2 * n, :k], columns[2 * n :, k:] = found.tangent, np.eye(n)
    whole = np.hstack([found.A, found.B]) @ columns
    far = np.abs(whole).max()
    assert np.abs(whole - simulated(m, q, v, tau, scene.h, stepper, columns, size=1e-4)).max() < 1e-8 * far
    assert np.abs(whole - extended(m, q, v, tau, scene.h, stepper, columns)).max() < 1e-10 * far


@pytest.mark.parametrize("name", ["four-bar", "bricard"])
def test_changes_that_keep_a_loop_closed_keep_it_closed(name):
    scene = dal.scenes.find(name)
    m, run = scene.model(), scene.simulate(t_end=20 * scene.h, stepper="midpoint")
    first = dal.derivatives(m, run.q[-1], run.v[-1], None, scene.h)
    second = dal.derivatives(m, first.q_next, first.v_next, None, scene.h)
    moved, basis = first.A @ first.tangent, second.tangent
    assert first.tangent.shape[1] == 2  # one degree of freedom: its position and its speed
    assert np.abs(moved - basis @ (basis.T @ moved)).max() < 1e-12 * np.abs(moved).max()
    assert np.abs(first.B - basis @ (basis.T @ first.B)).max() < 1e-12


def test_a_singular_position_of_a_loop_has_no_derivative():
    m = dal.scenes.find("four-bar").model()
    flat = np.array([-np.pi / 2, -np.pi / 2, np.pi / 2])  # all rods in one line
    with pytest.raises(dal.UnsupportedError, match="singular position"):
        dal.derivatives(m, flat, *m.assemble(flat, {"foot0": 1.0}, fixed=("foot0",))[1:], None, 0.01)
    near, v = m.assemble(flat + np.array([1e-6, 1e-6, -1e-6]), {"foot0": 1.0}, fixed=("foot0",))
    assert dal.derivatives(m, near, v, None, 0.01).tangent.shape == (6, 2)


def test_the_step_is_symplectic(chain):
    m = chain(6).frozen()
    rng = np.random.default_rng(6)
    q, v = rng.standard_normal((2, 6))
    found = dal.derivatives(m, q, v, None, 0.01)
    omega = [symplectic_form(m, q, v), symplectic_form(m, found.q_next, found.v_next)]
    assert np.abs(found.A.T @ omega[1] @ found.A - omega[0]).max() < 1e-9 * np.abs(omega[0]).max()  # d(Mv)/dq is a difference here


def symplectic_form(m, q, v):
    """dq ^ dp in (q, v), p = M(q) v."""
    n, e = len(q), 1e-5
    P = [(m.mass_matrix(q + s * e * x) @ v) * s / (2 * e) for x in np.eye(n) for s in (1, -1)]
    slope = np.array(P).reshape(n, 2, n).sum(axis=1).T
    to_momentum = np.block([[np.eye(n), np.zeros((n, n))], [slope, m.mass_matrix(q)]])
    J = np.block([[np.zeros((n, n)), np.eye(n)], [-np.eye(n), np.zeros((n, n))]])
    return to_momentum.T @ J @ to_momentum


def test_a_free_body_at_rest_by_its_closed_form():
    m = dal.Model("ball", gravity=(0, 0, 0))
    m.add_body("ball", 2.0, (0.3, 0.3, 0.3))
    found, h = dal.derivatives(m, h=0.1), 0.1
    mobility = np.diag([1 / 0.3] * 3 + [1 / 2.0] * 3)
    assert np.allclose(found.A, np.block([[np.eye(6), h * np.eye(6)], [np.zeros((6, 6)), np.eye(6)]]), atol=1e-14)
    assert np.allclose(found.B, np.vstack([0.5 * h * h * mobility, h * mobility]), atol=1e-14)


def test_a_composition_is_the_product_of_its_steps(simulated, chain):
    m = chain(3).frozen()
    q, v, tau = np.random.default_rng(7).standard_normal((3, 3))
    found = dal.derivatives(m, q, v, tau, 0.02, compose="suzuki4")
    judge = simulated(m, q, v, tau, 0.02, "midpoint", compose="suzuki4")
    assert worst(np.hstack([found.A, found.B]), judge) < 1e-8
    run = dal.simulate(m, "midpoint", h=0.02, t_end=0.02, q0=q, v0=v, control=tau[None], compose="suzuki4")
    assert np.allclose(found.q_next, run.q[-1], atol=1e-13) and found.h == 0.02


def test_all_columns_grow_with_the_square_of_the_links(chain):
    def operations(n):
        from dalembert.runs.plan import Plan

        m = chain(n).frozen()
        dal.derivatives(m, np.full(n, 0.1), np.zeros(n), None, 0.01)
        known = Plan.of(m, "midpoint", 0.01)._made["derivatives"]
        return known.stage.function.n_instructions() + 2 * known.node.function.n_instructions()

    counts = [operations(n) for n in (10, 20, 40)]
    assert np.log2(counts[2] / counts[1]) < 2.1 and np.log2(counts[1] / counts[0]) < 2.25  # 2 in the limit


def test_machines_whose_formulas_would_not_fit_are_refused_in_words():
    """Formulas of a tree grow as n^2: 1000 links would take 20 GB."""
    m = dal.Model("chain")
    for k in range(500):
        m.add_body(f"rod{k}", 1.0, (0.01, 0.1, 0.1), com=(0.5, 0, 0), pose=((float(k), 0, 0), (1, 0, 0, 0)))
        m.add_joint(f"hinge{k}", "revolute", f"rod{k - 1}" if k else "world", f"rod{k}", (float(k), 0, 0), (0, 1, 0))
    with pytest.raises(dal.UnsupportedError, match=r"500 velocities.*at most 400"):
        dal.derivatives(m, m.neutral(), np.zeros(m.nv), np.zeros(m.nv), 1e-3, "midpoint")
