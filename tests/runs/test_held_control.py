"""A control is held in the state: runs record it, arrays of it need no Python, and the system array is constant.

Judges: the same control as a Python function, closed forms of a driven rod and of a bead on a ring, files of a version that kept none.
"""

import gzip
import warnings
from pathlib import Path

import numpy as np
import pytest

import dalembert as dal
from dalembert.kernels.tree.variational.layout import state_places
from dalembert.runs.controls import TabledControl
from dalembert.runs.plan import Plan

OLD = Path(__file__).parents[1] / "data" / "before_control"
H, STEPS = 0.01, 40


def body():
    m = dal.Model("body")
    m.add_body("b", 1.3, (1.0, 2.0, 2.5), com=(0.1, -0.2, 0.3), pose=((0.5, 0.2, 1.0), (0.8, 0.0, 0.6, 0.0)))
    return m


def top():
    m = body()
    m.add_joint("tip", "spherical", "world", "b", anchor=(0.6, 0.1, 0.4))
    return m


def arm(damping=0.0):
    m = dal.Model("arm")
    m.add_body("upper", 1.0, (0.1, 0.1, 0.01), com=(0, 0, -0.5))
    m.add_body("lower", 0.7, (0.1, 0.1, 0.01), com=(0, 0, -0.4), pose=((0, 0, -1), (1, 0, 0, 0)))
    m.add_joint("shoulder", "revolute", "world", "upper", axis=(0, 1, 0), damping=damping)
    m.add_joint("elbow", "revolute", "upper", "lower", anchor=(0, 0, -1), axis=(0, 1, 0), damping=damping)
    return m


def walker():
    m = dal.Model("walker")
    m.add_body("hull", 1.0, (0.1, 0.2, 0.3))
    m.add_body("leg", 0.7, (0.1, 0.1, 0.01), com=(0, 0, -0.4))
    m.add_joint("hip", "revolute", "hull", "leg", axis=(0, 1, 0))
    return m


def ring():
    return dal.Lagrangian(2, lambda q, v: 0.5 * (v @ v), holonomic=lambda q: q @ q - 1.0)


def spring():
    return dal.Lagrangian(2, lambda q, v: 0.5 * (v @ v) - 0.5 * (q @ q))


@pytest.fixture(autouse=True, scope="module")
def plain_stepper():
    from dalembert import registry

    @dal.stepper("plain-kick", order=1)
    def kick(m, t, q, v, h, tau=0.0):
        """v' = a(q, v) + tau, q' = v."""
        v = v + h * m.forward_dynamics(q, v, np.zeros(m.nv) + tau)
        return m.integrate(q, h * v), v

    yield
    for key in [k for k in registry._steppers if k[1] == "plain-kick"]:
        del registry._steppers[key]


RUNS = {
    "body": (body, "cayley", {"v0": (1, 2, 3, 0.1, 0.2, 0.3)}),
    "body, explicit": (body, "euler", {"v0": (1, 2, 3, 0.1, 0.2, 0.3)}),
    "top": (top, "quaternion", {"v0": (1, 2, 3)}),
    "stages": (arm, "mk4", {"v0": (1, 2)}),
    "adaptive": (lambda: arm(0.1), "mk8", {"v0": (1, 2)}),
    "midpoint": (arm, "midpoint", {"v0": (1, 2)}),
    "trapezoidal": (lambda: arm(0.1), "trapezoidal", {"v0": (1, 2)}),
    "free base": (walker, "symplectic-euler", {}),
    "composition": (walker, "midpoint", {"compose": "suzuki4"}),
    "formula": (spring, "verlet", {"q0": (1, 0), "v0": (0, 1)}),
    "ring": (ring, "rattle", {"q0": (1, 0), "v0": (0, 1)}),
    "scipy": (ring, "dop853", {"q0": (1, 0), "v0": (0, 1)}),
    "python": (arm, "plain-kick", {"v0": (1, 2)}),
}


def rows(nv, steps=STEPS):
    return np.random.default_rng(7).normal(size=(steps, nv))


def start(name):
    make, stepper, more = RUNS[name]
    m = make()
    return m, stepper, {"h": H, "t_end": STEPS * H, **more}


