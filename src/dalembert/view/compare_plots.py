"""Figures that compare methods, made from plain data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from dalembert.errors import OptionError
from dalembert.view.lines import thin
from dalembert.view.picture import COLOURS, FIGURE_SUFFIXES, MUTED, Picture, checked_path, new_picture, save_picture, styled

_MARKERS = "osD^vP*X"


def plot_comparison(rows: Iterable[Mapping[str, Any]], path: Any = None) -> Picture:
    """Energy and momentum error of several runs over time.

    rows: dicts with label and arrays t (s), energy_error, momentum_error (both relative; momentum is left out where it is nan throughout).
    """
    rows = _checked("comparison", rows, ("label", "t", "energy_error", "momentum_error"))
    target = None if path is None else checked_path(path, FIGURE_SUFFIXES)
    with styled():
        known = any(np.isfinite(np.asarray(row["momentum_error"], dtype=float)).any() for row in rows)
        picture = new_picture(10.0, 4.2)
        energy, momentum = picture.subplots(1, 2) if known else (picture.subplots(), None)
        for i, row in enumerate(rows):
            look = {"color": COLOURS[i % len(COLOURS)], "ls": ("-", "--", ":")[i // len(COLOURS) % 3], "label": str(row["label"])}
            _log_line(energy, row["t"], row["energy_error"], look)
            if momentum is not None:
                _log_line(momentum, row["t"], row["momentum_error"], look)
        _label(energy, "Energy error", "t (s)", "|error| (relative)")
        if momentum is not None:
            _label(momentum, "Momentum error", "t (s)", "|error| (relative)")
        picture.legend(*energy.get_legend_handles_labels(), loc="outside lower center", ncols=min(len(rows), 5))
    if target is not None:
        save_picture(picture, target)
    return picture


def plot_work_precision(table: Iterable[Mapping[str, Any]], path: Any = None) -> Picture:
    """Error against computing time and against step size, one curve per method, with slopes of order 1, 2 and 4 to compare with.

    table: dicts with method, h (s), seconds (s), error. Rows without a finite positive error (a run that failed) are left out.
    """
    rows = _checked("work-precision table", table, ("method", "h", "seconds", "error"))
    target = None if path is None else checked_path(path, FIGURE_SUFFIXES)
    with styled():
        picture = new_picture(10.0, 4.4)
        work, order = picture.subplots(1, 2, sharey=True)
        methods = list(dict.fromkeys(str(r["method"]) for r in rows))
        for i, method in enumerate(methods):
            h, seconds, error = _columns([r for r in rows if str(r["method"]) == method])
            look = {"color": COLOURS[i % len(COLOURS)], "marker": _MARKERS[i % len(_MARKERS)], "ms": 4.5, "label": method}
            work.loglog(seconds, error, **look)
            order.loglog(h, error, **look)
        _slopes(order, *_columns(rows)[::2])
        _step_ticks(order, np.unique(_columns(rows)[0]))
        _label(work, "Work and precision", "computing time (s)", "error")
        _label(order, "Order", "step size h (s)", "")
        picture.legend(*work.get_legend_handles_labels(), loc="outside lower center", ncols=min(max(len(methods), 1), 5))
    if target is not None:
        save_picture(picture, target)
    return picture


def _checked(what: str, rows: Iterable[Mapping[str, Any]], keys: Sequence[str]) -> list[Mapping[str, Any]]:
    rows = list(rows)
    if not rows:
        raise OptionError(f"{what}: no rows; expected dicts with {', '.join(keys)}.")
    for i, row in enumerate(rows):
        missing = [k for k in keys if not isinstance(row, Mapping) or k not in row]
        if missing:
            raise OptionError(f"{what}: row {i} lacks {', '.join(missing)}; expected a dict with {', '.join(keys)}.")
    return rows


def _columns(rows: Sequence[Mapping[str, Any]]) -> tuple[Any, Any, Any]:
    """h, seconds and error of the rows that can be drawn, by decreasing h."""
    data = np.array([[r["h"], r["seconds"], r["error"]] for r in rows], dtype=float).reshape(-1, 3)
    data = data[(np.isfinite(data) & (data > 0)).all(axis=1)]
    return tuple(data[np.argsort(-data[:, 0], kind="stable")].T)  # type: ignore[return-value]


def _slopes(axes: Any, h: Any, error: Any) -> None:
    """Dashed lines error ~ h^p through the corner of the largest error."""
    if len(h) < 2 or h.min() == h.max():
        return
    ends = np.array([h.min(), h.max()])
    low = axes.get_ylim()[0]
    for p in (1, 2, 4):
        line = error.max() * (ends / ends[1]) ** p
        axes.plot(ends, line, ls="--", lw=0.8, color=MUTED, zorder=1)
        x = ends[1] * max(ends[0] / ends[1], (low / error.max()) ** (1 / p)) ** 0.8
        axes.annotate(
            f"$h^{p}$",
            (x, error.max() * (x / ends[1]) ** p),
            color=MUTED,
            fontsize=8,
            xytext=(-2, 4),
            textcoords="offset points",
            ha="right",
        )
    axes.set_ylim(bottom=low)


def _step_ticks(axes: Any, steps: Any) -> None:
    """The step sizes themselves on the axis, as long as they are few."""
    if 1 <= len(steps) <= 8:
        axes.set_xticks(steps, [f"{h:.3g}" for h in steps])
        axes.set_xticks([], minor=True)


def _log_line(axes: Any, t: Any, y: Any, look: Mapping[str, Any]) -> None:
    t, y = thin(np.asarray(t, dtype=float), np.abs(np.asarray(y, dtype=float)))
    axes.semilogy(t, np.where(y > 0, y, np.nan), lw=1.1, **look)


def _label(axes: Any, title: str, x: str, y: str) -> None:
    axes.set(title=title, xlabel=x, ylabel=y)
