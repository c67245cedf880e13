"""Reconfiguration between two steps: `with sim.edit() as m: ...`.

State: `runs/carrying.py`. A joint of a tree that closes while its bodies move against it closes by an inelastic impact: with V_b the twists
that are carried over,

    v = M^-1 (sum J_b^T I_b V_b + armature v),      then the nearest velocity on loops and drives, in the metric of M

which changes nothing where the twists fit, keeps the momentum of what is free, and never adds energy. In coordinates of bodies the rows of
the next step do the same.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.directors import Directors
from dalembert.errors import OptionError, UnsupportedError
from dalembert.model import Model, kinematics
from dalembert.model.assembly import _project, _size
from dalembert.model.definite import check_definite
from dalembert.model.kinematics import Frame
from dalembert.model.parts import WORLD
from dalembert.model.rotation import quat_conj, quat_mul, rotate
from dalembert.runs.carrying import ORIGIN, Before, Carried, carry_over
from dalembert.runs.carrying_bodies import carry_bodies
from dalembert.runs.engines import NO_TABLES, Engine, restart
from dalembert.runs.plan import Plan

SAME = object()  # the control stays
OPEN = 1e-8  # residuals of loops, of the size of the machine
STORES = ("_bodies", "_joints", "_loops", "_nonholonomic", "_motors", "_keyframes", "_forces", "_contacts")


@functools.singledispatch
def editable(system: Any) -> Any:
    """A copy of a system that may be changed."""
    raise UnsupportedError(
        f"edit: {system!r} is given by a formula and has no parts that could be added or removed; begin a new Simulation."
    )


@editable.register
def _(system: Directors) -> Any:
    raise UnsupportedError(f"edit: {system!r} is made from its model; change that, and begin a new Simulation of Directors(model).")


@editable.register
def _(system: Model) -> Model:
    return system.copy()


def unchanged(a: Any, b: Any) -> bool:
    """Whether two models have the very same parts in the same order."""
    for store in STORES:
        x, y = getattr(a, store), getattr(b, store)
        if list(x) != list(y) or any(x[name] is not y[name] for name in x):
            return False
    if list(a._implicit.items()) != list(b._implicit.items()):
        return False
    plain = (a.name, a.source, a._excluded) == (b.name, b.source, b._excluded)
    return plain and a.world_shapes == b.world_shapes and np.array_equal(a.gravity, b.gravity)


def carry(old_plan: Plan, old: Engine, plan: Plan, new: Engine, q: Any, v: Any) -> None:
    """Let a new engine go on from where another one is, with another machine. q, v: of what is new."""
    new.t0 = old.t0
    if plan.given is not None:
        carry_bodies(old_plan, old, plan, new, q, v)
        return
    was: Any = old_plan.acting
    at_q, at_v = old.node()
    found = carry_over(Before(was, at_q, at_v, kinematics.frames(was, at_q, at_v)), plan.acting, q, v, old.time, cut=False)
    new.start(*fitting(plan, found, old.time))
    go_on_with_account(old_plan, old, plan, new, old.steps)


def go_on_with_account(old_plan: Plan, old: Engine, plan: Plan, new: Engine, steps: int) -> None:
    """Let an engine that was started go on with the account of another one of its family, after so many steps."""
    state = new.state.copy()
    if old_plan.family is plan.family and plan.family.account is not None:
        before, now = plan.family.account(old_plan.acting, old.state), plan.family.account(plan.acting, state)
        n = min(len(before), len(now))
        now[len(now) - n :] = before[len(before) - n :]
    restart(new, state, steps, NO_TABLES)


def holds_rows(plan: Plan) -> bool:
    """Whether the stepper of a tree keeps loops, rolling or drives that the machine has."""
    model: Any = plan.acting
    return not plan.stepper.python and model._has_rows and bool({"loops", "nonholonomic", "drive"} & set(plan.stepper.handles))


def fitting(plan: Plan, found: Carried, t: float) -> tuple[Array, Array]:
    """q and v that meet all joints; OptionError where q does not."""
    model: Any = plan.acting
    check_definite(model, found.q)
    v = _struck(model, found) if found.struck else found.v
    if not holds_rows(plan):
        return found.q, v
    g, G = model.constraint_rows(found.q, t)
    off = np.abs(g)
    if off.max(initial=0.0) > OPEN * _size(model):
        joint, row = model.constraint_labels[int(np.argmax(off))]
        raise OptionError(
            f"edit: joint {joint!r} ({row}) is open by {off.max():.3g} where the machine is; expected at most {OPEN * _size(model):.2g}. "
            "Places and axes are those of the reference configuration; sim.here(parent, child) gives those of a loop that fits."
        )
    wrong = np.abs(G @ v - model._constraints().prescribed(t)[1])
    if wrong.max(initial=0.0) <= OPEN * max(1.0, float(np.abs(v).max(initial=0.0))):
        return found.q, v
    return found.q, _project(model, found.q, v, np.ones(model.nv, dtype=bool), t)


def _struck(model: Any, found: Carried) -> Array:
    """The velocity behind the inelastic impact of joints that close."""
    p = np.concatenate([np.full(j.coordinates.nv, j.armature) for j in model.joints]) * found.v
    frames = kinematics.frames(model, found.q)
    for b in model.bodies:
        twist = np.concatenate(found.frames[b.name][2:])
        p += kinematics.jacobian(model, b.name, found.q, frames).T @ kinematics.spatial_inertia(b) @ twist
    return np.asarray(np.linalg.solve(model.mass_matrix(found.q), p))


def here(model: Any, frames: dict[str, Frame], parent: str, child: str, point: Any, axis: Any, axis2: Any) -> dict[str, Array]:
    """Arguments of `add_loop` for a joint between two bodies as they are now: world point (default: origin of the child), world axes.

    With T the turn of a body since the reference configuration, turn = T_parent^-1 T_child.
    """
    to_parent, turned_parent = _back(model, frames, parent)
    to_child, turned_child = _back(model, frames, child)
    where = frames[child].position if point is None else np.asarray(point, dtype=float)
    turn = quat_mul(quat_conj(turned_parent), turned_child)
    out = {"anchor": to_parent(where), "point": to_child(where), "turn": turn / np.linalg.norm(turn)}
    axes = {"axis": axis, "axis2": axis2}
    return {**out, **{k: rotate(quat_conj(turned_parent), np.asarray(a, dtype=float)) for k, a in axes.items() if a is not None}}


def _back(model: Any, frames: dict[str, Frame], name: str) -> tuple[Any, Array]:
    """World points as they were at the reference configuration, and the turn since then."""
    body = None if name == WORLD else model.body(name)
    now = ORIGIN if body is None else frames[name]
    p, q = (np.zeros(3), ORIGIN.quaternion) if body is None else (body.position, body.quaternion)
    turned = quat_mul(now.quaternion, quat_conj(q))
    return lambda x: p + rotate(quat_conj(turned), x - now.position), turned
