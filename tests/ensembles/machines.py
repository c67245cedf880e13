"""Machines of these tests; functions that other processes import."""

import os
import signal
import time

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


class Slow(dal.observers.Observer):
    """Takes its time, so that there is something to kill."""

    all_nodes = False

    def __call__(self, batch):
        time.sleep(0.2)
        return {"n": np.zeros(len(batch.index))}
