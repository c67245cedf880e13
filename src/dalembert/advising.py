"""`dal.advise`: how large may the step be?"""

from __future__ import annotations

from typing import Any

from dalembert.errors import OptionError, UnsupportedError
from dalembert.lagrangian import Lagrangian
from dalembert.model import Model
from dalembert.options import choose_stepper
from dalembert.solvability.advice import StepAdvice


def advise(m: Model, q: Any = None, v: Any = None, stepper: str | None = None) -> StepAdvice:
    """Step sizes for which the equations of a step are proved (or were found) to be solvable at the state q, v.

    stepper None: the first that handles the model; for trees 'trapezoidal', the one with proofs.
    """
    if isinstance(m, Lagrangian):
        raise UnsupportedError(f"advise: no step sizes are proved for systems given by a formula, such as {m!r}; they are for a Model.")
    if not isinstance(m, Model):
        raise OptionError(f"advise: the first argument is {type(m).__name__!r}; expected a Model.")
    family, method = choose_stepper(m, stepper, (), proved=True)
    return family.advise(m, m.check_q(q), m.check_v(v), method.name)
