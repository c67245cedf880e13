"""One figure that shows a plan: coordinates, velocities, inputs with their bounds, the machine, energy, and what should have been kept.

Inputs are held over the steps and drawn so; bounds are dashed. Of a machine that floats, the angular momentum about its centre of mass is
shown; of others, how far one step of the simulator from every node ends beside the next one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.control.conserved import about_centre, carrier
from dalembert.control.replay import STEP_TOLERANCE
from dalembert.view import lagrangian_plots, plots, tree_plots
from dalembert.view.picture import COLOURS, FAINT, FIGURE_SUFFIXES, MUTED, Picture, checked_path, new_picture, save_picture, styled

LABELLED = 8  # curves with a colour and a name in one panel: those that move most; others are thin
LONG = 100  # characters of a status in the title


def plot(solution: Any, path: Any = None) -> Picture:
    """Figure of a plan; written to a path (.png, .pdf, .svg) if one is given."""
    target = None if path is None else checked_path(path, FIGURE_SUFFIXES)
    traj, machine = solution.traj, solution.problem.machine
    tree = hasattr(machine.formulas, "tree")
    with styled(), np.errstate(over="ignore", invalid="ignore"):
        picture = new_picture(13.0, 7.4, *titles(solution))
        axes = picture.subplots(2, 3)
        draw_columns(axes[0, 0], axes[0, 1], solution)
        (tree_plots.draw_machine if tree else lagrangian_plots.draw_portrait)(axes[0, 2], traj)
        draw_inputs(axes[1, 0], solution)
        plots.draw_energies(axes[1, 1], traj)
        floats = tree and carrier(machine) is not None
        (draw_momentum if floats else draw_steps)(axes[1, 2], solution)
    if target is not None:
        save_picture(picture, target)
    return picture


def titles(solution: Any) -> tuple[str, str]:
    """Title: machine, method and cost; subtitle: status."""
    problem = solution.problem
    name = getattr(problem.machine.whole, "name", "") or "plan"
    status = solution.status if len(solution.status) <= LONG else f"{solution.status[: LONG - 1]}…"
    title = f"{name}: {problem.chain.N} steps of {problem.method}, cost {solution.cost:.6g}"
    return title, f"{solution.t[-1]:.5g} s, {status}"


def draw_columns(left: Any, right: Any, solution: Any) -> None:
    """Coordinates, and velocities of the nodes."""
    machine = solution.problem.machine
    _curves(left, solution.t, solution.q, machine.q_names)
    left.set(title="Coordinates", xlabel=plots.TIME)
    _curves(right, solution.t, solution.v, machine.v_names)
    right.set(title="Velocities", xlabel=plots.TIME)


def draw_inputs(axes: Any, solution: Any) -> None:
    """Inputs as they are held, with the bounds that they were given."""
    u, names = solution.inputs, solution.problem.machine.u_names
    axes.set(title="Inputs", xlabel=plots.TIME, ylabel="N, N m")
    if not names:
        plots.say(axes, "no inputs")
        return
    _curves(axes, solution.t, np.vstack([u, u[-1:]]), names, drawstyle="steps-post")
    _draw_bounds(axes, solution.problem, u)


def _curves(axes: Any, t: Array, values: Array, names: Any, **look: Any) -> None:
    """Columns over time; of many, those that move most in colour. What would hide another curve is dashed."""
    moves = np.ptp(np.nan_to_num(values), axis=0)
    chosen = sorted(np.argsort(-moves, kind="stable")[:LABELLED]) if len(names) > len(COLOURS) else list(range(len(names)))
    for i in set(range(len(names))) - set(chosen):
        axes.plot(t, values[:, i], color=FAINT, lw=0.8, zorder=1.0, **look)
    size = 0.01 * moves.max(initial=0.0)
    for n, (colour, i) in enumerate(zip(COLOURS, chosen, strict=False)):
        hides = any(np.abs(values[:, i] - values[:, j]).max() <= size for j in chosen[:n])
        axes.plot(t, values[:, i], color=colour, label=names[i], ls="--" if hides else "-", **look)
    axes.set_xlim(t[0], t[-1])
    axes.margins(y=0.12)
    rows = -(-len(chosen) // 2)
    if rows > 2:  # room for the names below the curves
        low, high = axes.get_ylim()
        axes.set_ylim(low - 0.08 * rows * (high - low), high)
    axes.legend(loc="best" if rows < 3 else "lower center", ncols=1 if len(chosen) < 4 else 2, handlelength=1.4)


def _draw_bounds(axes: Any, problem: Any, u: Array) -> None:
    """Dashed lines at bounds that some input comes near."""
    at, program = problem.chain.u[0], problem.program
    size = float(np.abs(u).max(initial=0.0))
    for level in sorted({*program.least[at].tolist(), *program.most[at].tolist()}):
        if np.isfinite(level) and abs(level) <= 1.5 * size:
            axes.axhline(level, color=MUTED, lw=0.8, ls=(0, (4, 3)), zorder=0.5)


def draw_momentum(axes: Any, solution: Any) -> None:
    """Angular momentum about the centre of mass less that of the start, of a machine that nothing outside turns."""
    machine = solution.problem.machine
    L = np.array([about_centre(machine, q, v)[2] for q, v in zip(solution.q, solution.v, strict=True)])
    axes.set(title="Angular momentum (centre of mass)", xlabel=plots.TIME, ylabel="|change| (kg m²/s)")
    curves = [(f"$L_{axis}$", np.abs(L[:, i] - L[0, i])) for i, axis in enumerate("xyz")]
    plots.log_lines(axes, solution.t, curves)
    axes.legend(loc="best", ncols=3)


def draw_steps(axes: Any, solution: Any) -> None:
    """Error of one step of the simulator from every node, logarithmic."""
    errors = solution.replay.errors
    axes.set(title="One step of the simulator from every node", xlabel=plots.TIME, ylabel="distance from the next node")
    plots.log_lines(axes, solution.t, [("distance", np.append(np.nan, np.where(np.isfinite(errors), errors, np.nan)))])
    axes.axhline(STEP_TOLERANCE, color=MUTED, lw=0.8, ls=(0, (4, 3)))
    low, high = axes.get_ylim()
    axes.set_ylim(min(0.1 * STEP_TOLERANCE, low), max(10.0 * STEP_TOLERANCE, high if high < STEP_TOLERANCE else 10.0 * high))
    axes.annotate("tolerance", (1.0, STEP_TOLERANCE), xycoords=("axes fraction", "data"), ha="right", va="bottom", color=MUTED, fontsize=8)
