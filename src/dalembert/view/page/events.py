"""What happened between the nodes (impacts, contacts that come to rest, joints that broke): a table, and marks on the time line."""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.contact.tables import BROKEN, STRUCK
from dalembert.kernels.collision import tables as collision
from dalembert.view.page.markup import Markup, section, table

FIRST, LAST = 12, 6  # rows of the table
MARKS = 400  # on the time line
_OF_BODIES = {STRUCK: "impact", BROKEN: "joint broke", int(collision.RESTS): "comes to rest", int(collision.LEAVES): "is let go"}
_OF_FORMULAS = {0: "impact", 1: "comes to rest", 2: "is released"}


def kinds(events: Any) -> dict[int, str]:
    """Words for the codes of a table of events."""
    return _OF_FORMULAS if "row" in events.columns else _OF_BODIES


def events_section(traj: Any) -> Markup:
    """The first and the last events with their total; "" where there were none."""
    events = traj.events
    n = len(events.rows)
    if not n:
        return Markup("")
    heads, cells = _cells(traj)
    rows = [cells(k) for k in (range(n) if n <= FIRST + LAST else range(FIRST))]
    if n > FIRST + LAST:
        rows += [("…", *[""] * (len(heads) - 1)), *(cells(k) for k in range(n - LAST, n))]
    words, named = kinds(events), np.unique(events["kind"], return_counts=True)
    told = ", ".join(f"{int(c)} × {words.get(int(k), f'kind {k:g}')}" for k, c in zip(*named, strict=True))
    shown = "" if n <= FIRST + LAST else f"; the first {FIRST} and the last {LAST}"
    return section("Events", table(heads, rows, "numbers"), note=f"{n} in all: {told}{shown}.", name="events")


def _cells(traj: Any) -> tuple[list[str], Any]:
    """Heads, and a function that gives the cells of row k."""
    events = traj.events
    words = kinds(events)

    def number(column: str, k: int) -> str:
        return f"{events[column][k]:.6g}"

    if "row" in events.columns:
        heads = ["t (s)", "what", "constraint", "impulse", "rate before", "rate after"]
        rest = ("impulse", "before", "after")
        return heads, lambda k: (number("t", k), _word(words, events, k), number("row", k), *(number(c, k) for c in rest))
    speeds = [c for c in ("before", "after") if c in events.columns]
    heads = ["t (s)", "what", "between", "impulse (N s), force (N)", *(f"{c} (m/s)" for c in speeds)]

    def cells(k: int) -> tuple[str, ...]:
        return (number("t", k), _word(words, events, k), _between(traj, k), number("value", k), *(number(c, k) for c in speeds))

    return heads, cells


def _word(words: dict[int, str], events: Any, k: int) -> str:
    code = events["kind"][k]
    return words.get(int(code), f"kind {code:g}")


def _between(traj: Any, k: int) -> str:
    a, b = int(traj.events["a"][k]), int(traj.events["b"][k])
    if int(traj.events["kind"][k]) == BROKEN:
        loops = traj.model.loops
        return loops[a].name if 0 <= a < len(loops) else f"joint {a}"
    return f"{_name(traj.model, a)} – {_name(traj.model, b)}"


def _name(model: Any, number: int) -> str:
    bodies = getattr(model, "bodies", ())
    return "world" if number < 0 else bodies[number].name if number < len(bodies) else f"body {number}"


def marks(traj: Any) -> list[list[Any]]:
    """[time, words] of events for the time line, evenly chosen where they are many."""
    events = traj.events
    n = len(events.rows)
    chosen = np.arange(n) if n <= MARKS else np.unique(np.linspace(0, n - 1, MARKS).astype(int))
    words, formula = kinds(events), "row" in events.columns
    out: list[list[Any]] = []
    for k in chosen.tolist():
        what = _word(words, events, k)
        out.append([float(events["t"][k]), what if formula else f"{what}: {_between(traj, k)}"])
    return out
