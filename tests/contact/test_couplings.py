"""Gears and other couplings of joints in body coordinates, over two, three and four bodies. Judges: closed forms, steppers of trees."""

import numpy as np
import pytest
from contact_laws import H, Steps
from scipy.linalg import block_diag

import dalembert as dal
from dalembert.contact.machine import Report
from dalembert.model.cut import cut

HS = (4e-3, 2e-3, 1e-3, 5e-4)


def wheels(frame=None, ratio=-2.0, gravity=(0, 0, 0), **gear):
    """Two wheels of 1 and 0.25 kg m^2 on parallel axles, in the world or in a frame that is free."""
    m = dal.Model("wheels", gravity=gravity)
    parent = "world"
    if frame is not None:
        m.add_body("frame", 3.0, (1.2, 2.0, 1.2))
        if frame != "free":
            m.add_joint("pivot", frame, "world", "frame", (0, 0, 0.4), (0, 1, 0))
        parent = "frame"
    m.add_body("large", 1.0, (0.6, 1.0, 0.6))
    m.add_body("small", 0.5, (0.2, 0.25, 0.2), pose=((1.0, 0, 0), (1, 0, 0, 0)))
    m.add_joint("axle1", "revolute", parent, "large", (0, 0, 0), (0, 1, 0))
    m.add_joint("axle2", "revolute", parent, "small", (1.0, 0, 0), (0, 1, 0))
    m.add_joint("gear", "gear", "axle1", "axle2", ratio=ratio, **gear)
    return m


def test_geared_wheels_have_the_inertia_of_both_and_keep_their_ratio_over_many_turns():
    """I1 + r^2 I2 = 2: a torque of 4 N m on the first gives 2 rad/s^2."""
    traj = dal.simulate(wheels(), "spook", h=H, t_end=5.0, control=lambda t, q, v: [4.0, 0.0])
    a, b = traj.joint("axle1"), traj.joint("axle2")
    np.testing.assert_allclose(a.v[-1, 0], 10.0, rtol=2 * (20.0 * H) ** 2 / 24)  # unknowns are rates to h^2 w^2/24, twice
    assert a.q[-1, 0] > 3 * np.pi
    np.testing.assert_allclose(b.q[:, 0], -2.0 * a.q[:, 0], atol=5e-3)  # of the size (h w)^2


@pytest.mark.parametrize("ratio", [-2.0, 0.3, 50.0])
def test_gears_in_a_free_frame_keep_all_momentum(ratio):
    """Three bodies: from rest, a torque between frame and wheel turns all of them; nothing is pushed from outside."""
    m = wheels("free", ratio)
    push = lambda t, q, v: [0.0] * 6 + [0.5, 0.0]  # noqa: E731
    traj = dal.simulate(m, "spook", h=1e-3, t_end=0.5, control=push)
    a, b = traj.joint("axle1"), traj.joint("axle2")
    assert abs(b.q[-1, 0]) > 1e-3
    np.testing.assert_allclose(b.q[:, 0], ratio * a.q[:, 0], atol=1e-4 * (1 + abs(ratio)))
    assert np.abs(traj.momentum[:, 3:]).max() < 1e-11
    assert np.abs(traj.momentum[:, :3]).max() < 1e-4  # angular momentum is kept to order h^2 of the turn


def test_the_account_closes_with_gears():
    traj = dal.simulate(wheels("revolute", 3.0, (0, 0, -9.81)), "spook", h=H, t_end=1.0, q0={"pivot": 0.5}, v0={"axle1": 2.0, "axle2": 6.0})
    np.testing.assert_allclose(np.diff(traj.energy), np.diff(traj.work), atol=1e-10)
    assert traj.report().verdict == "pass"


@pytest.mark.parametrize("frame", [None, "revolute", "free"])
def test_gears_approach_those_of_trees_by_order_one(frame):
    """An eccentric frame under gravity; reference in joint coordinates, where the coupling is exact."""
    m = wheels(frame, -2.0, (0, 0, -9.81))
    v0 = m.check_v({"axle1": 1.0, "axle2": -2.0})
    push = np.concatenate([np.zeros(m.nv - 2), [1.0, 0.0]])
    exact = dal.simulate(m, "trapezoidal", h=2.5e-4, t_end=0.5, v0=v0, control=lambda t, q, v: push)
    errors = []
    for h in HS:
        traj = dal.simulate(m, "spook", h=h, t_end=0.5, v0=v0, control=lambda t, q, v: push)
        errors.append(abs(traj.joint("axle1").q[-1, 0] - exact.joint("axle1").q[-1, 0]))
    assert errors[-1] < 2e-3
    assert np.polyfit(np.log(HS), np.log(errors), 1)[0] > 0.85


