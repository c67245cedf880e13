"""`dalembert report`: the page of a saved run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dalembert.cli import _shell as shell

NAME = "report"
EXAMPLES = shell.examples("dalembert report run.h5", "dalembert report run.h5 -o report.html")


def command(
    run: Annotated[Path, typer.Argument(help="A saved run, FILE.h5.")],
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Page (HTML); default: beside the run.")] = None,
) -> None:
    """Write one self-contained page of a saved run: verdict, replay in space, diagrams, events, model, how to repeat it.

    The page needs no network and can be sent as it is. `dalembert check` exits by the verdict.
    """
    from dalembert.runs.recording import load
    from dalembert.view.page.document import SUFFIXES
    from dalembert.view.picture import checked_path

    target = checked_path(run.with_suffix(".html") if out is None else out, SUFFIXES)  # before a long file is read
    written = load(run).page(target)
    typer.echo(f"page: {written} ({written.stat().st_size / 1e6:.2g} MB)")
