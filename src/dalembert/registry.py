"""Steppers describe themselves; lists, documentation, options, contract tests and citations are made from these descriptions.

The key of an entry is (kind of system, name). A method of the library is one file in `steppers/`, found without being listed anywhere;
other packages add theirs by the entry-point group `dalembert.steppers`, users by the decorator `dal.stepper`.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import pkgutil
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from dalembert.errors import OptionError, UnknownNameError
from dalembert.option import Option, resolve

TOL = Option("tol", 1e-9, "relative residual before the last Newton correction", valid=lambda x: 0 < x < 1, expected="a number in (0, 1)")
MAX_ITERATIONS = Option("max_iterations", 30, "Newton iterations per step", valid=lambda n: n >= 1, expected="a whole number >= 1")


@dataclass(frozen=True)
class Stepper:
    """Description of a method and how to bind it to a model.

    conserves: "quantity: how", how being `exactly`, `bounded` or `bounded (integrable motions)`; quantities: momentum, energy, energy of
    the free body,
    body momentum (norm), attitude, discrete energy (of the steps, where their length is an unknown).
    """

    name: str
    summary: str
    system: str
    order: int
    self_adjoint: bool = False
    symplectic: bool = False
    conserves: tuple[str, ...] = ()
    handles: tuple[str, ...] = ()
    limitations: str = ""
    options: tuple[Option, ...] = ()
    references: tuple[str, ...] = ()
    rank: int = 50
    step: Any = field(default=None, repr=False, compare=False)
    prepare: Callable[..., Any] | None = field(default=None, repr=False, compare=False)
    program: Callable[..., Any] | None = field(default=None, repr=False, compare=False)  # of a Lagrangian: see lagrangian/program.py
    engine: str = ""  # what runs it instead of the compiled loop: a file of runs/engines, and after a colon what that is to be told
    python: bool = False
    proved: bool = False  # of a tree: step sizes are proved, see dal.advise
    family: str = ""  # family whose state the step keeps; by default the one named like the system
    named: bool = False  # never chosen unless it is named
    adaptive: bool = False  # the error follows tolerances, not h
    clocked: bool = False  # nodes have times of their own, not multiples of h

    @property
    def engine_name(self) -> str:
        """The file of `runs/engines` that runs it."""
        return self.engine.partition(":")[0] or ("python" if self.python else "compiled")

    @property
    def family_name(self) -> str:
        """The family whose state the step keeps."""
        return self.family or self.system

    def promise(self, quantity: str) -> str | None:
        """How the quantity is conserved: 'exactly', 'bounded', 'bounded (integrable motions)' or None."""
        for entry in self.conserves:
            what, _, how = entry.partition(": ")
            if what == quantity:
                return how
        return None

    def resolve(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """All options with the given values checked and the others at their defaults."""
        return resolve(f"stepper {self.name!r}", self.options, given)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled by its description: code is not data."""
        return restore, (describe(self),)


_steppers: dict[tuple[str, str], Stepper] = {}
_loaded, _loading = False, False
_lock = threading.RLock()
_version = 0


def version() -> int:
    """Grows whenever a stepper is registered: what was chosen before need not be the choice any more."""
    return _version


def register(**description: Any) -> Callable[[Any], Any]:
    """Decorator of a step function: enters its description into the registry and returns the function unchanged."""

    def enter(step: Any) -> Any:
        entry = Stepper(step=step, **description)
        _steppers[entry.system, entry.name] = entry
        global _version
        _version += 1
        return step

    return enter


def load_all() -> None:
    """Import every module below `dalembert.steppers`, and the entry points of other packages."""
    global _loaded, _loading
    if _loaded:
        return
    with _lock:  # another thread waits until all are there
        if _loaded or _loading:  # or this one asks while it loads
            return
        _loading = True
        try:
            _import_all()
            _loaded = True
        finally:
            _loading = False


def _import_all() -> None:
    package = importlib.import_module("dalembert.steppers")
    for found in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        if not found.name.rpartition(".")[2].startswith("_"):
            importlib.import_module(found.name)
    for entry in importlib.metadata.entry_points(group="dalembert.steppers"):
        entry.load()


def steppers(**wanted: Any) -> list[Stepper]:
    """All descriptions whose attributes equal what is wanted, e.g. `steppers(order=2, self_adjoint=True)`, best first.

    For `conserves` and `handles` the wanted word must be among the entries.
    """
    load_all()
    known = {f for f in Stepper.__dataclass_fields__ if f not in ("step", "prepare", "program")}
    for key in wanted:
        if key not in known:
            raise UnknownNameError("property of a stepper", key, known)
        if hasattr(wanted[key], "shape"):
            raise OptionError(f"steppers: {key} is an array; expected a word, a number, or True or False.")

    def fits(s: Stepper) -> bool:
        for key, value in wanted.items():
            has = getattr(s, key)
            if key == "conserves":
                if s.promise(value) is None and value not in has:
                    return False
            elif key == "handles":
                if value not in has:
                    return False
            elif has != value:
                return False
        return True

    return sorted((s for s in _steppers.values() if fits(s)), key=lambda s: (s.system, s.rank, s.name))


def find(system: str, name: str) -> Stepper:
    """The stepper of that name for that kind of system."""
    load_all()
    if (system, name) in _steppers:
        return _steppers[system, name]
    if ("any", name) in _steppers:
        return _steppers["any", name]
    raise UnknownNameError("stepper", name, [n for s, n in _steppers if s in (system, "any")])


def describe(stepper: Stepper) -> dict[str, Any]:
    """A stepper as plain data, so that a file can be read where the method is not installed."""
    skip = ("step", "prepare", "program", "options")
    data = {k: getattr(stepper, k) for k in Stepper.__dataclass_fields__ if k not in skip}
    return {**data, "options": [[o.name, o.default, o.meaning] for o in stepper.options]}


def restore(data: dict[str, Any], family: str = "any") -> Stepper:
    """The registered stepper that was described, or the description alone if it is not installed. family: of files that tell no system."""
    try:
        return find(data.get("system", family), data["name"])
    except UnknownNameError:
        fields: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in data.items() if k != "options"}
        return Stepper(**fields, options=tuple(Option(*o) for o in data["options"]))