def two_pairs(polynomial, **more):
    """Two pairs of bodies that slide on each other, nothing held to the world: four bodies in one coupling."""
    m = dal.Model("pairs", gravity=(0, 0, 0))
    for k, mass in enumerate((1.0, 2.0, 0.5, 3.0)):
        m.add_body(f"b{k}", mass, (0.1, 0.1, 0.1), pose=((0, 2.0 * (k // 2), 0), (1, 0, 0, 0)))
    m.add_joint("left", "prismatic", "b0", "b1", (0, 0, 0), (1, 0, 0))
    m.add_joint("right", "prismatic", "b2", "b3", (0, 2.0, 0), (1, 0, 0))
    m.add_loop("cam", "coupling", "left", "right", polynomial=polynomial, **more)
    return m


def test_a_coupling_of_four_bodies_has_their_inertia_and_moves_no_centre_of_mass():
    """q2 = -q1/2: reduced masses m01 = 2/3 and m23 = 3/7, so f = (m01 + m23/4) a."""
    m = two_pairs((0.0, -0.5))
    push = np.zeros(m.nv)
    push[m.v_slices()["left"]] = 0.8
    traj = dal.simulate(m, "spook", h=H, t_end=1.0, control=lambda t, q, v: push)
    a, b = traj.joint("left"), traj.joint("right")
    assert a.v[-1, 0] == pytest.approx(0.8 / (2 / 3 + 3 / 28), rel=1e-7)
    np.testing.assert_allclose(b.q[:, 0], -0.5 * a.q[:, 0], atol=1e-8)  # compliance
    x = traj.poses[:, :, 0, 3]
    assert np.abs(x[:, 0] + 2.0 * x[:, 1]).max() < 1e-8  # rows are solved to 1e-9 m/s, for 1 s
    assert np.abs(0.5 * x[:, 2] + 3.0 * x[:, 3]).max() < 1e-8


def test_a_cam_follows_its_polynomial():
    """q2 = 0.1 + 0.4 q1 - 0.3 q1^2, from q1 = 0: violation of the order (h v)^2 p''."""
    m = two_pairs((0.1, 0.4, -0.3))
    v0 = m.check_v({"left": 1.0, "right": 0.4})
    for h in (1e-2, 5e-3):
        traj = dal.simulate(m, "spook", h=h, t_end=1.0, q0={"right": 0.1}, v0=v0)
        a, b = traj.joint("left").q[:, 0], traj.joint("right").q[:, 0]
        assert np.abs(b - (0.1 + 0.4 * a - 0.3 * a**2)).max() < 1.5 * h**2
    assert a[-1] > 0.5


def test_a_gear_slips_at_its_greatest_torque():
    """10 N m on the first wheel would need 2 N m on the second; no more than 1 N m gets through."""
    m = wheels(ratio=1.0, force_limits=1.0)
    traj = dal.simulate(m, "spook", h=H, t_end=1.0, control=lambda t, q, v: [10.0, 0.0])
    assert traj.joint("axle1").v[-1, 0] == pytest.approx(9.0, rel=3e-3)
    assert traj.joint("axle2").v[-1, 0] == pytest.approx(4.0, rel=3e-3)


def test_couplings_of_loop_joints_are_refused_by_steppers_of_trees_and_read_from_files(tmp_path):
    m = wheels()
    m.add_body("third", 1.0, (1.0, 1.0, 1.0), pose=((2.0, 0, 0), (1, 0, 0, 0)))
    m.add_joint("axle3", "revolute", "world", "third", (2.0, 0, 0), (0, 1, 0))
    m.add_loop("again", "revolute", "small", "third", (2.0, 0, 0), (0, 1, 0))
    m.add_loop("second gear", "coupling", "axle1", "again", polynomial=(0.0, -1.0))
    with pytest.raises(dal.DalembertError, match="loop couplings"):
        dal.simulate(m, "trapezoidal", h=0.01, t_end=0.1)
    traj = dal.simulate(wheels("revolute"), "spook", h=H, t_end=0.2, v0={"axle1": 1.0, "axle2": -2.0})
    traj.save(tmp_path / "gear.h5")
    again = dal.load(tmp_path / "gear.h5")
    assert again.model.loop("gear").polynomial == (0.0, -2.0)
    np.testing.assert_array_equal(again.q, traj.q)
    more = dal.resume(tmp_path / "gear.h5", 0.4)
    whole = dal.simulate(wheels("revolute"), "spook", h=H, t_end=0.4, v0={"axle1": 1.0, "axle2": -2.0})
    np.testing.assert_array_equal(more.q[-1], whole.q[-1])


@pytest.mark.nojit
@pytest.mark.parametrize("model", [wheels("free", -2.0), two_pairs((0.1, 0.4, -0.3))], ids=["three bodies", "four bodies"])
def test_a_companion_hands_on_what_one_row_over_all_bodies_would(model):
    """The dense system of the bodies alone, with one row of the coupling over all of them, has the same velocities and impulses."""
    s = Steps(cut(model))
    rng, m = np.random.default_rng(3), s.machine
    s.v[:], s.omega[:] = rng.normal(size=(2, m.n, 3))
    m._known_forces(0.0)
    m._prepare(H, Report())
    M, free, size = m.masses[: m.n].copy(), m.free[: 6 * m.n].copy(), 6 * m.n
    m._assemble(0.0, H, 0)
    m._lend()
    p = m._problem(0)
    J, labels = p.jacobian(), [label for _, label in m.bodies.rows]
    main, picks = labels.index("coupling"), [k for k, label in enumerate(labels) if label.startswith("share")]
    full = J[:, :size].copy()
    for k in picks:
        slot = size + int(np.flatnonzero(J[k, size:])[0])
        full[main] += J[main, slot] * J[k, :size]
    rows = [k for k in range(len(labels)) if k not in picks]
    A = np.block([[block_diag(*M), -full[rows].T], [full[rows], np.diag(p.sigma[rows])]])
    exact = np.linalg.solve(A, np.concatenate([block_diag(*M) @ free, -p.b[rows]]))
    x = m.solver.solve(p).x
    assert len(picks) == m.n - 1
    np.testing.assert_allclose(x[:size], exact[:size], atol=1e-8)
    np.testing.assert_allclose(p.impulses[rows], exact[size:], atol=1e-7)
