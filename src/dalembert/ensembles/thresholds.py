"""How large a step may be: for each sample the largest h whose run passes a criterion.

    h_j = t_end/N_j,   N_j the whole numbers nearest to (t_end/most) 2^(j/per_doubling)                  from `most` down to `least`

Bisection over j, sample by sample; samples that try the same step run together. It finds a step that passes, h, and the next larger of the
list that does not, `fails`. Where smaller steps do not always pass if larger ones do, that is one such place of several; `scan=True` runs
all steps of the list, and `h` is then the largest one below which all pass.

Ctrl-C ends the search with what it knows: `h` and `fails` enclose the threshold, with steps between them that were not tried.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dalembert.ensembles.ensemble import ensemble
from dalembert.ensembles.samples import Samples, read_samples
from dalembert.ensembles.study import Study
from dalembert.errors import DalembertError, OptionError
from dalembert.runs import checks

Criterion = Callable[[Study], Any]


@dataclass(frozen=True)
class Thresholds:
    """h (n,): largest step that passed, NaN where none of the list did; fails (n,): the next larger one, NaN where all passed.

    steps: the list, from large to small. passed (n, steps): 1, 0, NaN where it was not run. runs: how many there were.
    interrupted: by Ctrl-C, so that steps between h and fails, or below h, may be untried.
    """

    samples: Samples
    h: np.ndarray
    fails: np.ndarray
    steps: np.ndarray
    passed: np.ndarray
    runs: int
    title: str = ""
    interrupted: bool = False

    @property
    def text(self) -> str:
        """In a few lines."""
        known = self.h[np.isfinite(self.h)]
        lines = [f"{self.title}: {len(self.h)} samples, {len(self.steps)} steps from {self.steps[0]:.4g} to {self.steps[-1]:.4g} s"]
        if len(known):
            low, middle, high = np.quantile(known, (0.05, 0.5, 0.95))
            lines.append(f"  largest step that passes: median {middle:.4g} s, from {low:.4g} to {high:.4g} s in nine of ten")
        all_pass, none = int((self.h == self.steps[0]).sum()), int(np.isnan(self.h).sum())
        lines.append(f"  {all_pass} pass with the largest, {none} with none{' that ran' * self.interrupted}; {self.runs} runs")
        if self.interrupted:
            lines.append("  interrupted: h and fails enclose the thresholds; steps between them were not tried")
        return "\n".join(lines)

    def to_pandas(self) -> Any:
        """A table: samples, h, fails."""
        import pandas

        study = Study(self.samples, {})
        table = study.to_pandas().drop(columns=["status", "error", "t"])
        return table.join(pandas.DataFrame({"h": self.h, "fails": self.fails}))

    def __repr__(self) -> str:
        return f"Thresholds({self.text.splitlines()[0]})"


def thresholds(
    build: Any,
    samples: Any,
    stepper: str | None = None,
    h: Any = (1e-3, 1e-1),
    t_end: float = 10.0,
    passes: Criterion | None = None,
    *,
    per_doubling: int = 4,
    scan: bool = False,
    names: Any = None,
    **given: Any,
) -> Thresholds:
    """For each sample the largest step, between h = (least, most), whose run passes.

    passes      a function of the study of one step: True or False for each of its rows, such as
                lambda study: study.observed["energy_change"] < 0.1; a run that fails never passes. None: that it does not fail
    per_doubling    how fine the list of steps is: 4 are apart by 19 %
    scan        run all steps instead of halving the list, where a larger step may pass although a smaller one does not
    build, samples, stepper, t_end, given: as of `ensemble`: observe, control, executor, workers, options ...; no h among the samples
    """
    wanted = read_samples(samples, names)
    if {"h", "t_end"} & set(wanted.names):
        raise OptionError("thresholds: samples give h or t_end; expected neither: the step is what is looked for.")
    if passes is not None and not callable(passes):
        raise OptionError(f"thresholds: passes is {passes!r}; expected a function of a study.")
    if "save" in given:
        raise OptionError("thresholds: save is for one study; expected none.")
    counts = _counts(h, t_end, checks.whole("thresholds: per_doubling", per_doubling, 1))
    search = _Search(build, wanted, stepper, float(t_end), passes, given, counts)
    try:
        if scan:
            for j in range(len(counts)):
                search.run(j, np.arange(len(wanted)))
        else:
            search.bisect()
    except KeyboardInterrupt:
        if not search.runs:
            raise
        return search.result(interrupted=True)
    return search.result()


def _counts(h: Any, t_end: Any, per_doubling: int) -> np.ndarray:
    """Numbers of steps, from few to many."""
    try:
        least, most = (checks.seconds("thresholds: h", x) for x in h)
    except (TypeError, ValueError):
        raise OptionError(f"thresholds: h is {h!r}; expected (least, most), s.") from None
    t_end = checks.seconds("thresholds: t_end", t_end)
    if not least <= most <= t_end * (1 + 1e-9):
        raise OptionError(f"thresholds: h is {h!r} and t_end {t_end:g}; expected least <= most <= t_end.")
    few, many = math.ceil(t_end / most * (1 - 1e-9)), math.ceil(t_end / least * (1 - 1e-9))
    doublings = math.ceil(per_doubling * math.log2(many / few)) if many > few else 0
    return np.unique(np.round(np.geomspace(few, many, doublings + 1)).astype(np.int64))


class _Search:
    """What is known so far of each sample and each step."""

    def __init__(self, build: Any, samples: Samples, stepper: Any, t_end: float, passes: Any, given: Mapping[str, Any], counts: np.ndarray):
        self.build, self.samples, self.stepper, self.t_end, self.passes, self.given = build, samples, stepper, t_end, passes, given
        self.steps = t_end / counts
        self.passed = np.full((len(samples), len(counts)), np.nan)
        self.runs, self.title = 0, ""

    def run(self, j: int, index: np.ndarray) -> None:
        """Some samples with step j."""
        if not len(index):
            return
        given = {"observe": None, "progress": False, **self.given}
        study = ensemble(self.build, self.samples.some(index), self.stepper, float(self.steps[j]), self.t_end, **given)
        if study.meta.get("interrupted"):
            raise KeyboardInterrupt
        told = np.ones(len(index), dtype=bool) if self.passes is None else _told(self.passes, study)
        self.passed[index, j] = told & study.ok
        self.runs, self.title = self.runs + len(index), str(study.meta["title"]).partition(", h =")[0]

    def bisect(self) -> None:
        """Steps are from large to small: fails at `low` (or before the list), passes at `high` (or behind it)."""
        n, last = len(self.samples), len(self.steps) - 1
        low, high = np.full(n, -1), np.full(n, last + 1)
        while (high - low > 1).any():
            middle = np.where(high - low > 1, (low + high) // 2, -1)
            for j in np.unique(middle[middle >= 0]).tolist():
                index = np.flatnonzero(middle == j)
                self.run(j, index)
                good = self.passed[index, j] == 1.0
                high[index[good]], low[index[~good]] = j, j

    def result(self, interrupted: bool = False) -> Thresholds:
        """The largest step that passed below the last one that did not."""
        bad, after = self.passed == 0.0, np.arange(len(self.steps))
        last_bad = np.where(bad.any(axis=1), len(self.steps) - 1 - np.argmax(bad[:, ::-1], axis=1), -1)
        good = (self.passed == 1.0) & (after > last_bad[:, None])
        padded = np.concatenate([self.steps, [np.nan]])
        h = padded[np.where(good.any(axis=1), np.argmax(good, axis=1), -1)]
        fails = np.where(last_bad >= 0, padded[last_bad], np.nan)
        return Thresholds(self.samples, h, fails, self.steps, self.passed, self.runs, self.title, interrupted)


def _told(passes: Criterion, study: Study) -> np.ndarray:
    """The user's criterion, a truth for each row."""
    try:
        with np.errstate(all="ignore"):
            found = np.asarray(passes(study))
    except DalembertError:
        raise
    except Exception as error:
        raise OptionError(f"thresholds: passes(study) raised {type(error).__name__}: {error}.") from error
    if found.shape != (len(study),) or found.dtype.kind not in "bi":
        raise OptionError(f"thresholds: passes(study) is of shape {found.shape} and kind {found.dtype}; expected {len(study)} truths.")
    return found.astype(bool)
