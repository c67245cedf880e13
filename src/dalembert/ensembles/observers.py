"""Observers: what is kept of a run beside its last node, computed where the run is.

    a function f(traj) -> a number, an array, or a mapping of them; arrays that differ in size are filled up with NaN
    Statistics("energy"), Histogram(...), Section(...), Basin(...), EnergyChange()     of all samples of a batch at once

`observe=` takes one of them, or {name: one of them}. A function that raises makes the row of that sample say so.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from dalembert.ensembles.batch import Batch
from dalembert.ensembles.rows import REFUSED, put_observed
from dalembert.ensembles.starts import refusal
from dalembert.errors import OptionError, UnknownNameError
from dalembert.runs.checks import whole

__all__ = ["Basin", "EnergyChange", "Histogram", "Observer", "Section", "Statistics"]

SERIES = ("q", "v", "energy")
USERS = (Exception, SystemExit)  # what the user's own code may raise without ending the study; Ctrl-C ends it


class Observer(ABC):
    """Of a batch: columns by name, a row for each sample. all_nodes: it looks at more than the last node."""

    all_nodes = True

    @abstractmethod
    def __call__(self, batch: Batch) -> dict[str, np.ndarray]:
        """Columns, a row for each sample."""


def series(batch: Batch, of: Any) -> np.ndarray:
    """(samples, nodes, ...): "q", "v", "energy", or f(t, q, v) of arrays (samples, nodes, ...)."""
    if callable(of):
        return np.asarray(of(batch.t, batch.q, batch.v), dtype=float)
    if of not in SERIES:
        raise UnknownNameError("observer: series", of, SERIES)
    return np.asarray(getattr(batch, of), dtype=float)


class Statistics(Observer):
    """Over the nodes of a run: columns mean, std, min, max, and quantiles where some are wanted."""

    def __init__(self, of: Any = "energy", quantiles: Sequence[float] = ()):
        self.of, self.quantiles = of, tuple(_given("Statistics: quantiles", quantiles).reshape(-1).tolist())
        if not all(0.0 <= x <= 1.0 for x in self.quantiles):
            raise OptionError(f"Statistics: quantiles are {list(quantiles)}; expected numbers in 0 ... 1.")

    def __call__(self, batch: Batch) -> dict[str, np.ndarray]:
        x = series(batch, self.of)
        with np.errstate(invalid="ignore"):
            found = {"mean": np.nanmean(x, axis=1), "std": np.nanstd(x, axis=1), "min": np.nanmin(x, axis=1), "max": np.nanmax(x, axis=1)}
        if self.quantiles:
            found["quantiles"] = np.moveaxis(np.nanquantile(x, self.quantiles, axis=1), 0, 1)
        return found


class Histogram(Observer):
    """How many nodes of a run are in each interval between edges; of a series with one number for each node."""

    def __init__(self, of: Any, edges: Any):
        self.of, self.edges = of, _given("Histogram: edges", edges)
        if self.edges.ndim != 1 or len(self.edges) < 2 or not (np.diff(self.edges) > 0).all():
            raise OptionError(f"Histogram: edges are {self.edges.tolist()}; expected increasing numbers, two at least.")

    def __call__(self, batch: Batch) -> dict[str, np.ndarray]:
        x = series(batch, self.of)
        if x.ndim > 2 and x.shape[2:] != (1,):
            raise OptionError(f"Histogram: the series has {x.shape[2:]} numbers for each node; expected one.")
        rows = [np.histogram(row[np.isfinite(row)], self.edges)[0] for row in x.reshape(len(x), -1)]
        return {"counts": np.array(rows, dtype=float).reshape(len(x), len(self.edges) - 1)}


class EnergyChange(Observer):
    """Largest distance of the energy from that of the start, J."""

    def __call__(self, batch: Batch) -> dict[str, np.ndarray]:
        with np.errstate(invalid="ignore"):
            return {"energy_change": np.nanmax(np.abs(batch.energy - batch.energy[:, :1]), axis=1)}


class Section(Observer):
    """A Poincare section: the first `most` nodes (q, v) at which s(t, q, v) passes through 0 upwards, between nodes by a cubic in time.

    columns: crossings (most, nq + nv), times (most,), NaN beyond the last; count. Wants the nodes of every step or nearly so.
    """

    def __init__(self, s: Callable[..., Any], most: int = 100):
        self.s, self.most = s, whole("Section: most", most, 1)
        if not callable(s):
            raise OptionError(f"Section: s is {s!r}; expected a function s(t, q, v) of arrays (samples, nodes, ...).")

    def __call__(self, batch: Batch) -> dict[str, np.ndarray]:
        x, values = np.concatenate([batch.q, batch.v], axis=2), np.asarray(self.s(batch.t, batch.q, batch.v), dtype=float)
        if values.shape != x.shape[:2]:
            raise OptionError(f"Section: s is of shape {values.shape}; expected (samples, nodes) = {x.shape[:2]}.")
        n, size = x.shape[0], x.shape[2]
        crossings, times, counts = np.full((n, self.most, size), np.nan), np.full((n, self.most), np.nan), np.zeros(n)
        with np.errstate(invalid="ignore"):
            hits = (values[:, :-1] < 0.0) & (values[:, 1:] >= 0.0)
        for b in range(n):
            at = np.flatnonzero(hits[b])
            counts[b] = len(at)
            for j, k in enumerate(at[: self.most]):
                times[b, j], crossings[b, j] = crossing(batch.t, x[b], values[b], int(k))
        return {"crossings": crossings, "times": times, "count": counts}


def crossing(t: np.ndarray, x: np.ndarray, s: np.ndarray, k: int) -> tuple[float, np.ndarray]:
    """(time, x) where s passes 0 between nodes k and k + 1: the polynomial through four nodes around, inverse of s then."""
    first = int(np.clip(k - 1, 0, max(0, len(t) - 4)))
    part = slice(first, min(first + 4, len(t)))
    around, value = t[part], s[part]
    if not np.isfinite(value).all():
        around, value, part = t[k : k + 2], s[k : k + 2], slice(k, k + 2)
    low, high = float(t[k]), float(t[k + 1])
    for _ in range(60):  # bisection: the polynomial changes sign between the nodes
        middle = 0.5 * (low + high)
        low, high = (low, middle) if _at(around, value, middle) >= 0.0 else (middle, high)
    when = 0.5 * (low + high)
    return when, np.array([_at(around, column, when) for column in x[part].T])


def _at(t: np.ndarray, y: np.ndarray, x: float) -> float:
    """The polynomial through (t, y) at x, by Neville's scheme."""
    p = np.array(y, dtype=float)
    for m in range(1, len(t)):
        p = ((x - t[m:]) * p[:-1] + (t[:-m] - x) * p[1:]) / (t[:-m] - t[m:])
    return float(p[0])


