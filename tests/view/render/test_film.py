"""Films: frames and size as read back, the renderer that is chosen, fallbacks, and no half files."""

import sys

import imageio_ffmpeg
import numpy as np
import pytest
from PIL import Image

import dalembert as dal
from dalembert.errors import OptionError, UnknownNameError
from dalembert.view import animate
from dalembert.view.render import backend, film

SIZE = (160, 120)


def frames(path):
    """(size, images) of a film."""
    reader = imageio_ffmpeg.read_frames(str(path))
    width, height = next(reader)["size"]
    return (width, height), [np.frombuffer(data, dtype=np.uint8).reshape(height, width, 3).astype(float) for data in reader]


@pytest.mark.parametrize("suffix", ["mp4", "webm"])
def test_film_has_its_frames_its_size_and_moves(suffix, swing, tmp_path):
    path = swing.animate(tmp_path / f"a.{suffix}", fps=8, size=SIZE)
    size, images = frames(path)
    assert size == SIZE and len(images) == 8  # one second of motion
    assert np.abs(images[0] - images[-1]).max() > 60
    assert [p.name for p in tmp_path.iterdir()] == [f"a.{suffix}"]


def test_speed_shortens_the_film(swing, tmp_path):
    _, images = frames(swing.animate(tmp_path / "a.mp4", fps=8, size=SIZE, speed=2.0, renderer="painter"))
    assert len(images) == 4


def test_film_of_the_painter_has_a_white_background(swing, tmp_path):
    _, images = frames(swing.animate(tmp_path / "a.mp4", fps=4, size=SIZE, renderer="painter"))
    assert images[0][40:70, :4].min() > 245


def drawn_by(monkeypatch, swing, path, **options):
    """'pyvista' or 'painter'."""
    used = []
    real = film.Film.draw
    monkeypatch.setattr(film.Film, "draw", lambda self, k: used.append(k) or real(self, k))
    swing.animate(path, fps=4, size=SIZE, seconds=0.5, **options)
    return "pyvista" if used else "painter"


@pytest.mark.parametrize(
    ("name", "options", "who"),
    [
        ("a.gif", {}, "painter"),
        ("a.gif", {"theme": "dark"}, "pyvista"),
        ("a.gif", {"renderer": "pyvista"}, "pyvista"),
        ("a.mp4", {}, "pyvista"),
        ("a.mp4", {"trails": ["lower"], "contacts": True, "frames": True}, "pyvista"),
        ("a.mp4", {"renderer": "painter"}, "painter"),
    ],
)
def test_auto_takes_the_painter_for_gifs_and_pyvista_for_films(name, options, who, swing, tmp_path, monkeypatch):
    assert drawn_by(monkeypatch, swing, tmp_path / name, **options) == who


def test_gif_by_pyvista_has_its_frames(swing, tmp_path):
    path = swing.animate(tmp_path / "a.gif", renderer="pyvista", fps=5, seconds=1, size=SIZE)
    with Image.open(path) as image:
        assert image.n_frames == 5 and image.size == SIZE


def test_without_pyvista_the_painter_makes_the_film_with_one_warning(swing, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyvista", None)
    with pytest.warns(UserWarning, match="PyVista is not installed") as found:
        path = swing.animate(tmp_path / "a.mp4", fps=4, size=SIZE)
    assert len(found) == 1 and len(frames(path)[1]) == 4
    with pytest.raises(backend.CannotRender, match="PyVista"):
        swing.animate(tmp_path / "b.mp4", renderer="pyvista")


def test_without_ffmpeg_a_gif_is_written_with_one_warning(swing, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    with pytest.warns(UserWarning, match=r"a\.gif.*instead of 'a\.mp4'") as found:
        path = swing.animate(tmp_path / "a.mp4", renderer="painter", max_frames=2, size=SIZE)
    assert len(found) == 1 and path == tmp_path / "a.gif" and Image.open(path).n_frames == 2


@pytest.mark.parametrize("problem", [KeyboardInterrupt, RuntimeError])
def test_an_interrupted_film_leaves_what_was_there(problem, swing, tmp_path, monkeypatch):
    (tmp_path / "a.mp4").write_bytes(b"before")

    def stop(self, k):
        if k == 2:
            raise problem
        return Image.new("RGB", SIZE)

    monkeypatch.setattr(film.Film, "draw", stop)
    with pytest.raises(problem):
        swing.animate(tmp_path / "a.mp4", fps=8, size=SIZE)
    assert [p.name for p in tmp_path.iterdir()] == ["a.mp4"] and (tmp_path / "a.mp4").read_bytes() == b"before"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"size": (161, 120)}, r"even widths and heights, such as \(162, 120\)"),
        ({"size": (10, 10)}, "64 to 4096"),
        ({"fps": 0}, "fps = 0"),
        ({"fps": 500}, "at most 120"),
        ({"speed": 0}, "speed = 0"),
        ({"speed": 2, "seconds": 3}, "one of them"),
        ({"max_frames": 5}, "30 images, more than max_frames = 5; speed=6 or seconds=0 fits"),
        ({"renderer": "opengl"}, "unknown renderer 'opengl'"),
        ({"theme": "sepia"}, "unknown theme 'sepia'"),
        ({"renderer": "painter", "theme": "dark"}, "the painter has no theme"),
        ({"themes": "dark"}, "unknown option of animate 'themes'; did you mean 'theme'"),
        ({"camera": "back"}, "camera"),
    ],
)
def test_what_cannot_be_is_told_in_one_sentence(options, words, swing, tmp_path):
    with pytest.raises((OptionError, UnknownNameError), match=words):
        swing.animate(tmp_path / "a.mp4", **{"size": SIZE, **options})
    assert list(tmp_path.iterdir()) == []


def test_states_that_are_not_finite_are_refused(swing, tmp_path):
    broken = dal.Trajectory.of_nodes(swing.model, swing.t, np.where(swing.t[:, None] > 0.5, np.nan, swing.q), swing.v)
    with pytest.raises(OptionError, match="not finite"):
        broken.animate(tmp_path / "a.mp4", size=SIZE)
    assert list(tmp_path.iterdir()) == []


def test_times_of_a_film_are_those_of_the_motion():
    times, shown = animate.film_times(np.array([1.0, 3.0]), 10, None, 100)
    assert len(times) == 20 and (times[0], times[-1]) == (1.0, 3.0) and shown == 100.0
    assert len(animate.film_times(np.array([1.0]), 10, None, 100)[0]) == 1


def test_camera_follows_a_body_that_flies_away(tmp_path):
    traj = dal.scenes.find("free-body").simulate(v0={"body": (0.3, 1, 0.4, 500, 0, 0)}, t_end=2.0)
    _, images = frames(traj.animate(tmp_path / "a.mp4", fps=3, size=SIZE))
    assert min((im[..., 2] > im[..., 0] + 30).mean() for im in images) > 0.04
