"""Users' own code and samples of the wrong kind: a row or a sentence, never the end of a study; no other study is taken for this one."""

import os
import subprocess
import sys

import numpy as np
import pandas
import pytest
from tests.ensembles.machines import double_pendulum, oscillator

import dalembert as dal

STARTS = np.random.default_rng(7).uniform(-2, 2, (40, 2))
GIVEN = {"stepper": "midpoint", "h": 0.01, "t_end": 0.1}


def study(samples=None, **more):
    return dal.ensemble(double_pendulum(), {"q0": STARTS} if samples is None else samples, **{**GIVEN, **more})


class Returns(dal.observers.Observer):
    """Whatever it was given."""

    def __init__(self, found):
        self.found = found

    def __call__(self, batch):
        return self.found


def leaves(traj):
    raise SystemExit(3)


def torn(traj):
    raise ValueError("zero \0 and half of a character \ud800")


@pytest.mark.parametrize(
    ("observe", "said"),
    [
        (leaves, "SystemExit: 3"),
        (lambda traj: None, "is None; expected a number"),
        (lambda traj: "hot", "is 'hot'; expected a number"),
        (lambda traj: np.array([1 + 2j]), "expected a number"),
        (Returns([1.0]), "expected a mapping of columns"),
        (Returns({"a": 3.0}), "one for each sample"),
        (Returns({"a": np.zeros(1000)}), "one for each sample"),
        (Returns({"a": None}), "expected a number"),
    ],
)
def test_what_an_observer_returns_is_numbers_or_a_sentence(observe, said):
    found = study(observe=observe)
    assert (found.status == "raised").all() and all(said in text for text in found.error), found.text


def test_arrays_that_differ_in_size_are_filled_up_whatever_the_portions():
    def many(traj):
        return np.full(1 + int(3 * abs(traj.q[0, 0])), traj.q[0, 0])

    found = [study(observe=many, workers=n).observed["observed"] for n in (1, 2, 5)]
    sizes = 1 + (3 * np.abs(STARTS[:, 0])).astype(int)
    for column in found:
        assert column.shape == (40, sizes.max())
        np.testing.assert_array_equal(np.isfinite(column).sum(axis=1), sizes)
        np.testing.assert_array_equal(column, found[0])


def test_sentences_that_no_file_can_hold_are_written_out(tmp_path):
    found = study(observe=torn, save=tmp_path / "study.h5")
    assert found.error[0] == dal.load_study(tmp_path / "study.h5").error[0] and r"\0" in found.error[0]


def test_functions_that_name_the_same_columns_keep_both():
    found = study(observe={"a": lambda traj: {"x": 1.0}, "b": lambda traj: {"x": 2.0}})
    assert (found.observed["a.x"] == 1).all() and (found.observed["b.x"] == 2).all()


def test_one_step_that_cannot_be_refuses_its_sample_alone():
    found = study([{"h": 0.01}, {"h": 0.005}], control=np.zeros((10, 2)))
    assert list(found.status) == ["ok", "refused"] and "row k" in found.error[1]
    found = study([{"h": 0.01}, {"h": 1e-13}], observe=dal.observers.EnergyChange())
    assert list(found.status) == ["ok", "refused"] and "memory" in found.error[1]
    found = study([{"h": 0.01}, {"h": 0.02}], every=2, observe=len)
    assert list(found.status) == ["ok", "refused"] and "does not divide" in found.error[1]


def test_refused_samples_among_others_have_no_numbers():
    starts = np.array(STARTS)
    starts[7] = np.nan
    found = study({"q0": np.tile(starts, (10, 1)), "upper.mass": np.ones(400)}, observe=dal.observers.Statistics("q"), workers=1)
    bad = np.tile(np.arange(40) == 7, 10)
    assert (found.status[bad] == "refused").all() and (found.status[~bad] == "ok").all()
    assert np.isnan(found.observed["mean"][bad]).all() and np.isfinite(found.observed["mean"][~bad]).all()


def test_runs_one_by_one_have_the_words_of_the_loop():
    found = study([{"q0": [1.0, 0.0], "v0": [1e160, 0.0]}], control=lambda t, q, v: 0 * v)
    assert found.status[0] == study([{"q0": [1.0, 0.0], "v0": [1e160, 0.0]}]).status[0] == "lost"


def test_tables_and_generators_are_samples():
    table = pandas.DataFrame({"q0.shoulder": STARTS[:, 0], "q0.elbow": STARTS[:, 1]})
    np.testing.assert_array_equal(study(table).q, study().q)
    np.testing.assert_array_equal(study({"q0": x} for x in STARTS).q, study().q)
    assert study(pandas.DataFrame({"q0.elbow": [0.1, None]})).status.tolist() == ["ok", "refused"]


