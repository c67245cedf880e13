"""Checks of what users give. Each error names the object, the value, and what was expected."""

from __future__ import annotations

from collections.abc import Collection, Container, Mapping
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import DalembertError, ModelError, OptionError, UnknownNameError
from dalembert.model.rotation import from_matrix


def frozen(a: Array) -> Array:
    """The same array, read-only."""
    a.setflags(write=False)
    return a


def vector(owner: str, what: str, value: Any, n: int, error: type[DalembertError] = ModelError) -> Array:
    """n finite numbers."""
    try:
        a = np.array(value, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise error(f"{owner}: {what} is {value!r}; expected {n} numbers.") from None
    if a.shape != (n,):
        raise error(f"{owner}: {what} has shape {a.shape}; expected ({n},).")
    if not np.isfinite(a).all():
        raise error(f"{owner}: {what} is {a.tolist()}; expected finite numbers.")
    return frozen(a)


def number(owner: str, what: str, value: Any, least: float = -np.inf, strict: bool = False) -> float:
    """A finite number, at least (or above) a bound."""
    bound = f" {'>' if strict else '>='} {least:g}" if least > -np.inf else ""
    try:
        x = float(value)
    except (TypeError, ValueError, OverflowError):
        raise ModelError(f"{owner}: {what} is {value!r}; expected a number{bound}.") from None
    if not np.isfinite(x) or x < least or (strict and x == least):
        raise ModelError(f"{owner}: {what} is {x!r}; expected a finite number{bound}.")
    return x


def array(owner: str, what: str, value: Any) -> Array:
    """Numbers, of whatever shape: one state, or arrays of states."""
    try:
        return np.asarray(value, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise OptionError(f"{owner}: {what} is {value!r}; expected an array of numbers.") from None


def alone(value: Any) -> bool:
    """One thing, a number or not, also as an array without axes; lists that differ in length, which NumPy takes for none, are several."""
    return bool(np.isscalar(value)) or getattr(value, "shape", None) == ()


def known(name: Any, names: Container[Any]) -> bool:
    """Is it one of the names? What cannot be a name (a list, an array) is none of them."""
    return isinstance(name, str) and name in names


def direction(owner: str, what: str, value: Any) -> Array:
    """A unit vector along three numbers; one that is a unit vector to round-off already keeps its digits."""
    a = vector(owner, what, value, 3)
    length = float(np.linalg.norm(a))
    if length < 1e-12:
        raise ModelError(f"{owner}: {what} is {a.tolist()}; expected a direction.")
    return a if abs(length - 1.0) < 1e-15 else frozen(a / length)


def interval(owner: str, what: str, value: Any) -> tuple[float, float]:
    """(lower, upper) with lower < upper."""
    low, high = vector(owner, what, value, 2).tolist()
    if not low < high:
        raise ModelError(f"{owner}: {what} are ({low}, {high}); expected lower < upper.")
    return low, high


def plain(owner: str, what: str, value: Any) -> Any:
    """A copy of plain data (None, bool, numbers, strings, lists and dicts of these) that JSON can hold; arrays become lists."""
    if isinstance(value, (np.ndarray, np.generic)):
        value = value.tolist()
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)):
        return [plain(owner, what, x) for x in value]
    if isinstance(value, Mapping) and all(isinstance(k, str) for k in value):
        return {k: plain(owner, f"{what}[{k!r}]", x) for k, x in value.items()}
    raise ModelError(f"{owner}: {what} is {value!r}; expected numbers, strings, and lists or dicts of these (keys: strings).")


def names(what: str, given: Any, known: Collection[str], others: Mapping[str, str]) -> tuple[str, ...]:
    """One name or several, each once; others: what else a name may be called. UnknownNameError lists what is known."""
    listed = (given,) if isinstance(given, str) else given
    if not isinstance(listed, (tuple, list, set, frozenset)):
        raise OptionError(f"{what}: got {given!r}; expected a name or a tuple of names, such as ({min(known)!r},).")
    found = [others.get(name, name) if isinstance(name, str) else name for name in listed]
    for name in found:
        if not isinstance(name, str) or name not in known:
            raise UnknownNameError(what, name, known)
    return tuple(dict.fromkeys(sorted(found) if isinstance(listed, (set, frozenset)) else found))


