"""Forces in joints: closed forms, reference multipliers, and balances of whole machines."""

import json
from pathlib import Path

import numpy as np
import pytest

import dalembert as dal
from dalembert.model.loops import across
from dalembert.model.multipliers import shortest
from dalembert.model.reactions import loads, row_units
from dalembert.scenes import loops

ANDREWS = json.loads((Path(__file__).parents[1] / "data" / "andrews.json").read_text())["samples"]


def pendulum(damping=0.0, stiffness=0.0, armature=0.0):
    m = dal.Model("pendulum")
    m.add_body("bob", 2.0, (0.1, 0.2, 0.3), com=(0, 0, -0.6))
    m.add_joint("hinge", "revolute", "world", "bob", axis=(0, 1, 0), damping=damping, stiffness=stiffness, armature=armature)
    return m


def on_trajectory(model, q, v, joint):
    """The reaction of one state: a run of one step, whose first node is the state."""
    return dal.simulate(model, "mk4", h=1e-3, t_end=1e-3, q0=q, v0=v).reaction(joint)[0]


@pytest.mark.parametrize("method", ["mk4", "trapezoidal"])
def test_hinge_of_a_heavy_pendulum(method):
    """Body axes: along the rod m (g cos + l w^2), across it m (l a + g sin) with a = -m g l sin / I; no torque about the hinge.

    Exact at the nodal states, whatever the method; differences along the motion leave 1e-10."""
    traj = dal.simulate(pendulum(), method, h=0.01, t_end=1.0, q0={"hinge": 1.0}, v0={"hinge": 2.0})
    angle, rate = traj.q[:, 0], traj.v[:, 0]
    acceleration = -2.0 * 9.81 * 0.6 * np.sin(angle) / (0.2 + 2.0 * 0.36)
    expected = np.zeros((len(traj), 6))
    expected[:, 5] = 2.0 * (9.81 * np.cos(angle) + 0.6 * rate**2)
    expected[:, 3] = -2.0 * (0.6 * acceleration + 9.81 * np.sin(angle))  # a positive angle about y takes the bob to -x
    np.testing.assert_allclose(traj.reaction("hinge"), expected, atol=1e-9 * np.abs(expected).max())


def test_joint_transmits_its_own_spring_damper_and_armature():
    q, v = 0.7, 1.3
    m = pendulum(damping=0.4, stiffness=3.0, armature=0.25)
    a = m.forward_dynamics(np.array([q]), np.array([v]))[0]
    assert on_trajectory(m, [q], [v], "hinge")[1] == pytest.approx(-0.4 * v - 3.0 * q - 0.25 * a, rel=1e-9)


def test_ball_joint_of_a_top_carries_its_centre_of_mass():
    """Force = m (acceleration of the centre of mass - g), by differences of a fine run: order h^2. No torque at the ball."""
    scene = dal.scenes.find("heavy-top")
    traj = scene.simulate(stepper="mk4", h=1e-4, t_end=0.01)
    m, body = traj.model, traj.model.bodies[0]
    found = traj.reaction(m.joints[0].name)
    P = traj.momentum[:, 3:]
    rate = (P[2:] - P[:-2]) / 2e-4 - body.mass * m.gravity
    force = np.einsum("nij,nj->ni", traj.poses[1:-1, 0, :3, :3], found[1:-1, 3:])
    np.testing.assert_allclose(force, rate, atol=1e-5 * np.abs(rate).max())
    assert np.abs(found[:, :3]).max() < 1e-9 * np.abs(found).max()


def random_tree():
    m = dal.Model("mixed", gravity=(1.0, -2.0, -9.0))
    rng = np.random.default_rng(3)
    kinds = ("universal", "planar", "spherical", "cylindrical", "revolute", "prismatic", "fixed")
    for i, kind in enumerate(kinds):
        m.add_body(f"b{i}", 1.0 + i, (0.3, 0.4, 0.5), com=rng.normal(size=3), pose=(rng.normal(size=3), (0.5, 0.5, -0.5, 0.5)))
        two = {"axis2": (0, 1, 0)} if kind == "universal" else {}
        m.add_joint(f"j{i}", kind, f"b{i - 1}" if i else "world", f"b{i}", rng.normal(size=3), (0, 0, 1), **two)
    m.add_force(dal.Spring("b2", "b5", (0.1, 0, 0), (0, 0.3, 0), 50.0, 0.2, 1.0))
    m.add_force(dal.Spring("b4", "world", (0.1, 0, 0), (0, 0.3, 0), 20.0, 0.1, 0.5))
    m.add_force(dal.Wrench("b3", force=(1, 2, 3), torque=(0.2, 0, 0.1), point=(0, 0, 0.4), frame="world"))
    m.add_force(dal.Damper("b5", angular=0.3, linear=0.2))
    return m, m.random(rng), rng.normal(size=m.nv)


