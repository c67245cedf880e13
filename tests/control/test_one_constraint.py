"""Machines with one constraint row, and starts that leave a velocity free."""

import numpy as np
import pytest

import dalembert as dal
from dalembert.control.scenes import brachistochrone


def crank():
    """Two rods on the ground whose ends keep their distance: one row on positions."""
    m = dal.Model("crank", gravity=(0, 0, -9.81))
    m.add_body("left", 1.0, (0.1, 0.1, 0.1), com=(0, 0, 0.5))
    m.add_body("right", 1.0, (0.1, 0.1, 0.1), com=(0, 0, 0.5), pose=((1, 0, 0), (1, 0, 0, 0)))
    m.add_joint("left foot", "revolute", "world", "left", (0, 0, 0), (0, 1, 0))
    m.add_joint("right foot", "revolute", "world", "right", (1, 0, 0), (0, 1, 0))
    m.add_loop("strut", "distance", "left", "right", (0, 0, 1), point=(1, 0, 1))
    return m


def strutted(N):
    m = crank()
    goal, _ = m.assemble(np.array([0.5, 0.5]), fixed=("left foot",))
    return dal.control.dmoc(m, N, np.zeros(2), goal, h=1.0 / N, inputs=["left foot"])


@pytest.mark.parametrize("build", [brachistochrone.build, strutted])
def test_every_row_of_a_step_has_a_name(build):
    """CasADi cuts a row, not a column, out of what is 1 x 1: rows without a name came of it."""
    made = build(N=4)
    assert made.machine.rows.count == 1
    for block in made.program.blocks:
        assert len(block.names) == block.size, block.name


def test_a_strut_keeps_its_length():
    found = strutted(40).solve()
    assert found.ok and found.replay.errors.max() < 1e-9
    ends = [np.array([T[:3, :3] @ [0, 0, 1] + T[:3, 3] for T in found.problem.machine.system.poses(q)]) for q in found.q]
    assert max(abs(np.linalg.norm(b - a) - 1.0) for a, b in ends) < 1e-9


def test_a_start_may_leave_a_velocity_free_beside_a_constraint():
    """What the blade takes at the start is the impulse of the first step: a second one would be free to grow."""
    found = brachistochrone.build(N=40).solve()
    assert found.ok and found.replay.errors.max() < 1e-9
    assert np.abs(found.v[0, :2]).max() < 1e-9  # as given
    radius, _ = brachistochrone.cycloid()
    assert found.v[0, 2] == pytest.approx(0.5 * np.sqrt(brachistochrone.G / radius), rel=1e-2)  # free: of the cycloid, to order 2
