"""`resolve`: a problem of a step solved again, by any method, and judged.

The judge is the same for all: `StepProblem.natural_residual`, in m/s, of the law of the run, recomputed from the data and the impulses.
Laws other than those of the cone have judges of their own, those of their solver (contact/friction_laws.py).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.contact.fclib import ArchivedProblem
from dalembert.contact.problem import StepProblem
from dalembert.contact.solver import METHODS, SolverOptions
from dalembert.contact.solvers import CONES, solver_of
from dalembert.errors import OptionError, UnknownNameError, UnsupportedError

#: what `iterations` counts
COUNTS = {
    "direct": "factors",
    "gauss-seidel": "sweeps",
    "exact": "factors",
    "split": "rounds",
    "direct+split": "factors",
    "lemke": "pivots",
    "keller": "pivots",
}
#: sweeps of gauss-seidel, where nothing is said: more than a run would spend
SWEEPS = 1000


@dataclass(frozen=True, eq=False)
class Resolution:
    """What a method made of a problem.

    residual: m/s, by the judge, infinite where the method was refused. solved: whether it is at most the goal max(tol, 1e-6 m/s) of runs.
    iterations: of what `counts` says. seconds: of the solution alone. lam, x: impulses and velocities. refused: why, "" if not.
    same: whether lam and x are those of the run, bit for bit; None where the file tells of none.
    """

    problem: str
    rows: int
    method: str
    residual: float
    solved: bool
    iterations: int
    counts: str
    seconds: float
    branch: str
    lam: Array
    x: Array
    same: bool | None = None
    refused: str = ""


def resolve(problem: ArchivedProblem | StepProblem, method: str | None = None, cold: bool = False, **options: Any) -> Resolution:
    """Solve a problem again. method: a word of `SolverOptions.method`; by default as in the run, bit for
    bit on its machine (unless `max_time` ended it: clocks do not repeat).

    cold: without the impulses of the step before. options: of `SolverOptions` (tol, sweeps, rounds, corners, law, ...), in place of those
    of the run. UnsupportedError where the method cannot solve such a problem.
    """
    given = problem if isinstance(problem, ArchivedProblem) else _bare(problem)
    o = _options(given.options, method, options)
    p = given.fresh()
    if cold:
        p.impulses[:] = 0.0
    word = "" if "law" in options else given.facts.get("law", "")
    solver = solver_of(o, word, int(given.facts.get("sides", 8)))
    began = perf_counter()
    found = solver.solve(p)
    seconds = perf_counter() - began
    x, lam = np.array(found.x), p.impulses
    residual = p.natural_residual(lam, o.law, o.creep) if not word or word in CONES else found.residual
    same = None if not len(given.lam) else bool(np.array_equal(lam, given.lam) and np.array_equal(x, given.x))
    count = found.factorisations if COUNTS[o.method] == "factors" else found.iterations
    good = residual <= max(o.tol, o.interior_tol)
    return Resolution(given.name, len(p.J), o.method, residual, good, count, COUNTS[o.method], seconds, found.branch, lam, x, same)


def resolve_by_all(
    problem: ArchivedProblem | StepProblem, methods: Iterable[str] = METHODS, cold: bool = False, **options: Any
) -> list[Resolution]:
    """By one method after the other; one that cannot solve such a problem says why in `refused`. The time is that of a second solution,
    which compiles nothing, unless the first was long.
    """
    given = problem if isinstance(problem, ArchivedProblem) else _bare(problem)
    return [_tried(given, method, cold, options) for method in methods]


def _tried(given: ArchivedProblem, method: str, cold: bool, options: dict[str, Any]) -> Resolution:
    more = {"sweeps": SWEEPS, **options} if method == "gauss-seidel" else options
    _options(given.options, method, more)  # wrong ones are errors, not refusals
    try:
        found = resolve(given, method, cold, **more)
        return found if found.seconds > 1.0 else resolve(given, method, cold, **more)
    except (UnsupportedError, OptionError) as error:
        none, rows = np.zeros(0), len(given.problem.J)
        return Resolution(given.name, rows, method, np.inf, False, 0, COUNTS[method], 0.0, "refused", none, none, None, str(error))


def _bare(problem: StepProblem) -> ArchivedProblem:
    none = np.zeros(0)
    return ArchivedProblem("problem", problem, SolverOptions(law="coulomb", rounds_tol=1e-6), none, none)


def _options(of_run: SolverOptions, method: str | None, options: dict[str, Any]) -> SolverOptions:
    if method is not None and method not in METHODS:
        raise UnknownNameError("method of steps", method, METHODS)
    known = SolverOptions.__dataclass_fields__
    for name in options:
        if name not in known or name == "method":
            raise UnknownNameError("option of resolve", name, [n for n in known if n != "method"])
    return replace(of_run, method=method or of_run.method, **options)
