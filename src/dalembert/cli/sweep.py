"""`dalembert sweep`: a study from a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from dalembert.cli import _shell as shell

NAME = "sweep"
EXAMPLES = shell.examples(
    "dalembert sweep sweep.toml",
    "dalembert sweep sweep.toml --workers 2 -o study.h5",
    "dalembert sweep sweep.toml -o study.html",
    "dalembert sweep sweep.toml -o study.h5 --page study.html",
    "dalembert sweep sweep.toml --dask local",
    "dalembert sweep sweep.toml --dask tcp://127.0.0.1:8786 --table rows.csv",
)


def command(
    study: Annotated[Path, typer.Argument(help="A file (TOML) that tells the machine, the samples and what is observed.")],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="File of the rows (HDF5), with which the same command goes on where it ended; or page (HTML)."),
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Begin anew.")] = False,
    workers: Annotated[int | None, typer.Option("--workers", "-w", help="Threads or processes; default: all cores.")] = None,
    dask: Annotated[str | None, typer.Option("--dask", help="Address of a Dask scheduler, or local: processes of this machine.")] = None,
    table: Annotated[Path | None, typer.Option("--table", help="Write the rows as CSV too.")] = None,
    page: Annotated[Path | None, typer.Option("--page", help="Write a page (HTML): statuses, statistics, histograms, failures.")] = None,
    progress: Annotated[bool | None, typer.Option("--progress/--no-progress", help="Progress bar; default: in a terminal.")] = None,
) -> None:
    """Run every sample of a study, and say how each kind of them ended.

    A sample that fails is a row of the file, with a word, a sentence and the state before. Killed, the same command goes on from the file.
    Exit code 1 if a sample was not run.
    """
    from dalembert.ensembles import ensemble
    from dalembert.ensembles.sweep import read_sweep

    told = read_sweep(study)
    out, page = _pages(out, page)
    system, given = _machine(str(told.pop("model")), study.parent)
    saved = told.pop("save", None)
    path = out if out is not None else None if saved is None else study.parent / saved
    options: dict[str, Any] = dict(told.pop("options", {}))
    settings = {**given, **told}
    samples = settings.pop("samples")
    executor = "local" if dask is None else "dask" if dask == "local" else dask
    found = ensemble(
        system, samples, executor=executor, save=path, workers=workers, overwrite=overwrite, progress=progress, **settings, **options
    )
    typer.echo(found.text)
    for name, column in found.observed.items():
        if column.ndim == 1:
            typer.echo(f"  {name}: {_spread(column)}")
    if table is not None:
        found.to_pandas().to_csv(table, index=False)
    if page is not None:
        typer.echo(f"page: {found.page(page)}")
    typer.echo(f"saved to {path}" if path is not None else "not saved; -o STUDY.h5 keeps the rows")
    if not found.done.all():
        raise typer.Exit(shell.INTERRUPTED if found.meta.get("interrupted") else shell.FAIL)


def _pages(out: Path | None, page: Path | None) -> tuple[Path | None, Path | None]:
    """(file of the rows, page): `-o x.html` is a page; checked before hours of computing."""
    if out is not None and out.suffix.lower() in (".html", ".htm"):
        out, page = None, page or out
    if page is not None:
        from dalembert.view.page.document import SUFFIXES
        from dalembert.view.picture import checked_path

        checked_path(page, SUFFIXES)
    return out, page


def _machine(name: str, folder: Path) -> tuple[Any, dict[str, Any]]:
    """The system, and how the scene would run it."""
    beside = folder / name
    scene = shell.find_scene(str(beside) if beside.is_file() else name)
    return scene.model(), {"stepper": scene.stepper, "h": scene.h, "t_end": scene.t_end, "q0": scene.q0, "v0": scene.v0}


def _spread(column: Any) -> str:
    import numpy as np

    known = column[np.isfinite(column)]
    if not len(known):
        return "no numbers"
    low, middle, high = np.quantile(known, (0.05, 0.5, 0.95))
    return f"median {middle:.6g}, from {low:.6g} to {high:.6g} in nine of ten"
