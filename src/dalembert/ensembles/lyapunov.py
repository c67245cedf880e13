"""Lyapunov exponents of a run, 1/s: how fast neighbours separate.

    W_k+1 = A_k W_k = Q R,   W_k+1 <- Q,   exponents = sum log |diag R| / T

A_k = d(q, v)_k+1/d(q, v)_k: the product of the exact derivatives of the steps between two nodes that are recorded (`dal.derivatives`), or,
where a stepper has none, differences of disturbed steps,

    A_k w = (x(t_k+1; x_k + e w) - x_k+1)/e

x(t; y): the steps from y by the same stepper; x_k + e w is taken on the group: q along the tangent of length e |w_q|, v by adding. The
first tenth of the run lets W turn into the directions that grow most, and is not counted.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dalembert.ensembles.batch import Batch
from dalembert.ensembles.observers import Observer
from dalembert.ensembles.rows import REFUSED
from dalembert.errors import OptionError, SimulationError, UnknownNameError, UnsupportedError
from dalembert.kernels.status import OK
from dalembert.runs.checks import whole
from dalembert.runs.plan import Plan
from dalembert.runs.trajectory import Trajectory

SKIPPED = 0.1  # of the run
WAYS = ("auto", "derivatives", "differences")
Push = Callable[[int, np.ndarray], np.ndarray]


class Lyapunov(Observer):
    """Column lyapunov, 1/s: the largest exponent, or the `count` largest ones. NaN for a run with a control, and where a step fails.

    by: "derivatives" are exact, some 0.2 to 1 ms for each step; "differences" take some 0.02 ms for each node and exponent, with a
    disturbance of `size` (rad, m and their rates), to which they are exact; "auto": derivatives where the stepper has them.
    """

    def __init__(self, size: float = 1e-6, seed: int = 0, by: str = "auto", count: int = 1):
        if isinstance(size, bool) or not isinstance(size, (int, float)) or not 1e-9 <= size <= 1e-3:
            raise OptionError(f"Lyapunov: size is {size!r}; expected a disturbance between 1e-9 and 1e-3.")
        if by not in WAYS:
            raise UnknownNameError("Lyapunov: by", by, WAYS)
        self.size, self.seed, self.by, self.count = float(size), seed, by, whole("Lyapunov: count", count, 1)

    def __call__(self, batch: Batch) -> dict[str, np.ndarray]:
        out = np.full((len(batch.index), self.count), np.nan)
        for b in np.flatnonzero(batch.code != REFUSED).tolist():
            out[b] = exponents(batch.trajectory(b), self.count, self.by, self.size, self.seed, batch.plan(b))
        return {"lyapunov": out[:, 0] if self.count == 1 else out}


def exponents(
    traj: Trajectory, count: int = 1, by: str = "auto", size: float = 1e-6, seed: int = 0, plan: Plan | None = None
) -> np.ndarray:
    """The largest ones of one run without a control; NaN where there are fewer than 10 nodes, or a step fails. plan: where it is known."""
    nowhere, system = np.full(count, np.nan), traj.model
    if count > 2 * system.nv:
        raise OptionError(f"Lyapunov: count is {count}; {system!r} has {2 * system.nv} exponents.")
    if len(traj.t) < 10 or traj.meta.get("control") is not None:
        return nowhere
    plan = Plan.from_meta(system, traj.stepper, traj.meta) if plan is None else plan
    W = np.linalg.qr(np.random.default_rng(seed).normal(size=(2 * system.nv, count)))[0]
    total, first = np.zeros(count), int(SKIPPED * (len(traj.t) - 1))
    ways = _ways(plan, traj, by, size)
    for k in range(len(traj.t) - 1):
        grown = _pushed(ways, k, W)
        if grown is None or not np.isfinite(grown).all():
            return nowhere
        W, R = np.linalg.qr(grown)
        if not (np.diag(R) != 0.0).all():
            return nowhere
        total += np.log(np.abs(np.diag(R))) if k >= first else 0.0
    return total / float(traj.t[-1] - traj.t[first])


def _ways(plan: Plan, traj: Trajectory, by: str, size: float) -> list[Push]:
    """What carries W from node to node; the second where the first cannot."""
    differences = _by_differences(plan, traj, size)
    if by == "differences":
        return [differences]
    try:
        exact = _by_derivatives(plan, traj)
    except UnsupportedError:
        if by == "derivatives":
            raise
        return [differences]
    return [exact] if by == "derivatives" else [exact, differences]


def _pushed(ways: list[Push], k: int, W: np.ndarray) -> np.ndarray | None:
    """W at the next node; None where no way leads there: a step that is taken in parts has no derivative."""
    for push in list(ways):
        try:
            return push(k, W)
        except UnsupportedError:
            if k == 0 and len(ways) > 1:
                ways.remove(push)  # nor will later ones have
        except SimulationError:
            continue
    return None


def _by_derivatives(plan: Plan, traj: Trajectory) -> Push:
    from dalembert.sensitivity.call import composed, way_of  # formulas, and what makes them: only who asks waits for these
    from dalembert.sensitivity.step import Start

    way, n, rest = way_of(plan), int(traj.meta["every"]), np.zeros(traj.v.shape[1])

    def push(k: int, W: np.ndarray) -> np.ndarray:
        q, v = traj.q[k], traj.v[k]
        for j in range(n):
            step = composed(plan, way, Start(q, v, rest, float(traj.t[k]) + j * plan.h), ())
            if k == j == 0 and step.tangent.shape[1] < len(W):
                W = step.tangent @ (step.tangent.T @ W)  # of changes that keep closed loops
            W, q, v = step.A @ W, step.q_next, step.v_next
        return W

    return push


def _by_differences(plan: Plan, traj: Trajectory, size: float) -> Push:
    engine, n, system = plan.engine(), int(traj.meta["every"]), traj.model

    def push(k: int, W: np.ndarray) -> np.ndarray:
        out = np.empty_like(W)
        for j, w in enumerate(W.T):
            q = system.integrate(traj.q[k], size * w[: system.nv])
            engine.start(np.asarray(q, dtype=float), traj.v[k] + size * w[system.nv :])
            if engine.advance(n, n).status != OK:
                raise SimulationError("Lyapunov: a disturbed step failed.")
            q, v = engine.node()
            out[:, j] = np.concatenate([np.asarray(system.difference(traj.q[k + 1], q)), v - traj.v[k + 1]]) / size
        return out

    return push


def exponent(traj: Trajectory, size: float = 1e-6, seed: int = 0, by: str = "auto") -> float:
    """The largest one of one run."""
    return float(exponents(traj, 1, by, size, seed)[0])
