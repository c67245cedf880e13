"""What a call costs beside its steps: `simulate` of 100 steps, and `Simulation` one step at a time beside MuJoCo's `mj_step`.

    python benchmarks/per_call.py           CPU time; wants an idle machine; one thread; the best of some rounds

The steps of `simulate` are those of 2100 steps less those of 100, over 2000. `mj_step` is called from Python with the same robot, joint
limits and all, without contact on both sides (Euler, its quickest integrator), data.qfrc_applied set before as `tau` is; and once more
without limits and constraint solver ("smooth").
"""

from __future__ import annotations

import importlib.metadata
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

import dalembert as dal
from dalembert.peers.mujoco import load

H = 1e-3
#: machine, most ms per call beyond its steps
CALLS = {"body": 0.3, "pendulum": 0.5, "UR5": 1.5}
STEP, PUSH = 8.0, 20.0  # us


def best(call: Callable[[], Any], calls: int, rounds: int = 7) -> float:
    """Seconds of CPU time per call, the best of some rounds: others may work on the same machine."""
    call()
    found = []
    for _ in range(rounds):
        began = time.process_time()
        for _ in range(calls):
            call()
        found.append((time.process_time() - began) / calls)
    return min(found)


def machines() -> dict[str, tuple[dal.Model, dict[str, Any]]]:
    """A free body, a pendulum, a UR5 without contact."""
    body = dal.Model("body", gravity=(0, 0, 0))
    body.add_body("body", 1.0, (1.0, 2.0, 2.5))
    rod = dal.Model("pendulum")
    rod.add_body("rod", 1.0, (0.1, 0.1, 0.01), com=(0, 0, -0.5))
    rod.add_joint("hinge", "revolute", "world", "rod", axis=(0, 1, 0))
    share = Path(str(importlib.metadata.distribution("example-robot-data").locate_file("cmeel.prefix/share")))
    robot = share / "example-robot-data" / "robots" / "ur_description" / "urdf" / "ur5_robot.urdf"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ur5 = dal.load_model(robot, floating_base=False)
    return {
        "body": (body, {"stepper": "cayley", "v0": [0.1, 1, 0.1, 0, 0, 0]}),
        "pendulum": (rod, {"stepper": "midpoint", "q0": [1.0]}),
        "UR5": (ur5, {"stepper": "midpoint", "q0": np.full(6, 0.3), "ignore": ("contact",)}),
    }


def judged(what: str, found: float, limit: float, unit: str) -> bool:
    """Print a target, met or missed."""
    print(f"  {'met   ' if found <= limit else 'MISSED'} {what}: {found:.3g} {unit} <= {limit:g}")
    return found <= limit


def calls(known: dict[str, Any]) -> bool:
    """`simulate` of 100 steps."""
    print("simulate of 100 steps, ms: whole call, beyond its steps; us per step")
    ok = True
    for name, (m, given) in known.items():

        def run(n: int, m: Any = m, given: Any = given) -> None:
            dal.simulate(m, h=H, t_end=n * H, progress=False, **given)

        few, many = best(lambda run=run: run(100), 30, 15), best(lambda run=run: run(2100), 3, 15)
        step = (many - few) / 2000
        print(f"  {name:9} {1e3 * few:8.3f} {1e3 * (few - 100 * step):8.3f} {1e6 * step:8.2f}")
        ok &= judged(name, 1e3 * (few - 100 * step), CALLS[name], "ms")
    return ok


def steps(m: dal.Model) -> bool:
    """One step at a time."""
    print("UR5, one step at a time from Python, us")
    tau = np.full(6, 0.1)
    sim = dal.Simulation(m, "midpoint", h=H, q0=np.full(6, 0.3), ignore=("contact",), keep=0)

    def theirs(limits: bool) -> Callable[[], None]:
        model, data = load(m.without(("contact", "limits")).frozen(), np.full(6, 0.3), np.zeros(6), H, "Euler")
        if limits:
            model.jnt_limited[:], model.jnt_range[:] = 1, [j.limits for j in m.joints if j.coordinates.nv]
            model.opt.disableflags &= ~int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)

        def call() -> None:
            data.qfrc_applied[:] = tau
            mujoco.mj_step(model, data)

        return call

    ours, pushed, other, bare = [], [], [], []
    with_limits, smooth = theirs(True), theirs(False)
    for _ in range(5):  # interleaved: the machine has good and bad moments
        ours.append(best(sim.step, 3000, 2))
        pushed.append(best(lambda: sim.step(tau=tau), 3000, 2))
        other.append(best(with_limits, 3000, 2))
        bare.append(best(smooth, 3000, 2))
    sim.reset()
    push = best(lambda: sim.apply_force("wrist_3_link", force=(1, 0, 0)), 1000)
    sim.reset()
    start = np.full(6, 0.2)
    found = {
        "step()": min(ours),
        "step(tau)": min(pushed),
        "mj_step": min(other),
        "mj_step, smooth": min(bare),
        "apply_force": push,
        "reset": best(lambda: sim.reset(start), 300),
    }
    for name, seconds in found.items():
        print(f"  {name:15} {1e6 * seconds:8.2f}")
    ok = judged("step(tau)", 1e6 * min(pushed), STEP, "us")
    ok &= judged("apply_force", 1e6 * push, PUSH, "us")
    return ok & judged("step(tau) over mj_step", min(pushed) / min(other), 1.0, "")


def main() -> int:
    """Print the tables; 1 where a target is missed."""
    known = machines()
    ok = calls(known)
    return int(not (steps(known["UR5"][0]) and ok))


if __name__ == "__main__":
    sys.exit(main())
