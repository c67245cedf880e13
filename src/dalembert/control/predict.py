"""Predictive control: the same problem again and again from new starts, warm from the last plan."""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.control import ends
from dalembert.control.guess import same_sheet
from dalembert.control.search import WARM, once
from dalembert.control.solution import Solution
from dalembert.errors import OptionError


def step(problem: Any, state: Any, shift: bool, ipopt: dict[str, Any]) -> Solution:
    """From a new start; the first call begins with the guess of the problem."""
    begin_at(problem, state)
    last = problem.last
    if last is None:
        found = problem.solve(**ipopt)
    else:
        z, lam = (shifted(problem, last) if shift else last.result.z), last.result.multipliers
        found = once(problem, z, lam, {**WARM, **ipopt})
        if not found.ok and found.result.status != "User_Requested_Stop":
            found = once(problem, z, None, ipopt)
    if found.ok:
        problem.last = found
    return found


def begin_at(problem: Any, state: Any) -> None:
    """Put a new start into the bounds of the first node."""
    machine, chain, program = problem.machine, problem.chain, problem.program
    node = ends.read(machine, state, "state", start=True)
    if not (np.isfinite(node.q).all() and np.isfinite(node.v).all()):
        raise OptionError("step: the state leaves numbers free; expected all of q and v.")
    before = problem.start.q if problem.last is None else problem.last.q[0]
    q = same_sheet(machine, np.array([before, node.q]))[1]
    p = machine.momentum(q, node.v)
    program.least[chain.q[0]] = program.most[chain.q[0]] = q
    program.least[chain.p[0]] = program.most[chain.p[0]] = p
    problem.start = ends.Node(q, node.v)
    problem.remember(start=(q, node.v))


def shifted(problem: Any, last: Solution) -> Array:
    """z of the last plan, one step on: its last step twice."""
    chain, z = problem.chain, np.array(last.result.z)
    s = len(chain.weights)
    for at in (chain.q, chain.p, chain.v, chain.inner, chain.impulse):
        z[at[:-s]] = z[at[s:]]
    z[chain.u[:-1]] = z[chain.u[1:]]
    return z
