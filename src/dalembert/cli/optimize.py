"""`dalembert optimize`: find a plan, show its evidence, keep it."""

from __future__ import annotations

import functools
import inspect
import runpy
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from dalembert.cli import _shell as shell
from dalembert.errors import DalembertError, OptionError

NAME = "optimize"
EXAMPLES = shell.examples(
    "dalembert optimize --list",
    "dalembert optimize cart-pole --out pictures --save plan.h5",
    "dalembert optimize falling-cat --steps 80 --starts 4",
    "dalembert optimize my_problem.py",
)


def command(
    what: Annotated[
        str | None,
        typer.Argument(metavar="NAME|FILE.py", help="A problem of the list, or a Python file that defines `problem` or `build()`."),
    ] = None,
    listed: Annotated[bool, typer.Option("--list", help="List the problems.")] = False,
    steps: Annotated[int | None, typer.Option("--steps", "-n", help="Number of steps instead of that of the problem.")] = None,
    starts: Annotated[int | None, typer.Option("--starts", help="Guesses to begin with; other minima are listed.")] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Folder for the picture of the plan.")] = None,
    save: Annotated[Path | None, typer.Option("--save", help="Keep the plan in this HDF5 file: a run like any other.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the file.")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="Without the free run and the true motion.")] = False,
    progress: Annotated[
        bool | None, typer.Option("--progress/--no-progress", help="A line while it searches; default: in a terminal.")
    ] = None,
) -> None:
    """Solve a problem of optimal control, verify the plan in the simulator, draw it, and save it.

    A file may define `check(solution)`, a list of findings, as the problems of the list do. Ctrl-C ends the search; the last iterate is
    shown and saved. Exit code 0 if the plan is solved and verified and all findings are as they should be, else 1.
    """
    if listed:
        _list()
        return
    if what is None:
        raise OptionError("optimize: neither a problem nor a file is given; `dalembert optimize --list` shows the problems.")
    for option, number, least in (("--steps", steps, 2), ("--starts", starts, 1)):
        if number is not None and number < least:
            raise OptionError(f"{option} is {number}; expected at least {least}.")
    _writable(out, save, overwrite)
    name, build, check = _found(what)
    problem = build(steps)
    if starts is not None:
        problem.starts = starts
    problem.progress = progress
    solution = problem.solve()
    ok = _tell(solution, check, quick)
    _keep(solution, name, out, save, overwrite)
    if solution.result.status == "User_Requested_Stop":
        raise typer.Exit(shell.INTERRUPTED)
    if not ok:
        raise typer.Exit(shell.FAIL)


def _list() -> None:
    from dalembert.control import scenes

    found = [scenes.find(name) for name in scenes.names()]
    shell.print_table(
        "problems of optimal control", ("name", "summary", "references"), [(s.name, s.summary, ", ".join(s.references)) for s in found]
    )


def _writable(out: Path | None, save: Path | None, overwrite: bool) -> None:
    """What cannot be written is said before the search."""
    if out is not None and out.exists() and not out.is_dir():
        raise OptionError(f"--out {str(out)!r} is a file; expected a folder.")
    if save is not None and save.exists() and not overwrite:
        raise OptionError(f"--save {str(save)!r} exists; --overwrite replaces it.")
    if save is not None and not save.parent.is_dir():
        raise OptionError(f"--save {str(save)!r}: the folder {str(save.parent)!r} does not exist.")


Build = Callable[[int | None], Any]
Check = Callable[[Any], list[Any]]


def _found(what: str) -> tuple[str, Build, Check]:
    """(name, what makes the problem with so many steps, what its solution must show)"""
    if what.endswith(".py"):
        return _of_file(Path(what))
    from dalembert.control import scenes

    scene = scenes.find(what)
    return scene.name, lambda steps: _built(scene.build, steps, what), lambda solution: [*scenes.common(solution), *scene.check(solution)]


def _of_file(path: Path) -> tuple[str, Build, Check]:
    if not path.is_file():
        raise OptionError(f"{path}: there is no such file.")
    with _own_code(path):
        names = runpy.run_path(str(path), run_name="problem")
    check = _checked(names.get("check", lambda solution: []), path)
    if callable(names.get("build")):
        build = _guarded(names["build"], path)
        return path.stem, lambda steps: _built(build, steps, str(path)), check
    problem: Any = names.get("problem")
    if not hasattr(problem, "solve"):
        what = [f"`{name}` is {names[name]!r}" for name in ("build", "problem") if name in names]
        said = f": {', '.join(what)}, and neither `build()` nor `problem` is one" if what else " defines neither `build()` nor `problem`"
        raise OptionError(f"{path}{said}; expected a problem of dal.control.dmoc, or a function that makes one.")
    return path.stem, lambda steps: problem if steps is None else problem.again(steps), check


@contextmanager
def _own_code(path: Path) -> Iterator[None]:
    """What code of the user raises, as one sentence."""
    try:
        yield
    except DalembertError:
        raise
    except Exception as error:
        raise OptionError(f"{path}: {type(error).__name__}: {error}") from error


def _guarded(build: Callable[..., Any], path: Path) -> Callable[..., Any]:
    @functools.wraps(build)
    def made(*given: Any, **more: Any) -> Any:
        with _own_code(path):
            return build(*given, **more)

    return made


def _checked(check: Any, path: Path) -> Check:
    """Findings of a file's own check; OptionError where they are none."""

    def found(solution: Any) -> list[Any]:
        with _own_code(path):
            findings = list(check(solution))
        if not all(hasattr(finding, "ok") for finding in findings):
            raise OptionError(f"{path}: check(solution) gave {findings!r}; expected a list of dalembert.control.scenes.Finding.")
        return findings

    return found


def _built(build: Callable[..., Any], steps: int | None, what: str) -> Any:
    if steps is None:
        made = build()
    elif "N" in inspect.signature(build).parameters:
        made = build(N=steps)
    else:
        made = build().again(steps)
    if not hasattr(made, "solve"):
        raise OptionError(f"{what}: build() gave {made!r}; expected a problem of dal.control.dmoc.")
    return made


def _tell(solution: Any, check: Check, quick: bool) -> bool:
    """Print plan, evidence and findings; True if all is as it should be."""
    typer.echo(solution.text)
    if quick:
        ok = bool((solution.replay.errors <= 1e-9).all())
        typer.echo(f"one step from every node: {solution.replay.errors.max(initial=0.0):.1e}: {'pass' if ok else 'fail'}")
    else:
        evidence = solution.verify()
        ok = evidence.ok
        typer.echo(evidence.text)
    findings = check(solution) if solution.ok else []
    for finding in findings:
        typer.secho(str(finding), fg=None if finding.ok else typer.colors.RED)
    ok = bool(ok and solution.ok and all(finding.ok for finding in findings))
    typer.secho(f"verdict: {'pass' if ok else 'fail'}", fg=shell.COLOURS["pass" if ok else "fail"])
    return ok


def _keep(solution: Any, name: str, out: Path | None, save: Path | None, overwrite: bool) -> None:
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        picture = out / f"{name}.png"
        solution.plot(picture)
        typer.echo(f"picture: {picture}")
    if save is not None:
        solution.save(save, overwrite=overwrite)
        typer.echo(f"plan: {save}")
