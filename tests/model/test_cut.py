"""The machine cut free: the same machine in body coordinates, judged by the machine in joint coordinates."""

import json

import numpy as np
import pytest

import dalembert as dal
from dalembert.model import body_state, cut, joint_state
from dalembert.model.multipliers import along_motion

I = (0.02, 0.025, 0.03)
ROUND_OFF = 1e-14  # a few operations on numbers of order one


def chain(kind, n=4, **acting):
    """n links by joints of one kind, anywhere."""
    rng = np.random.default_rng(8)
    m = dal.Model(kind)
    for i in range(n):
        turn = rng.normal(size=4)
        m.add_body(f"b{i}", 1.0 + i, I, com=rng.uniform(-0.1, 0.1, 3), pose=((i, 0.1 * i, 0), turn / np.linalg.norm(turn)))
        axis2 = rng.normal(size=3) if kind in ("universal", "planar") else None
        parent = "world" if i == 0 else f"b{i - 1}"
        m.add_joint(f"j{i}", kind, parent, f"b{i}", (i - 0.5, 0, 0.1), rng.normal(size=3), axis2=axis2, **acting)
    return m


def floating():
    """A free base with arms by all kinds of joints, springs, a damper, a loop, welded parts."""
    m = dal.Model("floating")
    for i, kind in enumerate(("base", "revolute", "prismatic", "spherical", "universal", "cylindrical", "planar", "fixed")):
        m.add_body(kind, 1.0 + 0.1 * i, I, com=(0.1, 0.02 * i, 0), pose=((0.3 * i, 0, 0.1 * i), (np.cos(i), np.sin(i), 0, 0)))
    for i, kind in enumerate(("revolute", "prismatic", "spherical", "universal", "cylindrical", "planar", "fixed")):
        acting = {"damping": 0.1, "stiffness": 0.5} if kind != "fixed" else {}
        axis2 = (0, 0.2, 1) if kind in ("universal", "planar") else None
        m.add_joint(f"to {kind}", kind, ("base", "revolute")[i % 2], kind, (0.3 * i, 0, 0.2), (0.1, 1, 0.3), axis2=axis2, **acting)
    m.add_frame("frame", pose=((1, 1, 1), (1, 0, 0, 0)))
    m.add_joint("frame", "fixed", "planar", "frame")
    m.add_force(dal.Spring("base", "spherical", stiffness=3.0, rest_length=0.2, damping=0.1))
    m.add_force(dal.Damper("planar", 0.1, 0.2))
    m.add_force(dal.Wrench("frame", (1, 2, 3), (0.1, 0, 0)))
    return m


def machines(robot):
    ur5, solo = robot("ur5"), robot("solo12")
    return {
        "ur5": ur5,
        "solo12": solo.without("armature"),
        "spherical": chain("spherical"),
        "prismatic": chain("prismatic"),
        "revolute": chain("revolute", damping=0.3, stiffness=1.0, rest=0.4),
        "floating": floating(),
    }


@pytest.mark.parametrize("name", ["ur5", "solo12", "spherical", "prismatic", "revolute", "floating"])
def test_poses_energy_momentum_and_accelerations_are_those_of_the_tree(robot, name):
    m = machines(robot)[name]
    free = cut(m)
    moving = [j for j in m.joints if j.kind not in ("free", "fixed")]
    assert [x.name for x in free.loops] == [j.name for j in moving]
    assert free.nv == 6 * (len(moving) + sum(j.kind == "free" for j in m.joints))
    rng = np.random.default_rng(1)
    for _ in range(3):
        q = np.concatenate([j.coordinates.random(rng) for j in m.joints])
        v = rng.normal(size=m.nv)
        Q, V = body_state(m, q, v)
        np.testing.assert_allclose(free.poses(Q), m.poses(q), atol=10 * ROUND_OFF)
        assert free.kinetic_energy(Q, V) == pytest.approx(m.kinetic_energy(q, v), rel=ROUND_OFF)
        scale = max(1.0, abs(m.potential_energy(q)), m.kinetic_energy(q, v))
        assert abs(free.energy(Q, V) - m.energy(q, v)) < 100 * ROUND_OFF * scale
        p = m.momentum(q, v)
        np.testing.assert_allclose(free.momentum(Q, V), p, atol=10 * ROUND_OFF * np.abs(p).max())
        g, G = free.constraint_rows(Q)
        assert np.abs(g).max() < 10 * ROUND_OFF
        assert np.abs(G @ V).max() < 100 * ROUND_OFF * np.abs(V).max()
        q_back, v_back = joint_state(m, Q, V)
        np.testing.assert_allclose(m.difference(q, q_back), 0.0, atol=100 * ROUND_OFF)
        np.testing.assert_allclose(v_back, v, atol=100 * ROUND_OFF * np.abs(V).max())
        a = m.forward_dynamics(q, v)
        wanted = body_state(m, q, a)[1] + along_motion(lambda s, q=q, v=v: body_state(m, m.integrate(q, s * v), v)[1], v)
        np.testing.assert_allclose(free.forward_dynamics(Q, V), wanted, atol=1e-9 * np.abs(wanted).max())  # differences: 1e-11 of the terms


