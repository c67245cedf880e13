"""Rotations: vectors w (rad), matrices R = R_WB, and the tangents of exp and of the Cayley map.

References: kobilarov2014 (52)-(53), park2005 (10)-(12), with (11) corrected to sin^2(theta/2)/(theta^2/2).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dalembert.groups import MATRIX3, ROTATION, VECTOR, Array, checked
from dalembert.kernels import so3 as kernels

__all__ = ["cay", "cay_inv", "dcay", "dcay_inv", "dexp", "dexp_inv", "exp", "hat", "log", "vee"]


@checked(VECTOR)
def hat(w: ArrayLike) -> Array:
    """The matrix (3, 3) with hat(w) x = w cross x."""
    out = np.empty((3, 3))
    kernels.hat(w, out)
    return out


@checked(MATRIX3)
def vee(S: ArrayLike) -> Array:
    """The vector (3,) with hat(vee(S)) = (S - S^T)/2: the inverse of hat, and blind to a symmetric part."""
    out = np.empty(3)
    kernels.vee(S, out)
    return out


@checked(VECTOR)
def exp(w: ArrayLike) -> Array:
    """Rotation (3, 3) by the angle |w| about w: 1 + sin(a)/a hat(w) + (1 - cos(a))/a^2 hat(w)^2, a = |w|.

    Any angle. Error: a few units of round-off, times |w| where |w| > 1.
    """
    out = np.empty((3, 3))
    kernels.exp(w, out)
    return out


@checked(ROTATION)
def log(R: ArrayLike) -> Array:
    """Rotation vector (3,) with exp(log(R)) = R and |log(R)| <= pi, to round-off at every angle.

    At the angle pi both w and -w are right: one of them is returned.
    """
    out = np.empty(3)
    kernels.log(R, out)
    return out


@checked(VECTOR)
def dexp(w: ArrayLike) -> Array:
    """(3, 3) with d/dt exp(w) = hat(dexp(w) dw/dt) exp(w): 1 + (1 - cos(a))/a^2 hat(w) + (a - sin(a))/a^3 hat(w)^2, a = |w|."""
    out = np.empty((3, 3))
    kernels.dexp(w, out)
    return out


@checked(VECTOR)
def dexp_inv(w: ArrayLike) -> Array:
    """Inverse (3, 3) of dexp(w): 1 - hat(w)/2 + (1 - a/2 cot(a/2))/a^2 hat(w)^2, a = |w|.

    Limitation: dexp is singular at a = 2 pi k, k > 0. Near it the result is as large as a/|2 pi k - a|, and as sensitive.
    """
    out = np.empty((3, 3))
    kernels.dexp_inv(w, out)
    return out


@checked(VECTOR)
def cay(w: ArrayLike) -> Array:
    """Cayley rotation (3, 3), by the angle 2 atan(|w|/2) about w: (1 - hat(w)/2)^-1 (1 + hat(w)/2)."""
    out = np.empty((3, 3))
    kernels.cay(w, out)
    return out


@checked(ROTATION, undefined="the rotation angle is pi, which the Cayley map does not reach")
def cay_inv(R: ArrayLike) -> Array:
    """Vector (3,) with cay(cay_inv(R)) = R: 2 vee(R - R^T)/(1 + tr R). Limitation: undefined where the angle is pi."""
    out = np.empty(3)
    kernels.cay_inv(R, out)
    return out


@checked(VECTOR)
def dcay(w: ArrayLike) -> Array:
    """(3, 3) with d/dt cay(w) = hat(dcay(w) dw/dt) cay(w): 2/(4 + |w|^2) (2 + hat(w))."""
    out = np.empty((3, 3))
    kernels.dcay(w, out)
    return out


@checked(VECTOR)
def dcay_inv(w: ArrayLike) -> Array:
    """Inverse (3, 3) of dcay(w): 1 - hat(w)/2 + w w^T/4."""
    out = np.empty((3, 3))
    kernels.dcay_inv(w, out)
    return out
