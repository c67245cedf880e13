"""Another stepper between two steps: `sim.switch("mk4")`.

The new engine begins from q and v of the current node, at its time. Between engines of bodies more is the same (impulses, contacts, broken
joints, the account), and carried over as an edit does. A stepper that keeps loops and drives exactly may follow one that holds them by
springs: q then moves to the nearest configuration that meets them at this time, by WIDE of the size of the machine at most.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import OptionError
from dalembert.model import Model
from dalembert.model.assembly import _size
from dalembert.runs.carrying import Carried
from dalembert.runs.carrying_bodies import carry_bodies
from dalembert.runs.editing import OPEN, fitting, go_on_with_account, holds_rows
from dalembert.runs.engines import Engine
from dalembert.runs.plan import Plan

WIDE = 1e-2  # residuals of loops and drives, of the size of the machine


ELSEWHERE = {  # what is no option of a stepper, and where it is changed instead
    "h": "the step is changed by `sim.h = {value!r}`",
    "control": "another control comes by `with sim.edit(control=...)`",
    "keep": "how many nodes are kept is said when the simulation begins",
}


def refuse_others(options: dict[str, Any]) -> None:
    """OptionError for what is changed elsewhere, with the way that there is."""
    for name, value in options.items():
        if name in ELSEWHERE:
            raise OptionError(f"switch: {name} is {value!r}; expected a stepper and its options; {ELSEWHERE[name].format(value=value)}.")


def hand_over(old_plan: Plan, old: Engine, plan: Plan, new: Engine) -> None:
    """Let a new engine go on from where another one is, with the same machine."""
    if old_plan.given is not None and plan.given is not None:
        new.t0 = old.t0
        carry_bodies(old_plan, old, plan, new, None, None)
        return
    new.t0 = old.time
    new.start(*start_at(plan.acting, plan, *old.node(), old.time))
    if plan.stepper.engine_name == old_plan.stepper.engine_name:  # others may have more behind their account
        go_on_with_account(old_plan, old, plan, new, 0)


@functools.singledispatch
def start_at(system: Any, plan: Plan, q: Array, v: Array, t: float) -> tuple[Array, Array]:
    """A start of another stepper at a time, from a node of a run, which meets what holds the system."""
    return q, v


@start_at.register
def _(system: Model, plan: Plan, q: Array, v: Array, t: float) -> tuple[Array, Array]:
    if plan.given is not None:
        return q, v
    if holds_rows(plan):
        off = np.abs(system.constraint_rows(q, t)[0])
        if off.max(initial=0.0) > WIDE * _size(system):
            joint, row = system.constraint_labels[int(np.argmax(off))]
            raise OptionError(
                f"switch: joint {joint!r} ({row}) is open by {off.max():.3g} where the machine is; stepper {plan.stepper.name!r} keeps "
                f"joints closed, and expected at most {WIDE * _size(system):.2g}."
            )
        if off.max(initial=0.0) > OPEN * _size(system):
            q, v = system.assemble(q, v, t=t)
    return fitting(plan, Carried(q, v), t)
