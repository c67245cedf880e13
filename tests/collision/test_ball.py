"""A ball that bounces under gravity: the midpoint rule is exact on parabolas, so closed forms judge to round-off."""

import numpy as np
import pytest
from tests.collision.conftest import G, ball

import dalembert as dal
from dalembert.kernels.collision.tables import LEAVES, RESTS, STRUCK


def struck(traj):
    return traj.events.rows[traj.events["kind"] == STRUCK]


@pytest.mark.parametrize("base", ["null-space", "midpoint", "trapezoidal"])
def test_elastic_bounces_come_at_their_exact_times(base):
    traj = dal.simulate(ball(1.0, 1.0), "collision", h=0.02, t_end=10, base=base)
    found = struck(traj)
    exact = np.sqrt(2 / G) * (1 + 2 * np.arange(len(found)))
    assert len(found) == 11 and np.abs(found[:, 0] - exact).max() < 1e-12  # 500 steps of round-off
    assert np.ptp(traj.energy) < 1e-12
    assert np.allclose(found[:, 11], -np.sqrt(2 * G), rtol=1e-13) and np.allclose(found[:, 12], np.sqrt(2 * G), rtol=1e-13)
    assert traj.report().verdict == "pass"


def test_a_hundred_thousand_elastic_bounces_keep_the_energy():
    height = 1e-3
    period = 2 * np.sqrt(2 * height / G)
    traj = dal.simulate(ball(height, 1.0), "collision", h=0.02, t_end=2860.0, every=1000)
    assert len(struck(traj)) == int(2860.0 / period + 0.5) > 100_000
    energy = traj.energy - 0.1 * G  # above that of the ball on the ground
    assert np.abs(energy / energy[0] - 1).max() < 1e-9  # round-off of 1e-16 m in 1e-3 m, once per bounce, adds up as a walk: 4e-11


def test_the_energy_condition_changes_the_energy_by_the_lengths_of_intervals():
    """dE = m g^2 (h2^2 - h1^2)/8, h1 before and h2 after the impact within its step."""
    h, m = 0.02, 2.0
    traj = dal.simulate(ball(1.0, 1.0, mass=m), "collision", h=h, t_end=8, reflection="variational")
    for t in struck(traj)[:, 0]:
        k = int(t / h)
        h1, h2 = t - k * h, (k + 1) * h - t
        change = traj.energy[k + 1] - traj.energy[k]
        assert abs(change - m * G**2 * (h2**2 - h1**2) / 8) < 1e-11  # secant method to 4e-16 of an energy of 40 J, over a slope of 10
    assert traj.report().verdict == "pass"


@pytest.mark.parametrize("e", [0.3, 0.5, 0.9])
def test_with_the_energy_condition_too_a_ball_comes_to_rest(e):
    traj = dal.simulate(ball(1.0, e), "collision", h=0.02, t_end=12, reflection="variational")
    assert np.abs(traj.v[-1]).max() < 1e-12 and abs(traj.q[-1, 2] - 0.1) < 1e-13
    assert traj.report().verdict == "pass"


def test_the_exact_impact_of_symplectic_euler_keeps_its_own_energy():
    """Lacoursiere (10.25)-(10.27): M v+^2/2 + V(q~) = M v-^2/2 + V(q_i-1), forces at the beginning of each interval."""
    h = 0.01
    traj = dal.simulate(ball(1.0, 1.0), "collision", h=h, t_end=1.0, base="symplectic-euler", reflection="variational")
    t, k = float(struck(traj)[0, 0]), int(struck(traj)[0, 0] / h)
    z = traj.q[:, 2]
    before = (0.1 - z[k]) / (t - k * h)
    later = (z[k + 1] - 0.1) / ((k + 1) * h - t)
    assert abs((0.5 * before**2 + G * z[k]) - (0.5 * later**2 + G * 0.1)) < 1e-11


@pytest.mark.parametrize("e", [0.2, 0.5, 0.8])
def test_a_ball_comes_to_rest_at_the_sum_of_its_bounces_and_stays(e):
    traj = dal.simulate(ball(1.0, e), "collision", h=0.02, t_end=6)
    first = np.sqrt(2 / G)
    rest = traj.events.rows[traj.events["kind"] == RESTS]
    assert len(rest) == 1
    late = 2 * 1e-6 / (G * (1 - e))  # flights that are left when a ball that leaves at rest_speed = 1e-6 m/s is held
    assert abs(rest[0, 0] - first * (1 + e) / (1 - e)) < 1.01 * late
    after = traj.t > rest[0, 0]
    assert np.abs(traj.q[after, 2] - 0.1).max() < 1e-15 and np.abs(traj.v[after]).max() < 1e-14
    assert np.allclose(struck(traj)[:, 12], -e * struck(traj)[:, 11], rtol=1e-9, atol=1e-14) or len(struck(traj)) > 20
    assert traj.report().verdict == "pass"


