"""Plans that avoid: nothing overlaps at nodes or between them, costs are those of closed forms, and what cannot be is said."""

import coal
import numpy as np
import pytest

import dalembert as dal
from dalembert.control.avoidance import pairs
from dalembert.control.distances import clearance
from dalembert.control.machine import machine_of
from dalembert.control.obstacles import coarser

REST = np.array([1.0, 0.0, 0.0, 0.0])
START, GOAL = np.array([0.0, 0.0, 0.0, *REST]), np.array([2.0, 0.0, 0.0, *REST])
HULL = [(0.1, 0, 0), (-0.1, 0, 0), (0, 0.12, 0), (0, -0.12, 0), (0, 0, 0.15), (0, 0, -0.15)]


def flyer(*shapes, mass=1.0):
    m = dal.Model("flyer", gravity=(0, 0, 0))
    m.add_body("drone", mass, (0.01, 0.01, 0.01), shapes=shapes)
    return m


def plan(shape, avoid, N=20, **more):
    return dal.control.dmoc(flyer(shape), N, START, GOAL, h=2.0 / N, avoid=avoid, **more)


@pytest.mark.parametrize(
    ("own", "other"),
    [
        (dal.Sphere(0.1), dal.Sphere(0.3)),
        (dal.Sphere(0.1), dal.Box((0.3, 0.4, 0.6))),
        (dal.Box((0.2, 0.2, 0.1)), dal.Box((0.3, 0.4, 0.6))),
        (dal.Capsule(0.05, 0.3), dal.Capsule(0.2, 0.5)),
        (dal.Cylinder(0.1, 0.2), dal.Ellipsoid((0.3, 0.2, 0.3))),
        (dal.Convex(HULL), dal.Mesh([(0.2, 0, 0), (-0.2, 0, 0), (0, 0.2, 0), (0, 0, 0.4)], [(0, 1, 2), (0, 1, 3), (1, 2, 3), (0, 2, 3)])),
    ],
    ids=lambda s: s.kind,
)
def test_shapes_of_every_kind_go_around_each_other(own, other):
    """The straight way leads through the middle of the obstacle; coal judges."""
    found = plan(own, [("drone", other, (1.0, 0.0, 0.0))]).solve()
    assert found.ok, found.status
    apart = found.verify(true_motion=False).clearance
    assert apart.judge.startswith("coal")
    assert apart.at_nodes >= 1e-4 - 1e-7 and apart.between >= 0.9e-4  # the margin, less tolerances of the search
    assert found.cost > plan(own, ()).solve().cost


def test_the_cost_over_a_wall_is_that_of_a_bent_beam():
    """Rest to rest over a thin wall of height H half-way: m^2 (12 D^2 + 192 H^2)/T^3, a straight cubic and a clamped beam that is bent.

    Order 2 in the step; the ball of 1 cm and the wall of 2 mm make the way longer by some parts in a hundred of H.
    """
    H, T, D = 0.5, 2.0, 2.0
    wall = dal.Box((0.002, 4.0, 2.0), position=(1.0, 0.0, H - 0.01 - 1.0))
    guess = np.array([[*(START[:3] + s * (GOAL - START)[:3] + [0, 0, 1.2 * H * np.sin(np.pi * s)]), *REST] for s in np.linspace(0, 1, 41)])
    found = plan(dal.Sphere(0.01), [("drone", wall)], N=80, guess=guess).solve()
    assert found.ok
    assert found.cost == pytest.approx((12 * D**2 + 192 * H**2) / T**3, rel=0.02)


@pytest.mark.parametrize("planes", ["nodes", "chords", "arcs"])
def test_only_planes_of_intervals_keep_a_thin_wall_closed(planes):
    """Steps of 0.1 m and more, a wall of 1 cm: with planes at nodes alone the plan jumps through it, and verify says so."""
    wall = dal.Box((0.01, 0.8, 0.8), position=(1.0, 0.0, 0.05))
    found = plan(dal.Sphere(0.02), dal.control.Avoid([("drone", wall)], planes=planes)).solve()
    evidence = found.verify(true_motion=False)
    assert found.ok and evidence.steps_ok
    assert evidence.clearance.at_nodes > 0.0
    assert (evidence.clearance.between < 0.0) == (planes == "nodes")
    assert evidence.ok == (planes != "nodes")
    assert ("fail" in evidence.clearance.text) == (planes == "nodes")


