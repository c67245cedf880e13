"""`dalembert warm`."""

from typer.testing import CliRunner

from dalembert import warming
from dalembert.cli import app
from dalembert.registry import steppers


def test_everything_that_is_compiled_has_a_task():
    names = [name for name, _ in warming.tasks()]
    assert {f"{s.name} ({s.system})" for s in steppers() if not s.python and not s.engine} <= set(names)
    assert len(names) == len(set(names))


def test_warm_runs_its_tasks_and_says_where_the_code_is(monkeypatch):
    done = []
    monkeypatch.setattr(warming, "tasks", lambda: iter([("one", lambda: done.append(1)), ("two", lambda: done.append(2))]))
    result = CliRunner().invoke(app, ["warm"])
    assert result.exit_code == 0, result.output
    assert done == [1, 2]
    assert "everything is compiled" in result.output


def test_tasks_compile_what_they_say():
    """The cheapest of each kind."""
    tasks = dict(warming.tasks())
    for name in ("cayley (rigid-body)", "midpoint: hinges, springs, dampers, limits, wrenches", "midpoint: four-bar", "dynamics of models"):
        tasks[name]()
