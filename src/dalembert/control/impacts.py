"""Impulses of contacts at nodes, and planned impacts.

At a node with contacts there are two momenta, before and after it,

    p+ = p + sum_i G_i^T Lambda_i             G_i: rows of contact i (its gap, and its tangents where it sticks), Lambda_i its impulse

An impact that is planned at a node (Leyendecker et al. 5.2; there the balance of momentum is printed beside it, and is replaced by it):

    g = 0,   M v- = p,   M v+ = p+,   gamma . (v+ + e v-) = 0,   gamma . v- <= 0,   Lambda >= 0

so Lambda = -(1 + e) b/a with b = gamma . v-, a = gamma . M^-1 gamma. Without b <= 0 a wall may pull: b > 0, Lambda < 0 solves the rest.
Where the contact sticks, G_t v+ = 0 with |Lambda_t| <= mu Lambda. With loops M v = p + G^T mu, G v = 0. What other contacts that end at
this node push belongs to v-; they do not close after it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import casadi as ca
import numpy as np

from dalembert.arrays import Array
from dalembert.control.blocks import Block
from dalembert.control.contacts import Gap
from dalembert.errors import OptionError

CLOSED = 1e-6  # m: a gap of a node that is given, and a way that it slides


@dataclass
class Contact:
    """A contact of a plan: its gap, nodes from first to last at which it is closed (an impact: one), restitution.

    push: {node: places of its impulse, normal first}.
    """

    gap: Gap
    first: int
    last: int
    restitution: float = 0.0
    push: dict[int, Array] = field(default_factory=dict)

    @property
    def held(self) -> bool:
        """A stance, and no impact."""
        return self.last > self.first

    @property
    def closed(self) -> set[int]:
        """Nodes at which the gap is 0."""
        return set(range(self.first, self.last + 1))

    @property
    def sticks(self) -> bool:
        """Its point does not slide."""
        return self.gap.touch.friction is not None

    @property
    def closing(self) -> int:
        """The node at which a stance ends; -1 of an impact."""
        return self.last if self.held else -1


def take_impulses(made: Any, contacts: list[Contact]) -> None:
    """Variables of all impulses."""
    for c in contacts:
        n = 1 + c.gap.tangents
        least = np.array([0.0] + [-np.inf] * c.gap.tangents)
        for k in sorted(c.closed):
            c.push[k] = made.take(n, [f"impulse of {c.gap.name} at node {k}" for _ in range(n)], least, force=True)


def momentum_blocks(made: Any, contacts: list[Contact]) -> None:
    """p+ = p + sum G^T Lambda, one block for all nodes at which the same contacts push."""
    machine, chain, groups = made.machine, made.chain, dict[tuple[int, ...], list[int]]()
    for k in sorted({k for c in contacts for k in c.push}):
        groups.setdefault(tuple(i for i, c in enumerate(contacts) if k in c.push), []).append(k)
    for which, nodes in groups.items():
        own = [contacts[i] for i in which]
        q, p, after = ca.SX.sym("q", machine.nq), ca.SX.sym("p", machine.nv), ca.SX.sym("r", machine.nv)
        push = [ca.SX.sym("lam", 1 + c.gap.tangents) for c in own]
        rows = after - p - sum((c.gap.rows(q).T @ lam for c, lam in zip(own, push, strict=True)), ca.SX.zeros(machine.nv))
        index = [
            np.concatenate([chain.q[chain.nodes[k]], chain.p[chain.nodes[k]], chain.p_after[k], *(c.push[k] for c in own)]) for k in nodes
        ]
        names = [f"momentum of {n} after contact" for n in machine.v_names]
        places = [f"node {k}" for k in nodes]
        made.add(Block("contact", ca.vertcat(q, p, after, *push), np.array(index), rows=rows, names=names, places=places))


def cone(contact: Contact, lam: Any) -> tuple[Any, list[str]]:
    """(rows >= 0, names) that keep an impulse within its cone; Lambda >= 0 is a bound."""
    if not contact.gap.tangents:
        return ca.SX(0, 1), []
    mu = float(contact.gap.touch.friction or 0.0)
    name = f"friction of {contact.gap.name}"
    if contact.gap.tangents == 1:
        return ca.vertcat(mu * lam[0] - lam[1], mu * lam[0] + lam[1]), [name, name]
    return (mu * lam[0]) ** 2 - ca.dot(lam[1:], lam[1:]), [name]


def known_q(made: Any, k: int) -> bool:
    """All of q of a node is given."""
    return k in made.given


def check_given(contacts: Iterable[Contact], given: Mapping[int, Array]) -> None:
    """OptionError where nodes whose q is given, {node: q}, are off the surface or have slid: no row of the plan says it there."""
    for c in contacts:
        nodes = sorted(c.closed & given.keys())
        for k in nodes:
            g = c.gap.number(given[k])
            if not abs(g) <= CLOSED:
                raise OptionError(
                    f"dmocc: contact {c.gap.name} is planned at node {k}, where its gap is {g:.3g} m, as all of q is given there; "
                    "expected 0, or a q that leaves coordinates free."
                )
        slid = [np.array(c.gap.slip(given[k])).ravel() - np.array(c.gap.slip(given[nodes[0]])).ravel() for k in nodes]
        way = max((float(np.linalg.norm(x)) for x in slid), default=0.0)
        if not way <= CLOSED:
            raise OptionError(f"dmocc: contact {c.gap.name} sticks, and slides {way:.3g} m between nodes {nodes} whose q are given.")


class Velocity:
    """v of a node as a variable: M v = p + G^T mu, G v = 0, with the rows of loops."""

    def __init__(self, made: Any, words: str, k: int):
        machine = made.machine
        n = 0 if machine.rows is None else machine.rows.count
        self.machine, self.v, self.mu = machine, ca.SX.sym("v", machine.nv), ca.SX.sym("mu", n)
        self.v_at = made.take(machine.nv, [f"{name} {words} contact at node {k}" for name in machine.v_names])
        self.mu_at = made.take(n, [f"impulse of constraint {i} {words} contact at node {k}" for i in range(n)], force=True)
        self.x, self.at = ca.vertcat(self.v, self.mu), np.concatenate([self.v_at, self.mu_at])
        self.names = [f"velocity of {name} {words} contact" for name in machine.v_names] + [f"loop {i} {words} contact" for i in range(n)]

    def rows(self, q: Any, p: Any) -> Any:
        """What is 0."""
        missing = self.machine.formulas.both(q, self.v)[0] - p
        loops = self.machine.rows
        return missing if loops is None else ca.vertcat(missing - loops.push(q, self.mu), loops.rate(q, self.v))


def strike(made: Any, k: int, struck: list[Contact], ending: list[Contact]) -> None:
    """The impacts of a node. ending: stances that end there."""
    machine, chain = made.machine, made.chain
    q, p, after = ca.SX.sym("q", machine.nq), ca.SX.sym("p", machine.nv), ca.SX.sym("r", machine.nv)
    lost = [ca.SX.sym("lam", 1 + c.gap.tangents) for c in ending]
    push = [ca.SX.sym("lam", 1 + c.gap.tangents) for c in struck]
    one, two = Velocity(made, "before", k), Velocity(made, "after", k)
    p_before = p + sum((c.gap.rows(q).T @ lam for c, lam in zip(ending, lost, strict=True)), ca.SX.zeros(machine.nv))
    rows, names = [one.rows(q, p_before), two.rows(q, after)], [*one.names, *two.names]
    free: list[tuple[Any, float, float, str]] = []  # row, lower, upper, name
    for c, lam in zip(struck, push, strict=True):
        G = c.gap.rows(q)
        b, back = G[0, :] @ one.v, G[0, :] @ two.v
        rows += [back + c.restitution * b, G[1:, :] @ two.v]
        names += [f"reflection at {c.gap.name}"] + [f"slip at {c.gap.name}"] * c.gap.tangents
        free += [(c.gap.value(q), 0.0, 0.0, f"gap of {c.gap.name}")] if not known_q(made, k) else []
        free.append((b, -np.inf, 0.0, f"approach of {c.gap.name}"))
        inside, words = cone(c, lam)
        free += [(inside[i], 0.0, np.inf, words[i]) for i in range(inside.numel())]
        sides = c.gap.sides(q)
        free += [(sides[i], *c.gap.reach[i], f"place of {c.gap.name} within the face") for i in range(len(c.gap.reach))]
    free += [(c.gap.rows(q)[0, :] @ two.v, 0.0, np.inf, f"departure of {c.gap.name}") for c in ending]
    equal = ca.vertcat(*rows)
    n = equal.numel()
    lower, upper = [0.0] * n + [x[1] for x in free], [0.0] * n + [x[2] for x in free]
    index = [chain.q[chain.nodes[k]], chain.p[chain.nodes[k]], *(c.push[k] for c in ending), chain.p_after[k]]
    index += [*(c.push[k] for c in struck), one.at, two.at]
    x = ca.vertcat(q, p, *lost, after, *push, one.x, two.x)
    names += [x[3] for x in free]
    whole = ca.vertcat(equal, *(x[0] for x in free))
    made.add(Block("impact", x, np.concatenate(index), rows=whole, lower=lower, upper=upper, names=names, places=[f"node {k}"]))
    made.guesses.append(_guess(k, struck, one, two))


def _guess(k: int, struck: list[Contact], one: Velocity, two: Velocity) -> Any:
    """The velocity of the step before, reflected."""

    def write(problem: Any, z: Array) -> None:
        machine, chain = problem.machine, problem.chain
        row = int(chain.nodes[k])
        q, v = z[chain.q[row]], z[chain.v[max(0, row - 1)]]
        offset = machine.momentum(q, np.zeros(machine.nv))
        M = np.column_stack([machine.momentum(q, e) - offset for e in np.eye(machine.nv)])
        p, out = machine.momentum(q, v), np.array(v)
        z[chain.p[row]] = p if k < chain.N else z[chain.p[row]]
        for c in struck:
            gamma = c.gap.matrix(q)[0]
            reply = np.linalg.solve(M, gamma)
            lam = max(0.0, -(1.0 + c.restitution) * float(gamma @ out) / max(float(gamma @ reply), 1e-300))
            z[c.push[k][0]], out, p = lam, out + lam * reply, p + lam * gamma
        z[chain.p_after[k]] = np.clip(p, problem.program.least[chain.p_after[k]], problem.program.most[chain.p_after[k]])
        z[one.v_at], z[two.v_at] = v, out

    return write
