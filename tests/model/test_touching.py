"""The feature `contact`: shapes that can collide are refused by steppers that know no contacts."""

import mujoco
import numpy as np
import pytest

import dalembert as dal
from dalembert.model.touching import touching

BOX = """
<mujoco model="box"><worldbody>
  <geom name="floor" type="plane" size="5 5 1" {floor}/>
  <body name="box" pos="0 0 1"><freejoint/><geom type="box" size=".1 .1 .1" mass="1"/></body>
</worldbody>{rest}</mujoco>
"""


def boxes(n=2, **shape):
    """n free boxes."""
    m = dal.Model("boxes")
    for k in range(n):
        m.add_body(f"box{k}", 1.0, (1, 1, 1), pose=((2 * k, 0, 0), (1, 0, 0, 0)), shapes=[dal.Box((1, 1, 1), **shape)])
    return m


def chain(n, **shape):
    """n rods that hang from each other."""
    m = dal.Model("chain")
    for k in range(n):
        m.add_body(f"rod{k}", 1.0, (1, 1, 1), pose=((0, 0, -k), (1, 0, 0, 0)), shapes=[dal.Capsule(0.1, 1.0, **shape)])
        m.add_joint(f"j{k}", "revolute", f"rod{k - 1}" if k else "world", f"rod{k}", (0, 0, -k), (1, 0, 0))
    return m


@pytest.mark.parametrize("stepper", ["cayley", "midpoint", "mk4"])
def test_a_box_above_a_plane_is_refused_until_contact_is_ignored(stepper):
    m = dal.load_model(BOX.format(floor="", rest=""))
    words = r"contact of model 'box' \('box' can touch the world\); stepper 'spook' does; ignore=\('contact',\) runs"
    with pytest.raises(dal.UnsupportedError, match=words):
        dal.simulate(m, stepper, h=0.01, t_end=0.1)
    traj = dal.simulate(m, stepper, h=0.01, t_end=0.1, ignore="contact")
    assert "left out of the run: contact" in traj.report().text
    assert len(traj.model.world_shapes) == 1  # still drawn


def test_a_box_above_a_plane_falls_on_it():
    """Without a name the stepper is the one that handles contact; free fall of 0.1 s and more, then rest on the plane."""
    m = dal.load_model(BOX.format(floor="", rest=""))
    traj = dal.simulate(m, h=0.01, t_end=3.0)
    assert traj.stepper.name == "spook"
    assert traj.kinetic[-1] < 1e-12
    lowest = (traj.poses[-1, 0, :3, :3] @ (0.5 * np.array(m.bodies[0].shapes[0].size))[:, None]).ravel()
    assert abs(traj.poses[-1, 0, 2, 3] - abs(lowest[2])) < 1e-6
    assert traj.report().verdict == "pass"


def test_a_plain_python_step_is_refused_too(monkeypatch):
    from dalembert import registry

    monkeypatch.setattr(registry, "_steppers", dict(registry._steppers))

    @dal.stepper("falling through", order=1)
    def step(m, t, q, v, h):
        return q, v

    with pytest.raises(dal.UnsupportedError, match="'falling through' does not handle contact"):
        dal.simulate(boxes(), "falling through", h=0.1, t_end=1.0)


@pytest.mark.parametrize(
    ("floor", "rest"),
    [
        ('contype="0" conaffinity="0"', ""),
        ('contype="2" conaffinity="2"', ""),
        ("", '<contact><exclude body1="world" body2="box"/></contact>'),
        ("", '<option><flag contact="disable"/></option>'),
    ],
)
def test_files_that_let_the_box_through_run(floor, rest):
    """MuJoCo, which judges, finds no contact either when the box stands in the floor."""
    xml = BOX.format(floor=floor, rest=rest)
    m = dal.load_model(xml)
    assert not list(touching(m))
    assert not list(touching(dal.Model.from_dict(m.to_dict())))
    assert dal.simulate(m, h=0.01, t_end=0.1).status == "ok"
    assert contacts(xml, 0.05) == set()


