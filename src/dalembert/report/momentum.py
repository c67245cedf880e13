"""Momentum: conserved where the model is symmetric, otherwise balanced against the impulse of the forces.

Conserved without other forces (e the direction of gravity, L about the world origin, or about the pivot of a body on a ball joint):

    free, no gravity       P, L
    free, gravity          P across e,  e . L,  L about the centre of mass
    pivot, no gravity      L
    pivot, gravity         e . L        (L, if the centre of mass sits at the pivot)

A stepper that promises momentum keeps these to round-off (`Facts.exact_limit`), and its momentum changes by the impulse of its own kicks,
which the ledger of the run adds up: P(t) - P(0) = impulse to round-off too (`Facts.ledger_limit`). For other steppers the balance holds
within the order of the method, with an error that grows like a random walk for self-adjoint ones (tln under gravity) and like time for the
rest; it is judged only where that limit is below 0.2 and the impulse exceeds twice the limit, so that a force with the wrong sign (error:
twice the impulse) always fails. Errors are relative to sqrt(2 m T) (linear; T the energy scale, scale.py) and max(|L|, |x| |P|) (angular),
or to the impulse where that is larger.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dalembert.arrays import Array
from dalembert.model.kinematics import frames
from dalembert.model.rotation import rotate
from dalembert.report.facts import EPS, ORDER_CAP, Facts, ratio, size
from dalembert.report.items import FAIL, NOT_APPLICABLE, PASS, WARN, Item, item

AXES = {(1.0, 0.0, 0.0): "xyz", (0.0, 1.0, 0.0): "yzx", (0.0, 0.0, 1.0): "zxy"}

USELESS = 0.5  # a balance that is off by half of its scale is worth a warning even where it cannot be judged


class Part(NamedTuple):
    """Some components of momentum over the run: what should stay constant, its scale, and the size of the terms that cancel in it."""

    label: str
    series: Array
    scale: float
    terms: float

    def error(self) -> float:
        """Largest relative deviation from the first node."""
        return ratio(size(self.series - self.series[0]), self.scale)

    def limit(self, exact: float) -> float:
        """The exact limit, and the round-off of the terms that cancel."""
        return exact + 16.0 * EPS * ratio(self.terms, self.scale)


def critical_part(parts: list[Part], exact: float) -> Part:
    """The part that is nearest to its limit, or farthest beyond; one that is not a number comes first."""
    return max(parts, key=lambda p: float(np.nan_to_num(ratio(p.error(), p.limit(exact)), nan=np.inf)))


def linear(facts: Facts) -> Part:
    """P"""
    P = facts.traj.momentum[:, 3:]
    return Part("p", P, float(np.sqrt(2.0 * facts.model.total_mass * facts.kinetic_scale)), 0.0)


def angular(facts: Facts) -> Part:
    """L about the world origin (free) or the pivot."""
    L, P = facts.traj.momentum[:, :3], facts.traj.momentum[:, 3:]
    terms = size(facts.com) * size(P)
    if facts.pivot is None:
        return Part("L", L, max(size(L), terms), terms)
    about = L - np.cross(facts.pivot, P)
    return Part("L about the pivot", about, size(about), terms + float(np.linalg.norm(facts.pivot)) * size(P))


def about_centre(facts: Facts) -> Part:
    """Angular momentum about the centre of mass, world axes."""
    model = facts.model
    attitude = frames(model, facts.traj.q)[model.bodies[0].name].quaternion
    spin = rotate(attitude, facts.spin)
    return Part("L about the centre of mass", spin, size(spin), 0.0)


def conserved(facts: Facts) -> list[Part]:
    """Components that no force changes; none where other forces than gravity act."""
    if not facts.only_gravity:
        return []
    p, L = linear(facts), angular(facts)
    if not facts.gravity:
        return [p, L] if facts.pivot is None else [L]
    if facts.torque_free and facts.pivot is not None:
        return [L]
    e = facts.model.gravity / np.linalg.norm(facts.model.gravity)
    along, across = axis_names(e)
    about = L._replace(label=L.label.replace("L", f"L{along}", 1), series=(L.series @ e)[:, None])
    if facts.pivot is not None:
        return [about]
    return [p._replace(label=across, series=p.series - np.outer(p.series @ e, e)), about, about_centre(facts)]


def axis_names(e: Array) -> tuple[str, str]:
    """('_z', 'p_x, p_y') for vertical gravity, words otherwise."""
    named = AXES.get(tuple((np.abs(e) + 0.0).tolist()))
    if named is None:
        return " along gravity", "p across gravity"
    return f"_{named[0]}", ", ".join(f"p_{a}" for a in sorted(named[1:]))


def judge_conservation(facts: Facts) -> Item:
    """Momentum that the model's symmetries keep."""
    name, promised = "momentum", facts.promise("momentum")
    parts = [] if facts.unknown else conserved(facts)
    if not parts:
        why = f"forces that are not judged: {', '.join(sorted(facts.unknown))}" if facts.unknown else "other forces than gravity act"
        return item(name, NOT_APPLICABLE, None, promised, f"momentum is not conserved by the model ({why})")
    labels = ", ".join(p.label for p in parts)
    critical = critical_part(parts, facts.exact_limit)
    error, limit = critical.error(), critical.limit(facts.exact_limit)
    if promised != "exactly":
        return item(name, NOT_APPLICABLE, error, promised, f"momentum ({labels}) conserved to {error:.2g} (not promised)")
    verdict = PASS if error <= limit else FAIL
    return item(name, verdict, error, promised, f"momentum ({labels}) conserved to {error:.2g} (promised: exactly)", limit)


def judge_balance(facts: Facts) -> Item | None:
    """Change of momentum against impulse; None where all of the momentum is conserved anyway."""
    if facts.unknown or (facts.only_gravity and not facts.gravity):
        return None
    name, exact = "momentum balance", facts.promise("momentum") == "exactly"
    promised = "exactly" if exact else f"order {facts.order}"
    if not facts.has_ledger:
        return item(name, NOT_APPLICABLE, None, None, "change of momentum against impulse: the impulse is not known for this stepper")
    growth = 0.5 if facts.traj.stepper.self_adjoint else 1.0
    limit = facts.ledger_limit if exact else facts.order_limit(growth)
    resolved = facts.order_error(growth) <= ORDER_CAP
    parts = balance_parts(facts)
    seen = [part for part, impulse in parts if exact or (resolved and impulse >= 2.0 * part.limit(limit) * part.scale > 0.0)]
    critical = critical_part(seen or [part for part, _ in parts], limit)
    error, bound = critical.error(), critical.limit(limit)
    text = f"change of momentum equals the impulse to {error:.2g}"
    if not seen:
        why = "the impulse is below what the method resolves" if resolved else "the step is too coarse to judge it"
        return item(name, WARN if error > USELESS else NOT_APPLICABLE, error, promised, f"{text}, but {why}", bound)
    how = "exactly" if exact else f"order {facts.order}, here {bound:.2g}"
    return item(name, PASS if error <= bound else FAIL, error, promised, f"{text} (promised: {how})", bound)


def balance_parts(facts: Facts) -> list[tuple[Part, float]]:
    """(momentum minus impulse, size of the impulse): linear for a free body, angular."""
    wanted = [(angular(facts), facts.traj.impulse[:, :3])]
    if facts.pivot is None:
        wanted.insert(0, (linear(facts), facts.traj.impulse[:, 3:]))
    return [(p._replace(series=p.series - J, scale=max(p.scale, size(J))), size(J)) for p, J in wanted]
