"""`dalembert plot`, `advise`, `cite`, and what all commands share."""

import json

import pytest

import dalembert as dal
from dalembert.cli import app
from dalembert.cli import run as run_command


@pytest.fixture
def racket(call, tmp_path):
    dal.scenes.find("tennis-racket").simulate(stepper="cayley", t_end=1.0).save(tmp_path / "racket.h5")
    return "racket.h5"


def test_plot_draws_beside_the_run(call, racket, tmp_path):
    assert "picture: racket.png" in call("plot", racket).output
    assert (tmp_path / "racket.png").read_bytes()[:4] == b"\x89PNG"


def test_plot_draws_where_it_is_told_and_animates(call, racket, tmp_path, monkeypatch):
    short = dal.Trajectory.animate
    monkeypatch.setattr(dal.Trajectory, "animate", lambda self, path: short(self, path, max_frames=3, size=(120, 120)))
    call("plot", racket, "-o", "a.pdf", "--gif", "a.gif")
    assert (tmp_path / "a.pdf").read_bytes()[:4] == b"%PDF"
    assert (tmp_path / "a.gif").read_bytes()[:3] == b"GIF"


def test_advise_one_and_all(call):
    scene = dal.scenes.find("tennis-racket")
    m = scene.model()
    text = dal.advise(m, m.check_q(scene.q0), m.check_v(scene.v0), "cayley").text
    assert call("advise", "tennis-racket", "--stepper", "cayley").output.strip() == text
    out = call("advise", "tennis-racket").output
    assert text in out
    assert all(f"'{s.name}'" in out for s in dal.steppers(system="rigid-body"))
    assert len(json.loads(call("advise", "tennis-racket", "--json").output)) == len(dal.steppers(system="rigid-body"))
    assert "did you mean 'cayley'?" in call("advise", "tennis-racket", "-s", "cayly", code=2).stderr


def test_advise_says_why_there_is_none(call):
    result = call("advise", "pyramid", code=2)
    assert "does not handle contact of model 'pyramid'" in result.stderr and not result.stdout.strip()


def test_cite_a_run_and_a_stepper(call, racket):
    assert call("cite", racket).output == dal.cite("cayley")
    assert call("cite", "--stepper", "cayley+suzuki4", "-s", "mujoco:rk4").output == dal.cite(["cayley+suzuki4", "mujoco:rk4"])
    assert call("cite").output == dal.cite()
    assert "did you mean 'cayley'?" in call("cite", "-s", "cayly", code=2).stderr


def test_version(call):
    assert call("--version").output == f"dalembert {dal.__version__}\n"


@pytest.mark.parametrize("command", [c.name for c in app.registered_commands])
def test_every_command_has_help_with_examples(call, command):
    out = call(command, "--help").output
    assert "Examples:" in out and f"dalembert {command}" in out
    assert command in call("--help").output


def test_unknown_commands_give_the_nearest(call):
    assert "run" in call("rn", code=2).stderr


def test_debug_shows_the_traceback_and_keeps_the_exit_code(call, capfd):
    for args in (("--debug", "run", "nix"), ("run", "nix", "--debug")):
        result = call(*args, code=2)
        assert "Traceback" in result.stderr + capfd.readouterr().err


def test_ctrl_c_outside_of_a_run(call, monkeypatch):
    def interrupt(name, *_):
        raise KeyboardInterrupt

    monkeypatch.setattr(run_command.shell, "find_scene", interrupt)
    assert "interrupted" in call("run", "free-body", code=130).stderr


def test_warnings_are_one_line(call, monkeypatch):
    import warnings

    monkeypatch.setattr(run_command.shell, "find_scene", lambda name, *_: warnings.warn("look out", stacklevel=1) or dal.scenes.find(name))
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        assert "warning: look out\n" in call("run", "free-body", "-t", "1").stderr


def test_both_modules_are_the_command(shell):
    for module in ("dalembert", "dalembert.cli"):
        result = shell("--version", module=module)
        assert (result.returncode, result.stdout) == (0, f"dalembert {dal.__version__}\n")
