"""A machine of free bodies as arrays: lumps, states, forces, refusals; what joints hold is tested in tests/kernels/bodies."""

import json

import numpy as np
import pytest

import dalembert as dal
from dalembert.kernels.bodies import layout as at
from dalembert.kernels.bodies.loads import add_loads
from dalembert.kernels.bodies.measures import measure
from dalembert.model import body_state, cut
from dalembert.model.compile_bodies import compile_bodies
from dalembert.model.rotation import matrix

I = (0.02, 0.025, 0.03)
ROUND_OFF = 1e-14


def floating():
    """A free base with arms by all kinds of joints, springs, a damper, welded parts, and a part of the world."""
    m = dal.Model("floating")
    for i, kind in enumerate(("base", "revolute", "prismatic", "spherical", "universal", "cylindrical", "planar", "fixed")):
        m.add_body(kind, 1.0 + 0.1 * i, I, com=(0.1, 0.02 * i, 0), pose=((0.3 * i, 0, 0.1 * i), (np.cos(i), np.sin(i), 0, 0)))
    for i, kind in enumerate(("revolute", "prismatic", "spherical", "universal", "cylindrical", "planar", "fixed")):
        acting = {"damping": 0.1, "stiffness": 0.5} if kind != "fixed" else {}
        axis2 = (0, 0.2, 1) if kind in ("universal", "planar") else None
        m.add_joint(f"to {kind}", kind, ("base", "revolute")[i % 2], kind, (0.3 * i, 0, 0.2), (0.1, 1, 0.3), axis2=axis2, **acting)
    m.add_frame("frame", pose=((1, 1, 1), (1, 0, 0, 0)))
    m.add_joint("frame", "fixed", "planar", "frame")
    m.add_body("wall", 5.0, I, pose=((2, 0, 0), (0.8, 0, 0.6, 0)))
    m.add_joint("wall", "fixed", "world", "wall")
    m.add_loop("to wall", "distance", "wall", "planar", (2, 0, 1), point=(1, 1, 1))
    m.add_loop("within", "spherical", "planar", "frame", (1, 1, 1))
    m.add_force(dal.Spring("base", "spherical", stiffness=3.0, rest_length=0.2, damping=0.1))
    m.add_force(dal.Damper("planar", 0.1, 0.2))
    m.add_force(dal.Wrench("frame", (1, 2, 3), (0.1, 0, 0)))
    return m


def started(seed=0):
    m, rng = floating(), np.random.default_rng(seed)
    q, v = np.concatenate([j.coordinates.random(rng) for j in m.joints]), rng.normal(size=m.nv)
    return cut(m), *body_state(m, q, v)


def test_states_come_back_as_they_went():
    free, q, v = started()
    system = compile_bodies(free)
    states = system.states(q, v)
    q_back, v_back = system.configuration(states)
    np.testing.assert_allclose(q_back, q, rtol=0, atol=ROUND_OFF)
    np.testing.assert_allclose(v_back, v, rtol=0, atol=10 * ROUND_OFF)
    np.testing.assert_allclose(system.states(q_back, v_back), states, rtol=0, atol=10 * ROUND_OFF)


def test_lumped_bodies_have_the_energy_and_momentum_of_the_machine():
    free, q, v = started(1)
    system = compile_bodies(free)
    assert len(system.names) == free.nv // 6
    energy, momentum = 0.0, np.zeros(6)
    for m, J, state in zip(system.mass, system.inertia, system.states(q, v), strict=True):
        x, R, omega, u = state[:3], matrix(state[3:7]), state[7:10], state[10:]
        energy += 0.5 * (m * u @ u + omega @ J @ omega) - m * x @ free.gravity
        momentum += [*(R @ J @ omega + m * np.cross(x, u)), *(m * u)]
    stored = sum(f.stored(lambda body, p: _point(free, q, body, p)) for f in free.forces)
    wall = -free.body("wall").mass * _point(free, q, "wall", free.body("wall").com) @ free.gravity
    springs = free.potential_energy(q) - (free.without("loop stiffness").potential_energy(q))
    assert energy + stored + wall + springs == pytest.approx(free.energy(q, v), rel=1e-13)
    np.testing.assert_allclose(momentum, free.momentum(q, v), atol=1e-12)


