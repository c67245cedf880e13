"""Legends that leave room for the diagram: long names are shortened, of many curves the first are named; lines that differ."""

from __future__ import annotations

from typing import Any

from matplotlib.lines import Line2D

from dalembert.view.picture import COLOURS

LONGEST = 30  # characters of a name
MOST = 12  # names in a legend
STYLES = ("-", "--", ":")


def short(name: str, longest: int = LONGEST) -> str:
    """A name, without its middle if it is long."""
    if len(name) <= longest:
        return name
    head = longest // 2
    return f"{name[:head]}…{name[len(name) - (longest - head - 1) :]}"


def look_of(i: int) -> dict[str, Any]:
    """Colour and dashes of curve i; after the last colour the first comes again, dashed."""
    return {"color": COLOURS[i % len(COLOURS)], "ls": STYLES[i // len(COLOURS) % len(STYLES)]}


def add_legend(axes: Any, **place: Any) -> None:
    """A legend of the first MOST curves, and how many more there are."""
    handles, labels = axes.get_legend_handles_labels()
    if not handles:
        return
    named = [short(label) for label in labels[:MOST]]
    if len(labels) > MOST:
        handles, named = [*handles[:MOST], Line2D([], [], ls="none")], [*named, f"… and {len(labels) - MOST} more"]
    axes.legend(handles, named, **place)
