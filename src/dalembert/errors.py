"""One family of exceptions. Each message names the object, what was given, what was expected, and what exists."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any


class DalembertError(Exception):
    """Everything that this library raises on purpose."""


class ModelError(DalembertError, ValueError):
    """A model, body, joint, shape or force that cannot be."""


class OptionError(DalembertError, ValueError):
    """An argument or option of a call that cannot be."""


class NumberError(OptionError, IndexError):
    """The number of a node, or of a row, that does not exist."""


class UnknownNameError(DalembertError, KeyError):
    """A name that does not exist; the message lists those that do and the nearest one."""

    def __init__(self, what: str, name: object, known: Iterable[str]):
        self.what, self.name, self.known = what, name, sorted(known)
        super().__init__(unknown_name(what, name, self.known))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled by what it was made of: the arguments of the exception are only its message."""
        return type(self), (self.what, self.name, self.known), self.__dict__

    def __str__(self) -> str:
        return str(self.args[0])


class UnsupportedError(DalembertError):
    """A stepper was asked for something that it does not handle. `ignore`: names of features without which it runs, if there are such."""

    def __init__(self, message: str, ignore: tuple[str, ...] = ()):
        super().__init__(message)
        self.ignore = tuple(ignore)


class AssemblyError(DalembertError, ValueError):
    """Loops that cannot be closed. `q`: the nearest configuration found, `errors`: residuals of the loops that are open there."""

    def __init__(self, message: str, q: Any = None, errors: Any = None):
        super().__init__(message)
        self.q = q
        self.errors = errors


class ArchiveError(DalembertError, OSError):
    """A file that cannot be read, continued or overwritten."""


class SimulationError(DalembertError, RuntimeError):
    """A step failed. `traj` holds everything computed before it."""

    def __init__(self, message: str, traj: Any = None, **facts: Any):
        super().__init__(message)
        self.traj = traj
        self.facts = facts


def unknown_name(what: str, name: object, known: Iterable[str]) -> str:
    """'unknown stepper 'cayly'; did you mean 'cayley'? Known: ...'"""
    known = list(known)
    near = difflib.get_close_matches(str(name), known, n=1, cutoff=0.5)
    hint = f"; did you mean {near[0]!r}?" if near else "."
    return f"unknown {what} {name!r}{hint} Known: {', '.join(known) if known else 'none'}."
