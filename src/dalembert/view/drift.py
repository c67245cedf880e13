"""What a run should have kept, as curves over time.

    energy     (E - E(0) - W) / max T           W: work of all forces but gravity, as the run counted it; of a Lagrangian on which
               nothing acts but one-sided constraints, what impacts gave
    momentum   |L - L(0) - int M dt| / max |L|,   |p - p(0) - int F dt| / max |p|

L is taken about the world's origin, or about the pivot of a body on a spherical joint; there only L is judged, since the pivot's force
is unknown. Of a machine of several bodies or with joints: what its symmetries keep, |J - J(0)| / scale, and where forces from outside act
|J - J(0) - impulse| / scale, with the components, the point and the scale of the report (report/tree.py). Runs of a body without a
ledger of work and impulse (plain-Python steppers) are judged where the symmetries of the model allow it: along the vertical for L, across
it for p. Of a Lagrangian: |J - J(0) - push of the forces| / max |J| of each declared symmetry. Of bodies cut free: |p - p(0) - impulse|,
where nothing ties them to the world (report/bodies.py).
"""

from __future__ import annotations

from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np

from dalembert.arrays import Array
from dalembert.lagrangian import Lagrangian
from dalembert.model import Model
from dalembert.model.points import is_free
from dalembert.report.bodies import judge_momentum
from dalembert.report.facts import Facts
from dalembert.report.lagrangian_impacts import BetweenImpacts
from dalembert.report.make import is_machine
from dalembert.report.tree import balances, conserved
from dalembert.report.tree_facts import TreeFacts
from dalembert.runs.as_bodies import as_bodies

TIED = "the world holds or touches the machine"
UNRECORDED = "forces act, and their impulse\nwas not recorded"
_TINY = 1e-300


class Curve(NamedTuple):
    """A labelled quantity over the nodes."""

    label: str
    values: Array


def scale_of(a: Array) -> float:
    """Largest finite magnitude, or 1 if there is none."""
    finite = np.abs(a[np.isfinite(a)])
    return float(finite.max()) if finite.size and finite.max() > _TINY else 1.0


def is_forced(traj: Any) -> bool:
    """Whether anything but gravity does work on the bodies, or anything outside a Lagrangian."""
    traj = as_bodies(traj)
    return acted_on(traj._run_model, traj)


@singledispatch
def acted_on(system: Any, traj: Any) -> bool:
    """`is_forced` by the kind of system."""
    if is_machine(Facts(traj)):
        facts = TreeFacts(traj)
        return bool(facts.working) or facts.damped or facts.controlled
    damped = any(j.damping or j.friction or j.stiffness for j in traj._run_model.joints)
    return bool(traj._run_model.forces) or damped or traj.meta.get("control") is not None


def energy_drift(traj: Any) -> Curve | None:
    """Relative error of the energy balance; None if forces act and their work is unknown."""
    change, work = traj.energy - traj.energy[0], np.asarray(traj.work)
    scale = scale_of(traj.kinetic)
    if not is_forced(traj):
        given = given_by_impacts(traj.model, traj)
        return Curve("(E − E₀ − impacts) / max T" if given.any() else "(E − E₀) / max T", (change - given) / scale)
    if not np.isfinite(work).all():
        return None
    return Curve("(E − E₀ − W) / max T", (change - work) / scale)


@singledispatch
def given_by_impacts(system: Any, traj: Any) -> Array:
    """Energy (n,) that impacts gave since the start, where the report leaves it out; J."""
    return np.zeros(len(traj))


@given_by_impacts.register
def _(system: Lagrangian, traj: Any) -> Array:
    return np.asarray(traj.energy - BetweenImpacts(traj).energy) if "unilateral" in system.formulas.features else np.zeros(len(traj))


def momentum_drift(traj: Any) -> list[Curve]:
    """Relative errors of the angular and linear balance; those that cannot be judged are left out. Of a Lagrangian: one per symmetry."""
    traj = as_bodies(traj)
    return kept(traj.model, traj)


