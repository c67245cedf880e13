"""Pages, animations and pictures of a comparison of machines."""

import warnings
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import dalembert as dal
from dalembert.comparison import robots
from dalembert.errors import OptionError
from dalembert.importers import ModelImportWarning
from dalembert.view.compare_board import Board, envelope, page_layout, strip_layout
from dalembert.view.compare_painter import reach
from dalembert.view.compare_robots import frame_times, write_board, write_strips
from dalembert.view.links import pieces_of

QUADRUPED = Path(__file__).parents[2] / "examples" / "quadruped.xml"


@pytest.fixture(scope="module")
def floating():
    """A quadruped that MuJoCo's Euler method does not survive."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelImportWarning)
        m = robots.with_gravity(robots.smooth(dal.load_model(QUADRUPED)))
    q, v = robots.random_start(m, speed=20.0)
    return dal.compare(m, [("mk4", 0.005), ("mujoco:euler", 0.05)], 1.0, q, v, reference="none")


@pytest.fixture(scope="module")
def held():
    """A pendulum chain, which has no momentum to show; five methods need two rows of panels."""
    scene = dal.scenes.find("pendulum-chain")
    methods = [(name, 0.01) for name in ("mk4", "cf4", "cg4", "mk2", "mujoco:rk4")]
    return dal.compare(scene.model(), methods, 20.0, scene.q0, scene.v0, reference="none")


def opened(data):
    image = Image.open(BytesIO(data))
    image.load()
    return image


def test_a_gif_moves(floating, tmp_path):
    path = write_board(floating, tmp_path / "a.gif")
    image = Image.open(path)
    assert image.n_frames == len(frame_times(1.0))
    frames = []
    for k in (0, image.n_frames - 1):
        image.seek(k)
        frames.append(np.asarray(image.convert("RGB"), dtype=float))
    changed = np.abs(frames[1] - frames[0]).max(axis=2) > 40
    middle = changed.shape[1] // 2
    assert changed[60:220, :middle].sum() > 200 and changed[60:220, middle:].sum() > 200  # both machines


def test_a_png_shows_every_method_and_marks_what_broke_down(floating, tmp_path):
    assert floating.rows[1].status != "ok"
    image = opened(write_board(floating, tmp_path / "a.png").read_bytes())
    assert image.size == tuple(2 * x for x in page_layout(2, ["energy_error", "momentum_error"]).size)
    board = Board(floating)
    colours = board.draw(1.0, cursor=False)[60:220].astype(float)
    ours, broken = colours[:, : colours.shape[1] // 2], colours[:, colours.shape[1] // 2 :]
    assert ours.min(axis=2).min() < 60  # solid
    assert np.median(broken[np.ptp(broken, axis=2) > 20].min(axis=1)) > 120  # faded


def test_a_held_machine_has_one_diagram_and_many_methods_have_two_rows(held):
    board = Board(held)
    assert [d.what for d in board.layout.diagrams] == ["energy_error"]
    assert board.layout.columns == 4
    assert board.draw(3.0).shape == (board.layout.size[1], board.layout.size[0], 3)


def test_the_line_in_the_diagrams_follows_the_time(held):
    board = Board(held, strip_layout)
    d = board.layout.diagrams[0]
    y = int(d.top + d.height / 2)
    for t in (5.0, 15.0):
        x = round(d.left + d.width * t / held.t_end)
        assert board.draw(t)[y, x].sum() < 200  # dark


def test_strips_stack_machines(held, floating, tmp_path):
    image = opened(write_strips([held, floating], tmp_path / "s.png").read_bytes())
    sizes = [strip_layout(len(r.rows), []).size for r in (held, floating)]
    assert image.size == (2 * sizes[0][0], 2 * sum(s[1] for s in sizes))


def test_times_of_long_runs_are_windows():
    t = frame_times(1000.0)
    assert t[0] == 0.0 and t[-1] == pytest.approx(1000.0)
    assert (np.diff(t) > 100).sum() == 2 and len(t) < 100
    assert np.all(np.diff(frame_times(5.0)) < 0.2)


def test_machines_without_simple_shapes_are_rods():
    m = dal.Model("sticks")
    m.add_frame("frame", pose=((0, 0, -0.1), (1, 0, 0, 0)))
    m.add_body("rod", 1.0, (0.1, 0.1, 0.01), com=(0, 0, -0.5), pose=((0, 0, -0.5), (1, 0, 0, 0)))
    m.add_joint("a", "revolute", "world", "frame", axis=(1, 0, 0))
    m.add_joint("b", "revolute", "frame", "rod", anchor=(0, 0, -0.5), axis=(0, 1, 0))
    assert {p.body for p in pieces_of(m)} == {0, 1}
    assert reach(m, m.poses(m.neutral()[None]), np.zeros((1, 3))) == pytest.approx(1.53, abs=0.1)  # a uniform rod with its inertia


def test_an_envelope_keeps_peaks():
    t = np.linspace(0, 1, 10_000)
    y = np.zeros(10_000)
    y[5000] = 7.0
    assert envelope(t, y)[1].max() == 7.0 and len(envelope(t, y)[0]) <= 250


def test_paths_that_cannot_be(held, tmp_path):
    with pytest.raises(OptionError, match=r"\.gif, \.png"):
        write_board(held, tmp_path / "a.mp4")
    with pytest.raises(OptionError, match="does not exist"):
        write_board(held, tmp_path / "missing" / "a.gif")
