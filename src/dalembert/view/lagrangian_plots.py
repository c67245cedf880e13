"""One figure that shows a run of a Lagrangian: what should have been kept, the motion, and what constraints or the solver did."""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.view import plots
from dalembert.view.legends import add_legend
from dalembert.view.lines import strided
from dalembert.view.picture import COLOURS, MUTED, Picture, new_picture

MOST = len(COLOURS)
WORDY = 12  # characters of a name of which four have no room beside each other


def plot_lagrangian(traj: Any) -> Picture:
    """Figure of a run; call it within `styled()`."""
    picture = new_picture(13.0, 7.2, *plots.titles(traj))
    axes = picture.subplots(2, 3)
    plots.draw_energy_error(axes[0, 0], traj)
    plots.draw_momentum_error(axes[0, 1], traj)
    draw_portrait(axes[0, 2], traj)
    draw_coordinates(axes[1, 0], traj)
    plots.draw_energies(axes[1, 1], traj)
    constrained = traj.model.formulas.holonomic_rows or traj.model.formulas.pfaffian_rows
    (draw_constraints if constrained else plots.draw_solver)(axes[1, 2], traj)
    return picture


def draw_coordinates(axes: Any, traj: Any) -> None:
    """All coordinates over time, the first ten of many."""
    for i, name in enumerate(traj.model.names[:MOST]):
        plots.line(axes, traj.t, traj.q[:, i], COLOURS[i], label=name)
    left = traj.model.n - MOST
    axes.set(title="Coordinates" if left <= 0 else f"Coordinates (without {left} more)", xlabel=plots.TIME, ylabel="q")
    add_legend(axes, loc="best", ncols=4 if max(map(len, traj.model.names)) < WORDY else 1)
    axes.margins(y=0.15)


def draw_portrait(axes: Any, traj: Any) -> None:
    """One coordinate: its velocity over it. Several: the path in the plane of the first two."""
    names = traj.model.names
    if traj.model.n == 1:
        x, y, words = traj.q[:, 0], traj.v[:, 0], ("Phase portrait", names[0], f"d{names[0]}/dt")
    else:
        x, y, words = traj.q[:, 0], traj.q[:, 1], ("Path", names[0], names[1])
    points = strided(np.column_stack([x, y]))
    axes.plot(points[:, 0], points[:, 1], color=COLOURS[0], lw=0.9)
    axes.plot(x[0], y[0], "o", color=MUTED, ms=4)
    axes.set(title=words[0], xlabel=words[1], ylabel=words[2])


def draw_constraints(axes: Any, traj: Any) -> None:
    """Largest residual of the holonomic constraints, of their rates, and of the constraints on velocities, logarithmic."""
    m = traj.model.formulas.holonomic_rows
    rates = np.abs(traj.model.velocity_errors(traj.q, traj.v, traj.t))
    curves = [("holonomic", np.abs(traj.constraint)), ("their rates", rates[:, :m]), ("on velocities", rates[:, m:])]
    axes.set(title="Constraints", xlabel=plots.TIME, ylabel="largest |residual|")
    axes.set_yscale("log")
    for (label, rows), colour in zip(curves, COLOURS, strict=False):
        if rows.shape[1]:
            values = rows.max(axis=1)
            values = np.where(values > 0, values, np.nan)
            some = bool(np.isfinite(values).any())
            plots.line(axes, traj.t, values, colour, label=label if some else f"{label}: exactly 0", lw=0.9)
    axes.legend(loc="best")
    bottom, top = axes.get_ylim()
    axes.set_ylim(*plots.two_powers(max(bottom, 1e-18), max(top, 1e-14)))
