"""Starts on and off the joints without coordinates, runs that leave such joints out, and what failures advise."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import dalembert as dal
from dalembert.cli import app
from dalembert.scenes import loops


def four_bar(**override):
    return dal.scenes.find("four-bar").simulate(**{"h": 0.01, "t_end": 0.2, **override})


def test_open_loop_is_refused_and_the_remedy_works():
    """foot0 at 0.3 rad takes the pin 2 sin(0.15) away along x and z; the other arm and the bar stay."""
    m = loops.four_bar()
    with pytest.raises(dal.OptionError, match=r"'right1'.*q0 leaves it open by 0\.3\d* m; .*m\.assemble\(q0, v0\).*ignore=\('loops',\)"):
        dal.simulate(m, "trapezoidal", h=0.01, t_end=0.1, q0={"foot0": 0.3})
    with pytest.raises(dal.OptionError, match=r"ignore=\('gravity', 'loops'\) runs without"):
        dal.simulate(m, "midpoint", h=0.01, t_end=0.1, q0={"foot0": 0.3}, ignore=("gravity",))
    q0, v0 = m.assemble({"foot0": 0.3}, {"foot0": 1.0})
    traj = dal.simulate(m, "trapezoidal", h=0.01, t_end=0.1, q0=q0, v0=v0)
    assert np.abs(traj.constraint).max() < 1e-9


def test_velocity_off_the_loop_is_refused():
    with pytest.raises(dal.OptionError, match=r"'right1'.*v0 opens it at 1 m/s"):
        four_bar(v0={"foot0": 1.0})


def test_the_worst_joint_is_named():
    m = loops.n_four_bar(3)
    q = m.check_q({"left2": 0.01, "left3": 0.2})
    with pytest.raises(dal.OptionError, match="'right3'"):
        dal.simulate(m, "midpoint", h=0.01, t_end=0.1, q0=q)


@pytest.mark.parametrize("scale", [1.0, 1e-3])
def test_tolerance_follows_the_size_of_the_machine(scale):
    """1e-8 of the size: half of it starts, twice as much does not."""
    m = dal.Model("bar", gravity=(0, -9.81, 0))
    m.add_body("a", 1.0, (1, 1, 1), pose=((scale, 0, 0), (1, 0, 0, 0)))
    m.add_joint("slide", "planar", "world", "a")
    m.add_loop("rod", "distance", "world", "a", (0, 0, 0), point=(scale, 0, 0), length=scale)
    run = {"stepper": "trapezoidal", "h": 0.01, "t_end": 0.02}
    assert dal.simulate(m, q0={"slide": (0.5e-8 * scale, 0, 0)}, **run).status == "ok"
    with pytest.raises(dal.OptionError, match="'rod'"):
        dal.simulate(m, q0={"slide": (2e-8 * scale, 0, 0)}, **run)


def test_rolling_start_must_roll():
    scene = dal.scenes.find("rolling-disk")
    with pytest.raises(dal.OptionError, match=r"'ground' \((heading|sideways)\): v0 opens it at .* m/s.*ignore=\('nonholonomic',\)"):
        scene.simulate(v0={"disk": (0, 0, -4.0, 0, 0, 0)})
    with pytest.raises(dal.OptionError, match=r"'ground' \(height\): q0 leaves it open by 0\.1"):
        scene.simulate(q0={"disk": (0, 0, scene.model().neutral()[2] + 0.1, *scene.model().neutral()[3:])})


def test_small_velocities_of_a_closed_start_are_not_taken_for_errors():
    """Round-off in a rate that should be zero is measured against the whole velocity."""
    m = loops.n_four_bar(2)
    q0, v0 = m.assemble(None, {"foot0": 1e-6})
    v0 = v0 + 1e-17 * np.random.default_rng(0).normal(size=m.nv)
    assert dal.simulate(m, "trapezoidal", h=0.01, t_end=0.02, q0=q0, v0=v0).status == "ok"


def test_simulation_checks_its_start_too():
    with pytest.raises(dal.OptionError, match="'right1'"):
        dal.Simulation(loops.four_bar(), "trapezoidal", q0={"foot0": 0.3})


# without them ------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["trapezoidal", "mk4"])
def test_ignored_loops_leave_the_tree(method):
    """The same states as the same tree built without its loop, bit for bit."""
    start = {"q0": {"foot0": 0.3}, "h": 0.01, "t_end": 0.5}
    traj = dal.simulate(loops.four_bar(), method, ignore=("loops",), **start)
    tree = loops.four_bar()
    tree._loops.clear()
    assert (traj.states == dal.simulate(tree, method, **start).states).all()
    assert traj.model.loops  # the trajectory keeps the whole model
    assert np.abs(traj.constraint).max() > 0.1


def test_ignored_wheels_let_the_disk_slide():
    """Free fall: nothing holds it. The spin turns body axes by 0.03 rad per step: error of order 2, below 1e-3."""
    start = {"v0": {"disk": (0, 0, 3.0, 0, 0, 0)}, "ignore": ("nonholonomic",)}
    traj = dal.scenes.find("rolling-disk").simulate(stepper="midpoint", t_end=0.5, **start)
    fall = traj.q[:, 2] - traj.q[0, 2]
    np.testing.assert_allclose(fall, -0.5 * 9.81 * traj.t**2, rtol=1e-3)


def test_only_what_is_named_is_left_out():
    m = loops.four_bar()
    m.add_body("ball", 1.0, (0.1,) * 3, pose=((5, 0, 0.2), (1, 0, 0, 0)))
    m.add_joint("floor", "rolling", "world", "ball", (5, 0, 0), None, radius=0.2)
    assert m.without(()) is m
    assert m.without(("limits",)) is m
    assert [x.name for x in m.without(("loops",)).nonholonomic] == ["floor"]
    assert m.without(("loops", "nonholonomic")).loops == ()
    traj = dal.simulate(m, "trapezoidal", h=0.01, t_end=0.5, ignore=("loops",), q0={"foot0": 0.3})
    height = traj.model.loop_errors(traj.q)["floor"]
    assert np.abs(height).max() < 1e-12


def test_files_and_resumed_runs_leave_out_the_same(tmp_path):
    path = tmp_path / "run.h5"
    whole = four_bar(q0={"foot0": 0.3}, ignore=("loops",), t_end=0.4)
    four_bar(q0={"foot0": 0.3}, ignore=("loops",), t_end=0.2, save=path)
    loaded = dal.load(path)
    assert (loaded.states == whole.states[:21]).all()
    assert (loaded.v == whole.v[:21]).all()
    resumed = dal.resume(path, 0.4)
    assert (resumed.states == whole.states).all()
    assert resumed.meta["ignore"] == ["loops"]
    assert "'right1'" in resumed.report()["left out"].text


def test_closed_runs_resume_bit_for_bit(tmp_path):
    path = tmp_path / "run.h5"
    four_bar(save=path)
    assert (dal.resume(path, 0.4).states == four_bar(t_end=0.4).states).all()


# failures ----------------------------------------------------------------------------------------------------------------------------


def too_few_iterations():
    """A number of Newton iterations that is too few for some steps of 0.05 s, and enough for parts of them."""
    for n in range(3, 20):
        traj = dal.scenes.find("pendulum-chain").simulate(stepper="trapezoidal", h=0.05, max_iterations=n, on_fail="return")
        if traj.status == "ok" and traj.solver["substeps"].any():
            return n
    raise AssertionError("no number of iterations splits some steps and none for good")


def test_failure_of_a_tree_speaks_of_trees():
    """Two or three Newton iterations are too few; for trapezoidal a smaller step is proved, for midpoint none is."""
    for method, advice in (("trapezoidal", r"A step of h = 0\.0\d+ s is provably solvable here"), ("midpoint", "Try a smaller h")):
        with pytest.raises(dal.SimulationError, match=rf"{advice}; rescue=True repeats") as caught:
            dal.scenes.find("pendulum-chain").simulate(stepper=method, h=0.1, rescue=False, max_iterations=1)
        assert "cayley" not in str(caught.value)
        assert len(caught.value.traj) >= 1


def test_rescued_steps_are_counted():
    traj = dal.scenes.find("pendulum-chain").simulate(stepper="trapezoidal", h=0.05, max_iterations=too_few_iterations())
    assert traj.meta["rescued"] == np.count_nonzero(traj.solver["substeps"]) > 0
    assert "rescued" not in dal.scenes.find("pendulum-chain").simulate(stepper="trapezoidal", t_end=0.1).meta


def test_assembly_error_is_public():
    m = dal.Model("far")
    m.add_body("a", 1.0, (1, 1, 1))
    m.add_joint("turn", "revolute", "world", "a")
    m.add_loop("pin", "slot", "world", "a", (9, 0, 0), point=(1, 0, 0))
    with pytest.raises(dal.AssemblyError) as caught:
        m.assemble(None)
    assert "pin" in caught.value.errors


def test_automatic_steps_are_remembered():
    m = dal.Model("free", gravity=(0, 0, 0))
    m.add_body("a", 1.0, (1, 2, 2.5))
    start = {"t_end": 0.5, "v0": (1, 2, 3, 0, 0, 0)}
    assert dal.simulate(m, "quaternion", h="auto", **start).meta["h_auto"]
    assert "h_auto" not in dal.simulate(m, "quaternion", h=0.05, **start).meta


# the command -------------------------------------------------------------------------------------------------------------------------


def call(*args):
    result = CliRunner().invoke(app, [str(a) for a in args])
    return result.exit_code, result.output


def test_inspect_lists_joints_without_coordinates_and_mobility():
    _, text = call("inspect", "rolling-disk")
    assert "ground" in text and "rolling" in text
    assert "3 degrees of freedom (5 of the configuration)" in text
    _, text = call("inspect", "bricard")
    assert "redundant at 'hinge6'" in text
    code, text = call("inspect", "snakeboard", "--json")
    data = json.loads(text)
    assert code == 0
    assert [x["name"] for x in data["nonholonomic"]] == ["front wheels", "back wheels"]
    assert "4 degrees of freedom" in data["mobility"]


def test_run_says_when_steps_were_split():
    few = f"max_iterations={too_few_iterations()}"
    code, text = call("run", "pendulum-chain", "-s", "trapezoidal", "--h", "0.05", "--option", few, "--no-progress")
    assert code == 0
    assert "needed smaller parts to converge" in " ".join(text.split())
    _, text = call("run", "pendulum-chain", "-s", "trapezoidal", "--h", "0.01", "-t", "0.1", "--no-progress")
    assert "smaller parts" not in text
