"""`dal.advise`: how large may the step be?"""

from __future__ import annotations

from typing import Any

from dalembert.model import Model
from dalembert.runs.plan import AUTO, Plan
from dalembert.solvability.advice import StepAdvice


def advise(m: Model, q: Any = None, v: Any = None, stepper: str | None = None) -> StepAdvice:
    """Step sizes for which the equations of a step are proved (or were found) to be solvable at the state q, v.

    stepper None: the first that handles the model; for trees 'trapezoidal', the one with proofs.
    """
    plan = Plan.of(m, stepper, AUTO, call="advise")
    return plan.family.advise(m, m.check_q(q), m.check_v(v), plan.stepper.name)
