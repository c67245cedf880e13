"""What makes a `Model` a `System`: the answers that a run, a report and a picture ask of it."""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import OptionError, UnknownNameError
from dalembert.model import validate
from dalembert.model.parts import WORLD
from dalembert.model.touching import touching
from dalembert.systems import System


class AsSystem(System):
    """Answers of a machine made of bodies."""

    def check_start(self: Any, stepper: Any, q: Array, v: Array, ignore: tuple[str, ...] = ()) -> None:
        """OptionError where a start is none for this stepper. The model is the one without what is ignored."""
        from dalembert.model.starts import check_start

        check_start(self, stepper, q, v, ignore)

    @property
    def any_numbers_start(self: Any) -> bool:
        """Without loops, drives and quaternions, and where the mass matrix is never in doubt."""
        turning = any(joint.coordinates.quaternion_slots() for joint in self.joints)
        return not turning and self.any_numbers_with_quaternions_start

    @property
    def any_numbers_with_quaternions_start(self: Any) -> bool:
        """Without loops and drives, and where the mass matrix is never in doubt."""
        from dalembert.model.definite import doubtful

        return not (self.driven or self._has_rows or doubtful(self))

    def constraint_errors(self: Any, q: Array, t: Any = 0.0) -> Array:
        """Residuals of the constraints on positions, (N, rows): loops, heights of rolling joints, drives."""
        found = [*self.loop_errors(q).values(), *self.drive_errors(q, t).values()]
        return np.concatenate(found, axis=1) if found else np.zeros((len(q), 0))

    def reaction(self: Any, traj: Any, joint: str, drive: bool = False) -> Array:
        """What a joint exerts at the nodes of a run; self: without what the run ignored. See model/reactions.py."""
        from dalembert.model.reactions import joint_force

        return joint_force(traj, self, joint, drive)

    def joint_states(self: Any, traj: Any, name: str) -> Any:
        """(q, v) of one joint at the nodes of a run; see model/loop_coordinates.py."""
        from dalembert.model.loop_coordinates import joint_states

        return joint_states(self, traj.q, traj.v, name)

    def generalised_force(self: Any, q: Array, body: Any, force: Any, torque: Any, point: Any) -> Array:
        """J^T (torque, force) of a world force at a world point (default: the centre of mass) and a world torque on a body."""
        if not validate.known(body, self._bodies):
            raise UnknownNameError("body", body, [b.name for b in self.bodies])
        owner = f"force on body {body!r}"
        F, T = (validate.vector(owner, what, x, 3, OptionError) for what, x in (("force", force), ("torque", torque)))
        at = None if point is None else validate.vector(owner, "point", point, 3, OptionError)
        return np.asarray(self._dynamics().push(body, self.body(body).com, q, F, T, at))

    def parts(self: Any, feature: str) -> list[str]:
        """Names of the joints that make up a feature."""
        joints = {"loops": self.loops, "nonholonomic": self.nonholonomic, "drive": [j for j in self.joints if j.drive is not None]}
        return [x.name for x in joints.get(feature, ())]

    def detail(self: Any, features: set[str]) -> str:
        """The first bodies that can touch, where contact is not handled."""
        if "contact" not in features:
            return ""
        a, b = next(touching(self))
        return f" ({a!r} can touch {'the world' if b == WORLD else repr(b)})"

    @property
    def portable(self: Any) -> Any:
        """The model as a file holds it: without forces that are functions."""
        if not any(f.kind == "function" for f in self.forces):
            return self
        return type(self).from_dict(self.data_for_file()).frozen()

    def data_for_file(self: Any) -> dict[str, Any]:
        """Without forces that are functions, which no file can hold."""
        data: dict[str, Any] = self.to_dict(drop_functions=True)
        return data

    def needs_bodies(self, call: str) -> None:
        """There are some."""

    def describe(self: Any) -> str:
        """Bodies and mass in words."""
        n = len(self.bodies)
        return f"{n} {'body' if n == 1 else 'bodies'}, {self.total_mass:g} kg"
