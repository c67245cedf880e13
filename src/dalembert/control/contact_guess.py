"""Where the search for a plan with contacts begins.

"line"  from start to goal by way of nodes at which planned contacts are closed: the straight way, moved onto the surface
"bounce"  of a penalty: a run of the plan's own stepper from the start, with the penalty and without inputs
"dcr"   a run of the stepper `collision` with decomposed contact response (Leyendecker et al. 5.4) from the start, without inputs or with
        those that are given: its impacts give the times of the phases, its nodes the nodes, moved towards the goal after the last contact
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.control import guess as guessing
from dalembert.control.impacts import Contact
from dalembert.errors import DalembertError, OptionError, UnsupportedError
from dalembert.kernels.collision import tables
from dalembert.kernels.status import OK
from dalembert.model.parts import WORLD
from dalembert.runs.controls import HELD
from dalembert.runs.plan import Plan
from dalembert.runs.simulate import simulate

FINE = 4  # steps of the run for each of the plan
UNDRIVEN = 0.1  # of what closes a gap that coordinates without an input do, beside those with one
ROUNDS = 20


def line(contacts: list[Contact]) -> Any:
    """The guess by way of closed contacts."""

    def write(problem: Any) -> Array:
        machine, chain = problem.machine, problem.chain
        q = guessing.line(problem)[chain.nodes]
        known = {0, chain.N, *(k for k, _ in problem.waypoints)}
        nodes = sorted(known | {k for c in contacts for k in (c.first, c.last)})
        there = {k: q[k] for k in nodes}
        for k in nodes:
            closed = [c for c in contacts if c.first <= k <= c.last]
            if k not in known:
                there[k] = closing(machine, q[k], closed)
        for a, b in pairwise(nodes):
            step = np.asarray(machine.system.difference(there[a], there[b]))
            for k in range(a, b + 1):
                q[k] = machine.system.integrate(there[a], (k - a) / (b - a) * step)
        return q

    return write


def closing(machine: Any, q: Array, closed: list[Contact]) -> Array:
    """q moved by as little as closes gaps, mostly along what is driven."""
    weights = np.where(np.abs(machine.B).sum(axis=1) > 0.0, 1.0, UNDRIVEN)
    for _ in range(ROUNDS):
        g = np.array([c.gap.number(q) for c in closed])
        if not len(g) or np.abs(g).max() < 1e-12:
            break
        G = np.array([c.gap.matrix(q)[0] for c in closed])
        q = machine.system.integrate(q, -weights * (G.T @ np.linalg.lstsq(G * weights @ G.T, g, rcond=None)[0]))
    return q


def dcr(contacts: list[Contact], control: Any = None) -> Any:
    """The guess from a run forwards."""

    def write(problem: Any) -> Array:
        machine, chain = problem.machine, problem.chain
        traj = forward(problem, contacts, control)
        times = _times(problem, traj, contacts)
        bounds = np.cumsum([0, *chain.phases])
        t = np.concatenate([np.linspace(a, b, n, endpoint=False) for (a, b), n in zip(pairwise(times), chain.phases, strict=True)])
        t = np.append(t, times[-1])
        if chain.free:
            at = chain.h
            problem.h = np.clip(np.diff(times) / chain.phases, problem.program.least[at], problem.program.most[at])
        q = np.array([traj.at(float(min(x, traj.t[-1])))[0] for x in t])
        goal = problem.goal.q
        if np.isfinite(goal).all():
            first = int(bounds[-2])
            missing = np.asarray(machine.system.difference(q[-1], goal))
            for k in range(first, chain.N + 1):
                q[k] = machine.system.integrate(q[k], (k - first) / (chain.N - first) * missing)
        return q

    return write


def forward(problem: Any, contacts: list[Contact], control: Any) -> Any:
    """The run, with the restitution of the contacts."""
    machine, chain = problem.machine, problem.chain
    if not hasattr(machine.formulas, "tree"):
        raise UnsupportedError(f"dmocc: guess='dcr' runs bodies; {machine.whole!r} has none.")
    n, T = FINE * chain.N, float(np.dot(chain.phases, problem.h))
    bounce = {c.restitution for c in contacts if not c.held}
    options = {"response": "decomposition", "smooth": True, "base": problem.stepper}
    if len(bounce) == 1:
        options["restitution"] = bounce.pop()
    held = control
    if control is not None and not callable(control):
        held = np.broadcast_to(np.asarray(control, dtype=float), (n, machine.nv)).copy()
    aside = tuple(x for x in machine.ignore if x != "contact")
    start = np.nan_to_num(problem.start.v)
    try:
        return simulate(
            machine.whole,
            "collision",
            h=T / n,
            t_end=T,
            q0=problem.start.q,
            v0=start,
            control=held,
            ignore=aside,
            progress=False,
            **options,
        )
    except DalembertError as error:
        raise OptionError(f"dmocc: guess='dcr': the run failed: {error}") from error


def _times(problem: Any, traj: Any, contacts: list[Contact]) -> Array:
    """Times at which phases begin and end: those of impacts of the same bodies, in their order."""
    names = [b.name for b in problem.machine.whole.bodies]
    rows = traj.events.rows[traj.events["kind"] == tables.STRUCK] if len(traj.events.rows) else np.zeros((0, 4))
    boundaries, last = {0: 0.0, problem.chain.N: float(traj.t[-1])}, 0.0
    for c in sorted((c for c in contacts if 0 < c.first < problem.chain.N), key=lambda c: c.first):
        touch = c.gap.touch
        if c.first in boundaries:
            continue
        who = {touch.body, touch.on}
        later = [r[0] for r in rows if r[0] > last and {_name(names, r[2]), _name(names, r[3])} == who]
        if not later:
            raise OptionError(
                f"dmocc: guess='dcr': the run of {traj.t[-1]:.3g} s has {len(rows)} impacts, and none of {c.gap.name} after {last:.3g} s; "
                "expected as many as contacts are planned: give guess={'dcr': inputs}, or another guess."
            )
        boundaries[c.first] = last = float(later[0])
    nodes = np.cumsum([0, *problem.chain.phases])
    known = sorted(boundaries)
    return np.interp(nodes, known, [boundaries[k] for k in known])


def _name(names: list[str], number: float) -> str:
    return WORLD if number < 0 else names[int(number)]


def bounce(penalty: Any) -> Any:
    """The guess of a plan with a penalty: what happens without inputs."""

    def write(problem: Any) -> Array:
        machine, chain = problem.machine, problem.chain
        h = float(problem.h[0])
        plan = Plan.of(machine.whole, problem.stepper, h, problem.compose, machine.ignore, call="dmocc")
        engine: Any = plan.engine(HELD)
        q, v = np.array(problem.start.q), np.nan_to_num(problem.start.v)
        nodes = [q]
        for k in range(chain.N):
            kick = h * (1.0 if k else 0.5) * np.array(penalty.force(q)).ravel()
            engine.start(q, machine.velocity(q, machine.momentum(q, v) + kick))
            engine.hold(np.zeros(machine.nv))
            if engine.advance(1, 1).status != OK:
                raise OptionError(f"dmocc: guess='bounce': step {k} of the run cannot be solved; expected smaller steps or another guess.")
            q, v = engine.node()
            nodes.append(q)
        return np.array(nodes)

    return write
