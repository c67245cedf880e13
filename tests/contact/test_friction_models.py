"""Laws of friction beside Coulomb's cone: cylinder, box, pyramid, polygon. Judged by closed forms, by the numbers of the notes on
lacoursiere2007, 10.11-12, and by the solvers and judges of `dalembert.complementarity`, which share no code with those of steps."""

import numpy as np
import pytest
from contact_laws import G, H, Steps, add_ball, add_box, floor, incline

import dalembert as dal
from dalembert.complementarity.friction import ContactProblem, judge_friction, solve_friction
from dalembert.contact.friction_laws import LAWS, section_of
from dalembert.contact.tables import SLIP, STICK, contact_rows

DEGREES = np.pi / 180.0
#: laws without those of the cone, which have tests of their own
OTHERS = [("cylinder", 8), ("box", 8), ("pyramid", 8), ("polygon", 4), ("polygon", 8)]
NAMES = [law if law != "polygon" else f"{law} of {sides}" for law, sides in OTHERS]
SOLVERS = ("direct", "gauss-seidel")
#: largest push that sticks, in units of mu N, at 0, 22.5 and 45 degrees from a tangent
THRESHOLDS = {
    ("coulomb", 8): (1.0, 1.0, 1.0),
    ("cylinder", 8): (1.0, 1.0, 1.0),
    ("box", 8): (1.0, 1.0824, 1.4142),
    ("pyramid", 8): (1.0, 1.0824, 1.4142),
    ("polygon", 4): (1.0, 0.7654, 0.7071),
    ("polygon", 8): (1.0, 0.9239, 1.0),
}


def way(degrees):
    return np.array([np.cos(degrees * DEGREES), np.sin(degrees * DEGREES), 0.0])


def block(mu=0.4, **more):
    m = floor(mu)
    add_box(m, "block", (0, 0, 0.025), (0.4, 0.4, 0.05), friction=mu, **more)
    return m


@pytest.mark.parametrize("heading", [0.0, 22.5, 45.0])
@pytest.mark.parametrize(("law", "sides"), THRESHOLDS)
def test_it_sticks_up_to_the_threshold_of_the_law(law, sides, heading):
    """Tangents of a floor are the axes x and y."""
    most = THRESHOLDS[law, sides][int(heading / 22.5)]
    for part, slides in ((0.998, False), (1.002, True)):
        s = Steps(block(), law=law, sides=sides)
        for _ in range(30):
            s.step(np.concatenate([np.zeros(3), part * most * 0.4 * G * way(heading)]))
        # over half a second 0.002 of the threshold are 4 mm/s; contacts that stick creep with less than 4e-8/(9 h) 0.57 m g
        assert (np.linalg.norm(s.v[0]) > 1e-3) == slides
        assert s.worst <= 1e-6 and all(r.converged for r in s.reports)
        states = contact_rows(s.machine)[:, 13]
        assert (states == (SLIP if slides else STICK)).all() or (
            law == "coulomb" and not slides
        )  # corners may be on the cone before the block is


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(
    ("law", "sides", "heading", "steps", "distance", "path"),
    [
        ("cylinder", 8, 0.0, 25, 0.3917, 0.0),
        ("cylinder", 8, 17.0, 25, 0.3917, 17.0),
        ("cylinder", 8, 45.0, 25, 0.3917, 45.0),
        ("box", 8, 45.0, 18, 0.2722, 45.0),
        ("box", 8, 22.5, 23, 0.3374, 9.1),
        ("pyramid", 8, 45.0, 18, 0.2722, 45.0),
        ("pyramid", 8, 22.5, 23, 0.3374, 9.1),
        ("polygon", 4, 45.0, 35, 0.5607, 45.0),
        ("polygon", 8, 45.0, 25, 0.3917, 45.0),
    ],
)
def test_a_sliding_disc_stops_where_the_law_says(law, sides, heading, steps, distance, path, solver):
    """v0 = 2, mu = 0.5, g = 9.8 (notes on 10.11): the box at 22.5 degrees stops after sums over the two axes, h sum (v_i - k a h)."""
    m = floor(0.5, gravity=(0, 0, -9.8))
    m.add_body("disc", 1.0, (0.0026, 0.0026, 0.005), pose=((0, 0, 0.001), (1, 0, 0, 0)), shapes=[dal.Cylinder(0.1, 0.002, friction=0.5)])
    s, count = Steps(m, v=2.0 * way(heading), law=law, sides=sides, solver=solver), 0
    while np.linalg.norm(s.v[0]) > 1e-3 and count < 60:
        s.step()
        count += 1
    assert count == steps
    assert np.hypot(*s.x[0, :2]) == pytest.approx(distance, abs=1e-4)
    assert np.arctan2(s.x[0, 1], s.x[0, 0]) / DEGREES == pytest.approx(path, abs=0.05)


