"""Runs of a Lagrangian with unilateral constraints c(q) >= 0.

unilateral    c >= -gap at every node but the first, which is the user's; gap: the option of the stepper
impacts       how many there were and what they took. By the nodal law none gives energy; the energy condition lets it walk by O(h^2)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.report.facts import ratio
from dalembert.report.items import FAIL, NOT_APPLICABLE, PASS, Item, item
from dalembert.report.lagrangian_facts import LagrangianFacts

IMPACT, REST, RELEASE = 0, 1, 2  # kinds of events


class BetweenImpacts:
    """A trajectory whose energy is counted without what impacts gave; everything else is as it was."""

    def __init__(self, traj: Any):
        self._traj = traj

    def __getattr__(self, name: str) -> Any:
        return getattr(self._traj, name)

    def __len__(self) -> int:
        return len(self._traj)

    @property
    def energy(self) -> Array:
        """E less the work of impacts since the first node, J."""
        given = self._traj.account.get("impacts", np.zeros(len(self._traj) - 1))
        return np.asarray(self._traj.energy - np.concatenate([[0.0], np.cumsum(given)]))


def judge_impacts(facts: LagrangianFacts) -> list[Item]:
    """Both items; none without such constraints."""
    if "unilateral" not in facts.features or len(facts.traj) < 2:
        return []
    return [judge_gaps(facts), tell_impacts(facts)]


def judge_gaps(facts: LagrangianFacts) -> Item:
    """Rows that are kept."""
    gaps, allowed = facts.model.gaps(facts.traj.q[1:]), float(facts.traj.meta["options"].get("gap", 0.0))
    if not np.isfinite(gaps).all():
        return item("unilateral", FAIL, None, "exactly", "unilateral constraints are not finite: the motion has exploded")
    row, least = int(np.argmin(gaps.min(axis=0))), float(gaps.min())
    where = f", in row {row + 1}" if gaps.shape[1] > 1 else ""
    text = f"unilateral constraints are at least {least:.2g}{where} (promised: {-allowed:g})"
    return item("unilateral", PASS if least >= -allowed else FAIL, max(-least, 0.0), "exactly", text, allowed)


def tell_impacts(facts: LagrangianFacts) -> Item:
    """What happened, and what it took."""
    traj, events = facts.traj, facts.traj.events
    given, count = traj.account.get("impacts", np.zeros(0)), {kind: int(np.sum(events["kind"] == kind)) for kind in range(3)}
    gain, taken = ratio(float(np.max(given, initial=0.0)), facts.kinetic_scale), 0.0 - float(np.sum(given))
    held = f" (rows came to rest {count[REST]} times, and left {count[RELEASE]} times)" if count[REST] or count[RELEASE] else ""
    text = f"{count[IMPACT]} impacts{held} took {taken:.3g} J"
    if traj.meta["options"].get("reflection") != "nodal":
        return item("impacts", NOT_APPLICABLE, gain, None, f"{text}; by the energy condition they give up to {gain:.2g} at once")
    limit = facts.exact_limit + facts.noise(facts.kinetic_scale)
    return item("impacts", PASS if gain <= limit else FAIL, gain, "never give", f"{text}; they gave at most {gain:.2g} at once", limit)