def test_arcs_of_what_turns_are_kept_apart_where_chords_are_not():
    """The arm turns its tool by 5 cm a step above the table: chords bow into it by tenths of a millimetre."""
    from dalembert.control.scenes import arm

    low = [("tool", arm.TABLE), ("wrist 2", arm.TABLE), ("tool", arm.POST), ("forearm", arm.POST)]
    found = {planes: arm.build(N=30, avoid=dal.control.Avoid(low, planes=planes)).solve() for planes in ("chords", "arcs")}
    assert all(plan.ok for plan in found.values())
    apart = {planes: clearance(plan) for planes, plan in found.items()}
    assert apart["chords"].between < -1e-4 < 0.0 < 0.9e-4 < apart["arcs"].between


def test_planes_stay_out_of_a_half_space_and_of_several_obstacles():
    """Under a ball, above the ground: sideways. The ground is a plane without variables."""
    around = [dal.Plane(position=(0, 0, -0.15)), ("drone", dal.Sphere(0.3), (1.0, 0.02, 0.3))]
    problem = plan(dal.Sphere(0.1), around)
    found = problem.solve()
    assert found.ok and clearance(found).least > 0.9e-4
    assert problem.chain.size - plan(dal.Sphere(0.1), ()).chain.size == 4 * 20  # one plane a step beside the ball


def test_distances_of_balls_as_rows_are_a_bit_more_than_needed():
    around = [("drone", dal.Sphere(0.3), (1.0, 0.1, 0.05))]
    exact, rows = (plan(dal.Sphere(0.1), dal.control.Avoid(around, form=form)).solve() for form in ("planes", "distance"))
    assert exact.ok and rows.ok
    assert exact.cost - 1e-6 <= rows.cost < 1.01 * exact.cost
    assert min(clearance(exact).least, clearance(rows).least) > 0.9e-4
    assert rows.problem.chain.size == exact.problem.chain.size - 4 * 20


def test_free_time_compositions_and_other_steppers_avoid_as_well():
    """In the shortest time the flyer turns by up to 0.5 rad a step, to push with two axes: arcs are then kept up to r theta^3/125."""
    ball, own = [("drone", dal.Sphere(0.3), (1.0, 0.05, 0.0))], dal.Sphere(0.1)
    given = {"free_time": (0.5, 5.0), "cost": {"time": 1.0, "effort": 0.01}, "bounds": {"u": 5.0}, "avoid": ball}
    hurried = dal.control.dmoc(flyer(own), 30, START, GOAL, **given)
    for problem in (plan(own, ball, compose="yoshida4"), plan(own, ball, stepper="trapezoidal"), hurried):
        found = problem.solve()
        theta = np.abs(found.problem.machine.lifts(found.q[:-1], found.q[1:])[:, :3]).max()
        assert found.ok and found.replay.errors.max() < 1e-9
        assert clearance(found).at_nodes > 1e-4 - 1e-7
        assert clearance(found).between > 0.95e-4 - 0.4 * theta**3 / 125  # r: less than 0.4 m, from the middle of the ball


def test_refined_plans_and_new_starts_still_avoid():
    problem = plan(dal.Sphere(0.1), [("drone", dal.Sphere(0.3), (1.0, 0.05, 0.0))])
    found = problem.solve()
    finer = found.refine()
    assert finer.ok and clearance(finer).least > 0.9e-4 and len(finer.q) == 41
    assert finer.cost == pytest.approx(found.cost, rel=0.05)
    first, then = (problem.step((np.array([0.0, dy, 0.0, *REST]), np.zeros(6))) for dy in (0.0, 0.01))
    assert first.ok and then.ok and clearance(then).least > 0.9e-4


def test_all_that_can_touch_is_avoided_but_neighbours_and_what_is_excluded():
    m = dal.Model("chain", gravity=(0, 0, -9.81))
    for i in range(3):
        shape = dal.Capsule(0.05, 0.3, position=(0, 0, -0.25))
        m.add_body(f"link{i}", 1.0, (0.02, 0.02, 0.001), com=(0, 0, -0.25), pose=((0, 0, -0.5 * i), REST), shapes=[shape])
        m.add_joint(f"j{i}", "revolute", f"link{i - 1}" if i else "world", f"link{i}", (0, 0, -0.5 * i), (0, 1, 0))
    m.add_shape("world", dal.Box((0.1, 1, 1), position=(1.0, 0, -1.0)))

    def named(what):
        return {frozenset((a.owner, b.owner)) for a, b in pairs(machine_of(m), what)}

    assert named(True) == {frozenset(("link0", "link2")), *(frozenset((f"link{i}", "world")) for i in range(3))}
    m.exclude("link0", "link2")
    assert frozenset(("link0", "link2")) not in named(True)
    folded = np.array([0.2, 1.2, 1.4])
    found = dal.control.dmoc(m, 40, np.zeros(3), folded, h=0.05, avoid=[("link0", "link2"), ("link2", "world")]).solve()
    assert found.ok and clearance(found).least > 0.9e-4


