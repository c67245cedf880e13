"""Which momenta of a tree are conserved: the rigid motions of the whole machine that change nothing.

A world twist xi = (w, u) moves every point x at w x x + u. It is a symmetry if it keeps gravity's potential (w along gravity, u across it)
and every tie to the world: a joint or loop to the world is kept by the motions that its kind allows (a hinge: the rotation about its axis;
a ball: rotations about it; a slider: shifts along it; ...), a force by those that it says (`Force.kept`; a spring to the world: rotations
about its end there). What acts from outside (wrenches, dampers, rolling and blades on the world) and what resists or drives a joint to the
world (stiffness, damping, couplings, drives) is kept by none. Noether: w . L + u . P is constant, plus the part of the armature of a hinge
or slider to the world.

Not found are symmetries that hold by accident of the masses, such as a balanced wheel on a level axis.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dalembert.arrays import Array
from dalembert.model import Model
from dalembert.model.joints._base import perpendicular
from dalembert.model.kinematics import frames, point
from dalembert.model.parts import WORLD
from dalembert.model.points import is_free
from dalembert.model.twists import shift, turn, turns

SMALL = 1e-9
ROTATION = {"revolute", "universal", "cylindrical", "planar", "slot"}  # kinds that allow a rotation about their axis,
SHIFT = {"prismatic", "cylindrical", "slot", "translation"}  # a shift along it,
SHIFTS_ACROSS = {"planar", "translation"}  # shifts across it,
BALL = {"spherical", "distance"}  # all rotations about their anchor


class Symmetry(NamedTuple):
    """A label, and world twists (k, 6) whose momenta it names."""

    label: str
    twists: Array

    @property
    def centre(self) -> Array:
        """A point of the axis; 0 for shifts."""
        w, u = self.twists[0, :3], self.twists[0, 3:]
        if len(self.twists) == 3 and np.any(w):  # rotations about a point: u = c x w
            A = np.concatenate([_hat(x[:3]) for x in self.twists])
            return np.asarray(np.linalg.lstsq(-A, self.twists[:, 3:].ravel(), rcond=None)[0])
        return np.cross(w, u) / (w @ w) if np.any(w) else np.zeros(3)


def symmetries(model: Model) -> list[Symmetry]:
    """All symmetries: shifts first, then rotations."""
    return _named(model, _twists(model))


def ties(model: Model) -> list[Symmetry]:
    """Motions that joints and loops to the world allow, whatever forces do: reactions push nothing along them."""
    return _named(model, _twists(model, forces=False))


def _named(model: Model, kept: Array) -> list[Symmetry]:
    if not len(kept):
        return []
    shifts = kept if not np.abs(kept[:, :3]).max() > SMALL else _null(kept[:, :3].T) @ kept
    turns = _across(kept, shifts)
    shifts = _clean(np.concatenate([np.zeros((len(shifts), 3)), shifts[:, 3:]], axis=1))
    out = [Symmetry(_shift_label(model, shifts[:, 3:]), shifts)] if len(shifts) else []
    if len(turns):
        turns = turns / np.linalg.norm(turns[:, :3], axis=1, keepdims=True)
        turns = _clean(turns)
        turns *= np.where(turns[np.arange(len(turns)), np.argmax(np.abs(turns[:, :3]), axis=1)] < 0.0, -1.0, 1.0)[:, None]
        out.append(Symmetry(_turn_label(model, turns, len(shifts)), turns))
    return out


def armature_momentum(model: Model, twist: Array, v: Array) -> Array:
    """What the armatures of hinges and sliders to the world add to the momentum of a twist, (N,)."""
    total, at = np.zeros(len(v)), model.v_slices()
    fixed = grounded(model)
    for j in model.joints:
        if j.parent in fixed and j.armature > 0.0 and j.kind in ("revolute", "prismatic"):
            along = twist[:3] @ j.axis if j.kind == "revolute" else twist[3:] @ j.axis
            total += j.armature * along * v[:, at[j.name].start]
    return total


# the twists ------------------------------------------------------------------------------------------------------------------------


def grounded(model: Model) -> set[str]:
    """The world and all bodies that are fixed to it."""
    out = {WORLD}
    while True:
        more = {j.child for j in model.joints if j.kind == "fixed" and j.parent in out} - out
        if not more:
            return out
        out |= more


def _twists(model: Model, forces: bool = True) -> Array:
    """An orthonormal basis of all symmetries, rows; forces: of these too, else of joints and loops alone."""
    fixed = grounded(model)
    allowed = [*_joints(model, fixed, forces), *_loops(model, fixed)]
    if forces:
        allowed += [*_gravity(model), *_forces(model, fixed)]
    if any((j.parent in fixed) != (j.child in fixed) for j in model.nonholonomic):
        allowed.append(np.zeros((0, 6)))
    forbidden = [np.eye(6) - np.linalg.pinv(B) @ B if len(B) else np.eye(6) for B in allowed]
    return _null(np.concatenate(forbidden)) if forbidden else np.eye(6)


def _gravity(model: Model) -> list[Array]:
    g = np.linalg.norm(model.gravity)
    return [] if g == 0.0 else [np.concatenate([turn(model.gravity / g, np.zeros(3)), *_shifts_across(model.gravity / g)])]


def _joints(model: Model, fixed: set[str], forces: bool) -> list[Array]:
    coupled = {end for loop in model.loops if loop.kind == "coupling" for end in (loop.parent, loop.child)}
    out = []
    for j in model.joints:
        if j.parent not in fixed or j.kind == "fixed":
            continue
        acts = j.stiffness > 0.0 or j.damping > 0.0 or j.friction > 0.0 or j.drive is not None
        resists = (forces and acts) or j.name in coupled
        heavy = j.armature > 0.0 and j.kind not in ("revolute", "prismatic")
        if resists or heavy:
            out.append(np.zeros((0, 6)))
        elif not is_free(model, j):
            out.append(_kept_by(j.kind, j.axis, j.anchor))
    return out


def _loops(model: Model, fixed: set[str]) -> list[Array]:
    out = []
    for loop in model.loops:
        if loop.kind == "coupling" or (loop.parent in fixed) == (loop.child in fixed):
            continue
        if loop.parent in fixed:
            out.append(_kept_by(loop.kind, loop.axis, loop.anchor))
        else:
            out.append(_kept_by(loop.kind, loop.axis, loop.point) if loop.kind in BALL else np.zeros((0, 6)))
    return out


def _forces(model: Model, fixed: set[str]) -> list[Array]:
    found = frames(model, model.neutral()) if model.forces else {}
    kept = (f.kept(fixed, lambda body, where: point(found, body, where)) for f in model.forces)
    return [twists for twists in kept if twists is not None]


def _kept_by(kind: str, axis: Array, anchor: Array) -> Array:
    """Twists that a tie of this kind to the world allows, rows."""
    rows = [np.zeros((0, 6))]
    if kind in ROTATION:
        rows.append(turn(axis, anchor))
    if kind in SHIFT:
        rows.append(shift(axis))
    if kind in SHIFTS_ACROSS:
        rows += _shifts_across(axis)
    if kind in BALL:
        rows.append(turns(anchor))
    return np.concatenate(rows)


def _shifts_across(axis: Array) -> list[Array]:
    b = perpendicular(axis)
    return [shift(b), shift(np.cross(axis, b))]


def _hat(a: Array) -> Array:
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


def _null(A: Array) -> Array:
    """Orthonormal rows x with A x = 0."""
    _, s, Vt = np.linalg.svd(A, full_matrices=True)
    return Vt[int(np.sum(s > SMALL * max(1.0, s.max(initial=0.0)))) :]


def _clean(rows: Array) -> Array:
    """Without the round-off of zeros."""
    return np.where(np.abs(rows) > 1e-13, rows, 0.0)


def _across(space: Array, part: Array) -> Array:
    """Rows that span what is left of a space without a part of it; for all three rotations about a point: about x, y, z."""
    left = space - space @ part.T @ part
    _, s, Vt = np.linalg.svd(left)
    rows = Vt[: int(np.sum(s > 1e-6))]
    return np.linalg.solve(rows[:, :3], rows) if len(rows) == 3 else rows


# words -----------------------------------------------------------------------------------------------------------------------------


def _name(a: Array) -> str:
    """'_x' for a unit vector along an axis, else ' along (...)'."""
    k = int(np.argmax(np.abs(a)))
    if abs(a[k]) > 1.0 - SMALL:
        return "_" + "xyz"[k]
    clean = np.where(np.abs(a) < 1e-12, 0.0, a)  # no -0 by round-off
    return f" along ({', '.join(f'{x:.3g}' for x in clean)})"


def _shift_label(model: Model, directions: Array) -> str:
    if len(directions) == 3:
        return "p"
    if len(directions) == 1:
        return "p" + _name(np.copysign(1.0, directions[0][np.argmax(np.abs(directions[0]))]) * directions[0])
    normal = _null(directions)[0]
    k = int(np.argmax(np.abs(normal)))
    if abs(normal[k]) > 1.0 - SMALL:
        return ", ".join(f"p_{a}" for i, a in enumerate("xyz") if i != k)
    return "p across gravity" if np.linalg.norm(np.cross(normal, model.gravity)) < SMALL * np.linalg.norm(model.gravity) else "p in a plane"


def _turn_label(model: Model, turns: Array, shifts: int) -> str:
    what = "L" if len(turns) == 3 else "L" + ", L".join(_name(x[:3]) for x in turns)
    if shifts >= 2:
        return what
    roots = [j for j in model.joints if j.parent in grounded(model) and j.kind not in ("fixed", "free", "translation")]
    if not roots:
        return f"{what} about a fixed point"
    return f"{what} about the {'pivot' if roots[0].kind == 'spherical' else 'axis of ' + repr(roots[0].name)}"
