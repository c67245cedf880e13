"""Step advice for trees: bounds beside failures, and no certified step that fails."""

import math
import time

import numpy as np
import pytest

from dalembert import Damper, Spring, Wrench, simulate
from dalembert.errors import DalembertError, OptionError, UnknownNameError, UnsupportedError
from dalembert.model import Model
from dalembert.model.kinematics import mass_matrix_reference
from dalembert.solvability import StepAdvice
from dalembert.solvability.certify import certified_steps, limits, prove, unproved
from dalembert.solvability.tree import advise_tree, side_by_side
from dalembert.solvability.tree_constants import all_constants, default_reach
from dalembert.solvability.tree_online import first_iteration, pace_of, spread
from dalembert.solvability.tree_state import numbers, state_of
from dalembert.solvability.tree_step import dense_tree, jacobian, left, newton, start_momentum, terms
from dalembert.solvability.tree_trial import solves

MIXED = ("revolute", "revolute", "prismatic", "universal", "cylindrical", "planar")


@pytest.fixture(scope="module")
def run_A(rods, run):
    """Three rods, from rest, horizontal, 20 s."""
    m = rods(3)
    return m, *run(m, np.zeros(3), np.zeros(3), 0.05, 400)


# the same equations as the compiled stepper ------------------------------------------------------------


@pytest.mark.slow
def test_compiled_stepper_solves_the_same_equations(rods, run):
    """Nodes agree to the tolerance 1e-12 of its Newton method, amplified by the motion; every step of the run is then certified."""
    m, q, v = sprung(rods), np.array([0.3, -0.2, 0.5]), np.array([1.0, -0.5, 0.4])
    traj = simulate(m, "trapezoidal", h=0.004, t_end=0.4, q0=q, v0=v)
    nodes, velocities = run(m, q, v, 0.004, 100)
    np.testing.assert_allclose(traj.q, nodes, atol=1e-9)
    np.testing.assert_allclose(traj.v_interval, velocities, atol=1e-7)
    assert np.all(certified_steps(m, 0.004, traj.q, traj.v_interval))


# bounds beside failures -----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_run_A_bounds_and_failures_side_by_side(run_A):
    """Medians of failure / bound at 100 states of run A, between half and one and a half of those measured once with other constants."""
    m, nodes, velocities = run_A
    rng = np.random.default_rng(1)
    picked = rng.choice(len(velocities), 100, replace=False)
    rows = side_by_side(m, [(nodes[k + 1], velocities[k]) for k in picked], rng=2)
    failure = np.array([row["tried"] for row in rows])
    assert np.all(np.isfinite(failure))
    assert 0.15 < np.median(failure) < 0.45
    measured = {
        "(32) relative": 45, "(32) best": 8.2, "(38) relative": 1056, "(38) best": 60, "(41) relative": 2676, "(41) best": 127,
        "sharper relative": 1720, "sharper best": 87, "online relative, interval before": 51, "online best, interval before": 11,
    }  # fmt: skip
    for name, median in measured.items():
        bound = np.array([row[name] for row in rows])
        assert np.all(bound < failure), name
        assert 0.5 < np.median(failure / bound) / median < 1.5, name
    for row in rows:
        assert row["(41) best"] <= row["sharper best"] <= row["local best"] <= row["online best, interval before"]


def test_certified_share_of_run_A_falls_with_h(rods, run):
    m = rods(3)
    shares = []
    for h, steps in ((0.005, 400), (0.02, 400), (0.05, 400)):
        nodes, velocities = run(m, np.zeros(3), np.zeros(3), h, steps)
        done = certified_steps(m, h, nodes, velocities)
        assert done.shape == (steps,)
        assert done[0]
        shares.append(np.mean(done))
    assert shares[0] == 1.0
    assert shares[0] > shares[1] > shares[2] > 0.05


