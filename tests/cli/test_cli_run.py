"""`dalembert run`."""

import dataclasses
import json
import signal
import subprocess
import sys
import time

import numpy as np

import dalembert as dal


def test_run_prints_the_report_and_says_that_it_was_not_saved(call, tmp_path):
    out = call("run", "free-body", "--t-end", "1").output
    assert "free-body: cayley, h = 0.05 s, 20 steps, ok" in out
    assert "verdict: pass" in out and "not saved" in out
    assert list(tmp_path.iterdir()) == []


def test_a_scene_that_is_run_as_it_stands_is_judged_by_its_check(call, monkeypatch):
    from dalembert.scenes import Finding
    from dalembert.scenes._base import SCENES

    assert "creep, um/s: 0.2" in call("run", "block-on-incline").output
    assert "creep" not in call("run", "block-on-incline", "-t", "1").output  # another run
    worse = dal.scenes.find("block-on-incline")
    monkeypatch.setitem(
        SCENES, "worse", dataclasses.replace(worse, name="worse", t_end=1.0, check=lambda traj: [Finding("creep", 2.0, 1.0)])
    )
    assert "creep: 2, at most 1: TOO MUCH" in call("run", "worse", code=1).output


def test_run_saves_what_simulate_gives(call, tmp_path):
    call(
        "run",
        "heavy-top",
        "-s",
        "quaternion",
        "--h",
        "0.002",
        "-t",
        "0.1",
        "--compose",
        "suzuki4",
        "--every",
        "5",
        "-o",
        "a.h5",
        "--option",
        "tol=1e-12",
    )
    saved = dal.load(tmp_path / "a.h5")
    want = dal.scenes.find("heavy-top").simulate(stepper="quaternion", h=0.002, t_end=0.1, compose="suzuki4", every=5, tol=1e-12)
    assert saved.meta["method"] == "quaternion + suzuki4" and saved.meta["options"]["tol"] == 1e-12
    np.testing.assert_array_equal(saved.q, want.q)


def test_run_refuses_to_replace_a_file(call, tmp_path):
    call("run", "free-body", "-t", "1", "-o", "a.h5")
    result = call("run", "free-body", "-t", "2", "-o", "a.h5", code=2)
    assert "--overwrite replaces it" in result.stderr and "dal." not in result.stderr and "True" not in result.stderr
    call("run", "free-body", "-t", "2", "-o", "a.h5", "--overwrite")
    assert dal.load(tmp_path / "a.h5").t[-1] == 2.0
    (tmp_path / "b.h5.journal").write_bytes(b"left by a run that was killed")
    assert "dalembert check b.h5" in call("run", "free-body", "-t", "1", "-o", "b.h5", code=2).stderr


def test_run_takes_a_model_file_and_a_state(call, tmp_path):
    m = dal.Model("mine")
    m.add_body("rotor", 1.0, (1, 1, 2), com=(0, 0, 0.5))
    m.add_joint("tip", "spherical", "world", "rotor")
    (tmp_path / "mine.json").write_text(json.dumps(m.to_dict()))
    call("run", "mine.json", "-t", "1", "--v0", "tip=0.1,0,20", "--q0", "1,0.1,0,0", "-o", "a.h5", code=2)  # not a unit quaternion
    call("run", "mine.json", "-t", "1", "--v0", "tip=0.1,0,20", "--q0", "0.6,0.8,0,0", "-o", "a.h5")
    saved = dal.load(tmp_path / "a.h5")
    np.testing.assert_allclose(saved.v[0], (0.1, 0, 20), rtol=1e-14)
    np.testing.assert_allclose(saved.q[0], (0.6, 0.8, 0, 0), rtol=1e-14)


def test_run_with_a_certified_step(call):
    assert "20 steps" not in call("run", "free-body", "-t", "1", "--h", "auto").output