def same(a, b):
    np.testing.assert_array_equal(a.states, b.states)
    np.testing.assert_array_equal(a.q, b.q)
    np.testing.assert_array_equal(a.v, b.v)
    np.testing.assert_array_equal(a.control, b.control)
    for x, y in zip(a.account.values(), b.account.values(), strict=True):
        np.testing.assert_array_equal(x, y)


# arrays ------------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", RUNS)
@pytest.mark.parametrize("every", [1, 4])
def test_an_array_is_the_same_control_as_a_function(name, every):
    m, stepper, how = start(name)
    tau = rows(m.nv)
    by_array = dal.simulate(m, stepper, control=tau, every=every, **how)
    by_function = dal.simulate(m, stepper, control=lambda t, q, v: tau[round(t / H)], every=every, **how)
    same(by_array, by_function)
    assert by_array.meta["control"] == "array"
    np.testing.assert_array_equal(by_array.control, tau[every - 1 :: every])
    assert not np.array_equal(by_array.q[-1], dal.simulate(m, stepper, every=every, **how).q[-1])


@pytest.mark.parametrize("name", [n for n in RUNS if n not in ("scipy", "python")])
def test_the_compiled_loop_reads_an_array_without_python(name, monkeypatch):
    monkeypatch.setattr(TabledControl, "__call__", lambda *_: pytest.fail("Python was asked"))
    m, stepper, how = start(name)
    dal.simulate(m, stepper, control=rows(m.nv), **how)


@pytest.mark.parametrize("name", RUNS)
def test_a_run_without_control_holds_zeros(name):
    m, stepper, how = start(name)
    traj = dal.simulate(m, stepper, **how)
    np.testing.assert_array_equal(traj.control, np.zeros((STEPS, m.nv)))


def test_a_compiled_control_is_recorded():
    @dal.compiled
    def push(t, q, v, out):
        out[0], out[1] = t, q[0] - v[1]

    m, stepper, how = start("midpoint")
    traj = dal.simulate(m, stepper, control=push, **how)
    expected = np.column_stack([traj.t, traj.q[:, 0] - traj.v[:, 1]])[:-1]
    np.testing.assert_array_equal(traj.control, expected)


@pytest.mark.parametrize(
    ("control", "match"),
    [
        (np.zeros((STEPS + 1, 2)), r"control has the shape \(41, 2\); expected \(steps, nv\) = \(40, 2\)"),
        (np.zeros(STEPS), r"control has the shape \(40,\).*\(40, 2\)"),
        (np.full((STEPS, 2), np.nan), r"control\[0, 0\] is nan; expected finite.*\(40, 2\)"),
        ([[0.0, 1.0], [0.0]], r"no array of numbers.*\(40, 2\)"),
        ([["a", "b"]] * STEPS, r"no array of numbers.*\(40, 2\)"),
    ],
)
def test_wrong_arrays_are_refused(control, match):
    m, stepper, how = start("midpoint")
    with pytest.raises(dal.OptionError, match=match):
        dal.simulate(m, stepper, control=control, **how)


def test_the_array_is_copied():
    m, stepper, how = start("stages")
    tau = rows(m.nv)
    given = tau.copy()
    traj = dal.simulate(m, stepper, control=given, monitors=[lambda t, q, v: given.fill(1e6)], **how)
    np.testing.assert_array_equal(traj.control, tau)


# files -------------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [n for n in RUNS if n != "scipy"])
def test_a_resumed_run_is_the_uninterrupted_one(name, tmp_path):
    m, stepper, how = start(name)
    tau, half = rows(m.nv), STEPS // 2
    whole = dal.simulate(m, stepper, control=tau, save=tmp_path / "whole.h5", **how)
    same(dal.load(tmp_path / "whole.h5"), whole)
    dal.simulate(m, stepper, control=tau[:half], save=tmp_path / "half.h5", **{**how, "t_end": half * H})
    same(dal.resume(tmp_path / "half.h5", STEPS * H, control=tau[half:]), whole)
    same(dal.load(tmp_path / "half.h5"), whole)


