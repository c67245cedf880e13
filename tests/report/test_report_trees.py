"""The report of trees: correct runs pass, what is broken fails, and what the machine does not keep is not judged.

Broken physics: a compiled model with a force negated (the report computes energy from the true one), and runs of methods that keep
nothing, presented under the name of a method that promises.
"""

import dataclasses
import json

import numpy as np
import pytest

import dalembert as dal
from dalembert import registry
from dalembert.families import variational
from dalembert.kernels.tree import layout as at
from dalembert.report.symmetries import symmetries
from dalembert.report.tree_facts import TreeFacts
from dalembert.scenes import loops

METHODS = ("trapezoidal", "midpoint", "symplectic-euler")
ORDER_2 = METHODS[:2]


def chain(root, gravity=(0, 0, -9.81), axis=(0, 0, 1), anchor=(0.2, -0.1, 0.3), **joint):
    """Two bodies behind a joint to the world, on skew hinges."""
    m = dal.Model(root, gravity=gravity)
    m.add_body("a", 1.3, (0.2, 0.3, 0.4), com=(0.1, 0.2, -0.3), pose=((0.5, 0.2, 0.1), (0.8, 0.0, 0.6, 0.0)))
    m.add_body("b", 0.7, (0.1, 0.1, 0.15), com=(0.2, 0, 0.1), pose=((0.9, 0.3, 0.0), (0.6, 0.8, 0.0, 0.0)))
    if root != "free":
        more = {"axis2": np.cross(axis, (0.3, 0.5, 0.7))} if root == "universal" else {}
        m.add_joint("root", root, "world", "a", anchor, axis, **joint, **more)
    m.add_joint("elbow", "revolute", "a", "b", (0.7, 0.25, 0.05), (1, 2, 0.5), stiffness=2.0)
    return m


def run(m, method="midpoint", h=0.005, t_end=2.0, **more):
    start = {"q0": m.integrate(m.neutral(), np.linspace(0.1, 0.4, m.nv)), "v0": np.linspace(-0.7, 0.9, m.nv)}
    return dal.simulate(m, method, h=h, t_end=t_end, **{**start, **more})


def verdicts(report):
    return {i.name: i.verdict for i in report.items}


def pretend(traj, method="midpoint"):
    """The run under the name of a method that promises everything."""
    traj.stepper = registry.find("tree", method)
    traj.meta["family"] = "variational"
    return traj


# momentum ----------------------------------------------------------------------------------------------------------------------------

TILTED = (3.0, -4.0, 5.0)
Z = (0, 0, 1.0)
SYMMETRIC = {
    "free": (chain("free", (0, 0, 0)), "p, L"),
    "free, gravity": (chain("free"), "p_x, p_y, L_z"),
    "free, tilted gravity": (chain("free", TILTED), "p across gravity, L along (0.424, -0.566, 0.707)"),
    "ball": (chain("spherical", (0, 0, 0)), "L about the pivot"),
    "ball, gravity": (chain("spherical"), "L_z about the pivot"),
    "ball, tilted gravity": (chain("spherical", TILTED), "L along (0.424, -0.566, 0.707) about the pivot"),
    "hinge along gravity": (chain("revolute"), "L_z about the axis of 'root'"),
    "hinge, no gravity": (chain("revolute", (0, 0, 0), (1, 0, 0)), "L_x about the axis of 'root'"),
    "hinge with armature": (chain("revolute", armature=0.3), "L_z about the axis of 'root'"),
    "slider across gravity": (chain("prismatic", axis=(1, 0, 0)), "p_x"),
    "slider with armature": (chain("prismatic", axis=(1, 0, 0), armature=0.4), "p_x"),
    "cylindrical, no gravity": (chain("cylindrical", (0, 0, 0)), "p_z, L_z about the axis of 'root'"),
    "cylindrical, gravity": (chain("cylindrical"), "L_z about the axis of 'root'"),
    "universal": (chain("universal"), "L_z about the axis of 'root'"),
    "planar": (chain("planar"), "p_x, p_y, L_z"),
    "rail on a slope": (chain("prismatic", gravity=TILTED, axis=(4, 3, 0)), "p along (0.8, 0.6, 0)"),
}


@pytest.mark.parametrize("name", SYMMETRIC)
def test_symmetric_machines_keep_their_momenta(name):
    """All three methods, to round-off; a wrong guess of a symmetry would be off by the order of one. mk4 promises nothing."""
    m, labels = SYMMETRIC[name]
    for method in METHODS:
        found = run(m, method).report()["momentum"]
        assert found.verdict == "pass", found.text
        assert found.measured < 1e-12
        assert f"({labels})" in found.text
    assert run(m, "mk4").report()["momentum"].verdict == "not applicable"


