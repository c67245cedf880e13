"""Planned impacts: the numbers of a second program on directors (cube and wall, two cubes), closed forms, the simulator itself, traps."""

from functools import cache

import numpy as np
import pytest

import dalembert as dal
from dalembert.control import Touch, dmocc, scenes
from dalembert.control.scenes import cube_wall, two_cubes


@cache
def against_wall(node=9, restitution=1.0, **more):
    return cube_wall.build(node=node, restitution=restitution, **more).solve()


@cache
def twice():
    return two_cubes.build().solve()


# {node: (sigma 1, sigma 2, time of the contact, cost)} and with e = 0.5, of a program on directors with inputs along axes of the world;
# here inputs are along axes of the body, which changes plans by h^2: some 1e-5 of the time, 1e-4 of the cost
DIRECTORS = {
    4: (2.17590, 0.819092, 0.217590, 0.014498),
    9: (0.967094, 1.014102, 0.217596, 0.014484),
    14: (0.621708, 1.331005, 0.217598, 0.014490),
}


@pytest.mark.parametrize("node", DIRECTORS)
def test_a_cube_that_a_wall_turns_round(node):
    found = against_wall(node)
    sigma = found.h[[0, -1]] / 0.025
    one, two, t, cost = DIRECTORS[node]
    assert found.ok
    np.testing.assert_allclose(sigma, [one, two], rtol=1e-4)
    assert found.impacts[0].t == pytest.approx(t, abs=2e-5)
    assert found.cost == pytest.approx(cost, rel=2e-4)
    assert found.t[-1] == pytest.approx(0.75, abs=1e-9)


def test_time_and_cost_do_not_depend_on_the_node_of_the_contact():
    plans = [against_wall(node) for node in DIRECTORS]
    assert np.ptp([p.impacts[0].t for p in plans]) < 1e-5  # s; measured 2.5e-6
    assert np.ptp([p.cost for p in plans]) < 1.5e-3 * plans[0].cost  # as the discretisation, 0.1 %
    assert found_impulse(plans[1]) == pytest.approx((0.9903, -0.4986), abs=1e-4)


def found_impulse(plan):
    return plan.impacts[0].normal, plan.impacts[0].before


def test_less_restitution_costs_more_and_strikes_earlier():
    found = against_wall(restitution=0.5)
    hit = found.impacts[0]
    assert found.cost == pytest.approx(0.24584, rel=1e-3)
    assert hit.t == pytest.approx(0.18997, abs=2e-5)
    assert (hit.before, hit.normal) == pytest.approx((-0.636, 0.9513), abs=2e-4)
    assert hit.after == pytest.approx(-0.5 * hit.before, rel=1e-9)


def test_without_the_wall_weak_jets_cannot_turn_the_cube_round():
    """0.8 N for 0.75 s are less than 1 kg m/s."""
    problem = cube_wall.build()
    q, v = ({"q": node.q, "v": node.v} for node in (problem.start, problem.goal))
    free = dal.control.dmoc(
        cube_wall.model(), 30, q, v, h=0.025, path=cube_wall.jets(0.02, 0.8), stepper="null-space", max_iter=300
    ).solve()
    assert not free.ok and free.infeasibility > 1e-3


@pytest.mark.parametrize("restitution", [1.0, 0.5])
def test_the_simulator_strikes_where_the_plan_does(restitution):
    """One step from every node; the stepper `collision`, which searches impacts itself, by phases; impulses from masses and poses."""
    found = against_wall(restitution=restitution)
    proof = found.verify()
    assert proof.ok, proof.text
    assert proof.one_step.max() < 1e-9
    assert proof.free_run < 1e-9  # solved to 1e-9, grows 20-fold from 1e-12 at nodes
    assert proof.contacts.reflection < 1e-9 and proof.contacts.gap < 1e-9
    assert proof.imbalance < 1e-10


def test_momentum_changes_by_impulses_alone():
    """At the node of the impact too: the component along the normal of the wall is that of the jets."""
    found = against_wall()
    model, k = found.problem.machine.reduced, 9
    change = model.momentum(found.q[k], found.v_after[k]) - model.momentum(found.q[k], found.v[k])
    assert abs(change[0]) < 1e-12 and np.abs(change[4:]).max() < 1e-12  # about and along the wall nothing
    assert change[3] == pytest.approx(found.impacts[0].normal, rel=1e-9)