def _point(model, q, body, where):
    T = model.poses(q)[[b.name for b in model.bodies].index(body)]
    return T[:3, :3] @ np.asarray(where, dtype=float) + T[:3, 3]


def test_places_are_where_the_bodies_are():
    free, q, v = started(2)
    system = compile_bodies(free)
    states, poses = system.states(q, v), free.poses(q)
    assert system.places["wall"].body == system.places["world"].body == -1
    for b, T in zip(free.bodies, poses, strict=True):
        i, p, turn = system.places[b.name]
        R = np.eye(3) if i < 0 else matrix(states[i, 3:7])
        origin = np.zeros(3) if i < 0 else states[i, :3] - R @ system.com[i]
        np.testing.assert_allclose(origin + R @ p, T[:3, 3], atol=10 * ROUND_OFF)
        np.testing.assert_allclose(R @ matrix(turn), T[:3, :3], atol=10 * ROUND_OFF)


def test_joints_of_the_machine_are_met_and_those_within_a_body_are_left_out():
    free, q, v = started(3)
    system = compile_bodies(free)
    assert system.left_out == ("within",)
    assert system.joints == tuple(x.name for x in free.loops if x.name != "within")
    room = system.room()
    measure(system.system, system.states(q, v), room.values, room.J_measures)
    held = ("shift", "turn", "tilt", "angle of")
    for (joint, label), value in zip(system.measures, room.values, strict=True):
        if joint != "to wall" and any(word in label for word in held) and label != "shift":
            assert abs(value) < 100 * ROUND_OFF, (joint, label)
    length = room.values[system.measures.index(("to wall", "length"))]
    assert length == pytest.approx(free.loop_errors(q)["to wall"][0], abs=10 * ROUND_OFF)


def test_forces_of_the_model_are_wrenches_about_centres_of_mass():
    free, q, v = started(4)
    free = free.copy()
    free._joints["base"] = type(free._joints["base"])(**{**free._joints["base"].__dict__, "damping": 0.4})
    system, bare = compile_bodies(free), free.without(["loop stiffness", "loop damping"])
    states, forces, rng = system.states(q, v), np.zeros(6 * len(system.names)), np.random.default_rng(1)
    add_loads(system.tree, system.tree_work(), states, system.com, forces)
    at_rest = bare.inverse_dynamics(q, v, np.zeros(bare.nv)) - bare.without(["spring", "damping", "wrench"]).inverse_dynamics(
        q, v, np.zeros(bare.nv)
    )
    for _ in range(5):  # the power along any motion is the same
        u = rng.normal(size=free.nv)
        assert forces @ system.unknowns(system.states(q, u)) == pytest.approx(-at_rest @ u, rel=1e-12)
    np.testing.assert_allclose(system.weight.reshape(-1, 6)[:, 5], -9.81 * system.mass)
    quiet = dal.Model()
    quiet.add_body("b", 1.0, I)
    assert compile_bodies(quiet).tree.size == 0


