"""Spinning bodies within a step, for impacts at an instant of it: `Spins`.

Unknowns of the quaternion step are w = (2/h) sin(h |omega|/2) omega/|omega|, its mass is not the inertia, and within a step velocities
change by more than known forces: by a(omega) = I^-1 (I omega x omega), the gyroscopic acceleration, which does no work. For an instant:

    rates, sines    omega from w and back, of the bodies whose rotation is the quaternion step
    masses          with the inertia in the place of the mass of the step
    after           velocities ds later, v + ds slope; ds^2 a.I a, which the gyroscopic part adds, is taken out of omega . I omega

so that a bounce keeps its energy to order h^3. Without the change of a by the impact it would err by order h, with the mass of the step by
order h^2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.arrays import Array
from dalembert.kernels.bodies.motion import LARGEST_HALF, QUATERNION

if TYPE_CHECKING:
    from dalembert.contact.machine import Machine


class Spins:
    """The bodies of a step that spin by the quaternion step; jointed: those that joints hold, whose velocities are left to them."""

    def __init__(self, m: Machine, jointed: Any):
        self.some = np.flatnonzero(m.mode == QUATERNION)
        self.inertia = m.bodies.inertia[self.some]
        self.free = ~jointed[self.some]
        self.masses, self.inverse = m.masses, m.inverse
        if len(self.some):
            own = self.some if not m.companions else self.some[self.free]  # bodies that lend some of their mass to couplings keep it
            self.masses, self.inverse = m.masses.copy(), m.inverse.copy()
            self.masses[own, :3, :3] = m.bodies.inertia[own]
            self.inverse[own, :3, :3] = np.linalg.inv(m.bodies.inertia[own])

    def _scaled(self, h: float, x: Array, most: float, ratio: Any) -> Array:
        out = x.copy()
        if len(self.some):
            w = out.reshape(-1, 6)[self.some, :3]
            half = 0.5 * abs(h) * np.linalg.norm(w, axis=1)
            fine = (half < most) & (half > 0.0)
            w[fine] *= (ratio(half[fine]) / half[fine])[:, None]
            out.reshape(-1, 6)[self.some, :3] = w
        return out

    def rates(self, h: float, x: Array) -> Array:
        """Velocities with angular velocities in the place of the unknowns w."""
        return self._scaled(h, x, LARGEST_HALF, np.arcsin)

    def sines(self, h: float, v: Array) -> Array:
        """The unknowns of velocities."""
        return self._scaled(h, v, float(np.arcsin(LARGEST_HALF)), np.sin)

    def gyroscopic(self, v: Array) -> Array:
        """a(omega), as accelerations of all unknowns."""
        out = np.zeros_like(v)
        if len(self.some):
            w = v.reshape(-1, 6)[self.some, :3]
            torque = np.cross(np.einsum("nij,nj->ni", self.inertia, w), w)
            out.reshape(-1, 6)[self.some, :3] = np.linalg.solve(self.inertia, torque[:, :, None])[:, :, 0]
        return out

    def after(self, v: Array, slope: Array, ds: float) -> Array:
        """Velocities ds later."""
        out = v + ds * slope
        if len(self.some) and self.free.any():
            own, I = self.some[self.free], self.inertia[self.free]
            w, a = out.reshape(-1, 6)[own, :3], self.gyroscopic(v).reshape(-1, 6)[own, :3]
            twice, more = (np.einsum("ni,nij,nj->n", x, I, x) for x in (w, ds * a))
            out.reshape(-1, 6)[own, :3] = w * np.sqrt(np.maximum(1.0 - more / np.maximum(twice, 1e-300), 0.25))[:, None]
        return out
