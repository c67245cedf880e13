"""The report passes correct physics, and fails when a force acts with the wrong sign.

A wrong sign is a stepper that negates entries of the system array while it steps: the ledger of the loop and the report see the true model,
as they would if a kernel had a sign error. The wrong steppers carry the promises of the right ones.
"""

import copy
import dataclasses
import json
import signal

import numpy as np
import pytest

import dalembert as dal
from dalembert import registry
from dalembert.families import rigid_body
from dalembert.kernels._jit import kernel
from dalembert.kernels.rigid_body import layout as at
from dalembert.report.drift import find_drift
from dalembert.report.facts import Facts
from dalembert.report.make import make_report
from dalembert.steppers.rigid_body import cayley, quaternion, tln

METHODS = ("cayley", "tln", "quaternion")


@kernel
def flip(system, state):
    """Negate the entries that the options of a wrong stepper name: of the system, or of the state where the first one is negative."""
    first, count = int(system[at.OPTIONS]), int(system[at.OPTIONS + 1])
    for i in range(first, first + count):
        if first >= 0:
            system[i] = -system[i]
        else:
            state[i - 2 * first] = -state[i - 2 * first]


def wrong_cayley(t, h, system, state, work, info):
    """cayley with a sign error."""
    flip(system, state)
    status = cayley.step(t, h, system, state, work, info)
    flip(system, state)
    return status


def wrong_tln(t, h, system, state, work, info):
    """tln with a sign error."""
    flip(system, state)
    status = tln.step(t, h, system, state, work, info)
    flip(system, state)
    return status


def wrong_quaternion(t, h, system, state, work, info):
    """quaternion with a sign error."""
    flip(system, state)
    status = quaternion.step(t, h, system, state, work, info)
    flip(system, state)
    return status


def store_flips(system, options):
    """Where the wrong stepper finds what to negate."""
    system[at.OPTIONS], system[at.OPTIONS + 1] = options["first"], options["count"]


@pytest.fixture(scope="module", autouse=True)
def wrong_steppers():
    """Registered for this file only."""
    flips = (registry.Option("first", 0, "first entry to negate"), registry.Option("count", 0, "entries to negate"))
    for name, step in (("cayley", wrong_cayley), ("tln", wrong_tln), ("quaternion", wrong_quaternion)):
        right = registry.find("rigid-body", name)
        kept = {k: getattr(right, k) for k in ("order", "self_adjoint", "symplectic", "conserves", "handles")}
        dal.stepper(f"wrong-{name}", kernel=True, prepare=store_flips, options=(*right.options, *flips), **kept)(step)
    yield
    for name in METHODS:
        del registry._steppers["rigid-body", f"wrong-{name}"]


# scenes: model, simulate keywords, and which entries of the system array (negative: of the state) hold the force that is flipped ---


def body(name, gravity=(0, 0, -9.81), **joint):
    m = dal.Model(name, gravity=gravity)
    m.add_body("body", 1.3, (0.5, 0.8, 1.1), com=(0.1, -0.2, 0.3), pose=((0.5, 0.2, 1.0), (0.8, 0.0, 0.6, 0.0)))
    if joint:
        m.add_joint("tip", "spherical", "world", "body", **joint)
    return m


def with_force(m, force):
    m.add_force(force)
    return m


@dal.compiled
def compiled_control(t, q, v, out):
    out[:] = 0.0
    out[0] = 1.5 * np.sin(2.0 * t)
    out[1] = 0.8 - 0.3 * v[1]


def python_control(t, q, v):
    tau = np.zeros_like(v)
    tau[0], tau[1] = 1.5 * np.sin(2.0 * t), 0.8 - 0.3 * v[1]
    return tau


