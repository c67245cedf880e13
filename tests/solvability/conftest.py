"""Trees for the tests of step advice."""

import numpy as np
import pytest

from dalembert.model import Model
from dalembert.solvability.tree_loads import held_forces, with_drag
from dalembert.solvability.tree_step import dense_tree, newton, right, terms


def _rods(n, length=1.0, axes=None, gravity=9.81, **joint):
    """A chain of slender rods along x, 1 kg each, hinges about z unless axes are given; gravity along -y."""
    m = Model(f"{n} rods", gravity=(0.0, -gravity, 0.0))
    parent = "world"
    for i in range(n):
        inertia = length**2 / 12.0
        m.add_body(f"rod {i}", 1.0, (1e-4 * inertia, inertia, inertia), com=(length / 2, 0, 0), pose=((i * length, 0, 0), (1, 0, 0, 0)))
        axis = (0, 0, 1) if axes is None else axes[i]
        m.add_joint(f"hinge {i}", "revolute", parent, f"rod {i}", anchor=(i * length, 0, 0), axis=axis, **joint)
        parent = f"rod {i}"
    return m


def _random_tree(rng, n, kinds=("revolute", "revolute", "prismatic"), parallel=False):
    """n bodies on random parents; some joints with damping, stiffness, armature; prismatic ones with and without limits."""
    m = Model("random tree", gravity=rng.normal(size=3) * 5.0)
    names = ["world"]
    for i in range(n):
        name, place = f"body {i}", rng.normal(size=3) * 0.4
        turn = rng.normal(size=4)
        pose = (place, turn / np.linalg.norm(turn))
        m.add_body(name, rng.uniform(0.3, 1.5), rng.uniform(0.05, 0.09, 3), com=rng.normal(size=3) * 0.2, pose=pose)
        kind = kinds[rng.integers(len(kinds))]
        more = {"limits": (-0.3, 0.4)} if kind == "prismatic" and rng.uniform() < 0.5 else {}
        if kind == "universal":
            more["axis2"] = rng.normal(size=3)
        m.add_joint(
            f"joint {i}",
            kind,
            names[rng.integers(max(0, len(names) - 2), len(names))],
            name,
            anchor=place + rng.normal(size=3) * 0.2,
            axis=(0, 0, rng.choice([-1.0, 1.0])) if parallel else rng.normal(size=3),
            damping=rng.choice([0.0, 0.3]),
            stiffness=rng.choice([0.0, 2.0]),
            armature=rng.choice([0.0, 0.0, 0.02]),
            **more,
        )
        names.append(name)
    return m


@pytest.fixture(scope="session")
def rods():
    return _rods


@pytest.fixture(scope="session")
def random_tree():
    return _random_tree


def _run(m, q, v, h, steps):
    """Nodes and interval velocities of the trapezoidal scheme, started by the discrete Legendre transform."""
    tree = dense_tree(m)

    def at(q):
        return with_drag(m, terms(tree, q), q)

    def forces(q):
        return held_forces(m, q)

    p = at(q).M @ v
    nodes, velocities = [q], []
    for _ in range(steps):
        here = at(q)
        found, done, _ = newton(tree, np.array([h]), q, here, p, v, forces(q))
        assert done[0]
        v = found[0]
        q = q + h * v
        p = right(h, here, at(q), v, forces(q))
        nodes.append(q)
        velocities.append(v)
    return np.array(nodes), np.array(velocities)


@pytest.fixture(scope="session")
def run():
    """The dense scheme as a function of model, q, v, h and the number of steps."""
    return _run
