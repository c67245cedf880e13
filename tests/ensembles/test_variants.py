"""Samples that change numbers of the machine: taken together they are, bit for bit, the machines that `with_values` makes."""

import numpy as np
import pytest
from tests.ensembles.machines import double_pendulum, oscillator

import dalembert as dal
from dalembert.ensembles.common import Common
from dalembert.ensembles.compiled import CompiledTask
from dalembert.ensembles.variants import Plans, recipe_of, same_as_alone, states_of

N = 40
RNG = np.random.default_rng(11)


def near(value, spread=0.3):
    """(N, ...): numbers around a value."""
    value = np.asarray(value, dtype=float)
    return value * RNG.uniform(1 - spread, 1 + spread, (N, *value.shape))


def arm():
    """Links of several kinds: a hinge with all that joints have, a slide, a ball joint, two bodies welded together, a spring."""
    m = dal.Model("arm")
    m.add_body("base", 2.0, (0.2, 0.3, 0.25), com=(0.1, -0.05, 0.2), pose=((0.1, 0.2, 0.3), (0.5, 0.5, -0.5, 0.5)))
    m.add_body("slide", 1.0, (0.1, 0.12, 0.05), com=(0.0, 0.1, -0.3), pose=((0.3, 0.1, 0.9), (0.8, 0.0, 0.6, 0.0)))
    m.add_body("tool", 0.5, (0.03, 0.02, 0.04), com=(0.02, 0.01, -0.1), pose=((0.4, 0.1, 1.2), (1, 0, 0, 0)))
    m.add_body("ball", 0.7, (0.01, 0.01, 0.012), com=(0.0, 0.0, -0.2), pose=((0.4, 0.0, 1.5), (1, 0, 0, 0)))
    m.add_joint("hinge", "revolute", "world", "base", (0, 0, 0), (0.2, 1, 0.1), damping=0.3, stiffness=2.0, rest=0.1, armature=0.02)
    m.add_joint("rail", "prismatic", "base", "slide", (0.2, 0.1, 0.5), (0, 0.3, 1), damping=0.5, stiffness=30.0)
    m.add_joint("weld", "fixed", "slide", "tool")
    m.add_joint("socket", "spherical", "tool", "ball", (0.4, 0.1, 1.4), damping=0.05)
    m.add_force(dal.Spring("base", "ball", (0, 0, 0.1), (0, 0, 0.1), stiffness=20.0, rest_length=0.8, damping=0.2), name="spring")
    return m


def alone(m, samples, i, stepper, **more):
    sample = {name: column[i] for name, column in samples.items()}
    start = {name: sample.pop(name) for name in ("q0", "v0") if name in sample}
    return dal.simulate(m.with_values(sample), stepper, h=0.01, t_end=0.3, **start, **more)


def judged(m, samples, stepper, monkeypatch, **more):
    """Rows equal those of runs alone, and none was made by way of a model of its own."""
    monkeypatch.setattr("dalembert.ensembles.compiled.CompiledTask._group", None)
    study = dal.ensemble(m, samples, stepper, h=0.01, t_end=0.3, workers=1, observe=dal.observers.Statistics("energy"), **more)
    monkeypatch.undo()
    assert study.ok.all(), study.text
    for i in range(0, N, 7):
        run = alone(m, samples, i, stepper, **more)
        np.testing.assert_array_equal(study.q[i], run.q[-1])
        np.testing.assert_array_equal(study.v[i], run.v[-1])
        np.testing.assert_allclose(study.observed["max"][i], run.energy.max(), rtol=1e-13, atol=1e-13)
    assert len({row.tobytes() for row in study.q}) > 1
    return study


VALUES = {
    "base.mass": 2.0, "tool.mass": 0.5, "base.com": (0.1, -0.05, 0.2), "tool.inertia": (0.03, 0.02, 0.04),
    "ball.inertia": np.diag((0.01, 0.01, 0.012)) + 0.001 * (1 - np.eye(3)), "hinge.damping": 0.3, "hinge.stiffness": 2.0, "hinge.rest": 0.1,
    "hinge.armature": 0.02, "rail.stiffness": 30.0, "rail.damping": 0.5, "socket.damping": 0.05, "spring.stiffness": 20.0,
    "spring.rest_length": 0.8, "spring.damping": 0.2, "gravity": (0.1, 0.2, -9.8),
}  # fmt: skip