def test_the_plan_is_an_ordinary_trajectory_with_events(tmp_path):
    found = against_wall(restitution=0.5)
    traj = found.traj
    assert traj.report().verdict == "pass"
    assert traj.events["t"] == pytest.approx([found.impacts[0].t])
    assert traj.account["impacts"].sum() == pytest.approx(-0.5 * 0.75 * found.impacts[0].before * -found.impacts[0].normal / 1.5, rel=1e-6)
    found.save(tmp_path / "plan.h5")
    again = dal.control.load(tmp_path / "plan.h5")
    np.testing.assert_array_equal(again.traj.events.rows, traj.events.rows)
    np.testing.assert_array_equal(again.q, traj.q)


@pytest.mark.parametrize("name", ["cube-wall", "two-cubes"])
def test_scenes_show_what_they_promise(name):
    scene = scenes.find(name)
    found = twice() if name == "two-cubes" else against_wall()
    for finding in (*scenes.common(found), *scene.check(found)):
        assert finding.ok, finding


def test_two_cubes_collide_twice_as_on_directors():
    """The same minimum; inputs along body axes of a cube that turns by 0.3 rad in a step change the cost by 0.5 %."""
    found = twice()
    assert found.ok
    assert [x.t for x in found.impacts] == pytest.approx(two_cubes.TIMES, abs=2e-4)
    assert [x.normal for x in found.impacts] == pytest.approx((0.395838, 0.497722), rel=1e-3)
    assert [x.before for x in found.impacts] == pytest.approx((-0.408659, -0.592000), rel=1e-3)
    assert found.cost == pytest.approx(two_cubes.COST, rel=0.01)
    assert found.q[-1, 7:10] == pytest.approx((0.1687, 0.0025, -0.0026), abs=2e-4)


def test_inputs_along_body_or_fixed_axes_have_the_same_optimum_as_steps_shrink():
    """With the error of h^2 taken off (N = 50 and 100) the cost is that of directors at N = 50, but for their own error of h^2."""
    coarse, fine = twice(), two_cubes.build(N=100).solve()
    best = fine.cost + (fine.cost - coarse.cost) / 3
    times = [b.t + (b.t - a.t) / 3 for a, b in zip(coarse.impacts, fine.impacts, strict=True)]
    assert best == pytest.approx(two_cubes.COST, rel=1e-3)
    assert times == pytest.approx(two_cubes.TIMES, abs=2e-5)
    assert abs(best / two_cubes.COST - 1) < 0.15 * abs(coarse.cost / two_cubes.COST - 1)


def test_two_cubes_keep_momentum_but_for_the_jets_and_do_not_overlap():
    proof = twice().verify()
    assert proof.ok, proof.text
    assert proof.imbalance < 1e-12
    assert proof.clearance.at_nodes > -1e-8  # m: two contacts are planned at 0


def test_a_wall_does_not_pull():
    """A point behind a wall that flies out of it and is asked to fly back: only a wall that pulls could do it.

    The rows of the impact allow it (b > 0, Lambda < 0 reflects as well) but for the approach, b <= 0, and Lambda >= 0.
    """
    m = dal.Model("point", gravity=(0, 0, 0))
    m.add_particle("point", 1.0)
    contact = Touch("point", 10, point=(0, 0, 0), plane=((1, 0, 0), 0.0))
    start, goal = ([-0.1, 0, 0], [0.5, 0, 0]), ([-0.15, 0, 0], [-0.5, 0, 0])
    problem = dmocc(m, 20, start, goal, contacts=[contact], h=0.025, clearance=False, bounds={"u": 0.8}, max_iter=300)
    assert not problem.solve().ok
    program, (c,) = problem.program, problem.contacts
    program.least[c.push[10]] = -np.inf
    for block, first in zip(program.blocks, program.assembly.starts, strict=False):
        for i, name in enumerate(block.names):
            if name.startswith("approach"):
                program.upper[first + i] = np.inf
    pulled = problem.solve()
    assert pulled.ok and pulled.impacts[0].normal < -0.5 and pulled.impacts[0].before > 0.3
    assert not pulled.verify().contacts.ok


