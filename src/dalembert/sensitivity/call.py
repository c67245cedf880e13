"""`derivatives`: of one step of any stepper that has formulas."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import OptionError, UnsupportedError
from dalembert.runs import checks
from dalembert.runs.plan import Plan
from dalembert.sensitivity import balls, program, tree
from dalembert.sensitivity.result import Derivatives
from dalembert.sensitivity.step import Start
from dalembert.systems import as_system

#: by the family of the stepper
WAYS: dict[str, Callable[[Any, Start, tuple[str, ...]], Derivatives]] = {
    "variational": tree.differentiate,
    "lagrangian": program.differentiate,
    "bodies": balls.differentiate,
}


def derivatives(
    m: Any,
    q: Any = None,
    v: Any = None,
    tau: Any = None,
    h: float = 0.01,
    stepper: str | None = "midpoint",
    params: Any = (),
    compose: str | None = None,
    ignore: Any = (),
    t: float = 0.0,
) -> Derivatives:
    """d(q+, v+)/d(q, v, tau) of one step of the simulator, exact; and by parameters.

    m: a Model or a Lagrangian. q, v, tau: as `dal.simulate` takes them; reference configuration, rest and no force by default.
    stepper: of trees "midpoint", "trapezoidal", "symplectic-euler", "null-space", with closed loops and rolling too; of Lagrangians
    all that step by formulas; "spook" for balls that touch planes and each other. compose: a composition of them.
    params: names as `m.with_values` takes them ("rod.mass", "knee.damping", "gravity"), or parameters of a Lagrangian.
    t: time of the step, s, where forces of a Lagrangian depend on it.

    Changes of q are tangents, as m.integrate and m.difference have them. Formulas are built in the first call for a machine and a stepper,
    and kept with the machine. UnsupportedError where the step has no derivative: at a switch of contacts, or taken in parts.
    """
    as_system(m, "derivatives")
    names = names_given(params)
    plan = Plan.of(m, stepper, checks.seconds("h", h), compose, ignore, call="derivatives")
    way = way_of(plan)
    start = plan.start(q, v)
    at = Start(*start, numbers("tau", 0.0 if tau is None else tau, len(start[1]), tau is None), float(numbers("t", t, 1, True)[0]))
    rows, inputs = plan.once("names of derivatives", lambda: names_of(plan))
    return replace(composed(plan, way, at, names), names=rows, inputs=inputs, h=plan.h)


def names_of(plan: Plan) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Of the rows of A, and of tau."""
    rates = (plan.system if plan.given is None else plan.given).column_names("v")
    return (*(f"change of q along {name}" for name in rates), *rates), tuple(rates)


def way_of(plan: Plan) -> Callable[..., Derivatives]:
    """What differentiates a plan."""
    way = WAYS.get(plan.family.name)
    if way is None or plan.stepper.engine_name not in ("compiled", "spook"):
        raise UnsupportedError(
            f"derivatives: stepper {plan.stepper.name!r} of {plan.system!r} has none. Known: midpoint, trapezoidal, symplectic-euler and "
            "null-space of trees, all of Lagrangians that step by formulas, spook for balls in contact."
        )
    return way


def names_given(params: Any) -> tuple[str, ...]:
    """Names of parameters."""
    if params is None:
        return ()
    one = isinstance(params, str) or not isinstance(params, Iterable) or getattr(params, "ndim", 1) == 0
    given = (params,) if one else tuple(params)
    if not all(isinstance(name, str) for name in given):
        raise OptionError(f"derivatives: params = {params!r}; expected names.")
    return given


def numbers(what: str, given: Any, size: int, one: bool = False) -> Array:
    """`size` finite numbers; one: or a single one in place of all."""
    try:
        found = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        found = np.array(np.nan)
    if (found.shape != (size,) and not (one and found.ndim == 0)) or not np.isfinite(found).all():
        raise OptionError(f"derivatives: {what} is {given!r}; expected {size} finite number{'s' if size > 1 else ''}.")
    return np.array(np.broadcast_to(found, (size,)))


def composed(plan: Plan, way: Callable[..., Derivatives], at: Start, names: tuple[str, ...]) -> Derivatives:
    """One step after the other where the plan is a composition."""
    if plan.weights == (1.0,):
        return way(plan, at, names)
    parts = list[Derivatives]()
    for weight in plan.weights:
        single = plan.once(("substep",), lambda: Plan.bare(plan.acting, plan.stepper, plan.h, **plan.options))
        parts.append(way(single.at(weight * plan.h), at, names))
        at = Start(parts[-1].q_next, parts[-1].v_next, at.tau, at.t + weight * plan.h)
    return reduce(Derivatives.then, parts)
