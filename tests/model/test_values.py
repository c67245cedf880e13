"""`with_values`: other numbers for the same machine, against models that are built from nothing with these numbers."""

import json
import pickle
import time

import numpy as np
import pytest

import dalembert as dal
from dalembert.model.compile_tree import system_array
from dalembert.model.cut import cut


def machine(**given):
    """A base, an arm with a frame on it, a slider with a spring, a ball; every kind of value. given: numbers of the builder."""
    n = {
        "mass": 1.0,
        "inertia": (0.1, 0.12, 0.15),
        "com": (0.1, 0, -0.2),
        "damping": 0.2,
        "k": 30.0,
        "rest_length": 0.3,
        "g": -9.81,
        **given,
    }
    m = dal.Model("machine", gravity=(0, 0, n["g"]))
    m.add_body("base", 3.0, (0.3, 0.3, 0.2))
    m.add_body("rod", n["mass"], n["inertia"], com=n["com"], pose=((0.2, 0, 0), (1, 0, 0, 0)))
    m.add_body("tip", n.get("tip", 0.4), (0.01, 0.01, 0.01), com=(0, 0.05, 0), pose=((0.2, 0, -0.5), (1, 0, 0, 0)))
    m.add_body("slider", 0.7, (0.02, 0.03, 0.02), pose=((0.5, 0, 0), (1, 0, 0, 0)))
    m.add_body("bob", 0.5, (0.01, 0.02, 0.01), com=(0, 0, -0.1), pose=((0.5, 0.1, 0), (1, 0, 0, 0)))
    m.add_joint(
        "knee", "universal", "base", "rod", (0.2, 0, 0), (0, 1, 0), axis2=(1, 0, 0), damping=n["damping"], armature=n.get("armature", 0.05)
    )
    m.add_joint("weld", "fixed", "rod", "tip")
    m.add_joint("rail", "prismatic", "base", "slider", (0.5, 0, 0), (1, 0, 0), stiffness=n.get("stiffness", 5.0), rest=n.get("rest", 0.1))
    m.add_joint("ball", "spherical", "slider", "bob", (0.5, 0.1, 0))
    m.add_force(dal.Spring("tip", "slider", (0, 0, 0), (0, 0, 0.1), n["k"], n["rest_length"]))
    m.add_force(dal.Damper("bob", 0.1, n.get("linear", 0.3)), name="drag")
    m.add_force(dal.Wrench("rod", n.get("force", (1, 0, 0)), frame="world"))
    return m


CHANGES = [
    ({"rod.mass": 2.0}, {"mass": 2.0}),
    ({"rod.inertia": (0.2, 0.25, 0.3), "rod.com": (0, 0, 0.2)}, {"inertia": (0.2, 0.25, 0.3), "com": (0, 0, 0.2)}),
    ({"tip.mass": 0.9}, {"tip": 0.9}),
    ({"knee.damping": 0.0, "knee.armature": 0.1}, {"damping": 0.0, "armature": 0.1}),
    ({"knee.armature": 0.0}, {"armature": 0.0}),
    ({"rail.stiffness": 9.0, "rail.rest": -0.2}, {"stiffness": 9.0, "rest": -0.2}),
    ({"gravity": (0, 0, -1.6)}, {"g": -1.6}),
    ({"gravity": (0, 0, 0)}, {"g": 0.0}),
    ({"spring1.stiffness": 50.0, "spring1.rest_length": 0.1}, {"k": 50.0, "rest_length": 0.1}),
    ({"drag.linear": 0.7, "wrench1.force": (0, 2, 0)}, {"linear": 0.7, "force": (0, 2, 0)}),
]


@pytest.mark.parametrize(("values", "given"), CHANGES)
@pytest.mark.parametrize("warm", [False, True])
def test_the_arrays_are_those_of_a_model_built_anew_bit_for_bit(values, given, warm):
    m, built = machine(), machine(**given).frozen()
    if warm:
        dal.simulate(m, h=0.01, t_end=0.01)
    found = m.with_values(values)
    assert found._frozen
    np.testing.assert_array_equal(system_array(found, {}), system_array(built, {}))
    assert found.to_dict() == built.to_dict()
    rng = np.random.default_rng(2)
    q, v = m.random(rng), rng.normal(size=m.nv)
    np.testing.assert_array_equal(found.forward_dynamics(q, v), built.forward_dynamics(q, v))
    assert found.energy(q, v) == built.energy(q, v)
    runs = [dal.simulate(x, stepper, h=0.01, t_end=0.05, q0=q, v0=v) for stepper in ("midpoint", "mk4") for x in (found, built)]
    np.testing.assert_array_equal(runs[0].q, runs[1].q)
    np.testing.assert_array_equal(runs[2].v, runs[3].v)


