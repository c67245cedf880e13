"""Nodes of several runs of one structure, as arrays: sample first, then node. Observers look at these.

t (nodes,), q (samples, nodes, nq), v (samples, nodes, nv), energy (samples, nodes) J: NaN behind the node where a run failed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from dalembert.kernels._jit import NODAL, address_of, first_class
from dalembert.kernels.many import NODES_OF_MANY, nodes_of_many
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

    def plan(self, b: int) -> Plan | None:
        """What was decided for the run of sample b, where it is known."""
        return None

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
    """States that the loop over samples wrote. plans, systems: of each sample, or one that all share."""

    def __init__(
        self, plans: Any, systems: np.ndarray, ended: tuple[np.ndarray, ...], n: int, every: int, rows: tuple[np.ndarray, ...], held: bool
    ):
        """ended: index, code and steps of each sample. rows: states (samples, nodes, size), with the start, and the log."""
        self.index, self.code, self.steps = ended
        self.states, self.log = rows
        self.plans, self.systems, self.every, self.held = plans, systems, every, held
        self.n, self.nodes = n, self.steps // every + 1  # whole nodes of each run
        self.t = np.arange(n // every + 1) * every * plans[0].h

    def plan(self, b: int) -> Plan:
        """Of sample b."""
        found: Plan = self.plans[b if len(self.plans) > 1 else 0]
        return found

    def trajectory(self, b: int) -> Trajectory:
        plan, k = self.plan(b), int(self.nodes[b])
        states = np.ascontiguousarray(self.states[b, :k])
        status = "ok" if self.code[b] == OK else MEANING.get(int(self.code[b]), "failed")
        meta = {**plan.meta(), "t_end": self.n * plan.h, "every": self.every, "status": status}
        log = np.concatenate([np.zeros((1, self.log.shape[2])), self.log[b, : k - 1]])
        return Trajectory(plan.system, plan.stepper, meta, self.t[:k], states, log, since_first(plan.read(states, self.held)))

    def nodal(self, states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """q and v (samples, nodes, ...) of states (samples, nodes, size)."""
        samples, nodes, size = states.shape
        family, model = self.plans[0].family, self.plans[0].acting
        flat, work = np.ascontiguousarray(states.reshape(-1, size)), np.zeros(family.work_size(self.systems[0]))
        q, v = np.empty((len(flat), model.nq)), np.empty((len(flat), model.nv))
        if len(flat):
            first_class(nodes_of_many, NODES_OF_MANY)(address_of(family.nodal, NODAL), np.ascontiguousarray(self.systems), flat, work, q, v)
        return q.reshape(samples, nodes, -1), v.reshape(samples, nodes, -1)

    @cached_property
    def _nodal(self) -> tuple[np.ndarray, np.ndarray]:
        """q and v of all nodes, at once; NaN behind the one where a run failed."""
        q, v = self.nodal(self.states)
        missing = np.arange(self.states.shape[1])[None, :] >= self.nodes[:, None]
        q[missing], v[missing] = np.nan, np.nan
        return q, v

    @cached_property
    def q(self) -> np.ndarray:
        return self._nodal[0]

    @cached_property
    def v(self) -> np.ndarray:
        return self._nodal[1]

    @cached_property
    def energy(self) -> np.ndarray:
        samples, there = len(self.index), np.isfinite(self.q[:, :, 0])
        out = np.full(there.shape, np.nan)
        if len(self.systems) == 1:
            out[there] = _energy(self.plans[0].acting, self.q[there], self.v[there])
            return out
        found = self._energies()
        if found is None:
            found = np.array([_energy(self.plan(b).acting, self.q[b], self.v[b]) for b in range(samples)])
        return np.where(there, found, np.nan)

    def _energies(self) -> np.ndarray | None:
        """By the arrays of the samples, where the family can."""
        plan, names = self.plans[0], getattr(self.plans, "columns", None)
        if plan.family.energies is None or names is None:
            return None
        return plan.family.energies(plan.acting, self.systems, self.q, self.v, tuple(names))


def _energy(model: Any, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    found: np.ndarray = model.kinetic_energy(q, v) + model.potential_energy(q)
    return found
