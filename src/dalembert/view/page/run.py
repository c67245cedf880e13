"""The page of a trajectory: verdict, replay, diagrams, events, model, and where it comes from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dalembert.runs.as_bodies import as_bodies
from dalembert.view.page.document import SUFFIXES, document, footer, header, write
from dalembert.view.page.events import events_section
from dalembert.view.page.explain import VERDICTS, meaning, words_of
from dalembert.view.page.figures import svg_of
from dalembert.view.page.machine import machine
from dalembert.view.page.markup import Markup, join, section, table, tag
from dalembert.view.page.panels import panels_of
from dalembert.view.page.provenance import provenance
from dalembert.view.page.replay import PAGE_BYTES, replay_of, replay_section
from dalembert.view.picture import checked_path


def run_page(traj: Any, path: Any) -> Path:
    """Write the page of a run; the path ends in .html."""
    checked_path(path, SUFFIXES)  # before anything is computed
    return write(path, run_html(traj))


def run_html(traj: Any) -> str:
    """The page of a run as text."""
    shown = as_bodies(traj)
    report = traj.report()
    scene = replay_of([shown], budget=PAGE_BYTES)
    parts = [_header(traj, report)]
    if scene is not None:
        parts.append(replay_section("replay", scene))
    parts.append(_items(report))
    if len(traj) > 1:
        parts.append(section("Diagrams", tag("div", *(svg_of(p) for p in panels_of(shown)), class_="plots"), name="diagrams"))
    parts += [events_section(shown), machine(shown.model), provenance(traj), footer(traj.meta["versions"].get("dalembert", ""))]
    return document(_title(traj), parts, {} if scene is None else {"replay": scene.data})


def _title(traj: Any) -> str:
    return f"{traj.model.name or 'model'}: {traj.meta['method']}"


def _header(traj: Any, report: Any) -> Markup:
    steps = (len(traj) - 1) * int(traj.meta["every"])
    facts = [("stepper", traj.meta["method"]), ("step size", f"{traj.h:g} s"), ("steps", f"{steps:,}"), ("nodes", f"{len(traj):,}")]
    facts += [("time", f"{traj.t[0]:g} … {traj.t[-1]:g} s"), ("status", traj.status if len(traj.status) < 40 else "failed")]
    return header("Report of a run", traj.model.name or "model", facts, report.verdict, VERDICTS[report.verdict])


def _items(report: Any) -> Markup:
    """The table of what was judged."""
    rows = []
    for item in report.items:
        badge = tag("span", item.verdict, class_=f"badge {item.verdict.replace(' ', '-')}")
        what = join([tag("b", item.name), tag("p", meaning(item))])
        rows.append((what, words_of(item), _number(item.measured), _number(item.limit), badge))
    heads = ("what is judged", "what was found", "measured", "limit", "verdict")
    return section("Verdict", table(heads, rows, "items"), name="verdict")


def _number(x: float | None) -> str:
    if x is None:
        return "–"
    return f"{x:.3g}"
