"""`make_report`: what a run kept, judged by what its stepper promises and its model's symmetries allow."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np

from dalembert.directors import Directors
from dalembert.lagrangian import Lagrangian
from dalembert.model import Model
from dalembert.report.bodies import judge_bodies
from dalembert.report.certificates import judge_certificates
from dalembert.report.collisions import judge_collisions
from dalembert.report.constraints import judge_constraints
from dalembert.report.directors import DirectorFacts, judge_directors
from dalembert.report.energy import judge_energy
from dalembert.report.facts import Facts, ratio
from dalembert.report.items import FAIL, NOT_APPLICABLE, Item, Report, item
from dalembert.report.lagrangian import judge_lagrangian
from dalembert.report.lagrangian_facts import LagrangianFacts
from dalembert.report.momentum import judge_balance, judge_conservation
from dalembert.report.run import (
    judge_attitude,
    judge_body_momentum,
    judge_held,
    judge_left_out,
    judge_solver,
    judge_split,
    judge_status,
)
from dalembert.report.tree import judge_tree
from dalembert.report.tree_facts import TreeFacts
from dalembert.runs.as_bodies import as_bodies

__all__ = ["Item", "Report", "make_report"]

#: judges of families whose runs keep another account than those of trees
BY_FAMILY = {"bodies": judge_bodies}


def make_report(traj: Any) -> Report:
    """Judge a trajectory. What the method does not promise, or the model does not allow, is measured but not judged."""
    facts = facts_of(traj.model, traj)
    with np.errstate(over="ignore", invalid="ignore"):  # a motion that exploded is reported as such, not warned about
        solved = None if facts.family.name in BY_FAMILY else judge_solver(facts)  # those have an item of their own
        run = (judge_held(facts), judge_left_out(facts), solved, judge_split(facts))
        found = [judge_status(facts), *judge_physics(traj.model, facts), *run]
    return Report(head(facts), tuple(i for i in found if i is not None))


@singledispatch
def facts_of(system: Any, traj: Any) -> Facts:
    """What a report knows of a run: by the kind of its system."""
    return Facts(traj)


@singledispatch
def judge_physics(system: Any, facts: Any) -> list[Item | None]:
    """What the kind of system allows to be judged; of one that brings no judge of its own, energy is measured."""
    return [measured_energy(facts)]


@judge_physics.register
def _(system: Model, facts: Any) -> list[Item | None]:
    own = BY_FAMILY.get(facts.family.name)
    if own is not None:
        return [*own(TreeFacts(facts.traj)), judge_attitude(facts)]
    physics = judge_machine(TreeFacts(facts.traj)) if is_machine(facts) else judge_body(facts)
    return [*physics, judge_attitude(facts)]


@facts_of.register
def _(system: Lagrangian, traj: Any) -> Facts:
    return LagrangianFacts(traj)


@judge_physics.register
def _(system: Lagrangian, facts: Any) -> list[Item | None]:
    return judge_lagrangian(facts)


@facts_of.register
def _(system: Directors, traj: Any) -> Facts:
    return DirectorFacts(as_bodies(traj), traj)


@judge_physics.register
def _(system: Directors, facts: Any) -> list[Item | None]:
    return judge_directors(facts)


def measured_energy(facts: Facts) -> Item:
    """By how much the energy changes, of a system of which nothing more is known; a failure where it is not finite."""
    energy, kinetic = facts.traj.energy, facts.traj.kinetic
    if not np.isfinite(energy).all():
        first = float(facts.traj.t[np.argmin(np.isfinite(energy))])
        return item("energy", FAIL, None, facts.promise("energy"), f"energy is not finite at t = {first:g} s: the motion has exploded")
    change = ratio(float(np.ptp(energy)), float(np.max(kinetic)))
    text = f"energy changes by {change:.2g} of the largest kinetic energy (not judged: its scale of time is not known)"
    return item("energy", NOT_APPLICABLE, change, facts.promise("energy"), text)


def is_machine(facts: Facts) -> bool:
    """More than one body that is free or on a ball joint, or such a body under constraints or under a method for trees with promises."""
    return bool({"tree", "loops", "nonholonomic"} & facts.features) or facts.family.promises


def judge_machine(facts: TreeFacts) -> list[Item | None]:
    """A tree, with or without loops."""
    return [*judge_tree(facts), *judge_collisions(facts), *judge_constraints(facts), judge_certificates(facts)]


def judge_body(facts: Facts) -> list[Item | None]:
    """One rigid body: everything that its symmetries and its ledger allow to be judged."""
    return [judge_conservation(facts), judge_balance(facts), *judge_energy(facts), judge_body_momentum(facts)]


def head(facts: Facts) -> str:
    """Model, method, step size, number of steps, status."""
    traj = facts.traj
    steps = (len(traj) - 1) * int(traj.meta["every"])
    status = traj.status if len(traj.status) < 40 else "failed" if not traj.status.startswith("killed") else "killed"
    return f"{traj.model.name or 'model'}: {traj.meta['method']}, h = {traj.h:g} s, {steps} steps, {status}"
