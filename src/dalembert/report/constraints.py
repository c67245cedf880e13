"""Joints without coordinates: loops, rolling, blades; and driven coordinates. Redundant rows are named.

Steppers that keep them solve for positions and velocities of every node, so what is left does not grow with the run. It follows from the
round-off of positions, eps times the distance x from the world origin, and from the tolerance of the stepper, tol:

    |g|    <=  R x  +  10 max(tol, 1e-11) h |v| |G|   m;    x = 1 for rows in rad, |q| for couplings;    R = 64 eps (bodies + 1)
    |G v|  <=  (R (1 + x / size) + 10 tol) |G| |v|    row by row; size of the machine: a row is a difference of positions

Driven coordinates are judged against f and f', with the largest |v| of the run and the round-off of the time t in addition: 8 eps t |f'|,
8 eps t |f''|.

|G| is the largest length of a row in the run: at singular positions rows vanish. Rows that vanish throughout, as three of the five that
close a plane machine, are round-off of terms that cancel: |G| is the size of those, 1 rad or that of the machine.

Newton's method takes corrections below 1e-9 |v| for round-off and makes no further one, which would be at least ten times smaller: hence
the 1e-11.

The first node is the user's, and was checked when the run began. Rates are looked at in at most a thousand nodes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import AssemblyError
from dalembert.model.reactions import row_units
from dalembert.report.facts import EPS, ratio
from dalembert.report.items import FAIL, NOT_APPLICABLE, PASS, Item, item
from dalembert.report.tree_facts import TreeFacts

NODES, FEW_NODES = 1000, 10
SLOW = 1e-3  # of the largest speed: below it, the round-off of a step from rest or to rest is seen, not its rates
ROUND_OFF = 64.0 * EPS  # per body
VANISHED = 1e-11  # of the size of its terms: what no row of a machine is
SETTLED = 1e-11  # tolerance that positions are not solved beyond
CLOSED = 1e-6  # a configuration that is farther open tells nothing about redundant rows


def judge_constraints(facts: TreeFacts) -> list[Item]:
    """Loops on positions and velocities, joints on velocities, redundancy."""
    model = facts.model
    out: list[Item] = []
    if model._has_rows:
        rates = relative_rates(facts)
        n, driven = model._constraints().holonomic, len(model._constraints().drives)
        if n > driven:
            out.append(judge_loops(facts, rates[: n - driven]))
        if driven:
            out.append(judge_drives(facts))
        if n < len(rates):
            out.append(judge_rates(facts, rates[n:]))
        out += redundancy(facts)
    return out


def seen_nodes(facts: TreeFacts, most: int) -> Array:
    """Nodes that are looked at."""
    last = len(facts.traj) - 1
    return np.unique(np.linspace(min(1, last), last, most).astype(int))


def relative_rates(facts: TreeFacts) -> Array:
    """Largest |G v| / (|G| |v|) of each row; |v| at least SLOW of the largest of the run: slower ones are what is left of larger terms."""
    q, v = facts.traj.q, facts.traj.v
    least = SLOW * float(np.max(np.linalg.norm(v[facts.regular], axis=1), initial=0.0))
    length, worst = np.zeros(len(facts.model.constraint_labels)), np.zeros(len(facts.model.constraint_labels))
    for k in seen_nodes(facts, NODES):
        G, speed = facts.model.constraint_rows(q[k])[1], max(float(np.linalg.norm(v[k])), least)
        length = np.maximum(length, np.linalg.norm(G, axis=1))
        worst = np.maximum(worst, np.abs(G @ v[k]) / (speed if speed > 0.0 else 1.0))
    return np.asarray(worst / _terms(facts, length))


def _terms(facts: TreeFacts, length: Array) -> Array:
    """Lengths of rows; of rows that are round-off throughout, the size of the terms that cancel in them: 1 rad, the size of the machine."""
    size = np.array([facts.extent if unit == "m" else 1.0 for unit in row_units(facts.model)])
    size = np.where(size > 0.0, size, 1.0)
    return np.where(length > VANISHED * size, length, size)


class Measured(NamedTuple):
    """A residual, its limit, its unit, and the row it belongs to."""

    value: float
    limit: float
    unit: str
    row: int

    @property
    def excess(self) -> float:
        """Residual over limit; infinite where it is not a number."""
        return float(np.nan_to_num(ratio(self.value, self.limit), nan=np.inf))


def round_off(facts: TreeFacts) -> float:
    """R"""
    return ROUND_OFF * (len(facts.model.bodies) + 1)


def rate_limit(facts: TreeFacts) -> float:
    """Of |G v| / (|G| |v|)."""
    return round_off(facts) * (1.0 + ratio(facts.reach, facts.extent)) + 10.0 * facts.tol


def gap_limits(facts: TreeFacts, units: list[str]) -> list[float]:
    """Of |g| of each row, m or rad."""
    traj, labels = facts.traj, facts.model.constraint_labels
    lengths = np.max([np.linalg.norm(facts.model.constraint_rows(traj.q[k])[1], axis=1) for k in seen_nodes(facts, FEW_NODES)], axis=0)
    speed = float(np.max(np.linalg.norm(traj.v[facts.regular], axis=1), initial=0.0))
    numbers = {"m": facts.reach, "rad": 1.0, "coupling": float(np.max(np.abs(traj.q[facts.regular]), initial=1.0))}
    size = [numbers["coupling" if what == "coupling" else unit] for (_, what), unit in zip(labels, units, strict=False)]
    left = 10.0 * max(facts.tol, SETTLED) * traj.h * speed
    return [round_off(facts) * x + left * length for x, length in zip(size, lengths, strict=False)]


def worst_of(values: Array, limits: list[float], unit: str, rows: list[int]) -> Measured:
    """The row that is nearest to its limit, or farthest beyond."""
    return max((Measured(float(values[r]), limit, unit, r) for r, limit in zip(rows, limits, strict=True)), key=lambda x: x.excess)


def judge_loops(facts: TreeFacts, rates: Array) -> Item:
    """Residuals of positions in m and rad, and their rates."""
    units = row_units(facts.model)[: len(rates)]
    errors = facts.model.loop_errors(facts.traj.q[min(1, len(facts.traj) - 1) :])
    gaps = np.abs(np.concatenate(list(errors.values()), axis=1)).max(axis=0)
    limits, found = gap_limits(facts, units), []
    for unit in ("m", "rad"):
        rows = [r for r, u in enumerate(units) if u == unit]
        if rows:
            found.append(worst_of(gaps, [limits[r] for r in rows], unit, rows))
    rate = worst_of(rates, [rate_limit(facts)] * len(rates), "", list(range(len(rates))))
    words = " and ".join(f"{x.value:.2g} {x.unit}" for x in found)
    allowed = ", ".join(f"{x.limit:.2g} {x.unit}".strip() for x in [*found, rate])
    return _judged(facts, "loops", f"loops closed to {words}, rates to {rate.value:.2g} of their terms", allowed, [*found, rate])


def judge_drives(facts: TreeFacts) -> Item:
    """Driven coordinates against their functions, on positions and velocities."""
    traj, rows = facts.traj, facts.model._constraints()
    nodes = seen_nodes(facts, NODES)
    t, late = traj.t[nodes], 8.0 * EPS * float(np.abs(traj.t).max())
    speed = float(np.max(np.linalg.norm(traj.v[facts.regular], axis=1), initial=0.0))
    left = 10.0 * max(facts.tol, SETTLED) * traj.h * speed
    units, found = row_units(facts.model), []
    at = np.argmax(facts.model.constraint_rows(traj.q[0])[1][list(rows.drives)], axis=1)  # the only entry of such a row
    gaps = facts.model.constraint_errors(traj.q[nodes], t)[:, list(rows.drives)]
    for k, (row, drive) in enumerate(rows.drives.items()):
        f, rate, acceleration = np.abs(drive(t)).max(axis=1)
        off = np.abs(traj.v[nodes, at[k]] - drive(t)[1]).max()
        found.append(Measured(float(np.abs(gaps[:, k]).max()), round_off(facts) * max(1.0, f) + left + late * rate, units[row], row))
        found.append(Measured(float(off), rate_limit(facts) * speed + late * acceleration, f"{units[row]}/s", row))
    gap, off = (max(found[i::2], key=lambda x: x.excess) for i in (0, 1))
    text = f"driven coordinates follow to {gap.value:.2g} {gap.unit}, their rates to {off.value:.2g} {off.unit}"
    return _judged(facts, "drive", text, f"{gap.limit:.2g} {gap.unit}, {off.limit:.2g} {off.unit}", [gap, off])


def judge_rates(facts: TreeFacts, rates: Array) -> Item:
    """Rows on velocities alone."""
    first = len(facts.model.constraint_labels) - len(rates)
    found = worst_of(rates, [rate_limit(facts)] * len(rates), "", list(range(len(rates))))
    text = f"joints on velocities hold to {found.value:.2g} of their terms"
    return _judged(facts, "nonholonomic", text, f"{found.limit:.2g}", [found._replace(row=first + found.row)])


def _judged(facts: TreeFacts, name: str, text: str, allowed: str, found: list[Measured]) -> Item:
    worst = max(found, key=lambda x: x.excess)
    if name not in facts.traj.stepper.handles:
        return item(name, NOT_APPLICABLE, worst.value, None, f"{text} (not promised)")
    promised = f"(promised: exactly, here {allowed})"
    if worst.value <= worst.limit:
        return item(name, PASS, worst.value, "exactly", f"{text} {promised}", worst.limit)
    joint = facts.model.constraint_labels[worst.row][0]
    return item(name, FAIL, worst.value, "exactly", f"{text}, worst at {joint!r} {promised}", worst.limit)


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
