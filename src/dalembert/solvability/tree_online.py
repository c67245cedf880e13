"""The online certificate over whole stretches of steps: up to which h is it true, for every smaller step as well?

At a step b: beta, eta as in `certify.py`. For every h in [b - D, b], from l0, l2 and s = |v|,

    |De(h) - De(b)| <= D Lip,   Lip = (|dM[v]| + |N - N^T + K|) / 2 + 3/2 b l2 s^2,   N_ij = (d_j M v)_i, K damping, all at q
    |e(h) - (h / b) e(b)| <= b D l2 s^3 / 2                      e(0) = 0, and its second derivative is at most l2 s^3

so with k = beta D Lip < 1: beta(h) <= beta / (1 - k), eta(h) <= (eta + beta b D l2 s^3 / 2) / (1 - k), and gamma grows with h. Cells
[b / ratio, b] that satisfy Kantorovich's condition with these numbers are laid end to end from the a-priori bound upwards.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from dalembert.solvability.kantorovich import SLACK, Numbers, lipschitz
from dalembert.solvability.tree_constants import Constants
from dalembert.solvability.tree_state import State, numbers
from dalembert.solvability.tree_step import Array, jacobian, left, right, solve, stacked, terms

CELLS = 16
RATIOS, ROUNDS = (1.06, 1.02, 1.005), 5
STARTS = (True, False)  # first node, interval before


class Iteration(NamedTuple):
    """First Newton iterations at the steps h: matrices (B, n, n), corrections (B, n) from the first node and from the interval before."""

    h: Array
    De: Array
    first: Array
    later: Array


def first_iteration(state: State, h: Array) -> Iteration:
    """Both starts at the velocity of the state."""
    tree, n = state.tree, state.tree.n
    q, v = (np.broadcast_to(x, (len(h), n)) for x in (state.q, state.v))
    here = stacked(state.here, len(h))
    shift = h[:, None] * v
    after, before = terms(tree, q + shift), terms(tree, q - shift)
    De, p = jacobian(h, here, after, v), left(h, here, after, v, state.control)
    first = -solve(De, p - state.here.M @ state.v)
    return Iteration(h, De, first, -solve(De, p - right(h, before, here, v, state.control)))


def covered(state: State, low: dict[str, float]) -> dict[bool, dict[str, float]]:
    """By start (True: first node) and coordinates: the end of the steps for which the certificate is proved; up to `low` it is known."""
    known = {first: dict(low) for first in STARTS}
    best = max(low.values())
    if math.isinf(best) or best == 0.0:
        return known
    for c in state.constants:
        if c.name == "relative" or low[c.name] > 0.2 * best:
            ends = _walk(state, c, low[c.name])
            for first in STARTS:
                known[first][c.name] = ends[first]
    return known


def _walk(state: State, c: Constants, low: float) -> dict[bool, float]:
    """Wide cells for both starts at once, then narrower ones for each."""
    x, pace = numbers(state, c), pace_of(state, c)
    ends = dict.fromkeys(STARTS, low)
    for ratio in RATIOS:
        alive = set(STARTS)
        for _ in range(ROUNDS):
            low = min(ends[first] for first in alive)
            h = low * np.power(ratio, np.arange(1, CELLS + 1), dtype=float)
            now = first_iteration(state, h)
            for first in tuple(alive):
                count = _leading(_cells(c, x, pace, now, first, ratio))
                ends[first] = max(ends[first], float(h[count - 1]) if count else low)
                if count < CELLS:
                    alive.remove(first)
            if not alive:
                break
    return ends


def _leading(true: Array) -> int:
    """How many are true before the first that is not."""
    return len(true) if np.all(true) else int(np.argmin(true))


def _cells(c: Constants, x: Numbers, pace: float, now: Iteration, first: bool, ratio: float) -> Array:
    """Is the certificate proved on [h / ratio, h] for each h?"""
    beta, eta = spread(c, x, pace, now, first, ratio)
    out = np.zeros(len(now.h), dtype=bool)
    for k in np.flatnonzero(np.isfinite(eta)):
        h, far = float(now.h[k]), float(eta[k])
        out[k] = x.room.holds(h, 2.0 * far) and 2.0 * float(beta[k]) * far * lipschitz(c, h, x.speed + 2.0 * far) <= SLACK
    return out


def spread(c: Constants, x: Numbers, pace: float, now: Iteration, first: bool, ratio: float) -> tuple[Array, Array]:
    """Bounds of beta and eta on [h / ratio, h] for each h; inf where there is none."""
    beta = 1.0 / np.maximum(np.linalg.svd(c.T_inv.T @ now.De @ c.T_inv, compute_uv=False)[:, -1], 1e-300)
    eta = np.linalg.norm((now.first if first else now.later) @ c.T.T, axis=1)
    width, bend = now.h * (1.0 - 1.0 / ratio), c.l2 * x.speed * x.speed
    keep = 1.0 - beta * width * (pace + 1.5 * now.h * bend)
    good = (keep > 0.0) & np.isfinite(eta)
    kept = np.where(good, keep, 1.0)
    far = (eta + 0.5 * beta * now.h * width * bend * x.speed) / kept
    return np.where(good, beta / kept, np.inf), np.where(good, far, np.inf)


def pace_of(state: State, c: Constants) -> float:
    """(|dM[v]| + |N - N^T + K|) / 2 in the coordinates of c."""
    N = state.here.columns(state.v)
    parts = (state.here.along(state.v), N - N.T + state.here.drag)
    return 0.5 * sum(float(np.linalg.norm(c.T_inv.T @ part @ c.T_inv, 2)) for part in parts)