BASES = {"null-space": 2, "midpoint": 2, "trapezoidal": 2, "symplectic-euler": 1}


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("damping", [0.0, 0.5])
def test_a_run_is_judged_by_the_order_of_its_base(base, damping):
    """A damped pendulum and a ball too high to strike: the limit is that of the base alone, and the run passes."""
    m = ball(1.0, 0.5)
    m.add_body("rod", 1.0, (0.1, 0.1, 0.01), com=(0, 0, -0.5), pose=((50, 0, 60), (1, 0, 0, 0)))
    m.add_joint("hinge", "revolute", "world", "rod", anchor=(50, 0, 60), axis=(0, 1, 0), damping=damping)
    q0 = m.neutral()
    q0[2], q0[m.q_slices()["hinge"]] = 60.0, 1.0
    traj = dal.simulate(m, "collision", base=base, h=0.01, t_end=1.0, q0=q0)
    assert not len(traj.events.rows)
    assert traj.report().verdict == "pass", traj.report().text
    if damping:
        assert f"(order {BASES[base]}, here" in traj.report()["energy balance"].text


@pytest.mark.parametrize("reflection", ["nodal", "variational"])
def test_what_impacts_between_steps_of_order_one_do_to_the_energy_is_not_promised(reflection):
    """Each of them moves it by h: an elastic ball has lost or won most of it after 30 s, which warns."""
    traj = dal.simulate(ball(1.0, 1.0), "collision", base="symplectic-euler", reflection=reflection, h=0.01, t_end=30.0)
    item = traj.report()["energy balance"]
    assert item.verdict == "warn" and "impacts between steps of order 1" in item.text


def test_a_resting_ball_leaves_when_it_is_lifted():
    def lift(t, q, v):
        return np.array([0.0, 0.0, 0.0 if t < 1.0 else 2 * G])

    traj = dal.simulate(ball(0.0, 0.5), "collision", h=0.01, t_end=1.5, control=lift)
    assert np.any(traj.events["kind"] == LEAVES)
    assert np.abs(traj.q[traj.t <= 1.0, 2] - 0.1).max() < 1e-15
    assert abs(traj.q[-1, 2] - (0.1 + 0.5 * G * 0.5**2)) < 1e-12  # the net force is m g, and the midpoint rule exact


def test_a_ball_that_touches_the_ceiling_within_a_step_is_found():
    """The top of the parabola lies between two nodes that are both below the ceiling."""
    m = dal.Model("ceiling", gravity=(0, 0, -G))
    m.add_shape("world", dal.Plane(position=(0, 0, 1.0), quaternion=(0, 1, 0, 0), friction=0, restitution=1.0))
    m.add_particle("ball", 1.0, position=(0, 0, 0), shapes=[dal.Sphere(0.1, friction=0, restitution=1.0)])
    h, inside = 0.02, 1e-4  # it would rise so far above the place where it touches
    speed = np.sqrt(2 * G * (0.9 + inside))
    delay = (speed / G) % h - 0.5 * h  # top in the middle of a step
    z0, v0 = speed * delay - 0.5 * G * delay**2, speed - G * delay
    traj = dal.simulate(m, "collision", h=h, t_end=1.0, q0=[0, 0, z0], v0=[0, 0, v0])
    assert len(struck(traj)) == 1
    assert abs(struck(traj)[0, 12] - struck(traj)[0, 11] * -1) < 1e-12 and abs(-struck(traj)[0, 11] - np.sqrt(2 * G * inside)) < 1e-9
    assert traj.q[:, 2].max() <= 0.9


@pytest.mark.parametrize("speed", [30.0, 300.0])
def test_fast_balls_do_not_pass_through_each_other_within_a_step(speed):
    m = dal.Model("two", gravity=(0, 0, 0))
    for k, x in enumerate((-1.0, 1.0)):
        m.add_particle(f"b{k}", 1.0, position=(x, 0, 0), shapes=[dal.Sphere(0.05, friction=0, restitution=1.0)])
    traj = dal.simulate(m, "collision", h=0.05, t_end=0.2, v0=[speed, 0, 0, -speed, 0, 0])
    assert len(struck(traj)) == 1 and abs(struck(traj)[0, 0] - 0.95 / speed) < 1e-14
    assert np.allclose(traj.v[-1], [-speed, 0, 0, speed, 0, 0], atol=1e-10)
