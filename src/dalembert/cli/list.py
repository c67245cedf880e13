"""`dalembert list`: what there is, made from the registries."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Annotated, Any

import typer

from dalembert.cli import _shell as shell

NAME = "list"
EXAMPLES = shell.examples("dalembert list", "dalembert list steppers --json")


class Which(StrEnum):
    """What can be listed."""

    steppers = "steppers"
    scenes = "scenes"
    compositions = "compositions"
    peers = "peers"


def command(
    which: Annotated[Which | None, typer.Argument(help="One list; default: all.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON, with everything that is known.")] = False,
) -> None:
    """List steppers, scenes, compositions and peers."""
    wanted = list(Which) if which is None else [which]
    if as_json:
        import json

        data = {w.value: _DATA[w]() for w in wanted}
        typer.echo(json.dumps(data if which is None else data[which.value], indent=2))
        return
    for w in wanted:
        heads = _HEADS[w]
        shell.print_table(w.value, heads, [[_cell(entry[head]) for head in heads] for entry in _DATA[w]()])


def _cell(x: Any) -> str:
    if isinstance(x, bool):
        return "yes" if x else ""
    return ", ".join(map(str, x)) if isinstance(x, (list, tuple)) else f"{x:g}" if isinstance(x, float) else str(x)


def _steppers() -> list[dict[str, Any]]:
    from dalembert.registry import describe, steppers

    return [describe(s) for s in steppers()]


def _scenes() -> list[dict[str, Any]]:
    from dalembert import scenes

    fields = ("name", "summary", "h", "t_end", "stepper", "chaotic", "references")
    found = [scenes.find(name) for name in scenes.names()]
    return [{**{f: getattr(s, f) for f in fields}, "system": _system(s), "exact": s.exact is not None} for s in found]


def _system(scene: Any) -> str:
    """The kind of system that a scene is: "lagrangian", "rigid-body" or "tree"."""
    from dalembert.families import find_family

    return find_family(scene.model()).kind


def _compositions() -> list[dict[str, Any]]:
    from dalembert.steppers.compose import COMPOSITIONS

    return [
        {"name": c.name, "order": c.order, "substeps": len(c.weights), "weights": c.weights.tolist(), "reference": c.reference}
        for c in COMPOSITIONS.values()
    ]


def _peers() -> list[dict[str, Any]]:
    from dalembert.peers import PEERS

    return [
        {"name": p.name, "order": p.order, "summary": p.summary, "handles": p.handles, "references": p.references} for p in PEERS.values()
    ]


_DATA: dict[Which, Callable[[], list[dict[str, Any]]]] = {
    Which.steppers: _steppers,
    Which.scenes: _scenes,
    Which.compositions: _compositions,
    Which.peers: _peers,
}
_HEADS = {
    Which.steppers: ("name", "system", "order", "self_adjoint", "symplectic", "conserves", "summary"),
    Which.scenes: ("name", "system", "h", "t_end", "stepper", "chaotic", "exact", "summary"),
    Which.compositions: ("name", "order", "substeps", "reference"),
    Which.peers: ("name", "order", "summary", "handles"),
}
