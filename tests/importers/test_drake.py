"""States of Drake, judged by its own MultibodyPlant: poses of all bodies and the kinetic energy at the same state."""

import re

import numpy as np
import pytest

import dalembert as dal

pytest.importorskip("pydrake")

from pydrake.math import RigidTransform
from pydrake.multibody.parsing import Parser
from pydrake.multibody.plant import MultibodyPlant
from pydrake.multibody.tree import BallRpyJoint, FixedOffsetFrame, SpatialInertia, UnitInertia, UniversalJoint

TOL = 1e-12  # a chain of a few products of numbers of order one
I = (0.1, 0.12, 0.14)


def link(name):
    return f'<link name="{name}"><inertial><mass value="2"/><inertia ixx=".1" ixy="0" ixz="0" iyy=".2" iyz="0" izz=".1"/></inertial></link>'


def hinge(name, parent, child, kind="continuous"):
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        '<origin xyz=".1 .2 .3" rpy=".3 .2 .1"/><axis xyz="0 .6 .8"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>'
    )


# Two branches; neither links nor joints are listed depth first or by name.
BRANCHES = "".join(
    (
        '<robot name="branches">',
        *map(link, ("root", "a", "b", "a2", "b2", "a3")),
        hinge("z", "a", "a2", "prismatic"),
        hinge("y", "root", "b"),
        hinge("x", "b", "b2"),
        hinge("w", "root", "a"),
        hinge("v", "a", "a3"),
        "</robot>",
    )
)


def rover(places):
    """The rover without what Drake's parser refuses: a mesh in a package, a transmission without a type."""
    text = (places.data / "rover.urdf").read_text()
    return re.sub(r"<collision><geometry><mesh.*?</collision>|<transmission.*?</transmission>|<gazebo.*?/>|friction=\"0.1\"", "", text)


def parse(text, floating, root):
    plant = MultibodyPlant(0.0)
    Parser(plant).AddModelsFromString(text, "urdf")
    if not floating:
        plant.WeldFrames(plant.world_frame(), plant.GetFrameByName(root))
    plant.Finalize()
    return plant


def judge(model, plant, joints=None):
    """Same poses, same kinetic energy, and back."""
    rng, context = np.random.default_rng(5), plant.CreateDefaultContext()
    for _ in range(4):
        q, v = model.random(rng), rng.normal(size=model.nv)
        theirs = model.to_drake(q, v, joints)
        plant.SetPositions(context, theirs[0])
        plant.SetVelocities(context, theirs[1])
        for body, pose in zip(model.bodies, model.poses(q), strict=True):
            seen = plant.EvalBodyPoseInWorld(context, plant.GetBodyByName(body.name)).GetAsMatrix4()
            np.testing.assert_allclose(pose, seen, atol=TOL, err_msg=body.name)
        assert model.kinetic_energy(q, v) == pytest.approx(plant.CalcKineticEnergy(context), rel=TOL)
        back = model.from_drake(*theirs, joints)
        np.testing.assert_allclose(model.difference(q, back[0]), 0.0, atol=TOL)
        np.testing.assert_allclose(back[1], v, atol=TOL)


@pytest.mark.parametrize("floating", [False, True])
def test_a_robot(places, load, floating):
    text = rover(places)
    judge(load(text, floating_base=floating), parse(text, floating, "chassis"))


@pytest.mark.parametrize("floating", [False, True])
def test_the_order_of_branches(load, floating):
    judge(load(BRANCHES, floating_base=floating), parse(BRANCHES, floating, "root"))


def test_ball_and_universal_joints():
    """Both put the joint frames at the anchor, in the axes of the child at the reference configuration."""
    plant, model = MultibodyPlant(0.0), dal.Model()
    inertia = SpatialInertia(2.0, np.zeros(3), UnitInertia(*(np.array(I) / 2.0)))
    one, two = (plant.AddRigidBody(name, inertia) for name in ("one", "two"))

    def frame(name, on, *place):
        return plant.AddFrame(FixedOffsetFrame(name, on, RigidTransform(np.array(place))))

    plant.AddJoint(BallRpyJoint("ball", frame("P", plant.world_frame(), 0.1, 0.2, 0.3), frame("C", one.body_frame(), 0, 0, 0.4)))
    plant.AddJoint(UniversalJoint("cross", frame("P2", one.body_frame(), 0, 0, -0.4), frame("C2", two.body_frame(), 0, 0, 0.5)))
    plant.Finalize()
    model.add_body("one", 2.0, I, pose=((0.1, 0.2, -0.1), (1, 0, 0, 0)))
    model.add_body("two", 2.0, I, pose=((0.1, 0.2, -1.0), (1, 0, 0, 0)))
    model.add_joint("ball", "spherical", "world", "one", anchor=(0.1, 0.2, 0.3))
    model.add_joint("cross", "universal", "one", "two", anchor=(0.1, 0.2, -0.5), axis=(1, 0, 0), axis2=(0, 1, 0))
    judge(model, plant)
