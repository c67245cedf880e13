"""Friction models describe themselves. A model is one file in this package with one `register` call at its end; `solve_friction`, the
judge, the documentation and the contract tests are made from these descriptions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from dalembert.arrays import Array
from dalembert.complementarity.friction.problem import ContactProblem
from dalembert.complementarity.friction.shapes import Shape
from dalembert.complementarity.registry import load
from dalembert.errors import UnknownNameError
from dalembert.option import Option, resolve


@dataclass(frozen=True)
class Task:
    """What a model is asked for: the problem, flat start impulses or a word, normal impulses that freeze the limits, tolerance, options."""

    problem: ContactProblem
    start: Any
    normal: Array | None
    tol: float
    fallback: bool
    options: Mapping[str, Any]


@dataclass(frozen=True)
class Answer:
    """What a model found: flat impulses, how it ended, outer iterations, pivots or sweeps of the inner solver, who took over."""

    r: Array
    status: str
    iterations: int
    work: int = 0
    fallback: str = ""
    changes: tuple[float, ...] = ()


@dataclass(frozen=True)
class FrictionModel:
    """Description of a model.

    law: the set of tangential impulses in words.  shape(options): that set for the judge.  frozen: whether limits may be held fixed.
    guarantee: for which matrices W it is proved to end with a solution.  same_law: models whose solutions obey this law as well.
    """

    name: str
    summary: str
    law: str
    guarantee: str
    shape: Callable[[Mapping[str, Any]], Shape] = field(repr=False, compare=False)
    solve: Callable[[Task], Answer] = field(repr=False, compare=False)
    options: tuple[Option, ...] = ()
    frozen: bool = False
    same_law: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    rank: int = 50

    def resolve(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """All options with their values."""
        return resolve(f"friction model {self.name!r}", self.options, given)


_models: dict[str, FrictionModel] = {}


def register(**description: Any) -> FrictionModel:
    """Enter a model into the registry."""
    model = FrictionModel(**description)
    _models[model.name] = model
    return model


def models() -> list[FrictionModel]:
    """All models, best first."""
    load("dalembert.complementarity.friction")
    return sorted(_models.values(), key=lambda m: (m.rank, m.name))


def find_model(name: str) -> FrictionModel:
    """The model of that name."""
    load("dalembert.complementarity.friction")
    if name not in _models:
        raise UnknownNameError("friction model", name, _models)
    return _models[name]
