"""What contacts remember from step to step, by pairs of shapes: axes of boxes and of hulls, contact points with impulses (world axes).

Keys are sorted; rows of one pair stay in their order. Arrays are never written to, only replaced.
"""

from __future__ import annotations

from typing import Any

import numpy as np

#: keys of pairs, and what is known by them
GROUPS = {"axis_keys": ("axis_codes",), "hull_keys": ("hull_codes",), "keys": ("features", "points", "impulses")}
MEMORY = tuple(name for keys, others in GROUPS.items() for name in (keys, *others))
Memory = dict[str, Any]


def nothing() -> Memory:
    """Of no pair."""
    found: Memory = {name: np.zeros(0, dtype=np.int64) for name in MEMORY}
    return {**found, "points": np.zeros((0, 3)), "impulses": np.zeros((0, 3))}


def join(a: Memory, b: Memory) -> Memory:
    """Of the pairs of both."""
    out: Memory = {}
    for keys, others in GROUPS.items():
        both = np.concatenate([a[keys], b[keys]])
        order = np.argsort(both, kind="stable")
        out[keys] = both[order]
        out.update({name: np.concatenate([a[name], b[name]])[order] for name in others})
    return out


def part(memory: Memory, awake: Any) -> tuple[Memory, Memory]:
    """Of pairs of which a shape is awake (shapes,), and of the others."""
    one: Memory = {}
    two: Memory = {}
    for keys, others in GROUPS.items():
        i, j = np.divmod(memory[keys], max(len(awake), 1))
        on = (awake[i] != 0) | (awake[j] != 0)
        for name in (keys, *others):
            one[name], two[name] = memory[name][on], memory[name][~on]
    return one, two
