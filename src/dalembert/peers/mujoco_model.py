"""Our Model as a compiled MuJoCo model, for comparisons of smooth dynamics: explicit inertias, no geometry.

Bodies that are fixed to each other become one. MuJoCo's joints act on a body one after the other, about anchors and axes that the ones
before have moved; so a joint of ours is a chain of primitive joints on its child, and a massless frame that carries a single body gives
its joints to that body: MuJoCo has no more bodies to step than the machine has. They come in the order of
`conventions.depth_first`, which makes `model.to_mujoco` and `model.from_mujoco` hold for what is built here.
Contacts, limits, joint friction, loops (all that MuJoCo calls constraints) and the automatic reset after a divergence are off.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import OptionError, UnsupportedError
from dalembert.importers.conventions import depth_first
from dalembert.model import Model
from dalembert.model.lumps import Rigid, lump
from dalembert.model.parts import WORLD, Body, Joint
from dalembert.model.rotation import quat_conj, quat_mul, rotate

TYPES = {"revolute": "HINGE", "prismatic": "SLIDE", "spherical": "BALL", "free": "FREE"}
OFF = ("CONTACT", "CONSTRAINT", "AUTORESET")


def library() -> Any:
    """The module `mujoco`."""
    try:
        import mujoco
        import mujoco.rollout
    except ImportError as problem:
        raise OptionError("MuJoCo is not installed, so no 'mujoco:...' method can be compared; pip install mujoco.") from problem
    return mujoco


def compile_model(model: Model, h: float, integrator: str) -> Any:
    """The MjModel of a tree, with MuJoCo's name of an integrator ("Euler", "implicitfast", "implicit", "RK4")."""
    mujoco = library()
    spec = mujoco.MjSpec()
    spec.compiler.degree = False
    spec.compiler.boundmass = spec.compiler.boundinertia = 0.0
    spec.compiler.balanceinertia = spec.compiler.autolimits = spec.compiler.alignfree = False
    spec.option.timestep, spec.option.gravity = float(h), model.gravity
    spec.option.integrator = getattr(mujoco.mjtIntegrator, f"mjINT_{integrator.upper()}")
    spec.option.disableflags = sum(int(getattr(mujoco.mjtDisableBit, f"mjDSBL_{word}")) for word in OFF)
    _Writer(model, spec).write()
    try:
        return spec.compile()
    except (ValueError, RuntimeError, mujoco.FatalError) as problem:
        why = " ".join(str(problem).split())
        raise UnsupportedError(f"model {model.name!r} cannot be built in MuJoCo, which says: {why}") from None


class _Writer:
    """Adds the bodies of a model to a spec, parents first."""

    def __init__(self, model: Model, spec: Any):
        self.model, self.ref = model, model.source.get("ref", {})
        self.types = library().mjtJoint
        self.carriers: dict[str, Any] = {WORLD: spec.worldbody}
        self.frames: dict[str, tuple[Array, Array]] = {WORLD: (np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0]))}
        self.pending: dict[str, list[Joint]] = {WORLD: []}  # joints of massless frames that wait for a body with mass
        self.lead, self.wholes = lump(model)
        self.moving = [j for j in depth_first(model) if j.kind != "fixed"]

    def write(self) -> None:
        """All bodies."""
        for joint in self.moving:
            whole, parent = self.wholes[joint.child], self.lead[joint.parent]
            chain = [*self.pending[parent], joint]
            carried = sum(self.lead[j.parent] == joint.child for j in self.moving)
            if whole.mass == 0.0 and not whole.inertia.any() and carried == 1:
                self.carriers[joint.child], self.frames[joint.child] = self.carriers[parent], self.frames[parent]
                self.pending[joint.child] = chain
            else:
                self._add(whole, parent, chain)

    def _add(self, whole: Rigid, parent: str, chain: list[Joint]) -> None:
        (p, q), body, I = self.frames[parent], whole.body, whole.inertia
        added = self.carriers[parent].add_body(
            pos=rotate(quat_conj(q), body.position - p),
            quat=quat_mul(quat_conj(q), body.quaternion),
            mass=whole.mass,
            ipos=whole.com,
            explicitinertial=True,
            **({"fullinertia": [I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]]} if I.any() else {"inertia": np.zeros(3)}),
        )
        for joint in chain:
            self._add_joint(added, body, joint)
        self.carriers[body.name], self.frames[body.name] = added, (body.position, body.quaternion)
        self.pending[body.name] = []

    def _add_joint(self, added: Any, body: Body, joint: Joint) -> None:
        """The primitives of one joint; axes come in the axes of its own child at the reference configuration."""
        back, child, absolute = quat_conj(body.quaternion), self.model.body(joint.child), joint.coordinates.absolute
        for kind, axis, *_ in joint.coordinates.primitives(self.model.joint_axes(joint)):
            if kind not in TYPES:
                raise UnsupportedError(f"joint {joint.name!r}: MuJoCo has no joint of kind {kind!r}.")
            made = added.add_joint(type=getattr(self.types, f"mjJNT_{TYPES[kind]}"))
            made.damping[0], made.stiffness[0], made.armature = joint.damping, joint.stiffness, joint.armature
            if kind != "free" and not absolute:
                made.pos = rotate(back, joint.anchor - body.position)
            if axis is not None:
                made.axis = rotate(back, rotate(child.quaternion, np.asarray(axis)))
                made.ref = float(made.axis @ rotate(back, child.position)) if absolute else self.ref.get(joint.name, 0.0)
                made.springref = made.ref + joint.rest
