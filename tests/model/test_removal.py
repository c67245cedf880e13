"""Parts are taken out: what stays keeps its order, what depends is named, and a name can be used again."""

import numpy as np
import pytest

import dalembert as dal

I = (1.0, 1.2, 1.4)


def machine():
    """a - b - c by hinges, d free, a loop from d to c, a coupling, motors, forces, a blade."""
    m = dal.Model("machine")
    for i, name in enumerate("abcd"):
        m.add_body(name, 1.0, I, com=(0.1, 0, 0), pose=((i, 0, 0), (1, 0, 0, 0)))
    m.add_joint("ja", "revolute", "world", "a", (0, 0, 0), (0, 1, 0))
    m.add_joint("jb", "spherical", "a", "b", (0.5, 0, 0))
    m.add_joint("jc", "prismatic", "b", "c", (1.5, 0, 0), (0, 0, 1))
    m.add_loop("ring", "spherical", "d", "c", (2.5, 0, 0))
    m.add_loop("gear", "coupling", "ja", "jc", polynomial=(0, 2))
    m.add_joint("skate", "knife-edge", "world", "d", (3, 0, 0), (0, 1, 0))
    m.add_motor("ma", "ja")
    m.add_motor("mc", "jc")
    m.add_force(dal.Spring("a", "c", stiffness=1.0))
    m.add_force(dal.Wrench("d", (1, 0, 0)), name="wind")
    m.exclude("b", "d")
    m.add_keyframe("bent", {"ja": 0.3, "jb": (np.cos(0.2), 0, np.sin(0.2), 0), "jc": 0.1}, {"ja": 1.0, "jb": (0.1, 0.2, 0.3), "jc": -0.4})
    return m


def names(m):
    return [j.name for j in m.joints]


def test_the_child_of_a_removed_joint_is_free_at_the_same_place_of_q():
    m = machine()
    assert names(m) == ["d", "ja", "jb", "jc"]
    poses = m.poses(m.keyframe("bent").q)
    energy = m.kinetic_energy(m.keyframe("bent").q, m.keyframe("bent").v)
    m.remove_joint("jb")
    assert names(m) == ["d", "ja", "b", "jc"]
    assert (m.nq, m.nv) == (7 + 1 + 7 + 1, 6 + 1 + 6 + 1)
    assert m.joint("b").kind == "free"
    bent = m.keyframe("bent")  # the machine stands and moves there as it did
    np.testing.assert_allclose(m.poses(bent.q), poses, atol=1e-15)
    assert m.kinetic_energy(bent.q, bent.v) == pytest.approx(energy, rel=1e-14)
    np.testing.assert_array_equal(m.neutral()[m.q_slices()["b"]], [1, 0, 0, 1, 0, 0, 0])
    m.add_joint("jb", "revolute", "a", "b", (0.5, 0, 0), (0, 0, 1))  # the name is free again; a new joint comes last
    assert names(m) == ["d", "ja", "jc", "jb"]


def test_what_depends_on_a_part_is_named():
    m = machine()
    before = m.to_dict()
    for call, match in [
        (
            lambda: m.remove_body("c"),
            "body 'c' is needed by joint 'jc', joint 'ring', joint 'gear', force 'spring1', motor 'mc'; .*cascade=True",
        ),
        (lambda: m.remove_joint("ja"), "joint 'ja' is needed by joint 'gear', motor 'ma'"),
        (lambda: m.remove_joint("d"), "body 'd' has no joint that could be removed: it is free"),
        (lambda: m.remove_body("x"), "unknown body 'x'"),
        (lambda: m.remove_body("world"), "unknown body 'world'"),
        (lambda: m.remove_joint("jd"), "unknown joint 'jd'"),
        (lambda: m.remove_loop("ja"), "unknown loop 'ja'"),
        (lambda: m.remove_force("spring2"), "unknown force 'spring2'; did you mean 'spring1'"),
        (lambda: m.remove_motor("md"), "unknown motor 'md'"),
        (lambda: m.frozen().remove_body("d"), "frozen"),
    ]:
        with pytest.raises(dal.DalembertError, match=match):
            call()
        assert m.to_dict() == before