@pytest.mark.parametrize("bad", [pandas.DataFrame(np.zeros((3, 2)), columns=["q0.elbow"] * 2), pandas.DataFrame(np.zeros((3, 2)))])
def test_names_of_tables_are_texts_each_once(bad):
    with pytest.raises(dal.OptionError, match="each once"):
        study(bad)
    with pytest.raises(dal.OptionError, match="each name once"):
        study(STARTS, names=["q0.elbow", "q0.elbow"])


def test_another_control_or_observer_is_another_study(tmp_path):
    section = dal.observers.Section
    for k, (one, other) in enumerate(
        [
            ({"control": np.zeros((10, 2))}, {"control": np.ones((10, 2))}),
            ({"observe": section(lambda t, q, v: q[:, :, 0])}, {"observe": section(lambda t, q, v: q[:, :, 1])}),
            ({"observe": section(np.sin, most=3)}, {"observe": section(np.sin, most=4)}),
            ({"control": dal.compiled(push(1.0))}, {"control": dal.compiled(push(2.0))}),
        ]
    ):
        path = tmp_path / f"{k}.h5"
        study(save=path, **one)
        assert study(save=path, **one).done.all()  # the same is taken as it is
        with pytest.raises(dal.ArchiveError, match="another study"):
            study(save=path, **other)


def push(size):
    def control(t, q, v, out):
        out[0] = size

    return control


def test_the_digest_of_functions_is_that_of_other_processes():
    code = (
        "from dalembert.ensembles.identity import digest\nfrom tests.ensembles.test_hostile import push, Returns\n"
        "import numpy as np\nprint(digest([push(2.0), Returns({'a': np.ones(3), 'b': {1, 2, 'x'}}), lambda x: x in {'p', 'q', 'r'}]))"
    )
    paths = os.pathsep.join(map(str, (os.getcwd(), *sys.path)))
    answers = {
        subprocess.run(
            [sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": paths, "PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2")
    }
    assert len(answers) == 1 and len(answers.pop().strip()) == 64


SCRIPT = """
import os
import dalembert as dal
from tests.ensembles.machines import built

print("begun")
here = os.getpid()

def build(s):
    return built({"links": 1})[0], {"q0": [1.0 if os.getpid() != here else 2.0], "t_end": 0.01}

found = dal.ensemble(BUILD, [{"x": i} for i in range(6)], "midpoint", h=0.01, workers=2, observe={"first": lambda traj: traj.q[0, 0]})
print(found.observed["first"].ravel().tolist())
"""


@pytest.mark.parametrize("build", ["build", "lambda s: build(s)"])
@pytest.mark.parametrize("place", ["prompt", "script", "module"])
def test_functions_of_a_prompt_and_of_a_script_without_a_guard_run_in_processes(place, build, tmp_path):
    """And the script is run once: no process runs it again."""
    code = SCRIPT.replace("BUILD", build)
    (tmp_path / "study_of_a_user.py").write_text(code)
    how = {"prompt": ["-c", code], "script": [str(tmp_path / "study_of_a_user.py")], "module": ["-m", "study_of_a_user"]}[place]
    paths = os.pathsep.join(map(str, (tmp_path, os.getcwd(), *sys.path)))
    done = subprocess.run([sys.executable, *how], env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True)
    assert done.stdout.splitlines() == ["begun", str([1.0] * 6)], done.stdout + done.stderr


def test_rows_are_looked_at_one_by_one_at_once():
    """A row costs the same in a study of any size: 20,000 rows in a second, far from 20,000^2."""
    import time

    found = dal.ensemble(oscillator(), {"q0": np.zeros((20_000, 1))}, "verlet", h=0.01, t_end=0.01)
    began = time.process_time()
    assert sum(row.status == "ok" for row in found) == 20_000
    assert time.process_time() - began < 5.0
    for index in ("a", 1.5, slice(2), True, 20_000):
        with pytest.raises(dal.OptionError, match="no sample"):
            found[index]
    with pytest.raises(dal.OptionError, match="expected a Study"):
        dal.rerun(None, 0)
    with pytest.raises(dal.OptionError, match="executor"):
        study(executor=np.zeros(3))
    with pytest.raises(dal.OptionError, match="no address of a scheduler"):
        study(executor="foo://here")


def test_ctrl_c_marks_no_sample_as_failed():
    """SIGINT in the middle of a run that is made one by one ends the study; samples of its job are ones that were not run."""
    import signal

    calls = []

    def control(t, q, v):
        calls.append(t)
        if len(calls) == 185:  # ten or eleven to a run, five runs to a job: after the third job
            os.kill(os.getpid(), signal.SIGINT)
        return 0 * v

    found = study(control=control, workers=1)
    assert found.meta["interrupted"] and found.ok.any()
    assert set(found.status) == {"ok", "not run"}
