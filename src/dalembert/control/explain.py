"""Why a search failed: which rows and bounds are violated, by name and node, and what to try."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dalembert.arrays import Array
from dalembert.control.reading import read_turn

SMALL = 1e-7


class Violation(NamedTuple):
    """A row or bound that does not hold."""

    size: float
    name: str
    place: str

    def __str__(self) -> str:
        return f"{self.name} at {self.place} misses by {self.size:.3g}"


def excess(values: Array, lower: Array, upper: Array) -> Array:
    """How far values are outside; infinite where they are no numbers."""
    out = np.maximum(np.maximum(lower - values, values - upper), 0.0)
    return np.where(np.isnan(values), np.inf, out)


def violations(program: Any, result: Any, most: int) -> list[Violation]:
    """The worst first."""
    found = []
    rows = excess(result.rows, program.lower, program.upper)
    for k in np.argsort(-rows)[:most]:
        if rows[k] > 0.0:
            b = int(np.searchsorted(program.assembly.starts, k, side="right")) - 1
            while program.blocks[b].size == 0:
                b -= 1
            block = program.blocks[b]
            place, row = divmod(int(k - program.assembly.starts[b]), block.size)
            found.append(Violation(float(rows[k]), block.names[row], block.places[place]))
    bounds = excess(result.z, program.least, program.most)
    for k in np.argsort(-bounds)[:most]:
        if bounds[k] > 0.0:
            name = program.names(int(k))
            cut = max(name.rfind(" at node"), name.rfind(" of step"), name.rfind(" of phase"), name.rfind(" after node"))
            found.append(
                Violation(float(bounds[k]), f"bound of {name[:cut]}", name[cut + 4 :].strip())
                if cut > 0
                else Violation(float(bounds[k]), "bound", name)
            )
    return sorted(found, key=lambda v: -v.size)[:most]


def saturated(program: Any, result: Any) -> list[str]:
    """Names of kinds of variables that are at their bounds in a large part of the plan."""
    z, least, most = result.z, program.least, program.most
    wide = most > least
    near = wide & ((z - least < 1e-6 * (1.0 + np.abs(least))) | (most - z < 1e-6 * (1.0 + np.abs(most))))
    counts: dict[str, int] = {}
    for k in np.flatnonzero(near):
        kind = program.names(int(k)).rsplit(" of step", 1)[0].rsplit(" at node", 1)[0]
        counts[kind] = counts.get(kind, 0) + 1
    return [name for name, n in sorted(counts.items(), key=lambda c: -c[1]) if n >= 3][:3]


def advice(solution: Any) -> str:
    """What to try."""
    if solution.result.status == "User_Requested_Stop":
        return "This is the last iterate; solution.problem.solve(solution.result.z) goes on from it."
    if solution.result.status == "Maximum_Iterations_Exceeded" and solution.infeasibility < SMALL:
        return "The last iterate is feasible; max_iter= allows more iterations."
    if solution.result.status == "Invalid_Number_Detected":
        return "A cost or path takes a logarithm, root or quotient of what is tried: bound it, or give a guess where it is a number."
    at = saturated(solution.problem.program, solution.result)
    bounds = f" At their bounds: {', '.join(at)}: allow more time or larger bounds." if at else ""
    return f"Try guess='random' with other seeds (starts=8), a longer time, or a goal that asks less.{_turned(solution)}{bounds}"


def _turned(solution: Any) -> str:
    """Where steps turn as far as they may, more of them are wanted."""
    problem = solution.problem
    machine, most = problem.machine, read_turn(problem.bounds)
    if most is None or not machine.turning.any():
        return ""
    weights = np.abs(problem.chain.weights)
    sizes = np.repeat(solution.h, len(weights)) * np.tile(weights, len(solution.h))
    largest = (np.abs(solution.v_interval[:, machine.turning]) * sizes[:, None]).max(axis=1)
    count = int((largest.reshape(len(solution.h), -1).max(axis=1) > 0.99 * most).sum())
    return f" {count} of {len(solution.h)} steps turn as far as a step may, {most:.3g} rad: take more steps." if count else ""