def test_angles_are_continued_along_a_motion_that_turns_many_times():
    m = chain("revolute", 3)
    t = np.linspace(0, 10, 201)[:, None]
    q, v = t * [2.0, -3.0, 5.0], np.tile([2.0, -3.0, 5.0], (201, 1))
    found, rates = joint_state(m, *body_state(m, q, v))
    np.testing.assert_allclose(found, q, atol=1e-12)
    np.testing.assert_allclose(rates, v, atol=1e-12)
    single = joint_state(m, *body_state(m, q[-1], v[-1]))[0]  # of one state: the principal angle
    assert (np.abs(single) <= np.pi).all()
    np.testing.assert_allclose(np.exp(1j * single), np.exp(1j * q[-1]), atol=1e-12)


def test_what_acts_on_joints_goes_along():
    acting = {
        "damping": 0.3,
        "friction": 0.2,
        "stiffness": 5.0,
        "rest": 0.1,
        "limits": (-1.0, 1.0),
        "compliance": 1e-6,
        "damping_time": 0.01,
    }
    m = chain("revolute", 2, **acting)
    m.add_motor("drive", "j1", "position", kp=3.0)
    m.add_keyframe("bent", [0.3, -0.2], [1.0, 2.0])
    free = cut(m)
    for x in free.loops:
        assert {what: getattr(x, what) for what in acting} == acting
    assert free.motor("drive") == m.motor("drive")
    np.testing.assert_allclose(
        np.concatenate([free.keyframe("bent").q, free.keyframe("bent").v]), np.concatenate(body_state(m, [0.3, -0.2], [1, 2]))
    )
    assert dal.Model.from_dict(json.loads(json.dumps(free.to_dict()))).to_dict() == free.to_dict()
    with pytest.raises(dal.UnsupportedError, match="compliance, loop damping, loop friction, loop limits, loop motors, loop stiffness"):
        dal.simulate(free, "midpoint", h=0.01, t_end=0.1)
    assert m.nv == 2  # the machine itself is as it was


def test_fixed_joints_can_be_cut_too():
    m = floating()
    m.remove_body("frame", cascade=True)
    free = cut(m, fixed=False)
    assert free.nv == 6 * len(m.bodies)
    rng = np.random.default_rng(3)
    q, v = m.random(rng), rng.normal(size=m.nv)
    Q, V = body_state(m, q, v, fixed=False)
    assert free.energy(Q, V) == pytest.approx(m.energy(q, v), rel=1e-13)
    assert np.abs(free.constraint_rows(Q)[0]).max() < 10 * ROUND_OFF
    np.testing.assert_allclose(m.difference(q, joint_state(m, Q, V, fixed=False)[0]), 0.0, atol=100 * ROUND_OFF)
    glued = floating()
    glued._joints["to fixed"] = type(glued._joints["to fixed"])(**{**glued._joints["to fixed"].__dict__, "compliance": 1e-6})
    assert "to fixed" in [x.name for x in cut(glued).loops]  # what gives way is a constraint
    assert "frame" not in [x.name for x in cut(glued).loops]


def test_a_machine_that_is_free_already_stays_as_it_is():
    m = dal.Model()
    for name in "ab":
        m.add_body(name, 1.0, I)
    m.add_joint("fly", "free", "world", "a", damping=0.1)
    m.add_loop("ball", "spherical", "a", "b", (0, 0, 1))
    free = cut(m)
    assert [j.name for j in free.joints] == ["fly", "b"]  # in the order of the bodies
    assert free.joint("fly").damping == 0.1
    assert cut(free).to_dict() == free.to_dict()


