"""What a compiled MuJoCo model holds and a Model does not: found by counting, named for the report. Colours of materials are kept by the
shapes, textures are named where the file is read; gloss is no news."""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.importers.compiling import library
from dalembert.importers.notes import Notes

COUNTED = (  # count, accessor, topic
    ("ntendon", "tendon", "tendons"),
    ("nsite", "site", "sites"),
    ("nsensor", "sensor", "sensors"),
    ("nflex", "flex", "deformable bodies: elasticity and contact"),
    ("nskin", "skin", "skins"),
    ("nplugin", "plugin", "plugins"),
    ("ncam", "cam", "cameras"),
    ("nlight", "light", "lights"),
)
SOLVER = {"timestep": 0.002, "integrator": 0, "cone": 0, "jacobian": 2, "solver": 2, "iterations": 100, "impratio": 1.0}


def note_leftovers(mj: Any, notes: Notes, joints: dict[int, str], bodies: dict[int, str]) -> None:
    """Everything that is counted, switched on, or set to something unusual. What files switch off is off, but for limits of inputs."""
    for count, accessor, topic in COUNTED:
        n = int(getattr(mj, count))
        if n:
            notes.add(topic, [_name(mj, accessor, i) for i in range(n)])
    _joints(mj, notes, joints)
    _bodies(mj, notes, bodies)
    _options(mj, notes)


def _name(mj: Any, accessor: str, i: int) -> str:
    get = getattr(mj, accessor, None)
    return (get(i).name if get is not None else "") or f"{accessor} {i}"


def _joints(mj: Any, notes: Notes, joints: dict[int, str]) -> None:
    for j in range(mj.njnt):
        name, dof = joints[j], int(mj.jnt_dofadr[j])
        if mj.jnt_actgravcomp[j]:
            notes.add("gravity compensation", name)
        if np.any(mj.jnt_stiffnesspoly[j]) or np.any(mj.dof_dampingpoly[dof]):
            notes.add("nonlinear joint springs and dampers (the linear part is kept)", name)
        if int(mj.jnt_plasticadr[j]) >= 0:
            notes.add("plastic joint springs", name)
        if mj.jnt_limited[j] and (tuple(mj.jnt_solref[j]) != (0.02, 1.0) or mj.jnt_margin[j]):
            notes.add("softness and margin of joint limits", name)


def _bodies(mj: Any, notes: Notes, bodies: dict[int, str]) -> None:
    for i in range(1, mj.nbody):
        if mj.body_gravcomp[i]:
            notes.add("gravity compensation", bodies[i])
        if int(mj.body_mocapid[i]) >= 0:
            notes.add("bodies that are moved from outside (mocap): here fixed", bodies[i])
    moving = np.flatnonzero(np.any(np.asarray(mj.geom_surfacevel) != 0, axis=-1) | (np.asarray(mj.geom_adhesion) != 0))
    if len(moving):
        notes.add("surface velocity and adhesion of geometry", [mj.geom(int(g)).name or f"geom{g}" for g in moving])


def _options(mj: Any, notes: Notes) -> None:
    o = mj.opt
    if o.density or o.viscosity:
        notes.add(f"forces of the surrounding fluid (density {o.density:g}, viscosity {o.viscosity:g})")
    if np.any(o.wind):
        notes.add(f"wind {np.asarray(o.wind).tolist()}")
    if int(o.disableflags) & int(library().mjtDisableBit.mjDSBL_CLAMPCTRL) and np.any(mj.actuator_ctrllimited):
        notes.add("limits of inputs that the file switches off (clampctrl): here in force")
    if int(o.enableflags) & int(library().mjtEnableBit.mjENBL_OVERRIDE):
        notes.add("override of contact parameters")
    changed = [f"{k} {getattr(o, k):g}" for k, usual in SOLVER.items() if getattr(o, k) != usual]
    if changed:
        notes.add("settings of MuJoCo's solver (choose a stepper and h instead)", changed)
    for what in ("body", "jnt", "geom", "site", "cam", "tendon", "actuator"):
        if getattr(mj, f"nuser_{what}"):
            notes.add("user data", what)
    if mj.nkey and (np.any(mj.key_ctrl) or np.any(mj.key_act)):
        notes.add("inputs and activations of keyframes")
