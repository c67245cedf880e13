"""Lie groups: rotations `so3`, poses `se3`, planar poses `se2`, unit quaternions `quat`.

Conventions: SI units and radians; quaternions scalar first, Hamilton, body to world; twists angular first, (w, v), body-fixed;
tangent maps right-trivialised, d/dt tau(xi) = hat(dtau(xi) dxi/dt) tau(xi), for tau = exp and tau = cay.

Every function takes and returns arrays and may be called

- from Python, with anything that NumPy turns into numbers. Leading axes are a batch: `so3.exp` of shape (5, 3) gives (5, 3, 3). A wrong
  shape, a number that is not finite, a matrix that is not a rotation: `OptionError`;
- from compiled (`@njit`) code, for one element at a time and without checks: outside its domain a function gives what is not a number.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from dalembert.arrays import Array
from dalembert.errors import OptionError
from dalembert.kernels import _jit

__all__ = ["quat", "se2", "se3", "so3"]


Function = TypeVar("Function", bound=Callable[..., Any])

#: the squares of larger numbers overflow in products
LARGEST = 1e100
#: |R^T R - 1|, ||q| - 1| beyond which a matrix is no rotation, a quaternion no unit quaternion: far above round-off and stored data
LOOSE = 1e-6


def __getattr__(name: str) -> Any:
    if name in __all__:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _no_flaw(a: Array) -> str:
    return ""


def _not_rotation(R: Array) -> str:
    """'' or what keeps R from being a rotation."""
    n = R.shape[-1]
    error = float(np.abs(np.swapaxes(R, -1, -2) @ R - np.eye(n)).max(initial=0.0))
    if error > LOOSE:
        return f"is not a rotation: max |R^T R - 1| = {error:.3g}"
    return "" if (np.linalg.det(R) > 0.0).all() else "is a reflection: det R = -1"


def _not_pose(g: Array) -> str:
    n = g.shape[-1] - 1
    if (g[..., n, :] != np.eye(n + 1)[n]).any():
        return f"is not a pose: its last row must be {'0 ' * n}1"
    return _not_rotation(g[..., :n, :n])


def _not_unit(q: Array) -> str:
    error = float(np.abs(np.sqrt((q * q).sum(-1)) - 1.0).max(initial=0.0))
    return f"is not a unit quaternion: ||q| - 1| = {error:.3g}; see quat.normalise" if error > LOOSE else ""


def _zero(q: Array) -> str:
    return "is zero; expected a quaternion with a length" if (q == 0.0).all(-1).any() else ""


class Kind(NamedTuple):
    """What an argument must be."""

    shape: tuple[int, ...]
    words: str
    flaw: Callable[[Array], str] = _no_flaw

    @property
    def unit(self) -> Array:
        """Some element: it tells the shape of a result where a batch is empty."""
        rows = self.shape[0] if len(self.shape) == 2 else 1
        return np.eye(rows, self.shape[-1]).reshape(self.shape)

    def read(self, where: str, value: ArrayLike) -> Array:
        """value as an array of this kind, or OptionError."""
        try:
            if np.iscomplexobj(value):
                raise TypeError("complex numbers")
            a = np.ascontiguousarray(value, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise OptionError(f"{where} cannot be read as numbers ({error}); expected {self}") from error
        if a.shape[-len(self.shape) :] != self.shape or np.ndim(value) < len(self.shape):
            raise OptionError(f"{where} has shape {np.shape(value)}; expected {self}")
        size = np.abs(a).max(initial=0.0)
        if not size < LARGEST:
            raise OptionError(f"{where} holds {size:g}; expected finite numbers smaller than {LARGEST:g}")
        if flaw := self.flaw(a):
            raise OptionError(f"{where} {flaw}")
        return a

    def __str__(self) -> str:
        batch = ", ".join(["...", *map(str, self.shape)])
        return f"{self.words} of shape {self.shape}, or a batch ({batch})"


VECTOR = Kind((3,), "a vector")
TWIST = Kind((6,), "a twist (w, v)")
PLANAR_TWIST = Kind((3,), "a planar twist (w, vx, vy)")
MATRIX3 = Kind((3, 3), "a matrix")
MATRIX4 = Kind((4, 4), "a matrix")
ROTATION = Kind((3, 3), "a rotation matrix", _not_rotation)
POSE = Kind((4, 4), "a pose [[R, x], [0, 1]]", _not_pose)
PLANAR_POSE = Kind((3, 3), "a planar pose [[R, x], [0, 1]]", _not_pose)
QUATERNION = Kind((4,), "a quaternion, scalar first,")
NONZERO_QUATERNION = Kind((4,), "a quaternion, scalar first,", _zero)
UNIT_QUATERNION = Kind((4,), "a unit quaternion, scalar first,", _not_unit)


def checked(*kinds: Kind, undefined: str = "its argument is too large") -> Callable[[Function], Function]:
    """Decorate a compilable body: Python callers get checks and batches, compiled callers the body itself.

    `undefined` says why a result may be something that is not a number.
    """

    def decorate(body: Function) -> Function:
        name = f"{body.__module__.rpartition('.')[2]}.{body.__name__}"
        signature = inspect.signature(body)
        names = list(signature.parameters)

        def call(compiled: Callable[..., Array], *args: Any, **kwargs: Any) -> Array:
            if kwargs or len(args) != len(kinds):
                args = signature.bind(*args, **kwargs).args
            arrays = [kind.read(f"{name}: {n}", a) for kind, n, a in zip(kinds, names, args, strict=True)]
            if all(a.ndim == len(kind.shape) for a, kind in zip(arrays, kinds, strict=True)):
                out = compiled(*arrays)
            else:
                out = _batch(name, compiled, kinds, arrays)
            if not np.isfinite(out).all():
                given = ", ".join(f"{n} = {np.array2string(a, separator=', ')}" for n, a in zip(names, arrays, strict=True))
                raise OptionError(f"{name} is not defined here: {undefined}. Given {given.replace(chr(10), '')}")
            return out

        decorated: Function = _jit.front(call)(body)
        return decorated

    return decorate


def _batch(name: str, compiled: Callable[..., Array], kinds: tuple[Kind, ...], arrays: list[Array]) -> Array:
    """compiled() of every element of arrays whose leading axes are broadcast."""
    leads = [a.shape[: a.ndim - len(kind.shape)] for a, kind in zip(arrays, kinds, strict=True)]
    try:
        lead = np.broadcast_shapes(*leads)
    except ValueError as error:
        raise OptionError(f"{name}: batches of shape {' and '.join(map(str, leads))} do not fit each other") from error
    arrays = [np.broadcast_to(a, lead + kind.shape) for a, kind in zip(arrays, kinds, strict=True)]
    out = np.empty(lead + compiled(*(kind.unit for kind in kinds)).shape)
    for index in np.ndindex(lead):
        out[index] = compiled(*(np.ascontiguousarray(a[index]) for a in arrays))
    return out
