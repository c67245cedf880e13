"""A tree of bodies as the flat arrays of `kernels/tree/layout.py`.

Each joint is a chain of primitive joints (`JointKind.primitives`). A link's frame sits at the joint with z along the axis; a body sits in
the frame of its last link. A
fixed joint adds no link: the child's inertia is lumped into the link that carries it, or disappears into the world.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import UnsupportedError
from dalembert.kernels.tree import account_layout as account
from dalembert.kernels.tree import layout as at
from dalembert.model import compile_constraints, patch_tree
from dalembert.model.features import acting
from dalembert.model.forces import Load, group
from dalembert.model.parts import WORLD, Body, Joint
from dalembert.model.rotation import cross, matrix

if TYPE_CHECKING:
    from dalembert.model.model import Model

#: kind in the kernels, turn about and slide along the axis
PRIMITIVES: dict[str, tuple[int, float, float]] = {
    "revolute": (at.REVOLUTE, 1.0, 0.0),
    "prismatic": (at.PRISMATIC, 0.0, 1.0),
    "screw": (at.PRISMATIC, 1.0, 0.0),
    "spherical": (at.SPHERICAL, 0.0, 0.0),
    "free": (at.FREE, 0.0, 0.0),
}


@dataclass
class Link:
    """One primitive joint and the mass behind it."""

    parent: int
    kind: int
    q_at: int
    v_at: int
    R_tree: Array
    p_tree: Array
    joint: Joint
    turn: float = 0.0  # of a joint of one degree of freedom: rotation about z per unit of its coordinate,
    slide: float = 0.0  # shift along z
    mass: float = 0.0
    moment: Array = field(default_factory=lambda: np.zeros(3))
    inertia: Array = field(default_factory=lambda: np.zeros((3, 3)))


@dataclass(frozen=True)
class Place:
    """A body frame in the frame of its link (-1: the world)."""

    link: int
    R: Array
    p: Array

    def at(self, point: Any) -> Array:
        """A point of the body in the frame of the link."""
        return self.R @ np.array(point) + self.p


@dataclass
class Tree:
    """Links in an order in which parents come first, and where the bodies are on them."""

    links: list[Link]
    places: dict[str, Place]

    @cached_property
    def spans(self) -> dict[str, tuple[int, int]]:
        """First and last link of each joint that has any."""
        found: dict[str, tuple[int, int]] = {}
        for k, link in enumerate(self.links):
            found[link.joint.name] = (found.get(link.joint.name, (k, k))[0], k)
        return found


def align_z(axis: Array) -> Array:
    """A rotation whose third column is the given unit vector."""
    helper = np.eye(3)[np.argmin(np.abs(axis))]
    x = cross(helper, axis)
    x /= np.linalg.norm(x)
    return np.column_stack([x, cross(axis, x), axis])


def build_tree(model: Model) -> Tree:
    """Links of a model, not to be changed; a frozen one keeps them."""
    if not model._frozen:
        return _tree_of(model)
    known = model.kept("tree")
    if "tree" not in known:
        old = model.kept("origin").get("tree")
        known["tree"] = _tree_of(model) if old is None else patch_tree.patched_tree(model, old)
    found: Tree = known["tree"]
    return found


def _tree_of(model: Model) -> Tree:
    q_slices, v_slices = model.q_slices(), model.v_slices()
    tree = Tree([], {WORLD: Place(-1, np.eye(3), np.zeros(3))})
    joints, carried = model.joints, defaultdict[str, list[int]](list)
    for k, joint in enumerate(joints):
        carried[joint.parent].append(k)
    ready = carried[WORLD]
    while ready:  # of the joints whose parent is there, the one that was added first
        joint = joints[heapq.heappop(ready)]
        _add_joint(tree, model, joint, q_slices[joint.name].start, v_slices[joint.name].start)
        for k in carried[joint.child]:
            heapq.heappush(ready, k)
    for body in model.bodies:
        add_mass(tree, body)
    return tree


def _add_joint(tree: Tree, model: Model, joint: Joint, q_at: int, v_at: int) -> None:
    parent, child = tree.places[joint.parent], model.body(joint.child)
    R_WC = matrix(child.quaternion)
    if joint.kind == "free":
        R, p, offset = np.eye(3), np.zeros(3), np.zeros(3)
    else:
        p_WP, R_WP = (np.zeros(3), np.eye(3))
        if joint.parent != WORLD:
            carrier = model.body(joint.parent)
            p_WP, R_WP = carrier.position, matrix(carrier.quaternion)
        R = parent.R @ R_WP.T @ R_WC  # joint axes (those of the child) in the link that carries the parent
        p = parent.p + parent.R @ (R_WP.T @ (joint.anchor - p_WP))
        offset = R_WC.T @ (child.position - joint.anchor)  # child frame from the anchor, joint axes
        if joint.coordinates.absolute:
            p, offset = np.zeros(3), np.zeros(3)
    link = parent.link
    for name, axis, *pitch in joint.coordinates.primitives(model.joint_axes(joint)):
        kind, turn, slide = PRIMITIVES[name]
        Q = np.eye(3) if axis is None else align_z(np.asarray(axis))
        tree.links.append(Link(link, kind, q_at, v_at, R @ Q, p, joint, turn, pitch[0] if pitch else slide))
        link, R, p = len(tree.links) - 1, Q.T, np.zeros(3)
        q_at += at.NQ_OF[kind]
        v_at += at.NV_OF[kind]
    tree.places[joint.child] = Place(link, R, p + R @ offset)


def add_mass(tree: Tree, body: Body) -> None:
    """Add a body to the mass, first and second moments of its link, about the link's origin."""
    place = tree.places[body.name]
    if place.link < 0 or body.massless:
        return
    link = tree.links[place.link]
    c = place.R @ body.com + place.p
    link.mass += body.mass
    link.moment = link.moment + body.mass * c
    link.inertia = link.inertia + place.R @ body.inertia @ place.R.T + body.mass * (c @ c * np.eye(3) - np.outer(c, c))