def test_no_certified_step_fails_in_ten_thousand(random_tree):
    """Random models of 1 to 4 bodies, random states, steps over three decades, both starts: where proved, plain Newton converges,
    to a solution within twice the first correction."""
    rng = np.random.default_rng(0)
    proved = pairs = 0
    for _ in range(100):
        m = random_tree(rng, int(rng.integers(1, 5)), MIXED)
        tree, count = dense_tree(m), 100
        q = np.array([m.random(rng) for _ in range(count)])
        v = rng.normal(size=(count, m.nv)) * 10.0 ** rng.uniform(-1.0, 1.0, (count, 1))
        u = rng.normal(size=m.nv)
        h = 10.0 ** rng.uniform(-3.5, -0.5, count)
        reach = default_reach(tree, q, limits(m))
        constants = list(all_constants(tree, reach))
        first = rng.uniform() < 0.5
        here = terms(tree, q)
        p = start_momentum(tree, h, q, here, v, u, first)
        rows = prove(tree, constants, reach, h, q, here, v, p, u)
        sure = np.any(rows, axis=0)
        pairs, proved = pairs + count, proved + int(np.sum(sure))
        if not np.any(sure):
            continue
        at = type(here)(*(x[sure] for x in here))
        found, done, used = newton(tree, h[sure], q[sure], at, p[sure], v[sure], u)
        assert np.all(done)
        assert np.max(used) < 20
        after = terms(tree, q[sure] + h[sure, None] * v[sure])
        e = left(h[sure], at, after, v[sure], u) - p[sure]
        d = np.linalg.solve(jacobian(h[sure], at, after, v[sure]), e[..., None])[..., 0]
        for row, c in zip(rows, constants, strict=True):
            eta, moved = (np.linalg.norm(x @ c.T.T, axis=1) for x in (d, found - v[sure]))
            assert np.all(moved[row[sure]] <= 2.0 * eta[row[sure]] * (1 + 1e-6) + 1e-9)
    assert pairs == 10_000
    assert 0.2 < proved / pairs < 0.9


@pytest.mark.parametrize("seed", range(12))
def test_newton_solves_every_tried_step_below_the_advice(random_tree, seed):
    rng = np.random.default_rng(500 + seed)
    m = random_tree(rng, int(rng.integers(2, 5)), MIXED)
    q, v = m.random(rng), rng.normal(size=m.nv) * 2.0
    advice = advise_tree(m, q, v, samples=0)
    assert advice.rigorous["h_newton"]
    assert 0.0 < advice.h_newton <= advice.h_jacobian
    state = state_of(m, m.check_q(q), m.check_v(v), np.zeros(m.nv))
    h = np.append(advice.h_newton * rng.uniform(0.01, 1.0, 40), advice.h_newton)
    for first in (True, False):
        assert np.all(solves(state, h, first))
    regular = min(advice.h_jacobian, 1e3) * rng.uniform(0.01, 1.0, 40)
    here = state.here
    for step in regular:
        De = jacobian(step, here, terms(state.tree, state.q + step * state.v), state.v)
        assert np.linalg.det(De) > 0.0


def test_online_bounds_hold_on_a_dense_grid(run_A):
    """At and below the advised step the plain certificate is true in those coordinates."""
    m, nodes, velocities = run_A
    for k in (10, 100, 333):
        q, v = nodes[k + 1], velocities[k]
        advice = advise_tree(m, q, v, samples=0)
        state = state_of(m, q, v, np.zeros(3))
        h = np.geomspace(1e-6, 1.0, 300) * advice.h_newton
        for first in (True, False):
            p = start_momentum(state.tree, h, q, state.here, v, np.zeros(3), first)
            here = terms(state.tree, np.broadcast_to(q, (300, 3)))
            rows = prove(
                state.tree,
                state.constants,
                state.reach,
                h,
                np.broadcast_to(q, (300, 3)),
                here,
                np.broadcast_to(v, (300, 3)),
                p,
                np.zeros(3),
            )
            assert np.any(np.all(rows, axis=1))


