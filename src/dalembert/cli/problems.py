"""`dalembert problems`: problems of steps that a run archived, solved again by every method and judged."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dalembert.cli import _shell as shell
from dalembert.errors import UnknownNameError

if TYPE_CHECKING:
    from dalembert.contact.resolution import Resolution

NAME = "problems"
EXAMPLES = shell.examples(
    "dalembert run heap --option archive_failures=problems.h5",
    "dalembert problems problems.h5",
    "dalembert problems problems.h5 --name step-000019 --method direct,split",
    "dalembert problems problems.h5 --method lemke --corners 8 --json",
)
HEADS = ("problem", "rows", "method", "residual", "solved", "iterations", "time")


def command(
    path: Annotated[Path, typer.Argument(help="HDF5 file, or folder, of a run with archive_failures=..., or a global problem of FCLIB.")],
    method: Annotated[
        list[str] | None,
        typer.Option(
            "--method", "-m", help="direct, gauss-seidel, exact, split, direct+split, lemke, keller, or run: as in the run; default: all."
        ),
    ] = None,
    name: Annotated[list[str] | None, typer.Option("--name", "-n", help="Problems of these names only; may be repeated.")] = None,
    corners: Annotated[int, typer.Option("--corners", help="Polygons of so many corners in place of cones, for lemke and keller.")] = 0,
    sweeps: Annotated[int, typer.Option("--sweeps", help="Of gauss-seidel, at most.")] = 1000,
    tol: Annotated[float | None, typer.Option("--tol", help="Natural residual, m/s; default: that of the run.")] = None,
    cold: Annotated[bool, typer.Option("--cold", help="Without the impulses of the step before.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="The table as JSON.")] = False,
) -> None:
    """Solve archived problems of steps again, by every method, and print how each fared.

    The residual is the natural one of the law of the run, m/s, the same judge for all. Iterations count factors, sweeps, rounds or pivots.
    The time is that of a second solution: the first compiles. Exit code 0 if each problem was solved by some method, otherwise 1.
    """
    from dalembert.contact.resolution import resolve_by_all

    wanted = _methods(method)
    more: dict[str, Any] = {"corners": corners, "sweeps": sweeps, "cold": cold} | ({} if tol is None else {"tol": tol})
    found: list[list[Resolution]] = []
    for problem in _chosen(path, name):
        methods = list(dict.fromkeys(problem.options.method if m == "run" else m for m in wanted))
        found.append(resolve_by_all(problem, methods, **more))
    rows = [r for group in found for r in group]
    if as_json:
        _print_json(rows)
    else:
        shell.print_table(f"{path} ({len(found)} problems)", HEADS, [_cells(r) for r in rows])
        for why in dict.fromkeys(r.refused for r in rows if r.refused):
            typer.echo(f"refused: {why}")
    if not all(any(r.solved for r in group) for group in found):
        raise typer.Exit(shell.FAIL)


def _methods(asked: list[str] | None) -> list[str]:
    from dalembert.contact.solver import METHODS

    given = [m.strip() for text in asked or METHODS for m in text.split(",") if m.strip()]
    for m in given:
        if m not in METHODS and m != "run":
            raise UnknownNameError("method of steps", m, [*METHODS, "run"])
    return given


def _chosen(path: Path, names: list[str] | None) -> list[Any]:
    from dalembert.contact.stored import load_problems

    problems = load_problems(path)
    known = [p.name for p in problems]
    for name in names or ():
        if name not in known:
            raise UnknownNameError(f"problem in {str(path)!r}", name, known)
    return [p for p in problems if not names or p.name in names]


def _cells(r: Resolution) -> list[str]:
    if r.refused:
        return [r.problem, str(r.rows), r.method, "refused", "", "", ""]
    count = f"{r.iterations} {r.counts}"
    return [r.problem, str(r.rows), r.method, f"{r.residual:.2g}", "yes" if r.solved else "no", count, f"{1e3 * r.seconds:.3g} ms"]


def _print_json(rows: list[Resolution]) -> None:
    import json

    names = ("problem", "rows", "method", "residual", "solved", "iterations", "counts", "seconds", "branch", "same", "refused")
    typer.echo(json.dumps([{n: _plain(getattr(r, n)) for n in names} for r in rows], indent=2))


def _plain(x: Any) -> Any:
    """JSON has no infinity."""
    return None if isinstance(x, float) and not x < float("inf") else x
