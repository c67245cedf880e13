"""What all commands share: errors as one sentence, exit codes, parsing of small values, tables.

Exit codes: 0 fine, 1 the verdict is "fail", 2 bad usage or an error of the library, 130 interrupted.
"""

from __future__ import annotations

import sys
import traceback
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperGroup

from dalembert.errors import DalembertError, OptionError, UnknownNameError

if TYPE_CHECKING:
    from dalembert.scenes import Scene

PASS, FAIL, USAGE, INTERRUPTED = 0, 1, 2, 130
COLOURS = {"pass": typer.colors.GREEN, "warn": typer.colors.YELLOW, "fail": typer.colors.RED}


class Shell(TyperGroup):
    """Turns errors of the library into one red sentence, warnings into one yellow one, and Ctrl-C into exit code 130."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """--debug counts wherever it stands."""
        if "--debug" in args:
            args = ["--debug", *(a for a in args if a != "--debug")]
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning
            try:
                return super().invoke(ctx)
            except DalembertError as error:
                if ctx.params.get("debug"):
                    traceback.print_exc()
                typer.secho(f"error: {error}", fg=typer.colors.RED, err=True)
                raise typer.Exit(USAGE) from None
            except KeyboardInterrupt:
                typer.secho("interrupted", fg=typer.colors.RED, err=True)
                raise typer.Exit(INTERRUPTED) from None


def examples(*lines: str) -> str:
    """The examples below the help of a command, one per line."""
    return "\n\n".join(["Examples:", *(f"[bold]  {line}[/bold]" for line in lines)])


def _show_warning(message: Any, *where: Any, **more: Any) -> None:
    typer.secho(f"warning: {message}", fg=typer.colors.YELLOW, err=True)


def show_report(traj: Any) -> str:
    """Print the report and return the verdict."""
    report = traj.report()
    for line in report.text.splitlines():
        typer.secho(line, fg=COLOURS.get(report.verdict) if line.startswith("verdict") else None)
    return str(report.verdict)


def exit_by(verdict: str, strict: bool = False) -> None:
    """Exit code 1 for "fail", with strict also for "warn"."""
    if verdict == "fail" or (strict and verdict == "warn"):
        raise typer.Exit(FAIL)


def keep_existing(path: Path | None, overwrite: bool) -> None:
    """OptionError for a file, or the journal of a killed run, that is there already, in words of the shell."""
    if path is None or overwrite:
        return
    if path.exists():
        raise OptionError(f"{str(path)!r} exists; --overwrite replaces it, another name for -o keeps it.")
    if Path(f"{path}.journal").exists():
        ways = f"`dalembert check {path}` puts it in order, --overwrite replaces it"
        raise OptionError(f"{str(path)!r} is that of a run that was killed, or is under way; {ways}.")


def number(what: str, text: str) -> float:
    """A number; OptionError names what it should have been."""
    try:
        return float(text)
    except ValueError:
        raise OptionError(f"{what} is {text!r}; expected a number.") from None


def value(text: str) -> Any:
    """An integer, a number, or the text itself."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def assignments(what: str, given: Sequence[str]) -> dict[str, str]:
    """['tol=1e-10', ...] as a dict."""
    found = {}
    for text in given:
        name, equals, rest = text.partition("=")
        if not equals or not name:
            raise OptionError(f"{what} {text!r}: expected NAME=VALUE.")
        found[name.strip()] = rest.strip()
    return found


def state(what: str, given: Sequence[str]) -> Any:
    """q0 or v0: '0,0,20' for all joints, or 'tip=0,0,20' for one; None if nothing is given."""
    if not given:
        return None
    if len(given) == 1 and "=" not in given[0]:
        return [number(what, x) for x in given[0].split(",")]
    return {joint: [number(f"{what} of joint {joint!r}", x) for x in text.split(",")] for joint, text in assignments(what, given).items()}


ROBOT_FILES = (".urdf", ".xml", ".mjcf")


def find_scene(name: str, floating_base: bool | None = None, package_dirs: Sequence[Path] = ()) -> Scene:
    """A scene by its name, or one made from a model in a file: JSON as `to_dict` of a Model or Lagrangian gives it, URDF or MJCF."""
    from dalembert import scenes

    suffix = Path(name).suffix.lower()
    if suffix in ROBOT_FILES:
        from dalembert.importers import load_model

        model = load_model(Path(name), floating_base=floating_base, package_dirs=tuple(package_dirs))
    elif suffix == ".json":
        model = read_model(Path(name))
    else:
        try:
            return scenes.find(name)
        except UnknownNameError as error:
            raise UnknownNameError("scene (or file *.urdf, *.xml, *.json)", name, error.known) from None
    build = model.copy if hasattr(model, "copy") else model.frozen
    return scenes.Scene(name=model.name or Path(name).stem, summary=f"model of {name}", build=build, stepper=None)


def read_model(path: Path) -> Any:
    """A model from the JSON of `Model.to_dict`, or a Lagrangian from that of `Lagrangian.to_dict`."""
    import json

    from dalembert.model import Model

    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        if data.get("kind") == "lagrangian":
            from dalembert.lagrangian import Lagrangian

            return Lagrangian.from_dict(data)
        return Model.from_dict(data)
    except OSError as error:
        raise OptionError(f"{path}: {error.strerror or error}.") from error
    except (KeyError, TypeError, AttributeError, json.JSONDecodeError) as error:
        if isinstance(error, DalembertError):
            raise
        raise OptionError(f"{path}: not a model as json.dump(model.to_dict()) writes it ({type(error).__name__}: {error}).") from error


def print_table(title: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A Rich table; wide when the output is not a terminal."""
    from rich.console import Console
    from rich.table import Table

    console = Console() if sys.stdout.isatty() else Console(width=200)
    table = Table(title=title, title_justify="left")
    for i, head in enumerate(heads):
        table.add_column(head, no_wrap=i == 0)
    for row in rows:
        table.add_row(*row)
    console.print(table, markup=False)


def serve(view: Any, browser: bool) -> None:
    """Say where a page is, open it, and wait for Ctrl-C, which may come as soon as the page is there."""
    try:
        _announce(view, browser)
        view.wait()
    except KeyboardInterrupt:
        typer.echo("closed")
    finally:
        view.close()


def _announce(view: Any, browser: bool) -> None:
    page = view.page
    if page.moved:
        typer.secho(f"port {page.asked} is busy; this page is on {page.port}", fg=typer.colors.YELLOW, err=True)
    typer.echo(f"{view.url}   (Ctrl-C ends it)")
    if browser:
        import webbrowser

        webbrowser.open(view.url)