@pytest.mark.parametrize("start", [(0.0, 0.0, 0.0), (0.4, -0.9, 1.3)])
def test_first_iterations_between_two_steps_stay_within_their_bounds(rods, start):
    """beta and eta of all h in [b / ratio, b]; stretched, dM = 0 and only the curvature moves them."""
    m = rods(3, gravity=1.0)
    state = state_of(m, np.array(start), np.array([1.0, -2.0, 1.5]), np.zeros(3))
    ratio = 1.3
    for b in (1e-3, 1e-2, 0.05, 0.1):
        inside = first_iteration(state, np.linspace(b / ratio, b, 50))
        for c in state.constants:
            x, end = numbers(state, c), first_iteration(state, np.array([b]))
            betas = 1.0 / np.linalg.svd(c.T_inv.T @ inside.De @ c.T_inv, compute_uv=False)[:, -1]
            for first, d in ((True, inside.first), (False, inside.later)):
                beta, eta = spread(c, x, pace_of(state, c), end, first, ratio)
                assert np.all(betas <= beta * (1 + 1e-9))
                assert np.all(np.linalg.norm(d @ c.T.T, axis=1) <= eta * (1 + 1e-9))


def test_first_step_is_proved_by_the_advice(rods, run):
    """Simulated from the advice's own state: the first step, from M(q0) v0, converges from v0 and is certified."""
    m = rods(3)
    q, v = np.array([0.2, -0.5, 0.9]), np.array([3.0, -2.0, 1.0])
    advice = advise_tree(m, q, v, samples=0)
    nodes, velocities = run(m, q, v, advice.h_newton, 1)
    assert certified_steps(m, advice.h_newton, nodes, velocities).tolist() == [True]


def test_planar_chains_gain_from_absolute_angles(rods):
    advice = advise_tree(rods(6), np.linspace(0, 1, 6), np.ones(6), samples=0)
    found = {limit.name: limit for limit in advice.limits}
    assert found["online best, interval before"].h > 3.0 * found["online relative, interval before"].h
    assert "absolute" in found["online best, interval before"].meaning


# special cases --------------------------------------------------------------------------------------------------------------------


def test_one_link_has_no_limit(rods):
    advice = advise_tree(rods(1), [1.0], [2.0])
    assert advice.h_newton == advice.h_jacobian == math.inf
    assert "no limit" in advice.text


def test_rest(rods):
    assert advise_tree(rods(3, gravity=0.0)).h_newton == math.inf
    falling = advise_tree(rods(3))
    assert falling.h_jacobian == math.inf
    assert 0.01 < falling.h_newton < 0.5


def test_damping_and_armature_raise_the_advice(rods):
    q, v = np.array([0.3, 0.2, -0.4]), np.array([1.0, -2.0, 1.5])
    plain = advise_tree(rods(3, gravity=0.0), q, v, samples=0)
    geared = advise_tree(rods(3, gravity=0.0, armature=1.0), q, v, samples=0)
    damped = advise_tree(rods(3, gravity=0.0, damping=0.5), q, v, samples=0)
    assert geared.h_newton > plain.h_newton
    assert damped.rigorous["h_newton"]
    assert damped.constants["l4"] == pytest.approx(0.5)
    assert damped.h_jacobian > plain.h_jacobian


def test_control_enters_the_residual(rods):
    m = rods(3, gravity=0.0)
    assert advise_tree(m, samples=0).h_newton == math.inf
    assert advise_tree(m, samples=0, control=[5.0, 0.0, 0.0]).h_newton < 1.0


def test_wrenches_and_springs_are_proved(rods):
    m = sprung(rods)
    q, v = np.array([0.3, -0.2, 0.5]), np.array([1.0, -0.5, 0.4])
    advice = advise_tree(m, q, v, rng=0)
    assert advice.rigorous["h_newton"]
    assert 0.005 < advice.h_newton < min(limit.h for limit in advice.limits if limit.name.startswith("tried"))
    assert advice.h_newton != advise_tree(rods(3), q, v, samples=0).h_newton


def test_a_wrong_velocity_is_not_certified(rods, run):
    """The certificate is about the solution near the start: another velocity, and a node that does not follow, fail."""
    m = rods(3)
    nodes, velocities = run(m, np.array([0.2, 0.1, 0.3]), np.ones(3), 0.005, 10)
    assert np.all(certified_steps(m, 0.005, nodes, velocities))
    velocities[6] += 5.0
    assert certified_steps(m, 0.005, nodes, velocities).tolist()[6] is False


