"""A progress bar on long runs, and only in a terminal."""

from __future__ import annotations

import sys
import time
from typing import Any

SHOW_AFTER_SECONDS = 1.0


class Progress:
    """A Rich progress bar that appears once a run has taken a second. wanted: True, False, or None (only in a terminal).

    h: time of one of what is counted, s; 0: it has none.
    """

    def __init__(self, wanted: bool | None, what: str, start: int, total: int, h: float):
        self.on = sys.stderr.isatty() if wanted is None else wanted
        self.what, self.start, self.total, self.h = what, start, total, h
        self.began = time.perf_counter()
        self.bar: Any = None

    def __enter__(self) -> Progress:
        return self

    def update(self, done: int) -> None:
        """Show how far the run is."""
        if not self.on:
            return
        if self.bar is None:
            if time.perf_counter() - self.began < SHOW_AFTER_SECONDS:
                return
            self._open()
        told = f"t = {done * self.h:.6g} s" if self.h else f"{done} of {self.total}"
        self.bar.update(self.task, completed=done, simulated=told)

    def _open(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as RichProgress

        columns = (TextColumn(self.what), BarColumn(), TextColumn("{task.percentage:5.1f} %"), TextColumn("{task.fields[simulated]}"))
        self.bar = RichProgress(*columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True)
        self.task = self.bar.add_task(self.what, total=self.total, completed=self.start, simulated="")
        self.bar.start()

    def __exit__(self, *error: object) -> None:
        if self.bar is not None:
            self.bar.stop()
