"""One step of the simulator from a given state, and what of it the derivatives need."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import SimulationError, UnsupportedError
from dalembert.kernels.loop import SUBSTEPS
from dalembert.kernels.status import MEANING, OK
from dalembert.runs.controls import HELD


class Start(NamedTuple):
    """Where a step starts, and under which force: checked."""

    q: Array
    v: Array
    tau: Array
    t: float


class Step(NamedTuple):
    """The next node, and the engine that found it."""

    q: Array
    v: Array
    engine: Any


def take(plan: Any, at: Start) -> Step:
    """One step. SimulationError where it fails, UnsupportedError where the simulator took it in parts."""
    engine = plan.engine(HELD)
    engine.t0 = at.t
    engine.restart(plan.family.start(engine.system, at.q, at.v), 0)
    engine.hold(at.tau)
    chunk = engine.advance(1, 1)
    if chunk.error is not None:
        raise chunk.error
    if chunk.status != OK:
        raise SimulationError(f"derivatives: {plan.stepper.name} from here with h = {plan.h:.6g} s: {MEANING[chunk.status]}.", h=plan.h)
    if chunk.log[-1, SUBSTEPS]:
        raise UnsupportedError(
            f"derivatives: the simulator takes this step of h = {plan.h:.6g} s in {int(chunk.log[-1, SUBSTEPS])} parts, as it does not "
            "converge to a motion that continues; a smaller h has derivatives."
        )
    q, v = engine.node()
    return Step(np.array(q), np.array(v), engine)
