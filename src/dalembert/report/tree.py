"""Energy and momentum of a tree.

Momentum: components that belong to a symmetry of the machine (`symmetries.py`) stay constant to round-off where the stepper promises
that, max(1e-11, eps N) relative to sqrt(2 m T) (linear; T the energy scale, scale.py) or to the largest sum of |x| |p| + |spin| over the
bodies (angular, x from the axis or point).

Where wrenches, dampers, limits, functions, drives or a control act, the change of momentum equals the impulse of all forces from outside,
which the engine adds up step by step, along every motion that joints and loops to the world allow: to round-off for steppers that promise
momentum, by the forced discrete Noether theorem.

Energy: a band of (h Omega)^p without drift, as for bodies (`energy.py`), where the stepper promises that, all forces have a smooth
potential and no step was split; with dampers alone it never rises. Where joints are on velocities, or the step is too coarse for the order
to mean anything, (h Omega)^p > 0.2, a wider band warns and does not fail. With other forces its change equals their work, within
(h Omega)^p of the kinetic energy or of all work that was done. Impacts between steps of order 1 (`collision` with such a base) move it by
h each, so that nothing is promised then. Everything else is measured.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dalembert.model import forces
from dalembert.report.energy import (
    balance,
    judge_dissipation,
    judge_exact,
    judge_explosion,
    judge_promised,
    judge_unpromised,
    unless_coarse,
)
from dalembert.report.facts import ratio, size
from dalembert.report.items import FAIL, NOT_APPLICABLE, PASS, WARN, Item, item
from dalembert.report.momentum import Part, critical_part
from dalembert.report.symmetries import Symmetry, armature_momentum, symmetries, ties
from dalembert.report.tree_facts import TreeFacts


def counted(facts: TreeFacts) -> set[str]:
    """Features whose work and impulse the engine writes down, beside those of a control."""
    return {"damping", "limits", "drive", *forces.features(conservative=False), *({"contact"} if facts.strikes else ())}


def judge_tree(facts: TreeFacts) -> list[Item]:
    """Momentum of the machine's symmetries, energy, and their balances where forces from outside act."""
    return [*judge_momentum(facts), *judge_impulse(facts), *judge_energy(facts)]


# energy ------------------------------------------------------------------------------------------------------------------------------


def judge_energy(facts: TreeFacts) -> list[Item]:
    """A band, a balance against the work, or only what it did."""
    exploded = judge_explosion(facts)
    if exploded:
        return [exploded]
    others = facts.working | ({"control"} if facts.controlled else set()) | ({"damping"} if facts.damped else set())
    others -= set() if facts.stopped else {"limits"}
    doubt = _doubt(facts)
    if others - counted(facts) - {"control"} or (others and not facts.has_ledger):
        return [item("energy", NOT_APPLICABLE, None, None, f"energy is not judged ({', '.join(sorted(others))})")]
    if others:
        found = [judge_account(facts, doubt)]
        return [*found, judge_dissipation(facts)] if others == {"damping"} and facts.promise("energy") and not doubt else found
    if facts.promise("energy") is None:
        return [judge_unpromised(facts)]
    if doubt:
        measured = judge_unpromised(facts)
        return [replace(measured, text=measured.text.replace("not promised", f"not promised: {doubt}"))]
    if facts.promise("energy") == "exactly":
        return [judge_exact(facts, "energy", facts.traj.energy, facts.kinetic_scale)]
    return [judge_promised(facts, "joints on velocities" if "nonholonomic" in facts.features else "")]


def judge_account(facts: TreeFacts, doubt: str) -> Item:
    """Change of energy against the work in the account, relative to the largest kinetic energy or to all work, given and taken."""
    traj, promised = facts.traj, facts.promise("energy") is not None and not doubt
    moved = sum(float(np.sum(np.abs(x))) for name, x in traj.account.items() if name != "impulse")
    scale = max(facts.kinetic_scale, moved)
    error = ratio(float(np.max(np.abs(traj.energy - traj.energy[0] - traj.work))), scale)
    limit = facts.balance_limit(promised) + facts.noise(scale)
    words = f"change of energy equals the work{f' ({doubt})' if doubt else ''}"
    return unless_coarse(facts, balance(facts, "energy balance", words, error, limit, ratio(moved, scale), promised))


def _doubt(facts: TreeFacts) -> str:
    """Why nothing is expected of the energy of this run."""
    if facts.turned_over:
        return f"the spring of joint {facts.turned_over!r} jumps at half a turn"
    if "limits" in facts.features and facts.stopped:
        return "joints came to their limits"
    if facts.strikes and len(facts.traj.events.rows) and facts.method_order < facts.traj.stepper.order:
        return f"impacts between steps of order {facts.method_order}"
    return "steps were split" if facts.split else ""


