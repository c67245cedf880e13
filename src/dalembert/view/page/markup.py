"""HTML from plain text: what is given by a user is escaped here, and nowhere else is text put between tags.

Data for scripts are JSON in a block that is not executed; `<`, `>`, `&` in it are written as \\u003c ...: no name can end the block.
"""

from __future__ import annotations

import html
import json
from collections.abc import Iterable, Sequence
from typing import Any


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def text(value: Any) -> Markup:
    """Anything as text between tags or in an attribute; Markup stays as it is."""
    return value if isinstance(value, Markup) else Markup(html.escape(str(value)))


def join(parts: Iterable[Any]) -> Markup:
    """One behind the other."""
    return Markup("".join(text(part) for part in parts))


def tag(name: str, *content: Any, **attributes: Any) -> Markup:
    """<name attributes>content</name>; `class_` and `for_` lose their underscore, other underscores become hyphens; None is left out."""
    given = "".join(f' {k.rstrip("_").replace("_", "-")}="{text(v)}"' for k, v in attributes.items() if v is not None)
    return Markup(f"<{name}{given}>{join(content)}</{name}>")


def table(heads: Sequence[Any], rows: Iterable[Sequence[Any]], class_: str | None = None) -> Markup:
    """A table that scrolls sideways where it is too wide."""
    head = tag("thead", tag("tr", *(tag("th", h) for h in heads))) if heads else ""
    body = tag("tbody", *(tag("tr", *(tag("td", cell) for cell in row)) for row in rows))
    return tag("div", tag("table", head, body, class_=class_), class_="scroll")


def pairs(rows: Iterable[tuple[Any, Any]]) -> Markup:
    """Names and values, in two columns."""
    return tag("dl", *(join([tag("dt", k), tag("dd", v)]) for k, v in rows))


def data_block(name: str, data: Any) -> Markup:
    """JSON that a script of the page reads by its id; numbers must be finite."""
    plain = json.dumps(data, allow_nan=False, separators=(",", ":"))
    safe = plain.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
    return Markup(f'<script type="application/json" id="{text(name)}">{safe}</script>')


def section(title: str, *content: Any, name: str | None = None, note: Any = None) -> Markup:
    """A part of a page with a heading."""
    return tag("section", tag("h2", title), tag("p", note, class_="note") if note else "", *content, id=name)


def more(summary: Any, *content: Any, open_: bool = False) -> Markup:
    """Something that is opened by a click."""
    return Markup(f"<details{' open' if open_ else ''}>{tag('summary', summary)}{join(content)}</details>")
