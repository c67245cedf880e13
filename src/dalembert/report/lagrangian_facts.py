"""What a report needs to know about a run of a Lagrangian; limits as in facts.py.

Omega, the fastest rate, is the largest of: the relative rate of change of z = C^T v with C C^T = M (so |z|^2 = v . M v), seen between nodes
and between a node and the interval before it; the largest |eigenvalue| of the derivative of (q, v) -> (v, a(q, v, t)) at some nodes, a
being the accelerations under forces and constraints. The second one knows vibrations, decay and what a singular potential does nearby.

Work and impulse are summed by the trapezoidal rule: balances are judged by order 2 at most.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dalembert.arrays import Array
from dalembert.lagrangian import Lagrangian
from dalembert.report.facts import Facts, size

NODES = 12  # at which the motion is linearised
DIFFERENCE = 1e-6  # relative
LEDGER_ORDER = 2


@dataclass(frozen=True)
class LagrangianFacts(Facts):
    """A run of a system given by a formula."""

    @property
    def model(self) -> Lagrangian:
        """The system without the features that the run ignored."""
        return self.traj._run_model  # type: ignore[no-any-return]

    @property
    def unknown(self) -> set[str]:  # type: ignore[override]
        """All forces are formulas: none is unknown."""
        return set()

    @property
    def driven(self) -> bool:
        """Constraints depend on time: they do work that nobody counts."""
        return "driven" in self.features

    @property
    def uncounted(self) -> bool:
        """Something may give energy to the system, and nobody counts how much."""
        return self.driven or (bool(set(self.acting) - {"damping"}) and not self.has_ledger)

    @property
    def one_sided(self) -> bool:
        """Impacts by the one-sided rule of `collision`."""
        return bool(self.traj.meta.get("options", {}).get("reflection") == "exact")

    @property
    def method_order(self) -> int:
        """1 for the one-sided rule."""
        return 1 if self.one_sided else super().method_order

    @property
    def reaches(self) -> Array:  # type: ignore[override]
        """A formula has no origin."""
        return np.zeros(len(self.traj))

    @property
    def weight(self) -> float:
        """Nor a weight."""
        return 0.0

    @cached_property
    def acting(self) -> tuple[str, ...]:
        """Forces outside the Lagrangian; a control that never did anything is none."""
        found = [name for name in ("force", "damping") if name in self.features]
        silent = self.has_ledger and not self.traj.work.any() and not self.traj.impulse.any()
        return (*found, *(("control",) if self.controlled and not (silent and not found) else ()))

    @property
    def conservative(self) -> bool:
        """Nothing works but what has a potential."""
        return not self.acting and not self.driven

    @property
    def balance_order(self) -> int:
        """At most that of the ledger."""
        return min(self.order, LEDGER_ORDER)

    def balance_limit(self, promised: bool) -> float:
        """(h Omega)^p with p at most 2; it adds up over the run for methods that promise nothing."""
        duration = float(self.traj.t[-1] - self.traj.t[0])
        growth = 1.0 if promised else 1.0 + self.rate * duration
        return min(float((self.traj.h * self.rate) ** self.balance_order) * growth, 0.2) + self.exact_limit

    # scales ------------------------------------------------------------------------------------------------------------------------

    @cached_property
    def motion(self) -> tuple[Array, Array]:
        """z at the nodes, and at the ends of the intervals with their velocities."""
        factor = _factors(np.atleast_3d(self.model.mass_matrix(self.traj.q, self.traj.v)))
        return _apply(factor, self.traj.v), _apply(factor[1:], self.traj.v_interval)

    @property
    def turns(self) -> float:
        """Length of the path of z over 2 pi max |z|: a circle counts as one."""
        z = self.motion[0]
        scale = size(z)
        length = float(np.sum(np.linalg.norm(np.diff(z, axis=0), axis=1)))
        return length / (2.0 * np.pi * scale) if scale > 0.0 else 0.0

    @cached_property
    def own_rate(self) -> float:
        """Fastest rate of the linearised motion, over regular nodes along the run and the fastest one."""
        there = np.flatnonzero(self.regular)
        if not len(there):
            return 0.0
        fastest = there[np.argmax(self.traj.kinetic[there])]
        nodes = np.unique([*there[np.linspace(0, len(there) - 1, NODES).astype(int)], fastest])
        found = [self._rate_at(self.traj.q[k], self.traj.v[k], float(self.traj.t[k])) for k in nodes]
        return max(found, default=0.0)

    def _rate_at(self, q: Array, v: Array, t: float) -> float:
        n = self.model.n
        y = np.concatenate([q, v])
        steps = DIFFERENCE * np.repeat([max(1.0, float(np.abs(q).max())), max(1.0, float(np.abs(v).max()))], n)
        nodes = y + np.concatenate([np.diag(steps), -np.diag(steps)])
        a = self.model.accelerations(nodes[:, :n], nodes[:, n:], t)
        slopes = (a[: 2 * n] - a[2 * n :]).T / (2.0 * steps)
        A = np.block([[np.zeros((n, n)), np.eye(n)], [slopes]])
        return float(np.abs(np.linalg.eigvals(A)).max()) if np.isfinite(A).all() else 0.0

    def order_error(self, growth: float = 0.0) -> float:
        """As for bodies, twice that for methods of order 1."""
        return (2.0 if self.order == 1 else 1.0) * super().order_error(growth)


def _factors(M: Array) -> Array:
    """C^T with C C^T = M of each row; where a mass matrix is not positive definite, the square roots of its diagonal."""
    try:
        return np.swapaxes(np.linalg.cholesky(M), -1, -2)
    except np.linalg.LinAlgError:
        diagonal = np.sqrt(np.abs(np.diagonal(M, axis1=-2, axis2=-1)))
        return diagonal[..., None] * np.eye(M.shape[-1])


def _apply(factor: Array, v: Array) -> Array:
    return np.asarray(np.einsum("kij,kj->ki", factor, v))
