"""`collision`: impacts of Lagrangians on unilateral constraints, judged by closed forms, by SciPy's events and by what is conserved."""

import json
import pickle
import signal
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import dalembert as dal
from dalembert.scenes import find
from dalembert.verification import BouncingBall

DATA = json.loads((Path(__file__).parents[1] / "data" / "contact_impact.json").read_text())
G = 9.81
IMPACT, REST, RELEASE = 0, 1, 2


@cache
def ball(e=1.0, **more):
    return dal.Lagrangian(1, lambda q, v: 0.5 * v[0] ** 2 - G * q[0], unilateral=lambda q: [q[0]], restitution=e, name="ball", **more)


@cache
def line(e=(1.0, 0.9, 0.8)):
    """Two carts on a spring and a third one between walls; all may be shifted together, but for the walls."""
    return dal.Lagrangian(
        3,
        lambda q, v: 0.5 * v[0] ** 2 + v[1] ** 2 + 0.5 * v[2] ** 2 - 50 * (q[0] - q[1] + 0.5) ** 2,
        unilateral=lambda q: [q[0] + 2, q[2] - q[1] - 0.1, 2 - q[2]],
        restitution=list(e),
        symmetries={"shift": [1, 1, 1]},
        name="line",
    )


LINE_START = {"q0": [-0.5, 0.0, 1.0], "v0": [1.0, 1.0, -1.0]}


def of_kind(traj, kind):
    return traj.events["t"][traj.events["kind"] == kind]


# the bouncing ball ---------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", DATA["bouncing_ball_zeno"], ids=lambda c: f"e = {c['e']}")
def test_a_ball_bounces_at_the_exact_times_and_comes_to_rest_where_they_accumulate(case):
    """The midpoint rule is exact on parabolas. Flights below 1e-6 h are left out: they take 1e-6 h / (1 - e) in all."""
    h, e, height = 0.01, float(case["e"]), float(case["drop_height"])
    exact = np.array(case["impact_times"], dtype=float)
    traj = dal.simulate(ball(e), h=h, t_end=14.0, q0=[height])
    assert np.abs(of_kind(traj, IMPACT)[: len(exact)] - exact).max() < 1e-10
    assert abs(of_kind(traj, REST)[0] - float(case["zeno_time"])) < 2e-6 * h / (1 - e)
    assert len(of_kind(traj, REST)) == 1 and not len(of_kind(traj, RELEASE))
    z = BouncingBall(height, G, e).state(traj.t)[0]
    away = np.abs(traj.t - float(case["zeno_time"])) > h
    assert np.abs(traj.q[away, 0] - z[away]).max() < 1e-9
    assert np.abs(traj.v[-1]).max() < 1e-12
    assert traj.account["impacts"].sum() == pytest.approx(-G * height, rel=1e-9)
    assert traj.report().verdict == "pass"


@pytest.mark.parametrize("base", ["midpoint", "verlet"])
def test_an_elastic_ball_keeps_its_energy_over_many_bounces(base):
    """Each impact rounds v to eps: over n impacts a random walk of sqrt(n) eps, a drift n eps; here n = 5500."""
    traj = dal.simulate(ball(), h=0.05, t_end=5000.0, q0=[1.0], every=100, base=base)
    n = len(of_kind(traj, IMPACT))
    assert n == 5537
    assert np.abs(traj.energy / G - 1).max() < 4 * n * np.finfo(float).eps
    assert (traj.account["impacts"] <= 1e-12).all()


def test_an_elastic_ball_keeps_its_energy_over_twenty_thousand_bounces():
    """A hundred thousand: the ball of tests/collision."""
    traj = dal.simulate(ball(), h=0.2, t_end=18200.0, q0=[1.0], every=1000)
    n = len(of_kind(traj, IMPACT))
    assert n > 20_000
    assert np.abs(traj.energy / G - 1).max() < 4 * n * np.finfo(float).eps


