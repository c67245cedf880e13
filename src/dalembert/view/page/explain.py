"""The items of a report in plain words: what was promised, what was measured, what the limit is."""

from __future__ import annotations

from dalembert.report.items import Item

#: what an item measures, by its name
MEANING = {
    "run": "Whether the run reached its end.",
    "momentum": "Linear and angular momentum along the symmetries of the machine cannot change. Measured: the largest departure from the "
    "start, relative to the momentum itself.",
    "momentum balance": "Forces change momentum by exactly their impulse. Measured: the largest difference between the two, relative to "
    "the momentum.",
    "energy": "Where no force takes or gives energy, it cannot change. Measured: the largest departure of the total "
    "energy, relative to the largest kinetic energy.",
    "energy balance": "Energy changes by exactly the work that was done. Measured: the largest difference between the two, relative to the "
    "energy that moved.",
    "discrete energy": "The energy that the discrete equations themselves conserve. Measured: its largest departure from the start.",
    "dissipation": "Damping, friction and contacts may take energy, never give it. Measured: the most that they gave back, relative to "
    "the energy that moved.",
    "body momentum": "Without torque, the size of the angular momentum is constant. Measured: its largest departure.",
    "attitude": "A rotation must stay a rotation: axes of length one, at right angles. Measured: the largest departure from that.",
    "solver": "Implicit steps solve an equation by iteration. Measured: the most iterations of one step; the limit is where the solver "
    "would give up.",
    "split steps": "Steps that did not converge were repeated in smaller parts, where nothing is promised. Measured: how many.",
    "functions": "Forces that were given as functions and held over each step, which lowers the order of the method.",
    "left out": "Parts of the model that this run was told to ignore.",
    "problems solved": "Each step with contacts solves a problem for their forces. Measured: the largest velocity by which a solution "
    "misses, m/s. Judged: whether the solver gave a step up; the limit is its tolerance.",
    "archive": "Problems of single steps that were kept in a file.",
    "penetration": "Solid bodies should not overlap. Measured: the deepest overlap, m; the limit is a tenth of the smallest shape.",
    "joints": "Joints should stay closed. Measured: the largest gap, m or rad; the limit is a thousandth of the machine.",
    "stiffened": "Joint forces on a light body were too large for the step, and its rotation was damped. Measured: how many times.",
    "rotation": "Bodies that turned too fast for the conserving step, and were stepped by one that takes energy. Measured: how many times.",
    "sleep": "Bodies at rest may sleep until something touches them. Measured: for how long a body slept on average, s.",
    "certified steps": "Steps for which it is proved that their equations have one solution. Measured: the share of them.",
    "apart": "Bodies must not overlap at the nodes. Measured: the deepest overlap, m.",
    "discretisation": "Large steps take energy of their own, or give some. Measured: how much of what moved; the limit is a tenth.",
    "impacts": "An impact may take energy, never give it. Measured: the most that impacts of one interval gave, J.",
    "hops": "Resting contacts that could not be held and were opened. Measured: the energy that this gave, of what moved.",
    "loops": "Joints that close loops must stay closed. Measured: the largest gap (m or rad) or relative rate.",
    "drive": "Driven joints must follow their given motion. Measured: the largest difference in position (m or rad) or rate.",
    "nonholonomic": "Wheels and blades must not slip. Measured: the largest relative slip.",
    "constraints": "Constraints must hold at every node. Measured: their largest residual.",
    "holonomic": "Constraints on positions must hold at every node. Measured: their largest residual.",
    "pfaffian": "Constraints on velocities must hold at every node. Measured: their largest residual.",
    "redundancy": "Constraints that follow from others. Measured: how many, or how well those that were left out are met all the same.",
    "unilateral": "One-sided constraints must not be violated. Measured: the deepest violation.",
}
_OTHER = "A quantity that this kind of system brings with it."
_BY_START = {"momentum of ": "A symmetry of the Lagrangian keeps its momentum constant. Measured: its largest relative departure."}

#: what a verdict means
VERDICTS = {
    "pass": "Every promise that could be judged was kept.",
    "warn": "Nothing promised was broken, but something deserves a look.",
    "fail": "A promise was broken, the motion exploded, or the run ended in an error.",
    "not applicable": "Measured where possible, not judged.",
}


def meaning(item: Item) -> str:
    """What is judged, and what this method promises of it."""
    found = MEANING.get(item.name) or next((x for start, x in _BY_START.items() if item.name.startswith(start)), _OTHER)
    return found if item.promised is None else f"{found} Promised by this method: {item.promised}."


def words_of(item: Item) -> str:
    """What was found, without the verdict at its end."""
    return item.text.removesuffix(f": {item.verdict}")