@pytest.mark.parametrize(("law", "sides"), OTHERS, ids=NAMES)
def test_a_block_on_an_incline(law, sides):
    """Down the first tangent all laws agree: g (sin - mu cos) above the angle of friction, creep sigma lam below it."""
    for angle in (28, 35, 50):
        s = Steps(incline(angle * DEGREES, 0.5), law=law, sides=sides).run(1.0)
        assert s.v[0, 0] == pytest.approx(G * (np.sin(angle * DEGREES) - 0.5 * np.cos(angle * DEGREES)), rel=1e-3)
        assert abs(s.x[0, 2] - 0.05) < 1e-6 and s.worst <= 1e-6  # neither lifts off nor sinks
    s = Steps(incline(20 * DEGREES, 0.5), law=law, sides=sides).run(1.0)
    creep = 4e-8 / 9.0 / H * G * np.sin(20 * DEGREES) / 4.0  # four corners; more where two carry most
    assert 0.9 * creep < s.v[0, 0] < 2.5 * creep


@pytest.mark.parametrize(
    ("law", "sides", "heading", "part"),
    [
        ("box", 8, 45.0, 1.4142),
        ("pyramid", 8, 45.0, 1.4142),
        ("polygon", 4, 45.0, 0.7071),
        ("polygon", 8, 22.5, 0.9239),
        ("cylinder", 8, 45.0, 1.0),
    ],
)
def test_the_incline_depends_on_its_heading_but_for_discs(law, sides, heading, part):
    """Where the slope runs along a symmetry of the set: g (sin - part mu cos)."""
    angle = 40 * DEGREES
    down = G * np.sin(angle) * way(heading)
    m = floor(0.4, gravity=(down[0], down[1], -G * np.cos(angle)))
    add_box(m, "block", (0, 0, 0.025), (0.4, 0.4, 0.05), friction=0.4)
    s = Steps(m, law=law, sides=sides).run(0.5)
    assert s.v[0] @ way(heading) == pytest.approx(0.5 * G * (np.sin(angle) - part * 0.4 * np.cos(angle)), rel=1e-3)
    assert abs(np.cross(way(heading), s.v[0])[2]) < 1e-4


def boxes(mu=0.3):
    rng = np.random.default_rng(4)
    m = floor(mu)
    for k in range(5):
        q = rng.normal(size=4)
        add_box(m, f"b{k}", (0.12 * (k % 3), 0.1 * (k % 2), 0.3 + 0.25 * k), quat=tuple(q / np.linalg.norm(q)), friction=mu)
    return m


@pytest.mark.parametrize(("law", "sides"), OTHERS, ids=NAMES)
def test_falling_boxes_obey_the_law_that_was_asked_for(law, sides):
    """By the judge of complementarity, in m/s, from W and b of every fifth step; by its other solvers, which pivot, where they exist."""
    s, seen = Steps(boxes(), v=(1.0, 0.5, 0), law=law, sides=sides), 0
    for k in range(120):
        before = s.machine.solver.solve
        caught = []
        s.machine.solver.solve = lambda p, go=before, caught=caught: caught.append((p, p.impulses[::3].copy())) or go(p)
        assert s.step().converged
        s.machine.solver.solve = before
        if k % 5 or not caught:
            continue
        p, held = caught[0]
        W, b = p.dense()
        problem, lam = ContactProblem(W, b, p.mu), p.impulses.reshape(-1, 3)
        options = {"directions": sides} if law == "polygon" else {}
        # where a contact did not press before, the limit of held laws is the impulse of a first solution: such steps are not judged
        if law in ("box", "cylinder") and ((held > 0.0) == (lam[:, 0] > 0.0)).all():
            found = judge_friction(problem, lam, law, normal=held)
        elif law in ("pyramid", "polygon"):
            found = judge_friction(problem, lam, law, **options)
        else:
            continue
        # 1e-6: tolerance; the rows of a polygon share sigma |lam_t| = 1.6e-5 |lam_t| otherwise than two tangents do
        slack = 1e-6 + (4e-8 / 9.0 / H**2 * np.abs(lam).max() if law == "polygon" else 0.0)
        assert max(found.normal, found.limit, found.direction) < 2.0 * slack
        seen += 1
        if law == "pyramid" and len(p.kind) <= 16:
            again = solve_friction(problem, model="pyramid")
            assert again.solved
            np.testing.assert_allclose(again.velocities.ravel(), W @ p.impulses + b, atol=1e-4)
    assert seen > 5


@pytest.mark.parametrize(("law", "sides"), OTHERS, ids=NAMES)
def test_friction_takes_energy_and_heaps_come_to_rest(law, sides):
    s = Steps(boxes(), v=(1.0, 0.5, 0), law=law, sides=sides)
    for _ in range(240):
        s.step()
        n, r0 = s.machine.contacts, s.machine.joint_rows
        lam = s.machine.lam[r0 : r0 + 3 * n].reshape(n, 3)[:, 1:]
        slip = (s.machine._problem(n).jacobian() @ s.machine.x).reshape(n, 3)[:, 1:]
        assert ((lam * slip).sum(1) <= 1e-6 * np.abs(lam).max(initial=0.0)).all()  # u_t of contacts that stick is below the tolerance
    assert s.kinetic < 1e-12
    assert all(r.converged for r in s.reports)


