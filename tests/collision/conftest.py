"""Machines that these tests share: balls, beads and cubes without friction between walls."""

import numpy as np
import pytest

import dalembert as dal
from dalembert.model.rotation import matrix

G = 9.81
START = np.array([(-3, -1, 0), (-1, 1, 0), (1, -1, 0), (3, 1, 0)]) / (2 * np.sqrt(2))  # links of length 1


def facing(n):
    """Quaternion that turns z to a coordinate direction."""
    z = np.array([0.0, 0.0, 1.0])
    axis = np.cross(z, n)
    if np.linalg.norm(axis) == 0.0:
        return (1, 0, 0, 0) if n[2] > 0 else (0, 1, 0, 0)
    return tuple(dal.quat.exp(0.5 * np.pi * axis))


def add_walls(m, sizes, e):
    """Walls of a box about the origin; None leaves a direction open."""
    for d, size in enumerate(sizes):
        for sign in (1.0, -1.0) if size else ():
            n = -sign * np.eye(3)[d]
            m.add_shape("world", dal.Plane(position=tuple(-0.5 * size * n), quaternion=facing(n), friction=0, restitution=e))


def beads(places, e=1.0, radius=0.1, box=(8, 10, 14)):
    m = dal.Model("chain", gravity=(0, 0, 0))
    add_walls(m, box, e)
    for k, x in enumerate(places):
        m.add_particle(f"b{k}", 1.0, position=tuple(x), shapes=[dal.Sphere(radius, friction=0, restitution=e)])
    for k in range(len(places) - 1):
        m.add_loop(f"link{k}", "distance", f"b{k}", f"b{k + 1}", anchor=tuple(places[k]), point=tuple(places[k + 1]))
        m.exclude(f"b{k}", f"b{k + 1}")
    return m


def ball(height, e, gravity=G, radius=0.1, mass=1.0):
    """A ball above the ground; height: of its lowest point."""
    m = dal.Model("ball", gravity=(0, 0, -gravity))
    m.add_shape("world", dal.Plane(friction=0, restitution=e))
    m.add_particle("ball", mass, position=(0, 0, height + radius), shapes=[dal.Sphere(radius, friction=0, restitution=e)])
    return m


def twists(rotations, spatial):
    """v of free bodies from (velocity, omega) in the world."""
    turns = [matrix(np.array(q)).T for q in rotations]
    return np.concatenate([np.concatenate([R @ np.array(x[3:]), R @ np.array(x[:3])]) for R, x in zip(turns, spatial, strict=True)])


@pytest.fixture(scope="session")
def two_cubes():
    """two_cubes(e) -> (model, q0, v0): cubes of 0.2 m and 1 kg that meet."""
    Q = [dal.quat.exp(x) for x in ([0.3, 0.5, -0.2], [-0.4, 0.2, 0.7])]
    q0 = np.concatenate([[0.3, 0.02, 0.03], Q[0], [-0.3, 0, 0], Q[1]])
    v0 = twists(Q, [(-1, 0, 0, 0.5, -1, 0.3), (1, 0, 0, -0.4, 0.8, 0.2)])

    def make(e):
        m = dal.Model("two cubes", gravity=(0, 0, 0))
        for k in range(2):
            box = dal.Box((0.2, 0.2, 0.2), friction=0, restitution=e)
            m.add_body(f"c{k}", 1.0, box.inertia(1.0), shapes=[box])
        return m, q0, v0

    return make


@pytest.fixture(scope="session")
def chain():
    """Four beads in a box, with the velocities of the start."""
    return beads(START), np.array([-0.1, 0.1, -0.1, *np.zeros(9)])