def test_what_cannot_move_against_each_other_is_left_out():
    """A base in the world that stands in the table, and a plate fixed to the arm: no rows, no complaint."""
    m = dal.Model("crane", gravity=(0, 0, 0))
    for name in ("base", "arm", "plate"):
        m.add_body(name, 1.0, (0.1, 0.1, 0.1), shapes=[dal.Box((0.2, 0.2, 0.2))])
    m.add_joint("foot", "fixed", "world", "base")
    m.add_joint("hinge", "revolute", "base", "arm", axis=(0, 0, 1))
    m.add_joint("weld", "fixed", "arm", "plate")
    table = dal.control.Obstacle(dal.Box((0.3, 0.3, 0.3)), name="table")
    problem = dal.control.dmoc(m, 10, [0.0], [1.0], h=0.1, avoid=[("base", table), ("arm", "plate")])
    assert problem.made.apart == [] and problem.solve().ok


def test_a_periodic_motion_avoids_on_both_ways():
    """There and back past a ball; the guess is not symmetric, as the way there and the way back may take different sides."""
    away = {10: {"poses": {"drone": ((1.0, 0.0, 0.0), None)}}}
    given = {"periodic": True, "waypoints": away, "avoid": [("drone", dal.Sphere(0.2), (0.5, 0.05, 0.0))], "guess": "random"}
    found = dal.control.dmoc(flyer(dal.Sphere(0.1)), 20, {"q": START, "v": None}, None, h=0.1, **given).solve()
    assert found.ok and clearance(found).least > 0.9e-4
    np.testing.assert_allclose(found.q[-1, :3], found.q[0, :3], atol=1e-8)


def test_a_body_meets_an_obstacle_with_all_its_shapes_and_all_shapes_of_the_obstacle():
    machine = machine_of(flyer(dal.Sphere(0.1), dal.Box((0.1, 0.1, 0.1)), dal.Sphere(0.5, collide=False)))
    shelf = dal.control.Obstacle([dal.Box((1, 1, 0.1)), dal.Box((0.1, 1, 1))], ((0, 0, 2), REST), "shelf")
    found = pairs(machine, [shelf])
    assert [(a.name, b.name) for a, b in found] == [(f"drone ({x})", f"shelf (box {y})") for x in ("sphere 0", "box 1") for y in (0, 1)]
    np.testing.assert_allclose(found[1][1].points.mean(axis=0), (0, 0, 2), atol=1e-15)


def test_a_coarse_hull_contains_the_fine_one_and_stands_for_it():
    """200 points of an ellipsoid: 32 of them, grown, reach farther in every direction, by no more than they are grown by."""
    rng = np.random.default_rng(5)
    directions = rng.normal(size=(500, 3))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    rock = dal.Convex(directions[:200] * [0.2, 0.3, 0.15], quaternion=(np.cos(0.4), np.sin(0.4), 0, 0))
    machine = machine_of(flyer(rock))
    [(own, _)] = pairs(machine, [("drone", dal.Sphere(0.2), (1.0, 0.1, 0.0))])
    rough = coarser(own)
    assert len(own.points) == 200 and len(rough.points) == 32 and rough.exact is own and 0.0 < rough.radius < 0.03
    excess = (directions @ rough.points.T).max(axis=1) + rough.radius - (directions @ own.points.T).max(axis=1)
    assert excess.min() > -1e-12 and excess.max() <= rough.radius + 1e-12
    found = plan(rock, [("drone", dal.Sphere(0.2), (1.0, 0.1, 0.0))]).solve()
    assert found.ok and any("32 of the 200 vertices" in note for note in found.notes)
    assert 0.9e-4 < clearance(found).least < 0.04
    beside = plan(rock, [("drone", dal.Sphere(0.2), (-0.41, 0.0, 0.0))])  # 1 cm or so from the start: no room to be coarse
    assert not any("vertices" in note for note in beside.notes)


