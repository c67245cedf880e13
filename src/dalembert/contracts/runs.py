"""Runs from which the contract of a stepper is judged: its machines, engines, errors over step sizes, long runs, derivatives of a step."""

from __future__ import annotations

from collections.abc import Callable
from functools import singledispatch
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.contracts.directors import Chart
from dalembert.contracts.judges import reference, suite_of
from dalembert.contracts.machines import Machine
from dalembert.directors import Directors
from dalembert.errors import SimulationError
from dalembert.groups import se3, so3
from dalembert.kernels.status import MEANING, OK
from dalembert.registry import Stepper
from dalembert.runs.plan import Plan

ORDER_STEPS = {1: 0.004, 2: 0.04, 3: 0.05, 4: 0.08}  # largest h of the order test
T_ORDER = 2.0
HIGH_ORDER_FLOOR = 3e-11  # a hundred times the error of the reference (1e-13 relative)
PYTHON_STEPS, KERNEL_STEPS = 2_000, 100_000
DENSE_STEPS = 20_000  # of steppers whose steps are dense matrices
LONG_STEPS = {"contract: floating chain": 0.1}  # h of long runs; 0.05 for the other machines


def machines(stepper: Stepper, integrable: bool = False, trees: bool = True, constrained: bool = True) -> list[Machine]:
    """The machines of the contract that a stepper handles: single bodies, and trees where it is a stepper for them; or Lagrangians.

    The motion of an asymmetric top is chaotic: `integrable` asks for symmetric bodies. trees=False: the simplest machines alone.
    """
    return suite_of(stepper).machines(stepper, integrable, trees, constrained)


def engine_of(stepper: Stepper, machine: Machine, h: float, weights: Any = (1.0,), options: Any = None) -> Any:
    """An engine at the start of a machine."""
    model, q, v = machine
    engine = Plan.bare(model, stepper, h, weights, **(options or {})).engine()
    engine.start(q, v)
    return engine


def end_state(engine: Any, n: int) -> tuple[Array, Array]:
    """q and v after n steps."""
    found = engine.advance(n, n)
    if found.error is not None:
        raise found.error
    if found.status != OK:
        raise SimulationError(f"{MEANING[found.status]} at step {engine.steps}, h = {engine.h}")
    q, v = engine.observe()
    return q.copy(), v.copy()


def observed_order(stepper: Stepper, machine: Machine, order: int, weights: Any = (1.0,)) -> tuple[float, list[float]]:
    """Slope of log error over log h, and the errors, at five step sizes.

    Up to order 5 they are halved. Higher orders fall from 1e-6 to the accuracy of the reference in two halvings: the number of steps
    grows by the cube root of 2, the last five errors above the floor count, and a motion for which there are fewer is made twice as fast.
    """
    if order < 6:
        first = round(T_ORDER / ORDER_STEPS.get(order, 0.5))
        points = errors_of(stepper, machine, weights, [first * 2**k for k in range(5)], 0.0)
    else:
        suite = suite_of(stepper)
        for speed in suite.speeds:
            points = errors_of(stepper, (machine[0], machine[1], speed * machine[2]), weights, suite.ladder, HIGH_ORDER_FLOOR)
            if len(points) >= 5:
                break
    points = points[-5:]
    if len(points) < 5:
        raise SimulationError(f"only {len(points)} step sizes could be used to observe order {order}")
    hs, errors = zip(*points, strict=True)
    return float(np.polyfit(np.log(hs), np.log(errors), 1)[0]), list(errors)


def reference_of(machine: Machine) -> tuple[Array, Array]:
    """q and v at T_ORDER by SciPy."""
    return reference(*machine, T_ORDER)


