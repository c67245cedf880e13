"""What a page may change in a simulation while it runs: functions of the simulation, called between two steps.

Gravity, friction and bodies are an edit of the machine (`Simulation.edit`), which carries the state over by name. Another compliance is
another option of the stepper; it and another stepper are a switch (`Simulation.switch`). In all of them the clock goes on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import OptionError
from dalembert.families import fitting
from dalembert.model import Box, Model, Sphere
from dalembert.registry import steppers
from dalembert.runs.choice import unhandled
from dalembert.view.bodied import has_bodies

UP = (1.0, 0.0, 0.0, 0.0)
SHAPES = ("box", "ball")
USUAL = 0.5  # friction


class Start(NamedTuple):
    """Coordinates and rates of joints at the start, by name."""

    q: dict[str, Array]
    v: dict[str, Array]


def start_of(model: Model, q: Array, v: Array) -> Start:
    """A state by the names of its joints."""
    sq, sv = model.q_slices(), model.v_slices()
    return Start({name: q[at].copy() for name, at in sq.items()}, {name: v[at].copy() for name, at in sv.items()})


def reset(sim: Any, start: Start) -> None:
    """Back to the start, at t = 0. What was added since stands where it was put; what was removed stays away."""
    model = sim.model
    if not has_bodies(model):
        sim.reset()
        return
    q, v = model.neutral(), np.zeros(model.nv)
    for at, values, into in ((model.q_slices(), start.q, q), (model.v_slices(), start.v, v)):
        for name, place in at.items():
            if name in values and len(values[name]) == place.stop - place.start:
                into[place] = values[name]
    sim.reset(q, v)


def set_gravity(sim: Any, size: float) -> None:
    """As strong as this, m/s^2, along what it was, or down."""
    now = np.asarray(sim.model.gravity, dtype=float)
    norm = float(np.linalg.norm(now))
    with sim.edit() as m:
        m.set_values({"gravity": (now / norm if norm > 0.0 else np.array([0.0, 0.0, -1.0])) * size})


def set_friction(sim: Any, mu: float) -> None:
    """Of all shapes and all laws of contact; kinetic friction stays in proportion."""
    with sim.edit() as m:
        m._change()
        m._bodies = {name: replace(b, shapes=tuple(_rubbing(s, mu) for s in b.shapes)) for name, b in m._bodies.items()}
        m.world_shapes = tuple(_rubbing(s, mu) for s in m.world_shapes)
        m._contacts = {pair: _law(law, mu) for pair, law in m._contacts.items()}


def _rubbing(shape: Any, mu: float) -> Any:
    return replace(shape, friction=mu) if shape.collide and shape.friction != mu else shape


def _law(law: Any, mu: float) -> Any:
    if not isinstance(law.friction, float) or law.friction <= 0.0:
        return law
    kinetic = None if law.kinetic_friction is None else law.kinetic_friction * mu / law.friction
    return replace(law, friction=mu, kinetic_friction=kinetic)


def friction_of(model: Model) -> float:
    """The usual one: the median of all shapes that collide, USUAL where there are none."""
    found = [s.friction for b in model.bodies for s in b.shapes if s.collide] + [s.friction for s in model.world_shapes if s.collide]
    return float(np.median(found)) if found else USUAL


def set_compliance(sim: Any, eps: float) -> None:
    """Of contacts that have none of their own, m/N: an option of "spook"."""
    sim.switch(eps=eps)


def able_steppers(model: Any) -> list[str]:
    """Names of the steppers that handle a system, the best first."""
    found = []
    for family in fitting(model):
        for s in steppers(system=family.kind):
            if s.family_name == family.name and not s.python and not unhandled(model, family, s):
                found.append(s.name)
    return list(dict.fromkeys(found))


def add_body(sim: Any, kind: str, size: float, mass: float, position: Array, friction: float = USUAL) -> str:
    """A box or a ball of so much, at rest; its name."""
    if kind not in SHAPES:
        raise OptionError(f"add: {kind!r}; expected one of {', '.join(SHAPES)}.")
    shape: Any = Box((size, size, size), friction=friction) if kind == "box" else Sphere(0.5 * size, friction=friction)
    taken = {b.name for b in sim.model.bodies} | {j.name for j in sim.model.joints}
    name = next(f"{kind} {k}" for k in range(1, len(taken) + 2) if f"{kind} {k}" not in taken)
    with sim.edit() as m:
        m.add_body(name, mass, shape.inertia(mass), pose=(position, UP), shapes=[shape])
    return name


def remove_body(sim: Any, name: str) -> None:
    """With the joints, forces and motors that depend on it."""
    with sim.edit() as m:
        m.remove_body(name, cascade=True)


class MotorInputs:
    """A control: inputs of motors, {name: number}, as sliders set them."""

    def __init__(self, sim: Any):
        self.sim, self.inputs = sim, {}  # type: ignore[var-annotated]

    def __call__(self, t: float, q: Array, v: Array) -> Any:
        model = self.sim.model
        known: Mapping[str, float] = {m.name: self.inputs.get(m.name, 0.0) for m in model.motors}
        if self.sim.stepper.engine_name == "spook":  # which takes inputs by name
            return known
        from dalembert.model.motors import forces

        return forces(model, known, q, v)


def set_motor(sim: Any, control: MotorInputs, name: str, value: float) -> None:
    """The input of a motor; the first one makes the simulation a steered one."""
    control.inputs[name] = value
    if sim.control is not control:
        with sim.edit(control=control):
            pass