def test_the_energy_condition_changes_the_energy_of_a_ball_as_the_parts_of_the_step_differ():
    """E_d = E - m g^2 h^2 / 8 on a parabola, so dE = m g^2 (h_2^2 - h_1^2) / 8 per impact, exactly."""
    traj = dal.simulate(ball(), h=0.02, t_end=40.0, q0=[1.0], reflection="variational")
    nodes, t = traj.events.nodes, traj.events["t"]
    assert len(nodes) == len(set(nodes)) == 44
    h1, h2 = t - traj.t[nodes - 1], traj.t[nodes] - t
    change = np.diff(traj.energy)
    assert np.allclose(change[nodes - 1], G**2 * (h2**2 - h1**2) / 8, atol=1e-12)
    assert np.abs(np.delete(change, nodes - 1)).max() < 1e-12
    assert np.abs(change).max() > 1e-3
    assert traj.account["impacts"].sum() == pytest.approx(traj.energy[-1] - traj.energy[0], abs=1e-11)


def test_the_exact_impact_of_the_thesis_keeps_its_modified_energy():
    """lacoursiere2007, figure 10.6: x = 2, v = -10, h = 1/60; v^2/2 + g x - g h v / 2 is constant in flight, and stays within 0.02."""
    g, h = 9.8, 1 / 60
    s = dal.Lagrangian(1, lambda q, v: 0.5 * v[0] ** 2 - g * q[0], unilateral=lambda q: [q[0]])
    traj = dal.simulate(s, h=h, t_end=100.0, q0=[2.0], v0=[-10.0], reflection="exact")
    modified = 0.5 * traj.v[:, 0] ** 2 + g * traj.q[:, 0] - 0.5 * g * h * traj.v[:, 0]
    assert len(traj.events.rows) > 25
    assert modified.min() > 70.40 and modified.max() < 70.43
    x, v, k = traj.q[:, 0], traj.v[:, 0], int(traj.events.nodes[0]) - 1
    alpha = 2 * x[k] / (h * (np.sqrt(v[k] ** 2 + 4 * g * x[k]) - v[k]))  # x + alpha h (v - alpha h g) = 0
    assert traj.events["t"][0] == pytest.approx(traj.t[k] + alpha * h, abs=1e-14)
    assert traj.report().verdict == "pass"


@pytest.mark.parametrize("law", ["nodal", "variational", "exact"])
def test_a_ball_comes_to_rest_by_every_law(law):
    traj = dal.simulate(ball(0.6), h=0.01, t_end=5.0, q0=[1.0], reflection=law)
    assert len(of_kind(traj, REST)) == 1
    assert abs(traj.q[-1, 0]) < 1e-12 and abs(traj.v[-1, 0]) < 1e-12


def test_a_ball_is_lifted_when_the_force_on_it_changes_sign():
    """4 t against a weight of 10: it leaves at t = 2.5 and rises by 4 (t - 2.5)^3 / 6."""
    s = dal.Lagrangian(
        1,
        lambda q, v: 0.5 * v[0] ** 2 - 10 * q[0],
        force=lambda q, v, t: [4 * t],
        unilateral=lambda q: [q[0]],
        restitution=0.5,
    )
    errors = []
    for h in (0.08, 0.04, 0.02):
        traj = dal.simulate(s, h=h, t_end=4.0, q0=[0.1])
        assert of_kind(traj, RELEASE) == pytest.approx([2.5], abs=1e-9)
        errors.append(abs(traj.q[-1, 0] - 4 * 1.5**3 / 6))
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2, abs=0.1)
    assert np.log2(errors[1] / errors[2]) == pytest.approx(2, abs=0.1)
    assert traj.report().verdict == "pass"


