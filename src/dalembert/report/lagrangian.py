"""Energy, momenta of the declared symmetries, and constraints of a run of a Lagrangian.

Energy: a band of (h Omega)^p without drift, where the stepper promises that and nothing works but what has a potential; with forces,
damping or control its change equals the work. Constraints on velocities, A v = 0, do no work, and the energy is judged by the same band,
but no method promises it: beyond, it warns. Constraints that depend on time do work that nobody counts: then it is measured.

Momentum dL/dv . xi of each symmetry: constant to round-off, max(1e-11, eps N) of the sum of |p_i xi_i|, where the stepper promises that, xi
is affine in q (only such symmetries act on a discrete Lagrangian) and no constraint pushes along it: G xi = 0 and A xi = 0. With forces
its change equals their impulse. Otherwise it is measured.

With unilateral constraints the energy is judged without what impacts took, and momenta without what they pushed: both are in the account.
See lagrangian_impacts.py. Where the length of steps is an unknown, their discrete energy is constant to round-off.

Constraints: |g| <= 1e-10 |dg/dq| max(1, |q|) and |A v + w| <= 1e-10 |A| max(1, |v|) where the stepper promises that; else measured, and
warned of where constraints give way by as much as the system moves: |g| / |dg/dq|, the largest ones of a row, beyond a tenth of the extent
of q over the run, whatever its unit. The first node is the user's, and was checked when the run began.
"""

from __future__ import annotations

import numpy as np

from dalembert.arrays import Array
from dalembert.report.energy import (
    NOTICEABLE,
    balance,
    judge_dissipation,
    judge_exact,
    judge_explosion,
    judge_promised,
    judge_unpromised,
    judge_work,
)
from dalembert.report.facts import EPS, ratio
from dalembert.report.items import FAIL, NOT_APPLICABLE, PASS, WARN, Item, item
from dalembert.report.lagrangian_facts import LagrangianFacts
from dalembert.report.lagrangian_impacts import BetweenImpacts, judge_impacts

ALONG = 1e-9  # relative push of a constraint along a symmetry that counts as none
EXACT = 1e-10  # residuals of constraints that are promised to be kept
NODES = 200  # at which the directions of constraints are looked at
SOFTNESS = (("epsilon", "lower"), ("stiffness", "raise"))  # options that say how far constraints give way, and what to do with them


def judge_lagrangian(facts: LagrangianFacts) -> list[Item | None]:
    """Everything that a formula allows to be judged."""
    between = LagrangianFacts(BetweenImpacts(facts.traj)) if facts.conservative and "unilateral" in facts.features else facts
    found = [*judge_momenta(facts), *judge_energy(between), judge_discrete_energy(facts), *judge_constraints(facts)]
    return [*found, *judge_impacts(facts)]


# energy ------------------------------------------------------------------------------------------------------------------------------


def judge_energy(facts: LagrangianFacts) -> list[Item]:
    """A band, a balance, or only what it did."""
    exploded = judge_explosion(facts)
    if exploded and (facts.conservative or exploded.measured is None):
        return [exploded]
    if facts.driven:
        return [_measured_energy(facts, "constraints depend on time and do work")]
    if facts.acting:
        found = [*([exploded] if exploded else []), judge_work(facts)]
        return [*found, judge_dissipation(facts)] if facts.acting == ("damping",) and facts.promise("energy") else found
    if facts.promise("energy") is None:
        return [judge_unpromised(facts)]
    if facts.one_sided:
        return [judge_promised(facts, "impacts by a rule of order 1")]
    if "nonholonomic" in facts.features:
        return [judge_promised(facts, "constraints on velocities")]
    if facts.promise("energy") == "exactly":
        return [judge_exact(facts, "energy", facts.traj.energy, facts.kinetic_scale)]
    return [judge_promised(facts)]


def judge_discrete_energy(facts: LagrangianFacts) -> Item | None:
    """E at the middle of the last step of every recorded interval, q - tau w/2 and w, tau being its length."""
    if facts.promise("discrete energy") is None or len(facts.traj) < 2:
        return None
    traj, n = facts.traj, facts.model.n
    tau = traj.states[1:, 3 * n + 2, None]
    energy = facts.model.energy(traj.q[1:] - 0.5 * tau * traj.v_interval, traj.v_interval)
    return judge_exact(facts, "discrete energy", np.asarray(energy), facts.kinetic_scale)


def _measured_energy(facts: LagrangianFacts, why: str) -> Item:
    change = float(np.max(np.abs(facts.traj.energy - facts.traj.energy[0])))
    error = ratio(change, facts.kinetic_scale)
    return item("energy", NOT_APPLICABLE, error, None, f"energy changes by {error:.2g} ({why})")


# momentum ----------------------------------------------------------------------------------------------------------------------------


def judge_momenta(facts: LagrangianFacts) -> list[Item]:
    """One item per declared symmetry."""
    model, traj = facts.model, facts.traj
    if not model.symmetry_names:
        return []
    affine, pushed = model.affine_symmetries, pushes(facts)
    terms = model.momentum_size(traj.q, traj.v).max(axis=0)
    found = []
    for i, name in enumerate(model.symmetry_names):
        why = "" if affine[i] else "its generator is not affine in q"
        why = "constraints push along it" if pushed[i] else why
        found.append(judge_symmetry(facts, i, f"momentum of {name}", float(terms[i]), why))
    return found


def pushes(facts: LagrangianFacts) -> Array:
    """Whether constraints push along each symmetry at some of the nodes."""
    nodes = np.unique(np.linspace(0, len(facts.traj) - 1, NODES).astype(int))
    q, t = facts.traj.q[nodes], facts.traj.t[nodes]
    rows, xi = facts.model.numbers.rows(q, t), facts.model.generators(q)
    size = np.linalg.norm(rows, axis=2)[:, :, None] * np.linalg.norm(xi, axis=1)[:, None, :]
    return np.asarray((np.abs(rows @ xi) > ALONG * size).any(axis=(0, 1)))


