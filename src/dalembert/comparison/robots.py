"""What a comparison of whole robots needs beside the methods: a smooth machine, a start, methods that fit.

Compared is smooth dynamics. Contacts, limits, joint friction and loops are left out for every method alike, and motors give no force.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.comparison.methods import Method
from dalembert.comparison.tree_momentum import floats
from dalembert.errors import OptionError
from dalembert.families import find_family, fitting
from dalembert.model import Model
from dalembert.model.forces import features
from dalembert.model.parts import WORLD
from dalembert.model.rotation import quat_conj, rotate
from dalembert.registry import steppers
from dalembert.runs import choice

RIVALS = ("mujoco:euler", "mujoco:implicitfast", "mujoco:rk4")
ROUGH = {"contact", "limits", "spherical limits", "joint friction", "loops"}  # what no comparison includes
BENT = 0.3  # of a random start: rad or m


def smooth(model: Model, armature: bool = True) -> Model:
    """A copy without contacts, damping, joint friction, stiffness, limits, loops, forces; without armature if that is not wanted."""
    left = model.without((*ROUGH, "damping", "stiffness", *features(), *(() if armature else ("armature",))))
    return left.copy()


def with_gravity(model: Model, gravity: Any = (0.0, 0.0, 0.0)) -> Model:
    """A copy under another gravity, m/s^2; none by default."""
    return Model.from_dict({**model.to_dict(drop_functions=True), "gravity": list(gravity)})


def left_out(model: Model) -> tuple[str, ...]:
    """Features of the model that no comparison includes."""
    return tuple(sorted(find_family(model).features(model) & ROUGH))


def random_start(model: Model, seed: int = 0, speed: float = 1.0) -> tuple[Array, Array]:
    """(q, v): a little bent, joints at rates up to `speed` (rad/s, m/s); a floating machine turns in place, its centre of mass at rest."""
    rng = np.random.default_rng(seed)
    bend, v = rng.uniform(-BENT, BENT, model.nv), rng.uniform(-speed, speed, model.nv)
    for j in model.joints:
        if j.coordinates.absolute:
            bend[model.v_slices()[j.name]] = 0.0
    q = model.integrate(model.neutral(), bend)
    roots = [j for j in model.joints if j.parent == WORLD]
    if len(roots) == 1 and roots[0].kind == "free" and floats(model):
        drift = model.momentum(q, v)[3:] / model.total_mass
        at = model.q_slices()[roots[0].name].start
        v[model.v_slices()[roots[0].name]][3:] -= rotate(quat_conj(q[at + 3 : at + 7]), drift)
    return q, v


def default_methods(model: Model, h: float, ignore: tuple[str, ...] = ()) -> list[Method]:
    """The first variational stepper that handles the model (else the first of all), and three integrators of MuJoCo, at one step."""
    known = [(f, s) for f in fitting(model) for s in steppers(system=f.name) if not s.python]
    able = [s for f, s in known if not choice.unhandled(model, f, s, ignore)]
    if not able:
        choice.choose_stepper(model, None, ignore)  # says why
    own = next((s for s in able if s.symplectic), able[0])
    return [Method(name, h) for name in (own.name, *RIVALS)]


def check_energy(model: Model) -> None:
    """OptionError for a machine whose energy is not conserved: methods could not be told apart by it."""
    damped = [j.name for j in model.joints if j.damping > 0]
    forces = sorted({f.kind for f in model.forces if not f.has_potential() or "damping" in f.features})
    if not damped and not forces:
        return
    what = [f"damping of {len(damped)} joints ({', '.join(damped[:3])}{', ...' if len(damped) > 3 else ''})"] if damped else []
    raise OptionError(
        f"model {model.name!r} has {' and '.join([*what, *forces])}: its energy changes, so there is nothing to compare. --smooth takes "
        "away damping, joint friction, stiffness, limits and forces; --reference mk8 compares end states instead."
    )
