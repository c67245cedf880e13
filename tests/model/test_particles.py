"""Particles: point masses with three coordinates, chains of beads, what they are to runs, reports, files and pictures."""

import numpy as np
import pytest

import dalembert as dal
from dalembert.model.kinematics import mass_matrix_reference
from dalembert.model.points import is_free
from dalembert.peers import find_peer

S = 1.0 / (2.0 * np.sqrt(2.0))
BEADS = S * np.array([(-3.0, -1, 0), (-1, 1, 0), (1, -1, 0), (3, 1, 0)])  # links of length 1
KICK = np.array([-0.1, 0.1, -0.1])


def chain(gravity=(0, 0, 0), beads=BEADS):
    """Four beads of 1 kg on rods of 1 m."""
    m = dal.Model("chain", gravity=gravity)
    for i, x in enumerate(beads):
        m.add_particle(f"b{i}", 1.0, x)
    for i in range(len(beads) - 1):
        m.add_loop(f"link{i}", "distance", f"b{i}", f"b{i + 1}")
    return m


def test_a_particle_has_its_world_position_as_coordinates():
    m = dal.Model()
    m.add_particle("p", 2.0, (1.0, -2.0, 3.0))
    assert (m.nq, m.nv, m.joints[0].kind, m.joints[0].name) == (3, 3, "translation", "p")
    np.testing.assert_array_equal(m.neutral(), [1.0, -2.0, 3.0])
    q, v = np.array([0.3, 0.4, -0.5]), np.array([1.0, 2.0, 3.0])
    np.testing.assert_array_equal(m.poses(q)[0, :3, 3], q)
    np.testing.assert_array_equal(m.poses(q)[0, :3, :3], np.eye(3))
    assert m.kinetic_energy(q, v) == pytest.approx(14.0, rel=1e-15)
    assert m.potential_energy(q) == pytest.approx(-2.0 * 9.81 * 0.5, rel=1e-15)
    np.testing.assert_allclose(m.momentum(q, v), [*np.cross(q, 2 * v), *(2 * v)], rtol=1e-15)
    np.testing.assert_allclose(m.mass_matrix(q), 2.0 * np.eye(3), rtol=1e-15)
    np.testing.assert_allclose(mass_matrix_reference(m, q), 2.0 * np.eye(3), rtol=1e-15)
    np.testing.assert_allclose(m.forward_dynamics(q, v), m.gravity, rtol=1e-15)


@pytest.mark.parametrize("stepper", ["midpoint", "trapezoidal", "mk4", "cg3", "cf4"])
def test_a_thrown_particle_flies_on_a_parabola(stepper):
    """Midpoint, trapezoidal and Runge-Kutta rules of order 2 and more are exact on parabolas."""
    m = dal.Model()
    m.add_particle("p", 0.3, (0, 0, 1.0))
    traj = dal.simulate(m, stepper, h=0.01, t_end=1.0, v0=(1.0, 0.0, 2.0))
    t = traj.t[:, None]
    exact = np.array([0, 0, 1.0]) + t * [1.0, 0.0, 2.0] + 0.5 * t**2 * m.gravity
    np.testing.assert_allclose(traj.q, exact, atol=1e-13)
    assert traj.report().verdict == "pass"


def test_a_chain_of_beads_keeps_its_links_its_energy_and_both_momenta():
    """100,000 would be a benchmark; 5000 steps of 0.05 s: momenta to round-off (5000 eps), energy in its band of h^2."""
    m = chain()
    traj = dal.simulate(m, "midpoint", h=0.05, t_end=250.0, v0={"b0": KICK})
    assert np.abs(traj.constraint).max() < 1e-13
    assert traj.energy[0] == pytest.approx(0.015, rel=1e-14)
    assert np.ptp(traj.energy) / 0.015 < 1e-3
    assert np.abs(traj.momentum - traj.momentum[0]).max() < 1e-12
    report = traj.report()
    assert report.verdict == "pass"
    assert "momentum" in report.text


