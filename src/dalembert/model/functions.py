"""Dynamics functions of `Model`; the kernels behind them are imported when they are first used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from dalembert.arrays import Array
from dalembert.model.forces.function import FunctionForce, total_force
from dalembert.model.kinematics import Reference
from dalembert.model.loop_coordinates import loop_forces

if TYPE_CHECKING:
    from dalembert.model.dynamics import TreeDynamics
    from dalembert.model.rows import StateRows


class Dynamics:
    """Dynamics functions of `Model`. The compiled arrays are kept until a part of the model changes."""

    _tree: tuple[list[Any], TreeDynamics] | None = None

    def _dynamics(self: Any) -> TreeDynamics:
        found = self._tree
        if found is not None and self._frozen:
            return found[1]  # type: ignore[no-any-return]
        from dalembert.model.dynamics import TreeDynamics

        parts = [*self.bodies, *self.joints, *self.forces, self.gravity]
        if found is None or len(parts) != len(found[0]) or any(a is not b for a, b in zip(parts, found[0], strict=True)):
            found = self._tree = (parts, TreeDynamics(self))
        return found[1]

    def _states(self: Any) -> StateRows | Reference:
        """Functions of arrays of states: compiled, and in NumPy without a degree of freedom, where there is nothing to compile."""
        if not self.nv:
            return Reference(self)
        tree = self._dynamics()
        if tree.rows is None:
            from dalembert.model.rows import StateRows

            tree.rows = StateRows(self, tree)
        return tree.rows  # type: ignore[no-any-return]

    def mass_matrix(self, q: Any) -> Array:
        """M(q), (nv, nv), armatures included; kinetic energy is v . M v / 2."""
        return self._dynamics().mass_matrix(q)

    @overload
    def forward_dynamics(self, q: Any, v: Any, tau: Any = None, multipliers: Literal[False] = False, t: float = 0.0) -> Array: ...

    @overload
    def forward_dynamics(self, q: Any, v: Any, tau: Any = None, *, multipliers: Literal[True], t: float = 0.0) -> tuple[Array, Array]: ...

    def forward_dynamics(
        self: Any, q: Any, v: Any, tau: Any = None, multipliers: bool = False, t: float = 0.0
    ) -> Array | tuple[Array, Array]:
        """Accelerations (nv) under generalised forces tau, the forces of the model, and its loops, rolling joints, blades and drives.

        Forces: gravity, springs, dampers, wrenches, functions f(t, q, v), damping and stiffness of joints and loop joints; not joint
        friction, limits, contacts.
        multipliers=True: (accelerations, multipliers of the rows of `constraint_rows`); M a = f + G^T lambda, N and N m. Where rows are
        redundant, the shortest multipliers. See model/multipliers.py.
        t: time of functions, and of the drives, whose rows are to be met by q and v; their multipliers are the forces and torques of the
        drives.
        """
        tree = self._dynamics()
        if not self._has_rows:
            if functions := functions_of(self):
                q, v, tau = tree.checked(q, v, np.zeros(self.nv) if tau is None else tau)
                tau = tau + total_force(functions, t, q, v)
            a = tree.forward_dynamics(q, v, tau)
            return (a, np.zeros(0)) if multipliers else a
        from dalembert.model.multipliers import constrained

        q, v, tau = tree.checked(q, v, np.zeros(self.nv) if tau is None else tau)
        found = constrained(self, q, v, tau, t)
        return found if multipliers else found[0]

    def inverse_dynamics(self: Any, q: Any, v: Any, a: Any, passive: bool = True, t: float = 0.0) -> Array:
        """Generalised forces tau (nv) that, beside the forces of the model, give the accelerations a.

        passive=True: beside gravity, springs, dampers, wrenches, functions f(t, q, v) at the time t, joint damping and stiffness.
        passive=False: beside gravity alone, which is M a + bias, `rnea` of Pinocchio and (for a = 0) `qfrc_bias` of MuJoCo. Joints without
        coordinates are not counted among the forces: with their multipliers, tau = inverse_dynamics(q, v, a) - G^T lambda. Springs and
        dampers of loop joints are forces of the model.
        """
        found = self._dynamics().inverse_dynamics(q, v, a, passive)
        if passive and self._loops:
            found -= loop_forces(self, np.asarray(q, dtype=float), np.asarray(v, dtype=float))
        if passive and (functions := functions_of(self)):
            found -= total_force(functions, t, np.asarray(q, dtype=float), np.asarray(v, dtype=float))
        return found


def functions_of(model: Any) -> list[FunctionForce]:
    """Forces of a model that are functions."""
    return [f for f in model.forces if isinstance(f, FunctionForce)]
