"""Ensembles: one machine or many, thousands of runs, on cores or a cluster; one bad sample does not lose the night."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dalembert.ensembles.ensemble import ensemble, load_study, rerun
from dalembert.ensembles.lyapunov import Lyapunov
from dalembert.ensembles.observers import Basin, EnergyChange, Histogram, Observer, Section, Statistics
from dalembert.ensembles.samples import Samples, design
from dalembert.ensembles.study import Row, Study
from dalembert.ensembles.thresholds import Thresholds, thresholds

if TYPE_CHECKING:
    from dalembert.ensembles.work_and_precision import Precision, precision

__all__ = [
    "Basin",
    "EnergyChange",
    "Histogram",
    "Lyapunov",
    "Observer",
    "Precision",
    "Row",
    "Samples",
    "Section",
    "Statistics",
    "Study",
    "Thresholds",
    "design",
    "ensemble",
    "load_study",
    "precision",
    "rerun",
    "thresholds",
]


def __getattr__(name: str) -> Any:
    """What needs comparison, and with it much more, is imported when it is first asked for."""
    if name in ("Precision", "precision"):
        from dalembert.ensembles import work_and_precision

        return getattr(work_and_precision, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
