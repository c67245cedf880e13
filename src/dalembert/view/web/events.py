"""What happened in a run, for marks on a time line: impacts, joints that broke, and what else its engine calls an event."""

from __future__ import annotations

from typing import Any, NamedTuple

from dalembert.contact.tables import BROKEN, STRUCK
from dalembert.view.web.motion import machine_of


class Happened(NamedTuple):
    """When, and what in words."""

    t: float
    words: str


def happened_in(traj: Any) -> list[Happened]:
    """Events of a run in order of time. Columns that an engine does not have are left out of the words."""
    events = traj.events
    if not len(events.rows):
        return []
    model, rows = machine_of(traj.model), [dict(zip(events.columns, row, strict=True)) for row in events.rows.tolist()]
    return [Happened(float(row["t"]), _words(model, traj.stepper.engine_name, row)) for row in rows if "t" in row]


def _words(model: Any, engine: str, row: dict[str, float]) -> str:
    kind, value = int(row.get("kind", 0)), row.get("value", float("nan"))
    amount = f", {value:.3g}" if value == value else ""
    if engine == "spook" and kind == BROKEN:
        return f"a joint breaks under {value:.3g} N"
    if not {"a", "b"} <= row.keys():
        return f"event{amount}"
    unit = " N s" if engine == "spook" and kind == STRUCK else ""
    return f"{_body(model, row['a'])} strikes {_body(model, row['b'])}{amount}{unit}"


def _body(model: Any, number: float) -> str:
    k = int(number) if number == number else -1
    return str(model.bodies[k].name) if 0 <= k < len(model.bodies) else "the world"
