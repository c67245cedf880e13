"""What a model holds, by order and by name."""

from __future__ import annotations

from typing import Any

from dalembert.errors import OptionError, UnknownNameError
from dalembert.model import kinematics, validate
from dalembert.model.joints import Axes
from dalembert.model.motors import Motor
from dalembert.model.parts import Body, Joint, Keyframe


class Catalogue:
    """The parts of a `Model`."""

    momentum_names = ("Lx", "Ly", "Lz", "px", "py", "pz")
    momentum_units = ("N m s",) * 3 + ("N s",) * 3
    momentum_meaning = "angular momentum about the world origin, linear momentum"

    _bodies: dict[str, Body]
    _joints: dict[str, Joint]
    _motors: dict[str, Motor]
    _keyframes: dict[str, Keyframe]
    _forces: dict[str, Any]
    _placements: dict[str, kinematics.Placement]

    @property
    def bodies(self) -> tuple[Body, ...]:
        """Bodies in the order in which they were added."""
        return tuple(self._bodies.values())

    @property
    def joints(self) -> tuple[Joint, ...]:
        """Joints in the order of q and v, implicit free joints included."""
        return tuple(self._joints.values())

    @property
    def motors(self) -> tuple[Motor, ...]:
        """Motors in the order in which they were added, which is that of the inputs u."""
        return tuple(self._motors.values())

    @property
    def keyframes(self) -> tuple[Keyframe, ...]:
        """Keyframes in the order in which they were added."""
        return tuple(self._keyframes.values())

    @property
    def forces(self) -> tuple[Any, ...]:
        """Forces in the order in which they were added."""
        return tuple(self._forces.values())

    @property
    def force_names(self) -> tuple[str, ...]:
        """Names of the forces, in the same order."""
        return tuple(self._forces)

    def force(self, name: str) -> Any:
        """The force of that name."""
        if not validate.known(name, self._forces):
            raise UnknownNameError("force", name, self._forces)
        return self._forces[name]

    def body(self, name: str) -> Body:
        """The body of that name."""
        if not validate.known(name, self._bodies):
            raise UnknownNameError("body", name, self._bodies)
        return self._bodies[name]

    def joint(self, name: str) -> Joint:
        """The joint of that name."""
        if not validate.known(name, self._joints):
            raise UnknownNameError("joint", name, self._joints)
        return self._joints[name]

    def motor(self, name: str) -> Motor:
        """The motor of that name."""
        if not validate.known(name, self._motors):
            raise UnknownNameError("motor", name, self._motors)
        return self._motors[name]

    def keyframe(self, name: str) -> Keyframe:
        """The keyframe of that name, if the model has not grown since it was added."""
        if not validate.known(name, self._keyframes):
            raise UnknownNameError("keyframe", name, self._keyframes)
        found = self._keyframes[name]
        if (len(found.q), len(found.v)) != (self.nq, self.nv):
            raise OptionError(
                f"keyframe {name!r} has {len(found.q)} coordinates and the model now has {self.nq}; add keyframes after the last joint."
            )
        return found

    def joint_axes(self, joint: Joint | str) -> Axes:
        """Axes of a joint in its joint frame, as its kind takes them."""
        return self.placement(joint if isinstance(joint, str) else joint.name).axes

    def placement(self: Any, name: str) -> kinematics.Placement:
        """Where the joint of that name sits in its parent and its child, and its axes in the joint frame."""
        if name not in self._placements:
            self._placements[name] = kinematics.place(self, self.joint(name))
        return self._placements[name]

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

    def column_names(self, which: str) -> list[str]:
        """'rotor.qw', ...: names of the columns of "q" or "v"."""
        return [f"{j.name}.{c}" for j in self.joints for c in getattr(j.coordinates, f"{which}_names")]

    def column_units(self, which: str) -> list[str]:
        """Units of the columns of "q" or "v"."""
        return [u for j in self.joints for u in getattr(j.coordinates, f"{which}_units")]