def test_a_held_control_lifts_and_drops():
    """Off the floor by twice the weight from t = 1 on, without it from t = 2 on: 0.5 g (t - 1)^2, then free."""
    s = ball(0.0)
    tau = np.where((np.arange(300) >= 100) & (np.arange(300) < 200), 2 * G, 0.0)[:, None]
    arrays = dal.simulate(s, h=0.01, t_end=3.0, control=tau)
    python = dal.simulate(s, h=0.01, t_end=3.0, control=lambda t, q, v: [2 * G if 0.995 < t < 1.995 else 0.0])

    def up(t, q, v, out):
        out[0] = 2 * 9.81 if 0.995 < t < 1.995 else 0.0

    compiled = dal.simulate(s, h=0.01, t_end=3.0, control=dal.compiled(up))
    assert np.array_equal(arrays.q, python.q) and np.array_equal(arrays.q, compiled.q)
    assert np.abs(arrays.q[:101]).max() < 1e-14
    assert arrays.q[200, 0] == pytest.approx(0.5 * G, rel=1e-12)
    assert arrays.q[300, 0] == pytest.approx(0.5 * G + G - 0.5 * G, rel=1e-12)
    assert of_kind(arrays, RELEASE) == pytest.approx([1.0], abs=1e-12)


# several rows ---------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("law", ["nodal", "variational"])
def test_two_beads_that_hit_together_both_leave(law):
    s = dal.Lagrangian(2, lambda q, v: 0.5 * v[0] ** 2 + 5.0 * v[1] ** 2, unilateral=lambda q: [q[0], q[1]])
    traj = dal.simulate(s, h=0.1, t_end=2.0, q0=[1.03, 1.03], v0=[-1.0, -1.0], reflection=law)
    assert np.allclose(traj.v[-1], [1.0, 1.0], atol=1e-12)
    assert np.allclose(traj.events["impulse"], [2.0, 20.0], atol=1e-11)


@pytest.mark.parametrize("case", DATA["newton_cradle"]["moreau_newton_simultaneous"], ids=lambda c: f"{c['n']}, e = {c['e']}")
def test_a_row_of_touching_balls_is_hit(case):
    n, v = case["n"], np.array(case["v_minus"], dtype=float)
    s = dal.Lagrangian(
        n,
        lambda q, v: 0.5 * (v @ v),
        unilateral=lambda q: [q[i + 1] - q[i] - 1 for i in range(n - 1)],
        restitution=float(case["e"]),
        symmetries={"shift": [1] * n},
    )
    q0 = np.arange(n) + np.where(v > 0, -0.5, 0.0)
    traj = dal.simulate(s, h=0.01, t_end=1.0, q0=q0, v0=v)
    assert np.allclose(traj.v[-1], np.array(case["v_plus"], dtype=float), atol=1e-12)
    assert np.ptp(traj.momentum) < 1e-14
    assert traj.report().verdict == "pass"


def test_a_heap_of_beads_falls_apart_from_nothing_and_comes_to_rest():
    rng = np.random.default_rng(1)
    n, m = 5, rng.uniform(0.5, 2.0, 5)
    s = dal.Lagrangian(
        n,
        lambda q, v: 0.5 * (m * v) @ v - G * (m @ q),
        unilateral=lambda q: [q[0]] + [q[i + 1] - q[i] - 0.1 for i in range(n - 1)],
        restitution=rng.uniform(0.0, 0.8, n),
        name="heap",
    )
    traj = dal.simulate(s, h=0.01, t_end=5.0, q0=np.arange(n) * 0.5 + 0.2)
    assert np.allclose(traj.q[-1], 0.1 * np.arange(n), atol=1e-9)
    assert np.abs(traj.v[-1]).max() < 1e-12
    assert traj.report().verdict == "pass"


def test_walls_that_meet_and_walls_that_say_the_same_hold_a_point_in_a_corner():
    s = dal.Lagrangian(
        2,
        lambda q, v: 0.5 * (v @ v) - G * q[1] - 3 * q[0],
        unilateral=lambda q: [q[0], q[1], 2 * q[1], q[0] + q[1]],
        restitution=0.6,
    )
    traj = dal.simulate(s, h=0.01, t_end=4.0, q0=[0.3, 0.5], v0=[-1.0, 0.0])
    assert np.abs(traj.q[-1]).max() < 1e-12 and np.abs(traj.v[-1]).max() < 1e-12
    assert s.gaps(traj.q).min() > -1e-10


