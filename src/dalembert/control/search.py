"""The search for a plan: IPOPT from one or several guesses, with a live line. Ctrl-C ends it and returns the last iterate."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.control import guess as guessing
from dalembert.control.explain import excess
from dalembert.control.solution import Solution
from dalembert.errors import OptionError

SHOW_AFTER = 1.0  # s
PATIENCE = 200  # iterations with an adaptive barrier
STALLED = ("Maximum_Iterations_Exceeded", "Restoration_Failed", "Search_Direction_Becomes_Too_Small", "Error_In_Step_Computation")
SAME = 1e-5  # of the cost: two minima are one
#: a start near the solution, with its multipliers
WARM = {"warm_start_init_point": "yes", "mu_init": 1e-5, "warm_start_bound_push": 1e-9, "warm_start_mult_bound_push": 1e-9}


class Live:
    """One line on stderr, in a terminal or where it is wanted; a flag that ends the search."""

    def __init__(self, problem: Any, wanted: bool | None):
        self.program, self.on = problem.program, sys.stderr.isatty() if wanted is None else wanted
        self.began, self.shown, self.iteration, self.stop = time.perf_counter(), False, 0, False

    def waits(self) -> bool:
        """True if an iterate is not looked at: there is no line, or not yet."""
        return not (self.on and time.perf_counter() - self.began > SHOW_AFTER)

    def __call__(self, z: Array, cost: float, rows: Array) -> bool:
        """After each iteration."""
        if not self.waits():
            now = time.perf_counter()
            missing = excess(rows, self.program.lower, self.program.upper).max(initial=0.0)
            line = f"plan: iteration {self.iteration:4d}   cost {cost:.6g}   infeasibility {missing:.1e}   {now - self.began:.0f} s"
            sys.stderr.write(f"\r{line:100s}")
            sys.stderr.flush()
            self.shown = True
        self.iteration += 1
        return self.stop

    def close(self) -> None:
        """Leave the line."""
        if self.shown:
            sys.stderr.write("\r" + " " * 100 + "\r")


@contextmanager
def interruptible(live: Live) -> Iterator[None]:
    """Ctrl-C raises a flag."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, lambda *_: setattr(live, "stop", True))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _result(problem: Any, z: Array, multipliers: Any, live: Live, ipopt: dict[str, Any]) -> Any:
    """One run of IPOPT, or two: a barrier that adapts may become small too early and stall, as on planes that hold nothing and are free to
    turn, or on inputs that cost next to nothing beside others. One that falls steadily from there does not."""
    program = problem.program
    options = {**program.options, **ipopt}
    if isinstance(options["max_iter"], bool) or not isinstance(options["max_iter"], (int, np.integer)) or options["max_iter"] < 0:
        raise OptionError(f"solve: max_iter is {options['max_iter']!r}; expected a whole number of iterations.")
    if options.get("mu_strategy") != "adaptive" or options["max_iter"] <= PATIENCE:
        return program.solve(z, multipliers, live, **ipopt)
    first = program.solve(z, multipliers, live, **{**ipopt, "max_iter": PATIENCE})
    if first.status not in STALLED:
        return first
    second = program.solve(first.z, None, live, **{**ipopt, "mu_strategy": "monotone", "max_iter": options["max_iter"] - PATIENCE})
    second.iterations += first.iterations
    return second


def once(problem: Any, z: Array, multipliers: Any, ipopt: dict[str, Any], notes: tuple[str, ...] = ()) -> Solution:
    """One search."""
    began = time.perf_counter()
    live = Live(problem, problem.progress)
    with interruptible(live):
        result = _result(problem, z, multipliers, live, ipopt)
    live.close()
    return Solution(problem, result, time.perf_counter() - began, notes)


def search(problem: Any, z: Array | None, multipliers: Any, ipopt: dict[str, Any]) -> Solution:
    """From z, or from the guesses of the problem: the best, with the other minima behind it."""
    if multipliers is not None:
        multipliers = _multipliers(problem.program, multipliers)
    if z is not None:
        try:
            z = np.asarray(z, dtype=float)
        except (TypeError, ValueError):
            raise OptionError(f"solve: z is {z!r}; expected finite numbers {problem.program.least.shape}.") from None
        if z.shape != problem.program.least.shape or not np.isfinite(z).all():
            raise OptionError(f"solve: z has the shape {z.shape}; expected finite numbers {problem.program.least.shape}.")
        return once(problem, z, multipliers, ipopt)
    found = [once(problem, problem.first_guess(), multipliers, ipopt)]
    if _astray(problem, found[0]):
        z = guessing.reaching(problem)
        found += [] if z is None else [once(problem, z, None, ipopt)]
    for k in range(1, problem.starts):
        if found[-1].result.status == "User_Requested_Stop":
            break
        found.append(once(problem, problem.first_guess(seed=problem.seed + k), None, ipopt))
    return ranked(found)


def _astray(problem: Any, found: Solution) -> bool:
    """A search for poses of bodies that began with the straight way to nowhere, and failed."""
    posed = any(node.poses for node in (problem.goal, *(node for _, node in problem.waypoints)))
    return posed and not found.ok and found.result.status != "User_Requested_Stop" and problem.given_guess is None


def _multipliers(program: Any, given: Any) -> tuple[Array, Array]:
    """Of rows and of bounds, as `solution.result.multipliers` has them."""
    sizes = (len(program.lower),), program.least.shape
    try:
        rows, bounds = (np.asarray(x, dtype=float) for x in given)
    except (TypeError, ValueError):
        rows = bounds = np.zeros(())
    if (rows.shape, bounds.shape) != sizes or not (np.isfinite(rows).all() and np.isfinite(bounds).all()):
        raise OptionError(f"solve: multipliers of shapes {rows.shape}, {bounds.shape}; expected finite numbers {sizes}: rows, bounds.")
    return rows, bounds


def ranked(found: list[Solution]) -> Solution:
    """The cheapest one that is solved, the other distinct minima in its list."""
    found.sort(key=lambda s: (not s.ok, s.cost if s.ok else s.infeasibility))
    best = found[0]
    for other in found[1:]:
        costs = [s.cost for s in (best, *best.others)]
        if other.ok and all(abs(other.cost - c) > SAME * max(1e-12, abs(c)) for c in costs):
            best.others.append(other)
    if len(found) > 1:
        solved = sum(s.ok for s in found)
        best.notes = (*best.notes, f"{solved} of {len(found)} starts were solved, {1 + len(best.others) if solved else 0} distinct minima")
    return best


def refine(solution: Solution, N: int | None, ipopt: dict[str, Any]) -> Solution:
    """N steps instead, from the nodes and inputs of a solution."""
    problem = solution.problem
    steps = 2 * problem.chain.N if N is None else N
    finer = problem.made_with(solution.recipe, steps, {"guess": solution})
    return once(finer, finer.first_guess(), None, {"mu_init": 1e-4, **ipopt})
