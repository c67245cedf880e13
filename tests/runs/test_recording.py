"""A run that is killed in its first milliseconds, when there is a journal and no file beside it yet."""

import shutil

import numpy as np
import pytest

import dalembert as dal
from dalembert.errors import ArchiveError
from dalembert.runs.recording import Recording, journal_path


def tree():
    m = dal.Model("pendulum")
    m.add_body("rod", 1.0, (0.1, 0.1, 0.01), com=(0, 0, -0.5))
    m.add_joint("hinge", "revolute", "world", "rod", axis=(0, 1, 0), damping=0.01)
    return m


def body():
    m = dal.Model("body")
    m.add_body("body", 1.0, (1.0, 2.0, 2.5))
    return m


def oscillator():
    return dal.Lagrangian(1, lambda q, v: 0.5 * v[0] ** 2 - 0.5 * q[0] ** 2)


RUNS = {
    "tree": (tree, {"stepper": "midpoint", "q0": [0.3]}),
    "explicit": (tree, {"stepper": "mk4", "q0": [0.3]}),
    "bodies": (tree, {"stepper": "spook", "q0": [0.3]}),
    "SciPy": (oscillator, {"stepper": "dop853", "q0": [0.3]}),
    "body": (body, {"stepper": "cayley", "v0": (0.1, 3.0, 0.1, 1.0, 0, 0)}),
    "composition": (body, {"stepper": "cayley", "v0": (0.1, 3.0, 0.1, 1.0, 0, 0), "compose": "suzuki4"}),
    "formula": (oscillator, {"stepper": "verlet", "q0": [0.3]}),
}


class Killed(BaseException):
    """In place of the signal."""


def killed_before_its_file(name, path, monkeypatch):
    """A journal with the first node, and no file."""
    make, options = RUNS[name]

    def begin(self, traj):
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(Recording, "begin", begin)
        with pytest.raises(Killed) as found:
            dal.simulate(make(), h=0.01, t_end=0.5, save=path, **options)
    del found  # the run, which holds the lock of its journal
    left = path.with_name(f"left_of_{path.name}")
    shutil.copy(journal_path(path), journal_path(left))
    return left


@pytest.mark.parametrize("name", RUNS)
def test_a_run_killed_before_its_file_was_written_is_loaded_and_resumed(name, tmp_path, monkeypatch):
    make, options = RUNS[name]
    whole = dal.simulate(make(), h=0.01, t_end=0.5, **options)
    path = killed_before_its_file(name, tmp_path / "run.h5", monkeypatch)
    found = dal.load(path)
    assert "killed" in found.status and len(found) == 1
    assert found.stepper.name == options["stepper"]
    resumed = dal.resume(path, 0.5)
    np.testing.assert_array_equal(resumed.q, whole.q)
    np.testing.assert_array_equal(resumed.v, whole.v)


@pytest.mark.parametrize("name", ["tree", "formula"])
def test_a_journal_cut_anywhere_is_loaded_or_refused_in_words(name, tmp_path, monkeypatch):
    path = killed_before_its_file(name, tmp_path / "run.h5", monkeypatch)
    content = journal_path(path).read_bytes()
    for size in [0, 1, 20, 40, 60, *np.linspace(61, len(content), 12).astype(int)]:
        cut = tmp_path / f"cut{size}.h5"
        journal_path(cut).write_bytes(content[:size])
        if size == len(content):
            assert len(dal.load(cut)) == 1
        else:
            with pytest.raises(ArchiveError, match="nothing was recorded"):
                dal.load(cut)


def test_a_journal_without_a_description_of_its_stepper_finds_it_by_name(tmp_path, monkeypatch):
    """As earlier versions wrote them; a stepper that is not there is named."""
    for name in ("midpoint", "nonesuch"):
        with monkeypatch.context() as patched:
            patched.setattr("dalembert.runs.recording._described", lambda stepper, meta, name=name: {**meta, "stepper": name})
            path = killed_before_its_file("tree", tmp_path / f"{name}.h5", monkeypatch)
        if name == "midpoint":
            assert dal.load(path).stepper.name == name
        else:
            with pytest.raises(ArchiveError, match="nonesuch"):
                dal.load(path)