ASYMMETRIC = {
    "level hinge": chain("revolute", axis=(1, 0, 0)),
    "rail along gravity": chain("prismatic"),
    "stiff root": chain("revolute", stiffness=1.0),
    "damped root": chain("revolute", damping=0.1),
    "tilted gravity on a hinge": chain("revolute", TILTED),
}


@pytest.mark.parametrize("name", ASYMMETRIC)
def test_machines_without_symmetry_are_not_judged_by_momentum(name):
    assert symmetries(ASYMMETRIC[name]) == []
    assert run(ASYMMETRIC[name]).report()["momentum"].verdict == "not applicable"


def test_outer_forces_take_symmetries_away():
    for force in (dal.Wrench("b", force=(1, 0, 0)), dal.Damper("b", linear=0.1), lambda t, q, v: 0 * v):
        m = chain("free", (0, 0, 0))
        m.add_force(force)
        assert symmetries(m) == []


def test_spring_to_the_world_leaves_rotations_about_its_end():
    m = chain("free", (0, 0, 0))
    m.add_force(dal.Spring("b", "world", (0.1, 0, 0), (0.3, 0.2, 0.1), 20.0, 0.3))
    (found,) = symmetries(m)
    np.testing.assert_allclose(found.centre, (0.3, 0.2, 0.1), atol=1e-12)
    item = run(m).report()["momentum"]
    assert item.verdict == "pass", item.text
    assert item.measured < 1e-12


def test_inner_dampers_springs_and_loops_keep_momentum():
    """A floating tree with a damped hinge, a damped spring and a rod between its bodies."""
    m = chain("free", (0, 0, 0))
    m.add_body("c", 0.5, (0.1, 0.1, 0.1), pose=((-0.4, 0, 0), (1, 0, 0, 0)))
    m.add_joint("tail", "revolute", "a", "c", (-0.2, 0, 0), (0, 1, 0), damping=0.2)
    m.add_force(dal.Spring("b", "c", (0.1, 0, 0), (0, 0.2, 0), 15.0, 0.4, 0.5))
    m.add_loop("rod", "distance", "b", "c", (0.9, 0.3, 0), point=(-0.4, 0, 0))
    q0, v0 = m.assemble(None, np.linspace(-0.7, 0.9, m.nv))
    for method in METHODS:
        report = dal.simulate(m, method, h=0.005, t_end=2.0, q0=q0, v0=v0).report()
        assert report["momentum"].verdict == "pass", report.text
        assert "(p, L)" in report["momentum"].text
        assert report["loops"].verdict == "pass", report.text
        assert report["dissipation"].verdict == "pass", report.text


def test_bodies_fixed_to_the_world_belong_to_it():
    m = dal.Model("bench", gravity=(0, 0, -9.81))
    m.add_body("bench", 1.0, (1, 1, 1))
    m.add_joint("bolt", "fixed", "world", "bench")
    m.add_body("wheel", 1.0, (0.1, 0.1, 0.2), com=(0.1, 0, 0), pose=((1, 0, 0), (1, 0, 0, 0)))
    m.add_joint("shaft", "revolute", "bench", "wheel", (1, 0, 0), (0, 0, 1))
    found = run(m).report()["momentum"]
    assert found.verdict == "pass", found.text
    assert "axis of 'shaft'" in found.text


def test_loops_to_the_world_count_as_ties():
    assert symmetries(loops.four_bar()) == []
    m = chain("free")
    m.add_loop("string", "distance", "world", "b", (0, 0, 2), point=(0.9, 0.3, 0))
    assert [s.label for s in symmetries(m)] == ["L_z about a fixed point"]


def test_methods_that_keep_no_momentum_fail_if_they_say_so():
    report = pretend(run(chain("free", (0, 0, 0)), "mk2", h=0.02, t_end=4.0)).report()
    assert report["momentum"].verdict == "fail", report.text
    report = pretend(run(chain("revolute"), "mk2", h=0.02, t_end=4.0)).report()
    assert report["momentum"].verdict == "fail", report.text


# energy ------------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ["four-bar", "bricard", "floating-chain", "pendulum-chain", "three-spheres"])
def test_scenes_pass(name, method):
    report = dal.scenes.find(name).simulate(stepper=method).report()
    assert report.verdict == "pass", report.text
    assert report["energy"].verdict == "pass", report.text
    json.dumps(report.to_dict(), allow_nan=False)


@pytest.mark.parametrize("method", ORDER_2)
@pytest.mark.parametrize("what", ["gravity", "stiffness"])
def test_a_wrong_sign_in_the_compiled_model_fails(monkeypatch, method, what):
    """Energy knows the true model: a force of the wrong sign makes an error of twice its work."""
    right = variational.FAMILY.system

    def wrong(model, options):
        system = right(model, options)
        if what == "gravity":
            system[at.GRAVITY : at.GRAVITY + 3] *= -1.0
        else:
            for i in range(int(system[at.LINKS])):
                system[at.HEADER + i * at.LINK_SIZE + at.STIFFNESS] *= -1.0
        return system

    monkeypatch.setattr(variational, "FAMILY", dataclasses.replace(variational.FAMILY, system=wrong))
    report = run(chain("spherical"), method, h=0.002, t_end=0.4).report()
    assert report["energy"].verdict == "fail", report.text


