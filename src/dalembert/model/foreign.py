"""What a Model knows of the file it came from, and states in the conventions of other simulators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from numpy.typing import ArrayLike

from dalembert.arrays import Array
from dalembert.model.shapes import Shape

if TYPE_CHECKING:
    from dalembert.model.model import Model


class Foreign:
    """The part of `Model` that has to do with files and other simulators; `importers/conventions.py` holds the tables.

    source: plain data about the file: "format", "report" (what was not carried over), "ref" (MJCF: qpos of scalar joints at the
    reference configuration), "continuous" (URDF joints without limits), "joint names" (where ours differ from the file's).
    world_shapes: shapes that are fixed in the world.
    """

    source: dict[str, Any]
    world_shapes: tuple[Shape, ...]

    @property
    def import_report(self) -> list[str]:
        """What the importer could not carry over, one line per topic; empty for a model that was built by hand."""
        return list(self.source.get("report", ()))

    def to_mujoco(self, q: ArrayLike, v: ArrayLike | None = None) -> tuple[Array, Array]:
        """(qpos, qvel) of MuJoCo; any leading dimensions."""
        from dalembert.importers import conventions

        return conventions.to_mujoco(cast("Model", self), q, v)

    def from_mujoco(self, qpos: ArrayLike, qvel: ArrayLike | None = None) -> tuple[Array, Array]:
        """(q, v) from qpos, qvel of MuJoCo."""
        from dalembert.importers import conventions

        return conventions.from_mujoco(cast("Model", self), qpos, qvel)

    def to_pinocchio(self, q: ArrayLike, v: ArrayLike | None = None, joints: Sequence[str] | None = None) -> tuple[Array, Array]:
        """(q, v) of Pinocchio. joints: `names` of the Pinocchio model, if it does not sort children by the names of their joints."""
        from dalembert.importers import conventions

        return conventions.to_pinocchio(cast("Model", self), q, v, joints)

    def from_pinocchio(self, q: ArrayLike, v: ArrayLike | None = None, joints: Sequence[str] | None = None) -> tuple[Array, Array]:
        """(q, v) from those of Pinocchio."""
        from dalembert.importers import conventions

        return conventions.from_pinocchio(cast("Model", self), q, v, joints)

    def to_drake(self, q: ArrayLike, v: ArrayLike | None = None, joints: Sequence[str] | None = None) -> tuple[Array, Array]:
        """(q, v) of Drake, for a plant with this tree alone. joints: names in its order, if it is not depth first."""
        from dalembert.importers import conventions

        return conventions.to_drake(cast("Model", self), q, v, joints)

    def from_drake(self, q: ArrayLike, v: ArrayLike | None = None, joints: Sequence[str] | None = None) -> tuple[Array, Array]:
        """(q, v) from those of Drake."""
        from dalembert.importers import conventions

        return conventions.from_drake(cast("Model", self), q, v, joints)
