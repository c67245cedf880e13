"""Block Gauss-Seidel for constraints and contacts, never forming S (formulas in `kernels/linalg/block_gs.py`).

Converges for equality and box laws where S = G M^-1 G^T + E is positive definite, linearly: without bounds the error shrinks per sweep by
the spectral radius of -(D + L)^-1 U of S by blocks (lacoursiere2007, 18.34). For contacts with friction there is no guarantee: judge
by the residual.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dalembert.errors import OptionError
from dalembert.kernels.linalg import block_gs as kernels
from dalembert.kernels.linalg import contact_gs
from dalembert.kernels.linalg.block_gs import BOX, CONTACT, FREE
from dalembert.kernels.status import NOT_CONVERGED, NOT_FINITE, OK, SINGULAR
from dalembert.linalg.blocks import Floats, Ints, multiply_masses, vector
from dalembert.linalg.saddle import Saddle

__all__ = ["BOX", "CONTACT", "FREE", "BlockGaussSeidel", "Laws"]


@dataclass(frozen=True)
class Laws:
    """What each constraint obeys: kind (m,) of FREE, BOX, CONTACT (rows: normal, two tangents); lo, hi per row (BOX); mu (CONTACT)."""

    kind: Ints
    lo: Floats
    hi: Floats
    mu: Floats

    @staticmethod
    def of(
        saddle: Saddle, kind: npt.ArrayLike = FREE, lo: npt.ArrayLike = -np.inf, hi: npt.ArrayLike = np.inf, mu: npt.ArrayLike = 0.0
    ) -> Laws:
        """Single numbers hold for all."""
        g = saddle.jacobian
        kinds = np.ascontiguousarray(np.broadcast_to(np.asarray(kind, dtype=np.int64), (g.n_constraints,)))
        wrong = np.flatnonzero((kinds == CONTACT) & (np.diff(g.rows) != 3))
        if wrong.size:
            raise OptionError(f"constraint {wrong[0]}: a contact has three rows (normal, two tangents), {np.diff(g.rows)[wrong[0]]} given.")
        if not np.isin(kinds, (FREE, BOX, CONTACT)).all():
            raise OptionError(f"laws: kinds {sorted(set(kinds.tolist()))} given, FREE, BOX and CONTACT exist.")
        low, high = (np.ascontiguousarray(np.broadcast_to(np.asarray(v, dtype=float), (g.n_rows,))) for v in (lo, hi))
        rough = np.ascontiguousarray(np.broadcast_to(np.asarray(mu, dtype=float), (g.n_constraints,)))
        if not (low <= high).all() or not ((rough >= 0.0) & (rough < np.inf)).all():
            raise OptionError("laws: lo <= hi and finite mu >= 0 expected.")
        return Laws(kinds, low, high, rough)


def interleaved(n: int, step: int) -> Ints:
    """0 ... n - 1 in groups of step^2, each read with this stride: neighbours in a list, which share bodies, do not wait for each other."""
    order, whole = np.arange(n), n // step**2 * step**2
    order[:whole] = order[:whole].reshape(-1, step, step).swapaxes(1, 2).ravel()
    return order


class BlockGaussSeidel:
    """Sweeps for one system and one set of laws, over the constraints in their order; over contacts alone in the order `interleaved`.

    gs = BlockGaussSeidel(saddle, laws)
    gs.start(b, c, y)           # y: warm start
    gs.run(tol, sweeps)         # status; gs.sweeps, gs.residual(), gs.x(), gs.y
    """

    def __init__(self, saddle: Saddle, laws: Laws | None = None, interleave: int = 8):
        g = saddle.jacobian
        self.saddle, self.laws, self.interleave = saddle, laws or Laws.of(saddle), interleave
        self.structure = (g.first, g.bodies, g.lines, g.rows)
        tall = int(np.max(np.diff(g.rows), initial=1))
        self.W, self.S, self.D = np.zeros_like(g.data), np.zeros_like(saddle.compliance), np.zeros_like(saddle.compliance)
        self.w, self.y = np.zeros(6 * (g.n_bodies + 1)), np.zeros(g.n_rows)
        self.c = np.zeros(g.n_rows)
        self.q, self.new, self.info = np.zeros(tall), np.zeros(tall), np.zeros(2)
        self.sweeps = 0
        self.packed: tuple[Ints, Floats] | None = None
        self.status = self._prepare()

    def _prepare(self) -> int:
        s, g = self.saddle, self.saddle.jacobian
        if not s.positive_masses:
            return SINGULAR
        self.whitening = np.linalg.inv(np.linalg.cholesky(s.masses)) if s.n_bodies else np.zeros((0, 6, 6))
        kernels.whiten(*self.structure, g.data, self.whitening.reshape(-1), self.W)
        ok = kernels.diagonal_blocks(g.first, g.lines, g.rows, g.places, self.W, s.compliance, np.zeros(self.q.size), 1e-14, self.S, self.D)
        if ok and g.n_constraints and self._only_contacts():
            self.packed = self._pack()
        return OK if ok else SINGULAR

    def _only_contacts(self) -> bool:
        g = self.saddle.jacobian
        if not (self.laws.kind == CONTACT).all() or np.max(np.diff(g.first)) > 2:
            return False
        off = self.saddle.compliance.reshape(-1, 9)[:, [1, 2, 3, 5, 6, 7]]
        return not off.any()

    def _pack(self) -> tuple[Ints, Floats]:
        g, k = self.saddle.jacobian, contact_gs
        ends = np.full((g.n_constraints, 3), 6 * g.n_bodies, dtype=np.int64)
        z = np.zeros((g.n_constraints, k.SIZE))
        place = np.arange(len(g.bodies)) - g.first[g.owner]
        ends[g.owner, place] = 6 * g.bodies
        z[:, : k.INVERSE].reshape(-1, 2, 18)[g.owner, place] = self.W.reshape(-1, 18)
        block = self.S.reshape(-1, 9)
        z[:, k.INVERSE : k.RHS] = np.linalg.inv(block.reshape(-1, 3, 3)).reshape(-1, 9)[:, [0, 1, 2, 4, 5, 8]]
        z[:, k.SOFT : k.COUPLING] = self.saddle.compliance.reshape(-1, 9)[:, [0, 4, 8]]
        z[:, k.COUPLING : k.STEPS] = block[:, [3, 6]]
        z[:, k.STEPS] = 1.0 / block[:, 0]
        z[:, k.STEPS + 1] = 1.0 / (np.maximum(block[:, 4], block[:, 8]) + np.abs(block[:, 7]))
        z[:, k.MU] = self.laws.mu
        z[:, k.DIAGONAL :] = block[:, [0, 4, 8]]
        ends[:, 2] = 3 * np.arange(g.n_constraints)
        order = interleaved(g.n_constraints, self.interleave)
        return np.ascontiguousarray(ends[order]), np.ascontiguousarray(z[order])

    def start(self, b: npt.ArrayLike, c: npt.ArrayLike, y: npt.ArrayLike | None = None) -> None:
        """w = C^-1 (b + G^T y)"""
        g = self.saddle.jacobian
        self.c[:] = vector("c", c, g.n_rows)
        self.y[:] = 0.0 if y is None else vector("y", y, g.n_rows)
        force = vector("b", b, 6 * g.n_bodies).copy()
        g.multiply_transposed(self.y, 1.0, 1.0, force)
        self.w[:-6], self.w[-6:] = multiply_masses(self.whitening, force), 0.0
        if self.packed is not None:
            self.packed[1][:, contact_gs.RHS : contact_gs.SOFT] = self.c[self.packed[0][:, 2][:, None] + np.arange(3)]
        self.sweeps = 0

    def run(self, tol: float = 1e-10, sweeps: int = 1000) -> int:
        """Sweep until the change of y falls below tol of its size, both in the norm of the diagonal of S; 0: exactly `sweeps` sweeps."""
        if self.status == SINGULAR:
            return SINGULAR
        goal = tol * tol if tol > 0.0 else -1.0
        if self.packed is not None:
            ends, z = self.packed
            done = contact_gs.run(ends, z.reshape(-1), self.y, self.w, goal, sweeps, self.info)
        else:
            laws, places, e = self.laws, self.saddle.jacobian.places, self.saddle.compliance
            numbers = (self.W, e, self.S, self.D, self.c, laws.kind, laws.lo, laws.hi, laws.mu, self.y, self.w)
            done = kernels.run(*self.structure, places, *numbers, self.q, self.new, goal, sweeps, self.info)
        self.sweeps += int(done)
        moved, size = self.info
        if not np.isfinite(moved + size):
            return NOT_FINITE
        return OK if moved <= tol * tol * size or len(self.y) == 0 else NOT_CONVERGED

    def residual(self) -> float:
        """Largest violation of the laws, as a velocity."""
        laws, places, e = self.laws, self.saddle.jacobian.places, self.saddle.compliance
        numbers = (self.W, e, self.S, self.c, laws.kind, laws.lo, laws.hi, laws.mu, self.y, self.w)
        return float(kernels.residual(*self.structure, places, *numbers, self.q))

    def x(self) -> Floats:
        """C^-T w"""
        return multiply_masses(np.swapaxes(self.whitening, 1, 2), self.w[:-6])
