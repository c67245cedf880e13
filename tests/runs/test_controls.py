"""Controls and monitors are the user's code: whatever they do, no memory is damaged and nothing that was computed is lost."""

import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

import dalembert as dal

H = 0.01
TABLE = np.linspace(0.0, 1.0, 50)


@pytest.fixture
def body():
    m = dal.Model("body", gravity=(0, 0, 0))
    m.add_body("b", 1.5, (1, 2, 2.5))
    return m


@pytest.fixture
def oscillator():
    return dal.Lagrangian(2, lambda q, v: 0.5 * (v[0] ** 2 + v[1] ** 2) - 0.5 * (q[0] ** 2 + q[1] ** 2))


def beyond_the_force(t, q, v, out):
    out[round(t / 0.01)] = 1.0


def beyond_a_table(t, q, v, out):
    out[0] = TABLE[round(t / 0.01)]


def before_the_state(t, q, v, out):
    out[0] = q[-1 - round(t / 0.01)]


def too_late(t, q, v, out):
    out[0] = 1.0
    if t > 0.505:
        raise ValueError("too late")


@dal.compiled
def decorated(t, q, v, out):
    out[0] = 1.0


FAULTS = [
    (beyond_the_force, "IndexError: index 6 is out of bounds for axis 0 with size 6", 6),
    (beyond_a_table, "IndexError: index 50 is out of bounds for axis 0 with size 50", 50),
    (before_the_state, "IndexError: index -8 is out of bounds for axis 0 with size 7", 7),
    (too_late, "ValueError: too late", 51),
]


@pytest.mark.parametrize(("function", "says", "node"), FAULTS)
def test_an_exception_of_a_compiled_control_ends_the_run_and_keeps_what_was_before(body, tmp_path, function, says, node):
    path = tmp_path / "run.h5"
    with pytest.raises(dal.SimulationError, match=f"step {node} at t = .* s: control: {says}") as caught:
        dal.simulate(body, "cayley", h=H, t_end=1.0, control=dal.compiled(function), save=path)
    assert len(caught.value.traj) == len(dal.load(path)) == node + 1
    assert np.isfinite(caught.value.traj.states).all()


def test_exceptions_of_compiled_controls_of_a_lagrangian(oscillator):
    traj = dal.simulate(oscillator, "verlet", h=H, t_end=1.0, q0=(1, 0), control=dal.compiled(too_late), on_fail="return")
    assert "control: ValueError: too late" in traj.status
    assert len(traj) == 52
    traj = dal.simulate(oscillator, "dop853", h=H, t_end=1.0, q0=(1, 0), control=dal.compiled(too_late), on_fail="return")
    assert "control: ValueError: too late" in traj.status
    assert len(traj) == 52


def test_a_control_that_writes_numbers_that_are_not_finite_is_named(body):
    def broken(t, q, v, out):
        out[1] = np.inf if t > 0.055 else 0.0

    with pytest.raises(dal.SimulationError, match=r"step 6 .* control: .*it wrote \[0.0, inf, 0.0") as caught:
        dal.simulate(body, h=H, t_end=1.0, control=dal.compiled(broken))
    assert len(caught.value.traj) == 7


def test_the_force_is_zero_before_a_compiled_control_writes(body):
    """So that a control may add to it: 0.5 N for 1 s on 1.5 kg."""

    def push(t, q, v, out):
        out[3] += 0.25
        out[3] += 0.25

    traj = dal.simulate(body, h=H, t_end=1.0, control=dal.compiled(push))
    assert traj.v[-1] == pytest.approx([0, 0, 0, 1 / 3, 0, 0], abs=1e-13)


@pytest.mark.parametrize(
    ("function", "match"),
    [
        (lambda t, q, v: v, r"\(t, q, v\) does not take four arguments; expected f\(t, q, v, out\)"),
        (lambda t, q, v, out, k: None, "does not take four arguments"),
        (lambda t, q, v, out: -v, "cannot be compiled: No conversion.*returns nothing"),
        (3.0, "3.0 is not a function"),
        (None, "None is not a function"),
    ],
)
def test_functions_that_are_no_compiled_control(function, match):
    with pytest.raises(dal.OptionError, match=match):
        dal.compiled(function)


def test_a_control_of_the_wrong_arguments_is_refused_before_the_run(body):
    for call in (lambda c: dal.simulate(body, h=H, t_end=1.0, control=c), lambda c: dal.Simulation(body, h=H, control=c)):
        with pytest.raises(dal.OptionError, match=r"beyond_a_table\(t, q, v, out\); expected .*dal.compiled"):
            call(beyond_a_table)


