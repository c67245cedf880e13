"""Ten million easy steps: does anything drift, overflow or stop?

    python benchmarks/long_runs.py [steps]

The rigid body (`cayley`), a pendulum, a chain of three links and a UR5 at 1 kHz (`midpoint`), each from one start. The slope of the energy
is fitted over the run, in units of its own error (residuals in 50 blocks, so that oscillations are no noise); of a motion without drift
it is of the order of 1. Verdicts are those of the reports. The exit code is 1 if one fails, or a slope is beyond 5.
"""

from __future__ import annotations

import sys
import time

import numpy as np
from trees import chain

import dalembert as dal
from control import robot


def body() -> dal.Model:
    """A free body."""
    m = dal.Model("body", gravity=(0, 0, 0))
    m.add_body("body", 1.0, (1.0, 2.0, 3.0))
    return m


def slope(t: np.ndarray, energy: np.ndarray) -> tuple[float, float]:
    """(slope, its error) of block means."""
    n = len(t) // 50 * 50
    x, y = t[:n].reshape(50, -1).mean(axis=1), energy[:n].reshape(50, -1).mean(axis=1)
    (a, _), cov = np.polyfit(x - x.mean(), y, 1, cov=True)
    return float(a), float(np.sqrt(cov[0, 0]))


def main() -> int:
    """All four."""
    steps = int(float(sys.argv[1])) if len(sys.argv) > 1 else 10_000_000
    rng = np.random.default_rng(0)
    arm = robot("ur_description/urdf/ur5_robot.urdf", False)
    cases = (
        ("rigid body", body(), "cayley", 0.01, {"v0": [0.1, 2.0, 0.1, 0.0, 0.0, 0.0]}, ()),
        ("pendulum", chain(1), "midpoint", 0.005, {"q0": [0.7]}, ()),
        ("chain of three", chain(3), "midpoint", 0.002, {"q0": [0.2, 0.1, -0.1]}, ()),
        ("UR5", arm, "midpoint", 0.001, {"q0": 0.3 * rng.normal(size=6)}, ("contact", "limits", "joint friction")),
    )
    bad = 0
    print(f"{'':16s} us per step   largest change   slope/error   verdict")
    for name, model, stepper, h, start, ignore in cases:
        known = tuple(word for word in ignore if word in dal.model.features.acting(model.frozen()))
        began = time.process_time()
        run = dal.simulate(model, stepper, h=h, t_end=steps * h, every=max(1, steps // 10_000), ignore=known, progress=False, **start)
        seconds = time.process_time() - began
        a, error = slope(run.t, run.energy)
        size = float(np.abs(run.energy - run.energy[0]).max()) / float(run.kinetic.max())
        verdict = run.report().verdict
        failed = verdict == "fail" or abs(a) > 5 * error + 1e-13 * run.kinetic.max() / run.t[-1]
        bad += failed
        word = f"{verdict} MISSED" if failed else verdict
        print(f"{name:16s} {1e6 * seconds / steps:11.3f}   {size:14.1e}   {a / max(error, 1e-300):11.2f}   {word}")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
