"""Plans of machines with loops and rolling, and by every stepper and composition: one step of the simulator from every node."""

import numpy as np
import pytest

import dalembert as dal
from dalembert.control import scenes


@pytest.mark.parametrize("stepper", ["midpoint", "trapezoidal", "null-space"])
@pytest.mark.parametrize("name", ["four-bar", "snakeboard"])
def test_loops_and_rolling_hold_in_the_plan_as_in_the_simulator(name, stepper):
    scene = scenes.find(name)
    found = scene.build(N=40, stepper=stepper).solve()
    for finding in (*scenes.common(found), *scene.check(found)):
        assert finding.ok, finding


def test_rows_that_depend_on_others_are_left_out_and_said():
    m = dal.Model("ring", gravity=(0, 0, -9.81))  # a four-bar of hinges in space: three of five rows say nothing new
    for i, (x, z) in enumerate(((0, 0.5), (0.5, 1.0), (1.0, 0.5))):
        m.add_body(f"rod{i}", 1.0, (0.1, 0.1, 0.1), pose=((x, 0, z), (1, 0, 0, 0)))
    m.add_joint("a", "revolute", "world", "rod0", (0, 0, 0), (0, 1, 0))
    m.add_joint("b", "revolute", "rod0", "rod1", (0, 0, 1), (0, 1, 0))
    m.add_joint("c", "revolute", "rod1", "rod2", (1, 0, 1), (0, 1, 0))
    m.add_loop("d", "revolute", "world", "rod2", (1, 0, 0), (0, 1, 0))
    goal, _ = m.assemble(np.array([0.3, -0.3, 0.3]), fixed=("a",))
    problem = dal.control.dmoc(m, 30, np.zeros(3), goal, h=0.02, inputs=["a"])
    assert any("3 constraint rows" in note for note in problem.notes)
    found = problem.solve()
    assert found.ok and found.replay.errors.max() < 1e-9


def test_a_start_that_leaves_a_loop_open_is_refused():
    m = dal.scenes.find("four-bar").build()
    with pytest.raises(dal.OptionError, match="does not close the loops"):
        dal.control.dmoc(m, 30, np.array([0.0, 0.5, 0.0]), np.zeros(3), h=0.02)


@pytest.mark.parametrize("compose", ["yoshida4", "suzuki4", "kahan-li6"])
def test_compositions_are_those_of_the_simulator(compose):
    found = scenes.find("cart-pole").build(N=40, compose=compose).solve()
    assert found.ok and found.replay.errors.max() < 1e-9


def test_a_composition_of_order_four_is_nearer_to_the_true_motion():
    """Inputs are held over the steps, so the true motion under them is known: orders 2 and 4 by halving, 5 stages beside 1."""
    errors = {}
    for compose in (None, "suzuki4"):
        plans = [scenes.find("cart-pole").build(N=n, compose=compose).solve() for n in (50, 100)]
        errors[compose] = [plan.verify().true_motion for plan in plans]
    assert 3.0 < errors[None][0] / errors[None][1] < 6.0  # 4 of order 2
    assert 10.0 < errors["suzuki4"][0] / errors["suzuki4"][1] < 24.0  # 16 of order 4
    assert errors["suzuki4"][0] < 0.02 * errors[None][0]


def test_a_root_that_is_no_continuation_is_found_out():
    """Without the bound on what turns in a step, a coarse plan of the acrobot turns by more than 2 rad in one: flagged."""
    m = dal.Model("acrobot", gravity=(0, 0, -9.81))
    m.add_body("arm", 1.0, (0.083, 0.083, 0.001), com=(0, 0, -0.5))
    m.add_body("leg", 1.0, (0.083, 0.083, 0.001), com=(0, 0, -1.5))
    m.add_joint("shoulder", "revolute", "world", "arm", (0, 0, 0), (0, 1, 0))
    m.add_joint("hip", "revolute", "arm", "leg", (0, 0, -1), (0, 1, 0))
    bounded = dal.control.dmoc(m, 100, [0, 0], [np.pi, 0], h=0.04, inputs=["hip"], max_iter=500).solve()
    assert bounded.ok and bounded.verify(true_motion=False).ok
    loose = dal.control.dmoc(m, 50, [0, 0], [np.pi, 0], h=0.08, inputs=["hip"], bounds={"turn": None}, max_iter=500).solve()
    found = loose.verify(true_motion=False)
    assert loose.ok  # to IPOPT it is a solution,
    assert found.largest_turn > 2.0 and found.spurious and not found.ok  # but the simulator goes elsewhere


def test_the_report_of_a_plan_from_rest_to_rest_passes():
    """At rest the rates of loops are round-off over round-off: judged by the speed of the run, not of that node."""
    found = scenes.find("four-bar").build(N=60).solve()
    report = found.traj.report()
    assert np.linalg.norm(found.v[-1]) < 1e-9 and report.verdict == "pass", report.text


def test_a_large_seam_is_no_excuse_for_momentum():
    """Seams of a plan widen the limits of its report by what a plan may miss, not by what a file says."""
    run = scenes.find("rest-to-rest").build().solve().traj
    run.meta["plan"]["seams"] = 1.0
    report = run.report()
    limits = [item["limit"] for item in report.to_dict()["items"] if item["promised"] == "exactly" and item["limit"] is not None]
    assert limits and max(limits) < 1e-6
