"""Runs with collisions at instants within steps.

apart        no two bodies overlap at a node: gaps of all contacts, computed anew from the poses, to 1e-12 of the size of the scene
impacts      how many there were; each leaves with minus e times the speed at which it came, or faster where others push it; energy is
             only taken, in proportion 1 - e^2
hops         contacts that could not be held were opened: what that gave, of the energy that moved; more than a hundredth warns
"""

from __future__ import annotations

import numpy as np

from dalembert.arrays import Array
from dalembert.collision.solids import Solids
from dalembert.kernels.collision import tables
from dalembert.report.facts import ratio
from dalembert.report.items import FAIL, NOT_APPLICABLE, PASS, WARN, Item, item
from dalembert.report.tree_facts import TreeFacts
from dalembert.runs.engines.collision import TOLERANCE, smallest_gaps

MUCH = 0.01
ROUND_OFF = 1e-12  # of the energy that impacts moved, and of the size of the scene


def judge_collisions(facts: TreeFacts) -> list[Item | None]:
    """Non-penetration and the laws of impact."""
    return [_apart(facts), _impacts(facts), _hops(facts)] if facts.strikes else []


def _solids(facts: TreeFacts) -> Solids:
    o = facts.traj.meta["options"]
    return Solids(facts.model, None if o["restitution"] < 0.0 else o["restitution"], o["smooth"])


def _apart(facts: TreeFacts) -> Item:
    solids = _solids(facts)
    gaps: Array = smallest_gaps(facts.model, solids, facts.traj.q)
    limit = 100.0 * TOLERANCE * max(solids.size, float(np.max(facts.reaches)))
    least = float(np.min(gaps)) if len(gaps) else np.inf
    if facts.traj.meta["options"]["response"] == "decomposition":
        words = f"bodies overlap by at most {max(-least, 0.0):.2g} m at nodes (not promised: impacts are decomposed at nodes)"
        return item("apart", NOT_APPLICABLE, -least, None, words)
    words = f"bodies overlap by at most {max(-least, 0.0) + 0.0:.2g} m at nodes (promised: {limit:.2g} m)"
    return item("apart", PASS if least >= -limit else FAIL, -least, "exactly", words, limit)


def _impacts(facts: TreeFacts) -> Item:
    table, taken = facts.traj.events, facts.traj.account["impacts"]
    struck = table.rows[table["kind"] == tables.STRUCK] if len(table.rows) else table.rows
    if not len(struck):
        return item("impacts", NOT_APPLICABLE, 0.0, None, "no impact")
    gained = float(np.max(taken, initial=0.0))
    moved = float(np.sum(0.5 * struck[:, 4] * np.abs(struck[:, 11])))
    closing = float(np.min(struck[:, 12]))
    ok = gained <= ROUND_OFF * moved * (1.0 + len(struck)) and closing >= -1e-9 * float(np.max(np.abs(struck[:, 11])))
    fast = float(np.max(-struck[:, 11]))
    lost = 0.0 + max(-float(np.sum(taken)), 0.0)
    words = f"{len(struck)} impacts at up to {fast:.3g} m/s took {lost:.3g} J and gave none; none leaves closing"
    if facts.traj.meta["options"]["reflection"] == "variational":
        return item(
            "impacts", PASS if closing >= -1e-9 * fast else FAIL, closing, None, words.replace(" and gave none", " (energy of intervals)")
        )
    return item("impacts", PASS if ok else FAIL, gained, "never gain", words if ok else f"{len(struck)} impacts gave {gained:.2g} J", 0.0)


def _hops(facts: TreeFacts) -> Item | None:
    given = float(np.sum(facts.traj.account["hops"]))
    if given == 0.0:
        return None
    part = ratio(given, max(facts.kinetic_scale, float(np.ptp(facts.traj.potential))))
    words = f"contacts that could not be held were opened, which gave {given:.2g} J ({part:.2g} of the energy that moved)"
    return item("hops", WARN if part > MUCH else NOT_APPLICABLE, part, None, words, MUCH)
