"""Contacts that are held: against the simulator with a joint in place of the contact, against `collision`, whose contacts rest."""

from functools import cache

import numpy as np
import pytest

import dalembert as dal
from dalembert.control import Touch, dmocc, scenes
from dalembert.control.scenes import biped, hopper


@cache
def hop():
    return hopper.build().solve()


@cache
def walk():
    return biped.build().solve()


@pytest.mark.parametrize("name", ["hopper", "biped"])
def test_scenes_show_what_they_promise(name):
    found = hop() if name == "hopper" else walk()
    for finding in (*scenes.common(found), *scenes.find(name).check(found)):
        assert finding.ok, finding


def test_a_stance_is_a_joint_that_can_be_left():
    """The hopper with its foot pinned to the ground by a ball joint, under the inputs of the plan: the nodes of the first stance."""
    found, n = hop(), hop().problem.contacts[0].last
    pinned = hopper.model()
    pinned.add_loop("pin", "spherical", "world", "foot", hopper.FOOT)
    shift = np.array([0, hopper.LEG, 0, 0, 0])  # where the foot of the reference is on the ground
    h = float(found.h[0])
    run = dal.simulate(
        pinned, "null-space", h=h, t_end=n * h, q0=found.q[0] - shift, v0=found.v[0], control=found.control[:n],
        ignore=("limits", "velocity limits"), progress=False,
    )  # fmt: skip
    np.testing.assert_allclose(run.q + shift, found.q[: n + 1], atol=1e-9)
    np.testing.assert_allclose(run.v, found.v[: n + 1], atol=1e-7)  # both leave tangential velocities, of size 10


def test_a_hopper_is_carried_by_its_foot_alone():
    """Vertical momentum: what the foot gives in both stances is the weight times the whole time; along x it starts and ends at rest."""
    found = hop()
    weight = 5.8 * 9.81 * found.t[-1]
    assert sum(x.normal for x in found.impulses) == pytest.approx(weight, rel=1e-8)
    assert abs(sum(float(x.tangential[0]) for x in found.impulses)) < 1e-7 * weight
    assert min(x.normal for x in found.impulses) >= 0.0


def test_a_hopper_leaves_the_ground_without_a_speed_of_its_foot():
    found = hop()
    c = found.problem.contacts[0]
    assert np.abs(c.gap.matrix(found.q[c.last]) @ found.v_after[c.last]).max() < 1e-8
    assert np.abs(c.gap.matrix(found.q[c.last]) @ found.v[c.last]).max() < 1e-12
    assert min(c.gap.number(q) for q in found.q) > -1e-9


def test_reports_judge_plans_with_stances():
    for found in (hop(), walk()):
        assert found.traj.report().verdict == "pass", found.traj.report().text


def test_a_biped_walks_on():
    """Four steps, legs exchanged: no coordinate and no velocity jumps, but for that of the impact; feet come down a step apart."""
    found = walk()
    gait = biped.walk(found, 4)
    n = len(found.t) - 1
    model = found.problem.machine.whole
    assert np.abs(np.diff(gait.q, axis=0)).max() < 1.5 * np.abs(np.diff(found.q, axis=0)).max()
    for k in range(1, 4):  # what an impact leaves is the start of the next step
        own = biped.EXCHANGE if k % 2 == 0 else list(range(7))
        np.testing.assert_allclose(gait.v[k * n], found.v_after[-1][own], atol=1e-7)
        side = ("left", "right")[k % 2]
        T = model.poses(gait.q[k * n])[[b.name for b in model.bodies].index(f"{side} shin")]
        np.testing.assert_allclose(T[:3, :3] @ biped.FOOT + T[:3, 3], [k * biped.STEP, 0, 0], atol=1e-8)
    hit = found.impacts[0]
    assert hit.node == n and hit.before < -0.1 and abs(hit.after) < 1e-8
    assert abs(hit.tangential[0]) <= biped.FRICTION * hit.normal + 1e-9


@pytest.mark.parametrize("scene", ["hopper", "biped"])
def test_the_simulator_with_its_feet_pinned_runs_on_the_plan(scene):
    """From the first node alone, under the inputs: stances, flight and landing are found by loop joints, not taken from the plan."""
    found = hop() if scene == "hopper" else walk()
    proof = found.verify(true_motion=False)
    assert proof.free_run < 1e-8, proof.text
    assert 1.0 < proof.growth < 1e6
    # a wrong input is seen: 1 N m too much at a motor
    found.control[3, -1] += 1.0
    try:
        assert found.verify(true_motion=False).free_run > 1e-4
    finally:
        found.control[3, -1] -= 1.0


