"""Islands that sleep: what has been calm for a while costs nothing until something touches it, and then goes on where it was.

    calm        |v| + radius |omega| < CALM, no force but the weight; bodies with joints never are
    island      bodies that contacts join, with impulse or not (those a few millimetres apart would wake each other in turn)
    sleeps      when each of its bodies has been calm for `sleep` seconds and lies on a contact with impulse, one of them on the world.
                Velocities become 0; the energy that takes, at most 5e-9 J per kg, is in the account ("numerical")
    asleep      no rows, no detection among bodies that sleep and the world; states stay bit for bit. What its contacts remember is held
    wakes       as a whole, when a contact with a body that is awake gets rows (any contact, where something strikes in the step), when a
                force acts on one of its bodies, when h is changed, or the machine (`sim.edit`). The step begins anew with what was held:
                contacts, axes and impulses of the last step before the sleep. What it touches wakes in the same step

CALM: boxes at rest have 1e-9 ... 1e-6 m/s. Contacts that stick under a load along them creep with sigma lam, at most 1e-4 g h (1.6e-5 m/s
at h = 1/60) per weight of the body that they carry (`rows.SOFTEST`): logs of 20 kg in a pile 1.7e-5 ... 6.2e-5 m/s. Sleep stops that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.arrays import Array
from dalembert.contact.accounts import NUMERICAL
from dalembert.contact.tables import COLUMNS, described
from dalembert.kernels.bodies import layout
from dalembert.kernels.bodies.motion import ASLEEP, BALANCED, OMEGA
from dalembert.kernels.contact.islands import islands
from dalembert.kernels.contact.sleep import SLEEPS, loaded, rest, tired, touched

if TYPE_CHECKING:
    from dalembert.contact.machine import Machine

#: m/s
CALM = 1e-4


class Sleep:
    """Sleeping bodies of a machine. calm (n,): how long each has been calm, s, SLEEPS of those that sleep; empty where none ever does.
    rows: contacts of bodies that sleep, as `tables.contact_rows`."""

    def __init__(self, machine: Machine):
        self.m, self.count, self.on = machine, 0, machine.settings.sleep > 0.0
        n = machine.n
        self.calm = np.zeros(n if self.on else 0)
        self.rows = np.zeros((0, len(COLUMNS["contacts"])))
        self.bound, self._out, self._label = (np.zeros(n, dtype=np.int64) for _ in range(3))
        self._room = np.zeros((3, n), dtype=np.int64)
        system = machine.bodies.system
        for j in range(machine.joints):
            record = int(system[layout.AT_JOINTS]) + j * layout.JOINT_SIZE
            ends = (int(system[record + layout.BODY_A]), int(system[record + layout.BODY_B]))
            self.bound[[k for k in ends if 0 <= k < n]] = 1

    @property
    def asleep(self) -> Any:
        """(n,): which bodies sleep."""
        return self.m.mode == ASLEEP

    @property
    def all(self) -> bool:
        """Whether all bodies sleep."""
        return self.on and self.count == self.m.n

    # checkpoints -----------------------------------------------------------------------------------------------------------------------

    def restore(self, calm: Any = 0.0, contacts: Array | None = None) -> None:
        """Go on from a checkpoint, before the detector does; contacts: rows of its node. None: all are awake."""
        self.calm[:] = calm
        if contacts is None:
            self.calm[:] = np.maximum(self.calm, 0.0)
        sleepers = self.calm == SLEEPS
        self.m.mode[:] = BALANCED
        if self.on:
            self.m.mode[sleepers] = ASLEEP
        self.rows = self.rows[:0] if contacts is None else contacts[~self._waking(contacts)]
        self._watch()

    def _watch(self) -> None:
        """Let the detector know."""
        self.count = int(np.count_nonzero(self.asleep)) if self.on else 0
        if self.m.detector is not None and self.on:
            self.m.detector.watch(~self.asleep)

    def _waking(self, rows: Array) -> Any:
        """(rows,): whether a body of a contact is awake."""
        awake = np.append(~self.asleep, False)  # the world, -1, is not
        a, b = rows[:, 0].astype(np.int64), rows[:, 1].astype(np.int64)
        return awake[a] | awake[b]

    def visible(self, rows: Array) -> Array:
        """Contacts of the node from those with rows in the last step: with those of bodies that sleep."""
        if not self.count:
            return rows
        return np.concatenate([rows[self._waking(rows)], self.rows]) if len(rows) else self.rows

    # waking ----------------------------------------------------------------------------------------------------------------------------

    def wake_all(self) -> None:
        """Whatever the reason."""
        self._out[:] = self.asleep
        self._wake()

    def wake_loaded(self) -> None:
        """Islands on which something beside the weight acts."""
        if loaded(self.m.push, self.m.bodies.weight, self.m.mode, self._out):
            self._wake()

    def wake_touched(self, n: int, before: Any) -> bool:
        """Islands that the first n chosen contacts join to what is awake; True: the detection is to be repeated. before: what the detector
        remembered before it."""
        d = self.m.detector
        if d is None or not touched(self.m.chosen, n, d.contacts.bodies, self.m.mode, self._out):
            return False
        d.rewind(before)
        self._wake()
        return True

    def _wake(self) -> None:
        """The islands of the bodies that are marked in _out."""
        d = self.m.detector
        assert d is not None
        islands(d.held_bodies(), self._label)
        hit = np.zeros(self.m.n, dtype=bool)
        hit[self._label[self._out == 1]] = True
        woken = hit[self._label] & self.asleep
        self.m.mode[woken], self.calm[woken] = BALANCED, 0.0
        self.rows = self.rows[~self._waking(self.rows)]
        self._watch()

    # falling asleep --------------------------------------------------------------------------------------------------------------------

    def settle(self, h: float) -> None:
        """At the end of a step."""
        m, d, long = self.m, self.m.detector, self.m.settings.sleep
        if d is None or not rest(h, CALM, long, m.size, m.states, m.push, m.bodies.weight, self.bound, m.mode, self.calm):
            return
        joined = np.empty((d.count, 2), dtype=np.int64)
        pairs, last = d.contacts.bodies, (m.chosen, m.contacts, m.lam, m.joint_rows)
        if tired(long, self.calm, m.mode, d.count, pairs, *last, joined, self._label, self._room, self._out):
            self._fall()

    def _fall(self) -> None:
        """Bodies that are marked in _out fall asleep."""
        m, these = self.m, self._out == 1
        before = m.kinetic()
        m.states[these, OMEGA:] = 0.0
        m.account[NUMERICAL] += m.kinetic() - before
        m.mode[these], self.calm[these] = ASLEEP, SLEEPS
        now = described(m)
        self.rows = np.concatenate([self.rows, now[~self._waking(now)]])
        self._watch()
