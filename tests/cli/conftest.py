"""How tests call the command: `call` in this process, `shell` in a new one."""

import subprocess
import sys

import pytest
from typer.testing import CliRunner

from dalembert.cli import app


@pytest.fixture
def call(tmp_path, monkeypatch):
    """call("run", "free-body") -> result, in an empty directory."""
    monkeypatch.chdir(tmp_path)

    def run(*args, code=0):
        result = CliRunner().invoke(app, [str(a) for a in args])
        assert result.exit_code == code, result.output + repr(result.exception)
        return result

    return run


@pytest.fixture
def shell(tmp_path):
    """shell("list", "scenes") -> CompletedProcess of a new process, in an empty directory."""

    def run(*args, module="dalembert"):
        return subprocess.run(
            [sys.executable, "-m", module, *map(str, args)], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
        )

    return run
