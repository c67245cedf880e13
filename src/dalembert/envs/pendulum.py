"""The pendulum that is to be swung up and held there by a weak motor: a first environment.

reward = -(theta^2 + 0.1 omega^2 + 0.001 a^2),     theta: angle from the upright position, in [-pi, pi], a: the action
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np

from dalembert.envs.machine import MachineEnv
from dalembert.model import Model
from dalembert.runs.simulation import State

NAME = "dalembert/Pendulum-v0"


def pendulum() -> Model:
    """A rod of 1 kg and 1 m that hangs from a hinge at q = 0."""
    m = Model("pendulum")
    m.add_body("rod", 1.0, (1 / 12, 1 / 12, 1e-4), com=(0, 0, -0.5))
    m.add_joint("hinge", "revolute", "world", "rod", axis=(0, 1, 0))
    return m


class PendulumEnv(MachineEnv):
    """Observation: (cos theta, sin theta, omega), 1 upright. The motor gives 2 N m, weight up to 4.9 N m."""

    def __init__(self, render_mode: str | None = None):
        super().__init__(pendulum(), _reward, 2.0, h=0.005, steps=10, start=_start, observe=_seen, render_mode=render_mode)


def _upright(q: Any) -> float:
    return float((q[0] + 2.0 * np.pi) % (2.0 * np.pi) - np.pi)


def _seen(state: State) -> Any:
    angle = _upright(state.q)
    return np.array([np.cos(angle), np.sin(angle), state.v[0]])


def _reward(state: State, action: Any) -> float:
    return float(-(_upright(state.q) ** 2 + 0.1 * state.v[0] ** 2 + 0.001 * float(np.sum(np.square(action)))))


def _start(rng: np.random.Generator) -> tuple[Any, Any]:
    return rng.uniform(-np.pi, np.pi, 1), rng.uniform(-1.0, 1.0, 1)


def register() -> None:
    """Let `gymnasium.make` know it."""
    if NAME not in gymnasium.registry:
        gymnasium.register(NAME, entry_point="dalembert.envs.pendulum:PendulumEnv", max_episode_steps=200)
