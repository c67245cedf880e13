"""Arrays of a machine from those of another one of the same structure: what differs in numbers is written anew, the rest is copied.

Both have the same bodies, joints, forces and loops by name, with the same places, axes and kinds; the sums and records are made by the
functions of model/compile_tree.py in the same order, so the arrays are equal bit for bit to arrays that are built from nothing.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.arrays import Array
from dalembert.kernels.tree import layout as at
from dalembert.kernels.tree import load_layout
from dalembert.model import compile_tree

if TYPE_CHECKING:
    from dalembert.model.model import Model


def patched_tree(model: Model, old: Model) -> compile_tree.Tree:
    """Links of a model from those of one of the same structure."""
    before = compile_tree.build_tree(old)
    tree = compile_tree.Tree([replace(link, joint=model._joints[link.joint.name]) for link in before.links], before.places)
    heavier = _links_of_changed_bodies(model, old, before)
    for i in heavier:
        tree.links[i].mass, tree.links[i].moment, tree.links[i].inertia = 0.0, np.zeros(3), np.zeros((3, 3))
    for body in model.bodies:
        if before.places[body.name].link in heavier:
            compile_tree.add_mass(tree, body)
    return tree


def _links_of_changed_bodies(model: Model, old: Model, tree: compile_tree.Tree) -> set[int]:
    changed = {
        tree.places[name].link
        for name, b in model._bodies.items()
        if (a := old._bodies[name]) is not b and not (a.mass == b.mass and a.com is b.com and a.inertia is b.inertia)
    }
    return changed - {-1}


def patched_array(model: Model, old: Model) -> Array | None:
    """The system array of a model from that of one of the same structure; None where more than records of links and forces differs."""
    if [x.length for x in model.loops] != [x.length for x in old.loops]:
        return None
    if any(j.drive is not old._joints[j.name].drive for j in model.joints):
        return None
    s = compile_tree.system_array(old, {})
    tree, before = compile_tree.build_tree(model), compile_tree.build_tree(old)
    loads, starts = compile_tree.load_groups(tree, model), [start for start, _ in load_layout.groups(s)]
    if [len(load) for load in loads] != [int(s[start + load_layout.LENGTH]) for start in starts]:
        return None
    heavier = _links_of_changed_bodies(model, old, before)
    for i, (link, link_before) in enumerate(zip(tree.links, before.links, strict=True)):
        if i in heavier or _numbers(link.joint) != _numbers(link_before.joint):
            record = s[at.HEADER + i * at.LINK_SIZE : at.HEADER + (i + 1) * at.LINK_SIZE]
            carried = record[at.CARRIED]
            record[:] = compile_tree.record_of(link)
            record[at.CARRIED] = carried
    s[at.GRAVITY : at.GRAVITY + 3] = model.gravity
    s[at.PASSIVE] = compile_tree.is_passive(tree)
    for start, load in zip(starts, loads, strict=True):
        s[start : start + len(load)] = load
    return s


def _numbers(joint: Any) -> tuple[Any, ...]:
    return joint.armature, joint.damping, joint.stiffness, joint.rest, joint.limits
