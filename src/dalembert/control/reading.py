"""What `dmoc` is given, read: steps, times, bounds, waypoints, rows of the path, the reference. Errors name what was expected."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.control import ends
from dalembert.control.machine import bound
from dalembert.errors import OptionError, UnknownNameError
from dalembert.kernels.tree.variational.trust import TURN  # rad in a step, up to which the simulator does not doubt it

MOST = 10_000_000  # steps of a plan
BOUNDS = ("q", "v", "u", "turn")


def read_steps(N: Any) -> int:
    if isinstance(N, bool) or not isinstance(N, (int, np.integer)) or not 2 <= N <= MOST:
        raise OptionError(f"dmoc: N is {N!r}; expected a whole number of steps, at least 2 and at most {MOST}.")
    return int(N)


def read_times(phases: list[int], h: Any, free_time: Any) -> tuple[Array, tuple[float, float] | None]:
    """(sizes of the steps of each phase, bounds of the total time or None where it is fixed)."""
    N = sum(phases)
    given = None if h is None else _sizes(phases, h)
    if free_time is None:
        if given is None:
            raise OptionError("dmoc: neither h nor free_time is given; expected h in seconds, or free_time=(least, most).")
        return given, None
    if free_time is True:
        if given is None:
            raise OptionError("dmoc: free_time is True and h is not given; expected a pair free_time=(least, most), or h to begin with.")
        total = float(np.dot(phases, given))
        limits = 0.1 * total, 10.0 * total
    else:
        try:
            low, high = (float(x) for x in free_time)
        except (TypeError, ValueError):
            raise OptionError(f"dmoc: free_time is {free_time!r}; expected a pair (least, most) in seconds, or True.") from None
        if not 0.0 < low <= high < np.inf:
            raise OptionError(f"dmoc: free_time is {free_time!r}; expected 0 < least <= most, in seconds.")
        limits = low, high
    sizes = np.full(len(phases), np.sqrt(limits[0] * limits[1]) / N) if given is None else given
    return sizes * np.clip(1.0, limits[0] / np.dot(phases, sizes), limits[1] / np.dot(phases, sizes)), limits


def _sizes(phases: list[int], h: Any) -> Array:
    if not isinstance(h, (list, tuple, np.ndarray)) or (isinstance(h, np.ndarray) and h.ndim == 0):
        return np.full(len(phases), _positive("h", h))
    if len(h) != len(phases):
        raise OptionError(f"dmoc: h has {len(h)} numbers for {len(phases)} phases; expected one, or one for each.")
    return np.array([_positive("h", x) for x in h])


def _positive(what: str, x: Any, unit: str = "seconds") -> float:
    try:
        value = float(x)
    except (TypeError, ValueError):
        value = np.nan
    if not 0.0 < value < np.inf:
        raise OptionError(f"dmoc: {what} is {x!r}; expected a positive number of {unit}.")
    return value


def read_turn(bounds: Any) -> float | None:
    value = (bounds or {}).get("turn", TURN * (1.0 - 1e-6))  # what is solved to a tolerance stays below
    if value is None:
        return None
    return _positive("bounds['turn']", value, "rad")


def read_bounds(machine: Any, bounds: Mapping[str, Any]) -> tuple[Array, Array, Array]:
    """Least and most of q, v, u."""
    if not isinstance(bounds, Mapping):
        raise OptionError(f"dmoc: bounds is {bounds!r}; expected a mapping with some of {', '.join(BOUNDS)}.")
    for name in bounds:
        if name not in BOUNDS:
            raise UnknownNameError("bounds: entry", name, BOUNDS)
    q_groups, v_groups = ({k: range(s.start, s.stop) for k, s in machine.parts(which).items()} for which in "qv")
    u_groups = {k: _acting_on(machine.B, list(r)) for k, r in v_groups.items()}
    q = bound("bounds['q']", bounds.get("q"), machine.q_names, q_groups, machine.q_limits())
    v = bound("bounds['v']", bounds.get("v"), machine.v_names, v_groups, machine.v_limits())
    return q, v, bound("bounds['u']", bounds.get("u"), machine.u_names, u_groups, machine.u_limits)


def _acting_on(B: Array, rows: list[int]) -> list[int]:
    """Inputs that act on these degrees of freedom and on no others."""
    acts = B != 0.0
    return [i for i in range(B.shape[1]) if acts[rows, i].any() and acts[:, i].sum() == acts[rows, i].sum()]


def check_inside(machine: Any, first: ends.Node, last: ends.Node, bounds: Mapping[str, Any]) -> None:
    """Start and goal within the bounds of q."""
    q, _, _ = read_bounds(machine, bounds)
    for what, node in (("start", first), ("goal", last)):
        outside = np.flatnonzero((node.q < q[:, 0]) | (node.q > q[:, 1]))
        if len(outside):
            i = outside[0]
            raise OptionError(f"dmoc: {what}: {machine.q_names[i]} = {node.q[i]:.6g} is outside its bounds [{q[i, 0]:.6g}, {q[i, 1]:.6g}].")


def read_waypoints(machine: Any, given: Any, N: int) -> list[tuple[int, ends.Node]]:
    found = []
    try:
        pairs = [(k, node) for k, node in (given.items() if isinstance(given, Mapping) else given)]
    except (TypeError, ValueError):
        raise OptionError(f"dmoc: waypoints is {given!r}; expected {{node: what is wanted of it}}.") from None
    for k, node in pairs:
        if not isinstance(k, (int, np.integer)) or not 0 < k < N:
            raise OptionError(f"dmoc: a waypoint is at node {k!r}; expected a whole number in 1 ... {N - 1}.")
        free = dict(node) if isinstance(node, Mapping) else {"q": node}
        found.append((int(k), ends.read(machine, {"v": None, **free}, f"waypoint at node {k}")))
    return found


def read_path(given: Any) -> dict[str, tuple[Callable[..., Any], Any, Any]]:
    """{name: (function, lower, upper)} of functions f <= 0, or (f, lower, upper)."""
    if given is None:
        return {}
    if isinstance(given, Mapping):
        named = dict(given)
    else:
        named = {}
        for f in given if isinstance(given, (list, tuple)) else [given]:
            name = getattr(f, "__name__", "path")
            named[name if name not in named else f"{name} {len(named)}"] = f  # lambdas share their name
    return {name: (f, -np.inf, 0.0) if callable(f) else _between(name, f) for name, f in named.items()}


def _between(name: str, given: Any) -> tuple[Callable[..., Any], Any, Any]:
    try:
        f, low, high = given
    except (TypeError, ValueError):
        f, low, high = None, None, None
    if not callable(f):
        raise OptionError(f"path {name!r} is {given!r}; expected a function f(q, v, u) <= 0, or (f, lower, upper).")
    return f, low, high


def read_reference(machine: Any, given: Any, N: int) -> Array:
    array = np.asarray(getattr(given, "q", given), dtype=float)
    if array.shape != (N + 1, machine.nq) or not np.isfinite(array).all():
        raise OptionError(f"dmoc: reference has the shape {array.shape}; expected finite numbers (N + 1, nq) = {(N + 1, machine.nq)}.")
    return array