def test_the_machine_itself_is_left_as_it_was():
    m = machine()
    before = m.to_dict()
    dal.simulate(m, h=0.01, t_end=0.01)
    array = system_array(m.frozen(), {})
    m.with_values({"rod.mass": 2.0, "gravity": (1, 0, 0)}).forward_dynamics(m.neutral(), np.zeros(m.nv))
    assert m.to_dict() == before
    np.testing.assert_array_equal(system_array(m.frozen(), {}), array)
    m.add_body("new", 1.0, (1, 1, 1))  # the model can still be changed, and its frozen copy is made anew
    assert m.with_values({"new.mass": 4.0}).body("new").mass == 4.0


def test_values_of_values_and_a_sweep_hold_one_origin():
    m = machine().frozen()
    x = m
    for mass in (2.0, 3.0, 4.0):
        x = x.with_values({"rod.mass": mass})
        assert x.origin is m
    x = x.with_values({"spring1.stiffness": 44.0})
    np.testing.assert_array_equal(system_array(x, {}), system_array(machine(mass=4.0, k=44.0), {}))
    calm = x.with_values({"gravity": (0, 0, 0)})  # another set of features: plans are made anew, arrays patched
    assert calm.origin is None
    assert dal.simulate(calm, h=0.01, t_end=0.01).status == "ok"
    assert calm.with_values({"rod.mass": 1.5}).origin is calm


def test_plans_with_ignored_features_are_moved():
    m, built = machine(), machine(mass=2.0)
    for x in (m, built):
        x._joints["rail"] = type(x._joints["rail"])(**{**x._joints["rail"].__dict__, "limits": (-0.05, 0.05), "friction": 1.0})
    run = {"h": 0.01, "t_end": 0.2, "ignore": ("limits", "joint friction"), "v0": {"rail": 2.0}}
    dal.simulate(m, **run)
    found, wanted = dal.simulate(m.with_values({"rod.mass": 2.0}), **run), dal.simulate(built, **run)
    np.testing.assert_array_equal(found.q, wanted.q)
    assert np.abs(found.q[:, m.q_slices()["rail"]]).max() > 0.05
    with pytest.raises(dal.UnsupportedError, match="joint friction"):
        dal.simulate(m.with_values({"rod.mass": 2.0}), "midpoint", h=0.01, t_end=0.1)


def test_values_that_bring_a_feature_are_refused_by_steppers_without_it():
    m = machine()
    dal.simulate(m, h=0.01, t_end=0.01)
    with pytest.raises(dal.UnsupportedError, match="joint friction"):
        dal.simulate(m.with_values({"knee.friction": 1.0}), "midpoint", h=0.01, t_end=0.01)
    with pytest.raises(dal.UnsupportedError, match="dissipative"):
        dal.simulate(m.with_values({"knee.damping": 1.0}), h=0.01, t_end=0.01, compose="suzuki4")


def test_one_body_under_its_own_steppers():
    top = {n: dal.Model("top") for n in (1.0, 1.7)}
    for mass, m in top.items():
        m.add_body("rotor", mass, (1, 1, 1.5), com=(0, 0, 0.5))
        m.add_joint("tip", "spherical", "world", "rotor")
    for x in top.values():
        dal.simulate(x, "cayley", h=0.01, t_end=0.1)
    start = {"q0": [np.cos(0.2), np.sin(0.2), 0, 0], "v0": [0, 1, 20]}
    runs = [dal.simulate(m, "cayley", h=0.01, t_end=0.5, **start) for m in (top[1.0].with_values({"rotor.mass": 1.7}), top[1.7])]
    np.testing.assert_array_equal(runs[0].q, runs[1].q)


def test_loops_and_motors_have_values_too():
    m = dal.Model("pair")
    for name, x in (("a", 0.0), ("b", 2.0)):
        m.add_body(name, 1.0, (1, 1, 1), pose=((x, 0, 0), (1, 0, 0, 0)))
    m.add_joint("pin", "revolute", "world", "a", axis=(0, 1, 0))
    m.add_joint("rod", "distance", "a", "b", (0.5, 0, 0), point=(2, 0, 0))
    m.add_loop("hinge", "revolute", "world", "b", (2, 0, 0), (0, 1, 0), damping=0.1)
    m.add_motor("drive", "pin", "position", kp=10.0, kv=1.0)
    found = m.with_values({"rod.length": 1.2, "hinge.damping": 0.4, "hinge.limits": (-1, 1), "drive.kp": 20.0, "drive.limit": 5.0})
    assert (found.loop("rod").length, found.loop("hinge").damping, found.loop("hinge").limits) == (1.2, 0.4, (-1.0, 1.0))
    assert (found.motor("drive").kp, found.motor("drive").kv, found.motor("drive").limit) == (20.0, 1.0, (-5.0, 5.0))
    assert found.constraint_rows(found.neutral())[0][0] == pytest.approx(0.3, abs=1e-15)  # 1.5 m apart, 1.2 m long
    assert json.loads(json.dumps(found.to_dict())) == json.loads(json.dumps(dal.Model.from_dict(found.to_dict()).to_dict()))


