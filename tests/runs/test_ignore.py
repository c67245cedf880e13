"""`ignore=`: known names only, and what is named is taken out of the motion, the energy and the report."""

from dataclasses import replace

import numpy as np
import pytest

import dalembert as dal

START = {"h": 0.01, "t_end": 0.1, "q0": [0.3, 0.1], "v0": [1.0, 0.5]}


def machine():
    """Two hinged rods with everything that can be ignored but loops and contacts."""
    m = dal.Model("arm")
    m.add_body("upper", 1.0, (0.1, 0.1, 0.01), com=(0, 0, -0.5))
    m.add_body("lower", 1.0, (0.1, 0.1, 0.01), com=(0, 0, -0.5), pose=((0, 0, -1), (1, 0, 0, 0)))
    m.add_joint("shoulder", "revolute", "world", "upper", (0, 0, 0), (0, 1, 0), damping=0.3, stiffness=4.0, rest=0.2, armature=0.2)
    m.add_joint("elbow", "revolute", "upper", "lower", (0, 0, -1), (0, 1, 0), friction=0.1, limits=(-2.0, 2.0))
    m.add_motor("drive", "shoulder")
    m.add_force(dal.Spring("lower", "world", point_b=(1, 0, 0), stiffness=5.0, damping=0.5))
    m.add_force(dal.Damper("lower", linear=0.4))
    m.add_force(dal.Wrench("lower", force=(1, 0, 0)))
    m.add_force(lambda t, q, v: (0.3, 0.0))
    return m


def built_without(name):
    """The same machine from data that never had the feature."""
    m = machine()
    changes = {
        "damping": {"damping": 0.0},
        "stiffness": {"stiffness": 0.0, "rest": 0.0},
        "joint friction": {"friction": 0.0},
        "armature": {"armature": 0.0},
        "limits": {"limits": None},
    }
    out = dal.Model("arm", (0, 0, 0) if name == "gravity" else m.gravity)
    for b in m.bodies:
        out.add_body(b.name, b.mass, b.inertia, b.com, (b.position, b.quaternion))
    for j in m.joints:
        out.add_joint(**replace(j, **changes.get(name, {})).to_dict())
    for f in m.forces:
        if f.kind == name or (name, f.kind) == ("damping", "damper"):
            continue
        out.add_force(replace(f, damping=0.0) if (name, f.kind) == ("damping", "spring") else f)
    return out


@pytest.mark.parametrize(
    "name", ["gravity", "damping", "stiffness", "joint friction", "armature", "limits", "spring", "wrench", "function"]
)
def test_what_is_ignored_is_taken_out_of_motion_energy_and_features(name):
    m, plain = machine(), built_without(name)
    rest = tuple({"joint friction", "limits"} - {name})  # mk4 handles neither
    a = dal.simulate(m, "mk4", ignore=(name, *rest), **START)
    b = dal.simulate(plain, "mk4", ignore=rest, **START)
    np.testing.assert_array_equal(a.q, b.q)
    np.testing.assert_array_equal(a.energy, b.energy)
    if name not in ("joint friction", "limits"):
        whole = dal.simulate(m, "mk4", ignore=rest, **START)
        assert np.abs(a.q - whole.q).max() > 1e-6
    assert name in a.report()["left out"].text


def test_motors_can_be_ignored():
    m = machine()
    assert m.without("motors").motors == () and len(m.motors) == 1


def test_ignored_damping_leaves_a_run_that_is_judged_as_conservative():
    """Before, the report of a damped run said so, and the damper acted."""
    m = dal.Model("pendulum")
    m.add_body("rod", 1.0, (0.1, 0.1, 0.01), com=(0, 0, -0.5))
    m.add_joint("hinge", "revolute", "world", "rod", (0, 0, 0), (0, 1, 0), damping=0.5)
    traj = dal.simulate(m, "midpoint", h=0.01, t_end=2.0, q0=[1.0], ignore="damping")
    assert abs(traj.energy[-1] - traj.energy[0]) < 1e-3 * traj.kinetic.max()
    assert traj.report()["energy"].verdict == "pass"
    assert traj.meta["ignore"] == ["damping"]


