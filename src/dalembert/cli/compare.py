"""`dalembert compare`: several methods on one scene or one robot."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dalembert.cli import _shell as shell
from dalembert.errors import OptionError

if TYPE_CHECKING:
    from dalembert.comparison import Comparison
    from dalembert.model import Model
    from dalembert.scenes import Scene

NAME = "compare"
EXAMPLES = shell.examples(
    "dalembert compare tennis-racket --methods cayley:0.01,tln:0.01,cayley+suzuki4:0.01 --out racket.png",
    "dalembert compare heavy-top --methods cayley:0.001,mujoco:rk4:0.001,scipy:dop853:0.001:1e-12 --t-end 1",
    "dalembert compare kepler --methods midpoint:0.02,verlet:0.02,scipy:rk45:0.02:1e-6 --t-end 100",
    "dalembert compare my.urdf --t-end 1000 --free --gravity 0 --smooth --out robot.html",
    "dalembert compare arm.xml --h 0.005 --methods midpoint,mujoco:euler,mujoco:rk4 --smooth --seed 3 --out arm.gif",
)
LONG = 100.0  # s, of a robot from a file


def command(
    scene: Annotated[str, typer.Argument(help="Name of a scene, or a file: robot.urdf, robot.xml (MJCF), model.json.")],
    methods: Annotated[
        str | None,
        typer.Option(
            "--methods",
            "-m",
            help="NAME:H,NAME:H,... or, with --h, NAME,NAME,...; default for robots: our first variational method, MuJoCo's euler, "
            "implicitfast and rk4.",
        ),
    ] = None,
    t_end: Annotated[
        float | None, typer.Option("--t-end", "-t", help="End of the runs in s; default: that of the scene, 100 s for a file.")
    ] = None,
    h: Annotated[float | None, typer.Option("--h", help="Step in s of methods that are given without one; robots: 0.01.")] = None,
    reference: Annotated[
        str | None,
        typer.Option("--reference", help="What end states are measured against: exact, none, or a method (robots: none; try mk8)."),
    ] = None,
    free: Annotated[
        bool | None, typer.Option("--free/--fixed", help="Root of a file: free to float, or fixed to the world; default: as the file says.")
    ] = None,
    gravity: Annotated[str | None, typer.Option("--gravity", help="Strength along -z in m/s^2, or x,y,z; 0 for none.")] = None,
    smooth: Annotated[
        bool, typer.Option("--smooth", help="Take away contacts, damping, joint friction, stiffness, limits, loops and forces.")
    ] = False,
    no_armature: Annotated[bool, typer.Option("--no-armature", help="Take away the armatures (rotor inertias) as well.")] = False,
    q0: Annotated[
        list[str] | None, typer.Option("--q0", help="Configuration at the start: numbers, or JOINT=numbers; may be repeated.")
    ] = None,
    v0: Annotated[list[str] | None, typer.Option("--v0", help="Velocity at the start: numbers, or JOINT=numbers; may be repeated.")] = None,
    seed: Annotated[int | None, typer.Option("--seed", help="Random start; that of a file without --q0 and --v0 is seed 0.")] = None,
    speed: Annotated[float, typer.Option("--speed", help="Largest rate of a joint of a random start, rad/s or m/s.")] = 1.0,
    package_dir: Annotated[list[Path] | None, typer.Option("--package-dir", help="Where package:// meshes are; may be repeated.")] = None,
    every: Annotated[int | None, typer.Option("--every", help="Keep the state every so many steps; default: some 20,000 nodes.")] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Page (HTML), or picture of the errors (PNG, PDF, SVG); robots: also an animation (GIF)."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="The table as JSON.")] = False,
    progress: Annotated[bool | None, typer.Option("--progress/--no-progress", help="Progress bars; default: in a terminal.")] = None,
) -> None:
    """Run several methods on one machine and print one table: cost, energy, momentum, error of the end state, verdict.

    Robots (URDF, MJCF, scenes of several bodies) are compared in smooth motion: contacts, limits, joint friction and loops are left out for
    all methods alike, and MuJoCo steps a model that is built from ours. Energy and momentum are computed by this library for all of them.
    """
    from dalembert.comparison import compare, parse_method
    from dalembert.comparison.measures import is_tree

    found = shell.find_scene(scene, free, package_dir or ())
    given = found.model()
    if hasattr(given, "formulas"):
        _refuse_for_formulas(
            given, {"--gravity": gravity is not None, "--smooth": smooth, "--no-armature": no_armature, "--seed": seed is not None}
        )
    model = _prepared(given, gravity, smooth, no_armature)
    tree = is_tree(model)
    formulas = hasattr(model, "formulas")
    _check_out(out, tree and not formulas)
    ignore = _left_out(model)
    step = h if h is not None else (found.h if tree else None)
    if methods is None:
        chosen = _defaults(model, step, ignore, tree)
    else:
        chosen = [parse_method(text, step) for text in methods.split(",") if text.strip()]
    if tree and not formulas and reference in (None, "none"):
        _check_energy(model)
    if reference is None and (found.chaotic or (tree and not formulas)):
        reference = "none"
    end = t_end if t_end is not None else LONG if found.stepper is None and tree and not formulas else found.t_end
    start = _start(found, model, q0, v0, seed, speed)
    result = compare(model, chosen, end, *start, reference, every, ignore, progress)
    if not formulas:
        result = replace(result, ignored=tuple(sorted({*result.ignored, *_taken_away(given, model)})))
    _tell(result, as_json)
    if out is not None:
        _draw(result, out, progress)
        typer.echo(f"{'page' if out.suffix.lower() == '.html' else 'picture'}: {out}", err=as_json)


def _refuse_for_formulas(model: Any, given: dict[str, bool]) -> None:
    wrong = [name for name, used in given.items() if used]
    if wrong:
        raise OptionError(f"{', '.join(wrong)}: only for machines made of bodies; {model!r} is given by a formula.")


def _prepared(model: Model, gravity: str | None, smooth: bool, no_armature: bool) -> Model:
    from dalembert.comparison import robots

    if smooth:
        model = robots.smooth(model, armature=not no_armature)
    elif no_armature:
        raise OptionError("--no-armature goes with --smooth; got it alone.")
    if gravity is not None:
        parts = [shell.number("gravity", x) for x in gravity.split(",")]
        if len(parts) not in (1, 3) or (len(parts) == 1 and parts[0] < 0):
            raise OptionError(f"gravity is {gravity!r}; expected one number >= 0 (along -z) or three.")
        model = robots.with_gravity(model, parts if len(parts) == 3 else (0.0, 0.0, -parts[0]))
    return model


def _check_out(out: Path | None, tree: bool) -> None:
    """Before hours of computing."""
    if out is not None:
        from dalembert.view.picture import FIGURE_SUFFIXES, checked_path

        checked_path(out, (".html", ".gif", *FIGURE_SUFFIXES) if tree else (".html", *FIGURE_SUFFIXES))


def _left_out(model: Model) -> tuple[str, ...]:
    from dalembert.comparison.robots import left_out

    return left_out(model)


def _taken_away(before: Model, after: Model) -> set[str]:
    """Features that --smooth removed."""
    from dalembert.families import find_family

    return find_family(before).features(before) - find_family(after).features(after) - {"gravity"}


def _check_energy(model: Model) -> None:
    from dalembert.comparison.robots import check_energy

    check_energy(model)


def _defaults(model: Model, h: float | None, ignore: tuple[str, ...], tree: bool) -> list[Any]:
    from dalembert.comparison.robots import default_methods

    if hasattr(model, "formulas") and h is not None:
        from dalembert.comparison.formulas import default_methods as of_formulas

        return list(of_formulas(model, h))
    if not tree or h is None:
        raise OptionError("compare: --methods is missing; expected NAME:H,NAME:H,... such as cayley:0.01,mujoco:rk4:0.01.")
    return list(default_methods(model, h, ignore))


def _start(found: Scene, model: Model, q0: list[str] | None, v0: list[str] | None, seed: int | None, speed: float) -> tuple[Any, Any]:
    """Given by the user, by chance, or by the scene."""
    from dalembert.comparison.measures import is_tree
    from dalembert.comparison.robots import random_start

    given = shell.state("q0", q0 or ()), shell.state("v0", v0 or ())
    if seed is not None and any(x is not None for x in given):
        raise OptionError(f"--seed {seed} gives a random start; --q0 and --v0 give another one.")
    if any(x is not None for x in given):
        return given
    bodies = not hasattr(model, "formulas")
    from_file = found.stepper is None and found.q0 is None and found.v0 is None and is_tree(model) and bodies
    if seed is not None or from_file:
        return random_start(model, seed or 0, speed)
    return found.q0, found.v0


def _tell(result: Comparison, as_json: bool) -> None:
    if as_json:
        import json

        typer.echo(json.dumps(result.to_dict(), indent=2))
        return
    typer.echo(result.text)
    if result.is_tree:
        typer.echo("")
        for line in result.conclusion:
            typer.echo(line)


def _draw(result: Comparison, out: Path, progress: bool | None) -> None:
    suffix = out.suffix.lower()
    if suffix == ".html" or (result.look.drawable and suffix in (".gif", ".png")):
        result.page(out, progress)
    else:
        result.plot(out)
