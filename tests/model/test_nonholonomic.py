"""Joints without coordinates: rolling, knife edges, distances, gears, homokinetic joints, slots."""

import json

import numpy as np
import pytest

import dalembert as dal
from dalembert.errors import ModelError, UnknownNameError, UnsupportedError
from dalembert.model import compile_rigid_body, compile_tree
from dalembert.model.rotation import quat_exp

I = (1.0, 1.1, 1.2)


def two():
    m = dal.Model("two")
    m.add_body("a", 1.0, I)
    m.add_body("b", 1.0, I, pose=((1, 0, 0.5), (1, 0, 0, 0)))
    return m


def ball(radius=0.5, **more):
    m = two()
    m.add_joint("roll", "rolling", "world", "b", radius=radius, **more)
    return m


def test_a_rolling_joint_leaves_its_child_free():
    m = ball()
    assert (m.nq, m.nv) == (14, 12)
    assert [j.name for j in m.nonholonomic] == ["roll"]
    assert m.loops == ()
    assert "roll (rolling)" in repr(m)
    np.testing.assert_allclose(m.nonholonomic[0].point, [1, 0, 0.5])  # the origin of the child's frame
    np.testing.assert_allclose(m.loop_errors(m.neutral())["roll"], [0.0])


def test_height_is_that_of_the_lowest_point():
    q = ball().neutral()
    q[7 + 2] = 0.8
    assert abs(ball().loop_errors(q)["roll"][0] - 0.3) < 1e-15
    m = two()
    m.add_joint("roll", "rolling", "world", "b", radius=0.5, axis=(0, 1, 0))
    q = m.neutral()
    q[10:] = quat_exp(np.array([0.4, 0, 0]))  # a wheel that leans by 0.4 rad: its lowest point is r cos(0.4) below the centre
    assert abs(m.loop_errors(q)["roll"][0] - 0.5 * (1 - np.cos(0.4))) < 1e-15
    assert m.loop_errors(np.stack([q, q]))["roll"].shape == (2, 1)


def test_contact_false_has_no_row_on_positions():
    m = ball(contact=False)
    assert m.loop_errors(m.neutral()) == {}
    assert [what for _, what in m.constraint_labels] == ["heading", "sideways"]


def test_features_say_what_a_stepper_must_handle():
    m = ball()
    assert "nonholonomic" in compile_tree.features(m)
    assert "loops" not in compile_tree.features(m)
    one = dal.Model("one")
    one.add_body("b", 1.0, I, pose=((0, 0, 0.5), (1, 0, 0, 0)))
    one.add_joint("roll", "rolling", "world", "b", radius=0.5)
    assert "nonholonomic" in compile_rigid_body.features(one)
    with pytest.raises(UnsupportedError, match="nonholonomic"):
        dal.simulate(one, "cayley", h=0.1, t_end=1.0)
    with pytest.raises(UnsupportedError, match="nonholonomic"):
        dal.simulate(one, "mk4", h=0.1, t_end=1.0)


