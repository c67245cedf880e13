"""A motion that feedback is made for: nodes, inputs and the exact derivatives of its steps; from a plan, a saved plan or a trajectory."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.control.files import SavedPlan
from dalembert.control.machine import ASIDE, machine_of
from dalembert.control.replay import STILL, distance, unit
from dalembert.control.solution import Solution
from dalembert.control.verify import NEARLY
from dalembert.errors import OptionError, UnsupportedError
from dalembert.runs.plan import Plan
from dalembert.runs.trajectory import Trajectory
from dalembert.sensitivity import Derivatives, derivatives


@dataclass(frozen=True, eq=False)
class Motion:
    """t (N + 1,), h (N,), q (N + 1, nq), v (N + 1, nv), inputs (N, nu), tau (N, nv) = B u; ignore: features that are left out."""

    machine: Any = field(repr=False)
    stepper: str
    compose: str | None
    t: Array
    h: Array
    q: Array
    v: Array
    inputs: Array
    tau: Array
    ignore: tuple[str, ...] = ()

    def at(self, k: int, h: float) -> Derivatives:
        """Of the step from node k."""
        tau = self.tau[min(k, len(self.tau) - 1)]
        whole, method = self.machine.whole, (self.stepper, (), self.compose, self.ignore)
        return derivatives(whole, self.q[k], self.v[k], tau, h, *method, float(self.t[k]))

    @cached_property
    def steps(self) -> tuple[Derivatives, ...]:
        """Of all steps; UnsupportedError where one does not end at the next node."""
        speed = float(np.fmax(np.abs(self.v).max(initial=0.0), STILL / self.h.max()))
        return tuple(self._checked(k, self.at(k, float(h)), speed) for k, h in enumerate(self.h))

    def _checked(self, k: int, step: Derivatives, speed: float) -> Derivatives:
        """The step from node k, if it ends at the next node as nearly as the search of a plan may leave it (of v relative to speed)."""
        missed = np.abs(step.v_next - self.v[k + 1]).max(initial=0.0) / speed
        missed = max(missed, distance(self.machine, self.q[k + 1], step.q_next))
        if not missed <= NEARLY:
            raise UnsupportedError(
                f"a feedback about this motion is not known: under its inputs the step of {self.stepper} from node {k} ends {missed:.1e} "
                f"beside node {k + 1}, as where impacts or contacts act, or forces that are not in its control."
            )
        return step

    @cached_property
    def bases(self) -> list[Array]:
        """Changes that constraints allow, at all nodes; at the last one those of a step beyond it."""
        found = [step.tangent for step in self.steps]
        free = all(len(T) == T.shape[1] for T in found)
        return [*found, found[-1] if free else self.at(len(self.h), float(self.h[-1])).tangent]


def motion_of(given: Any, system: Any = None, inputs: Any = None, ignore: Any = ()) -> Motion | None:
    """A motion; None for what is none."""
    if isinstance(given, Solution):
        return _of_solution(given, system, inputs)
    if isinstance(given, SavedPlan):
        given = given.traj
    return _of_trajectory(given, system, inputs, ignore) if isinstance(given, Trajectory) else None


def _of_solution(s: Solution, system: Any, inputs: Any) -> Motion:
    p, machine = s.problem, s.problem.machine
    if inputs is not None:
        raise OptionError("inputs: a plan has its own; leave them out.")
    _same(system, machine.whole)
    jumps = np.flatnonzero(np.abs(s.p_after - s.p).max(axis=1) > 0.0)
    if len(jumps):
        raise UnsupportedError(f"a feedback about a plan with impacts (node {jumps[0]}) is not known: the node at which it strikes moves.")
    return Motion(machine, p.stepper, p.compose, s.t, s.h, unit(machine, s.q), s.v, s.inputs, s.control, machine.ignore)


def _of_trajectory(traj: Any, system: Any, inputs: Any, ignore: Any) -> Motion:
    if int(traj.meta.get("every", 1)) != 1:
        raise OptionError(f"a feedback needs every node of the trajectory; it keeps one of {traj.meta['every']}.")
    if len(traj.t) < 2:
        raise OptionError("a feedback about a trajectory needs one step at least.")
    _same(system, traj.model)
    out = tuple(dict.fromkeys((*traj.meta.get("ignore", ()), *traj.model.check_features(ignore))))
    machine = machine_of(traj.model, inputs, out)
    tau = np.asarray(traj.control, dtype=float) if traj.meta.get("control") else np.zeros((len(traj.t) - 1, machine.nv))
    if not np.isfinite(tau).all():
        raise UnsupportedError("a feedback about this trajectory is not known: its control is not, as in files of nodes that were given.")
    found = np.linalg.lstsq(machine.B, tau.T, rcond=None)[0].T if machine.nu else np.zeros((len(tau), 0))
    missed = np.abs(found @ machine.B.T - tau).max(initial=0.0)
    if missed > 1e-9 * max(1.0, float(np.abs(tau).max(initial=0.0))):
        raise OptionError(f"the control of the trajectory has parts up to {missed:.3g} that inputs {machine.u_names} cannot give.")
    stepper = traj.meta.get("plan", {}).get("stepper", traj.stepper.name)
    return Motion(machine, stepper, traj.meta.get("compose"), traj.t, np.diff(traj.t), traj.q, traj.v, found, tau, out)


def left_out(system: Any, stepper: str, ignore: Any) -> tuple[str, ...]:
    """What is ignored, and what of the features that plans leave out the stepper does not handle."""
    given = tuple(system.check_features(ignore))
    try:
        Plan.of(system, stepper, 0.01, None, given, call="lqr")
    except UnsupportedError as problem:
        more = tuple(name for name in problem.ignore if name in ASIDE)
        if not more:
            raise
        return (*given, *more)
    return given


def _same(system: Any, own: Any) -> None:
    """OptionError where another system was given than the motion has."""
    if system is not None and (system.nq, system.nv) != (own.nq, own.nv):
        raise OptionError(f"the motion is one of {own!r}, and the system given is {system!r}.")
