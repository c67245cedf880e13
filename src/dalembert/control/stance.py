"""Contacts that are held: a stance from node i to node j.

The impulse of a node keeps the next node on the surface, as the multiplier of a holonomic row of a variational step does,

    p+_k = p_k + G^T Lambda_k,   g(q_k+1) = 0,   s(q_k+1) = s(q_k)                    k = i ... j - 1
    p+_j = p_j + G^T Lambda_j,   M v = p+_j,  G v = 0                                  the end: the point leaves without a speed

with Lambda >= 0, and |Lambda_t| <= mu Lambda where it sticks (places s along the tangents); where it slides freely there is no s. The first
impulse holds what an impact without bounce gives. A step of the simulator from p+_k without any contact ends on node k + 1.
"""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from dalembert.arrays import Array
from dalembert.control.blocks import Block
from dalembert.control.impacts import Contact, Velocity, cone, known_q


def hold(made: Any, c: Contact) -> None:
    """All rows of a stance."""
    _begin(made, c)
    _steps(made, c)
    _end(made, c)
    made.guesses.append(_guess(c))


def _begin(made: Any, c: Contact) -> None:
    if known_q(made, c.first):
        return
    at = made.chain.q[made.chain.nodes[c.first]]
    q = ca.SX.sym("q", made.machine.nq)
    made.add(Block(f"stance: {c.gap.name}", q, at, rows=c.gap.value(q), names=[f"gap of {c.gap.name}"], places=[f"node {c.first}"]))


def _steps(made: Any, c: Contact) -> None:
    """The next node stays."""
    machine, chain, at = made.machine, made.chain, made.chain.nodes
    a, b, lam = ca.SX.sym("a", machine.nq), ca.SX.sym("b", machine.nq), ca.SX.sym("lam", 1 + c.gap.tangents)
    inside, words = cone(c, lam)
    sides = c.gap.sides(b)
    rows = ca.vertcat(c.gap.value(b), c.gap.slip(b) - c.gap.slip(a), inside, sides)
    nodes = range(c.first, c.last)
    n, m = 1 + c.gap.tangents, inside.numel()
    lower = np.tile(np.concatenate([np.zeros(n + m), c.gap.reach[:, 0]]), (len(nodes), 1))
    upper = np.tile(np.concatenate([np.zeros(n), np.full(m, np.inf), c.gap.reach[:, 1]]), (len(nodes), 1))
    if c.last == chain.N and known_q(made, chain.N):  # the goal says it already
        told = n if c.first == 0 and known_q(made, 0) else 1
        lower[-1, :told], upper[-1, :told] = -np.inf, np.inf
    index = [np.concatenate([chain.q[at[k]], chain.q[at[k + 1]], c.push[k]]) for k in nodes]
    names = [f"gap of {c.gap.name}", *[f"slip of {c.gap.name}"] * c.gap.tangents, *words]
    names += [f"place of {c.gap.name} within the face"] * len(c.gap.reach)
    places = [f"node {k + 1}" for k in nodes]
    made.add(
        Block(
            f"stance: {c.gap.name}", ca.vertcat(a, b, lam), np.array(index), rows=rows, lower=lower, upper=upper, names=names, places=places
        )
    )


def _end(made: Any, c: Contact) -> None:
    """The last impulse leaves a velocity along the surface."""
    machine, chain, k = made.machine, made.chain, c.last
    lam = ca.SX.sym("lam", 1 + c.gap.tangents)
    inside, words = cone(c, lam)
    if k == chain.N and np.array_equal(made.least[chain.p_after[k]], made.most[chain.p_after[k]]):
        if inside.numel():
            made.add(Block("stance end", lam, c.push[k], rows=inside, upper=np.inf, names=words, places=[f"node {k}"]))
        return
    q, p, v = ca.SX.sym("q", machine.nq), ca.SX.sym("p", machine.nv), Velocity(made, "at the end of", k)
    G = c.gap.rows(q)
    equal = ca.vertcat(v.rows(q, p + G.T @ lam), G @ v.v)
    upper = np.concatenate([np.zeros(equal.numel()), np.full(inside.numel(), np.inf)])
    names = [*v.names, *[f"speed of {c.gap.name} at the end"] * (1 + c.gap.tangents), *words]
    index = np.concatenate([chain.q[chain.nodes[k]], chain.p[chain.nodes[k]], c.push[k], v.at])
    x = ca.vertcat(q, p, lam, v.x)
    made.add(Block("stance end", x, index, rows=ca.vertcat(equal, inside), upper=upper, names=names, places=[f"node {k}"]))
    made.guesses.append(lambda problem, z: z.__setitem__(v.v_at, z[chain.v[max(0, chain.nodes[k] - 1)]]))


def _guess(c: Contact) -> Any:
    """Impulses that carry the weight."""

    def write(problem: Any, z: Array) -> None:
        machine, chain = problem.machine, problem.chain
        model = machine.reduced
        weight = float(model.total_mass * np.linalg.norm(model.gravity)) if hasattr(model, "total_mass") else 1.0
        for k, at in c.push.items():
            h = float(problem.h[chain.phase_of[min(k, chain.N - 1)]])
            z[at] = 0.0
            z[at[0]] = weight * h * (1.0 if c.first < k < c.last else 0.5)
            least, most = problem.program.least[chain.p_after[k]], problem.program.most[chain.p_after[k]]
            z[chain.p_after[k]] = np.clip(z[chain.p[chain.nodes[k]]] + c.gap.matrix(z[chain.q[chain.nodes[k]]]).T @ z[at], least, most)

    return write
