"""Springs in the account of body coordinates: the balance closes in every step, and what a step makes of a spring is as (4.31) says."""

import numpy as np
import pytest
from contact_laws import H

import dalembert as dal


def swing(kind="prismatic", **more):
    m = dal.Model("spring", gravity=(0, 0, -9.81))
    m.add_body("bob", 2.0, (0.1, 0.2, 0.15), com=(0.1, 0, -0.2))
    m.add_joint("j", kind, "world", "bob", axis=(0, 0, 1) if kind == "prismatic" else (0, 1, 0), stiffness=50.0, **more)
    return m


@pytest.mark.parametrize(
    ("kind", "more", "v0"),
    [
        ("prismatic", {}, [1.0]),
        ("prismatic", {"damping": 3.0, "rest": 0.2}, [1.0]),
        ("revolute", {"armature": 0.3}, [45.0]),  # winds up by more than half a turn
        ("universal", {"axis2": (1, 0, 0)}, [1.0, -2.0]),
        ("spherical", {"damping": 0.1}, [1.0, -2.0, 0.5]),
    ],
)
def test_energy_and_account_agree_in_every_step(kind, more, v0):
    traj = dal.simulate(swing(kind, **more), "spook", h=H, t_end=2.0, v0=v0)
    scale = traj.kinetic.max() + np.ptp(traj.potential)
    np.testing.assert_allclose(np.diff(traj.energy), np.diff(traj.work), atol=1e-12 * scale)
    if kind == "revolute":
        assert np.abs(traj.joint("j").q).max() > 1.2 * np.pi
    assert [x.verdict for x in traj.report().items if x.name == "energy balance"] == ["pass"]


def test_springs_between_bodies_are_accounted_for_too():
    m = dal.Model("two", gravity=(0, 0, -9.81))
    for k in range(2):
        m.add_body(f"b{k}", 1.0 + k, (0.1, 0.2, 0.15), pose=((0, 0, -1.0 * k), (1, 0, 0, 0)))
    m.add_force(dal.Spring("b0", "world", point_a=(0.1, 0, 0), point_b=(0, 0, 1.0), stiffness=80.0, rest_length=0.8, damping=0.5))
    m.add_force(dal.Spring("b1", "b0", point_a=(0, 0.1, 0), stiffness=30.0, rest_length=0.7))
    traj = dal.simulate(m, "spook", h=H, t_end=2.0)
    np.testing.assert_allclose(np.diff(traj.energy), np.diff(traj.work), atol=1e-11)
    assert traj.report().verdict == "pass"


def test_a_stiff_joint_on_a_spring_is_the_implicit_midpoint_rule():
    """tau = 0 (4.31): phase tan(phi/2) = h w/2, and m v^2/2 + k ((q + q')/2)^2/2 never changes."""
    m, k, h, v0 = 2.0, 50.0, 0.1, 1.0
    model = dal.Model("bead", gravity=(0, 0, 0))
    model.add_body("bead", m, (0.1, 0.1, 0.1))
    model.add_joint("rail", "prismatic", "world", "bead", axis=(1, 0, 0), stiffness=k)
    traj = dal.simulate(model, "spook", h=h, t_end=40.0, v0=[v0])
    q, v = traj.joint("rail").q[:, 0], traj.joint("rail").v[:, 0]
    energy = 0.5 * m * v[1:] ** 2 + 0.5 * k * (0.5 * (q[1:] + q[:-1])) ** 2
    np.testing.assert_allclose(energy, energy[0], rtol=1e-8 * 5)  # rows are solved to 1e-9 m/s, 400 times
    phase = 2.0 * np.arctan(0.5 * h * np.sqrt(k / m))
    # q_{k+1} + q_{k-1} = 2 cos(phase) q_k
    np.testing.assert_allclose(q[2:] + q[:-2], 2.0 * np.cos(phase) * q[1:-1], atol=1e-9)


def test_what_a_step_makes_of_a_spring_vanishes_with_h():
    """The column of stiffness, work beside what is stored, is of order h at a node, and does not grow."""
    worst = [
        np.abs(np.cumsum(dal.simulate(swing(), "spook", h=h, t_end=4.0, v0=[1.0]).account["stiffness"])).max()
        for h in (0.04, 0.02, 0.01, 0.005)
    ]
    assert np.polyfit(np.log([8, 4, 2, 1]), np.log(worst), 1)[0] > 0.9


@pytest.mark.parametrize("stiffness", [1e5, 1e8, 1e14])
def test_springs_too_stiff_for_the_step_do_not_ring(stiffness):
    """h omega = 3.7 and more: the midpoint rule would keep k (h v/2)^2/2 of the start, and speeds up to omega h/2 v, for ever."""
    model = dal.Model("bead", gravity=(0, 0, 0))
    model.add_body("bead", 2.0, (0.1, 0.1, 0.1))
    model.add_joint("rail", "prismatic", "world", "bead", axis=(1, 0, 0), stiffness=stiffness)
    traj = dal.simulate(model, "spook", h=H, t_end=2.0, v0=[1.0])
    v = np.abs(traj.joint("rail").v[:, 0])
    assert v.max() < 3.0 and v[-1] < 1e-3
    np.testing.assert_allclose(np.diff(traj.energy), np.diff(traj.work), atol=1e-11 * np.abs(traj.energy).max())


def test_a_spring_too_stiff_for_the_step_carries_its_load():
    model = dal.Model("bead", gravity=(-9.81, 0, 0))
    model.add_body("bead", 2.0, (0.1, 0.1, 0.1))
    model.add_joint("rail", "prismatic", "world", "bead", axis=(1, 0, 0), stiffness=1e6)
    traj = dal.simulate(model, "spook", h=H, t_end=2.0)
    assert traj.joint("rail").q[-1, 0] == pytest.approx(-2.0 * 9.81 / 1e6, rel=1e-5)