def test_drifting_energy_fails_under_a_promise():
    """mk2 gains or loses energy steadily; in a band wide enough for its size the slope still tells."""
    traj = pretend(run(chain("free", (0, 0, 0)), "mk2", h=0.05, t_end=400.0))
    assert traj.report()["energy"].verdict in ("fail", "warn")
    assert run(chain("free", (0, 0, 0)), "midpoint", h=0.05, t_end=400.0).report()["energy"].verdict == "pass"


def test_a_hundred_thousand_steps_pass():
    m = chain("revolute")
    report = run(m, "trapezoidal", h=0.01, t_end=1000.0, every=10).report()
    assert report.verdict == "pass", report.text
    assert report["momentum"].measured < 1e-11
    assert "no drift" in report["energy"].text


def test_coarse_steps_warn_and_do_not_fail():
    """h Omega of 0.5 and more: the order says nothing."""
    traj = dal.scenes.find("pendulum-chain").simulate(stepper="symplectic-euler", h=0.02, t_end=10.0)
    facts = TreeFacts(traj)
    assert facts.order_error() > 0.2
    assert traj.report().verdict != "fail", traj.report().text


def test_dampers_only_take():
    m = chain("spherical", damping=0.2)
    for method in METHODS:
        report = run(m, method).report()
        assert report["dissipation"].verdict == "pass", report.text
        assert report["energy balance"].verdict in ("pass", "not applicable")  # not where the order resolves too little
        assert report["momentum balance"].verdict == "pass"
    traj = run(m)
    traj.v = traj.v[::-1].copy()  # a motion that gains
    traj.q = traj.q[::-1].copy()
    assert traj.report()["dissipation"].verdict == "fail", traj.report().text


def test_controlled_trees_are_judged_by_their_account():
    report = run(chain("free", (0, 0, 0)), control=lambda t, q, v: 0.1 * np.ones_like(v)).report()
    assert report["momentum"].verdict == "not applicable"
    assert report["momentum balance"].verdict == report["energy balance"].verdict == "pass", report.text


def test_springs_of_ball_joints_that_turn_over_are_not_held_against_the_method():
    m = dal.Model("over", gravity=(0, 0, 0))
    m.add_body("a", 1.0, (0.5, 0.6, 0.7))
    m.add_joint("ball", "spherical", "world", "a", stiffness=1.0)
    report = dal.simulate(m, "midpoint", h=0.01, t_end=10.0, v0=(5.0, 0.3, 0.2)).report()
    assert "half a turn" in report["energy"].text
    assert report["energy"].verdict != "fail"


def test_one_body_under_a_method_for_trees():
    scene = dal.scenes.find("heavy-top")
    report = scene.simulate(stepper="midpoint", t_end=1.0).report()
    assert report.verdict == "pass", report.text
    assert "L_z about the pivot" in report["momentum"].text


# joints without coordinates ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ["four-bar", "n-four-bar", "bricard", "andrews", "rolling-disk"])
def test_loops_stay_closed(name, method):
    found = dal.scenes.find(name).simulate(stepper=method).report()["loops"]
    assert found.verdict == "pass", found.text
    assert found.measured < 1e-12
    # 1e-10 of what a row moves in one step; which row is nearest to its limit is a matter of round-off. Largest limits of any row,
    # measured: 3.9e-11 for n-four-bar, whose joints are the fastest, 1.4e-11 elsewhere
    assert found.limit < (5e-11 if name == "n-four-bar" else 1.8e-11)


@pytest.mark.parametrize("name", ["knife-edge", "chaplygin-sleigh", "rolling-disk", "upright-disk", "snakeboard"])
def test_joints_on_velocities_hold_and_promise_no_energy(name):
    report = dal.scenes.find(name).simulate().report()
    assert report["nonholonomic"].verdict == "pass", report.text
    assert "not promised: joints on velocities" in report["energy"].text
    assert report["momentum"].verdict == "not applicable"


def test_open_loops_fail_and_name_the_joint():
    """A run that left the loops out, presented as one that kept them."""
    traj = dal.scenes.find("n-four-bar").simulate(t_end=0.1, ignore=("loops",), v0=None, q0={"left3": 0.2})
    assert "left out" in verdicts(traj.report())
    traj.meta["ignore"] = []
    del traj.__dict__["_run_model"]
    found = traj.report()["loops"]
    assert found.verdict == "fail", found.text
    assert "'right" in found.text


