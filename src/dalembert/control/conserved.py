"""Conserved momentum and the goal of a plan.

Where nothing drives a free body that carries all others, its momentum at the end is known beforehand: P + m g T, and L about the centre of
mass as it was. A goal that asks for other velocities cannot be reached, and is refused; one that asks for these says nothing new: its
equations depend on those of the steps, and are left out. The same holds for the place of that body, by way of the centre of mass, which
moves on c + P T/m + g T^2/2 (discrete motions: to the order of the method).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.control.ends import Node
from dalembert.errors import OptionError
from dalembert.model.parts import WORLD

TOLERANCE = 1e-6  # of the size of the momenta
PLACE = 1e-2  # of the way that the centre of mass may be off by the discretisation


def carrier(machine: Any) -> Any:
    """The free joint that carries all bodies and that nothing outside the machine drives; None where there is none."""
    if not hasattr(machine.formulas, "tree"):
        return None
    model = machine.reduced
    joint = model.joints[0]
    held = any(link.parent < 0 and link.joint.name != joint.name for link in machine.formulas.tree.links)
    outside = [f for f in model.forces if f.kind in ("damper", "wrench") or WORLD in f.ends]
    tied = any(WORLD in (x.parent, x.child) for x in (*model.loops, *model.nonholonomic))
    if joint.kind != "free" or held or outside or tied or joint.damping or joint.stiffness or joint.armature:
        return None
    return None if np.any(machine.B[model.v_slices()[joint.name]]) else joint


def about_centre(machine: Any, q: Array, v: Array) -> tuple[Array, Array, Array]:
    """(centre of mass, linear momentum, angular momentum about it)"""
    model = machine.reduced
    poses, total = model.poses(q), model.total_mass
    centre = sum(b.mass * (T[:3, :3] @ b.com + T[:3, 3]) for b, T in zip(model.bodies, poses, strict=True)) / total
    momentum = np.asarray(model.momentum(q, v))
    return np.asarray(centre), momentum[3:], momentum[:3] - np.cross(centre, momentum[3:])


def without_the_known(machine: Any, first: Node, last: Node, T: float | None) -> tuple[Node, list[str]]:
    """The goal without what conservation says already, and notes. T: None where the time is free."""
    joint = carrier(machine)
    known = np.isfinite(first.q).all() and np.isfinite(first.v).all() and np.isfinite(last.q).all()
    if joint is None or not known:
        return last, []
    part_q, part_v = machine.system.q_slices()[joint.name], machine.system.v_slices()[joint.name]
    notes, q, v = [], np.array(last.q), np.array(last.v)
    c0, P0, L0 = about_centre(machine, first.q, first.v)
    gravity, mass = np.asarray(machine.reduced.gravity), machine.reduced.total_mass
    falls = bool(np.any(gravity))
    if np.isfinite(v).all() and not (falls and T is None):
        _, P1, L1 = about_centre(machine, q, v)
        wanted = P0 + (mass * gravity * T if falls and T is not None else 0.0)
        size = max(1e-9, *(float(np.abs(x).max()) for x in (P0, P1, wanted, L0, L1)))
        for what, was, asked in (("linear momentum", wanted, P1), ("angular momentum about the centre of mass", L0, L1)):
            if np.abs(was - asked).max() > TOLERANCE * size:
                raise OptionError(
                    f"dmoc: nothing outside drives {joint.name!r}, so the {what} at the goal is {np.round(was, 9).tolist()}, and the goal "
                    f"asks for {np.round(asked, 9).tolist()}; leave velocities free: "
                    "goal={'q': ..., 'v': {joint: rates of the driven joints}}."
                )
        v[part_v] = np.nan
        notes.append(f"velocity of {joint.name!r} at the goal: momentum is conserved and says it already")
    if T is not None or not (falls or np.any(P0)):
        c1 = c0 + (P0 * T / mass + 0.5 * gravity * T**2 if T is not None else 0.0)
        miss = about_centre(machine, q, np.zeros(machine.nv))[0] - c1
        size = float(np.ptp([T_[:3, 3] for T_ in machine.reduced.poses(q)], axis=0).max()) + float(np.linalg.norm(c1 - c0))
        if np.abs(miss).max() > PLACE * max(size, 1e-6):
            raise OptionError(
                f"dmoc: nothing outside drives {joint.name!r}, so the centre of mass at the goal is at {np.round(c1, 6).tolist()}, and the "
                f"goal has it {np.round(miss, 6).tolist()} away; leave the place free: goal={{'q': {{other joints}}, 'poses': "
                f"{{{joint.child!r}: (None, quaternion)}}}}."
            )
        q[part_q.start : part_q.start + 3] = np.nan
        notes.append(f"place of {joint.name!r} at the goal: the centre of mass says it already")
    return replace(last, q=q, v=v), notes
