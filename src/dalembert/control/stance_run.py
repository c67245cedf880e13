"""The free run of a plan whose feet stand: the simulator with the feet pinned where they are, stretch after stretch.

While a point sticks it is a loop joint to the world: a ball where it could move along two tangents, a slot across the plane of the motion
where it could along one. The multipliers of the stepper are then the impulses of the stance (control/stance.py), found by the simulator and
not taken from the plan; so is the velocity that is left where a point lands (G v = 0) or is struck. When points land and leave is for the
plan to say, where they do is found by the run.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.control.contact_evidence import after_impacts, geometry, relative_rows
from dalembert.control.impacts import Contact
from dalembert.runs.simulate import simulate


def known(solution: Any) -> bool:
    """Contacts are those of points that stick, and some are held."""
    planned = solution.problem.contacts
    return any(c.held for c in planned) and all(c.sticks and c.gap.what is not None for c in planned) and solution.problem.penalty is None


def free_run(solution: Any, q0: Array, v0: Array) -> Array:
    """Nodes, (N + 1, nq), from the first one under the inputs of the plan."""
    problem = solution.problem
    machine, planned = problem.machine, problem.contacts
    found, q, v = [q0[None, :]], q0, v0
    edges = _edges(solution)
    for a, b in pairwise(edges):
        held = [c for c in planned if c.first <= a < c.last]
        struck = [c for c in planned if not c.held and c.first == a]
        if struck:
            v = after_impacts(machine.reduced, machine, q, machine.reduced.mass_matrix(q) @ v, struck)
        model, h = _pinned(machine.whole, held, q), float(solution.h[a])
        if held:
            v = _tangential(machine, held, q, v)
        run = simulate(
            model, problem.stepper, h=h, t_end=h * (b - a), q0=q, v0=v, control=solution.control[a:b], compose=problem.compose,
            ignore=machine.ignore, progress=False,
        )  # fmt: skip
        found.append(run.q[1:])
        q, v = run.q[-1], run.v[-1]
    return np.concatenate(found)


def _edges(solution: Any) -> list[int]:
    """Nodes at which the step or the set of closed contacts changes, with both ends."""
    N = len(solution.h)
    nodes = {0, N, *(np.flatnonzero(np.diff(solution.h)) + 1).tolist()}
    for c in solution.problem.contacts:
        nodes |= {c.first, c.last}
    return sorted(nodes)


def _pinned(model: Any, held: list[Contact], q: Array) -> Any:
    """The model with points that stick joined to the world where they are."""
    if not held:
        return model
    made = model.copy()
    names, there = [b.name for b in model.bodies], model.poses(model.neutral())
    for i, c in enumerate(held):
        body = c.gap.touch.body
        T = there[names.index(body)]
        x, n = geometry(model, c, q)[1:]
        kind, axis = "spherical", n
        if c.gap.tangents == 1:
            kind, axis = "slot", np.cross(n, (c.gap._directions @ c.gap.tangent)[0])
        made.add_loop(f"stance {i} of {body}", kind, "world", body, anchor=x, point=T[:3, :3] @ c.gap.point + T[:3, 3], axis=axis)
    return made


def _tangential(machine: Any, held: list[Contact], q: Array, v: Array) -> Array:
    """v without what the points that stick take of it."""
    M = machine.reduced.mass_matrix(q)
    rows = [relative_rows(machine.reduced, c, q) for c in held] + ([] if machine.rows is None else [machine.rows.matrix(q)])
    G = np.concatenate(rows)
    reply = np.linalg.solve(M, G.T)
    return np.asarray(v - reply @ np.linalg.lstsq(G @ reply, G @ v, rcond=None)[0])
