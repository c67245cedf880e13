"""`dalembert check`: the verdict on a saved run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dalembert.cli import _shell as shell

NAME = "check"
EXAMPLES = shell.examples("dalembert check run.h5", "dalembert check run.h5 --strict && echo kept what it promised")


def command(
    run: Annotated[Path, typer.Argument(help="A saved run, FILE.h5.")],
    strict: Annotated[bool, typer.Option("--strict", help='Exit code 1 for "warn" too.')] = False,
    as_json: Annotated[bool, typer.Option("--json", help="The report as JSON.")] = False,
) -> None:
    """Load a saved run, print its report, exit by its verdict: 0 for pass and warn, 1 for fail."""
    from dalembert.runs.recording import load

    traj = load(run)
    if as_json:
        import json

        report = traj.report()
        verdict = report.verdict
        typer.echo(json.dumps({"verdict": verdict, **report.to_dict()}, indent=2))
    else:
        verdict = shell.show_report(traj)
    shell.exit_by(verdict, strict)
