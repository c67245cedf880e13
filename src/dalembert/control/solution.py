"""What was found: a plan, its cost, its evidence. Nothing is lost where the search failed: the last iterate, and what it violates."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.control.explain import Violation, advice, violations
from dalembert.runs.trajectory import Trajectory

WORDS = {
    "Solve_Succeeded": "solved",
    "Solved_To_Acceptable_Level": "solved to an acceptable level",
    "Infeasible_Problem_Detected": "infeasible",
    "Maximum_Iterations_Exceeded": "not solved: no more iterations",
    "Maximum_CpuTime_Exceeded": "not solved: no more time",
    "Maximum_WallTime_Exceeded": "not solved: no more time",
    "User_Requested_Stop": "interrupted",
    "Restoration_Failed": "not solved: the search for a feasible point failed",
    "Search_Direction_Becomes_Too_Small": "not solved: steps became too small",
    "Diverging_Iterates": "not solved: iterates diverge",
    "Invalid_Number_Detected": "not solved: a formula gave no number",
    "Error_In_Step_Computation": "not solved: no step could be computed",
    "Not_Enough_Degrees_Of_Freedom": "overdetermined: more equations than variables",
}


class Solution:
    """A plan of N steps.

    t (N + 1,), h (N,)          s
    q (N + 1, nq), v (N + 1, nv)  nodes, v = M^-1 p; p: momenta (before an impact that is planned, `p_after` behind it)
    v_interval                  velocities of the steps
    inputs (N, nu)              u; control (N, nv): tau = B u, which `dal.simulate(control=)` takes as it is
    cost, status (in words), ok, stats, notes
    """

    def __init__(self, problem: Any, result: Any, seconds: float, notes: tuple[str, ...] = ()):
        self.problem, self.result = problem, result
        self.recipe = problem.recipe  # what it was asked for, whatever the problem is aimed at later
        chain, z = problem.chain, result.z
        at = chain.nodes
        self.q, self.p, self.p_after = z[chain.q[at]], z[chain.p[at]], z[chain.p_after]
        self.inputs, self.v_interval = z[chain.u], z[chain.v]
        self.control: Array = self.inputs @ problem.machine.B.T
        self.cost = result.cost
        sizes = z[chain.h] if chain.free else problem.h
        self.h: Array = sizes[chain.phase_of]
        self.t = np.concatenate([[0.0], np.cumsum(self.h)])
        self.ok = bool(result.success)
        self.notes = (*problem.notes, *notes)
        self.others: list[Solution] = []
        self.stats = {
            "iterations": result.iterations, "seconds": seconds, "build": problem.built, "variables": len(z), "rows": len(result.rows),
            "return_status": result.status, "infeasibility": self.infeasibility,
        }  # fmt: skip

    def __reduce__(self) -> Any:
        return Solution, (self.problem, self.result, self.stats["seconds"], self.notes[len(self.problem.notes) :]), {"recipe": self.recipe}

    @property
    def infeasibility(self) -> float:
        """Largest violation of a row or a bound."""
        return max((v.size for v in violations(self.problem.program, self.result, 1)), default=0.0)

    @property
    def status(self) -> str:
        """In words; of what failed with the worst rows and what to try."""
        word = WORDS.get(self.result.status, f"not solved: {self.result.status}")
        if self.ok:
            return word
        worst = self.violations(3)
        named = "; ".join(map(str, worst)) if worst else "no row is violated"
        return f"{word} after {self.result.iterations} iterations ({named}). {advice(self)}"

    def violations(self, most: int = 10) -> list[Violation]:
        """The worst rows and bounds, by name and node."""
        return violations(self.problem.program, self.result, most)

    @cached_property
    def v(self) -> Array:
        """Velocities at the nodes: before impacts, along the surface where a contact is held."""
        if not any(c.held for c in self.problem.contacts):
            return self.v_before
        from dalembert.control.contact_replay import shown

        velocity = self.problem.machine.velocity
        return np.array([velocity(q, p) for q, p in zip(self.q, shown(self), strict=True)])

    @cached_property
    def v_before(self) -> Array:
        """Velocities of the momenta p, before what contacts give at the node."""
        velocity = self.problem.machine.velocity
        return np.array([velocity(q, p) for q, p in zip(self.q, self.p, strict=True)])

    @cached_property
    def v_after(self) -> Array:
        """Velocities of the momenta after what contacts give, with which the next step begins."""
        if (self.p_after == self.p).all():
            return self.v_before
        velocity = self.problem.machine.velocity
        return np.array([velocity(q, p) for q, p in zip(self.q, self.p_after, strict=True)])

    @cached_property
    def impulses(self) -> list[Any]:
        """What planned contacts do at their nodes: impacts, and contacts that are held (control/contact_evidence.py)."""
        from dalembert.control.contact_evidence import impulses

        return impulses(self)

    @property
    def impacts(self) -> list[Any]:
        """Planned impacts in the order of time: node, t, normal (N s), before and after (m/s)."""
        return [x for x in self.impulses if x.kind == "impact"]

    @property
    def multipliers(self) -> dict[str, Array]:
        """Of the rows of each block, (places, rows): those of "step" are the co-states at its end, of q then of p, then of the forces.

        With a minus: the rows are what comes next less what a step makes of its node.
        """
        program, out = self.problem.program, {}
        for block, start in zip(program.blocks, program.assembly.starts, strict=False):
            if block.size:
                out[block.name] = self.result.multipliers[0][start : start + block.count * block.size].reshape(block.count, block.size)
        return out

    @cached_property
    def traj(self) -> Trajectory:
        """The plan as a trajectory: report, plots, viewer, file."""
        from dalembert.control.replay import trajectory

        return trajectory(self)

    @cached_property
    def replay(self) -> Any:
        """One step of the simulator from every node."""
        from dalembert.control.replay import Replay

        return Replay(self)

    def verify(self, true_motion: bool = True) -> Any:
        """Is the plan a motion of the simulator? See control/verify.py."""
        from dalembert.control.verify import verify

        return verify(self, true_motion)

    def refine(self, N: int | None = None, **ipopt: Any) -> Solution:
        """The same problem with N steps, twice as many unless given, from here."""
        from dalembert.control.search import refine

        return refine(self, N, ipopt)

    def save(self, path: Any, overwrite: bool = False) -> None:
        """Write the plan to a file (HDF5): `dal.control.load` reads it."""
        from dalembert.control.files import save

        save(self, path, overwrite)

    def plot(self, path: Any = None) -> Any:
        """Coordinates, velocities and inputs over time."""
        from dalembert.control.pictures import plot

        return plot(self, path)

    @property
    def text(self) -> str:
        """The plan in a few lines."""
        m = self.problem.machine
        lines = [
            f"{m.whole.name or repr(m.whole)}: {self.problem.chain.N} steps of {self.problem.method}, {self.t[-1]:.6g} s",
            f"  {self.status}",
            f"  cost {self.cost:.8g}, {self.stats['iterations']} iterations, {self.stats['seconds']:.3g} s "
            f"(built in {self.stats['build']:.2g} s), {self.stats['variables']} variables",
            *(f"  {note}" for note in self.notes),
        ]
        if self.others:
            lines.append(f"  {len(self.others)} other minima: {', '.join(f'{s.cost:.6g}' for s in self.others)}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"Solution({self.text.splitlines()[0]}: {'solved' if self.ok else 'not solved'}, cost {self.cost:.6g})"
