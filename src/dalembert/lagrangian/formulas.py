"""A system as CasADi functions: the Lagrangian, forces, constraints, and what follows from them.

    L(q, v)                     M = d2L/dv2,  p = dL/dv,  E = v . dL/dv - L
    f(q, v, t) - dR/dv + u      forces outside the Lagrangian; u is the control
    g(q, t) = 0                 holonomic,  G = dg/dq
    A(q, t) v + w(q, t) = 0     Pfaffian
    c(q) >= 0                   unilateral,  C = dc/dq
    xi(q)                       generators of symmetries,  J = p . xi

Every method takes and returns expressions in whatever symbols it is given; the parameters are one vector of symbols, `p`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import casadi as ca

from dalembert.errors import ModelError


class Formulas:
    """Functions of (q, v, t, p). Made by `read_formulas`, or from the text that `text()` gives."""

    def __init__(self, n: int, functions: dict[str, Any]):
        self.n = n
        self.functions = functions
        self.p = ca.SX.sym("p", functions["L"].size1_in(3))

    def text(self) -> dict[str, str]:
        """The functions as text, for files."""
        return {name: f.serialize() for name, f in self.functions.items()}

    @classmethod
    def from_text(cls, n: int, text: dict[str, str]) -> Formulas:
        """The inverse of `text`."""
        return cls(n, {name: ca.Function.deserialize(s) for name, s in text.items()})

    def _call(self, name: str, q: Any, v: Any = None, t: Any = 0.0) -> Any:
        return self.functions[name](q, ca.SX(self.n, 1) if v is None else v, t, self.p)

    # what was given ------------------------------------------------------------------------------------------------------------------

    def L(self, q: Any, v: Any) -> Any:
        """The Lagrangian."""
        return self._call("L", q, v)

    def force(self, q: Any, v: Any, t: Any, u: Any = 0.0) -> Any:
        """f(q, v, t) - dR/dv (q, v) + u."""
        total = ca.SX(self.n, 1) + u
        if "force" in self.functions:
            total += self._call("force", q, v, t)
        if "rayleigh" in self.functions:
            total -= self.friction(q, v)
        return ca.densify(total)

    def friction(self, q: Any, v: Any) -> Any:
        """dR/dv."""
        return self._derived("R_v")(q, v, 0.0, self.p)

    def holonomic(self, q: Any, t: Any) -> Any:
        """g(q, t)."""
        return self._call("holonomic", q, None, t) if self.holonomic_rows else ca.SX(0, 1)

    def jacobian(self, q: Any, t: Any) -> Any:
        """G(q, t) = dg/dq."""
        return self._derived("G")(q, ca.SX(self.n, 1), t, self.p) if self.holonomic_rows else ca.SX(0, self.n)

    def holonomic_rate(self, q: Any, t: Any) -> Any:
        """dg/dt at fixed q."""
        return self._derived("g_t")(q, ca.SX(self.n, 1), t, self.p) if self.holonomic_rows else ca.SX(0, 1)

    def pfaffian(self, q: Any, t: Any) -> Any:
        """A(q, t)."""
        return self._call("pfaffian", q, None, t) if self.pfaffian_rows else ca.SX(0, self.n)

    def drive(self, q: Any, t: Any) -> Any:
        """w(q, t)."""
        return self._call("drive", q, None, t) if "drive" in self.functions else ca.SX(self.pfaffian_rows, 1)

    def unilateral(self, q: Any) -> Any:
        """c(q)."""
        return self._call("unilateral", q) if self.unilateral_rows else ca.SX(0, 1)

    def unilateral_jacobian(self, q: Any) -> Any:
        """C(q) = dc/dq."""
        return self._derived("C")(q, ca.SX(self.n, 1), 0.0, self.p) if self.unilateral_rows else ca.SX(0, self.n)

    def generators(self, q: Any) -> Any:
        """xi(q), one column per symmetry."""
        return self._call("symmetries", q) if self.symmetries else ca.SX(self.n, 0)

    # sizes ---------------------------------------------------------------------------------------------------------------------------

    @property
    def holonomic_rows(self) -> int:
        """Number of holonomic constraints."""
        return self.functions["holonomic"].size1_out(0) if "holonomic" in self.functions else 0

    @property
    def pfaffian_rows(self) -> int:
        """Number of Pfaffian constraints."""
        return self.functions["pfaffian"].size1_out(0) if "pfaffian" in self.functions else 0

    @property
    def unilateral_rows(self) -> int:
        """Number of unilateral constraints."""
        return self.functions["unilateral"].size1_out(0) if "unilateral" in self.functions else 0

    @property
    def symmetries(self) -> int:
        """Number of declared symmetries."""
        return self.functions["symmetries"].size2_out(0) if "symmetries" in self.functions else 0

    # what follows --------------------------------------------------------------------------------------------------------------------

    def momentum(self, q: Any, v: Any) -> Any:
        """p = dL/dv."""
        return self._derived("L_v")(q, v, 0.0, self.p)

    def slope(self, q: Any, v: Any) -> Any:
        """dL/dq."""
        return self._derived("L_q")(q, v, 0.0, self.p)

    def mass(self, q: Any, v: Any) -> Any:
        """M = d2L/dv2."""
        return self._derived("M")(q, v, 0.0, self.p)

    def energy(self, q: Any, v: Any) -> Any:
        """E = v . dL/dv - L."""
        return ca.dot(v, self.momentum(q, v)) - self.L(q, v)

    def inertial(self, q: Any, v: Any) -> Any:
        """b(q, v) = dL/dq - (d2L/dv dq) v, so that M a = b + forces."""
        return self._derived("b")(q, v, 0.0, self.p)

    def acceleration(self, q: Any, v: Any, t: Any, u: Any = 0.0, stabilise: Callable[..., Any] | None = None) -> tuple[Any, Any]:
        """(a, multipliers) of M a = b + f + J^T mu with the constraints differentiated to accelerations, J a + rest = 0.

        J = (G, A). stabilise(g, dg/dt, r): what the rows of (G, A) shall equal instead of 0, r being the residual of the Pfaffian rows.
        Eliminated without pivoting: M first, then J M^-1 J^T, which must have full rank.
        """
        M, right = self.mass(q, v), self.inertial(q, v) + self.force(q, v, t, u)
        free = solve_symmetric(M, right)
        J, rest = self._rows(q, v, t)
        if not J.shape[0]:
            return free, ca.SX(0, 1)
        wanted = -rest if stabilise is None else stabilise(*self._violations(q, v, t)) - rest
        back = solve_symmetric(M, J.T)
        mu = solve_symmetric(J @ back, wanted - J @ free)
        return free + back @ mu, mu

    def _violations(self, q: Any, v: Any, t: Any) -> tuple[Any, Any, Any]:
        g, rate = self.holonomic(q, t), self.jacobian(q, t) @ v + self.holonomic_rate(q, t)
        return g, rate, self.pfaffian(q, t) @ v + self.drive(q, t)

    def _rows(self, q: Any, v: Any, t: Any) -> tuple[Any, Any]:
        """(J, rest): the second derivative of g and the first of A v + w, as J a + rest."""
        x, y, s = ca.SX.sym("q", self.n), ca.SX.sym("v", self.n), ca.SX.sym("t")
        _, rate, pfaffian = self._violations(x, y, s)
        rows = ca.vertcat(rate, pfaffian)
        rest = ca.jtimes(rows, x, y) + ca.jtimes(rows, s, ca.SX(1)) if rows.shape[0] else ca.SX(0, 1)
        made = ca.Function("rows", [x, y, s, self.p], [ca.jacobian(rows, y), rest])
        return tuple(made(q, v, t, self.p))  # type: ignore[return-value]

    def _derived(self, name: str) -> Any:
        return self._derivatives[name]

    @cached_property
    def _derivatives(self) -> dict[str, Any]:
        q, v, t = ca.SX.sym("q", self.n), ca.SX.sym("v", self.n), ca.SX.sym("t")
        L_v, L_q = ca.gradient(self.L(q, v), v), ca.gradient(self.L(q, v), q)
        found = {"L_v": L_v, "L_q": L_q, "M": ca.jacobian(L_v, v), "b": L_q - ca.jtimes(L_v, q, v)}
        if "rayleigh" in self.functions:
            found["R_v"] = ca.gradient(self._call("rayleigh", q, v), v)
        if self.holonomic_rows:
            g = self.holonomic(q, t)
            found |= {"G": ca.jacobian(g, q), "g_t": ca.jacobian(g, t)}
        if self.unilateral_rows:
            found["C"] = ca.jacobian(self.unilateral(q), q)
        return {name: ca.Function(name, [q, v, t, self.p], [ca.densify(x)]) for name, x in found.items()}

    # properties ----------------------------------------------------------------------------------------------------------------------

    def depends(self, expression: Any, *symbols: Any) -> bool:
        """True if an expression depends on a symbol."""
        return any(ca.depends_on(expression, s) for s in symbols)

    @cached_property
    def features(self) -> set[str]:
        """What a stepper has to handle."""
        q, v, t = ca.SX.sym("q", self.n), ca.SX.sym("v", self.n), ca.SX.sym("t")
        M = self.mass(q, v)
        tests = {
            "variable mass": self.depends(ca.simplify(M), q),
            "gyroscopic": self.depends(self.momentum(q, ca.SX(self.n, 1)), q) or self.depends(M, v),
            "force": "force" in self.functions,
            "damping": "rayleigh" in self.functions,
            "holonomic": self.holonomic_rows > 0,
            "nonholonomic": self.pfaffian_rows > 0,
            "unilateral": self.unilateral_rows > 0,
            "driven": self.depends(ca.vertcat(self.holonomic(q, t), ca.vec(self.pfaffian(q, t))), t) or "drive" in self.functions,
        }
        return {name for name, true in tests.items() if true}


def solve_symmetric(A: Any, b: Any) -> Any:
    """A^-1 b by L D L^T without pivoting, as an expression."""
    n = A.shape[0]
    L, D = ca.SX.eye(n), [ca.SX(0)] * n
    for j in range(n):
        D[j] = A[j, j] - sum((L[j, k] ** 2 * D[k] for k in range(j)), start=ca.SX(0))
        for i in range(j + 1, n):
            L[i, j] = (A[i, j] - sum((L[i, k] * L[j, k] * D[k] for k in range(j)), start=ca.SX(0))) / D[j]
    x = ca.SX(b)
    for i in range(n):
        for k in range(i):
            x[i, :] -= L[i, k] * x[k, :]
    for i in range(n):
        x[i, :] /= D[i]
    for i in reversed(range(n)):
        for k in range(i + 1, n):
            x[i, :] -= L[k, i] * x[k, :]
    return x


def function_of(n: int, params: int, make: Callable[..., Any], name: str) -> Any:
    """A CasADi function of (q, v, t, p) from make(q, v, t, p)."""
    q, v, t, p = ca.SX.sym("q", n), ca.SX.sym("v", n), ca.SX.sym("t"), ca.SX.sym("p", params)
    found = make(q, v, t, p)
    try:
        return ca.Function(name, [q, v, t, p], [found])
    except RuntimeError as problem:
        raise ModelError(f"{name} depends on symbols of its own: {str(problem).splitlines()[0]}") from problem
