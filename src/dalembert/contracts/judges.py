"""How machines of the contract are judged, by the kind of system."""

from __future__ import annotations

from collections.abc import Callable
from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np

from dalembert.arrays import Array
from dalembert.contracts import directors
from dalembert.contracts import lagrangians as formulas
from dalembert.contracts import machines as bodies
from dalembert.contracts.machines import Machine
from dalembert.directors import Directors
from dalembert.errors import OptionError
from dalembert.families import families
from dalembert.lagrangian import Lagrangian
from dalembert.registry import Stepper


class Suite(NamedTuple):
    """Machines of one kind of system for a stepper, and with how many steps and how fast orders of six and more are observed on them."""

    machines: Callable[[Stepper, bool, bool, bool], list[Machine]]
    ladder: list[int]
    speeds: tuple[float, ...]


def _bodies(stepper: Stepper, integrable: bool, trees: bool, constrained: bool) -> list[Machine]:
    symmetric = integrable or "symmetric only" in stepper.handles
    if stepper.system == "bodies":
        return [bodies.cut_top()]
    found = [
        make(symmetric)
        for make, needs in ((bodies.free_body, {"free"}), (bodies.top, {"pivot", "gravity"}))
        if stepper.python or needs <= set(stepper.handles)
    ]
    if not found:
        raise OptionError(f"stepper {stepper.name!r} handles {stepper.handles}; expected at least 'free', or 'pivot' and 'gravity'.")
    if trees and stepper.system == "tree":
        found += [bodies.floating_chain(), bodies.pinned_chain()]
    return found


def _formulas(stepper: Stepper, integrable: bool, trees: bool, constrained: bool) -> list[Any]:
    return formulas.systems(stepper, constrained, simple=not trees)


def _directors(stepper: Stepper, integrable: bool, trees: bool, constrained: bool) -> list[Any]:
    return directors.machines(integrable, trees)


SUITES = {
    "model": Suite(_bodies, [round(2 ** (k / 3)) for k in range(9, 34)], (4.0, 8.0, 16.0)),
    "directors": Suite(_directors, [round(2 ** (k / 3)) for k in range(9, 34)], (4.0, 8.0, 16.0)),
    "lagrangian": Suite(_formulas, formulas.LADDER, (1.0, 0.5)),  # half the speed: a planet that falls deeper
}


def suite_of(stepper: Stepper) -> Suite:
    """The suite of the systems that a stepper is for; methods in Python run on models."""
    kind = next((family.of for family in families() if family.kind == stepper.system), "model")
    if kind not in SUITES:
        raise OptionError(f"stepper {stepper.name!r}: there is no contract for systems of kind {kind!r}; there is for {sorted(SUITES)}.")
    return SUITES[kind]


@singledispatch
def reference(system: Any, q: Array, v: Array, t_end: float) -> tuple[Array, Array]:
    """q and v at t_end by SciPy."""
    return bodies.reference((system, q, v), t_end)


@reference.register
def _(system: Lagrangian, q: Array, v: Array, t_end: float) -> tuple[Array, Array]:
    return formulas.reference((system, q, v), t_end)


@reference.register
def _(system: Directors, q: Array, v: Array, t_end: float) -> tuple[Array, Array]:
    return directors.reference(system, q, v, t_end)


@singledispatch
def momentum_error(system: Any, q: Array, v: Array) -> float:
    """Departure of the spatial momentum that the symmetry allows, of its size, or of position times linear momentum."""
    momentum = system.momentum(q, v)
    kept = momentum[:, [2]] if np.any(system.gravity) else momentum
    position = np.linalg.norm(q[:, :3], axis=1).max() if system.joints[0].kind == "free" else 0.0
    scale = max(np.linalg.norm(momentum[0, :3]), position * np.linalg.norm(momentum[0, 3:]))
    return float(np.abs(kept - kept[0]).max() / scale)


@momentum_error.register
def _(system: Lagrangian, q: Array, v: Array) -> float:
    return formulas.momentum_error(system, q, v)


@momentum_error.register
def _(system: Directors, q: Array, v: Array) -> float:
    return directors.momentum_error(system, q, v)


@singledispatch
def keeps_energy(system: Any, stepper: Stepper, t: Array, q: Array, v: Array) -> tuple[bool, str]:
    """(ok, words). Exactly: 1e-11. Bounded: the drift by the regression slope over the long run is below a twentieth of the band.

    Trees move chaotically and wander in their band for thousands of steps: there the slope is below half of the band, and the band at most
    three times that of the first tenth of the run.
    """
    energy = system.energy(q, v) / system.kinetic_energy(q, v).max()
    band = float(np.ptp(energy))
    drift = abs(float(np.polyfit(t / t[-1], energy, 1)[0]))
    single, free = len(system.bodies) == 1, not np.any(system.gravity)
    exactly = single and free and stepper.promise("energy of the free body") == "exactly"
    if single:
        ok = band < 1e-11 if exactly else drift < 0.05 * band + 1e-13
    else:
        ok = drift < 0.5 * band and band < 3.0 * float(np.ptp(energy[: len(energy) // 10]))
    return ok, f"{system.name.split(': ')[1]}: band {band:.1e}, drift {drift:.1e}{' (exactly)' if exactly else ''}"


@keeps_energy.register
def _(system: Lagrangian, stepper: Stepper, t: Array, q: Array, v: Array) -> tuple[bool, str]:
    return formulas.keeps_energy(system, t, q, v, stepper.promise("energy") == "exactly")


@keeps_energy.register
def _(system: Directors, stepper: Stepper, t: Array, q: Array, v: Array) -> tuple[bool, str]:
    return directors.keeps_energy(system, stepper, t, q, v)
