"""Lines in pictures: the room that planes enclose, and links."""

import numpy as np

import dalembert as dal
from dalembert.scenes.collision_chains import add_wall, add_walls, chain, zigzag
from dalembert.view.room import Links, fills, room_edges
from dalembert.view.sphere import com_paths
from dalembert.view.stage import Stage

UP = np.array([0.0, 0.0, 1.0])
SPREAD = np.array([[0.8, 0.8, 0.8, -0.8, -0.8, -0.8], [-0.8, -0.8, -0.8, 0.8, 0.8, 0.8]])  # q of two beads that fill a room


def walls(box):
    m = dal.Model("room", gravity=(0, 0, 0))
    add_walls(m, box)
    return m


def test_a_box_has_twelve_edges_of_its_sizes():
    edges = room_edges(walls((2.0, 3.0, 4.0)))
    assert edges.shape == (12, 2, 3)
    lengths = np.sort(np.linalg.norm(edges[:, 1] - edges[:, 0], axis=1))
    assert np.allclose(lengths, [2] * 4 + [3] * 4 + [4] * 4)
    assert np.allclose(np.abs(edges), [1.0, 1.5, 2.0])


def test_planes_that_enclose_nothing_are_not_a_room():
    m = dal.Model("gutter")
    for inward in ((0, 0, 1), (1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0)):
        assert room_edges(m).shape == (0, 2, 3)
        add_wall(m, inward, 1.0)
    assert room_edges(m).shape == (0, 2, 3)
    add_wall(m, (0, 0, -1), 1.0)
    assert room_edges(m).shape == (12, 2, 3)


def test_a_plane_that_cuts_a_corner_off_adds_three_edges():
    m = walls((2.0, 2.0, 2.0))
    turn = dal.quat.exp(np.cross([0, 0, 1], [-1, -1, 0]) / np.sqrt(2) * 0.95532)  # z to about (-1, -1, 1)/sqrt(3)
    m.add_shape("world", dal.Plane(position=(0.9, 0.9, -0.9), quaternion=turn))
    assert len(room_edges(m)) == 15


def test_links_end_where_their_points_are():
    beads = zigzag(3)
    m = chain(beads)
    moved = np.tile(np.eye(4), (4, 1, 1))
    moved[:3, :3, 3] = beads + UP
    lines = Links(m).lines(moved)
    assert np.allclose(lines[:, 0], beads[:2] + UP) and np.allclose(lines[:, 1], beads[1:] + UP)


def test_a_room_that_is_far_larger_than_the_motion_is_not_drawn():
    edges = room_edges(walls((2.0, 2.0, 2.0)))
    corners = np.array([[[1.0, 1.0, 1.0]], [[-1.0, -1.0, -1.0]]])
    assert fills(edges, corners) and fills(edges, 0.5 * corners) and not fills(edges, 0.4 * corners)


def dark(m, q):
    """Pixels that are not nearly white."""
    stage = Stage(m, m.poses(SPREAD), np.stack(com_paths(m, SPREAD), axis=1), (200, 200), "", "")
    image = stage.draw(m.poses(q[None])[0], np.zeros((2, 3)), "", np.zeros((1, 2, 3)))
    return int((np.asarray(image.convert("RGB")) < 170).any(axis=2).sum())


def test_pictures_show_links_and_rooms():
    """The same beads with and without a link, with and without walls, seen alike."""
    m = chain(zigzag(2), (2.0, 2.0, 2.0))
    q = m.check_q(None)
    loose = chain(zigzag(2), (2.0, 2.0, 2.0))
    loose.remove_loop("link1")
    assert dark(m, q) > dark(loose, q) + 20
    open_room = dal.Model("open", gravity=(0, 0, 0))
    for body in m.bodies:
        open_room.add_particle(body.name, 1.0, body.position, shapes=body.shapes)
    add_wall(open_room, (0, 0, 1), 1.0)
    assert dark(loose, q) > dark(open_room, q) + 100
