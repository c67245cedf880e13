"""What a joint kind answers. All functions work on arrays with any leading dimensions (whole trajectories at once)."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from dalembert.model.rotation import Array


class JointKind(ABC):
    """A kind of joint in joint coordinates: the pose of the child's joint frame in the parent's, and its twist."""

    name: str
    nq: int
    nv: int
    q_names: tuple[str, ...]
    v_names: tuple[str, ...]
    q_units: tuple[str, ...]
    v_units: tuple[str, ...]

    @abstractmethod
    def neutral(self) -> Array:
        """Coordinates at the reference configuration, relative to the reference pose."""

    @abstractmethod
    def random(self, rng: np.random.Generator) -> Array:
        """Random coordinates: uniform rotations, positions in the unit cube."""

    @abstractmethod
    def integrate(self, q: Array, dq: Array) -> Array:
        """q moved along the tangent vector dq (units of v times time)."""

    @abstractmethod
    def difference(self, q0: Array, q1: Array) -> Array:
        """The smallest dq with integrate(q0, dq) = q1."""

    @abstractmethod
    def transform(self, q: Array) -> tuple[Array, Array]:
        """(position, quaternion) of the child's joint frame in the parent's."""

    @abstractmethod
    def twist(self, q: Array, v: Array) -> Array:
        """(omega, v) of the child's joint frame relative to the parent's, child axes: S(q) v."""

    def quaternion_slots(self) -> tuple[int, ...]:
        """Where in q a unit quaternion starts."""
        return ()
