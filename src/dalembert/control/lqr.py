"""`lqr`: linear-quadratic control on the exact derivatives of the steps that the simulator makes.

    x+ = A x + B u,   sum of x . Q x + u . R u least,   u = -K x,   x = (q - q_k, v - v_k) in tangents at q_k

About a point the horizon is infinite, and the point has to be an equilibrium of the discrete step: the inputs that hold it are found.
About a trajectory the horizon is its end: gains from there backwards (control/riccati.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.control.feedback import Feedback
from dalembert.control.machine import machine_of
from dalembert.control.motion import Motion, left_out, motion_of
from dalembert.control.riccati import backwards, stationary, weight
from dalembert.errors import OptionError
from dalembert.sensitivity import Derivatives, derivatives
from dalembert.systems import System, as_system

#: a point whose step moves by more than this (rad, m), or changes a speed by more (rad/s, m/s), is no equilibrium
STILL = 1e-7
CORRECTIONS = 8


def lqr(
    system: Any,
    at: Any,
    Q: Any,
    R: Any,
    h: float = 0.01,
    stepper: str = "midpoint",
    inputs: Any = None,
    ignore: Any = (),
    final: Any = None,
    compose: str | None = None,
) -> Feedback:
    """The feedback of least cost about a point or about a motion.

    at: a point, q or {"q": q, "v": v} (v = 0 by default; arrays or {joint: values}); or a `Solution` of dal.control, a saved plan, or a
    trajectory, which bring h, stepper and inputs of their own.
    Q: weights of (q, v), a number, 2 nv numbers or a matrix; R: of the inputs, likewise. final: weight of the last node, Q by default.
    inputs: as `dal.control.dmoc` has them: the motors of a machine with their limits, or joints, or a matrix (nv, nu).
    OptionError where the point is no equilibrium, or where directions that do not decay cannot be reached: it names them.
    """
    if isinstance(at, System):
        raise OptionError("lqr: at is a system; expected a point (q, or {'q': q, 'v': v}), a trajectory or a plan.")
    motion = motion_of(at, system, inputs, ignore)
    if motion is not None:
        return about_motion(motion, Q, R, final)
    if final is not None:
        raise OptionError("lqr: final is the weight of the last node of a motion; about a point there is none.")
    return about_point(system, at, Q, R, h, stepper, inputs, ignore, compose)


def about_point(
    system: Any, at: Any, Q: Any, R: Any, h: float, stepper: str, inputs: Any, ignore: Any, compose: str | None = None
) -> Feedback:
    """Infinite horizon."""
    machine = machine_of(as_system(system, "lqr"), inputs, ignore)
    point: Mapping[str, Any] = at if isinstance(at, Mapping) and at.keys() <= {"q", "v"} else {"q": at}
    q, v = machine.system.check_q(point.get("q")), machine.system.check_v(point.get("v"))
    Q, R = weight("Q", Q, 2 * machine.nv, False), weight("R", R, machine.nu, True)
    given, out = tuple(machine.whole.check_features(ignore)), left_out(machine.whole, stepper, ignore)
    u, step = equilibrium(machine, q, v, h, stepper, compose, out)
    more = ", ".join(name for name in out if name not in given)
    K, P = stationary(step.A, step.B @ machine.B, Q, R, step.tangent, step.names)
    return Feedback(
        machine.system, np.zeros(1), q[None], v[None], u[None], K[None], P[None], machine.B, machine.u_limits, tuple(machine.u_names),
        (step,), notes=(f"left out, as {stepper!r} does not handle it: {more}",) if more else (),
    )  # fmt: skip


def equilibrium(
    machine: Any, q: Array, v: Array, h: float, stepper: str, compose: str | None, ignore: tuple[str, ...]
) -> tuple[Array, Derivatives]:
    """(u, derivatives) with a step under u that ends where it starts."""
    u, best, least = np.zeros(machine.nu), np.zeros(machine.nu), np.inf
    for _ in range(CORRECTIONS):
        step = derivatives(machine.whole, q, v, machine.B @ u, h, stepper, (), compose, ignore)
        moved = np.concatenate([machine.system.difference(q, step.q_next), step.v_next - v])
        size = float(np.abs(moved).max())
        if not size < 0.5 * least:
            break
        least, best, found, rest = size, u, step, moved
        if machine.nu:
            u = u - np.linalg.lstsq(step.B @ machine.B, moved, rcond=None)[0]
    if not least <= STILL:
        worst = int(np.argmax(np.abs(rest)))
        raise OptionError(
            f"lqr: the point is no equilibrium of {machine.system!r} with inputs {', '.join(machine.u_names) or 'none'}: under the best of "
            f"them a step of {h:.6g} s gives {rest[worst]:.3g} in {found.names[worst]}."
        )
    check_limits(machine, best)
    return best, found


def check_limits(machine: Any, u: Array) -> None:
    """OptionError where the inputs that hold a point are beyond those that the machine has."""
    outside = (u < machine.u_limits[:, 0]) | (u > machine.u_limits[:, 1])
    if outside.any():
        i = int(np.argmax(outside))
        raise OptionError(
            f"lqr: input {machine.u_names[i]!r} has to be {u[i]:.6g} to hold the point, beyond {machine.u_limits[i].tolist()}."
        )


def about_motion(motion: Motion, Q: Any, R: Any, final: Any, hold: Feedback | None = None) -> Feedback:
    """From the last node backwards."""
    machine = motion.machine
    Q, R = weight("Q", Q, 2 * machine.nv, False), weight("R", R, machine.nu, True)
    last = Q if final is None else weight("final", final, 2 * machine.nv, False)
    steps = motion.steps
    K, P = backwards([(step.A, step.B @ machine.B) for step in steps], motion.bases, Q, R, last)
    return Feedback(
        machine.system, motion.t, motion.q, motion.v, motion.inputs, K, P, machine.B, machine.u_limits, tuple(machine.u_names), steps, hold
    )  # fmt: skip
