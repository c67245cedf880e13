"""Numbers of many machines of one structure in the arrays of the tree: what follows from masses, inertias and centres of mass.

    c = R com + p,   m = sum m_b,   moment = sum m_b c,   inertia = sum R I R^T + m_b (c . c 1 - c c^T)          over the bodies of a link

as `compile_tree.add_mass` has it, in the same order of operations, for all machines at once: bit for bit the records of each alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.arrays import Array
from dalembert.kernels.tree import layout as at
from dalembert.model.compile_tree import Place, build_tree
from dalembert.model.parts import Body
from dalembert.model.rows import fixed_energy

if TYPE_CHECKING:
    from dalembert.model.model import Model

OF_BODIES = ("mass", "inertia", "com")
SIX = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))  # entries of an inertia in a record


def masses(model: Model, columns: dict[str, Array]) -> list[tuple[Array, Array]]:
    """[(places in the array (10,), numbers (n, 10))] of the links whose bodies have other values. columns: "body.mass" (n,), ..."""
    tree, varied = build_tree(model), {name.rpartition(".")[0] for name in columns if is_of_body(model, name)}
    out = []
    for i in sorted({tree.places[name].link for name in varied} - {-1}):
        bodies = [body for body in model.bodies if tree.places[body.name].link == i and not body.massless]
        found = [_body(body, tree.places[body.name], columns) for body in bodies]
        mass, moment, inertia = np.zeros(1), np.zeros((1, 3)), np.zeros((1, 3, 3))
        for m, c, turned, spread in found:
            mass, moment = mass + m, moment + m[:, None] * c
            inertia = inertia + turned + m[:, None, None] * spread
        first = at.HEADER + i * at.LINK_SIZE
        places = first + np.array([at.MASS, *range(at.MOMENT, at.MOMENT + 3), *range(at.INERTIA, at.INERTIA + 6)])
        parts = [mass[:, None], moment, np.stack([inertia[:, a, b] for a, b in SIX], axis=1)]
        n = max(len(part) for part in parts)
        out.append((places, np.concatenate([np.broadcast_to(part, (n, part.shape[1])) for part in parts], axis=1)))
    return out


def is_of_body(model: Model, name: str) -> bool:
    """True for the name of a value that mass is made of."""
    body, _, what = name.rpartition(".")
    return what in OF_BODIES and body in model._bodies


def _body(body: Body, place: Place, columns: dict[str, Array]) -> tuple[Array, Array, Array, Array]:
    """(mass, c, R I R^T, c . c 1 - c c^T), each of n rows, or of one where all machines have the same."""
    mass = columns.get(f"{body.name}.mass", np.array([body.mass]))
    centres = columns.get(f"{body.name}.com", body.com[None])
    inertias = columns.get(f"{body.name}.inertia", body.inertia[None])
    c = np.array([place.R @ np.array(com) + place.p for com in centres])
    spread = np.array([x @ x * np.eye(3) - np.outer(x, x) for x in c])
    turned = np.array([place.R @ (np.diag(x) if x.ndim == 1 else 0.5 * (x + x.T)) @ place.R.T for x in inertias])
    return mass, c, turned, spread


def constant(model: Model, values: Any) -> float | None:
    """Potential energy of what is fixed to the world; None where the values of these names change it."""
    places = build_tree(model).places
    fixed = {name for name, place in places.items() if place.link < 0}
    parts = {name.rpartition(".")[0] for name in values if name.rpartition(".")[2] != "gravity"}
    forces = {name for name, f in model._forces.items() if fixed.issuperset(f.ends)}
    if parts & (fixed | forces) or ("gravity" in values and len(fixed) > 1):  # the world is one of them
        return None
    return fixed_energy(model, places)