@singledispatch
def kept(system: Any, traj: Any) -> list[Curve]:
    """`momentum_drift` by the kind of system."""
    if is_machine(Facts(traj)):
        return _machine_drift(traj)
    model, pivot = traj._run_model, pivot_of(traj.model)
    L, p = traj.momentum[:, :3], traj.momentum[:, 3:]
    if pivot is not None:
        L = L - np.cross(pivot, p)
    held = any(j.parent == "world" and not is_free(model, j) for j in model.joints)
    impulse = np.asarray(traj.impulse)
    known = bool(np.isfinite(impulse[:, :3]).all())
    if not known and (is_forced(traj) or (held and pivot is None)):
        return []
    J, K = (impulse[:, :3], impulse[:, 3:]) if known else (np.zeros_like(L), np.zeros_like(p))
    along, across = (np.eye(3), np.eye(3)) if known else _symmetric_directions(model)
    curves = [Curve("angular" if along.shape[0] == 3 else "angular, vertical", _norm((L - L[0] - J) @ along.T) / scale_of(L))]
    if not held:
        curves.append(Curve("linear" if across.shape[0] == 3 else "linear, level", _norm((p - p[0] - K) @ across.T) / scale_of(p)))
    return curves


def momentum_excuse(traj: Any) -> str:
    """Why there is no momentum to show."""
    traj = as_bodies(traj)
    return excuse(traj.model, traj)


@singledispatch
def excuse(system: Any, traj: Any) -> str:
    """`momentum_excuse` by the kind of system."""
    if not is_machine(Facts(traj)):
        return UNRECORDED
    facts = TreeFacts(traj)
    return f"not judged:\n{TIED if cut_free(facts) else conserved(facts)[1]}"


def _machine_drift(traj: Any) -> list[Curve]:
    facts = TreeFacts(traj)
    if cut_free(facts):
        return _linear_drift(facts)
    parts = conserved(facts)[0] + [p._replace(label=f"{p.label} − impulse") for p in balances(facts)]
    return [Curve(p.label, _norm(p.series - p.series[0]) / (p.scale or 1.0)) for p in parts]


def cut_free(facts: TreeFacts) -> bool:
    """Whether joints are constraints between bodies, whose report judges linear momentum alone."""
    return facts.traj.meta["family"] == "bodies"


def _linear_drift(facts: TreeFacts) -> list[Curve]:
    if judge_momentum(facts) is None:
        return []
    traj = facts.traj
    change = traj.momentum[:, 3:] - traj.momentum[0, 3:] - traj.impulse[:, 3:]
    fastest = np.sqrt(2.0 * facts.model.total_mass * max(float(np.nanmax(traj.kinetic)), _TINY))
    return [Curve("linear − impulse", _norm(change) / fastest)]


@acted_on.register
def _(system: Lagrangian, traj: Any) -> bool:
    return bool(system.formulas.features & {"force", "damping"}) or traj.meta.get("control") is not None


@excuse.register
def _(system: Lagrangian, traj: Any) -> str:
    return UNRECORDED if system.symmetry_names else "no symmetry was declared"


@kept.register
def _(system: Lagrangian, traj: Any) -> list[Curve]:
    impulse = traj.impulse if is_forced(traj) else np.zeros_like(traj.momentum)
    if not np.isfinite(impulse).all():
        return []
    change = np.abs(traj.momentum - traj.momentum[0] - impulse)
    return [Curve(name, change[:, i] / scale_of(traj.momentum[:, i])) for i, name in enumerate(traj.model.symmetry_names)]


def pivot_of(model: Model) -> Array | None:
    """Where the only body is held by a spherical joint to the world."""
    if len(model.bodies) == 1 and model.joints[0].kind == "spherical" and model.joints[0].parent == "world":
        return model.joints[0].anchor
    return None


def _symmetric_directions(model: Model) -> tuple[Array, Array]:
    """Rows: directions along which L, and along which p, is conserved by gravity."""
    g = np.linalg.norm(model.gravity)
    if g == 0.0:
        return np.eye(3), np.eye(3)
    up = model.gravity / g
    return up[None, :], np.linalg.svd(up[None, :])[2][1:]


def _norm(a: Array) -> Array:
    return np.linalg.norm(a, axis=-1)
