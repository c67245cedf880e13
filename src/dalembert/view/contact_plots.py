"""One figure of a run with contacts: where the energy went, how deep and how many contacts were, their forces, the solver."""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.view import plots
from dalembert.view.lines import strided
from dalembert.view.picture import COLOURS, INK, Picture, new_picture
from dalembert.view.tree_plots import draw_loops, draw_machine

STATES = (("slip", 2.0, COLOURS[1]), ("stick", 1.0, COLOURS[0]), ("open", 0.0, "#c8d0d8"))
NAMES = {"numerical": "discretisation"}  # of columns of the account that say little by themselves
SMALL = 5e-3  # columns below this part of the largest are left out
DEEP = 1e-12  # m: least overlap that is drawn


def touched(traj: Any) -> bool:
    """Whether the engine of the run knows contacts, and there were some."""
    return "contacts" in traj.log_columns and bool(traj.solver["contacts"].any())


def plot_contacts(traj: Any) -> Picture:
    """Figure of a run; call it within `styled()`."""
    picture = new_picture(13.0, 10.2, *plots.titles(traj))
    axes: Any = picture.subplots(3, 3)
    draw_account(axes[0, 0], traj)
    draw_kinetic(axes[0, 1], traj)
    draw_machine(axes[0, 2], traj)
    draw_penetration(axes[1, 0], traj)
    draw_states(axes[1, 1], traj)
    draw_forces(axes[1, 2], traj)
    plots.draw_solver(axes[2, 0], traj, "factorisations per step")
    draw_balance(axes[2, 1], traj)
    (draw_loops if traj.constraint.shape[1] else draw_speeds)(axes[2, 2], traj)
    return picture


def works(traj: Any) -> dict[str, Array]:
    """Work since the start at the nodes (N + 1,) by column of the account, J; columns that are nothing throughout are left out."""
    found = {name: np.concatenate([[0.0], np.cumsum(x)]) for name, x in traj.account.items() if name != "impulse"}
    return {name: x for name, x in found.items() if np.isfinite(x).all() and np.abs(x).max() > 0.0}


def draw_account(axes: Any, traj: Any) -> None:
    """What each column brought (above 0) and took (below), stacked, and the change of energy that is their sum."""
    columns = works(traj)
    most = max((float(np.abs(x).max()) for x in columns.values()), default=0.0)
    shown = {name: x for name, x in columns.items() if np.abs(x).max() > SMALL * most}
    axes.set(title="Work since the start", xlabel=plots.TIME, ylabel="work (J)")
    t = strided(traj.t, 2000)
    above, below = np.zeros(len(t)), np.zeros(len(t))
    for i, (name, x) in enumerate(sorted(shown.items(), key=lambda item: -np.abs(item[1]).max())):
        y = strided(x, 2000)
        up, down = above + np.maximum(y, 0.0), below + np.minimum(y, 0.0)
        look = {"color": COLOURS[i % len(COLOURS)], "alpha": 0.75, "lw": 0}
        axes.fill_between(t, above, up, **look)
        axes.fill_between(t, below, down, label=NAMES.get(name, name), **look)
        above, below = up, down
    energy = traj.energy
    plots.line(axes, traj.t, energy - energy[0], INK, label="change of energy", lw=1.3)
    axes.legend(loc="best", ncols=2 if len(shown) > 3 else 1, frameon=True, framealpha=0.85, edgecolor="none")


def draw_kinetic(axes: Any, traj: Any) -> None:
    """Kinetic energy, logarithmic: what comes to rest falls to round-off."""
    axes.set(title="Kinetic energy", xlabel=plots.TIME, ylabel="kinetic energy (J)", yscale="log")
    values = np.where(traj.kinetic > 0.0, traj.kinetic, np.nan)
    if np.isfinite(values).any():
        plots.line(axes, traj.t, values, COLOURS[0], lw=1.1)