def test_a_particle_on_a_rod_swings_as_a_pendulum_in_joint_coordinates():
    """Second order: the difference to the hinge shrinks by four under halving."""

    def apart(h):
        m = dal.Model()
        m.add_particle("bob", 0.7, (1.0, 0, 0))
        m.add_loop("rod", "distance", "world", "bob")
        hinged = dal.Model()
        hinged.add_particle("bob", 0.7, (1.0, 0, 0))
        hinged.add_joint("pin", "revolute", "world", "bob", axis=(0, 1, 0))
        a = dal.simulate(m, "midpoint", h=h, t_end=2.0)
        b = dal.simulate(hinged, "midpoint", h=h, t_end=2.0)
        return np.abs(a.poses[:, 0, :3, 3] - b.poses[:, 0, :3, 3]).max()

    errors = [apart(h) for h in (0.02, 0.01, 0.005)]
    assert errors[0] / errors[1] == pytest.approx(4.0, abs=0.3)
    assert errors[1] / errors[2] == pytest.approx(4.0, abs=0.3)


def test_beads_are_data(tmp_path):
    m = chain()
    m.add_joint("wire", "prismatic", "world", "b3", axis=(1, 0, 0))  # a particle may be joined as any body
    again = dal.Model.from_dict(m.to_dict())
    assert again.to_dict() == m.to_dict()
    assert [j.kind for j in again.joints] == ["translation"] * 3 + ["prismatic"]
    assert again.body("b0").particle
    again.remove_joint("wire")
    assert again.joint("b3").kind == "translation"
    again.remove_body("b3", cascade=True)
    assert [j.name for j in again.joints] == ["b0", "b1", "b2"]
    heavy = chain().frozen().with_values({"b1.mass": 3.0})
    assert (heavy.body("b1").mass, heavy.body("b1").particle) == (3.0, True)
    path = tmp_path / "run.h5"
    traj = dal.simulate(chain(), "midpoint", h=0.05, t_end=5.0, v0={"b0": KICK}, save=path)
    np.testing.assert_array_equal(dal.load(path).q, traj.q)
    traj.plot(tmp_path / "run.png")
    assert (tmp_path / "run.png").stat().st_size > 10_000


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (("p", 0.0), "particle 'p': mass is 0.0"),
        (("p", -1.0), "particle 'p': mass is -1.0"),
        (("p", np.nan), "particle 'p': mass is nan"),
        (("p", 1.0, (1, 2)), r"particle 'p': position has shape \(2,\)"),
        (("p", 1.0, (1, 2, np.inf)), "particle 'p': position is"),
        (("", 1.0), "particle: name is ''"),
        (("world", 1.0), "belongs to the fixed frame"),
    ],
)
def test_bad_particles_are_refused_with_a_sentence(given, words):
    with pytest.raises(dal.ModelError, match=words):
        dal.Model().add_particle(*given)


def test_names_parents_and_lengths_are_checked():
    m = chain()
    with pytest.raises(dal.ModelError, match="particle 'b0': the model has a body of this name already"):
        m.add_particle("b0", 1.0)
    with pytest.raises(dal.ModelError, match="a translation joint has the world as its parent, got 'b1'"):
        m.add_joint("x", "translation", "b1", "b0")
    m.add_particle("twin", 1.0, BEADS[0])
    m.add_joint("rod", "distance", "b0", "b2")
    m.add_joint("hook", "distance", "world", "b0", (0, 0, 1.0))
    assert m.loop("rod").length == pytest.approx(np.linalg.norm(BEADS[2] - BEADS[0]))
    np.testing.assert_array_equal(m.loop("hook").point, BEADS[0])
    with pytest.raises(dal.ModelError, match=r"length is 0\.0"):
        m.add_loop("x", "distance", "b0", "twin")


