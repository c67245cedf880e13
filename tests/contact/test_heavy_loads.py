"""Light links that carry heavy loads: stable at steps far beyond h^2 (force x arm) = inertia, without effect where steps are small."""

import numpy as np
import pytest

import dalembert as dal
from dalembert.contact.machine import Machine, Settings
from dalembert.kernels.bodies.stiffening import add_force
from dalembert.model.cut import cut


def rope(links, load):
    """Links of 1 kg and 0.4 m on balls, a load at the end."""
    m = dal.Model("rope")
    for k in range(links):
        m.add_body(f"l{k}", 1.0, (0.015, 0.015, 0.001), pose=((0, 0, -0.4 * (k + 0.5)), (1, 0, 0, 0)))
        m.add_joint(f"j{k}", "spherical", f"l{k - 1}" if k else "world", f"l{k}", (0, 0, -0.4 * k))
    m.add_body("load", load, (50, 50, 50), pose=((0, 0, -0.4 * (links + 1)), (1, 0, 0, 0)))
    m.add_joint("hook", "spherical", f"l{links - 1}", "load", (0, 0, -0.4 * links))
    return m


@pytest.mark.parametrize(("links", "load"), [(3, 500.0), (10, 5000.0), (30, 1000.0)])
def test_a_rope_with_a_heavy_load_swings_and_loses_energy(links, load):
    """h^2 T l/I is 36 and more. Without care the links fly apart within a second: 800 kJ and joints open by metres."""
    traj = dal.simulate(rope(links, load), "spook", h=1 / 60, t_end=3.0, q0={"j0": dal.quat.exp([0, 0.3, 0])})
    assert traj.energy.max() <= traj.energy[0] + 1e-9 * abs(traj.energy[0])
    assert np.abs(traj.constraint).max() < 1e-3
    assert traj.solver["stiffened"].sum() > 0
    assert traj.kinetic.max() > 0.1 * (traj.energy[0] - traj.potential.min())  # it does swing
    assert traj.report()["energy balance"].verdict == "pass"


def test_nothing_is_damped_where_steps_are_small():
    traj = dal.simulate(rope(2, 5.0), "spook", h=1e-3, t_end=0.2, q0={"j0": dal.quat.exp([0, 0.3, 0])})
    assert not traj.solver["stiffened"].any()


def test_the_stiffness_of_a_force_is_the_second_derivative_of_its_potential():
    """U(theta) = -F.(exp(theta) a): differences of second order in 1e-4, so 1e-6."""
    rng = np.random.default_rng(0)
    a, F, K = rng.normal(size=3), rng.normal(size=3), np.zeros((1, 3, 3))
    q = dal.quat.exp(rng.normal(size=3))
    states = np.zeros((1, 13))
    states[0, 3:7] = q
    add_force(K, 0, states, tuple(a), tuple(F))

    def U(theta):
        R = dal.quat.to_matrix(q) @ dal.so3.exp(theta)
        return -F @ R @ a

    step = 1e-4
    for i in range(3):
        for j in range(3):
            e, f = step * np.eye(3)[i], step * np.eye(3)[j]
            found = (U(e + f) - U(e - f) - U(f - e) + U(-e - f)) / (4 * step**2)
            assert found == pytest.approx(K[0, i, j], abs=1e-6)


def test_a_machine_without_joints_has_nothing_to_stiffen():
    m = dal.Model("body")
    m.add_body("a", 1.0, (1, 1, 1))
    machine = Machine(cut(m).frozen(), Settings())
    machine.start(*(np.array(x) for x in (m.neutral(), np.zeros(6))))
    assert machine.step(0.0, 0.1).stiffened == 0
