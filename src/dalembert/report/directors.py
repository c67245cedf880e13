"""Runs in director coordinates: judged as those of the machine, in the coordinates of its joints; constraints as they are.

    |g|     <=  R (1 + x)     R = 64 eps (bodies + 1), x the distance from the world origin, m: what is left of positions by round-off
    |G v|   <=  (R (1 + x) + 10 tol) max |v|     where velocities are made tangential; of others it is measured

Rates, and rows that were left out because others imply them, are looked at in at most a hundred nodes; the limit of the latter is a hundred
times that of |g|: they are as far off as the others are, times a condition number.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dalembert.report.constraints import round_off, seen_nodes
from dalembert.report.items import FAIL, NOT_APPLICABLE, PASS, Item, item
from dalembert.report.tree import judge_tree
from dalembert.report.tree_facts import TreeFacts

NODES = 100


@dataclass(frozen=True)
class DirectorFacts(TreeFacts):
    """The run of the machine, and the one in director coordinates."""

    directors: Any


def judge_directors(facts: DirectorFacts) -> list[Item | None]:
    """Momentum, energy, constraints, and rows that were left out."""
    return [*judge_tree(facts), judge_rows(facts), judge_dropped(facts)]


def judge_rows(facts: DirectorFacts) -> Item:
    """All constraints on positions, and their rates."""
    run = facts.directors
    labels, g = run.model.constraint_labels, np.abs(run.constraint[min(1, len(run) - 1) :])
    if not len(labels):
        return item("constraints", NOT_APPLICABLE, None, None, "no constraints")
    worst = g.max(axis=0)
    error, name = float(worst.max()), labels[int(np.argmax(worst))]
    limit = round_off(facts) * (1.0 + facts.reach) + 10.0 * facts.tol**2
    rates = [np.abs(run.model.gradients(run.q[k]) @ run.v[k]).max() for k in seen_nodes(facts, NODES)]
    rate = float(np.max(rates)) / max(float(np.abs(run.v).max()), 1e-300)
    tangential = facts.promise("energy") != "exactly"
    where = f", worst {name[0]!r} ({name[1]})" if error > limit else ""
    text = f"constraints met to {error:.2g}{where} (promised: exactly, here {limit:.2g}), "
    text += f"their rates to {rate:.2g} of the velocity{'' if tangential else ' (not promised)'}"
    good = error <= limit and (rate <= limit + 10.0 * facts.tol or not tangential)
    return item("constraints", PASS if good else FAIL, error, "exactly", text, limit)


def judge_dropped(facts: DirectorFacts) -> Item | None:
    """Rows of loops that follow from others."""
    run = facts.directors
    if not run.model.dropped:
        return None
    words = ", ".join(f"{joint!r} ({row})" for joint, row in run.model.dropped)
    error = float(np.abs(run.model.dropped_errors(run.q[seen_nodes(facts, NODES)])).max())
    limit = 100.0 * round_off(facts) * (1.0 + facts.reach)
    text = f"rows of loops that the others imply, left out: {words}; met to {error:.2g} all the same"
    return item(
        "redundancy", NOT_APPLICABLE if error <= limit else FAIL, error, None, text if error <= limit else f"{text}, here {limit:.2g}"
    )
