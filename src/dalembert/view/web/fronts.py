"""What `traj.view()`, `sim.view()` and the commands call."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dalembert.errors import OptionError
from dalembert.view.web.page import HOST, PORT


def view_trajectories(given: Iterable[Any], port: int = PORT, host: str = HOST, beside: bool = False, block: bool = False) -> Any:
    """A `Replay` of trajectories, or of lists of them, the first solid, the others ghosts."""
    from dalembert.runs.trajectory import Trajectory
    from dalembert.view.web.replay import Replay

    runs: list[Any] = []
    for one in given:
        runs += list(one) if isinstance(one, (list, tuple)) else [one]
    for run in runs:
        if not isinstance(run, Trajectory):
            raise OptionError(f"view: {run!r} is no trajectory; expected what simulate, load, or solve().traj gives.")
    return _shown(Replay(runs, host, port, beside), block)


def view_simulation(
    sim: Any, port: int = PORT, host: str = HOST, speed: float = 1.0, play: bool = True, block: bool = False, title: str = ""
) -> Any:
    """A `Live` view of a simulation."""
    from dalembert.view.web.live import Live

    return _shown(Live(sim, host, port, speed, play, title), block)


def _shown(view: Any, block: bool) -> Any:
    if block:
        try:
            view.wait()
        finally:
            view.close()
    return view
