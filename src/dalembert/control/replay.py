"""A plan as the simulator makes it: one step from every node, put together as one trajectory.

The step from node k starts at (q_k, v_k) of the plan under its inputs and ends beside node k + 1. The states of the simulator at these ends
are the rows of an ordinary trajectory, with its account carried on from step to step: report, plots, viewer and files are those of any run.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.control.targets import quaternions
from dalembert.errors import DalembertError
from dalembert.kernels.lagrangian import layout as lagrangian
from dalembert.kernels.loop import SUBSTEPS
from dalembert.kernels.status import MEANING, OK
from dalembert.runs.controls import HELD
from dalembert.runs.plan import Plan
from dalembert.runs.trajectory import Trajectory

#: how far one step of the simulator may end beside the next node of a plan: of q absolute, of v relative to the largest
STEP_TOLERANCE = 1e-9
STILL = 1e-6  # rad, m: what moves by less in a step is at rest, and its v is judged by the speed that is this far in a step


def unit(machine: Any, q: Array) -> Array:
    """q with quaternions of length 1."""
    out = np.array(q)
    for _, at in quaternions(machine):
        out[..., at : at + 4] /= np.linalg.norm(out[..., at : at + 4], axis=-1, keepdims=True)
    return out


def distance(machine: Any, a: Array, b: Array) -> float:
    """Largest entry of the way from a to b; q and -q are one attitude."""
    return float(np.abs(np.asarray(machine.system.difference(unit(machine, a), unit(machine, b)))).max(initial=0.0))


class Replay:
    """Rows of the simulator, one for each node.

    errors (N,): how far each end is from the node of the plan: of q absolute, of v relative to the largest. problems: steps that failed.
    """

    def __init__(self, solution: Any):
        self.solution, self.problems = solution, list[str]()
        problem = solution.problem
        self._plans: dict[float, tuple[Any, Any]] = {}
        machine = problem.machine
        self._given = (machine.whole, problem.stepper), (problem.compose, machine.ignore)
        rows, logs, errors = list[Array](), list[Array](), list[float]()
        size = float(np.fmax(np.abs(solution.v_before).max(initial=0.0), STILL / solution.h.max()))
        for k, h in enumerate(solution.h):
            _, engine = self._at(float(h))
            engine.start(unit(machine, solution.q[k]), solution.v_after[k])
            if rows:
                self._account(engine)[:] = self._account_of(rows[-1])
            else:
                rows.append(engine.state.copy())
                logs.append(np.zeros((1, len(engine.log_columns))))
            engine.hold(solution.control[k])
            chunk = engine.advance(1, 1)
            if chunk.status != OK or not len(chunk.states):
                self.problems.append(f"step {k}: {MEANING.get(chunk.status, chunk.status)}")
                errors.append(np.inf)
                rows.append(rows[-1])
                logs.append(logs[0])
                continue
            rows.append(chunk.states[-1].copy())
            logs.append(chunk.log[-1:])
            q, v = engine.node()
            missed = np.abs(v - solution.v_before[k + 1]).max(initial=0.0) / size
            errors.append(float(np.max([distance(machine, solution.q[k + 1], q), missed])))  # NaN stays NaN
        self.states, self.log, self.errors = np.array(rows), np.concatenate(logs), np.array(errors)
        self.split = np.flatnonzero(self.log[1:, SUBSTEPS])  # steps that the simulator did not take as one

    def _at(self, h: float) -> tuple[Plan, Any]:
        if h not in self._plans:
            (system, stepper), (compose, ignore) = self._given
            plan = Plan.of(system, stepper, h, compose, ignore, call="verify")
            self._plans[h] = plan, plan.engine(HELD)
        return self._plans[h]

    def _account(self, engine: Any) -> Array:
        return self._account_of(engine.state)

    def _account_of(self, state: Array) -> Array:
        """The part of a state that is summed up along a run, a view."""
        plan, engine = next(iter(self._plans.values()))
        if plan.family.account is not None:
            return plan.family.account(plan.acting, state)
        head = engine.system
        return state[int(head[lagrangian.AT_LEDGER]) : len(state) - plan.system.nv]

    @property
    def status(self) -> str:
        """ "ok", or why the plan is no motion of the simulator."""
        if self.problems:
            return f"the plan is no motion of the simulator: {self.problems[0]}"
        worst = int(np.argmax(self.errors)) if len(self.errors) else 0
        if len(self.errors) and not self.errors[worst] <= STEP_TOLERANCE:
            return f"the plan is no motion of the simulator: the step from node {worst} ends {self.errors[worst]:.1e} beside the next"
        return "ok"

    def trajectory(self) -> Trajectory:
        """The rows as a trajectory."""
        solution = self.solution
        plan, _ = self._at(float(solution.h[0]))
        status = self.status
        meta = {
            **plan.meta(),
            "control": "array",
            "t_end": float(solution.t[-1]),
            "status": status,
            "log_columns": list(self._at(float(solution.h[0]))[1].log_columns),
        }
        meta["plan"] = {"cost": solution.cost, "status": solution.status, "inputs": solution.inputs.tolist()}
        missed = self.errors[np.isfinite(self.errors)].sum()  # of q and of v: of momenta M(q) v up to about twice that
        meta["plan"] |= {"stepper": solution.problem.stepper, "compose": solution.problem.compose, "seams": 2.0 * float(missed)}
        meta["h"] = float(solution.h.max())
        if (solution.p_after != solution.p).any():
            from dalembert.control.contact_replay import trajectory as with_contacts

            return with_contacts(self, meta)
        found = Trajectory(plan.system, plan.stepper, meta, solution.t, self.states, self.log, plan.read(self.states, True))
        found.__dict__["_run_model"] = plan.acting
        return found


def trajectory(solution: Any) -> Trajectory:
    """The trajectory of a plan; where the simulator cannot start from it, its bare nodes."""
    try:
        return solution.replay.trajectory()
    except DalembertError:
        return Trajectory.of_nodes(solution.problem.machine.whole, solution.t, solution.q, solution.v, control=solution.control)
