"""SciPy's adaptive solvers. The equations of motion of one body are written down here a second time, independently of the kernels; those
of a tree (`scipy_tree.py`) take its accelerations from the kernels, those of a Lagrangian (`scipy_lagrangian.py`) from its formulas.

About the reference point (the centre of mass of a free body, the pivot of a body on a spherical joint), body axes:

    q_dot = q * (0, omega)/2,    I omega_dot = -omega x I omega + torque,    x_dot = v,    m v_dot = m g + force

The quaternion is integrated as four numbers and never normalised: its norm shows what a method does that does not know the group.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import singledispatch
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import OptionError
from dalembert.families import find_family
from dalembert.lagrangian import Lagrangian
from dalembert.model import Model
from dalembert.model.rotation import quat_conj, quat_mul, rotate
from dalembert.peers._base import Outcome, Peer
from dalembert.peers.scipy_lagrangian import LagrangianMotion
from dalembert.peers.scipy_tree import TreeMotion

BOTH = ("model", "lagrangian")
HANDLES = ("free", "pivot", "tree", "gravity", "wrench", "damping", "damper", "spring", "forces", "stiffness", "armature")
RTOL = 1e-10


class Motion:
    """Right-hand side for y = (q_WB, omega) about a pivot, (q_WB, omega, x_com, v_com) of a free body."""

    def __init__(self, model: Model):
        self.model, self.body, self.joint = model, model.bodies[0], model.joints[0]
        self.pivoted = self.joint.kind == "spherical"
        b = self.body
        self.point = rotate(quat_conj(b.quaternion), self.joint.anchor - b.position) if self.pivoted else b.com
        self.arm = b.com - self.point
        self.inertia = b.inertia + b.mass * (self.arm @ self.arm * np.eye(3) - np.outer(self.arm, self.arm))
        self.inverse = np.linalg.inv(self.inertia)

    def start(self, q: Array, v: Array) -> Array:
        """y of q, v."""
        if self.pivoted:
            return np.concatenate([quat_mul(self.body.quaternion, q), v])
        x = q[:3] + rotate(q[3:], self.body.com)
        return np.concatenate([q[3:], v[:3], x, rotate(q[3:], v[3:] + np.cross(v[:3], self.body.com))])

    def nodes(self, y: Array) -> tuple[Array, Array]:
        """q, v of rows of y."""
        attitude, omega = y[:, :4], y[:, 4:7]
        if self.pivoted:
            return quat_mul(np.broadcast_to(quat_conj(self.body.quaternion), attitude.shape), attitude), omega
        unit = attitude / np.linalg.norm(attitude, axis=1, keepdims=True)
        position = y[:, 7:10] - rotate(unit, np.broadcast_to(self.body.com, omega.shape))
        velocity = rotate(quat_conj(unit), y[:, 10:]) - np.cross(omega, self.body.com)
        return np.concatenate([position, attitude], axis=1), np.concatenate([omega, velocity], axis=1)

    def loads(self, q: Array, omega: Array, v_com: Array) -> tuple[Array, Array]:
        """(torque about the reference point, force without gravity), body axes. v_com: body axes."""
        torque, force = np.zeros(3), np.zeros(3)

        def add(f: Array, at: Array) -> None:
            nonlocal torque, force
            force = force + f
            torque = torque + np.cross(at - self.point, f)

        if self.joint.damping > 0:
            torque = torque - self.joint.damping * omega
            if not self.pivoted:
                add(-self.joint.damping * (v_com - np.cross(omega, self.body.com)), np.zeros(3))
        for f in self.model.forces:
            if f.kind == "damper":
                torque = torque - f.angular * omega
                add(-f.linear * v_com, self.body.com)
            else:
                turn = (lambda x: np.array(x)) if f.frame == "body" else (lambda x: rotate(quat_conj(q), np.array(x)))
                torque = torque + turn(f.torque)
                add(turn(f.force), np.array(f.point))
        return torque, force

    def __call__(self, t: float, y: Array) -> Array:
        attitude, omega = y[:4], y[4:7]
        unit = attitude / np.linalg.norm(attitude)
        v_com = np.cross(omega, self.arm) if self.pivoted else rotate(quat_conj(unit), y[10:])
        torque, force = self.loads(unit, omega, v_com)
        if self.pivoted:
            torque = torque + np.cross(self.arm, rotate(quat_conj(unit), self.body.mass * self.model.gravity))
        spin = self.inverse @ (torque - np.cross(omega, self.inertia @ omega))
        turn = 0.5 * quat_mul(attitude, np.concatenate([[0.0], omega]))
        if self.pivoted:
            return np.concatenate([turn, spin])
        return np.concatenate([turn, spin, y[10:], self.model.gravity + rotate(unit, force) / self.body.mass])


@singledispatch
def _motion(model: Any) -> Motion | TreeMotion | LagrangianMotion:
    plain = find_family(model).name == "rigid-body" and all(f.kind in ("wrench", "damper") for f in model.forces)
    return Motion(model) if plain else TreeMotion(model)


@_motion.register
def _(model: Lagrangian) -> Motion | TreeMotion | LagrangianMotion:
    return LagrangianMotion(model)


def run(
    peer: Peer,
    model: Any,
    q: Array,
    v: Array,
    h: float,
    n: int,
    rtol: float | None = None,
    every: int = 1,
    ignore: tuple[str, ...] = (),
    progress: bool | None = False,
) -> Outcome:
    """Steps chosen by SciPy; the nodes k h come from its interpolant, the last one from a step."""
    from scipy.integrate import solve_ivp

    peer.check(model, ignore)
    rtol = RTOL if rtol is None else rtol
    if isinstance(rtol, (bool, str)) or not 0 < rtol < 1:
        raise OptionError(f"peer {peer.name!r}: rtol is {rtol!r}; expected a number in (0, 1).")
    motion = _motion(model.without(ignore))
    function: Callable[[float, Array], Array] = motion
    y0 = motion.start(q, v)
    scale = np.maximum(np.abs(y0), 1e-3 * max(1.0, float(np.abs(y0).max())))
    solve_ivp(function, (0.0, 1e-6 * h), y0, method=peer.setting, rtol=1e-3)
    began = time.process_time()
    t = np.minimum(np.arange(0, n + 1, every) * h, n * h)
    found = solve_ivp(function, (0.0, n * h), y0, method=peer.setting, t_eval=t, rtol=rtol, atol=rtol * scale)
    seconds = time.process_time() - began
    return Outcome(peer.trajectory(model, h, *motion.nodes(found.y.T), n, {"rtol": rtol}, every, ignore), seconds)


PEERS = {
    p.name: p
    for p in (
        Peer(
            "scipy:dop853",
            "SciPy, Dormand-Prince 8(5,3), adaptive",
            8,
            HANDLES,
            ("scipy", "hairer1993"),
            "DOP853",
            run,
            True,
            ("model", "lagrangian"),
        ),
        Peer(
            "scipy:rk45",
            "SciPy, Dormand-Prince 5(4), adaptive",
            5,
            HANDLES,
            ("scipy", "hairer1993"),
            "RK45",
            run,
            True,
            ("model", "lagrangian"),
        ),
        Peer(
            "scipy:radau",
            "SciPy, Radau IIA of order 5, implicit, adaptive",
            5,
            HANDLES,
            ("scipy",),
            "Radau",
            run,
            True,
            ("model", "lagrangian"),
        ),
    )
}