def test_momentum_changes_by_what_impacts_push_and_energy_by_what_they_take():
    traj = dal.simulate(line(), h=0.005, t_end=20.0, **LINE_START)
    assert len(traj.events.rows) >= 8
    assert np.abs(traj.momentum[:, 0] - traj.momentum[0, 0] - traj.impulse[:, 0]).max() < 1e-13
    pushed = traj.events["impulse"] * np.array([1.0, 0.0, -1.0])[traj.events["row"].astype(int)]
    assert traj.impulse[-1, 0] == pytest.approx(pushed.sum(), abs=1e-13)
    report = traj.report()
    assert report["momentum of shift"].verdict == report["energy"].verdict == report["unilateral"].verdict == "pass"
    assert "less what impacts push" in report["momentum of shift"].text
    assert set(traj.account) == {"forces", "impacts", "impulse"}


# against SciPy --------------------------------------------------------------------------------------------------------------------------


def with_events(s, q0, v0, t_end):
    """(times of impact, state at the end): DOP853 at 1e-12 from event to event, one row at a time by Newton's law."""
    t, y, times, n = 0.0, np.concatenate([q0, v0]), [], s.n

    def wall(i):
        def event(t, y):
            return s.gaps(y[:n])[i]

        event.terminal, event.direction = True, -1
        return event

    events = [wall(i) for i in range(s.formulas.unilateral_rows)]
    while True:
        run = solve_ivp(
            lambda t, y: np.concatenate([y[n:], s.accelerations(y[:n], y[n:])]),
            (t, t_end), y, method="DOP853", rtol=1e-12, atol=1e-13, events=events,
        )  # fmt: skip
        if run.status != 1:
            return np.array(times), run.y[:, -1]
        i = next(i for i, found in enumerate(run.t_events) if len(found))
        t, y = float(run.t_events[i][0]), run.y_events[i][0].copy()
        C = s.numbers.unilateral_jacobian(y[:n])[i]
        push = np.linalg.solve(s.mass_matrix(y[:n]), C)
        y[n:] -= push * (1 + s.restitution[i]) * (C @ y[n:]) / (C @ push)
        times.append(t)


@pytest.mark.parametrize(("law", "base"), [("nodal", "midpoint"), ("nodal", "verlet"), ("variational", "midpoint")])
def test_a_double_pendulum_hits_a_wall_with_order_2(law, base):
    """Regression of the errors of the times of impact over four halvings; the energy condition approaches its order from above."""
    s, q0 = find("double-pendulum-wall").model(), np.array([0.9, 1.2])
    exact, _ = with_events(s, q0, np.zeros(2), 2.4)
    hs, errors = [0.04 / 2**k for k in range(5)], []
    for h in hs:
        traj = dal.simulate(s, h=h, t_end=2.4, q0=q0, reflection=law, base=base)
        assert len(of_kind(traj, IMPACT)) == len(exact) == 2
        errors.append(np.abs(of_kind(traj, IMPACT) - exact).max())
    assert np.polyfit(np.log(hs), np.log(errors), 1)[0] == pytest.approx(2, abs=0.1)


