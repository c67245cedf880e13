"""Equality constraints of a compiled MuJoCo model, and mimic joints of a URDF file, as loops.

With (p_i, R_i) the pose of body or site i and data the numbers of the constraint, MuJoCo asks for

    connect  p_1 + R_1 data[0:3] = p_2 + R_2 data[3:6]                                  sites: p_1 = p_2
    weld     p_1 + R_1 data[3:6] = p_2 + R_2 data[0:3],  R_2 = R_1 R(data[6:10])        sites: p_1 = p_2, R_1 = R_2
    joint    q_1 - q_1(qpos0) = sum_k data[k] (q_2 - q_2(qpos0))^k                      a constant without a second joint

Our q counts from qpos0, so couplings keep their coefficients. MuJoCo holds constraints softly, we exactly: how softly is not carried over.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dalembert.arrays import Array
from dalembert.importers.build import Builder
from dalembert.importers.compiling import library
from dalembert.model.parts import WORLD
from dalembert.model.rotation import quat_conj, quat_mul, rotate

USUAL_SOFTNESS = (0.02, 1.0)


class End(NamedTuple):
    """One side of a connect or weld: a body, a point and an orientation on it (world, at qpos0)."""

    body: str
    point: Array
    turn: Array


def add_loops(builder: Builder) -> None:
    """All active connects, welds and couplings; the rest is noted."""
    mj = builder.mj
    for i in range(mj.neq):
        kind = library().mjtEq(int(mj.eq_type[i])).name.removeprefix("mjEQ_").lower()
        label = f"{mj.equality(i).name or i} ({kind})"
        if not mj.eq_active0[i] or "equality" in builder.off:
            builder.notes.add("equality constraints that are not active", label)
        elif kind not in ADD:
            builder.notes.add("equality constraints", label)
        elif ADD[kind](builder, i):
            _note_softness(builder, i, kind, label)
        else:
            builder.notes.add("equality constraints with both ends on one body", label)


def _note_softness(builder: Builder, i: int, kind: str, label: str) -> None:
    mj = builder.mj
    if tuple(mj.eq_solref[i]) != USUAL_SOFTNESS or (kind == "weld" and mj.eq_data[i][10] != 1.0):
        builder.notes.add("softness of equality constraints", label)


def _name(builder: Builder, i: int, fallback: str) -> str:
    return builder.names.give("loop", builder.mj.equality(i).name, fallback)


def _ends(builder: Builder, i: int, points: tuple[Array, Array], turn: Array) -> tuple[End, End]:
    """Both sides; points in body axes, turn: the orientation on body 1 that body 2 is to have. Sites have their own."""
    mj = builder.mj
    numbers = (int(mj.eq_obj1id[i]), int(mj.eq_obj2id[i]))
    turns = (turn, np.array([1.0, 0.0, 0.0, 0.0]))
    if int(mj.eq_objtype[i]) == int(library().mjtObj.mjOBJ_SITE):
        points = (np.array(mj.site_pos[numbers[0]]), np.array(mj.site_pos[numbers[1]]))
        turns = (np.array(mj.site_quat[numbers[0]]), np.array(mj.site_quat[numbers[1]]))
        numbers = (int(mj.site_bodyid[numbers[0]]), int(mj.site_bodyid[numbers[1]]))
    one, two = (_end(builder, b, p, r) for b, p, r in zip(numbers, points, turns, strict=True))
    return (two, one) if two.body == WORLD else (one, two)


def _end(builder: Builder, body: int, point: Array, turn: Array) -> End:
    p, q = builder.poses[body]
    turned = quat_mul(q, turn)
    return End(builder.body_names[body], p + rotate(q, point), turned / np.linalg.norm(turned))


def _connect(builder: Builder, i: int) -> bool:
    data = np.array(builder.mj.eq_data[i], dtype=float)
    parent, child = _ends(builder, i, (data[0:3], data[3:6]), np.array([1.0, 0.0, 0.0, 0.0]))
    if parent.body == child.body:
        return False
    name = _name(builder, i, f"{parent.body}_{child.body}_connect")
    builder.model.add_loop(name, "spherical", parent.body, child.body, anchor=parent.point, point=child.point)
    return True


def _weld(builder: Builder, i: int) -> bool:
    data = np.array(builder.mj.eq_data[i], dtype=float)
    parent, child = _ends(builder, i, (data[3:6], data[0:3]), data[6:10])
    if parent.body == child.body:
        return False
    turn = quat_mul(parent.turn, quat_conj(child.turn))  # R with R child.turn = parent.turn
    name = _name(builder, i, f"{parent.body}_{child.body}_weld")
    builder.model.add_loop(name, "fixed", parent.body, child.body, anchor=parent.point, point=child.point, turn=turn)
    return True


def _couple(builder: Builder, i: int) -> bool:
    mj = builder.mj
    follower, leader = builder.joint_names[int(mj.eq_obj1id[i])], int(mj.eq_obj2id[i])
    name = _name(builder, i, f"{follower}_coupling")
    polynomial = np.array(mj.eq_data[i][:5]) if leader >= 0 else np.array(mj.eq_data[i][:1])
    builder.model.add_loop(name, "coupling", WORLD if leader < 0 else builder.joint_names[leader], follower, polynomial=polynomial)
    return True


ADD = {"connect": _connect, "weld": _weld, "joint": _couple}


def add_mimics(builder: Builder, mimics: dict[str, dict[str, Any]], renamed: dict[str, str]) -> None:
    """q = offset + multiplier q_leader of every mimic joint, if both have one degree of freedom."""
    scalar = {j.name for j in builder.model.joints if j.coordinates.nq == 1}
    for follower, mimic in mimics.items():
        leader = renamed.get(mimic["joint"], mimic["joint"])
        if leader == follower or not {leader, follower} <= scalar:
            builder.notes.add("coupling of mimic joints: here they move on their own", f"{follower} (of {mimic['joint']})")
            continue
        name = builder.names.give("loop", "", f"{follower}_mimic")
        builder.model.add_loop(name, "coupling", leader, follower, polynomial=(mimic["offset"], mimic["multiplier"]))
