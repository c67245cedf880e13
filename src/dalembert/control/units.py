"""Units in which the numbers of a plan are of the order of 1, where kilogram, metre and newton are not: tiny and huge machines.

IPOPT judges rows and slopes by absolute tolerances. The momenta of a machine of a milligram are all smaller than these, and any guess is
"solved". The units are extents e of places, where all that is given of them is small or large, M_ii e_i of momenta, and likewise of
inputs and impulses. What is done with them: control/scaling.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.control.scaling import power_of_two

HEAVY = (1e-4, 1e4)  # kg, kg m^2: the largest entry of the mass matrix of an ordinary machine
WIDE = (1e-3, 1e4)  # m: the largest extent of an ordinary plan
LEAST = 1e-9  # m: what is less is nothing
SPREAD = 1e-10  # of the units of momenta of one machine


def units_of(made: Any, nodes: Sequence[Any]) -> Array | None:
    """S; None: all are 1. nodes: start, goal, waypoints. How far a machine that turns slides meanwhile is not in them: then only its mass
    tells that it is small."""
    machine, chain = made.machine, made.chain
    q = np.where(np.isfinite(nodes[0].q), nodes[0].q, machine.system.neutral())
    zero = np.zeros(machine.nv)
    offset = machine.momentum(q, zero)
    mass = np.abs(np.array([machine.momentum(q, e)[i] - offset[i] for i, e in enumerate(np.eye(machine.nv))]))
    if not (np.isfinite(mass).all() and mass.any()):
        return None
    ordinary = HEAVY[0] <= mass.max() <= HEAVY[1]
    told = not machine.turning.any() and np.isfinite(nodes[1].q).all()
    place = _extent(machine, nodes) if told or not ordinary else None
    if place is None and ordinary:
        return None
    in_q, in_v = _lengths(machine, 1.0 if place is None else place)
    momentum = np.maximum(mass * in_v, SPREAD * (mass * in_v).max())
    B = np.abs(machine.B)
    force = np.divide(momentum[:, None], B, out=np.zeros_like(B), where=B > 0.0).max(axis=0, initial=0.0)
    S = np.ones(chain.size)
    S[chain.q], S[chain.v], S[chain.p], S[chain.p_after] = in_q, in_v, momentum, momentum
    S[chain.u] = np.where(force > 0.0, force, momentum.max())
    S[chain.impulse] = momentum.max()
    if chain.inner.size:
        S[chain.inner] = np.tile(in_v, chain.inner.shape[1] // machine.nv)
    for at in made.forces:
        S[at] = momentum.max()
    return power_of_two(S)


def _extent(machine: Any, nodes: Sequence[Any]) -> float | None:
    """The largest coordinate of what slides that is given, where it is out of the ordinary."""
    slides = _sliding(machine)
    known = [np.abs(node.q[slides][np.isfinite(node.q[slides])]) for node in nodes]
    known += [np.abs(np.asarray(place, dtype=float)) for node in nodes for place, _ in node.poses.values() if place is not None]
    largest = max((float(x.max(initial=0.0)) for x in known), default=0.0)
    return None if largest < LEAST or not slides.any() or WIDE[0] <= largest <= WIDE[1] else largest


def _sliding(machine: Any) -> Array:
    """Which entries of q are lengths."""
    return _lengths(machine, 2.0)[0] == 2.0


def _lengths(machine: Any, unit: float) -> tuple[Array, Array]:
    """(units of q, units of v): 1 of what turns, the unit of what slides; of formulas all coordinates."""
    in_v = np.where(machine.turning, 1.0, unit)
    if machine.nq == machine.nv:
        return in_v.copy(), in_v
    in_q, system = np.ones(machine.nq), machine.system
    for name, at in system.q_slices().items():
        v = system.v_slices()[name]
        n = at.stop - at.start
        if n == v.stop - v.start:
            in_q[at] = in_v[v]
        elif n == 7:  # a free body: place, quaternion
            in_q[at.start : at.start + 3] = unit
    return in_q, in_v