def test_resume_asks_for_the_rows_that_remain(tmp_path):
    m, stepper, how = start("midpoint")
    dal.simulate(m, stepper, control=rows(2), save=tmp_path / "run.h5", **how)
    with pytest.raises(dal.OptionError, match="row for each step that remains"):
        dal.resume(tmp_path / "run.h5", 2 * STEPS * H)
    with pytest.raises(dal.OptionError, match=r"shape \(80, 2\); expected \(steps that remain, nv\) = \(40, 2\)"):
        dal.resume(tmp_path / "run.h5", 2 * STEPS * H, control=rows(2, 2 * STEPS))


@pytest.mark.parametrize("name", ["cayley", "mk4", "midpoint", "rattle", "dop853"])
def test_files_without_control_load_and_say_why_they_cannot_go_on(name, tmp_path):
    """Written under tau = 1/4 by the version before; the control is the only thing that they do not tell."""
    path = tmp_path / "old.h5"
    path.write_bytes(gzip.decompress((OLD / f"{name}.h5.gz").read_bytes()))
    traj = dal.load(path)
    assert traj.control.shape == (3, traj.v.shape[1])
    assert np.isnan(traj.control).all()
    anew = dal.simulate(traj.model, name, h=0.1, t_end=0.3, q0=traj.q[0], v0=traj.v[0], control=np.full(traj.control.shape, 0.25))
    for column in ("q", "v", "v_interval", "work", "impulse"):  # to round-off: other CPUs, other order of sums
        np.testing.assert_allclose(getattr(traj, column), getattr(anew, column), rtol=1e-9, atol=1e-9, err_msg=column)
    with warnings.catch_warnings(), pytest.raises(dal.ArchiveError, match=r"states hold .* written by another version"):
        warnings.simplefilter("ignore")  # where versions or CPU are others, a warning says so
        dal.resume(path, 0.6, control=np.zeros((3, traj.v.shape[1])))
    joint = {"cayley": "b", "mk4": "elbow", "midpoint": "elbow"}.get(name, "holonomic")
    with pytest.raises(dal.UnsupportedError, match="of an earlier version"):
        traj.reaction(joint)


# one constant array ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [n for n in RUNS if n not in ("scipy", "python")])
def test_all_engines_of_a_plan_share_one_array_and_write_nothing_into_it(name):
    m, stepper, how = start(name)
    compose = how.get("compose")
    plan = Plan.of(m, stepper, H, compose)
    q, v = plan.start(how.get("q0"), how.get("v0"))
    tau = rows(m.nv)
    alone = [dal.simulate(m, stepper, control=c, **how) for c in (None, tau)]
    free, steered = plan.engine(), plan.engine(TabledControl(tau, H))
    assert free.system is steered.system is plan.arrays()
    before = free.system.copy()
    assert not free.system.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        free.system[0] = 1.0
    found = [[], []]
    for engine in (free, steered):
        engine.start(q, v)
    for _ in range(STEPS):
        for out, engine in zip(found, (free, steered), strict=True):
            out.append(engine.advance(1, 1).states[0])
    np.testing.assert_array_equal(free.system, before)
    for out, traj in zip(found, alone, strict=True):
        np.testing.assert_array_equal(out, traj.states[1:])


def test_the_ceiling_of_energy_belongs_to_the_start():
    """It is in the state, another start has another one, and a control lifts it."""
    m, _, _ = start("midpoint")
    plan = Plan.of(m, "midpoint", H)
    slow, fast, pushed = plan.engine(), plan.engine(), plan.engine(TabledControl(rows(2), H))
    for engine, speed in ((slow, 1.0), (fast, 10.0), (pushed, 1.0)):
        engine.start(np.zeros(2), np.full(2, speed))
    at = state_places(2, 2)[0].ceiling
    assert 0.0 < slow.state[at] == pushed.state[at] < fast.state[at]
    for engine in (slow, fast, pushed):
        engine.advance(3, 1)
    assert 0.0 < slow.state[at] < fast.state[at]
    assert pushed.state[at] == 0.0


