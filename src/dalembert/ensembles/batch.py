"""Nodes of several runs of one structure, as arrays: sample first, then node. Observers look at these.

t (nodes,), q (samples, nodes, nq), v (samples, nodes, nv), energy (samples, nodes) J: NaN behind the node where a run failed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from dalembert.kernels.status import MEANING, OK
from dalembert.runs.plan import Plan
from dalembert.runs.trajectory import Trajectory, since_first


class Batch(ABC):
    """What observers are given: arrays of all samples, and each run as a trajectory."""

    t: np.ndarray
    index: np.ndarray
    code: np.ndarray

    @abstractmethod
    def trajectory(self, b: int) -> Trajectory:
        """The run of sample b of the batch."""

    def _runs(self) -> list[Trajectory]:
        return [self.trajectory(b) for b in range(len(self.index))]

    @cached_property
    def q(self) -> np.ndarray:
        """Configurations."""
        return self._filled([run.q for run in self._runs()])

    @cached_property
    def v(self) -> np.ndarray:
        """Velocities."""
        return self._filled([run.v for run in self._runs()])

    @cached_property
    def energy(self) -> np.ndarray:
        """Energies, J."""
        return self._filled([run.energy for run in self._runs()])

    def _filled(self, parts: Sequence[np.ndarray]) -> np.ndarray:
        """Of runs that may have ended early: NaN where nodes are missing."""
        out = np.full((len(parts), len(self.t), *parts[0].shape[1:]), np.nan) if parts else np.zeros((0, len(self.t)))
        for row, part in zip(out, parts, strict=True):
            row[: len(part)] = part
        return out


class TrajectoryBatch(Batch):
    """Runs that were made one by one."""

    def __init__(self, index: np.ndarray, runs: list[Trajectory], code: np.ndarray):
        self.index, self.runs, self.code = index, runs, code
        self.t = max((run.t for run in runs), key=len, default=np.zeros(0))

    def trajectory(self, b: int) -> Trajectory:
        return self.runs[b]


class CompiledBatch(Batch):
    """States that the loop over samples wrote. plans: of each sample, or one that all share."""

    def __init__(self, plans: list[Plan], ended: tuple[np.ndarray, ...], n: int, every: int, rows: tuple[np.ndarray, ...], held: bool):
        """ended: index, code and steps of each sample. rows: states (samples, nodes, size), with the start, and the log."""
        self.index, self.code, self.steps = ended
        self.states, self.log = rows
        self.plans, self.every, self.held = plans, every, held
        self.n, self.nodes = n, self.steps // every + 1  # whole nodes of each run
        self.t = np.arange(n // every + 1) * every * plans[0].h

    def plan(self, b: int) -> Plan:
        """Of sample b."""
        return self.plans[b if len(self.plans) > 1 else 0]

    def trajectory(self, b: int) -> Trajectory:
        plan, k = self.plan(b), int(self.nodes[b])
        states = np.ascontiguousarray(self.states[b, :k])
        status = "ok" if self.code[b] == OK else MEANING.get(int(self.code[b]), "failed")
        meta = {**plan.meta(), "t_end": self.n * plan.h, "every": self.every, "status": status}
        log = np.concatenate([np.zeros((1, self.log.shape[2])), self.log[b, : k - 1]])
        return Trajectory(plan.system, plan.stepper, meta, self.t[:k], states, log, since_first(plan.read(states, self.held)))

    @cached_property
    def _nodal(self) -> tuple[np.ndarray, np.ndarray]:
        """q and v of all nodes: at once where all samples share one machine."""
        if len(self.plans) > 1:
            found = [self.plan(b).read(np.ascontiguousarray(self.states[b, : self.nodes[b]]), self.held) for b in range(len(self.index))]
            return self._filled([f["q"] for f in found]), self._filled([f["v"] for f in found])
        samples, nodes, size = self.states.shape
        read = self.plans[0].read(np.ascontiguousarray(self.states.reshape(-1, size)), self.held)
        missing = np.arange(nodes)[None, :] >= self.nodes[:, None]
        out = []
        for name in ("q", "v"):
            rows = np.array(read[name]).reshape(samples, nodes, -1)
            rows[missing] = np.nan
            out.append(rows)
        return out[0], out[1]

    @cached_property
    def q(self) -> np.ndarray:
        return self._nodal[0]

    @cached_property
    def v(self) -> np.ndarray:
        return self._nodal[1]

    @cached_property
    def energy(self) -> np.ndarray:
        samples, nodes = self.q.shape[:2]
        if len(self.plans) > 1:
            each = [self.plan(b).acting for b in range(samples)]
            return np.array([m.kinetic_energy(q, v) + m.potential_energy(q) for m, q, v in zip(each, self.q, self.v, strict=True)])
        m, there = self.plans[0].acting, np.isfinite(self.q[:, :, 0])
        out = np.full((samples, nodes), np.nan)
        q, v = self.q[there], self.v[there]
        out[there] = m.kinetic_energy(q, v) + m.potential_energy(q)
        return out
