"""Planar poses g = [[R, x], [0, 1]] (3, 3) and twists xi = (w, vx, vy) (3,), angular first, body-fixed: g_dot = g hat(xi).

J = [[0, -1], [1, 0]] is the quarter turn of the plane. References: kobilarov2014 (52)-(55) restricted to the plane, (54) corrected.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dalembert.groups import MATRIX3, PLANAR_POSE, PLANAR_TWIST, Array, checked
from dalembert.kernels import se2 as kernels

__all__ = ["cay", "cay_inv", "dcay", "dcay_inv", "dexp", "dexp_inv", "exp", "hat", "log", "vee"]


@checked(PLANAR_TWIST)
def hat(xi: ArrayLike) -> Array:
    """[[w J, v], [0, 0]] (3, 3)."""
    out = np.empty((3, 3))
    kernels.hat(xi, out)
    return out


@checked(MATRIX3)
def vee(X: ArrayLike) -> Array:
    """Twist (3,) of a matrix: the inverse of hat. Of the rotational block only the antisymmetric part counts, of the last row nothing."""
    out = np.empty(3)
    kernels.vee(X, out)
    return out


@checked(PLANAR_TWIST)
def exp(xi: ArrayLike) -> Array:
    """Pose (3, 3) reached from the identity in unit time at the constant twist xi: translation (sin(w)/w + (1 - cos(w))/w J) v."""
    out = np.empty((3, 3))
    kernels.exp(xi, out)
    return out


@checked(PLANAR_POSE)
def log(g: ArrayLike) -> Array:
    """Twist (3,) with exp(log(g)) = g and w in [-pi, pi]: v = (w/2 cot(w/2) - w/2 J) x."""
    out = np.empty(3)
    kernels.log(g, out)
    return out


@checked(PLANAR_TWIST)
def dexp(xi: ArrayLike) -> Array:
    """(3, 3) with d/dt exp(xi) = hat(dexp(xi) dxi/dt) exp(xi).

    [[1, 0], [(w - sin(w))/w^2 v - (1 - cos(w))/w^2 J v, sin(w)/w + (1 - cos(w))/w J]].
    """
    out = np.empty((3, 3))
    kernels.dexp(xi, out)
    return out


@checked(PLANAR_TWIST)
def dexp_inv(xi: ArrayLike) -> Array:
    """Inverse (3, 3) of dexp(xi): [[1, 0], [J v/2 + (1 - c)/w v, c - w/2 J]], c = w/2 cot(w/2).

    Limitation: dexp is singular at |w| = 2 pi k, k > 0.
    """
    out = np.empty((3, 3))
    kernels.dexp_inv(xi, out)
    return out


@checked(PLANAR_TWIST)
def cay(xi: ArrayLike) -> Array:
    """Cayley map (3, 3): (1 - hat(xi)/2)^-1 (1 + hat(xi)/2); rotation by 2 atan(w/2), translation (1 + w/2 J) v/(1 + w^2/4)."""
    out = np.empty((3, 3))
    kernels.cay(xi, out)
    return out


@checked(PLANAR_POSE, undefined="the rotation angle is pi, which the Cayley map does not reach")
def cay_inv(g: ArrayLike) -> Array:
    """Twist (3,) with cay(cay_inv(g)) = g: (w, (1 - w/2 J) x), w = 2 tan(angle/2). Limitation: undefined where the angle is pi."""
    out = np.empty(3)
    kernels.cay_inv(g, out)
    return out


@checked(PLANAR_TWIST)
def dcay(xi: ArrayLike) -> Array:
    """(3, 3) with d/dt cay(xi) = hat(dcay(xi) dxi/dt) cay(xi): [[1, 0], [-J v/2, 1 + w/2 J]]/(1 + w^2/4)."""
    out = np.empty((3, 3))
    kernels.dcay(xi, out)
    return out


@checked(PLANAR_TWIST)
def dcay_inv(xi: ArrayLike) -> Array:
    """Inverse (3, 3) of dcay(xi): [[1 + w^2/4, 0], [(1 - w/2 J) J v/2, 1 - w/2 J]]."""
    out = np.empty((3, 3))
    kernels.dcay_inv(xi, out)
    return out
