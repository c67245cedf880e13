"""System arrays of samples that change numbers of the machine, without a model for each.

A machine with other numbers (`with_values`) has the same array but for some entries. Which, is found once:

    copies     an entry that is the value itself: found by comparing the arrays of two machines that differ in that value alone
    formulas   records of links that follow from mass, inertia and centre of mass (`Family.vary`, model/patch_many.py)

A sample goes this way if its numbers are of the kind of those of the first one (`System.alike`): what is 0 there, is so here. The others,
and those whose values may be refused, go by `with_values`. Of each portion the first and the last array, and the states of their
starts, are compared with those of `with_values`, bit for bit; where one differs, all samples go that way.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dalembert.errors import DalembertError
from dalembert.runs.plan import Plan

FEWEST = 4  # samples below which nothing is won: two of them are looked at by themselves
Copies = list[tuple[int, str, int]]  # (place in the array, name of the value, its component)


@dataclass(frozen=True)
class Recipe:
    """How the arrays of samples come from that of one plan."""

    plan: Plan
    copies: Copies

    def systems(self, columns: Mapping[str, np.ndarray]) -> np.ndarray:
        """(n, size): the array of each sample. columns: of the values, (n, ...)."""
        n = len(next(iter(columns.values())))
        out = np.tile(self.plan.arrays(), (n, 1))
        for place, name, component in self.copies:
            out[:, place] = columns[name].reshape(n, -1)[:, component]
        if self.plan.family.vary is not None:
            for places, numbers in self.plan.family.vary(self.plan.acting, dict(columns)):
                out[:, places] = numbers
        return out


def recipe_of(common: Any, system: Any, h: float, columns: Mapping[str, np.ndarray]) -> Recipe | None:
    """Found once for values of one kind, and kept with the system; None where arrays differ in a way that is not known."""
    first = {name: column[0] for name, column in columns.items()}
    zeros = tuple((name, column.shape[1:], tuple((np.ravel(column[0]) == 0.0).tolist())) for name, column in columns.items())
    key = (common.stepper, common.compose, str(common.ignore), repr(sorted(common.options.items())), zeros)
    known = system.kept("variants")
    if key not in known:
        known[key] = _learned(common, system, h, first)
    found: Recipe | None = known[key]
    return found and Recipe(found.plan.at(h), found.copies)


def _learned(common: Any, system: Any, h: float, first: dict[str, Any]) -> Recipe | None:
    try:
        plan = common.plan(system.with_values(first), h)
        copies: Copies = []
        for name, value in first.items():
            if plan.family.vary is not None and plan.family.vary(plan.acting, {name: np.asarray(value, dtype=float)[None]}):
                continue  # by a formula
            found = _copies(common, system, plan, name, first, _other(np.asarray(value, dtype=float)))
            if found is None:
                return None
            copies += found
    except DalembertError:
        return None  # `with_values` says why
    return Recipe(plan, copies)


def _other(value: np.ndarray) -> np.ndarray:
    """Another value of the same kind, each component by a factor of its own."""
    return value * (1.0 - np.arange(1, value.size + 1).reshape(value.shape) / 256.0)


def _copies(common: Any, system: Any, plan: Plan, name: str, first: dict[str, Any], other: np.ndarray) -> Copies | None:
    """Entries that are components of a value; None if an entry follows from it otherwise."""
    before, after = plan.arrays(), common.plan(system.with_values({**first, name: other}), plan.h).arrays()
    if before.shape != after.shape:
        return None
    old, new = np.ravel(np.asarray(first[name], dtype=float)), np.ravel(other)
    out: Copies = []
    for place in np.flatnonzero(before.view(np.int64) != after.view(np.int64)):
        same = np.flatnonzero((old == before[place]) & (new == after[place]))
        if len(same) != 1:
            return None
        out.append((int(place), name, int(same[0])))
    return out


class Plans:
    """The plan of each sample, made when it is asked for: only observers that look at trajectories do."""

    def __init__(self, common: Any, system: Any, h: float, columns: Mapping[str, np.ndarray]):
        self.common, self.system, self.h, self.columns = common, system, h, columns
        self._made: dict[int, Plan] = {}

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def __getitem__(self, k: int) -> Plan:
        if k not in self._made:
            values = {name: column[k] if column.ndim > 1 else float(column[k]) for name, column in self.columns.items()}
            self._made[k] = self.common.plan(self.system.with_values(values), self.h)
        return self._made[k]


def state_of(plan: Plan, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """The flat state of a start."""
    system = plan.arrays()
    state = plan.family.start(system, q, v)
    if plan.family.expect is not None:
        plan.family.expect(plan.acting, system, q, v, state)
    return state if plan.family.usable is None else plan.family.usable(system, state)


def states_of(plan: Plan, systems: np.ndarray, q: np.ndarray, v: np.ndarray) -> np.ndarray | None:
    """(n, size): flat states of starts on systems of their own, or on one. None where one has to be looked at by itself."""
    family = plan.family
    if family.starts is not None:
        return family.starts(plan.acting, systems, q, v)
    if family.expect is not None or family.usable is not None:
        return None
    try:
        return np.array([family.start(systems[min(k, len(systems) - 1)], q[k], v[k]) for k in range(len(q))])
    except DalembertError:
        return None


def same_as_alone(plan: Plan, plans: Any, systems: np.ndarray, states: np.ndarray, given: tuple[np.ndarray, np.ndarray]) -> bool:
    """Are the first and the last sample, bit for bit, what `with_values` makes of them?"""
    for k in {0, len(systems) - 1}:
        try:
            alone = plans[k]
            state = state_of(alone, *alone.start(given[0][k], given[1][k]))
        except DalembertError:
            return False
        loop = (alone.family.name, alone.stepper.name, alone.keeps_account)
        if loop != (plan.family.name, plan.stepper.name, plan.keeps_account):
            return False
        if alone.arrays().tobytes() != systems[k].tobytes() or state.tobytes() != states[k].tobytes():
            return False
    return True
