"""Derivatives of a step of `spook` for free bodies that touch by balls: on planes of the world, and with each other.

While the contacts that press, stick and slide stay the same, velocities and impulses solve smooth equations (ball_step.py). They are solved
once more from what the simulator found, to round-off, and differentiated. Where a contact is about to open, or to change between rolling
and sliding, there is no derivative: UnsupportedError says so.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import SimulationError, UnknownNameError, UnsupportedError
from dalembert.kernels.bodies.motion import BALANCED, QUATERNION
from dalembert.kernels.contact.rows import AXIS_OF, BELT, KINETIC
from dalembert.kernels.contact.tables import PLANE, SPHERE
from dalembert.kernels.status import MEANING, OK
from dalembert.model.features import acting
from dalembert.runs.controls import HELD
from dalembert.sensitivity.ball_step import BallStep, Touch
from dalembert.sensitivity.result import Derivatives
from dalembert.sensitivity.step import Start

#: what a machine may have
KNOWN = {"gravity", "contact"}
#: velocities that the simulator and these equations find may differ by so much, m/s: its residual of Coulomb's law is 1e-6
APART = 1e-4
#: nearer to a switch than this there is no derivative: impulses relative to the largest, and speeds, m/s
SWITCH, SWITCH_SPEED = 1e-7, 1e-9


def check(model: Any) -> None:
    """UnsupportedError for machines with more than free bodies in contact."""
    more = sorted(acting(model) - KNOWN)
    jointed = [joint.name for joint in model.joints if joint.kind != "free"]
    if more or jointed or model.loops or model.nonholonomic:
        what = more or jointed or ["joints that close loops"]
        raise UnsupportedError(
            f"derivatives of spook know free bodies, gravity and contacts of spheres; {model!r} has {', '.join(what)}. "
            "Machines with joints have derivatives with midpoint, trapezoidal, symplectic-euler and null-space."
        )


def differentiate(plan: Any, at: Start, params: tuple[str, ...]) -> Derivatives:
    """Of one step of plan.h from `at`."""
    model = plan.given
    check(model)
    engine = plan.engine(HELD)
    engine.t0 = at.t
    engine.start(at.q, at.v)
    engine.tau[:] = at.tau
    chunk = engine.advance(1, 1)
    if chunk.status != OK:
        raise SimulationError(f"derivatives: spook from here with h = {plan.h:.6g} s: {MEANING[chunk.status]}.", h=plan.h)
    machine = engine.machine
    touches = touching(machine)
    places = [slices_of(model, name) for name in machine.bodies.names]
    known: BallStep = plan.once(
        ("derivatives", touches, tuple(machine.mode)),
        lambda: BallStep(machine, touches, [q for q, _ in places], [v for _, v in places]),
    )
    lam, frames = pressed(machine)
    given = (at.q, at.v, at.tau, machine.bodies.mass, model.gravity, plan.h, frames)
    u = polish(known, given, np.concatenate([machine.x, lam]))
    far = float(np.abs(u[: 6 * machine.n] - machine.x).max(initial=0.0))
    if not far <= APART:
        raise SimulationError(f"derivatives: contacts of this step of h = {plan.h:.6g} s obey no law to round-off ({far:.2g} m/s off).")
    return assemble(known, plan, at, given, u, params)


def slices_of(model: Any, body: str) -> tuple[int, int]:
    """Where q and v of a free body start."""
    joint = next(j.name for j in model.joints if j.child == body)
    return model.q_slices()[joint].start, model.v_slices()[joint].start


def touching(machine: Any) -> tuple[Touch, ...]:
    """Contacts that press in the step."""
    if not np.isin(machine.mode, (BALANCED, QUATERNION)).all():
        raise UnsupportedError("derivatives: a body turns too far in this step, and is held by a damped method; take a smaller h.")
    d = machine.detector
    if d is None or not machine.contacts:
        return ()
    if machine._chosen[1] or machine.torques:
        raise UnsupportedError("derivatives: an impact within the step, or torques of contacts, have none.")
    shapes, found = d.scene.shapes, []
    for j in range(machine.contacts):
        k, row = int(machine.chosen[j]), machine.joint_rows + 3 * j
        lam = machine.lam[row : row + 3]
        if lam[0] <= 0.0:
            continue
        first, second = divmod(int(d.contacts.key[k]), len(shapes.owner))
        what = int(d.contacts.material[k])
        material = d.materials[what]
        on_plane = shapes.kind[first] == PLANE and shapes.owner[first] < 0
        if shapes.kind[second] != SPHERE or not (on_plane or shapes.kind[first] == SPHERE):
            raise UnsupportedError("derivatives of spook know contacts of spheres with planes of the world and with spheres only.")
        if not np.isnan(material[KINETIC]) or material[BELT : BELT + 3].any() or material[AXIS_OF] or machine.is_stretched:
            raise UnsupportedError("derivatives of spook know friction with one coefficient in all directions only.")
        found.append(Touch(first, second, what, slides(machine, j, row, lam)))
    return tuple(found)


def slides(machine: Any, j: int, row: int, lam: Array) -> bool:
    """Which of slip = 0 and |lam_t| = mu lam_n is nearer, in units of velocity."""
    rows, slip, mobility = machine.rows, machine.rows.b[row + 1 : row + 3] + machine.rows.sigma[row + 1 : row + 3] * lam[1:], 0.0
    for side, body in enumerate(rows.bodies[machine.constraints + j]):
        if body >= 0:
            J = rows.J[row + 1 : row + 3, 6 * side : 6 * side + 6]
            slip = slip + J @ machine.x[6 * body : 6 * body + 6]
            mobility += float(np.trace(J @ machine.inverse[body] @ J.T)) / 2
    return bool(np.hypot(*slip) > mobility * (rows.mu[machine.constraints + j] * lam[0] - np.hypot(*lam[1:])))


def pressed(machine: Any) -> tuple[Array, Array]:
    """(lam, frames) of the contacts that press: (3 m,), columns (3, 3 m)."""
    if machine.detector is None or not machine.contacts:
        return np.zeros(0), np.zeros((3, 0))
    n = machine.contacts
    lam = machine.lam[machine.joint_rows : machine.joint_rows + 3 * n].reshape(-1, 3)
    here = lam[:, 0] > 0.0
    return lam[here].ravel(), machine.detector.frames[machine.chosen[:n][here]].reshape(-1, 3).T


def polish(known: BallStep, given: tuple[Any, ...], u: Array) -> Array:
    """Newton's method on the equations of the contacts that press."""
    for _ in range(20):
        residual, slope = (x.full() for x in known.newton(*given, u))
        try:
            change = np.linalg.solve(slope, residual).ravel()
        except np.linalg.LinAlgError:
            raise UnsupportedError(
                "derivatives: contacts of this step depend on each other, and share their forces in no one way."
            ) from None
        u = u - change
        if float(np.abs(change).max()) <= 1e-15 * float(np.abs(u).max()):
            break
    return u


