"""Figures of plans with contacts, after figures 7 and 8 of Leyendecker et al.

consistency     energy with what contacts take; momentum of the machine; its change from node to node beside the impulse of inputs, weight
                and walls; gaps of the contacts
over_nodes      time of the first contact, cost and scalings of the steps over the node at which the contact is planned
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.control.pictures import titles
from dalembert.errors import OptionError
from dalembert.view import plots
from dalembert.view.picture import COLOURS, FIGURE_SUFFIXES, MUTED, Picture, checked_path, new_picture, save_picture, styled

FLOOR = 1e-18


def consistency(solution: Any, path: Any = None) -> Picture:
    """Energy, momentum and its balance, and gaps along a plan; written to a path (.png, .pdf, .svg) if one is given."""
    if not solution.problem.contacts:
        raise OptionError("consistency: the plan has no planned contacts; expected a solution of dal.control.dmocc.")
    target = None if path is None else checked_path(path, FIGURE_SUFFIXES)
    with styled():
        picture = new_picture(11.0, 7.0, *titles(solution))
        axes = picture.subplots(2, 2)
        _energy(axes[0, 0], solution)
        _momentum(axes[0, 1], solution)
        _balance(axes[1, 0], solution)
        _gaps(axes[1, 1], solution)
        for panel in axes.ravel():
            for t in sorted({x.t for x in solution.impacts}):
                panel.axvline(t, color=MUTED, lw=0.8, ls=":")
    if target is not None:
        save_picture(picture, target)
    return picture


def _energy(axes: Any, solution: Any) -> None:
    traj = solution.traj
    axes.plot(traj.t, traj.energy, color=COLOURS[0], label="energy")
    axes.plot(traj.t, traj.energy - traj.work + traj.work[0], color=COLOURS[1], ls="--", label="less work of inputs and contacts")
    axes.set(title="Energy", xlabel=plots.TIME, ylabel="J")
    axes.legend()


def _momentum(axes: Any, solution: Any) -> None:
    traj = solution.traj
    for i, (name, colour) in enumerate(zip(("L x", "L y", "L z"), COLOURS, strict=False)):
        axes.plot(traj.t, traj.momentum[:, i], color=colour, label=name)
    axes.set(title="Angular momentum about the origin", xlabel=plots.TIME, ylabel="kg m²/s")
    axes.legend()


def imbalances(solution: Any) -> tuple[Array, Array]:
    """(N,) angular and linear: change of momentum from node to node less the impulse in the account."""
    traj = solution.traj
    missing = np.diff(traj.momentum, axis=0) - np.diff(traj.impulse, axis=0)
    return np.abs(missing[:, :3]).max(axis=1), np.abs(missing[:, 3:]).max(axis=1)


def _balance(axes: Any, solution: Any) -> None:
    angular, linear = imbalances(solution)
    axes.semilogy(solution.t[1:], np.maximum(angular, FLOOR), ".", color=COLOURS[0], label="angular")
    axes.semilogy(solution.t[1:], np.maximum(linear, FLOOR), ".", color=COLOURS[1], label="linear")
    axes.set(title="Change of momentum less impulse", xlabel=plots.TIME, ylabel="kg m²/s, kg m/s")
    axes.legend()


def _gaps(axes: Any, solution: Any) -> None:
    shown: dict[str, Any] = {}
    for c in solution.problem.contacts:
        shown.setdefault(f"{c.gap.name} {np.round(getattr(c.gap, 'point', 0.0), 3)}", c.gap)
    for colour, gap in zip(COLOURS, shown.values(), strict=False):
        axes.plot(solution.t, [gap.number(q) for q in solution.q], color=colour, label=gap.name)
    axes.set(title="Gaps of planned contacts", xlabel=plots.TIME, ylabel="m")
    axes.legend()


def over_nodes(solutions: Mapping[int, Any], path: Any = None) -> Picture:
    """{node: solution} of one problem whose first contact is planned at different nodes."""
    if not solutions or any(not s.impacts for s in solutions.values()):
        raise OptionError("over_nodes: expected {node: solution} of plans with an impact.")
    target = None if path is None else checked_path(path, FIGURE_SUFFIXES)
    nodes = sorted(solutions)
    found = [solutions[k] for k in nodes]
    with styled():
        picture = new_picture(12.0, 4.0, "The node of a planned contact", "times, costs and steps of phases, h_i/h")
        axes = picture.subplots(1, 3)
        panels = (("Time of the contact", "s", [s.impacts[0].t for s in found]), ("Cost", "", [s.cost for s in found]))
        for panel, (title, unit, values) in zip(axes, panels, strict=False):
            panel.plot(nodes, values, "o-", color=COLOURS[0])
            middle, spread = float(np.mean(values)), max(float(np.ptp(values)), 1e-3 * abs(float(np.mean(values))))
            panel.set(title=title, xlabel="node", ylabel=unit, ylim=(middle - 2 * spread, middle + 2 * spread))
        for i, colour in zip(range(len(found[0].problem.chain.phases)), COLOURS, strict=False):
            scale = [s.h[s.problem.chain.phase_of == i][0] * len(s.h) / s.t[-1] for s in found]
            axes[2].plot(nodes, scale, "o-", color=colour, label=f"phase {i + 1}")
        axes[2].set(title="Steps, of the mean step", xlabel="node")
        axes[2].legend()
    if target is not None:
        save_picture(picture, target)
    return picture
