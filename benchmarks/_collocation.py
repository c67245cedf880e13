"""Direct collocation as a peer of DMOC: the same blocks, mapped in the same way, the same IPOPT; dynamics x' = f(x, u) in closed form.

trapezoidal         x1 - x0 = h/2 (f0 + f1),  u linear between the nodes                                      Kelly (2017), 3
Hermite-Simpson     xm = (x0 + x1)/2 + h/8 (f0 - f1),  x1 - x0 = h/6 (f0 + 4 fm + f1),  u quadratic           Kelly (2017), 4
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
from scipy.integrate import solve_ivp

from dalembert.control.blocks import Block
from dalembert.control.program import Program

Array = Any


class Task(NamedTuple):
    """Dynamics and ends of a problem of effort: x' = f(x, u), |u| <= most, x from start to goal in T seconds."""

    name: str
    f: Callable[[Any, Any], Any]
    start: Array
    goal: Array
    inputs: int
    T: float
    least: Array
    most: Array
    u_most: float


class Plan(NamedTuple):
    """x (N + 1, nx), u as a function of time, mean input of each step."""

    x: Array
    u: Callable[[float], Array]
    mean: Array
    cost: float
    iterations: int
    seconds: float
    build: float
    ok: bool


class Collocation:
    """A problem of N steps by one of the two rules."""

    def __init__(self, task: Task, N: int, simpson: bool):
        began = time.perf_counter()
        self.task, self.N, self.simpson, self.h = task, N, simpson, task.T / N
        nx, nu, h = len(task.start), task.inputs, task.T / N
        wide = nx + nu + (nu if simpson else 0)
        size = N * wide + nx + nu
        self.x = np.array([k * wide + np.arange(nx) for k in range(N + 1)])
        self.u = np.array([k * wide + nx + np.arange(nu) for k in range(N + 1)])
        self.m = np.array([k * wide + nx + nu + np.arange(nu) for k in range(N)]) if simpson else np.zeros((N, 0), dtype=int)
        x0, x1, u0, u1, um = (ca.SX.sym(n, k) for n, k in (("x0", nx), ("x1", nx), ("u0", nu), ("u1", nu), ("um", nu if simpson else 0)))
        f0, f1 = task.f(x0, u0), task.f(x1, u1)
        if simpson:
            middle = 0.5 * (x0 + x1) + h / 8 * (f0 - f1)
            rows, cost = (
                x1 - x0 - h / 6 * (f0 + 4 * task.f(middle, um) + f1),
                h / 6 * (ca.dot(u0, u0) + 4 * ca.dot(um, um) + ca.dot(u1, u1)),
            )
        else:
            rows, cost = x1 - x0 - h / 2 * (f0 + f1), h / 2 * (ca.dot(u0, u0) + ca.dot(u1, u1))
        index = np.concatenate([self.x[:-1], self.x[1:], self.u[:-1], self.u[1:], self.m], axis=1)
        block = Block("collocation", ca.vertcat(x0, x1, u0, u1, um), index, cost, rows)
        least, most = np.full(size, -np.inf), np.full(size, np.inf)
        least[self.x], most[self.x] = task.least, task.most
        for at in (self.u, self.m):
            least[at], most[at] = -task.u_most, task.u_most
        least[self.x[0]] = most[self.x[0]] = task.start
        known = np.isfinite(task.goal)
        least[self.x[-1][known]] = most[self.x[-1][known]] = task.goal[known]
        self.program = Program(least, most, str, [block], np.zeros(0), {})
        self.build = time.perf_counter() - began

    def solve(self, guess: Array) -> Plan:
        """From nodes (N + 1, nx)."""
        z = np.zeros(len(self.program.least))
        z[self.x] = guess
        began = time.perf_counter()
        found = self.program.solve(np.clip(z, self.program.least, self.program.most))
        seconds = time.perf_counter() - began
        u, m = found.z[self.u], found.z[self.m]
        mean = (u[:-1] + 4 * m + u[1:]) / 6 if self.simpson else 0.5 * (u[:-1] + u[1:])
        return Plan(found.z[self.x], self._input(u, m), mean, found.cost, found.iterations, seconds, self.build, found.success)

    def _input(self, u: Array, m: Array) -> Callable[[float], Array]:
        def at(t: float) -> Array:
            k = min(int(t / self.h), self.N - 1)
            s = t / self.h - k
            if self.simpson:
                return u[k] * (1 - s) * (1 - 2 * s) + 4 * m[k] * s * (1 - s) + u[k + 1] * s * (2 * s - 1)
            return (1 - s) * u[k] + s * u[k + 1]

        return at


def true_motion(task: Task, N: int, u: Callable[[float], Array]) -> Array:
    """x at the nodes by DOP853, restarted at every node (inputs have kinks there)."""
    step = ca.Function("f", [x := ca.SX.sym("x", len(task.start)), v := ca.SX.sym("u", task.inputs)], [task.f(x, v)])
    h, rows = task.T / N, [np.asarray(task.start, dtype=float)]
    for k in range(N):
        inside = lambda t, y, k=k: np.array(step(y, u(min(max(t, k * h + 1e-12), (k + 1) * h - 1e-12)))).ravel()  # noqa: E731
        rows.append(solve_ivp(inside, (k * h, (k + 1) * h), rows[-1], "DOP853", rtol=1e-11, atol=1e-11).y[:, -1])
    return np.array(rows)


def cart_pole() -> Task:
    """Kelly's swing-up."""
    m1, m2, l, g = 1.0, 0.3, 0.5, 9.81

    def f(x: Any, u: Any) -> Any:
        s, c, w = ca.sin(x[1]), ca.cos(x[1]), x[3]
        below = m1 + m2 * (1 - c**2)
        a = (l * m2 * s * w**2 + u + m2 * g * c * s) / below
        b = -(l * m2 * c * s * w**2 + u * c + (m1 + m2) * g * s) / (l * below)
        return ca.vertcat(x[2], x[3], a, b)

    inf = np.inf
    ends = np.zeros(4), np.array([1.0, np.pi, 0.0, 0.0])
    return Task("cart-pole", f, *ends, 1, 2.0, np.array([-2, -inf, -inf, -inf]), np.array([2, inf, inf, inf]), 20.0)


def satellite() -> Task:
    """Reorientation with inertias 1, 2, 3 about an axis that is none of them, quaternion and body rates."""
    J = np.array([1.0, 2.0, 3.0])
    axis = np.array([1.0, 1.0, 1.0]) / np.sqrt(3.0)
    goal = np.concatenate([[np.cos(0.75)], np.sin(0.75) * axis, np.zeros(3)])

    def f(x: Any, u: Any) -> Any:
        s, e, w = x[0], x[1:4], x[4:7]
        return ca.vertcat(-0.5 * ca.dot(e, w), 0.5 * (s * w + ca.cross(e, w)), (u - ca.cross(w, ca.DM(J) * w)) / ca.DM(J))

    free = np.full(7, np.inf)
    goal[0] = np.nan  # three of the four numbers of a quaternion
    return Task("satellite", f, np.array([1.0, 0, 0, 0, 0, 0, 0]), goal, 3, 5.0, -free, free, np.inf)
