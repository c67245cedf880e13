"""Ensembles: every sample is there once, equal to its run alone, whatever happens to the others."""

import pickle

import numpy as np
import pytest
from scipy.stats import norm, qmc
from tests.ensembles.machines import built, deadly, double_pendulum, oscillator

import dalembert as dal

RNG = np.random.default_rng(3)
STARTS = RNG.uniform(-2, 2, (40, 2))


@pytest.mark.parametrize("stepper", ["midpoint", "trapezoidal", "mk4", "symplectic-euler", "null-space"])
def test_rows_are_those_of_runs_alone_bit_for_bit(stepper):
    m = double_pendulum()
    study = dal.ensemble(m, {"q0": STARTS}, stepper, h=0.01, t_end=1.0, workers=2)
    assert study.ok.all() and (study.steps == 100).all()
    for i in (0, 17, 39):
        alone = dal.simulate(m, stepper, h=0.01, t_end=1.0, q0=STARTS[i])
        np.testing.assert_array_equal(study.q[i], alone.q[-1])
        np.testing.assert_array_equal(study.v[i], alone.v[-1])
        again = dal.rerun(study, i)
        np.testing.assert_array_equal(again.q, alone.q)


def test_numbers_of_the_machine_differ_from_sample_to_sample():
    m = double_pendulum()
    masses = np.linspace(0.5, 2.0, 7)
    study = dal.ensemble(m, {"upper.mass": masses, "q0.shoulder": np.full(7, 1.0)}, "midpoint", h=0.01, t_end=0.5)
    for i, mass in enumerate(masses):
        alone = dal.simulate(m.with_values({"upper.mass": mass}), "midpoint", h=0.01, t_end=0.5, q0={"shoulder": 1.0})
        np.testing.assert_array_equal(study.q[i], alone.q[-1])
        np.testing.assert_array_equal(study.v[i], alone.v[-1])


def test_a_formula_with_parameters():
    """q = q0 cos(sqrt(k/m) t), of order 2: (h w)^2 w T/24 of the amplitude with w = 3, T = 1."""
    k = np.linspace(1, 9, 9)
    study = dal.ensemble(oscillator(), {"k": k, "q0": np.ones((9, 1))}, "midpoint", h=0.01, t_end=1.0)
    np.testing.assert_allclose(study.q[:, 0], np.cos(np.sqrt(k)), atol=0.03**2 * 3 / 12)
    assert np.ptp(study.q[:, 0]) > 1.0


def test_starts_of_a_formula_taken_together_are_those_of_runs_alone():
    system, starts = oscillator(), np.linspace(-1, 1, 11)[:, None]
    study = dal.ensemble(system, {"q0": starts, "v0": 2 * starts}, "verlet", h=0.01, t_end=0.5)
    for i in (0, 4, 10):
        alone = dal.simulate(system, "verlet", h=0.01, t_end=0.5, q0=starts[i], v0=2 * starts[i])
        np.testing.assert_array_equal(study.q[i], alone.q[-1])
        np.testing.assert_array_equal(study.v[i], alone.v[-1])
    singular = dal.Lagrangian(1, lambda q, v: 0.5 * q[0] ** 2 * v[0] ** 2)
    found = dal.ensemble(singular, {"q0": [[1.0], [0.0]]}, "midpoint", h=0.01, t_end=0.1)
    assert list(found.status) == ["ok", "refused"] and "singular" in found.error[1]


@pytest.mark.parametrize("executor", ["here", "threads"])
def test_the_number_of_workers_changes_no_digit(executor):
    m = double_pendulum()
    one = dal.ensemble(m, {"q0": STARTS}, "midpoint", h=0.01, t_end=0.5, workers=1)
    other = dal.ensemble(m, {"q0": STARTS}, "midpoint", h=0.01, t_end=0.5, executor=executor, workers=3)
    np.testing.assert_array_equal(one.q, other.q)
    np.testing.assert_array_equal(one.v, other.v)


def test_a_bad_sample_is_a_row_and_no_exception():
    samples = [
        {"q0": [1.0, 0.0]},
        {"q0": [np.nan, 0.0]},
        {"q0": [1.0]},
        {"upper.mass": -1.0},
        {"q0": [1.0, 0.0], "v0": [1e160, 0.0]},
        {"h": -1.0},
        {"q0": [1.0, 0.0], "q0.elbow": 1.0},
    ]
    study = dal.ensemble(double_pendulum(), samples, "midpoint", h=0.01, t_end=0.1)
    assert study.status[0] == "ok" and (study.status[[1, 2, 3, 5, 6]] == "refused").all()
    assert study.status[4] not in ("ok", "refused") and "step 1" in study.error[4]
    assert all(study.error[i] for i in range(1, 7)) and not study.error[0]
    assert study[4].t == 0.0 and study[4].v[0] == pytest.approx(1e160)  # the state before the failure
    assert "mass" in study[3].error and study[3].sample == {"upper.mass": -1.0}
    assert dal.rerun(study, 4).status != "ok"
    assert "5 refused" in study.text


def test_steps_and_times_may_differ():
    study = dal.ensemble(oscillator(), {"h": [0.1, 0.05, 0.025], "q0": np.ones((3, 1))}, "midpoint", t_end=1.0)
    error = np.abs(study.q[:, 0] - np.cos(2.0))
    assert (study.steps == [10, 20, 40]).all()
    np.testing.assert_allclose(error[:-1] / error[1:], 4.0, atol=0.2)  # order 2