def test_compiled_controls_pickle(body):
    assert pickle.loads(pickle.dumps(decorated)) is decorated
    copy = pickle.loads(pickle.dumps(dal.compiled(beyond_a_table)))
    assert copy(0.49, np.zeros(7), np.zeros(6)).tolist() == [1.0, 0, 0, 0, 0, 0]


def test_an_exception_of_a_users_compiled_step_ends_the_run(body):
    from dalembert import registry

    @dal.stepper("beyond", order=1, kernel=True, handles=("free",))
    def beyond(t, h, system, state, work, info):
        if t > 0.055:
            state[state.shape[0] + 3] = 1.0
        return 0

    try:
        with pytest.raises(dal.SimulationError, match=r"step 6 at t = 0\.06 s: stepper 'beyond': IndexError") as caught:
            dal.simulate(body, "beyond", h=H, t_end=1.0)
    finally:
        del registry._steppers["rigid-body", "beyond"]
    assert len(caught.value.traj) == 7


# exceptions of Python code --------------------------------------------------------------------------------------------------------------


def rude(kind, when):
    def control(t, q, v):
        if t > when:
            raise kind("no more")
        return np.zeros(6)

    return control


def test_an_exception_of_a_python_control_keeps_the_rows_before_it(body, tmp_path):
    with pytest.raises(dal.SimulationError, match=r"step 31 at t = 0\.31 s: control: KeyError: 'no more'") as caught:
        dal.simulate(body, h=H, t_end=1.0, control=rude(KeyError, 0.305), save=tmp_path / "run.h5")
    assert isinstance(caught.value.__cause__, KeyError)
    assert len(caught.value.traj) == len(dal.load(tmp_path / "run.h5")) == 32


def test_an_exception_of_a_monitor_keeps_the_rows_before_it(body, tmp_path):
    with pytest.raises(dal.SimulationError, match=r"monitor control: ZeroDivisionError: no more") as caught:
        dal.simulate(body, h=1e-4, t_end=10.0, every=10, monitors=[rude(ZeroDivisionError, 0.0)], save=tmp_path / "run.h5")
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert dal.load(tmp_path / "run.h5").status == caught.value.traj.status
    resumed = dal.resume(tmp_path / "run.h5", 0.1)
    assert (resumed.states == dal.simulate(body, h=1e-4, t_end=0.1, every=10).states).all()


@pytest.mark.parametrize("where", ["control", "monitors"])
def test_ctrl_c_in_the_users_code_returns_what_was_computed(body, tmp_path, where):
    function = rude(KeyboardInterrupt, 0.0 if where == "monitors" else 0.305)
    given = {"monitors": [function]} if where == "monitors" else {"control": function}
    traj = dal.simulate(body, h=H, t_end=1.0, save=tmp_path / "run.h5", **given)
    assert traj.status == "interrupted"
    assert len(traj) == len(dal.load(tmp_path / "run.h5")) == (2 if where == "monitors" else 32)


def test_a_simulation_by_hand_keeps_its_nodes_when_its_control_raises(body):
    sim = dal.Simulation(body, h=H, control=rude(KeyError, 0.305))
    with pytest.raises(dal.SimulationError, match="control: KeyError") as caught:
        sim.step(100)
    assert len(caught.value.traj) == 32
    sim = dal.Simulation(body, h=H, control=rude(KeyboardInterrupt, 0.305))
    with pytest.raises(KeyboardInterrupt):
        sim.step(100)
    assert len(sim.trajectory()) == 32


def test_a_script_that_is_run_in_other_ways_finds_what_it_compiled_before(tmp_path):
    """Machine code names its module: that of a script run by `runpy` is in no other process, nor after the run in its own."""
    script = tmp_path / "script.py"
    script.write_text(
        "import dalembert as dal\n\n\ndef push(t, q, v, out):\n    out[0] = 1.0\n\n\ndef main():\n    return dal.compiled(push)\n\n\n"
        "if __name__ == '__main__':\n    main()\n"
    )
    by_runpy = [sys.executable, "-c", f"import runpy; runpy.run_path({str(script)!r})['main']()"]
    for command in (by_runpy, by_runpy, [sys.executable, str(script)], by_runpy):
        done = subprocess.run(
            command, env={**os.environ, "DALEMBERT_CACHE_DIR": str(tmp_path)}, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
