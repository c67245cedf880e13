"""Animations: frames, timing, and that what is drawn has the shape of the bodies."""

import io
import sys
import types
from itertools import pairwise

import numpy as np
import pytest
from PIL import Image

import dalembert as dal
from dalembert import scenes
from dalembert.errors import OptionError
from dalembert.model import shapes
from dalembert.view.animate import animate_trajectory, frame_times, render_gif, show_trajectory
from dalembert.view.solids import DRAW, Solid, equivalent_box, rod, solids_of_body
from dalembert.view.stage import Stage

CUBE = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=float)
TETRAHEDRON = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
INWARD = [[0, 1, 2], [0, 3, 1], [0, 2, 3], [1, 3, 2]]
SOME = {
    "box": shapes.Box((1, 2, 3)),
    "sphere": shapes.Sphere(0.5),
    "cylinder": shapes.Cylinder(0.5, 2.0),
    "capsule": shapes.Capsule(0.5, 2.0),
    "convex": shapes.Convex(CUBE),
    "mesh": shapes.Mesh(TETRAHEDRON, triangles=INWARD),
}
VOLUMES = {
    "box": 6.0,
    "sphere": np.pi / 6,
    "cylinder": np.pi / 2,
    "capsule": np.pi / 2 + np.pi / 6,
    "convex": 1.0,
    "mesh": 1 / 6,
}


@pytest.fixture(scope="module")
def racket():
    return scenes.find("tennis-racket").simulate(t_end=4.0)


def frames(data):
    with Image.open(io.BytesIO(data)) as gif:
        assert gif.format == "GIF"
        found, durations = [], []
        for k in range(gif.n_frames):
            gif.seek(k)
            found.append(np.asarray(gif.convert("RGB"), dtype=float))
            durations.append(gif.info["duration"])
    return found, durations


def volume(solid: Solid) -> float:
    """sum of a . (b x c)/6 over the triangles of all faces: positive only if normals point outwards."""
    a, b, c, d = solid.faces.transpose(1, 0, 2)
    return float((np.einsum("ij,ij", a, np.cross(b, c)) + np.einsum("ij,ij", a, np.cross(c, d))) / 6)


def test_gif_has_its_frames_its_size_and_moves(racket, tmp_path):
    path = racket.animate(tmp_path / "a.gif", fps=10, seconds=2, size=(320, 240))
    assert path == tmp_path / "a.gif"
    images, durations = frames(path.read_bytes())
    assert len(images) == 20
    assert set(durations) == {100}
    assert images[0].shape == (240, 320, 3)
    assert all(image.std() > 8 for image in images)
    assert all(np.abs(a - b).max() > 50 for a, b in pairwise(images))


def test_number_of_frames_is_bounded():
    assert len(frame_times(np.array([0.0, 1000.0]), 20, None, 200)[0]) == 200
    times, duration = frame_times(np.array([0.0, 60.0]), 20, 60, 200)
    assert (len(times), duration) == (200, 300)
    assert len(frame_times(np.array([0.0, 2.0]), 20, None, 200)[0]) == 80  # slow motion: at least 4 s
    assert len(frame_times(np.array([0.0, 7.0]), 20, None, 200)[0]) == 140  # as it goes
    assert len(frame_times(np.array([3.0]), 20, None, 200)[0]) == 1
    assert (times[0], times[-1]) == (0.0, 60.0)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"fps": 0}, "fps = 0"),
        ({"fps": 100}, "at most 50"),
        ({"seconds": -1}, "seconds = -1"),
        ({"size": (10, 10)}, "64 to 4096"),
        ({"size": 300}, "size = 300"),
        ({"max_frames": 0}, "max_frames = 0"),
        ({"fps": "fast"}, "'fast'"),
    ],
)
def test_bad_options_are_refused(options, words, racket, tmp_path):
    with pytest.raises(OptionError, match=words):
        animate_trajectory(racket, tmp_path / "a.gif", **options)
    assert list(tmp_path.iterdir()) == []


def test_bad_paths_are_refused(racket, tmp_path):
    with pytest.raises(OptionError, match="does not exist"):
        racket.animate(tmp_path / "missing" / "a.gif")
    with pytest.raises(OptionError, match=r"expected one of \.gif"):
        racket.animate(tmp_path / "a.mp4")
    assert list(tmp_path.iterdir()) == []


def test_without_ipython_view_names_animate(racket, monkeypatch):
    monkeypatch.setitem(sys.modules, "IPython", None)
    monkeypatch.setitem(sys.modules, "IPython.display", None)
    with pytest.raises(OptionError, match="animate"):
        racket.view()


def test_with_ipython_view_gives_an_image(racket, monkeypatch):
    display = types.ModuleType("IPython.display")
    display.Image = lambda data, format: (data, format)
    monkeypatch.setitem(sys.modules, "IPython", types.ModuleType("IPython"))
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    data, kind = show_trajectory(racket, seconds=0.2, size=(100, 100))
    assert kind == "gif"
    assert len(frames(data)[0]) == 4


@pytest.mark.parametrize("kind", SOME)
def test_faces_close_the_volume_of_the_shape(kind):
    """Flat shapes exactly; round ones lie inside theirs: 24 sectors lose 1.2 % around the axis, 12 rings 1.7 % along it."""
    solid = DRAW[kind](SOME[kind])
    assert solid.closed
    exact = kind in ("box", "convex", "mesh")
    assert volume(solid) == pytest.approx(VOLUMES[kind], rel=1e-12 if exact else 0.03)
    assert volume(solid) <= VOLUMES[kind] * (1 + 1e-12)