def assemble(known: BallStep, plan: Any, at: Start, given: tuple[Any, ...], u: Array, params: tuple[str, ...]) -> Derivatives:
    """dx+ = F_x dx - F_u R_u^-1 R_x dx"""
    R_u, R_x, q_u, q_x, v_u, v_x, q, v, switches = (x.full() for x in known.all(*given, u))
    watch(known, switches.ravel(), u)
    du = -np.linalg.solve(R_u, R_x)
    whole = np.vstack([q_x + q_u @ du, v_x + v_u @ du])
    n = 6 * known.n
    columns, names = columns_of(known, params)
    return Derivatives(
        at.q, at.v, at.tau, plan.h, q.ravel(), v.ravel(), whole[:, : 2 * n], whole[:, 2 * n : 3 * n], whole[:, 3 * n :][:, columns],
        np.eye(2 * n), parameters=tuple(names),
    )  # fmt: skip


def watch(known: BallStep, switches: Array, u: Array) -> None:
    """UnsupportedError at a switch."""
    size = max(float(np.abs(u[6 * known.n :]).max(initial=0.0)), 1e-300)
    for (name, impulse, _), value in zip(known.switches, switches, strict=True):
        if not value > (SWITCH * size if impulse else SWITCH_SPEED):
            raise UnsupportedError(f"derivatives: the step is at a switch, {name} here: it has no derivative.")


def columns_of(known: BallStep, params: tuple[str, ...]) -> tuple[list[int], list[str]]:
    """Places and labels of masses and of gravity."""
    masses = {f"{name}.mass": [k] for k, name in enumerate(known.machine.bodies.names)}
    places = {**masses, "gravity": [known.n, known.n + 1, known.n + 2]}
    for name in params:
        if name not in places:
            raise UnknownNameError("parameter of a step of spook", name, places)
    labels = [label for name in params for label in ([name] if name in masses else [f"gravity.{x}" for x in "xyz"])]
    return [k for name in params for k in places[name]], labels
