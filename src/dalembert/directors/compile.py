"""The arrays of a machine in director coordinates."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dalembert.arrays import Array
from dalembert.directors.edges import Edge, find_edges
from dalembert.directors.nodes import Node, Row, find_nodes
from dalembert.directors.rows import Label, Tie, ends_of, tie, tree_ties
from dalembert.directors.terms import Term, find_terms
from dalembert.errors import UnsupportedError
from dalembert.kernels.directors import layout as at
from dalembert.kernels.directors import node as kernels
from dalembert.model.parts import WORLD

if TYPE_CHECKING:
    from dalembert.model.model import Model

RANK = 1e-9  # rows of loops that the others fix to this share of their size say nothing new


class Compiled(NamedTuple):
    """A machine: its nodes, edges, ties (in the order of their rows; those of loops last), and terms.

    dropped, spare: labels and rows of loops that the other rows imply. system: for steps without options.
    """

    lead: dict[str, str]
    nodes: dict[str, Node]
    edges: list[Edge]
    ties: list[Tie]
    labels: list[Label]
    dropped: list[Label]
    spare: list[Row]
    agrees: list[tuple[str, Row]]
    terms: list[Term]
    rows: list[Row]
    loops: int
    n: int
    k: int
    mass: Array
    system: Array


def compile_directors(model: Model, q_of: object = None) -> Compiled:
    """q_of(compiled): director coordinates of the configuration at which the rows of loops are judged."""
    _refuse(model)
    lead, nodes = find_nodes(model)
    edges, links = find_edges(model, lead, nodes)
    held = tree_ties(model, lead, nodes)
    held += [tie(ends_of(x, lead, nodes)) for x in model.loops if x.name in links]
    ends = [ends_of(x, lead, nodes) for x in model.loops if x.name not in links]
    closing = [tie(e) for e in ends if e.parent is not e.child]
    ties, terms = held + closing, find_terms(model, lead, nodes)
    mass = _masses(nodes)
    if not mass.size:
        raise UnsupportedError(f"{model!r} has no degree of freedom.")
    rows, labels = [r for t in ties for r in t.rows], [x for t in ties for x in t.labels]
    loops, k = sum(len(t.rows) for t in closing), sum(e.count for e in edges)
    agrees = [(t.name, row) for t in ties for row in t.agrees]
    whole = Compiled(lead, nodes, edges, ties, labels, [], [], agrees, terms, rows, loops, len(mass), k, mass, np.zeros(0))
    whole = whole._replace(system=system_array(whole))
    return _without_redundant(whole, q_of(whole)) if loops and callable(q_of) else whole


def _refuse(model: Model) -> None:
    if model.nonholonomic:
        names = ", ".join(repr(x.name) for x in model.nonholonomic)
        raise UnsupportedError(f"model {model.name!r} in director coordinates: joints {names} constrain velocities, which are not handled.")
    couplings = [x.name for x in model.loops if x.kind == "coupling"]
    if couplings:
        raise UnsupportedError(f"model {model.name!r} in director coordinates: couplings {', '.join(couplings)} are not quadratic.")


def _masses(nodes: dict[str, Node]) -> Array:
    """One for each coordinate."""
    found: list[float] = []
    for node in nodes.values():
        if node.name != WORLD:
            found += [node.mass] * 3
            if node.rigid:
                found += [float(x) for x in np.repeat(node.moments, 3)]
    return np.array(found)


def _without_redundant(c: Compiled, q: Array) -> Compiled:
    """Drop rows of loops that lie in the span of those before them, at a configuration; R = G P of each, made orthogonal to the others."""
    work = np.zeros(work_size(c.system))
    P, G = np.zeros((c.n, c.k)), np.zeros((len(c.rows), c.n))
    kernels.null_matrix(c.system, q, work, P)
    kernels.constraint_gradients(c.system, q, work, G)
    first = len(c.rows) - c.loops
    kept, basis = list(range(first)), np.zeros((0, c.k))
    for r in range(first, len(c.rows)):
        row = G[r] @ P
        size = max(float(np.linalg.norm(row)), 1e-12)
        for _ in range(2):
            row = row - basis.T @ (basis @ row)
        if np.linalg.norm(row) > RANK * max(size, 1e-3):
            kept.append(r)
            basis = np.vstack([basis, row / np.linalg.norm(row)])
    gone = [r for r in range(first, len(c.rows)) if r not in kept]
    less = c._replace(rows=[c.rows[r] for r in kept], labels=[c.labels[r] for r in kept], loops=len(kept) - first)
    less = less._replace(dropped=[c.labels[r] for r in gone], spare=[c.rows[r] for r in gone])
    return less._replace(system=system_array(less))


def system_array(c: Compiled, tol: float = 1e-9, max_iterations: int = 30, project: bool = True, full: bool = False) -> Array:
    """The constants of a run. full: with room for the matrix of the form with multipliers."""
    slots = {WORLD: 0, **{e.child.name: i + 1 for i, e in enumerate(c.edges)}}
    edges, first = [], 0
    for e in c.edges:
        edges += e.record(first, slots)
        first += e.count
    sums = [*c.rows, *(t.s for t in c.terms)]
    factors = [vector for one in sums for product in one for vector in product]
    ends = np.cumsum([0, *(len(vector) for vector in factors)])
    pointers = np.cumsum([0, *(len(one) for one in sums)])
    parts = [
        c.mass,
        np.array(edges, dtype=float),
        pointers.astype(float),
        ends.astype(float),
        np.array([entry for vector in factors for entry in vector.items()], dtype=float).ravel(),
        np.array([(t.kind, t.a, t.b) for t in c.terms], dtype=float).ravel(),
    ]
    starts = at.HEADER + at.LAYOUT.size + np.cumsum([0, *(p.size for p in parts)])
    rows = len(c.rows)
    size = max(c.n + rows if full else 0, c.k + c.loops if c.loops else 0)
    numbers = {
        "n": c.n, "k": c.k, "edges": len(c.edges), "rows": rows, "loops": c.loops, "terms": len(c.terms), "size": size,
        "max_iterations": max_iterations, "full": full, "project": project,
        "at_mass": starts[0], "at_edges": starts[1], "at_pointers": starts[2],
        "at_factors": starts[3], "at_entries": starts[4], "at_kinds": starts[5], "tol": tol,
    }  # fmt: skip
    sizes = {"n": c.n, "k": c.k, "w": c.n + at.Q0, "slots": len(slots), "rows": rows, "size": size}
    header, end = at.LAYOUT.lay(0, numbers, sizes)
    return np.concatenate([[float(at.HEADER)], header, *parts, [float(end)]])


def work_size(system: Array) -> int:
    """Numbers in the workspace."""
    return int(system[-1])
