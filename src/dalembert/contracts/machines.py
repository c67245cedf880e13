"""Machines on which the contract of a stepper is checked, each with a state to start from, and their motion by SciPy's DOP853.

One body: Newton-Euler equations written out here. Trees: accelerations of the model (articulated bodies), of which no variational stepper
makes use.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from dalembert.arrays import Array
from dalembert.model import Model
from dalembert.model.cut import body_state, cut
from dalembert.model.rotation import quat_conj, quat_exp, quat_mul, rotate

Machine = tuple[Model, Array, Array]
CUT_TOP = "contract: cut top"


def free_body(symmetric: bool) -> Machine:
    """A free body without gravity, and a state."""
    m = Model("contract: free body", gravity=(0, 0, 0))
    m.add_body("body", mass=1.5, inertia=(1, 1, 1.8) if symmetric else (1, 2, 2.5))
    return m.frozen(), m.integrate(m.neutral(), np.array([0.4, -0.3, 0.2, 1, 2, 3])), np.array([0.3, 1.0, 0.4, 0.5, -0.2, 0.1])


def top(symmetric: bool) -> Machine:
    """A heavy body on a fixed point, and a state."""
    m = Model("contract: top", gravity=(0, 0, -2.0))
    m.add_body("body", mass=1.0, inertia=(1, 1, 0.8) if symmetric else (1, 1.4, 0.8), com=(0, 0, 0.5))
    m.add_joint("pivot", "spherical", "world", "body")
    return m.frozen(), quat_exp(np.array([0.5, 0.3, 0.0])), np.array([0.2, -0.3, 1.5])


def cut_top() -> Machine:
    """The top with its fixed point as a constraint on a free body."""
    model, q, v = top(symmetric=False)
    free = cut(model)
    free.name = CUT_TOP
    return free.frozen(), *body_state(model, q, v)


def floating_chain() -> Machine:
    """A free base with two links on perpendicular hinges, without gravity (Kobilarov, section 5.5; geometry chosen here)."""
    m = Model("contract: floating chain", gravity=(0, 0, 0))
    m.add_body("base", 1.0, (0.1, 0.2, 0.25))
    m.add_body("right", 1.0, (0.02, 0.1, 0.1), com=(0.5, 0, 0), pose=((0.5, 0, 0), (1, 0, 0, 0)))
    m.add_body("left", 1.0, (0.02, 0.1, 0.1), com=(-0.5, 0, 0), pose=((-0.5, 0, 0), (1, 0, 0, 0)))
    m.add_joint("root", "free", "world", "base")
    m.add_joint("right hinge", "revolute", "base", "right", (0.5, 0, 0), (0, 0, 1))
    m.add_joint("left hinge", "revolute", "base", "left", (-0.5, 0, 0), (0, 1, 0))
    q = m.check_q({"right hinge": 0.3, "left hinge": -0.2})
    return m.frozen(), q, np.array([0.3, 0.8, 0.5, 0.1, 0.0, 0.2, 0.6, -0.8])


def pinned_chain() -> Machine:
    """Under gravity: a body on a ball joint, a slide on a spring, a hinge."""
    m = Model("contract: pinned chain", gravity=(0, 0, -2.0))
    for k, name in enumerate(("upper", "rod", "bob")):
        m.add_body(name, 1.0, (0.2, 0.25, 0.15), com=(0.05, -0.05, -0.25), pose=((0, 0, -0.5 * k), (1, 0, 0, 0)))
    m.add_joint("ball", "spherical", "world", "upper")
    m.add_joint("slide", "prismatic", "upper", "rod", (0, 0, -0.5), (0.6, 0, 0.8), stiffness=10.0)
    m.add_joint("hinge", "revolute", "rod", "bob", (0, 0, -1.0), (0, 1, 0))
    q = m.integrate(m.neutral(), np.array([0.5, 0.3, 0.2, -0.2, 0.4]))
    return m.frozen(), q, np.array([0.2, -0.3, 0.6, 0.1, 0.3])


def reference(machine: Machine, t_end: float) -> tuple[Array, Array]:
    """q and v at t_end by DOP853 at rtol 1e-13."""
    model, q, v = machine
    if model.name == CUT_TOP:
        whole = top(symmetric=False)
        return body_state(whole[0], *reference(whole, t_end))
    return _reference(model.name, len(model.bodies), model, tuple(q), tuple(v), t_end)


@cache
def _reference(name: str, bodies: int, model: Model, q0: tuple[float, ...], v0: tuple[float, ...], t_end: float) -> tuple[Array, Array]:
    from scipy.integrate import solve_ivp

    rate = body_rate(model) if bodies == 1 else tree_rate(model)
    y = solve_ivp(rate, (0, t_end), np.array([*q0, *v0]), method="DOP853", rtol=1e-13, atol=1e-14).y[:, -1]
    return _on_group(model, y[: model.nq]), y[model.nq :]


def quaternions(model: Model) -> list[slice]:
    """Where q holds quaternions."""
    found = []
    for joint in model.joints:
        if joint.kind in ("free", "spherical"):
            end = model.q_slices()[joint.name].stop
            found.append(slice(end - 4, end))
    return found


def _on_group(model: Model, q: Array) -> Array:
    q = q.copy()
    for at in quaternions(model):
        q[at] /= np.linalg.norm(q[at])
    return q


def body_rate(model: Model) -> Callable[[float, Array], Array]:
    """Newton-Euler equations of a body that is free or on a fixed point."""
    body, pivoted = model.bodies[0], model.joints[0].kind == "spherical"
    arm = body.com if pivoted else np.zeros(3)
    J = body.inertia + body.mass * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    n = 0 if pivoted else 3

    def rate(t: float, y: Array) -> Array:
        q, w = y[n : n + 4], y[n + 4 : n + 7]
        torque = np.cross(arm, rotate(quat_conj(q), body.mass * model.gravity))
        w_dot = np.linalg.solve(J, np.cross(J @ w, w) + torque)
        q_dot = 0.5 * quat_mul(q, np.concatenate([[0.0], w]))
        if pivoted:
            return np.concatenate([q_dot, w_dot])
        u = y[n + 7 :]
        return np.concatenate([rotate(q, u), q_dot, w_dot, rotate(quat_conj(q), model.gravity) - np.cross(w, u)])

    return rate


def tree_rate(model: Model) -> Callable[[float, Array], Array]:
    """q_dot joint by joint, v_dot by the model's forward dynamics; quaternions may leave their length by the integrator's error."""
    q_at, v_at = model.q_slices(), model.v_slices()

    def rate(t: float, y: Array) -> Array:
        q, v = y[: model.nq], y[model.nq :]
        q_dot = np.zeros(model.nq)
        for joint in model.joints:
            at, x = q_at[joint.name], v[v_at[joint.name]]
            if joint.kind in ("free", "spherical"):
                spin = quat_mul(q[at][-4:], np.concatenate([[0.0], x[:3]]))
                q_dot[at] = np.concatenate([rotate(q[at][-4:], x[3:]) if joint.kind == "free" else [], 0.5 * spin])
            else:
                q_dot[at] = x
        return np.concatenate([q_dot, model.forward_dynamics(_on_group(model, q), v)])

    return rate
