"""`dalembert cite`: BibTeX of what a run used."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

NAME = "cite"
EXAMPLES = "Examples: [bold]dalembert cite run.h5 >> references.bib[/bold]; [bold]dalembert cite --stepper cayley+suzuki4[/bold]"


def command(
    run: Annotated[Optional[Path], typer.Argument(help="A saved run, FILE.h5.")] = None,
    stepper: Annotated[Optional[list[str]], typer.Option("--stepper", "-s", help="A stepper, composition or peer; may be repeated.")] = None,
) -> None:
    """Print the BibTeX entries of what a run or a method uses, and of the library itself."""
    from dalembert.citations import cite

    used: list[object] = list(stepper or ())
    if run is not None:
        from dalembert.recording import load

        used.append(load(run))
    typer.echo(cite(used), nl=False)
