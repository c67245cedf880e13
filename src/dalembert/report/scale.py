"""The energy scale of a run, and which of its nodes are regular.

    T = max over the nodes of min(T_k, E(0) + W_k - V_k)          W_k: work of the forces so far, where it is counted

is the largest kinetic energy that the energy of the start explains. In a correct motion the two agree. An explosion raises T_k and a
wrong node changes T_k or V_k, but neither raises the smaller of the two, and so neither widens the scale by which it is judged. Where
nobody counts the work, T is the largest kinetic energy. T is at least the round-off of the energies, and where nothing else moves, the
kinetic energy of node 1.

A node is regular if its energy is explained, |E_k - E(0) - W_k| <= 0.2 T (from above only, under forces that take energy uncounted). The
rates that limits follow from are those of regular nodes, and only rates that last for three intervals: one wrong node makes two.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dalembert.arrays import Array

REGULAR = 0.2  # of the scale
LASTING = 3  # intervals


class EnergyScale(NamedTuple):
    """T, J; energy that nothing explains, J; regular nodes."""

    scale: float
    excess: Array
    regular: Array


def energy_scale(kinetic: Array, potential: Array, work: Array | None, takes: bool, noise: float) -> EnergyScale:
    """Of the nodes of a run. work: None where nobody counts it. takes: some forces take energy uncounted. noise: round-off, J."""
    energy = kinetic + potential
    finite = np.isfinite(energy)
    if work is None or not finite[0]:
        return EnergyScale(float(np.max(kinetic[finite], initial=noise)), np.zeros(len(energy)), finite)
    excess = energy - energy[0] - work
    explained = np.minimum(kinetic, energy[0] + work - potential)
    scale = float(np.max(explained[finite]))
    if not scale > noise:
        scale = max(noise, float(kinetic[1]) if len(kinetic) > 1 and finite[1] else 0.0)
    regular = finite & (excess <= REGULAR * scale)
    return EnergyScale(scale, excess, regular if takes else regular & (excess >= -REGULAR * scale))


def lasting(values: Array, regular: Array) -> float:
    """The largest value that three regular neighbours reach; of fewer than three, the largest. 0 for none."""
    x = np.where(regular, values, 0.0)
    if len(x) >= LASTING:
        x = np.lib.stride_tricks.sliding_window_view(x, LASTING).min(axis=1)
    return float(np.max(x, initial=0.0))


def without_spikes(x: Array) -> Array:
    """Each value replaced by the median of itself and its neighbours: what a single node does is left out, a trend is not changed."""
    if len(x) < LASTING:
        return x
    inner = np.median(np.lib.stride_tricks.sliding_window_view(x, LASTING), axis=1)
    return np.concatenate([x[:1], inner, x[-1:]])
