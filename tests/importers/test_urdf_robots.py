"""URDF robots, judged by Pinocchio: total mass, poses of all links, kinetic and potential energy at random states, fixed and floating.

Tolerance 1e-10 against a measured 2e-14 (files give rotations to 10 digits and fewer, and both sides read the same text).
"""

import numpy as np
import pinocchio
import pytest

from dalembert.model.definite import check_definite

ROBOTS = {
    "ur5": "ur_description/urdf/ur5_robot.urdf",
    "panda": "panda_description/urdf/panda.urdf",
    "talos": "talos_data/robots/talos_full_v2.urdf",
    "talos reduced": "talos_data/robots/talos_reduced.urdf",
    "solo": "solo_description/robots/solo.urdf",
    "solo12": "solo_description/robots/solo12.urdf",
    "anymal b": "anymal_b_simple_description/robots/anymal.urdf",
    "anymal c": "anymal_c_simple_description/urdf/anymal.urdf",
    "double pendulum, continuous joints": "double_pendulum_description/urdf/double_pendulum_continuous.urdf",
    "kinova": "kinova_description/robots/kinova.urdf",
}


@pytest.mark.parametrize("floating", [False, True])
@pytest.mark.parametrize("name", ROBOTS)
def test_links_move_as_in_pinocchio(places, load, pinocchio_judge, name, floating):
    path = places.robots / ROBOTS[name]
    model = load(path, floating_base=True if floating else None, package_dirs=[places.share])
    assert (model.joints[0].kind == "free") == floating
    pinocchio_judge(model, path, floating)


def test_inertias_are_those_of_the_file(places, load):
    """ANYmal's base has an inertia that is not positive definite: it is kept, and named."""
    path = places.data / "rover.urdf"
    pin = pinocchio.buildModelFromUrdf(str(path), pinocchio.JointModelFreeFlyer())
    rover = load(path, floating_base=True)
    for link, joint in (("chassis", "root_joint"), ("wheel", "axle"), ("arm", "elbow")):
        ours, theirs = rover.body(link), pin.inertias[pin.getJointId(joint)]
        assert ours.mass == theirs.mass
        np.testing.assert_allclose(ours.com, theirs.lever, rtol=1e-15)
        np.testing.assert_allclose(ours.inertia, theirs.inertia, rtol=1e-14, atol=1e-17)
    model = load(places.robots / ROBOTS["anymal b"], floating_base=True, package_dirs=[places.share])
    assert not model.body("base").physical
    assert any("base" in line and "inertial" in line for line in model.import_report)
    check_definite(model, model.neutral())  # the whole machine is sound