def draw_penetration(axes: Any, traj: Any) -> None:
    """Deepest overlap (logarithmic) and number of contacts at the beginning of the last step of each interval."""
    t, deep, count = traj.t[1:], traj.solver["penetration"], traj.solver["contacts"]
    axes.set(title="Penetration and contacts", xlabel=plots.TIME, yscale="log")
    axes.set_ylabel("deepest overlap (m)", color=COLOURS[1])
    plots.line(axes, t, np.where(deep > DEEP, deep, np.nan), COLOURS[1], lw=1.1)
    other = axes.twinx()
    other.grid(False)
    plots.line(other, t, count, COLOURS[0], lw=1.0, drawstyle="steps-pre", alpha=0.8)
    other.set_ylim(0, 1.15 * max(float(count.max()), 1.0))
    other.yaxis.get_major_locator().set_params(integer=True)
    other.set_ylabel("contacts", color=COLOURS[0])
    other.spines["right"].set_visible(True)


def draw_states(axes: Any, traj: Any) -> None:
    """How many contacts slip, stick, or carry nothing."""
    axes.set(title="Contacts that stick and slip", xlabel=plots.TIME, ylabel="contacts")
    if not len(traj.contacts.rows) or "state" not in traj.contacts.columns:
        plots.say(axes, "contacts were not kept\n(contacts='none')")
        return
    nodes, state = traj.contacts.nodes, traj.contacts["state"]
    counts = [np.bincount(nodes[state == code], minlength=len(traj)).astype(float) for _, code, _ in STATES]
    axes.stackplot(
        strided(traj.t, 2000), *(strided(c, 2000) for c in counts), colors=[s[2] for s in STATES], labels=[s[0] for s in STATES], lw=0
    )
    axes.set_xlim(traj.t[0], traj.t[-1])
    axes.margins(y=0.15)
    axes.legend(loc="upper right", ncols=3)


def draw_forces(axes: Any, traj: Any) -> None:
    """Largest normal and tangential force of a contact, by its impulse over the step."""
    axes.set(title="Largest contact forces", xlabel=plots.TIME, ylabel="force (N)", yscale="log")
    rows = traj.contacts
    if not len(rows.rows):
        plots.say(axes, "contacts were not kept\n(contacts='none')")
        return
    j = np.stack([rows[c] for c in ("jx", "jy", "jz")], axis=-1)
    n = np.stack([rows[c] for c in ("nx", "ny", "nz")], axis=-1)
    normal = np.einsum("ij,ij->i", j, n)
    tangential = np.linalg.norm(j - normal[:, None] * n, axis=1)
    for values, label, colour in ((normal, "normal", COLOURS[0]), (tangential, "friction", COLOURS[1])):
        largest = np.zeros(len(traj))
        np.maximum.at(largest, rows.nodes, values / traj.h)
        floor = 1e-9 * max(float(largest.max()), 1e-300)
        plots.line(axes, traj.t, np.where(largest > floor, largest, np.nan), colour, label=label, lw=1.0)
    axes.legend(loc="best", ncols=2)


def draw_balance(axes: Any, traj: Any) -> None:
    """What is missing in the books: change of energy less all work, over the largest energy exchanged."""
    columns = works(traj)
    total = sum(columns.values(), np.zeros(len(traj)))
    scale = max([float(np.abs(x).max()) for x in columns.values()] + [float(traj.kinetic.max()), 1e-300])
    energy = traj.energy
    axes.set(title="Energy balance", xlabel=plots.TIME, ylabel="|E − E₀ − W| / largest")
    plots.log_lines(axes, traj.t, [("missing", np.abs(energy - energy[0] - total) / scale)])


def draw_speeds(axes: Any, traj: Any) -> None:
    """Largest slip speed of a contact that is pressed."""
    axes.set(title="Largest slip of pressed contacts", xlabel=plots.TIME, ylabel="slip speed (m/s)", yscale="log")
    if "slip" not in traj.contacts.columns or not len(traj.contacts.rows):
        plots.say(axes, "contacts were not kept\n(contacts='none')")
        return
    pressed = traj.contacts["state"] > 0.0
    largest = np.zeros(len(traj))
    np.maximum.at(largest, traj.contacts.nodes[pressed], traj.contacts["slip"][pressed])
    if largest.any():
        plots.line(axes, traj.t, np.where(largest > 0.0, largest, np.nan), COLOURS[1], lw=1.0)
