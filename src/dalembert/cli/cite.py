"""`dalembert cite`: BibTeX of what a run used."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dalembert.cli import _shell as shell

NAME = "cite"
EXAMPLES = shell.examples("dalembert cite run.h5 >> references.bib", "dalembert cite --stepper cayley+suzuki4")


def command(
    run: Annotated[Path | None, typer.Argument(help="A saved run, FILE.h5.")] = None,
    stepper: Annotated[list[str] | None, typer.Option("--stepper", "-s", help="A stepper, composition or peer; may be repeated.")] = None,
) -> None:
    """Print the BibTeX entries of what a run or a method uses, and of the library itself."""
    from dalembert.citations import cite

    used: list[object] = list(stepper or ())
    if run is not None:
        from dalembert.runs.recording import load

        used.append(load(run))
    typer.echo(cite(used), nl=False)
