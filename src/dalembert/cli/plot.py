"""`dalembert plot`: pictures of a saved run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dalembert.cli import _shell as shell

NAME = "plot"
EXAMPLES = shell.examples("dalembert plot run.h5", "dalembert plot run.h5 -o run.pdf --gif run.gif")


def command(
    run: Annotated[Path, typer.Argument(help="A saved run, FILE.h5.")],
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Picture (PNG, PDF, SVG); default: beside the run.")] = None,
    gif: Annotated[Path | None, typer.Option("--gif", help="Animation of the moving body.")] = None,
) -> None:
    """Draw energy, momentum, velocities and joints of a saved run (of a Lagrangian: its coordinates); --gif also animates bodies."""
    from dalembert.runs.recording import load

    traj = load(run)
    out = run.with_suffix(".png") if out is None else out
    traj.plot(out)
    typer.echo(f"picture: {out}")
    if gif is not None:
        traj.animate(gif)
        typer.echo(f"animation: {gif}")
