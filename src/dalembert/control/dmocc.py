"""`dmocc`: plans with contacts.

Nodes of contacts part a plan into phases, each with a step h_i = sigma_i h of its own, so that a contact is at a node whenever it happens;
the whole time sum n_i h_i is fixed or bounded (Leyendecker et al. 5.2). What contacts do at their nodes is an impulse there:

    planned     impacts with restitution (control/impacts.py), contacts that are held (control/stance.py)
    "penalty"   a stiff spring at all nodes (control/penalty.py)

so that one step of the simulator from each node, with the momentum after the impulse, is one step of the plan.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial, singledispatch
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.control import contact_guess, impacts, stance
from dalembert.control.contact_clearance import keep_clear
from dalembert.control.contacts import Gap, Touch
from dalembert.control.contacts import read as read_contacts
from dalembert.control.draft import draft
from dalembert.control.impacts import Contact
from dalembert.control.machine import machine_of
from dalembert.control.passing import say_passing
from dalembert.control.penalty import EPS, Penalty
from dalembert.control.problem import Problem, kept
from dalembert.control.reading import read_steps, read_times
from dalembert.errors import OptionError, UnknownNameError
from dalembert.model import Model

SIGMA = (0.3, 3.0)
KINDS = ("planned", "penalty")


@singledispatch
def _stepper_of(system: Any) -> str:
    """The stepper of plans that name none: of bodies the rule of director coordinates."""
    return "midpoint"


@_stepper_of.register
def _of_bodies(system: Model) -> str:
    return "null-space"


def dmocc(
    system: Any,
    N: int,
    start: Any,
    goal: Any,
    contacts: Any = (),
    h: Any = None,
    free_time: Any = None,
    restitution: float = 1.0,
    sigma: Any = SIGMA,
    contact: str = "planned",
    clearance: bool = True,
    stiffness: float = 1e4,
    eps: float = EPS,
    guess: Any = None,
    **more: Any,
) -> Problem:
    """The problem of a motion in N steps from start to goal with contacts at nodes, of least cost.

    contacts     a list of dal.control.Touch(body, node, ...)
    h            step, s, or one for each phase: phases end at nodes of contacts. free_time: (least, most) seconds in all; None: N h
    restitution  0 to 1, of all contacts that say nothing else
    sigma        (least, most) of h_i/h, or one pair for each phase. (1, 1): all contacts are at given times
    contact      "planned", or "penalty": contacts then need no node, all points of their bodies push
    clearance    True: nothing penetrates at nodes, of bodies that have a planned contact
    stiffness    N/m, and eps, m, of the penalty
    guess        None or "line" (by way of closed contacts), "dcr" (a run forwards), {"dcr": tau, as of `simulate`}, or as of `dmoc`
    more         as of `dmoc`; stepper: "null-space", of a Lagrangian "midpoint"
    """
    given = {k: x for k, x in locals().items() if k != "more"} | more
    touches = _touches(contacts, restitution)
    if contact not in KINDS:
        raise UnknownNameError("dmocc: contact", contact, KINDS)
    if not touches:
        raise OptionError("dmocc: there are no contacts; expected contacts=[dal.control.Touch(body, node, ...)], or dmoc.")
    more.setdefault("stepper", _stepper_of(system))
    if contact == "penalty":
        made = _soft(system, N, start, goal, touches, h, free_time, stiffness, eps, guess, more)
        phases = [read_steps(N)]
    else:
        made, phases = _planned(system, N, start, goal, touches, h, free_time, sigma, clearance, guess, more)
    say_passing(made, touches)
    made.recipe = partial(_again, np.cumsum([0, *phases])), kept(given, made.machine)
    return made


def _touches(given: Any, restitution: Any) -> list[Touch]:
    if not (np.ndim(restitution) == 0 and not isinstance(restitution, str) and 0.0 <= float(restitution) <= 1.0):
        raise OptionError(f"dmocc: restitution is {restitution!r}; expected a number from 0 to 1.")
    found = read_contacts(given)
    return [replace(t, restitution=0.0 if t.hold else float(restitution)) if t.restitution is None else t for t in found]


def _planned(
    system: Any,
    N: Any,
    start: Any,
    goal: Any,
    touches: list[Touch],
    h: Any,
    free_time: Any,
    sigma: Any,
    clearance: bool,
    guess: Any,
    more: Any,
) -> tuple[Problem, list[int]]:
    steps = read_steps(N)
    phases = phases_of(steps, touches)
    sizes, limits, each = clock(phases, h, free_time, sigma)
    machine = machine_of(system, more.get("inputs"), more.get("ignore", ()))
    planned = [Contact(Gap(machine, t), int(t.node or 0), int(t.node or 0) + t.hold, float(t.restitution or 0.0)) for t in touches]
    _check_distinct(planned)
    double = sorted({k for c in planned for k in c.closed})
    extras = [partial(put, planned, clearance), *more.pop("extras", ())]
    made = draft(
        system, phases, sizes, limits, start, goal, double=double, phase_limits=each, extras=extras, guess=_guess(guess, planned), **more
    )
    made.contacts = planned
    return made, phases


def _check_distinct(planned: list[Contact]) -> None:
    """No contact is planned twice at a node."""
    for i, a in enumerate(planned):
        for b in planned[:i]:
            same = all(
                np.array_equal(getattr(a.gap.touch, x), getattr(b.gap.touch, x)) for x in ("body", "on", "point", "plane", "face", "gap")
            )
            if same and a.closed & b.closed:
                raise OptionError(f"dmocc: contact {a.gap.name} is planned twice at node {min(a.closed & b.closed)}.")


def put(planned: list[Contact], clearance: bool, made: Any) -> None:
    """All rows of planned contacts into a draft."""
    impacts.check_given(planned, made.given)
    impacts.take_impulses(made, planned)
    impacts.momentum_blocks(made, planned)
    for c in planned:
        if c.held:
            stance.hold(made, c)
    for k in sorted({c.first for c in planned if not c.held}):
        struck = [c for c in planned if not c.held and c.first == k]
        impacts.strike(made, k, struck, [c for c in planned if c.closing == k])
    if clearance:
        keep_clear(made, planned)


def _soft(
    system: Any,
    N: Any,
    start: Any,
    goal: Any,
    touches: list[Touch],
    h: Any,
    free_time: Any,
    stiffness: Any,
    eps: Any,
    guess: Any,
    more: Any,
) -> Problem:
    phases = [read_steps(N)]
    sizes, limits = read_times(phases, h, free_time)
    machine = machine_of(system, more.get("inputs"), more.get("ignore", ()))
    penalty = Penalty(machine, touches, float(stiffness), float(eps))
    extras = [penalty.add, *more.pop("extras", ())]
    made = draft(
        system,
        phases,
        sizes,
        limits,
        start,
        goal,
        double=range(phases[0] + 1),
        extras=extras,
        guess=_soft_guess(guess, penalty),
        **more,
    )
    made.penalty = penalty
    return made


def _soft_guess(given: Any, penalty: Penalty) -> Any:
    return contact_guess.bounce(penalty) if given is None or (isinstance(given, str) and given == "bounce") else _guess(given, [])


def _guess(given: Any, planned: list[Contact]) -> Any:
    if given is None or (isinstance(given, str) and given == "line"):
        return contact_guess.line(planned)
    if isinstance(given, str) and given == "dcr":
        return contact_guess.dcr(planned)
    if isinstance(given, dict) and "dcr" in given:
        return contact_guess.dcr(planned, given["dcr"])
    return given


def phases_of(N: int, touches: Sequence[Touch]) -> list[int]:
    """Steps of the phases that nodes of contacts part a plan into."""
    ends = {0, N}
    for touch in touches:
        k = touch.node
        if k is None or isinstance(k, bool) or not isinstance(k, (int, np.integer)) or not 0 <= k <= N:
            raise OptionError(f"dmocc: contact {touch}: node is {k!r}; expected a whole number from 0 to N = {N}.")
        if k == 0 and not touch.hold:
            raise OptionError(
                f"dmocc: contact {touch} is planned at the start; expected a later node, or hold=, steps for which it is held."
            )
        if k + touch.hold > N:
            raise OptionError(f"dmocc: contact {touch}: node {k} and {touch.hold} steps of hold are beyond N = {N}.")
        ends |= {int(k), int(k) + touch.hold}
    return np.diff(sorted(ends)).astype(int).tolist()


def clock(phases: list[int], h: Any, free_time: Any, sigma: Any) -> tuple[Array, tuple[float, float] | None, Any]:
    """(sizes of steps, limits of the whole time, limits of the step of each phase); no limits where all are fixed."""
    sizes, limits = read_times(phases, h, free_time)
    low, high = _sigma(sigma, len(phases))
    total = float(np.dot(phases, sizes))
    if limits is None and (np.array_equal(low, high) or len(phases) == 1):
        return sizes, None, None
    limits = (total, total) if limits is None else limits
    each = np.column_stack([low * sizes, high * sizes])
    if len(phases) == 1:
        each = np.clip(each, limits[0] / phases[0], limits[1] / phases[0])
    return sizes, limits, each


def _sigma(given: Any, n: int) -> tuple[Array, Array]:
    """Least and most of each phase, from one pair or a pair for each."""
    try:
        low, high = np.broadcast_to(np.asarray(given, dtype=float), (n, 2)).T
    except (TypeError, ValueError):
        low = high = np.full(n, np.nan)
    if not ((low > 0.0) & (low <= 1.0) & (high >= 1.0) & (high < np.inf)).all():
        raise OptionError(
            f"dmocc: sigma is {given!r}; expected (least, most) with 0 < least <= 1 <= most, or {n} of them, one for each phase."
        )
    return low, high


def _again(nodes: Any, N: Any, contacts: Any, guess: Any, **given: Any) -> Problem:
    """The same with other numbers of steps: nodes of contacts move with the phases, times begin as those of a solution that is given."""
    if given.get("contact") == "penalty":
        return dmocc(N=int(np.sum(N)), contacts=contacts, guess=guess, **given)
    new = np.cumsum([0, *N]) if isinstance(N, (list, tuple)) else np.round(np.asarray(nodes) * (N / nodes[-1])).astype(int)
    phases, moved = np.diff(new), []
    for touch in read_contacts(contacts):
        k, end = (int(np.searchsorted(nodes, x)) for x in (int(touch.node or 0), int(touch.node or 0) + touch.hold))
        moved.append(replace(touch, node=int(new[k]), hold=int(new[end] - new[k])))
    made = dmocc(N=int(new[-1]), contacts=moved, guess=guess, **given)
    chain = getattr(getattr(guess, "problem", None), "chain", None)
    if chain is not None and made.chain.free and len(chain.phases) == len(phases):
        first = np.cumsum([0, *chain.phases[:-1]])
        made.h = guess.h[first] * np.array(chain.phases) / phases
    return made