@pytest.mark.parametrize(
    ("values", "error", "match"),
    [
        ({"rod.mas": 1.0}, dal.UnknownNameError, "unknown value 'rod.mas'; did you mean 'rod.mass'"),
        ({"rodd.mass": 1.0}, dal.UnknownNameError, "did you mean 'rod.mass'"),
        ({"mass": 1.0}, dal.UnknownNameError, "Known: .*gravity"),
        ({3: 1.0}, dal.UnknownNameError, "unknown value 3"),
        ({"rod.mass": 0.0}, dal.ModelError, "body 'rod': mass is 0.0; expected a finite number > 0"),
        ({"rod.inertia": (1, 1, 3)}, dal.ModelError, "triangle inequality"),
        ({"rod.com": (1, 2)}, dal.ModelError, "com has shape"),
        ({"knee.damping": -1}, dal.ModelError, "joint 'knee': damping is -1.0"),
        ({"knee.limits": (0, 1)}, dal.ModelError, "universal joint takes none"),
        ({"spring1.stiffness": 0.0}, dal.ModelError, "both 0"),
        ({"gravity": (0, 0)}, dal.ModelError, "gravity has shape"),
        ({"knee.axis": (0, 0, 1)}, dal.ModelError, "structure of the machine.*damping.*copy\\(\\)"),
        ({"knee.parent": "world"}, dal.ModelError, "structure"),
        ({"rod.pose": None}, dal.ModelError, "structure.*mass, inertia, com"),
        ({"spring1.point_a": (0, 0, 0)}, dal.ModelError, "structure.*stiffness"),
        ({"base.damping": 1.0}, dal.ModelError, "structure"),  # of the implicit free joint, which files do not hold
        ([("rod.mass", 1.0)], dal.ModelError, "expected a dictionary"),
    ],
)
def test_mistakes_are_named(values, error, match):
    with pytest.raises(error, match=match):
        machine().with_values(values)


def test_a_name_that_could_be_two_values_is_refused():
    m = machine()
    m.add_force(dal.Spring("tip", "base", stiffness=1.0), name="rail")
    with pytest.raises(dal.ModelError, match=r"'rail.stiffness' is the name of values.*joints and forces"):
        m.with_values({"rail.stiffness": 2.0})
    assert m.with_values({"rail.rest_length": 2.0}).force("rail").rest_length == 2.0


def test_all_values_can_be_given_back():
    m = cut(machine().without("armature"))
    names = m.value_names
    assert {"gravity", "rod.mass", "knee.damping", "rail.stiffness", "spring1.damping", "drag.angular"} <= set(names)
    parts = {**m._joints, **m._loops, **m._forces, **m._bodies}
    values = {n: getattr(parts[part], what) for n in names for part, _, what in [n.rpartition(".")] if part}
    assert m.with_values({**values, "gravity": m.gravity}).to_dict() == m.to_dict()


def test_patched_models_pickle_and_copy():
    m = machine().with_values({"rod.mass": 2.0})
    m.forward_dynamics(m.neutral(), np.zeros(m.nv))
    for other in (pickle.loads(pickle.dumps(m)), m.copy()):
        np.testing.assert_array_equal(system_array(other, {}), system_array(m, {}))
    again = m.copy()
    again.remove_force("drag")
    assert again.frozen().origin is None


def test_a_step_with_other_values_costs_a_fifth_of_a_model_built_anew(robot):
    m = robot("ur5")
    data = m.to_dict()
    data["bodies"][3]["mass"] = 5.0
    name = data["bodies"][3]["name"]

    def run(x):
        return dal.simulate(x, "midpoint", h=0.001, t_end=0.001, ignore=("contact", "limits", "joint friction"))

    def cost(f, n):
        f()
        times = []
        for _ in range(n):
            start = time.process_time()
            f()
            times.append(time.process_time() - start)
        return min(times)

    run(m)
    patched, built = cost(lambda: run(m.with_values({f"{name}.mass": 5.0})), 40), cost(lambda: run(dal.Model.from_dict(data)), 10)
    np.testing.assert_array_equal(run(m.with_values({f"{name}.mass": 5.0})).q, run(dal.Model.from_dict(data)).q)
    assert 5 * patched < built, (patched, built)