def test_every_shape_but_the_plane_can_be_drawn():
    assert set(DRAW) == set(shapes.SHAPES) - {"plane"}


def test_shape_sits_where_its_pose_says():
    m = dal.Model("a")
    m.add_body("b", 1.0, (1, 1, 1), shapes=[shapes.Box((2, 4, 6), position=(1, 0, 0), quaternion=(np.sqrt(0.5), 0, 0, np.sqrt(0.5)))])
    (solid,) = solids_of_body(m.bodies[0])
    corners = solid.faces.reshape(-1, 3)
    assert np.allclose([corners.min(axis=0), corners.max(axis=0)], [[-1, -1, -3], [3, 1, 3]])


def test_open_mesh_is_drawn_from_both_sides():
    assert not DRAW["mesh"](shapes.Mesh(TETRAHEDRON, triangles=INWARD[:2])).closed


def test_equivalent_box_has_the_inertia_of_the_body():
    turn = np.linalg.qr(np.random.default_rng(3).normal(size=(3, 3)))[0]
    inertia = turn @ np.diag([1.0, 2.0, 2.5]) @ turn.T
    body = dal.Model("a").add_body("b", 3.0, inertia, com=(1, 2, 3))
    solid = equivalent_box(body)
    x = solid.faces.reshape(-1, 3) - body.com
    second = np.linalg.inv(turn.T @ body.inertia @ turn)  # in principal axes
    edges = np.ptp(x @ turn, axis=0)
    assert np.allclose(shapes.Box(edges).inertia(3.0), 1 / np.diag(second))
    assert volume(solid) == pytest.approx(np.prod(edges))


def test_flat_body_is_drawn_as_a_thin_box():
    solid = equivalent_box(dal.Model("a").add_body("disc", 1.0, (1, 1, 2)))
    assert volume(solid) > 0


def test_rod_joins_its_ends():
    start, end = np.array([1.0, 2, 3]), np.array([1.0, 2, 5])
    solid = rod(start, end, 0.1)
    assert np.allclose(np.ptp(solid.faces.reshape(-1, 3), axis=0), [0.2, 0.2, 2.0])
    assert volume(solid) > 0


@pytest.mark.parametrize("name", [name for name in scenes.names() if isinstance(scenes.find(name).model(), dal.Model)])
def test_bodies_stay_in_the_picture(name):
    scene = scenes.find(name)
    traj = scene.simulate()
    q = traj.q[:: max(len(traj) // 50, 1)]
    stage = Stage(traj.model, q, (300, 200), "")
    corners = stage._corners(traj.model.poses(q))
    away = np.zeros(3)
    if stage.follows:
        pytest.fail("no scene travels so far")
    assert np.abs(stage._project(corners, away) / stage.window).max() <= 1.0


def test_camera_follows_a_body_that_flies_away():
    scene = scenes.find("free-body")
    traj = scene.simulate(v0={"body": (0.3, 1, 0.4, 50, 0, 0)})
    images, _ = frames(render_gif(traj, seconds=0.5, size=(200, 200)))
    blue = [(im[..., 2] > im[..., 0] + 30).mean() for im in images]
    assert min(blue) > 0.08  # the body fills a good part of every image


def two_balls(near_first: bool):
    """A blue ball (the first body) and an orange one along the line of sight, the first of them nearer or farther."""
    m = dal.Model("two")
    for name in ("first", "second"):
        m.add_body(name, 1.0, (0.4, 0.4, 0.4), shapes=[shapes.Sphere(1.0)])
    q = m.neutral()
    eye = Stage(m, q[None], (200, 200), "").camera[2]
    q[:3], q[7:10] = (eye, -eye) if near_first else (-eye, eye)
    stage = Stage(m, q[None], (200, 200), "")
    coms = np.stack([q[:3], q[7:10]])[None]
    image = stage.draw(m.poses(q), "", coms).astype(float)
    x, y = stage._project(np.zeros(3), np.zeros(3))
    return image[round(100 * (1 - y)), round(100 * (1 + x))]


@pytest.mark.parametrize("near_first", [True, False])
def test_nearer_body_hides_the_farther(near_first):
    red, _, blue = two_balls(near_first)
    assert (blue > red) == near_first


@pytest.mark.parametrize("kind", [*SOME, "none"])
def test_every_shape_leaves_its_colour(kind):
    m = dal.Model("a", gravity=(0, 0, 0))
    m.add_body("b", 1.0, (1, 1, 1), shapes=[SOME[kind]] if kind in SOME else [])
    traj = dal.simulate(m, h=0.1, t_end=1.0, v0={"b": (0, 0, 1, 0, 0, 0)})
    images, _ = frames(render_gif(traj, seconds=0.1, size=(120, 120)))
    assert (images[0][..., 2] > images[0][..., 0] + 30).mean() > 0.05


def test_body_on_a_pivot_without_shapes_has_an_arm():
    m = dal.Model("pendulum")
    m.add_body("bob", 1.0, (0.001, 0.001, 0.001), com=(0, 0, -1))
    m.add_joint("hook", "spherical", "world", "bob")
    stage = Stage(m, m.neutral()[None], (100, 100), "")
    assert stage.faces[..., 2].max() == pytest.approx(0.0, abs=1e-12)


def test_run_of_a_single_node_gives_one_image():
    def refuse(t, q, v):
        raise ValueError("no control today")

    traj = scenes.find("free-body").simulate(control=refuse, on_fail="return")
    assert len(frames(render_gif(traj, size=(100, 100)))[0]) == 1
