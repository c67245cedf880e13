"""Where the camera of an animation, a page or a view stands."""

import numpy as np
import pytest

import dalembert as dal
from dalembert.view.canvas import camera
from dalembert.view.framing import frame_of
from dalembert.view.links import pieces_of
from dalembert.view.web.setting import setting_of


def boxes(at):
    m = dal.Model("boxes")
    m.add_shape("world", dal.Plane(friction=0.5))
    shape = dal.Box((0.2, 0.2, 0.2), friction=0.5)
    for k in range(3):
        m.add_body(f"box{k}", 1.0, shape.inertia(1.0), pose=((at, 0.3 * k, 0.1), (1, 0, 0, 0)), shapes=[shape])
    return m


@pytest.mark.parametrize("at", [0.0, 3.0, -50.0, 1000.0])
def test_the_middle_of_a_picture_lies_in_the_machine_wherever_it_is(at):
    m = boxes(at)
    poses = m.poses(m.q0[None]) if hasattr(m, "q0") else m.poses(dal.Simulation(m, "spook", h=0.01).state.q[None])
    centres = poses[:, :, :3, 3]
    frame = frame_of(m, pieces_of(m), poses, centres, (960, 560), camera(), 0.0)
    assert np.linalg.norm(frame.centre - [at, 0.3, 0.1]) < 0.2  # m: boxes are 0.2 m large
    setting = setting_of(m, poses, centres)
    assert np.linalg.norm(setting.centre - [at, 0.3, 0.1]) < 0.2
