"""What a notebook shows for a trajectory: a table, the report, the motion in space, and the error curves.

The replay is a page of its own in a frame that may run its script and nothing else. It is part of the notebook's file: where it would make
the output larger than BUDGET it is left out, and said so.
"""

from __future__ import annotations

import base64
import html
from typing import Any

from dalembert.runs.as_bodies import as_bodies
from dalembert.view.picture import png_bytes
from dalembert.view.plots import plot_conservation

_BADGES = {"pass": "#2a9d6f", "fail": "#c8402f"}
_OTHER_BADGE = "#8a6d1b"
BUDGET = 1_500_000  # characters of the whole output
POSES = 700_000  # bytes of the poses of a replay
HEIGHT = 480  # pixels of the frame


def trajectory_html(traj: Any) -> str:
    """HTML without links: summary, verdict and text of the report, replay in a frame of its own, error curves as an inline PNG."""
    parts = [_table(_facts(traj))]
    if len(traj) > 1:
        report = traj.report()
        parts += [_badge(str(report.verdict)), _preformatted(str(report.text)), _image(traj)]
        parts.insert(3, _replay(traj, BUDGET - sum(map(len, parts))))
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


def _replay(traj: Any, left: int) -> str:
    """The motion in a frame; a sentence where it does not fit into so many characters; "" where there are no bodies."""
    from dalembert.view.page.replay import frame_html

    page = frame_html(as_bodies(traj), POSES)
    if page is None:
        return ""
    found = html.escape(page)
    if len(found) + 1000 > left:
        said = f"The replay is left out: it would take {len(found) / 1e6:.1f} MB of the notebook. traj.page('run.html') has it."
        return f'<p style="color:#66727f;margin:4px 0">{html.escape(said)}</p>'
    style = f"width:100%;height:{HEIGHT}px;border:0;display:block;margin:6px 0"
    return f'<iframe title="replay of the motion" sandbox="allow-scripts" style="{style}" srcdoc="{found}"></iframe>'


def _image(traj: Any) -> str:
    data = base64.b64encode(png_bytes(plot_conservation(traj), dpi=100)).decode("ascii")
    return f'<img alt="energy and momentum error over time" style="max-width:100%" src="data:image/png;base64,{data}"/>'
