"""Ensembles: one machine or many, thousands of runs, on cores or a cluster; one bad sample does not lose the night."""

from dalembert.ensembles.ensemble import ensemble, load_study, rerun
from dalembert.ensembles.lyapunov import Lyapunov
from dalembert.ensembles.observers import Basin, EnergyChange, Histogram, Observer, Section, Statistics
from dalembert.ensembles.samples import Samples, design
from dalembert.ensembles.study import Row, Study

__all__ = [
    "Basin",
    "EnergyChange",
    "Histogram",
    "Lyapunov",
    "Observer",
    "Row",
    "Samples",
    "Section",
    "Statistics",
    "Study",
    "design",
    "ensemble",
    "load_study",
    "rerun",
]