def test_a_bead_on_a_turning_hoop_between_stops_moves_as_scipy_says():
    """The potential of the rotation and gravity, unit hoop at 5 rad/s; stops at 0.2 and 2 rad. Errors of order 2: a fourth at half h."""
    s = dal.Lagrangian(
        1,
        lambda q, v: 0.5 * (v[0] ** 2 + (5.0 * np.sin(q[0])) ** 2) + G * np.cos(q[0]),
        unilateral=lambda q: [q[0] - 0.2, 2.0 - q[0]],
        restitution=[1.0, 0.7],
    )
    exact, end = with_events(s, np.array([1.0]), np.array([3.0]), 6.0)
    errors = []
    for h in (0.01, 0.005):
        traj = dal.simulate(s, h=h, t_end=6.0, q0=[1.0], v0=[3.0])
        assert len(of_kind(traj, IMPACT)) == len(exact) >= 4
        errors.append(max(np.abs(of_kind(traj, IMPACT) - exact).max(), abs(traj.q[-1, 0] - end[0])))
    assert errors[0] / errors[1] == pytest.approx(4, rel=0.1) and errors[1] < 1e-3


def test_an_impact_of_a_point_on_a_rod_stays_tangent_to_the_rod():
    """A pendulum as a point in the plane against a vertical wall, and by its angle against a stop: the same times, to order 2."""
    rod = dal.Lagrangian(
        2,
        lambda q, v: 0.5 * (v @ v) - G * q[1],
        holonomic=lambda q: [0.5 * (q @ q - 1)],
        unilateral=lambda q: [q[0] + 0.2],
        restitution=0.7,
    )
    angle = dal.Lagrangian(
        1, lambda q, v: 0.5 * v[0] ** 2 + G * np.cos(q[0]), unilateral=lambda q: [q[0] + np.arcsin(0.2)], restitution=0.7
    )
    exact, _ = with_events(angle, np.array([0.5 * np.pi]), np.zeros(1), 4.0)
    traj = dal.simulate(rod, h=0.01, t_end=4.0, q0=[1.0, 0.0])
    assert np.abs(of_kind(traj, IMPACT) - exact).max() < 2e-3
    half = dal.simulate(rod, h=0.005, t_end=4.0, q0=[1.0, 0.0])
    assert np.abs(of_kind(traj, IMPACT) - exact).max() / np.abs(of_kind(half, IMPACT) - exact).max() == pytest.approx(4, rel=0.1)
    assert np.abs(traj.constraint).max() < 1e-14
    assert np.abs(rod.velocity_errors(traj.q, traj.v)).max() < 1e-13
    assert traj.events["after"] == pytest.approx(-0.7 * traj.events["before"], abs=1e-12)
    assert traj.report().verdict == "pass"


def test_a_point_leaves_a_dome_at_two_thirds_of_its_height():
    scene = find("point-off-dome")
    for h in (0.02, 0.01):
        traj = scene.simulate(h=h)
        assert of_kind(traj, REST) == pytest.approx([0.0])
        assert all(finding.ok for finding in scene.check(traj)), scene.check(traj)


def test_the_scene_of_a_bouncing_point_passes_its_check_and_its_report():
    scene = find("bouncing-point")
    traj = scene.simulate()
    assert all(finding.ok for finding in scene.check(traj)), scene.check(traj)
    assert len(scene.check(traj)) == 3 and traj.report().verdict == "pass"


# within a step ----------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("law", ["nodal", "variational"])
@pytest.mark.parametrize("shape", ["square", "distance"])
def test_a_peg_that_is_entered_and_left_within_one_step_is_hit(law, shape):
    """A point passes a peg of radius 0.01 at a distance of 0.005 in steps of 0.1: it is turned by 120 degrees."""
    c = {"square": lambda q: [q @ q - 1e-4], "distance": lambda q: [np.sqrt(q @ q) - 0.01]}[shape]
    s = dal.Lagrangian(2, lambda q, v: 0.5 * (v @ v), unilateral=c)
    traj = dal.simulate(s, h=0.1, t_end=2.0, q0=[-1.03, 0.005], v0=[1.0, 0.0], reflection=law)
    assert of_kind(traj, IMPACT) == pytest.approx([1.03 - 0.01 * np.cos(np.pi / 6)], abs=1e-9)
    assert np.allclose(traj.v[-1], [np.cos(2 * np.pi / 3), np.sin(2 * np.pi / 3)], atol=1e-7)