def test_ignored_gravity_is_no_part_of_the_energy_of_one_body():
    m = dal.Model("stone")
    m.add_body("stone", 2.0, (1, 2, 2.5))
    traj = dal.simulate(m, "cayley", h=0.01, t_end=1.0, v0=[0.1, 1, 0.2, 0, 0, 3.0], ignore=("gravity",))
    np.testing.assert_array_equal(traj.potential, 0.0)
    assert traj.report().verdict == "pass"
    assert "left out of the run: gravity" in traj.report().text


@pytest.mark.parametrize("run", [dal.simulate, dal.Simulation])
@pytest.mark.parametrize(
    ("ignore", "error", "words"),
    [
        (("typo",), dal.UnknownNameError, "feature to ignore 'typo'"),
        ("dampng", dal.UnknownNameError, "did you mean 'damping'"),
        (("tree",), dal.UnknownNameError, "feature to ignore 'tree'"),
        ((3,), dal.UnknownNameError, "feature to ignore 3"),
        (None, dal.OptionError, "got None; expected a name or a tuple of names"),
        (5, dal.OptionError, "got 5; expected a name"),
    ],
)
def test_only_known_names_can_be_ignored(run, ignore, error, words):
    with pytest.raises(error, match=words):
        run(machine(), "mk4", h=0.01, ignore=ignore)


def test_one_name_needs_no_tuple_and_friction_is_that_of_joints():
    traj = dal.simulate(machine(), "midpoint", ignore="friction", **START)
    assert traj.meta["ignore"] == ["joint friction"]


def test_the_refusal_names_what_is_missing_alone_and_the_whole_ignore_to_write():
    m = machine()
    with pytest.raises(dal.UnsupportedError) as caught:
        dal.simulate(m, "mk4", ignore=("wrench", "limits"))
    text = str(caught.value)
    assert "does not handle joint friction of model 'arm'" in text
    assert "ignore=('wrench', 'limits', 'joint friction') runs without" in text
    assert "gravity" not in text and "damping" not in text
    words = r"does not handle joint friction of model 'arm'; stepper 'spook' does; ignore=\('joint friction',\)"
    with pytest.raises(dal.UnsupportedError, match=words):
        dal.simulate(m)  # of those that evaluate its function where they need it, the one that misses least
    with pytest.raises(dal.UnsupportedError, match=r"'mk4' does not handle limits of .*stepper 'midpoint' does; ignore="):
        dal.simulate(m, "mk4", ignore="joint friction")


def test_a_stored_run_remembers_what_it_ignored(tmp_path):
    dal.simulate(machine().without("function"), "mk4", ignore=("gravity", "friction", "limits"), save=tmp_path / "a.h5", **START)
    whole = dal.resume(tmp_path / "a.h5", 0.2)
    again = dal.simulate(machine().without("function"), "mk4", ignore=("gravity", "friction", "limits"), **{**START, "t_end": 0.2})
    np.testing.assert_array_equal(whole.q, again.q)
    np.testing.assert_array_equal(whole.energy, again.energy)


def test_lagrangians_know_other_names():
    s = dal.Lagrangian(1, lambda q, v: 0.5 * v[0] ** 2, rayleigh=lambda q, v: 0.5 * v[0] ** 2)
    with pytest.raises(dal.UnknownNameError, match=r"feature to ignore 'gravity'.*damping, force, holonomic, nonholonomic"):
        dal.simulate(s, "midpoint", ignore="gravity")
    traj = dal.simulate(s, "midpoint", h=0.1, t_end=1.0, v0=[1.0], ignore="damping")
    assert traj.v[-1, 0] == pytest.approx(1.0, abs=1e-14)
    assert "left out of the run: damping" in traj.report().text
