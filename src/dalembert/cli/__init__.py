"""The command `dalembert`: one file per command, each importing what it needs when it is called."""

from __future__ import annotations

import importlib.metadata
from typing import Annotated

import typer

from dalembert.cli import (
    advise,
    check,
    cite,
    compare,
    demo,
    inspect,
    lcp,
    list,
    live,
    optimize,
    plot,
    problems,
    report,
    run,
    sweep,
    view,
    warm,
)
from dalembert.cli._shell import Shell

app = typer.Typer(
    name="dalembert",
    cls=Shell,
    help="Structure-preserving multibody dynamics: run machines on discrete mechanical principles, and see what was conserved.",
    epilog="Start with: dalembert demo",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"dalembert {importlib.metadata.version('dalembert')}")
        raise typer.Exit()


@app.callback()
def options(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of errors.")] = False,
) -> None:
    """Options that come before the command; `Shell` reads --debug."""


for module in (demo, run, list, inspect, check, compare, sweep, optimize, plot, view, live, report, problems, advise, cite, warm):
    app.command(name=module.NAME, epilog=module.EXAMPLES)(module.command)
app.add_typer(lcp.app, name=lcp.NAME)


def main() -> None:
    """Entry point of the command line."""
    app()
