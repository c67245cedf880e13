"""`dmoc`: a motion from start to goal whose nodes are those of a variational stepper, of least cost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dalembert.control.draft import draft
from dalembert.control.passing import say_passing
from dalembert.control.problem import Problem, kept
from dalembert.control.reading import read_steps, read_times


def dmoc(
    system: Any,
    N: Any,
    start: Any,
    goal: Any,
    h: Any = None,
    free_time: Any = None,
    cost: Any = "effort",
    bounds: Mapping[str, Any] | None = None,
    path: Any = None,
    periodic: Any = False,
    guess: Any = None,
    starts: int = 1,
    **more: Any,
) -> Problem:
    """The problem of a motion in N steps from start to goal, of least cost, on the discrete equations of a variational stepper.

    system      a Model or a Lagrangian
    N           steps, or a list of them: phases, each with a step size of its own
    start, goal q, (q, v) or {"q": , "v": , "poses": , "relative": , "turns": } (control/ends.py); v is 0 unless given, None: free
    h           step, s, or one for each phase. free_time: (least, most) seconds in all, or True: the step is a variable, h its guess
    cost        "effort", "time", "energy", "tracking", a function f(q, v, u) of expressions, or {term: weight} (control/costs.py)
    bounds      {"q": , "v": , "u": , "turn": }: a number (plus and minus), a pair, or {joint: the same}. What the machine has (limits of
                joints, speeds, motors) is there already; "turn" bounds |h v| of all that turns (0.5 rad), None: not at all
    path        functions f(q, v, u) <= 0 at all nodes, or {name: (f, lower, upper)}
    periodic    True, or names of joints: these end as they began, all velocities too
    guess       None ("line"), "random", a Solution, a Trajectory, nodes (N + 1, nq)
    starts      guesses to begin with; `solution.others` lists the distinct minima

    stepper     "midpoint", "trapezoidal", "symplectic-euler", of a Model "null-space", of a Lagrangian "galerkin4", "galerkin6";
                compose: "suzuki4", ... raises the order of those that are self-adjoint
    inputs      names of joints, or a matrix B (nv, inputs): tau = B u. Default: the motors, or every degree of freedom
    waypoints   {node: what is wanted of it, as of a goal; v is free}
    reference   nodes (N + 1, nq) that "tracking" follows
    final       a function f(q, v) of expressions at the last node that is added to the cost
    avoid       what stays apart, at nodes and between them: True for all that can touch, or a list of pairs of bodies ("a", "b"), of bodies
                and shapes ("a", dal.Sphere(0.1), place), of shapes, of `dal.control.Obstacle`; `dal.control.Avoid` has options
                (control/avoidance.py)
    ignore      features of the model that the plan leaves out, such as "joint friction"; contacts are left out anyway, with a note on
                what `avoid` does not keep apart, unless "contact" is ignored
    seed, progress, and options of IPOPT (tol, max_iter, ...)
    """
    given = {k: x for k, x in locals().items() if k != "more"} | more
    phases = [read_steps(n) for n in N] if isinstance(N, (list, tuple)) and N else [read_steps(N)]
    sizes, limits = read_times(phases, h, free_time)
    made = draft(
        system, phases, sizes, limits, start, goal, cost=cost, bounds=bounds, path=path, periodic=periodic, guess=guess,
        starts=starts, **more,
    )  # fmt: skip
    say_passing(made)
    made.recipe = dmoc, kept(given, made.machine)
    return made
