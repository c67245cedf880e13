"""Where a run came from and how it is repeated: options, versions, machine, a snippet that runs it again, BibTeX."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from dalembert.citations import cite
from dalembert.view.page.markup import Markup, more, pairs, section, tag

LONG = 40  # numbers of a start that are written out


def provenance(traj: Any) -> Markup:
    """The section of a page."""
    again = tag("div", tag("h3", "Run it again"), tag("pre", snippet(traj)), tag("p", _caveat(traj), class_="note"))
    return section("Where this comes from", circumstances(traj.meta), again, citation(traj), name="provenance")


def circumstances(meta: dict[str, Any], method: bool = True) -> Markup:
    """Method and options, versions and machine, a card each."""
    options = dict(meta.get("options") or {})
    parts = [
        tag("div", tag("h3", "Method"), pairs(_method(meta)), class_="card"),
        tag("div", tag("h3", "Options"), pairs(_plain(options)) if options else tag("p", "none"), class_="card"),
        tag("div", tag("h3", "Versions"), pairs(_plain(meta.get("versions", {}))), class_="card"),
        tag("div", tag("h3", "Machine"), pairs(_plain(meta.get("machine", {}))), class_="card"),
    ]
    return tag("div", *(parts if method else parts[2:]), class_="cards")


def citation(used: Any) -> Markup:
    """BibTeX of a run, or of several."""
    return more("Cite: BibTeX of what was used", tag("pre", cite(used)))


def _method(meta: dict[str, Any]) -> list[tuple[str, str]]:
    shown = (("stepper", "stepper"), ("composition", "compose"), ("coordinates", "family"), ("recorded every", "every"))
    found = [(name, str(meta[key])) for name, key in shown if meta.get(key) is not None]
    found.append(("left out", ", ".join(meta.get("ignore") or ()) or "nothing"))
    return [*found, ("control", str(meta.get("control") or "none"))]


def _plain(values: dict[str, Any]) -> list[tuple[str, str]]:
    return [(k, json.dumps(v) if isinstance(v, (dict, list, bool)) or v is None else str(v)) for k, v in values.items()]


def snippet(traj: Any) -> str:
    """Python that repeats the run: from its file, or from the model with the start written out."""
    meta, lines = traj.meta, ["import dalembert as dal", "", 'run = dal.load("run.h5")  # the saved run: traj.save("run.h5")']
    given = [f"h={traj.h!r}", f"t_end={float(traj.t[-1])!r}", f"every={int(meta['every'])}"]
    given += [f"compose={meta['compose']!r}"] if meta.get("compose") else []
    given += [f"ignore={tuple(meta['ignore'])!r}"] if meta.get("ignore") else []
    given += [f"{name}={value!r}" for name, value in (meta.get("options") or {}).items()]
    start = f"q0={_start(traj.q[0], 'q')}, v0={_start(traj.v[0], 'v')}"
    lines += ["traj = dal.simulate(", f"    run.model, {meta['stepper']!r}, {', '.join(given)},", f"    {start},", ")"]
    return "\n".join([*lines, "print(traj.report().text)"])


def _start(values: Any, name: str) -> str:
    flat = np.asarray(values, dtype=float)
    return repr(flat.tolist()) if len(flat) <= LONG else f"run.{name}[0]"


def _caveat(traj: Any) -> str:
    said = "With the same versions on the same kind of machine the numbers are the same; where loops are closed at the start, to round-off."
    if traj.meta.get("control") is not None:
        said += " The run had a control, which is not part of the file: give it as control=..."
    if float(traj.t[0]) != 0.0:
        said += f" The run began at t = {traj.t[0]:g} s: forces that depend on time are then shifted."
    return said