def test_box_and_cylinder_take_their_limits_from_the_step_before():
    """A sliding block is pressed down with twice its weight, from one step to the next."""
    for law, load in (("coulomb", 2.0), ("pyramid", 2.0), ("polygon", 2.0), ("box", 1.0), ("cylinder", 1.0)):
        s = Steps(block(), v=(2.0, 0, 0), law=law)
        for _ in range(5):
            s.step()
        v = s.v[0, 0]
        s.step((0, 0, 0, 0, 0, -G))
        assert v - s.v[0, 0] == pytest.approx(0.4 * load * G * H, rel=2e-3)
        v = s.v[0, 0]
        s.step((0, 0, 0, 0, 0, -G))
        assert v - s.v[0, 0] == pytest.approx(0.4 * 2.0 * G * H, rel=2e-3)


@pytest.mark.parametrize("law", ["cylinder", "box", "pyramid", "polygon"])
def test_impacts_have_friction_too(law):
    """A ball strikes the floor with 2 m/s while it slides with 3: dv_t = -mu (1 + psi) v_n, and it turns."""
    m = floor(0.2, restitution=0.5, gravity=(0, 0, 0))
    add_ball(m, "ball", (0, 0, 0.1001), friction=0.2, restitution=0.5)
    s = Steps(m, v=(3.0, 0, -2.0), law=law).run(0.1)
    np.testing.assert_allclose(s.v[0], (3.0 - 0.2 * 1.5 * 2.0, 0.0, 1.0), atol=1e-4)
    assert s.omega[0, 1] == pytest.approx(0.2 * 1.5 * 2.0 * 0.1 / 0.004, rel=1e-3)


@pytest.mark.parametrize("law", ["cylinder", "box", "pyramid", "polygon"])
def test_belts_and_joints_go_with_every_law(law):
    m = floor(0.5)
    add_box(m, "block", (0, 0, 0.025), (0.4, 0.4, 0.05))
    add_box(m, "trailer", (-0.5, 0, 0.025), (0.2, 0.2, 0.05))
    m.add_joint("hinge", "revolute", "block", "trailer", anchor=(-0.3, 0, 0.025), axis=(0, 0, 1))
    m.add_contact("world", "block", surface_velocity=(0.6, 0, 0))
    m.add_contact("world", "trailer", surface_velocity=(0.6, 0, 0))
    traj = dal.simulate(m, "spook", h=H, t_end=1.0, law=law)
    speed = np.diff(traj.poses[:, 0, 0, 3]) / traj.h
    assert speed[0] == pytest.approx(0.5 * G * H, rel=2e-2) and speed[-1] == pytest.approx(0.6, abs=1e-4)
    slip = traj.contacts.of(len(traj) - 1)[:, traj.contacts.columns.index("slip")]
    assert slip.max() < 1e-5  # relative to the belt


@pytest.mark.parametrize(("law", "sides"), OTHERS, ids=NAMES)
def test_a_resumed_run_is_the_run(law, sides, tmp_path):
    options = {"h": H, "law": law, "sides": sides}
    whole = dal.simulate(boxes(), "spook", t_end=1.0, **options)
    dal.simulate(boxes(), "spook", t_end=0.5, save=tmp_path / "run.h5", **options)
    again = dal.resume(tmp_path / "run.h5", 1.0)
    np.testing.assert_array_equal(again.q[-1], whole.q[-1])


def test_steps_that_miss_the_law_are_flagged():
    s = Steps(boxes(), v=(1.0, 0.5, 0), law="pyramid", solver="gauss-seidel", sweeps=1)
    for _ in range(60):
        s.step()
    missed = [r for r in s.reports if r.residual > 1e-6]
    assert missed and all(not r.converged for r in missed)
    assert all(r.converged for r in s.reports if r.residual <= 1e-6)


def test_laws_and_sides_are_checked():
    m = block()
    with pytest.raises(dal.OptionError, match="'square'; expected one of 'coulomb', 'cone', 'cylinder', 'box', 'pyramid', 'polygon'"):
        dal.simulate(m, "spook", h=H, t_end=0.1, law="square")
    for sides in (3, 5, 2, 8.5):
        with pytest.raises(dal.OptionError, match="even whole number"):
            dal.simulate(m, "spook", h=H, t_end=0.1, law="polygon", sides=sides)
    from dalembert.registry import find

    assert next(o for o in find("bodies", "spook").options if o.name == "law").words == LAWS


@pytest.mark.parametrize(("law", "sides"), [*OTHERS, ("polygon", 14)])
def test_the_gauge_of_a_set_is_one_on_its_boundary(law, sides):
    """By the shapes of complementarity, which are made from corners, not from edges."""
    from dalembert.complementarity.friction import shapes

    angle = np.linspace(0.0, 2.0 * np.pi, 100)
    t = np.column_stack([np.cos(angle), np.sin(angle)])
    other = {"cylinder": shapes.DISC, "polygon": shapes.polygon(sides)}.get(law, shapes.SQUARE)
    np.testing.assert_allclose(section_of(law, sides).gauge(t), other.gauge(t), rtol=1e-12)
