"""Unit quaternions q = (q_s, q_v) (4,), scalar first, Hamilton (i j = k), body to world: x_W = q * x_B * conj(q).

mul, conj and the matrices P, Q, E, G are defined for every quaternion; to_matrix and log want unit length.
Reference: lacoursiere2007, chapter 13, with (13.59) corrected to P(q) P(p) = P(p * q) and (13.83) to q_s^2 = (1 + tr R)/4.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dalembert.groups import NONZERO_QUATERNION, QUATERNION, ROTATION, UNIT_QUATERNION, VECTOR, Array, checked
from dalembert.kernels import quat as kernels

__all__ = ["E", "G", "P", "Q", "conj", "exp", "from_matrix", "log", "mul", "normalise", "to_matrix"]


@checked(QUATERNION, QUATERNION)
def mul(p: ArrayLike, q: ArrayLike) -> Array:
    """Product p * q (4,) = (p_s q_s - p_v . q_v, p_s q_v + q_s p_v + p_v cross q_v): first q, then p. (13.47)"""
    return np.array(kernels.mul(p, q))


@checked(QUATERNION)
def conj(q: ArrayLike) -> Array:
    """(q_s, -q_v) (4,): the inverse of a unit quaternion."""
    return np.array(kernels.conj(q))


@checked(NONZERO_QUATERNION)
def normalise(q: ArrayLike) -> Array:
    """The unit quaternion q/|q| (4,) of a quaternion that is not zero."""
    return np.array(kernels.normalise(q))


@checked(VECTOR)
def exp(w: ArrayLike) -> Array:
    """Unit quaternion (4,) of the rotation vector w: (cos(|w|/2), sin(|w|/2) w/|w|). (13.110) at w/2."""
    return np.array(kernels.exp(w))


@checked(UNIT_QUATERNION)
def log(q: ArrayLike) -> Array:
    """Rotation vector (3,), |log(q)| <= pi, the same for q and -q: 2 atan2(|q_v|, |q_s|) sign(q_s) q_v/|q_v|."""
    return np.array(kernels.log(q))


@checked(UNIT_QUATERNION)
def to_matrix(q: ArrayLike) -> Array:
    """Rotation R_WB (3, 3) = 1 + 2 q_s hat(q_v) + 2 hat(q_v)^2 = E(q) G(q)^T. (13.73)-(13.75)"""
    out = np.empty((3, 3))
    kernels.to_matrix(q, out)
    return out


@checked(ROTATION)
def from_matrix(R: ArrayLike) -> Array:
    """The unit quaternion (4,) of R with q_s >= 0, to round-off at every angle. (13.83)-(13.85)"""
    return np.array(kernels.from_matrix(R))


@checked(QUATERNION)
def P(q: ArrayLike) -> Array:
    """(4, 4) with P(q) p = p * q: [[q_s, -q_v^T], [q_v, q_s - hat(q_v)]]. (13.52)"""
    out = np.empty((4, 4))
    kernels.P(q, out)
    return out


@checked(QUATERNION)
def Q(q: ArrayLike) -> Array:
    """(4, 4) with Q(q) p = q * p: [[q_s, -q_v^T], [q_v, q_s + hat(q_v)]]. (13.51)"""
    out = np.empty((4, 4))
    kernels.Q(q, out)
    return out


@checked(QUATERNION)
def E(q: ArrayLike) -> Array:
    """[-q_v, q_s + hat(q_v)] (3, 4): q_dot = E(q)^T w/2 and w = 2 E(q) q_dot, w in world axes. (13.64), (13.119)"""
    out = np.empty((3, 4))
    kernels.E(q, out)
    return out


@checked(QUATERNION)
def G(q: ArrayLike) -> Array:
    """[-q_v, q_s - hat(q_v)] (3, 4): q_dot = G(q)^T w/2 and w = 2 G(q) q_dot, w in body axes. (13.64), (13.120)"""
    out = np.empty((3, 4))
    kernels.G(q, out)
    return out
