"""Actuators of a compiled MuJoCo model as motors.

MuJoCo: joint force = gear clip(gain u + b_0 + b_1 l + b_2 l_dot, forcerange) with l = gear q, u in ctrlrange. With a fixed gain g this is

    torque    b = 0                          our gear is gear g, and the bounds of the input are bounds of the force
    position  b_0 = 0, b_1 = -g, b_2 <= 0    kp = g, kv = -b_2
    velocity  b_0 = b_1 = 0, b_2 = -g        kv = g

Everything else (activation, delays, tendons, sites, muscles) is noted.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.importers.build import Builder
from dalembert.importers.compiling import library


def add_motors(builder: Builder) -> None:
    """All motors that fit."""
    for i in range(builder.mj.nactuator):
        _add(builder, i)


def _add(builder: Builder, i: int) -> None:
    mj, model, notes = builder.mj, builder.model, builder.notes
    wanted = mj.actuator(i).name
    label = wanted or f"actuator {i}"
    reason = _obstacle(mj, i)
    if reason:
        notes.add("actuators", f"{label} ({reason})")
        return
    joint = builder.joint_names[int(mj.actuator_trnid[i][0])]
    law = _law(mj, i)
    if law is None or model.joint(joint).kind not in ("revolute", "prismatic"):
        notes.add("actuators", f"{label} ({'its force law' if law is None else 'on a joint of several degrees of freedom'})")
        return
    kind, gains = law
    gear = float(mj.actuator_gear[mj.actuator_outadr[i]][0])
    total = gear * float(mj.actuator_gainprm[i][0]) if kind == "torque" else gear
    limit = _limit(builder, i, kind, gear, total)
    if total == 0.0 or (limit is not None and not limit[0] < limit[1]):
        notes.add("actuators", f"{label} (it gives no force)")
        return
    if kind != "torque" and model.source["ref"].get(joint):
        notes.add("zero of position motors: ours counts from the reference configuration, not from qpos = 0", label)
    if kind != "torque" and mj.actuator_ctrllimited[mj.actuator_ctrladr[i]]:
        notes.add("bounds of the inputs of position and velocity motors", label)
    name = builder.names.give("motor", wanted, f"{joint}_motor")
    model.add_motor(name, joint, kind, limit, total, **gains)


def _obstacle(mj: Any, i: int) -> str:
    """Why this actuator is not one of our motors, or ''."""
    m = library()
    if int(mj.actuator_trntype[i]) not in (int(m.mjtTrn.mjTRN_JOINT), int(m.mjtTrn.mjTRN_JOINTINPARENT)):
        return "not on a joint"
    if int(mj.actuator_dyntype[i]) != int(m.mjtDyn.mjDYN_NONE) or int(mj.actuator_actnum[i]):
        return "with activation dynamics"
    if int(mj.actuator_plugin[i]) >= 0:
        return "a plugin"
    if float(mj.actuator_delay[i]) != 0.0:
        return "with a delay"
    if int(mj.actuator_ctrlnum[i]) != 1 or int(mj.actuator_outnum[i]) != 1:
        return "with several inputs or outputs"
    group = int(mj.actuator_group[i])
    if 0 <= group < 31 and int(mj.opt.disableactuator) >> group & 1:
        return "disabled"
    return ""


def _law(mj: Any, i: int) -> tuple[str, dict[str, float]] | None:
    m = library()
    if int(mj.actuator_gaintype[i]) != int(m.mjtGain.mjGAIN_FIXED):
        return None
    g = float(mj.actuator_gainprm[i][0])
    b = np.array(mj.actuator_biasprm[i][:3], dtype=float)
    if int(mj.actuator_biastype[i]) == int(m.mjtBias.mjBIAS_NONE):
        b[:] = 0.0
    elif int(mj.actuator_biastype[i]) != int(m.mjtBias.mjBIAS_AFFINE):
        return None
    if not b.any():
        return "torque", {}
    if g > 0 and b[0] == 0.0 and b[1] == -g and b[2] <= 0.0:
        return "position", {"kp": g, "kv": abs(float(b[2]))}
    if g > 0 and b[0] == b[1] == 0.0 and b[2] == -g:
        return "velocity", {"kv": g}
    return None


def _limit(builder: Builder, i: int, kind: str, gear: float, total: float) -> tuple[float, float] | None:
    """Bounds of the joint force: of the input (torque motors), of the actuator, and of the joint if this is its only motor."""
    mj = builder.mj
    low, high = -np.inf, np.inf
    bounds = []
    if kind == "torque" and mj.actuator_ctrllimited[mj.actuator_ctrladr[i]]:
        bounds.append(total * np.array(mj.actuator_ctrlrange[mj.actuator_ctrladr[i]]))
    if mj.actuator_forcelimited[i]:
        bounds.append(gear * np.array(mj.actuator_forcerange[i]))
    j = int(mj.actuator_trnid[i][0])
    if mj.jnt_actfrclimited[j]:
        if sum(int(mj.actuator_trnid[k][0]) == j for k in range(mj.nactuator)) == 1:
            bounds.append(np.array(mj.jnt_actfrcrange[j]))
        else:
            builder.notes.add("bounds of the force of all motors of one joint", builder.joint_names[j])
    for b in bounds:
        low, high = max(low, float(b.min())), min(high, float(b.max()))
    if not bounds:
        return None
    return (max(low, -1e300), min(high, 1e300))