@pytest.mark.parametrize(
    ("avoid", "error", "words"),
    [
        ([("dron", "world")], dal.UnknownNameError, "did you mean 'drone'"),
        ([("drone", "world")], dal.OptionError, "'world' has no shape that collides; those that have: drone"),
        (True, dal.OptionError, "nothing of .* can touch"),
        ([("drone", dal.Sphere(0.1), (0.1, 0, 0))], dal.OptionError, r"start: drone and the sphere overlap by 0\.1 m"),
        ([("drone", dal.Box((1, 1, 1)), (2.3, 0, 0))], dal.OptionError, "goal: drone and the box overlap by 0.3 m"),
        ([("drone", dal.Sphere(0.1), (np.nan, 0, 0))], dal.OptionError, "finite"),
        ([("drone", dal.Sphere(0.1), (1, 0))], dal.OptionError, "position has shape"),
        ([("drone", "drone")], dal.OptionError, "two bodies"),
        ([("drone", 3.0)], dal.OptionError, "expected the name of a body, a shape"),
        ([3.0], dal.OptionError, "expected"),
        ("drone", dal.OptionError, "avoid is 'drone'"),
        (3, dal.OptionError, "avoid is 3"),
        ([dal.HeightField([[0, 0], [0, 0]], (1, 1))], dal.UnsupportedError, "cannot avoid a height-field"),
    ],
)
def test_what_cannot_be_avoided_is_said(avoid, error, words):
    with pytest.raises(error, match=words):
        plan(dal.Sphere(0.1), avoid)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"margin": -1e-3}, "margin"),
        ({"margin": np.nan}, "margin"),
        ({"margin": "wide"}, "margin"),
        ({"planes": "node"}, "nodes"),
        ({"form": "milp"}, "form"),
    ],
)
def test_options_of_avoid_are_checked(options, words):
    with pytest.raises(dal.errors.DalembertError, match=words):
        dal.control.Avoid(True, **options)


def test_obstacles_without_shapes_and_systems_without_bodies_are_refused():
    for shapes in ((), 3.0, [1, 2]):
        with pytest.raises(dal.OptionError, match="expected a shape"):
            dal.control.Obstacle(shapes)
    line = dal.Lagrangian(1, lambda q, v: 0.5 * v[0] ** 2)
    with pytest.raises(dal.UnsupportedError, match="has no bodies"):
        dal.control.dmoc(line, 10, [0.0], [1.0], h=0.1, avoid=[dal.Sphere(0.1)])


def test_waypoints_that_overlap_are_refused_and_touching_ends_are_said():
    ball = [("drone", dal.Sphere(0.3), (1.0, 1.0, 0.0))]
    with pytest.raises(dal.OptionError, match="waypoint at node 10: drone and the sphere overlap"):
        plan(dal.Sphere(0.1), ball, waypoints={10: {"poses": {"drone": ((1.0, 0.8, 0.0), REST)}}})
    touching = plan(dal.Sphere(0.1), [("drone", dal.Box((1, 1, 1)), (2.6, 0.0, 0.0))])
    found = touching.solve()
    assert found.ok and any("touch at the goal" in note for note in found.notes)
    apart = found.verify(true_motion=False).clearance
    assert apart.ok and apart.at_nodes > 1e-4 - 1e-7 and -1e-6 < apart.in_contact < apart.at_nodes
    assert "in steps of contact" in apart.text


def test_a_plan_that_cannot_get_through_names_what_is_in_the_way():
    closed = [dal.Box((0.1, 6.0, 6.0), position=(1.0, 0.0, 0.0))]
    found = plan(
        dal.Sphere(0.1), closed, bounds={"q": {"drone": ([-3, -2, -2, -1, -1, -1, -1], [3, 2, 2, 1, 1, 1, 1])}}, max_iter=150
    ).solve()
    assert not found.ok and "drone" in found.status
    assert not found.verify(true_motion=False).ok


def test_the_cloud_of_a_body_is_that_of_coal():
    """Poses of the judge are poses of the model: a turned box on a hinge, beside coal by hand."""
    m = dal.Model("door", gravity=(0, 0, 0))
    shape = dal.Box((0.8, 0.1, 1.0), position=(0.5, 0, 0), quaternion=(np.cos(0.1), 0, 0, np.sin(0.1)))
    m.add_body("door", 1.0, (0.1, 0.1, 0.1), shapes=[shape])
    m.add_joint("hinge", "revolute", "world", "door", axis=(0, 0, 1))
    found = dal.control.dmoc(m, 10, [0.0], [1.0], h=0.1, avoid=[("door", dal.Sphere(0.1), (0.0, 2.0, 0.3))]).solve()
    least = np.inf
    for a in np.linspace(0.0, 1.0, 401):
        t = coal.Transform3s(_about_z(a + 0.2), _about_z(a) @ [0.5, 0, 0])
        ball = coal.Transform3s(np.eye(3), np.array([0.0, 2.0, 0.3]))
        least = min(least, coal.distance(coal.Box(0.8, 0.1, 1.0), t, coal.Sphere(0.1), ball, coal.DistanceRequest(), coal.DistanceResult()))
    assert clearance(found).least == pytest.approx(least, abs=1e-6)


def _about_z(a):
    return np.array([[np.cos(a), -np.sin(a), 0], [np.sin(a), np.cos(a), 0], [0, 0, 1.0]])
