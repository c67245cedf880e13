"""Runs of machines cut free, with joints as constraints, contacts, friction and impacts.

energy balance    kinetic + potential energy change by the work in the account: to round-off, since every column is computed by itself
                  (rows, known forces, discretisation of rotation, weight and springs)
dissipation       contacts, friction, impacts, limits, joints and dry friction take energy; pushing overlapping bodies apart gives some, and
                  contacts with a compliance of their own give back what they have stored
momentum          linear momentum of what nothing holds to the world, or to bodies fixed to it, changes by the impulse of known forces
problems solved   residual of the problem of every step; those above the tolerance are counted
archive           where problems of steps were kept, how many, and what went wrong with that
penetration       of contacts, against the size of the smallest shape: deeper than a tenth warns
joints            largest gap of the rows of joints, against the size of the machine; one that stays open contradicts something
discretisation    what the numerical column of the account took or gave in the end, without what weights have over half a step: more than a
                  tenth of what moved warns
rotation          bodies that turned too fast for the variational rotation were stepped by the stabilised one, which takes energy
sleep             how many bodies slept at once, and for how long, where they may (option sleep)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.contact.accounts import COLUMNS as WORKS
from dalembert.report.energy import judge_explosion
from dalembert.report.facts import EPS, ratio
from dalembert.report.items import FAIL, NOT_APPLICABLE, PASS, WARN, Item, item
from dalembert.report.symmetries import grounded
from dalembert.report.tree_facts import TreeFacts

PASSIVE = ("contact", "friction", "impact", "limits", "joints", "joint_friction", "damping")
DEEP, OPEN, APART = 0.1, 1e-3, 0.02  # of the smallest shape; of the machine, of which joints should be less open, and surely be
GAIN = 0.01  # of the energy that moved
LOST = 0.1  # of the energy that moved: more than the scenes lose, where h is not too large
SMALL = 1e-4  # of weight times size: less than that is what contacts store by their compliance and give back


def judge_bodies(facts: TreeFacts) -> list[Item | None]:
    """All items."""
    found = [judge_explosion(facts), judge_balance(facts), judge_dissipation(facts), judge_discretisation(facts), judge_momentum(facts)]
    found += [judge_solved(facts), judge_archive(facts), judge_penetration(facts), judge_joints(facts), judge_rotation(facts)]
    return [*found, judge_stiffened(facts), tell_sleep(facts)]


def moved(facts: TreeFacts) -> float:
    """Energy that was moved: the scale of the start, or all work."""
    works = sum(float(np.sum(np.abs(x))) for name, x in facts.traj.account.items() if name in WORKS and name != "numerical")
    return max(facts.kinetic_scale, works, float(np.ptp(facts.traj.potential)), EPS)


def judge_balance(facts: TreeFacts) -> Item:
    """Change of energy against the account."""
    traj = facts.traj
    left = np.abs(traj.energy - traj.energy[0] - traj.work)
    error = ratio(float(np.max(left)), moved(facts))
    noise = ratio(facts.energy_noise * np.sqrt(facts.steps + 1.0), moved(facts))
    limit = max(1e-9, 64 * noise)
    text = f"change of energy equals the account to {error:.2g} (promised: exactly, here {limit:.2g})"
    return item("energy balance", PASS if error <= limit else FAIL, error, "exactly", text, limit)


def judge_dissipation(facts: TreeFacts) -> Item | None:
    """What contacts and joints gave, beside what they took."""
    account, moving = facts.traj.account, any(c.surface_velocity is not None for c in facts.model.contacts)
    passive = [name for name in PASSIVE if not (moving and name == "friction")]  # a belt drives what lies on it
    works = np.cumsum(sum(account[name] for name in passive))
    if not len(works) or not works.any():
        return None
    scale = max(moved(facts), SMALL * facts.weight * facts.extent)
    given = float(np.max(works - np.minimum.accumulate(np.minimum(works, 0.0))))
    gain = ratio(max(given - _stored(facts), 0.0), scale)
    taken = {name: -float(np.sum(account[name])) for name in passive}
    words = ", ".join(f"{name} {value:.3g} J" for name, value in taken.items() if abs(value) > 1e-9 * moved(facts))
    text = f"joints and contacts took {words or 'nothing'}; they gave at most {gain:.2g} of what moved"
    return item("dissipation", PASS if gain <= GAIN else WARN, gain, "never give", text, GAIN)


def judge_discretisation(facts: TreeFacts) -> Item | None:
    """Sum of the numerical column, with h g.(P - P_0)/2: velocities of nodes are half a step behind. None where it is small."""
    traj = facts.traj
    behind = 0.5 * traj.h * float(facts.model.gravity @ (traj.momentum[-1, 3:] - traj.momentum[0, 3:]))
    work = float(np.sum(traj.account["numerical"])) + behind
    share, scale = ratio(abs(work), moved(facts)), max(moved(facts), SMALL * facts.weight * facts.extent)
    if ratio(abs(work), scale) <= LOST:
        return None
    why = "" if not np.any(traj.solver["stiffened"]) else ": joint forces on light bodies are too large for h, and damp them"
    text = f"the discretisation {'took' if work < 0.0 else 'gave'} {abs(work):.3g} J, {share:.2g} of what moved (more than {LOST:g}){why}"
    return item("discretisation", WARN, share, None, f"{text}; try a smaller h", LOST)


def _stored(facts: TreeFacts) -> float:
    """Energy that contacts with a compliance of their own held at most, n d^2/(2 eps) of n contacts of depth d, and may give back."""
    soft = [c.compliance for c in facts.model.contacts if c.compliance]
    count, depth = (float(np.max(facts.traj.solver[name], initial=0.0)) for name in ("contacts", "penetration"))
    return count * depth**2 / (2.0 * min(soft)) if soft else 0.0


def judge_momentum(facts: TreeFacts) -> Item | None:
    """Linear momentum, of machines that nothing holds to the world."""
    traj, model = facts.traj, facts.model
    if _held(model):
        return None
    change = traj.momentum[:, 3:] - traj.momentum[0, 3:] - traj.impulse[:, 3:]
    scale = np.sqrt(2.0 * model.total_mass * max(float(np.max(traj.kinetic)), EPS))
    error, limit = ratio(float(np.abs(change).max()), scale), max(1e-11, EPS * facts.steps)
    if any(x.kind == "coupling" for x in model.loops):  # over more than two bodies: as exactly as steps are solved
        limit = max(limit, float(traj.meta["options"].get("tol", 0.0)) * facts.steps * model.total_mass / scale)
    text = f"linear momentum balanced to {error:.2g} (promised: exactly)"
    return item("momentum", PASS if error <= limit else FAIL, error, "exactly", text, limit)


def _held(model: Any) -> bool:
    """Whether a joint, a colliding shape or a force ties bodies to the world, or to what is fixed to it."""
    world = grounded(model)
    ties = [(x.parent, x.child) for x in (*model.loops, *model.nonholonomic)] + [f.ends for f in model.forces if hasattr(f, "ends")]
    shapes = [*model.world_shapes, *(s for b in model.bodies if b.name in world for s in b.shapes)]
    return any(world & {*ends} for ends in ties) or any(s.collide for s in shapes)


def judge_solved(facts: TreeFacts) -> Item:
    """Steps whose problem was not solved to the tolerance."""
    solver, tol = facts.traj.solver, float(facts.traj.meta["options"].get("tol", 0.0))
    unsolved, worst = int(np.sum(solver["unsolved"])), float(np.max(solver["residual"], initial=0.0))
    if not unsolved:
        text = f"all {facts.steps} steps solved, residual at most {worst:.2g} m/s (tolerance {tol:g})"
        return item("problems solved", PASS, worst, None, text, tol)
    text = f"{unsolved} of {facts.steps} steps not solved to the tolerance, residual at most {worst:.2g} m/s"
    return item("problems solved", WARN, worst, None, text, tol)


def judge_archive(facts: TreeFacts) -> Item | None:
    """Problems that the run archived."""
    kept = facts.traj.meta.get("archive")
    if kept is None:
        return None
    count, trouble = int(kept["problems"]), kept["trouble"]
    where = f" in {kept['path']!r}, {kept['unsolved']} of them not solved" if count else f"; none had to be ({kept['path']!r})"
    more = f"; {kept['left_out']} more that were not solved are not there" if kept["left_out"] else ""
    text = f"{count} problems of steps archived{where}{more}" + (f"; given up: {trouble}" if trouble else "")
    return item("archive", WARN if trouble else NOT_APPLICABLE, count, None, text)


def judge_penetration(facts: TreeFacts) -> Item | None:
    """The deepest overlap of contacts, behind the first node."""
    deep = facts.traj.solver["penetration"]
    if not np.any(facts.traj.solver["contacts"]):
        return None
    shapes = [s for b in facts.model.bodies for s in b.shapes if s.collide]
    smallest = min((_size(s) for s in shapes), default=1.0)
    worst, limit = float(np.max(deep)), DEEP * smallest
    text = f"contacts overlap by at most {1e3 * worst:.3g} mm"
    return item("penetration", PASS if worst <= limit else WARN, worst, None, text, limit)


def _size(shape: object) -> float:
    """Smallest half length of a shape."""
    for name in ("radius", "size", "radii"):
        value = getattr(shape, name, None)
        if value is not None:
            return float(np.min(value)) * (0.5 if name == "size" else 1.0)
    points = getattr(shape, "points", None)
    return 1.0 if points is None else 0.5 * float(np.min(np.ptp(np.array(points), axis=0)))


def judge_joints(facts: TreeFacts) -> Item | None:
    """Gaps of joints behind the first node: they give way by their compliance, and are drawn together where they were open."""
    if not facts.model._has_rows or not facts.traj.constraint.shape[1]:
        return None
    gaps = np.abs(facts.traj.constraint[min(1, len(facts.traj) - 1) :])
    worst, limit = float(np.max(gaps)), OPEN * max(facts.extent, 1e-9)
    last = float(np.max(gaps[-1]))
    text = f"joints closed to {worst:.2g} m, rad at worst, {last:.2g} at the end"
    if worst > limit:
        text += f" ({facts.model.constraint_labels[int(np.argmax(np.max(gaps, axis=0)))][0]!r})"
    if last > APART * max(facts.extent, 1e-9) and last >= float(np.max(gaps[len(gaps) // 2])):
        text += ": it does not close, so what it asks contradicts another joint, a drive or a contact"
        return item("joints", FAIL, worst, None, text, limit)
    return item("joints", PASS if worst <= limit else WARN, worst, None, text, limit)


def judge_stiffened(facts: TreeFacts) -> Item | None:
    """Links whose joint forces are too large for h: their rotation was damped (kernels/bodies/stiffening.py)."""
    count = int(np.sum(facts.traj.solver["stiffened"]))
    if not count:
        return None
    text = f"{count} times joint forces on a light body were too large for h, and its rotation was damped; try a smaller h"
    return item("stiffened", NOT_APPLICABLE, count, None, text)


def judge_rotation(facts: TreeFacts) -> Item | None:
    """Bodies that were stepped by the stabilised rotation."""
    count = int(np.sum(facts.traj.solver["stabilised"]))
    if not count:
        return None
    text = f"{count} times a body turned too fast for h, and its rotation was stabilised, which takes energy; try a smaller h"
    return item("rotation", WARN, count, None, text)


def tell_sleep(facts: TreeFacts) -> Item | None:
    """Bodies that slept."""
    traj = facts.traj
    if "asleep" not in traj.solver:
        return None
    asleep = traj.solver["asleep"] / traj.meta["every"]  # added up over the steps between two nodes
    n, whole = len(facts.model.bodies), float(traj.t[-1] - traj.t[0])
    mean = float(np.sum(asleep * np.diff(traj.t))) / max(n, 1)
    text = f"up to {round(float(np.max(asleep, initial=0.0)))} of {n} bodies slept at once; a body {mean:.3g} s of {whole:.3g} s on average"
    return item("sleep", NOT_APPLICABLE, mean, None, text)
