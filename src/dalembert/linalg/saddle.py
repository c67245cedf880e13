"""The saddle-point system of bodies and constraints (lacoursiere2007, 18.14-22)

    K (x, y) = (b, c):   M x - G^T y = b,   G x + E y = c,       K = [M -G^T; G E],   H = [M G^T; G -E],   K (x, y) = H (x, -y)

    z^T K z = x^T M x + y^T E y
    L = [I 0; G M^-1 I],  L^-1 = 2 I - L,  S = G M^-1 G^T + E:      K = L diag(M, S) L^-T,   H = L diag(M, -S) L^T
    K^-1 = [M^-1 - M^-1 G^T S^-1 G M^-1,  M^-1 G^T S^-1;  -S^-1 G M^-1,  S^-1]

Print exchanges the two diagonals: H, not K, has the negative part.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from dalembert.errors import OptionError
from dalembert.kernels.linalg.blocks import multiply_compliance
from dalembert.linalg.blocks import BlockJacobian, Floats, block_masses, multiply_masses, runs, vector


@dataclass(frozen=True, eq=False)
class Saddle:
    """M, G and E. Make one by `Saddle.of`.

    masses       (n, 6, 6), symmetric positive definite
    jacobian     G
    compliance   flat: the r x r blocks of E, symmetric, positive semidefinite, one constraint after the other
    """

    masses: Floats
    jacobian: BlockJacobian
    compliance: Floats

    @staticmethod
    def of(masses: npt.ArrayLike, jacobian: BlockJacobian, compliance: object = None) -> Saddle:
        """masses: (n, 6, 6) or (n, 6). compliance: None, a number, one number per row, or a list of one r x r block per constraint."""
        found = block_masses(masses)
        if len(found) != jacobian.n_bodies:
            raise OptionError(f"masses of {len(found)} bodies given, the Jacobian has {jacobian.n_bodies}.")
        skew = np.abs(found - np.swapaxes(found, 1, 2)).max(axis=(1, 2), initial=0.0) > 1e-9 * np.abs(found).max(axis=(1, 2), initial=0.0)
        if skew.any():
            raise OptionError(f"mass of body {np.flatnonzero(skew)[0]}: not symmetric.")
        return Saddle(found, jacobian, compliance_blocks(jacobian, compliance))

    @property
    def n_bodies(self) -> int:
        """Number of bodies."""
        return self.jacobian.n_bodies

    @property
    def size(self) -> int:
        """Unknowns."""
        return 6 * self.n_bodies + self.jacobian.n_rows

    @cached_property
    def inverse_masses(self) -> Floats:
        """(n, 6, 6); LinAlgError where a mass is singular."""
        found = np.linalg.inv(self.masses) if self.n_bodies else self.masses
        return np.ascontiguousarray(0.5 * (found + np.swapaxes(found, 1, 2)))

    @cached_property
    def positive_masses(self) -> bool:
        """Whether all masses are positive definite (their lower halves are read)."""
        try:
            return bool(np.isfinite(np.linalg.cholesky(self.masses)).all()) if self.n_bodies else True
        except np.linalg.LinAlgError:
            return False

    def multiply(self, x: npt.ArrayLike, y: npt.ArrayLike) -> tuple[Floats, Floats]:
        """K (x, y)"""
        top = multiply_masses(self.masses, x)
        self.jacobian.multiply_transposed(y, -1.0, 1.0, top)
        return top, self.jacobian.multiply(x, 1.0, 1.0, self.multiply_compliance(y))

    def multiply_compliance(self, y: npt.ArrayLike) -> Floats:
        """E y"""
        g = self.jacobian
        out = np.zeros(g.n_rows)
        multiply_compliance(g.rows, g.places, self.compliance, 1.0, vector("y", y, g.n_rows), 0.0, out)
        return out

    @cached_property
    def units(self) -> Floats:
        """s_i = sqrt(max_j |K_ij|): in diag(s)^-1 K diag(s)^-1 masses and rows of all sizes become comparable. 1 for empty rows."""
        g = self.jacobian
        row, column = g.entries
        largest = np.zeros(self.size)
        largest[: 6 * self.n_bodies] = np.abs(self.masses).max(axis=2, initial=0.0).ravel()
        np.maximum.at(largest, column, np.abs(g.data))
        np.maximum.at(largest, 6 * self.n_bodies + row, np.abs(g.data))
        sizes = np.diff(g.rows)
        line = runs(g.rows[:-1], sizes)
        np.maximum.at(largest, 6 * self.n_bodies + np.repeat(line, np.repeat(sizes, sizes)), np.abs(self.compliance))
        return np.sqrt(np.where(largest > 0.0, largest, 1.0))

    def residual(self, x: npt.ArrayLike, y: npt.ArrayLike, b: npt.ArrayLike, c: npt.ArrayLike) -> float:
        """Backward error max |r| / max (|K| |z| + |rhs|) in balanced `units`, r = rhs - K z: round-off leaves about 1e-16."""
        top, bottom = self.multiply(x, y)
        rhs = np.concatenate([vector("b", b, top.size), vector("c", c, bottom.size)])
        r = np.abs(rhs - np.concatenate([top, bottom])) / self.units
        if not np.isfinite(r).all():
            return float("inf")
        sizes = np.max((self._moduli(np.abs(x), np.abs(y)) + np.abs(rhs)) / self.units, initial=0.0)
        return float(np.max(r, initial=0.0) / sizes) if sizes > 0.0 else 0.0

    def _moduli(self, x: Floats, y: Floats) -> Floats:
        """|K| z for z >= 0"""
        g = self.jacobian.with_data(np.abs(self.jacobian.data))
        soft = Saddle(self.masses, g, np.abs(self.compliance)).multiply_compliance(y)
        top = g.multiply_transposed(y, 1.0, 1.0, multiply_masses(np.abs(self.masses), x))
        return np.concatenate([top, g.multiply(x, 1.0, 1.0, soft)])

    # matrices ------------------------------------------------------------------------------------------------------------------

    def M(self) -> sp.csr_array:
        """Masses as a SciPy matrix."""
        return _block_diagonal(self.masses)

    def M_inverse(self) -> sp.csr_array:
        """Inverse masses as a SciPy matrix."""
        return _block_diagonal(self.inverse_masses)

    def E(self) -> sp.csr_array:
        """Compliance as a SciPy matrix, zeros left out."""
        g = self.jacobian
        sizes = np.diff(g.rows)
        wide = np.repeat(sizes, sizes)
        row = np.repeat(np.arange(g.n_rows), wide)
        column = runs(np.repeat(g.rows[:-1], sizes), wide)
        kept = self.compliance != 0.0
        return sp.csr_array((self.compliance[kept], (row[kept], column[kept])), shape=(g.n_rows, g.n_rows))

    def K(self) -> sp.csc_array:
        """[M -G^T; G E]"""
        g = self.jacobian.to_sparse()
        return sp.csc_array(sp.block_array([[self.M(), -g.T], [g, self.E()]], format="csc"))

    def H(self) -> sp.csc_array:
        """[M G^T; G -E], symmetric."""
        g = self.jacobian.to_sparse()
        return sp.csc_array(sp.block_array([[self.M(), g.T], [g, -self.E()]], format="csc"))

    def L(self) -> sp.csc_array:
        """[I 0; G M^-1 I]"""
        n, m = 6 * self.n_bodies, self.jacobian.n_rows
        low = self.jacobian.to_sparse() @ self.M_inverse()
        return sp.csc_array(sp.block_array([[sp.eye_array(n), None], [low, sp.eye_array(m)]], format="csc"))

    def fill(self) -> float:
        """Share of blocks of K that are not zero: (n + 2 n_blocks + m) / (n + m)^2 (18.22, E counted)."""
        n, m = self.n_bodies, self.jacobian.n_constraints
        return (n + 2 * len(self.jacobian.bodies) + m) / (n + m) ** 2


def _block_diagonal(blocks: Floats) -> sp.csr_array:
    n = len(blocks)
    found = sp.csr_array(sp.bsr_array((blocks, np.arange(n), np.arange(n + 1)), shape=(6 * n, 6 * n))) if n else sp.csr_array((0, 0))
    found.eliminate_zeros()
    return found


def compliance_blocks(jacobian: BlockJacobian, compliance: object) -> Floats:
    """Flat blocks of E from None, a number, one number per row, or a list of r x r blocks."""
    sizes = np.diff(jacobian.rows)
    if isinstance(compliance, list | tuple) and len(compliance) and np.ndim(compliance[0]) == 2:
        blocks = [np.asarray(block, dtype=float) for block in compliance]
        wrong = [i for i, block in enumerate(blocks) if block.shape != (sizes[i], sizes[i])] if len(blocks) == len(sizes) else [-1]
        if wrong:
            raise OptionError(f"compliance: {len(blocks)} blocks given, {len(sizes)} of r x r numbers expected (first wrong: {wrong[0]}).")
        skew = [i for i, block in enumerate(blocks) if np.abs(block - block.T).max() > 1e-9 * np.abs(block).max()]
        if skew:
            raise OptionError(f"compliance of constraint {skew[0]}: not symmetric.")
        return np.concatenate([block.ravel() for block in blocks])
    diagonal = np.broadcast_to(np.asarray(0.0 if compliance is None else compliance, dtype=float), (jacobian.n_rows,))
    if not (np.isfinite(diagonal).all() and (diagonal >= 0.0).all()):
        raise OptionError("compliance: a number below 0 or not finite given, E >= 0 expected.")
    out = np.zeros(int(jacobian.places[-1]))
    within = np.arange(jacobian.n_rows) - np.repeat(jacobian.rows[:-1], sizes)
    out[np.repeat(jacobian.places[:-1], sizes) + within * (np.repeat(sizes, sizes) + 1)] = diagonal
    return out