def errors_of(stepper: Stepper, machine: Machine, weights: Any, ladder: list[int], floor: float) -> list[tuple[float, float]]:
    """(h, error of the end state) for growing numbers of steps, until the error is below the floor."""
    points: list[tuple[float, float]] = []
    for n in ladder:
        engine = engine_of(stepper, machine, T_ORDER / n, weights)
        try:
            q, v = end_state(engine, n)
        except SimulationError:
            continue  # too large a step for this method; enough smaller ones must remain
        q_ref, v_ref = reference(*machine, engine.time) if stepper.clocked else reference_of(machine)
        error = float(max(np.abs(machine[0].difference(q_ref, q)).max(), np.abs(v - v_ref).max()))
        if error < floor:
            break
        points.append((T_ORDER / n, error))
    return points


def long_run(stepper: Stepper, machine: Machine, steps: int = KERNEL_STEPS) -> tuple[Array, Array, Array]:
    """t, q, v of a long run, about 10,000 nodes of it."""
    n = min(steps, PYTHON_STEPS if stepper.python else DENSE_STEPS if stepper.system == "directors" else steps)
    h = LONG_STEPS.get(machine[0].name, 0.05)
    engine = engine_of(stepper, machine, h)
    first = engine.state.copy()
    chunk = engine.advance(n, max(1, n // 10_000))
    if chunk.error is not None:
        raise chunk.error
    if chunk.status != OK:
        raise SimulationError(f"{MEANING[chunk.status]} at step {engine.steps} of {n}, h = {h}")
    found = engine.unpack(np.vstack([first, chunk.states]))
    return np.concatenate([[0.0], chunk.t]), found["q"], found["v"]


def step_derivative(stepper: Stepper, machine: Machine, h: float = 0.1) -> tuple[Array, Array, Array]:
    """(derivative of one step by differences of fourth order, p at its start, p at its end)."""
    return derivative(machine[0], stepper, machine, h)


@singledispatch
def derivative(system: Any, stepper: Stepper, machine: Machine, h: float) -> tuple[Array, Array, Array]:
    """`step_derivative` by the kind of system."""
    model, q0, v0 = machine
    n = model.nv
    p0 = model.mass_matrix(q0) @ v0

    def step(x: Array) -> tuple[Array, Array]:
        q = model.integrate(q0, x[:n])
        v = np.asarray(np.linalg.solve(model.mass_matrix(q), p0 + x[n:]), dtype=float)
        q1, v1 = end_state(engine_of(stepper, (model, q, v), h), 1)
        return q1, model.mass_matrix(q1) @ v1

    q_end, p_end = step(np.zeros(2 * n))

    def along(x: Array) -> Array:
        q, p = step(x)
        return np.concatenate([model.difference(q_end, q), p - p_end])

    return _by_differences(along, 2 * n), p0, p_end


@derivative.register
def _(system: Directors, stepper: Stepper, machine: Machine, h: float) -> tuple[Array, Array, Array]:
    _, q0, v0 = machine
    before = Chart(system, q0)
    after = Chart(system, end_state(engine_of(stepper, machine, h), 1)[0])
    start = before.coordinates(q0, v0)

    def along(x: Array) -> Array:
        return after.coordinates(*end_state(engine_of(stepper, (system, *before.state(start + x)), h), 1))  # type: ignore[arg-type]

    return _by_differences(along, 2 * before.k), np.zeros(before.k), np.zeros(before.k)


def _by_differences(along: Callable[[Array], Array], n: int) -> Array:
    """The derivative at 0, (n, n)."""
    e, T = 2e-3, np.empty((n, n))
    for i, d in enumerate(e * np.eye(n)):
        T[:, i] = (8 * (along(d) - along(-d)) - (along(2 * d) - along(-2 * d))) / (12 * e)
    return T


def omega(model: Any, p: Array) -> Array:
    """The symplectic form at a momentum p; of canonical coordinates, those of directors, it is constant."""
    n = len(p)
    A = np.zeros((n, n))
    for joint in getattr(model, "joints", ()):
        if joint.kind in ("free", "spherical"):
            at = model.v_slices()[joint.name]
            ad = se3.ad if joint.kind == "free" else so3.hat
            A[at, at] = np.array([p[at] @ ad(e) for e in np.eye(at.stop - at.start)])
    return np.block([[A, np.eye(n)], [-np.eye(n), np.zeros((n, n))]])
