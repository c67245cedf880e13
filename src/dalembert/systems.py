"""`System`: what a run, a report and a picture may ask of a machine, whatever it is made of.

`Model` (bodies and joints) and `Lagrangian` (a formula) are systems. Nobody outside asks which one a system is. What belongs to the layers
above (facts of a report, panels of a figure, measures of a comparison) are generic functions there, `functools.singledispatch`, with one
implementation for each class of systems; a new kind of system brings its own with `register`.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from dalembert.errors import OptionError, UnsupportedError

#: kinds that the library itself brings, and where their classes are
_HOMES = {"model": "dalembert.model", "lagrangian": "dalembert.lagrangian", "directors": "dalembert.directors"}
_kinds: dict[str, type[System]] = {}


class System:
    """Base class of systems. A subclass names its kind: `class Model(System, kind="model")`; files tell it.

    Beside the methods below a system has

        name, nq, nv, forces                                 forces: those given as functions have kind "function"
        frozen(), check_features(names), without(names)      features by name, and the system without some of them
        check_q(q), check_v(v), integrate, difference        states
        kinetic_energy(q, v), potential_energy(q), momentum(q, v), momentum_names, momentum_units, momentum_meaning
        constraint_errors(q, t)                              residuals of all constraints on positions, (N, rows)
        check_start(stepper, q, v, ignore)                   OptionError where a start is none for this stepper
        column_names(which), column_units(which), to_dict(), from_dict(data)
        describe()                                           its size in words
    """

    if TYPE_CHECKING:  # what the subclasses bring

        def __getattr__(self, name: str) -> Any: ...

    kind: ClassVar[str] = ""
    #: what a run of such a system rests on: keys of the bibliography
    references: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls, kind: str = "", **more: Any) -> None:
        super().__init_subclass__(**more)
        if kind:
            cls.kind = kind
            _kinds[kind] = cls

    def kept(self, what: str) -> dict[Any, Any]:
        """What was computed for this very system, which must be frozen: a dictionary for who asks. Copies start anew."""
        store: tuple[Any, dict[str, dict[Any, Any]]] | None = self.__dict__.get("_kept")
        if store is None or store[0] is not self:
            store = self.__dict__["_kept"] = (self, {})
        return store[1].setdefault(what, {})

    @property
    def origin(self) -> Any:
        """A system that differs from this one in numbers alone: what is decided for it, such as a plan, holds here too. None: no such."""
        return None

    @property
    def portable(self) -> Any:
        """The system as a file holds it: without what is no data."""
        return self

    def data_for_file(self) -> dict[str, Any]:
        """What a file holds of the system; `from_dict` reads it."""
        data: dict[str, Any] = self.to_dict()
        return data

    @property
    def driven(self) -> bool:
        """True where constraints that depend on time do work."""
        return False

    def driven_start(self, q: Any, v: Any) -> tuple[Any, Any]:
        """A start with the coordinates that follow functions of time as they are at t = 0."""
        return q, v

    @property
    def any_numbers_start(self) -> bool:
        """True where all finite q and v of the right length are a start, as they are: there is nothing to close, to drive, to normalise."""
        return False

    @property
    def any_numbers_with_quaternions_start(self) -> bool:
        """True where that holds once the quaternions in q are of length 1, as `check_q` makes them."""
        return False

    def alike(self, columns: Any) -> Any:
        """(n,): which of many systems with other values, {name: (n, ...)}, are none that `with_values` refuses, and differ in numbers alone
        from the first of them; False where that is not known beyond doubt. None: of none."""
        return None

    def trouble(self, t: float) -> str:
        """What of the system itself keeps a step to a time from being solved: a sentence, or nothing."""
        return ""

    def parts(self, feature: str) -> list[str]:
        """Names of the parts that have a feature, where the feature is that of joints."""
        return []

    def detail(self, features: set[str]) -> str:
        """More on features that a stepper does not handle, for its error: which parts of the system have them."""
        return ""

    def reaction(self, traj: Any, joint: str) -> Any:
        """What a joint or a constraint exerts at the nodes of a run."""
        raise UnsupportedError(f"reaction: {self!r} knows no forces of constraints.")

    def joint_states(self, traj: Any, name: str) -> Any:
        """(q, v) of one joint at the nodes of a run."""
        raise UnsupportedError(f"joint: {self!r} has no joints; traj.q and traj.v have its coordinates.")

    def multipliers(self, traj: Any) -> dict[str, Any]:
        """Multipliers of the discrete equations of a run, by kind of constraint."""
        raise UnsupportedError(f"multipliers: {self!r} keeps none; traj.reaction(joint) has the forces of its joints.")

    def _mechanics(self: Any, q: Any, v: Any) -> tuple[Any, Any, Any]:
        """Kinetic energy, potential energy and momentum of arrays of states."""
        return self.kinetic_energy(q, v), self.potential_energy(q), self.momentum(q, v)

    def extra_variables(self, traj: Any) -> list[tuple[str, Any, str, str]]:
        """(name, rows at the nodes, name of the columns, meaning) of what a file holds beside what all systems have."""
        return []

    def generalised_force(self, q: Any, body: Any, force: Any, torque: Any, point: Any) -> Any:
        """The generalised force of a world force and torque on a body."""
        raise UnsupportedError(f"{self!r} has no bodies; apply_force(tau=...) takes {getattr(self, 'nv', 'its')} generalised forces.")

    def needs_bodies(self, call: str) -> None:
        """UnsupportedError where there is nothing to draw."""
        raise UnsupportedError(f"{call}: {self!r} has no bodies to draw; traj.plot(path) shows its coordinates.")


def as_system(given: Any, call: str) -> Any:
    """A system, or an OptionError that names the call."""
    if not isinstance(given, System):
        raise OptionError(
            f"{call}: the first argument is {type(given).__name__!r}; expected a Model or a Lagrangian, or Directors of a model."
        )
    return given


def system_from(data: Mapping[str, Any]) -> Any:
    """The frozen system that a file tells of."""
    kind = data.get("kind", "model")
    if kind not in _kinds and kind in _HOMES:
        importlib.import_module(_HOMES[kind])
    if kind not in _kinds:
        raise OptionError(f"the file tells of a system of kind {kind!r}, which is not known here; known are {sorted({*_kinds, *_HOMES})}.")
    return _kinds[kind].from_dict(data).frozen()  # type: ignore[attr-defined]
