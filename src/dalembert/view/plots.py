"""One figure that shows a run: energies, what should have been kept, angular velocity, the motion in space, and what the solver did."""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.families import family_named
from dalembert.lagrangian import Lagrangian
from dalembert.model import Model, kinematics
from dalembert.runs.as_bodies import as_bodies
from dalembert.view.drift import energy_drift, momentum_drift, momentum_excuse
from dalembert.view.legends import LONGEST, add_legend, look_of, short
from dalembert.view.lines import thin
from dalembert.view.picture import COLOURS, FIGURE_SUFFIXES, MUTED, Picture, checked_path, new_picture, save_picture, styled
from dalembert.view.sphere import draw_space_panel

TIME = "t (s)"
MOST = 10  # lines in one panel


def plot_trajectory(traj: Any, path: Any = None, panels: Any = None, theme: str = "light") -> Picture:
    """Figure of a run; written to a path (.png, .pdf, .svg) if one is given. panels: names of `view.panels`, or all that suit the run."""
    from dalembert.view import dark

    target = None if path is None else checked_path(path, FIGURE_SUFFIXES)
    dark.check_theme(theme)
    traj = as_bodies(traj)
    with styled(), np.errstate(over="ignore", invalid="ignore"):  # a motion that exploded is drawn as far as it goes
        picture = dark.themed(suited(traj.model, traj) if panels is None else _chosen(traj, panels), theme)
    if target is not None:
        save_picture(picture, target)
    return picture


def _chosen(traj: Any, panels: Any) -> Picture:
    from dalembert.view.panels import plot_panels

    return plot_panels(traj, panels)


@singledispatch
def suited(system: Any, traj: Any) -> Picture:
    """The figure of a run by the kind of its system; of one that brings none of its own: energies, coordinates, velocities, solver."""
    picture = new_picture(10.0, 7.2, *titles(traj))
    grid = picture.add_gridspec(2, 2)
    draw_energies(picture.add_subplot(grid[0, 0]), traj)
    draw_columns(picture.add_subplot(grid[0, 1]), traj, "q", "coordinates")
    draw_columns(picture.add_subplot(grid[1, 0]), traj, "v", "velocities")
    draw_solver(picture.add_subplot(grid[1, 1]), traj)
    return picture


@suited.register
def _(system: Model, traj: Any) -> Picture:
    from dalembert.view.contact_plots import plot_contacts, touched
    from dalembert.view.tree_plots import has_joints, plot_tree

    if touched(traj):
        return plot_contacts(traj)
    if has_joints(traj.model):
        return plot_tree(traj)
    picture = new_picture(13.0, 7.2, *titles(traj))
    grid = picture.add_gridspec(2, 3, width_ratios=(1, 1, 1))
    draw_energy_error(picture.add_subplot(grid[0, 0]), traj)
    draw_momentum_error(picture.add_subplot(grid[0, 1]), traj)
    frame = picture.add_subplot(grid[0, 2])
    frame.set_axis_off()
    frame.set_title(draw_space_panel(picture.add_subplot(grid[0, 2], projection="3d"), traj))
    draw_energies(picture.add_subplot(grid[1, 0]), traj)
    draw_angular_velocity(picture.add_subplot(grid[1, 1]), traj)
    draw_solver(picture.add_subplot(grid[1, 2]), traj)
    return picture


@suited.register
def _(system: Lagrangian, traj: Any) -> Picture:
    from dalembert.view.lagrangian_plots import plot_lagrangian

    return plot_lagrangian(traj)


def draw_columns(ax: Any, traj: Any, which: str, title: str) -> None:
    """The columns of q or v over time, the first MOST of them."""
    names = traj.model.column_names(which)
    for i, name in enumerate(names[:MOST]):
        ax.plot(*thin(traj.t, getattr(traj, which)[:, i]), label=name, **look_of(i))
    ax.set_title(title if len(names) <= MOST else f"{title}: the first {MOST} of {len(names)}")
    ax.set_xlabel(TIME)
    if len(names) > 1:
        add_legend(ax, loc="upper left", bbox_to_anchor=(1.0, 1.0))


def plot_conservation(traj: Any) -> Picture:
    """The two error curves alone, small."""
    with styled(), np.errstate(over="ignore", invalid="ignore"):
        picture = new_picture(8.0, 2.6)
        energy, momentum = picture.subplots(1, 2)
        draw_energy_error(energy, traj)
        draw_momentum_error(momentum, traj)
    return picture


def titles(traj: Any) -> tuple[str, str]:
    """Title and subtitle of a figure of a run."""
    step = f"h = {traj.h:g} s, t = {traj.t[0]:g} … {traj.t[-1]:g} s, {len(traj)} nodes"
    status = "" if traj.status == "ok" else f"; {traj.status[:110]}"
    return f"{short(traj.model.name or 'model', 2 * LONGEST)}: {traj.meta['method']}", step + status


def draw_energy_error(axes: Any, traj: Any) -> None:
    """Relative error of the energy balance over time."""
    curve = energy_drift(traj)
    axes.set(title="Energy error", xlabel=TIME)
    if curve is None:
        say(axes, "forces act, and their work\nwas not recorded")
        return
    line(axes, traj.t, curve.values, COLOURS[0])
    axes.set_ylabel(curve.label)


def draw_momentum_error(axes: Any, traj: Any) -> None:
    """Relative errors of the momenta that the report judges, logarithmic."""
    curves = momentum_drift(traj)
    axes.set(title="Momentum error", xlabel=TIME, ylabel="|error of momentum| / scale")
    if not curves:
        say(axes, momentum_excuse(traj))
        return
    log_lines(axes, traj.t, curves)
    add_legend(axes, loc="upper left", handlelength=1.4, borderaxespad=0.2)
    bottom, top = axes.get_ylim()
    axes.set_ylim(bottom, top**1.12 * bottom**-0.12 * max(1.0, 0.35 * min(len(curves), MOST)))  # room for the legend


