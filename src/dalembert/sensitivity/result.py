"""`Derivatives`: what a step does with small changes of its start, of its inputs and of the numbers of the machine.

    (dq+, dv+) = A (dq, dv) + B dtau + C dparameters

dq are tangents at q as `m.integrate(q, dq)` takes them, dq+ tangents at q+ as `m.difference(q+, .)` measures them: of free and ball joints
small turns and shifts in body axes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import OptionError


@dataclass(frozen=True, eq=False)
class Derivatives:
    """Of one step from (q, v) to (q_next, v_next).

    A (2 nv, 2 nv), B (2 nv, nv), C (2 nv, parameters). names: of the rows of A, dq then dv; parameters: of the columns of C.
    tangent (2 nv, k): columns span the changes (dq, dv) that keep closed loops and rolling; the identity where there are none. A and B hold
    for these; rows of A tangent are changes that keep them at the next node.
    """

    q: Array
    v: Array
    tau: Array
    h: float
    q_next: Array
    v_next: Array
    A: Array
    B: Array
    C: Array
    tangent: Array
    names: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()

    @property
    def nv(self) -> int:
        """Degrees of freedom of v."""
        return len(self.v)

    @property
    def A_qq(self) -> Array:
        """dq+/dq"""
        return self.A[: self.nv, : self.nv]

    @property
    def A_qv(self) -> Array:
        """dq+/dv"""
        return self.A[: self.nv, self.nv :]

    @property
    def A_vq(self) -> Array:
        """dv+/dq"""
        return self.A[self.nv :, : self.nv]

    @property
    def A_vv(self) -> Array:
        """dv+/dv"""
        return self.A[self.nv :, self.nv :]

    @property
    def B_q(self) -> Array:
        """dq+/dtau"""
        return self.B[: self.nv]

    @property
    def B_v(self) -> Array:
        """dv+/dtau"""
        return self.B[self.nv :]

    @property
    def C_q(self) -> Array:
        """dq+/dparameters"""
        return self.C[: self.nv]

    @property
    def C_v(self) -> Array:
        """dv+/dparameters"""
        return self.C[self.nv :]

    def jvp(self, dq: Any = None, dv: Any = None, dtau: Any = None, dparameters: Any = None) -> tuple[Array, Array]:
        """(dq+, dv+) of changes of the start, of tau and of the parameters; what is not given does not change. Arrays (..., nv)."""
        columns = ((dq, self.A[:, : self.nv]), (dv, self.A[:, self.nv :]), (dtau, self.B), (dparameters, self.C))
        names = ("dq", "dv", "dtau", "dparameters")
        moved: Any = np.zeros(2 * self.nv)
        for name, (change, matrix) in zip(names, columns, strict=True):
            if change is not None:
                moved = moved + self._vector(name, change, matrix.shape[1]) @ matrix.T
        return moved[..., : self.nv], moved[..., self.nv :]

    def vjp(self, w: Any) -> tuple[Array, ...]:
        """(by q, by v, by tau, by parameters): gradients of w . (q+, v+), arrays (..., 2 nv) in; the last where there are parameters."""
        w = self._vector("w", w, 2 * self.nv)
        back = w @ self.A
        found = (back[..., : self.nv], back[..., self.nv :], w @ self.B)
        return (*found, w @ self.C) if self.parameters else found

    def _vector(self, name: str, given: Any, size: int) -> Array:
        array = np.asarray(given, dtype=float)
        if array.ndim == 0 or array.shape[-1] != size or not np.isfinite(array).all():
            raise OptionError(f"{name} has the shape {array.shape}; expected finite numbers (..., {size}).")
        return array

    def then(self, after: Derivatives) -> Derivatives:
        """Of this step and the next one, under the same tau."""
        return Derivatives(
            self.q, self.v, self.tau, self.h + after.h, after.q_next, after.v_next, after.A @ self.A, after.A @ self.B + after.B,
            after.A @ self.C + after.C, self.tangent, self.names, self.inputs, self.parameters,
        )  # fmt: skip

    def __repr__(self) -> str:
        more = f", {len(self.parameters)} parameters" if self.parameters else ""
        return f"Derivatives(one step of {self.h:.6g} s, nv = {self.nv}{more})"