def test_a_push_may_lift_a_simulation_above_its_ceiling():
    """300 N m on a pendulum that hangs at rest: 50 rad/s after 1 s, a thousand times what its weight could give."""
    m = dal.Model("wheel", gravity=(0, 0, -1e-3))
    m.add_body("wheel", 1.0, (6.0, 6.0, 6.0), com=(0, 0, -0.01))
    m.add_joint("axle", "revolute", "world", "wheel", axis=(0, 1, 0))
    sim = dal.Simulation(m, "midpoint", h=0.02)
    sim.step(3)
    sim.apply_force(tau=(300.0,))
    sim.step(50)
    assert sim.state.v[0] == pytest.approx(300.0 * 1.0 / 6.0001, rel=1e-3)  # the weight changes 5e-6 of it


# what is known of controlled runs ----------------------------------------------------------------------------------------------------


def rod():
    """Turns about z without weight: 2 kg at 0.5 m, 0.8 kg m^2 about the axle."""
    m = dal.Model("rod", gravity=(0, 0, 0))
    m.add_body("rod", 2.0, (0.1, 0.3, 0.3), com=(0.5, 0, 0))
    m.add_joint("axle", "revolute", "world", "rod", axis=(0, 0, 1))
    return m


@pytest.mark.parametrize("stepper", ["mk4", "midpoint", "trapezoidal"])
@pytest.mark.parametrize("every", [1, 5])
def test_axle_of_a_driven_rod(stepper, every):
    """Under tau: omega' = tau / I, and the axle pulls with m l omega^2 inwards, m l omega' across, and the torque tau."""
    tau = rows(1)
    traj = dal.simulate(rod(), stepper, h=H, t_end=STEPS * H, v0=[2.0], control=tau, every=every)
    omega = 2.0 + np.concatenate([[0.0], np.cumsum(tau[:, 0]) * H / 0.8])[::every]
    np.testing.assert_allclose(traj.v[:, 0], omega, rtol=1e-12)
    known = np.concatenate([tau, tau[-1:]])[:, 0] if every == 1 else np.concatenate([[np.nan], tau[every - 1 :: every, 0]])
    zero = np.where(np.isfinite(known), 0.0, np.nan)
    expected = np.column_stack([zero, zero, known, zero - omega**2, known / 0.8, zero])
    np.testing.assert_allclose(traj.reaction("axle"), expected, atol=1e-9)  # the rates of the bodies are differences, good to 1e-11


@pytest.mark.parametrize("stepper", ["rattle", "dop853"])
def test_ring_holds_a_driven_bead(stepper):
    """q'' = u + 2 q mu on |q| = 1: mu = -(|v|^2 + q . u) / 2."""
    tau = rows(2)
    traj = dal.simulate(ring(), stepper, h=H, t_end=STEPS * H, q0=(1, 0), v0=(0, 1), control=tau)
    u = np.concatenate([tau, tau[-1:]])
    expected = -0.5 * (np.sum(traj.v**2, axis=1) + np.sum(traj.q * u, axis=1)) / np.sum(traj.q**2, axis=1)
    np.testing.assert_allclose(traj.reaction("holonomic")[:, 0], expected, rtol=1e-9)


@pytest.mark.parametrize("name", [n for n in RUNS if n not in ("scipy", "python", "body, explicit", "free base", "adaptive", "stages")])
def test_the_account_closes_the_balance_of_a_run_under_an_array(name):
    m, stepper, how = start(name)
    report = dal.simulate(m, stepper, control=rows(m.nv), **how).report()
    assert report.verdict == "pass", report.text
    assert report["energy balance"].verdict == "pass", report.text


def test_nodes_of_elsewhere_agree_with_runs():
    m, stepper, how = start("midpoint")
    traj = dal.simulate(m, stepper, control=rows(2), **how)
    given = dal.Trajectory.of_nodes(m, traj.t, traj.q, traj.v, control=traj.control)
    np.testing.assert_array_equal(given.control, traj.control)
    np.testing.assert_array_equal(given.reaction("elbow"), traj.reaction("elbow"))
    np.testing.assert_array_equal(dal.Trajectory.of_nodes(m, traj.t, traj.q, traj.v).control, 0.0 * traj.control)