def test_files_that_are_no_models(call, tmp_path):
    assert "No such file" in call("run", "nix.json", code=2).stderr
    (tmp_path / "a.json").write_text("{")
    assert "not a model" in call("run", "a.json", code=2).stderr
    (tmp_path / "a.json").write_text("[1, 2]")
    assert "not a model" in call("run", "a.json", code=2).stderr
    (tmp_path / "a.json").write_text("{}")
    assert "KeyError: 'name'" in call("run", "a.json", code=2).stderr


def test_errors_are_one_sentence_and_code_2(call):
    for args, sentence in (
        (("run", "tennis-rackt"), "did you mean 'tennis-racket'?"),
        (("run", "free-body", "--stepper", "cayly"), "did you mean 'cayley'?"),
        (("run", "free-body", "--compose", "suzuki44"), "did you mean 'suzuki4'?"),
        (("run", "free-body", "--option", "tl=1"), "did you mean 'tol'?"),
        (("run", "free-body", "--option", "tol"), "expected NAME=VALUE"),
        (("run", "free-body", "--h", "small"), "h is 'small'; expected a number"),
        (("run", "free-body", "--h", "0.3", "-t", "1"), "not a whole number of steps"),
        (("run", "free-body", "--v0", "a,b"), "v0 is 'a'; expected a number"),
        (("run", "free-body", "-o", "nix/a.h5"), "does not exist"),
    ):
        result = call(*args, code=2)
        assert result.stderr.startswith("error: ") and sentence in result.stderr
        assert "Traceback" not in result.output


def test_a_step_that_fails_reports_what_was_computed(call, tmp_path):
    """The quaternion step has no solution for h |omega| > 1 about a principal axis."""
    result = call("run", "free-body", "-s", "quaternion", "--h", "0.5", "--v0", "body=0.1,0.1,5,0,0,0", "-o", "a.h5", code=2)
    assert "verdict: fail" in result.stdout and "saved to a.h5" in result.stdout
    assert result.stderr.startswith("error: step ")
    assert dal.load(tmp_path / "a.h5").status.startswith("step ")


def test_ctrl_c_saves_and_exits_with_130(tmp_path):
    command = [sys.executable, "-m", "dalembert", "run", "free-body", "--t-end", "1e7", "--every", "1000", "-o", "a.h5"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    journal, deadline, sizes = tmp_path / "a.h5.journal", time.monotonic() + 100, {0}
    while len(sizes) < 4 and time.monotonic() < deadline:  # it has grown twice: steps are under way
        time.sleep(0.05)
        sizes.add(journal.stat().st_size if journal.exists() else 0)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=100)
    assert process.returncode == 130, out + err
    assert "interrupted" in out and "saved to a.h5" in out
    traj = dal.load(tmp_path / "a.h5")
    assert traj.status == "interrupted" and 1 < len(traj) < 200_001


def test_running_does_not_import_what_it_does_not_need():
    """The bare `scipy` comes with numba."""
    code = (
        "import sys; from typer.testing import CliRunner; from dalembert.cli import app; "
        "r = CliRunner().invoke(app, ['run', 'free-body', '-t', '1']); assert r.exit_code == 0, r.output; "
        "print([m for m in ('matplotlib', 'scipy.special', 'mujoco', 'PIL', 'rich', 'pandas') if m in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120).stdout.strip()
    assert found == "[]"


def test_a_file_with_contacts_says_what_to_type_and_what_was_left_out(call, tmp_path):
    (tmp_path / "box.xml").write_text(
        '<mujoco model="box"><worldbody><geom type="plane" size="5 5 1"/>'
        '<body name="box" pos="0 0 1"><freejoint/><geom type="box" size=".1 .1 .1" mass="1"/></body></worldbody></mujoco>'
    )
    assert "--ignore contact" in " ".join(call("run", "box.xml", "-s", "cayley", "-t", "0.1", code=2).stderr.split())
    out = call("run", "box.xml", "-s", "cayley", "-t", "0.1", "--ignore", "contact").output
    assert "left out of the run: contact" in out and "verdict: pass" in out
    assert "contact: 1 pairs of bodies can touch, such as box and world" in call("inspect", "box.xml").output
