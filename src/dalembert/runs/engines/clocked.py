"""The compiled loop for steps that find their own length: the times of the nodes are in the state, not multiples of h."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from dalembert.arrays import Array
from dalembert.errors import UnsupportedError
from dalembert.kernels.status import NO_CONTINUATION
from dalembert.runs.controls import HELD
from dalembert.runs.engines import Chunk, Into
from dalembert.runs.engines.compiled import CompiledEngine

if TYPE_CHECKING:
    from dalembert.runs.plan import Plan


class ClockedEngine(CompiledEngine):
    """A run of a Lagrangian whose state holds its time, behind (q, y, w)."""

    def __init__(self, plan: Plan, control: Any = None):
        if control is not None and control is not HELD:
            raise UnsupportedError(
                f"stepper {plan.stepper.name!r} takes no control: it does work, and no length of a step keeps the energy."
            )
        super().__init__(plan, control)

    def start(self, q: Array, v: Array) -> None:
        """Begin at t0 from q and v."""
        super().start(q, v)
        self.state[3 * self.model.nv] = self.previous[3 * self.model.nv] = self.t0

    def words(self, status: int) -> str:
        """What there is to say of a step that failed."""
        if status != NO_CONTINUATION:
            return ""
        return (
            "Where the discrete energy does not change with the length of a step, there is no next one; stepper 'midpoint' goes on from "
            "the last node."
        )

    @property
    def time(self) -> float:
        """Time of the current node."""
        return float(self.state[3 * self.model.nv]) if self.state.size else 0.0

    def advance(self, n: int, every: int, stop: Callable[[], bool] = lambda: False, into: Into | None = None) -> Chunk:
        """Up to n steps."""
        chunk = super().advance(n, every, stop, into)
        return chunk._replace(t=chunk.states[:, 3 * self.model.nv].copy())


ENGINE = ClockedEngine