def test_a_ball_strikes_another_into_the_right_direction():
    """The struck ball flies along the line of centres: its place at contact is known, and so is its speed."""
    m = dal.Model("balls", gravity=(0, 0, 0))
    for name, x in (("a", 0.0), ("b", 0.5)):
        m.add_particle(name, 1.0, (x, 0, 0), shapes=[dal.Sphere(0.1, friction=0, restitution=1)])
    goal = {"q": {"b": (1.0, 0.3, 0)}, "v": {"a": np.zeros(3)}}
    found = dmocc(m, 20, m.neutral(), goal, contacts=[Touch("a", 8, on="b")], h=0.05, inputs=["a"]).solve()
    way = np.array([0.5, 0.3, 0.0])
    n = way / np.linalg.norm(way)
    np.testing.assert_allclose(found.q[8, :3], [0.5, 0, 0] - 0.2 * n, atol=1e-9)
    assert found.impacts[0].normal == pytest.approx(np.linalg.norm(way) / (1.0 - found.impacts[0].t), rel=1e-8)
    assert found.verify().ok and found.verify().imbalance < 1e-12


def arm(damping=0.0):
    """Two links under gravity beside a wall, a spring in the elbow, a ball at the end."""
    m = dal.Model("arm", gravity=(0, 0, -9.81))
    half = np.sqrt(0.5)
    m.add_shape("world", dal.Plane(position=(0.6, 0, 0), quaternion=(half, 0, -half, 0), friction=0, restitution=0.5))
    m.add_body("upper", 1.0, (0.01, 0.01, 0.001), com=(0, 0, -0.25))
    m.add_body(
        "lower", 0.5, (0.005, 0.005, 0.001), com=(0, 0, -0.7), shapes=[dal.Sphere(0.05, position=(0, 0, -1), friction=0, restitution=0.5)]
    )
    m.add_joint("shoulder", "revolute", "world", "upper", axis=(0, -1, 0), damping=damping)
    m.add_joint("elbow", "revolute", "upper", "lower", (0, 0, -0.5), axis=(0, -1, 0), stiffness=1.0)
    return m


@pytest.mark.parametrize(("stepper", "compose"), [("null-space", None), ("midpoint", None), ("trapezoidal", None), ("midpoint", "suzuki4")])
def test_trees_strike_by_every_stepper(stepper, compose):
    m = arm(0.05 if compose is None else 0.0)
    given = {"contacts": [Touch("lower", 20)], "h": 0.0225, "restitution": 0.5, "stepper": stepper, "compose": compose}
    found = dmocc(m, 40, [0.0, 0.0], [0.0, 0.3], **given).solve()
    proof = found.verify()
    assert found.ok and proof.ok, proof.text
    assert proof.free_run < 1e-9
    assert found.impacts[0].after == pytest.approx(-0.5 * found.impacts[0].before, rel=1e-8)


@pytest.mark.parametrize("stepper", ["null-space", "midpoint"])
def test_a_linkage_strikes_with_its_loop_closed(stepper):
    """The impulse of the loop is part of the impact: a parallelogram stays one, and the energy that goes is (1 - e^2) b^2/(2 a)."""
    m = dal.scenes.find("four-bar").build()
    start, _ = m.assemble(m.neutral())
    contact = Touch("bar1", 20, point=(0, 0, 0.5), plane=((-1, 0, 0), -1.3))
    given = {"contacts": [contact], "h": 0.03, "inputs": ["foot0"], "restitution": 0.5, "stepper": stepper}
    found = dmocc(m, 40, start, start, **given).solve()
    hit, k = found.impacts[0], 20
    proof = found.verify()
    assert found.ok and proof.ok, proof.text
    assert abs(found.v_after[k, 0] - found.v_after[k, 1]) < 1e-9
    lost = m.energy(found.q[k], found.v[k]) - m.energy(found.q[k], found.v_after[k])
    assert lost == pytest.approx(-0.5 * hit.before * hit.normal * (1 - 0.5), rel=1e-7)  # a = -(1 + e) b/Lambda