def test_every_joint_of_a_mixed_tree_transmits_nothing_along_its_free_directions():
    """S^T W = 0, S from the kinematics: all inertial, gyroscopic and external forces enter."""
    m, q, v = random_tree()
    traj = dal.simulate(m, "mk4", h=1e-4, t_end=1e-4, q0=q, v0=v)
    sizes = []
    for j in m.joints:
        W = traj.reaction(j.name)[0]
        sizes.append(np.abs(W).max())
        S = j.coordinates.subspace(traj.q[0, m.q_slices()[j.name]], m.placement(j.name).axes)
        if j.coordinates.nv:
            assert np.abs(S.T @ W).max() < 1e-8 * sizes[-1], j.kind
    assert min(sizes) > 1.0


def test_joint_to_the_world_carries_the_whole_machine():
    """Force = dP/dt - weight - other forces on the machine (here: none), P by differences of the exact motion: order h^2."""
    m = dal.scenes.find("pendulum-chain").model()
    traj = dal.simulate(m, "mk4", h=1e-4, t_end=2e-3, q0=(1.0, 0.5, -0.3), v0=(1.0, 2.0, -1.0))
    F = np.einsum("nij,nj->ni", traj.poses[:, 0, :3, :3], traj.reaction("j1")[:, 3:])
    P = traj.momentum[:, 3:]
    expected = (P[2:] - P[:-2]) / 2e-4 - 3.0 * m.gravity
    np.testing.assert_allclose(F[1:-1], expected, atol=1e-5 * np.abs(expected).max())


# loops -------------------------------------------------------------------------------------------------------------------------------


def in_world(m, q, multipliers):
    """The three pins of Andrews' mechanism as forces on body 2, from the axes of bodies 3, 4, 6."""
    bodies = [b.name for b in m.bodies]
    R = [m.poses(q)[bodies.index(b), :3, :3] for b in ("K3", "K4", "K6")]
    axes = np.array([[0, -1.0, 0], [1.0, 0, 0]])
    return np.concatenate([(Rb @ (axes.T @ pair))[:2] for Rb, pair in zip(R, multipliers, strict=True)])


@pytest.mark.parametrize("method", ["trapezoidal", "midpoint"])
def test_andrews_pins_against_the_reference(method):
    """Reference at multiples of 1 ms, M a + G^T lambda = f, so that its multipliers are minus ours. Error of order 2."""
    scene, errors = dal.scenes.find("andrews"), []
    for n in (50, 100):
        every = n
        traj = scene.simulate(stepper=method, h=1e-3 / n, t_end=0.005, every=every)
        pins = [traj.reaction(f"P {b}") for b in ("K3", "K4", "K6")]
        wanted = {round(float(s["t"]), 9): np.array(s["lam"], dtype=float) for s in ANDREWS}
        seen = [k for k, t in enumerate(traj.t) if round(float(t), 9) in wanted]
        assert len(seen) >= 2
        found = np.array([in_world(traj.model, traj.q[k], [p[k] for p in pins]) for k in seen])
        expected = -np.array([wanted[round(float(traj.t[k]), 9)] for k in seen])
        assert np.abs(found[0] - expected[0]).max() < 1e-8 * np.abs(expected[0]).max()  # the start is exact
        errors.append(np.abs(found - expected).max() / np.abs(expected).max())
    assert errors[1] < 5e-3
    assert 3.5 < errors[0] / errors[1] < 4.5


def test_pins_of_a_four_bar_carry_the_bar():
    """Both pins of the bar together give its mass times (acceleration - g); it translates along a circle of 1 m."""
    traj = dal.scenes.find("four-bar").simulate(h=0.01, t_end=0.5)
    m = traj.model
    left, right = traj.reaction("left1"), traj.reaction("right1")
    bodies = [b.name for b in m.bodies]
    R_bar, R_up = (traj.poses[:, bodies.index(b), :3, :3] for b in ("bar1", "upright1"))
    from_left = np.einsum("nij,nj->ni", R_bar, left[:, 3:])
    labels = [what for name, what in m.constraint_labels if name == "right1"]
    assert labels == ["shift across", "shift across (2)"]
    axes = np.array(across(np.array([0.0, 1, 0])))
    from_right = np.einsum("nij,nj->ni", R_up, right @ axes)
    angle, rate = traj.q[:, 0], traj.v[:, 0]
    turn = 9.81 * 2.0 * np.sin(angle) / (2 / 3 + 1)
    e, t = np.stack([np.sin(angle), 0 * angle, np.cos(angle)], 1), np.stack([np.cos(angle), 0 * angle, -np.sin(angle)], 1)
    expected = turn[:, None] * t - (rate**2)[:, None] * e - m.gravity
    np.testing.assert_allclose(from_left + from_right, expected, atol=1e-9 * np.abs(expected).max())


def test_redundant_rows_of_a_four_bar_share_nothing():
    """Closed by a hinge, three of five rows hold what the other hinges hold already: the shortest multipliers give them nothing, and
    the others what a pin would."""
    motion = {"h": 0.01, "t_end": 0.3, "v0": loops.turning(1)}
    hinge, pin = (dal.simulate(loops.four_bar(c), "trapezoidal", **motion) for c in ("revolute", "slot"))
    found, m = hinge.reaction("right1"), hinge.model
    assert [what for _, what in m.constraint_labels] == ["x shift", "y shift", "z shift", "tilt", "tilt (2)"]
    assert np.abs(found[:, [1, 3, 4]]).max() < 1e-9 * np.abs(found).max()
    size = np.linalg.norm(pin.reaction("right1"), axis=1)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), size, atol=1e-8 * size.max())
    assert row_units(m) == ["m", "m", "m", "rad", "rad"]


