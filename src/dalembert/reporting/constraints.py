"""Joints without coordinates: loops, rolling, blades. Redundant rows are named.

Steppers that keep them solve for positions and velocities of every node, so residuals stay at round-off however long the run:

    |g| <= max(1e-11, 10 tol) size          size of the machine, at most 1 m; angles: 1
    |G v| <= max(1e-11, 10 tol) |G| |v|     row by row

with tol the tolerance of the stepper. The first node is the user's, and was checked when the run began (1e-8). Rates are looked at in at
most a thousand nodes.
"""

from __future__ import annotations

import numpy as np

from dalembert.errors import AssemblyError
from dalembert.model.assembly import _size as machine_size
from dalembert.model.rotation import Array
from dalembert.reactions import row_units
from dalembert.reporting.facts import EXACT_FLOOR
from dalembert.reporting.items import FAIL, NOT_APPLICABLE, PASS, Item, item
from dalembert.reporting.tree_facts import TreeFacts

NODES = 1000
CLOSED = 1e-6  # a configuration that is farther open tells nothing about redundant rows


def judge_constraints(facts: TreeFacts) -> list[Item]:
    """Loops on positions and velocities, joints on velocities, redundancy."""
    model = facts.model
    out: list[Item] = []
    if model.loops or model.nonholonomic:
        rates = relative_rates(facts)
        n = model._constraints().holonomic
        if n:
            out.append(judge_loops(facts, rates[:n]))
        if n < len(rates):
            out.append(judge_rates(facts, rates[n:]))
        out += redundancy(facts)
    return out


def relative_rates(facts: TreeFacts) -> Array:
    """Largest |G v| / (|G| |v|) of each row."""
    q, v = facts.traj.q, facts.traj.v
    nodes = np.unique(np.linspace(min(1, len(q) - 1), len(q) - 1, NODES).astype(int))
    worst = np.zeros(len(facts.model.constraint_labels))
    for k in nodes:
        G = facts.model.constraint_rows(q[k])[1]
        scale = np.linalg.norm(G, axis=1) * np.linalg.norm(v[k])
        worst = np.maximum(worst, np.abs(G @ v[k]) / np.where(scale > 0.0, scale, 1.0))
    return worst


def allowed(facts: TreeFacts) -> float:
    """Round-off, or what the tolerance of the stepper leaves."""
    return max(EXACT_FLOOR, 10.0 * float(facts.traj.meta["options"].get("tol", 0.0)))


def judge_loops(facts: TreeFacts, rates: Array) -> Item:
    """Residuals of positions in m and rad, and their rates."""
    model = facts.model
    units, labels = row_units(model)[: len(rates)], model.constraint_labels
    errors = model.loop_errors(facts.traj.q[min(1, len(facts.traj) - 1) :])
    worst = np.abs(np.concatenate(list(errors.values()), axis=1)).max(axis=0)
    limit, size = allowed(facts), machine_size(model)
    words = [f"{max(w for w, u in zip(worst, units, strict=True) if u == unit):.2g} {unit}" for unit in ("m", "rad") if unit in units]
    text = f"loops closed to {' and '.join(words)}, rates to {rates.max():.2g} of their terms"
    measured = max(float(np.max(worst / np.where(np.array(units) == "m", size, 1.0))), float(rates.max()))
    return _judged(facts, "loops", text, measured, limit, labels[int(np.argmax(np.maximum(worst, rates)))][0])


def judge_rates(facts: TreeFacts, rates: Array) -> Item:
    """Rows on velocities alone."""
    labels = facts.model.constraint_labels[-len(rates) :]
    text = f"joints on velocities hold to {rates.max():.2g} of their terms"
    return _judged(facts, "nonholonomic", text, float(rates.max()), allowed(facts), labels[int(np.argmax(rates))][0])


def _judged(facts: TreeFacts, name: str, text: str, measured: float, limit: float, joint: str) -> Item:
    if name not in facts.traj.stepper.handles:
        return item(name, NOT_APPLICABLE, measured, None, f"{text} (not promised)")
    if measured <= limit:
        return item(name, PASS, measured, "exactly", f"{text} (promised: exactly)", limit)
    return item(name, FAIL, measured, "exactly", f"{text}, worst at {joint!r} (promised: exactly, here {limit:.2g})", limit)


def redundancy(facts: TreeFacts) -> list[Item]:
    """Rows that follow from others, in one line; nothing where there are none."""
    model, q = facts.model, facts.traj.q[0]
    if np.abs(model.constraint_rows(q)[0]).max(initial=0.0) > CLOSED:
        return []
    try:
        found = model.redundant_constraints(q)
    except AssemblyError:
        return []
    if not found.redundant:
        return []
    text = "; ".join(line.strip() for line in found.text.split(": ", 1)[1].splitlines())
    return [item("redundancy", NOT_APPLICABLE, found.rows - found.rank, None, text)]
