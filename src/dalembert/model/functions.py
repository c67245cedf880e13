"""Dynamics functions of `Model`; the kernels behind them are imported when they are first used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dalembert.model.rotation import Array

if TYPE_CHECKING:
    from dalembert.model.dynamics import TreeDynamics


class Dynamics:
    """Dynamics functions of `Model`. The compiled arrays are kept until a part of the model changes."""

    _tree: tuple[list[Any], TreeDynamics] | None = None

    def _dynamics(self: Any) -> TreeDynamics:
        from dalembert.model.dynamics import TreeDynamics

        parts = [*self.bodies, *self.joints, *self.forces, self.gravity]
        if self._tree is None or len(parts) != len(self._tree[0]) or any(a is not b for a, b in zip(parts, self._tree[0], strict=True)):
            self._tree = (parts, TreeDynamics(self))
        return self._tree[1]

    def mass_matrix(self, q: Any) -> Array:
        """M(q), (nv, nv), armatures included; kinetic energy is v . M v / 2."""
        return self._dynamics().mass_matrix(q)

    def forward_dynamics(self, q: Any, v: Any, tau: Any = None) -> Array:
        """Accelerations (nv) under generalised forces tau and all forces of the model (gravity, springs, damping, wrenches)."""
        return self._dynamics().forward_dynamics(q, v, tau)

    def inverse_dynamics(self, q: Any, v: Any, a: Any) -> Array:
        """Generalised forces tau (nv) that, beside all forces of the model, give the accelerations a."""
        return self._dynamics().inverse_dynamics(q, v, a)
