"""The page of a study: how its samples ended, statistics and histograms of what was observed, samples, failures with their sentences."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.view.page.document import SUFFIXES, document, footer, header, write
from dalembert.view.page.figures import Panel, svg_of
from dalembert.view.page.markup import Markup, section, table, tag
from dalembert.view.page.provenance import circumstances
from dalembert.view.picture import COLOURS, checked_path

FAILURES = 50  # rows of the table
COLUMNS = 60  # rows of the statistics
HISTOGRAMS = 12
BINS = 40
ENTRIES = 8  # of a column of arrays
_STATISTICS = ("mean", "deviation", "least", "5 %", "median", "95 %", "most")


def study_page(study: Any, path: Any) -> Path:
    """Write the page of a study; the path ends in .html."""
    checked_path(path, SUFFIXES)  # before anything is computed
    return write(path, study_html(study))


def study_html(study: Any) -> str:
    """The page as text."""
    observed, samples = list(columns(study.observed)), list(columns(study.samples.columns or {}))
    title = str(study.meta.get("title", "study"))
    parts = [_header(study, title), _statuses(study)]
    parts += [_statistics("Observed", observed, "observed"), _histograms(observed), _statistics("Samples", samples, "samples")]
    parts += [_failures(study), section("Where this comes from", circumstances(study.meta), name="provenance")]
    return document(title, [*parts, footer(study.meta.get("versions", {}).get("dalembert", ""))])


def columns(given: dict[str, Array]) -> Iterator[tuple[str, Array]]:
    """(name, numbers (n,)) of all columns; of arrays the first entries, each as a column."""
    for name, column in given.items():
        x = np.asarray(column)
        if x.dtype.kind not in "fiub":
            continue
        if x.ndim == 1:
            yield name, x.astype(float)
            continue
        flat = x.reshape(len(x), -1).astype(float)
        places = list(np.ndindex(x.shape[1:]))
        for k, at in enumerate(places[:ENTRIES]):
            yield f"{name}[{','.join(map(str, at))}]", flat[:, k]


def _header(study: Any, title: str) -> Markup:
    n, ok, done = len(study), int(study.ok.sum()), int(study.done.sum())
    facts: list[tuple[str, Any]] = [
        ("samples", f"{n:,}"),
        ("ended well", f"{ok:,}"),
        ("failed", f"{done - ok:,}"),
        ("not run", f"{n - done:,}"),
    ]
    if "seconds" in study.meta:
        facts += [
            ("steps", f"{int(study.steps.sum()):,}"),
            ("computing", f"{study.meta['seconds']:.3g} s, {study.meta.get('workers', 1)} workers"),
        ]
    return header("Study", title, facts)


def _statuses(study: Any) -> Markup:
    words, counts = np.unique(study.status, return_counts=True)
    order = np.argsort(-counts)
    rows = []
    for i in order:
        part = counts[i] / max(len(study), 1)
        bar = tag("span", tag("i", style=f"width:{100 * part:.2f}%"), class_=f"share {'ok' if words[i] == 'ok' else ''}")
        rows.append((str(words[i]), f"{counts[i]:,}", f"{100 * part:.3g} %", bar))
    return section("How the samples ended", table(("status", "samples", "share", ""), rows, "numbers"), name="statuses")


def _statistics(title: str, found: list[tuple[str, Array]], name: str) -> Markup:
    if not found:
        return Markup("")
    rows = []
    for label, x in found[:COLUMNS]:
        known = x[np.isfinite(x)]
        values = _numbers(known) if len(known) else [float("nan")] * len(_STATISTICS)
        rows.append((label, f"{len(known):,}", *(f"{v:.5g}" if np.isfinite(v) else "–" for v in values)))
    note = None if len(found) <= COLUMNS else f"The first {COLUMNS} of {len(found)} columns."
    return section(title, table(("column", "numbers", *_STATISTICS), rows, "numbers"), note=note, name=name)


def _numbers(x: Array) -> list[float]:
    with np.errstate(over="ignore"):
        return [float(x.mean()), float(x.std()), float(x.min()), *(float(q) for q in np.quantile(x, (0.05, 0.5, 0.95))), float(x.max())]


def _histograms(found: list[tuple[str, Array]]) -> Markup:
    some = [(name, x[np.isfinite(x)]) for name, x in found]
    some = [(name, x) for name, x in some if len(x) > 1 and np.ptp(x) > 0.0]
    if not some:
        return Markup("")
    panels = [Panel(lambda ax, name=name, x=x: draw_histogram(ax, name, x)) for name, x in some[:HISTOGRAMS]]
    note = None if len(some) <= HISTOGRAMS else f"The first {HISTOGRAMS} of {len(some)} columns."
    return section("Histograms", tag("div", *(svg_of(p) for p in panels), class_="plots"), note=note, name="histograms")


def draw_histogram(axes: Any, name: str, x: Array) -> None:
    """Counts of a column; over the logarithm where positive numbers span more than three decades."""
    low, high = float(x.min()), float(x.max())
    wide = low > 0.0 and high / low > 1e3
    bins = min(BINS, max(5, int(2.0 * len(x) ** (1.0 / 3.0))))
    edges = np.geomspace(low, high, bins + 1) if wide else np.linspace(low, high, bins + 1)
    axes.hist(x, edges, color=COLOURS[0], alpha=0.85, edgecolor="#ffffff", linewidth=0.5)
    axes.set(title=name, ylabel="samples", xscale="log" if wide else "linear")
    axes.axvline(float(np.median(x)), color=COLOURS[1], lw=1.1, label=f"median {np.median(x):.4g}")
    axes.legend(loc="upper right")
    axes.margins(y=0.18)


def _failures(study: Any) -> Markup:
    bad = np.flatnonzero(study.done & ~study.ok)
    if not len(bad):
        return Markup("")
    rows = []
    for i in bad[:FAILURES].tolist():
        row = study[i]
        when = f"{row.t:.5g}" if np.isfinite(row.t) else "–"
        rows.append((str(i), row.status, row.error, when, _short(row.sample)))
    note = (
        f"{len(bad):,} in all{f'; the first {FAILURES}' if len(bad) > FAILURES else ''}. dal.rerun(study, i) repeats the run of one sample."
    )
    heads = ("sample", "status", "what happened", "t (s)", "values")
    return section("Failures", table(heads, rows, "left wrap"), note=note, name="failures")


def _short(sample: dict[str, Any]) -> str:
    words = [f"{k} = {_value(v)}" for k, v in list(sample.items())[:6]]
    return ", ".join(words) + (", …" if len(sample) > 6 else "")


def _value(v: Any) -> str:
    if isinstance(v, float):
        return f"{v:.6g}"
    return np.array2string(np.asarray(v), precision=4, threshold=6) if np.ndim(v) else str(v)
