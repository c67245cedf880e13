"""Another goal, other bounds, another reference: the same program with other numbers, so that nothing is built again.

Coordinates and momenta of a node are bounds, least = most, quaternions and poses that are wanted are parameters of the program. What is
wanted of the goal may change, not of which coordinates something is wanted: that would be another program.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dalembert.control import ends
from dalembert.control.conserved import without_the_known
from dalembert.control.draft import box
from dalembert.control.impacts import check_given
from dalembert.control.reading import check_inside, read_reference
from dalembert.control.targets import quaternions
from dalembert.errors import OptionError


def aim(problem: Any, goal: Any, bounds: Mapping[str, Any] | None, reference: Any) -> None:
    """Write what is given into the program."""
    machine, chain, made = problem.machine, problem.chain, problem.made
    last = problem.goal if goal is None else _goal(problem, goal)
    wanted = problem.bounds if bounds is None else _bounds(problem, bounds)
    check_inside(machine, problem.start, last, wanted)
    given = made.given if goal is None or chain.N not in made.given else {**made.given, chain.N: last.q}
    check_given(problem.contacts, given)
    if reference is not None:
        if "reference" not in made.numbers.places:
            raise OptionError("aim: the problem was made without reference=, so no cost follows one.")
        array = read_reference(machine, reference, chain.N)
        problem.program.parameters[made.numbers.places["reference"]] = array
    if bounds is not None:
        box(made, wanted, problem.h, problem.total)
        problem.bounds = wanted
    places = [(0, problem.start), *problem.waypoints, (chain.N, last)]
    for k, node in places if bounds is not None else places[-1:]:
        rewrite(problem, node, k)
    problem.goal, made.given = last, given
    problem.remember(goal=goal, bounds=None if bounds is None else wanted, reference=reference)


def _goal(problem: Any, goal: Any) -> ends.Node:
    machine = problem.machine
    total = None if problem.total is not None else float(np.dot(problem.chain.phases, problem.h))
    wanted = ends.read(machine, goal, "goal")
    ends.one_sheet(quaternions(machine), [problem.start, *(node for _, node in problem.waypoints), wanted])
    last, _ = without_the_known(machine, problem.start, wanted, total)
    if _pattern(last) != _pattern(problem.goal):
        raise OptionError(
            "aim: the goal fixes other coordinates, velocities or poses than the goal that the problem was made with, or is at rest where "
            "that was not; make a new problem."
        )
    return last


def _pattern(node: ends.Node) -> Any:
    poses: dict[str, Any] = {body: (x is None, R is None) for body, (x, R) in node.poses.items()}
    poses |= {str(pair): [None if x is None else x.tolist() for x in pose] for pair, pose in node.relative.items()}  # part of the program
    free = not np.isfinite(node.q).all()  # then rest is written as p = 0, another velocity by variables
    return np.isfinite(node.q).tolist(), np.isfinite(node.v).tolist(), poses, node.at_rest if free else None


def _bounds(problem: Any, bounds: Mapping[str, Any]) -> dict[str, Any]:
    if problem.total is not None and "turn" in bounds and bounds["turn"] != problem.bounds.get("turn"):
        raise OptionError("aim: where the time is free, bounds['turn'] is part of the program; make a new problem.")
    return {**problem.bounds, **bounds}


def rewrite(problem: Any, node: ends.Node, k: int) -> None:
    """The numbers of a node."""
    machine, chain, program, made = problem.machine, problem.chain, problem.program, problem.made
    row, where, whole = chain.nodes[k], f"node {k}", k == 0
    q_at, p_at = chain.q[row], chain.p[row] if whole else chain.p_after[k]
    turned = quaternions(machine)
    inside = {i for _, start in turned for i in range(start, start + 4)}
    for i, value in enumerate(node.q):
        if np.isfinite(value) and (whole or i not in inside):
            program.least[q_at[i]] = program.most[q_at[i]] = value
    numbers = made.numbers.places
    for name, start in turned:
        if not whole and np.isfinite(node.q[start]):
            program.parameters[numbers[f"{name} at {where}"]] = node.q[start : start + 4]
    for body, (place, turn) in node.poses.items():
        if place is not None:
            program.parameters[numbers[f"place of {body} at {where}"]] = place
        if turn is not None:
            program.parameters[numbers[f"turn of {body} at {where}"]] = np.asarray(turn).T.ravel()
    if where in made.speeds:
        known = np.isfinite(node.v)
        program.least[made.speeds[where]] = np.where(known, node.v, -np.inf)
        program.most[made.speeds[where]] = np.where(known, node.v, np.inf)
    elif machine.rows is None or whole:
        p = machine.known_momentum(node)
        if p is not None:
            program.least[p_at] = program.most[p_at] = p
