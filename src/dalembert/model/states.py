"""States of a model: configurations and velocities, checked, moved, and what mechanics says of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dalembert.arrays import Array
from dalembert.errors import OptionError
from dalembert.model import kinematics, loop_coordinates, motors, validate
from dalembert.model.catalogue import Catalogue


class States(Catalogue):
    """Configurations and velocities of a `Model`."""

    name: str

    def neutral(self: Any) -> Array:
        """q at the reference configuration."""
        parts = [kinematics.joint_neutral(self, j) for j in self.joints]
        return np.concatenate(parts) if parts else np.zeros(0)

    def random(self, rng: np.random.Generator | int | None = None) -> Array:
        """A random configuration, within the limits of the joints of one degree of freedom."""
        rng = np.random.default_rng(rng)
        parts = [rng.uniform(*j.limits, size=1) if j.limits and j.coordinates.nq == 1 else j.coordinates.random(rng) for j in self.joints]
        return np.concatenate(parts) if parts else np.zeros(0)

    def check_q(self, q: Any = None) -> Array:
        """A full configuration from None (neutral), an array, {joint: coordinates}, or a keyframe's name; quaternions normalised."""
        if q is None:
            return self.neutral()
        if isinstance(q, str):
            return np.array(self.keyframe(q).q)
        slices = self.q_slices()
        if isinstance(q, Mapping):
            q = validate.by_name("q0", q, self.neutral(), slices)
        full = np.array(validate.vector(f"model {self.name!r}", "q", q, self.nq, OptionError))
        for j in self.joints:
            for slot in j.coordinates.quaternion_slots():
                at = slices[j.name].start + slot
                full[at : at + 4] = validate.unit_quaternion(f"joint {j.name!r}", "quaternion in q", full[at : at + 4], OptionError)
        return full

    def check_v(self, v: Any = None) -> Array:
        """A full velocity from None (rest), an array, {joint: rates}, or a keyframe's name."""
        if v is None:
            return np.zeros(self.nv)
        if isinstance(v, str):
            return np.array(self.keyframe(v).v)
        if isinstance(v, Mapping):
            v = validate.by_name("v0", v, np.zeros(self.nv), self.v_slices())
        return np.array(validate.vector(f"model {self.name!r}", "v", v, self.nv, OptionError))

    def _array(self: Any, what: str, value: Any) -> Array:
        return validate.array(f"model {self.name!r}", what, value)

    def integrate(self: Any, q: ArrayLike, dq: ArrayLike) -> Array:
        """q moved along the tangent vector dq."""
        return kinematics.integrate(self, self._array("q", q), self._array("dq", dq))

    def difference(self: Any, q0: ArrayLike, q1: ArrayLike) -> Array:
        """dq with integrate(q0, dq) = q1."""
        return kinematics.difference(self, self._array("q0", q0), self._array("q1", q1))

    # mechanics: all take one state or arrays of states (..., nq), (..., nv) ------------------------------------------------------

    def poses(self: Any, q: ArrayLike) -> Array:
        """World poses of the body frames, (..., bodies, 4, 4)."""
        return self._states().poses(self._array("q", q))

    def jacobian(self: Any, body: str, q: ArrayLike) -> Array:
        """(..., 6, nv): twist (omega, v) of the body frame, body axes, = jacobian v."""
        return kinematics.jacobian(self, body, self._array("q", q))

    def motor_forces(self: Any, u: Any, q: ArrayLike, v: ArrayLike) -> Array:
        """Joint forces (..., nv) of the motors from their inputs: an array in the order of `motors`, or {motor: input}."""
        return motors.forces(self, u, self._array("q", q), self._array("v", v))

    def kinetic_energy(self: Any, q: ArrayLike, v: ArrayLike) -> Array:
        """Of bodies and armatures, J; of loop joints too."""
        x, u = self._array("q", q), self._array("v", v)
        found = self._states().kinetic_energy(x, u)
        return found + loop_coordinates.rotor_energy(self, x, u) if self._loops else found

    def potential_energy(self: Any, q: ArrayLike) -> Array:
        """Of gravity, springs and joint stiffness, J; of loop joints too."""
        x = self._array("q", q)
        found = self._states().potential_energy(x)
        return found + loop_coordinates.loop_energy(self, x) if self._loops else found

    def energy(self, q: ArrayLike, v: ArrayLike) -> Array:
        """Kinetic and potential energy, J."""
        return self.kinetic_energy(q, v) + self.potential_energy(q)

    def momentum(self: Any, q: ArrayLike, v: ArrayLike) -> Array:
        """(angular about the world origin, linear), (..., 6); N m s, N s."""
        return self._states().momentum(self._array("q", q), self._array("v", v))

    def _mechanics(self: Any, q: ArrayLike, v: ArrayLike) -> tuple[Array, Array, Array]:
        """Kinetic and potential energy and momentum, in half the time of asking for each."""
        if not self.nv or self._loops:
            return self.kinetic_energy(q, v), self.potential_energy(q), self.momentum(q, v)
        return self._states().mechanics(self._array("q", q), self._array("v", v))  # type: ignore[no-any-return]
