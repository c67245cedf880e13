"""`StepProblem`: the velocities and impulses of one step, as arrays (laws and signs in `kernels/contact/codes.py`).

    masses (x - free) = J^T lam,   u = J x + b + sigma lam,   (lam, u) by the law of each constraint

Eliminating x gives u = W lam + q with W = J M^-1 J^T + sigma, q = J free + b: `dense` makes them for the judges of `complementarity`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import OptionError
from dalembert.kernels.contact.codes import BILATERAL, BOXED, CONE, UNILATERAL
from dalembert.kernels.contact.records import Ints, Step

__all__ = ["BILATERAL", "BOXED", "CONE", "UNILATERAL", "StepProblem"]


def _reals(what: str, value: Any, shape: tuple[int, ...]) -> Array:
    array = np.ascontiguousarray(value, dtype=np.float64)
    if array.shape != shape:
        raise OptionError(f"{what} has shape {array.shape}; expected {shape}.")
    return array


def _whole(what: str, value: Any, shape: tuple[int, ...]) -> Ints:
    array = np.ascontiguousarray(value, dtype=np.int64)
    if array.shape != shape:
        raise OptionError(f"{what} has shape {array.shape}; expected {shape}.")
    return array


@dataclass(eq=False, slots=True)
class StepProblem:
    """n bodies (world: -1), m constraints. Arrays are taken as they are where type and order fit: the solver writes lam.

    bodies (m, 2), kind (m,), first (m + 1,), J (rows, 12) on (w_a, v_a, w_b, v_b), b, sigma, low, high (rows,), mu (m,),
    masses and inverse (n, 6, 6), free (6 n,): velocities without constraints, start (6 n,): last velocities (free by default),
    lam (rows,): impulses, warm start in, result out (zeros by default).
    check: whether numbers are looked through; shapes and types always are.
    stretch (m, 2): mu_1/mu and mu_2/mu of cones with anisotropic friction (contact/stretched.py); None: all are isotropic.
    """

    bodies: Ints
    kind: Ints
    first: Ints
    J: Array
    b: Array
    sigma: Array
    mu: Array
    masses: Array
    inverse: Array
    free: Array
    low: Array | None = None
    high: Array | None = None
    start: Array | None = None
    lam: Array | None = None
    check: bool = True
    stretch: Array | None = None

    def __post_init__(self) -> None:
        n, m, rows = len(self.masses), len(self.kind), len(self.J)
        self.bodies = _whole("bodies", self.bodies, (m, 2))
        self.kind = _whole("kind", self.kind, (m,))
        self.first = _whole("first", self.first, (m + 1,))
        self.J = _reals("J", self.J, (rows, 12))
        for name in ("b", "sigma"):
            setattr(self, name, _reals(name, getattr(self, name), (rows,)))
        self.mu = _reals("mu", self.mu, (m,))
        self.masses, self.inverse = _reals("masses", self.masses, (n, 6, 6)), _reals("inverse", self.inverse, (n, 6, 6))
        self.free = _reals("free", self.free, (6 * n,))
        self.low = np.full(rows, -np.inf) if self.low is None else _reals("low", self.low, (rows,))
        self.high = np.full(rows, np.inf) if self.high is None else _reals("high", self.high, (rows,))
        self.start = self.free.copy() if self.start is None else _reals("start", self.start, (6 * n,))
        self.lam = np.zeros(rows) if self.lam is None else _reals("lam", self.lam, (rows,))
        if self.check:
            self._look_through(n, m, rows)

    def _look_through(self, n: int, m: int, rows: int) -> None:
        counts = np.diff(self.first)
        if self.first[0] != 0 or self.first[-1] != rows or (counts < 1).any():
            raise OptionError(f"first must rise from 0 to the number of rows, {rows}, by one or more per constraint.")
        for law, name, wanted in ((UNILATERAL, "unilateral", 1), (BOXED, "boxed", 1), (CONE, "cone", 3)):
            wrong = np.flatnonzero((self.kind == law) & (counts != wanted))
            if wrong.size:
                raise OptionError(f"constraint {wrong[0]} ({name}) has {counts[wrong[0]]} rows; expected {wanted}.")
        if m and not ((self.kind >= BILATERAL) & (self.kind <= CONE)).all():
            raise OptionError(f"kind holds {sorted(set(self.kind.tolist()))}; BILATERAL, UNILATERAL, BOXED and CONE are 0 ... 3.")
        a, e = self.bodies[:, 0], self.bodies[:, 1]
        wrong = np.flatnonzero((a == e) | (np.minimum(a, e) < -1) | (np.maximum(a, e) >= n))
        if wrong.size:
            raise OptionError(f"constraint {wrong[0]} joins bodies {self.bodies[wrong[0]].tolist()}; expected two of -1 ... {n - 1}.")
        if not (self.sigma >= 0.0).all() or not ((self.mu >= 0.0) & (self.mu < np.inf)).all():
            raise OptionError("sigma >= 0 and finite mu >= 0 expected.")
        boxed = self.first[:-1][self.kind == BOXED]
        if not (self.lows[boxed] <= self.highs[boxed]).all():
            raise OptionError("low <= high expected for boxed rows.")
        for name in ("J", "b", "sigma", "masses", "inverse", "free", "start", "lam"):
            if not np.isfinite(getattr(self, name)).all():
                raise OptionError(f"{name} holds a number that is not finite.")

    @property
    def lows(self) -> Array:
        """low, never None."""
        assert self.low is not None
        return self.low

    @property
    def highs(self) -> Array:
        """high, never None."""
        assert self.high is not None
        return self.high

    @property
    def impulses(self) -> Array:
        """lam, never None."""
        assert self.lam is not None
        return self.lam

    @property
    def started(self) -> Array:
        """start, never None."""
        assert self.start is not None
        return self.start

    def step(self) -> Step:
        """For the kernels."""
        return Step(
            self.bodies,
            self.kind,
            self.first,
            self.J,
            self.b,
            self.sigma,
            self.lows,
            self.highs,
            self.mu,
            self.masses,
            self.inverse,
            self.free,
        )

    def bounds(self) -> tuple[Array, Array]:
        """Bounds of the rows by law; cones have none."""
        law = np.repeat(self.kind, np.diff(self.first))
        low = np.where(law == UNILATERAL, 0.0, np.where(law == BOXED, self.lows, -np.inf))
        return low, np.where(law == BOXED, self.highs, np.inf)

    def jacobian(self) -> Array:
        """J as a dense matrix (rows, 6 n)."""
        n, out = len(self.masses), np.zeros((len(self.J), 6 * len(self.masses) + 6))
        owner = np.repeat(np.arange(len(self.kind)), np.diff(self.first))
        for side in range(2):
            body = np.where(self.bodies[owner, side] < 0, n, self.bodies[owner, side])
            np.add.at(out, (np.arange(len(owner))[:, None], 6 * body[:, None] + np.arange(6)), self.J[:, 6 * side : 6 * side + 6])
        return out[:, : 6 * n]

    def dense(self) -> tuple[Array, Array]:
        """(W, q) of u = W lam + q."""
        J, n = self.jacobian(), len(self.masses)
        MJ = np.einsum("nij,nkj->nik", self.inverse, J.reshape(-1, n, 6).transpose(1, 0, 2))  # (n, 6, rows)
        W = J @ MJ.reshape(6 * n, -1) if n else np.zeros((len(J), len(J)))
        return W + np.diag(self.sigma), J @ self.free + self.b

    def ends(self) -> Ints:
        """(rows, 2): bodies of the rows, n for the world."""
        owner = np.repeat(np.arange(len(self.kind)), np.diff(self.first))
        return np.where(self.bodies[owner] < 0, len(self.masses), self.bodies[owner])

    def velocities(self, lam: Array | None = None) -> Array:
        """x = free + M^-1 J^T lam"""
        n, force = len(self.masses), np.zeros((len(self.masses) + 1, 6))
        np.add.at(force, self.ends(), self.J.reshape(-1, 2, 6) * (self.impulses if lam is None else lam)[:, None, None])
        return np.asarray(self.free + np.einsum("nij,nj->ni", self.inverse, force[:n]).reshape(-1))

    def row_velocities(self, lam: Array | None = None) -> Array:
        """u = J x + b + sigma lam with x = `velocities(lam)`"""
        lam = self.impulses if lam is None else lam
        x = np.concatenate([self.velocities(lam).reshape(-1, 6), np.zeros((1, 6))])[self.ends()]
        return np.asarray(np.einsum("rsi,rsi->r", self.J.reshape(-1, 2, 6), x) + self.b + self.sigma * lam)

    def diagonal(self) -> Array:
        """Diagonal of J M^-1 J^T, 1 where it is 0."""
        blocks, J = np.concatenate([self.inverse, np.zeros((1, 6, 6))])[self.ends()], self.J.reshape(-1, 2, 6)
        D = np.einsum("rsi,rsij,rsj->r", J, blocks, J)
        return np.asarray(np.where(D > 0.0, D, 1.0))

    def natural_residual(self, lam: Array | None = None, law: str = "associated", creep: float = 0.0) -> float:
        """Largest D |lam - P(lam - u / D)|, in units of velocity; D: diagonal of J M^-1 J^T, its largest entry within a cone. By NumPy.

        creep: with Coulomb's law, slip mu |u_t| that a contact may count or not (m/s), whichever fits: see `contact/coulomb.py`.
        """
        lam = self.impulses if lam is None else np.asarray(lam, dtype=float)
        if not len(lam):
            return 0.0
        u, D = self.row_velocities(lam), self.diagonal()
        low, high = self.bounds()
        miss = D * (lam - np.clip(lam - u / D, low, high))
        at = self.first[:-1][self.kind == CONE]
        if not at.size:
            return float(np.abs(miss).max())
        cones = at[:, None] + np.arange(3)
        d, v, mu = D[cones].max(axis=1), u[cones], self.mu[self.kind == CONE]

        def missed(shift: Array) -> Array:
            at_rest = (v + np.outer(shift, (1.0, 0.0, 0.0))) / d[:, None]
            return np.asarray(d * np.abs(lam[cones] - project_on_cones(lam[cones] - at_rest, mu)).max(axis=1))

        slip = mu * np.hypot(v[:, 1], v[:, 2]) if law == "coulomb" else np.zeros(len(mu))
        miss[cones] = np.minimum(missed(slip), missed(np.maximum(slip - creep, 0.0)))[:, None]
        return float(np.abs(miss).max())


def project_on_cones(y: Array, mu: Array) -> Array:
    """Nearest points of |y_t| <= mu y_n, (m, 3)."""
    n, t = y[:, 0], np.hypot(y[:, 1], y[:, 2])
    a = np.maximum(n + mu * t, 0.0) / (1.0 + mu * mu)
    e = y[:, 1:] / np.where(t > 0.0, t, 1.0)[:, None]
    on_side = np.column_stack([a, (mu * a)[:, None] * e])
    return np.asarray(np.where(((n >= 0.0) & (t <= mu * n))[:, None], y, np.where((mu * t <= -n)[:, None], 0.0, on_side)))
