"""Runs that are drawn, and the rule that where rendering is impossible tests are skipped with the reason, but fail in CI."""

import os

import pytest

import dalembert as dal
from dalembert.view.render import backend


@pytest.fixture(autouse=True, scope="session")
def rendering():
    try:
        backend.load()
    except backend.CannotRender as problem:
        if os.environ.get("CI"):
            pytest.fail(f"CI must be able to render: {problem}")
        pytest.skip(str(problem))


def acrobot():
    m = dal.Model("acrobot")
    m.add_body("upper", 1.0, (0.083, 0.083, 0.002), com=(0, 0, -0.5))
    m.add_body("lower", 1.0, (0.083, 0.083, 0.002), com=(0, 0, -0.5), pose=((0, 0, -1), (1, 0, 0, 0)))
    m.add_joint("shoulder", "revolute", "world", "upper", axis=(1, 0, 0))
    m.add_joint("elbow", "revolute", "upper", "lower", anchor=(0, 0, -1), axis=(1, 0, 0))
    return m


@pytest.fixture(scope="session")
def swing():
    """An acrobot that falls for a second."""
    return dal.simulate(acrobot(), h=0.01, t_end=1.0, q0=[2.0, 0.6])


@pytest.fixture(scope="session")
def pile():
    """Boxes that lie on each other."""
    from dalembert.scenes.contact_piles import heap

    return dal.simulate(heap(3), "spook", h=1 / 60, t_end=0.5)
