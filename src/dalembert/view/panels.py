"""Panels by name: `traj.plot("x.png", panels=("energy", "phase:elbow"))`. Each says what it needs of a run.

A word behind the name says of what: "phase:elbow" the joint (or the coordinate of a Lagrangian), "section:elbow=0.5" the coordinate and
the value through which it passes upwards; "section:elbow=0.5:shoulder" also the one that is drawn there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import OptionError, UnknownNameError, unknown_name
from dalembert.view import contact_plots, plots, tree_plots
from dalembert.view.bodied import has_bodies
from dalembert.view.drift import energy_drift
from dalembert.view.legends import look_of, short
from dalembert.view.lines import strided
from dalembert.view.picture import COLOURS, FAINT, MUTED, Picture, new_picture
from dalembert.view.section import crossings
from dalembert.view.sphere import draw_momentum_sphere

ACROSS = 3
ABOVE = 16  # points between the sphere, whose axes have names, and its title
OFF_SCALE = 25.0  # a limit so many times wider than the curve is said, not drawn


class Panel(NamedTuple):
    """One line of summary; draw(axes, traj, of); needs(traj): '' or what is missing; projection of the axes."""

    summary: str
    draw: Callable[[Any, Any, str], None]
    needs: Callable[[Any], str] = lambda traj: ""
    projection: str | None = None
    argument: bool = False


def plot_panels(traj: Any, names: Any) -> Picture:
    """A figure of some panels; call it within `styled()`."""
    chosen = checked_panels(traj, names)
    across = min(ACROSS, len(chosen)) if len(chosen) != 4 else 2
    down = -(-len(chosen) // across)
    picture = new_picture(4.4 * across, 3.4 * down + 0.4, *plots.titles(traj))
    grid = picture.add_gridspec(down, across)
    for i, (panel, of) in enumerate(chosen):
        place = grid[i // across, i % across]
        if panel.projection is None:
            panel.draw(picture.add_subplot(place), traj, of)
            continue
        frame = picture.add_subplot(place)
        frame.set_axis_off()
        frame.set_title("Momentum in the body", pad=ABOVE)
        panel.draw(picture.add_subplot(place, projection=panel.projection), traj, of)
    return picture


def checked_panels(traj: Any, names: Any) -> list[tuple[Panel, str]]:
    """Panels and what is behind their names."""
    try:
        listed = [names] if isinstance(names, str) else list(names)
    except TypeError:
        raise OptionError(f"panels = {names!r}; expected names, some of {', '.join(PANELS)}.") from None
    if not listed:
        raise OptionError(f"panels are none; expected some of {', '.join(PANELS)}.")
    out = []
    for given in listed:
        name, _, of = str(given).partition(":")
        if not isinstance(given, str) or name not in PANELS:
            raise UnknownNameError("panel", given, PANELS)
        panel = PANELS[name]
        missing = panel.needs(traj)
        if missing:
            here = ", ".join(n for n, p in PANELS.items() if not p.needs(traj))
            raise OptionError(f"panel {name!r} needs {missing}; panels of this run: {here}.")
        if of and not panel.argument:
            raise OptionError(f"panel {given!r}: {name!r} takes nothing behind a colon.")
        out.append((panel, of))
    return out


def scalars(traj: Any) -> dict[str, tuple[Array, Array, str]]:
    """Coordinates with a rate of their own by name: values, rates, unit."""
    model = traj.model
    if has_bodies(model):
        return {c.label: (c.position, c.rate, c.unit) for c in tree_plots.joint_curves(model, traj.q, traj.v)}
    names = list(model.column_names("q"))
    return {name: (traj.q[:, i], traj.v[:, i], "") for i, name in enumerate(names)} if traj.q.shape == traj.v.shape else {}


def _scalar(traj: Any, panel: str, name: str) -> tuple[Array, Array, str]:
    found = scalars(traj)
    if name not in found:
        raise OptionError(f"panel {panel!r}: {unknown_name('coordinate', name, found)}")
    return found[name]


def draw_energy_band(axes: Any, traj: Any, of: str = "") -> None:
    """Error of the energy, with the band in which the report lets it be."""
    plots.draw_energy_error(axes, traj)
    curve = energy_drift(traj)
    item = next((i for i in traj.report().items if i.name.startswith("energy") and i.limit is not None), None)
    if curve is None or item is None or not np.isfinite(curve.values).any():
        return
    low, high = float(np.nanmin(curve.values)), float(np.nanmax(curve.values))
    if item.name == "energy" and item.promised is not None:  # judged by its width
        middle, half = 0.5 * (low + high), 0.5 * item.limit
    else:
        middle, half = 0.0, item.limit
    axes.set_title(f"Energy error: {item.verdict}")
    if half > OFF_SCALE * max(abs(high - middle), abs(low - middle), 1e-300):
        axes.text(
            0.98, 0.03, f"limit ± {half:.2g}, off the scale", transform=axes.transAxes, ha="right", va="bottom", color=MUTED, fontsize=8
        )
        return
    axes.axhspan(middle - half, middle + half, color=FAINT, alpha=0.6, lw=0, zorder=0, label=f"limit ± {half:.2g}")
    axes.legend(loc="best")


def draw_phase(axes: Any, traj: Any, of: str = "") -> None:
    """Rate over value of one coordinate."""
    name = of or next(iter(scalars(traj)))
    x, y, unit = _scalar(traj, "phase", name)
    points = strided(np.column_stack([x, y]))
    axes.plot(points[:, 0], points[:, 1], color=COLOURS[0], lw=0.9)
    axes.plot(x[0], y[0], "o", color=MUTED, ms=4)
    axes.set(title=f"Phase portrait: {short(name)}", xlabel=_with(name, unit), ylabel=_with(f"d{name}/dt", f"{unit}/s" if unit else ""))


def draw_section(axes: Any, traj: Any, of: str = "") -> None:
    """Poincare section: another coordinate and its rate where the first passes through a value upwards."""
    found = scalars(traj)
    where, _, shown = of.partition(":")
    name, _, level = where.partition("=")
    name = name or next(iter(found))
    shown = shown or next((n for n in found if n != name), name)
    try:
        value = float(level or 0.0)
    except ValueError:
        raise OptionError(f"panel 'section:{of}': {level!r} is no number; expected such as 'section:{name}=0.5'.") from None
    s, (x, y, unit) = _scalar(traj, "section", name)[0] - value, _scalar(traj, "section", shown)
    section = crossings(traj.t, s, np.column_stack([x, y]))
    title = f"Section {short(name)} = {value:g} ↑ ({len(section.t)} crossing{'' if len(section.t) == 1 else 's'})"
    axes.set(title=title, xlabel=_with(shown, unit), ylabel=_with(f"d{shown}/dt", f"{unit}/s" if unit else ""))
    if not len(section.t):
        plots.say(axes, f"{name} never passes {value:g} upwards")
        return
    axes.plot(section.x[:, 0], section.x[:, 1], ".", color=COLOURS[0], ms=3.0 if len(section.t) > 200 else 5.0)
    for put, values, whole in ((axes.set_xlim, section.x[:, 0], x), (axes.set_ylim, section.x[:, 1], y)):
        put(*_room(values, whole))


def draw_joint_curves(axes: Any, traj: Any, rates: bool) -> None:
    """Positions or rates of the joints, or of the coordinates of a Lagrangian."""
    found = scalars(traj)
    for i, (name, (x, y, _)) in enumerate(list(found.items())[: tree_plots.MOST]):
        plots.line(axes, traj.t, y if rates else x, label=name, lw=1.2, **look_of(i))
    units = sorted({unit for *_, unit in found.values() if unit}, reverse=True)
    label = ", ".join(f"{u}/s" if rates else u for u in units)
    more = "" if len(found) <= tree_plots.MOST else f" (the first {tree_plots.MOST} of {len(found)})"
    what = "Joint velocities" if rates else "Joint positions"
    what = what if has_bodies(traj.model) else ("Velocities" if rates else "Coordinates")
    axes.set(title=what + more, xlabel=plots.TIME, ylabel=_with("velocity" if rates else "position", label))
    tree_plots.legend_outside(axes)


def draw_control(axes: Any, traj: Any, of: str = "") -> None:
    """Generalised forces that were held over the intervals, the largest ten."""
    held = traj.control
    order = np.argsort(-np.nan_to_num(np.abs(held).max(axis=0)), kind="stable")[: plots.MOST]
    names = traj.model.column_names("v")
    for i, k in enumerate(sorted(order)):
        name = names[k] if held.shape[1] == len(names) else f"tau{k}"
        plots.line(axes, traj.t[1:], held[:, k], **look_of(i), label=name, drawstyle="steps-pre", lw=1.1)
    axes.set(title="Control", xlabel=plots.TIME, ylabel="generalised force (N, N m)")
    tree_plots.legend_outside(axes)


def _room(values: Array, whole: Array) -> tuple[float, float]:
    """Limits of an axis around values; not below a tenth of what the run covers, so that one and the same point is seen as one."""
    low, high = float(values.min()), float(values.max())
    half = max(0.55 * (high - low), 0.05 * float(np.nanmax(whole) - np.nanmin(whole)), 1e-12)
    return 0.5 * (low + high) - half, 0.5 * (low + high) + half


def _with(name: str, unit: str) -> str:
    return f"{short(name)} ({unit})" if unit else short(name)


def _bodies(traj: Any) -> str:
    return "" if has_bodies(traj.model) else "a machine with bodies"


def _touched(traj: Any) -> str:
    return "" if has_bodies(traj.model) and contact_plots.touched(traj) else "contacts"


def _free(traj: Any) -> str:
    alone = has_bodies(traj.model) and len(traj.model.bodies) == 1 and traj.model.joints[0].kind == "free"
    return "" if alone else "one free body"


def _coordinates(traj: Any) -> str:
    return "" if scalars(traj) else "a joint with an angle or a shift, or coordinates with rates"


def _constrained(traj: Any) -> str:
    return "" if traj.constraint.shape[1] else "loops or constraints"


def _accounted(traj: Any) -> str:
    return "" if contact_plots.works(traj) else "work that the run wrote down: forces without a potential, control, contacts"


def _controlled(traj: Any) -> str:
    return "" if traj.meta.get("control") is not None and len(traj) > 1 and np.isfinite(traj.control).any() else "a control"


def _constraints(axes: Any, traj: Any) -> None:
    from dalembert.view.lagrangian_plots import draw_constraints

    (tree_plots.draw_loops if has_bodies(traj.model) else draw_constraints)(axes, traj)


def _alone(draw: Callable[[Any, Any], None]) -> Callable[[Any, Any, str], None]:
    return lambda axes, traj, of: draw(axes, traj)


PANELS = {
    "energy": Panel("kinetic, potential and total energy", _alone(plots.draw_energies)),
    "energy-error": Panel("error of the energy balance, with the band of the report", draw_energy_band),
    "momentum-error": Panel("errors of the momenta that the report judges", _alone(plots.draw_momentum_error)),
    "joints": Panel("joint angles and shifts; coordinates of a Lagrangian", lambda a, t, of: draw_joint_curves(a, t, False), _coordinates),
    "rates": Panel("their velocities", lambda a, t, of: draw_joint_curves(a, t, True), _coordinates),
    "phase": Panel("rate over value of a coordinate, phase:NAME", draw_phase, _coordinates, argument=True),
    "section": Panel("Poincare section, section:NAME=VALUE", draw_section, _coordinates, argument=True),
    "momentum-sphere": Panel("momentum in a free body, on its sphere", _alone(draw_momentum_sphere), _free, "3d"),
    "angular-velocity": Panel("angular velocities of the bodies", _alone(plots.draw_angular_velocity), _bodies),
    "machine": Panel("the machine at the end, with paths", _alone(tree_plots.draw_machine), _bodies),
    "constraints": Panel("residuals of loops or constraints", _alone(_constraints), _constrained),
    "account": Panel("work of each kind since the start, stacked", _alone(contact_plots.draw_account), _accounted),
    "balance": Panel("what is missing in the books of energy", _alone(contact_plots.draw_balance), _accounted),
    "control": Panel("generalised forces of the control", draw_control, _controlled),
    "contact-forces": Panel("largest normal and tangential force of a contact", _alone(contact_plots.draw_forces), _touched),
    "contacts": Panel("deepest overlap and number of contacts", _alone(contact_plots.draw_penetration), _touched),
    "contact-states": Panel("how many contacts stick and slip", _alone(contact_plots.draw_states), _touched),
    "kinetic": Panel("kinetic energy, logarithmic", _alone(contact_plots.draw_kinetic)),
    "solver": Panel("iterations and residual of the solver", _alone(plots.draw_solver)),
}
