"""Fast balls beside what they pass: free flight where there is clear air, the plane of the first touch where there is none."""

import numpy as np
import pytest

import dalembert as dal

UP = (1.0, 0.0, 0.0, 0.0)
TO_X = dal.quat.exp([0, np.pi / 2, 0])
WEIGHTLESS = (0.0, 0.0, 0.0)


def thrown(target, clear, speed, restitution, moving, side, h=1 / 60, seconds=0.5):
    """A ball that flies along x past the side of a target at the origin, `clear` beside it."""
    m = dal.Model("pass", gravity=WEIGHTLESS)
    shape = target(restitution)
    if moving:
        m.add_body("target", 1.0, (0.01, 0.01, 0.01), shapes=[shape])
    else:
        m.add_shape("world", shape)
    ball = dal.Sphere(0.1, friction=0.5, restitution=restitution)
    m.add_body("ball", 1.0, ball.inertia(1.0), pose=((-0.4 * seconds * speed, side + 0.1 + clear, 0.01), UP), shapes=[ball])
    return dal.simulate(m, "spook", h=h, t_end=seconds, v0={"ball": (0, 0, 0, speed, 0, 0)})


TARGETS = {
    "sphere": (lambda e: dal.Sphere(0.1, friction=0.5, restitution=e), 0.1),
    "capsule": (lambda e: dal.Capsule(0.1, 0.3, friction=0.5, restitution=e), 0.1),
    "capsule along": (lambda e: dal.Capsule(0.1, 0.3, quaternion=TO_X, friction=0.5, restitution=e), 0.1),
    "box": (lambda e: dal.Box((0.2, 0.2, 0.3), friction=0.5, restitution=e), 0.1),
}


@pytest.mark.parametrize("name", TARGETS)
@pytest.mark.parametrize("moving", [False, True], ids=["fixed", "free"])
@pytest.mark.parametrize(("speed", "clear"), [(3.0, 0.001), (10.0, 0.01), (30.0, 0.05)])
@pytest.mark.parametrize("restitution", [0.0, 1.0])
def test_what_passes_with_clear_air_is_not_touched(name, moving, speed, clear, restitution):
    """Nothing acts: velocities to 1e-9 m/s, the residual of a step. At 3 m/s the clearance is within the margin of 4 mm."""
    target, side = TARGETS[name]
    t = thrown(target, clear, speed, restitution, moving, side)
    v = t.v[-1].reshape(-1, 6)
    np.testing.assert_allclose(v[-1], (0, 0, 0, speed, 0, 0), atol=1e-9)
    np.testing.assert_allclose(v[:-1], 0.0, atol=1e-9)


@pytest.mark.parametrize("angle", [20.0, 50.0, 80.0])
@pytest.mark.parametrize("phase", [0.1, 0.45, 0.8])
@pytest.mark.parametrize("target", ["edge", "ball"])
def test_a_fast_ball_that_strikes_aslant_leaves_by_the_normal_of_the_touch(angle, phase, target):
    """10 m/s, a way of 0.17 m per step: v+ = v - 2 (n.v) n with n where the two touch, whatever the step begins with. To 1e-3 m/s: an
    instant takes 1e-5 of the restitution."""
    a = np.radians(angle)
    n = np.array([-np.cos(a), np.sin(a), 0])
    m = dal.Model("edge", gravity=WEIGHTLESS)
    shape = (
        dal.Box((1, 1, 1), position=(0.5, -0.5, 0), friction=0, restitution=1)
        if target == "edge"
        else dal.Sphere(0.1, friction=0, restitution=1)
    )
    m.add_shape("world", shape)
    ball = dal.Sphere(0.1, friction=0, restitution=1)
    touch = (0.1 if target == "edge" else 0.2) * n
    start = touch - np.array([10.0, 0, 0]) * (2 + phase) / 60
    m.add_body("ball", 1.0, ball.inertia(1.0), pose=(start, UP), shapes=[ball])
    t = dal.simulate(m, "spook", h=1 / 60, t_end=0.1, v0={"ball": (0, 0, 0, 10, 0, 0)})
    v = np.array([10.0, 0, 0])
    np.testing.assert_allclose(t.v[-1][3:], v - 2 * (n @ v) * n, atol=1e-3)


@pytest.mark.parametrize("speed", [10.0, 100.0, 1000.0])
@pytest.mark.parametrize("restitution", [0.0, 1.0])
@pytest.mark.parametrize("moving", [False, True], ids=["fixed", "free"])
def test_balls_do_not_fly_through_a_thin_plate_or_one_another(speed, restitution, moving):
    """A ball that meets another one off its centre goes around it, so it is aimed at the centre."""
    plate, small = dal.Box((1e-3, 0.5, 0.5), restitution=restitution), dal.Sphere(0.02, restitution=restitution)
    for shape, aside in ((plate, (0.001, 0.001)), (small, (0.0, 0.0))):
        m = dal.Model("bullet", gravity=WEIGHTLESS)
        if moving:
            m.add_body("plate", 100.0, (10, 10, 10), pose=((0, 0, 0), UP), shapes=[shape])
        else:
            m.add_shape("world", shape)
        ball = dal.Sphere(0.02, restitution=restitution)
        m.add_body("ball", 1.0, ball.inertia(1.0), pose=((-0.3, *aside), UP), shapes=[ball])
        t = dal.simulate(m, "spook", h=1 / 60, t_end=1.0, v0={"ball": (0, 0, 0, speed, 0, 0)})
        front = t.poses[:, 0, 0, 3] if moving else 0.0
        assert (t.poses[:, -1, 0, 3] < front).all()
