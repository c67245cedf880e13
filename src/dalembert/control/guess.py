"""Where the search for a plan begins.

None or "line"      the straight way on the group from start to goal (through the waypoints), velocities that belong to it, no inputs
"inverse dynamics"  the same, with the inputs that come nearest to what it asks for
"unhindered"        the plan that avoids nothing, found first, with small waves on it: None of a plan with avoid=
"random"            the same, with smooth waves of random size on it: symmetric starts end at points that are no optima
a Solution, a Trajectory, an array (N + 1, nq), or a mapping {"q": , "u": }    resampled to the nodes
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import casadi as ca
import numpy as np

from dalembert.arrays import Array
from dalembert.control.ends import path_between
from dalembert.control.reach import NEAR_ENOUGH, missed, reached
from dalembert.errors import OptionError
from dalembert.lagrangian.stages import stage
from dalembert.model.rotation import from_matrix, matrix

WAVES = 3
SIZE = 0.3  # of waves: rad, m
LITTLE = 0.01  # of waves on a plan that avoids nothing, as a part of its way


def guess(problem: Any, given: Any, seed: int | None) -> Array:
    """z of a guess; seed: with waves."""
    m = problem.machine
    given = given(problem) if callable(given) else given
    if problem.made.apart and (given is None or (isinstance(given, str) and given == "unhindered")):
        from dalembert.control.avoidance import unhindered

        given = unhindered(problem)
        if given is not None and seed is None:
            q, u = nodes_of(problem, given)
            return filled(problem, disturbed(m, q, problem.seed, problem, _little(m, q)), u)
    if given is None or isinstance(given, str):
        if given not in (None, "line", "random", "inverse dynamics"):
            kinds = "'line', 'random', 'inverse dynamics', 'unhindered'"
            raise OptionError(f"dmoc: guess is {given!r}; expected {kinds}, a Solution, a Trajectory, nodes (N + 1, nq) or None.")
        q, u = line(problem), None
        if given == "random" and seed is None:
            seed = problem.seed
    else:
        q, u = nodes_of(problem, given)
    if seed is not None:
        q = disturbed(m, q, seed, problem)
    return filled(problem, q, u)


def reaching(problem: Any) -> Array | None:
    """z of the straight way to where bodies are that are wanted there; None where no such configurations are found."""
    q = line(problem, reach=True)
    nodes, s = [*problem.waypoints, (problem.chain.N, problem.goal)], len(problem.chain.weights)
    wanted = [(k, node) for k, node in nodes if node.poses]
    if not wanted or any(missed(problem.machine, node.poses, q[k * s]).max() > NEAR_ENOUGH for k, node in wanted):
        return None
    return filled(problem, q, None)


def line(problem: Any, reach: bool = False) -> Array:
    """The straight way, (stages + 1, nq); free bodies that nothing drives fall. reach: to poses of bodies, too."""
    m, s, n = problem.machine, len(problem.chain.weights), len(problem.chain.q)
    first = np.where(np.isfinite(problem.start.q), problem.start.q, m.system.neutral())
    known = [(0, first, problem.start)]
    for k, node in [*problem.waypoints, (problem.chain.N, problem.goal)]:
        near = _near(m, node, known[-1][1])
        known.append((k * s, reached(m, node, near) if reach and node.poses else near, node))
    rows = np.empty((n, m.nq))
    rows[0] = first
    for (i, a, node_a), (j, b, node_b) in pairwise(known):
        rows[i : j + 1] = path_between(m, node_a, node_b, a, b, np.linspace(0.0, 1.0, j - i + 1))
    weights = np.asarray(problem.chain.weights)
    t = np.concatenate([[0.0], np.cumsum((problem.h[problem.chain.phase_of][:, None] * weights).ravel())])
    _fall(m, problem, rows, t)
    return rows


def _near(machine: Any, node: Any, before: Array) -> Array:
    """q of a node: what is free stays as before, but for free bodies whose pose is wanted."""
    q = np.where(np.isfinite(node.q), node.q, before)
    for part, body in _free_bodies(machine):
        place, turn = node.poses.get(body, (None, None))
        if place is not None:
            q[part : part + 3] = place
        if turn is not None:
            q[part + 3 : part + 7] = from_matrix(turn)
    return _beside(machine, node, q) if node.relative else q


def _beside(machine: Any, node: Any, q: Array) -> Array:
    """The same, with free bodies where they are wanted beside others."""
    free, names = {body: part for part, body in _free_bodies(machine)}, [b.name for b in machine.whole.bodies]
    for (body, other), (place, turn) in node.relative.items():
        if body in free:
            T, part = machine.whole.poses(q), free[body]
            R_A, x_A = (T[names.index(other), :3, :3], T[names.index(other), :3, 3]) if other in names else (np.eye(3), np.zeros(3))
            if place is not None:
                q[part : part + 3] = x_A + R_A @ place
            if turn is not None:
                q[part + 3 : part + 7] = from_matrix(R_A @ turn)
    return q


def _free_bodies(machine: Any) -> list[tuple[int, str]]:
    """(place in q, body) of free joints."""
    if not hasattr(machine.formulas, "tree"):
        return []
    slices = machine.system.q_slices()
    return [(slices[joint.name].start, joint.child) for joint in machine.reduced.joints if joint.kind == "free"]


def _fall(machine: Any, problem: Any, rows: Array, t: Array) -> None:
    """Free bodies without an input whose place is not wanted at the goal: x0 + v0 t + g t^2/2."""
    for part, body in _free_bodies(machine):
        joint = next(j for j in machine.reduced.joints if j.kind == "free" and j.child == body)
        at_v = machine.system.v_slices()[joint.name]
        wanted = np.isfinite(problem.goal.q[part]) or problem.goal.poses.get(body, (None, None))[0] is not None
        if wanted or np.any(machine.B[at_v]):
            continue
        v0 = np.nan_to_num(problem.start.v[at_v][3:])
        rows[:, part : part + 3] = rows[0, part : part + 3] + np.outer(t, matrix(rows[0, part + 3 : part + 7]) @ v0)
        rows[:, part : part + 3] += np.outer(0.5 * t**2, machine.reduced.gravity)


def _little(machine: Any, q: Array) -> Array:
    """Waves that only break symmetries: a part of the longest way of a coordinate, of those that turn and of the others."""
    way, size = np.abs(machine.lifts(q[:-1], q[1:])).sum(axis=0), np.zeros(machine.nv)
    for group in (machine.turning, ~machine.turning):
        size[group] = LITTLE * way[group].max(initial=0.0)
    return size


def disturbed(machine: Any, q: Array, seed: int, problem: Any, size: Any = SIZE) -> Array:
    """Smooth random waves that are 0 at both ends."""
    rng = np.random.default_rng(seed)
    s = np.linspace(0.0, 1.0, len(q))
    amplitude = rng.normal(size=(WAVES, machine.nv)) * size / np.arange(1, WAVES + 1)[:, None]
    waves = np.sin(np.pi * np.outer(s, np.arange(1, WAVES + 1))) @ amplitude
    return np.array([machine.system.integrate(a, x) if x.any() else a for a, x in zip(q, waves, strict=True)])


def nodes_of(problem: Any, given: Any) -> tuple[Array, Array | None]:
    """(q at all stages, u of all steps or None) of what was given, resampled by the part of time that has passed."""
    m, chain = problem.machine, problem.chain
    u = None
    if hasattr(given, "inputs"):
        q, u = given.q, given.inputs
    elif hasattr(given, "q"):
        q = given.q
    elif isinstance(given, dict):
        if "q" not in given:
            raise OptionError(f"dmoc: guess has {', '.join(map(repr, given)) or 'no entries'}; expected 'q', nodes, and maybe 'u'.")
        q, u = given["q"], given.get("u")
    else:
        q = given
    q = np.asarray(q, dtype=float)
    if q.ndim != 2 or q.shape[1] != m.nq or len(q) < 2 or not np.isfinite(q).all():
        raise OptionError(f"dmoc: guess has nodes of the shape {q.shape}; expected finite numbers (nodes, nq = {m.nq}).")
    rows = resampled(m, q, len(chain.q))
    if u is not None:
        u = np.asarray(u, dtype=float)
        if u.ndim != 2 or u.shape[1] != m.nu or not len(u) or not np.isfinite(u).all():
            raise OptionError(f"dmoc: guess has inputs of the shape {u.shape}; expected finite numbers (steps, inputs = {m.nu}).")
        u = u[np.minimum((np.arange(chain.N) + 0.5) * len(u) / chain.N, len(u) - 1).astype(int)]
    return rows, u


def resampled(machine: Any, q: Array, n: int) -> Array:
    """n nodes on the way of others."""
    s = np.linspace(0.0, len(q) - 1.0, n)
    low, system = np.minimum(s.astype(int), len(q) - 2), machine.system
    rows = []
    for k, x in zip(low, s - low, strict=True):
        rows.append(system.integrate(q[k], x * np.asarray(system.difference(q[k], q[k + 1]))) if 0.0 < x < 1.0 else q[k + int(x >= 1.0)])
    return np.array(rows)


def same_sheet(machine: Any, q: Array) -> Array:
    """Quaternions of neighbours with one sign."""
    from dalembert.control.targets import quaternions

    for _, at in quaternions(machine):
        for k in range(1, len(q)):
            if q[k, at : at + 4] @ q[k - 1, at : at + 4] < 0.0:
                q[k, at : at + 4] *= -1.0
    return q


def inverse_dynamics(problem: Any, q: Array, v: Array) -> Array:
    """Inputs that come nearest to what the nodes ask for: B u = (left momentum of a step - right momentum of the step before)/h."""
    m, chain, s = problem.machine, problem.chain, len(problem.chain.weights)
    if s > 1 or m.nu == 0:
        return np.zeros((chain.N, m.nu))
    zero, h = np.zeros((m.nv, chain.N)), problem.h[chain.phase_of]
    q_, p_, v_, h_ = (ca.SX.sym(x, n) for x, n in (("q", m.nq), ("p", m.nv), ("v", m.nv), ("h", 1)))
    found = stage(problem.stepper)(m.formulas, q_, p_, v_, ca.SX.zeros(m.nv), h_)
    momenta = ca.Function("momenta", [q_, p_, v_, h_], [found.equation, found.p]).map(chain.N)
    left, right = (np.array(x) for x in momenta(q[:-1].T, zero, v.T, h))
    asked = np.empty((chain.N, m.nv))
    asked[1:] = ((left[:, 1:] - right[:, :-1]) / (0.5 * (h[1:] + h[:-1]))).T
    asked[0] = asked[1]  # the first step also starts from rest, which a guess need not
    return np.asarray(asked @ np.linalg.pinv(m.B).T)


def filled(problem: Any, q: Array, u: Array | None) -> Array:
    """z with velocities of the intervals and momenta that belong to q."""
    m, chain, s = problem.machine, problem.chain, len(problem.chain.weights)
    q = same_sheet(m, np.vstack([problem.start.q, q]))[1:]  # that of the start
    z = np.zeros(chain.size)
    sizes = np.repeat(problem.h[chain.phase_of], s) * np.tile(chain.weights, chain.N)
    v = m.lifts(q[:-1], q[1:]) / sizes[:, None]
    p = m.momenta(q, np.vstack([v, v[-1:]]))
    z[chain.q], z[chain.p], z[chain.v] = q, p, v
    z[chain.p_after] = p[chain.nodes]
    if u is not None:
        z[chain.u] = u
    elif isinstance(problem.given_guess, str) and problem.given_guess == "inverse dynamics":
        z[chain.u] = inverse_dynamics(problem, q, v)
    inner = chain.inner.shape[1] // m.nv
    for j in range(inner):  # points of a polynomial, on the straight way
        z[chain.inner[:, j * m.nv : (j + 1) * m.nv]] = (j + 1) / (inner + 1) * v
    if chain.free:
        z[chain.h] = problem.h
    z = np.clip(z, problem.program.least, problem.program.most)
    for write in problem.guesses:
        write(problem, z)
    return z
