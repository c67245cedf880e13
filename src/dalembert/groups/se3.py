"""Poses g = [[R, x], [0, 1]] (4, 4) and twists xi = (w, v) (6,), angular first, body-fixed: g_dot = g hat(xi).

References: kobilarov2014 (52)-(55), where the translation of the Cayley map (54) is corrected to (1 - hat(w)/2)^-1 v;
park2005 (18)-(24), who order twists (v, w).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dalembert.groups import MATRIX4, POSE, TWIST, Array, checked
from dalembert.kernels import se3 as kernels

__all__ = ["Ad", "ad", "cay", "cay_inv", "dcay", "dcay_inv", "dexp", "dexp_inv", "exp", "hat", "inv", "log", "vee"]


@checked(TWIST)
def hat(xi: ArrayLike) -> Array:
    """[[hat(w), v], [0, 0]] (4, 4)."""
    out = np.empty((4, 4))
    kernels.hat(xi, out)
    return out


@checked(MATRIX4)
def vee(X: ArrayLike) -> Array:
    """Twist (6,) of a matrix: the inverse of hat. Of the rotational block only the antisymmetric part counts, of the last row nothing."""
    out = np.empty(6)
    kernels.vee(X, out)
    return out


@checked(TWIST)
def exp(xi: ArrayLike) -> Array:
    """Pose (4, 4) reached from the identity in unit time at the constant twist xi: [[exp(w), dexp_SO3(w) v], [0, 1]]."""
    out = np.empty((4, 4))
    kernels.exp(xi, out)
    return out


@checked(POSE)
def log(g: ArrayLike) -> Array:
    """Twist (6,) with exp(log(g)) = g and |w| <= pi: (w, dexp_inv_SO3(w) x), w = log_SO3(R).

    To round-off at every angle; at the angle pi one of two right answers.
    """
    out = np.empty(6)
    kernels.log(g, out)
    return out


@checked(TWIST)
def dexp(xi: ArrayLike) -> Array:
    """(6, 6) with d/dt exp(xi) = hat(dexp(xi) dxi/dt) exp(xi).

    [[D, 0], [D', D]], D = dexp_SO3(w), and D' = dD(w)/dw along v, in closed form; a series below |w| = 0.5.
    """
    out = np.empty((6, 6))
    kernels.dexp(xi, out)
    return out


@checked(TWIST)
def dexp_inv(xi: ArrayLike) -> Array:
    """Inverse (6, 6) of dexp(xi): [[D, 0], [D', D]], D = dexp_inv_SO3(w), D' = dD(w)/dw along v, in closed form.

    Limitation: dexp is singular at |w| = 2 pi k, k > 0.
    """
    out = np.empty((6, 6))
    kernels.dexp_inv(xi, out)
    return out


@checked(TWIST)
def cay(xi: ArrayLike) -> Array:
    """Cayley map (4, 4): (1 - hat(xi)/2)^-1 (1 + hat(xi)/2) = [[cay_SO3(w), (1 - hat(w)/2)^-1 v], [0, 1]].

    Printed (54) of kobilarov2014 lacks the term w w^T/2 in the translation 2/(4 + |w|^2) (2 + hat(w) + w w^T/2) v.
    """
    out = np.empty((4, 4))
    kernels.cay(xi, out)
    return out


@checked(POSE, undefined="the rotation angle is pi, which the Cayley map does not reach")
def cay_inv(g: ArrayLike) -> Array:
    """Twist (6,) with cay(cay_inv(g)) = g: (w, (1 - hat(w)/2) x), w = cay_inv_SO3(R). Limitation: undefined where the angle is pi."""
    out = np.empty(6)
    kernels.cay_inv(g, out)
    return out


@checked(TWIST)
def dcay(xi: ArrayLike) -> Array:
    """(6, 6) with d/dt cay(xi) = hat(dcay(xi) dxi/dt) cay(xi): [[d, 0], [hat(v) d/2, (1 - hat(w)/2)^-1]], d = dcay_SO3(w)."""
    out = np.empty((6, 6))
    kernels.dcay(xi, out)
    return out


@checked(TWIST)
def dcay_inv(xi: ArrayLike) -> Array:
    """Inverse (6, 6) of dcay(xi): [[1 - hat(w)/2 + w w^T/4, 0], [-(1 - hat(w)/2) hat(v)/2, 1 - hat(w)/2]]."""
    out = np.empty((6, 6))
    kernels.dcay_inv(xi, out)
    return out


@checked(POSE)
def Ad(g: ArrayLike) -> Array:
    """Adjoint (6, 6): hat(Ad(g) xi) = g hat(xi) g^-1. [[R, 0], [hat(x) R, R]]."""
    out = np.empty((6, 6))
    kernels.Ad(g, out)
    return out


@checked(TWIST)
def ad(xi: ArrayLike) -> Array:
    """Bracket (6, 6): hat(ad(xi) eta) = hat(xi) hat(eta) - hat(eta) hat(xi). [[hat(w), 0], [hat(v), hat(w)]]."""
    out = np.empty((6, 6))
    kernels.ad(xi, out)
    return out


@checked(POSE)
def inv(g: ArrayLike) -> Array:
    """Inverse pose (4, 4): [[R^T, -R^T x], [0, 1]]."""
    out = np.empty((4, 4))
    kernels.inv(g, out)
    return out
