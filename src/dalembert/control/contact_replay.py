"""The trajectory of a plan with contacts: rows of the simulator, with what contacts gave in their account and in their events.

Rows are states of the base step at the nodes, before an impact; within a stance with the velocity along the surface. Where the shapes of
the model strike in the stepper `collision`, the trajectory is one of it: impulses of walls, energy that impacts took, and events are in its
notes. Else it is one of the base step, and contacts are forces given as functions.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.control.contact_evidence import geometry
from dalembert.control.contacts import points
from dalembert.control.replay import unit
from dalembert.errors import DalembertError
from dalembert.kernels.collision import tables
from dalembert.kernels.tree import account_layout as account
from dalembert.kernels.tree.variational.layout import state_places
from dalembert.runs.engines.collision import MEMORY, CollisionEngine
from dalembert.runs.plan import Plan
from dalembert.runs.ragged import COLUMNS, Table
from dalembert.runs.simulate import simulate
from dalembert.runs.trajectory import Trajectory

SEAM = 1e-9  # of the energy


def shown(solution: Any) -> Array:
    """(N + 1, nv) momenta that rows show: before impacts; in a stance along the surface."""
    out = np.array(solution.p)
    for c in solution.problem.contacts:
        for k in range(c.first + 1, c.last + 1) if c.held else ():
            out[k] = along_surface(solution, [c], k, out[k])
    return out


def along_surface(solution: Any, contacts: list[Any], k: int, p: Array) -> Array:
    """p at node k without what contacts take of it: G M^-1 p = 0."""
    machine, q = solution.problem.machine, solution.q[k]
    zero = machine.momentum(q, np.zeros(machine.nv))
    M = np.column_stack([machine.momentum(q, e) - zero for e in np.eye(machine.nv)])
    G = np.concatenate([c.gap.matrix(q) for c in contacts])
    reply = np.linalg.solve(M, G.T)
    return np.asarray(p - G.T @ np.linalg.lstsq(G @ reply, G @ np.linalg.solve(M, p - zero), rcond=None)[0])


def striking(solution: Any) -> Plan | None:
    """The plan of the stepper `collision` over the same base, where shapes of the model allow it."""
    problem = solution.problem
    planned = problem.contacts
    if not planned or any(c.sticks or not of_shapes(problem.machine.whole, c) for c in planned):
        return None
    aside = tuple(x for x in problem.machine.ignore if x != "contact")
    bounce = {c.restitution for c in planned}
    try:
        plan = Plan.of(
            problem.machine.whole, "collision", float(solution.h.max()), problem.compose, aside, call="verify",
            base=problem.stepper, smooth=True, restitution=bounce.pop() if len(bounce) == 1 else -1.0,
        )  # fmt: skip
        CollisionEngine(plan)
    except DalembertError:
        return None
    return plan


def of_shapes(model: Any, c: Any) -> bool:
    """A contact is one of shapes of the model, so that the simulator knows of it too."""
    touch = c.gap.touch
    if c.gap.what is None or not isinstance(touch.plane, (int, np.integer)):
        return False
    if not any(s.collide for s in model.body(touch.body).shapes):
        return False
    found = points(model, replace(touch, point=None))
    return any(np.linalg.norm(x - c.gap.point) < 1e-9 and abs(r - c.gap.radius) < 1e-9 for x, r in found)


def rows(replay: Any, collision: bool) -> Array:
    """States with momenta as shown, and what contacts gave."""
    solution = replay.solution
    machine = solution.problem.machine
    n, _ = state_places(machine.nq, machine.nv)
    states, p = np.array(replay.states), shown(solution)
    notes, sums = np.zeros((len(states), tables.NOTES)), np.zeros(7)
    model = machine.reduced
    soft = solution.problem.penalty is not None
    states[0, n.p : n.p + machine.nv] += solution.p[0] - solution.p_after[0]
    for k in range(len(states)):
        q, before, after = unit(machine, solution.q[k]), solution.v_before[k], solution.v_after[k]
        there = before if np.array_equal(p[k], solution.p[k]) else machine.velocity(q, p[k])
        states[k, n.p : n.p + machine.nv] += p[k] - solution.p[k]
        sums += _change(model, q, before, there, soft)
        if collision:
            notes[k, tables.LOSS], notes[k, tables.IMPULSE : tables.IMPULSE + 6] = sums[0], sums[1:]
        else:
            tail = replay._account_of(states[k])
            tail[account.FUNCTION] += sums[0]
            tail[account.IMPULSE : account.IMPULSE + 6] += sums[1:]
        held = [c for c in solution.problem.contacts if c.held and k in c.push]
        sums += _change(model, q, there, after, not held)
        landing = [c for c in held if c.first == k]
        if landing:  # what it takes; the rest of the impulse is that of the step, and of no work
            sums[0] += _change(model, q, there, machine.velocity(q, along_surface(solution, landing, k, p[k])), True)[0]
    return np.concatenate([states, notes], axis=1) if collision else states


def _change(model: Any, q: Array, v: Array, w: Array, energy: bool) -> Array:
    """(energy, momentum) that a jump of the velocity gives."""
    if np.array_equal(v, w):
        return np.zeros(7)
    before, after = float(model.kinetic_energy(q, v)), float(model.kinetic_energy(q, w))
    work = after - before if energy else 0.0
    if 0.0 < work < SEAM * before:
        work = 0.0  # an elastic impact that is solved to the tolerance of the plan
    return np.concatenate([[work], model.momentum(q, w) - model.momentum(q, v)])


def events(solution: Any) -> Table:
    """Impacts as the stepper `collision` tells them, in the interval after their node."""
    model = solution.problem.machine.reduced
    numbers = {b.name: float(i) for i, b in enumerate(model.bodies)}
    nodes: list[list[Any]] = [[] for _ in solution.t]
    for c in solution.problem.contacts:
        k = c.first
        if c.held and k == 0:
            continue
        _, x, n = geometry(model, c, solution.q[k])
        row, lam = c.gap.matrix(solution.q[k])[0], float(solution.result.z[c.push[k][0]])
        who = numbers.get(c.gap.what.owner, -1.0), numbers[c.gap.touch.body]
        speeds = float(row @ solution.v_before[k]), 0.0 if c.held else float(row @ solution.v_after[k])
        nodes[min(k + 1, len(nodes) - 1)].append([solution.t[k], tables.STRUCK, *who, lam, *x, *n, *speeds])
    return Table.from_nodes(tables.EVENT, [np.array(rows).reshape(-1, len(tables.EVENT)) for rows in nodes])


def trajectory(replay: Any, meta: dict[str, Any]) -> Trajectory:
    """The trajectory; meta: what is known of the plan."""
    solution = replay.solution
    machine = solution.problem.machine
    if not hasattr(machine.formulas, "tree"):
        known = {k: x for k, x in meta.items() if k not in ("log_columns", "stepper", "method", "family", "options", "h")}
        return Trajectory.of_nodes(machine.whole, solution.t, solution.q, solution.v, control=solution.control, meta=known)
    plan, found = striking(solution), dict[str, Table]()
    if plan is not None:
        found = {
            "contacts": Table.empty(COLUMNS["contacts"], len(solution.t)),
            "events": events(solution),
            "memory": Table.empty(MEMORY, 1),
        }
        own = {k: x for k, x in plan.meta().items() if k not in ("t_end", "status", "control")}
        meta = {**meta, **own, "tables": {name: list(table.columns) for name, table in found.items()}}
    else:
        plan = replay._at(float(solution.h[0]))[0]
    states = rows(replay, bool(found))
    made = Trajectory(plan.system, plan.stepper, meta, solution.t, states, replay.log, plan.read(states, True), found)
    made.__dict__["_run_model"] = plan.acting
    return made


def free_run(solution: Any, q0: Array, v0: Array) -> Array:
    """Nodes of the stepper `collision` under the inputs of a plan, phase after phase, (N + 1, nq): it finds the impacts itself."""
    problem = solution.problem
    plan = striking(solution)
    if plan is None:
        return np.zeros((0, problem.machine.nq))
    options = {name: plan.options[name] for name in ("base", "smooth", "restitution")}
    found, q, v, k = [q0[None, :]], q0, v0, 0
    for n in problem.chain.phases:
        h = float(solution.h[k])
        run = simulate(
            problem.machine.whole, "collision", h=h, t_end=n * h, q0=q, v0=v, control=solution.control[k : k + n], compose=problem.compose,
            ignore=plan.ignore, progress=False, **options,
        )  # fmt: skip
        found.append(run.q[1:])
        q, v, k = run.q[-1], run.v[-1], k + n
    return np.concatenate(found)
