"""From samples to starts: configuration, velocity, numbers of the machine, step and time of each.

A sample that cannot start is no error of the study: its row says why.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dalembert.errors import DalembertError, OptionError, UnknownNameError

OWN = ("q0", "v0", "h", "t_end")  # names that are no numbers of the machine


class Setting(NamedTuple):
    """What a sample says: start, numbers of the machine, step and time (None: those of the study)."""

    q0: Any
    v0: Any
    values: dict[str, Any]
    h: float | None
    t_end: float | None


def check_names(system: Any, names: tuple[str, ...]) -> None:
    """UnknownNameError for a name that no sample of this system can have."""
    known = known_names(system)
    for name in names:
        if name not in known:
            raise UnknownNameError("name of samples", name, known)


def known_names(system: Any) -> list[str]:
    """Names that samples of a system may have."""
    return [*OWN, *(f"{which}.{name}" for which in ("q0", "v0") for name in _slices(system, which)), *system.value_names]


def setting(sample: dict[str, Any], base: dict[str, dict[str, Any]] | None = None) -> Setting:
    """A sample, sorted. base: {"q0": {joint: numbers}, "v0": ...}, of the joints that it does not name."""
    states: dict[str, Any] = {"q0": sample.get("q0"), "v0": sample.get("v0")}
    parts: dict[str, dict[str, Any]] = {"q0": {}, "v0": {}}
    values = {}
    for name, value in sample.items():
        which, _, part = name.partition(".")
        if which in states and part:
            parts[which][part] = value
        elif name not in OWN:
            values[name] = value
    for which, own in parts.items():
        if states[which] is None:
            states[which] = {**(base or {}).get(which, {}), **own} or None
        elif own:
            if not isinstance(states[which], dict):
                raise OptionError(f"a sample gives {which} as a whole and parts of it, {sorted(own)}; expected one of them.")
            states[which] = {**states[which], **own}
    return Setting(states["q0"], states["v0"], values, sample.get("h"), sample.get("t_end"))


def base_of(system: Any, q0: Any, v0: Any) -> dict[str, dict[str, Any]]:
    """{"q0": {joint: numbers}, "v0": ...} of a start that all samples share; empty where none is given."""
    out = {}
    for which, given in (("q0", q0), ("v0", v0)):
        if given is not None:
            whole = system.check_q(given) if which == "q0" else system.check_v(given)
            out[which] = {name: whole[part] for name, part in _slices(system, which).items()}
    return out


def _slices(system: Any, which: str) -> dict[str, slice]:
    if hasattr(system, "q_slices"):
        found: dict[str, slice] = system.q_slices() if which == "q0" else system.v_slices()
        return found
    return {name: slice(i, i + 1) for i, name in enumerate(system.column_names("q"))}


def plain_starts(system: Any, columns: dict[str, np.ndarray], n: int, q0: Any, v0: Any) -> tuple[np.ndarray, np.ndarray] | None:
    """(q (n, nq), v (n, nv)) of columns of finite numbers, where any are a start, but for quaternions of length 1; else None."""
    if not (system.any_numbers_start or system.any_numbers_with_quaternions_start):
        return None
    states = []
    for which, size in (("q0", system.nq), ("v0", system.nv)):
        parts = {name: column for name, column in columns.items() if name.partition(".")[0] == which}
        if which in parts and (len(parts) > 1 or parts[which].shape != (n, size)):
            return None
        base = system.check_q(q0) if which == "q0" else system.check_v(v0)
        rows, slices = np.array(parts[which]) if which in parts else np.tile(base, (n, 1)), _slices(system, which)
        for name, column in parts.items():
            if name != which:
                part = slices[name.partition(".")[2]]
                if column.reshape(n, -1).shape[1] != part.stop - part.start:
                    return None
                rows[:, part] = column.reshape(n, -1)
        if which == "q0" and parts and not system.any_numbers_start:
            try:
                rows = np.array([system.check_q(row) for row in rows])
            except DalembertError:  # each says why, by itself
                return None
        states.append(rows)
    return states[0], states[1]


def as_text(text: str) -> str:
    """What a file can hold: without zero bytes and halves of characters."""
    return text.replace("\0", "\\0").encode(errors="backslashreplace").decode()


def refusal(error: BaseException) -> str:
    """An exception as a sentence."""
    text = as_text(str(error) or type(error).__name__)
    return text if isinstance(error, DalembertError) else f"{type(error).__name__}: {text}"