@pytest.mark.parametrize("law", ["nodal", "variational"])
@pytest.mark.parametrize("miss", [-1e-4, -1e-8, -1e-12, 0.0, 1e-8])
def test_a_peg_that_is_grazed_is_passed(law, miss):
    """The direction turns by 2 arccos(d / r), d the distance; what is left of the peg below the tolerance of c does nothing."""
    s = dal.Lagrangian(2, lambda q, v: 0.5 * (v @ v), unilateral=lambda q: [np.sqrt(q @ q) - 0.01])
    traj = dal.simulate(s, h=0.1, t_end=2.0, q0=[-1.03, 0.01 + miss], v0=[1.0, 0.0], reflection=law)
    turned = 2 * np.arccos(min(1.0, 1 + miss / 0.01))
    assert np.arctan2(traj.v[-1, 1], traj.v[-1, 0]) == pytest.approx(turned if miss < -1e-10 else 0.0, abs=1e-6)
    assert np.linalg.norm(traj.v[-1]) == pytest.approx(1.0, abs=1e-12)


def test_several_impacts_within_one_step_are_all_found():
    """Between walls 0.1 apart at unit speed: one impact every 0.1 s, in steps of 0.25."""
    s = dal.Lagrangian(1, lambda q, v: 0.5 * v[0] ** 2, unilateral=lambda q: [q[0], 0.1 - q[0]])
    traj = dal.simulate(s, h=0.25, t_end=5.0, q0=[0.05], v0=[1.0])
    assert np.abs(of_kind(traj, IMPACT) - (0.05 + 0.1 * np.arange(50))).max() < 1e-12
    assert traj.energy == pytest.approx(0.5, abs=1e-13)


# runs, files, errors ----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("every", [1, 5])
def test_a_resumed_run_repeats_the_whole_one_bit_for_bit_with_its_events(tmp_path, every):
    s = line((0.3, 0.5, 0.2))
    path = tmp_path / "line.h5"
    half = dal.simulate(s, h=0.01, t_end=10.0, every=every, save=path, **LINE_START)
    whole = dal.simulate(s, h=0.01, t_end=20.0, every=every, **LINE_START)
    assert half.events == whole.events[: len(half)]
    resumed = dal.resume(path, 20.0)
    assert np.array_equal(resumed.states, whole.states) and resumed.events == whole.events
    loaded = dal.load(path)
    assert loaded.events == whole.events and loaded.report().text == whole.report().text
    assert loaded.model.restitution == s.restitution and np.array_equal(loaded.work, whole.work)


def test_a_run_is_resumed_while_a_row_is_held(tmp_path):
    path = tmp_path / "ball.h5"
    dal.simulate(ball(0.5), h=0.01, t_end=2.0, q0=[1.0], save=path)
    resumed = dal.resume(path, 3.0)
    assert np.array_equal(resumed.states, dal.simulate(ball(0.5), h=0.01, t_end=3.0, q0=[1.0]).states)


def test_trajectories_systems_and_simulations_are_pickled():
    traj = dal.simulate(line(), h=0.01, t_end=5.0, **LINE_START)
    again = pickle.loads(pickle.dumps(traj))
    assert again.events == traj.events and again.report().text == traj.report().text
    assert pickle.loads(pickle.dumps(line())).restitution == (1.0, 0.9, 0.8)
    sim = dal.Simulation(line(), h=0.01, **LINE_START)
    sim.step(200)
    other = pickle.loads(pickle.dumps(sim))
    sim.step(300), other.step(300)
    assert np.array_equal(sim.state.q, other.state.q) and np.array_equal(sim.state.q, traj.q[-1])
    assert sim.trajectory().events == traj.events