def test_models_with_joints_without_coordinates_round_trip():
    m = ball(axis=(0, 1, 0.2), normal=(0.1, 0, 1), point=(1, 0.1, 0.4))
    m.add_joint("ball", "rolling", "a", "b", radius=0.2, contact=False)
    m.add_joint("blade", "knife-edge", "a", "b", (0, 0, 1), (1, 0, 0))
    m.add_joint("rope", "distance", "a", "b", (0, 0, 1), point=(2, 0, 0), length=3.0)
    m.add_joint("shafts", "homokinetic", "a", "b", (0, 0, 1), (1, 0, 0))
    m.add_joint("groove", "slot", "a", "b", (0, 0, 1), (1, 0, 0), point=(2, 0, 0))
    again = dal.Model.from_dict(json.loads(json.dumps(m.to_dict())))
    assert again.to_dict() == m.to_dict()
    q = m.random(np.random.default_rng(3))
    for ours, theirs in zip(m.constraint_rows(q), again.constraint_rows(q), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert m.copy().to_dict() == m.to_dict()


def test_a_copy_does_not_share_its_joints():
    m = ball()
    other = m.copy()
    other.add_joint("blade", "knife-edge", "world", "b", axis=(1, 0, 0))
    assert len(m.nonholonomic) == 1
    with pytest.raises(ModelError, match="frozen"):
        m.frozen().add_joint("blade", "knife-edge", "world", "b", axis=(1, 0, 0))


@pytest.mark.parametrize(
    ("kind", "more", "message"),
    [
        ("rolling", {}, r"joint 'j': radius is missing"),
        ("rolling", {"radius": -1}, r"radius is -1.0; expected a finite number > 0"),
        ("rolling", {"radius": 1, "axis": (0, 0, 1)}, r"the axle .* is along the normal .* lies flat.*axis=None"),
        ("rolling", {"radius": 1, "damping": 2.0}, r"a rolling joint has no coordinates of its own, so it takes no damping"),
        ("rolling", {"radius": 1, "length": 2.0}, r"length is 2.0, but a rolling joint takes none; kinds that do: distance"),
        ("revolute", {"radius": 1}, r"radius is 1, but a revolute joint takes none; kinds that do: rolling"),
        ("knife-edge", {}, r"axis is missing; expected the direction across the blade"),
        ("distance", {"limits": (0, 1)}, r"takes no limits"),
    ],
)
def test_what_cannot_be_is_refused(kind, more, message):
    with pytest.raises(ModelError, match=message):
        two().add_joint("j", kind, "world", "b", **more)


def test_unknown_names_are_refused():
    with pytest.raises(UnknownNameError, match="argument of rolling joint 'j' 'radios'; did you mean 'radius'"):
        two().add_joint("j", "rolling", "world", "b", radios=1)
    with pytest.raises(UnknownNameError, match="child of joint 'j' 'c'"):
        two().add_joint("j", "rolling", "world", "c", radius=1)
    with pytest.raises(UnknownNameError, match="parent of joint 'j' 'c'"):
        two().add_joint("j", "knife-edge", "c", "b", axis=(1, 0, 0))
    with pytest.raises(ModelError, match="parent and child are both 'b'"):
        two().add_joint("j", "knife-edge", "b", "b", axis=(1, 0, 0))


def test_names_are_given_once():
    m = ball()
    for kind, more in (("knife-edge", {"axis": (1, 0, 0)}), ("revolute", {}), ("distance", {"point": (3, 0, 0)})):
        with pytest.raises(ModelError, match="joint of this name already"):
            m.add_joint("roll", kind, "world", "b", **more)
    m.add_joint("b", "knife-edge", "world", "b", axis=(1, 0, 0))  # the implicit joint of the body gives its name away
    assert "b (free)" in [j.name for j in m.joints]


def test_gear_couples_joints():
    m = two()
    m.add_joint("j1", "revolute", "world", "a")
    m.add_joint("j2", "revolute", "world", "b")
    m.add_joint("mesh", "gear", "j1", "j2", ratio=-2.5)
    assert m.loop("mesh").kind == "coupling"
    np.testing.assert_allclose(m.loop_errors([0.2, 0.7])["mesh"], [0.7 + 0.5])
    q, v = m.assemble({"j1": 0.2}, {"j1": 1.0}, fixed=["j1"])
    np.testing.assert_allclose([q[1], v[1]], [-0.5, -2.5])


def test_distance_keeps_its_length():
    m = two()
    m.add_joint("rope", "distance", "world", "b", point=(1, 0, 0.5))
    assert m.loop("rope").length == np.sqrt(1.25)


@pytest.mark.parametrize("bend", [0.0, 0.3, 1.2])
def test_homokinetic_shafts_turn_at_one_rate(bend):
    """Two shafts in bearings at an angle: the driven one follows the driver exactly, which two hinges (universal) do not do."""
    out = np.array([np.cos(bend), np.sin(bend), 0])
    m = dal.Model("shafts")
    m.add_body("driver", 1.0, I)
    m.add_body("driven", 1.0, I, pose=((0, 0, 0), (1, 0, 0, 0)))
    m.add_joint("in", "revolute", "world", "driver", axis=(1, 0, 0))
    m.add_joint("out", "revolute", "world", "driven", axis=out)
    # both shafts stand along x when the joint is straight; here the driven one is bent about z, across the axis
    turn = quat_exp(np.array([0, 0, -bend]))
    m.add_loop("joint", "homokinetic", "driver", "driven", axis=(1, 0, 0), turn=turn)
    q, v = m.assemble({"in": 0.8}, {"in": 1.0}, fixed=["in"])
    np.testing.assert_allclose([q[1], v[1]], [0.8, 1.0], atol=1e-13)


def test_ball_on_a_turntable_circles_at_two_sevenths_of_its_rate():
    """a = (2/7) Omega z x v for a solid ball, however it spins; the table is heavy (1e12 kg m^2), so its own change is below 1e-12."""
    m = dal.Model("turntable")
    m.add_body("table", 1.0, (1e12,) * 3)
    m.add_body("ball", 1.0, (0.004,) * 3, pose=((0.5, 0, 0.1), (1, 0, 0, 0)))
    m.add_joint("spindle", "revolute", "world", "table")
    m.add_joint("roll", "rolling", "table", "ball", radius=0.1)
    Omega, velocity = 3.0, np.array([0.1, 0.2, 0.0])
    slip = Omega * np.array([0.0, 0.5, 0.0])  # of the table under the ball
    w = np.cross([0, 0, 1], velocity - slip) / 0.1
    v = m.check_v({"spindle": Omega, "ball": (*w, *velocity)})
    np.testing.assert_allclose(w[:2], [13, 1])
    q = m.neutral()
    _, G = m.constraint_rows(q)
    np.testing.assert_allclose(G @ v, 0, atol=1e-14)
    h = 1e-4
    bias = (m.constraint_rows(m.integrate(q, h * v))[1] - m.constraint_rows(m.integrate(q, -h * v))[1]) @ v / (2 * h)
    M = m.mass_matrix(q)
    K = np.block([[M, -G.T], [G, np.zeros((3, 3))]])
    at = m.v_slices()["ball"]
    a = np.linalg.solve(K, np.concatenate([-m.inverse_dynamics(q, v, np.zeros(m.nv)), -bias]))[: m.nv][at]
    centre = a[3:] + np.cross(w, velocity)  # body axes coincide with those of the world here
    np.testing.assert_allclose(centre, 2 / 7 * Omega * np.cross([0, 0, 1], velocity), atol=1e-6)


@pytest.mark.parametrize("axis", [(0, 1, 0), None])
def test_heading_and_sideways_point_where_the_page_says(axis):
    """Axle x normal = y x z = x, and normal x heading = y: of a wheel with its axle along y, and of a ball on the ground."""
    m = dal.Model("wheel")
    m.add_body("wheel", 1.0, (1, 1, 1), pose=((0, 0, 0.5), (1, 0, 0, 0)))
    m.add_joint("ground", "rolling", "world", "wheel", axis=axis, radius=0.5)
    rows = dict(zip([what for _, what in m.constraint_labels], m.constraint_rows(m.neutral())[1], strict=True))
    # on (omega, velocity of the centre): the contact is 0.5 m below it; turning about +y goes towards +x
    np.testing.assert_allclose(rows["heading"], [0, -0.5, 0, 1, 0, 0], atol=1e-15)
    np.testing.assert_allclose(rows["sideways"], [0.5, 0, 0, 0, 1, 0], atol=1e-15)
    np.testing.assert_allclose(rows["height"], [0, 0, 0, 0, 0, 1], atol=1e-15)
