"""Prescribed motion: a coordinate of a joint that follows a function of time, q = f(t).

A function is called once with a symbol (CasADi) and becomes f, f', f'' by automatic differentiation; a number stands for a constant, a pair
(times, values) for a table (model/drive_tables.py). The symbol takes operators and functions of NumPy. Machine code is made when it is
first needed, and files hold the formula as text.

    void f(const double *t, double *y)        y = (f, f', f'')
"""

from __future__ import annotations

import warnings
from collections.abc import Container, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import ModelError, OptionError
from dalembert.model import validate
from dalembert.model.drive_tables import TableDrive
from dalembert.model.joints._base import JointKind, VectorKind

FORMULA = "formula"  # key of the text in files
AHEAD = 1e-6  # s: how far from the start a slope is looked at,
KINK = 1e-2  # and by which part of it, beside what the curvature explains, it may differ from the derivative
START = 1e-8  # by how much a given coordinate or rate may differ from the drive


class Drive:
    """One function of time. data: a number, or the text of a CasADi function t -> (f, f', f''). Constant, equal where the data are."""

    pieces = 0  # it is no table
    coefficients: tuple[float, ...] = ()

    def __init__(self, data: float | str):
        self.data = data

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Drive) and self.data == other.data

    def __hash__(self) -> int:
        return hash(self.data)

    def __repr__(self) -> str:
        return f"Drive({self.data:g})" if isinstance(self.data, float) else "Drive(function of time)"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled and copied without machine code."""
        return Drive, (self.data,)

    def to_data(self) -> Any:
        """Plain data that `build` reads."""
        return self.data if isinstance(self.data, float) else {FORMULA: self.data}

    @cached_property
    def _function(self) -> Any:
        import casadi as ca

        if isinstance(self.data, str):
            return ca.Function.deserialize(self.data)
        return ca.Function("drive", [ca.SX.sym("t")], [ca.densify(ca.SX([self.data, 0.0, 0.0]))])

    @property
    def address(self) -> int:
        """Of the machine code, which lives as long as this object, whichever thread asks first."""
        if "_code" not in self.__dict__:
            from dalembert.machine_code import MachineCode

            self.__dict__.setdefault("_code", MachineCode({"drive": self._function}))
        return int(self.__dict__["_code"].addresses["drive"])

    def __call__(self, t: Any) -> Array:
        """(f, f', f'') at a time, or (3, N) at N of them."""
        times = np.asarray(t, dtype=float)
        found = np.array(self._function(times.reshape(1, -1)), dtype=float)
        return found[:, 0] if times.ndim == 0 else found


# from what a user gives ----------------------------------------------------------------------------------------------------------------


def build(owner: str, kind: JointKind, given: Any, rates: bool = False) -> dict[int, Drive | TableDrive] | None:
    """{coordinate: Drive} of a joint: from a function, number or table (of the only coordinate), a dictionary of them, or file data.

    rates: of rates, which ball joints have too.
    """
    if given is None:
        return None
    if (not isinstance(kind, VectorKind) and not (rates and kind.name == "spherical")) or kind.nv == 0:
        raise ModelError(
            f"{owner}: a {kind.name} joint takes no drive; kinds that do: revolute, prismatic, and coordinates of cylindrical, "
            "universal and planar ones."
        )
    if not isinstance(given, Mapping):
        if kind.nv != 1:
            raise ModelError(
                f"{owner}: a {kind.name} joint has {kind.nv} coordinates, {', '.join(kind.v_names)}; expected drive={{0: f}}, a function "
                "for each coordinate that is driven."
            )
        given = {0: given}
    found = {_coordinate(owner, kind, which): _drive(owner, f) for which, f in given.items()}
    if not found:
        raise ModelError(
            f"{owner}: drive is {given!r}; expected a function of time, a number, (times, values), or {{coordinate: function}}."
        )
    return dict(sorted(found.items()))


def build_all(owner: str, kind: str, names: tuple[str, ...], given: Any) -> dict[int, Drive | TableDrive]:
    """{number: Drive} of a kind that is its drives: from one function of so many numbers, from so many functions, or file data."""
    whole = f"one function of {len(names)} numbers, {', '.join(names)}, or {len(names)} functions"
    if given is None:
        raise ModelError(f"{owner}: a {kind} needs a drive; expected {whole}.")
    if callable(given):
        given = [_part_of(owner, whole, given, len(names), k) for k in range(len(names))]
    parts = list(given.items() if isinstance(given, Mapping) else enumerate(given) if np.iterable(given) else [])
    if sorted(str(k) for k, _ in parts) != [str(k) for k in range(len(names))]:
        raise ModelError(f"{owner}: drive is {given!r}; expected {whole}.")
    found = {int(k): _drive(owner, f) for k, f in sorted(parts, key=lambda part: int(part[0]))}
    if kind == "orientation" and not sum(float(f(0.0)[0]) ** 2 for f in found.values()) > 0.0:
        raise ModelError(f"{owner}: the quaternion of its drive is 0 at t = 0; expected {whole}, not all 0.")
    return found


def _part_of(owner: str, whole: str, function: Any, count: int, k: int) -> Any:
    """The function of one of the numbers."""
    return lambda t: _numbers(owner, whole, function(t), count)[k]


def _numbers(owner: str, whole: str, found: Any, count: int) -> list[Any]:
    """What a function of several numbers returned."""
    import casadi as ca

    parts = ca.vertsplit(found) if isinstance(found, ca.SX) and found.is_vector() else list(found) if np.iterable(found) else []
    if len(parts) != count:
        raise ModelError(f"{owner}: its drive returns {found!r}; expected {whole}.")
    return parts


def _coordinate(owner: str, kind: JointKind, which: Any) -> int:
    """Number of a coordinate; in files it is written as text."""
    k = int(which) if isinstance(which, str) and which.isdigit() else which
    if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or not 0 <= k < kind.nv:
        names = ", ".join(f"{i} ({name})" for i, name in enumerate(kind.v_names))
        raise ModelError(f"{owner}: drive of coordinate {which!r}; a {kind.name} joint has {names}.")
    return int(k)


def _drive(owner: str, given: Any) -> Drive | TableDrive:
    if isinstance(given, (Drive, TableDrive)):
        return given
    if isinstance(given, Mapping) and set(given) == {FORMULA}:
        return Drive(str(given[FORMULA]))
    if isinstance(given, Mapping) and set(given) == {"times", "values"}:
        return TableDrive.build(owner, given["times"], given["values"])
    if isinstance(given, (tuple, list)) and len(given) == 2:
        return TableDrive.build(owner, *given)
    if callable(given):
        return _traced(owner, given)
    return Drive(validate.number(owner, "drive", given))


def _traced(owner: str, function: Any) -> Drive:
    """The function as a formula; ModelError that says what is wrong with it."""
    import casadi as ca

    t = ca.SX.sym("t")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # CasADi's advice about NumPy functions
            found = _expression(owner, function(t))
    except ModelError:
        raise
    except Exception as problem:  # the user's code may raise anything: the reason is in the message
        lines = str(problem).strip().splitlines()
        raise ModelError(
            f"{owner}: its drive cannot be called with a symbol for the time: {type(problem).__name__}: {lines[0] if lines else ''}. "
            "Expected f(t) made of operators and functions of NumPy or CasADi, without branches on t."
        ) from None
    rate = ca.jacobian(found, t)
    values = ca.cse(ca.densify(ca.vertcat(found, rate, ca.jacobian(rate, t))))
    drive = Drive(ca.Function("drive", [t], [values]).serialize())
    _check_start(owner, drive)
    return drive


def _expression(owner: str, found: Any) -> Any:
    """One number made of the symbol."""
    import casadi as ca

    if not isinstance(found, ca.SX):
        array = np.asarray(found, dtype=object)
        found = array.item() if array.ndim == 0 else array
    if isinstance(found, ca.SX) and found.is_scalar():
        return found
    if isinstance(found, (ca.SX, np.ndarray)):
        raise ModelError(f"{owner}: its drive returns an array of shape {tuple(found.shape)}; expected one number.")
    try:
        return ca.SX(float(found))
    except (TypeError, ValueError):
        raise ModelError(f"{owner}: its drive returns {found!r}; expected one number.") from None


def _check_start(owner: str, drive: Drive) -> None:
    """Value, rate and acceleration at t = 0 are finite, and the rate is the slope towards later times."""
    here, ahead = drive(0.0), drive(AHEAD)
    if not np.isfinite(here).all():
        f, rate, acceleration = here
        raise ModelError(
            f"{owner}: at t = 0 its drive is {f:g}, with rate {rate:g} and acceleration {acceleration:g}; expected finite numbers "
            "(functions of NumPy or CasADi, not of math, and two derivatives)."
        )
    slope = (ahead[0] - here[0]) / AHEAD
    round_off = 4.0 * np.finfo(float).eps * abs(here[0]) / AHEAD
    explained = AHEAD * max(abs(here[2]), abs(ahead[2])) + KINK * max(abs(here[1]), abs(slope)) + round_off
    if not abs(slope - here[1]) <= explained:
        raise ModelError(
            f"{owner}: its drive is not differentiable at t = 0: its slope towards later times is {slope:g}, its derivative {here[1]:g}; "
            "expected a smooth function."
        )


# the part of `Model` ---------------------------------------------------------------------------------------------------------------------


class Drives:
    """The part of `Model` that knows which coordinates are driven."""

    @property
    def drives(self: Any) -> dict[str, dict[int, Drive | TableDrive]]:
        """{joint: {coordinate: Drive}} of the joints that follow a function of time."""
        return {j.name: j.drive for j in self._joints.values() if j.drive is not None}

    @property
    def driven(self: Any) -> bool:
        """True where a joint follows a function of time."""
        return any(j.drive is not None for j in self._joints.values())

    @property
    def _has_rows(self: Any) -> bool:
        """Something holds the motion beside the joints of the tree: loops, rolling, blades, drives."""
        return bool(self._loops or self._nonholonomic or self.driven)

    def on_drives(self: Any, q: Array, v: Array, t: float = 0.0, but: Container[str] = ()) -> tuple[Array, Array]:
        """(q, v) with the driven coordinates and rates as they are at a time; all others stay, and joints that are named."""
        q, v = np.array(q, dtype=float), np.array(v, dtype=float)
        q_at, v_at = self.q_slices(), self.v_slices()
        for joint, driven in self.drives.items():
            for k, drive in () if joint in but else driven.items():
                q[q_at[joint].start + k], v[v_at[joint].start + k] = drive(t)[:2]
        return q, v

    def trouble(self: Any, t: float) -> str:
        """Which drive has no finite value, rate or acceleration at a time."""
        for joint, driven in self.drives.items():
            for drive in driven.values():
                f, rate, acceleration = drive(t)
                if not np.isfinite([f, rate, acceleration]).all():
                    return f"The drive of joint {joint!r} is {f:g} at t = {t:.6g} s, with rate {rate:g} and acceleration {acceleration:g}."
        return ""

    def drive_errors(self: Any, q: Any, t: Any) -> dict[str, Array]:
        """q - f(t) of the driven coordinates, {joint: (..., driven coordinates)}."""
        q, at = np.asarray(q, dtype=float), self.q_slices()
        return {
            joint: np.stack([q[..., at[joint].start + k] - drive(t)[0] for k, drive in driven.items()], axis=-1)
            for joint, driven in self.drives.items()
        }

    def driven_start(self: Any, q: Array, v: Array) -> tuple[Array, Array]:
        """A start with the driven coordinates as they are at t = 0; OptionError where others than these, or 0, were given."""
        if not self.driven:
            return q, v
        right = self.on_drives(q, v)
        for what, given, wanted in (("q0", q, right[0]), ("v0", v, right[1])):
            wrong = (np.abs(given - wanted) > START * np.maximum(1.0, np.abs(wanted))) & (given != 0.0)
            if wrong.any():
                k = int(np.argmax(wrong))
                raise OptionError(
                    f"model {self.name!r}, coordinate {self.column_names(what[0])[k]!r}: {what} is {given[k]:g}, but its drive has "
                    f"{wanted[k]:g} {self.column_units(what[0])[k]} at t = 0; leave it out, or give that value."
                )
        return right
