"""v = M^-1 p at the nodes: the velocity that a run starts with comes back, and is that of a dense matrix."""

import numpy as np
import pytest

import dalembert as dal

RNG = np.random.default_rng(8)
SINGLE = ("revolute", "prismatic", "cylindrical", "planar", "universal")  # hinges, slides and what is made of them


def tree(kinds, parents, armature=0.0):
    """Bodies of random inertia on joints of these kinds along random axes; parents: number of the body that carries each, -1 the world."""
    m = dal.Model("tree")
    places = np.cumsum(RNG.normal(size=(len(kinds), 3)), axis=0)
    for i, (kind, parent) in enumerate(zip(kinds, parents, strict=True)):
        turn, _ = np.linalg.qr(RNG.normal(size=(3, 3)))
        inertia = turn @ np.diag([0.3, 0.4, 0.5]) @ turn.T
        m.add_body(f"b{i}", 1.0 + i, inertia, com=RNG.normal(size=3), pose=(places[i], (1, 0, 0, 0)))
        given = {"axis": turn[0]} | ({"axis2": turn[1]} if kind == "universal" else {})
        m.add_joint(f"j{i}", kind, "world" if parent < 0 else f"b{parent}", f"b{i}", places[i], armature=armature, **given)
    return m


@pytest.mark.parametrize("method", ["midpoint", "trapezoidal", "symplectic-euler", "null-space"])
@pytest.mark.parametrize(
    "kinds,parents",
    [
        (["revolute"] * 6, range(-1, 5)),
        (["revolute", "prismatic", "revolute", "prismatic", "revolute"], [-1, 0, 0, 2, -1]),
        (list(SINGLE), range(-1, 4)),
        (["planar", "universal", "cylindrical", "revolute"], [-1, 0, 0, 1]),
        (["revolute", "spherical", "revolute"], [-1, 0, 1]),
        (["revolute"] * 40, range(-1, 39)),
    ],
)
def test_the_velocity_at_a_node_is_that_of_its_momentum(method, kinds, parents):
    """To round-off times the condition of the mass matrix, some 1e4 at most but for the long chain."""
    for armature in (0.0, 0.7):
        m = tree(kinds, parents, armature)
        q, v = m.random(RNG), RNG.normal(size=m.nv)
        traj = dal.simulate(m, method, h=1e-4, t_end=2e-4, q0=q, v0=v)
        worst = np.linalg.cond(m.mass_matrix(q))
        assert np.abs(traj.v[0] - v).max() < 2e-15 * worst * np.abs(v).max()
