"""Flush tiles are a plane; steps, walls, slopes and edges are not."""

import numpy as np
import pytest

import dalembert as dal

UP = (1.0, 0.0, 0.0, 0.0)
SHAPES = {
    "ball": dal.Sphere(0.1, friction=0),
    "box": dal.Box((0.2, 0.2, 0.2), friction=0),
    "cylinder": dal.Cylinder(0.1, 0.2, friction=0),
    "convex": dal.Convex(0.1 * np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]), friction=0),
}


def body_on(m, shape, at, v, h=1 / 60, seconds=2.0, quaternion=UP):
    """Poses and velocities of one body of 1 kg."""
    inertia = (7e-3,) * 3 if shape.kind == "convex" else shape.inertia(1.0)
    m.add_body("b", 1.0, inertia, pose=(at, quaternion), shapes=[shape])
    t = dal.simulate(m, "spook", h=h, t_end=seconds, v0={"b": (0, 0, 0, *v)})
    return t.poses[:, 0, :3, 3], t.v


def row_of_tiles(m, heights, length=1.0, **options):
    """Boxes one behind the other along x from -1 on, their tops at the given heights."""
    for i, z in enumerate(heights):
        m.add_shape("world", dal.Box((length, 5, 1), position=(-1 + (i + 0.5) * length, 0, z - 0.5), **options))
    return m


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("h", [1 / 60, 1 / 240])
@pytest.mark.parametrize("speed", [3.0, 0.05])
def test_what_slides_over_flush_tiles_goes_straight_on(name, h, speed):
    """Tiles of 0.15 m, no friction: v t, to round-off of the solver and, of what MuJoCo finds, to its iterations."""
    x, _ = body_on(row_of_tiles(dal.Model("tiles"), np.zeros(60), 0.15, friction=0), SHAPES[name], (0.02, 0.11, 0.1), (speed, 0, 0), h)
    np.testing.assert_allclose(x[-1] - x[0], (2 * speed, 0, 0), atol=1e-3 * speed)


def test_corners_of_four_tiles_do_not_stop_what_goes_over_them():
    for name in ("ball", "box"):
        m = dal.Model("grid")
        for i in range(7):
            for j in range(7):
                m.add_shape("world", dal.Box((1, 1, 1), position=(i - 0.5, j - 0.5, -0.5), friction=0))
        x, _ = body_on(m, SHAPES[name], (-0.5, -0.5, 0.1), (2, 2, 0))
        np.testing.assert_allclose(x[-1] - x[0], (4, 4, 0), atol=1e-3)


def test_tiles_beside_a_plane_and_tiles_that_go_down_are_no_obstacles():
    m = dal.Model("plane")
    m.add_shape("world", dal.Plane(friction=0))
    x, _ = body_on(row_of_tiles(m, np.zeros(6), friction=0), SHAPES["box"], (-2, 0.1, 0.1), (3, 0, 0))
    np.testing.assert_allclose(x[-1] - x[0], (6, 0, 0), atol=1e-3)
    m = row_of_tiles(dal.Model("down"), [0, 0, -5e-4, -1e-3, -1e-3, -1e-3, -1e-3, -1e-3], friction=0)
    x, _ = body_on(m, SHAPES["ball"], (-0.5, 0.1, 0.1), (3, 0, 0))
    assert x[-1, 0] - x[0, 0] == pytest.approx(6.0, abs=0.01)


@pytest.mark.parametrize("name", ["box", "convex", "cylinder"])
@pytest.mark.parametrize("h", [1 / 60, 1 / 240])
def test_a_step_up_stops_what_slides_against_it(name, h):
    """A step of 2 cm, at 0.3 m/s, too slow to tumble over it: the face stops at x = 1 - 0.1, to what a clipped face may stand outside."""
    x, _ = body_on(row_of_tiles(dal.Model("step"), [0, 0, 0.02, 0.02], friction=0), SHAPES[name], (0, 0.1, 0.1), (0.3, 0, 0), h, 4)
    assert 0.89 < x[:, 0].max() < 0.902 and x[-1, 0] < 0.9


def test_a_wall_on_the_floor_stops_a_box_at_its_foot():
    """Floor and wall meet where the lower edge of the box comes: the wall reaches above the floor, so no contact is left out."""
    m = dal.Model("wall")
    m.add_shape("world", dal.Box((4, 4, 1), position=(0, 0, -0.5), friction=0))
    m.add_shape("world", dal.Box((1, 4, 2), position=(1.5, 0, 0), friction=0))
    x, v = body_on(m, SHAPES["box"], (0, 0, 0.1), (2, 0, 0))
    np.testing.assert_allclose(x[-1], (0.9, 0, 0.1), atol=1e-4)
    assert np.abs(v[-1]).max() < 1e-5  # of 2 m/s: it leans on the wall, and settles


@pytest.mark.parametrize("name", ["ball", "box"])
def test_what_slides_over_the_last_edge_falls(name):
    """From the edge at x = 1 on a ball flies freely. 0.3 s later it has fallen g t^2/2, up to the step in which it left (50 mm of way), and
    its speed is as before; a box has tipped."""
    x, v = body_on(row_of_tiles(dal.Model("edge"), [0, 0], friction=0), SHAPES[name], (0, 0.1, 0.1), (3, 0, 0), seconds=1 / 3 + 0.3)
    assert x[-1, 2] < 0.1 - (0.5 * 9.81 * 0.28**2 if name == "ball" else 0.2)
    if name == "ball":
        assert v[-1, 3] == pytest.approx(3.0, abs=0.1)


def test_a_rising_tile_is_met():
    """A slope of 20 degrees that begins at a seam: a ball of 3 m/s keeps v cos(a), and rises (v cos(a))^2/2g, within 10 % at
    1/60: it is turned in two steps."""
    a = np.radians(20.0)
    m = row_of_tiles(dal.Model("slope"), [0, 0], friction=0)
    q = (np.cos(a / 2), 0, -np.sin(a / 2), 0)
    at = (1 + 2 * np.cos(a) + 0.2 * np.sin(a), 0, 2 * np.sin(a) - 0.2 * np.cos(a))
    m.add_shape("world", dal.Box((4, 5, 0.4), position=at, quaternion=q, friction=0))
    x, _ = body_on(m, SHAPES["ball"], (0, 0.1, 0.1), (3, 0, 0), seconds=1.5)
    risen = x[:, 2].max() - 0.1
    assert risen == pytest.approx((3 * np.cos(a)) ** 2 / (2 * 9.81), rel=0.1)
