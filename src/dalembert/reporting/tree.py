"""Energy and momentum of a tree.

Momentum: components that belong to a symmetry of the machine (`symmetries.py`) stay constant to round-off where the stepper promises
that, max(1e-11, eps N) relative to sqrt(2 m T) (linear; T the energy scale, scale.py) or to the largest sum of |x| |p| + |spin| over the
bodies (angular, x from the axis or point).

Energy: a band of (h Omega)^p without drift, as for bodies (`energy.py`), where the stepper promises that, all forces have a smooth
potential and no step was split; with dampers alone it never rises. Where joints are on velocities, or the step is too coarse for the order
to mean anything, (h Omega)^p > 0.2, a wider band warns and does not fail. Everything else is measured.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dalembert.model.rotation import Array, rotate
from dalembert.reporting.energy import judge_dissipation, judge_explosion, judge_promised, judge_unpromised
from dalembert.reporting.items import FAIL, NOT_APPLICABLE, PASS, Item, item
from dalembert.reporting.momentum import Part, critical_part
from dalembert.reporting.symmetries import Symmetry, armature_momentum, symmetries
from dalembert.reporting.tree_facts import POTENTIAL, TreeFacts


def judge_tree(facts: TreeFacts) -> list[Item]:
    """Momentum of the machine's symmetries, energy where all forces have a potential."""
    return [*judge_momentum(facts), *judge_energy(facts)]


# energy ------------------------------------------------------------------------------------------------------------------------------


def judge_energy(facts: TreeFacts) -> list[Item]:
    """A band, or that it never rises, or only what it did."""
    exploded = judge_explosion(facts)
    if exploded:
        return [exploded]
    others = facts.features - POTENTIAL | ({"control"} if facts.controlled else set()) | ({"damping"} if facts.damped else set())
    doubt = _doubt(facts)
    if others:
        found = [item("energy", NOT_APPLICABLE, None, None, f"energy is not judged ({', '.join(sorted(others))})")]
        return [*found, judge_dissipation(facts)] if others == {"damping"} and facts.promise("energy") and not doubt else found
    if facts.promise("energy") is None:
        return [judge_unpromised(facts)]
    if doubt:
        measured = judge_unpromised(facts)
        return [replace(measured, text=measured.text.replace("not promised", f"not promised: {doubt}"))]
    return [judge_promised(facts, "joints on velocities" if "nonholonomic" in facts.features else "")]


def _doubt(facts: TreeFacts) -> str:
    """Why nothing is expected of the energy of this run."""
    if facts.turned_over:
        return f"the spring of joint {facts.turned_over!r} jumps at half a turn"
    return "steps were split" if facts.split else ""


# momentum ----------------------------------------------------------------------------------------------------------------------------


def judge_momentum(facts: TreeFacts) -> list[Item]:
    """All components that belong to a symmetry; nothing is said of a machine without one unless momentum was promised."""
    promised = facts.promise("momentum")
    found = [] if facts.controlled else [part(facts, s) for s in symmetries(facts.model)]
    if not found:
        why = "a control acts" if facts.controlled else "the machine has no symmetry"
        return [item("momentum", NOT_APPLICABLE, None, promised, f"momentum is not judged ({why})")] if promised else []
    labels = ", ".join(p.label for p in found)
    critical = critical_part(found, facts.exact_limit)
    error, limit = critical.error(), critical.limit(facts.exact_limit)
    if promised != "exactly":
        return [item("momentum", NOT_APPLICABLE, error, promised, f"momentum ({labels}) conserved to {error:.2g} (not promised)")]
    verdict = PASS if error <= limit else FAIL
    return [item("momentum", verdict, error, promised, f"momentum ({labels}) conserved to {error:.2g} (promised: exactly)", limit)]


def part(facts: TreeFacts, symmetry: Symmetry) -> Part:
    """The momenta of a symmetry over the run, with their scales."""
    traj, twists = facts.traj, symmetry.twists
    series = traj.momentum @ twists.T
    series = series + np.stack([armature_momentum(facts.model, x, traj.v) for x in twists], axis=1)
    linear = float(np.sqrt(2.0 * facts.model.total_mass * facts.kinetic_scale))
    if not np.any(twists[:, :3]):
        return Part(symmetry.label, series, linear, linear)
    scale = float(np.max(_moments(facts, symmetry.centre), initial=0.0))
    return Part(symmetry.label, series, scale, scale + facts.reach * linear)


def _moments(facts: TreeFacts, centre: Array) -> Array:
    """Sum over the bodies of |x - centre| |p| + |spin| at the nodes."""
    total = np.zeros(len(facts.traj))
    for b in facts.model.bodies:
        f = facts.frames[b.name]
        x = f.position + rotate(f.quaternion, b.com) - centre
        speed = np.linalg.norm(f.velocity + np.cross(f.omega, b.com), axis=-1)
        total += b.mass * speed * np.linalg.norm(x, axis=-1) + np.linalg.norm(f.omega @ b.inertia, axis=-1)
    return total
