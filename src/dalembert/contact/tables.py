"""Ragged tables of runs with contacts: contacts of a step, events, and what contacts remember.

Of a contact: bodies a and b by number (-1 the world; names in `contact.body_names`), point p and normal n from a to b (world axes) at the
beginning of the step, gap (m) there, impulse j on b over the step (N s, world axes), slip speed at its end (m/s), state OPEN, STICK, SLIP.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.kernels.contact.match import to_world
from dalembert.kernels.contact.rows import slips

OPEN, STICK, SLIP = 0, 1, 2
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
    """The contacts of the last step of a machine."""
    n, width = machine.contacts, len(COLUMNS["contacts"])
    out = np.zeros((n, width))
    if not n:
        return out
    chosen, c, r0 = machine.chosen[:n], machine.detector.contacts, machine.joint_rows
    lam = np.ascontiguousarray(machine.lam[r0 : r0 + 3 * n].reshape(n, 3))
    j = np.zeros((n, 3))
    to_world(np.ascontiguousarray(machine.detector.frames[chosen]), lam, n, j)
    slip = np.zeros(n)
    slips(n, machine.constraints, r0, machine.rows.bodies, machine.rows.J, machine.rows.b, machine.x, slip)
    out[:, :2], out[:, 2:5], out[:, 5:8] = c.bodies[chosen], c.point[chosen], c.normal[chosen]
    out[:, 8], out[:, 9:12], out[:, 12] = c.gap[chosen], j, slip
    pressed = lam[:, 0] > 0.0
    out[:, 13] = np.where(pressed & _sliding(machine, n, lam, slip), SLIP, np.where(pressed, STICK, OPEN))
    return out


def _sliding(machine: Any, n: int, lam: Array, slip: Array) -> Any:
    """On the cone; where other laws hold or directions differ, faster than contacts that stick give way, sigma lam."""
    c, r0 = machine.constraints, machine.joint_rows
    if machine.settings.law in ("coulomb", "cone") and not machine.is_stretched:
        return np.asarray(np.hypot(lam[:, 1], lam[:, 2]) >= (1.0 - 1e-9) * machine.rows.mu[c : c + n] * lam[:, 0])
    return np.asarray(slip > 10.0 * machine.rows.sigma[r0 + 1 : r0 + 3 * n : 3] * np.hypot(lam[:, 1], lam[:, 2]) + CREEP)


def memory_rows(detector: Any) -> Array:
    """What a detector remembers, as rows."""
    if detector is None:
        return np.zeros((0, len(COLUMNS["memory"])))
    m, parts = detector.memory(), []
    for what, keys, codes in ((AXIS, "axis_keys", "axis_codes"), (HULL, "hull_keys", "hull_codes"), (CONTACT, "keys", "features")):
        rows = np.zeros((len(m[keys]), len(COLUMNS["memory"])))
        rows[:, 0], rows[:, 1], rows[:, 2] = what, m[keys], m[codes]
        parts.append(rows)
    parts[2][:, 3:6], parts[2][:, 6:9] = m["points"], m["impulses"]
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
