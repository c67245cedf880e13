"""The contract of a stepper: what the registry says of it, checked. `dal.check_stepper` and the test suite run the same checks.

Each check applies only where the description promises something. Judges are independent of the steppers: Newton-Euler equations integrated
by
SciPy's DOP853, invariants recomputed from the model, finite differences of the step map.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dalembert.engine import make_engine
from dalembert.errors import OptionError, SimulationError, UnknownNameError
from dalembert.families import find_family
from dalembert.kernels.status import MEANING, OK
from dalembert.model import Model
from dalembert.model.rotation import Array, quat_conj, quat_exp, quat_log, quat_mul, rotate
from dalembert.registry import Stepper, steppers
from dalembert.steppers.compose import find_composition

ORDER_STEPS = {1: 0.004, 2: 0.04, 3: 0.05, 4: 0.08}  # largest h of the order test
T_ORDER = 2.0
HIGH_ORDER_FLOOR = 3e-11  # a hundred times the error of the reference (1e-13 relative)
PYTHON_STEPS, KERNEL_STEPS = 2_000, 100_000


@dataclass(frozen=True)
class Outcome:
    """One check: whether it holds, what was measured, and against which bound."""

    name: str
    passed: bool
    text: str


@dataclass(frozen=True)
class ContractResult:
    """All checks of one stepper."""

    stepper: str
    outcomes: tuple[Outcome, ...]

    @property
    def passed(self) -> bool:
        """True if every check holds."""
        return all(o.passed for o in self.outcomes)

    @property
    def text(self) -> str:
        """One line per check."""
        lines = [f"{'pass' if o.passed else 'FAIL'}  {o.name}: {o.text}" for o in self.outcomes]
        return "\n".join([f"stepper {self.stepper!r}: {'contract holds' if self.passed else 'contract broken'}", *lines])

    def __str__(self) -> str:
        return self.text


# the machines -----------------------------------------------------------------------------------------------------------------------


def free_body(symmetric: bool) -> tuple[Model, Array, Array]:
    """A free body without gravity, and a state."""
    m = Model("contract: free body", gravity=(0, 0, 0))
    m.add_body("body", mass=1.5, inertia=(1, 1, 1.8) if symmetric else (1, 2, 2.5))
    return m.frozen(), m.integrate(m.neutral(), np.array([0.4, -0.3, 0.2, 1, 2, 3])), np.array([0.3, 1.0, 0.4, 0.5, -0.2, 0.1])


def top(symmetric: bool) -> tuple[Model, Array, Array]:
    """A heavy body on a fixed point, and a state."""
    m = Model("contract: top", gravity=(0, 0, -2.0))
    m.add_body("body", mass=1.0, inertia=(1, 1, 0.8) if symmetric else (1, 1.4, 0.8), com=(0, 0, 0.5))
    m.add_joint("pivot", "spherical", "world", "body")
    return m.frozen(), quat_exp(np.array([0.5, 0.3, 0.0])), np.array([0.2, -0.3, 1.5])


def machines(stepper: Stepper, integrable: bool = False) -> list[tuple[Model, Array, Array]]:
    """The machines of the contract that a stepper handles. The motion of an asymmetric top is chaotic: `integrable` asks for symmetric
    bodies."""
    symmetric = integrable or "symmetric only" in stepper.handles
    found = [
        make(symmetric)
        for make, needs in ((free_body, {"free"}), (top, {"pivot", "gravity"}))
        if stepper.python or needs <= set(stepper.handles)
    ]
    if not found:
        raise OptionError(f"stepper {stepper.name!r} handles {stepper.handles}; expected at least 'free', or 'pivot' and 'gravity'.")
    return found


def engine_of(stepper: Stepper, machine: tuple[Model, Array, Array], h: float, weights: Any = (1.0,), options: Any = None) -> Any:
    """An engine at the start of a machine."""
    model, q, v = machine
    family = find_family(model, None if stepper.python else stepper.family_name)
    engine = make_engine(model, family, stepper, h, stepper.resolve(options or {}), None, weights)
    engine.start(q, v)
    return engine


def end_state(engine: Any, n: int) -> tuple[Array, Array]:
    """q and v after n steps."""
    status, _, _, error = engine.advance(n, n)
    if error is not None:
        raise error
    if status != OK:
        raise SimulationError(f"{MEANING[status]} at step {engine.steps}, h = {engine.h}")
    q, v = engine.observe()
    return q.copy(), v.copy()


def reference(machine: tuple[Model, Array, Array], t_end: float) -> tuple[Array, Array]:
    """Newton-Euler equations by DOP853 at rtol 1e-13."""
    from scipy.integrate import solve_ivp

    model, q0, v0 = machine
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

    y = solve_ivp(rate, (0, t_end), np.concatenate([q0, v0]), method="DOP853", rtol=1e-13, atol=1e-14).y[:, -1]
    q = y[: model.nq]
    q[n : n + 4] /= np.linalg.norm(q[n : n + 4])
    return q, y[model.nq :]


# the checks -------------------------------------------------------------------------------------------------------------------------


def observed_order(stepper: Stepper, machine: tuple[Model, Array, Array], order: int, weights: Any = (1.0,)) -> tuple[float, list[float]]:
    """Slope of log error over log h, and the errors, at five step sizes.

    Up to order 5 they are halved. Higher orders fall from 1e-6 to the accuracy of the reference in two halvings: the number of steps
    grows by the cube root of 2, the last five errors above the floor count, and a motion for which there are fewer is made twice as fast.
    """
    if order < 6:
        first = round(T_ORDER / ORDER_STEPS.get(order, 0.5))
        points = _errors(stepper, machine, weights, [first * 2**k for k in range(5)], 0.0)
    else:
        ladder = [round(2 ** (k / 3)) for k in range(9, 34)]
        for speed in (4.0, 8.0, 16.0):
            points = _errors(stepper, (machine[0], machine[1], speed * machine[2]), weights, ladder, HIGH_ORDER_FLOOR)
            if len(points) >= 5:
                break
    points = points[-5:]
    if len(points) < 5:
        raise SimulationError(f"only {len(points)} step sizes could be used to observe order {order}")
    hs, errors = zip(*points, strict=True)
    return float(np.polyfit(np.log(hs), np.log(errors), 1)[0]), list(errors)


def _errors(
    stepper: Stepper, machine: tuple[Model, Array, Array], weights: Any, ladder: list[int], floor: float
) -> list[tuple[float, float]]:
    """(h, error of the end state) for growing numbers of steps, until the error is below the floor."""
    q_ref, v_ref = reference(machine, T_ORDER)
    points: list[tuple[float, float]] = []
    for n in ladder:
        try:
            q, v = end_state(engine_of(stepper, machine, T_ORDER / n, weights), n)
        except SimulationError:
            continue  # too large a step for this method; enough smaller ones must remain
        error = float(max(np.abs(machine[0].difference(q_ref, q)).max(), np.abs(v - v_ref).max()))
        if error < floor:
            break
        points.append((T_ORDER / n, error))
    return points


def check_order(stepper: Stepper) -> Outcome:
    """|observed - declared| < 0.1 over four halvings; < 0.3 over two (five steps) for orders of six and more."""
    limit = 0.1 if stepper.order < 6 else 0.3
    slopes = [observed_order(stepper, machine, stepper.order)[0] for machine in machines(stepper)]
    ok = all(abs(s - stepper.order) < limit for s in slopes)
    return Outcome("order", ok, f"declared {stepper.order}, observed {', '.join(f'{s:.3f}' for s in slopes)} (limit {limit})")


def check_tolerance(stepper: Stepper) -> Outcome:
    """The end state of an adaptive method at rtol = 1e-6 and 1e-9 is right to a thousand times that: error control acts on single steps."""
    worst, ok = [], True
    for machine in machines(stepper):
        q_ref, v_ref = reference(machine, T_ORDER)
        for rtol in (1e-6, 1e-9):
            engine = engine_of(stepper, machine, T_ORDER / 4, options={"rtol": rtol, "atol": rtol})
            q, v = end_state(engine, 4)
            error = float(max(np.abs(machine[0].difference(q_ref, q)).max(), np.abs(v - v_ref).max()))
            worst.append(error / rtol)
            ok &= error < 1e3 * rtol
    return Outcome("tolerance", ok, f"error over tolerance up to {max(worst):.1e} (limit 1e3)")


def long_run(
    stepper: Stepper, machine: tuple[Model, Array, Array], steps: int = KERNEL_STEPS, h: float = 0.05
) -> tuple[Array, Array, Array]:
    """t, q, v of a long run, about 10,000 nodes of it."""
    n = min(steps, PYTHON_STEPS) if stepper.python else steps
    engine = engine_of(stepper, machine, h)
    first = engine.state.copy()
    status, states, _, error = engine.advance(n, max(1, n // 10_000))
    if error is not None:
        raise error
    if status != OK:
        raise SimulationError(f"{MEANING[status]} at step {engine.steps} of {n}, h = {h}")
    found = engine.unpack(np.vstack([first, states]))
    return np.linspace(0, n * h, len(states) + 1), found["q"], found["v"]


def check_momentum(stepper: Stepper) -> Outcome:
    """Spatial momentum that the symmetry allows, to 1e-11 of its size over the long run."""
    worst = 0.0
    for machine in machines(stepper):
        model = machine[0]
        _, q, v = long_run(stepper, machine)
        momentum = model.momentum(q, v)
        kept = momentum[:, [2]] if np.any(model.gravity) else momentum
        position = 0.0 if model.nq == 4 else np.abs(q[:, :3]).max()
        scale = np.abs(momentum[0, :3]).max() + position * np.abs(momentum[0, 3:]).max()
        worst = max(worst, float(np.abs(kept - kept[0]).max() / scale))
    return Outcome("momentum", worst < 1e-11, f"deviation {worst:.1e} of its size (limit 1e-11)")


def check_energy(stepper: Stepper) -> Outcome:
    """Exactly: 1e-11. Bounded: the drift by the regression slope over the long run is below a twentieth of the band."""
    texts, ok = [], True
    for machine in machines(stepper, integrable=True):
        model = machine[0]
        t, q, v = long_run(stepper, machine)
        energy = model.energy(q, v) / model.kinetic_energy(q, v).max()
        band = float(np.ptp(energy))
        drift = abs(float(np.polyfit(t / t[-1], energy, 1)[0]))
        free = not np.any(model.gravity)
        exactly = free and stepper.promise("energy of the free body") == "exactly"
        ok &= band < 1e-11 if exactly else drift < 0.05 * band + 1e-13
        texts.append(f"{model.name.split(': ')[1]}: band {band:.1e}, drift {drift:.1e}{' (exactly)' if exactly else ''}")
    return Outcome("energy", ok, "; ".join(texts))


def check_body_momentum(stepper: Stepper) -> Outcome:
    """|J omega| of the free body to 1e-11."""
    machine = machines(stepper)[0]
    _, _, v = long_run(stepper, machine)
    size = np.linalg.norm(v[:, :3] @ machine[0].bodies[0].inertia, axis=1)
    worst = float(np.abs(size / size[0] - 1).max())
    return Outcome("body momentum", worst < 1e-11, f"deviation {worst:.1e} (limit 1e-11)")


def check_attitude(stepper: Stepper) -> Outcome:
    """Unit quaternions to a few round-offs at every node."""
    worst = 0.0
    for machine in machines(stepper):
        _, q, _ = long_run(stepper, machine, steps=1000)
        worst = max(worst, float(np.abs(np.linalg.norm(q[:, -4:], axis=1) - 1).max()))
    return Outcome("attitude", worst < 1e-14, f"|q| - 1 up to {worst:.1e} (limit 1e-14)")


def check_reversal(stepper: Stepper) -> Outcome:
    """100 steps forward and 100 back return to the start within 1e-12 (round-off of 200 steps, with room for the growth of the motion)."""
    worst = 0.0
    for machine in machines(stepper):
        model, q0, v0 = machine
        there = engine_of(stepper, machine, 0.02)
        end_state(there, 100)
        back = engine_of(stepper, machine, -0.02)
        back.restart(there.state, 0)
        q, v = end_state(back, 100)
        worst = max(worst, float(np.abs(model.difference(q0, q)).max()), float(np.abs(v - v0).max()))
    return Outcome("time reversal", worst < 1e-12, f"back to the start within {worst:.1e} (limit 1e-12)")


def check_restart(stepper: Stepper) -> Outcome:
    """A run restarted from its flat state repeats the uninterrupted one bit for bit."""
    same = True
    for machine in machines(stepper):
        whole = engine_of(stepper, machine, 0.03)
        end_state(whole, 40)
        first = engine_of(stepper, machine, 0.03)
        end_state(first, 17)
        second = engine_of(stepper, machine, 0.03)
        second.restart(first.state, 17)
        end_state(second, 23)
        same &= bool((whole.state == second.state).all())
    return Outcome("restart", same, "bit for bit" if same else "differs")


def check_symplectic(stepper: Stepper) -> Outcome:
    """T^T Omega(p+) T = Omega(p) for the derivative T of the step in left trivialisation, Omega = [[-hat(p), 1], [-1, 0]], to 1e-8
    (fourth-order differences)."""
    model, q0, v0 = machines(stepper)[-1]
    body, pivoted = model.bodies[0], model.nq == 4
    arm = body.com if pivoted else np.zeros(3)
    J = body.inertia + body.mass * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    n = 0 if pivoted else 3

    def step(x: Array) -> tuple[Array, Array]:
        q, v = q0.copy(), v0.copy()
        q[n : n + 4] = quat_mul(q0[n : n + 4], quat_exp(x[:3]))
        v[:3] = np.linalg.solve(J, J @ v0[:3] + x[3:])
        q1, v1 = end_state(engine_of(stepper, (model, q, v), 0.1), 1)
        return q1[n : n + 4], J @ v1[:3]

    q_end, p_end = step(np.zeros(6))

    def along(x: Array) -> Array:
        q, p = step(x)
        return np.concatenate([quat_log(quat_mul(quat_conj(q_end), q)), p - p_end])

    e, T = 2e-3, np.empty((6, 6))
    for i, d in enumerate(np.eye(6)):
        T[:, i] = (8 * (along(e * d) - along(-e * d)) - (along(2 * e * d) - along(-2 * e * d))) / (12 * e)
    worst = float(np.abs(T.T @ _omega(p_end) @ T - _omega(J @ v0[:3])).max())
    return Outcome("symplectic", worst < 1e-8, f"defect of the symplectic form {worst:.1e} (limit 1e-8)")


def _omega(p: Array) -> Array:
    hat = np.array([[0, -p[2], p[1]], [p[2], 0, -p[0]], [-p[1], p[0], 0]])
    return np.block([[-hat, np.eye(3)], [-np.eye(3), np.zeros((3, 3))]])


CHECKS: dict[str, tuple[Callable[[Stepper], bool], Callable[[Stepper], Outcome]]] = {
    "order": (lambda s: not s.adaptive, check_order),
    "tolerance": (lambda s: s.adaptive, check_tolerance),
    "momentum": (lambda s: s.promise("momentum") is not None, check_momentum),
    "energy": (lambda s: s.promise("energy") is not None, check_energy),
    "body momentum": (lambda s: s.promise("body momentum") is not None, check_body_momentum),
    "attitude": (lambda s: s.promise("attitude") is not None, check_attitude),
    "time reversal": (lambda s: s.self_adjoint, check_reversal),
    "restart": (lambda s: True, check_restart),
    "symplectic": (lambda s: s.symplectic, check_symplectic),
}


def check_composition(stepper: Stepper, name: str) -> Outcome:
    """Observed order of a composition on the contract's machines: within 0.1 up to order 5, else at least the declared one less 0.3.

    Above the accuracy of the reference the terms beyond the leading one may still rule (tln with suzuki8 falls like h^10); a wrong weight
    lowers the order.
    """
    composition = find_composition(name)
    high = composition.order >= 6
    limit = 0.3 if high else 0.1
    slopes = [observed_order(stepper, machine, composition.order, composition.weights)[0] for machine in machines(stepper)]
    ok = all(s > composition.order - limit and (high or s < composition.order + limit) for s in slopes)
    return Outcome(
        f"order with {name}", ok, f"declared {composition.order}, observed {', '.join(f'{s:.3f}' for s in slopes)} (limit {limit})"
    )


def check_stepper(name: str, system: str | None = None) -> ContractResult:
    """Run every contract check that the description of a stepper calls for. `system` tells apart steppers of one name."""
    found = [s for s in steppers() if s.name == name and system in (None, s.system)]
    if not found:
        raise UnknownNameError("stepper", name, {s.name for s in steppers()})
    stepper = found[0]
    return ContractResult(name, tuple(run_check(what, stepper) for what, (applies, _) in CHECKS.items() if applies(stepper)))


def run_check(what: str, stepper: Stepper) -> Outcome:
    """One check; a step that fails breaks the contract."""
    try:
        return CHECKS[what][1](stepper)
    except SimulationError as problem:
        return Outcome(what, False, str(problem))
