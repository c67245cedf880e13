"""What contacts of a plan do, and whether that is right, from poses, Jacobians and masses of the model: none of the formulas of the plan.

gap             of every node at which a contact is closed, from poses
reflection      p+ beside p - (1 + e) gamma (gamma . v)/(gamma . M^-1 gamma), from Jacobians of bodies; points that stick stop
pull            the least impulse along a normal: none is negative
momentum        change of the momentum of the machine beside the impulse (x x n Lambda, n Lambda) of walls; 0 where bodies push each other
slip            way of points that stick; cone: |Lambda_t| - mu Lambda, at most 0
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from dalembert.arrays import Array
from dalembert.control.balance import tied
from dalembert.control.contacts import Ball
from dalembert.control.impacts import Contact
from dalembert.model.parts import WORLD

TOLERANCE = 1e-8


class Impulse(NamedTuple):
    """What a contact does at a node: N s along the normal and along the surface; rates of its gap before and after, m/s."""

    node: int
    t: float
    name: str
    kind: str  # "impact", "stance"
    normal: float
    tangential: Array
    before: float
    after: float
    restitution: float


def impulses(solution: Any) -> list[Impulse]:
    """All impulses of planned contacts, in the order of time."""
    found = []
    for c in solution.problem.contacts:
        for k, at in c.push.items():
            lam, row = solution.result.z[at], c.gap.matrix(solution.q[k])[0]
            kind = "stance" if c.held else "impact"
            before, after = float(row @ solution.v_before[k]), float(row @ solution.v_after[k])
            found.append(Impulse(k, float(solution.t[k]), c.gap.name, kind, float(lam[0]), lam[1:], before, after, c.restitution))
    return sorted(found, key=lambda x: x.node)


def geometry(model: Any, c: Contact, q: Array) -> tuple[float, Array, Array]:
    """(gap, point, normal) in the world, from poses."""
    numbers = {b.name: i for i, b in enumerate(model.bodies)}
    poses = model.poses(q)
    frame = {name: poses[i] for name, i in numbers.items()} | {WORLD: np.eye(4)}
    A, what = frame[c.gap.touch.body], c.gap.what
    x = A[:3, :3] @ c.gap.point + A[:3, 3]
    assert what is not None
    B = frame[what.owner]
    if isinstance(what, Ball):
        centre = B[:3, :3] @ what.centre + B[:3, 3]
        away = x - centre
        size = float(np.linalg.norm(away))
        return size - what.radius - c.gap.radius, centre + what.radius * away / size, away / size
    n = B[:3, :3] @ what.normal
    gap = float(n @ (x - B[:3, 3]) - what.offset - c.gap.radius)
    return gap, x - c.gap.radius * n, n


def point_rows(model: Any, body: str, q: Array, x: Array) -> Array:
    """(3, nv): velocity of the point of a body that is at x, world axes, from the Jacobian of its frame."""
    if body == WORLD:
        return np.zeros((3, model.nv))
    i = [b.name for b in model.bodies].index(body)
    T, J = model.poses(q)[i], model.jacobian(body, q)
    arm = T[:3, :3].T @ (x - T[:3, 3])
    skew = np.array([[0, -arm[2], arm[1]], [arm[2], 0, -arm[0]], [-arm[1], arm[0], 0]])
    return np.asarray(T[:3, :3] @ (J[3:] - skew @ J[:3]))


@dataclass
class Evidence:
    """Largest errors over all contacts of a plan."""

    gap: float = 0.0
    reflection: float = 0.0
    pull: float = 0.0
    momentum: float = 0.0
    slip: float = 0.0
    cone: float = 0.0

    @property
    def ok(self) -> bool:
        """All within 1e-8 of their scales."""
        return max(self.gap, self.reflection, self.pull, self.momentum, self.slip, self.cone) <= TOLERANCE

    def __str__(self) -> str:
        parts = [f"gaps {self.gap:.1e} m", f"reflection {self.reflection:.1e}", f"pull {self.pull:.1e} N s"]
        parts += [f"momentum less impulse {self.momentum:.1e}", f"slip {self.slip:.1e} m", f"beyond the cone {self.cone:.1e} N s"]
        return f"contacts: {', '.join(parts)}: {'pass' if self.ok else 'fail'}"


def judge(solution: Any) -> Evidence | None:
    """Of planned contacts of bodies; None where there are none."""
    planned = [c for c in solution.problem.contacts if c.gap.what is not None]
    if not planned:
        return None
    found, model = Evidence(), solution.problem.machine.reduced
    for c in planned:
        _one(solution, model, c, found)
    for k in sorted({k for c in planned for k in c.push}):
        own = [c for c in planned if k in c.push]
        found.reflection = max(found.reflection, _reflection(solution, model, own, k))
        _momentum(solution, model, own, k, found)
    return found


def _one(solution: Any, model: Any, c: Contact, found: Evidence) -> None:
    z, begin = solution.result.z, None
    for k, at in c.push.items():
        q, lam = solution.q[k], z[at]
        gap, x, n = geometry(model, c, q)
        found.gap, found.pull = max(found.gap, abs(gap)), max(found.pull, -float(lam[0]))
        if c.sticks:
            mu = float(c.gap.touch.friction or 0.0)
            found.cone = max(found.cone, float(np.linalg.norm(lam[1:])) - mu * float(lam[0]))
            along = x - (n @ x) * n
            begin = along if begin is None else begin
            found.slip = max(found.slip, float(np.linalg.norm(along - begin)) if c.held else 0.0)


def world_push(model: Any, c: Contact, q: Array, lam: Array) -> tuple[Array, Array]:
    """(point, impulse on the body) in the world."""
    _, x, n = geometry(model, c, q)
    push = n * lam[0]
    return x, push + (c.gap._directions @ c.gap.tangent).T @ lam[1:] if c.sticks else push


def relative_rows(model: Any, c: Contact, q: Array) -> Array:
    """(3, nv): velocity of the point of contact of the body less that of what it touches."""
    assert c.gap.what is not None
    _, x, _ = geometry(model, c, q)
    return np.subtract(point_rows(model, c.gap.touch.body, q, x), point_rows(model, c.gap.what.owner, q, x))


def _reflection(solution: Any, model: Any, own: list[Contact], k: int) -> float:
    """Error of the momentum after the impacts of a node, of the size of that before; stances that end there push first."""
    struck, ending = [c for c in own if not c.held], [c for c in own if c.closing == k]
    if not struck or len(struck) + len(ending) < len(own):
        return 0.0
    q, machine = solution.q[k], solution.problem.machine
    M, p = model.mass_matrix(q), model.mass_matrix(q) @ solution.v_before[k]
    for c in ending:
        p = p + relative_rows(model, c, q).T @ world_push(model, c, q, solution.result.z[c.push[k]])[1]
    after = after_impacts(model, machine, q, p, struck)
    return float(np.abs(M @ (after - solution.v_after[k])).max() / max(1e-12, np.abs(p).max()))


def after_impacts(model: Any, machine: Any, q: Array, p: Array, struck: list[Contact]) -> Array:
    """The velocity that impacts leave of a momentum p: gaps open with e times the rate at which they closed, points that stick stop."""
    M = model.mass_matrix(q)
    held = np.zeros((0, model.nv)) if machine.rows is None else machine.rows.matrix(q)
    before = _constrained(M, p, held, np.zeros(len(held)))
    asked, wanted = [], []
    for c in struck:
        n, rows = geometry(model, c, q)[2], relative_rows(model, c, q)
        back = -c.restitution * float(n @ rows @ before)
        asked.append(rows if c.sticks else n[None, :] @ rows)
        wanted.append(back * n if c.sticks else np.array([back]))
    G = np.concatenate([*asked, held])
    return _constrained(M, p, G, np.concatenate([*wanted, np.zeros(len(held))]))


def _constrained(M: Array, p: Array, G: Array, wanted: Array) -> Array:
    """v with M v = p + G^T mu, G v = wanted."""
    n = len(M)
    whole = np.block([[M, -G.T], [G, np.zeros((len(G), len(G)))]])
    return np.asarray(np.linalg.lstsq(whole, np.concatenate([p, wanted]), rcond=None)[0][:n])


def _momentum(solution: Any, model: Any, own: list[Contact], k: int, found: Evidence) -> None:
    """Change of the momentum of all bodies less what walls give; machines that the world holds have other reactions."""
    if tied(solution.problem.machine):
        return
    q, given = solution.q[k], np.zeros(6)
    for c in own:
        if c.gap.what is None or c.gap.what.owner != WORLD:
            continue
        x, push = world_push(model, c, q, solution.result.z[c.push[k]])
        given += np.concatenate([np.cross(x, push), push])
    change = model.momentum(q, solution.v_after[k]) - model.momentum(q, solution.v_before[k])
    found.momentum = max(found.momentum, float(np.abs(change - given).max()))
