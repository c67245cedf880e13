"""What a peer is, and how its nodes become a `Trajectory`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from dalembert.errors import UnsupportedError
from dalembert.families import find_family
from dalembert.kernels.loop import LOG_COLUMNS
from dalembert.lagrangian import Lagrangian
from dalembert.model.rotation import Array
from dalembert.registry import Stepper
from dalembert.running import run_description
from dalembert.trajectory import Trajectory


class Outcome(NamedTuple):
    """A run and the CPU seconds that its steps took."""

    traj: Trajectory
    seconds: float


@dataclass(frozen=True)
class Peer:
    """A method of another program. run(peer, model, q0, v0, h, n, rtol, every, ignore, progress) -> Outcome.

    handles: features of a model ("damping" being that of joints) and kinds of forces. setting: what the other program calls the method.
    formulas: it also runs systems given by a Lagrangian, whatever they have.
    """

    name: str
    summary: str
    order: int
    handles: tuple[str, ...]
    references: tuple[str, ...]
    setting: str
    run: Callable[..., Outcome] = field(repr=False)
    adaptive: bool = False
    formulas: bool = False

    def check(self, model: Any, ignore: tuple[str, ...] = ()) -> None:
        """UnsupportedError that names what this peer does not run."""
        if isinstance(model, Lagrangian):
            if not self.formulas:
                raise UnsupportedError(f"peer {self.name!r} runs machines made of bodies, not a system given by a formula: {model!r}.")
            return
        left = model.without(ignore)
        missing = find_family(left).features(left) - set(self.handles)
        forces = {f.kind for f in left.forces} - set(self.handles)
        if not missing and not forces:
            return
        names = missing | {{"damper": "damping"}.get(kind, kind) for kind in forces}
        whole = model.check_features((*ignore, *sorted(names)))
        raise UnsupportedError(
            f"peer {self.name!r} does not run {', '.join(sorted(missing | forces))} of model {model.name!r}; "
            f"ignore={whole!r} runs without.",
            whole,
        )

    def trajectory(
        self,
        model: Any,
        h: float,
        q: Array,
        v: Array,
        n: int,
        options: dict[str, Any],
        every: int = 1,
        ignore: tuple[str, ...] = (),
        done: int | None = None,
    ) -> Trajectory:
        """A Trajectory of q and v at the nodes; fewer than n / every + 1: the run failed. done: its steps, if they are known."""
        finite = np.isfinite(q).all(axis=1) & np.isfinite(v).all(axis=1)
        kept = len(q) if finite.all() else int(np.argmin(finite))
        q, v = q[:kept], v[:kept]
        last = (kept - 1) * every if done is None else done
        status = "ok" if kept == n // every + 1 else f"step {last} at t = {last * h:.6g} s ({self.name}): the state is not finite."
        family = find_family(model)
        stepper = Stepper(self.name, self.summary, family.name, self.order, references=self.references, python=True)
        meta = run_description(stepper, None, family, h, options, ignore, None)
        meta.update(t_end=n * h, status=status, every=every)
        nan = np.full(kept, np.nan)
        unpacked = {"q": q, "v": v, "v_interval": v, "work": nan, "impulse": np.tile(nan[:, None], (1, 6))}
        states, log = np.concatenate([q, v], axis=1), np.zeros((kept, len(LOG_COLUMNS)))
        return Trajectory(model, stepper, meta, h * every * np.arange(kept, dtype=float), states, log, unpacked)
