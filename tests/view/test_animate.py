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
from dalembert.view.animate import animate_trajectory, configurations, frame_times, picture_of, render_gif, show_trajectory
from dalembert.view.canvas import camera
from dalembert.view.links import groups_of, pieces_of
from dalembert.view.solids import DRAW, Solid, equivalent_solid, simplified, solids_of_body, tapered
from dalembert.view.sphere import com_paths
from dalembert.view.stage import Stage

CUBE = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=float)
TETRAHEDRON = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
INWARD = [[0, 1, 2], [0, 3, 1], [0, 2, 3], [1, 3, 2]]
SOME = {
    "box": shapes.Box((1, 2, 3)),
    "sphere": shapes.Sphere(0.5),
    "cylinder": shapes.Cylinder(0.5, 2.0),
    "capsule": shapes.Capsule(0.5, 2.0),
    "ellipsoid": shapes.Ellipsoid((0.5, 1.0, 0.4)),
    "convex": shapes.Convex(CUBE),
    "mesh": shapes.Mesh(TETRAHEDRON, triangles=INWARD),
}
VOLUMES = {
    "box": 6.0,
    "sphere": np.pi / 6,
    "cylinder": np.pi / 2,
    "capsule": np.pi / 2 + np.pi / 6,
    "ellipsoid": 4 / 3 * np.pi * 0.2,
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


def test_images_are_of_the_configurations_at_their_times(racket):
    times = np.concatenate([racket.t[[0, 7, -1]], [0.0123, 3.9999]])
    assert np.allclose(configurations(racket, times), [racket.at(t)[0] for t in times], atol=1e-15)


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
    with pytest.raises(OptionError, match=r"expected one of \.gif, \.mp4, \.webm"):
        racket.animate(tmp_path / "a.avi")
    assert list(tmp_path.iterdir()) == []


def test_without_ipython_an_image_names_animate(racket, monkeypatch):
    monkeypatch.setitem(sys.modules, "IPython", None)
    monkeypatch.setitem(sys.modules, "IPython.display", None)
    with pytest.raises(OptionError, match="animate"):
        show_trajectory(racket)


def test_with_ipython_there_is_an_image(racket, monkeypatch):
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


def test_a_height_field_is_drawn_from_both_sides():
    solid = DRAW["height-field"](shapes.HeightField(np.zeros((3, 4)), (3, 2)))
    assert not solid.closed and solid.faces.shape == (12, 4, 3)


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


def test_equivalent_solid_has_the_inertia_of_the_body():
    turn = np.linalg.qr(np.random.default_rng(3).normal(size=(3, 3)))[0]
    body = dal.Model("a").add_body("b", 3.0, turn @ np.diag([1.0, 2.0, 2.5]) @ turn.T, com=(1, 2, 3))
    solid = equivalent_solid(body)
    edges = np.sort(np.ptp((solid.faces.reshape(-1, 3) - body.com) @ turn, axis=0))[::-1]  # long edge: small moment
    assert np.allclose(shapes.Box(edges).inertia(3.0), [1.0, 2.0, 2.5])
    assert volume(solid) == pytest.approx(np.prod(edges))


@pytest.mark.parametrize("shape", [shapes.Cylinder(0.3, 0.1), shapes.Cylinder(0.1, 1.0), shapes.Sphere(0.4)])
def test_round_bodies_are_drawn_round(shape):
    """A body with the inertia of a disc, a rod or a ball; 48 sectors lose 0.2 % of the width, 24 sectors and 12 rings of a ball 2 %."""
    axis = dal.quat.exp([0.4, 0.2, -0.3])
    R = dal.quat.to_matrix(axis)
    body = dal.Model("a").add_body("b", 2.0, R @ np.diag(shape.inertia(2.0)) @ R.T, com=(1, 2, 3))
    corners = (equivalent_solid(body).faces.reshape(-1, 3) - body.com) @ R
    across = np.linalg.norm(corners[:, :2], axis=1).max()
    along = np.ptp(corners[:, 2])
    assert across == pytest.approx(shape.radius, rel=0.02)
    assert along == pytest.approx(getattr(shape, "length", 2 * shape.radius), rel=0.02)


def test_flat_body_is_drawn_as_a_thin_disc():
    assert volume(equivalent_solid(dal.Model("a").add_body("disc", 1.0, (1, 1, 2)))) > 0


def test_tapered_rod_joins_its_ends():
    start, end = np.array([1.0, 2, 3]), np.array([1.0, 2, 5])
    solid = tapered(start, end, 0.2, 0.1)
    corners = solid.faces.reshape(-1, 3)
    assert np.allclose(corners[:, 2].min(), 2.8) and np.allclose(corners[:, 2].max(), 5.1)
    widths = [np.linalg.norm(corners[np.isclose(corners[:, 2], z)][:, :2] - start[:2], axis=1).max() for z in (3.0, 5.0)]
    assert np.allclose(widths, [0.2, 0.1])
    assert volume(solid) > 0


def test_simplified_mesh_has_fewer_faces_in_the_same_place():
    fine = DRAW["sphere"](shapes.Sphere(1.0))
    many = fine._replace(faces=np.concatenate([fine.faces, 0.999 * fine.faces]), tone=np.tile(fine.tone, 2))
    few = simplified(many, 0.3)
    assert 20 < len(few.faces) < 0.5 * len(many.faces)
    assert np.abs(few.faces).max() == pytest.approx(1.0, abs=0.15)
    assert simplified(DRAW["box"](SOME["box"]), 10.0).faces.shape == (6, 4, 3)


def arm(shapes_of_last=()):
    """Two links and a massless tool frame, as an imported robot without meshes has them."""
    m = dal.Model("arm")
    m.add_body("upper", 1.0, (0.1, 0.1, 0.01), com=(0, 0, -0.5))
    m.add_body("lower", 1.0, (0.1, 0.1, 0.01), com=(0, 0, -0.5), pose=((0, 0, -1), (1, 0, 0, 0)), shapes=shapes_of_last)
    m.add_frame("tool", pose=((0, 0, -5), (1, 0, 0, 0)))
    m.add_joint("shoulder", "revolute", "world", "upper", axis=(0, 1, 0))
    m.add_joint("elbow", "revolute", "upper", "lower", anchor=(0, 0, -1), axis=(0, 1, 0))
    m.add_joint("flange", "fixed", "lower", "tool", anchor=(0, 0, -5))
    return m


def test_links_without_shapes_are_rods_between_their_joints():
    """The upper one from shoulder to elbow; the last one through its centre of mass: a uniform rod with its inertia is 1.07 m long."""
    found = {0: [], 1: [], 2: []}
    for piece in pieces_of(arm()):
        found[piece.body].append(piece.solid.faces.reshape(-1, 3))
    assert found[2] == []  # nothing for the frame, and no rod to it
    upper, lower = (np.concatenate(found[i]) for i in (0, 1))
    assert upper[:, 2].max() == pytest.approx(0.0, abs=0.1) and upper[:, 2].min() == pytest.approx(-1.0, abs=0.1)
    assert lower[:, 2].max() == pytest.approx(0.0, abs=0.1) and lower[:, 2].min() == pytest.approx(-1.03, abs=0.1)
    assert np.abs(lower[:, 0]).max() < 0.1


def test_links_with_shapes_are_those_shapes():
    pieces = [p for p in pieces_of(arm([shapes.Box((1, 1, 1))])) if p.body == 1]
    assert len(pieces) == 1 and volume(pieces[0].solid) == pytest.approx(1.0)


def test_bodies_that_are_fixed_to_each_other_share_a_colour():
    assert groups_of(arm()) == [0, 1, 1]


def stage_of(model, q, size=(200, 200)):
    centres, poses = np.stack(com_paths(model, q), axis=1), model.poses(q)
    return Stage(model, poses, centres, size, ""), poses, centres


def corners_on_screen(stage, poses):
    """Pixels of the picture, x and y from 0 to 1, of all corners of kept bodies in all images; the camera stands."""
    out = []
    for body, _, part in stage.machine.parts:
        if body < len(stage.frame.kept) and stage.frame.kept[body]:  # the world follows the last body
            x = stage.machine.points[part] @ poses[:, body, :3, :3].swapaxes(1, 2) + poses[:, body, None, :3, 3]
            out.append(stage.canvas.project(x)[..., :2].reshape(-1, 2) / stage.canvas.pixels)
    return np.concatenate(out)


@pytest.mark.parametrize("name", [name for name in scenes.names() if isinstance(scenes.find(name).reduced().model(), dal.Model)])
def test_bodies_stay_in_the_picture_and_fill_it(name):
    """Over the run bodies and their shadows touch the margins: where bodies go fills at least 0.4 of the width or the height."""
    traj = scenes.find(name).reduced().simulate()
    stage, poses, _ = stage_of(traj.model, traj.q[:: max(len(traj) // 50, 1)], (300, 200))
    assert not stage.frame.follows and stage.frame.kept.all()
    seen = corners_on_screen(stage, poses)
    assert seen.min() >= 0.0 and seen.max() <= 1.0
    assert np.ptp(seen, axis=0).max() >= 0.4


def painted(image):
    """Width and height of what is saturated in colour, as parts of the picture."""
    rows, columns = np.nonzero(np.ptp(np.asarray(image, dtype=float)[30:, :], axis=2) > 40)
    return np.ptp(columns) / image.size[0], np.ptp(rows) / image.size[1]


def test_the_machine_fills_the_picture_though_a_link_is_flung_away():
    """An arm of 2 m, and a light slider on it that falls 100 m."""
    m = arm()
    m.add_body("slider", 0.1, (0.001, 0.001, 0.001), shapes=[shapes.Sphere(0.05)])
    m.add_joint("rail", "prismatic", "world", "slider", axis=(0, 0, -1))
    q = np.zeros((50, m.nq))
    q[:, m.q_slices()["rail"]] = np.linspace(0, 100, 50)[:, None]
    stage, poses, centres = stage_of(m, q)
    assert stage.frame.kept.tolist() == [True, True, False, False]
    assert max(painted(stage.draw(poses[-1], centres[-1], "", centres))) > 0.5
    q[:, m.q_slices()["rail"]] = np.linspace(0, 4, 50)[:, None]
    assert stage_of(m, q)[0].frame.kept.tolist() == [True, True, False, True]  # near enough to stay


def test_the_machine_fills_the_picture_though_it_stands_on_a_large_stage():
    m = arm()
    m.add_body("hall", 100.0, (1, 1, 1), shapes=[shapes.Box((50, 50, 1), position=(0, 0, -4))])
    m.add_joint("ground", "fixed", "world", "hall")
    stage, poses, _ = stage_of(m, np.zeros((2, m.nq)))
    assert not stage.frame.kept[3] and stage.frame.half < 2.0
    assert np.ptp(corners_on_screen(stage, poses), axis=0).max() > 0.5


def test_an_explosion_at_the_end_does_not_shrink_the_picture():
    m = arm()
    m.add_body("free", 1.0, (0.01, 0.01, 0.01), shapes=[shapes.Sphere(0.1)])
    q = np.tile(m.neutral(), (100, 1))
    calm = stage_of(m, q)[0].frame.half
    q[-1, m.q_slices()["free"].start] = 1e9
    q[-2, m.q_slices()["free"].start] = np.inf
    assert stage_of(m, q[:-2])[0].frame.half == pytest.approx(calm)
    assert stage_of(m, q)[0].frame.half < 1.5 * calm


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
    eye = camera()[2]
    q[:3], q[7:10] = (eye, -eye) if near_first else (-eye, eye)
    stage, poses, centres = stage_of(m, q[None])
    image = np.asarray(stage.draw(poses[0], centres[0], "", centres), dtype=float)
    x, y, _ = stage.canvas.project(np.zeros(3)) / 2.0
    return image[round(y), round(x)]


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


def test_bodies_that_pass_through_each_other_are_cut_where_they_meet():
    """Two boxes crossed like a plus sign seen from above: none hides the other as a whole."""
    m = dal.Model("plus")
    m.add_body("a", 1.0, (1, 1, 1), shapes=[shapes.Box((2, 0.4, 0.4), quaternion=dal.quat.exp([0, 0.5, 0]))])
    m.add_body("b", 1.0, (1, 1, 1), shapes=[shapes.Box((2, 0.4, 0.4), quaternion=dal.quat.exp([0, -0.5, 0]))])
    stage, poses, centres = stage_of(m, m.neutral()[None])
    image = np.asarray(stage.draw(poses[0], centres[0], "", centres), dtype=float)[60:, 60:]
    blue, orange = (image[..., 2] > image[..., 0] + 30).mean(), (image[..., 0] > image[..., 2] + 30).mean()
    assert 0.7 < blue / orange < 1.4


def test_body_on_a_pivot_without_shapes_has_an_arm():
    m = dal.Model("pendulum")
    m.add_body("bob", 1.0, (0.001, 0.001, 0.001), com=(0, 0, -1))
    m.add_joint("hook", "spherical", "world", "bob")
    corners = np.concatenate([p.solid.faces.reshape(-1, 3) for p in pieces_of(m)])
    assert corners[:, 2].max() == pytest.approx(0.0, abs=0.1) and corners[:, 2].min() < -1.0


def test_a_long_title_leaves_room_for_the_time(racket):
    """The columns between title and time, 6 letters from the right edge, are white."""
    stage = Stage(
        racket.model, racket.poses[:1], racket.q[:1, None, :3], (200, 200), "a-very-long-name-of-a-machine: a-very-long-name-of-a-method"
    )
    image = np.asarray(stage.draw(racket.poses[0], racket.q[0, None, :3], "t = 0.00 s", racket.q[:1, None, :3]))
    assert (image[:16, 140:146] == 255).all() and (image[:16, :130] < 128).any() and (image[:16, 150:] < 128).any()


def test_background_of_a_gif_is_white(racket):
    images, _ = frames(render_gif(racket, seconds=0.1, size=(160, 160)))
    assert (images[0][40:70, :4] == 255).all()


def test_run_of_a_single_node_gives_one_image():
    def refuse(t, q, v):
        raise ValueError("no control today")

    traj = scenes.find("free-body").simulate(control=refuse, on_fail="return")
    assert len(frames(render_gif(traj, size=(100, 100)))[0]) == 1


def test_a_gif_has_the_colours_of_the_file():
    body = '<body name="{0}" pos="0 {1} 0"><freejoint/><geom type="box" size="0.2 0.2 0.2" rgba="{2}"/></body>'
    rows = [("red", -0.6, "1 0 0 1"), ("green", 0.0, "0 1 0 1"), ("none", 0.6, "0 0 1 0")]
    m = dal.load_model(f"<mujoco><option gravity='0 0 0'/><worldbody>{''.join(body.format(*r) for r in rows)}</worldbody></mujoco>")
    seen = picture_of(m, dal.Simulation(m, "spook", h=0.01).state.q).reshape(-1, 3).astype(int)
    red, green, blue = seen.T
    assert ((red > 120) & (green < 60) & (blue < 60)).mean() > 0.01
    assert ((green > 120) & (red < 60) & (blue < 60)).mean() > 0.01
    assert not ((blue > 120) & (red < 60) & (green < 60)).any()  # it cannot be seen
