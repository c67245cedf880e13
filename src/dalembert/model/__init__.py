"""Machines: bodies, joints, shapes, forces. Forces hold kernels and are imported when they are asked for."""

from typing import TYPE_CHECKING, Any

from dalembert.model.cut import body_state, cut, joint_state
from dalembert.model.loops import Loop
from dalembert.model.model import Model
from dalembert.model.motors import Motor
from dalembert.model.parts import Body, Joint
from dalembert.model.shapes import Box, Capsule, Convex, Cylinder, Ellipsoid, HeightField, Mesh, Plane, Sphere

if TYPE_CHECKING:
    from dalembert.model.forces.damper import Damper
    from dalembert.model.forces.spring import Spring
    from dalembert.model.forces.wrench import Wrench

__all__ = [
    "Body",
    "Box",
    "Capsule",
    "Convex",
    "Cylinder",
    "Damper",
    "Ellipsoid",
    "HeightField",
    "Joint",
    "Loop",
    "Mesh",
    "Model",
    "Motor",
    "Plane",
    "Sphere",
    "Spring",
    "Wrench",
    "body_state",
    "cut",
    "joint_state",
]


def __getattr__(name: str) -> Any:
    if name in __all__:
        from dalembert.model import forces

        return getattr(forces, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