def test_strength_and_drives_are_data_that_files_hold_and_steppers_refuse():
    m = dal.Model("arm")
    for i in range(3):
        m.add_body(f"b{i}", 1.0, I, pose=((i, 0, 0), (1, 0, 0, 0)))
    m.add_joint("pin", "revolute", "world", "b0", (0, 0, 1), strength=30.0, drive=lambda t: 0.2 * np.sin(t))
    m.add_joint("weld", "fixed", "b0", "b1", strength=50.0)
    m.add_joint("rod", "distance", "b1", "b2", (1, 0, 0), point=(2, 0, 0), strength=7.0)
    free = cut(m)
    assert {x.name: x.strength for x in free.loops} == {"pin": 30.0, "weld": 50.0, "rod": 7.0}
    assert free.loop("pin").drive == m.joint("pin").drive
    assert dal.Model.from_dict(json.loads(json.dumps(free.to_dict()))).to_dict() == free.to_dict()
    assert dal.Model.from_dict(json.loads(json.dumps(m.to_dict()))).to_dict() == m.to_dict()
    system = compile_bodies(free)
    assert dict(zip(system.joints, system.strength[:, 0], strict=True)) == {"pin": 30.0, "weld": 50.0, "rod": 7.0}
    assert compile_bodies(free.with_values({"pin.strength": 0.0})).strength[system.joints.index("pin"), 0] == np.inf
    assert ("pin", "drive of angle") in system.rows
    with pytest.raises(dal.UnsupportedError, match="loop drive, strength"):
        dal.simulate(free, "midpoint", h=0.01, t_end=0.1)
    assert ("pin", "drive of angle") not in compile_bodies(free.without("loop drive")).rows
    with pytest.raises(dal.ModelError, match="no force that could break it"):
        m.add_joint("gear", "gear", "world", "pin", strength=2.0)
    with pytest.raises(dal.ModelError, match="a distance loop has no coordinates of its own, so it takes no drive"):
        m.add_loop("y", "distance", "b0", "b2", point=(2, 0, 0), drive=1.0)


def test_compliance_damping_time_and_defaults_are_in_the_rows():
    m = dal.Model()
    m.add_body("a", 1.0, I)
    m.add_body("b", 1.0, I)
    m.add_loop("hard", "spherical", "world", "a")
    m.add_loop("soft", "spherical", "a", "b", compliance=1e-4, damping_time=0.03)
    system = compile_bodies(m, eps=1e-8, steps=1.5)
    rows = system.system[int(system.system[at.AT_ROWS]) :].reshape(-1, at.ROW_SIZE)
    np.testing.assert_array_equal(rows[:3, [at.COMPLIANCE, at.TAU, at.STEPS]], [[1e-8, 0.0, 1.5]] * 3)
    np.testing.assert_array_equal(rows[3:6, [at.COMPLIANCE, at.TAU, at.STEPS]], [[1e-4, 0.03, 0.0]] * 3)


def test_turns_of_a_start_are_counted():
    m = dal.Model()
    m.add_body("b", 1.0, I)
    m.add_joint("x", "cylindrical", "world", "b", stiffness=1.0)
    system, q = compile_bodies(cut(m)), np.array([40.0, 0.3])
    states = system.states(*body_state(m, q, [0.0, 0.0]))
    for near, wanted in ((None, q - [12 * np.pi, 0]), ({"x": q}, q), ({"x": q + 3.0}, q)):
        room = system.room(near)
        measure(system.system, states, room.values, room.J_measures)
        np.testing.assert_allclose([room.values[system.coordinates["x", k]] for k in range(2)], wanted, atol=1e-13)


@pytest.mark.parametrize(
    ("build", "match"),
    [
        (lambda: jointed(), "joints 'pin' belong to the tree; cut the model free first"),
        (lambda: jointed("fixed", strength=5.0), "joints 'pin' belong to the tree"),
        (lambda: light(), "bodies 'frame' .*cannot be free"),
        (lambda: dry(), "friction of free joints 'fly' is not handled"),
    ],
)
def test_what_has_no_arrays_is_refused(build, match):
    with pytest.raises(dal.UnsupportedError, match=match):
        compile_bodies(build())


def jointed(kind="revolute", **acting):
    m = dal.Model()
    m.add_body("b", 1.0, I)
    m.add_joint("pin", kind, "world", "b", **acting)
    return m


def light():
    m = dal.Model()
    m.add_frame("frame")
    return m


def dry():
    m = dal.Model()
    m.add_body("b", 1.0, I)
    m.add_joint("fly", "free", "world", "b", friction=0.1)
    return m