@pytest.mark.parametrize("stepper", ["midpoint", "trapezoidal", "mk4"])
@pytest.mark.parametrize("name", VALUES)
def test_arrays_and_starts_are_those_of_with_values_bit_for_bit(name, stepper):
    """The array of the loop, and the state of the start."""
    m = arm().frozen()
    column = near(VALUES[name], 0.05)
    column = 0.5 * (column + column.transpose(0, 2, 1)) if column.ndim == 3 else column
    common, columns = Common(stepper, 0.01, 0.3), {name: column, "hinge.damping": near(0.3)}
    assert m.alike(columns).all()
    recipe = recipe_of(common, m, 0.01, columns)
    systems, plans = recipe.systems(columns), Plans(common, m, 0.01, columns)
    q, v = np.array([m.random(k) for k in range(N)]), RNG.normal(size=(N, m.nv))
    common.plan(m).engine()
    states = states_of(recipe.plan, systems, q, v)
    for k in range(0, N, 3):
        s = slice(k, k + 1)
        assert same_as_alone(recipe.plan, [plans[k]], systems[s], states[s], (q[s], v[s])), (name, k)
    changed = systems[0].copy()
    changed[-1] += 1e-9
    assert not same_as_alone(recipe.plan, [plans[0]], changed[None], states[:1], (q[:1], v[:1]))


@pytest.mark.parametrize("stepper", ["midpoint", "mk4"])
def test_all_values_of_an_arm_at_once(stepper, monkeypatch):
    names = ["base.mass", "tool.mass", "base.com", "hinge.damping", "rail.stiffness", "spring.stiffness", "socket.damping"]
    samples = {name: near(VALUES[name], 0.1) for name in names} | {"v0": RNG.normal(size=(N, 5))}
    judged(arm(), samples, stepper, monkeypatch)


def test_an_inertia_and_a_spin_of_one_body(monkeypatch):
    m = dal.Model("body", gravity=(0, 0, 0))
    m.add_body("body", 1.0, (1.0, 2.0, 2.5))
    samples = {"body.inertia": near((1.0, 2.0, 2.5), 0.05), "body.mass": near(1.0), "v0": RNG.normal(size=(N, 6))}
    judged(m, samples, "cayley", monkeypatch)


@pytest.mark.parametrize("pivoted", [False, True])
def test_starts_of_one_body_are_those_of_it_alone_bit_for_bit(pivoted):
    """Of a general inertia, centre of mass and attitude: with numbers of its own, and on one body that all share."""
    from dalembert.model.compile_rigid_body import initial_state, initial_states

    m = dal.Model("body")
    inertia = np.array([[1.0, 0.1, 0.2], [0.1, 1.5, -0.1], [0.2, -0.1, 1.2]])
    m.add_body("body", 2.0, inertia, com=(0.1, -0.2, 0.3), pose=((0.2, 0.1, 0.5), (0.5, 0.5, -0.5, 0.5)))
    if pivoted:
        m.add_joint("socket", "spherical", "world", "body", (0.1, 0.0, 0.2))
    q, v = np.array([m.random(k) for k in range(N)]), RNG.normal(size=(N, m.nv))
    systems = np.array([dal_arrays(m.with_values({"body.mass": mass, "body.inertia": mass * inertia})) for mass in near(2.0)])
    for given in (systems, systems[:1]):
        found = initial_states(given, q, v)
        alone = [initial_state(given[min(k, len(given) - 1)], q[k], v[k]) for k in range(N)]
        assert found.tobytes() == np.array(alone).tobytes()


def dal_arrays(m):
    return Common("cayley", 0.01, 0.1).plan(m).arrays()


def test_parameters_of_a_formula(monkeypatch):
    samples = {"m": near(1.0), "k": near(4.0), "q0": RNG.normal(size=(N, 1))}
    for stepper in ("midpoint", "verlet", "rk4"):
        judged(oscillator(), samples, stepper, monkeypatch)
    shifted = dal.Lagrangian(2, lambda q, v, p: v[0] ** 2 + v[1] ** 2 - p["k"] * (q[0] - p["at"][0]) ** 2 - (q[1] - p["at"][1]) ** 2,
                             params={"k": 1.0, "at": [0.0, 0.0]})  # fmt: skip
    judged(shifted, {"at": RNG.normal(size=(N, 2)), "k": RNG.uniform(0, 2, N)}, "midpoint", monkeypatch)


