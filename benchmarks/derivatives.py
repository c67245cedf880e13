"""Derivatives of a step beside the step itself: a chain of n hinges, all 3 n columns of d(q+, v+)/d(q, v, tau).

    python benchmarks/derivatives.py [--quick]      CPU time of one thread, interleaved, medians; wants an idle machine

step          one of the compiled loop, mean of 200 from the state at which derivatives are taken
derivatives   the whole call, its step and its checks included; per column: over 3 n steps
first         the first call for a machine: formulas are built
differences   central differences of the simulator, 6 n steps of calls that are prepared once; error: against the derivatives
growth        exponent of the time over n, from each n to the next

Symplectic Euler with 40 rods is beyond the step at which it is stable: its steps are taken in parts, and no measure of a step.

Targets are printed with their verdict; the exit code is 1 if one is missed.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from typing import Any

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import numpy as np  # noqa: E402
from _timing import interleaved  # noqa: E402

import dalembert as dal  # noqa: E402
from dalembert.runs.plan import Plan  # noqa: E402
from dalembert.sensitivity.step import Start, take  # noqa: E402

H, STEPS = 1e-3, 200
STEPPERS = ("midpoint", "trapezoidal", "symplectic-euler", "null-space")
SIZES = (5, 10, 20, 40)
MOST, AT = 4.0, 20  # times a step per column, at this n
GROWTH = 2.1  # of all columns, from AT on


def chain(n: int) -> dal.Model:
    """Rods of 0.5 m on hinges whose axes cross."""
    m = dal.Model(f"chain of {n}")
    for i in range(n):
        m.add_body(f"b{i}", 1.0, (0.03, 0.03, 0.003), com=(0, 0, -0.25), pose=((0, 0, -0.5 * i), (1, 0, 0, 0)))
        axis = (0, 1, 0) if i % 2 == 0 else (1, 0, 0)
        m.add_joint(f"j{i}", "revolute", "world" if i == 0 else f"b{i - 1}", f"b{i}", anchor=(0, 0, -0.5 * i), axis=axis)
    return m.frozen()


def state(n: int) -> tuple[Any, Any, Any]:
    """q, v, tau."""
    rng = np.random.default_rng(1)
    return 0.1 * rng.standard_normal(n), 0.2 * rng.standard_normal(n), 0.1 * rng.standard_normal(n)


def steps_of(m: dal.Model, stepper: str, q: Any, v: Any) -> Callable[[], object]:
    """STEPS steps of the compiled loop."""
    engine = Plan.of(m, stepper, H).engine(None)

    def run() -> None:
        engine.start(q, v)
        engine.advance(STEPS, STEPS)

    return run


def differences(m: dal.Model, stepper: str, q: Any, v: Any, tau: Any) -> Any:
    """All columns by central differences."""
    plan, n, e = Plan.of(m, stepper, H), len(v), 1e-6
    columns = []
    for x in e * np.eye(3 * n):
        a, b = (take(plan, Start(q + s * x[:n], v + s * x[n : 2 * n], tau + s * x[2 * n :], 0.0)) for s in (1, -1))
        columns.append(np.concatenate([a.q - b.q, a.v - b.v]) / (2 * e))
    return np.array(columns).T


def measure(n: int, stepper: str, rounds: int) -> dict[str, float]:
    """Seconds of a step and of a call, and what else the table has."""
    m, (q, v, tau) = chain(n), state(n)
    dal.simulate(m, stepper, h=H, t_end=H)  # registered and compiled
    began = time.process_time()
    found = dal.derivatives(m, q, v, tau, H, stepper)
    first = time.process_time() - began
    calls = max(5, 200 // n)

    def call() -> None:
        for _ in range(calls):
            dal.derivatives(m, q, v, tau, H, stepper)

    times = interleaved({"step": steps_of(m, stepper, q, v), "call": call}, rounds)
    began = time.process_time()
    by_differences = differences(m, stepper, q, v, tau)
    spent = time.process_time() - began
    whole = np.hstack([found.A, found.B])
    step, whole_call = times["step"] / STEPS, times["call"] / calls
    return {
        "n": n, "step": step, "call": whole_call, "per column": whole_call / (3 * n * step), "first": first,
        "differences": spent, "error": float(np.abs(by_differences - whole).max() / np.abs(whole).max()),
    }  # fmt: skip


def section(stepper: str, sizes: tuple[int, ...], rounds: int) -> list[tuple[str, bool]]:
    """Print the table of a stepper; its targets."""
    print(f"\n{stepper}")
    print(f"{'n':>4} {'step us':>9} {'call us':>9} {'per column':>11} {'growth':>7} {'first ms':>9} {'differences us':>15} {'error':>8}")
    rows: list[dict[str, float]] = []
    for n in sizes:
        row = measure(n, stepper, rounds)
        growth = np.log2(row["call"] / rows[-1]["call"]) / np.log2(n / rows[-1]["n"]) if rows else np.nan
        rows.append({**row, "growth": float(growth)})
        print(
            f"{n:4d} {1e6 * row['step']:9.2f} {1e6 * row['call']:9.0f} {row['per column']:10.2f}x {growth:7.2f} {1e3 * row['first']:9.0f} "
            f"{1e6 * row['differences']:15.0f} {row['error']:8.1e}",
            flush=True,
        )
    met = []
    for row in rows:
        if row["n"] == AT:
            met.append((f"{stepper}: a column costs {row['per column']:.2f} steps at n = {AT}, at most {MOST}", row["per column"] <= MOST))
        elif row["n"] > AT:
            met.append(
                (
                    f"{stepper}: all columns grow as n^{row['growth']:.2f} up to n = {row['n']:.0f}, at most n^{GROWTH}",
                    row["growth"] <= GROWTH,
                )
            )
    return met


def main() -> int:
    """Print tables and verdicts; 1 where a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="midpoint alone, few rounds")
    quick = parser.parse_args().quick
    met: list[tuple[str, bool]] = []
    for stepper in STEPPERS[:1] if quick else STEPPERS:
        met += section(stepper, SIZES, 3 if quick else 9)
    print("\nTargets")
    for text, ok in met:
        print(f"  {'met   ' if ok else 'MISSED'} {text}")
    return int(not all(ok for _, ok in met))


if __name__ == "__main__":
    sys.exit(main())
