"""`Model`: a machine, built part by part. `simulate` works on a frozen copy."""

from __future__ import annotations

import copy
import itertools
from dataclasses import replace
from typing import Any

from numpy.typing import ArrayLike

from dalembert.errors import ModelError, UnknownNameError
from dalembert.model import forces as force_module
from dalembert.model import kinematics, shapes, validate
from dalembert.model.as_data import AsData
from dalembert.model.as_system import AsSystem
from dalembert.model.assembly import Assembly
from dalembert.model.drives import Drives
from dalembert.model.features import Featured
from dalembert.model.foreign import Foreign
from dalembert.model.functions import Dynamics
from dalembert.model.joints import KINDS
from dalembert.model.loop_building import ORIGIN
from dalembert.model.loops import ACTING, LED, Loop
from dalembert.model.materials import Contact, Contacts
from dalembert.model.motors import Motor
from dalembert.model.nonholonomic import CONSTRAINTS, ON_VELOCITIES, Nonholonomic, Nonholonomics, check_more
from dalembert.model.parts import WORLD, Body, Joint, Keyframe, check_name, implicit_joint
from dalembert.model.removal import Removals
from dalembert.model.states import States
from dalembert.model.values import Values


class Model(
    Removals, Values, AsData, Nonholonomics, Drives, Assembly, Featured, Contacts, Foreign, Dynamics, States, AsSystem, kind="model"
):
    """A machine: bodies, joints, loops, motors, forces, gravity, keyframes.

    A body without a joint to a parent is free: it gets an implicit free joint that carries its name, at its place in the order of q and v
    (if another joint has that name, "<name> (free)"). Joints may be added in any order: that of a parent may come after that of its child.

        m = dal.Model("top")
        m.add_body("rotor", mass=1.0, inertia=(1, 1, 2), com=(0, 0, 0.5))
        m.add_joint("tip", "spherical", "world", "rotor")
    """

    def __init__(self, name: str = "", gravity: ArrayLike = (0.0, 0.0, -9.81)):
        self.name = str(name)
        self._frozen = False
        self.gravity = gravity
        self._bodies: dict[str, Body] = {}
        self._joints: dict[str, Joint] = {}
        self._loops: dict[str, Loop] = {}
        self._nonholonomic: dict[str, Nonholonomic] = {}
        self._implicit: dict[str, str] = {}  # free body -> name of its implicit joint
        self._motors: dict[str, Motor] = {}
        self._keyframes: dict[str, Keyframe] = {}
        self._forces: dict[str, Any] = {}
        self._excluded: set[frozenset[str]] = set()
        self._contacts: dict[frozenset[str], Contact] = {}
        self._placements: dict[str, kinematics.Placement] = {}
        self._carriers: set[str] = set()  # bodies that carry, or carried, another one
        self.source: dict[str, Any] = {}
        self.world_shapes: tuple[shapes.Shape, ...] = ()
        self._made: Model | None = None  # the frozen copy, as long as nothing changes

    # building ------------------------------------------------------------------------------------------------------------------

    def _change(self) -> None:
        if self._frozen:
            raise ModelError(
                f"model {self.name!r} belongs to a run and is frozen; build or change a model before it is simulated, or copy() it."
            )
        self._made = None

    @property
    def gravity(self) -> Any:
        """Acceleration of free fall, world axes, m/s^2."""
        return self._gravity

    @gravity.setter
    def gravity(self, value: ArrayLike) -> None:
        self._change()
        self._gravity = validate.vector(f"model {self.name!r}", "gravity", value, 3)

    def add_body(
        self,
        name: str,
        mass: float,
        inertia: ArrayLike,
        com: ArrayLike = (0, 0, 0),
        pose: Any = None,
        shapes: Any = (),
        physical: bool = True,
    ) -> Body:
        """Add a body. inertia: 3 principal moments or a 3x3 matrix about the centre of mass; pose: 4x4 or (position, quaternion).

        physical=False accepts what no rigid body has by itself: no mass, a point mass, a slender rod, an inertia that violates the triangle
        inequality. shapes: dal.Box, ...; they collide unless made with collide=False, for pictures alone (model/touching.py).
        """
        self._change()
        check_name("body", name)
        if name in self._bodies:
            raise ModelError(f"body {name!r}: the model has a body of this name already.")
        return self._enter(Body.build(name, mass, inertia, com, pose, shapes, physical))

    def _enter(self, body: Body) -> Body:
        """A new body, with the joint that it has until it is joined to a parent."""
        self._bodies[body.name] = body
        self._implicit[body.name] = implicit = _free_name(body.name) if self._is_taken(body.name) else body.name
        self._joints[implicit] = implicit_joint(implicit, body)
        return body

    def add_particle(self, name: str, mass: float, position: ArrayLike = (0, 0, 0), shapes: Any = ()) -> Body:
        """Add a point mass. Its joint to the world, until it is joined to a parent, is a `translation`: q = (x, y, z), its world position.

        Loops between particles meet in the particles unless told otherwise: m.add_loop("link", "distance", "a", "b").
        """
        self._change()
        check_name("particle", name)
        if name in self._bodies:
            raise ModelError(f"particle {name!r}: the model has a body of this name already.")
        return self._enter(Body.point(name, mass, position, shapes))

    def add_frame(self, name: str, pose: Any = None, shapes: Any = ()) -> Body:
        """Add a massless frame: a place on a body (join it by a fixed joint) or a link between two joints that carries a body with mass."""
        return self.add_body(name, 0.0, (0.0, 0.0, 0.0), pose=pose, shapes=shapes, physical=False)

    def add_joint(
        self,
        name: str,
        kind: str,
        parent: str,
        child: str,
        anchor: ArrayLike = ORIGIN,
        axis: ArrayLike | None = None,
        damping: float = 0,
        friction: float = 0,
        stiffness: float = 0,
        armature: float = 0,
        limits: Any = None,
        axis2: ArrayLike | None = None,
        rest: float = 0,
        compliance: float = 0,
        damping_time: float = 0,
        strength: float = 0,
        drive: Any = None,
        torque_strength: float = 0,
        max_force: float = 0,
        max_torque: float = 0,
        max_velocity: float = 0,
        velocity: Any = None,
        force_limits: Any = None,
        drive_limits: Any = None,
        **more: Any,
    ) -> Joint | Loop | Nonholonomic:
        """Join a child to a parent (a body or "world"); anchor and axes in world coordinates at the reference configuration.

        kind: free fixed revolute prismatic cylindrical spherical universal planar translation. axis2: second axis of a universal joint, x
        direction of a planar one. limits: (lower, upper) of a joint of one degree of freedom. damping, friction, stiffness, armature: of
        every degree of freedom; the stiffness rests at q = rest. A child that has a joint to a parent already gets a loop: see add_loop.
        compliance (m/N, rad/(N m)), damping_time (s): how the joint gives way along the directions that it holds; 0: not at all.
        strength (N), torque_strength (N m): the joint breaks where the force or torque that it hands on is larger; 0: never.
        drive: a function f(t), a number, or (times, values), that the coordinate follows; {coordinate: f} of a joint with several: see
        model/drives.py. velocity: the same for the rate of the coordinate (of a ball joint: {0: f, 1: g, 2: h} for its spins, child axes).
        max_velocity (m/s, rad/s): no coordinate goes faster (of a free joint: its centre of mass); 0: no limit. force_limits,
        drive_limits: greatest force, or (least, greatest), of every row by which the joint holds, and of what drives it; (-inf, 0) makes
        a rope of a distance. max_force (N), max_torque (N m): greatest length of force and torque by which it holds; 0: no limit.

        Kinds that own no coordinates, whatever joint the child has: rolling (radius, normal, point, contact; axis: the axle, None: a ball),
        knife-edge (axis: across the blade), distance (point, length), gear (parent and child are joints, q_child = ratio q_parent),
        homokinetic, slot (point), path (point) and orientation, which are drives: three and four functions, or one of so many numbers; see
        model/nonholonomic.py and model/loops.py. The axis of all others is (0, 0, 1) unless given.
        """
        self._change()
        soft: dict[str, Any] = {"compliance": compliance, "damping_time": damping_time, "strength": strength}
        soft |= {"torque_strength": torque_strength, "max_force": max_force, "max_torque": max_torque}
        numbers = {"damping": damping, "friction": friction, "stiffness": stiffness, "armature": armature, **soft}
        numbers["max_velocity"] = max_velocity
        driven = {"velocity": velocity, "force_limits": force_limits, "drive_limits": drive_limits}
        if not validate.known(kind, (*KINDS, *CONSTRAINTS)):
            raise UnknownNameError(f"kind of joint {name!r}", kind, [*KINDS, *CONSTRAINTS])
        check_more(name, kind, more)
        if kind in CONSTRAINTS:
            acting = {**numbers, "limits": limits, "rest": rest, "axis2": axis2, "drive": drive, **driven}
            if kind not in ON_VELOCITIES:
                soft |= {"force_limits": force_limits, **({"drive": drive, "drive_limits": drive_limits} if kind in LED else {})}
                acting, more = {k: x for k, x in acting.items() if k not in soft}, {**more, **soft}
            return self._constrain(name, kind, parent, child, anchor, axis, acting, more)
        axis = (0, 0, 1) if axis is None else axis
        for role, body in (("parent", parent), ("child", child)):
            if not validate.known(body, (*self._bodies, *([WORLD] if role == "parent" else []))):
                raise UnknownNameError(f"{role} of joint {name!r}", body, [*self._bodies, *([WORLD] if role == "parent" else [])])
        joint = Joint.build(name, kind, parent, child, anchor, axis, limits, axis2, rest, drive, **driven, **numbers)
        if child not in self._implicit:
            return self._close(joint)
        if self._leads_to(parent, child):
            raise ModelError(f"joint {name!r}: body {child!r} already carries {parent!r}; a body cannot carry itself.")
        if KINDS[kind].absolute and parent != WORLD:
            raise ModelError(f"joint {name!r}: a {kind} joint has the world as its parent, got {parent!r}.")
        self._check_new(name)
        del self._joints[self._implicit.pop(child)]
        self._give_name(name)
        self._joints[name] = joint
        self._carriers.add(parent)
        self._placements.clear()
        return joint

    def _close(self, joint: Joint) -> Loop:
        """The joint as a loop joint."""
        if joint.armature or joint.coordinates.absolute or joint.drive is not None:
            given = (
                "is free"
                if joint.kind == "free"
                else "is a translation"
                if joint.coordinates.absolute
                else "has armature"
                if joint.armature
                else "has a drive"
            )
            raise ModelError(
                f"joint {joint.name!r}: body {joint.child!r} has a joint to a parent already, so this one closes a loop and has no "
                f"coordinates of its own; it {given}, which a loop joint cannot."
            )
        places = (joint.name, joint.kind, joint.parent, joint.child, joint.anchor, joint.axis, joint.axis2)
        return self.add_loop(*places, **{what: getattr(joint, what) for what in ACTING})

    def _check_new(self, name: str) -> None:
        if self._is_taken(name) and name not in self._implicit.values():
            raise ModelError(f"joint {name!r}: the model has a joint of this name already.")

    def _is_taken(self, name: str) -> bool:
        return name in self._joints or name in self._loops or name in self._nonholonomic

    def _give_name(self, name: str) -> None:
        """Refuse a name that is taken; the implicit joint of a body gives its name away."""
        self._check_new(name)
        if name in self._joints:
            self._rename_implicit(name)

    def _rename_implicit(self, body: str) -> None:
        new = _free_name(body)
        self._implicit[body] = new
        self._joints = {(new if k == body else k): (replace(j, name=new) if k == body else j) for k, j in self._joints.items()}

    def _leads_to(self, body: str, ancestor: str) -> bool:
        if ancestor not in self._carriers:
            return False
        parents = {j.child: j.parent for j in self._joints.values()}
        while body != WORLD:
            if body == ancestor:
                return True
            body = parents[body]
        return False

    def add_force(self, force: Any, name: str | None = None) -> Any:
        """Add a force: `dal.Wrench`, `dal.Damper`, `dal.Spring`, or a function f(t, q, v) -> tau (nv,). Returns what the model keeps.

        name: by which `force`, `remove_force` and `with_values` find it; None: its kind and the first free number, such as "spring1".
        """
        self._change()
        kept = force_module.build(force)
        if name is None:
            name = next(f"{kept.kind}{i}" for i in itertools.count(1) if f"{kept.kind}{i}" not in self._forces)
        check_name("force", name)
        if name in self._forces:
            raise ModelError(f"force {name!r}: the model has a force of this name already.")
        for body in kept.bodies:
            if body not in self._bodies:
                raise UnknownNameError(f"body of a {kept.kind}", body, self._bodies)
        self._forces[name] = kept
        return kept

    def add_motor(
        self,
        name: str,
        joint: str,
        kind: str = "torque",
        limit: Any = None,
        gear: float = 1.0,
        kp: float | None = None,
        kv: float | None = None,
    ) -> Motor:
        """Add a motor to a joint of one degree of freedom. limit: greatest joint force, or (least, greatest). Laws: model/motors.py.

        The joint may be one that closes a loop: such a motor is data, which no stepper handles yet.
        """
        self._change()
        check_name("motor", name)
        if name in self._motors:
            raise ModelError(f"motor {name!r}: the model has a motor of this name already.")
        motor = Motor.build(name, joint, kind, limit, gear, kp, kv)
        joints: dict[str, Joint | Loop] = {**self._joints, **self._loops}
        if not validate.known(joint, joints):
            raise UnknownNameError(f"joint of motor {name!r}", joint, joints)
        of = joints[joint].kind
        nv = KINDS[of].nv if of in KINDS else 0
        if nv != 1:
            raise ModelError(f"motor {name!r}: joint {joint!r} ({of}) has {nv} degrees of freedom; expected one.")
        self._motors[name] = motor
        return motor

    def add_keyframe(self, name: str, q: Any, v: Any = None) -> Keyframe:
        """Add a named state, as check_q and check_v take it; `simulate(q0=name)` starts there. Add it after the last joint."""
        self._change()
        check_name("keyframe", name)
        if name in self._keyframes:
            raise ModelError(f"keyframe {name!r}: the model has a keyframe of this name already.")
        keyframe = Keyframe(name, validate.frozen(self.check_q(q)), validate.frozen(self.check_v(v)))
        self._keyframes[name] = keyframe
        return keyframe

    def frozen(self) -> Model:
        """A copy that cannot be changed: the same one as long as nothing changes, with all that was computed for it. Frozen: itself."""
        if self._frozen:
            return self
        made = self._made
        if made is None or made.world_shapes is not self.world_shapes or (made.name, made.source) != (self.name, self.source):
            made = self.copy()
            made._frozen = True
            self._made = made
        return made

    def copy(self) -> Model:
        """A copy that can be changed."""
        other = copy.copy(self)
        other._bodies, other._joints = dict(self._bodies), dict(self._joints)
        other._loops, other._nonholonomic = dict(self._loops), dict(self._nonholonomic)
        other._tree = other._rows = other._made = None
        other.__dict__.pop("_kept", None)
        other._implicit, other._forces = dict(self._implicit), dict(self._forces)
        other._excluded, other._carriers, other._contacts = set(self._excluded), set(self._carriers), dict(self._contacts)
        other._motors, other._keyframes, other._placements = dict(self._motors), dict(self._keyframes), dict(self._placements)
        other.source = copy.deepcopy(self.source)
        other._frozen = False
        return other

    def __getstate__(self) -> dict[str, Any]:
        """Pickled and deep-copied without compiled arrays, which are made anew."""
        return {**self.__dict__, "_tree": None, "_rows": None, "_made": None, "_kept": None}

    def __repr__(self) -> str:
        kinds = ", ".join(f"{j.name} ({j.kind})" for j in self.joints)
        closing: list[Loop | Nonholonomic] = [*self.loops, *self.nonholonomic]
        loops = ", ".join(f"{x.name} ({x.kind})" for x in closing)
        tail = f", loops: {loops}" if loops else ""
        return f"Model({self.name!r}: {len(self._bodies)} bodies, {self.total_mass:g} kg, joints: {kinds or 'none'}{tail})"


def _free_name(body: str) -> str:
    return f"{body} (free)"