def judge_symmetry(facts: LagrangianFacts, i: int, name: str, terms: float, why: str) -> Item:
    """Conserved, balanced, or measured. terms: the largest size of its terms."""
    J, exact = facts.traj.momentum[:, i], facts.promise("momentum") == "exactly"
    if not np.isfinite(J).all():
        return item(name, FAIL, None, None, f"{name} is not finite: the motion has exploded")
    pushed = facts.traj.impulse[:, i] if "unilateral" in facts.features and not facts.acting else np.zeros_like(J)
    error = ratio(float(np.max(np.abs(J - J[0] - pushed))), terms)
    if facts.acting and not why:
        return judge_impulse(facts, i, name, terms)
    if facts.acting or why or not exact:
        reason = why or "not promised"
        return item(name, NOT_APPLICABLE, error, None, f"{name} changes by {error:.2g} ({reason})")
    limit = facts.exact_limit + 16.0 * EPS
    verdict = PASS if error <= limit else FAIL
    less = ", less what impacts push," if pushed.any() else ""
    return item(name, verdict, error, "exactly", f"{name}{less} conserved to {error:.2g} (promised: exactly)", limit)


def judge_impulse(facts: LagrangianFacts, i: int, name: str, terms: float) -> Item:
    """Change of a momentum against the push of the forces along its symmetry."""
    if not facts.has_ledger:
        return item(name, NOT_APPLICABLE, None, None, f"change of {name} against impulse: the impulse is not known for this stepper")
    J, impulse = facts.traj.momentum[:, i], facts.traj.impulse[:, i]
    moved = float(np.max(np.abs(impulse)))
    scale = max(terms, float(np.sum(np.abs(np.diff(impulse)))))
    error = ratio(float(np.max(np.abs(J - J[0] - impulse))), scale)
    promised = facts.promise("momentum") == "exactly"
    if moved == 0.0 and promised:
        limit = facts.exact_limit + 16.0 * EPS
        text = f"{name} conserved to {error:.2g}, no force pushes along it (promised: exactly)"
        return item(name, PASS if error <= limit else FAIL, error, "exactly", text, limit)
    limit = facts.balance_limit(promised)
    return balance(facts, name, f"change of {name} equals the impulse", error, limit, ratio(moved, scale), promised)


# constraints -------------------------------------------------------------------------------------------------------------------------


def judge_constraints(facts: LagrangianFacts) -> list[Item]:
    """Holonomic rows on positions, Pfaffian rows on velocities, relative to their derivatives."""
    traj, model = facts.traj, facts.model
    m = model.formulas.holonomic_rows
    if not (m or model.formulas.pfaffian_rows):
        return []
    first = min(1, len(traj) - 1)
    q, v, t = traj.q[first:], traj.v[first:], traj.t[first:]
    length = np.linalg.norm(model.numbers.rows(q, t), axis=2)
    rates = _relative(np.abs(model.velocity_errors(q, v, t)), length, v)
    out = []
    if m:
        error = _relative(np.abs(traj.constraint[first:]), length[:, :m], q)
        text = f"holonomic constraints hold to {error.max():.2g}, their rates to {rates[:m].max():.2g}"
        out.append(_given_way(facts, _kept(facts, "holonomic", error, text), length[:, :m]))
    if m < len(rates):
        out.append(_kept(facts, "pfaffian", rates[m:], f"constraints on velocities hold to {rates[m:].max():.2g}"))
    return out


def _relative(residual: Array, length: Array, x: Array) -> Array:
    """Largest residual of each row over |row| max(1, |x|)."""
    scale = length * np.maximum(1.0, np.linalg.norm(x, axis=1))[:, None]
    return np.asarray((residual / np.where(scale > 0.0, scale, 1.0)).max(axis=0))


def _given_way(facts: LagrangianFacts, found: Item, length: Array) -> Item:
    """A warning instead where the constraints move the system as much as its motion does; found: the item about them."""
    if found.verdict in (PASS, FAIL) or not found.measured or found.measured <= EXACT:
        return found
    gaps, rows = np.abs(facts.traj.constraint).max(axis=0), length.max(axis=0)
    extent = float(np.linalg.norm(np.ptp(facts.traj.q, axis=0)))
    share = ratio(float((gaps / np.where(rows > 0.0, rows, 1.0)).max()), extent)
    if share <= NOTICEABLE:
        return found
    options = facts.traj.meta.get("options", {})
    known = [f"{verb} the option {name}, here {options[name]}" for name, verb in SOFTNESS if name in options]
    advice = known[0] if known else "a smaller h may help"
    text = found.text.removesuffix(f": {found.verdict}").removesuffix(" (not promised)")
    text = f"{text}, and give way by {share:.2g} of all that moves (not promised): {advice}"
    return item(found.name, WARN, found.measured, None, text, NOTICEABLE)


def _kept(facts: LagrangianFacts, name: str, error: Array, text: str) -> Item:
    largest = float(error.max())
    if facts.promise("constraint") != "exactly":
        verdict = NOT_APPLICABLE if largest <= NOTICEABLE else WARN
        return item(name, verdict, largest, None, f"{text} (not promised)")
    if largest <= EXACT:
        return item(name, PASS, largest, "exactly", f"{text} (promised: exactly)", EXACT)
    worst = int(np.argmax(error)) + 1
    return item(name, FAIL, largest, "exactly", f"{text}, worst in row {worst} (promised: exactly, here {EXACT:.0e})", EXACT)
