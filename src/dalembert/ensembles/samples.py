"""Samples of a study: what differs from run to run.

    [{"q0": [0.1, 0.2], "rod.mass": 1.1}, ...]        a list of mappings
    {"q0": array (n, nq), "rod.mass": array (n,)}     columns; or a table of pandas
    array (n, k), names=["q0.knee", "rod.mass", ...]  one row for each sample
    dal.design(qmc.Sobol(2, seed=1), 1024, {"q0.knee": (-1, 1), "rod.mass": scipy.stats.norm(1.0, 0.05)})

Names of a system: q0, v0 (arrays, {joint: values}), q0.JOINT, v0.JOINT, h, t_end, and those that `with_values` takes ("rod.mass"). A
function that builds a machine gets the sample as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from dalembert.errors import OptionError


class Samples:
    """`len(samples)`, `samples[i]` a mapping; columns: numbers by name, (n, ...), or None where samples differ in kind."""

    def __init__(self, columns: dict[str, np.ndarray] | None, rows: list[dict[str, Any]] | None = None, n: int | None = None):
        self.columns, self._rows = columns, rows
        self._n = len(rows) if rows is not None else (n if n is not None else len(next(iter((columns or {}).values()), ())))

    def __len__(self) -> int:
        return self._n

    def __getitem__(self, i: int) -> dict[str, Any]:
        if self._rows is not None:
            return dict(self._rows[i])
        return {name: column[i] if column.ndim > 1 else _plain(column[i]) for name, column in (self.columns or {}).items()}

    @property
    def names(self) -> tuple[str, ...]:
        """Of all samples."""
        if self.columns is not None:
            return tuple(self.columns)
        return tuple(dict.fromkeys(name for row in self._rows or () for name in row))

    def some(self, index: np.ndarray) -> Samples:
        """Those of some indices."""
        if self.columns is not None:
            return Samples({name: column[index] for name, column in self.columns.items()}, n=len(index))
        return Samples(None, [self[int(i)] for i in index])

    def __repr__(self) -> str:
        return f"Samples({len(self)}: {', '.join(self.names)})"


def _plain(x: Any) -> Any:
    return x.item() if isinstance(x, np.generic) else x


def read_samples(given: Any, names: Sequence[str] | None = None) -> Samples:
    """Samples from what a call was given; OptionError names what cannot be."""
    if isinstance(given, Samples):
        return given
    if isinstance(given, Mapping):
        return _columns(dict(given))
    if isinstance(given, np.ndarray):
        return _matrix(given, names)
    if hasattr(given, "columns") and hasattr(given, "to_numpy"):
        return _table(given)
    rows = list(given) if isinstance(given, (Sequence, Iterator)) and not isinstance(given, (str, bytes)) else None
    if rows is None or not all(isinstance(row, Mapping) for row in rows):
        raise OptionError(
            f"samples is {_short(given)}; expected a list of mappings, a mapping of columns, a table of pandas, an array (n, k) with "
            "names=, or dal.design()."
        )
    return _rows([dict(row) for row in rows])


def _rows(rows: list[dict[str, Any]]) -> Samples:
    """As columns where all rows have the same names and numbers of one shape."""
    for i, row in enumerate(rows):
        if not all(isinstance(name, str) for name in row):
            raise OptionError(f"sample {i} has the names {list(row)}; expected text.")
    if rows and all(row.keys() == rows[0].keys() for row in rows):
        columns = {}
        for name in rows[0]:
            values = [row[name] for row in rows]
            if not all(isinstance(x, (int, float, np.ndarray, np.generic, list, tuple)) and not isinstance(x, bool) for x in values):
                return Samples(None, rows)
            try:
                columns[name] = np.array(values, dtype=float)
            except (TypeError, ValueError):
                return Samples(None, rows)
        return Samples(columns, n=len(rows))
    return Samples(None, rows)


def _columns(given: dict[str, Any]) -> Samples:
    columns = {}
    for name, values in given.items():
        try:
            columns[name] = np.array(values, dtype=float)
        except (TypeError, ValueError):
            raise OptionError(f"samples: column {name!r} is {_short(values)}; expected numbers, one row for each sample.") from None
        if not isinstance(name, str) or columns[name].ndim == 0:
            raise OptionError(f"samples: column {name!r} has no rows; expected an array with one row for each sample.")
    sizes = {name: len(column) for name, column in columns.items()}
    if len(set(sizes.values())) > 1:
        raise OptionError(f"samples: columns differ in length: {sizes}.")
    return Samples(columns, n=next(iter(sizes.values()), 0))


def _table(given: Any) -> Samples:
    """Of pandas: columns of numbers; where one holds something else, its rows as mappings."""
    names = list(given.columns)
    if not _texts(names) or len(set(names)) < len(names):
        raise OptionError(f"samples: the columns of the table are {_short(names)}; expected texts, each once.")
    columns = {name: given[name].to_numpy() for name in names}
    if all(column.dtype.kind in "iuf" for column in columns.values()):
        return _columns(columns) if columns else Samples({}, n=len(given))
    return _rows([dict(zip(names, (_plain(x) for x in row), strict=True)) for row in zip(*columns.values(), strict=True)])


def _matrix(given: np.ndarray, names: Sequence[str] | None) -> Samples:
    if not _texts(names) or names is None or given.ndim != 2 or given.shape[1] != len(names):
        raise OptionError(
            f"samples is an array of shape {given.shape} with names={names!r}; expected an array (n, k) and names=, a list of k names."
        )
    if len(set(names)) < len(names):
        raise OptionError(f"samples: names are {list(names)}; expected each name once.")
    return _columns({name: given[:, i] for i, name in enumerate(names)})


def _texts(names: Any) -> bool:
    return isinstance(names, Sequence) and not isinstance(names, str) and all(isinstance(name, str) for name in names)


def _short(x: Any) -> str:
    text = repr(x)
    return text if len(text) < 60 else f"{text[:57]}..."


def design(sampler: Any, n: int, ranges: Mapping[str, Any]) -> Samples:
    """n samples of a design, a `scipy.stats.qmc` sampler with one dimension for each name, or a NumPy random generator.

    ranges: {name: (least, most)}, uniform, or a frozen distribution of scipy.stats, whose quantiles are taken.
    """
    if not isinstance(ranges, Mapping) or not ranges:
        raise OptionError(f"design: ranges is {_short(ranges)}; expected {{name: (least, most) or a distribution of scipy.stats}}.")
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 1:
        raise OptionError(f"design: n is {n!r}; expected a whole number of samples, at least 1.")
    try:
        unit = _unit(sampler, int(n), len(ranges))
    except (MemoryError, OverflowError, ValueError) as error:
        raise OptionError(f"design: {n} samples of {len(ranges)} numbers cannot be drawn: {error}.") from None
    columns = {}
    for i, (name, wanted) in enumerate(ranges.items()):
        if hasattr(wanted, "ppf"):
            columns[name] = np.asarray(wanted.ppf(unit[:, i]), dtype=float)
            if np.isnan(columns[name]).any():
                raise OptionError(f"design: the distribution of {name!r} has quantiles that are no numbers; are its parameters sound?")
            continue
        try:
            low, high = (float(x) for x in wanted)
        except (TypeError, ValueError):
            raise OptionError(f"design: the range of {name!r} is {wanted!r}; expected (least, most) or a distribution.") from None
        if not (np.isfinite([low, high]).all() and low <= high):
            raise OptionError(f"design: the range of {name!r} is {wanted!r}; expected finite least <= most.")
        columns[name] = low + (high - low) * unit[:, i]
    return Samples(columns, n=int(n))


def _unit(sampler: Any, n: int, k: int) -> np.ndarray:
    """(n, k) numbers in [0, 1)."""
    if isinstance(sampler, np.random.Generator):
        return sampler.random((n, k))
    if not hasattr(sampler, "random") or not hasattr(sampler, "d"):
        raise OptionError(f"design: the sampler is {sampler!r}; expected one of scipy.stats.qmc, or np.random.default_rng(seed).")
    if sampler.d != k:
        raise OptionError(f"design: the sampler has {sampler.d} dimensions for {k} names; expected as many as names.")
    return np.asarray(sampler.random(n), dtype=float)
