"""Machines and pages for the tests of the viewer; everything on this computer's own address, on ports that are free."""

import time

import numpy as np
import pytest

import dalembert as dal
from dalembert.view.web.live import Live
from dalembert.view.web.replay import Replay

PATIENCE = 120.0  # s: of a slow machine with other things to do


def until(condition, seconds=PATIENCE):
    """Wait for a condition; fail if it does not come."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"not within {seconds} s"
        time.sleep(0.01)


@pytest.fixture(name="until")
def _until():
    return until


def boxes(n=3, apart=0.6):
    """Boxes of 0.2 m and 1 kg that lie on a floor, in a row along y."""
    m = dal.Model("boxes")
    m.add_shape("world", dal.Plane(friction=0.5))
    shape = dal.Box((0.2, 0.2, 0.2), friction=0.5)
    for k in range(n):
        m.add_body(f"box{k}", 1.0, shape.inertia(1.0), pose=((0, apart * (k - 0.5 * (n - 1)), 0.1), (1, 0, 0, 0)), shapes=[shape])
    return m


def arm():
    """A rod on a hinge with a motor, no contacts."""
    m = dal.Model("arm")
    m.add_body("rod", 1.0, (0.1, 0.1, 0.01), pose=((0, 0, -0.5), (1, 0, 0, 0)))
    m.add_joint("hinge", "revolute", "world", "rod", anchor=(0, 0, 0), axis=(0, 1, 0))
    m.add_motor("motor", "hinge", limit=20.0)
    return m


@pytest.fixture
def live():
    """live(sim, ...) -> Live, closed at the end."""
    made = []

    def make(sim, **more):
        made.append(Live(sim, port=0, **more))
        return made[-1]

    yield make
    for view in made:
        view.close()


@pytest.fixture
def replay():
    """replay(traj, ...) -> Replay, closed at the end."""
    made = []

    def make(*runs, **more):
        made.append(Replay(list(runs), port=0, **more))
        return made[-1]

    yield make
    for view in made:
        view.close()


@pytest.fixture
def box_sim():
    return dal.Simulation(boxes(), "spook", h=1 / 60, keep=0)


@pytest.fixture
def arm_sim():
    return dal.Simulation(arm(), "midpoint", h=0.01, keep=0, q0=np.array([0.5]))
