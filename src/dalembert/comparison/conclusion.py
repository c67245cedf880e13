"""What a comparison of runs of one machine says, in plain words.

A run drifts if its energy has certainly risen or fallen along a line (`report/drift.py`), or if the mean of its last tenth lies further
from the start than twice the usual oscillation, the median over 32 parts of the run of max - min, and in its
second half it never comes back to the start (to a twentieth of the largest change in the first half).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dalembert.arrays import Array
from dalembert.comparison import measures
from dalembert.peers import is_peer
from dalembert.report.drift import BLOCKS, find_drift

if TYPE_CHECKING:
    from dalembert.comparison.runs import Comparison, Row
    from dalembert.runs.trajectory import Trajectory

ROUND_OFF = 1e-9  # relative: below this a change of energy counts as none
EXACT = 1e-11  # relative: momentum that is kept to round-off
BACK = 0.05  # of the largest change in the first half: as near to the start as that is back
EXPLODED = 10.0  # times the largest kinetic energy


def conclude(result: Comparison) -> list[str]:
    """One sentence per method, and one about all of them."""
    runs = list(zip(result.rows, result.trajectories, strict=True))
    kept = {row.label: keeps_energy(measures.energy_error(traj, result.scale)) and row.status == "ok" for row, traj in runs}
    return [*(_sentence(row, traj, result.scale) for row, traj in runs), *_summary(result, kept)]


def keeps_energy(error: Array) -> bool:
    """False if the energy leaves its band, or cannot be judged."""
    if not np.isfinite(error).all():
        return False
    if float(np.abs(error).max(initial=0.0)) < ROUND_OFF:
        return True
    found = find_drift(error)
    if found is not None and found.certain:
        return False
    first, second = np.split(np.abs(error), [len(error) // 2])
    if float(second.min()) <= BACK * float(first.max(initial=0.0)):
        return True
    parts = np.array_split(error, min(BLOCKS, max(len(error) // 4, 1)))
    return bool(abs(_last(error)) <= 2.0 * np.median([np.ptp(x) for x in parts]))


def _last(error: Array) -> float:
    """Mean of the last tenth."""
    return float(error[-max(len(error) // 10, 1) :].mean())


def _sentence(row: Row, traj: Trajectory, scale: float | None) -> str:
    error = measures.energy_error(traj, scale)
    if not np.isfinite(error).all():
        words = "forces do work on the model: its energy says nothing"
    elif keeps_energy(error):
        words = f"the energy stays within {percent(row.energy_band)} of its start and does not drift"
    else:
        end = _last(error)
        words = f"the energy {'rises' if end > 0 else 'falls'} by {percent(abs(end))} of the largest kinetic energy"
        words = "the energy explodes" if end > EXPLODED else words
    if np.isfinite(row.momentum) and row.momentum < EXPLODED:
        words += ", momentum is kept to round-off" if row.momentum < EXACT else f", momentum is off by up to {percent(row.momentum)}"
    failed = "" if row.status == "ok" else f" The run broke down after t = {traj.t[-1]:g} s."
    return f"{row.label}: {words}.{failed}"


def _summary(result: Comparison, kept: dict[str, bool]) -> list[str]:
    if not any(np.isfinite(r.energy_band) for r in result.rows):
        return []
    good, bad = ([name for name, ok in kept.items() if ok is want] for want in (True, False))
    if not bad:
        return ["No method drifts over this time; a longer run or a larger step may tell them apart."]
    if not good:
        return ["All methods drift at this step; try a smaller one."]
    hold, lose = ("keeps" if len(good) == 1 else "keep"), ("does" if len(bad) == 1 else "do")
    return [f"Over {result.t_end:g} s {_list(good)} {hold} the energy in its band, {_list(bad)} {lose} not.", *_small_drifts(result, kept)]


def _small_drifts(result: Comparison, kept: dict[str, bool]) -> list[str]:
    """Says where a drift is still smaller than the band of a method that does not drift, and when it will have left it."""
    band = min((r.energy_band for r in result.rows if kept[r.label] and not is_peer(r.label)), default=0.0)
    small = [r for r in result.rows if not kept[r.label] and r.status == "ok" and r.energy_band < band and r.energy_drift != 0.0]
    return [
        f"So far the drift of {r.label} ({percent(r.energy_band)}) is smaller than that band ({percent(band)}); at its pace it leaves it "
        f"after about {result.t_end * band / abs(r.energy_drift):.2g} s."
        for r in small
    ]


def percent(x: float) -> str:
    """'0.02 %', '3.1e-05 %', '250 %'"""
    return f"{100.0 * x:.2g} %" if x < 10.0 else f"{100.0 * x:.3g} %"


def _list(names: list[str]) -> str:
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]