@pytest.mark.parametrize("law", ["nodal", "variational", "exact"])
def test_random_walls_potentials_and_restitutions_are_run_through(law):
    """Nothing hangs, no wall is passed, and the report finds energy and account in order."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        n, k = int(rng.integers(1, 4)), int(rng.integers(2, 5))
        root, normals, off = rng.normal(size=(n, n)), rng.normal(size=(k, n)), rng.uniform(0.3, 1.5, k)
        M, g = root @ root.T + 0.3 * np.eye(n), 5 * rng.normal(size=n)
        s = dal.Lagrangian(
            n,
            lambda q, v, M=M, g=g: 0.5 * (M @ v) @ v - g @ q - 0.25 * (q @ q) ** 2,
            unilateral=lambda q, N=normals, off=off, k=k: [N[i] @ q + off[i] + 0.1 * (q @ q) for i in range(k)],
            rayleigh=(lambda q, v: 0.1 * (v @ v)) if seed % 2 else None,
            restitution=rng.uniform(0.0, 1.0, k),
        )
        traj = dal.simulate(s, h=0.01, t_end=5.0, q0=np.zeros(n), v0=2 * rng.normal(size=n), reflection=law)
        assert s.gaps(traj.q).min() >= -1e-10
        assert traj.report().verdict in ("pass", "warn"), traj.report().text
        assert np.abs(traj.account["impacts"].sum() + traj.account["forces"].sum() - traj.work[-1]) < 1e-12


def test_ctrl_c_and_failures_keep_what_was_computed():
    def control(t, q, v):
        if t > 0.5:
            signal.raise_signal(signal.SIGINT)
        return [0.0]

    traj = dal.simulate(ball(), h=0.01, t_end=5.0, q0=[1.0], control=control)
    assert traj.status == "interrupted" and 0.5 < traj.t[-1] < 0.6 and len(traj.events.rows) == 1
    failed = dal.simulate(ball(0.8), h=0.01, t_end=10.0, q0=[1.0], max_events=3, on_fail="return")
    assert "more impacts within one step" in failed.status and len(failed) > 300
    with pytest.raises(dal.SimulationError, match=r"impact of row 1 at t = .*A larger max_events \(now 3\)") as problem:
        dal.simulate(ball(0.8), h=0.01, t_end=10.0, q0=[1.0], max_events=3)
    assert np.array_equal(problem.value.traj.states, failed.states)


def test_a_stepper_without_impacts_refuses_and_ignore_takes_the_walls_away():
    with pytest.raises(dal.UnsupportedError, match=r"'midpoint' does not handle unilateral.*'collision' does.*ignore=\('unilateral',\)"):
        dal.simulate(ball(), "midpoint", q0=[1.0])
    free = dal.simulate(ball(), "midpoint", h=0.01, t_end=1.0, q0=[1.0], ignore="unilateral")
    assert free.q[-1, 0] == pytest.approx(1 - 0.5 * G, abs=1e-12)
    assert "left out of the run: unilateral" in free.report().text
    below = dal.simulate(ball(), h=0.01, t_end=0.1, q0=[-1.0], ignore="unilateral")
    assert below.stepper.name == "midpoint"
    assert dal.simulate(ball(), h=0.01, t_end=0.1, q0=[1.0]).stepper.name == "collision"


@pytest.mark.parametrize("e", [1.2, -0.1, np.nan, [1.0, 1.0], "hard", [[0.5]]])
def test_a_restitution_outside_of_0_to_1_is_refused(e):
    with pytest.raises(dal.ModelError, match=r"restitution is .*expected a number in \[0, 1\]"):
        dal.Lagrangian(1, lambda q, v: 0.5 * v[0] ** 2, unilateral=lambda q: [q[0]], restitution=e)


def test_bad_walls_and_starts_say_what_is_wrong():
    def L(q, v):
        return 0.5 * v[0] ** 2

    with pytest.raises(dal.ModelError, match="no unilateral constraint"):
        dal.Lagrangian(1, L, restitution=0.5)
    with pytest.raises(dal.ModelError, match="unilateral returns 1 x 2 numbers; expected a vector"):
        dal.Lagrangian(1, L, unilateral=lambda q: [[q[0], q[0]]])
    with pytest.raises(dal.ModelError, match="unilateral depends on t"):
        dal.Lagrangian(1, L, unilateral=lambda q, t: [q[0] - t])
    with pytest.raises(dal.ModelError, match="unilateral is 3"):
        dal.Lagrangian(1, L, unilateral=3)
    with pytest.raises(dal.OptionError, match=r"constraint 1 of unilateral is -1 at q0 = \[-1.0\]"):
        dal.simulate(ball(), q0=[-1.0])
    root = dal.Lagrangian(1, L, unilateral=lambda q: [np.sqrt(q[0])])
    with pytest.raises(dal.OptionError, match="constraint 1 of unilateral is nan"):
        dal.simulate(root, q0=[-1.0])
    with pytest.raises(dal.OptionError, match="reflection"):
        dal.simulate(ball(), q0=[1.0], reflection="hard")
    with pytest.raises(dal.UnsupportedError, match=r"reflection='exact' is for.*not for variable mass"):
        dal.simulate(find("double-pendulum-wall").model(), q0=[0.9, 1.2], reflection="exact")
    with pytest.raises(dal.OptionError, match="gap"):
        dal.simulate(ball(), q0=[1.0], gap=0.0)
    fast = dal.Lagrangian(1, lambda q, v: -np.sqrt(1 - v[0] ** 2), unilateral=lambda q: [q[0]])
    with pytest.raises(dal.UnsupportedError, match="depends on velocities"):
        dal.simulate(fast, q0=[1.0])


# the chain of four beads ------------------------------------------------------------------------------------------------------------------


@cache
def chain():
    """Four unit beads of radius 0.1 on links of length 1 in a box of 8 x 10 x 14 (leyendecker, 3.3): walls, and pairs without a link."""
    half = np.array([3.9, 4.9, 6.9])

    def apart(q, a, b):
        d = q[3 * a : 3 * a + 3] - q[3 * b : 3 * b + 3]
        return d @ d

    def free(q):
        walls = [half[k] + sign * q[3 * i + k] for i in range(4) for k in range(3) for sign in (-1, 1)]
        return walls + [np.sqrt(apart(q, a, b)) - 0.2 for a, b in ((0, 2), (1, 3), (0, 3))]

    return dal.Lagrangian(
        12,
        lambda q, v: 0.5 * (v @ v),
        holonomic=lambda q: [0.5 * (apart(q, i + 1, i) - 1) for i in range(3)],
        unilateral=free,
        symmetries={axis: np.tile(np.eye(3)[i], 4) for i, axis in enumerate("xyz")},
        name="chain",
    )


CHAIN_START = {
    "q0": np.array([-3, -1, 0, -1, 1, 0, 1, -1, 0, 3, 1, 0]) / (2 * np.sqrt(2)),
    "v0": np.array([-0.1, 0.1, -0.1] + [0.0] * 9),
}


def test_a_chain_of_beads_hits_walls_and_itself_at_the_known_times():
    """Of an independent program, by the energy condition, at h = 0.1 to its six digits; extrapolated from h = 0.05 and 0.025 to 2e-5."""
    run = {h: dal.simulate(chain(), h=h, t_end=225.0, reflection="variational", **CHAIN_START) for h in (0.1, 0.05, 0.025)}
    assert run[0.1].events["t"] == pytest.approx([126.701491, 176.790336, 190.805722, 222.025015], abs=2e-6)
    coarse, fine = run[0.05].events["t"], run[0.025].events["t"]
    assert fine[:3] + (fine[:3] - coarse[:3]) / 3 == pytest.approx([126.704193, 176.794097, 190.793423], abs=2e-5)
    assert list(run[0.1].events["row"]) == [19, 2, 8, 24]  # bead 4 at -x, beads 1 and 2 at +y, beads 1 and 3
    for traj in run.values():
        assert np.abs(traj.constraint).max() < 1e-14
        assert traj.report().verdict == "pass"
