"""The frame of every page: head, style, sections, data, script, and a rule for browsers that forbids the page to ask the network.

The Content-Security-Policy allows the one script of the page by its hash, styles and images inside the file, and nothing else.
"""

from __future__ import annotations

import base64
import hashlib
import importlib.resources
from functools import cache
from pathlib import Path
from typing import Any

from dalembert.view.page.figures import curve_colours
from dalembert.view.page.markup import Markup, data_block, join, tag, text
from dalembert.view.picture import checked_path, write_file

SUFFIXES = (".html", ".htm")
_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src '{}'; base-uri 'none'; form-action 'none'"


@cache
def asset(name: str) -> str:
    """A file of this folder."""
    return importlib.resources.files("dalembert.view.page").joinpath(name).read_text(encoding="utf-8")


def document(title: str, sections: list[Markup], scenes: dict[str, Any] | None = None, embedded: bool = False) -> str:
    """A whole page. scenes: data of replays by the id of their place; embedded: for a frame in a notebook, without margins."""
    script = asset("player.js") + asset("page.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = _POLICY.format(f"sha256-{digest}")
    head = [
        Markup('<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'),
        Markup(f'<meta http-equiv="Content-Security-Policy" content="{text(policy)}">'),
        Markup('<meta name="color-scheme" content="light dark"><link rel="icon" href="data:,">'),
        tag("title", title),
        Markup(f"<style>{asset('page.css')}{curve_colours()}</style>"),
    ]
    blocks = [data_block(f"data-{name}", data) for name, data in (scenes or {}).items()]
    body = tag("body", tag("main", *sections), *blocks, Markup(f"<script>{script}</script>"), class_="embedded" if embedded else None)
    return f'<!DOCTYPE html>\n<html lang="en"><head>{join(head)}</head>{body}</html>\n'


def header(kind: str, title: str, facts: list[tuple[str, Any]], badge: str | None = None, words: str = "") -> Markup:
    """Title, verdict and the few facts that are read first."""
    mark = (
        ""
        if badge is None
        else tag("div", tag("span", badge, class_=f"badge {badge.replace(' ', '-')}"), tag("span", words), class_="verdict")
    )
    cells = [tag("div", tag("span", k), tag("b", v)) for k, v in facts]
    return tag("header", tag("p", kind, class_="kicker"), tag("h1", title), mark, tag("div", *cells, class_="facts"))


def footer(version: str) -> Markup:
    """Who wrote the page."""
    return tag("footer", f"Written by dalembert {version}. This file needs no network: everything it shows is inside it.")


def write(path: Any, page: str) -> Path:
    """Write a page to a path that `checked_path` passes."""
    target = checked_path(path, SUFFIXES)
    write_file(target, page.encode("utf-8"))
    return target
