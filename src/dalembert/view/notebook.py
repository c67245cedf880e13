"""What a notebook shows for a trajectory: a table, the report, and the error curves."""

from __future__ import annotations

import base64
import html
from typing import Any

from dalembert.view.picture import png_bytes
from dalembert.view.plots import plot_conservation

_BADGES = {"pass": "#2a9d6f", "fail": "#c8402f"}
_OTHER_BADGE = "#8a6d1b"


def trajectory_html(traj: Any) -> str:
    """HTML with no scripts and no links: summary, verdict and text of the report, error curves as an inline PNG."""
    parts = [_table(_facts(traj))]
    if len(traj) > 1:
        report = traj.report()
        parts += [_badge(str(report.verdict)), _preformatted(str(report.text)), _image(traj)]
    return f'<div style="font-family:sans-serif;max-width:900px">{"".join(parts)}</div>'


def _facts(traj: Any) -> dict[str, str]:
    return {
        "model": f"{traj.model.name or 'model'} ({traj.model.describe()})",
        "stepper": str(traj.meta["method"]),
        "step size h": f"{traj.h:g} s",
        "time": f"{traj.t[0]:g} … {traj.t[-1]:g} s, {_count(len(traj), 'node', 'nodes')}",
        "status": traj.status,
    }


def _count(n: int, one: str, many: str) -> str:
    return f"{n} {one if n == 1 else many}"


def _table(facts: dict[str, str]) -> str:
    cell = "padding:2px 14px 2px 0;text-align:left;vertical-align:top"
    rows = (f'<tr><th style="{cell}">{html.escape(k)}</th><td style="{cell}">{html.escape(v)}</td></tr>' for k, v in facts.items())
    return f'<table style="border-collapse:collapse">{"".join(rows)}</table>'


def _badge(verdict: str) -> str:
    colour = _BADGES.get(verdict, _OTHER_BADGE)
    style = f"display:inline-block;margin:6px 0;padding:2px 10px;border-radius:4px;color:white;background:{colour}"
    return f'<div><span style="{style}">{html.escape(verdict)}</span></div>'


def _preformatted(text: str) -> str:
    return f'<pre style="margin:4px 0">{html.escape(text)}</pre>' if text else ""


def _image(traj: Any) -> str:
    data = base64.b64encode(png_bytes(plot_conservation(traj), dpi=100)).decode("ascii")
    return f'<img alt="energy and momentum error over time" style="max-width:100%" src="data:image/png;base64,{data}"/>'
