"""What a force says of itself. A force is one file: a frozen dataclass below `Force`, its kernels, and `@register`.

kind, feature   its name; what steppers call it in `handles`, and users in `ignore=` (by default the kind)
fields          `acts_on`, `at_point`, `vector`, `number`: units, checks, and what `with_values` may change; all are written to files
kernels         what compiled code does with it: `kernels/tree/load_layout.py`
loads           its records in the system array of a tree
account         column of the account that the power of what has no potential enters: "wrench" or "damping"
drives          False: it never gives a machine more energy than it holds at the start
stored          its potential energy in NumPy, the judge of the kernel `energy`
kept            which rigid motions of the whole machine change nothing for it
pushes, slides  the force in NumPy where `proved`: the trapezoidal step then has step sizes that are proved, with this force too
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import ModelError
from dalembert.kernels.tree import account_layout
from dalembert.model import validate
from dalembert.model.parts import WORLD

Where = Callable[[str, Any], Array]  # (body or "world", point of it) -> its world positions, (..., 3)


class Kernels(NamedTuple):
    """Kernels of a force (`_jit.slotted`), with the signatures of `kernels/tree/load_layout.py`."""

    apply: Any
    energy: Any = None
    power: Any = None
    matrix: Any = None
    row: Any = None


class Load(NamedTuple):
    """One load of a force: what serves it, and its record."""

    kernels: Kernels
    account: str
    numbers: list[float]


class Push(NamedTuple):
    """A force at a point of a body, and a torque, body axes (..., 3)."""

    body: str
    point: Array
    force: Array
    torque: Array


class Slide(NamedTuple):
    """A part of the velocity that drag opposes: turn omega + move (velocity of the point), matrices (..., m, 3) of body axes."""

    body: str
    point: Array
    turn: Array
    move: Array


# fields ------------------------------------------------------------------------------------------------------------------------------

_ORIGIN = (0.0, 0.0, 0.0)


def acts_on(world: bool = False) -> Any:
    """The name of a body that the force acts on; world: that may be the world."""
    return dataclasses.field(metadata={"body": True, "world": world})


def number(default: float = 0.0, units: str = "1", least: float = -np.inf, changes: bool = True) -> Any:
    """A finite number, not below `least`. changes: `with_values` may change it."""

    def check(owner: str, what: str, value: Any) -> float:
        return validate.number(owner, what, value, least)

    return dataclasses.field(default=default, metadata={"units": units, "changes": changes, "check": check})


def _three(owner: str, what: str, value: Any) -> tuple[float, ...]:
    return tuple(validate.vector(owner, what, value, 3).tolist())


def vector(default: Any = _ORIGIN, units: str = "1", changes: bool = True) -> Any:
    """Three finite numbers."""
    return dataclasses.field(default=default, metadata={"units": units, "changes": changes, "check": _three})


def at_point(default: Any = _ORIGIN) -> Any:
    """A point in the frame of its body, of the world in world coordinates: structure of the machine, which stays."""
    return vector(default, "m", changes=False)


_fields: Callable[[Any], tuple[Any, ...]] = functools.cache(dataclasses.fields)


def _naming_bodies(cls: Any) -> tuple[tuple[str, bool], ...]:
    """(Name of a field that names a body, whether that may be the world.)"""
    return tuple((f.name, f.metadata["world"]) for f in _fields(cls) if "body" in f.metadata)


_body_fields: Callable[[Any], tuple[tuple[str, bool], ...]] = functools.cache(_naming_bodies)


# the force ---------------------------------------------------------------------------------------------------------------------------


class Force:
    """A force on bodies, as frozen data."""

    kind: ClassVar[str] = ""
    feature: ClassVar[str] = ""
    kernels: ClassVar[Kernels | None] = None
    record: ClassVar[Any] = None  # `load_layout.load_record`
    account: ClassVar[str] = "wrench"
    drives: ClassVar[bool] = True
    proved: ClassVar[bool] = False
    writable: ClassVar[bool] = True  # to files

    def __post_init__(self) -> None:
        for f in _fields(type(self)):
            if "check" in f.metadata:
                object.__setattr__(self, f.name, f.metadata["check"](self.owner, f.name, getattr(self, f.name)))
        self.check()

    def check(self) -> None:
        """Refuse values that do not go together; each alone has been checked."""

    @classmethod
    def values(cls) -> tuple[str, ...]:
        """What `with_values` may change."""
        return tuple(f.name for f in _fields(cls) if f.metadata.get("changes"))

    @classmethod
    def units(cls) -> dict[str, str]:
        """Units of the fields that have some."""
        return {f.name: f.metadata["units"] for f in _fields(cls) if "units" in f.metadata}

    @classmethod
    def has_potential(cls) -> bool:
        """True where its energy is counted; what else it does (`power`) is a feature of its own, such as damping."""
        return cls.kernels is not None and cls.kernels.energy is not None

    @property
    def ends(self) -> tuple[str, ...]:
        """Names of the bodies that it acts on, the world among them."""
        return tuple(getattr(self, name) for name, _ in _body_fields(type(self)))

    @property
    def bodies(self) -> tuple[str, ...]:
        """Names of the bodies that it acts on."""
        given = ((getattr(self, name), world) for name, world in _body_fields(type(self)))
        return tuple(name for name, world in given if not (world and name == WORLD))

    @property
    def owner(self) -> str:
        """The force, in messages."""
        ends = self.ends
        return f"{self.kind} on body {ends[0]!r}" if len(ends) == 1 else f"{self.kind} between {' and '.join(map(repr, ends))}"

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"kind": self.kind, **self.__dict__}

    # features ------------------------------------------------------------------------------------------------------------------------

    @property
    def features(self) -> set[str]:
        """What a stepper must handle to run it."""
        return {self.feature}

    def without(self, feature: str) -> Force | None:
        """The force without a feature; None if nothing is left."""
        return None if feature == self.feature else self

    # what it does --------------------------------------------------------------------------------------------------------------------

    def loads(self, places: Mapping[str, Any], model: Any) -> list[Load]:
        """Its loads in the system array of a tree; none where all its bodies are fixed to the world. places: `compile_tree.Place`."""
        raise NotImplementedError

    def load(self, links: tuple[int, ...], kernels: Kernels | None = None, row: tuple[float, float] = (0.0, 0.0), **own: Any) -> Load:
        """A load: links (one or two), kernels (those of the class), stiffness and damping of the row, and its own numbers by name."""
        chosen = kernels or self.kernels
        assert chosen is not None
        first, second = links if len(links) == 2 else (links[0], -1)
        numbers = self.record.filled(link=first, link_b=second, row_stiffness=row[0], row_damping=row[1], **own)
        return Load(chosen, self.account, numbers)

    def stored(self, where: Where) -> Array | float:
        """Potential energy, J, of any number of configurations."""
        if self.has_potential():
            raise NotImplementedError(f"{type(self).__name__} has a kernel for its energy and no `stored`.")
        return 0.0

    def kept(self, fixed: set[str], where: Where) -> Array | None:
        """Twists (k, 6) of the rigid motions of the machine that change nothing for it; None: all.

        fixed: the world and the bodies fixed to it. where: at the reference configuration.
        """
        return np.zeros((0, 6)) if any(name not in fixed for name in self.ends) else None

    def pushes(self, model: Any, found: Mapping[str, Any]) -> list[Push]:
        """The force at rest. found: `kinematics.frames`."""
        return []

    def slides(self, model: Any, found: Mapping[str, Any]) -> list[tuple[float, list[Slide]]]:
        """(coefficient c, parts of the velocity u that it opposes): its drag does the work -c |u|^2."""
        return []


def group(loads: list[Load]) -> Array:
    """Loads that the same kernels serve, as a group of the system array."""
    from dalembert.kernels._jit import slot_of
    from dalembert.kernels.tree.load_layout import GROUP

    kernels, account, numbers = loads[0]
    slots = {name: slot_of(kernel) for name, kernel in kernels._asdict().items() if kernel is not None}
    length, column = GROUP.size + len(loads) * len(numbers), account_layout.WORKS.index(account)
    head = GROUP.filled(length=length, stride=len(numbers), column=column, **slots)
    return np.array([*head, *itertools.chain.from_iterable(load.numbers for load in loads)])


REGISTERED: dict[str, type[Force]] = {}
_F = TypeVar("_F", bound=type[Force])


def register(cls: _F) -> _F:
    """Make a force known: by its kind to files, by its feature to steppers and `ignore=`."""
    cls.feature = cls.feature or cls.kind
    for other in REGISTERED.values():
        same = (other.__module__, other.__qualname__) == (cls.__module__, cls.__qualname__)  # a cell or file that was run again
        if not same and (other.kind == cls.kind or other.feature == cls.feature):
            what = "kind" if other.kind == cls.kind else "feature"
            raise ModelError(
                f"force {cls.__name__}: {other.__name__} has the {what} {getattr(cls, what)!r} already; expected another name."
            )
    REGISTERED[cls.kind] = cls
    return cls