def test_steps_and_times_among_the_samples_are_taken_together_too(monkeypatch):
    """Three steps and two times, a step that does not divide, one that is none: rows are those of runs alone."""
    m, h, t_end = double_pendulum(), np.resize([0.01, 0.02, 0.005], N), np.resize([0.2, 0.4], N)
    h[7], h[11] = 0.03, np.nan
    samples = {"h": h, "t_end": t_end, "upper.mass": near(1.0), "q0": RNG.uniform(-1, 1, (N, 2))}
    looked = []
    kept = CompiledTask._one_by_one
    monkeypatch.setattr(CompiledTask, "_one_by_one", lambda self, rows, given, left: (looked.extend(left), kept(self, rows, given, left)))
    rows = CompiledTask(m.frozen(), Common("midpoint", 0.01, 0.2))(np.arange(N), dal.ensembles.Samples(samples, n=N))
    assert looked == [7, 11] and list(np.flatnonzero(rows.code)) == [7, 11] and "whole number" in rows.errors[7]
    for i in (0, 1, 2, N - 1):
        run = dal.simulate(m.with_values({"upper.mass": samples["upper.mass"][i]}), "midpoint", h[i], t_end[i], q0=samples["q0"][i])
        np.testing.assert_array_equal(rows.q[i], run.q[-1])
        assert rows.t[i] == run.t[-1]


def test_values_that_are_refused_or_of_another_kind_go_by_themselves():
    """Masses below 0 and NaN have a sentence; a damping that is 0 runs as it does alone; all others are not disturbed."""
    m = double_pendulum()
    mass, damping = near(1.0), near(0.2)
    mass[3], mass[5], damping[8] = -1.0, np.nan, 0.0
    study = dal.ensemble(m, {"upper.mass": mass, "elbow.damping": damping, "q0": np.tile([1.0, 0.5], (N, 1))}, "midpoint", t_end=0.3)
    assert list(np.flatnonzero(study.status == "refused")) == [3, 5] and "mass is -1.0" in study.error[3]
    for i in (0, 8, N - 1):
        run = dal.simulate(m.with_values({"upper.mass": mass[i], "elbow.damping": damping[i]}), "midpoint", t_end=0.3, q0=[1.0, 0.5])
        np.testing.assert_array_equal(study.q[i], run.q[-1])


def test_runs_with_values_have_the_stepper_the_account_and_the_trajectories_of_runs_alone():
    """The first machine has no damper, so its loop keeps no account; those of the samples do."""
    m, seen = double_pendulum(), []

    def look(traj):
        seen.append(traj)
        return traj.account["damping"][-1]

    for n in (N, 12):  # portions of five are taken together, of two one by one
        damping = near(0.2)[:n]
        study = dal.ensemble(m, {"elbow.damping": damping}, h=0.01, t_end=0.3, q0=[1.0, 0.5], observe=look, workers=1)
        run = dal.simulate(m.with_values({"elbow.damping": damping[2]}), h=0.01, t_end=0.3, q0=[1.0, 0.5])
        assert study.observed["observed"][2] == run.account["damping"][-1] < 0.0
        assert seen[-1].stepper.name == run.stepper.name


def test_arrays_that_are_made_wrongly_are_seen_and_not_used(monkeypatch):
    from dalembert.ensembles.variants import Recipe

    made = Recipe.systems

    def wrong(self, columns):
        out = made(self, columns)
        out[-1] *= 1 + 1e-15
        return out

    m, samples = double_pendulum(), {"upper.mass": near(1.0), "q0": np.tile([1.0, 0.5], (N, 1))}
    right = dal.ensemble(m, samples, "midpoint", t_end=0.3)
    monkeypatch.setattr(Recipe, "systems", wrong)
    np.testing.assert_array_equal(dal.ensemble(m, samples, "midpoint", t_end=0.3).q, right.q)


def test_a_failure_on_the_way_is_the_one_of_the_run_alone():
    """A pendulum that is thrown far too fast for its step."""
    m = double_pendulum()
    samples = {"upper.mass": near(1.0), "v0": RNG.normal(size=(N, 2)) * 10.0 ** np.linspace(0, 170, N)[:, None]}
    study = dal.ensemble(m, samples, "midpoint", h=0.1, t_end=3.0)
    assert 0 < study.ok.sum() < N
    for i in np.flatnonzero(~study.ok)[[0, -1]]:
        run = dal.rerun(study, int(i))
        assert run.t[-1] == study.t[i] and run.status != "ok"
        np.testing.assert_array_equal(run.q[-1], study.q[i])
