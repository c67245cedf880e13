"""A machine as an environment of Gymnasium.

Every action is held over `steps` steps of size h. The steps are those of `dal.simulate`, so what is learned is learned on a machine whose
energy does not drift; an episode is the same, bit for bit, for the same seed and the same actions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dalembert.errors import DalembertError, OptionError, SimulationError
from dalembert.runs import checks
from dalembert.runs.simulation import Simulation, State
from dalembert.systems import System

try:
    import gymnasium
    from gymnasium import spaces
except ImportError:  # an extra of the package
    raise DalembertError("dalembert.envs needs gymnasium, which is not installed: pip install 'dalembert[learning]'.") from None


class MachineEnv(gymnasium.Env):  # type: ignore[misc]
    """A `Model` or a `Lagrangian` that is pushed by generalised forces.

    reward(state, action) -> number; state: (t, q, v) after the action.
    force: largest generalised force, a number or one per entry of v; 0 for an entry that is not driven. Actions are in [-1, 1] for each
    driven entry, times force.
    start(rng) -> (q, v): where an episode begins; default: the reference configuration at rest.
    observe(state) -> array: default (q, v). ended(state) -> True where an episode is over; it is cut off after `seconds`.
    h, steps: step size, and steps for each action. stepper, ignore, options: as in `dal.simulate`.
    render_mode "rgb_array": `render()` gives an image of the machine.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 50}  # noqa: RUF012

    def __init__(
        self,
        m: System,
        reward: Callable[[State, Any], float],
        force: Any,
        h: float = 0.002,
        steps: int = 10,
        seconds: float = 10.0,
        start: Callable[[np.random.Generator], tuple[Any, Any]] | None = None,
        observe: Callable[[State], Any] | None = None,
        ended: Callable[[State], bool] | None = None,
        stepper: str | None = None,
        ignore: Any = (),
        render_mode: str | None = None,
        size: tuple[int, int] = (480, 480),
        **options: Any,
    ):
        if render_mode not in (None, "rgb_array"):
            raise OptionError(f"render_mode is {render_mode!r}; expected None or 'rgb_array'.")
        self.simulation = Simulation(m, stepper, h, ignore=ignore, keep=0, **options)
        self.reward, self.start, self.ended = reward, start, ended
        self.steps, self.seconds = checks.whole("steps", steps, 1), checks.seconds("seconds", seconds)
        self._observe = observe if observe is not None else _everything
        self._force = _forces(force, len(self.simulation.state.v))
        self._driven = np.flatnonzero(self._force)
        self._tau = np.zeros(len(self._force))
        self.render_mode, self.size = render_mode, size
        seen = np.asarray(self._observe(self.simulation.state), dtype=np.float64)
        self.observation_space = spaces.Box(-np.inf, np.inf, seen.shape, np.float64)
        self.action_space = spaces.Box(-1.0, 1.0, (len(self._driven),), np.float64)

    @property
    def state(self) -> State:
        """(t, q, v) of the machine."""
        return self.simulation.state

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode; options {"q": ..., "v": ...} name its start."""
        super().reset(seed=seed)
        q, v = (None, None) if self.start is None else self.start(self.np_random)
        given = options or {}
        self.simulation.reset(given.get("q", q), given.get("v", v))
        return self._seen(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Hold an action over `steps` steps. An episode whose step cannot be solved ends, with the words in info["error"]."""
        pushed = np.clip(self._checked(action), -1.0, 1.0)
        self._tau[self._driven] = pushed * self._force[self._driven]
        info: dict[str, Any] = {}
        try:
            self.simulation.step(self.steps, tau=self._tau)
        except SimulationError as problem:
            info["error"] = str(problem)
        state = self.simulation.state
        over = bool(info) or (self.ended is not None and bool(self.ended(state)))
        return self._seen(), float(self.reward(state, pushed)), over, state.t >= self.seconds - 1e-9, info

    def _checked(self, action: Any) -> Any:
        try:
            found = np.asarray(action, dtype=np.float64)
        except (TypeError, ValueError):
            found = np.full(0, np.nan)
        if found.ndim == 0 and len(self._driven) == 1:
            found = found.reshape(1)
        if found.shape != self._driven.shape or np.isnan(found).any():
            raise OptionError(
                f"step: action is {action!r}; expected {len(self._driven)} numbers in [-1, 1], one for each driven entry of v."
            )
        return found

    def _seen(self) -> Any:
        return np.asarray(self._observe(self.simulation.state), dtype=np.float64)

    def render(self) -> Any:
        """An image (height, width, 3) of the machine, where render_mode is "rgb_array"."""
        if self.render_mode is None:
            return None
        from dalembert.view.animate import picture_of

        return picture_of(self.simulation.model, self.simulation.state.q, self.size)


def _everything(state: State) -> Any:
    return np.concatenate([state.q, state.v])


def _forces(force: Any, nv: int) -> Any:
    try:
        found = np.broadcast_to(np.asarray(force, dtype=float), (nv,)).copy()
    except (TypeError, ValueError):
        found = np.full(nv, np.nan)
    if not (np.isfinite(found).all() and (found >= 0.0).all() and found.any()):
        raise OptionError(f"force is {force!r}; expected a largest generalised force, one number or {nv}, 0 for what is not driven.")
    return found