def log_lines(axes: Any, t: Array, curves: Sequence[tuple[str, Array]]) -> None:
    """Curves (label, values) on a logarithmic axis that ends at round-off; what is 0 throughout is said in the legend."""
    axes.set_yscale("log")
    drawn, least = False, np.inf
    for i, (label, y) in enumerate(curves):
        values = np.where(y > 0, y, np.nan)
        some = bool(np.isfinite(values).any())
        drawn, least = drawn or some, min(least, np.nanquantile(values, 0.005)) if some else least
        line(axes, t, values, label=short(label) if some else f"{short(label)}: exactly 0", lw=1.0, **look_of(i))
    _set_time(axes, t)
    bottom, top = axes.get_ylim() if drawn else (1e-17, 1e-13)
    axes.set_ylim(*two_powers(max(bottom, 0.3 * least if drawn else 0.0, 1e-18), max(top, 1e-14)))


def two_powers(low: float, high: float) -> tuple[float, float]:
    """Ends of a logarithmic axis, wider where fewer than two powers of ten would lie between them."""
    first, last = np.log10([low, high])
    if np.floor(last) - np.ceil(first) >= 1.0:
        return low, high
    first = np.floor(first)
    return float(10.0**first), float(10.0 ** max(np.ceil(last), first + 1.0))


def draw_energies(axes: Any, traj: Any) -> None:
    """Kinetic, potential and total energy."""
    for values, label, colour in (
        (traj.kinetic, "kinetic", COLOURS[0]),
        (traj.potential, "potential", COLOURS[2]),
        (traj.energy, "total", COLOURS[1]),
    ):
        line(axes, traj.t, values, colour, label=label, ls="--" if label == "total" else "-")
    axes.set(title="Energy", xlabel=TIME, ylabel="energy (J)")
    axes.legend(loc="best", ncols=3)
    axes.margins(y=0.15)


def draw_angular_velocity(axes: Any, traj: Any) -> None:
    """Components in the body for one body, norms for several."""
    bodies = traj.model.bodies
    if len(bodies) > 1:
        from dalembert.view.tree_plots import draw_angular_velocity as draw_several

        draw_several(axes, traj)
        return
    omega = kinematics.frames(traj.model, traj.q, traj.v)[bodies[0].name].omega
    for i in range(3):
        line(axes, traj.t, omega[:, i], COLOURS[i], label=f"$\\omega_{i + 1}$")
    axes.set(title="Angular velocity", xlabel=TIME, ylabel="angular velocity in the body (rad/s)")
    axes.legend(loc="best", ncols=3)
    axes.margins(y=0.15)


def draw_solver(axes: Any, traj: Any, effort: str = "iterations per step") -> None:
    """Iterations of the worst step and largest residual of each recorded interval."""
    axes.set(title="Solver effort", xlabel=TIME)
    iterations, residual = traj.solver["max_iterations"], traj.solver["residual"]
    if not len(iterations) or not iterations.max() > 0:
        say(axes, "no equations to solve" if len(iterations) else "no steps")
        return
    t = traj.t[1:]
    line(axes, t, iterations, COLOURS[0], drawstyle="steps-pre", lw=1.0)
    axes.set_ylim(0, iterations.max() + 1.5)
    axes.yaxis.get_major_locator().set_params(integer=True)
    axes.set_ylabel(effort, color=COLOURS[0])
    if (residual > 0).any():
        _draw_residual(axes, t, residual, residual_name(traj))
    _set_time(axes, traj.t)


def residual_name(traj: Any) -> str:
    """What `traj.solver["residual"]` of this run is."""
    if "rtol" in traj.meta.get("options", {}):
        return "error of a step / tolerance"
    if traj.meta["family"] == "bodies":
        return "natural residual (m/s)"
    return "last correction / velocity" if family_named(traj.meta["family"]).corrects else "last relative residual"


def _draw_residual(axes: Any, t: Array, residual: Array, what: str) -> None:
    other = axes.twinx()
    other.grid(False)
    other.set_yscale("log")
    line(other, t, np.where(residual > 0, residual, np.nan), COLOURS[1], lw=0.6, alpha=0.75)
    centre = np.exp(np.log(residual[residual > 0]).mean())
    low, high = other.get_ylim()
    other.set_ylim(*two_powers(max(min(low, 0.1 * centre), 1e-18), max(high, 10 * centre)))
    other.set_ylabel(what, color=COLOURS[1])
    other.spines["right"].set_visible(True)
    axes.set_zorder(other.get_zorder() + 1)  # the iterations in front
    axes.patch.set_visible(False)


def line(axes: Any, t: Array, y: Array, colour: str | None = None, **look: Any) -> None:
    """A curve over time, thinned; a single node as a dot."""
    if len(t) == 1:
        look = {**look, "marker": "o", "ms": 4}
    axes.plot(*thin(t, y), **({} if colour is None else {"color": colour}), **look)
    _set_time(axes, t)


def _set_time(axes: Any, t: Array) -> None:
    if t[-1] > t[0]:
        axes.set_xlim(t[0], t[-1])


def say(axes: Any, text: str) -> None:
    """Words in place of a diagram."""
    axes.set(xticks=[], yticks=[])
    axes.grid(False)
    axes.text(0.5, 0.5, text, transform=axes.transAxes, color=MUTED, ha="center", va="center")