def contacts(xml, height):
    """Pairs of bodies that MuJoCo finds in contact with the free body at a height."""
    model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(model)
    data.qpos[2] = height
    mujoco.mj_forward(model, data)
    name = lambda g: model.body(int(model.geom_bodyid[g])).name  # noqa: E731
    return {frozenset((name(c.geom1), name(c.geom2))) for c in data.contact}


def test_a_pair_of_a_file_touches_whatever_its_bits():
    rest = '<contact><pair geom1="floor" geom2="cube"/></contact>'
    xml = BOX.format(floor='contype="0" conaffinity="0"', rest=rest).replace('<geom type="box"', '<geom name="cube" type="box"')
    m = dal.load_model(xml)
    assert list(touching(m)) == [("box", "world")]
    assert contacts(xml, 0.05) == {frozenset(("box", "world"))}
    assert not list(touching(m.without("contact")))


def test_a_crowd_touches_as_mujoco_says():
    """Random bits on boxes in one place, some on a chain: the pairs are those that MuJoCo finds."""
    rng = np.random.default_rng(5)
    for _ in range(5):
        bits = rng.integers(0, 4, (7, 2))
        geom = [f'<geom type="box" size="1 1 1" mass="1" contype="{a}" conaffinity="{b}"/>' for a, b in bits]
        free = "".join(f'<body name="f{k}"><freejoint/>{geom[k]}</body>' for k in range(3))
        hinge = '<joint type="hinge"/>'
        arm = f'<body name="a">{hinge}{geom[3]}<body name="b">{hinge}{geom[4]}<body name="c">{geom[5]}</body></body></body>'
        xml = f"<mujoco><worldbody>{geom[6]}{free}{arm}</worldbody></mujoco>"
        assert {frozenset(pair) for pair in touching(dal.load_model(xml))} == contacts(xml, 0.0)


def test_neighbours_cannot_touch_but_others_can():
    assert not list(touching(chain(2)))
    assert list(touching(chain(3))) == [("rod0", "rod2")]
    assert not list(touching(chain(3, collide=False)))
    assert not list(touching(boxes(1)))


def test_loop_joints_make_neighbours():
    m = chain(3)
    m.add_joint("closing", "revolute", "rod0", "rod2", (0, 0, -2), (1, 0, 0))
    assert not list(touching(m))


def test_what_is_fixed_to_a_body_is_part_of_it():
    m = chain(2)
    m.add_body("hand", 1.0, (1, 1, 1), shapes=[dal.Sphere(0.1)])
    m.add_joint("weld", "fixed", "rod1", "hand")
    assert not list(touching(m))  # rod0 is the neighbour of rod1 with its hand
    m.world_shapes = (dal.Plane(),)
    assert set(touching(m)) == {("rod0", "world"), ("rod1", "world"), ("hand", "world")}


def test_excluded_pairs_pass_through_each_other():
    m = boxes()
    m.exclude("box0", "box1")
    assert dal.simulate(m, h=0.01, t_end=0.1).status == "ok"
    assert not list(touching(dal.Model.from_dict(m.to_dict()))) and not list(touching(m.copy()))
    with pytest.raises(dal.UnknownNameError, match="body to exclude 'bx1'; did you mean 'box1'"):
        m.exclude("box0", "bx1")
    with pytest.raises(dal.ModelError, match="both names are 'box0'"):
        m.exclude("box0", "box0")


def test_shapes_for_pictures_stay_so_in_files():
    shape = dal.Sphere(0.1, collide=False)
    assert dal.Model.from_dict(boxes(collide=False).to_dict()).bodies[0].shapes[0].collide is False
    assert shape.for_pictures() == shape
    with pytest.raises(dal.ModelError, match="collide is 'no'; expected True, or False"):
        dal.Sphere(0.1, collide="no")