def test_massless_link_and_slides_without_limits():
    m = Model("gantry")
    m.add_frame("carriage")
    m.add_joint("rail", "prismatic", "world", "carriage", axis=(1, 0, 0))
    m.add_body("load", 2.0, (0.1, 0.1, 0.1), com=(0, 0, -1.0))
    m.add_joint("swing", "revolute", "carriage", "load", axis=(0, 1, 0))
    advice = advise_tree(m, [0.2, 0.4], [0.3, -1.0], rng=0)
    assert advice.rigorous["h_newton"]
    assert 0.0 < advice.h_newton < min(limit.h for limit in advice.limits if limit.name.startswith("tried"))


def test_thirty_links_are_quick(rods):
    m, rng = rods(30), np.random.default_rng(0)
    q, v = rng.normal(size=30), rng.normal(size=30)
    advise_tree(rods(2), q[:2], v[:2], rng=0)  # what is compiled is no part of it
    begin = time.process_time()
    advice = advise_tree(m, q, v, rng=0)
    assert time.process_time() - begin < 6.0  # about 0.7 s on an idle core
    assert advice.h_newton > 1e-4


def test_large_machines_are_refused_in_words_also_where_their_run_fails(rods):
    """Bounds of 200 links would take 100 GB: the sentence of a run that failed must not try."""
    m = rods(200)
    with pytest.raises(UnsupportedError, match=r"200 velocities.*at most 50"):
        advise_tree(m, np.zeros(200), np.zeros(200))
    with pytest.raises(UnsupportedError, match="200 velocities"):
        simulate(m, "trapezoidal", h="auto", t_end=1.0, v0=np.ones(200))
    rng = np.random.default_rng(0)
    failed = simulate(m, "trapezoidal", h=1.0, t_end=2.0, v0=30 * rng.normal(size=200), rescue=False, on_fail="return")
    assert "Try a smaller h" in failed.status


def test_advice_scales_with_the_speed(rods):
    """Without gravity only h v matters; up to speeds whose cubes are still numbers."""
    m, q, v = rods(3, gravity=0.0), [0.1, 0.2, 0.3], np.array([1.0, -2.0, 1.5])
    one = advise_tree(m, q, v, samples=0)
    for speed in (1e-6, 1e6, 1e50):
        other = advise_tree(m, q, speed * v, samples=0)
        assert other.h_newton * speed == pytest.approx(one.h_newton, rel=0.02)  # the last cells are half a per cent wide
        assert other.h_jacobian * speed == pytest.approx(one.h_jacobian, rel=0.02)
    with pytest.raises(OptionError, match="energies"):
        advise_tree(m, q, 1e200 * v)


def test_advice_has_the_usual_shape(rods):
    advice = advise_tree(rods(2), [0.1, 0.2], [1.0, 1.0], rng=0)
    assert isinstance(advice, StepAdvice)
    names = [limit.name for limit in advice.limits]
    assert len(set(names)) == len(names)
    assert set(advice.rigorous) == {"h_jacobian", "h_newton", *names}
    assert all(advice.rigorous[name] for name in advice.rigorous if not name.startswith("tried"))
    assert not any(advice.rigorous[name] for name in names if name.startswith("tried"))
    assert "times higher" in advice.text
    assert all(math.isfinite(x) for x in advice.constants.values())
    assert advice.to_dict()["stepper"] == "trapezoidal"
    again = advise_tree(rods(2), [0.1, 0.2], [1.0, 1.0], rng=0)
    assert again == advice


def ball_and_hinge():
    m = Model("ball and hinge")
    m.add_body("a", 1.0, (0.1, 0.2, 0.25), com=(0, 0, 0.3))
    m.add_joint("ball", "spherical", "world", "a")
    m.add_body("b", 1.0, (0.1, 0.2, 0.25), com=(0, 0, 0.3), pose=((0, 0, 1), (1, 0, 0, 0)))
    m.add_joint("hinge", "revolute", "a", "b", anchor=(0, 0, 0.8), axis=(1, 0, 0))
    return m


