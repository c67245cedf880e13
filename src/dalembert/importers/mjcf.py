"""MJCF: MuJoCo compiles the file (defaults, frames, inertias from geometry, `settotalmass`, attached models); we read the result."""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.errors import ModelError
from dalembert.importers.actuators import add_motors
from dalembert.importers.build import Builder, Part
from dalembert.importers.compiling import compile_xml, library
from dalembert.importers.conventions import from_mujoco
from dalembert.importers.geometry import shape_name
from dalembert.importers.leftovers import note_leftovers
from dalembert.importers.loops import add_loops
from dalembert.importers.mjcf_files import Gathered
from dalembert.importers.notes import Notes
from dalembert.importers.pairs import add_pair_laws
from dalembert.importers.reading import Source
from dalembert.model import Model


def load(source: Source, floating_base: bool | None, notes: Notes) -> Model:
    """The model of an MJCF file."""
    name = source.root.get("model") or source.stem
    gathered = Gathered(source.root, source.folders, notes)

    def edit(spec: Any) -> None:
        if floating_base is not None:
            set_base(spec, floating_base, source.owner)

    mj, said = compile_xml(gathered.xml, gathered.assets, source.owner, edit)
    for text in said:
        notes.add("warnings of MuJoCo's compiler", " ".join(text.split()))
    off = int(mj.opt.disableflags) & int(library().mjtDisableBit.mjDSBL_GRAVITY)
    model = Model(name, np.zeros(3) if off else np.array(mj.opt.gravity))
    model.source = {"format": "mjcf", "ref": {}}
    builder = Builder(mj, model, notes, Part())
    finish(builder)
    return model


def finish(builder: Builder) -> None:
    """Bodies and joints, then all that hangs on them."""
    mj, model = builder.mj, builder.model
    builder.build()
    for j, name in builder.joint_names.items():
        ref = float(mj.qpos0[mj.jnt_qposadr[j]])
        if model.joint(name).kind in ("revolute", "prismatic") and ref != 0.0:
            model.source["ref"][name] = ref
    if builder.names.changed["joint"]:
        model.source["joint names"] = dict(builder.names.changed["joint"])
    model.world_shapes = tuple(builder.world_shapes)
    _touching(builder)
    if "actuation" not in builder.off:
        add_motors(builder)
    add_loops(builder)
    for k in range(mj.nkey):
        name = builder.names.give("keyframe", mj.key(k).name, f"key{k}")
        model.add_keyframe(name, *from_mujoco(model, _normalised(mj, mj.key_qpos[k]), mj.key_qvel[k]))
    note_leftovers(mj, builder.notes, builder.joint_names, builder.body_names)


def _touching(builder: Builder) -> None:
    """Which bodies touch beside what their shapes say: exclusions, pairs, and neighbours where the file does not filter them."""
    mj, model = builder.mj, builder.model
    if "contact" in builder.off:
        return
    for signature in mj.exclude_signature:
        a, b = (builder.body_names[int(i)] for i in (int(signature) >> 16, int(signature) & 0xFFFF))
        if a != b:
            model.exclude(a, b)
    if mj.npair:
        pairs = [(int(a), int(b)) for a, b in zip(mj.pair_geom1, mj.pair_geom2, strict=True)]
        model.source["contact pairs"] = [[builder.body_names[int(mj.geom_bodyid[g])] for g in pair] for pair in pairs]
        model.source["contact pair shapes"] = [[shape_name(mj, g, builder.part.geom_names) for g in pair] for pair in pairs]
        add_pair_laws(builder)
    if int(mj.opt.disableflags) & int(library().mjtDisableBit.mjDSBL_FILTERPARENT):
        model.source["neighbours touch"] = True


def _normalised(mj: Any, qpos: Any) -> Any:
    """MuJoCo normalises the quaternions of keyframes when it uses them."""
    q = np.array(qpos, dtype=float)
    T = library().mjtJoint
    for j in range(mj.njnt):
        at = int(mj.jnt_qposadr[j]) + {int(T.mjJNT_FREE): 3, int(T.mjJNT_BALL): 0}.get(int(mj.jnt_type[j]), -1)
        if int(mj.jnt_type[j]) in (int(T.mjJNT_FREE), int(T.mjJNT_BALL)):
            n = np.linalg.norm(q[at : at + 4])
            q[at : at + 4] = q[at : at + 4] / n if n > 1e-12 else (1.0, 0.0, 0.0, 0.0)
    return q


def set_base(spec: Any, floating: bool, owner: str) -> None:
    """Free the one root body, or fix every root that is free."""
    T = library().mjtJoint
    roots = list(spec.worldbody.bodies)
    if not floating:
        for body in roots:
            for joint in [j for j in body.joints if j.type == T.mjJNT_FREE]:
                spec.delete(joint)
        return
    bare = [b for b in roots if not len(b.joints)]
    if any(j.type == T.mjJNT_FREE for b in roots for j in b.joints):
        return
    if len(bare) != 1:
        raise ModelError(
            f"{owner}: floating_base=True frees the one root body without joints; there are {len(bare)} "
            f"({', '.join(b.name or '?' for b in bare) or 'none'}) of {len(roots)} roots."
        )
    bare[0].add_freejoint()
