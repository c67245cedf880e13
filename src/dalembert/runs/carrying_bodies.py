"""Machines in coordinates of their bodies that were changed between two steps: state, warm starts and memory by name.

    states of bodies       bit for bit where the body with all that is fixed to it has its centre of mass where it had; else by its frame
    joints                 angles, impulses, rotors by name, kind and bodies of the joint; broken ones stay broken
    motors                 inputs by name
    contacts               axes, features and impulses by part and number of both shapes, where these have kept form and order
    account, impulse       go on

Bodies that become one by a fixed joint while they move against each other keep their momentum: an inelastic impact.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.model import kinematics
from dalembert.model.parts import WORLD
from dalembert.model.rotation import matrix, rotate
from dalembert.model.touching import leads
from dalembert.runs.carrying import Before, Carried, carry_over
from dalembert.runs.plan import Plan

KEYS = (("axis_keys", ("axis_codes",)), ("hull_keys", ("hull_codes",)), ("keys", ("features", "points", "impulses")))
MATERIAL = ("friction", "restitution", "collide", "extra")


def carry_bodies(old_plan: Plan, old: Any, plan: Plan, new: Any, q: Any, v: Any) -> None:
    """Let a new engine of bodies go on from where another one is."""
    was: Any = old_plan.acting
    frames = kinematics.frames(was, *old.machine.configuration())
    at_q, at_v = old.observe()
    found = carry_over(Before(old_plan.given, at_q, at_v, frames), plan.given, q, v, old.time, cut=True)
    a, b = old.machine, new.machine
    b.states[:] = _states(a, plan.acting, b, found)
    new.view.seed(b, found.q)
    joints_a, joints_b = _joints(was), _joints(plan.acting)

    def labels(bodies: Any, joints: dict[str, Any], what: str) -> list[Any]:
        return _numbered((joints[name], label) for name, label in getattr(bodies, what))

    _by_name(labels(a.bodies, joints_a, "measures"), a.room.values, labels(b.bodies, joints_b, "measures"), b.room.values)
    rows_a, rows_b = labels(a.bodies, joints_a, "rows"), labels(b.bodies, joints_b, "rows")
    _by_name(rows_a, a.joint_lam, rows_b, b.joint_lam)
    _by_name(_rotors(rows_a), a.rates_of_rotors, _rotors(rows_b), b.rates_of_rotors)
    _by_name([joints_a[x] for x in a.bodies.joints], a.intact, [joints_b[x] for x in b.bodies.joints], b.intact)
    _by_name(old.motors, a.inputs, new.motors, b.inputs)
    b.account[:], b.impulse[:] = a.account, a.impulse
    new.restart(new.state, old.steps)
    if a.detector is not None and b.detector is not None:
        b.detector.restore(_memory(a.detector, b.detector))


# bodies ------------------------------------------------------------------------------------------------------------------------------


def _states(a: Any, model: Any, b: Any, found: Carried) -> Array:
    """(n, 13)"""
    names = b.bodies.names
    frames = [found.joined[name] for name in names]
    out = b.bodies.states(*(np.concatenate([x for f in frames for x in f[part]]) for part in (slice(2), slice(2, 4))))
    before = {name: i for i, name in enumerate(a.bodies.names)}
    lead = leads(model)
    struck = {lead[name] for name in found.struck} - {WORLD}
    for i, name in enumerate(names):
        k = before.get(name)
        if name in struck:
            _together(model, [x for x in lead if lead[x] == name], found, b.bodies, i, out[i])
        elif k is not None and name not in found.placed and np.array_equal(a.bodies.com[k], b.bodies.com[i]):
            out[i] = a.states[k]
    return np.asarray(out)


def _together(model: Any, members: Sequence[str], found: Carried, bodies: Any, i: int, state: Array) -> None:
    """Twist of bodies that have become one: m v = sum m_b v_b,  I omega = sum R I_b omega_b + r_b x m_b v_b  about the centre of mass."""
    linear, angular = np.zeros(3), np.zeros(3)
    for name in members:
        b, f = model.body(name), found.frames[name]
        p = b.mass * rotate(f.quaternion, f.velocity + np.cross(f.omega, b.com))
        linear += p
        angular += rotate(f.quaternion, b.inertia @ f.omega) + np.cross(f.position + rotate(f.quaternion, b.com) - state[:3], p)
    R = matrix(state[3:7])
    state[7:10] = np.linalg.solve(bodies.inertia[i], R.T @ angular)
    state[10:13] = linear / bodies.mass[i]


# names -------------------------------------------------------------------------------------------------------------------------------


def _joints(model: Any) -> dict[str, Any]:
    """What a joint is known by."""
    return {x.name: (x.name, x.kind, x.parent, x.child) for x in (*model.loops, *model.nonholonomic)}


def _numbered(labels: Iterable[Any]) -> list[Any]:
    """Labels, told apart where they are the same."""
    seen: dict[Any, int] = {}
    out = []
    for label in labels:
        seen[label] = seen.get(label, -1) + 1
        out.append((*label, seen[label]))
    return out


def _rotors(rows: Sequence[Any]) -> list[Any]:
    return [row for row in rows if row[1].startswith("armature")]


def _by_name(old: Sequence[Any], values: Array, new: Sequence[Any], out: Array) -> None:
    """Values of what is in both."""
    place = {label: i for i, label in enumerate(old)}
    for i, label in enumerate(new):
        if label in place:
            out[i] = values[place[label]]


# contacts ----------------------------------------------------------------------------------------------------------------------------


def _memory(old: Any, new: Any) -> dict[str, Array]:
    """What the detector before remembered, for the shapes of the new one."""
    to, n, m = _shapes(old.scene, new.scene), len(old.scene.placed), len(new.scene.placed)
    memory, out = old.memory(), {}
    for keys, others in KEYS:
        first, second = (to[x] for x in np.divmod(memory[keys], max(n, 1)))
        kept = np.flatnonzero((first >= 0) & (second > first))  # the two in the other order would have other codes
        key = first[kept] * m + second[kept]
        order = np.argsort(key, kind="stable")
        out[keys] = key[order]
        out.update({name: memory[name][kept][order] for name in others})
    return out


def _shapes(old: Any, new: Any) -> np.ndarray:
    """(shapes of old,): their numbers in new; -1: not there, or of another form."""
    places = {name: i for i, name in enumerate(_names(new))}
    out = np.full(len(old.placed), -1, dtype=np.int64)
    for i, name in enumerate(_names(old)):
        k = places.get(name, -1)
        if k >= 0 and _form(old.placed[i].shape) == _form(new.placed[k].shape):
            out[i] = k
    return out


def _names(scene: Any) -> list[tuple[str, int]]:
    """Part and number of every shape."""
    return _numbered((placed.part,) for placed in scene.placed)


def _form(shape: Any) -> Any:
    return shape.kind, {k: x for k, x in shape.fields().items() if k not in MATERIAL}