TUMBLE = (2.0, -0.5, 1.0, 0.4, 0.1, 0.3)
ANCHOR = (0.6, 0.1, 0.4)
RUN = {"h": 0.005, "t_end": 3.0}
NO_G = (0, 0, 0)
CONSERVATIVE = {
    "falling body": (lambda: body("falling"), {}, (at.GRAVITY, 3)),
    "heavy top": (lambda: body("top", anchor=ANCHOR), {}, (at.GRAVITY, 3)),
    "tilted gravity": (lambda: body("tilted", gravity=(3.0, -4.0, 5.0), anchor=ANCHOR), {}, (at.GRAVITY, 3)),
}
DAMPED = {
    "damper": (lambda: with_force(body("damper", NO_G), dal.Damper("body", angular=0.4, linear=0.6)), {}, (at.DAMPING, 36)),
    "damper and gravity": (lambda: with_force(body("sinking"), dal.Damper("body", angular=0.4, linear=0.6)), {}, (at.DAMPING, 36)),
    "joint damping": (lambda: body("damped top", anchor=ANCHOR, damping=0.4), {}, (at.DAMPING, 36)),
}
DRIVEN = {
    "compiled control": (lambda: body("driven", NO_G), {"control": compiled_control}, (-at.HELD_TORQUE, 6)),
    "python control": (lambda: body("driven top", anchor=ANCHOR), {"control": python_control}, (-at.HELD_TORQUE, 6)),
    "wrench, body": (
        lambda: with_force(body("thrust", NO_G), dal.Wrench("body", force=(1, 2, 0), torque=(0, 0.5, 0.3), point=(0.2, 0, 0))),
        {},
        (at.BODY_TORQUE, 6),
    ),
    "wrench, world": (
        lambda: with_force(
            body("pulled", anchor=ANCHOR), dal.Wrench("body", force=(4, 2, 0), torque=(0, 0, 1), point=(0, 0, 1), frame="world")
        ),
        {},
        (at.LOADS + 1 + 3, 6),
    ),
}
SCENES = {**CONSERVATIVE, **DAMPED, **DRIVEN}
CASES = [(s, m, c) for s in SCENES for m in METHODS for c in (None, "suzuki4") if c is None or s not in DAMPED]


def run(scene, method, **more):
    build, keywords, _ = SCENES[scene]
    m = build()
    return dal.simulate(m, method, v0=TUMBLE[: m.nv], **{**RUN, **keywords, **more})


def verdicts(report):
    return {i.name: i.verdict for i in report.items}


@pytest.mark.parametrize(("scene", "method", "compose"), CASES)
def test_correct_physics_passes(scene, method, compose):
    report = run(scene, method, compose=compose).report()
    assert report.verdict == "pass", report.text
    assert set(verdicts(report).values()) <= {"pass", "not applicable"}
    balanced = report["momentum balance"]
    assert balanced.verdict == "pass", report.text
    if method != "tln":
        assert balanced.measured <= 1e-12  # round-off of some hundred steps
    judged = report["energy"] if scene in CONSERVATIVE else report["energy balance"]
    assert judged.verdict == "pass", report.text


@pytest.mark.parametrize(("scene", "method", "compose"), CASES)
def test_a_wrong_sign_fails(scene, method, compose):
    first, count = SCENES[scene][2]
    report = run(scene, f"wrong-{method}", compose=compose, first=first, count=count).report()
    assert report.verdict == "fail", report.text
    found = verdicts(report)
    assert found["momentum balance"] in (("fail", "warn") if method == "tln" else ("fail",)), report.text
    assert found["energy" if scene in CONSERVATIVE else "energy balance"] == "fail", report.text
    if scene in DAMPED:
        assert found["dissipation"] == "fail", report.text


@pytest.mark.parametrize("method", METHODS)
def test_a_wrong_stepper_that_negates_nothing_passes(method):
    assert run("heavy top", f"wrong-{method}").report().verdict == "pass"


@pytest.mark.parametrize(
    ("scene", "item"), [("falling body", "energy"), ("heavy top", "energy"), ("damper", "dissipation"), ("joint damping", "dissipation")]
)
def test_a_wrong_sign_in_the_compiled_model_fails(monkeypatch, scene, item):
    """The ledger reads the same wrong array as the step, so that only energy, computed from the model, can tell."""
    first, count = SCENES[scene][2]
    right = rigid_body.FAMILY.system

    def wrong(model, options):
        system = right(model, options)
        system[first : first + count] *= -1.0
        return system

    monkeypatch.setattr(rigid_body, "FAMILY", dataclasses.replace(rigid_body.FAMILY, system=wrong))
    report = run(scene, "cayley").report()
    assert report[item].verdict == "fail", report.text
    assert report["momentum balance"].verdict == "pass", report.text


# symmetries ------------------------------------------------------------------------------------------------------------


def test_free_body_without_gravity_keeps_all_six_momenta():
    traj = dal.simulate(body("free", NO_G), "cayley", v0=TUMBLE, **RUN)
    report = traj.report()
    assert report["momentum"].verdict == "pass"
    assert "(p, L)" in report["momentum"].text
    assert "momentum balance" not in verdicts(report)


def test_falling_body_keeps_horizontal_momentum_and_its_spin():
    text = run("falling body", "cayley").report()["momentum"].text
    assert "(p_x, p_y, L_z, L about the centre of mass)" in text


