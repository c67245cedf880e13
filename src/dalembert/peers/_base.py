"""What a peer is, and how its nodes become a `Trajectory`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import UnsupportedError
from dalembert.families import find_family
from dalembert.model import Model
from dalembert.model.forces import features, kinds
from dalembert.registry import Stepper
from dalembert.runs.trajectory import Trajectory


class Outcome(NamedTuple):
    """A run and the CPU seconds that its steps took."""

    traj: Trajectory
    seconds: float


@dataclass(frozen=True)
class Peer:
    """A method of another program. run(peer, model, q0, v0, h, n, rtol, every, ignore, progress) -> Outcome.

    handles: features of a model ("damping" being that of joints) and kinds of forces ("forces": all but functions).
    setting: what the other program calls the method.
    systems: kinds that it runs.
    """

    name: str
    summary: str
    order: int
    handles: tuple[str, ...]
    references: tuple[str, ...]
    setting: str
    run: Callable[..., Outcome] = field(repr=False)
    adaptive: bool = False
    systems: tuple[str, ...] = ("model",)

    def check(self, model: Any, ignore: tuple[str, ...] = ()) -> None:
        """UnsupportedError that names what this peer does not run."""
        if model.kind not in self.systems:
            raise UnsupportedError(f"peer {self.name!r} runs machines made of bodies, not a system given by a formula: {model!r}.")
        missing, forces = unhandled(model, self, ignore)
        if not missing and not forces:
            return
        names = missing | {kinds()[kind].feature for kind in forces}
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
        stepper = Stepper(self.name, self.summary, find_family(model).name, self.order, references=self.references, python=True)
        meta = {"options": options, "ignore": list(ignore), "t_end": n * h, "status": status, "every": every}
        return Trajectory.of_nodes(model, h * every * np.arange(kept, dtype=float), q, v, meta={"h": h, **meta}, stepper=stepper)


@singledispatch
def unhandled(system: Any, peer: Peer, ignore: tuple[str, ...]) -> tuple[set[str], set[str]]:
    """(features, kinds of forces) that a peer does not run. Of a formula: none, it is evaluated as it is."""
    return set(), set()


@unhandled.register
def _(system: Model, peer: Peer, ignore: tuple[str, ...]) -> tuple[set[str], set[str]]:
    left = system.without(ignore)
    missing, acting = find_family(left).features(left) - set(peer.handles), {f.kind for f in left.forces} - set(peer.handles)
    return (missing - features(), acting - (kinds().keys() - {"function"})) if "forces" in peer.handles else (missing, acting)
