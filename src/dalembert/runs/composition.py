"""What a composition of substeps may be asked of: weights, or a refusal that says why."""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.errors import OptionError, UnsupportedError
from dalembert.families import Family
from dalembert.registry import Stepper
from dalembert.runs.functions import given_functions, names_of_functions
from dalembert.steppers.compose import find_composition


def composition_weights(compose: str | None, method: Stepper, model: Any, family: Family, h: Any) -> tuple[float, ...]:
    """Weights of the substeps; refuses what a composition cannot do."""
    if compose is None:
        return (1.0,)
    composition = find_composition(compose)
    if not method.self_adjoint:
        raise UnsupportedError(
            f"compose={compose!r}: stepper {method.name!r} is not self-adjoint, so a composition does not raise its order."
        )
    if method.order != 2:
        raise UnsupportedError(f"compose={compose!r}: stepper {method.name!r} has order {method.order}; these compositions raise order 2.")
    if "damping" in family.features(model):
        raise UnsupportedError(f"compose={compose!r}: model {model.name!r} is dissipative, and negative substeps would undo its damping.")
    _refuse_functions(compose, method, model)
    if isinstance(h, str) and h == "auto":
        raise OptionError("compose with h='auto': a certified step size holds for single steps only; give h.")
    return tuple(composition.weights)


def _refuse_functions(compose: str, method: Stepper, model: Any) -> None:
    """UnsupportedError where a force given as a function is held over the step, or takes energy (seen at the reference configuration)."""
    functions = given_functions(model)
    if not functions:
        return
    if "function" not in method.handles or method.python:
        raise UnsupportedError(
            f"compose={compose!r}: stepper {method.name!r} holds the forces of model {model.name!r} that are functions over its steps, so "
            "the order stays 1; steppers of trees ('midpoint', 'trapezoidal') evaluate them."
        )
    q, rng = model.neutral(), np.random.default_rng(0)
    for name, f in zip(names_of_functions(model), functions, strict=True):
        for v in rng.normal(size=(8, model.nv)):
            there, back, rest = (np.asarray(f(0.0, q.copy(), s * v), dtype=float) for s in (1.0, -1.0, 0.0))
            if (there - back) @ v < -1e-9 * float(np.abs(v) @ (np.abs(there) + np.abs(back) + np.abs(rest))):
                raise UnsupportedError(
                    f"compose={compose!r}: force {name!r} of model {model.name!r} takes energy at v = {np.round(v, 3).tolist()}, and "
                    "negative substeps would undo that."
                )