def features(model: Model) -> set[str]:
    """What a stepper must handle to run this model."""
    return {"tree"} | acting(model)


def fits(model: Model) -> bool:
    """True for every tree with at least one degree of freedom."""
    return model.nv > 0


def system_array(model: Model, options: dict[str, Any]) -> Array:
    """The constants of a run; a frozen model keeps them and hands out copies."""
    if not model._frozen:
        return _system_array(model)
    known = model.kept("tree")
    if "system" not in known:
        old = model.kept("origin").get("tree")
        patched = None if old is None else patch_tree.patched_array(model, old)
        known["system"] = _system_array(model) if patched is None else patched
    return np.array(known["system"])


def load_groups(tree: Tree, model: Model) -> list[Array]:
    """The loads of all forces, in groups that the same kernels serve; those without a potential first."""
    found: dict[Any, list[Load]] = {}
    for loads in _loads(tree, model).values():
        for load in loads:
            found.setdefault((load.kernels.energy is not None, load.kernels, load.account), []).append(load)
    return [group(found[key]) for key in sorted(found, key=lambda key: key[0])]


def _loads(tree: Tree, model: Model) -> dict[str, list[Load]]:
    """Loads by the names of forces; a frozen model keeps them, and takes over what is the same in the one that it was made from."""
    if not model._frozen:
        return {name: f.loads(tree.places, model) for name, f in model._forces.items()}
    origin: Any = model.kept("origin").get("tree")
    before = {} if origin is None else origin.kept("tree").get("loads", {})

    def same(name: str, force: Any) -> bool:
        there = name in before and origin._forces[name] is force
        return there and all(model._bodies[body] is origin._bodies[body] for body in force.bodies)

    found = {name: before[name] if same(name, f) else f.loads(tree.places, model) for name, f in model._forces.items()}
    model.kept("tree")["loads"] = found
    return found


def is_passive(tree: Tree) -> bool:
    """True if joints have springs or dampers."""
    return any(link.joint.damping > 0 or link.joint.stiffness > 0 for link in tree.links)


def _system_array(model: Model) -> Array:
    tree = build_tree(model)
    if not tree.links:
        raise UnsupportedError(f"{model!r} has no degree of freedom.")
    loads = load_groups(tree, model)
    n, nq, nv = len(tree.links), model.nq, model.nv
    at_loads = at.HEADER + n * at.LINK_SIZE
    s = np.concatenate([np.zeros(at_loads), *loads])
    scratch = n * at.SCRATCH
    s[at.LINKS], s[at.NQ], s[at.NV] = n, nq, nv
    s[at.GRAVITY : at.GRAVITY + 3] = model.gravity
    s[at.LOADS], s[at.AT_LOADS] = len(loads), at_loads
    s[at.AT_Q], s[at.AT_V], s[at.AT_TAU] = scratch, scratch + nq, scratch + nq + nv
    s[at.AT_ACC], s[at.AT_CALL] = scratch + nq + 2 * nv, scratch + nq + 3 * nv
    s[at.AT_FREE] = s[at.AT_CALL] + 2 + nq + 2 * nv
    s[at.AT_HINT], s[at.AT_HELD] = nq + nv, nq + nv + 1
    s[at.PASSIVE] = is_passive(tree)
    for i, link in enumerate(tree.links):
        s[at.HEADER + i * at.LINK_SIZE : at.HEADER + (i + 1) * at.LINK_SIZE] = record_of(link)
        s[at.HEADER + i * at.LINK_SIZE + at.CARRIED] = _carried(tree, link)
    return compile_constraints.append(s, model, tree)


def _carried(tree: Tree, link: Link) -> int:
    """Number of the last link of the joint that a link belongs to, if that joint hangs on the world; else -1."""
    first, last = tree.spans[link.joint.name]
    return last if tree.links[first].parent < 0 else -1


def record_of(link: Link) -> Array:
    """The record of a link, but for what it carries."""
    r = np.zeros(at.LINK_SIZE)
    r[at.PARENT], r[at.KIND], r[at.Q_AT], r[at.V_AT] = link.parent, link.kind, link.q_at, link.v_at
    r[at.R_TREE : at.R_TREE + 9] = link.R_tree.ravel()
    r[at.P_TREE : at.P_TREE + 3] = link.p_tree
    r[at.TURNS], r[at.SLIDES] = link.turn, link.slide
    r[at.MASS] = link.mass
    r[at.MOMENT : at.MOMENT + 3] = link.moment
    I = link.inertia
    r[at.INERTIA : at.INERTIA + 6] = [I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]]
    joint = link.joint
    r[at.ARMATURE], r[at.DAMPING], r[at.STIFFNESS], r[at.REST] = joint.armature, joint.damping, joint.stiffness, getattr(joint, "rest", 0.0)
    r[at.LIMIT_LOW], r[at.LIMIT_HIGH] = (-np.inf, np.inf) if joint.limits is None or link.kind > at.PRISMATIC else joint.limits
    return r


def initial_state(system: Array, q: Array, v: Array) -> Array:
    """q, v, the last internal step of an adaptive method, the control that is held, the account."""
    return np.concatenate([q, v, np.zeros(1 + len(v) + account.SIZE)])


def work_size(system: Array) -> int:
    """Scratch of all links, stage data, and what the stepper asked for."""
    return int(system[at.AT_FREE] + system[at.STEPPER_WORK])
