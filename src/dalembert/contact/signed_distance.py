"""What `dal.contact.sshlp` returns."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import OptionError, UnknownNameError
from dalembert.kernels.separation import layout as at

STATUS = {at.SOLVED: "solved", at.SEPARATED: "separated", at.UNSETTLED: "unsettled", at.LIMIT: "limit"}
MEANING = {
    "solved": "the linear program has a solution; with beta='iterated': beta and alpha ended parallel",
    "separated": "the linear program is unbounded: the line along beta misses the Minkowski difference, so the bodies are apart; "
    "normal is that of a plane between them",
    "unsettled": "beta and alpha did not become parallel: no facet of the Minkowski difference is met at a right angle from there",
    "limit": "the limit of pivots was met; distance is a lower bound",
}
SAME = 1e-11  # of the size of the problem: g / |alpha| and h agree


class SignedDistance:
    """The linear program of a pair of convex polytopes, with its evidence. Body 1 is on the side to which `normal` points.

    distance = a1 - a2     of the planes normal.p = a1, a2 that support body 1 and body 2; = value / |alpha|
    normal                 unit vector, from body 2 to body 1
    value, alpha, beta     of the program: max a1 - a2 with beta.alpha = 1
    h, h_normal            the signed distance itself (QCLP): distance, or minus the least translation that parts the bodies
    exact                  whether distance is h; `why` says it in a sentence
    point1, point2         witnesses on the bodies: point1 - point2 = value beta
    centre                 one common point at h_normal, the middle of the patch where faces or edges meet
    status                 a key of `MEANING`; iterations: pivots and steps in all; slack: how far bounds of h are apart
    pair                   parts to which all this belongs, where a body is a union; all: (parts 1, parts 2) distances of all pairs
    """

    __slots__ = ("_code", "_mode", "_row", "all", "method", "pair")

    def __init__(self, row: Array, code: int, mode: int, method: str = "kernel"):
        self._row, self._code, self._mode, self.method = row, code, mode, method
        self.pair: tuple[int, int] = (0, 0)
        self.all: Array | None = None

    def _vector(self, start: int) -> Array:
        return self._row[start : start + 3].copy()

    @property
    def _exactly(self) -> bool:
        """Whether the planes are those of h."""
        return self._mode == at.NEAREST and self.method == "kernel"

    @property
    def h(self) -> float:
        """The signed distance, m: distance, or minus the depth of overlap."""
        return float(self._row[at.H])

    @property
    def h_normal(self) -> Array:
        """Unit normal of h: body 1 moves along it to be farther away."""
        return self._vector(at.N)

    @property
    def slack(self) -> float:
        """Bounds of h are so far apart, m: round-off, unless K1 - K2 is a needle or a sheet thinner than some 1e-7 of its length."""
        return float(self._row[at.SLACK])

    @property
    def value(self) -> float:
        """g, value of the linear program; infinite where it is unbounded."""
        return float(self._row[at.G])

    @property
    def alpha(self) -> Array:
        """Solution of the program, beta.alpha = 1. Where it is unbounded: the unit normal of a plane between the bodies."""
        return self._vector(at.ALPHA)

    @property
    def beta(self) -> Array:
        """Unit vector of the program."""
        return self._vector(at.BETA)

    @property
    def normal(self) -> Array:
        """alpha / |alpha|"""
        alpha = self._vector(at.ALPHA)
        return np.asarray(alpha / np.sqrt(alpha @ alpha))

    @property
    def distance(self) -> float:
        """a1 - a2, m: value / |alpha|, never above h."""
        if self._exactly:
            return float(self._row[at.H])
        g, a = float(self._row[at.G]), self._row[at.ALPHA : at.ALPHA + 3].tolist()
        if g < math.inf:
            return g / math.sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2])
        return float(self.normal @ (self.point1 - self.point2))

    @property
    def a1(self) -> float:
        """normal.x >= a1 on body 1, m."""
        return float(self.normal @ self.point1) if not self._exactly else float(self._row[at.A1])

    @property
    def a2(self) -> float:
        """normal.y <= a2 on body 2, m."""
        return float(self.normal @ self.point2) if not self._exactly else float(self._row[at.A2])

    @property
    def point1(self) -> Array:
        """Witness on body 1."""
        return self._vector(at.GX_AT)

    @property
    def point2(self) -> Array:
        """Witness on body 2."""
        return self._vector(at.GY_AT)

    @property
    def centre(self) -> Array:
        """The common point, halfway between the planes of h."""
        return self._vector(at.CENTRE)

    @property
    def iterations(self) -> int:
        """Pivots and steps."""
        return int(self._row[at.STEPS])

    @property
    def status(self) -> str:
        """How the program ended."""
        return STATUS[at.LIMIT if self._code == at.LIMIT else int(self._row[at.RAY_STATUS])]

    @property
    def exact(self) -> bool:
        """Whether distance is the signed distance h."""
        return bool(abs(self.distance - self.h) <= SAME * self._row[at.SCALE] and self._code == at.SOLVED)

    @property
    def why(self) -> str:
        """What `distance` and `value` are."""
        what = "distance" if self.h > 0.0 else "depth of overlap"
        if self.status == "separated":
            return (
                f"The program is unbounded: the line along beta misses K1 - K2. The bodies are apart by {self.distance:.6g} or more, "
                f"and the {what} is {self.h:.6g}."
            )
        if self.value < 0.0 < self.h and self.distance < 0.0:
            return (
                f"beta points away: its line meets K1 - K2 behind the origin. distance = {self.distance:.6g} is a lower bound of "
                f"h = {self.h:.6g} and says nothing more, not even the sign; take -beta, or 'centroids'."
            )
        if not self.exact:
            return (
                f"distance = {self.distance:.6g} is a lower bound of h = {self.h:.6g}: the ray along beta met a facet of K1 - K2 that "
                f"is not the nearest; |value| = {abs(self.value):.6g} is the length of the ray, never below |h|."
            )
        if abs(self.value - self.h) <= SAME * self._row[at.SCALE]:
            return f"value and distance are the {what}: beta is the normal of the nearest feature of K1 - K2."
        return (
            f"distance is the {what}: the ray along beta met the facet of K1 - K2 that is nearest; "
            f"|value| = {abs(self.value):.6g} is the length of the ray."
        )

    def subgradient(self, origin1: Any = (0.0, 0.0, 0.0), origin2: Any = (0.0, 0.0, 0.0), *, at: str = "witness") -> Array:
        """Rows (2, 6) for the twists (angular, linear) of the two bodies about their origins: the rate of the value, or of h.

            d value/dt = alpha.(v1 + w1 x (x - origin1)) - alpha.(v2 + w2 x (y - origin2))        beta held

        so the rows are ((x - origin1) x alpha, alpha) and minus ((y - origin2) x alpha, alpha): torque and force of a unit multiplier.
        at: "witness" with alpha and both witnesses, or "centre" with the unit normal of h and one common point, which pushes faces that
        lie on each other in the middle and keeps angular momentum whatever the gap.
        """
        if at not in ("witness", "centre"):
            raise UnknownNameError("point of a subgradient", at, ("witness", "centre"))
        o1, o2 = _point("origin1", origin1), _point("origin2", origin2)
        if at == "centre":
            d = self.h_normal
            x = y = self.centre
        else:
            d, x, y = self.alpha, self.point1, self.point2
        return np.array([[*np.cross(x - o1, d), *d], [*np.cross(o2 - y, d), *-d]])

    def __repr__(self) -> str:
        normal = (self.normal.round(6) + 0.0).tolist()
        return f"SignedDistance(distance={self.distance:.6g}, normal={normal}, exact={self.exact}, {self.status})"


def _point(name: str, given: Any) -> Array:
    try:
        found = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        raise OptionError(f"{name} is {given!r}; expected three numbers, m.") from None
    if found.shape != (3,) or not np.isfinite(found).all():
        raise OptionError(f"{name} is {given!r}; expected three finite numbers, m.")
    return found