class Basin(Observer):
    """Which of some points the last node is nearest to, within a radius; -1: none. distance(q, v, point) -> numbers."""

    all_nodes = False

    def __init__(self, points: Any, radius: float = np.inf, of: Callable[[np.ndarray, np.ndarray], Any] | None = None):
        self.points, self.of = np.atleast_2d(_given("Basin: points", points)), of
        self.radius = float(_given("Basin: radius", radius).reshape(-1)[:1].sum())
        if np.ndim(radius) or not self.radius >= 0.0:
            raise OptionError(f"Basin: radius is {radius!r}; expected a number, at least 0.")

    def __call__(self, batch: Batch) -> dict[str, np.ndarray]:
        q, v = batch.q[:, -1], batch.v[:, -1]
        x = q if self.of is None else np.asarray(self.of(q, v), dtype=float).reshape(len(q), -1)
        if x.shape[1] != self.points.shape[1]:
            raise OptionError(f"Basin: points have {self.points.shape[1]} numbers, what is compared with them {x.shape[1]}.")
        away = np.linalg.norm(x[:, None] - self.points[None], axis=2)
        nearest = np.argmin(np.where(np.isfinite(away), away, np.inf), axis=1)
        inside = away[np.arange(len(x)), nearest] <= self.radius
        return {"basin": np.where(inside, nearest, -1).astype(float)}


