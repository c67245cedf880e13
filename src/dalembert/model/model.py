"""`Model`: a machine, built part by part. `simulate` works on a frozen copy."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dalembert.errors import ModelError, OptionError, UnknownNameError
from dalembert.model import forces as force_module
from dalembert.model import kinematics, shapes, validate
from dalembert.model.parts import WORLD, Body, Joint
from dalembert.model.rotation import Array


class Model:
    """A machine: bodies, joints, forces, gravity.

    A body without a joint to a parent is free: it gets an implicit free joint that carries its name, at its place in the order of q and v.

        m = dal.Model("top")
        m.add_body("rotor", mass=1.0, inertia=(1, 1, 2), com=(0, 0, 0.5))
        m.add_joint("tip", "spherical", "world", "rotor")
    """

    def __init__(self, name: str = "", gravity: ArrayLike = (0.0, 0.0, -9.81)):
        self.name = str(name)
        self.gravity = validate.vector(f"model {name!r}", "gravity", gravity, 3)
        self._bodies: dict[str, Body] = {}
        self._joints: dict[str, Joint] = {}
        self._implicit: set[str] = set()
        self._forces: list[Any] = []
        self._frozen = False

    # building ------------------------------------------------------------------------------------------------------------------

    def _change(self) -> None:
        if self._frozen:
            raise ModelError(
                f"model {self.name!r} belongs to a run and is frozen; build or change a model before it is simulated, or copy() it."
            )

    def add_body(self, name: str, mass: float, inertia: ArrayLike, com: ArrayLike = (0, 0, 0), pose: Any = None, shapes: Any = ()) -> Body:
        """Add a body. inertia: 3 principal moments or a 3x3 matrix about the centre of mass; pose: 4x4 or (position, quaternion)."""
        self._change()
        if name in self._bodies:
            raise ModelError(f"body {name!r}: the model has a body of this name already.")
        body = Body.build(name, mass, inertia, com, pose, shapes)
        self._bodies[name] = body
        self._joints[name] = Joint.build(name, "free", WORLD, name, body.position, (0, 0, 1), None)
        self._implicit.add(name)
        return body

    def add_joint(
        self,
        name: str,
        kind: str,
        parent: str,
        child: str,
        anchor: ArrayLike = (0, 0, 0),
        axis: ArrayLike = (0, 0, 1),
        damping: float = 0,
        friction: float = 0,
        stiffness: float = 0,
        armature: float = 0,
        limits: Any = None,
    ) -> Joint:
        """Join a child to a parent (a body or "world"); anchor and axis in world coordinates at the reference configuration."""
        self._change()
        if name in self._joints and name not in self._implicit:
            raise ModelError(f"joint {name!r}: the model has a joint of this name already.")
        if name in self._implicit and name != child:
            raise ModelError(f"joint {name!r}: body {name!r} is free and its implicit joint carries this name.")
        for role, body in (("parent", parent), ("child", child)):
            if body not in self._bodies and not (role == "parent" and body == WORLD):
                raise UnknownNameError(f"{role} of joint {name!r}", body, [*self._bodies, *([WORLD] if role == "parent" else [])])
        joint = Joint.build(
            name, kind, parent, child, anchor, axis, limits, damping=damping, friction=friction, stiffness=stiffness, armature=armature
        )
        if child not in self._implicit:
            raise ModelError(f"joint {name!r}: body {child!r} has a joint to a parent already; closed loops are not supported yet.")
        if self._leads_to(parent, child):
            raise ModelError(f"joint {name!r}: body {child!r} already carries {parent!r}; a body cannot carry itself.")
        if kind == "free" and parent != WORLD:
            raise ModelError(f"joint {name!r}: a free joint has the world as its parent, got {parent!r}.")
        self._implicit.discard(child)
        del self._joints[child]
        self._joints[name] = joint
        return joint

    def _leads_to(self, body: str, ancestor: str) -> bool:
        parents = {j.child: j.parent for j in self._joints.values()}
        while body != WORLD:
            if body == ancestor:
                return True
            body = parents[body]
        return False

    def add_force(self, force: Any) -> Any:
        """Add a force: `dal.Wrench` or `dal.Damper`."""
        self._change()
        if type(force) not in force_module.FORCES.values():
            raise ModelError(f"force {force!r}: expected a Wrench or a Damper; a function of time and state goes to simulate(control=...).")
        if force.body not in self._bodies:
            raise UnknownNameError(f"body of a {force.kind}", force.body, self._bodies)
        self._forces.append(force)
        return force

    def frozen(self) -> Model:
        """A copy that cannot be changed."""
        other = self.copy()
        other._frozen = True
        return other

    def copy(self) -> Model:
        """A copy that can be changed."""
        other = copy.copy(self)
        other._bodies, other._joints = dict(self._bodies), dict(self._joints)
        other._implicit, other._forces = set(self._implicit), list(self._forces)
        other._frozen = False
        return other

    # parts ---------------------------------------------------------------------------------------------------------------------

    @property
    def bodies(self) -> tuple[Body, ...]:
        """Bodies in the order in which they were added."""
        return tuple(self._bodies.values())

    @property
    def joints(self) -> tuple[Joint, ...]:
        """Joints in the order of q and v, implicit free joints included."""
        return tuple(self._joints.values())

    @property
    def forces(self) -> tuple[Any, ...]:
        """Forces in the order in which they were added."""
        return tuple(self._forces)

    def body(self, name: str) -> Body:
        """The body of that name."""
        if name not in self._bodies:
            raise UnknownNameError("body", name, self._bodies)
        return self._bodies[name]

    def joint(self, name: str) -> Joint:
        """The joint of that name."""
        if name not in self._joints:
            raise UnknownNameError("joint", name, self._joints)
        return self._joints[name]

    @property
    def total_mass(self) -> float:
        """kg"""
        return sum(b.mass for b in self.bodies)

    @property
    def nq(self) -> int:
        """Length of q."""
        return sum(j.coordinates.nq for j in self.joints)

    @property
    def nv(self) -> int:
        """Length of v."""
        return sum(j.coordinates.nv for j in self.joints)

    def q_slices(self) -> dict[str, slice]:
        """Where each joint's coordinates are in q."""
        return kinematics.slices(self.joints, "nq")

    def v_slices(self) -> dict[str, slice]:
        """Where each joint's rates are in v."""
        return kinematics.slices(self.joints, "nv")

    # states --------------------------------------------------------------------------------------------------------------------

    def neutral(self) -> Array:
        """q at the reference configuration."""
        parts = [kinematics.joint_neutral(self, j) for j in self.joints]
        return np.concatenate(parts) if parts else np.zeros(0)

    def random(self, rng: np.random.Generator | int | None = None) -> Array:
        """A random configuration."""
        rng = np.random.default_rng(rng)
        parts = [j.coordinates.random(rng) for j in self.joints]
        return np.concatenate(parts) if parts else np.zeros(0)

    def check_q(self, q: Any = None) -> Array:
        """A full configuration from None (neutral), an array, or {joint: coordinates}; quaternions normalised."""
        if q is None:
            return self.neutral()
        if isinstance(q, Mapping):
            q = self._by_name("q0", q, self.neutral(), self.q_slices())
        full = np.array(validate.vector(f"model {self.name!r}", "q", q, self.nq, OptionError))
        for j in self.joints:
            at = self.q_slices()[j.name].start
            for slot in j.coordinates.quaternion_slots():
                s = slice(at + slot, at + slot + 4)
                full[s] = validate.unit_quaternion(f"joint {j.name!r}", "quaternion in q", full[s], OptionError)
        return full

    def check_v(self, v: Any = None) -> Array:
        """A full velocity from None (rest), an array, or {joint: rates}."""
        if v is None:
            return np.zeros(self.nv)
        if isinstance(v, Mapping):
            v = self._by_name("v0", v, np.zeros(self.nv), self.v_slices())
        return np.array(validate.vector(f"model {self.name!r}", "v", v, self.nv, OptionError))

    def _by_name(self, what: str, given: Mapping[str, Any], full: Array, where: dict[str, slice]) -> Array:
        for name, values in given.items():
            if name not in where:
                raise UnknownNameError(f"joint in {what}", name, where)
            s = where[name]
            full[s] = validate.vector(f"joint {name!r}", what, np.atleast_1d(values), s.stop - s.start, OptionError)
        return full

    def integrate(self, q: ArrayLike, dq: ArrayLike) -> Array:
        """q moved along the tangent vector dq."""
        return kinematics.integrate(self, np.asarray(q, dtype=float), np.asarray(dq, dtype=float))

    def difference(self, q0: ArrayLike, q1: ArrayLike) -> Array:
        """dq with integrate(q0, dq) = q1."""
        return kinematics.difference(self, np.asarray(q0, dtype=float), np.asarray(q1, dtype=float))

    # mechanics: all take one state or arrays of states (..., nq), (..., nv) ------------------------------------------------------

    def poses(self, q: ArrayLike) -> Array:
        """World poses of the body frames, (..., bodies, 4, 4)."""
        return kinematics.poses(self, np.asarray(q, dtype=float))

    def kinetic_energy(self, q: ArrayLike, v: ArrayLike) -> Array:
        """J"""
        return kinematics.kinetic_energy(self, np.asarray(q, dtype=float), np.asarray(v, dtype=float))

    def potential_energy(self, q: ArrayLike) -> Array:
        """-sum m g . x_com, J"""
        return kinematics.potential_energy(self, np.asarray(q, dtype=float))

    def energy(self, q: ArrayLike, v: ArrayLike) -> Array:
        """Kinetic and potential energy, J."""
        return self.kinetic_energy(q, v) + self.potential_energy(q)

    def momentum(self, q: ArrayLike, v: ArrayLike) -> Array:
        """(angular about the world origin, linear), (..., 6); N m s, N s."""
        return kinematics.momentum(self, np.asarray(q, dtype=float), np.asarray(v, dtype=float))

    # data ----------------------------------------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Plain data that `from_dict` reads."""
        return {
            "name": self.name,
            "gravity": self.gravity.tolist(),
            "bodies": [b.to_dict() for b in self.bodies],
            "joints": [j.to_dict() for j in self.joints if j.name not in self._implicit],
            "forces": [f.to_dict() for f in self._forces],
            "order": [j.name for j in self.joints],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Model:
        """The model that `to_dict` wrote."""
        m = cls(data["name"], data["gravity"])
        for b in data["bodies"]:
            m.add_body(**{**b, "shapes": [shapes.from_dict(s) for s in b["shapes"]]})
        for j in data["joints"]:
            m.add_joint(**j)
        for f in data["forces"]:
            m.add_force(force_module.from_dict(f))
        m._joints = {name: m._joints[name] for name in data["order"]}
        return m

    def __repr__(self) -> str:
        kinds = ", ".join(f"{j.name} ({j.kind})" for j in self.joints)
        return f"Model({self.name!r}: {len(self._bodies)} bodies, {self.total_mass:g} kg, joints: {kinds or 'none'})"
