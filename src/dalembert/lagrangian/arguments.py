"""Checks of what a `Lagrangian` is given: parameters, names, coordinates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import ModelError, OptionError, UnknownNameError

if TYPE_CHECKING:
    from dalembert.lagrangian.system import Lagrangian


def parameters(params: Mapping[str, Any]) -> tuple[dict[str, Array], dict[str, int | None]]:
    """(values as arrays, sizes: None of a number) by name."""
    if not isinstance(params, Mapping):
        raise OptionError(f"params is {params!r}; expected {{name: number or list of numbers}}.")
    values: dict[str, Array] = {}
    sizes: dict[str, int | None] = {}
    for name, given in params.items():
        try:
            array = np.asarray(given, dtype=float)
        except (TypeError, ValueError, OverflowError):
            raise OptionError(f"parameter {name!r} is {given!r}; expected a number or a list of numbers.") from None
        if array.ndim > 1 or array.size == 0 or not np.isfinite(array).all():
            raise OptionError(f"parameter {name!r} is {given!r}; expected a finite number or a list of them.")
        values[str(name)] = np.atleast_1d(array).copy()
        sizes[str(name)] = None if array.ndim == 0 else len(array)
    return values, sizes


def named_generators(symmetries: Any) -> dict[str, Any]:
    """The generators by name: those of {name: generator}, or 'symmetry 1', ..."""
    if isinstance(symmetries, Mapping):
        return dict(symmetries)
    if not isinstance(symmetries, (list, tuple)):
        raise ModelError(f"symmetries is {symmetries!r}; expected a list of generators, or {{name: generator}}.")
    return {f"symmetry {i + 1}": x for i, x in enumerate(symmetries)}


def coordinate_names(n: int, names: Sequence[str] | None) -> tuple[str, ...]:
    """The names, or q1, q2, ..."""
    if names is None:
        return tuple(f"q{i + 1}" for i in range(n))
    if not isinstance(names, Sequence):
        raise ModelError(f"names is {names!r}; expected {n} different names.")
    found = tuple(str(x) for x in names)
    if len(found) != n or len(set(found)) != n:
        raise ModelError(f"names is {list(found)}; expected {n} different names.")
    return found


def restitutions(given: Any, rows: int) -> tuple[float, ...]:
    """One coefficient of restitution for each unilateral constraint; 1 unless given."""
    if not rows:
        if given is not None:
            raise ModelError(f"restitution is {given!r}, but there is no unilateral constraint: give unilateral=c, a function of q.")
        return ()
    try:
        e = np.asarray(1.0 if given is None else given, dtype=float)
    except (TypeError, ValueError):
        e = np.array(np.nan)
    if e.ndim > 1 or (e.ndim == 1 and len(e) != rows) or not ((e >= 0.0) & (e <= 1.0)).all():
        raise ModelError(f"restitution is {given!r}; expected a number in [0, 1], or one for each of the {rows} unilateral constraints.")
    return tuple(float(x) for x in np.broadcast_to(e, rows))


def vector(s: Lagrangian, what: str, given: Any) -> Array:
    """n finite numbers from None (zeros), {coordinate: number} or numbers."""
    if given is None:
        return np.zeros(s.n)
    if isinstance(given, Mapping):
        found = np.zeros(s.n)
        for name, value in given.items():
            if name not in s.names:
                raise UnknownNameError("coordinate", name, s.names)
            one = np.ravel(value)
            if len(one) != 1:
                raise OptionError(f"{what} of coordinate {name!r} is {value!r}; expected one number.")
            found[s.names.index(name)] = one[0]
        given = found
    try:
        array = np.atleast_1d(np.asarray(given, dtype=float))
    except (TypeError, ValueError):
        raise OptionError(f"{what} is {given!r}; expected {s.n} numbers.") from None
    if array.shape != (s.n,) or not np.isfinite(array).all():
        raise OptionError(f"{what} is {given!r}; expected {s.n} finite numbers.")
    return array.copy()