class Function:
    """A function of the trajectory, asked run by run."""

    all_nodes = True

    def __init__(self, function: Callable[[Any], Any]):
        self.function = function


def as_observers(given: Any) -> dict[str, Observer | Function]:
    """{prefix of its columns: observer}"""
    if given is None:
        return {}
    named = given if isinstance(given, Mapping) else {"": given}
    out: dict[str, Observer | Function] = {}
    for name, one in named.items():
        if isinstance(one, Observer):
            out[str(name)] = one
        elif callable(one):
            out[str(name)] = Function(one)
        else:
            raise OptionError(f"ensemble: observe {name!r} is {one!r}; expected a function of a trajectory, or an observer.")
    return out


def observe(observers: dict[str, Observer | Function], batch: Batch) -> tuple[dict[str, np.ndarray], dict[int, str]]:
    """(columns, what went wrong by sample of the batch)."""
    columns: dict[str, np.ndarray] = {}
    problems: dict[int, str] = {}
    for name, observer in observers.items():
        if isinstance(observer, Function):
            found = _by_trajectory(name, observer.function, batch, problems)
        else:
            try:
                with np.errstate(all="ignore"):
                    found = _by_batch(observer, batch)
            except USERS as error:
                problems |= {b: f"observe {name or type(observer).__name__}: {refusal(error)}" for b in _ran(batch)}
                continue
            found = {f"{name}.{key}" if name else key: column for key, column in found.items()}
        columns |= found
    return columns, problems


def _ran(batch: Batch) -> list[int]:
    """Samples that had a start."""
    return [int(b) for b in np.flatnonzero(batch.code != REFUSED)]


def _by_batch(observer: Observer, batch: Batch) -> dict[str, np.ndarray]:
    """Columns with a row for each sample; NaN where a run had no start."""
    found, count = observer(batch), len(batch.index)
    if not isinstance(found, Mapping):
        raise OptionError(f"it returned {_short(found)}; expected a mapping of columns, a row for each sample.")
    out = {}
    for key, given in found.items():
        column = numbers(str(key), given)
        if column.ndim == 0 or len(column) != count:
            raise OptionError(f"column {key!r} is of shape {column.shape}; expected {count} rows, one for each sample of the batch.")
        out[str(key)] = np.array(column)
        out[str(key)][np.asarray(batch.code) == REFUSED] = np.nan
    return out


def numbers(key: str, given: Any) -> np.ndarray:
    """As float64. Nothing, text and complex numbers are no numbers that a column can hold."""
    found = np.asarray(given)
    if found.dtype.kind not in "biuf":
        raise OptionError(f"{key!r} is {_short(given)}; expected a number, an array of numbers, or a mapping of them.")
    return np.asarray(found, dtype=float)


def _given(what: str, given: Any) -> np.ndarray:
    """Numbers of an option."""
    try:
        return np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        raise OptionError(f"{what}: {_short(given)}; expected numbers.") from None


def _short(x: Any) -> str:
    text = repr(x)
    return text if len(text) < 60 else f"{text[:57]}..."


def _by_trajectory(name: str, function: Callable[[Any], Any], batch: Batch, problems: dict[int, str]) -> dict[str, np.ndarray]:
    values: dict[str, np.ndarray] = {}
    for b in _ran(batch):
        try:
            found = function(batch.trajectory(b))
            named = {f"{name}.{key}" if name else str(key): x for key, x in found.items()} if isinstance(found, Mapping) else None
            mapped = {name or "observed": found} if named is None else named
            row = {key: numbers(key, x)[None] for key, x in mapped.items()}
            put_observed(values, len(batch.index), np.array([b]), row)
        except USERS as error:
            label = getattr(function, "__name__", "observe")
            problems[b] = f"{label}(traj): {refusal(error)}"
    return values
