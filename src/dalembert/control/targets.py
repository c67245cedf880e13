"""What is wanted of a node, as bounds on its variables and rows.

Coordinates of joints of one degree of freedom and momenta are bounds, least = most. A quaternion r at q: vec(conj(r) q) = 0, three
equations, and r . q >= 0, so that it is r and not -r. Poses of bodies: x - x* = 0; vee of the skew part of R*^T R = 0 with trace >= 0,
which keeps half a turn away. Velocities: p = M(q) v*; bounds where q is given or v* = 0.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np

from dalembert.arrays import Array
from dalembert.control.blocks import Block
from dalembert.control.ends import Node
from dalembert.errors import OptionError, UnknownNameError
from dalembert.lagrangian.charts import conjugate, product
from dalembert.lagrangian.tree_formulas import heading

INFINITE = np.inf


def quaternions(machine: Any) -> list[tuple[str, int]]:
    """(joint, place of its quaternion in q)"""
    if not hasattr(machine.formulas, "tree"):
        return []
    parts = [(link.joint.name, link.q_at + (3 if link.kind == 3 else 0)) for link in machine.formulas.tree.links if link.kind >= 2]
    return parts


def fix(made: Any, node: Node, q_at: Array, p_at: Array, where: str, whole: bool) -> None:
    """Put what is wanted of a node into a draft. whole: quaternions are bounds too (of a start)."""
    turned = quaternions(made.machine)
    inside = {i for _, start in turned for i in range(start, start + 4)}
    for i, value in enumerate(node.q):
        if np.isfinite(value) and (whole or i not in inside):
            made.least[q_at[i]] = made.most[q_at[i]] = value
    if not whole:
        for name, start in turned:
            if np.isfinite(node.q[start]):
                made.add(_quaternion(made, name, node.q[start : start + 4], q_at[start : start + 4], where))
    _velocity(made, node, q_at, p_at, where)
    if node.poses:
        made.add(_poses(made, node, q_at, where))
    if node.relative:
        made.add(_relative(made.machine, node, q_at, where))


def _quaternion(made: Any, name: str, wanted: Array, at: Array, where: str) -> Block:
    q, r = ca.SX.sym("q", 4), ca.SX.sym("r", 4)
    way, title = product(conjugate(r), q), f"{name} at {where}"
    names = [f"{name}: turn about {axis}" for axis in "xyz"] + [f"{name}: side of the turn"]
    return Block(
        title, q, at, rows=ca.vertcat(way[1:4], way[0]), p=r, numbers=made.numbers.add(title, wanted), lower=[0, 0, 0, 0],
        upper=[0, 0, 0, INFINITE], names=names, places=[where],
    )  # fmt: skip


def _velocity(made: Any, node: Node, q_at: Array, p_at: Array, where: str) -> None:
    """p = M(q) v: bounds where v is 0 or q is known, else with the velocities of the node as variables."""
    machine, wanted = made.machine, np.isfinite(node.v)
    if not wanted.any():
        return
    constrained = machine.rows is not None and where != "node 0"
    if constrained and node.at_rest:
        _rest(made, q_at, p_at, where)
        return
    if not constrained and (p := machine.known_momentum(node)) is not None:
        made.least[p_at] = made.most[p_at] = p
        return
    speeds(made, q_at, p_at, where, np.where(wanted, node.v, -np.inf), np.where(wanted, node.v, np.inf))


def speeds(made: Any, q_at: Array, p_at: Array, where: str, least: Any = -np.inf, most: Any = np.inf) -> Array:
    """Places of the velocities of a node as variables: p = M(q) v, with p + G^T mu and G v = 0 where there are loops or rolling."""
    machine, held = made.machine, made.machine.rows
    if where in made.speeds:
        return np.asarray(made.speeds[where])
    n, m = machine.nv, 0 if held is None else held.count
    least, most = (np.broadcast_to(np.asarray(x, dtype=float), (n,)) for x in (least, most))
    left = 0 if where == "node 0" else m  # of a start nothing is taken: the first step pushes there already
    q, p, mu, v = (ca.SX.sym(x, k) for x, k in (("q", machine.nq), ("p", n), ("mu", left), ("v", n)))
    mu_at = made.take(left, [f"impulse of constraint {r} at {where}" for r in range(left)], force=True)
    v_at = made.speeds[where] = made.take(n, [f"{name} at {where}" for name in machine.v_names], least, most)
    rows = p - machine.formulas.both(q, v)[0]
    if held is not None:
        rows = ca.vertcat(rows + held.push(q, mu) if left else rows, held.rate(q, v))
    names = [*(f"momentum of the velocity of {name}" for name in machine.v_names), *(f"rate of constraint {r}" for r in range(m))]
    index = np.concatenate([q_at, p_at, mu_at, v_at])
    made.add(Block(f"velocity at {where}", ca.vertcat(q, p, mu, v), index, rows=rows, names=names, places=[where]))
    made.guesses.append(_as_before(q_at, v_at, least, most))
    return np.asarray(v_at)


def _as_before(q_at: Any, v_at: Any, least: Array, most: Array) -> Callable[[Any, Array], None]:
    """The guess of the velocity of a node: that of the step before it."""

    def write(problem: Any, z: Array) -> None:
        chain = problem.chain
        step = int(np.flatnonzero((chain.q == q_at).all(axis=1))[0]) - 1
        z[v_at] = np.clip(z[chain.v[max(0, step)]], least, most)

    return write


def _rest(made: Any, q_at: Array, p_at: Array, where: str) -> None:
    """p + G^T mu = 0: the momentum of a step, less what loops and rolling take of it at the node."""
    machine, rows = made.machine, made.machine.rows
    q, p, mu = (ca.SX.sym(x, n) for x, n in (("q", machine.nq), ("p", machine.nv), ("mu", rows.count)))
    mu_at = made.take(rows.count, [f"impulse of constraint {r} at {where}" for r in range(rows.count)], force=True)
    missing = p + rows.push(q, mu) - machine.formulas.both(q, ca.SX.zeros(machine.nv))[0]
    names = [f"momentum of the velocity of {n}" for n in machine.v_names]
    index = np.concatenate([q_at, p_at, mu_at])
    made.add(Block(f"rest at {where}", ca.vertcat(q, p, mu), index, rows=missing, names=names, places=[where]))


def _poses(made: Any, node: Node, q_at: Array, where: str) -> Block:
    q = ca.SX.sym("q", made.machine.nq)
    rows, names, upper = [], list[str](), list[float]()
    wanted, numbers = ca.SX(0, 1), list[Array]()
    for body, (place, turn) in node.poses.items():
        R, x = made.machine.formulas.pose(q, body)
        if place is not None:
            aim = ca.SX.sym("x", 3)
            rows.append(x - aim)
            names += [f"place of {body}: {axis}" for axis in "xyz"]
            upper += [0.0] * 3
            wanted, numbers = ca.vertcat(wanted, aim), [*numbers, made.numbers.add(f"place of {body} at {where}", place)]
        if turn is not None:
            aim = ca.SX.sym("R", 3, 3)
            rows += [heading(R, aim), ca.trace(aim.T @ R)]
            names += [*(f"turn of {body}: {axis}" for axis in "xyz"), f"side of the turn of {body}"]
            upper += [0.0, 0.0, 0.0, INFINITE]
            flat = np.asarray(turn).T.ravel()  # by columns, as CasADi reads them
            wanted, numbers = ca.vertcat(wanted, ca.vec(aim)), [*numbers, made.numbers.add(f"turn of {body} at {where}", flat)]
    return Block(
        f"poses at {where}", q, q_at, rows=ca.vertcat(*rows), p=wanted, numbers=np.concatenate(numbers), lower=[0.0] * len(upper),
        upper=upper, names=names, places=[where],
    )  # fmt: skip


def _relative(machine: Any, node: Node, q_at: Array, where: str) -> Block:
    """R_A^T (x_B - x_A) = r and R_A^T R_B = R_r, wherever A and B are."""
    q = ca.SX.sym("q", machine.nq)
    rows, names, upper = [], list[str](), list[float]()
    for (body, other), (place, turn) in node.relative.items():
        (R_B, x_B), (R_A, x_A) = machine.formulas.pose(q, body), machine.formulas.pose(q, other)
        if place is not None:
            rows.append(R_A.T @ (x_B - x_A) - ca.DM(place))
            names += [f"place of {body} seen from {other}: {axis}" for axis in "xyz"]
            upper += [0.0] * 3
        if turn is not None:
            R = R_A.T @ R_B
            rows += [heading(R, ca.DM(turn)), ca.trace(ca.DM(turn).T @ R)]
            names += [*(f"turn of {body} seen from {other}: {axis}" for axis in "xyz"), f"side of the turn of {body} seen from {other}"]
            upper += [0.0, 0.0, 0.0, INFINITE]
    title, lower = f"pairs at {where}", [0.0] * len(upper)
    return Block(title, q, q_at, rows=ca.vertcat(*rows), lower=lower, upper=upper, names=names, places=[where])


def path_blocks(machine: Any, chain: Any, path: dict[str, tuple[Callable[..., Any], Any, Any]]) -> list[Block]:
    """lower <= f(q, v, u) <= upper at the first node of each step, and, if f is of q, at the last node with the last v and u."""
    blocks, at = [], chain.nodes
    s = len(chain.weights)
    steps = np.append(np.arange(chain.N), chain.N - 1)
    index = np.concatenate([chain.q[at], chain.v[np.append(at[:-1], at[-1] - 1) if s > 1 else steps], chain.u[steps]], axis=1)
    places = [f"node {k}" for k in range(chain.N + 1)]
    for name, (function, lower, upper) in path.items():
        q, v, u = ca.SX.sym("q", machine.nq), ca.SX.sym("v", machine.nv), ca.SX.sym("u", machine.nu)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", FutureWarning)  # CasADi about NumPy's functions, which it takes
                rows = ca.vec(ca.SX(function(q, v, u)))
        except Exception as error:
            raise OptionError(f"path {name!r}: f(q, v, u) failed on expressions: {error}") from error
        names = [name] if rows.numel() == 1 else [f"{name}[{i}]" for i in range(rows.numel())]
        n = chain.N + int(ca.depends_on(rows, q))  # of v and u alone, the last node would say what the last step says
        least, most = _levels(name, lower, upper, rows.numel())
        blocks.append(Block(name, ca.vertcat(q, v, u), index[:n], rows=rows, lower=least, upper=most, names=names, places=places[:n]))
    return blocks


def _levels(name: str, lower: Any, upper: Any, n: int) -> tuple[Array, Array]:
    """Bounds of n rows."""
    try:
        low, high = (np.broadcast_to(np.asarray(x, dtype=float), (n,)) for x in (lower, upper))
    except (TypeError, ValueError):
        low = high = np.array([np.nan])
    if not (low <= high).all():
        raise OptionError(f"path {name!r}: lower is {lower!r} and upper {upper!r}; expected numbers, or {n} of them, lower <= upper.")
    return low, high


def turn_block(machine: Any, chain: Any, most: float) -> Block:
    """|h v| <= most of all that turns, where h is a variable."""
    which, s = np.flatnonzero(machine.turning), len(chain.weights)
    v, h = ca.SX.sym("v", len(which)), ca.SX.sym("h")
    steps = np.arange(chain.N * s)
    index = np.concatenate([chain.v[:, which], chain.h[chain.phase_of[steps // s]][:, None]], axis=1)
    names = [f"turn of {machine.v_names[i]} in a step" for i in which]
    bound = np.repeat((most / np.abs(chain.weights))[steps % s][:, None], len(which), axis=1)
    places = [f"step {i // s}" for i in steps]
    return Block("turn", ca.vertcat(v, h), index, rows=h * v, lower=-bound, upper=bound, names=names, places=places)


def periodic(machine: Any, chain: Any, which: Any) -> list[Block]:
    """The last node is the first one: of all coordinates, or of some joints; all momenta."""
    if which is not True and not isinstance(which, (str, list, tuple, set)):
        raise OptionError(f"dmoc: periodic is {which!r}; expected True, a joint or a list of joints.")
    names = None if which is True else [which] if isinstance(which, str) else list(which)
    at = chain.nodes
    slices = machine.parts("q")
    for name in names or ():
        if name not in slices:
            raise UnknownNameError("periodic: joint", name, slices)
    a, b = ca.SX.sym("a", machine.nq), ca.SX.sym("b", machine.nq)
    p, r = ca.SX.sym("p", machine.nv), ca.SX.sym("r", machine.nv)
    difference = machine.formulas.chart.lift(a, b)
    v_slices = machine.parts("v")
    wanted = range(machine.nv) if names is None else [i for name in names for i in range(v_slices[name].start, v_slices[name].stop)]
    rows = ca.vertcat(*(difference[i] for i in wanted), r - p)
    index = np.concatenate([chain.q[0], chain.p[0], chain.q[at[-1]], chain.p_after[chain.N]])
    words = [*(f"{machine.v_names[i]} ends as it began" for i in wanted), *(f"momentum of {n} ends as it began" for n in machine.v_names)]
    return [Block("period", ca.vertcat(a, p, b, r), index, rows=rows, names=words, places=["both ends"])]