def test_top_keeps_the_momentum_about_the_vertical_through_the_pivot_not_through_the_origin():
    traj = run("heavy top", "cayley")
    assert np.ptp(traj.momentum[:, 2]) > 1e-2  # about the origin
    assert traj.report()["momentum"].verdict == "pass"


def test_body_balanced_on_its_pivot_is_free_of_torque():
    m = dal.Model("balanced")
    m.add_body("body", 1.0, (1, 2, 2.5), com=(0.1, 0, 0))
    m.add_joint("tip", "spherical", "world", "body", anchor=(0.1, 0, 0))
    report = dal.simulate(m, "quaternion", v0=(1, 2, 3), **RUN).report()
    assert report.verdict == "pass"
    assert "(L about the pivot)" in report["momentum"].text
    assert report["rotational energy"].promised == "exactly"
    assert report["body momentum"].verdict == "pass"


def test_tln_is_not_judged_by_momentum_that_it_does_not_promise():
    report = dal.simulate(body("free", NO_G), "tln", v0=TUMBLE, h=0.05, t_end=50).report()
    assert report["momentum"].verdict == "not applicable"
    assert report["momentum"].measured > 1e-6
    assert report["energy"].promised == "exactly"
    assert report["energy"].measured < 1e-12
    assert report.verdict == "pass"


# methods that promise less ---------------------------------------------------------------------------------------------


def test_growing_energy_of_euler_does_not_pass():
    report = dal.simulate(body("free", NO_G), "euler", v0=TUMBLE, h=0.01, t_end=60).report()
    assert report["energy"].verdict == "warn", report.text
    assert "gains" in report["energy"].text
    assert report.verdict == "warn"


def test_exploded_run_is_reported_without_warnings_and_without_infinities():
    traj = dal.simulate(body("free", NO_G), "euler", v0=TUMBLE, h=0.5, t_end=500, on_fail="return")
    report = traj.report()
    assert traj.status != "ok"
    assert report.verdict == "fail"
    json.dumps(report.to_dict(), allow_nan=False)


def test_explicit_moser_veselov_keeps_momentum_but_not_energy():
    report = dal.simulate(body("free", NO_G), "moser-veselov-explicit", v0=TUMBLE, h=0.02, t_end=60).report()
    assert report["momentum"].verdict == "pass"
    assert report["energy"].verdict == "warn"


def test_tln_under_gravity_wanders_in_long_runs_and_the_report_says_so():
    """tln is not symplectic: under gravity its energy does a random walk.

    Its band grows from 2.7e-4 after 1e4 steps to 5.7e-4 after 1e5 and 3.3e-3 after 1e6; that of cayley stays at 5e-4.
    """
    m = dal.Model("asymmetric top")
    m.add_body("body", 1.0, (0.5, 0.8, 1.2), com=(0.1, 0.2, 0.4))
    m.add_joint("tip", "spherical", "world", "body")
    found = {s: dal.simulate(m, s, v0=(3, 1, 2), h=0.01, t_end=10000, every=50).report() for s in ("tln", "cayley")}
    assert found["cayley"].verdict == "pass", found["cayley"].text
    assert found["tln"]["energy"].verdict == "warn", found["tln"].text


@pytest.fixture
def python_euler():
    """A user's stepper that moves with a constant body velocity."""

    @dal.stepper("report-python-euler", order=1)
    def step(m, t, q, v, h, tau=None):
        return m.integrate(q, h * v), v

    yield
    del registry._steppers["any", "report-python-euler"]


def test_python_stepper_has_no_ledger_and_is_not_judged_by_it(python_euler):
    m = with_force(body("python"), dal.Damper("body", angular=0.1))
    report = dal.simulate(m, "report-python-euler", v0=TUMBLE, h=0.1, t_end=1).report()
    assert report["momentum balance"].verdict == "not applicable"
    assert report["energy balance"].verdict == "not applicable"
    assert report["attitude"].verdict == "not applicable"
    json.dumps(report.to_dict(), allow_nan=False)


# long, short and empty runs --------------------------------------------------------------------------------------------


def test_a_hundred_thousand_steps_of_a_free_body_pass():
    traj = dal.simulate(body("free", NO_G), "cayley", v0=TUMBLE, h=0.01, t_end=1000)
    report = traj.report()
    assert report.verdict == "pass", report.text
    assert report["momentum"].measured < 1e-11
    assert "no drift" in report["energy"].text