def test_designs():
    drawn = dal.design(qmc.Sobol(2, seed=1), 64, {"q0.shoulder": (-1, 1), "upper.mass": norm(1.0, 0.05)})
    assert len(drawn) == 64 and np.abs(drawn.columns["q0.shoulder"]).max() <= 1
    assert abs(drawn.columns["upper.mass"].mean() - 1.0) < 0.01
    study = dal.ensemble(double_pendulum(), drawn, "midpoint", h=0.01, t_end=0.1)
    assert study.ok.all() and set(study.to_pandas().columns) >= {"q0.shoulder", "upper.mass", "status"}
    random = dal.design(np.random.default_rng(0), 5, {"q0.elbow": (0, 1)})
    assert random[4].keys() == {"q0.elbow"}


def test_machines_of_other_structure_and_python_controls():
    study = dal.ensemble(built, [{"links": 1}, {"links": 3}, {"links": 0}], "midpoint", h=0.01, t_end=0.1, workers=1)
    assert list(study.status) == ["ok", "ok", "refused"]
    assert np.isfinite(study.q[1]).all() and np.isnan(study.q[0, 1:]).all()
    pushed = dal.ensemble(double_pendulum(), {"q0": STARTS[:3]}, "midpoint", h=0.01, t_end=0.1, control=lambda t, q, v: -v, workers=2)
    alone = dal.simulate(double_pendulum(), "midpoint", h=0.01, t_end=0.1, q0=STARTS[1], control=lambda t, q, v: -v)
    np.testing.assert_array_equal(pushed.q[1], alone.q[-1])


def test_compiled_controls_and_tables_stay_in_the_loop():
    m, table = double_pendulum(), RNG.normal(size=(10, 2))
    study = dal.ensemble(m, {"q0": STARTS[:3]}, "midpoint", h=0.01, t_end=0.1, control=table)
    alone = dal.simulate(m, "midpoint", h=0.01, t_end=0.1, q0=STARTS[1], control=table)
    np.testing.assert_array_equal(study.q[1], alone.q[-1])
    assert type(study.task).__name__ == "CompiledTask"


def test_a_sample_that_kills_its_process_is_one_row():
    study = dal.ensemble(deadly, [{"x": i} for i in range(6)], "midpoint", h=0.01, t_end=0.1, executor="processes", workers=2)
    assert list(study.status) == ["ok", "refused", "ok", "killed", "ok", "ok"]
    assert "no such machine" in study.error[1] and "killed" in study.error[3]


def test_contacts_run_too():
    """Engines with a loop of their own are run one by one: a ball that falls onto a plane rests where it should."""
    m = dal.Model("ball", gravity=(0, 0, -9.81))
    m.add_body("ground", 1.0, (1, 1, 1), shapes=[dal.Plane()])
    m.add_joint("fixed", "fixed", "world", "ground")
    m.add_body("ball", 1.0, (0.004, 0.004, 0.004), pose=((0, 0, 0.2), (1, 0, 0, 0)), shapes=[dal.Sphere(0.1)])
    m.add_contact("ground", "ball", friction=0.5)
    q0 = [{"q0": {m.joints[-1].name: (0, 0, z, 1, 0, 0, 0)}} for z in (0.15, 0.3)]
    study = dal.ensemble(m, q0, "spook", h=1 / 60, t_end=1.0, workers=1)
    assert study.ok.all(), study.text
    np.testing.assert_allclose(study.q[:, 2], 0.1, atol=2e-3)


def test_studies_pickle():
    study = dal.ensemble(double_pendulum(), {"q0": STARTS[:3]}, "midpoint", h=0.01, t_end=0.1)
    other = pickle.loads(pickle.dumps(study))
    np.testing.assert_array_equal(other.q, study.q)


@pytest.mark.parametrize(
    ("samples", "more"),
    [
        (None, {}),
        ("abc", {}),
        ([1, 2], {}),
        ({"q0": 3.0}, {}),
        ({"q0": STARTS, "v0": STARTS[:3]}, {}),
        ({"kneee": [1.0]}, {}),
        (STARTS, {}),
        (STARTS, {"names": ["q0.elbow"]}),
        ({"q0": STARTS}, {"workers": 0}),
        ({"q0": STARTS}, {"executor": "cloud"}),
        ({"q0": STARTS}, {"observe": 3}),
        ({"q0": STARTS}, {"h": -1.0}),
        ({"q0": STARTS}, {"stepper": "nothing"}),
        ({"q0": STARTS}, {"nonsense": 1}),
        ({"q0": [["a", "b"]]}, {}),
    ],
)
def test_what_is_no_study_is_said_in_one_sentence(samples, more):
    with pytest.raises(dal.DalembertError):
        dal.ensemble(double_pendulum(), samples, **{"stepper": "midpoint", "t_end": 0.1, **more})


def test_no_samples_at_all():
    assert len(dal.ensemble(double_pendulum(), [], "midpoint", t_end=0.1)) == 0
    assert len(dal.ensemble(double_pendulum(), {}, "midpoint", t_end=0.1)) == 0


@pytest.mark.parametrize(
    ("sampler", "n", "ranges"),
    [(qmc.Sobol(2), 4, {"a": (0, 1)}), (3, 4, {"a": (0, 1)}), (qmc.Sobol(1), 0, {"a": (0, 1)}), (qmc.Sobol(1), 4, {"a": (1, 0)}),
     (qmc.Sobol(1), 4, {"a": "x"}), (qmc.Sobol(1), 4, {})],
)  # fmt: skip
def test_designs_that_are_none(sampler, n, ranges):
    with pytest.raises(dal.OptionError):
        dal.design(sampler, n, ranges)
