"""What acts on joints that close loops, and compliance: kept, written, named where a stepper does not handle it.

Springs and dampers of loops in forward dynamics are judged by the same joint as one of the tree.
"""

import json

import numpy as np
import pytest

import dalembert as dal
from dalembert.model import body_state
from dalembert.model.joints import KINDS

I = (1.0, 1.2, 1.4)
ACTING = {"damping": 0.3, "friction": 0.2, "stiffness": 5.0, "rest": 0.1, "limits": (-1.0, 1.0), "compliance": 1e-6, "damping_time": 0.01}


def four_bar(**acting):
    m = dal.Model("four-bar")
    for name, x, z in (("left", 0, 0.5), ("top", 0.5, 1), ("right", 1, 0.5)):
        m.add_body(name, 1.0, I, pose=((x, 0, z), (1, 0, 0, 0)))
    m.add_joint("j1", "revolute", "world", "left", (0, 0, 0), (0, 1, 0))
    m.add_joint("j2", "revolute", "left", "top", (0, 0, 1), (0, 1, 0))
    m.add_joint("j3", "revolute", "top", "right", (1, 0, 1), (0, 1, 0))
    m.add_joint("j4", "revolute", "world", "right", (1, 0, 0), (0, 1, 0), **acting)
    return m


def test_a_loop_keeps_what_acts_on_it_and_so_do_files():
    m = four_bar(**ACTING)
    loop = m.loop("j4")
    assert {what: getattr(loop, what) for what in ACTING} == ACTING
    again = dal.Model.from_dict(json.loads(json.dumps(m.to_dict())))
    assert {what: getattr(again.loop("j4"), what) for what in ACTING} == ACTING
    assert again.to_dict() == m.to_dict()
    assert not {"damping", "limits", "compliance"} & set(four_bar().loop("j4").to_dict())  # what is 0 is not written


@pytest.mark.parametrize(
    ("given", "feature"),
    [
        ({"damping": 0.3}, "loop damping"),
        ({"friction": 0.2}, "loop friction"),
        ({"stiffness": 5.0}, "loop stiffness"),
        ({"limits": (-1, 1)}, "loop limits"),
        ({"compliance": 1e-6}, "compliance"),
        ({"damping_time": 0.01}, "compliance"),
    ],
)
def test_steppers_name_what_they_do_not_handle_of_loops(given, feature):
    m, plain = four_bar(**given), four_bar()
    with pytest.raises(dal.UnsupportedError, match=f"does not handle {feature} of model 'four-bar'.*ignore=.*{feature}") as error:
        dal.simulate(m, "midpoint", h=0.01, t_end=0.05)
    assert error.value.ignore == (feature,)
    start = {"q0": [0.2, -0.2, 0.2], "v0": [1.0, -1.0, 1.0]}
    found = dal.simulate(m, "midpoint", h=0.01, t_end=0.05, ignore=feature, **start)
    wanted = dal.simulate(plain, h=0.01, t_end=0.05, **start)
    np.testing.assert_array_equal(found.q, wanted.q)
    np.testing.assert_array_equal(found.energy, wanted.energy)


def test_motors_of_loops_are_data_that_steppers_name():
    m = four_bar()
    m.add_motor("drive", "j4", limit=3.0)
    again = dal.Model.from_dict(json.loads(json.dumps(m.to_dict())))
    assert again.motor("drive") == m.motor("drive")
    with pytest.raises(dal.UnsupportedError, match="does not handle loop motors"):
        dal.simulate(m, "midpoint", h=0.01, t_end=0.05)
    with pytest.raises(dal.UnsupportedError, match="motors 'drive' act on joints that close loops"):
        m.motor_forces([1.0], np.zeros(3), np.zeros(3))
    for ignore in ("loop motors", "motors", "loops"):
        assert m.without(ignore).motors == ()
        assert dal.simulate(m, h=0.01, t_end=0.05, ignore=ignore).status == "ok"
    m.add_loop("slot", "slot", "world", "right", (1, 0, 0))
    with pytest.raises(dal.ModelError, match=r"slot.*has 0 degrees of freedom"):
        m.add_motor("no", "slot")


def test_compliance_of_joints_of_the_tree_and_of_all_loops():
    m = dal.Model()
    m.add_body("a", 1.0, I)
    m.add_body("b", 1.0, I, pose=((1, 0, 0), (1, 0, 0, 0)))
    m.add_joint("hinge", "revolute", "world", "a", compliance=1e-5, damping_time=0.02)
    m.add_joint("rod", "distance", "a", "b", (0, 0, 0), point=(1, 0, 0), compliance=1e-4)
    assert (m.joint("hinge").compliance, m.joint("hinge").damping_time, m.loop("rod").compliance) == (1e-5, 0.02, 1e-4)
    again = dal.Model.from_dict(json.loads(json.dumps(m.to_dict())))
    assert again.to_dict() == m.to_dict()
    with pytest.raises(dal.UnsupportedError, match="does not handle compliance"):
        dal.simulate(m, "midpoint", h=0.01, t_end=0.05)
    rigid = m.without("compliance")
    assert (rigid.joint("hinge").compliance, rigid.joint("hinge").damping_time, rigid.loop("rod").compliance) == (0.0, 0.0, 0.0)
    with pytest.raises(dal.ModelError, match=r"joint 'x': compliance is -1.0"):
        m.add_joint("x", "revolute", "world", "b", compliance=-1)
    with pytest.raises(dal.ModelError, match="takes no compliance"):
        m.add_joint("x", "rolling", "world", "b", radius=1.0, compliance=1.0)


@pytest.mark.parametrize("kind", [k for k in KINDS if KINDS[k].nv and not KINDS[k].absolute])
def test_springs_and_dampers_of_loops_act_as_those_of_the_same_joint_in_a_tree(kind):
    """Two bodies: joined by a joint of the tree, and by a loop joint of the same kind between two free bodies."""
    axis2 = (0.3, -1.0, 1.0) if kind in ("universal", "planar") else None
    acting = {"damping": 0.7, "stiffness": 3.0, "rest": 0.0 if kind == "spherical" else 0.2}
    models = [dal.Model("tree"), dal.Model("free")]
    turn = np.array([0.9, 0.1, -0.3, 0.2])
    for m in models:
        m.add_body("a", 2.0, I, com=(0.1, 0, 0.2))
        m.add_body("b", 1.0, I, com=(0, 0.3, 0.1), pose=((0.5, 0.2, 0), turn / np.linalg.norm(turn)))
    tree, free = models
    tree.add_joint("j", kind, "a", "b", (0.3, -0.2, 0.7), (1.0, 2.0, -0.5), axis2=axis2, **acting)
    free.add_loop("j", kind, "a", "b", (0.3, -0.2, 0.7), (1.0, 2.0, -0.5), axis2=axis2, **acting)
    rng = np.random.default_rng(4)
    for _ in range(3):
        q, v = tree.random(rng), rng.normal(size=tree.nv)
        Q, V = body_state(tree, q, v)
        assert free.energy(Q, V) == pytest.approx(tree.energy(q, v), rel=1e-13)
        a, A = tree.forward_dynamics(q, v), free.forward_dynamics(Q, V)
        np.testing.assert_allclose(
            A[:6], a[tree.v_slices()["a"]], rtol=1e-8, atol=1e-9
        )  # differences along the motion: 1e-11 of the largest
        power = (free.without("loop damping").inverse_dynamics(Q, V, A) - free.inverse_dynamics(Q, V, A)) @ V
        rates = v[tree.v_slices()["j"]]
        assert power == pytest.approx(-0.7 * rates @ rates, rel=1e-12)  # what the damper takes
