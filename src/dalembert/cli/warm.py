"""`dalembert warm`: compile everything now, so that no run waits for it."""

from __future__ import annotations

from dalembert.cli import _shell as shell
from dalembert.errors import ArchiveError

NAME = "warm"
EXAMPLES = shell.examples("dalembert warm", "DALEMBERT_CACHE_DIR=cache dalembert warm")


def command() -> None:
    """Compile all kernels into the cache, once per machine and version: takes minutes. What is done stays after an interrupt."""
    from time import perf_counter

    from rich.console import Console
    from rich.progress import track

    from dalembert.kernels import _cache
    from dalembert.warming import tasks

    console, began = Console(stderr=True), perf_counter()
    if _cache.directory() is None:
        raise ArchiveError(f"the cache directory {_cache.chosen_directory()} cannot be written; DALEMBERT_CACHE_DIR chooses another.")
    for _, compile_it in track(list(tasks()), description="compiling", console=console, transient=True):
        compile_it()
    where = _cache.chosen_directory()
    size = sum(f.stat().st_size for f in where.rglob("*") if f.is_file())
    console.print(f"everything is compiled: {perf_counter() - began:.0f} s, {size / 1e6:.1f} MB in {where}", highlight=False)
