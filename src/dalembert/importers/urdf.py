"""URDF: the tree and its geometry through MuJoCo's compiler, inertial data and what MuJoCo does not keep straight from the file.

MuJoCo would fuse fixed links into their parents (and the root into the world), refuse or balance inertias, refuse `package://`, and infer
missing masses from geometry. So it gets a plain copy of the file: links and joints by number, a unit inertia for every link, meshes by
content, fusing off. Mass, centre of mass and inertia come from <inertial> as they stand: I = R(rpy) (ixx ... izz) R(rpy)^T about the centre
of mass; a link without <inertial> has no mass.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import ModelError
from dalembert.importers.build import Builder, Inertial, Linkage, Part
from dalembert.importers.compiling import compile_xml
from dalembert.importers.loops import add_mimics
from dalembert.importers.mjcf import finish
from dalembert.importers.notes import Notes
from dalembert.importers.reading import Source
from dalembert.importers.urdf_geometry import Geometry
from dalembert.importers.urdf_tree import Tree, floats
from dalembert.model import Model
from dalembert.model.parts import WORLD
from dalembert.model.rotation import matrix, quat_exp, quat_mul

KINDS = {
    "revolute": "revolute",
    "continuous": "revolute",
    "prismatic": "prismatic",
    "planar": "planar",
    "floating": "free",
    "fixed": "fixed",
}
IGNORED = {"link", "joint", "material"}
COMPILER = {"fusestatic": "false", "discardvisual": "false", "strippath": "false", "balanceinertia": "false", "autolimits": "true"}


def load(source: Source, floating_base: bool | None, notes: Notes) -> Model:
    """The model of a URDF file."""
    tree = Tree(source.root, source.owner)
    inertials = {name: inertial(link, f"{source.owner}: link {name!r}") for name, link in tree.links.items()}
    _check_base(tree, inertials, floating_base, notes)
    geometry = Geometry(tree, source.folders, notes)

    def edit(spec: Any) -> None:
        geometry.edit(spec)
        if floating_base:
            spec.worldbody.bodies[0].add_freejoint()

    def compiled() -> Any:
        text = ET.tostring(_plain(tree, geometry), encoding="unicode")
        return compile_xml(text, geometry.assets, source.owner, edit)

    try:
        mj, said = compiled()
    except ModelError:
        if not geometry.drop_bad_meshes():
            raise
        mj, said = compiled()
    geometry.paint(mj, list(tree.links))
    for text in said:
        notes.add("warnings of MuJoCo's compiler", " ".join(text.split()))
    part = _numbered(mj, tree, inertials, bool(floating_base))
    model = Model(source.root.get("name") or source.stem)
    model.source = {"format": "urdf", "ref": {}, "continuous": [], **_extras(tree, notes)}
    builder = Builder(mj, model, notes, part)
    finish(builder)
    renamed = {theirs: ours for ours, theirs in builder.names.changed["joint"].items()}
    add_mimics(builder, {renamed.get(j.name, j.name): j.mimic for j in tree.joints if j.mimic}, renamed)
    model.source["continuous"] = [renamed.get(j.name, j.name) for j in tree.joints if j.kind == "continuous"]
    _note_rest(source.root, tree, model, notes)
    return model


def _check_base(tree: Tree, inertials: dict[str, Inertial], floating_base: bool | None, notes: Notes) -> None:
    """Say what happens to the mass of a root that cannot move."""
    mass = inertials[tree.root].mass
    if floating_base is None and mass > 0 and tree.root != WORLD:
        notes.add("freedom of the root: it is fixed to the world, although it has mass (floating_base=True frees it)", tree.root)
    if not floating_base and tree.root == WORLD and mass > 0:
        notes.add("mass of the root link 'world'", f"{mass:g} kg")


# what goes to MuJoCo ----------------------------------------------------------------------------------------------------------------


def _plain(tree: Tree, geometry: Geometry) -> ET.Element:
    """The plain copy: links "L<i>", joints "J<i>", and nothing else."""
    root = ET.Element("robot", name="r")
    ET.SubElement(ET.SubElement(root, "mujoco"), "compiler", COMPILER)
    number = {name: i for i, name in enumerate(tree.links)}
    for name, i in number.items():
        link = ET.SubElement(root, "link", name=f"L{i}")
        data = ET.SubElement(link, "inertial")
        ET.SubElement(data, "mass", value="1")
        ET.SubElement(data, "inertia", ixx="1", iyy="1", izz="1", ixy="0", ixz="0", iyz="0")
        geometry.write(name, link)
    for i, j in enumerate(tree.joints):
        kind = {"floating": "fixed"}.get(j.kind, "continuous" if j.kind == "revolute" and j.limits is None else j.kind)
        element = ET.SubElement(root, "joint", name=f"J{i}", type=kind)
        ET.SubElement(element, "parent", link=f"L{number[j.parent]}")
        ET.SubElement(element, "child", link=f"L{number[j.child]}")
        ET.SubElement(element, "origin", xyz=_text(j.xyz), rpy=_text(j.rpy))
        if j.kind not in ("fixed", "floating"):
            ET.SubElement(element, "axis", xyz=_text(j.axis))
            ET.SubElement(element, "dynamics", damping=repr(j.damping), friction=repr(j.friction))
        if j.limits is not None:
            ET.SubElement(element, "limit", lower=repr(j.limits[0]), upper=repr(j.limits[1]), effort="0", velocity="0")
    return root


def _text(values: Any) -> str:
    return " ".join(repr(float(x)) for x in values)


# what comes back --------------------------------------------------------------------------------------------------------------------


def _numbered(mj: Any, tree: Tree, inertials: dict[str, Inertial], floating: bool) -> Part:
    """Names, inertias and joints by MuJoCo's numbers: body L<i>, joint J<i>."""
    part = Part()
    names = list(tree.links)
    above = {j.child: (i, j) for i, j in enumerate(tree.joints)}
    joint_id = {mj.joint(k).name: k for k in range(mj.njnt)}
    for b in range(1, mj.nbody):
        name = names[int(mj.body(b).name[1:])]
        if name == tree.root == WORLD and not floating:
            part.world = 1
            continue
        part.body_names[b] = name
        part.inertials[b] = inertials[name]
        if name == tree.root:
            free = int(mj.body_jntnum[b]) > 0
            part.linkages[b] = [
                Linkage("root_joint" if free else "", "free" if free else "fixed", (int(mj.body_jntadr[b]),) if free else ())
            ]
            continue
        i, j = above[name]
        suffixes = ("_TX", "_TY", "_RZ") if j.kind == "planar" else ("",)
        ids = tuple(joint_id[f"J{i}{s}"] for s in suffixes) if j.kind not in ("fixed", "floating") else ()
        part.linkages[b] = [Linkage(j.name, KINDS[j.kind], ids)]
    return part