def free_pair():
    m = Model("free pair")
    m.add_body("a", 1.0, (0.1, 0.2, 0.25), com=(0, 0, 0.3), pose=((1, 2, 3), (0.5, 0.5, 0.5, 0.5)))
    m.add_body("b", 1.0, (0.1, 0.2, 0.25), pose=((1, 2, 4), (1, 0, 0, 0)))
    m.add_joint("hinge", "revolute", "a", "b", anchor=(1, 2, 3.5), axis=(1, 0, 0))
    return m


def driven(rods):
    m = rods(2)
    m.add_force(lambda t, q, v: -v)
    return m


def closed(rods):
    m = rods(3)
    m.add_joint("loop", "spherical", "world", "rod 2", anchor=(3, 0, 0))
    return m


def sprung(rods):
    """Wrenches in both frames, springs to the world and between bodies, drag."""
    m = rods(3)
    m.add_force(Wrench("rod 1", force=(0, 1, 2), torque=(0.1, 0.2, 0.3), point=(0.5, 0.1, 0)))
    m.add_force(Wrench("rod 2", force=(1, 1, 0), frame="world", point=(1, 0, 0)))
    m.add_force(Spring("rod 2", "world", point_a=(1, 0, 0), point_b=(0, 2, 0), stiffness=3.0, rest_length=0.5))
    m.add_force(Spring("rod 2", "rod 0", stiffness=2.0, rest_length=0.3, damping=0.3))
    m.add_force(Damper("rod 1", angular=0.1, linear=0.2))
    return m


def test_nothing_is_proved_for_other_joints_and_forces(rods):
    for m, word in ((ball_and_hinge(), "spherical"), (free_pair(), "free"), (driven(rods), "function"), (closed(rods), "loop")):
        advice = advise_tree(m, None, np.linspace(0.5, 1.5, m.nv), rng=0)
        assert not any(advice.rigorous.values())
        assert "not proved" in advice.text
        assert word in advice.limits[0].meaning
        assert 0.0 < advice.h_newton < 10.0
        assert not any(math.isnan(limit.h) for limit in advice.limits)
        assert any(word in reason for reason in unproved(m))
        with pytest.raises(UnsupportedError, match=word):
            certified_steps(m, 0.01, np.zeros((2, m.nq)), np.zeros((1, m.nv)))


def test_local_coordinates_of_other_joints_have_the_same_mass_matrix():
    rng = np.random.default_rng(3)
    for m in (ball_and_hinge(), free_pair()):
        q = m.random(rng)
        state = state_of(m, q, np.zeros(m.nv), np.zeros(m.nv))
        np.testing.assert_allclose(state.here.M, mass_matrix_reference(m, q), atol=1e-12)


def test_bad_calls_are_refused(rods):
    m = rods(2)
    with pytest.raises(UnknownNameError, match="trapezoidal"):
        advise_tree(m, stepper="midpoint")
    with pytest.raises(OptionError, match="samples"):
        advise_tree(m, samples=-1)
    for q, v in (([0.0], None), ([0.0, math.nan], None), (None, [math.inf, 0.0]), (None, [1.0, 2.0, 3.0])):
        with pytest.raises(DalembertError):
            advise_tree(m, q, v)
    with pytest.raises(OptionError, match="control"):
        advise_tree(m, control=[1.0])
    with pytest.raises(OptionError, match="one node more"):
        certified_steps(m, 0.01, np.zeros((3, 2)), np.zeros((3, 2)))
    with pytest.raises(OptionError, match="positive step"):
        certified_steps(m, -0.01, np.zeros((4, 2)), np.zeros((3, 2)))
    with pytest.raises(OptionError, match="finite"):
        certified_steps(m, 0.01, np.full((4, 2), math.nan), np.zeros((3, 2)))
    idle = Model("idle")
    idle.add_frame("empty")
    idle.add_joint("hinge", "revolute", "world", "empty")
    with pytest.raises(UnsupportedError, match="singular"):
        advise_tree(idle)
