"""One figure that shows a run of a machine: what should have been kept, the machine and its paths, its joints, and what the solver did."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dalembert.arrays import Array
from dalembert.model import Model, kinematics
from dalembert.model.parts import Joint
from dalembert.view import plots
from dalembert.view.legends import STYLES, add_legend, look_of
from dalembert.view.lines import strided
from dalembert.view.links import still_bodies
from dalembert.view.picture import COLOURS, Picture, new_picture
from dalembert.view.sphere import com_paths
from dalembert.view.stage import Stage

MOST = len(COLOURS) * len(STYLES)
PIXELS = (780, 600)
PATH_NODES = 1500


class Curve(NamedTuple):
    """A coordinate of a joint and its rate over the nodes."""

    label: str
    position: Array
    rate: Array
    unit: str  # of the position


def has_joints(model: Model) -> bool:
    """Whether there are joint coordinates to show beyond a free body or one on a ball joint."""
    kinds = [j.kind for j in model.joints]
    return any(kind not in ("free", "fixed", "spherical") for kind in kinds) or (len(kinds) > 1 and "spherical" in kinds)


def plot_tree(traj: Any) -> Picture:
    """Figure of a run; call it within `styled()`."""
    picture = new_picture(13.0, 10.2, *plots.titles(traj))
    rows: Any = picture.subfigures(3, 1)
    energy, momentum, machine = rows[0].subplots(1, 3)
    plots.draw_energy_error(energy, traj)
    plots.draw_momentum_error(momentum, traj)
    draw_machine(machine, traj)
    left, right = rows[1].subplots(1, 2)
    draw_joints(left, right, traj)
    energies, solver, last = rows[2].subplots(1, 3)
    plots.draw_energies(energies, traj)
    plots.draw_solver(solver, traj)
    (draw_loops if traj.constraint.shape[1] else draw_angular_velocity)(last, traj)
    return picture


def joint_curves(model: Model, q: Array, v: Array) -> list[Curve]:
    """All coordinates of all joints but free ones; of a ball joint its angle and |omega|."""
    at_q, at_v = model.q_slices(), model.v_slices()
    return [c for j in model.joints if j.kind not in ("free", "fixed") for c in _curves(j, q[:, at_q[j.name]], v[:, at_v[j.name]])]


def _curves(joint: Joint, q: Array, v: Array) -> list[Curve]:
    if joint.kind == "spherical":
        angle = 2.0 * np.arctan2(np.linalg.norm(q[:, 1:], axis=1), np.abs(q[:, 0]))
        return [Curve(joint.name, angle, np.linalg.norm(v, axis=1), "rad")]
    kind = joint.coordinates
    names = [joint.name] if kind.nq == 1 else [f"{joint.name}.{c}" for c in kind.q_names]
    return [Curve(name, q[:, i], v[:, i], kind.q_units[i]) for i, name in enumerate(names)]


def draw_joints(left: Any, right: Any, traj: Any) -> None:
    """Positions and velocities of the joints, with one legend to the right of both."""
    curves = joint_curves(traj.model, traj.q, traj.v)
    shown = curves[:MOST]
    for i, c in enumerate(shown):
        look = {"label": c.label, "lw": 1.2, **look_of(i)}
        plots.line(left, traj.t, c.position, **look)
        plots.line(right, traj.t, c.rate, **look)
    units = sorted({c.unit for c in curves}, reverse=True)
    more = f" (the first {MOST} of {len(curves)})" if len(curves) > MOST else ""
    what = "angles" if units == ["rad"] else "positions"
    left.set(title=f"Joint {what}{more}", xlabel=plots.TIME, ylabel=f"{what[:-1]} ({', '.join(units)})")
    right.set(title="Joint velocities", xlabel=plots.TIME, ylabel=f"velocity ({', '.join(f'{u}/s' for u in units)})")
    legend_outside(right)


def draw_angular_velocity(axes: Any, traj: Any) -> None:
    """|omega| of the bodies that have mass and can move; bodies that are fixed to each other turn alike and are drawn once."""
    frames = kinematics.frames(traj.model, traj.q, traj.v)
    still, fixed = still_bodies(traj.model), {j.child for j in traj.model.joints if j.kind == "fixed"}
    bodies = [b.name for b in traj.model.bodies if not b.massless and b.name not in still | fixed]
    for i, name in enumerate(bodies[:MOST]):
        size = np.linalg.norm(frames[name].omega, axis=1)
        plots.line(axes, traj.t, size, label=name, lw=1.1, **look_of(i))
    axes.set(title="Angular velocity", xlabel=plots.TIME, ylabel="|angular velocity| (rad/s)")
    legend_outside(axes)


def draw_loops(axes: Any, traj: Any) -> None:
    """Largest residual of each loop, logarithmic."""
    found: dict[str, list[int]] = {}
    for row, (name, _) in enumerate(traj.model.constraint_labels[: traj.constraint.shape[1]]):
        found.setdefault(name, []).append(row)
    axes.set(title="Closing of the loops", xlabel=plots.TIME, ylabel="largest |residual| (m, rad)")
    curves = [(name, np.abs(traj.constraint[:, rows]).max(axis=1)) for name, rows in found.items()]
    plots.log_lines(axes, traj.t, curves[:MOST])
    legend_outside(axes)


def draw_machine(axes: Any, traj: Any) -> None:
    """The machine where it ended, and the paths of centres of mass: of all bodies if they are few, else of the last ones of the chains."""
    model, q = traj.model, strided(traj.q, PATH_NODES)
    q = q[np.isfinite(q).all(axis=1)]
    centres = np.stack(com_paths(model, q), axis=1)
    poses = model.poses(q)
    stage = Stage(model, poses, centres, PIXELS, "", dots=False)
    axes.imshow(np.asarray(stage.draw(poses[-1], centres[-1], "", centres)), interpolation="antialiased")
    axes.set_axis_off()
    axes.set_title("Machine at the end, with paths" if stage.paths else "Machine at the end")


def legend_outside(axes: Any) -> None:
    """To the right of the axes."""
    add_legend(axes, loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0.0, handlelength=1.6)
