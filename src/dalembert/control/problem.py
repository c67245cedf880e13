"""A problem of optimal control: solved, solved again from another start, aimed at another goal, made with another N."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.arrays import Array
from dalembert.control import ends
from dalembert.control import guess as guessing
from dalembert.control.chain import Chain
from dalembert.control.program import Program
from dalembert.control.reading import read_steps
from dalembert.control.solution import Solution
from dalembert.errors import OptionError

if TYPE_CHECKING:
    from dalembert.control.draft import Draft

PLAIN = ("start", "goal", "h", "free_time", "bounds", "waypoints", "reference", "inputs", "contacts")  # arrays, mappings, lists of numbers


class Problem:
    """A plan that is to be found. `solve()` finds it; `step(state)` finds it anew from another start.

    Threads may share a problem: their searches wait for each other.
    """

    def __init__(self, machine: Any, chain: Chain, stepper: str, compose: str | None, h: Array, **rest: Any):
        self.machine, self.chain, self.stepper, self.compose, self.h = machine, chain, stepper, compose, h
        self.alone = threading.RLock()  # start, goal and bounds are those of the search that goes on
        self.__dict__.update(rest)

    @property
    def method(self) -> str:
        """Stepper and composition."""
        return self.stepper if self.compose is None else f"{self.stepper} + {self.compose}"

    # filled by `draft`
    program: Program
    start: ends.Node
    goal: ends.Node
    notes: list[str]
    built: float
    total: tuple[float, float] | None
    starts: int
    seed: int
    given_guess: Any
    progress: Any
    waypoints: list[tuple[int, ends.Node]]
    guesses: list[Callable[[Any, Array], None]]
    made: Draft
    contacts: list[Any]  # of `dmocc`: those that are planned
    penalty: Any = None  # and those that are soft
    passing: str = ""  # what may pass through each other, in words
    bounds: dict[str, Any]
    recipe: tuple[Callable[..., Problem], dict[str, Any]] | None = None
    last: Solution | None = None

    def first_guess(self, seed: int | None = None) -> Array:
        """z to begin with."""
        return guessing.guess(self, self.given_guess, seed)

    def solve(self, z: Array | None = None, multipliers: Any = None, **ipopt: Any) -> Solution:
        """Find the plan. Ctrl-C returns the best iterate."""
        from dalembert.control.search import search

        with self.alone:
            return search(self, z, multipliers, ipopt)

    def again(self, N: int, **changes: Any) -> Problem:
        """The same problem over the same time with N steps, and other changes of what `dmoc` was given."""
        return self.made_with(self.recipe, N, changes)

    def made_with(self, recipe: tuple[Callable[..., Problem], dict[str, Any]] | None, N: int, changes: dict[str, Any]) -> Problem:
        """The problem of a recipe of its own, now or of an earlier plan, with N steps and changes."""
        if recipe is None:
            raise OptionError("this problem was not made by dmoc: it cannot be made with another N.")
        call, given = recipe
        old, N = self.chain.N, read_steps(N)
        scaled: dict[str, Any] = {"N": N}
        phases = np.array([N])
        if len(self.chain.phases) > 1:
            scaled["N"] = [max(2, round(n * N / old)) for n in self.chain.phases]
            phases = np.array(scaled["N"])
        if given.get("h") is not None:  # each phase takes as long as before
            sizes = np.asarray(given["h"], dtype=float) * np.array(self.chain.phases) / phases
            scaled["h"] = sizes if len(sizes) > 1 else float(sizes[0])
        if given.get("waypoints"):
            scaled["waypoints"] = _moved(dict(given["waypoints"]), old, int(phases.sum()))
        if given.get("reference") is not None:
            reference = given["reference"]
            scaled["reference"] = guessing.resampled(self.machine, np.asarray(getattr(reference, "q", reference)), int(phases.sum()) + 1)
        return call(**{**given, **scaled, **changes})

    def step(self, state: Any, shift: bool = False, **ipopt: Any) -> Solution:
        """The plan from another start (q, v), from the last plan and its multipliers: for predictive control.

        shift: the last plan has been followed for one step, so its guess begins there.
        """
        from dalembert.control.predict import step

        with self.alone:
            return step(self, state, shift, ipopt)

    def remember(self, **changes: Any) -> None:
        """What the problem is made again with, after it was aimed or begun elsewhere."""
        if self.recipe is not None:
            call, given = self.recipe
            self.recipe = call, {**given, **{name: value for name, value in changes.items() if value is not None}}

    def __reduce__(self) -> Any:
        """Pickled as what `dmoc` was given, and made again."""
        if self.recipe is None:
            raise OptionError("this problem was not made by dmoc: it cannot be pickled.")
        return _made_again, self.recipe

    def aim(self, goal: Any = None, bounds: Mapping[str, Any] | None = None, reference: Any = None) -> Problem:
        """Another goal, other bounds of q, v, u, another reference to track, of the same kind: nothing is built again."""
        from dalembert.control.aiming import aim

        with self.alone:
            aim(self, goal, bounds, reference)
        return self

    def __repr__(self) -> str:
        return f"Problem({self.machine.whole!r}, {self.chain.N} steps of {self.stepper}, {self.chain.size} variables)"


def _moved(waypoints: Mapping[int, Any], old: int, N: int) -> dict[int, Any]:
    """Waypoints at the nodes nearest to their times, when there are N steps instead."""
    nodes = {k: min(max(round(k * N / old), 1), N - 1) for k in waypoints}
    if len(set(nodes.values())) < len(nodes):
        raise OptionError(
            f"refine: of N = {N} steps the waypoints at nodes {', '.join(map(str, waypoints))} of {old} share a node; take more steps."
        )
    return {nodes[k]: node for k, node in waypoints.items()}


def kept(given: dict[str, Any], machine: Any) -> dict[str, Any]:
    """What a problem is made again with: as it was, whatever happens to the model and the arrays that were given."""
    own = {name: deepcopy(value) if name in PLAIN else value for name, value in given.items()}
    return {**own, "system": machine.whole} if hasattr(machine.formulas, "tree") else own


def _made_again(call: Callable[..., Problem], given: dict[str, Any]) -> Problem:
    return call(**given)
