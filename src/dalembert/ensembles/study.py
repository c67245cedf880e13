"""`Study`: the rows of an ensemble, as columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dalembert.ensembles.rows import WORDS, Rows, empty_rows, put
from dalembert.ensembles.samples import Samples
from dalembert.errors import OptionError
from dalembert.kernels.status import OK

PENDING = -100  # not run yet


@dataclass(frozen=True)
class Row:
    """One sample: status is "ok" or a word, error a sentence where it is not; t, q, v of the last node, before the failure if it failed."""

    index: int
    status: str
    error: str
    sample: dict[str, Any]
    observed: dict[str, Any]
    t: float
    q: np.ndarray
    v: np.ndarray


class Study:
    """Results of `dal.ensemble`: arrays with one row for each sample.

    status: words; error: sentences; samples; observed: {name: array}; t, q, v: of the last node; steps. done: which samples have run.
    """

    def __init__(self, samples: Samples, meta: dict[str, Any], task: Any = None):
        self.samples, self.meta, self.task = samples, meta, task
        self._rows = empty_rows(np.arange(len(samples)), 0, 0)
        self._rows.code[:] = PENDING

    def add(self, rows: Rows) -> None:
        """Rows of samples that were run."""
        mine = self._rows
        nq, nv = max(mine.q.shape[1], rows.q.shape[1]), max(mine.v.shape[1], rows.v.shape[1])
        if (nq, nv) != (mine.q.shape[1], mine.v.shape[1]):
            self._rows = mine = replace(mine, q=_wide(mine.q, nq), v=_wide(mine.v, nv))
        put(mine, rows.index, replace(rows, q=_wide(rows.q, nq), v=_wide(rows.v, nv)))

    def __len__(self) -> int:
        return len(self.samples)

    @property
    def done(self) -> np.ndarray:
        """Which samples have been run."""
        return self._rows.code != PENDING

    @property
    def ok(self) -> np.ndarray:
        """Which samples ended well."""
        return self._rows.code == OK

    @property
    def status(self) -> np.ndarray:
        """Words, "ok" where a run ended well."""
        return np.array([_word(code) for code in self._rows.code], dtype=str)

    @property
    def error(self) -> list[str]:
        """Sentences, empty where a run ended well."""
        return self._rows.errors

    @property
    def observed(self) -> dict[str, np.ndarray]:
        """Columns; NaN where nothing was observed."""
        return self._rows.observed

    @property
    def q(self) -> np.ndarray:
        """Last configurations."""
        return self._rows.q

    @property
    def v(self) -> np.ndarray:
        """Last velocities."""
        return self._rows.v

    @property
    def t(self) -> np.ndarray:
        """Times of the last nodes, s."""
        return self._rows.t

    @property
    def steps(self) -> np.ndarray:
        """Steps that were done."""
        return self._rows.steps

    def __getitem__(self, i: int) -> Row:
        if isinstance(i, bool) or not isinstance(i, (int, np.integer)) or not -len(self) <= i < len(self):
            raise OptionError(f"study: there is no sample {i!r}; there are {len(self)}, counted from 0.")
        i, r = int(i) % len(self), self._rows
        observed = {name: column[i] for name, column in r.observed.items()}
        return Row(i, _word(r.code[i]), r.errors[i], self.samples[i], observed, float(r.t[i]), r.q[i], r.v[i])

    def __iter__(self) -> Iterator[Row]:
        return (self[i] for i in range(len(self)))

    def to_pandas(self) -> Any:
        """A table: samples, status, error, t, and what was observed; arrays as one column for each entry."""
        import pandas

        columns: dict[str, Any] = {}
        if self.samples.columns is not None:
            for name, column in self.samples.columns.items():
                columns |= _flat(name, column)
        else:
            rows = [self.samples[i] for i in range(len(self))]
            columns |= {name: [row.get(name) for row in rows] for name in self.samples.names}
        columns |= {"status": self.status, "error": self.error, "t": self.t}
        for name, column in self.observed.items():
            columns |= _flat(name, column)
        return pandas.DataFrame(columns)

    @property
    def text(self) -> str:
        """In a few lines."""
        words, counts = np.unique(self.status, return_counts=True)
        ended = ", ".join(f"{n} {word}" for word, n in sorted(zip(words.tolist(), counts.tolist(), strict=True), key=lambda x: -x[1]))
        lines = [f"{self.meta.get('title', 'study')}: {_many(len(self), 'sample')}{': ' if ended else ''}{ended}"]
        if "seconds" in self.meta:
            took = f"{self.meta['seconds']:.3g} s, {_many(int(self.steps.sum()), 'step')}"
            lines.append(f"  {took}, {_many(self.meta.get('workers', 1), 'worker')}")
        bad = np.flatnonzero(self.done & ~self.ok)
        lines += [f"  sample {i}: {_word(self._rows.code[i])}: {self.error[i]}" for i in bad[:3]]
        if len(bad) > 3:
            lines.append(f"  ... {len(bad) - 3} more; study[i].error has each sentence, dal.rerun(study, i) its run")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"Study({self.text.splitlines()[0]})"

    def page(self, path: Any) -> Any:
        """One self-contained HTML file: how samples ended, statistics and histograms of what was observed, failures."""
        from dalembert.view.page.study import study_page

        return study_page(self, path)

    def save(self, path: Any, overwrite: bool = False) -> None:
        """Write the study to a file (HDF5)."""
        from dalembert.ensembles.files import write_study

        write_study(self, path, overwrite)


def _many(n: int, what: str) -> str:
    return f"{n} {what}{'' if n == 1 else 's'}"


def _word(code: Any) -> str:
    return WORDS.get(int(code), "not run")


def _wide(x: np.ndarray, n: int) -> np.ndarray:
    if x.shape[1] == n:
        return x
    out = np.full((len(x), n), np.nan)
    out[:, : x.shape[1]] = x
    return out


def _flat(name: str, column: np.ndarray) -> dict[str, Any]:
    if column.ndim == 1:
        return {name: column}
    flat = column.reshape(len(column), -1)
    return {f"{name}[{','.join(map(str, at))}]": flat[:, k] for k, at in enumerate(np.ndindex(column.shape[1:]))}
