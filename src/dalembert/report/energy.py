"""Energy: conserved without dissipation and drive, otherwise balanced against work.

All errors are relative to T, the largest kinetic energy that the start explains (scale.py), to the sum of |work| where that is larger.

    exactly        |E - E(0)| <= round-off                      "energy of the free body", where no torque acts
    bounded        max - min of E <= (h Omega)^p, no drift      see drift.py
    balance        |E - E(0) - work| <= (h Omega)^p             with dampers, wrenches, control
    dissipation    E never rises above an earlier value         with dampers only, same limit

An energy that is not finite, or that rises by more than 10 T beyond the work of all forces, fails, whatever the method promises: the
motion has exploded. A drift fails if it is certain; it warns if the energy changes without oscillating for 10 turns of the body, or
wanders for 100. A balance is judged only where the work exceeds four times the limit: a force with the wrong sign (error: twice the work)
then always fails; up to twice the limit it warns. Steppers that promise nothing about energy warn beyond the limit (a tenth without work),
and so do all of them where constraints on velocities, or steps so coarse that (h Omega)^p > 0.2, void the promise.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dalembert.report.drift import find_drift
from dalembert.report.facts import ORDER_CAP, Facts, ratio
from dalembert.report.items import FAIL, NOT_APPLICABLE, PASS, WARN, Item, item
from dalembert.report.scale import without_spikes

EXPLODED = 10.0
NOTICEABLE = 0.1
LEAST_TURNS = 10.0
TURNS_TO_WANDER = 100.0


def judge_energy(facts: Facts) -> list[Item]:
    """All items about energy."""
    exploded = judge_explosion(facts)
    if exploded and (facts.conservative or exploded.measured is None):
        return [exploded]
    if facts.unknown:
        why = ", ".join(sorted(facts.unknown))
        return [item("energy", NOT_APPLICABLE, None, None, f"energy is not judged (forces that are not known here: {why})")]
    if not facts.conservative:
        found = [*([exploded] if exploded else []), judge_work(facts)]
        if facts.damped and "wrench" not in facts.features and not facts.controlled:
            found.append(judge_dissipation(facts))
        return found
    exact = facts.torque_free and facts.promise("energy of the free body") == "exactly"
    if facts.promise("energy") == "exactly" or (exact and not facts.gravity):
        return [judge_exact(facts, "energy", facts.traj.energy, facts.kinetic_scale)]
    turning = []
    if exact:
        rotational = 0.5 * np.sum(facts.omega * facts.spin, axis=-1)
        turning = [judge_exact(facts, "rotational energy", rotational, float(rotational.max()))]
    return [*turning, judge_bounded(facts) if facts.promise("energy") else judge_unpromised(facts)]


def judge_explosion(facts: Facts) -> Item | None:
    """Energy that is not finite, or that rises by more than 10 T and nothing explains; None for others."""
    energy, scale, promise = facts.traj.energy, facts.kinetic_scale, facts.promise("energy")
    if not np.isfinite(energy).all():
        first = float(facts.traj.t[np.argmin(np.isfinite(energy))])
        return item("energy", FAIL, None, promise, f"energy is not finite at t = {first:g} s: the motion has exploded")
    rise = float(np.max(facts.excess))
    if rise <= EXPLODED * scale or (facts.has_ledger and float(np.max(facts.traj.kinetic)) <= EXPLODED * scale):
        return None
    error, first = ratio(rise, scale), float(facts.traj.t[np.argmax(facts.excess > EXPLODED * scale)])
    text = f"energy rises by {error:.2g} of its scale, beyond {EXPLODED:g} from t = {first:g} s on: the motion has exploded"
    return item("energy", FAIL, error, promise, text, EXPLODED)


def judge_exact(facts: Facts, name: str, energy: np.ndarray, scale: float) -> Item:
    """Constant to round-off."""
    error, limit = ratio(float(np.max(np.abs(energy - energy[0]))), scale), facts.solved_limit + facts.noise(scale)
    verdict = PASS if error <= limit else FAIL
    return item(name, verdict, error, "exactly", f"{name} conserved to {error:.2g} (promised: exactly)", limit)


def judge_bounded(facts: Facts) -> Item:
    """Within a band that follows from order and step size, and without drift."""
    energy, scale = facts.traj.energy, facts.kinetic_scale
    band = ratio(float(np.ptp(energy)), scale)
    noise = facts.solved_limit + facts.noise(scale)
    limit = facts.order_limit() + facts.first_error + noise
    promise = str(facts.promise("energy"))
    text = f"energy within a band of {band:.2g} (promised: {promise}, here {limit:.2g})"
    if band > limit:
        return item("energy", FAIL, band, promise, text, limit)
    verdict, how = judge_drift(facts, limit, noise)
    return item("energy", verdict, band, promise, f"{text}, {how}", limit)


def judge_promised(facts: Facts, doubt: str = "") -> Item:
    """The same, but a warning at most where the step is too coarse for the order to mean anything, or for the reason given."""
    found = judge_bounded(facts)
    return _doubted(found, doubt) if doubt else unless_coarse(facts, found)


def unless_coarse(facts: Facts, found: Item) -> Item:
    """A warning instead of a failure where the order means nothing; a drift is one all the same."""
    if found.verdict != FAIL or "drifts" in found.text or facts.order_error() <= ORDER_CAP:
        return found
    return _doubted(found, f"h Omega = {facts.traj.h * facts.rate:.2g} is too coarse")


def _doubted(found: Item, doubt: str) -> Item:
    verdict = WARN if found.verdict == FAIL else found.verdict
    words = found.text.removesuffix(f": {found.verdict}").replace("promised", "expected")
    return replace(found, verdict=verdict, promised=None, text=f"{words}, not promised: {doubt}: {verdict}")


def judge_drift(facts: Facts, limit: float, noise: float) -> tuple[str, str]:
    """(verdict, words) about the drift of the energy; what is below the noise of round-off is none."""
    drift = find_drift(without_spikes(facts.traj.energy))
    if drift is None:
        return PASS, "too few nodes to judge a drift"
    rise = float(np.copysign(ratio(abs(drift.rise), facts.kinetic_scale), drift.rise))
    if abs(rise) > noise and drift.certain:
        return FAIL, f"but it drifts by {rise:.2g} over the run"
    if abs(rise) > max(noise, 0.1 * limit) and drift.steady and facts.turns >= LEAST_TURNS:
        return WARN, f"but it changes by {rise:.2g} without oscillating: a longer run decides"
    if ratio(float(np.ptp(facts.traj.energy)), facts.kinetic_scale) > noise and drift.wanders and facts.turns >= TURNS_TO_WANDER:
        return WARN, "but it wanders from block to block"
    return PASS, f"no drift (fitted: {rise:.2g})"


def judge_unpromised(facts: Facts) -> Item:
    """Measured only; a change of more than a tenth is worth a warning. A loss counts against itself: at most all is lost."""
    energy = facts.traj.energy
    change = energy - energy[0]
    error = ratio(float(np.max(np.abs(change))), max(facts.kinetic_scale, float(-np.min(change))))
    limit = NOTICEABLE + facts.first_error
    worst = float(change[np.argmax(np.abs(change))])
    way = "constant" if worst == 0.0 else f"{'gains' if worst > 0.0 else 'loses'} {error:.2g}"
    return item("energy", WARN if error > limit else NOT_APPLICABLE, error, None, f"energy: {way} (not promised)", limit)


def judge_work(facts: Facts) -> Item:
    """Change of energy against work."""
    name, promised = "energy balance", facts.promise("energy") is not None
    if not facts.has_ledger:
        return item(name, NOT_APPLICABLE, None, None, "change of energy against work: the work is not known for this stepper")
    energy, work = facts.traj.energy, facts.traj.work
    scale = max(facts.kinetic_scale, float(np.sum(np.abs(np.diff(work)))))
    error = ratio(float(np.max(np.abs(energy - energy[0] - work))), scale)
    limit = facts.balance_limit(promised) + facts.noise(scale)
    return balance(facts, name, "change of energy equals the work", error, limit, ratio(float(np.max(np.abs(work))), scale), promised)


def balance(facts: Facts, name: str, words: str, error: float, limit: float, moved: float, promised: bool) -> Item:
    """Judged only where what was moved, relative like the error, exceeds four times the limit: a force with the wrong sign then fails."""
    how = f"order {facts.balance_order}"
    text = f"{words} to {error:.2g} ({how}, here {limit:.2g})"
    if not promised and error > limit:
        return item(name, WARN, error, how, f"{text}, not promised", limit)
    if moved < 4.0 * limit or moved == 0.0:
        return item(name, NOT_APPLICABLE, error, how, f"{text}, but that is below what the method resolves", limit)
    verdict = PASS if error <= limit else WARN if error <= 2.0 * limit else FAIL
    return item(name, verdict, error, how, text, limit)


def judge_dissipation(facts: Facts) -> Item:
    """Dampers alone only take energy."""
    energy, promised = facts.traj.energy, facts.promise("energy") is not None
    rise = ratio(float(np.max(energy - np.minimum.accumulate(energy))), facts.kinetic_scale)
    limit = facts.order_limit(0.0 if promised else 1.0) + facts.noise(facts.kinetic_scale)
    verdict = PASS if rise <= limit else FAIL if promised else WARN
    text = f"energy rises by at most {rise:.2g} under damping alone (promised: never, here {limit:.2g})"
    return item("dissipation", verdict, rise, "never rises", text, limit)
