"""`solve_friction`: check the input, let the model solve, judge."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.complementarity.friction.judge import TOL, FrictionJudgement, judge_shape
from dalembert.complementarity.friction.problem import ContactProblem, impulses
from dalembert.complementarity.friction.registry import Answer, Task, find_model
from dalembert.complementarity.problem import vector
from dalembert.errors import OptionError

STARTS = ("frictionless", "sticking")


@dataclass(frozen=True, eq=False)
class FrictionResult:
    """Impulses of contacts with their evidence.

    impulses, velocities (m, 3): normal, two tangents; velocities = W r + b. status: "solved" where the judge says so; otherwise how the
    solver ended: inaccurate, iteration-limit, not-finite, or a status of `lcp`. iterations: outer iterations (Newton's for the cone),
    work: pivots or sweeps inside, changes: relative change of the impulses per outer iteration, fallback: who gave the answer instead, ""
    if none.
    residuals: see `judge.py`.
    """

    impulses: Array
    velocities: Array
    status: str
    iterations: int
    residuals: FrictionJudgement
    model: str
    work: int = 0
    fallback: str = ""
    changes: tuple[float, ...] = ()
    seconds: float = 0.0

    @property
    def solved(self) -> bool:
        """Whether the impulses obey the law of the model."""
        return self.status == "solved"

    @property
    def residual(self) -> float:
        """The relative residual that decides."""
        return self.residuals.relative


def solve_friction(
    W: Any,
    b: Any = None,
    mu: Any = None,
    model: str = "cone",
    *,
    start: Any = None,
    normal: Any = None,
    tol: float = TOL,
    fallback: bool = True,
    **options: Any,
) -> FrictionResult:
    """Normal and friction impulses r of m contacts: u = W r + b, 0 <= r_n _|_ u_n >= 0, friction by the model.

    W (3 m, 3 m), b (3 m,), mu (m,) or one number; or a ContactProblem as W alone. Rows of a contact: normal, first and second tangent.

    model: cone (exact, default), cylinder, box, pyramid, polygon: see `models()` and their options.
    start: impulses (m, 3) near the solution; box and cylinder also take "frictionless" (the default: limits 0 at first) and "sticking".
    normal: (m,) impulses, of the last step say, that limit friction: box and cylinder then solve once, with fixed limits mu normal.
    tol: of the judge's relative residual.  fallback: whether another solver of the same law may take over where the model's own gives up.

    Returns a FrictionResult; nothing that a problem does is an error: see its `status`. Wrong input raises OptionError.
    """
    began = perf_counter()
    problem = _problem(W, b, mu)
    chosen = find_model(model)
    numbers = chosen.resolve(options)
    if not 0.0 < tol < 1.0:
        raise OptionError(f"tol is {tol!r}; expected a number in (0, 1), the relative residual of a solution.")
    if normal is not None and not chosen.frozen:
        raise OptionError(
            f"friction model {model!r} takes limits from its own normal impulses; leave `normal` out, or take box or cylinder."
        )
    m = problem.contacts
    held = None if normal is None else vector("normal", normal, m)
    if held is not None and not (np.isfinite(held) & (held >= 0.0)).all():
        raise OptionError(f"normal is {held}; expected finite impulses >= 0.")
    answer = Answer(np.zeros(0), "solved", 0)
    if m:
        answer = chosen.solve(Task(problem, _start(start, chosen.frozen, m), held, tol, fallback, numbers))
    verdict = judge_shape(problem, answer.r, chosen.shape(numbers), held)
    status = "solved" if verdict.solved(tol) else answer.status if answer.status != "solved" else "inaccurate"
    return FrictionResult(
        impulses=answer.r.reshape(m, 3),
        velocities=verdict.velocities,
        status=status,
        iterations=answer.iterations,
        residuals=verdict,
        model=model,
        work=answer.work,
        fallback=answer.fallback,
        changes=answer.changes,
        seconds=perf_counter() - began,
    )


def _problem(W: Any, b: Any, mu: Any) -> ContactProblem:
    if isinstance(W, ContactProblem):
        if b is not None or mu is not None:
            raise OptionError("b and mu are given beside a ContactProblem, which holds its own; leave them out.")
        return W
    if b is None or mu is None:
        raise OptionError("b and mu are missing; expected W, b and mu, or one ContactProblem.")
    return ContactProblem(W, b, mu)


def _start(start: Any, words: bool, contacts: int) -> Any:
    if start is None or (words and isinstance(start, str) and start in STARTS):
        return start
    if isinstance(start, str):
        expected = f"impulses ({contacts}, 3)" + (" or one of " + ", ".join(map(repr, STARTS)) if words else "")
        raise OptionError(f"start is {start!r}; expected {expected}.")
    return impulses("start", start, contacts)
