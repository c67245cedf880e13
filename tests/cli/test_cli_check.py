"""`dalembert check`: exit codes by verdict."""

import json

import pytest

import dalembert as dal


@pytest.fixture
def saved(call, tmp_path):
    """Saves a run with that stepper and gives its name."""

    def save(stepper, **more):
        traj = dal.scenes.find("tennis-racket").simulate(stepper=stepper, on_fail="return", **more)
        traj.save(tmp_path / f"{stepper}.h5")
        return f"{stepper}.h5"

    return save


def test_pass(call, saved):
    name = saved("cayley", t_end=2.0)
    out = call("check", name).output
    assert "tennis-racket: cayley" in out and "verdict: pass" in out
    call("check", name, "--strict")


def test_warn_counts_as_failure_when_strict(call, saved):
    """Explicit Euler promises nothing but gains 14 % of energy."""
    name = saved("euler")
    assert "verdict: warn" in call("check", name).output
    call("check", name, "--strict", code=1)


def test_fail(call, saved):
    name = saved("quaternion", h=0.2, t_end=2.0)
    assert "verdict: fail" in call("check", name, code=1).output


def test_json(call, saved):
    data = json.loads(call("check", saved("cayley", t_end=1.0), "--json").output)
    assert data["verdict"] == "pass"


def test_files_that_cannot_be_read(call, tmp_path):
    assert call("check", "nix.h5", code=2).stderr.startswith("error: ")
    (tmp_path / "a.h5").write_text("not HDF5")
    assert call("check", "a.h5", code=2).stderr.startswith("error: ")
