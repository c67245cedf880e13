"""Robots of the installed collection."""

import importlib.metadata
import warnings
from pathlib import Path

import pytest

import dalembert as dal

ROBOTS = {"ur5": ("ur_description/urdf/ur5_robot.urdf", False), "solo12": ("solo_description/robots/solo12.urdf", True)}


@pytest.fixture
def robot():
    """robot(name): a model of an installed robot."""

    def load(name):
        share = Path(importlib.metadata.distribution("example-robot-data").locate_file("cmeel.prefix/share"))
        path, floating = ROBOTS[name]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return dal.load_model(share / "example-robot-data" / "robots" / path, floating_base=floating)

    return load