def by_name(what: str, given: Mapping[str, Any], full: Array, where: dict[str, slice]) -> Array:
    """`full` with the slices of some joints replaced."""
    for name, values in given.items():
        if name not in where:
            raise UnknownNameError(f"joint in {what}", name, where)
        s = where[name]
        full[s] = vector(f"joint {name!r}", what, [values] if alone(values) else values, s.stop - s.start, OptionError)
    return full


def unit_quaternion(owner: str, what: str, value: Any, error: type[DalembertError] = ModelError) -> Array:
    """A quaternion, normalised (one that is normal to round-off keeps its digits); refused where its norm is off by more than 1e-3."""
    q = vector(owner, what, value, 4, error)
    n = float(np.linalg.norm(q))
    if abs(n - 1.0) > 1e-3:
        raise error(f"{owner}: {what} {q.tolist()} has norm {n:.6g}; expected a unit quaternion (w, x, y, z).")
    return q if abs(n - 1.0) < 1e-15 else frozen(q / n)


def rotation(owner: str, what: str, value: Any) -> Array:
    """A 3x3 rotation matrix as a quaternion."""
    R = np.array(value, dtype=float)
    if R.shape != (3, 3) or not np.isfinite(R).all() or not np.allclose(R @ R.T, np.eye(3), atol=1e-6) or np.linalg.det(R) < 0:
        raise ModelError(f"{owner}: {what} is not a rotation matrix: {R.tolist()}.")
    return frozen(from_matrix(R))


def pose(owner: str, value: Any) -> tuple[Array, Array]:
    """(position, quaternion) from None, a 4x4 matrix, or (position, quaternion)."""
    if value is None:
        return frozen(np.zeros(3)), frozen(np.array([1.0, 0.0, 0.0, 0.0]))
    if isinstance(value, (tuple, list)) and len(value) == 2:
        return vector(owner, "position of the pose", value[0], 3), unit_quaternion(owner, "quaternion of the pose", value[1])
    try:
        T = np.array(value, dtype=float)
    except (TypeError, ValueError, OverflowError):
        T = np.empty(0)
    if T.shape != (4, 4) or not np.allclose(T[3], [0, 0, 0, 1]):
        raise ModelError(f"{owner}: pose has shape {T.shape}; expected a 4x4 homogeneous matrix or (position, quaternion).")
    return vector(owner, "position of the pose", T[:3, 3], 3), rotation(owner, "rotation of the pose", T[:3, :3])


def symmetric(owner: str, what: str, value: Any) -> Array:
    """A symmetric, finite 3x3 matrix from 3 numbers or a matrix."""
    try:
        a = np.array(value, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise ModelError(f"{owner}: {what} is {value!r}; expected 3 numbers or a 3x3 matrix.") from None
    if a.shape == (3,):
        a = np.diag(a)
    if a.shape != (3, 3):
        raise ModelError(f"{owner}: {what} has shape {a.shape}; expected (3,) or (3, 3).")
    if not np.isfinite(a).all():
        raise ModelError(f"{owner}: {what} is {a.tolist()}; expected finite numbers.")
    if (np.abs(a - a.T) > 1e-12 * np.abs(a).max() + 1e-9 * np.abs(a.T)).any():
        raise ModelError(f"{owner}: {what} {a.tolist()} is not symmetric.")
    return frozen(0.5 * (a + a.T))


def inertia(owner: str, value: Any) -> Array:
    """3x3 inertia about the centre of mass from 3 numbers or a matrix: symmetric, positive definite, triangle inequality."""
    a = symmetric(owner, "inertia", value)
    moments = np.linalg.eigvalsh(a)
    if moments[0] < 0:
        raise ModelError(f"{owner}: inertia is not positive definite: its principal moments are {moments.tolist()}; expected all > 0.")
    if moments[0] == 0:
        raise ModelError(
            f"{owner}: inertia is not positive definite: its principal moments are {moments.tolist()}; expected all > 0. physical=False "
            "accepts a slender rod or a point mass, which no joint may turn about its line."
        )
    if moments[2] > (moments[0] + moments[1]) * (1 + 1e-9):
        raise ModelError(
            f"{owner}: principal moments {moments.tolist()} violate the triangle inequality (the largest may not exceed "
            "the sum of the others): no distribution of mass has this inertia. physical=False accepts it all the same."
        )
    return a
