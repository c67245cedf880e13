"""`dalembert compare`: several methods on one scene."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dalembert.cli import _shell as shell

NAME = "compare"
EXAMPLES = shell.examples(
    "dalembert compare tennis-racket --methods cayley:0.01,tln:0.01,cayley+suzuki4:0.01 --out racket.png",
    "dalembert compare heavy-top --methods cayley:0.001,mujoco:rk4:0.001,scipy:dop853:0.001:1e-12 --t-end 1",
)


def command(
    scene: Annotated[str, typer.Argument(help="Name of a scene, or a model.json.")],
    methods: Annotated[str, typer.Option("--methods", "-m", help="NAME:H,NAME:H,...; see the examples below.")],
    t_end: Annotated[float | None, typer.Option("--t-end", "-t", help="End of the runs in s; default: that of the scene.")] = None,
    reference: Annotated[
        str | None, typer.Option("--reference", help="What end states are measured against: exact, none, or a method.")
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Picture of energy and momentum errors (PNG, PDF, SVG).")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="The table as JSON.")] = False,
) -> None:
    """Run several methods on one scene and print one table: cost, energy, momentum, error of the end state, verdict."""
    from dalembert.comparison import compare, parse_method

    found = shell.find_scene(scene)
    chosen = [parse_method(text) for text in methods.split(",") if text.strip()]
    if reference is None and found.chaotic:
        reference = "none"
    result = compare(found.model(), chosen, found.t_end if t_end is None else t_end, found.q0, found.v0, reference)
    if as_json:
        import json

        typer.echo(json.dumps(result.to_dict(), indent=2))
    else:
        typer.echo(result.text)
    if out is not None:
        result.plot(out)
        typer.echo(f"picture: {out}", err=as_json)
