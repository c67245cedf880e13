"""Machines: bodies, joints, shapes, forces."""

from dalembert.model.cut import body_state, cut, joint_state
from dalembert.model.forces import Damper, Spring, Wrench
from dalembert.model.loops import Loop
from dalembert.model.model import Model
from dalembert.model.motors import Motor
from dalembert.model.parts import Body, Joint
from dalembert.model.shapes import Box, Capsule, Convex, Cylinder, Mesh, Plane, Sphere

__all__ = [
    "Body",
    "Box",
    "Capsule",
    "Convex",
    "Cylinder",
    "Damper",
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