def test_bricard_multipliers_are_the_shortest_that_fit():
    """One row is redundant: the equations hold, and the part along the dependency is zero."""
    scene = dal.scenes.find("bricard")
    traj = scene.simulate(t_end=0.5)
    m = traj.model
    found = traj.reaction("hinge6")
    for k in (0, 50, 100):
        q, v = traj.q[k], traj.v[k]
        G = m.constraint_rows(q)[1]
        a = loads(m, q[None], v[None]).a[0]
        left = m.inverse_dynamics(q, v, a) - G.T @ found[k]
        assert np.abs(left).max() < 1e-8 * np.abs(G.T @ found[k]).max()
        null = np.linalg.svd(G.T)[2][-1]
        assert np.abs(G.T @ null).max() < 1e-9
        assert abs(null @ found[k]) < 1e-9 * np.abs(found[k]).max()


def test_shortest_solution():
    rng = np.random.default_rng(0)
    W = rng.normal(size=(5, 4)) * [[1e-6], [1.0], [30.0], [1.0], [0.0]]
    W[3] = 2 * W[1] - 0.1 * W[2]
    A = W @ W.T
    b = A @ rng.normal(size=5)
    x = shortest(W, b)
    np.testing.assert_allclose(A @ x, b, rtol=1e-6, atol=1e-13)
    assert x[4] == pytest.approx(0.0, abs=1e-12)
    assert abs(np.array([0, 2, -0.1, -1, 0]) @ x) < 1e-7 * np.linalg.norm(x)


def test_rolling_disk_stands_on_the_ground():
    """Height, heading and sideways of the contact carry dP/dt - weight; here at the first node, where the tilt falls slowly."""
    traj = dal.scenes.find("rolling-disk").simulate(h=1e-4, t_end=0.002)
    found = traj.reaction("ground")
    P = traj.momentum[:, 3:]
    needed = (P[2:] - P[:-2]) / 2e-4 - traj.model.gravity
    assert [what for _, what in traj.model.constraint_labels] == ["height", "heading", "sideways"]
    np.testing.assert_allclose(found[1:-1, 0], needed[:, 2], rtol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(found[1:-1], axis=1), np.linalg.norm(needed, axis=1), rtol=1e-5)
    np.testing.assert_allclose(traj.reaction("disk"), 0.0, atol=1e-9 * np.abs(found).max())


def test_blade_pushes_across_as_the_closed_form_says():
    """Skate that turns at w on a slope: m (speed w + g' sin(wt)) across the blade, 2 m g' sin(wt) in the closed form (order 2)."""
    scene = dal.scenes.find("knife-edge")
    traj = scene.simulate(t_end=2.0)
    angle, speed = traj.q[:, 2], traj.v[:, 0] * np.cos(traj.q[:, 2]) + traj.v[:, 1] * np.sin(traj.q[:, 2])
    slope = traj.model.gravity[0]
    expected = speed * 2.0 + slope * np.sin(angle)  # turning, and holding against the slope
    np.testing.assert_allclose(traj.reaction("blade")[:, 0], expected, atol=1e-8 * np.abs(expected).max())
    np.testing.assert_allclose(traj.reaction("blade")[:, 0], 2 * slope * np.sin(2.0 * traj.t), atol=1e-3 * np.abs(expected).max())


def test_constraint_residuals_are_those_of_the_model():
    for name in ("bricard", "rolling-disk"):
        traj = dal.scenes.find(name).simulate(t_end=0.1)
        m = traj.model
        n = m._constraints().holonomic
        rows = np.array([m.constraint_rows(q)[0][:n] for q in traj.q])
        assert traj.constraint.shape == (len(traj), n)
        np.testing.assert_allclose(traj.constraint, rows, atol=1e-14)
    assert dal.scenes.find("pendulum-chain").simulate(t_end=0.1).constraint.shape == (51, 0)


# what is refused ---------------------------------------------------------------------------------------------------------------------


def test_runs_with_functions_are_refused():
    m = pendulum()
    m.add_force(lambda t, q, v: -0.1 * v)
    traj = dal.simulate(m, "mk4", h=0.01, t_end=0.1)
    with pytest.raises(dal.UnsupportedError, match=r"'hinge'.*function.*not stored"):
        traj.reaction("hinge")


def test_unknown_and_ignored_joints_are_named():
    traj = dal.scenes.find("four-bar").simulate(stepper="mk4", h=0.01, t_end=0.1, ignore=("loops",))
    with pytest.raises(dal.UnsupportedError, match="left it out"):
        traj.reaction("right1")
    with pytest.raises(dal.UnknownNameError, match="foot0"):
        traj.reaction("foot9")
    assert traj.reaction("left1").shape == (11, 6)
