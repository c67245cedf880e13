"""Interleaved CPU times: every contestant runs once per round, the median over rounds counts."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable


def cpu_seconds(run: Callable[[], object]) -> float:
    """CPU time of one call, without the garbage collector."""
    gc.disable()
    began = time.process_time()
    run()
    seconds = time.process_time() - began
    gc.enable()
    return seconds


def interleaved(contestants: dict[str, Callable[[], object]], rounds: int = 7) -> dict[str, float]:
    """Median CPU seconds per contestant; one unmeasured round warms up."""
    for run in contestants.values():
        run()
    times: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(rounds):
        for name, run in contestants.items():
            times[name].append(cpu_seconds(run))
    return {name: statistics.median(values) for name, values in times.items()}