def test_several_contacts_with_restitutions_of_their_own_and_a_bounded_time():
    m = dal.Model("ball", gravity=(0, 0, -9.81))
    m.add_shape("world", dal.Plane(friction=0))
    m.add_particle("ball", 1.0, (0, 0, 1.1), shapes=[dal.Sphere(0.1, friction=0)])
    contacts = [Touch("ball", 10, restitution=1.0), Touch("ball", 20, restitution=0.5)]
    goal = {"q": {"ball": (0, 0, 0.35)}, "v": None}
    found = dmocc(m, 30, m.neutral(), goal, contacts=contacts, h=0.04, free_time=(1.0, 3.0), inputs=["ball"]).solve()
    fall = np.sqrt(2 / 9.81)
    assert found.cost < 1e-12  # nothing has to push: it falls 1 m, bounces to 1 m, then to a quarter of it
    assert [x.t for x in found.impacts] == pytest.approx([fall, 3 * fall], rel=1e-6)
    assert found.impacts[1].after == pytest.approx(0.5 * np.sqrt(2 * 9.81), rel=1e-6)
    assert found.t[-1] == pytest.approx(3.5 * fall, rel=1e-4)  # where it stands still; any way to that height costs nothing


def test_a_lagrangian_strikes_where_its_gap_is_zero():
    point = dal.Lagrangian(1, lambda q, v: 0.5 * v[0] ** 2 - 9.81 * q[0])
    contact = Touch(gap=lambda q: q[0], node=10)
    found = dmocc(point, 20, ([1.0], [0.0]), ([1.0], [0.0]), contacts=[contact], h=0.05, restitution=0.5).solve()
    hit = found.impacts[0]
    assert found.ok and abs(found.q[10, 0]) < 1e-9
    assert hit.after == pytest.approx(-0.5 * hit.before) and hit.normal == pytest.approx(-1.5 * hit.before)
    assert found.replay.errors.max() < 1e-9 and len(found.traj) == 21


def dropped(goal, node=20, **more):
    """A ball that falls from 1 m onto the ground, or onto nothing."""
    m = dal.Model("ball")
    m.add_shape("world", dal.Plane())
    m.add_particle("ball", 1.0, (0, 0, 1.0), shapes=[dal.Sphere(0.1)])
    return dmocc(m, 20, {"q": [0, 0, 1.0], "v": None}, goal, contacts=[Touch("ball", node)], h=0.05, restitution=0.8, **more)


def test_an_impact_in_mid_air_is_refused_where_all_of_q_is_given():
    message = r"planned at node \d+, where its gap is 0\.5 m"
    with pytest.raises(dal.OptionError, match=message):
        dropped({"q": [3, 0, 0.6], "v": None})
    with pytest.raises(dal.OptionError, match=message):
        dropped(None, 10, waypoints={10: [1, 0, 0.6]})
    problem = dropped({"q": [3, 0, 0.1], "v": None})
    with pytest.raises(dal.OptionError, match=message):
        problem.aim(goal={"q": [3, 0, 0.6], "v": None})


def test_an_impact_at_the_goal_is_planned_where_the_goal_touches():
    found = dropped({"q": [3, 0, 0.1], "v": [1, 0, 1]}).solve()
    hit = found.impacts[0]
    assert found.ok and found.verify().ok and hit.node == 20
    assert hit.after == pytest.approx(1.0) and hit.normal == pytest.approx(1.0 * (1 + 1 / 0.8))
    again = found.problem.aim(goal={"q": [-2, 0, 0.1], "v": [1, 0, 2]}).solve()
    assert again.ok and again.impacts[0].after == pytest.approx(2.0)


def test_an_impact_at_the_goal_of_a_free_body():
    """Its goal says the gap already: a row of its own would depend on it, and the search would not end."""
    m = dal.Model("cube")
    m.add_shape("world", dal.Plane())
    m.add_body("cube", 1.0, (0.01, 0.01, 0.01), pose=((0, 0, 1), (1, 0, 0, 0)), shapes=[dal.Box((0.2, 0.2, 0.2))])
    contact = Touch("cube", 20, point=(0.1, 0.1, -0.1))
    found = dmocc(m, 20, m.neutral(), {"q": [1, 0, 0.1, 1, 0, 0, 0], "v": None}, contacts=[contact], h=0.05, restitution=0.8).solve()
    assert found.ok and found.verify().ok and found.stats["iterations"] < 100


def test_refinement_moves_the_nodes_of_contacts():
    finer = against_wall().refine()
    assert finer.ok and finer.problem.chain.N == 60 and finer.impacts[0].node == 18
    assert finer.cost == pytest.approx(0.014472, rel=1e-4) and finer.impacts[0].t == pytest.approx(0.217596, abs=2e-6)
