"""Two versions of this library beside each other: CPU time of a step of every stepper, interleaved; is any slower than before?

    python benchmarks/versions.py BEFORE [AFTER] [--rounds 7] [--only NAME ...]        wants an idle machine

BEFORE, AFTER: folders of two checkouts (their `src` is imported; default of AFTER: this one), run by this interpreter. Each version
works in a process of its own that waits while the other one is timed. Steps of `simulate` less what a call costs without them, the least
of all rounds: others may work on the same machine. What reads slower by more than LIMIT is timed again, with four times the steps.
Steppers that only one version knows are left out, and named. The exit code is 1 if one is slower.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve()
LIMIT = 1.03
SECONDS = 0.15  # CPU time that is taken at once, about
LONGEST = 10_000  # steps of a run: explicit Euler lives no longer
BODIES = (
    "euler", "tln", "cayley", "moser-veselov", "moser-veselov-cayley", "moser-veselov-explicit", "quaternion", "quaternion-linear",
    "stabilized-euler", "bobenko-suris",
)  # fmt: skip
TREES = (
    "cg2", "cg3", "cg4", "cf2", "cf3", "cf4", "mk2", "mk3", "mk4", "mk5", "mk8", "trapezoidal", "midpoint", "symplectic-euler",
    "null-space",
)  # fmt: skip
FORMULAS = (
    "verlet", "midpoint", "trapezoidal", "alpha", "galerkin4", "galerkin6", "shake", "rattle", "spook", "explicit-euler", "implicit-euler",
    "symplectic-euler", "rk2", "rk3", "rk4", "lsoda", "dop853", "projection", "baumgarte", "penalty-implicit", "penalty-midpoint", "ggl",
)  # fmt: skip
SYSTEMS = {"body": BODIES, "chain of 3": TREES, "chain of 30": TREES, "oscillator": FORMULAS, "pendulum with a rod": FORMULAS}


# one version ------------------------------------------------------------------------------------------------------------------------------


def build(dal: Any) -> dict[str, tuple[Any, float, dict[str, Any]]]:
    """Machine, step and start of each system."""
    import numpy as np

    def chain(n: int) -> Any:
        m = dal.Model(f"chain of {n}")
        for i in range(n):
            m.add_body(f"rod{i}", 1.0, (0.002, 0.02, 0.02), com=(0.25, 0, 0), pose=((0.5 * i, 0, 0), (1, 0, 0, 0)))
            where = {"anchor": (0.5 * i, 0, 0), "axis": (0, 0, 1) if i % 2 else (0, 1, 0)}
            m.add_joint(f"j{i}", "revolute", "world" if i == 0 else f"rod{i - 1}", f"rod{i}", **where)
        return m

    body = dal.Model("body", gravity=(0, 0, 0))
    body.add_body("body", 1.0, (1.0, 2.0, 2.5))
    spring = dal.Lagrangian(2, lambda q, v: 0.5 * (v[0] ** 2 + v[1] ** 2) - 0.5 * (q[0] ** 2 + q[1] ** 2) - 0.1 * q[0] ** 2 * q[1] ** 2)
    rod = dal.Lagrangian(
        2, lambda q, v: 0.5 * (v[0] ** 2 + v[1] ** 2) - 9.81 * q[1], holonomic=lambda q: q[0] ** 2 + q[1] ** 2 - 1.0
    )  # fmt: skip
    return {
        "body": (body, 1e-2, {"v0": [0.1, 1.0, 0.1, 0, 0, 0]}),
        "chain of 3": (chain(3), 1e-3, {"q0": np.full(3, 0.3)}),
        "chain of 30": (chain(30), 1e-3, {"q0": np.full(30, 0.02)}),
        "oscillator": (spring, 1e-2, {"q0": [1.0, 0.3], "v0": [0.0, 0.5]}),
        "pendulum with a rod": (rod, 1e-3, {"q0": [1.0, 0.0], "v0": [0.0, 0.5]}),
    }


def work(source: str) -> None:
    """Answer lines {"system", "stepper", "steps", "runs"} with CPU seconds, or with why not."""
    sys.path.insert(0, source)
    warnings.simplefilter("ignore")
    answers = os.fdopen(os.dup(1), "w")  # what the library prints goes elsewhere
    os.dup2(2, 1)
    import dalembert as dal

    known = build(dal)
    for line in sys.stdin:
        asked = json.loads(line)
        m, h, start = known[asked["system"]]
        try:
            began = time.process_time()
            for _ in range(asked["runs"]):
                dal.simulate(m, asked["stepper"], h=h, t_end=asked["steps"] * h, every=asked["steps"], progress=False, **start)
            answer: Any = time.process_time() - began
        except Exception as error:  # a benchmark tells and goes on
            answer = f"{type(error).__name__}: {error}"
        print(json.dumps(answer), file=answers, flush=True)


# both -------------------------------------------------------------------------------------------------------------------------------------


class Version:
    """A checkout, in a process of its own."""

    def __init__(self, folder: Path):
        if not (folder / "src" / "dalembert").is_dir():
            raise SystemExit(f"{folder}: no checkout of dalembert.")
        self.process = subprocess.Popen(
            [sys.executable, str(HERE), "--work", str(folder / "src")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            stderr=subprocess.DEVNULL, env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        )  # fmt: skip

    def ask(self, system: str, stepper: str, steps: int, runs: int = 1) -> float | str:
        """CPU seconds of runs of so many steps, or why there are none."""
        assert self.process.stdin and self.process.stdout
        what = {"system": system, "stepper": stepper, "steps": steps, "runs": runs}
        print(json.dumps(what), file=self.process.stdin, flush=True)
        line = self.process.stdout.readline()
        return json.loads(line) if line else "the process ended"


@contextlib.contextmanager
def versions(*folders: Path) -> Iterator[list[Version]]:
    """Processes that end with the block."""
    made = [Version(folder) for folder in folders]
    try:
        yield made
    finally:
        for one in made:
            one.process.kill()


def compare(both: list[Version], system: str, stepper: str, steps: int, runs: int, rounds: int) -> list[float]:
    """Least CPU seconds per step of both."""
    few, many = [[1e9, 1e9] for _ in range(2)]
    for _ in range(rounds):
        for k, one in enumerate(both):
            few[k] = min(few[k], float(one.ask(system, stepper, 1, runs)))
            many[k] = min(many[k], float(one.ask(system, stepper, steps, runs)))
    return [(b - a) / (runs * (steps - 1)) for a, b in zip(few, many, strict=True)]


def enough(both: list[Version], system: str, stepper: str) -> tuple[int, int] | None:
    """(steps, runs) that take about SECONDS; None where a version knows no such run. Compiles what they need."""
    if any(isinstance(one.ask(system, stepper, 100), str) for one in both):
        return None
    steps, seconds = 100, both[0].ask(system, stepper, 100)
    while steps < LONGEST and isinstance(seconds, float) and seconds < 0.5 * SECONDS:
        steps, seconds = 2 * steps, both[0].ask(system, stepper, 2 * steps)
    if isinstance(seconds, str):
        steps, seconds = steps // 2, both[0].ask(system, stepper, steps // 2)
    assert isinstance(seconds, float)
    return steps, max(1, round(SECONDS / seconds))


def judge(both: list[Version], system: str, stepper: str, rounds: int) -> bool | None:
    """Print a row; False: slower, None: not known to both."""
    found = enough(both, system, stepper)
    if found is None:
        return None
    steps, runs = found
    before, after = compare(both, system, stepper, steps, runs, rounds)
    if after > LIMIT * before:
        before, after = compare(both, system, stepper, steps, 4 * runs, rounds)
    slower = after > LIMIT * before
    words = f"  {system:20} {stepper:24} {1e6 * before:10.3f} {1e6 * after:10.3f} {after / before:7.2f}{'  SLOWER' if slower else ''}"
    print(words, flush=True)
    return not slower


def main() -> int:
    """Print the table; 1 where a stepper is slower."""
    given = argparse.ArgumentParser(description="Two versions beside each other.")
    given.add_argument("before", type=Path)
    given.add_argument("after", type=Path, nargs="?", default=HERE.parent.parent)
    given.add_argument("--rounds", type=int, default=7)
    given.add_argument("--only", nargs="+", default=[])
    asked = given.parse_args()
    missing: list[str] = []
    well = True
    print("  system               stepper                   before us   after us   ratio")
    with versions(asked.before, asked.after) as both:
        for system, names in SYSTEMS.items():
            for stepper in names:
                if asked.only and stepper not in asked.only:
                    continue
                found = judge(both, system, stepper, asked.rounds)
                missing += [f"{stepper} of {system}"] if found is None else []
                well &= found is not False
    print("  not known to both, or not for this system:", ", ".join(missing) or "none")
    return int(not well)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--work"]:
        work(sys.argv[2])
    else:
        sys.exit(main())