# momentum ----------------------------------------------------------------------------------------------------------------------------


def conserved(facts: TreeFacts) -> tuple[list[Part], str]:
    """All components that belong to a symmetry, and why there are none."""
    if facts.controlled:
        return [], "a control acts"
    if "function" in facts.features:
        return [], "a force given as a function acts"
    if "limits" in facts.features and facts.stopped:  # those of joints to the world push from outside; the balance counts them
        return [], "joints came to their limits"
    if facts.strikes:  # walls push from outside; the balance counts them
        return [], "bodies strike"
    return [part(facts, s) for s in symmetries(facts.model)], "the machine has no symmetry"


def judge_momentum(facts: TreeFacts) -> list[Item]:
    """All components that belong to a symmetry; nothing is said of a machine without one unless momentum was promised."""
    promised = facts.promise("momentum")
    found, why = conserved(facts)
    if not found:
        return [item("momentum", NOT_APPLICABLE, None, promised, f"momentum is not judged ({why})")] if promised else []
    labels = ", ".join(p.label for p in found)
    critical = critical_part(found, facts.exact_limit)
    error, limit = critical.error(), critical.limit(facts.exact_limit)
    if promised != "exactly":
        return [item("momentum", NOT_APPLICABLE, error, promised, f"momentum ({labels}) conserved to {error:.2g} (not promised)")]
    verdict = PASS if error <= limit else FAIL
    return [item("momentum", verdict, error, promised, f"momentum ({labels}) conserved to {error:.2g} (promised: exactly)", limit)]


def balances(facts: TreeFacts) -> list[Part]:
    """Momenta less the impulse in the account, along the motions that joints and loops to the world allow; none if nothing pushes."""
    pushed = facts.has_ledger and (facts.features & counted(facts) or facts.controlled)
    return [balanced(facts, s) for s in ties(facts.model)] if pushed else []


def judge_impulse(facts: TreeFacts) -> list[Item]:
    """Change of momentum against the impulse in the account."""
    parts = balances(facts)
    if not parts:
        return []
    name, exact = "momentum balance", facts.promise("momentum") == "exactly"
    if facts.split:
        return [item(name, NOT_APPLICABLE, None, None, "change of momentum against impulse: not judged, as steps were split")]
    labels = ", ".join(p.label for p in parts)
    limit = facts.ledger_limit if exact else facts.balance_limit(False)
    critical = max(parts, key=lambda p: ratio(p.error(), p.limit(limit)))
    error, bound = critical.error(), critical.limit(limit)
    text = f"change of momentum ({labels}) equals the impulse to {error:.2g}"
    if exact:
        return [item(name, PASS if error <= bound else FAIL, error, "exactly", f"{text} (promised: exactly)", bound)]
    how = f"order {facts.balance_order}"
    return [item(name, WARN if error > bound else NOT_APPLICABLE, error, how, f"{text} ({how}, here {bound:.2g}), not promised", bound)]


def balanced(facts: TreeFacts, symmetry: Symmetry) -> Part:
    """Momenta of a motion less the impulse along it. Weight and ground give and take m g t: sums of that size are rounded."""
    found, impulse = part(facts, symmetry), facts.traj.impulse @ symmetry.twists.T
    lasted = float(facts.traj.t[-1] - facts.traj.t[0])
    weight = float(np.linalg.norm(facts.model.gravity)) * facts.model.total_mass * lasted if facts.strikes else 0.0
    least = weight * (1.0 if not np.any(symmetry.twists[:, :3]) else max(1.0, facts.reach))
    return found._replace(series=found.series - impulse, scale=max(found.scale, size(impulse), least))


def part(facts: TreeFacts, symmetry: Symmetry) -> Part:
    """The momenta of a symmetry over the run, with their scales."""
    traj, twists = facts.traj, symmetry.twists
    series = traj.momentum @ twists.T
    series = series + np.stack([armature_momentum(facts.model, x, traj.v) for x in twists], axis=1)
    linear = float(np.sqrt(2.0 * facts.model.total_mass * facts.kinetic_scale))
    if not np.any(twists[:, :3]):
        return Part(symmetry.label, series, linear, linear)
    scale = float(np.max(facts.survey_about(symmetry.centre).moments, initial=0.0))
    return Part(symmetry.label, series, scale, scale + facts.reach * linear)
