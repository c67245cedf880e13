"""The contract of a stepper: what the registry says of it, checked. `dal.check_stepper` and the test suite run the same checks.

Each check applies only where the description promises something. Judges are independent of the steppers: equations of motion integrated by
SciPy's DOP853 (`machines.py`, `lagrangians.py`), invariants recomputed from the model, finite differences of the step
map.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dalembert.contracts import lagrangians as formulas
from dalembert.contracts.judges import keeps_energy, momentum_error
from dalembert.contracts.machines import quaternions
from dalembert.contracts.runs import (
    T_ORDER,
    end_state,
    engine_of,
    long_run,
    machines,
    observed_order,
    omega,
    reference_of,
    step_derivative,
)
from dalembert.errors import SimulationError, UnknownNameError
from dalembert.families import find_family
from dalembert.kernels.status import MEANING, OK
from dalembert.registry import Stepper, steppers
from dalembert.runs.engines import checkpoint_tables, restart
from dalembert.steppers.compose import find_composition


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


# the checks -------------------------------------------------------------------------------------------------------------------------


def check_order(stepper: Stepper) -> Outcome:
    """|observed - declared| < 0.1 over four halvings; < 0.3 over two (five steps) for orders of six and more.

    The machine with the lowest order counts: symplectic Euler happens to be of order two where nothing depends on the configuration.
    Methods that relax constraints are judged where there are none.
    """
    limit = 0.1 if stepper.order < 6 else 0.3
    found = machines(stepper, constrained=not formulas.relaxes(stepper))
    slopes = [observed_order(stepper, machine, stepper.order)[0] for machine in found]
    return Outcome(
        "order",
        abs(min(slopes) - stepper.order) < limit,
        f"declared {stepper.order}, observed {', '.join(f'{s:.3f}' for s in slopes)} (limit {limit})",
    )


def check_tolerance(stepper: Stepper) -> Outcome:
    """The end state of an adaptive method at rtol = 1e-6 and 1e-9 is right to a thousand times that: error control acts on single steps."""
    worst, ok = [], True
    for machine in machines(stepper):
        q_ref, v_ref = reference_of(machine)
        for rtol in (1e-6, 1e-9):
            engine = engine_of(stepper, machine, T_ORDER / 4, options={"rtol": rtol, "atol": rtol})
            q, v = end_state(engine, 4)
            error = float(max(np.abs(machine[0].difference(q_ref, q)).max(), np.abs(v - v_ref).max()))
            worst.append(error / rtol)
            ok &= error < 1e3 * rtol
    return Outcome("tolerance", ok, f"error over tolerance up to {max(worst):.1e} (limit 1e3)")


def check_momentum(stepper: Stepper) -> Outcome:
    """Spatial momentum that the symmetry allows, to 1e-11 of its size, or of position times linear momentum, over the long run."""
    worst = 0.0
    for machine in machines(stepper):
        model = machine[0]
        if len(model.momentum_names):
            _, q, v = long_run(stepper, machine)
            worst = max(worst, momentum_error(model, q, v))
    return Outcome("momentum", worst < 1e-11, f"deviation {worst:.1e} of its size (limit 1e-11)")


def check_energy(stepper: Stepper) -> Outcome:
    """Kept exactly or in a band without drift, as promised, over the long run."""
    texts: list[str] = []
    ok = True
    for machine in machines(stepper, integrable=True):
        model = machine[0]
        if "nonholonomic" in find_family(model).features(model):
            continue  # no method promises it there
        kept, text = keeps_energy(model, stepper, *long_run(stepper, machine))
        ok, texts = ok and kept, [*texts, text]
    return Outcome("energy", ok, "; ".join(texts))


def check_discrete_energy(stepper: Stepper) -> Outcome:
    """E at the middle of every step, q_0 + tau w/2 and w, to 1e-11 of the largest kinetic energy over 10,000 steps of Lagrangians."""
    worst = 0.0
    for machine in machines(stepper):
        system, q0, _ = machine
        engine = engine_of(stepper, machine, 0.05)
        chunk = engine.advance(10_000, 1)
        if chunk.status != OK:
            raise SimulationError(f"{MEANING[chunk.status]} at step {engine.steps}")
        found = engine.unpack(chunk.states)
        q = np.vstack([q0, found["q"]])
        energy = system.energy(0.5 * (q[1:] + q[:-1]), found["v_interval"])
        worst = max(worst, float(np.ptp(energy) / system.kinetic_energy(found["q"], found["v"]).max()))
    return Outcome("discrete energy", worst < 1e-11, f"deviation {worst:.1e} (limit 1e-11)")


def check_constraint(stepper: Stepper) -> Outcome:
    """Constraints of Lagrangians on positions and velocities at all nodes of a long run, to 1e-10; all lengths are about 1."""
    worst = 0.0
    for machine in machines(stepper):
        system: Any = machine[0]
        if not {"holonomic", "nonholonomic"} & system.formulas.features:
            continue
        worst = max(worst, formulas.keeps_constraints(system, *long_run(stepper, machine)))
    return Outcome("constraint", worst < 1e-10, f"residual {worst:.1e} (limit 1e-10)")


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
        for at in quaternions(machine[0]):
            worst = max(worst, float(np.abs(np.linalg.norm(q[:, at], axis=1) - 1).max()))
    return Outcome("attitude", worst < 1e-14, f"|q| - 1 up to {worst:.1e} (limit 1e-14)")


def check_reversal(stepper: Stepper) -> Outcome:
    """100 steps forward and 100 back return to the start within 1e-12 (round-off of 200 steps, with room for the growth of the motion)."""
    worst = 0.0
    for machine in machines(stepper):
        model, q0, v0 = machine
        there = engine_of(stepper, machine, 0.02)
        end_state(there, 100)
        back = engine_of(stepper, machine, -0.02)
        restart(back, there.state, 0, checkpoint_tables(there))
        q, v = end_state(back, 100)
        worst = max(worst, float(np.abs(model.difference(q0, q)).max()), float(np.abs(v - v0).max()))
    return Outcome("time reversal", worst < 1e-12, f"back to the start within {worst:.1e} (limit 1e-12)")


def check_restart(stepper: Stepper) -> Outcome:
    """A run restarted from its flat state repeats the uninterrupted one bit for bit.

    Solvers of other programs, which keep their step size to themselves, repeat it to a thousand times their tolerance.
    """
    same, tolerance = True, 0.0
    if stepper.engine:
        tolerance = 1e3 * max((float(o.default) for o in stepper.options if o.name in ("rtol", "atol")), default=0.0)
    for machine in machines(stepper):
        whole = engine_of(stepper, machine, 0.03)
        end_state(whole, 40)
        first = engine_of(stepper, machine, 0.03)
        end_state(first, 17)
        second = engine_of(stepper, machine, 0.03)
        restart(second, first.state, 17, checkpoint_tables(first))
        end_state(second, 23)
        same &= bool((np.abs(whole.state - second.state) <= tolerance).all())
    return Outcome("restart", same, ("bit for bit" if tolerance == 0.0 else f"within {tolerance:.0e}") if same else "differs")


def check_symplectic(stepper: Stepper) -> Outcome:
    """T^T Omega(p+) T = Omega(p) for the derivative T of the step in left trivialisation (q exp(x), p + y), to 1e-9 of |T|^2.

    Omega = [[A(p), 1], [-1, 0]] with A_ij = <p, [e_i, e_j]> on joints that are groups (-hat(p) on SO(3)), 0 on the others.
    """
    texts, ok = [], True
    for machine in machines(stepper, constrained=False):
        T, before, after = step_derivative(stepper, machine)
        defect = np.abs(T.T @ omega(machine[0], after) @ T - omega(machine[0], before)).max() / np.abs(T).max() ** 2
        ok &= bool(defect < 1e-9)
        texts.append(f"{machine[0].name.split(': ')[1]} {defect:.1e}")
    return Outcome("symplectic", ok, f"defect of the symplectic form: {', '.join(texts)} (limit 1e-9)")


CHECKS: dict[str, tuple[Callable[[Stepper], bool], Callable[[Stepper], Outcome]]] = {
    "order": (lambda s: not s.adaptive, check_order),
    "tolerance": (lambda s: s.adaptive, check_tolerance),
    "momentum": (lambda s: s.promise("momentum") is not None, check_momentum),
    "energy": (lambda s: s.promise("energy") is not None, check_energy),
    "discrete energy": (lambda s: s.promise("discrete energy") is not None, check_discrete_energy),
    "constraint": (lambda s: s.promise("constraint") is not None, check_constraint),
    "body momentum": (lambda s: s.promise("body momentum") is not None, check_body_momentum),
    "attitude": (lambda s: s.promise("attitude") is not None, check_attitude),
    "time reversal": (lambda s: s.self_adjoint, check_reversal),
    "restart": (lambda s: True, check_restart),
    "symplectic": (lambda s: s.symplectic, check_symplectic),
}


def check_composition(stepper: Stepper, name: str) -> Outcome:
    """Observed order of a composition on the contract's single bodies: within 0.1 up to order 5, else at least the declared one less 0.3.

    Above the accuracy of the reference the terms beyond the leading one may still rule (tln with suzuki8 falls like h^10); a wrong weight
    lowers the order.
    """
    composition = find_composition(name)
    high = composition.order >= 6
    limit = 0.3 if high else 0.1
    slopes = [observed_order(stepper, machine, composition.order, composition.weights)[0] for machine in machines(stepper, trees=False)]
    ok = all(s > composition.order - limit and (high or s < composition.order + limit) for s in slopes)
    return Outcome(
        f"order with {name}", ok, f"declared {composition.order}, observed {', '.join(f'{s:.3f}' for s in slopes)} (limit {limit})"
    )


def check_stepper(name: str, system: str | None = None) -> ContractResult:
    """Run every contract check that the description of a stepper calls for, of all steppers of that name unless `system` is given."""
    found = [s for s in steppers() if isinstance(name, str) and s.name == name and system in (None, s.system)]
    if not found:
        raise UnknownNameError("stepper", name, {s.name for s in steppers()})
    outcomes = [(s, run_check(what, s)) for s in found for what, (applies, _) in CHECKS.items() if applies(s)]
    several = len(found) > 1
    return ContractResult(name, tuple(replace(x, name=f"{s.system}: {x.name}") if several else x for s, x in outcomes))


def run_check(what: str, stepper: Stepper) -> Outcome:
    """One check; a step that fails breaks the contract."""
    try:
        return CHECKS[what][1](stepper)
    except SimulationError as problem:
        return Outcome(what, False, str(problem))
