"""`dalembert run`: run a scene, print its report, save it."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from dalembert.cli import _shell as shell
from dalembert.errors import SimulationError, UnsupportedError

NAME = "run"
EXAMPLES = shell.examples(
    "dalembert run tennis-racket --stepper cayley --h 0.005 -o racket.h5",
    "dalembert run heavy-top --compose suzuki4 --t-end 1 --option tol=1e-12",
    "dalembert run model.json --v0 tip=0,0,20",
    "dalembert run robot.urdf --stepper mk4 --h 0.001 --t-end 5 --ignore contact,limits",
)


def command(
    scene: Annotated[
        str,
        typer.Argument(
            help="Name of a scene (dalembert list scenes), or a file: robot.urdf, scene.xml (MJCF), model.json (`to_dict` of a Model or a "
            "Lagrangian)."
        ),
    ],
    stepper: Annotated[str | None, typer.Option("--stepper", "-s", help="Method (dalembert list steppers).")] = None,
    h: Annotated[str | None, typer.Option("--h", help="Step size in s, or auto: a step that is proved to be solvable.")] = None,
    t_end: Annotated[float | None, typer.Option("--t-end", "-t", help="End of the run in s.")] = None,
    compose: Annotated[str | None, typer.Option("--compose", help="Raise the order (dalembert list compositions).")] = None,
    every: Annotated[int, typer.Option("--every", help="Keep the state every so many steps.")] = 1,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Save the run to this HDF5 file while it runs.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the file.")] = False,
    option: Annotated[list[str] | None, typer.Option("--option", help="Option of the stepper as NAME=VALUE; may be repeated.")] = None,
    q0: Annotated[
        list[str] | None, typer.Option("--q0", help="Configuration at the start: numbers, or JOINT=numbers; may be repeated.")
    ] = None,
    v0: Annotated[list[str] | None, typer.Option("--v0", help="Velocity at the start: numbers, or JOINT=numbers; may be repeated.")] = None,
    floating_base: Annotated[
        bool | None, typer.Option("--floating-base/--fixed-base", help="Root of a URDF: free, or fixed to the world.")
    ] = None,
    package_dir: Annotated[list[Path] | None, typer.Option("--package-dir", help="Where package:// meshes are; may be repeated.")] = None,
    ignore: Annotated[
        str, typer.Option("--ignore", help="Features of the model to leave out, e.g. contact,limits,friction (comma between them).")
    ] = "",
    progress: Annotated[bool | None, typer.Option("--progress/--no-progress", help="Progress bar; default: in a terminal.")] = None,
) -> None:
    """Run a scene, print what was conserved, and save it.

    Ctrl-C ends the run; what was computed is reported and saved. A scene that is run as it stands is judged by its own check too, if it
    has one. Exit code 1 if the verdict is "fail", or the check finds too much.
    """
    found = shell.find_scene(scene, floating_base, package_dir or ())
    shell.keep_existing(out, overwrite)
    step = h if h in (None, "auto") else shell.number("h", h)
    start = {"q0": shell.state("q0", q0 or ()), "v0": shell.state("v0", v0 or ())}
    settings: dict[str, Any] = {k: x for k, x in {"stepper": stepper, "t_end": t_end, "h": step, **start}.items() if x is not None}
    settings["ignore"] = tuple(word.strip() for word in ignore.split(",") if word.strip())
    options = {k: shell.value(x) for k, x in shell.assignments("option", option or ()).items()}
    try:
        traj = found.simulate(**settings, compose=compose, every=every, save=out, overwrite=overwrite, progress=progress, **options)
    except UnsupportedError as error:
        if not error.ignore:
            raise
        raise UnsupportedError(f"{error} Here: --ignore {shlex.quote(','.join(error.ignore))}") from None
    except SimulationError as error:
        _tell(error.traj, out)
        raise
    verdict = _tell(traj, out)
    if traj.status == "interrupted":
        raise typer.Exit(shell.INTERRUPTED)
    as_it_stands = not any((stepper, h, t_end, compose, option, q0, v0, ignore))
    shell.exit_by(verdict if not as_it_stands or every > 1 or _shows(found, traj) else "fail")


def _shows(scene: Any, traj: Any) -> bool:
    """Print what the check of the scene finds in a run of it as it stands; True if all is as it should be."""
    findings = scene.check(traj) if getattr(scene, "check", None) is not None else []
    for finding in findings:
        word = "as it should" if finding.ok else "TOO MUCH"
        typer.echo(f"{finding.what}: {finding.value:.3g}, at most {finding.most:.3g}: {word}")
    return all(finding.ok for finding in findings)


def _tell(traj: Any, out: Path | None) -> str:
    verdict = shell.show_report(traj)
    if traj.meta.get("rescued"):
        where = "steps" if traj.meta["every"] == 1 else "recorded intervals"
        typer.echo(f"{traj.meta['rescued']} {where} needed smaller parts to converge (traj.solver['substeps']); a smaller --h avoids that")
    typer.echo(f"saved to {out}" if out is not None else "not saved; -o FILE.h5 keeps the run")
    return verdict
