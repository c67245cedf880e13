"""The online certificate: at the first Newton iteration of a step, is convergence proved?

    beta = |T De(v_0)^-1 T^T|,   eta = |T d_0|,   2 beta eta gamma(h) <= 1                     kobilarov2014 (42), with computed numbers

in any one of the coordinates y = T q of `tree_constants.py`. Where it is true, plain Newton from v_0 converges, in exact arithmetic, to the
only solution within eta of v_0 + d_0, so the step exists. False says nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dalembert.errors import OptionError, UnsupportedError
from dalembert.solvability.kantorovich import certificate
from dalembert.solvability.tree_constants import Constants, all_constants, default_reach
from dalembert.solvability.tree_loads import held_forces, with_drag
from dalembert.solvability.tree_step import Array, DenseTree, Terms, dense_tree, jacobian, left, right, solve, terms

if TYPE_CHECKING:
    from dalembert.model import Model

ROUND_OFF = 1e-9  # of velocities that a stepper found
CHUNK = 2_000_000  # numbers in the largest array of one batch


def certified_steps(model: Model, h: float, q_nodes: Any, v_interval: Any, control: Any = None) -> NDArray[np.bool_]:
    """Which steps of a `trapezoidal` run are proved: (N,) for nodes q (N + 1, nq) and interval velocities v (N, nv).

    Proved: plain Newton converges to the only solution near its start, and the velocity of the run lies where that solution is the only
    one, however the stepper found it. Newton's start is the velocity of the interval before; at the first step the velocity v0 of the
    node, recovered from M(q0) v0 = left(v).
    control (nv,): a constant control. Only for what `unproved(model)` finds nothing against.
    """
    against = unproved(model)
    if against:
        raise UnsupportedError(f"no step of {model!r} can be certified: {', '.join(against)}.")
    q, v, tau = _checked(model, h, q_nodes, v_interval, control)
    tree = dense_tree(model)
    reach = default_reach(tree, q, limits(model))
    constants = list(all_constants(tree, reach))
    n, steps = tree.n, len(v)
    out = np.zeros(steps, dtype=bool)
    size = max(1, CHUNK // n**3)
    for begin in range(0, steps, size):
        k = np.arange(begin, min(steps, begin + size))
        hs = np.full(len(k), float(h))
        here, before = with_drag(model, terms(tree, q[k]), q[k]), terms(tree, q[np.maximum(k - 1, 0)])
        start, held = v[np.maximum(k - 1, 0)].copy(), tau + held_forces(model, q[k])
        p = right(hs, before, here, start, held)
        if begin == 0:
            first = Terms(*(x[:1] for x in here))
            p[0] = left(hs[:1], first, terms(tree, q[:1] + h * v[:1]), v[:1], held[:1])[0]
            start[0] = np.linalg.solve(first.M[0], p[0])
        out[k] = np.any(prove(tree, constants, reach, hs, q[k], here, start, p, held, v[k]), axis=0)
    return out


def prove(
    tree: DenseTree,
    constants: list[Constants],
    reach: Array,
    h: Array,
    q: Array,
    here: Terms,
    v: Array,
    p: Array,
    control: Array,
    answer: Array | None = None,
) -> NDArray[np.bool_]:
    """The certificate of each coordinate system (rows) for each step (columns): h (B,), q, v, p (B, n), `here` at q.

    answer (B, n): velocities that were found; they too must lie within eta of v_0 + d_0.
    """
    after = terms(tree, q + h[:, None] * v)
    De = jacobian(h, here, after, v)
    d = -solve(De, left(h, here, after, v, control) - p)
    proved = []
    slide = ~tree.revolute
    for c in constants:
        eta = np.linalg.norm(d @ c.T.T, axis=1)
        low = np.linalg.svd(c.T_inv.T @ De @ c.T_inv, compute_uv=False)[:, -1]
        beta = 1.0 / np.maximum(low, 1e-300)
        holds = certificate(c, h, beta, eta, np.linalg.norm((v + d) @ c.T.T, axis=1))
        if np.any(slide):
            row = np.linalg.norm(c.T_inv[slide], axis=1)
            far = np.abs(q[:, slide] + h[:, None] * (v + d)[:, slide]) + h[:, None] * row * eta[:, None]
            begin = np.abs(q[:, slide] + h[:, None] * v[:, slide])
            holds = holds & np.all((far <= reach[slide]) & (begin <= reach[slide]), axis=1)
        if answer is not None:
            off, size = (np.linalg.norm(x @ c.T.T, axis=1) for x in (answer - v - d, answer))
            holds = holds & (off <= eta + ROUND_OFF * size)
        proved.append(holds & np.isfinite(eta))
    return np.array(proved)


def unproved(model: Model) -> list[str]:
    """What keeps the proofs from a model, in words; empty if nothing does."""
    found = [f"joint {j.name!r} is {j.kind}" for j in model.joints if j.kind in ("free", "spherical")]
    found += [f"joint {j.name!r} has friction" for j in model.joints if j.friction > 0]
    found += [f"joint {name!r} is driven" for name in model.drives]
    found += [f"loop {loop.name!r}" for loop in model.loops]
    found += [f"force {f.name!r} is a function" for f in model.forces if f.kind == "function"]
    return found + [f"force {name!r} is a {f.kind}" for name, f in model._forces.items() if not f.proved and f.kind != "function"]


def limits(model: Model) -> list[tuple[float, float] | None]:
    """Limits of each degree of freedom."""
    return [j.limits if j.coordinates.nv == 1 else None for j in model.joints for _ in range(j.coordinates.nv)]


def _checked(model: Model, h: float, q: Any, v: Any, control: Any) -> tuple[Array, Array, Array]:
    q, v = np.asarray(q, dtype=float), np.asarray(v, dtype=float)
    if not (np.isfinite(h) and h > 0.0):
        raise OptionError(f"h = {h!r}; expected a positive step in seconds.")
    if v.ndim != 2 or v.shape[1] != model.nv or len(v) == 0:
        raise OptionError(f"v_interval has shape {v.shape}; expected (steps, {model.nv}).")
    if q.shape != (len(v) + 1, model.nq):
        raise OptionError(f"q_nodes has shape {q.shape}; expected {(len(v) + 1, model.nq)}, one node more than intervals.")
    if not (np.all(np.isfinite(q)) and np.all(np.isfinite(v))):
        raise OptionError("q_nodes or v_interval has entries that are not finite numbers.")
    return q, v, constant_control(model, control)


def constant_control(model: Model, control: Any) -> Array:
    """A control (nv,) of finite numbers; zero for None."""
    tau = np.zeros(model.nv) if control is None else np.asarray(control, dtype=float)
    if tau.shape != (model.nv,) or not np.all(np.isfinite(tau)):
        raise OptionError(f"control = {tau.tolist()}; expected {model.nv} finite numbers, constant over the step.")
    return tau
