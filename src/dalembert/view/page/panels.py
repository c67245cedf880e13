"""Which diagrams a page has, by the kind of system: those of `traj.plot`, one card each, without what the replay shows."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

from dalembert.lagrangian import Lagrangian
from dalembert.model import Model
from dalembert.view import contact_plots, lagrangian_plots, plots, tree_plots
from dalembert.view.page.figures import Panel
from dalembert.view.sphere import draw_space_panel


def panels_of(traj: Any) -> list[Panel]:
    """Diagrams of a run; of a run that `as_bodies` gave."""
    return _panels(traj.model, traj)


MANY = 4  # bodies whose names need the place of two diagrams


def _of(draw: Any, traj: Any, axes: int = 1, wide: bool = False) -> Panel:
    return Panel(lambda *given: draw(*given, traj), axes, wide=wide)


@singledispatch
def _panels(system: Any, traj: Any) -> list[Panel]:
    return [
        _of(plots.draw_energies, traj),
        Panel(lambda ax: plots.draw_columns(ax, traj, "q", "Coordinates")),
        Panel(lambda ax: plots.draw_columns(ax, traj, "v", "Velocities")),
        _of(plots.draw_solver, traj),
    ]


@_panels.register
def _(system: Lagrangian, traj: Any) -> list[Panel]:
    draw: list[Any] = [plots.draw_energy_error, plots.draw_momentum_error, lagrangian_plots.draw_portrait]
    draw += [lagrangian_plots.draw_coordinates, plots.draw_energies]
    if system.formulas.holonomic_rows or system.formulas.pfaffian_rows:
        draw.append(lagrangian_plots.draw_constraints)
    return [_of(f, traj) for f in [*draw, plots.draw_solver]]


@_panels.register
def _(system: Model, traj: Any) -> list[Panel]:
    if contact_plots.touched(traj):
        return _of_contacts(traj)
    if tree_plots.has_joints(traj.model):
        return _of_tree(traj)
    draw = (plots.draw_energy_error, plots.draw_momentum_error, plots.draw_energies, plots.draw_angular_velocity, plots.draw_solver)
    space = Panel(lambda ax: ax.set_title(draw_space_panel(ax, traj)), space=True)
    return [*(_of(f, traj) for f in draw), space]


def _of_tree(traj: Any) -> list[Panel]:
    first = [_of(plots.draw_energy_error, traj), _of(plots.draw_momentum_error, traj), _of(tree_plots.draw_joints, traj, 2)]
    many = len(traj.model.bodies) > MANY
    last = [_of(plots.draw_energies, traj), _of(plots.draw_solver, traj), _of(tree_plots.draw_angular_velocity, traj, wide=many)]
    if traj.constraint.shape[1]:
        last.append(_of(tree_plots.draw_loops, traj, wide=many))
    return [*first, *last]


def _of_contacts(traj: Any) -> list[Panel]:
    c = contact_plots
    draw: list[Any] = [c.draw_account, c.draw_balance, c.draw_kinetic, c.draw_penetration, c.draw_states, c.draw_forces, c.draw_speeds]
    solver = Panel(lambda ax: plots.draw_solver(ax, traj, "factorisations per step"))
    if traj.constraint.shape[1]:
        draw.append(tree_plots.draw_loops)
    return [*(_of(f, traj) for f in draw), solver]
