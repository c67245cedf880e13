"""Work and precision over many samples: errors of the end against CPU time, method by method and step by step.

error of a sample: largest coordinate of difference(reference, end), rad or m. The reference of each sample is a fine run of its own; it is
run twice, with h and 2h, and where these differ by more than SENSITIVE the motion is too sensitive for an error of its end to mean
anything: such samples are counted, and left out. CPU: of one thread, all of a study (starts, steps, last nodes) divided by its samples.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dalembert.comparison.looks import trusted
from dalembert.comparison.methods import split_name
from dalembert.comparison.precision import observed_order
from dalembert.comparison.reference import FINER, SENSITIVE
from dalembert.comparison.table import number, text_table
from dalembert.ensembles.ensemble import ensemble
from dalembert.ensembles.samples import read_samples
from dalembert.ensembles.study import Study
from dalembert.errors import OptionError
from dalembert.runs import checks
from dalembert.systems import System

QUANTILE = 0.9


@dataclass(frozen=True)
class Precision:
    """table: a dict for each method and step: method, h, steps, seconds (CPU of a sample), median, high (of nine of ten) and largest error,
    failed (samples). errors: {(method, h): (n,)}, NaN where a run failed or is too sensitive. uncertainty (n,): of the reference.
    orders: slope of the logarithm of the median error over that of h."""

    table: tuple[dict[str, Any], ...]
    errors: dict[tuple[str, float], np.ndarray]
    uncertainty: np.ndarray
    orders: dict[str, float]
    reference: str

    @property
    def text(self) -> str:
        """Plain text: errors, orders, reference."""
        heads = ("method", "h (s)", "CPU of a sample (us)", "median error", "nine of ten below", "largest", "failed")
        spread = [[number(r[k], 3) for k in ("median", "high", "largest")] for r in self.table]
        rows = [
            (r["method"], f"{r['h']:g}", f"{1e6 * r['seconds']:.3g}", *found, str(r["failed"]))
            for r, found in zip(self.table, spread, strict=True)
        ]
        n, lost = len(self.uncertainty), int((~(self.uncertainty <= SENSITIVE)).sum())
        left = f"; {lost} of {n} samples are too sensitive and left out" if lost else ""
        told = ", ".join(f"{name} {p:.2f}" if np.isfinite(p) else f"{name} -" for name, p in self.orders.items())
        return f"{text_table(heads, rows)}\nreference: {self.reference}, {n} samples{left}.\nobserved orders: {told}"

    def plot(self, path: Any = None) -> Any:
        """Median error against h and against the CPU time of a sample; to a file if a path is given."""
        from dalembert.view.compare_plots import plot_work_precision

        return plot_work_precision([{**row, "error": row["median"]} for row in self.table], path)

    def __str__(self) -> str:
        return self.text


def precision(
    system: Any,
    samples: Any,
    steppers: Sequence[str],
    hs: Sequence[float],
    t_end: float = 10.0,
    reference: str | None = None,
    *,
    names: Any = None,
    **given: Any,
) -> Precision:
    """Every method with every step, over all samples.

    system      a Model or Lagrangian; samples as of `ensemble`, without h and t_end
    steppers    names, composed ones too: "midpoint", "midpoint+suzuki4"
    reference   the method of the fine runs; None: the one that `dal.work_precision` trusts most (mk8 of trees, dop853 of formulas)
    given       as of `ensemble`: q0, v0, control, ignore, executor, workers. CPU is told per thread, so that workers do not matter
    """
    wanted = read_samples(samples, names)
    if not isinstance(system, System):
        raise OptionError(f"precision: the first argument is {type(system).__name__!r}; expected a Model or a Lagrangian.")
    for what, one in (("steppers", steppers), ("hs", hs)):
        if not isinstance(one, (list, tuple, np.ndarray)) or not len(one):
            raise OptionError(f"precision: {what} is {one!r}; expected a list of at least one.")
    if {"h", "t_end"} & set(wanted.names) or not len(wanted):
        raise OptionError(f"precision: samples are {wanted!r}; expected at least one, without h and t_end.")
    given = {"progress": False, **given, "workers": 1}
    name = _reference(system) if reference is None else reference
    ends = [_ends(system, wanted, name, h, t_end, given)[0] for h in _fine(hs, t_end)]
    uncertainty = _distances(system, *(study.q for study in ends))
    uncertainty[~(ends[0].ok & ends[1].ok)] = np.nan
    if not np.isfinite(uncertainty).any():
        raise OptionError(f"precision: no run of the reference {name!r} ends well: {ends[0].text}")
    usable = uncertainty <= SENSITIVE
    table, errors = [], {}
    for method in steppers:
        for h in hs:
            study, seconds = _ends(system, wanted, method, h, t_end, given)
            found = np.where(study.ok & usable, _distances(system, ends[0].q, study.q), np.nan)
            errors[method, float(h)] = found
            table.append({"method": method, "h": float(h), "steps": int(study.steps.max()), "seconds": seconds, **_spread(found),
                          "failed": int((~study.ok).sum())})  # fmt: skip
    floor = max(1e-13, 10.0 * float(np.median(uncertainty[usable])) if usable.any() else 0.0)
    orders = {m: observed_order([{**r, "error": r["median"]} for r in table if r["method"] == m], floor) for m in dict.fromkeys(steppers)}
    return Precision(tuple(table), errors, uncertainty, orders, f"{name} at h = {_fine(hs, t_end)[0]:g} s")


def _reference(system: Any) -> str:
    name = trusted(system.frozen())
    if ":" in name:
        raise OptionError(f"precision: the reference would be {name!r}, which studies do not run; give reference=, such as 'mk8' or 'rk4'.")
    return name


def _fine(hs: Any, t_end: Any) -> tuple[float, float]:
    """The step of the reference, and twice that."""
    n = checks.step_count(min(checks.seconds("h", h) for h in hs), t_end)[1]
    return float(t_end) / (FINER * n), float(t_end) / (FINER // 2 * n)


def _ends(system: Any, samples: Any, method: str, h: Any, t_end: Any, given: dict[str, Any]) -> tuple[Study, float]:
    """The study of a method, and the CPU time of a sample; what is compiled was compiled before."""
    stepper, compose = split_name(method)
    options = {**given, "compose": compose}
    ensemble(system, samples.some(np.arange(1)), stepper, h, t_end, **options)
    began = time.process_time()
    study = ensemble(system, samples, stepper, h, t_end, **options)
    if study.meta.get("interrupted"):
        raise KeyboardInterrupt
    return study, (time.process_time() - began) / len(samples)


def _distances(system: Any, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """(n,): largest coordinate of the difference of each pair of ends."""
    with np.errstate(all="ignore"):
        return np.abs(np.asarray(system.difference(a, b), dtype=float)).max(axis=1, initial=0.0)


def _spread(errors: np.ndarray) -> dict[str, float]:
    known = errors[np.isfinite(errors)]
    if not len(known):
        return dict.fromkeys(("median", "high", "largest"), float("nan"))
    return {"median": float(np.median(known)), "high": float(np.quantile(known, QUANTILE)), "largest": float(known.max())}
