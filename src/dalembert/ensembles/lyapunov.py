"""The largest Lyapunov exponent of a run, 1/s: how fast neighbours separate.

    w_k+1 = (x(t_k+1; x_k + e w_k) - x_k+1)/e,   exponent = sum log |w_k+1|/|w_k| / T,      w scaled to |w| = 1 at each node

x(t; y): the steps from y between two nodes that are recorded, by the same stepper. x_k + e w is taken on the group: q along the tangent of
length e |w_q|, v by adding. The first tenth of the run lets w turn into the direction that grows most, and is not counted.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.ensembles.batch import Batch
from dalembert.ensembles.observers import Observer
from dalembert.ensembles.rows import REFUSED
from dalembert.errors import OptionError
from dalembert.kernels.status import OK
from dalembert.runs.trajectory import Trajectory

SKIPPED = 0.1  # of the run


class Lyapunov(Observer):
    """Column lyapunov, 1/s. size: e of the disturbance, 1e-6 of rad, m and their rates: differences are then exact to about 1e-6."""

    def __init__(self, size: float = 1e-6, seed: int = 0):
        if not 1e-9 <= size <= 1e-3:
            raise OptionError(f"Lyapunov: size is {size!r}; expected a disturbance between 1e-9 and 1e-3.")
        self.size, self.seed = float(size), seed

    def __call__(self, batch: Batch) -> dict[str, np.ndarray]:
        out = np.full(len(batch.index), np.nan)
        for b in np.flatnonzero(batch.code != REFUSED):
            out[b] = exponent(batch.trajectory(int(b)), self.size, self.seed)
        return {"lyapunov": out}


def exponent(traj: Trajectory, size: float = 1e-6, seed: int = 0) -> float:
    """Of one run, without a control; NaN where there are fewer than 10 nodes, or a disturbed step fails."""
    from dalembert.runs.plan import Plan

    if len(traj.t) < 10 or traj.meta.get("control") is not None:
        return float("nan")
    system: Any = traj.model
    plan = Plan.from_meta(system, traj.stepper, traj.meta)
    engine, n = plan.engine(), int(traj.meta["every"])
    w = np.random.default_rng(seed).normal(size=2 * system.nv)
    w /= np.linalg.norm(w)
    total, first = 0.0, int(SKIPPED * (len(traj.t) - 1))
    for k in range(len(traj.t) - 1):
        q = system.integrate(traj.q[k], size * w[: system.nv])
        engine.start(np.asarray(q, dtype=float), traj.v[k] + size * w[system.nv :])
        if engine.advance(n, n).status != OK:
            return float("nan")
        q, v = engine.node()
        w = np.concatenate([np.asarray(system.difference(traj.q[k + 1], q)), v - traj.v[k + 1]]) / size
        grown = float(np.linalg.norm(w))
        if not 0.0 < grown < np.inf:
            return float("nan")
        total += np.log(grown) if k >= first else 0.0
        w /= grown
    return total / float(traj.t[-1] - traj.t[first])
