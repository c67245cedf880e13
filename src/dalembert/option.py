"""`Option`: what steppers, methods of complementarity and friction models say of their options; help and errors are made from it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dalembert.errors import OptionError, UnknownNameError


@dataclass(frozen=True)
class Option:
    """An option: name, default, meaning, units, and what it may be: `valid` (in words: `expected`), or one of some `words`."""

    name: str
    default: Any
    meaning: str
    units: str = ""
    valid: Callable[[Any], bool] | None = field(default=None, repr=False, compare=False)
    expected: str = ""
    words: tuple[str, ...] = ()

    def check(self, owner: str, value: Any) -> Any:
        """The value, converted to the type of the default; OptionError if that is impossible or out of range. owner: "stepper 'tln'"."""
        value = os.fspath(value) if isinstance(value, os.PathLike) else value
        try:
            given = type(self.default)(value)
            ok = bool(given == value) and (not self.words or given in self.words) and (self.valid is None or bool(self.valid(given)))
        except (TypeError, ValueError, OverflowError):
            ok = False
        if not ok:
            what = "one of " + ", ".join(map(repr, self.words)) if self.words else self.expected or type(self.default).__name__
            raise OptionError(f"option {self.name!r} of {owner} is {value!r}; expected {what} ({self.meaning}).")
        return given

    def number(self, owner: str, value: Any) -> float:
        """The value as compiled code takes it: a word by its place among the words."""
        given = self.check(owner, value)
        return float(self.words.index(given)) if self.words else float(given)


def resolve(owner: str, options: Sequence[Option], given: Mapping[str, Any]) -> dict[str, Any]:
    """All options with the given values checked and the others at their defaults; UnknownNameError for names that are none of them."""
    known = {o.name: o for o in options}
    for name in given:
        if name not in known:
            raise UnknownNameError(f"option of {owner}", name, known)
    return {name: o.check(owner, given.get(name, o.default)) for name, o in known.items()}