def test_redundant_rows_are_named_in_one_line():
    found = dal.scenes.find("bricard").simulate(t_end=0.1).report()["redundancy"]
    assert "redundant at 'hinge6'" in found.text
    assert "\n" not in found.text
    assert (found.measured, found.verdict) == (1.0, "not applicable")
    assert "redundancy" not in verdicts(dal.scenes.find("four-bar").simulate(t_end=0.1).report())
    hinged = dal.simulate(loops.four_bar("revolute"), "trapezoidal", h=0.01, t_end=0.1, v0=loops.turning(1)).report()
    assert hinged["redundancy"].measured == 3.0


def test_left_out_joints_are_said_to_be():
    report = dal.scenes.find("rolling-disk").simulate(ignore=("nonholonomic",), stepper="midpoint", t_end=0.1).report()
    assert "'ground'" in report["left out"].text
    assert report["momentum"].verdict == "pass"
    assert "(p_x, p_y, L_z)" in report["momentum"].text


# split and certified steps -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("every", [1, 10])
def test_split_steps_warn_and_take_the_promise_of_energy_away(every):
    """Newton iterations so few that some steps do not converge, and parts of them do."""
    scene = dal.scenes.find("pendulum-chain")
    runs = (
        scene.simulate(stepper="trapezoidal", h=0.05, t_end=10.0, every=every, max_iterations=n, on_fail="return") for n in range(3, 20)
    )
    traj = next(r for r in runs if r.status == "ok" and r.solver["substeps"].any())
    report = traj.report()
    assert report["split steps"].verdict == "warn", report.text
    assert "symplectic" in report["split steps"].text
    assert "not promised: steps were split" in report["energy"].text
    assert report.verdict == "warn", report.text


def test_certified_steps_are_counted():
    """Two rods, small steps: all are proved; at rest nothing asks for a proof; a split step is not proved."""
    m = dal.Model("rods")
    for i in range(2):
        m.add_body(f"r{i}", 1.0, (0.03, 0.03, 0.001), com=(0, 0, -0.25), pose=((0, 0, -0.5 * i), (1, 0, 0, 0)))
        m.add_joint(f"j{i}", "revolute", f"r{i - 1}" if i else "world", f"r{i}", (0, 0, -0.5 * i), (0, 1, 0))
    traj = dal.simulate(m, "trapezoidal", h=0.01, t_end=0.5, q0=(1.0, 0.5))
    assert "certified steps" not in verdicts(traj.report())
    traj.meta["h_auto"] = True
    found = traj.report()["certified steps"]
    assert found.verdict == "pass"
    assert "50 of 50 steps are proved to converge" in found.text
    automatic = dal.simulate(m, "trapezoidal", h="auto", t_end=0.5, q0=(1.0, 0.5)).report()["certified steps"]
    assert automatic.verdict == "pass"
    traj._log[7, 3] = 2.0
    assert "49 of 50" in traj.report()["certified steps"].text
    assert traj.report()["certified steps"].verdict == "not applicable"


def test_no_certificates_where_nothing_is_proved():
    traj = run(chain("spherical"), "trapezoidal")
    traj.meta["h_auto"] = True
    assert "certified steps" not in verdicts(traj.report())


def test_short_runs_and_rest():
    fallen = loops.four_bar()
    for m, q0 in ((chain("free"), None), (chain("revolute"), None), (fallen, fallen.assemble({"foot0": 0.3})[0])):
        for t_end in (0.01, 0.02):
            report = dal.simulate(m, "trapezoidal", h=0.01, t_end=t_end, q0=q0).report()
            assert report.verdict == "pass", report.text
            json.dumps(report.to_dict(), allow_nan=False)
    sim = dal.Simulation(chain("revolute"), "midpoint", h=0.01)
    assert sim.trajectory().report().verdict == "pass"
    still = dal.simulate(chain("free", (0, 0, 0)), "midpoint", h=0.01, t_end=1.0).report()
    assert still.verdict == "pass", still.text
    assert still["momentum"].measured == 0.0


def test_a_limit_of_a_joint_to_the_world_is_no_loss_of_momentum():
    """Its push comes from outside: the balance counts it, and the momentum about the axis is not promised."""
    m = dal.Model(gravity=(0, 0, 0))
    m.add_body("arm", 1.0, (0.1, 0.1, 0.1), com=(0.5, 0, 0))
    m.add_joint("pan", "revolute", "world", "arm", axis=(0, 0, 1), limits=(-0.5, 0.5))
    report = dal.simulate(m, "midpoint", h=0.001, t_end=2.0, v0=[1.0]).report()
    assert report["momentum"].verdict == "not applicable", report.text
    assert report["momentum balance"].verdict == "pass", report.text
    assert report.verdict == "pass", report.text
