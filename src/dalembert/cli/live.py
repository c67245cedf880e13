"""`dalembert live`: a machine in a browser, in real time, to be pulled, kicked and changed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from dalembert.cli import _shell as shell

NAME = "live"
EXAMPLES = shell.examples(
    "dalembert live pyramid", "dalembert live robot.urdf --stepper midpoint --h 0.002", "dalembert live heap --speed 0.5"
)


def command(
    scene: Annotated[
        str, typer.Argument(help="Name of a scene (dalembert list scenes), or a file: robot.urdf, scene.xml (MJCF), model.json.")
    ],
    stepper: Annotated[str | None, typer.Option("--stepper", "-s", help="Method (dalembert list steppers).")] = None,
    h: Annotated[float | None, typer.Option("--h", help="Step size in s.")] = None,
    speed: Annotated[float, typer.Option("--speed", help="Of real time.")] = 1.0,
    paused: Annotated[bool, typer.Option("--paused", help="Wait for the button.")] = False,
    port: Annotated[int, typer.Option("--port", help="Of the page; the next free one if it is busy.")] = 8080,
    host: Annotated[str, typer.Option("--host", help="Address to listen on; other than this computer alone: with a token.")] = "127.0.0.1",
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page.")] = True,
    option: Annotated[list[str] | None, typer.Option("--option", help="Option of the stepper as NAME=VALUE; may be repeated.")] = None,
    floating_base: Annotated[
        bool | None, typer.Option("--floating-base/--fixed-base", help="Root of a URDF: free, or fixed to the world.")
    ] = None,
    package_dir: Annotated[list[Path] | None, typer.Option("--package-dir", help="Where package:// meshes are; may be repeated.")] = None,
    ignore: Annotated[str, typer.Option("--ignore", help="Features of the model to leave out (comma between them).")] = "",
) -> None:
    """Run a machine in a browser in real time: drag, kick, add and delete bodies, change gravity, friction, step, method. Ctrl-C ends it.

    Where this computer is too slow for real time, the page says how fast it runs, and time goes slower; no steps are left out.
    """
    from dalembert.runs.simulation import Simulation
    from dalembert.view.web.fronts import view_simulation
    from dalembert.view.web.motion import machine_of

    found = shell.find_scene(scene, floating_base, package_dir or ())
    model = found.model()
    machine_of(model)
    own: dict[str, Any] = found.options if stepper in (None, found.stepper) else {}
    options = {**own, **{k: shell.value(x) for k, x in shell.assignments("option", option or ()).items()}}
    sim = Simulation(
        model, stepper or found.stepper, found.h if h is None else h, found.q0, found.v0, found.control, keep=0,
        ignore=tuple(word.strip() for word in ignore.split(",") if word.strip()), **options,
    )  # fmt: skip
    shell.serve(view_simulation(sim, port, host, speed, not paused, title=found.name), browser)