def test_a_hundred_thousand_steps_of_a_sinking_body_pass():
    """At terminal velocity every step rounds the same way, so the balance is off by a few eps N."""
    m = with_force(body("sinking"), dal.Damper("body", linear=0.05))
    report = dal.simulate(m, "cayley", v0=TUMBLE, h=0.01, t_end=1000, every=100).report()
    assert report.verdict == "pass", report.text
    assert report["momentum balance"].measured < 8 * 1e5 * np.finfo(float).eps


@pytest.mark.parametrize("every", [10, 100])
@pytest.mark.parametrize("scene", ["heavy top", "joint damping", "python control"])
def test_sparse_recording_changes_no_verdict(scene, every):
    assert run(scene, "cayley", every=every).report().verdict == "pass"


@pytest.mark.parametrize("scene", SCENES)
def test_body_at_rest(scene):
    build, keywords, _ = SCENES[scene]
    for t_end in (0.005, 0.01):
        report = dal.simulate(build(), "cayley", **{**keywords, "h": 0.005, "t_end": t_end}).report()
        assert report.verdict == "pass", report.text
        json.dumps(report.to_dict(), allow_nan=False)


def test_nothing_moves():
    report = dal.simulate(body("still", NO_G), "cayley", **RUN).report()
    assert report.verdict == "pass", report.text
    assert report["momentum"].measured == 0.0


def test_first_node_alone():
    sim = dal.Simulation(body("one node"), v0=TUMBLE)
    report = sim.trajectory().report()
    assert report.verdict == "pass", report.text
    assert "0 steps" in report.head


def test_simulation_without_input_is_judged_like_a_run_without_control():
    sim = dal.Simulation(body("by hand", NO_G), h=0.01, v0=TUMBLE)
    sim.step(200)
    report = sim.trajectory().report()
    assert report["momentum"].verdict == "pass"
    assert report["energy"].verdict == "pass"


def test_simulation_with_a_push_is_balanced():
    sim = dal.Simulation(body("pushed", NO_G), h=0.01, v0=TUMBLE)
    sim.apply_force("body", force=(5, 0, 0), torque=(0, 1, 0))
    sim.step(100)
    sim.step(100)
    report = sim.trajectory().report()
    assert report["momentum"].verdict == "not applicable"
    assert report["momentum balance"].verdict == "pass"
    assert report["energy balance"].verdict == "pass"


# how the run ended -----------------------------------------------------------------------------------------------------


def test_interrupted_run_warns():
    def control(t, q, v):
        if t > 0.1:
            signal.raise_signal(signal.SIGINT)
        return np.zeros_like(v)

    traj = dal.simulate(body("interrupted", NO_G), "cayley", v0=TUMBLE, control=control, **RUN)
    report = traj.report()
    assert traj.status == "interrupted"
    assert report["run"].verdict == "warn"
    assert report.verdict == "warn"
    assert "interrupted" in report.head


def test_killed_run_warns_and_monitored_run_passes():
    traj = run("heavy top", "cayley")
    for status, verdict in (("killed: the run ended without closing its file", "warn"), ("ended by monitor done", "pass")):
        traj.meta["status"] = status
        assert traj.report()["run"].verdict == verdict


def test_failed_run_fails():
    traj = dal.simulate(body("too fast", NO_G), "quaternion", v0=(30, 40, 50, 0, 0, 0), h=0.1, t_end=1, on_fail="return")
    report = traj.report()
    assert report["run"].verdict == "fail"
    assert report.verdict == "fail"
    assert "failed" in report.head


def test_iterations_close_to_their_limit_warn():
    report = run("heavy top", "cayley", max_iterations=3, tol=1e-13).report()
    assert report["solver"].verdict == "warn", report.text
    assert report["solver"].measured == 3


# broken promises, made by changing the trajectory ----------------------------------------------------------------------


def changed(traj, **arrays):
    other = copy.copy(traj)
    for cached in ("kinetic", "potential", "momentum", "poses"):
        other.__dict__.pop(cached, None)
    other.__dict__.update(arrays)
    return other


@pytest.fixture(scope="module")
def spinning():
    return dal.simulate(body("free", NO_G), "cayley", v0=TUMBLE, h=0.02, t_end=200)


def test_momentum_off_by_1e_9_fails(spinning):
    ramp = np.linspace(0, 1e-9, len(spinning))[:, None]
    report = make_report(changed(spinning, v=spinning.v * (1 + ramp)))
    assert report["momentum"].verdict == "fail"
    assert report["body momentum"].verdict == "fail"
    assert 1e-10 < report["momentum"].measured < 1e-8


