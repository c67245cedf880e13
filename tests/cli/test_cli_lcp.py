"""`dalembert lcp`: files of problems, tables of methods, exit codes."""

import json

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from dalembert.cli import lcp
from dalembert.cli._shell import Shell
from dalembert.complementarity import methods
from dalembert.complementarity.archive import load_problem, save_problem
from dalembert.complementarity.friction import models

root = typer.Typer(cls=Shell)
root.add_typer(lcp.app, name=lcp.NAME)


@root.callback()
def options(debug: bool = False) -> None:
    """As the whole command."""


@pytest.fixture
def call(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def run(*args, code=0):
        result = CliRunner().invoke(root, ["lcp", *map(str, args)])
        assert result.exit_code == code, result.output + repr(result.exception)
        return result

    return run


@pytest.mark.parametrize("kind", list(lcp.Kind))
def test_make_and_solve_with_everything(call, kind):
    assert "problem: p.h5" in call("make", kind.value, "p.h5", "-n", "4").output
    out = call("solve", "p.h5").output
    wanted = models() if kind is lcp.Kind.contacts else methods()
    assert all(f" {m.name} " in out for m in wanted) and "solved" in out and f"random {kind.value}" in out


def test_the_same_seed_gives_the_same_problem(call):
    for name, seed in (("a.h5", 3), ("b.h5", 3), ("c.h5", 4)):
        call("make", "boxed", name, "--seed", seed)
    a, b, c = (load_problem(f"{x}.h5").M for x in "abc")
    assert (a == b).all() and not (a == c).all()


def test_chosen_methods_as_json(call):
    call("make", "lcp", "p.h5", "-n", "6")
    rows = json.loads(call("solve", "p.h5", "-m", "lemke", "--method", "keller,murty", "--json").output)
    assert [r["method"] for r in rows] == ["lemke", "keller", "murty"]
    assert all(r["status"] == "solved" and r["residual"] < 1e-9 and r["time"] > 0 for r in rows)


def test_exit_code_1_if_nothing_solves(call):
    save_problem("p.h5", (np.array([[-1.0, 0.0], [1.0, 2.0]]), np.array([-1.0, 2.0])))
    assert "solved" not in call("solve", "p.h5", "-m", "lemke", code=1).output


def test_errors_are_one_sentence(call, tmp_path):
    call("make", "lcp", "p.h5")
    assert "did you mean 'lemke'?" in call("solve", "p.h5", "-m", "lemk", code=2).stderr
    assert "does not exist" in call("solve", "no.h5", code=2).stderr
    (tmp_path / "text.h5").write_text("text")
    assert "is not an HDF5 file" in call("solve", "text.h5", code=2).stderr
    assert "exists already" in call("make", "lcp", "p.h5", code=2).stderr
    call("make", "lcp", "p.h5", "--overwrite")
    assert "expected n >= 1" in call("make", "lcp", "q.h5", "-n", "0", code=2).stderr
    call("make", "contacts", "c.h5")
    assert "friction model" in call("solve", "c.h5", "-m", "lemke", code=2).stderr


def test_help_has_examples(call):
    for command in ("solve", "make"):
        assert f"dalembert lcp {command}" in call(command, "--help").output
