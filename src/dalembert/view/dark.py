"""Themes of figures: "light" is how they are drawn; "dark" exchanges the colours of a figure that is drawn."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.collections import Collection
from matplotlib.colors import to_hex, to_rgba
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.text import Text

from dalembert.errors import UnknownNameError
from dalembert.view.picture import COLOURS, FAINT, INK, MUTED

THEMES = ("dark", "light")
PAGE = "#14181d"
NEW_INK, NEW_MUTED, NEW_FAINT = "#e8edf2", "#98a4b1", "#2e3742"
BRIGHT = ("#5aa9ef", "#ff8a4c", "#4fc796", "#b895e6", "#e6bd45", "#e5779f", "#5fc9e0", "#b39c86", "#9aa7b3", "#c6d860")
EXCHANGE = {
    INK: NEW_INK, MUTED: NEW_MUTED, FAINT: NEW_FAINT, "#ffffff": PAGE, "#f2f6fa": "#1c232b", "#c8d0d8": "#3c4754", "#000000": NEW_INK,
    **dict(zip(COLOURS, BRIGHT, strict=True)),
}  # fmt: skip


def check_theme(theme: str) -> None:
    """UnknownNameError lists those that exist."""
    if theme not in THEMES:
        raise UnknownNameError("theme of a figure", theme, THEMES)


def themed(figure: Any, theme: str) -> Any:
    """The figure in the colours of a theme."""
    if theme == "dark":
        _darken(figure)
    return figure


def exchanged(colour: Any) -> Any:
    """What a colour becomes on a dark page; alpha stays."""
    rgba = to_rgba(colour)
    return (*to_rgba(EXCHANGE.get(to_hex(rgba), to_hex(rgba)))[:3], rgba[3])


def _darken(figure: Figure) -> None:
    for part in [figure, *figure.subfigs]:
        part.set_facecolor(PAGE if part is figure else "none")
    for axes in figure.axes:
        axes.set_facecolor("none")
        axes.tick_params(which="both", color=NEW_MUTED, labelcolor=NEW_MUTED, grid_color=NEW_FAINT)
        for spine in axes.spines.values():
            spine.set_edgecolor(NEW_MUTED)
    ticks = {id(label) for axes in figure.axes for label in [*axes.get_xticklabels(), *axes.get_yticklabels()]}
    for artist in figure.findobj():
        if isinstance(artist, Text) and id(artist) not in ticks:
            artist.set_color(exchanged(artist.get_color()))
        elif isinstance(artist, Line2D):
            _line(artist)
        elif isinstance(artist, Collection):
            _collection(artist)
        elif isinstance(artist, AxesImage):
            artist.set_data(night(np.asarray(artist.get_array())))
    for axes in figure.axes:
        for patch in axes.patches:
            _patch(patch)
        legend = axes.get_legend()
        if legend is not None:
            legend.get_frame().set_facecolor(PAGE)
            for patch in legend.get_patches():
                _patch(patch)


def _line(line: Line2D) -> None:
    line.set_color(exchanged(line.get_color()))
    for get, put in ((line.get_markerfacecolor, line.set_markerfacecolor), (line.get_markeredgecolor, line.set_markeredgecolor)):
        if get() not in ("auto", "none"):
            put(exchanged(get()))


def _collection(found: Any) -> None:
    if hasattr(found, "_facecolor3d"):  # a polygon in space: its colours are of the last drawing
        found.set_facecolor([exchanged(c) for c in found._facecolor3d])
        found.set_edgecolor([exchanged(c) for c in found._edgecolor3d])
        return
    found.set_facecolor([exchanged(c) for c in found.get_facecolor()])
    found.set_edgecolor([exchanged(c) for c in found.get_edgecolor()])


def _patch(patch: Patch) -> None:
    patch.set_facecolor(exchanged(patch.get_facecolor()))


def night(image: Any) -> Any:
    """An image on white as it is on the dark page: what has no colour is turned about, what has some stays."""
    pixels = image[..., :3] / 255.0
    coloured = np.clip(4.0 * np.ptp(pixels, axis=-1, keepdims=True), 0.0, 1.0)
    page = np.array(to_rgba(PAGE)[:3])
    turned = page + 0.75 * (1.0 - pixels.mean(axis=-1, keepdims=True))
    return np.round(255.0 * np.clip(coloured * pixels + (1.0 - coloured) * turned, 0.0, 1.0)).astype(np.uint8)
