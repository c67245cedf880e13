"""Diagrams as SVG inside a page: text stays text, ink follows the theme of the page, long curves keep their extremes.

Curves are thinned to the smallest and the largest value of each run of neighbours (`view.lines.thin`). Where the horizontal axis is the
time, the figure says where its axes begin and end, so that the page can mark the moment that the replay shows.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import matplotlib
import numpy as np
from matplotlib.mathtext import MathTextParser
from matplotlib.text import Text

from dalembert.view.lines import thin
from dalembert.view.page.markup import Markup, tag
from dalembert.view.page.ticks import plain_ticks
from dalembert.view.picture import COLOURS, FAINT, INK, MUTED, new_picture, styled
from dalembert.view.plots import TIME

POINTS = 1200  # of a curve
SIZE = (4.7, 2.85)  # inches of a panel; a wide one takes two places
_THEME = {INK: "var(--ink)", MUTED: "var(--muted)", FAINT: "var(--line)", "#ffffff": "var(--card)", "#FFFFFF": "var(--card)"}
_THEME |= {colour: f"var(--c{i})" for i, colour in enumerate(COLOURS)}
_LOOK: Any = {"svg.fonttype": "none", "figure.facecolor": "none", "axes.facecolor": "none", "savefig.facecolor": "none"}


class Panel(NamedTuple):
    """draw(*axes) fills so many axes, beside each other; space: in three dimensions; wide: takes two places."""

    draw: Callable[..., Any]
    axes: int = 1
    space: bool = False
    wide: bool = False


def svg_of(panel: Panel) -> Markup:
    """A card with one figure."""
    with styled(), matplotlib.rc_context(_LOOK), np.errstate(over="ignore", invalid="ignore"):
        wide = panel.wide or panel.axes > 1
        picture = new_picture(SIZE[0] * (1 + wide), SIZE[1])
        made = [picture.add_subplot(1, panel.axes, i + 1, projection="3d" if panel.space else None) for i in range(panel.axes)]
        panel.draw(*made)
        for axes in picture.axes:
            slim(axes)
            if not panel.space:
                plain_ticks(axes)
        for axes in made:
            bare(axes)
        literal(picture)
        if panel.space:
            for line in made[0].lines:
                line.set_rasterized(True)
        picture.draw_without_rendering()  # constrained layout puts the axes where they stay
        picture.set_layout_engine("none")
        spans = [] if panel.space else [span for axes in made if (span := time_span(axes)) is not None]
        buffer = io.StringIO()
        picture.savefig(buffer, format="svg", dpi=140, metadata={"Date": None, "Creator": None})
    inside = tag("div", themed(buffer.getvalue()), *(_cursor(s) for s in spans))
    return tag("figure", inside, class_="plot wide" if wide else "plot")


def slim(axes: Any) -> None:
    """Fewer points in every line of a diagram; extremes stay."""
    for line in axes.lines:
        if len(line.get_data()) != 2:
            continue
        x, y = (np.asarray(a, dtype=float) for a in line.get_data())
        if len(x) > POINTS and len(x) == len(y) and (np.diff(x) >= 0.0).all():
            line.set_data(*thin(x, y, POINTS))


def literal(picture: Any) -> None:
    """Names with dollar signs that are no formula are written as they are."""
    parse = MathTextParser("path").parse
    for words in picture.findobj(Text):
        if words.get_text().count("$") > 1:
            try:
                parse(words.get_text())
            except ValueError:
                words.set_parse_math(False)


def bare(axes: Any) -> None:
    """No frame around words that stand in place of a diagram."""
    if axes.has_data() or not axes.texts:
        return
    axes.set(xlabel="", ylabel="")
    for spine in axes.spines.values():
        spine.set_visible(False)


def time_span(axes: Any) -> tuple[float, ...] | None:
    """(left, right, top, bottom of the axes as parts of the figure, first and last time), of a diagram over the time."""
    if axes.get_xlabel() != TIME or not axes.has_data():
        return None
    box, (first, last) = axes.get_position(), axes.get_xlim()
    return (box.x0, box.x1, 1.0 - box.y1, 1.0 - box.y0, float(first), float(last))


def _cursor(span: Sequence[float]) -> Markup:
    left, right, top, bottom, first, last = span
    place = f"left:{100 * left:.3f}%;width:{100 * (right - left):.3f}%;top:{100 * top:.3f}%;height:{100 * (bottom - top):.3f}%"
    return tag("div", tag("i"), class_="span", style=place, data_first=repr(first), data_last=repr(last))


def curve_colours() -> str:
    """CSS variables of the colours of curves, paler where the page is dark."""
    light = "".join(f"--c{i}:{c};" for i, c in enumerate(COLOURS))
    dark = "".join(f"--c{i}:color-mix(in srgb,{c} 70%,white);" for i, c in enumerate(COLOURS))
    return f":root{{{light}}}@media (prefers-color-scheme:dark){{:root{{{dark}}}}}"


def themed(svg: str) -> Markup:
    """The SVG element alone, with variables of the page for the colours of ink, lines and ground."""
    body = svg[svg.index("<svg") :]
    body = re.sub(r"<metadata>.*?</metadata>", "", body, flags=re.DOTALL)
    body = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", body, count=1)
    body = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", body, count=1)
    for colour, variable in _THEME.items():
        body = re.sub(rf"(fill|stroke): {colour}\b", rf"\1: {variable}", body)
    body = re.sub(r"font-family: [^;\"]*", "font-family: var(--font)", body)
    return Markup(re.sub(r"\n\s*", "\n", body))
