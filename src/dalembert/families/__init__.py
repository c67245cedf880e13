"""Families of systems: how a model becomes the flat arrays of one compiled loop, and back.

A family is one file that defines `FAMILY`: those of this package are found by themselves, others are added by `add_family`. A system
belongs to the families of its kind that fit it, the most special first.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import UnsupportedError
from dalembert.model import forces


@dataclass(frozen=True)
class Family:
    """Functions of one kind of system. Kernels have the signatures of `kernels/_jit.py`.

    kind: the key of its steppers in the registry; two families of one kind differ in the state that their steppers keep.
    of: the kind of system, `System.kind`. rank: the smaller, the more special.
    accounted: features whose work and impulse are summed up along the run by `ledger`, "forces" being all forces on bodies without a
    potential; a control always is.
    partial: an account is kept only where such a feature or a control acts; without one the impulse of weight and springs is not known.
    compose: the system array for the weights of a composition, where the family's steps go by them.
    usable: a checkpoint whose notes beside the mechanics are put in order where they cannot be used.
    expect: writes into the state of a start what a run from there, as long as no control is held, cannot exceed.
    starts: `start` and `expect` of many starts at once, (n, size), on systems of their own (n, ...) or one that all share (1, ...);
    None where it cannot.
    vary: which numbers of the system array follow from values of the model, [(places (k,), numbers (n, k))], beside those that are values
    themselves; see model/patch_many.py. energies: of states (n, nodes, ...) on systems (n, ...); values: the names that differ.
    call_functions: writes the address of forces given as functions into the system array.
    limit: the step that is certified at a state, limit_along: at every node of a run (its own h, or a smaller one to try).
    remedy: what to try when a step cannot be solved, from an advice and the step: a sentence.
    account: the part of a state of a model that is the account, a view; what is counted from its end is the same for all models.
    enter: the system in the family's own coordinates, enter_state: (q, v) there from those of the system; None: they are the same.
    """

    name: str
    kind: str
    fits: Callable[[Any], bool]
    features: Callable[[Any], set[str]]
    system: Callable[..., Array]  # of (model, options), and of the stepper where that brings its own program
    start: Callable[[Array, Array, Array], Array]
    nodal: Any
    hold: Any
    ledger: Any
    work_size: Callable[[Array], int]
    info_size: int
    unpack: Callable[
        [Any, Array, Array], dict[str, Any]
    ]  # "control": held over the interval that ends at the node; "v_interval": rows, or a function that gives them
    advise: Callable[[Any, Array, Array, str], Any]
    of: str = "model"
    rank: int = 0
    accounted: frozenset[str] = frozenset()
    partial: bool = False
    compose: Callable[[Array, Array], Array] | None = None
    usable: Callable[[Array, Array], Array] | None = None
    expects: bool = False  # iterations end where the next correction is expected below the tolerance
    promises: bool = False  # runs of one body too are judged as those of machines
    corrects: bool = True  # what a step tells as its residual is the last correction relative to the velocity; else a relative residual
    expect: Callable[[Any, Array, Array, Array, Array], None] | None = None
    starts: Callable[[Any, Array, Array, Array], Array | None] | None = None
    vary: Callable[[Any, dict[str, Array]], list[tuple[Array, Array]]] | None = None
    energies: Callable[[Any, Array, Array, Array, Any], Array | None] | None = None
    call_functions: Callable[[Array, int], None] | None = None
    limit: Callable[[Any, Array, Array, str], float] | None = None
    limit_along: Callable[[str, Any], float] | None = None
    remedy: Callable[[Any, float, str, str], str] | None = None
    account: Callable[[Any, Array], Array] | None = None
    enter: Callable[[Any], Any] | None = None
    enter_state: Callable[[Any, Array, Array], tuple[Array, Array]] | None = None

    def arrays(self, model: Any, stepper: Any, options: dict[str, Any], weights: Any, functions: int = 0) -> Array:
        """A system as the one constant array of the compiled loop, with the stepper's program or what it prepares.

        weights: of the substeps of a composition. functions: address of the forces that are functions, where the steps call them.
        """
        if stepper.program is not None:
            return self.system(model, options, stepper)
        system = self.system(model, options)
        if functions and self.call_functions is not None:
            self.call_functions(system, functions)
        longer = None if stepper.prepare is None else stepper.prepare(system, options)
        system = system if longer is None else longer
        return self.compose(system, np.array(weights, dtype=float)) if self.compose is not None and len(weights) > 1 else system

    def keeps_account(self, model: Any, controlled: bool) -> bool:
        """True if a run of the model keeps an account."""
        working = forces.features(conservative=False) if "forces" in self.accounted else frozenset()
        return controlled or bool(self.features(model) & (self.accounted | working))

    def read(self, model: Any, system: Array, states: Array, kept: bool) -> dict[str, Any]:
        """What recorded states tell; kept: with an account."""
        found = self.unpack(model, system, states)
        if self.partial and not kept:
            found["impulse"] = np.full_like(found["impulse"], np.nan)
        return found


_added: list[Family] = []


def add_family(family: Family) -> Family:
    """Make a family known, for example that of a kind of system of your own; one of the same name is replaced."""
    _added[:] = [f for f in _added if f.name != family.name] + [family]
    return family


@cache
def _modules() -> tuple[Any, ...]:
    found = (importlib.import_module(f"{__name__}.{m.name}") for m in pkgutil.iter_modules(__path__))
    return tuple(module for module in found if hasattr(module, "FAMILY"))


def families() -> tuple[Family, ...]:
    """All families, the most special first."""
    return tuple(sorted((*(module.FAMILY for module in _modules()), *_added), key=lambda f: f.rank))


def family_named(name: str) -> Family:
    """The family of that name."""
    return next(f for f in families() if f.name == name)


def fitting(system: Any) -> list[Family]:
    """All families that fit a system: of a Lagrangian one, of a Model those that its joints allow."""
    return [f for f in families() if f.of == system.kind and f.fits(system)]


def find_family(model: Any, name: str | None = None) -> Family:
    """The first family that fits a model (or the one of that name); UnsupportedError if there is none."""
    for family in fitting(model):
        if name in (None, family.name):
            return family
    raise UnsupportedError(f"no stepper handles {model!r}: it has no degree of freedom.")
