"""Scenes of collisions: what their reports say, what a second method says of them, and that their checks can fail."""

import numpy as np
import pytest

import dalembert as dal
from dalembert import scenes
from dalembert.model import Model
from dalembert.scenes import collision_chains, collisions, contact_structures

NAMES = [n for n in scenes.names() if scenes.find(n).stepper == "collision" and isinstance(scenes.find(n).model(), Model)]
SHORT = {"bead-chain": 300.0, "bead-chain-10": 100.0, "bead-chain-50": 25.0, "billiards-100": 10.0}  # s, where a whole run takes a second


def test_scenes_that_are_asked_for_exist():
    wanted = {"bead-chain", "bead-chain-10", "bead-chain-50", "bead-chain-planar", "bead-chain-periodic", "bouncing-ball", "billiards-100"}
    assert wanted | {"cube-and-walls", "two-cubes", "newtons-cradle-in-turn", "pendulum-and-wall", "hinged-dominoes"} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_reports_pass(name):
    scene = scenes.find(name)
    traj = scene.simulate(t_end=min(SHORT.get(name, scene.t_end), scene.t_end))
    report = traj.report()
    assert report.verdict == "pass", report.text
    assert len(traj.events.rows) > 0


@pytest.mark.parametrize(("change", "complaint"), [({"restitution": 0.9}, "energy"), ({"h": 0.5}, "times"), ({"smooth": True}, None)])
def test_check_of_the_chain_can_fail(change, complaint):
    """Walls that take energy, steps that are too long; leaving out friction that is not there changes nothing."""
    scene = scenes.find("bead-chain")
    wrong = [f.what for f in scene.check(scene.simulate(t_end=300.0, **change)) if not f.ok]
    assert (not wrong) if complaint is None else any(complaint in what for what in wrong)


def test_times_of_the_chain_converge_with_order_two():
    """Against the extrapolated times: errors at h = 0.1 and 0.05 s; |p - 2| < 0.15 leaves room for the next order and for their digits."""
    scene = scenes.find("bead-chain")
    errors = [np.abs(scene.simulate(h=h, t_end=200.0).events["t"][:3] - collision_chains.TIMES[:3]) for h in (0.1, 0.05)]
    assert np.all(np.abs(np.log2(errors[0] / errors[1]) - 2.0) < 0.15)


def test_zigzag_of_four_beads_is_the_start_of_the_source():
    s = 1.0 / (2.0 * np.sqrt(2.0))
    assert np.allclose(collision_chains.zigzag(4).ravel(), s * np.array([-3, -1, 0, -1, 1, 0, 1, -1, 0, 3, 1, 0]), atol=1e-15)


def test_walls_of_a_box_look_inwards_without_round_off():
    from dalembert.model.rotation import matrix

    for inward, q in collision_chains.SIDES.items():
        assert tuple(matrix(np.array(q))[:, 2]) == inward


def test_pendulum_strikes_when_its_formula_does():
    """The Lagrangian of the same machine in two angles, by its own stepper: both of order 2, so apart by a few h^2."""
    h = 0.0025
    bodies, formula = (scenes.find(n).simulate(h=h).events["t"] for n in ("pendulum-and-wall", "double-pendulum-wall"))
    assert len(bodies) == len(formula) == 4
    assert np.abs(bodies - formula).max() < 20.0 * h**2


def test_cradle_all_at_once_sends_the_first_ball_back():
    """One impact of all contacts: -3/5 and 2/5 of the speed; the pendulums turn by less than 0.02 rad in the step of the impact."""
    m = contact_structures.cradle(5)
    traj = dal.simulate(m, "collision", h=0.001, t_end=0.4, q0={"rod1": 0.6})
    hit = int(np.argmax(np.abs(traj.v[:, 4]) > 0.1))
    assert np.allclose(traj.v[hit] / traj.v[hit - 1, 0], contact_structures.together(5), atol=0.01)


@pytest.mark.parametrize("restitution", [1.0, 0.5, 0.0])
def test_cubes_lose_one_minus_e_squared(restitution):
    """Of the energy 0.393112 J that the normal velocity holds in the first impact."""
    scene = scenes.find("two-cubes")
    traj = dal.simulate(collisions.two_cubes(restitution), "collision", h=0.01, t_end=0.17, q0=scene.q0, v0=scene.v0)
    assert abs(traj.account["impacts"].sum() + 0.393112 * (1.0 - restitution**2)) < 1e-5
    assert abs(traj.energy[-1] - traj.energy[0] - traj.account["impacts"].sum()) < 1e-6


def test_energy_condition_lets_the_energy_of_the_ball_wander_by_the_stated_amounts():
    """m g^2 (h2^2 - h1^2)/8 per impact, h1 and h2 the parts of the step before and after it."""
    scene, g, h = scenes.find("bouncing-ball"), collisions.GRAVITY, 0.02
    traj = scene.simulate(reflection="variational", h=h, t_end=3.0)
    t = traj.events["t"]
    before = t - h * np.floor(t / h)
    expected = g**2 * ((h - before) ** 2 - before**2) / 8.0
    after = np.searchsorted(traj.t, t) + 1
    found = traj.energy[after] - traj.energy[after - 2]
    assert np.allclose(found, expected, atol=1e-11)
    assert np.abs(expected).max() > 1e-3
