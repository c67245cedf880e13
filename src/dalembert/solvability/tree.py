"""Step advice for trees: up to which h does plain Newton solve the `trapezoidal` variational step?

Proved (exact arithmetic, plain Newton, unlimited iterations), for fixed-base trees of revolute and prismatic joints and chains of these
under gravity, joint stiffness and damping, constant controls, wrenches, springs, dampers: for every step h <= h_newton

    from the first node (q, v): e(.) with p = M(q) v, started at v, converges to a solution, the only one within twice the first correction;
    from a later node: the same with p of the interval before, if its velocity was v and its first node q - h v.

`h_jacobian`: De(v), the matrix of the first iteration, is regular for every smaller h. What was tried is an experiment: the first failure
of plain Newton (50 iterations) at random steps; it shows how far the proofs stay below.

The best of several linear coordinates counts: the scheme and Newton's iterates do not depend on them, the bounds do. A stepper that starts
elsewhere (extrapolation) or keeps its matrix has the same solution to find; `certify.certified_steps` tells afterwards whether it did.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.errors import OptionError, UnknownNameError
from dalembert.solvability.advice import Limit, StepAdvice
from dalembert.solvability.certify import constant_control, unproved
from dalembert.solvability.tree_loads import held_forces
from dalembert.solvability.tree_online import STARTS, covered
from dalembert.solvability.tree_state import NEWTON, REGULAR, State, a_priori, fixed_constants, state_of
from dalembert.solvability.tree_trial import first_failure

if TYPE_CHECKING:
    from dalembert.model import Model

STEPPER = "trapezoidal"
_K, _HERE, _TRIED = "kobilarov2014", "derived here", "experiment"
_STARTS = {True: "first node", False: "interval before"}
_APRIORI = (
    ("(32)", f"{_K} (32), root corrected", "Jacobian of the first iteration regular"),
    ("(38)", f"{_K} (38), 2 m1", "Jacobian regular at all iterates of a convergent Newton method"),
    ("(41)", f"{_K} (41), 3 m1^2 L1", "Newton converges"),
    ("sharper", f"{_K} (41) with delta(h), {_HERE}", "Newton converges"),
    ("local", _HERE, "Newton converges: residual and mass matrix of this state"),
)


def advise_tree(
    model: Model,
    q: Any = None,
    v: Any = None,
    stepper: str = STEPPER,
    samples: int = 64,
    rng: Any = None,
    control: Any = None,
) -> StepAdvice:
    """Limits of the step at the state q, v (head of this file).

    samples: trial steps of the experiment (0: none), drawn from rng. control (nv,): constant over the step.

    Free and spherical joints, loops, joint friction and forces that are functions: nothing is proved; the numbers are estimates in local
    coordinates, without loops, friction and those forces.
    """
    if stepper != STEPPER:
        raise UnknownNameError("stepper with proved step sizes on trees", stepper, [STEPPER])
    if samples < 0:
        raise OptionError(f"samples = {samples}; expected a number of trial steps, 0 for none.")
    q, v = model.check_q(q), model.check_v(v)
    state = state_of(model, q, v, constant_control(model, control) + held_forces(model, q))
    return _advise(state, unproved(model), samples, np.random.default_rng(rng))


def _advise(state: State, against: list[str], samples: int, rng: np.random.Generator) -> StepAdvice:
    table = a_priori(state)
    online = covered(state, {name: max(row[bound] for bound in NEWTON) for name, row in table.items()})
    regular = max(row[bound] for row in table.values() for bound in REGULAR)
    sure = max(min(online[first][name] for first in STARTS) for name in table)
    regular = max(regular, sure)  # where the certificate holds, De(v) is regular
    tried = {first: first_failure(state, sure, samples, rng, first) for first in STARTS} if samples else {}
    found = _limits(table, online, tried, not against, samples)
    words = {"h_jacobian": not against, "h_newton": not against, **{limit.name: limit.rigorous for limit in found}}
    best = max(table, key=lambda name: min(online[first][name] for first in STARTS))
    advice = StepAdvice(STEPPER, regular, sure, found, _numbers(state, best), words)
    return _with_remark(advice, against)


def _limits(
    table: dict[str, dict[str, float]], online: dict[bool, dict[str, float]], tried: dict[bool, float], proved: bool, samples: int
) -> tuple[Limit, ...]:
    failure = min(tried.values(), default=math.inf)
    found = []
    for name, source, meaning in _APRIORI:
        column = {coordinates: row[name] for coordinates, row in table.items()}
        found += _pair(name, column, proved, meaning, source, failure)
    for first, start in _STARTS.items():
        meaning = f"Newton from the {start} converges at this and every smaller step"
        found += _pair("online", online[first], proved, meaning, f"{_K} (42), {_HERE}", tried.get(first, math.inf), f", {start}")
    for first, h in tried.items():
        what = "first failed here" if math.isfinite(h) else "failed nowhere"
        found.append(Limit(f"tried, {_STARTS[first]}", h, False, f"plain Newton {what}; {samples} random steps", _TRIED))
    return tuple(found)


def _pair(name: str, column: dict[str, float], proved: bool, meaning: str, source: str, failure: float, tail: str = "") -> list[Limit]:
    """A bound in relative coordinates and in the best ones."""
    best = max(column, key=lambda coordinates: column[coordinates])
    return [
        Limit(f"{name} relative{tail}", column["relative"], proved, meaning + _ratio(column["relative"], failure), source),
        Limit(f"{name} best{tail}", column[best], proved, f"{meaning} ({best} coordinates){_ratio(column[best], failure)}", source),
    ]


def _ratio(h: float, failure: float) -> str:
    if h == 0.0:
        return "; 0: no bound m1 > 0 of the mass matrix is known that holds at all configurations"
    return f"; first failure {failure / h:.3g} times higher" if math.isfinite(failure) and 0.0 < h < math.inf else ""


def _numbers(state: State, best: str) -> dict[str, float]:
    out: dict[str, float] = {}
    for c in state.constants:
        if c.name in ("relative", best):
            tail = "" if c.name == "relative" else f" ({c.name})"
            out |= {f"{name}{tail}": float(getattr(c, name)) for name in ("m1", "m2", "l0", "l2", "c1", "l4")}
            out[f"speed{tail}"] = float(np.linalg.norm(c.T @ state.v))
    return out


def _with_remark(advice: StepAdvice, against: list[str]) -> StepAdvice:
    if not against:
        return advice
    remark = f"; estimate in local coordinates, not proved: {', '.join(against)}"
    return replace(advice, limits=tuple(replace(limit, meaning=limit.meaning + remark) for limit in advice.limits[:1]) + advice.limits[1:])


def side_by_side(model: Model, states: Iterable[tuple[Any, Any]], samples: int = 64, rng: Any = None) -> list[dict[str, float]]:
    """One row per state (q, v): speed, the first failure found, and each bound of the advice; for tables and plots.

    Keys: "speed", "tried", and the names of the limits, all in seconds but the first.
    """
    rows = []
    generator = np.random.default_rng(rng)
    known, against = fixed_constants(model), unproved(model)
    for q, v in states:
        q, v = model.check_q(q), model.check_v(v)
        advice = _advise(state_of(model, q, v, held_forces(model, q), known), against, samples, generator)
        row = {"speed": advice.constants["speed"]} | {limit.name: limit.h for limit in advice.limits}
        row["tried"] = min((limit.h for limit in advice.limits if limit.name.startswith("tried")), default=math.inf)
        rows.append(row)
    return rows
