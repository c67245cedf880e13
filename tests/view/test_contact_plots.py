"""Figures and pictures of runs with contacts."""

import numpy as np
import pytest
from PIL import Image

import dalembert as dal
from dalembert.scenes.contact_piles import UPRIGHT, add_box, ground, heap, incline, spheres_in_bin
from dalembert.view.animate import picture_of
from dalembert.view.canvas import rgb
from dalembert.view.contact_plots import touched, works
from dalembert.view.ground import level_floor, world_pieces

H = 1 / 60
SIZE = (200, 160)


@pytest.fixture(scope="module")
def pile():
    return dal.simulate(heap(6), "spook", h=H, t_end=1.5)


def titles(figure):
    return [axes.get_title(loc="left") for axes in figure.axes]


def colours_in(image):
    return {tuple(int(x) for x in pixel) for pixel in image.reshape(-1, 3)}


def test_figure_shows_account_contacts_forces_and_solver(pile, tmp_path):
    figure = pile.plot(tmp_path / "heap.png")
    words = "Work since the start|Kinetic energy|Penetration and contacts|Largest contact forces|Solver effort|Energy balance"
    assert set(words.split("|")) <= set(titles(figure))
    assert Image.open(tmp_path / "heap.png").size[0] > 1000


def test_work_of_the_columns_is_the_change_of_energy(pile):
    energy = pile.energy
    assert np.allclose(sum(works(pile).values()), energy - energy[0], atol=1e-11 * np.abs(energy).max())


def test_run_that_kept_no_contacts_says_so():
    traj = dal.simulate(heap(2), "spook", h=H, t_end=0.5, contacts="none")
    figure = traj.plot()
    said = [text.get_text() for axes in figure.axes for text in axes.texts]
    assert sum("contacts were not kept" in text for text in said) == 3


def test_run_without_contacts_has_the_figure_of_its_machine():
    m = ground("falling")
    add_box(m, "box", (0.2, 0.2, 0.2), 1.0, (0, 0, 100.0))
    traj = dal.simulate(m, "spook", h=H, t_end=0.1)
    assert not touched(traj)
    assert "Momentum error" in titles(traj.plot())


def test_machine_with_joints_shows_how_they_close():
    figure = dal.scenes.find("gripper").simulate(t_end=0.2).plot()
    assert "Closing of the loops" in titles(figure)


def test_floor_is_chequered_at_the_height_of_the_plane():
    m = dal.Model("floor")
    m.add_shape("world", dal.Plane(position=(0, 0, 0.5)))
    add_box(m, "box", (0.2, 0.2, 0.2), 1.0, (0, 0, 0.6))
    assert level_floor(m) == 0.5
    with_floor = picture_of(m, m.neutral(), SIZE)
    bare = dal.Model("floor")
    add_box(bare, "box", (0.2, 0.2, 0.2), 1.0, (0, 0, 0.6))
    assert level_floor(bare) is None
    grey = lambda image: (np.ptp(image.astype(int), axis=2) < 20) & (image.min(axis=2) < 245) & (image.max(axis=2) > 180)  # noqa: E731
    assert grey(with_floor).sum() > 1.5 * grey(picture_of(bare, bare.neutral(), SIZE)).sum()


def test_tilted_plane_is_drawn_below_the_block():
    m = incline(20.0)
    pieces = world_pieces(m, m.poses(m.neutral())[None, :, :3, 3], np.array([0.2]))
    faces = pieces[0].solid.faces
    normal = np.array([np.sin(np.radians(20.0)), 0, np.cos(np.radians(20.0))])
    assert len(faces) > 50
    assert np.all(np.abs(faces @ normal) < 1e-3)
    assert len(colours_in(picture_of(m, m.neutral(), SIZE))) > 20


@pytest.mark.parametrize(
    "shape",
    [
        dal.Box((0.3, 0.2, 0.1)),
        dal.Sphere(0.1),
        dal.Capsule(0.05, 0.2),
        dal.Cylinder(0.1, 0.1),
        dal.Ellipsoid((0.2, 0.1, 0.05)),
        dal.Convex(np.array([(0, 0, 0), (0.3, 0, 0), (0, 0.3, 0), (0, 0, 0.3)])),
    ],
    ids=lambda s: s.kind,
)
def test_every_shape_is_drawn_as_a_body_and_in_the_world(shape):
    m = ground("shape")
    m.add_body("body", 1.0, (0.1, 0.1, 0.1), pose=((0, 0, 0.3), UPRIGHT), shapes=(shape,))
    blue = np.abs(picture_of(m, m.neutral(), SIZE).astype(float) / 255.0 - rgb("#4a86c5") / 255.0).sum(axis=2) < 0.5
    assert blue.sum() > 300
    w = ground("shape")
    w.add_shape("world", shape)
    add_box(w, "box", (0.1, 0.1, 0.1), 1.0, (0.6, 0, 0.05))
    assert len(world_pieces(w, np.zeros((1, 1, 3)), np.array([0.1]))) == 1


def test_walls_are_seen_through():
    """Balls in a closed bin leave their colours in the picture."""
    m = spheres_in_bin(10)
    image = picture_of(m, m.neutral(), SIZE).astype(float)
    colourful = np.ptp(image, axis=2) > 40
    assert colourful.sum() > 500


def test_animation_of_a_heap_is_written(pile, tmp_path):
    path = pile.animate(tmp_path / "heap.gif", max_frames=5, size=SIZE)
    assert Image.open(path).n_frames == 5
