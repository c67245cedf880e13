"""Is a plan a motion of the simulator?

one step        from every node (q_k, p_k) with the inputs of the plan, beside the next node
free run        from the first node with all inputs; `growth`: by how much the run enlarges a small disturbance of its start, so that
                growth x (error of one step) is what may be expected of it
true motion     under the same inputs, held over the steps, by `mk8` (trees) or `dop853` (Lagrangians): the error of the discretisation
roots           a step that turns by more than 2 rad, or from which the simulator goes elsewhere, is a root that is no continuation
contacts        that are planned: gaps, reflection, signs and momentum from poses and masses (control/contact_evidence.py)
clearance       of what is avoided, at nodes and on a fine grid between them, by coal (control/distances.py)
certified       steps for which `dal.advise` proves that the simulator finds their root (trapezoidal)

asked           a search that failed may end at a motion of the simulator that is not what was asked for: the worst row or bound is named

Errors of q are absolute (rad, m, quaternions), those of v relative to the largest velocity.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.control.balance import imbalance
from dalembert.control.contact_evidence import Evidence, judge
from dalembert.control.distances import Clearance, clearance
from dalembert.control.replay import STEP_TOLERANCE, distance, unit
from dalembert.errors import DalembertError
from dalembert.runs.simulate import simulate

DISTURBANCE = 1e-7
SPURIOUS = 2.0  # rad in a step
NEARLY = 1e-5  # errors of a step that a tighter tolerance of the search mends
ASKED = 1e-6  # by how much rows and bounds may be missed where the search was not ended


@dataclass
class Verification:
    """The evidence; `ok`: one step from every node matches to 1e-9, no root is spurious, nothing overlaps that is to be apart, and the plan
    does what it was asked for (`missed`: what it does not, in words)."""

    one_step: Array  # error of each step
    free_run: float
    growth: float
    true_motion: float
    largest_turn: float
    spurious: list[int]
    certified: Array | None
    report: Any
    notes: list[str] = field(default_factory=list)
    clearance: Clearance | None = None
    contacts: Evidence | None = None
    imbalance: float = np.nan
    missed: str = ""

    @property
    def ok(self) -> bool:
        """One step from every node matches, no root is spurious, nothing overlaps, nothing that was asked is missed."""
        return self.steps_ok and not self.missed and all(part is None or part.ok for part in (self.clearance, self.contacts))

    @property
    def steps_ok(self) -> bool:
        """One step from every node matches, no root is spurious."""
        return bool(self.one_step.max(initial=0.0) <= STEP_TOLERANCE and not self.spurious)

    @property
    def text(self) -> str:
        """In words."""
        worst = int(np.argmax(self.one_step)) if len(self.one_step) else 0
        verdict = "pass" if self.steps_ok else "fail"
        lines = [
            f"one step from every node: {self.one_step.max(initial=0.0):.1e} (worst at node {worst}): {verdict}",
            "free run: not known" if np.isnan(self.free_run) else f"free run: {self.free_run:.1e}{_grown(self.growth)}",
            f"against the true motion: {self.true_motion:.1e}" if np.isfinite(self.true_motion) else "against the true motion: not known",
            f"largest turn in a step: {self.largest_turn:.3g} rad"
            + (f"; spurious roots at steps {', '.join(map(str, self.spurious[:5]))}" if self.spurious else ""),
        ]
        if self.certified is not None:
            lines.append(f"steps that are proved to be solvable: {int(self.certified.sum())} of {len(self.certified)}")
        if self.clearance is not None:
            lines.append(self.clearance.text)
        if np.isfinite(self.imbalance):
            lines.append(f"change of momentum less impulse: {self.imbalance:.1e}")
        if self.contacts is not None:
            lines.append(str(self.contacts))
        if self.missed:
            lines.append(f"what was asked is missed: {self.missed}: fail")
        return "\n".join([*lines, *self.notes])


def _grown(growth: float) -> str:
    return f"; it enlarges a disturbance of its start {growth:.2g}-fold" if np.isfinite(growth) else ""


def verify(solution: Any, true_motion: bool = True) -> Verification:
    """Run the simulator on a plan."""
    problem = solution.problem
    machine, chain = problem.machine, problem.chain
    if not all(np.isfinite(x).all() for x in (solution.q, solution.p, solution.p_after, solution.control, solution.h)):
        lost, nan = np.full(chain.N, np.inf), float("nan")
        return Verification(lost, nan, nan, nan, nan, [], None, None, ["nodes or inputs of the plan are not finite"])
    given: dict[str, Any] = {"stepper": problem.stepper, "compose": problem.compose, "ignore": machine.ignore}
    replay = solution.replay
    steps, notes = replay.errors, list(replay.problems)
    notes += [problem.passing] if problem.passing else []
    if len(replay.split):
        notes.append(f"steps that the simulator repeats in parts, as they turn or bend too far: {_listed(replay.split)}; take more steps")
    if solution.ok and STEP_TOLERANCE < steps.max(initial=0.0) < NEARLY:
        notes.append("the search ended at its tolerance: problem.solve(plan.result.z, tol=1e-11) goes on from here")
    free, growth, report = free_run(solution, given, notes)
    turned = np.abs(solution.v_interval[:, machine.turning]) * np.repeat(solution.h, len(chain.weights))[:, None]
    largest = turned.max(axis=1, initial=0.0).reshape(chain.N, -1).max(axis=1) if turned.size else np.zeros(chain.N)
    spurious = sorted({*np.flatnonzero(largest > SPURIOUS).tolist(), *np.flatnonzero(~(steps < 1e-3)).tolist()})
    true = true_error(solution, notes) if true_motion else np.nan
    turn, apart = float(largest.max(initial=0.0)), clearance(solution)
    contacts, missing = judge(solution), imbalance(solution)
    proved, missed = _certified(solution), _missed(solution)
    return Verification(steps, free, growth, true, turn, spurious, proved, report, notes, apart, contacts, missing, missed)


def _missed(solution: Any) -> str:
    """The worst of what the plan was asked for and does not do, where the search failed."""
    worst = [] if solution.ok else solution.violations(1)
    return str(worst[0]) if worst and not worst[0].size <= ASKED else ""


def _listed(steps: Array) -> str:
    return ", ".join(str(int(k)) for k in steps[:5]) + (", ..." if len(steps) > 5 else "")


def free_run(solution: Any, given: dict[str, Any], notes: list[str]) -> tuple[float, float, Any]:
    """(error of q over the run, growth of a disturbance, report)."""
    machine = solution.problem.machine
    if (solution.p_after != solution.p).any():
        return _striking_run(solution, notes)
    q0, v0 = unit(machine, solution.q[0]), solution.v[0]
    free = marched(solution, q0, v0, on_fail="return", **given)
    if free[-1].status != "ok":
        notes.append(f"free run: {free[-1].status}")
        return np.inf, np.nan, free[-1].report()
    beside = machine.system.integrate(q0, DISTURBANCE * np.random.default_rng(0).normal(size=machine.nv)), v0
    if machine.rows is not None:
        beside = machine.whole.assemble(*beside)
    nodes, others = _nodes(free), _nodes(marched(solution, *beside, on_fail="return", **given))
    error = max(distance(machine, a, b) for a, b in zip(solution.q, nodes, strict=True))
    apart = max(distance(machine, a, b) for a, b in zip(nodes, others, strict=False))  # the other one may end early
    return error, apart / max(1e-300, distance(machine, q0, beside[0])), free[0].report() if len(free) == 1 else solution.traj.report()


def marched(solution: Any, q: Array, v: Array, **given: Any) -> list[Any]:
    """Runs under the inputs of the plan, one for each stretch of equal steps, each from where the one before ended."""
    edges = [0, *(np.flatnonzero(np.diff(solution.h)) + 1).tolist(), len(solution.h)]
    runs: list[Any] = []
    for a, b in pairwise(edges):
        h, control = float(solution.h[a]), solution.control[a:b]
        runs.append(simulate(solution.problem.machine.whole, q0=q, v0=v, h=h, t_end=h * (b - a), control=control, progress=False, **given))
        q, v = runs[-1].q[-1], runs[-1].v[-1]
        if runs[-1].status != "ok":
            break
    return runs


def _nodes(runs: list[Any]) -> Array:
    return np.concatenate([runs[0].q[:1], *(run.q[1:] for run in runs)])


def _striking_run(solution: Any, notes: list[str]) -> tuple[float, float, Any]:
    """The same with contacts: feet that stand are pinned, other impacts are found by `collision`; nothing where they are soft."""
    from dalembert.control import contact_replay, stance_run

    machine = solution.problem.machine
    q0, v0 = unit(machine, solution.q[0]), solution.v_after[0]
    beside = machine.system.integrate(q0, DISTURBANCE * np.random.default_rng(0).normal(size=machine.nv))
    if machine.rows is not None:
        beside = machine.whole.assemble(beside, v0)[0]
    run = stance_run.free_run if stance_run.known(solution) else contact_replay.free_run
    try:
        free, other = run(solution, q0, v0), run(solution, beside, v0)
    except DalembertError as error:
        notes.append(f"free run: {error}")
        return np.inf, np.nan, None
    if not len(free):
        return np.nan, np.nan, None
    missed, apart = (max(distance(machine, a, b) for a, b in zip(x, free, strict=True)) for x in (solution.q, other))
    return missed, apart / distance(machine, q0, beside), solution.traj.report()


def true_error(solution: Any, notes: list[str]) -> float:
    """Largest distance of the nodes from the motion of the differential equations under the same inputs."""
    machine = solution.problem.machine
    if (solution.p_after != solution.p).any():
        return float("nan")
    name, start = "mk8" if hasattr(machine.formulas, "tree") else "dop853", unit(machine, solution.q[0])
    try:
        true = marched(solution, start, solution.v[0], stepper=name, ignore=machine.ignore, rtol=1e-10, atol=1e-10)
    except DalembertError as error:
        notes.append(f"true motion: {error}")
        return float("nan")
    return max(distance(machine, a, b) for a, b in zip(solution.q, _nodes(true), strict=True))


def _certified(solution: Any) -> Array | None:
    machine = solution.problem.machine
    if solution.problem.stepper != "trapezoidal" or solution.problem.compose or not hasattr(machine.formulas, "tree"):
        return None
    from dalembert.solvability.certify import certified_steps, unproved

    if unproved(machine.reduced):
        return None
    q = np.array([unit(machine, q) for q in solution.q])
    h, v, tau = solution.h, solution.v_interval, solution.control
    return np.array([certified_steps(machine.reduced, float(h[k]), q[k : k + 2], v[k : k + 1], tau[k])[0] for k in range(len(h))])