def test_attitude_off_by_1e_10_fails(spinning):
    q = spinning.q.copy()
    q[-1, 3:] *= 1 + 1e-10
    assert make_report(changed(spinning, q=q))["attitude"].verdict == "fail"


def test_drift_of_the_energy_within_its_band_fails(spinning):
    """A drift of the velocity that is three times the oscillation of the energy, and still below the limit of the band."""
    energy = spinning.energy
    oscillation = np.ptp(energy) / spinning.kinetic.max()
    ramp = np.linspace(0, 2.0 * oscillation, len(spinning))[:, None]  # the energy rises by twice this
    report = make_report(changed(spinning, v=spinning.v * (1 + ramp)))
    assert report["energy"].measured < report["energy"].limit
    assert report["energy"].verdict == "fail", report.text
    assert "drifts" in report["energy"].text


def test_band_of_the_energy_beyond_the_order_fails(spinning):
    swing = 1 + 0.1 * np.sin(np.arange(len(spinning)))[:, None]
    assert make_report(changed(spinning, v=spinning.v * swing))["energy"].verdict == "fail"


def test_the_limit_of_the_band_follows_the_order():
    """Halving h divides limit and band by 2^p; rates are those of the same motion, so the quotients agree to some per cent."""
    for compose, order in ((None, 2), ("suzuki4", 4)):
        coarse, fine = (run("heavy top", "cayley", compose=compose, h=h).report()["energy"] for h in (0.02, 0.01))
        assert np.log2(coarse.limit / fine.limit) == pytest.approx(order, abs=0.2)
        assert np.log2(coarse.measured / fine.measured) == pytest.approx(order, abs=0.2)


# the drift test by itself ----------------------------------------------------------------------------------------------


def test_drift_of_known_signals():
    s = np.linspace(0, 1, 4000)
    wave = np.sin(300 * s)
    bounded, rising = find_drift(wave), find_drift(wave + 6 * s)
    assert not bounded.steady
    assert not bounded.wanders
    assert rising.certain
    assert rising.rise == pytest.approx(6.0, abs=0.1)
    half = find_drift(np.cos(np.pi * s))
    assert half.steady
    assert not half.certain
    steps = np.random.default_rng(5).normal(size=4000).cumsum()
    assert find_drift(steps + wave).wanders
    assert find_drift(wave[:100]) is None
    flat = find_drift(np.ones(4000))
    assert (flat.rise, flat.t, flat.oscillation) == (0.0, 0.0, 0.0)


# form ------------------------------------------------------------------------------------------------------------------


def test_text_and_plain_data():
    report = run("heavy top", "cayley").report()
    lines = report.text.splitlines()
    assert lines[0] == "top: cayley, h = 0.005 s, 600 steps, ok"
    assert lines[-1] == "verdict: pass"
    assert len(lines) == len(report.items) + 2
    assert all(line.endswith(f": {i.verdict}") for line, i in zip(lines[1:-1], report.items, strict=True))
    assert str(report) == report.text
    data = json.loads(json.dumps(report.to_dict(), allow_nan=False))
    assert data["verdict"] == "pass"
    assert [i["name"] for i in data["items"]] == [i.name for i in report.items]
    with pytest.raises(KeyError, match="momentum balance"):
        report["temperature"]
    with pytest.raises(dataclasses.FrozenInstanceError):
        report.items = ()


def test_saved_run_gives_the_same_report(tmp_path):
    traj = run("damper and gravity", "cayley")
    traj.save(tmp_path / "run.h5")
    assert dal.load(tmp_path / "run.h5").report() == traj.report()


def test_composition_counts_its_substeps_and_its_order():
    facts = Facts(run("heavy top", "cayley", compose="suzuki4"))
    assert (facts.order, facts.substeps, facts.steps) == (4, 5, 3000)


def test_forces_that_the_run_left_out_are_no_part_of_its_laws():
    """Without gravity all of L is kept; a run under gravity that is presented as one without fails."""
    m = body("stiff", anchor=ANCHOR)
    traj = dal.simulate(m, "cayley", v0=TUMBLE[:3], ignore="gravity", **RUN)
    assert traj.report()["momentum"].verdict == "pass"
    traj = dal.simulate(m, "cayley", v0=TUMBLE[:3], **RUN)
    assert traj.report()["momentum"].verdict == "pass"
    traj.meta["ignore"] = ["gravity"]
    del traj.__dict__["_run_model"], traj.__dict__["potential"]
    report = traj.report()
    assert report["momentum"].verdict == "fail"
    assert report["energy"].verdict != "pass"