def inertial(link: ET.Element, owner: str) -> Inertial:
    """Mass, centre of mass, inertia in the axes of the link."""
    data = link.find("inertial")
    if data is None:
        return Inertial(0.0, np.zeros(3), np.zeros((3, 3)))
    mass, I = data.find("mass"), data.find("inertia")
    m = floats(mass, "value", 1, (0.0,), owner)[0] if mass is not None else 0.0
    if m < 0:
        raise ModelError(f"{owner}: mass is {m}; expected a number >= 0.")
    six = [floats(I, k, 1, (0.0,), owner)[0] if I is not None else 0.0 for k in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")]
    xx, xy, xz, yy, yz, zz = six
    origin = data.find("origin")
    R = rpy_matrix(floats(origin, "rpy", 3, (0.0,) * 3, owner))
    full = R @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ R.T
    return Inertial(m, np.array(floats(origin, "xyz", 3, (0.0,) * 3, owner)), 0.5 * (full + full.T))


def rpy_matrix(rpy: Any) -> Array:
    """Rz(yaw) Ry(pitch) Rx(roll); exactly 1 for zeros."""
    x, y, z = (quat_exp(a * e) for a, e in zip(rpy, np.eye(3), strict=True))
    return matrix(quat_mul(quat_mul(z, y), x))


def _extras(tree: Tree, notes: Notes) -> dict[str, Any]:
    """What MuJoCo drops and we keep as data: effort and velocity limits, mimic joints."""
    kept: dict[str, Any] = {"effort": {}, "velocity": {}, "mimic": {}}
    for j in tree.joints:
        if j.effort:
            kept["effort"][j.name] = j.effort
        if j.velocity:
            kept["velocity"][j.name] = j.velocity
        if j.mimic:
            kept["mimic"][j.name] = j.mimic
        if j.kind in ("revolute", "prismatic") and j.limits is None:
            notes.add("joint limits that are missing, or lower >= upper", j.name)
        if j.kind == "planar" and j.stated_limits:
            notes.add("limits of planar joints", j.name)
    if kept["effort"] or kept["velocity"]:
        notes.add("limits of effort and velocity (kept in model.source, not enforced)", sorted({*kept["effort"], *kept["velocity"]}))
    return {k: v for k, v in kept.items() if v}


def _note_rest(root: ET.Element, tree: Tree, model: Model, notes: Notes) -> None:
    for e in root:
        if e.tag not in IGNORED:
            notes.add(f"<{e.tag[:50]}> elements", [n for n in (e.get("name"), e.get("reference")) if n][:1])
    for j in tree.joints:
        for tag in ("safety_controller", "calibration"):
            if j.has(tag):
                notes.add(f"<{tag}> of joints", j.name)
    carriers = {j.child: j for j in model.joints}
    heavy = {b.name for b in model.bodies if not b.massless}
    for b in [b for b in model.bodies if not b.massless]:
        name = b.name
        while name in carriers:
            heavy.add(name)
            name = carriers[name].parent
    idle = [j.name for j in model.joints if j.coordinates.nv and j.child not in heavy and not j.armature]
    if idle:
        notes.add("mass behind joints: these move none, so the model has no unique motion until they are fixed or loaded", idle)
