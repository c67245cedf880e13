"""The page of a comparison: what each method kept, the runs laid over each other in space, their errors over time, model and sources."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dalembert.runs.as_bodies import as_bodies
from dalembert.view.lines import thin
from dalembert.view.page.document import SUFFIXES, document, footer, header, write
from dalembert.view.page.explain import VERDICTS
from dalembert.view.page.figures import POINTS, Panel, svg_of
from dalembert.view.page.machine import machine
from dalembert.view.page.markup import Markup, join, section, table, tag
from dalembert.view.page.provenance import circumstances, citation
from dalembert.view.page.replay import PAGE_BYTES, replay_of, replay_section
from dalembert.view.picture import COLOURS, checked_path
from dalembert.view.plots import TIME

CEILING = 10.0  # errors are drawn up to here: what explodes would hide everything else
TITLES = {"energy_error": "Energy error", "momentum_error": "Momentum error"}


def comparison_page(result: Any, path: Any) -> Path:
    """Write the page of a `dal.compare`; the path ends in .html."""
    checked_path(path, SUFFIXES)  # before anything is computed
    return write(path, comparison_html(result))


def comparison_html(result: Any) -> str:
    """The page as text."""
    names = labels(result)
    runs = [as_bodies(t) for t in result.trajectories]
    scene = replay_of(runs, names, PAGE_BYTES)
    parts = [_header(result)]
    if scene is not None:
        parts.append(replay_section("replay", scene))
    first = result.trajectories[0]
    parts += [_table(result), _diagrams(result, names), machine(result.model)]
    sources = [circumstances(first.meta, method=False), citation(list(result.trajectories))]
    parts += [section("Where this comes from", *sources, name="provenance"), footer(first.meta["versions"].get("dalembert", ""))]
    return document(f"{result.model.name or 'model'}: methods compared", parts, {} if scene is None else {"replay": scene.data})


def labels(result: Any) -> list[str]:
    """Names of the methods, with their steps where these differ."""
    same = len({r.h for r in result.rows}) == 1
    return [r.label if same else f"{r.label}, h = {r.h:g} s" for r in result.rows]


def sentences(result: Any) -> list[str]:
    """The conclusion: one sentence for each method, with its step where a stepper has several, and those about all of them."""
    said = list(result.conclusion)
    every = [row.label for row in result.rows]
    for i, (row, name) in enumerate(zip(result.rows, labels(result), strict=True)):
        if every.count(row.label) > 1:
            said[i] = name + said[i].removeprefix(row.label)
    return said


def _header(result: Any) -> Markup:
    steps = sorted({r.h for r in result.rows})
    h = f"{steps[0]:g} s" if len(steps) == 1 else f"{steps[0]:g} … {steps[-1]:g} s"
    facts = [
        ("methods", str(len(result.rows))),
        ("step size", h),
        ("time", f"0 … {result.t_end:g} s"),
        ("reference", result.reference.text),
    ]
    return header("Comparison of methods", result.model.name or "model", facts)


def _table(result: Any) -> Markup:
    heads, rows = result.table
    marked = []
    for i, row in enumerate(rows):
        dot = tag("i", class_="dot", style=f"background:{COLOURS[i % len(COLOURS)]}")
        verdict = tag("span", row[-1], class_=f"badge {row[-1]}", title=VERDICTS.get(row[-1])) if row[-1] in VERDICTS else row[-1]
        marked.append((join([dot, row[0]]), *row[1:-1], verdict))
    said = tag("ul", *(tag("li", line) for line in sentences(result)), class_="said") if result.is_tree else ""
    failed = [f"{name}: {r.status}" for r, name in zip(result.rows, labels(result), strict=True) if r.status != "ok"]
    notes = [tag("p", line, class_="note") for line in (*result.notes, *failed)]
    return section("What each method kept", said, table(heads, marked, "numbers"), tag("div", *notes, class_="below"), name="table")


def _diagrams(result: Any, names: Sequence[str]) -> Markup:
    curves = result.curves
    shown = [what for what in TITLES if any(np.isfinite(np.asarray(c[what], dtype=float)).any() for c in curves)]
    panels = [Panel(lambda ax, what=what: draw_errors(ax, curves, names, what, result.t_end), wide=len(shown) == 1) for what in shown]
    return section("Errors over time", tag("div", *(svg_of(p) for p in panels), class_="plots"), name="diagrams")


def draw_errors(axes: Any, curves: Sequence[Any], names: Sequence[str], what: str, t_end: float) -> None:
    """Magnitudes of an error of all methods, relative and logarithmic; what exceeds CEILING is cut off."""
    axes.set(title=TITLES[what], xlabel=TIME, ylabel="|error|, relative", yscale="log")
    least = 1.0
    for i, (curve, name) in enumerate(zip(curves, names, strict=True)):
        y = np.abs(np.asarray(curve[what], dtype=float))
        y = np.where(np.isfinite(y) & (y > 0.0), np.minimum(y, 2.0 * CEILING), np.nan)
        some = bool(np.isfinite(y).any())
        least = min(least, float(np.nanquantile(y, 0.02))) if some else least
        look = {"color": COLOURS[i % len(COLOURS)], "lw": 1.0, "label": name if some else f"{name}: 0 or unknown"}
        axes.plot(*thin(np.asarray(curve["t"], dtype=float), y, POINTS), **look)
    axes.set(xlim=(0.0, t_end), ylim=(max(0.2 * least, 1e-18), CEILING))
    axes.legend(loc="upper left", bbox_to_anchor=(0.0, -0.22), ncols=2, borderaxespad=0.0)
