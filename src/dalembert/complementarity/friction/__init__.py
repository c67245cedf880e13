"""Contacts with dry friction: five models behind one call, one judge for all of them.

W, b and mu as in `ContactProblem`:

    from dalembert.complementarity.friction import solve_friction
    solve_friction(W, b, mu)                            # exact cone: impulses (m, 3) and velocities W r + b, normal first
    solve_friction(W, b, mu, model="box", method="keller")      # box limits from the last normal impulses, any method of `lcp`
"""

from dalembert.complementarity.friction.judge import FrictionJudgement, judge_friction
from dalembert.complementarity.friction.problem import ContactProblem
from dalembert.complementarity.friction.registry import FrictionModel, find_model, models
from dalembert.complementarity.friction.solve import FrictionResult, solve_friction

__all__ = [
    "ContactProblem",
    "FrictionJudgement",
    "FrictionModel",
    "FrictionResult",
    "find_model",
    "judge_friction",
    "models",
    "solve_friction",
]
