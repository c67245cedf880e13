"""Machines of these tests; functions that other processes import."""

import os
import signal
import time
from pathlib import Path

import numpy as np

import dalembert as dal


def double_pendulum():
    m = dal.Model("double pendulum", gravity=(0, 0, -9.81))
    m.add_body("upper", 1.0, (0.1, 0.1, 0.01), com=(0, 0, -0.5))
    m.add_body("lower", 1.0, (0.1, 0.1, 0.01), com=(0, 0, -0.5), pose=((0, 0, -1), (1, 0, 0, 0)))
    m.add_joint("shoulder", "revolute", "world", "upper", (0, 0, 0), (0, 1, 0))
    m.add_joint("elbow", "revolute", "upper", "lower", (0, 0, -1), (0, 1, 0))
    return m


def oscillator():
    return dal.Lagrangian(1, lambda q, v, p: 0.5 * p["m"] * v[0] ** 2 - 0.5 * p["k"] * q[0] ** 2, params={"m": 1.0, "k": 4.0})


def built(sample):
    """A chain of as many links as the sample says."""
    m = dal.Model("chain", gravity=(0, 0, -9.81))
    for i in range(int(sample["links"])):
        m.add_body(f"rod{i}", 1.0, (0.1, 0.1, 0.01), com=(0, 0, -0.5), pose=((0, 0, -i), (1, 0, 0, 0)))
        m.add_joint(f"hinge{i}", "revolute", "world" if i == 0 else f"rod{i - 1}", f"rod{i}", (0, 0, -i), (0, 1, 0))
    return m, {"q0": np.full(m.nq, 0.3)}


def deadly(sample):
    """Kills its process on sample 3, fails on sample 1."""
    if sample["x"] == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    if sample["x"] == 1:
        raise ValueError("no such machine")
    return built({"links": 1})


class Stuck(dal.observers.Observer):
    """In one process: says that it is there, and waits to be killed."""

    all_nodes = False

    def __init__(self, pid, folder):
        self.pid, self.folder = pid, str(folder)

    def __call__(self, batch):
        if os.getpid() == self.pid:
            Path(self.folder, "here").touch()
            time.sleep(600)
        return {"n": np.zeros(len(batch.index))}


class Gate(dal.observers.Observer):
    """Lets the first samples through, and the others once there is a file."""

    all_nodes = False

    def __init__(self, first, file):
        self.first, self.file = first, str(file)

    def __call__(self, batch):
        until = time.monotonic() + 600
        while batch.index.max() >= self.first and not os.path.exists(self.file) and time.monotonic() < until:
            time.sleep(0.02)
        return {"n": np.zeros(len(batch.index))}


def wait_for(condition, what, seconds=240):
    """Until the condition holds; TimeoutError says what never came."""
    until = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > until:
            raise TimeoutError(f"waited {seconds} s for {what}")
        time.sleep(0.02)
