"""Where the bodies of a machine that was changed between two steps are, from where those of the machine before were.

    body in both machines (by name)        pose and twist of its frame stay
    joint in both, at the same place       coordinates and rates stay, angles beyond half a turn too
    other joint of a body that was there   its coordinates are those of the poses
    new body                               where its own joint puts it, from where its parent is now: at rest in the reference
                                           configuration of the joint, or as given

Poses that do not fit a joint of the tree, by more than FITS, are refused; twists that do not are told (`Carried.struck`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import OptionError, UnknownNameError
from dalembert.model import kinematics, validate
from dalembert.model.kinematics import Frame
from dalembert.model.loop_coordinates import state_of
from dalembert.model.parts import WORLD, Joint
from dalembert.model.rotation import quat_conj, quat_log, quat_mul, unit

FITS = 1e-6  # m, rad
STRUCK = 1e-12  # of |twist|, at least of 1 rad/s, 1 m/s: what is less is round-off
ORIGIN = Frame(np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0]), np.zeros(3), np.zeros(3))


class Before(NamedTuple):
    """The machine as its user knew it, its state, and the frames of all its bodies, with twists."""

    model: Any
    q: Array
    v: Array
    frames: dict[str, Frame]


@dataclass
class Carried:
    """The state in the machine that goes on. frames: of its bodies as they were, or are placed; joined: as the joints have them.

    placed: bodies that were given another pose or twist. struck: bodies whose twist does not fit their joint.
    """

    q: Array
    v: Array
    frames: dict[str, Frame] = field(default_factory=dict)
    joined: dict[str, Frame] = field(default_factory=dict)
    placed: set[str] = field(default_factory=set)
    struck: set[str] = field(default_factory=set)


def carry_over(before: Before, model: Any, q: Any, v: Any, t: float, cut: bool) -> Carried:
    """The state of `model`. q, v: {joint: coordinates, rates} of what is new, or free. t: of drives.

    cut: its bodies run free, and only joints that make bodies one have to fit.
    """
    kept = {j.name for j in model.joints if _stays(before.model, model, j)}
    given_q, given_v = (_given(model, kept, what, x, at) for what, x, at in (("q", q, model.q_slices()), ("v", v, model.v_slices())))
    out = Carried(model.neutral(), np.zeros(model.nv))
    for joint in kinematics.tree_order(model):
        _place(before, model, joint, kept, given_q, given_v, t, cut, out)
    return out


def _stays(old: Any, new: Any, joint: Joint) -> bool:
    """Whether a joint of the new machine joined the same bodies at the same place before."""
    was = old._joints.get(joint.name)
    if was is None or (was.kind, was.parent, was.child) != (joint.kind, joint.parent, joint.child):
        return False
    a, b = old.placement(joint.name), new.placement(joint.name)
    return all(_equal(x, y) for x, y in zip((*a[:3], *a.axes), (*b[:3], *b.axes), strict=True))


def _equal(a: Any, b: Any) -> bool:
    return a is b or (a is not None and b is not None and np.array_equal(a, b))


def _given(model: Any, kept: set[str], what: str, given: Any, slices: Mapping[str, slice]) -> dict[str, Array]:
    """What the user gave for joints, checked."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise OptionError(f"edit: {what} is {given!r}; expected {{joint: numbers}} of joints and free bodies.")
    out = {}
    for name, value in given.items():
        if name not in slices:
            raise UnknownNameError(f"joint in {what} of edit", name, slices)
        if name in kept and not model.joint(name).coordinates.absolute:
            raise OptionError(
                f"edit: {what} of joint {name!r} is given, but the joint was there before and goes on from where it is; "
                "expected joints that the edit adds, and free bodies."
            )
        size = slices[name].stop - slices[name].start
        out[name] = np.array(validate.vector("edit", f"{what} of {name!r}", np.atleast_1d(value), size, OptionError))
        for slot in model.joint(name).coordinates.quaternion_slots() if what == "q" else ():
            out[name][slot : slot + 4] = validate.unit_quaternion(
                f"joint {name!r}", "quaternion in q", out[name][slot : slot + 4], OptionError
            )
    return out


def _place(
    before: Before, model: Any, joint: Joint, kept: set[str], q: dict[str, Array], v: dict[str, Array], t: float, cut: bool, out: Carried
) -> None:
    """Coordinates and rates of one joint, and the frame of its child. That of its parent is known."""
    name, child = joint.name, joint.child
    at_q, at_v = model.q_slices()[name], model.v_slices()[name]
    known = before.frames.get(child)
    parent = ORIGIN if joint.parent == WORLD else out.joined[joint.parent]
    if name in q or name in v:
        out.placed.add(child)
    if name in kept:
        old_q, old_v = before.model.q_slices()[name], before.model.v_slices()[name]
        out.q[at_q], out.v[at_v] = before.q[old_q], before.v[old_v]
    elif known is not None:
        found = state_of(joint.kind, model.placement(name), None if joint.parent == WORLD else parent, known)
        out.q[at_q], out.v[at_v] = _continued(before, joint, found.q), found.v
    else:
        _drive(joint, out, at_q, at_v, t)
    out.q[at_q], out.v[at_v] = q.get(name, out.q[at_q]), v.get(name, out.v[at_v])
    here = kinematics._child_frame(model, joint, parent, out.q[at_q], out.v[at_v])
    held = not cut or _is_weld(joint)
    there = here if known is None or child in out.placed else known
    if held and there is known and name not in kept:
        _compare(joint, known, here, out)
    out.frames[child], out.joined[child] = there, here if held else there


def _is_weld(joint: Joint) -> bool:
    """Whether a joint makes two bodies one, in coordinates of bodies too: model/cut.py."""
    return joint.kind == "fixed" and not joint.gives_way


def _continued(before: Before, joint: Joint, q: Array) -> Array:
    """Angles near those that a joint of this name and kind had."""
    was = before.model._joints.get(joint.name)
    if was is None or was.kind != joint.kind:
        return q
    turns = np.array([unit == "rad" for unit in joint.coordinates.q_units])
    last = before.q[before.model.q_slices()[joint.name]]
    return np.where(turns, q + 2.0 * np.pi * np.round((last - q) / (2.0 * np.pi)), q)


def _drive(joint: Joint, out: Carried, at_q: slice, at_v: slice, t: float) -> None:
    """Driven coordinates of a new joint are those of their drives now."""
    for k, drive in (joint.drive or {}).items():
        out.q[at_q.start + k], out.v[at_v.start + k] = drive(t)[:2]


def _compare(joint: Joint, known: Frame, here: Frame, out: Carried) -> None:
    """Does the joint fit where its child is, and how that moves?"""
    shift = float(np.linalg.norm(here.position - known.position))
    turn = float(np.linalg.norm(quat_log(unit(quat_mul(quat_conj(known.quaternion), here.quaternion)))))
    turn = min(turn, abs(2.0 * np.pi - turn))
    if max(shift, turn) > FITS:
        raise OptionError(
            f"edit: joint {joint.name!r} ({joint.kind}) does not fit where {joint.child!r} is now: off by {shift:.3g} m, {turn:.3g} rad. "
            "Anchor and axis are those of the reference configuration; a loop fits the bodies as they are: "
            f"m.add_loop({joint.name!r}, {joint.kind!r}, {joint.parent!r}, {joint.child!r}, **sim.here({joint.parent!r}, {joint.child!r}))."
        )
    a, b = np.concatenate(known[2:]), np.concatenate(here[2:])
    if np.abs(a - b).max() > STRUCK * max(1.0, float(np.abs(a).max())):
        out.struck.add(joint.child)
