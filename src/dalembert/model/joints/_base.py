"""What a joint kind answers. All functions work on arrays with any leading dimensions (whole trajectories at once).

Both joint frames (one fixed in the parent, one in the child) sit at the anchor and have the axes of the child body at the reference
configuration, where they coincide.
`transform` is the pose of the child's joint frame in the parent's:  g(q) = (p(q), R(q)), g(neutral) = 1.
`twist` is  hat(xi) = g^-1 g_dot,  xi = (omega, v) = S(q) v:  angular first, axes of the child's joint frame.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Literal, NamedTuple

import numpy as np

from dalembert.arrays import Array

#: name and axis; a screw also has a pitch, m/rad
Primitive = tuple[Literal["revolute", "prismatic", "spherical", "free"], Array | None] | tuple[Literal["screw"], Array, float]


class Axes(NamedTuple):
    """Unit directions of one joint in its joint frame; kinds that have no second one ignore axis2."""

    axis: Array
    axis2: Array


class JointKind(ABC):
    """A kind of joint in joint coordinates: the pose of the child's joint frame in the parent's, and its twist."""

    name: str
    nq: int
    nv: int
    q_names: tuple[str, ...]
    v_names: tuple[str, ...]
    q_units: tuple[str, ...]
    v_units: tuple[str, ...]
    second_axis: Literal["none", "optional", "required"] = "none"
    limitable: bool = False  # limits make sense: bounds on the one coordinate, or on the angle of a ball joint
    elastic: bool = True  # stiffness makes sense
    absolute: bool = False  # q is the place of the body frame in the world, which must be the parent: anchor and axes play no part
    has_rest: bool = False  # the spring may rest elsewhere than at the reference configuration

    @abstractmethod
    def neutral(self) -> Array:
        """Coordinates at the reference configuration, relative to the reference pose."""

    @abstractmethod
    def random(self, rng: np.random.Generator) -> Array:
        """Random coordinates: uniform rotations, positions in [-1, 1] m."""

    @abstractmethod
    def integrate(self, q: Array, dq: Array) -> Array:
        """q moved along the tangent vector dq (units of v times time)."""

    @abstractmethod
    def difference(self, q0: Array, q1: Array) -> Array:
        """The smallest dq with integrate(q0, dq) = q1."""

    @abstractmethod
    def transform(self, q: Array, axes: Axes) -> tuple[Array, Array]:
        """(position, quaternion) of the child's joint frame in the parent's."""

    @abstractmethod
    def subspace(self, q: Array, axes: Axes) -> Array:
        """S(q), (..., 6, nv)."""

    @abstractmethod
    def primitives(self, axes: Axes) -> tuple[Primitive, ...]:
        """The joint as a chain of simple joints from parent to child, all at the anchor; axes in the joint frame at the reference
        configuration. The coordinates of the chain are those of the joint, in this order."""

    @abstractmethod
    def coordinates(self, position: Array, quaternion: Array, axes: Axes) -> Array:
        """q with transform(q) = (position, quaternion), for poses that the joint allows; of others a near one. Angles in (-pi, pi]."""

    def rates(self, q: Array, twist: Array, axes: Axes) -> Array:
        """v with twist(q, v) = twist, for twists that the joint allows; else the least-squares solution, v = (S^T S)^-1 S^T twist."""
        S = self.subspace(q, axes)
        St = np.swapaxes(S, -1, -2)
        return np.asarray(np.linalg.solve(St @ S, St @ twist[..., None])[..., 0])

    def twist(self, q: Array, v: Array, axes: Axes) -> Array:
        """(omega, v) of the child's joint frame relative to the parent's, child axes: S(q) v."""
        return np.einsum("...ij,...j->...i", self.subspace(q, axes), v)

    def axes(self, axis: Array, axis2: Array | None) -> Axes:
        """The directions that this kind uses, from those given (unit vectors); axis2 defaults to `perpendicular(axis)`."""
        return Axes(axis, perpendicular(axis) if axis2 is None else axis2)

    def strain(self, q: Array, rest: float) -> Array:
        """What the joint's stiffness k acts on, (..., nv): energy k |strain|^2/2, joint force -k strain. Here log(q) from neutral."""
        return self.difference(self.neutral(), q)

    def quaternion_slots(self) -> tuple[int, ...]:
        """Where in q a unit quaternion starts."""
        return ()


class VectorKind(JointKind):
    """A kind whose coordinates add: q in R^n, v = dq/dt, strain q - rest coordinate by coordinate."""

    has_rest = True

    def neutral(self) -> Array:
        return np.zeros(self.nq)

    def random(self, rng: np.random.Generator) -> Array:
        """Angles in [-pi, pi], shifts in [-1, 1] m."""
        reach = np.array([np.pi if unit == "rad" else 1.0 for unit in self.q_units])
        return rng.uniform(-reach, reach)

    def integrate(self, q: Array, dq: Array) -> Array:
        return q + dq

    def difference(self, q0: Array, q1: Array) -> Array:
        return q1 - q0

    def strain(self, q: Array, rest: float) -> Array:
        return q - rest


def angle_about(axis: Array, quaternion: Array) -> Array:
    """The angle (..., 1) in (-pi, pi] of a turn about a unit axis, from its quaternion (of either sign): 2 atan2(axis . q_v, q_s)."""
    s, c = quaternion[..., 1:] @ axis, quaternion[..., 0]
    angle = 2.0 * np.where(c < 0.0, np.arctan2(-s, -c), np.arctan2(s, c))
    return np.asarray(np.where(angle <= -np.pi, np.pi, angle))[..., None]


def perpendicular(axis: Array) -> Array:
    """Unit vector across a unit axis: what is left of the first of x, y, z that is more than 53 degrees away from it (z gives x, x gives y,
    y gives x). Small errors of the axis do not change the choice near x, y, z."""
    first = next(e for e in np.eye(3) if abs(e @ axis) < 0.6)
    return across(axis, first)


def across(axis: Array, direction: Array) -> Array:
    """The part of a direction that is perpendicular to a unit axis, as a unit vector."""
    rest = direction - (direction @ axis) * axis
    return rest / np.linalg.norm(rest)
