"""`dalembert plot`: pictures of a saved run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

NAME = "plot"
EXAMPLES = "Examples: [bold]dalembert plot run.h5[/bold]; [bold]dalembert plot run.h5 -o run.pdf --gif run.gif[/bold]"


def command(
    run: Annotated[Path, typer.Argument(help="A saved run, FILE.h5.")],
    out: Annotated[Optional[Path], typer.Option("--out", "-o", help="Picture (PNG, PDF, SVG); default: beside the run.")] = None,
    gif: Annotated[Optional[Path], typer.Option("--gif", help="Animation of the moving body.")] = None,
) -> None:
    """Draw energy, momentum and angular velocity of a saved run; --gif also animates it."""
    from dalembert.recording import load

    traj = load(run)
    out = run.with_suffix(".png") if out is None else out
    traj.plot(out)
    typer.echo(f"picture: {out}")
    if gif is not None:
        traj.animate(gif)
        typer.echo(f"animation: {gif}")