def test_only_what_meets_a_particle_in_its_centre_leaves_rotations_symmetric():
    m = chain()
    assert all(is_free(m, j) for j in m.joints)
    m.add_body("rod", 1.0, (1, 1, 1))
    m.add_joint("hinge", "revolute", "b0", "rod", BEADS[0])
    assert not is_free(m, m.joint("b0"))
    m.add_loop("beside", "distance", "b3", "b1", BEADS[3] + [0.1, 0, 0], point=BEADS[1])
    assert not is_free(m, m.joint("b3"))
    assert is_free(m, m.joint("b2"))


def test_a_body_may_slide_without_turning():
    m = dal.Model(gravity=(0, 0, 0))
    m.add_body("b", 2.0, (1, 2, 3), com=(0.1, 0, 0), pose=((1, 2, 3), (0.5, 0.5, 0.5, 0.5)))
    m.add_joint("slide", "translation", "world", "b")
    np.testing.assert_array_equal(m.neutral(), [1, 2, 3])
    traj = dal.simulate(m, "midpoint", h=0.1, t_end=1.0, v0=(1.0, 2.0, -1.0))
    np.testing.assert_allclose(traj.q[-1], [2.0, 4.0, 2.0], atol=1e-14)
    np.testing.assert_allclose(traj.poses[-1], [placed((2.0, 4.0, 2.0), m.poses(m.neutral())[0])], atol=1e-14)
    with pytest.raises(dal.UnsupportedError, match="'slide'"):
        dal.simulate(m, "spook", h=0.01, t_end=0.1)


def placed(position, like):
    pose = like.copy()
    pose[:3, 3] = position
    return pose


def test_beads_run_in_body_coordinates():
    """`spook` lends the beads inertia; rods are rows. First order: halving the step halves the distance to the variational run."""
    m = chain(gravity=(0, 0, -1.0))
    m.add_loop("hook", "distance", "world", "b0", (0, 0, 1.0), point=BEADS[0])
    exact = dal.simulate(m, "midpoint", h=0.001, t_end=1.0)
    runs = [dal.simulate(m, "spook", h=h, t_end=1.0) for h in (0.01, 0.005)]
    errors = [np.linalg.norm(r.poses[-1, :, :3, 3] - exact.poses[-1, :, :3, 3]) for r in runs]
    assert errors[0] < 0.05
    assert errors[1] < 0.6 * errors[0]
    assert runs[0].joint("b2").q.shape == (101, 3)
    np.testing.assert_allclose(runs[0].joint("b2").q, runs[0].poses[:, 2, :3, 3], atol=1e-12)


def test_beads_in_body_coordinates_are_pushed_along_their_coordinates():
    m = dal.Model(gravity=(0, 0, 0))
    m.add_particle("p", 2.0, (1.0, 0, 0))
    push = np.tile([0.0, 4.0, 0.0], (100, 1))
    traj = dal.simulate(m, "spook", h=0.01, t_end=1.0, control=push)
    np.testing.assert_allclose(traj.joint("p").v[-1], [0, 2.0, 0], atol=1e-12)


def test_mujoco_moves_what_slides_alike():
    """A body with inertia, which MuJoCo asks for."""
    m = dal.Model()
    m.add_body("p", 2.0, (1, 1, 1), pose=((1.0, 0, 0.5), (0.5, 0.5, 0.5, 0.5)))
    m.add_joint("slide", "translation", "world", "p")
    m.add_body("rod", 1.0, (0.1, 0.1, 0.1), com=(0, 0, -0.3), pose=((1.0, 0, 0.5), (1, 0, 0, 0)))
    m.add_joint("ball", "spherical", "p", "rod", (1.0, 0, 0.5))
    q0, v0 = m.neutral(), np.array([1, 0, 2, 0.3, 1.0, 0.2])
    ours, peer = dal.simulate(m, "mk4", h=0.001, t_end=0.5, v0=v0), find_peer("mujoco:rk4")
    theirs = peer.run(peer, m, q0, v0, 0.001, 500, None, 1, (), None).traj
    np.testing.assert_allclose(theirs.q, ours.q, atol=1e-9)  # both of order 4
