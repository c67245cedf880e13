"""Values that might be given by mistake or malice, and the machines that they are given to."""

from __future__ import annotations

import numpy as np

import dalembert as dal

WORDS = ("", "x", "rod", "hinge", "midpoint", "world", "revolute", "q", "\0", "é", "../..", "nan", "a" * 300)
NUMBERS = (0, 1, -1, 2, 7, 0.0, -0.0, 0.5, -3.7, 1e-300, 1e300, 1e160, float("nan"), float("inf"), -float("inf"), 10**30, True, 3 + 4j)


def value(rng, depth=0):
    """Something that might be given by mistake."""
    kind = rng.integers(0, 12 if depth < 2 else 6)
    if kind < 3:
        return NUMBERS[rng.integers(len(NUMBERS))]
    if kind == 3:
        return WORDS[rng.integers(len(WORDS))]
    if kind == 4:
        return None
    if kind == 5:
        return rng.normal(size=rng.integers(0, 8)) * 10.0 ** rng.integers(-8, 9)
    if kind == 6:
        return rng.normal(size=tuple(rng.integers(0, 4, size=rng.integers(0, 4))))
    if kind == 7:
        return [value(rng, depth + 1) for _ in range(rng.integers(0, 5))]
    if kind == 8:
        return tuple(value(rng, depth + 1) for _ in range(rng.integers(0, 5)))
    if kind == 9:
        return {WORDS[rng.integers(len(WORDS))]: value(rng, depth + 1) for _ in range(rng.integers(0, 3))}
    return (np.array([np.nan, 1.0]), object(), b"bytes", print, np.array(["a"]), slice(1), range(3), lambda *a: a)[rng.integers(8)]


def mostly(rng, good, share=0.5):
    """The good value, or another one."""
    return good if rng.random() < share else value(rng)


def pendulum():
    m = dal.Model("pendulum", gravity=(0, 0, -9.81))
    m.add_body("rod", 1.0, (0.1, 0.1, 0.01), com=(0, 0, -0.5))
    m.add_joint("hinge", "revolute", "world", "rod", axis=(0, 1, 0))
    return m


FROZEN = pendulum().frozen()
TOP = dal.Model("top")
TOP.add_body("rotor", 1.0, (1.0, 1.0, 2.0), com=(0, 0, 0.5))
TOP.add_joint("tip", "spherical", "world", "rotor")
RUN = dal.simulate(FROZEN, "midpoint", h=0.01, t_end=0.1, q0=[1.0])
