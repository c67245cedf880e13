"""Ragged tables of runs with contacts: contacts of a step, events, and what contacts remember.

Of a contact: bodies a and b by number (-1 the world; names in `contact.body_names`), point p and normal n from a to b (world axes) at the
beginning of the step, gap (m) there, impulse j on b over the step, impacts included (N s, world axes), slip speed at its end (m/s), state
OPEN, STICK, SLIP.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.kernels.contact.rows import OPEN, SLIP, STICK, describe

__all__ = ["BROKEN", "COLUMNS", "OPEN", "SLIP", "STICK", "STRUCK", "contact_rows", "described", "memory_rows", "restore_memory"]

#: m/s: the residual of a solved step
CREEP = 1e-6
#: kinds of events: an impact with restitution (value: normal impulse, N s), a joint that broke (a: its number, value: force, N)
STRUCK, BROKEN = 1, 2
COLUMNS: dict[str, tuple[str, ...]] = {
    "contacts": ("a", "b", "px", "py", "pz", "nx", "ny", "nz", "gap", "jx", "jy", "jz", "slip", "state"),
    "events": ("t", "kind", "a", "b", "value"),
    "memory": ("what", "key", "code", "px", "py", "pz", "jx", "jy", "jz"),
}
#: what a row of memory is: the axis of a pair of boxes, of hulls, or a contact
AXIS, HULL, CONTACT = 0.0, 1.0, 2.0


def contact_rows(machine: Any) -> Array:
    """The contacts of the last step of a machine, and those of bodies that sleep."""
    return machine.sleep.visible(described(machine))


def described(machine: Any) -> Array:
    """The contacts of the last step of a machine: those with rows in it, and those that struck before it."""
    out, which, struck = rows_of(machine, machine.contacts, machine.lam), machine.impacts.which, machine.impacts.rows
    if not len(which):
        return out
    place = {int(k): i for i, k in enumerate(machine.chosen[: machine.contacts])}
    alone = np.array([int(k) not in place for k in which])
    for k, row in zip(which[~alone], struck[~alone], strict=True):
        own = out[place[int(k)]]
        if own[13] == OPEN:
            own[12:] = row[12:]
        own[9:12] += row[9:12]
    return np.concatenate([out, struck[alone]])


def rows_of(machine: Any, n: int, lam: Array) -> Array:
    """The first n contacts that were chosen, with impulses lam of all rows."""
    out = np.zeros((n, len(COLUMNS["contacts"])))
    if n:
        c, r = machine.detector.contacts, machine.rows
        describe(
            n, machine.chosen, c.bodies, c.point, c.gap, machine.detector.frames, machine.constraints, machine.joint_rows, r.bodies, r.J,
            r.b, r.mu, machine.x, lam, out,
        )  # fmt: skip
        if machine.is_stretched or machine.settings.law not in ("coulomb", "cone"):
            out[:, -1] = _states(machine, n, lam, out[:, -2])
    return out


def _states(machine: Any, n: int, lam: Array, slip: Array) -> Array:
    """Where the limit is no cone: those slide that are faster than what sticks gives way, sigma lam."""
    lam = lam[machine.joint_rows :][: 3 * n].reshape(n, 3)
    creep = machine.rows.sigma[machine.joint_rows + 1 :][: 3 * n : 3] * np.hypot(lam[:, 1], lam[:, 2])
    return np.where(lam[:, 0] <= 0.0, OPEN, np.where(slip > 10.0 * creep + CREEP, SLIP, STICK))


def memory_rows(memories: Sequence[Mapping[str, Array]]) -> Array:
    """What a detector remembers (`Detector.glance`), as rows; no memories: no detector."""
    parts = [np.zeros((0, len(COLUMNS["memory"])))]
    for m in memories:
        for what, keys, codes in ((AXIS, "axis_keys", "axis_codes"), (HULL, "hull_keys", "hull_codes"), (CONTACT, "keys", "features")):
            rows = np.zeros((len(m[keys]), len(COLUMNS["memory"])))
            rows[:, 0], rows[:, 1], rows[:, 2] = what, m[keys], m[codes]
            parts.append(rows)
        parts[-1][:, 3:6], parts[-1][:, 6:9] = m["points"], m["impulses"]
    return np.concatenate(parts)


def restore_memory(detector: Any, table: Any) -> None:
    """Hand remembered rows back; None: nothing is remembered."""
    if table is None:
        detector.forget()
        return
    axes, hulls, contacts = (table.rows[table.rows[:, 0] == what] for what in (AXIS, HULL, CONTACT))
    found = {"axis_keys": axes[:, 1], "axis_codes": axes[:, 2], "hull_keys": hulls[:, 1], "hull_codes": hulls[:, 2]}
    found |= {"keys": contacts[:, 1], "features": contacts[:, 2], "points": contacts[:, 3:6], "impulses": contacts[:, 6:9]}
    detector.restore(found)
