"""Numbers of a tree: how the discrete equations change with them, by the names of `model.with_values`.

    body     mass (1), inertia (6: xx yy zz xy xz yz, about the centre of mass, body axes), com (3)
    joint    damping, stiffness, armature (1)
    force    of a Spring stiffness, rest_length, damping (1), of a Damper angular, linear (1), of a Wrench force, torque (3)
    gravity  (3)

Momentum and force of a tree are linear in mass, first and second moment of its links, in gravity, armature, stiffness, damping and forces.
So the derivative by one of them is the step of the same tree with the derivatives of its numbers in their place, everything else being 0.
The energy of a spring is quadratic in its rest length r: its derivative is the difference of its energies with r + 1/2 and r - 1/2.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from dalembert.arrays import Array
from dalembert.errors import UnknownNameError, UnsupportedError
from dalembert.lagrangian.charts import PRIMITIVE
from dalembert.lagrangian.stages import stage
from dalembert.lagrangian.tree_formulas import TreeFormula
from dalembert.model.compile_tree import Link, Place, Tree

if TYPE_CHECKING:
    from dalembert.sensitivity.step import Start
    from dalembert.sensitivity.tree_step import TreeStep

INERTIAS = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
AXES = "xyz"


class TreeValues:
    """One name: columns of E, p+, and of the momenta of both nodes, by its numbers."""

    def __init__(self, known: TreeStep, name: str):
        self.columns: list[str] = []
        outputs: dict[str, list[Any]] = {"E": [], "p": [], "l": []}
        for label, formula in derived(known.model, name):
            zero = ca.SX.zeros(known.model.nv)
            found = stage(known.name)(formula, known.q, zero, known.w, zero, known.h)
            self.columns.append(label)
            for key, value in (("E", found.equation), ("p", found.p), ("l", formula.momentum(known.q, known.w))):
                outputs[key].append(ca.densify(value))
        joined = {key: ca.horzcat(*columns) for key, columns in outputs.items()}
        self._step = ca.Function("value", [known.q, known.w, known.h], [joined["E"], joined["p"]])
        self._node = ca.Function("momentum", [known.q, known.w], [joined["l"]])
        self.width = len(self.columns)

    def __call__(self, at: Start, w: Array, q: Array, v: Array, h: float) -> dict[str, Array]:
        E, p = (x.full() for x in self._step(at.q, w, h))
        return {"E": E, "p": p, "l0": self._node(at.q, at.v).full(), "l1": self._node(q, v).full()}


def derived(model: Any, name: str) -> Iterator[tuple[str, TreeFormula]]:
    """(label, formula of the derivative by it) of each number of a name."""
    part, _, what = name.rpartition(".")
    if name == "gravity":
        for k, axis in enumerate(AXES):
            yield f"gravity.{axis}", _gravity(model, np.eye(3)[k])
    elif name not in model.value_names:
        raise UnknownNameError("value", name, model.value_names)
    elif what == "com" and any(f.kind == "damper" and f.body == part for f in model.forces):
        raise UnsupportedError(f"derivatives: {name!r} is where a damper acts too, which is not known.")
    elif part in model._bodies and what in ("mass", "inertia", "com"):
        for label, numbers in _of_body(model, part, what):
            yield (f"{name}.{label}" if label else name), _heavy(model, part, *numbers)
    elif part in model._joints and what in ("damping", "stiffness", "armature"):
        yield name, _jointed(model, part, what)
    elif part in model._forces and what in KNOWN:
        for label, forces in _of_force(model._forces[part], what):
            yield f"{name}{label}", _bare(model, forces)
    else:
        known = [x for x in model.value_names if x == "gravity" or (x.rpartition(".")[2] in KNOWN and _in_tree(model, x))]
        raise UnsupportedError(f"derivatives: {name!r} is no parameter of a step that is known; known are {', '.join(known)}.")


KNOWN = ("mass", "inertia", "com", "damping", "stiffness", "armature", "rest_length", "angular", "linear", "force", "torque")


def _in_tree(model: Any, name: str) -> bool:
    return name.rpartition(".")[0] in {**model._bodies, **model._joints, **model._forces}


def _of_force(force: Any, what: str) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """(label, forces whose sum is the derivative)"""
    none = {name: 0.0 * np.asarray(getattr(force, name), dtype=float) for name in force.values()}

    def like(**numbers: Any) -> Any:
        return SimpleNamespace(**{**force.__dict__, **none, **numbers}, kind=force.kind)

    if what in ("force", "torque"):
        for k, axis in enumerate(AXES):
            yield f".{axis}", (like(**{what: np.eye(3)[k]}),)
    elif what == "rest_length":
        k, r = force.stiffness, force.rest_length
        yield "", (like(stiffness=k, rest_length=r + 0.5), like(stiffness=-k, rest_length=r - 0.5))
    else:
        yield "", (like(**{what: 1.0, **({"rest_length": force.rest_length} if force.kind == "spring" else {})}),)


def _of_body(model: Any, body: str, what: str) -> Iterator[tuple[str, tuple[float, Array, Array]]]:
    """(label, derivatives of mass, m c and inertia about the link's origin), link axes."""
    place: Place = TreeFormula(model).tree.places[body]
    b = model.body(body)
    c = place.R @ b.com + place.p
    if what == "mass":
        yield "", (1.0, c, c @ c * np.eye(3) - np.outer(c, c))
    elif what == "inertia":
        for i, j in INERTIAS:
            unit = np.zeros((3, 3))
            unit[i, j] = unit[j, i] = 1.0
            yield AXES[i] + AXES[j], (0.0, np.zeros(3), place.R @ unit @ place.R.T)
    else:
        for k, axis in enumerate(AXES):
            d = place.R[:, k]
            yield axis, (0.0, b.mass * d, b.mass * (2.0 * (c @ d) * np.eye(3) - np.outer(c, d) - np.outer(d, c)))


def _bare(model: Any, forces: tuple[Any, ...] = ()) -> TreeFormula:
    """A formula of the same tree without masses, springs and dampers, with these forces alone."""
    formula = _Bare(model)
    joint = SimpleNamespace(armature=0.0, stiffness=0.0, damping=0.0, rest=0.0, limits=None)
    links = [replace(k, mass=0.0, moment=np.zeros(3), inertia=np.zeros((3, 3)), joint=_like(joint, k)) for k in formula.tree.links]
    formula.tree = Tree(links, formula.tree.places)
    formula.model = SimpleNamespace(gravity=model.gravity, forces=forces, body=model.body)  # type: ignore[assignment]
    return formula


def _like(joint: SimpleNamespace, link: Link) -> Any:
    return SimpleNamespace(**{**joint.__dict__, "name": link.joint.name, "rest": getattr(link.joint, "rest", 0.0)})


def _heavy(model: Any, body: str, mass: float, moment: Array, inertia: Array) -> TreeFormula:
    formula = _bare(model)
    link = formula.tree.places[body].link
    if link >= 0 and not model.body(body).massless:
        formula.tree.links[link] = replace(formula.tree.links[link], mass=mass, moment=moment, inertia=inertia)
    return formula


def _jointed(model: Any, joint: str, what: str) -> TreeFormula:
    formula = _bare(model)
    for link in formula.tree.links:
        if link.joint.name == joint:
            setattr(link.joint, what, 1.0)
    return formula


def _gravity(model: Any, direction: Array) -> TreeFormula:
    """Weight alone, without kinetic energy."""
    formula = _Weight(model)
    formula.model = SimpleNamespace(gravity=direction, forces=())  # type: ignore[assignment]
    links = [replace(k, joint=_like(SimpleNamespace(armature=0.0, stiffness=0.0, damping=0.0, limits=None), k)) for k in formula.tree.links]
    formula.tree = Tree(links, formula.tree.places)
    return formula


class _Bare(TreeFormula):
    """Links whose numbers are derivatives: a first moment without mass is one too."""

    def kinetic(self, swept: list[Any], v: Any) -> Any:
        total = ca.SX(0)
        for link, (_, _, w, u) in zip(self.tree.links, swept, strict=True):
            s, J = ca.DM(link.moment), ca.DM(link.inertia)
            vi = v[link.v_at : link.v_at + PRIMITIVE[link.kind].nv]
            total += 0.5 * link.mass * ca.dot(u, u) + ca.dot(u, ca.cross(w, s)) + 0.5 * ca.dot(w, J @ w)
            total += 0.5 * link.joint.armature * ca.dot(vi, vi)
        return total

    def straight(self, a: Any, b: Any, h: Any) -> Any:
        zero, total = ca.SX.zeros(self.nv), ca.SX(0)
        for link, (R0, x0, _, _), (R1, x1, _, _) in zip(self.tree.links, self.sweep(a, zero), self.sweep(b, zero), strict=True):
            E = ca.DM(0.5 * np.trace(link.inertia) * np.eye(3) - link.inertia)
            dR, dc = R1 - R0, x1 - x0
            total += link.mass * ca.dot(dc, dc) + 2 * ca.dot(dc, dR @ ca.DM(link.moment)) + ca.dot(dR, dR @ E)
        return 0.5 * total / h


class _Weight(TreeFormula):
    """The potential of the weight, and nothing else."""

    def kinetic(self, swept: list[Any], v: Any) -> Any:
        return ca.SX(0)

    def straight(self, a: Any, b: Any, h: Any) -> Any:
        return ca.SX(0)