@pytest.mark.parametrize(
    ("build", "match"),
    [
        (lambda: pushed(), "forces 'function1' are functions"),
        (lambda: rod(), "bodies 'rod' .*cannot be free"),
        (lambda: rod(frame=True), "bodies 'link' .*cannot be free"),
    ],
)
def test_what_has_no_meaning_in_body_coordinates_is_refused(build, match):
    with pytest.raises(dal.UnsupportedError, match=match):
        cut(build())


def test_armature_goes_along_with_its_energy():
    m = chain("revolute", armature=0.1)
    q, v = np.linspace(-0.5, 0.5, m.nv), np.linspace(1.0, 2.0, m.nv)
    assert {x.armature for x in cut(m).loops} == {0.1}
    assert cut(m).kinetic_energy(*body_state(m, q, v)) == pytest.approx(m.kinetic_energy(q, v), rel=1e-13)
    with pytest.raises(dal.UnsupportedError, match="loop armature"):
        dal.simulate(cut(m), "midpoint", h=0.01, t_end=0.1)


def test_bodies_without_inertia_are_lent_some_on_demand():
    for frame in (False, True):
        free = cut(rod(frame), lend=True)
        assert free.total_mass == pytest.approx(rod(frame).total_mass, rel=1e-14)
        assert all(np.linalg.eigvalsh(b.inertia)[0] > 0.0 and b.mass > 0.0 for b in free.bodies)


def test_couplings_couple_the_joints_of_the_cut_machine():
    m = chain("revolute")
    m.add_joint("gear", "gear", "j0", "j1", ratio=2.0)
    free = cut(m)
    assert free.loop("gear").polynomial == (0.0, 2.0) and {"j0", "j1"} <= {x.name for x in free.loops}
    assert dal.Model.from_dict(free.to_dict()).to_dict() == free.to_dict()


def pushed():
    m = chain("revolute")
    m.add_force(lambda t, q, v: np.zeros(4))
    return m


def rod(frame=False):
    m = dal.Model()
    if frame:
        m.add_frame("link")
        m.add_joint("first", "revolute", "world", "link")
    m.add_body("rod", 2.0, (1, 1, 1 if frame else 0), physical=False)
    m.add_joint("hinge", "revolute", "link" if frame else "world", "rod", (0, 0, 0), (0, 1, 0))
    return m


def test_the_cut_machine_runs_and_tells_its_joint_angles():
    """A double pendulum in body coordinates under the variational stepper: joint angles approach those of the tree by order two."""
    m = dal.Model("double pendulum")
    for i in range(2):
        m.add_body(f"rod{i}", 1.0, (0.1, 0.1, 0.1), com=(0, 0, -0.5), pose=((0, 0, -i), (1, 0, 0, 0)))
        m.add_joint(f"pin{i}", "revolute", "world" if i == 0 else "rod0", f"rod{i}", (0, 0, -i), (0, 1, 0))
    q0, v0 = [0.5, 0.3], [3.0, 8.0]
    t_end = 2.0
    exact = dal.simulate(m, "mk8", h=0.01, t_end=t_end, q0=q0, v0=v0, rtol=1e-12, atol=1e-12)
    free, start = cut(m), body_state(m, q0, v0)
    errors = []
    for h in (0.01, 0.005, 0.0025, 0.00125):
        traj = dal.simulate(free, "midpoint", h=h, t_end=t_end, q0=start[0], v0=start[1])
        angles = np.concatenate([traj.joint("pin0").q, traj.joint("pin1").q], axis=1)
        np.testing.assert_allclose(angles, joint_state(m, traj.q, traj.v)[0], atol=1e-13)
        errors.append(np.abs(angles[-1] - exact.q[-1]).max())
        assert np.abs(traj.constraint).max() < 1e-11
    assert np.abs(exact.q[-1]).max() > 2 * np.pi  # it has gone round
    slope = np.polyfit(np.log([8, 4, 2, 1]), np.log(errors), 1)[0]
    assert abs(slope - 2) < 0.1, errors