def falling(goal, hold):
    m = dal.Model("drop", gravity=(0, 0, -9.81))
    m.add_shape("world", dal.Plane(friction=0, restitution=0))
    m.add_particle("ball", 1.0, (0, 0, 0.6), shapes=[dal.Sphere(0.1, friction=0)])
    given = {"contacts": [Touch("ball", 12, hold=hold)], "inputs": ["ball"], "free_time": (0.3, 1.5), "cost": {"effort": 1.0, "time": 10.0}}
    return dmocc(m, 30, ([0, 0, 0.6], [1.0, 0, 0]), (goal, [0, 0, 0]), h=0.02, **given).solve()


@pytest.mark.parametrize(("goal", "hold"), [((0.5, 0, 0.1), 18), ((0.5, 0, 0.6), 8)])
def test_a_ball_that_lands_slides_and_leaves_is_one_of_the_stepper_collision(goal, hold):
    """Its contacts come to rest and are let go by rules of its own: lying to the end, and leaving again."""
    found = falling(goal, hold)
    proof = found.verify()
    assert found.ok and proof.ok, proof.text
    assert proof.free_run < 1e-10
    assert found.traj.stepper.name == "collision" and found.traj.report().verdict == "pass"


def test_friction_cones_hold_and_are_met_where_they_bind():
    """With less friction the hopper still jumps, its foot is at the edge of the cone, and it costs more."""
    contacts = [Touch("foot", k, point=hopper.FOOT, hold=n, friction=0.3) for k, n in ((0, 14), (26, 14))]
    found = hopper.build(contacts=contacts).solve()
    assert found.ok
    share = [abs(float(x.tangential[0])) / x.normal for x in found.impulses if x.normal > 1e-3]
    assert max(share) <= 0.3 + 1e-6 and max(share) > 0.299
    assert found.cost > hop().cost


def test_friction_in_space_has_two_tangents():
    """A peg tilts on its point in two directions, which sticks in both."""
    m = dal.Model("peg", gravity=(0, 0, -9.81))
    m.add_shape("world", dal.Plane())
    m.add_body("body", 1.0, (0.01, 0.01, 0.01), pose=((0, 0, 0.3), (1, 0, 0, 0)))
    contact = Touch("body", 0, point=(0, 0, -0.3), hold=20, friction=0.5)
    goal = {"q": None, "v": 0.0, "poses": {"body": (None, (np.sqrt(1.0 - 0.05**2 - 0.03**2), 0.05, 0.03, 0.0))}}
    found = dmocc(m, 20, m.neutral(), goal, contacts=[contact], h=0.02).solve()
    proof = found.verify(true_motion=False)
    assert found.ok and proof.contacts.ok, proof.text
    assert found.problem.contacts[0].gap.tangents == 2
    assert proof.contacts.slip < 1e-9 and proof.imbalance < 1e-9


def test_refinement_moves_stances_too():
    """A plan of one phase, and one of three: costs of order h^2 beside each other."""
    for found in (walk(), hop()):
        finer = found.refine()
        assert finer.ok and [(c.first, c.last) for c in finer.problem.contacts] == [
            (2 * c.first, 2 * c.last) for c in found.problem.contacts
        ]
        assert finer.cost == pytest.approx(found.cost, rel=0.05)
        assert finer.replay.errors.max() < 1e-9


def test_a_contact_that_is_not_closed_at_the_start_cannot_be_held_from_there():
    with pytest.raises(dal.OptionError, match=r"where its gap is 0\.1 m"):
        dmocc(hopper.model(), 20, [0, 0.5, 0, 0, -0.1], [0, 0.5, 0, 0, 0], contacts=[Touch("foot", 0, point=hopper.FOOT, hold=5)], h=0.02)


def test_feet_that_slide_or_lift_between_given_nodes_are_refused():
    m = dal.Model("point")
    m.add_particle("foot", 1.0)
    stands = Touch("foot", 0, point=(0, 0, 0), plane=((0, 0, 1), 0.0), hold=10, friction=0.5)
    for goal, message in (([0.2, 0, 0], r"sticks, and slides 0\.2 m between nodes \[0, 10\]"), ([0, 0, 0.3], r"where its gap is 0\.3 m")):
        with pytest.raises(dal.OptionError, match=message):
            dmocc(m, 10, m.neutral(), goal, [stands], h=0.05)
