"""A problem is put together: variables with their bounds, blocks of rows and costs, parameters."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from dalembert.arrays import Array
from dalembert.control import avoidance, ends, targets
from dalembert.control.blocks import Block
from dalembert.control.chain import Chain, Numbers
from dalembert.control.conserved import without_the_known
from dalembert.control.costs import final_block, terms
from dalembert.control.galerkin import INNER
from dalembert.control.machine import machine_of
from dalembert.control.power import power_blocks
from dalembert.control.problem import Problem
from dalembert.control.program import Program
from dalembert.control.reading import check_inside, read_bounds, read_path, read_reference, read_turn, read_waypoints
from dalembert.control.units import units_of
from dalembert.errors import OptionError, UnknownNameError
from dalembert.lagrangian.stages import STAGES
from dalembert.runs.plan import Plan
from dalembert.steppers.compose import find_composition

TREES_ONLY = ("null-space",)  # steppers of bodies
SHORTEST = 1e-9  # s: a step whose size is free
SPREAD = 10.0  # by how much the step of a phase may differ from the mean one


class Draft:
    """A problem while it is put together: variables with their bounds, blocks, parameters.

    What adds to it (avoidance, contacts) calls `take` for variables, `add` for blocks, and may leave a function of (problem, z) in
    `guesses` that writes its part of the first guess.
    """

    def __init__(self, machine: Any, chain: Chain, numbers: Numbers):
        self.machine, self.chain, self.numbers = machine, chain, numbers
        self.least, self.most = np.full(chain.size, -np.inf), np.full(chain.size, np.inf)
        self.blocks: list[Block] = []
        self.guesses: list[Callable[[Any, Array], None]] = []
        self.notes: list[str] = []
        self.apart: list[Any] = []  # pairs of solids that are kept apart (control/separation.py)
        self.margin = 0.0
        self.forces: list[Array] = []  # places of variables that are forces or impulses, beyond those of the chain
        self.speeds: dict[str, Array] = {}  # places of velocities of nodes that are variables, by node
        self.given: dict[int, Array] = {}  # q of nodes of which all of it is wanted

    def take(self, n: int, names: Sequence[str], least: Any = -np.inf, most: Any = np.inf, force: bool = False) -> Array:
        """Places of n more variables; force: they are forces, impulses or powers, as large as the machine is heavy."""
        at = self.chain.take(n, names)
        if force:
            self.forces.append(at)
        self.least = np.concatenate([self.least, np.broadcast_to(np.asarray(least, dtype=float), (n,))])
        self.most = np.concatenate([self.most, np.broadcast_to(np.asarray(most, dtype=float), (n,))])
        return at

    def add(self, *blocks: Block) -> None:
        """Further terms."""
        self.blocks += blocks


class Wanted(NamedTuple):
    """What is wanted of the first node, of the last one, and of some in between: (k, node)."""

    first: ends.Node
    last: ends.Node
    places: list[tuple[int, ends.Node]]


def draft(
    system: Any,
    phases: Sequence[int],
    sizes: Array,
    limits: tuple[float, float] | None,
    start: Any,
    goal: Any,
    *,
    cost: Any = "effort",
    bounds: Mapping[str, Any] | None = None,
    path: Any = None,
    periodic: Any = False,
    guess: Any = None,
    starts: int = 1,
    stepper: str = "midpoint",
    compose: str | None = None,
    inputs: Any = None,
    waypoints: Any = (),
    reference: Any = None,
    final: Any = None,
    avoid: Any = (),
    ignore: Any = (),
    seed: int = 0,
    progress: bool | None = None,
    double: Sequence[int] = (),
    phase_limits: Any = None,
    extras: Sequence[Callable[[Draft], None]] = (),
    **ipopt: Any,
) -> Problem:
    """The problem of several phases. sizes: h of each, limits: of the whole time, None where all h are fixed.

    double: nodes with a momentum before and one after. phase_limits: (least, most) h of each phase. extras: called with the draft.
    """
    began = time.perf_counter()
    _check_count("starts", starts, 1, "a whole number of guesses")
    _check_count("seed", seed, 0, "a whole number")
    bounds = {} if bounds is None else bounds
    machine, N = machine_of(system, inputs, ignore), sum(phases)
    duration = None if limits is not None else float(np.dot(phases, sizes))
    wanted, notes = _read_nodes(machine, start, goal, waypoints, N, duration, changes=len(double) > 0)
    chain = _chain(machine, phases, sizes, limits is not None, double, stepper, compose)
    made = Draft(machine, chain, Numbers(None if reference is None else read_reference(machine, reference, N)))
    made.notes += notes
    if not _known(wanted.first) and not periodic:
        raise OptionError("dmoc: the start leaves coordinates free; expected all of q, or periodic=True.")
    _add_motion(made, stepper, terms(cost), sizes, wanted.last)
    box(made, bounds, sizes, limits)
    if limits is not None:
        _clock(made, phases, sizes, limits, phase_limits, read_turn(bounds))
    check_inside(machine, wanted.first, wanted.last, bounds)
    _fix_nodes(made, wanted, N)
    _add_wishes(made, periodic, path, final)
    avoidance.add(made, avoid, *wanted)
    for extra in extras:
        extra(made)
    units = units_of(made, [wanted.first, wanted.last, *(node for _, node in wanted.places)])
    program = Program(made.least, made.most, chain.name, made.blocks, np.array(made.numbers.values), ipopt, units)
    return Problem(
        machine, chain, stepper, compose, sizes, program=program, start=wanted.first, goal=wanted.last, notes=made.notes, total=limits,
        starts=starts, seed=seed, given_guess=guess, progress=progress, waypoints=wanted.places, guesses=made.guesses, made=made,
        contacts=[], bounds=dict(bounds), built=time.perf_counter() - began,
    )  # fmt: skip


def _check_count(name: str, value: Any, least: int, what: str) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise OptionError(f"dmoc: {name} is {value!r}; expected {what}, at least {least}.")


def _read_nodes(
    machine: Any, start: Any, goal: Any, waypoints: Any, N: int, duration: float | None, changes: bool
) -> tuple[Wanted, list[str]]:
    """What is wanted of nodes, and notes on it. duration: of the whole motion, where it is known. changes: contacts change momentum."""
    first, last = ends.read(machine, start, "start", start=True), ends.read(machine, goal, "goal")
    places = read_waypoints(machine, waypoints, N)
    ends.one_sheet(targets.quaternions(machine), [first, *(node for _, node in places), last])
    known: list[str] = []
    if not changes:
        last, known = without_the_known(machine, first, last, duration)
    return Wanted(first, last, places), [*_independent(machine, first), *known]


def _chain(
    machine: Any, phases: Sequence[int], sizes: Array, timed: bool, double: Sequence[int], stepper: str, compose: str | None
) -> Chain:
    """Unknowns of all steps. timed: h is one of them. What the simulator would refuse is refused."""
    weights = (1.0,) if compose is None else tuple(find_composition(compose).weights)
    _check_stepper(machine, stepper)
    Plan.of(machine.whole, stepper, float(sizes[0]), compose, machine.ignore, call="dmoc")
    return Chain(machine, phases, weights, timed, double, stepper)


def _add_motion(made: Draft, stepper: str, costs: Any, sizes: Array, last: ends.Node) -> None:
    """Steps with what they cost, and what closes the motion."""
    made.add(made.chain.step_block(stepper, costs, sizes, made.numbers))
    made.add(*power_blocks(made, costs))
    _closed(made, last)


def _fix_nodes(made: Draft, wanted: Wanted, N: int) -> None:
    """Start, goal and waypoints."""
    chain, at = made.chain, made.chain.nodes
    targets.fix(made, wanted.first, chain.q[0], chain.p[0], "node 0", whole=True)
    targets.fix(made, wanted.last, chain.q[at[-1]], chain.p_after[N], f"node {N}", whole=False)
    for k, node in wanted.places:
        targets.fix(made, node, chain.q[at[k]], chain.p[at[k]], f"node {k}", whole=False)
    made.given = {k: node.q for k, node in ((0, wanted.first), *wanted.places, (N, wanted.last)) if _known(node)}


def _add_wishes(made: Draft, periodic: Any, path: Any, final: Any) -> None:
    """What holds between first and last node, along the path, and the cost of the last one."""
    if periodic:
        made.add(*(periodic(made) if callable(periodic) else targets.periodic(made.machine, made.chain, periodic)))
    made.add(*targets.path_blocks(made.machine, made.chain, read_path(path)))
    if final is not None:
        made.add(final_block(made, final))


def _independent(machine: Any, first: ends.Node) -> list[str]:
    """Rows of loops that depend on others are left out; said."""
    if machine.rows is None:
        return []
    q = np.where(np.isfinite(first.q), first.q, machine.system.neutral())
    left = machine.rows.keep(q)
    error = np.abs(np.array(machine.rows._residual(q))).max(initial=0.0)
    if np.isfinite(first.q).all() and error > 1e-6:
        raise OptionError(f"dmoc: the start does not close the loops (by {error:.3g}); m.assemble(q) finds a configuration that does.")
    return [f"{left} constraint rows depend on the others and are left out"] if left else []


def _closed(made: Draft, last: ends.Node) -> None:
    """Where the goal gives all of q, its loops are closed or not, whatever the plan does."""
    rows, steps = made.machine.rows, made.blocks[0]
    if rows is None or not rows.holonomic or not np.isfinite(last.q).all():
        return
    error = np.abs(np.array(rows._residual(last.q)).ravel()[: rows.holonomic]).max()
    if error > 1e-6:
        raise OptionError(f"dmoc: the goal does not close the loops (by {error:.3g}); m.assemble(q) finds a configuration that does.")
    first = steps.size - rows.count
    steps.lower[-1, first : first + rows.holonomic], steps.upper[-1, first : first + rows.holonomic] = -np.inf, np.inf


def _check_stepper(machine: Any, stepper: str) -> None:
    flat = machine.formulas.chart.flat and not hasattr(machine.formulas, "tree")
    known = (*STAGES, *(INNER if flat else ())) if not flat else tuple(name for name in (*STAGES, *INNER) if name not in TREES_ONLY)
    if stepper not in known:
        raise UnknownNameError(f"stepper of a plan of {machine.whole!r}", stepper, known)


def _known(node: ends.Node) -> bool:
    return bool(np.isfinite(node.q).all())


def _clock(made: Draft, phases: Sequence[int], sizes: Array, limits: tuple[float, float], each: Any, turn: float | None) -> None:
    """Bounds of the steps of the phases, of their sum, and of what turns in a step."""
    machine, chain, N = made.machine, made.chain, sum(phases)
    if each is None:
        spread = 1.0 if len(phases) == 1 else SPREAD
        least, most = np.full(len(phases), limits[0] / N / spread), np.full(len(phases), limits[1] / N * spread)
    else:
        least, most = np.asarray(each, dtype=float).T
    least = np.maximum(least, np.minimum(SHORTEST, most))  # IPOPT relaxes bounds by 1e-10: steps stay positive
    made.least[chain.h], made.most[chain.h] = least, most
    if len(phases) > 1:
        h = ca.SX.sym("h", len(phases))
        total = ca.dot(h, ca.DM(list(phases)))
        made.add(Block("time", h, chain.h, rows=total, lower=limits[0], upper=limits[1], names=["total time"], places=["all"]))
    if machine.turning.any() and turn is not None:
        made.add(targets.turn_block(machine, chain, turn))


def box(made: Draft, bounds: Mapping[str, Any], h: Array, limits: Any) -> None:
    """Least and most of the variables of all nodes and steps."""
    machine, chain, least, most = made.machine, made.chain, made.least, made.most
    q, v, u = read_bounds(machine, bounds)
    for at, pair in ((chain.q, q), (chain.v, v), (chain.u, u)):
        least[at], most[at] = pair[:, 0], pair[:, 1]
    turn = read_turn(bounds)
    if turn is not None and limits is None:
        at, stages = chain.v[:, machine.turning], len(chain.weights)
        sizes = np.repeat(h[chain.phase_of], stages) * np.tile(np.abs(chain.weights), chain.N)
        largest = (turn / sizes)[:, None]
        least[at], most[at] = np.maximum(least[at], -largest), np.minimum(most[at], largest)
