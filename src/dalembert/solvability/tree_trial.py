"""An experiment, not a proof: the smallest step at which plain Newton fails at one state."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dalembert.solvability.tree_state import State
from dalembert.solvability.tree_step import Array, newton, start_momentum

BATCH, DECADES = 8, 4.0


def first_failure(state: State, low: float, samples: int, rng: np.random.Generator, first: bool) -> float:
    """One random step in each of `samples` equal parts of log h from `low` on, upwards to the first failure, then refined; inf if none.

    Newton as in `tree_step.newton`: 50 iterations, corrections below 1e-11. first: from the first node, else from the interval before.
    """
    if math.isinf(low) or samples == 0:
        return math.inf
    low = low if low > 0.0 else 1e-6
    h = low * 10.0 ** (DECADES * (np.arange(samples) + rng.uniform(size=samples)) / samples)
    for begin in range(0, samples, BATCH):
        bad = ~solves(state, h[begin : begin + BATCH], first)
        if np.any(bad):
            at = begin + int(np.argmax(bad))
            return _refine(state, float(h[at - 1]) if at else low, float(h[at]), first)
    return math.inf


def _refine(state: State, good: float, bad: float, first: bool) -> float:
    """Smallest failure seen between a step that was solved and one that was not, to a fifth of their distance."""
    h = np.linspace(good, bad, 6)[1:-1]
    fails = ~solves(state, h, first)
    return float(h[int(np.argmax(fails))]) if np.any(fails) else bad


def solves(state: State, h: Array, first: bool) -> NDArray[np.bool_]:
    """Does plain Newton solve the steps h (B,)?"""
    p = start_momentum(state.tree, h, state.q, state.here, state.v, state.control, first)
    with np.errstate(over="ignore", invalid="ignore"):
        return newton(state.tree, h, state.q, state.here, p, state.v, state.control)[1]