def test_a_body_takes_with_it_what_depends_on_it():
    m = machine()
    m.remove_body("b", cascade=True)
    assert [x.name for x in m.bodies] == ["a", "c", "d"]
    assert names(m) == ["d", "ja", "c"]  # c lost its joint, which stood last
    assert [x.name for x in m.loops] == ["ring"]  # the coupling went with its joint
    assert [x.name for x in m.motors] == ["ma"]
    assert m.force_names == ("spring1", "wind")
    assert m._excluded == set()
    assert len(m.keyframe("bent").q) == m.nq == 15
    assert dal.Model.from_dict(m.to_dict()).to_dict() == m.to_dict()
    m.add_body("b", 2.0, I, pose=((1, 0, 0), (1, 0, 0, 0)))
    assert names(m) == ["d", "ja", "c", "b"]


def test_a_machine_taken_apart_and_built_again_moves_as_before():
    m, other = machine(), machine()
    for x in (m, other):
        x.remove_loop("ring")
        x.remove_loop("gear")
        x.remove_joint("skate")
    m.remove_body("c", cascade=True)
    m.add_body("c", 1.0, I, com=(0.1, 0, 0), pose=((2, 0, 0), (1, 0, 0, 0)))
    m.add_joint("jc", "prismatic", "b", "c", (1.5, 0, 0), (0, 0, 1))
    m.add_force(dal.Spring("a", "c", stiffness=1.0))
    assert m.force_names == ("wind", "spring1")
    start = {"q0": "bent"}
    m.add_keyframe("here", *(other.keyframe("bent").q, other.keyframe("bent").v))
    a = dal.simulate(m, "mk4", h=0.01, t_end=0.2, q0="here", v0="here")
    b = dal.simulate(other, "mk4", h=0.01, t_end=0.2, v0="bent", **start)
    np.testing.assert_allclose(a.q, b.q, atol=1e-13)  # round-off: the order of the bodies in sums differs


def test_loops_forces_and_motors_go_by_name():
    m = machine()
    m.add_loop("stop", "revolute", "world", "c", (2, 0, 0), (0, 1, 0))
    m.add_motor("ms", "stop")
    with pytest.raises(dal.ModelError, match="needed by motor 'ms'"):
        m.remove_loop("stop")
    m.remove_loop("stop", cascade=True)
    m.remove_force("spring1")
    m.remove_motor("mc")
    m.remove_joint("gear")
    m.remove_joint("skate")
    assert (m.force_names, [x.name for x in m.motors], [x.name for x in m.loops], m.nonholonomic) == (("wind",), ["ma"], ["ring"], ())
    m.add_force(dal.Spring("b", "world", stiffness=2.0))
    assert m.force_names == ("wind", "spring1")


def test_a_free_body_gets_its_name_back():
    m = dal.Model()
    m.add_body("a", 1.0, I)
    m.add_body("b", 1.0, I)
    m.add_joint("a", "revolute", "world", "b")  # takes the name of the free joint of a
    assert names(m) == ["a (free)", "a"]
    m.remove_joint("a")
    assert names(m) == ["a", "b"]
    assert dal.Model.from_dict(m.to_dict()).to_dict() == m.to_dict()
    m.remove_body("a")
    m.remove_body("b")
    assert (m.bodies, m.joints, m.nq) == ((), (), 0)


def test_removing_changes_what_the_next_run_sees():
    m = machine()
    for name in ("ring", "gear", "skate"):
        m.remove_joint(name)
    with_wind = dal.simulate(m, h=0.01, t_end=0.1)
    m.remove_force("wind")
    m.remove_force("spring1")
    m.gravity = (0, 0, 0)
    still = dal.simulate(m, h=0.01, t_end=0.1)
    assert np.abs(with_wind.v[-1]).max() > 0.01
    np.testing.assert_array_equal(still.v, 0.0)
