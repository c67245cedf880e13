"""`dalembert view`: saved runs in a browser, with a time slider."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dalembert.cli import _shell as shell

NAME = "view"
EXAMPLES = shell.examples("dalembert view run.h5", "dalembert view coarse.h5 fine.h5 --beside", "dalembert view run.h5 --no-browser")


def command(
    runs: Annotated[list[Path], typer.Argument(help="Saved runs, FILE.h5; all but the first are ghosts.")],
    beside: Annotated[bool, typer.Option("--beside", help="Several runs side by side, not on top of each other.")] = False,
    port: Annotated[int, typer.Option("--port", help="Of the page; the next free one if it is busy.")] = 8080,
    host: Annotated[str, typer.Option("--host", help="Address to listen on; other than this computer alone: with a token.")] = "127.0.0.1",
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page.")] = True,
) -> None:
    """Show saved runs in a browser: time, speed, contacts with their forces, momenta, frames, trails, events. Ctrl-C ends it."""
    from dalembert.runs.recording import load
    from dalembert.view.web.fronts import view_trajectories

    shell.serve(view_trajectories([load(run) for run in runs], port, host, beside), browser)
