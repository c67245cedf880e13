"""`dalembert lcp`: solve complementarity and contact problems from files, and make such files."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dalembert.cli import _shell as shell
from dalembert.errors import OptionError, UnknownNameError

if TYPE_CHECKING:
    from dalembert.complementarity.archive import LinearProblem
    from dalembert.complementarity.friction import ContactProblem

NAME = "lcp"
EXAMPLES = shell.examples(
    "dalembert lcp make boxed problem.h5 --n 100 --condition 1e4",
    "dalembert lcp solve problem.h5 --method all",
    "dalembert lcp make contacts pile.h5 --n 8 --mu 0.7",
    "dalembert lcp solve pile.h5 --method cone --method polygon",
)
HEADS = ("method", "status", "residual", "pivots", "time", "fallback")

app = typer.Typer(
    name=NAME,
    help="Complementarity problems: solve those in files (HDF5, contacts as FCLIB stores them), and make random ones.",
    epilog=EXAMPLES,
    no_args_is_help=True,
    rich_markup_mode="rich",
)


class Kind(StrEnum):
    """Problems that can be made."""

    lcp = "lcp"
    boxed = "boxed"
    mixed = "mixed"
    nonsymmetric = "nonsymmetric"
    polygonal = "polygonal"
    contacts = "contacts"


@app.command(epilog=EXAMPLES)
def solve(
    path: Annotated[Path, typer.Argument(help="File with a problem, as `dalembert lcp make`, `save_problem` or FCLIB writes it.")],
    method: Annotated[
        list[str] | None,
        typer.Option("--method", "-m", help="Method, or friction model for contacts; may be repeated. all: every one, the default."),
    ] = None,
    tol: Annotated[float, typer.Option("--tol", help="Relative residual of a solution.")] = 1e-9,
    as_json: Annotated[bool, typer.Option("--json", help="The table as JSON.")] = False,
) -> None:
    """Solve a problem and print how each method fared: status, residual as the judge recomputes it, pivots, time.

    The time is that of a second call: the first compiles. Exit code 0 if at least one method solved it, otherwise 1.
    """
    from dalembert.complementarity.archive import read_problem
    from dalembert.complementarity.friction import ContactProblem

    stored = read_problem(path)
    problem = stored.problem
    names = _names(problem, method or ["all"])
    contacts = isinstance(problem, ContactProblem)
    rows = [_friction(problem, name, tol) if contacts else _linear(problem, name, tol) for name in names]
    if as_json:
        import json

        typer.echo(json.dumps(rows, indent=2))
    else:
        what = f"{problem.contacts} contacts" if isinstance(problem, ContactProblem) else f"n = {len(problem.q)}"
        title = f"{stored.info.get('title', path.name)} ({what})"
        shell.print_table(title, HEADS, [[_cell(row[h]) for h in HEADS] for row in rows])
    if not any(row["status"] == "solved" for row in rows):
        raise typer.Exit(shell.FAIL)


@app.command(epilog=EXAMPLES)
def make(
    kind: Annotated[Kind, typer.Argument(help="What kind of problem.")],
    path: Annotated[Path, typer.Argument(help="File to write.")],
    n: Annotated[int, typer.Option("--n", "-n", help="Unknowns; for polygonal and contacts: contacts.")] = 10,
    condition: Annotated[float, typer.Option("--condition", help="Condition number of the matrix (lcp, boxed, mixed).")] = 1e3,
    mu: Annotated[float, typer.Option("--mu", help="Coefficient of friction (polygonal, contacts).")] = 0.5,
    skew: Annotated[float, typer.Option("--skew", help="Size of the skew part (nonsymmetric).")] = 0.2,
    duplicates: Annotated[int, typer.Option("--duplicates", help="Contacts that occur twice (polygonal, contacts).")] = 0,
    seed: Annotated[int, typer.Option("--seed", help="Of the random numbers.")] = 0,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the file if it exists.")] = False,
) -> None:
    """Write a random problem to a file. The same seed gives the same problem."""
    from dalembert.complementarity.archive import save_problem

    if n < 1 or duplicates < 0 or seed < 0 or not mu >= 0.0 or not condition >= 1.0:
        raise OptionError(
            f"--n {n}, --duplicates {duplicates}, --seed {seed}, --mu {mu:g}, --condition {condition:g}; "
            "expected n >= 1, condition >= 1 and the others >= 0."
        )
    settings = {"lcp": f"condition {condition:g}", "boxed": f"condition {condition:g}", "mixed": f"condition {condition:g}"}
    setting = settings.get(kind.value, f"skew {skew:g}" if kind is Kind.nonsymmetric else f"mu {mu:g}, duplicates {duplicates}")
    problem = _make(kind, n, condition, mu, skew, duplicates, seed)
    save_problem(path, problem, title=f"random {kind.value}", description=f"n {n}, {setting}, seed {seed}", overwrite=overwrite)
    typer.echo(f"problem: {path}")


def _make(kind: Kind, n: int, condition: float, mu: float, skew: float, duplicates: int, seed: int) -> Any:
    import numpy as np

    from dalembert.complementarity import generators
    from dalembert.complementarity.friction.generators import random_contacts

    rng = np.random.default_rng(seed)
    if kind is Kind.contacts:
        return random_contacts(n, mu, rng, duplicates=duplicates)
    if kind is Kind.polygonal:
        return generators.friction(n, mu, rng, duplicates=duplicates)
    if kind is Kind.nonsymmetric:
        return generators.random_nonsymmetric(n, skew, rng)
    maker = {Kind.lcp: generators.random_lcp, Kind.boxed: generators.random_boxed, Kind.mixed: generators.random_mixed}[kind]
    return maker(n, condition, rng)


def _names(problem: ContactProblem | LinearProblem, asked: list[str]) -> list[str]:
    from dalembert.complementarity import methods
    from dalembert.complementarity.friction import ContactProblem, models

    contacts = isinstance(problem, ContactProblem)
    known = [m.name for m in (models() if contacts else methods())]
    asked = [name.strip() for text in asked for name in text.split(",") if name.strip()]
    for name in asked:
        if name != "all" and name not in known:
            raise UnknownNameError("friction model" if contacts else "method of complementarity", name, [*known, "all"])
    return known if "all" in asked else list(dict.fromkeys(asked))


def _linear(problem: Any, name: str, tol: float) -> dict[str, Any]:
    from dalembert.complementarity import lcp

    found, seconds = _timed(lambda: lcp(problem.M, problem.q, problem.lower, problem.upper, method=name, tol=tol))
    return _row(name, found.status, found.relative_residual, found.pivots, seconds, found.fallback)


def _friction(problem: Any, name: str, tol: float) -> dict[str, Any]:
    from dalembert.complementarity.friction import solve_friction

    found, seconds = _timed(lambda: solve_friction(problem, model=name, tol=tol))
    return _row(name, found.status, found.residual, found.work, seconds, found.fallback)


def _timed(solve: Callable[[], Any]) -> tuple[Any, float]:
    """The second of two runs, which compiles nothing; the first where it took long."""
    for _ in range(2):
        began = perf_counter()
        found = solve()
        seconds = perf_counter() - began
        if seconds > 10.0:
            break
    return found, seconds


def _row(*values: Any) -> dict[str, Any]:
    return dict(zip(HEADS, values, strict=True))


def _cell(x: Any) -> str:
    return f"{x:.2g}" if isinstance(x, float) else str(x)
