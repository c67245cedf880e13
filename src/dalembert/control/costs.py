"""Costs of a plan, as sums over its steps.

    effort      h |u|^2                         time        h
    energy      h sum_i |u_i w_i|               w = B^T v: rates that the inputs act on (control/power.py)
    tracking    h |lift(q_ref, q)|^2            q_ref: `reference`, an array (N + 1, nq)
    a function  h f(q, v, u)                    of expressions: q of the node, v of the interval, inputs u
    final       f(q, v)                         of the last node alone, v its velocity

A cost is one of these, {term: weight}, or a list of (weight, term).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import casadi as ca
import numpy as np

from dalembert.control.blocks import Block
from dalembert.control.targets import speeds
from dalembert.errors import OptionError, UnknownNameError

NAMES = ("effort", "time", "energy", "tracking")


def terms(cost: Any) -> list[tuple[float, Any]]:
    """(weight, term) of a cost."""
    if isinstance(cost, str) or callable(cost):
        pairs: list[Any] = [(1.0, cost)]
    elif isinstance(cost, Mapping):
        pairs = [(weight, term) for term, weight in cost.items()]
    elif isinstance(cost, Sequence):
        pairs = list(cost)
    else:
        kinds = f"one of {', '.join(NAMES)}, a function, {{term: weight}} or a list of (weight, term)"
        raise OptionError(f"cost is {cost!r}; expected {kinds}.")
    found = []
    for pair in pairs:
        try:
            weight, term = pair
            weight = float(weight)
        except (TypeError, ValueError):
            raise OptionError(f"cost: {pair!r} is no (weight, term).") from None
        if not np.isfinite(weight):
            raise OptionError(f"cost: the weight of {term!r} is {weight}; expected a finite number.")
        if not callable(term) and not (isinstance(term, str) and term in NAMES):
            raise UnknownNameError("cost", term, NAMES)
        found.append((weight, term))
    return found


def stage_cost(machine: Any, wanted: list[tuple[float, Any]], q: Any, v: Any, u: Any, h: Any, reference: Any) -> Any:
    """The cost of one step, an expression."""
    total = ca.SX(0)
    for weight, term in wanted:
        if term == "effort":
            total += weight * h * ca.dot(u, u)
        elif term == "time":
            total += weight * h
        elif term == "energy":
            continue  # has variables of its own: control/power.py
        elif term == "tracking":
            if not reference.numel():
                raise OptionError("cost: 'tracking' needs reference=, nodes (N + 1, nq) that are followed.")
            x = machine.formulas.chart.lift(reference, q)
            total += weight * h * ca.dot(x, x)
        else:
            total += weight * h * _expression("cost", term, q, v, u)
    return total


def _expression(what: str, function: Any, *given: Any) -> Any:
    name = getattr(function, "__name__", function)
    if not callable(function):
        raise OptionError(f"{what} is {function!r}; expected a function of expressions.")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # CasADi about NumPy's functions, which it takes
            value = ca.SX(function(*given))
    except Exception as error:
        raise OptionError(f"{what}: {name!s} failed on expressions: {error}") from error
    if value.is_constant() and not np.isfinite(np.array(ca.evalf(value))).all():
        raise OptionError(f"{what}: {name!s} is {value} whatever it is given; expected an expression, such as ca.sin(q[0]).")
    if value.numel() != 1:
        raise OptionError(f"{what}: {name!s} is of size {value.shape}; expected one number.")
    return value


def final_block(made: Any, function: Callable[..., Any]) -> Block:
    """f(q, v) of the last node."""
    machine, chain = made.machine, made.chain
    last = chain.nodes[-1]
    q, v = ca.SX.sym("q", machine.nq), ca.SX.sym("v", machine.nv)
    value = _expression("final", function, q, v)
    index = chain.q[last]
    if ca.depends_on(value, v):
        return Block("final", ca.vertcat(q, v), np.concatenate([index, speeds(made, index, chain.p[last], f"node {chain.N}")]), value)
    return Block("final", q, index, value)
