"""A machine of free bodies as arrays of the contact engine: lumped bodies, joints as rows, and states of bodies.

The model is one that was cut free (model/cut.py), or has been free all along: its tree joints are free or fixed. Bodies that are fixed to
each other are one; what is fixed to the world is the world. Body i is that of the i-th free joint, so its q and v stand at 7 i and 6 i.
Joints that join a body to itself, or the world to the world, move nothing: they are left out.

    state of a body    x (3, centre of mass, world), quaternion (4, body to world), omega (3, body axes), v (3, centre of mass, world)
    unknowns of a step x (6 n): per body (w, v), angular first
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import UnsupportedError
from dalembert.kernels.bodies import layout as at
from dalembert.kernels.bodies.states import STATE, from_states, to_states
from dalembert.kernels.bodies.targets import CALL
from dalembert.model import compile_tree
from dalembert.model.body_rows import Defaults, Writer
from dalembert.model.light import is_light
from dalembert.model.loops import ONE, Loop
from dalembert.model.lumps import Rigid, lump
from dalembert.model.nonholonomic import Nonholonomic
from dalembert.model.parts import WORLD
from dalembert.model.rotation import quat_conj, quat_mul, rotate

if TYPE_CHECKING:
    from dalembert.model.drive_tables import TableDrive
    from dalembert.model.drives import Drive
    from dalembert.model.model import Model

EPS = 1e-10  # m/N, rad/(N m): of rows whose joint has no compliance
STEPS = 2.0  # damping time in steps: the fastest return of a violation (lacoursiere2007, 4.48)
MARGIN = 1e-3  # m, rad: limits that are further away sleep


class Place(NamedTuple):
    """Frame of a body in the frame of the lumped body that it is part of; -1: of the world."""

    body: int
    position: Array
    quaternion: Array


class Room(NamedTuple):
    """Arrays that `assemble_rows` works in, in its order."""

    values: Array
    J_measures: Array
    targets: Array
    rates: Array
    call: Array


class Rows(NamedTuple):
    """Arrays of the constraints of a step, in the order of `assemble_rows`."""

    bodies: np.ndarray
    kind: np.ndarray
    first: np.ndarray
    J: Array
    b: Array
    sigma: Array
    low: Array
    high: Array
    mu: Array


@dataclass(frozen=True)
class BodySystem:
    """Arrays of a machine of n free bodies with joints. Labels are (joint, what)."""

    names: tuple[str, ...]  # of the bodies that carry the others
    mass: Array  # (n,)
    inertia: Array  # (n, 3, 3) about the centre of mass, axes of the body frame
    com: Array  # (n, 3) in the body frame
    weight: Array  # (6 n,) gravity: torques in body axes, forces in world axes
    places: dict[str, Place]  # of all bodies of the model, and of the world
    joints: tuple[str, ...]
    left_out: tuple[str, ...]  # joints that move nothing
    strength: Array  # (joints, 2) N, N m; infinite where a joint cannot break
    measures: tuple[tuple[str, str], ...]
    rows: tuple[tuple[str, str], ...]
    coupled: dict[str, tuple[str, str]]  # coupling -> the joints that it couples
    coordinates: dict[tuple[str, int], int]  # (joint, number of its coordinate) -> measure, where something acts on the joint
    lengths: tuple[tuple[int, int, float], ...]  # first row, number of rows, greatest length of their force
    drives: tuple[Drive | TableDrive, ...]  # machine code lives as long as these
    system: Array  # kernels/bodies/layout.py
    tree: Array  # the same machine for `kernels/bodies/loads.py`; empty where no force acts beside gravity

    def count(self, what: int) -> int:
        """A number of the header: layout.JOINTS, MEASURES, CONSTRAINTS, ROWS, MOTORS, DRIVES, ROTORS."""
        return int(self.system[what])

    def states(self, q: Array, v: Array) -> Array:
        """States (n, 13) of the bodies from q and v of the model."""
        out = np.empty((len(self.names), STATE))
        to_states(np.ascontiguousarray(q, dtype=float), np.ascontiguousarray(v, dtype=float), self.com, out)
        return out

    def configuration(self, states: Array) -> tuple[Array, Array]:
        """q and v of the model from states."""
        q, v = np.empty(7 * len(self.names)), np.empty(6 * len(self.names))
        from_states(np.ascontiguousarray(states, dtype=float), self.com, q, 0, v, 0)
        return q, v

    def unknowns(self, states: Array) -> Array:
        """(6 n,): omega and v of every body."""
        return np.ascontiguousarray(states[:, 7:]).ravel()

    def room(self, near: Mapping[str, Array] | None = None) -> Room:
        """New arrays for `assemble_rows`. Angles go on from those of `near`, {joint: q}; of other joints they start in (-pi, pi]."""
        m, known = self.count(at.MEASURES), self.count(at.MOTORS) + self.count(at.DRIVES)
        n = known + self.count(at.ROTORS)
        values = np.zeros(m)
        for (joint, k), measure in self.coordinates.items():
            values[measure] = (near or {}).get(joint, np.zeros(k + 1))[k]
        targets = np.zeros(n)
        targets[known:] = np.nan
        return Room(values, np.zeros((m, 12)), targets, np.zeros(n), np.zeros(CALL))

    def tree_work(self) -> Array:
        """A new array for `add_loads` to work in."""
        return np.zeros(compile_tree.work_size(self.tree) if len(self.tree) else 0)

    def arrays(self, constraints: int = 0, rows: int = 0) -> Rows:
        """New arrays for the joints and so many further constraints and rows."""
        m, r = self.count(at.CONSTRAINTS) + constraints, self.count(at.ROWS) + rows
        bodies, kind, first = np.zeros((m, 2), np.int64), np.zeros(m, np.int64), np.zeros(m + 1, np.int64)
        return Rows(bodies, kind, first, np.zeros((r, 12)), np.zeros(r), np.zeros(r), np.zeros(r), np.zeros(r), np.zeros(m))


def compile_bodies(model: Model, eps: float = EPS, steps: float = STEPS, margin: float = MARGIN) -> BodySystem:
    """Arrays of a machine of free bodies. eps, steps (damping time in steps), margin: of rows that the model says nothing of."""
    _refuse(model)
    lead, wholes = lump(model)
    names = [j.child for j in model.joints if j.kind == "free"]
    bodies = [wholes[name] for name in names]
    _need_inertia(model, bodies)
    index = {WORLD: -1, **{name: i for i, name in enumerate(names)}}
    places = {b: _place(model, index[lead[b]], lead[b], b) for b in lead}
    writer, left_out = _write(model, {b: (p.body, wholes.get(lead[b])) for b, p in places.items()}, Defaults(eps, steps, margin))
    strengths = {x.name: (x.strength or np.inf, x.torque_strength or np.inf) for x in model.loops}
    return BodySystem(
        names=tuple(names),
        mass=np.array([b.mass for b in bodies]),
        inertia=np.array([b.inertia for b in bodies]).reshape(-1, 3, 3),
        com=np.array([b.com for b in bodies]).reshape(-1, 3),
        weight=np.array([[0.0, 0.0, 0.0, *(b.mass * model.gravity)] for b in bodies]).ravel(),
        places=places,
        joints=tuple(writer.joint_names),
        left_out=tuple(left_out),
        strength=np.array([strengths.get(name, (np.inf, np.inf)) for name in writer.joint_names]).reshape(-1, 2),
        measures=tuple(writer.measure_labels),
        rows=tuple(writer.row_labels),
        lengths=tuple(writer.lengths),
        coupled=writer.coupled,
        coordinates=writer.coordinates,
        drives=tuple(writer.drives),
        system=writer.array(),
        tree=compile_tree.system_array(model, {}) if _is_loaded(model) else np.zeros(0),
    )


def _is_loaded(model: Model) -> bool:
    return bool(model.forces) or any(j.damping > 0.0 for j in model.joints)


def _write(model: Model, of: dict[str, tuple[int, Rigid | None]], defaults: Defaults) -> tuple[Writer, list[str]]:
    """All joints, and the names of those that move nothing. of: body -> (index, the whole that it is part of)."""
    writer, left_out = Writer(defaults, tuple(model.motors)), []
    for loop in model.loops:
        if loop.kind == "coupling":
            continue
        if of[loop.parent][0] == of[loop.child][0]:
            left_out.append(loop.name)
        else:
            writer.add_loop(loop, **_ends(of, loop, loop.point, loop.turn))
    for joint in model.nonholonomic:
        if of[joint.parent][0] == of[joint.child][0]:
            left_out.append(joint.name)
        else:
            writer.add_nonholonomic(joint, **_ends(of, joint, joint.anchor if joint.point is None else joint.point, ONE))
    for free in model.joints:
        if free.kind == "free" and free.max_velocity > 0.0:
            writer.add_free(free.name, free.max_velocity, of[free.child][0])
    for loop in model.loops:
        if loop.kind == "coupling":
            if loop.child in left_out or loop.parent in left_out:
                left_out.append(loop.name)
            else:
                writer.add_coupling(loop, 1 + max(body for body, _ in of.values()))
    return writer, left_out


def _ends(of: dict[str, tuple[int, Rigid | None]], joint: Loop | Nonholonomic, point: Array, turn: Array) -> dict[str, Any]:
    """Bodies, arms and frames of the record of a joint; turn: from the child as it stands to as it is to stand."""
    (a, whole_a), (b, whole_b) = of[joint.parent], of[joint.child]
    arms = {"ARM_A": _arm(whole_a, joint.anchor), "ARM_B": _arm(whole_b, point)}
    frames = {"FRAME_A": _frame(whole_a), "FRAME_B": quat_mul(_frame(whole_b), quat_conj(turn))}
    return {"BODY_A": a, "BODY_B": b, **arms, **frames}


def _arm(whole: Rigid | None, where: Array) -> Array:
    """From the centre of mass to a place that is given in the world at the reference configuration, body axes."""
    if whole is None:
        return where
    return rotate(quat_conj(whole.body.quaternion), where - whole.body.position) - whole.com


def _frame(whole: Rigid | None) -> Array:
    """World axes at the reference configuration, seen from the body."""
    return ONE if whole is None else quat_conj(whole.body.quaternion)


def _place(model: Model, index: int, lead: str, body: str) -> Place:
    p, q = (np.zeros(3), ONE) if body == WORLD else (model.body(body).position, model.body(body).quaternion)
    if index < 0:
        return Place(index, p, q)
    whole = model.body(lead)
    back = quat_conj(whole.quaternion)
    return Place(index, rotate(back, p - whole.position), quat_mul(back, q))


def _refuse(model: Model) -> None:
    """UnsupportedError that names what body coordinates have no arrays for."""
    who = f"model {model.name!r} in body coordinates"
    jointed = [j.name for j in model.joints if j.kind != "free" and (j.kind != "fixed" or j.gives_way)]
    if jointed:
        raise UnsupportedError(f"{who}: joints {', '.join(map(repr, jointed))} belong to the tree; cut the model free first.")
    for what in ("friction", "armature"):
        held = [j.name for j in model.joints if getattr(j, what) > 0.0]
        if held:
            raise UnsupportedError(f"{who}: {what} of free joints {', '.join(map(repr, held))} is not handled.")


def _need_inertia(model: Model, bodies: list[Rigid]) -> None:
    light = [b.body.name for b in bodies if is_light(b)]
    if light:
        raise UnsupportedError(
            f"model {model.name!r} in body coordinates: bodies {', '.join(map(repr, light))} (with what is fixed to them) have no mass or "
            "no inertia about some axis, so they cannot be free."
        )
