"""`Instants`: the contacts of a step at instants within it (kernels/contact/instants.py), for impacts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.arrays import Array
from dalembert.kernels.contact import instants

if TYPE_CHECKING:
    from dalembert.contact.machine import Machine


class Instants:
    """The first n contacts of a step, at its beginning and then later and later. J: rows of joints and contacts, those of contacts as of
    the instant; frames (n, 3, 3): their directions."""

    def __init__(self, m: Machine, n: int):
        d = m.detector
        assert d is not None
        self.m, self.n, self.shapes, self.found = m, n, d.scene.shapes, d.contacts
        self.states, self.J = m.states.copy(), m.rows.J.copy()
        self.frames = d.frames[m.chosen[:n]].copy()
        self._points, self._still = np.zeros((n, 3)), np.zeros(6 * m.n)

    def meet(self, v: Array, slope: Array, end: float, out: Array) -> None:
        """out (n,): times from now at which balls meet spheres and boxes, before `end`, with velocities v that change with `slope`."""
        m = self.m
        instants.meeting_times(
            self.shapes, m.chosen, self.n, self.found.key, self.states, v, slope, m.settings.threshold, end, out
        )  # fmt: skip

    def go(self, t: float, v: Array, slope: Array, gaps: Array) -> None:
        """t on. gaps (n,): those of balls with spheres and boxes become exact."""
        m, c = self.m, self.found
        instants.move(t, v, slope, self.states)
        instants.rows_at(
            self.shapes, m.chosen, self.n, c.key, c.bodies, c.point, c.gap, c.normal, m.states, self.states, self._still, m.joint_rows,
            self._points, self.frames, self.J, gaps,
        )  # fmt: skip

    def from_start(self, which: Any, lam: Array) -> Array:
        """Impulses (k, 3) of some contacts in the directions of the instant, in those of the beginning."""
        assert self.m.detector is not None
        start = self.m.detector.frames[self.m.chosen[which]]
        return np.asarray(np.einsum("nij,nkj,nk->ni", start, self.frames[which], lam))
