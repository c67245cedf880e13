"""Contact problems to test models with, shared by tests, benchmarks and the command line."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dalembert.arrays import Array
from dalembert.complementarity.friction.problem import ContactProblem


def rows(arm: Array, normal: Array, tangent: Array | None = None) -> Array:
    """(3, 6): normal and tangential velocities of the point of a body at `arm` from its centre, from its (angular, linear) velocity."""
    if tangent is None:
        tangent = np.cross(normal, np.eye(3)[np.argmin(np.abs(normal))])
    tangent = tangent / np.linalg.norm(tangent)
    return np.array([np.r_[np.cross(arm, d), d] for d in (normal, tangent, np.cross(normal, tangent))])


def random_contacts(
    contacts: int, mu: float, rng: np.random.Generator, regular: float = 1e-6, duplicates: int = 0, skew: float = 0.0
) -> ContactProblem:
    """One free body with contacts of random places and normals, random mass, inertia and velocity; some contacts may occur twice.

    regular: added to the diagonal.  skew: size of a random skew matrix that is added; W stays positive definite.
    """
    arms, normals = rng.uniform(-1.0, 1.0, (contacts, 3)), rng.standard_normal((contacts, 3))
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    which = np.r_[np.arange(contacts), rng.integers(0, max(contacts, 1), duplicates if contacts else 0)].astype(int)
    J = np.concatenate([rows(arms[k], normals[k]) for k in which]) if len(which) else np.empty((0, 6))
    inverse = np.r_[1.0 / rng.uniform(0.1, 1.0, 3), np.full(3, 1.0)]
    W = (J * inverse) @ J.T + regular * np.eye(len(J))
    if skew:
        S = rng.standard_normal(W.shape)
        W = W + skew * (S - S.T)
    return ContactProblem(W, J @ rng.standard_normal(6), np.full(len(which), mu))


def anisotropic(contacts: int, mu: float, rng: np.random.Generator) -> ContactProblem:
    """A random positive definite W = A A^T + 0.1, b with contacts that close: the tangents are strongly coupled to the normals."""
    n = 3 * contacts
    A = rng.standard_normal((n, n))
    b = rng.standard_normal(n)
    b[::3] = -np.abs(b[::3])
    return ContactProblem(A @ A.T + 0.1 * np.eye(n), b, np.full(contacts, mu))


def incline(
    slope: float, mu: float, h: float = 1.0 / 60.0, size: Sequence[float] = (1.0, 1.0, 1.0), regular: float = 1e-6, heading: float = 0.0
) -> ContactProblem:
    """A box of unit mass at rest on a plane of that slope (tan theta), four corners touching, one step of h under gravity 9.81.

    heading: angle from the first tangent to the direction of steepest descent. Without tipping the ratio of the tangential to the normal
    impulse is min(slope, mu), whatever the sizes of the impulses of the four redundant contacts.
    """
    x, y, z = (0.5 * s for s in size)
    inverse = np.r_[3.0 / (y * y + z * z), 3.0 / (x * x + z * z), 3.0 / (x * x + y * y), np.ones(3)]
    up, along = np.array([0.0, 0.0, 1.0]), np.array([1.0, 0.0, 0.0])
    J = np.concatenate([rows(np.array([a * x, c * y, -z]), up, along) for a in (-1, 1) for c in (-1, 1)])
    theta = np.arctan(slope)
    pull = 9.81 * h * np.array([np.sin(theta) * np.cos(heading), np.sin(theta) * np.sin(heading), -np.cos(theta)])
    W = (J * inverse) @ J.T + regular * np.eye(12)
    return ContactProblem(W, J @ np.r_[np.zeros(3), pull], np.full(4, mu))
